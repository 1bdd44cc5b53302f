package broker

import (
	"context"
	"fmt"
	"time"
)

// When the scheduled tasks run; spec/broker.md appendix A. The scan for silent clients has clientScan. What registers, and
// what tells consumers of changes, keeps its own time.
const (
	waterMarkPeriod   = time.Second
	fastFailurePeriod = 50 * time.Millisecond // the original's 10 ms are for sending, whose limit is shorter
)

// clientScanLoop removes clients that have been silent for too long, until ctx ends.
func (s *Server) clientScanLoop(ctx context.Context) error {
	tick := time.NewTicker(clientScan)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.clients.expire(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// waterMarkLoop logs the queues on debug level while anything waits in them.
func (s *Server) waterMarkLoop(ctx context.Context) error {
	tick := time.NewTicker(waterMarkPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for _, x := range s.work.all() {
				if stats := x.Stats(); stats.Queue > 0 {
					s.log.Debug().Msgf("[WATERMARK] %s Queue Size: %d SlowTimeMills: %d", x.Name(), stats.Queue, stats.HeadAge.Milliseconds())
				}
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// fastFailureLoop answers SYSTEM_BUSY to requests that have waited for too long, until ctx ends: their askers have given
// up by then. brokerFastFailureEnable switches it.
func (s *Server) fastFailureLoop(ctx context.Context) error {
	tick := time.NewTicker(fastFailurePeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			b := s.conf.Broker()
			if !b.BrokerFastFailureEnable {
				continue
			}
			expired := s.work.heartbeat.Expire(b.WaitTimeInHeartbeatQueue, remarkTimeout) +
				s.work.admin.Expire(b.WaitTimeInAdminBrokerQueue, remarkTimeout)
			if expired > 0 {
				s.log.Warn().Int("requests", expired).Msg("requests have waited for too long: answered SYSTEM_BUSY")
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func remarkTimeout(waited time.Duration, queue int) string {
	return fmt.Sprintf("[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: %dms, size of queue: %d",
		waited.Milliseconds(), queue)
}
