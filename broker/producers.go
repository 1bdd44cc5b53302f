package broker

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// producerTimeout is how long a producer may be silent.
const producerTimeout = 120 * time.Second

// producerManager knows which producers are online. It is a value without goroutines, as consumerManager is, and
// safe for concurrent use.
//
// Source: spec/broker.md §5.4.
type producerManager struct {
	clock func() time.Duration // monotonic; the time since any fixed moment

	mu     sync.RWMutex // guards what follows
	roster roster[producerState]

	most int // maxClientBytes
}

// producerState is what a producer group has besides members.
type producerState struct {
	turn uint32 // round robin of available
}

// producerChange is a producer that came or went.
type producerChange struct {
	group  string
	client client
	joined bool // else it left
	gone   bool // the group has no member any more
}

// producerConn is a producer with the time since its last heartbeat.
type producerConn struct {
	client
	silent time.Duration
}

func newProducerManager(clock func() time.Duration) *producerManager {
	return &producerManager{clock: clock, roster: newRoster[producerState](true), most: maxClientBytes}
}

// admits reports whether the producers of a heartbeat may be registered: there is room, or they are.
func (m *producerManager) admits(peer *remoting.Peer, groups []protocol.ProducerData) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.roster.size < m.most {
		return true
	}
	return !slices.ContainsFunc(groups, func(data protocol.ProducerData) bool { return m.roster.find(data.GroupName, peer) == nil })
}

// heartbeat registers a client in all groups, or in none if its connection has ended already.
func (m *producerManager) heartbeat(c client, groups []protocol.ProducerData) (changes []producerChange) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.peer.Closed() {
		return nil
	}
	now := m.clock()
	for i := range groups {
		member, joined := m.roster.join(groups[i].GroupName, c, now)
		switch {
		case joined:
			changes = append(changes, producerChange{group: member.group.name, client: member.client, joined: true})
		case member.id != c.id:
			m.roster.rename(member, c.id)
		}
	}
	return changes
}

// remove ends a membership, and with the last one its group.
func (m *producerManager) remove(member *member[producerState]) producerChange {
	return producerChange{group: member.group.name, client: member.client, gone: m.roster.leave(member)}
}

// unregister takes a connection out of a group.
func (m *producerManager) unregister(group string, peer *remoting.Peer) (change producerChange, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	member := m.roster.find(group, peer)
	if member == nil {
		return producerChange{}, false
	}
	return m.remove(member), true
}

// closed takes a connection, which has ended, out of all its groups.
func (m *producerManager) closed(peer *remoting.Peer) []producerChange {
	m.mu.Lock()
	defer m.mu.Unlock()
	var changes []producerChange
	for list := m.roster.byPeer[peer]; len(list) > 0; list = m.roster.byPeer[peer] {
		changes = append(changes, m.remove(list[len(list)-1]))
	}
	return changes
}

// expire removes the members that have been silent for longer than producerTimeout; settle is as for
// consumerManager.expire.
func (m *producerManager) expire(settle func() bool) []producerChange {
	before := m.clock() - producerTimeout
	m.mu.RLock()
	silent := m.roster.silent(before)
	m.mu.RUnlock()
	if len(silent) == 0 || !settle() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var changes []producerChange
	for _, s := range silent {
		if m.roster.find(s.group.name, s.peer) == s && s.seen < before {
			changes = append(changes, m.remove(s))
		}
	}
	return changes
}

// has reports whether a connection is in any group.
func (m *producerManager) has(peer *remoting.Peer) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.roster.byPeer[peer]) > 0
}

// group returns the connections of a group, ordered by client id; nil: it is not online.
func (m *producerManager) group(name string) []producerConn {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.conns(m.roster.groups[name])
}

// all returns the connections of all groups.
func (m *producerManager) all() map[string][]producerConn {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := make(map[string][]producerConn, len(m.roster.groups))
	for name, g := range m.roster.groups {
		all[name] = m.conns(g)
	}
	return all
}

// groups returns the names of all groups, ordered.
func (m *producerManager) groups() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Sorted(maps.Keys(m.roster.groups))
}

func (m *producerManager) conns(g *clientGroup[producerState]) []producerConn {
	if g == nil {
		return nil
	}
	now := m.clock()
	list := make([]producerConn, len(g.list))
	for i, member := range g.list {
		list[i] = producerConn{member.client, now - member.seen}
	}
	slices.SortFunc(list, func(a, b producerConn) int { return compareClients(a.client, b.client) })
	return list
}

// find returns the newest connection of a producer, of whatever group.
func (m *producerManager) find(clientID string) (client, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if newest := m.roster.ids[clientID]; newest != nil {
		return newest.client, true
	}
	return client{}, false
}

// availableTries is how many connections available looks at in search of one with room.
const availableTries = 3

// available returns the connection of a group that is next to be asked, for the state of a transaction say: in turn, one
// that takes what is sent to it if that is found soon, else one that is open.
func (m *producerManager) available(group string) *remoting.Peer {
	m.mu.Lock()
	var candidates [availableTries]*remoting.Peer
	if g := m.roster.groups[group]; g != nil {
		g.state.turn++
		for i := range min(availableTries, len(g.list)) {
			candidates[i] = g.list[(uint64(g.state.turn)+uint64(i))%uint64(len(g.list))].peer
		}
	}
	m.mu.Unlock()
	var open *remoting.Peer
	for _, p := range candidates {
		switch {
		case p == nil || p.Closed():
		case p.Writable():
			return p
		default:
			open = p
		}
	}
	return open
}
