package broker

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// told is one round of notices.
type toldRound struct {
	group string
	at    time.Duration
}

// noticesIn runs notices in a bubble and returns what they tell, and since when.
func noticesIn(t *testing.T, realTime *atomic.Bool, clients int) (n *consumerNotices, rounds func() []toldRound) {
	start := time.Now()
	told := make(chan toldRound, 1000) // more than any test lets be told
	n = newConsumerNotices(func(group string) int {
		told <- toldRound{group, time.Since(start)}
		return clients
	}, realTime.Load)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- n.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return n, func() (list []toldRound) {
		synctest.Wait()
		for {
			select {
			case r := <-told:
				list = append(list, r)
			default:
				return list
			}
		}
	}
}

func TestConsumerNotices(t *testing.T) {
	var on, off atomic.Bool
	on.Store(true)
	t.Run("at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, rounds := noticesIn(t, &on, 2)
			n.offer("G")
			require.Equal(t, []toldRound{{"G", 0}}, rounds())
			n.offer("G")
			require.Equal(t, []toldRound{{"G", 0}}, rounds())
			n.offer("H")
			require.Equal(t, []toldRound{{"H", 0}}, rounds())
		})
	})
	t.Run("a large group rests, other groups do not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, rounds := noticesIn(t, &on, 2000)
			n.offer("G")
			require.Equal(t, []toldRound{{"G", 0}}, rounds())
			for range 10 {
				n.offer("G")
			}
			require.Empty(t, rounds())
			n.offer("H")
			require.Equal(t, []toldRound{{"H", 0}}, rounds())
			time.Sleep(200 * time.Millisecond) // 2000 times 100 µs
			require.Equal(t, []toldRound{{"G", 200 * time.Millisecond}}, rounds())
			time.Sleep(time.Minute)
			require.Empty(t, rounds())
		})
	})
	t.Run("no group rests longer than a second", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, rounds := noticesIn(t, &on, 1_000_000)
			n.offer("G")
			rounds()
			n.offer("G")
			time.Sleep(time.Second)
			require.Equal(t, []toldRound{{"G", time.Second}}, rounds())
		})
	})
	t.Run("realTimeNotifyConsumerChange=false: every 15 s, first after 30 s", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, rounds := noticesIn(t, &off, 2000)
			n.offer("G")
			n.offer("G")
			time.Sleep(firstNoticeBatch - time.Millisecond)
			require.Empty(t, rounds())
			time.Sleep(time.Millisecond)
			require.Equal(t, []toldRound{{"G", 30 * time.Second}}, rounds())
			n.offer("G")
			require.Empty(t, rounds())
			time.Sleep(noticeBatches)
			require.Equal(t, []toldRound{{"G", 45 * time.Second}}, rounds())
			time.Sleep(noticeBatches)
			require.Empty(t, rounds())
		})
	})
	t.Run("what was collected is told at the next change after the setting has changed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var setting atomic.Bool
			n, rounds := noticesIn(t, &setting, 2)
			n.offer("G")
			require.Empty(t, rounds())
			setting.Store(true)
			n.offer("H")
			require.ElementsMatch(t, []toldRound{{"G", 0}, {"H", 0}}, rounds())
		})
	})
}
