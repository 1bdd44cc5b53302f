package namesrv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// sentNotices records what a notifier sends.
type sentNotices struct {
	mu   sync.Mutex
	sent map[string][]int64 // by broker: the lowest ids it was told
}

func (s *sentNotices) to(addr string) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent[addr])
}

// startNotifier runs a notifier inside a bubble of synctest. Sending to "dead" hangs until it times out, to "nonsense"
// fails at once.
func startNotifier(t *testing.T) (*notifier, *sentNotices) {
	s := &sentNotices{sent: map[string][]int64{}}
	n := &notifier{queue: make(chan notice, noticeQueue), log: zerolog.Nop()}
	n.send = func(ctx context.Context, addr string, cmd *protocol.Command) error {
		switch addr {
		case "dead":
			<-ctx.Done()
			return ctx.Err()
		case "nonsense":
			return errors.New("no address")
		}
		time.Sleep(time.Millisecond)
		var h protocol.NotifyMinBrokerIDChangeRequestHeader
		if err := h.Decode(cmd.Ext); err != nil {
			return err
		}
		if !cmd.IsOneway() || cmd.Code != 905 {
			return fmt.Errorf("%+v", cmd)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sent[addr] = append(s.sent[addr], h.MinBrokerID.Value)
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- n.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return n, s
}

func noticeTo(id int64, targets ...string) notice {
	return notice{targets: targets, header: protocol.NotifyMinBrokerIDChangeRequestHeader{MinBrokerID: protocol.Some(id)}}
}

// F23: one broker that cannot be reached delays none of the others, and each is told in order.
func TestNotifierTellsEachOnItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := startNotifier(t)
		for id := range int64(5) {
			n.offer(noticeTo(id, "dead", "nonsense", "a", "b"))
		}
		time.Sleep(10 * time.Millisecond)
		require.Equal(t, []int64{0, 1, 2, 3, 4}, s.to("a"))
		require.Equal(t, []int64{0, 1, 2, 3, 4}, s.to("b"))
	})
}

// What waits for one broker, and for all, is bounded; the newest notices matter.
func TestNotifierBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := startNotifier(t)
		const last = 99
		for id := range int64(last + 1) {
			n.offer(noticeTo(id, "a"))
		}
		time.Sleep(time.Second)
		got := s.to("a")
		require.Equal(t, int64(last), got[len(got)-1])
		require.LessOrEqual(t, len(got), noticesPerTarget+1)

		for i := range noticeTargets + 10 {
			n.offer(noticeTo(0, fmt.Sprint("x", i)))
			synctest.Wait()
		}
		time.Sleep(time.Second)
		require.Len(t, s.to("x0"), 1)
		require.Empty(t, s.to(fmt.Sprint("x", noticeTargets)), "one too many at a time")
		n.offer(noticeTo(0, fmt.Sprint("x", noticeTargets)))
		time.Sleep(time.Second)
		require.Len(t, s.to(fmt.Sprint("x", noticeTargets)), 1)
	})
}

func TestNotifierNeverBlocks(t *testing.T) {
	n := &notifier{queue: make(chan notice, noticeQueue), log: zerolog.Nop()} // nobody runs it
	for range noticeQueue + 1 {
		n.offer(noticeTo(0, "a"))
	}
	require.Len(t, n.queue, noticeQueue)
}
