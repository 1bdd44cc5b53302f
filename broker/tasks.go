package broker

import (
	"context"
	"time"
)

// waterMarkPeriod is how often the queues are looked at; spec/broker.md appendix A. The scan for silent clients has
// clientScan. What registers, and what tells consumers of changes, keeps its own time.
const waterMarkPeriod = time.Second

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
