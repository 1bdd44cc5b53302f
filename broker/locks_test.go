package broker

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// The rows of the original's RebalanceLockManagerTest, spec/broker.md §10.
func TestRebalanceLockManager(t *testing.T) {
	queue := func(id int32) protocol.MessageQueue {
		return protocol.MessageQueue{Topic: "T", BrokerName: "broker-a", QueueID: id}
	}
	queues := func(ids ...int32) []protocol.MessageQueue {
		list := []protocol.MessageQueue{}
		for _, id := range ids {
			list = append(list, queue(id))
		}
		return list
	}
	setup := func() (*lockManager, *clientClock) {
		clock := &clientClock{}
		return newLockManager(clock.elapsed), clock
	}
	t.Run("an unknown group counts as all expired", func(t *testing.T) {
		m, _ := setup()
		require.False(t, m.anyLocked("G"))
	})
	t.Run("one live lock, and the group is not", func(t *testing.T) {
		m, clock := setup()
		m.lock("G", "a", queues(0))
		clock.advance(lockLife + time.Second)
		require.False(t, m.anyLocked("G"))
		m.lock("G", "a", queues(1))
		require.True(t, m.anyLocked("G"))
		require.False(t, m.anyLocked("H"))
	})
	t.Run("a free queue is locked, and again by the same client", func(t *testing.T) {
		m, clock := setup()
		require.Equal(t, queues(0), m.lock("G", "a", queues(0)))
		require.True(t, m.holds("G", "a", queue(0)))
		clock.advance(lockLife - time.Second)
		require.Equal(t, queues(0), m.lock("G", "a", queues(0)))
		clock.advance(lockLife)
		require.True(t, m.holds("G", "a", queue(0)), "renewed")
	})
	t.Run("another client is refused, until the lock has expired", func(t *testing.T) {
		m, clock := setup()
		m.lock("G", "a", queues(0))
		clock.advance(lockLife)
		require.Equal(t, queues(), m.lock("G", "b", queues(0)))
		require.Equal(t, queues(0), m.lock("H", "b", queues(0)), "of another group")
		clock.advance(time.Millisecond)
		require.False(t, m.holds("G", "a", queue(0)))
		require.Equal(t, queues(0), m.lock("G", "b", queues(0)))
		require.Equal(t, queues(), m.lock("G", "a", queues(0)))
	})
	t.Run("a batch locks all, none or some", func(t *testing.T) {
		m, _ := setup()
		require.Equal(t, queues(0, 1), m.lock("G", "a", queues(0, 1)))
		require.Equal(t, queues(), m.lock("G", "b", queues(0, 1)))
		require.Equal(t, queues(2, 3), m.lock("G", "b", queues(2, 0, 3, 1)))
		require.Equal(t, queues(), m.lock("G", "b", nil))
		require.Equal(t, queues(2, 4), m.lock("G", "b", queues(2, 4, 2)), "each once")
	})
	t.Run("unlocking frees what is the client's own", func(t *testing.T) {
		m, clock := setup()
		m.lock("G", "a", queues(0, 1))
		m.unlock("G", "b", queues(0, 1))
		require.True(t, m.holds("G", "a", queue(0)))
		m.unlock("G", "a", queues(0))
		require.False(t, m.holds("G", "a", queue(0)))
		require.True(t, m.holds("G", "a", queue(1)))
		require.Equal(t, queues(0), m.lock("G", "b", queues(0, 1)))
		clock.advance(lockLife + time.Second)
		m.unlock("G", "a", queues(1))
		m.unlock("G", "b", queues(0))
		require.Empty(t, m.groups)
	})
	t.Run("there is an end of them", func(t *testing.T) {
		m, clock := setup()
		each, group := lockSize(queue(0), "a"), groupLocksSize("G")
		m.most = 3*each + group
		require.Equal(t, queues(0, 1, 2), m.lock("G", "a", queues(0, 1, 2, 3)))
		require.Empty(t, m.lock("H", "a", queues(0)))
		require.NotContains(t, m.groups, "H")
		require.Equal(t, queues(0, 2), m.lock("G", "a", queues(0, 4, 2)), "those that there are can be renewed")
		m.unlock("G", "a", queues(1, 2))
		require.Equal(t, queues(0), m.lock("H", "b", queues(0)))
		clock.advance(lockLife + 1)
		require.Empty(t, m.lock("G", strings.Repeat("b", each), queues(0)))
		require.Equal(t, queues(0), m.lock("G", "b", queues(0)), "or taken over")
		m.expire()
		require.Equal(t, each+group, m.size)
		require.Equal(t, queues(5, 6), m.lock("G", "b", queues(5, 6)))
		m.unlock("G", "b", queues(0, 5, 6))
		require.Zero(t, m.size)
	})
	t.Run("expired locks and their groups are forgotten", func(t *testing.T) {
		m, clock := setup()
		m.lock("G", "a", queues(0, 1))
		m.lock("H", "a", queues(0))
		clock.advance(lockLife + time.Second)
		m.lock("H", "a", queues(2))
		m.expire()
		require.NotContains(t, m.groups, "G")
		require.Len(t, m.groups["H"], 1)
	})
}
