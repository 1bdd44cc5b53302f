package broker

import (
	"sync"
	"time"

	"github.com/mq-server/mq/protocol"
)

const (
	// lockLife is how long a queue lock lives after it was taken or renewed.
	lockLife = 60 * time.Second
	// maxLockBytes bounds, about, what the locks of all groups take. Beyond it no lock is given that there is not.
	maxLockBytes = 512 << 20
	// lockBytes is what a lock takes, about, beside its names; so does a group.
	lockBytes = 200
)

// lockManager knows which client of a group consumes which queue alone, in order. Locks are memory only and survive
// connections: a client that comes back within lockLife still has its queues. It is safe for concurrent use; it
// takes no other lock and calls nothing but the clock while it holds mu.
//
// Source: spec/broker.md §5.8. Not here: lockInStrictMode, in which the other brokers of the group have a say.
type lockManager struct {
	clock func() time.Duration // monotonic; the time since any fixed moment

	mu     sync.Mutex
	groups map[string]map[protocol.MessageQueue]queueLock // never empty; guarded by mu
	size   int                                            // about the bytes that they take; guarded by mu
	most   int                                            // maxLockBytes
}

type queueLock struct {
	clientID string
	at       time.Duration // taken or renewed
}

func newLockManager(clock func() time.Duration) *lockManager {
	return &lockManager{clock: clock, groups: map[string]map[protocol.MessageQueue]queueLock{}, most: maxLockBytes}
}

func (l queueLock) alive(now time.Duration) bool { return now-l.at <= lockLife }

// lockSize is about what a lock takes in memory, in bytes.
func lockSize(q protocol.MessageQueue, clientID string) int {
	return lockBytes + len(q.Topic) + len(q.BrokerName) + len(clientID)
}

// groupLocksSize is about what a group takes in memory, in bytes, beside its locks.
func groupLocksSize(group string) int { return lockBytes + len(group) }

// lock takes or renews the locks of queues for a client, and returns those that it holds now, in the order given and each
// once.
func (m *lockManager) lock(group, clientID string, queues []protocol.MessageQueue) []protocol.MessageQueue {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	locks := m.groups[group]
	held := make([]protocol.MessageQueue, 0, len(queues))
	seen := make(map[protocol.MessageQueue]struct{}, len(queues))
	for _, q := range queues {
		if _, twice := seen[q]; twice {
			continue
		}
		seen[q] = struct{}{}
		more := lockSize(q, clientID)
		switch l, ok := locks[q]; {
		case ok && l.clientID != clientID && l.alive(now):
			continue
		case ok:
			more = len(clientID) - len(l.clientID)
		case locks == nil:
			more += groupLocksSize(group)
		}
		if more > 0 && m.size+more > m.most {
			continue
		}
		m.size += more
		if locks == nil {
			locks = map[protocol.MessageQueue]queueLock{}
			m.groups[group] = locks
		}
		locks[q] = queueLock{clientID, now}
		held = append(held, q)
	}
	return held
}

// unlock gives up the locks of queues that the client owns.
func (m *lockManager) unlock(group, clientID string, queues []protocol.MessageQueue) {
	m.mu.Lock()
	defer m.mu.Unlock()
	locks := m.groups[group]
	for _, q := range queues {
		if l, ok := locks[q]; ok && l.clientID == clientID {
			m.drop(locks, q, l)
		}
	}
	m.dropEmpty(group)
}

// drop forgets the lock l of a queue, one of locks.
func (m *lockManager) drop(locks map[protocol.MessageQueue]queueLock, q protocol.MessageQueue, l queueLock) {
	delete(locks, q)
	m.size -= lockSize(q, l.clientID)
}

// dropEmpty forgets a group that has no locks any more.
func (m *lockManager) dropEmpty(group string) {
	if locks, ok := m.groups[group]; ok && len(locks) == 0 {
		delete(m.groups, group)
		m.size -= groupLocksSize(group)
	}
}

// holds reports whether a client holds the lock of a queue.
func (m *lockManager) holds(group, clientID string, q protocol.MessageQueue) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.groups[group][q]
	return ok && l.clientID == clientID && l.alive(m.clock())
}

// anyLocked reports whether any queue of a group is locked: its consumers work in order then.
func (m *lockManager) anyLocked(group string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	for _, l := range m.groups[group] {
		if l.alive(now) {
			return true
		}
	}
	return false
}

// expire forgets the locks that are not alive, which nobody sees but the memory.
func (m *lockManager) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	for group, locks := range m.groups {
		for q, l := range locks {
			if !l.alive(now) {
				m.drop(locks, q, l)
			}
		}
		m.dropEmpty(group)
	}
}
