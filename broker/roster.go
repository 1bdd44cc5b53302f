package broker

import (
	"cmp"
	"strings"
	"time"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// client is a client as one of its connections shows it: the original's ClientChannelInfo without the time.
type client struct {
	id       string // chosen by the client, normally ip@instance
	peer     *remoting.Peer
	language protocol.Language
	version  protocol.Version
}

// member is one connection of a client in one group.
type member[S any] struct {
	client
	group *clientGroup[S]
	seen  time.Duration // the last heartbeat, on the manager's clock

	inGroup int // place in group.list
	inPeer  int // place in roster.byPeer[peer]

	// The members of one client id, from the newest connection to the oldest.
	newer, older *member[S]
}

// clientGroup is a group that has a member at least, and what its manager keeps about it.
type clientGroup[S any] struct {
	name  string
	conns map[*remoting.Peer]*member[S]
	list  []*member[S] // all of conns, in no order
	ids   idTable[S]   // of the group alone; nil if the roster keeps ids for all groups
	state S
}

// idTable finds the newest connection of each client id.
type idTable[S any] map[string]*member[S]

// roster knows who is in which group, by group, by connection and by client id. The work for one connection is
// proportional to the number of its own groups. It is not safe for concurrent use: a manager guards it.
type roster[S any] struct {
	groups map[string]*clientGroup[S]
	byPeer map[*remoting.Peer][]*member[S] // never empty; in no order
	ids    idTable[S]                      // over all groups; nil if each group keeps its own
	size   int                             // about the bytes that all of it takes
}

const (
	// maxClientBytes bounds, about, what is kept about consumers, and about producers. Beyond it those that there are may go
	// on, but nobody joins: honest clients are far from it, and others are not to take the memory of all.
	maxClientBytes = 1 << 30
	// memberBytes and groupBytes are what members and groups take, about, beside their names.
	memberBytes, groupBytes = 500, 500
)

// newRoster returns an empty roster that keeps client ids over all groups, or by group.
func newRoster[S any](idsOverAll bool) roster[S] {
	r := roster[S]{groups: map[string]*clientGroup[S]{}, byPeer: map[*remoting.Peer][]*member[S]{}}
	if idsOverAll {
		r.ids = idTable[S]{}
	}
	return r
}

// find returns the member that a connection is in a group, or nil.
func (r *roster[S]) find(group string, peer *remoting.Peer) *member[S] {
	if g := r.groups[group]; g != nil {
		return g.conns[peer]
	}
	return nil
}

// join makes a connection a member of a group, or takes note that it is one. It reports whether it was none before.
// The strings given are not kept.
func (r *roster[S]) join(group string, c client, now time.Duration) (m *member[S], joined bool) {
	g := r.groups[group]
	if g == nil {
		g = &clientGroup[S]{name: strings.Clone(group), conns: map[*remoting.Peer]*member[S]{}}
		if r.ids == nil {
			g.ids = idTable[S]{}
		}
		r.groups[g.name] = g
		r.size += groupBytes + len(g.name)
	}
	if m := g.conns[c.peer]; m != nil {
		m.seen, m.language, m.version = now, c.language, c.version
		return m, false
	}
	c.id = r.ownID(c)
	m = &member[S]{client: c, group: g, seen: now, inGroup: len(g.list), inPeer: len(r.byPeer[c.peer])}
	g.conns[c.peer] = m
	g.list = append(g.list, m)
	r.byPeer[c.peer] = append(r.byPeer[c.peer], m)
	r.idsOf(g).add(m)
	r.size += memberBytes + len(m.id)
	return m, true
}

// rename gives a member, whose connection has changed its client id, the new one.
func (r *roster[S]) rename(m *member[S], id string) {
	ids := r.idsOf(m.group)
	ids.remove(m)
	r.size += len(id) - len(m.id)
	m.id = strings.Clone(id)
	ids.add(m)
}

// leave removes a member, and reports whether its group went with it as the last one.
func (r *roster[S]) leave(m *member[S]) (last bool) {
	g := m.group
	r.size -= memberBytes + len(m.id)
	r.idsOf(g).remove(m)
	delete(g.conns, m.peer)
	g.list = swapDelete(g.list, m.inGroup, func(moved *member[S]) { moved.inGroup = m.inGroup })
	if of := swapDelete(r.byPeer[m.peer], m.inPeer, func(moved *member[S]) { moved.inPeer = m.inPeer }); len(of) > 0 {
		r.byPeer[m.peer] = of
	} else {
		delete(r.byPeer, m.peer)
	}
	if len(g.list) > 0 {
		return false
	}
	delete(r.groups, g.name)
	r.size -= groupBytes + len(g.name)
	return true
}

// silent returns the members whose last heartbeat was before a time.
func (r *roster[S]) silent(before time.Duration) []*member[S] {
	var list []*member[S]
	for _, g := range r.groups {
		for _, m := range g.list {
			if m.seen < before {
				list = append(list, m)
			}
		}
	}
	return list
}

// ownID returns a copy of a client id, the one that the connection's other memberships have if possible.
func (r *roster[S]) ownID(c client) string {
	if of := r.byPeer[c.peer]; len(of) > 0 && of[0].id == c.id {
		return of[0].id
	}
	return strings.Clone(c.id)
}

// idsOf returns the table that has a group's client ids.
func (r *roster[S]) idsOf(g *clientGroup[S]) idTable[S] {
	if r.ids != nil {
		return r.ids
	}
	return g.ids
}

// add makes m the newest of its client id.
func (t idTable[S]) add(m *member[S]) {
	if m.older = t[m.id]; m.older != nil {
		m.older.newer = m
	}
	t[m.id] = m
}

// remove undoes add.
func (t idTable[S]) remove(m *member[S]) {
	if m.older != nil {
		m.older.newer = m.newer
	}
	switch {
	case m.newer != nil:
		m.newer.older = m.older
	case m.older != nil:
		t[m.id] = m.older
	default:
		delete(t, m.id)
	}
	m.newer, m.older = nil, nil
}

// swapDelete removes an element by moving the last one to its place, which moved learns.
func swapDelete[M any](list []*M, at int, moved func(*M)) []*M {
	last := len(list) - 1
	if at != last {
		list[at] = list[last]
		moved(list[at])
	}
	list[last] = nil
	return shrink(list[:last])
}

// shrink gives memory back that a list once needed and no longer does.
func shrink[M any](list []M) []M {
	if cap(list) >= 64 && len(list) < cap(list)/4 {
		return append(make([]M, 0, cap(list)/2), list...)
	}
	return list
}

// compareClients orders clients by id, then by age and address of their connections: two servers may give the same number.
func compareClients(a, b client) int {
	return cmp.Or(
		strings.Compare(a.id, b.id),
		cmp.Compare(a.peer.ID(), b.peer.ID()),
		strings.Compare(a.peer.RemoteAddr(), b.peer.RemoteAddr()),
	)
}
