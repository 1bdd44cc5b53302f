package namesrv

import (
	"context"
	"time"

	"github.com/mq-server/mq/remoting"
)

// When the scheduled tasks run; spec/namesrv.md §2. The scan has its own setting.
const (
	kvPrintFirst    = time.Minute
	kvPrintPeriod   = 10 * time.Minute
	waterMarkPeriod = time.Second

	expirySettle = 250 * time.Millisecond // between finding a broker silent and removing it
)

// scanLoop lets brokers expire that have been silent for longer than they said, until ctx ends.
func (s *Server) scanLoop(ctx context.Context) error {
	tick := time.NewTicker(s.scanInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.expire(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// printLoop logs how much the KV configuration holds, and on debug level what.
func (s *Server) printLoop(ctx context.Context) error {
	timer := time.NewTimer(kvPrintFirst)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			keys := 0
			namespaces := s.kv.each(func(namespace, key, value string) {
				keys++
				s.log.Debug().Str("namespace", namespace).Str("key", key).Str("value", value).Msg("KV configuration item")
			})
			s.log.Info().Int("namespaces", namespaces).Int("keys", keys).Msg("KV configuration")
			timer.Reset(kvPrintPeriod)
		case <-ctx.Done():
			return nil
		}
	}
}

// waterMarkLoop logs the queues on debug level while anything waits in them. Nothing ever waits for a route
// except in cluster-test mode.
func (s *Server) waterMarkLoop(ctx context.Context) error {
	tick := time.NewTicker(waterMarkPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			client, others := s.lookups.Stats(), remoting.ExecutorStats{}
			for _, x := range []*remoting.Executor{s.changes, s.lists, s.disk} {
				one := x.Stats()
				others.Queue += one.Queue
				others.HeadAge = max(others.HeadAge, one.HeadAge)
			}
			if client.Queue == 0 && others.Queue == 0 {
				continue
			}
			s.log.Debug().Msgf("[WATERMARK] ClientQueueSize:%d ClientQueueSlowTime:%d DefaultQueueSize:%d DefaultQueueSlowTime:%d",
				client.Queue, client.HeadAge.Milliseconds(), others.Queue, others.HeadAge.Milliseconds())
		case <-ctx.Done():
			return nil
		}
	}
}
