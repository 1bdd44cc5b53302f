package broker

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// consumerManager knows which consumers are online, and what their groups subscribe. It is a value without
// goroutines: time comes in by the clock, and whom to tell, or which connections to close, goes out as results.
//
// It is safe for concurrent use; while it holds mu it calls nothing but the clock and Peer.Closed. No consumer outlives
// its connection: heartbeat finds it open under mu, so that closed is still to come.
//
// Source: spec/broker.md §5.3. Subscriptions belong to the group, whichever member sent them last.
type consumerManager struct {
	clock func() time.Duration // monotonic; the time since any fixed moment

	mu          sync.RWMutex // guards what follows
	roster      roster[consumerState]
	subscribed  int                                            // about the bytes that the subscriptions of all groups take
	topics      map[string]map[string]struct{}                 // topic, then the online groups that subscribe it
	compensated map[string]map[string]compensatedSubscriptions // see compensate; by group, then topic

	most int // maxClientBytes
}

type consumerGroup = clientGroup[consumerState]

// consumerState is what a consumer group has besides members; guarded by consumerManager.mu.
type consumerState struct {
	consumerSettings
	// subscriptions by topic. What they point to does not change.
	subscriptions map[string]*protocol.SubscriptionData
	size          int   // about the bytes that they take
	complete      bool  // a member has sent the subscriptions
	fingerprint   int32 // of the heartbeat that brought them; 0: it was none of V2

	idList atomic.Pointer[[]byte] // answer body to 38; nil: not made since the last change. Also set under mu's read lock
}

// consumerSettings are those of a consumer group in which the last heartbeat wins.
type consumerSettings struct {
	consumeType  protocol.ConsumeType
	messageModel protocol.MessageModel
	consumeFrom  protocol.ConsumeFromWhere
}

// compensatedSubscriptions is a subscription that came with requests instead of heartbeats.
type compensatedSubscriptions struct {
	data *protocol.SubscriptionData
	at   time.Duration
}

// consumerEntry is a consumer group of a heartbeat.
type consumerEntry struct {
	*protocol.ConsumerData
	notify bool // the group's configuration lets its consumers know of changes
}

// consumerChange is what one heartbeat, departure or expiry did to one group.
type consumerChange struct {
	group      string
	joined     *client // a new connection of the group; nil: none
	left       *client // a connection that was of the group; nil: none
	subscribed bool    // topics were added, removed or replaced
	gone       bool    // the group has no member any more
	notify     bool    // the members are to be told (40)
}

func newConsumerManager(clock func() time.Duration) *consumerManager {
	return &consumerManager{
		clock:       clock,
		roster:      newRoster[consumerState](false),
		topics:      map[string]map[string]struct{}{},
		compensated: map[string]map[string]compensatedSubscriptions{},
		most:        maxClientBytes,
	}
}

// admits reports whether the consumers of a heartbeat may be registered: there is room, or they need no more than they have.
func (m *consumerManager) admits(peer *remoting.Peer, list []protocol.ConsumerData) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.roster.size+m.subscribed < m.most {
		return true
	}
	return !slices.ContainsFunc(list, func(data protocol.ConsumerData) bool {
		member := m.roster.find(data.GroupName, peer)
		return member == nil || subscriptionsSize(data.SubscriptionDataSet) > member.group.state.size
	})
}

// subscriptionsSize is about what subscriptions take in memory, in bytes.
func subscriptionsSize(list []protocol.SubscriptionData) (size int) {
	for i := range list {
		size += subscriptionSize(&list[i])
	}
	return size
}

func subscriptionSize(s *protocol.SubscriptionData) int {
	const fixed, perTag = 500, 16
	size := fixed + len(s.Topic) + len(s.SubString) + len(s.ExpressionType) + 4*len(s.CodeSet)
	for _, tag := range s.TagsSet {
		size += perTag + len(tag)
	}
	return size
}

// heartbeat registers a client in all of entries, or in none if its connection has ended already. withoutSub
// says that the entries come without subscriptions because they are what they were.
//
// stale reports that the client's subscriptions are not those that one of its groups had: another member, or it
// itself, sent other ones last (another fingerprint, or none), or they are not known although it believes so. The
// latter is ours: to the original a group that comes back without subscriptions has none. So is that a heartbeat
// without subscriptions stays stale until they come: the original takes its fingerprint for theirs.
//
// Source: spec/broker.md §5.1, §5.3.
func (m *consumerManager) heartbeat(c client, entries []consumerEntry, fingerprint int32, withoutSub bool) (changes []consumerChange, stale bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.peer.Closed() {
		return nil, false
	}
	now := m.clock()
	for i := range entries {
		e := &entries[i]
		member, joined := m.roster.join(e.GroupName, c, now)
		g := member.group
		change := consumerChange{group: g.name}
		switch {
		case joined:
			newcomer := member.client // which may get another id once mu is free
			change.joined = &newcomer
			g.state.idList.Store(nil)
		case member.id != c.id:
			m.roster.rename(member, c.id)
			g.state.idList.Store(nil)
		}
		g.state.consumerSettings = consumerSettings{e.ConsumeType, e.MessageModel, e.ConsumeFromWhere}
		topicsChanged := false
		if g.state.complete {
			stale = stale || g.state.fingerprint != fingerprint
		} else {
			stale = stale || withoutSub
		}
		if !withoutSub {
			topicsChanged, change.subscribed = m.subscribe(g, e.SubscriptionDataSet)
			g.state.fingerprint = fingerprint
		}
		change.notify = (joined || topicsChanged) && e.notify && e.MessageModel != protocol.Broadcasting
		if joined || change.subscribed {
			changes = append(changes, change)
		}
	}
	return changes, stale
}

// subscribe makes list the subscriptions of a group. topics reports that a topic was added or removed; any also
// that a newer version took an older one's place.
func (m *consumerManager) subscribe(g *consumerGroup, list []protocol.SubscriptionData) (topics, any bool) {
	s := &g.state
	s.complete = true
	if s.subscriptions == nil {
		s.subscriptions = make(map[string]*protocol.SubscriptionData, len(list))
	}
	for i := range list {
		sub := &list[i]
		old := s.subscriptions[sub.Topic]
		switch {
		case old == nil:
			m.index(g, sub.Topic)
			topics = true
		case sub.SubVersion <= old.SubVersion:
			continue
		}
		if old != nil {
			m.resize(g, -subscriptionSize(old))
		}
		own := *sub // not the whole list
		s.subscriptions[sub.Topic] = &own
		m.resize(g, subscriptionSize(&own))
		any = true
	}
	if len(s.subscriptions) > 0 {
		listed := make(map[string]struct{}, len(list))
		for i := range list {
			listed[list[i].Topic] = struct{}{}
		}
		if len(listed) < len(s.subscriptions) {
			for topic, sub := range s.subscriptions {
				if _, ok := listed[topic]; !ok {
					m.resize(g, -subscriptionSize(sub))
					delete(s.subscriptions, topic)
					m.unindex(g, topic)
					topics = true
				}
			}
		}
	}
	return topics, any || topics
}

// resize notes that the subscriptions of a group take by bytes more.
func (m *consumerManager) resize(g *consumerGroup, by int) {
	g.state.size += by
	m.subscribed += by
}

// index notes that a group subscribes a topic.
func (m *consumerManager) index(g *consumerGroup, topic string) {
	groups := m.topics[topic]
	if groups == nil {
		groups = map[string]struct{}{}
		m.topics[topic] = groups
	}
	groups[g.name] = struct{}{}
}

// unindex undoes index.
func (m *consumerManager) unindex(g *consumerGroup, topic string) {
	groups := m.topics[topic]
	delete(groups, g.name)
	if len(groups) == 0 {
		delete(m.topics, topic)
	}
}

// remove ends a membership, and with the last one its group. notify says whether the rest is to be told.
func (m *consumerManager) remove(member *member[consumerState], notify bool) consumerChange {
	g := member.group
	left := member.client
	g.state.idList.Store(nil)
	change := consumerChange{
		group: g.name, left: &left, gone: m.roster.leave(member),
		notify: notify && g.state.messageModel != protocol.Broadcasting,
	}
	if change.gone {
		change.notify = false // nobody is left to tell
		m.resize(g, -g.state.size)
		for topic := range g.state.subscriptions {
			m.unindex(g, topic)
		}
	}
	return change
}

// unregister takes a connection out of a group. notify says whether the group's configuration lets the others know.
//
// Source: spec/broker.md §5.2.
func (m *consumerManager) unregister(group string, peer *remoting.Peer, notify bool) (change consumerChange, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	member := m.roster.find(group, peer)
	if member == nil {
		return consumerChange{}, false
	}
	return m.remove(member, notify), true
}

// closed takes a connection, which has ended, out of all its groups. Their configuration has no say in whether
// the others are told.
func (m *consumerManager) closed(peer *remoting.Peer) []consumerChange {
	m.mu.Lock()
	defer m.mu.Unlock()
	var changes []consumerChange
	for list := m.roster.byPeer[peer]; len(list) > 0; list = m.roster.byPeer[peer] {
		changes = append(changes, m.remove(list[len(list)-1], true))
	}
	return changes
}

// expire removes the members that have been silent for longer than timeout, and tells the others of their groups as if their
// connections had ended: the original leaves them in the topic index and tells nobody. If it finds any it calls settle,
// which gives time for heartbeats that have arrived but are not handled yet; it then removes those that are still
// silent, or nobody if settle reports false.
//
// Source: spec/broker.md §5.3.
func (m *consumerManager) expire(timeout time.Duration, settle func() bool) []consumerChange {
	before := m.clock() - timeout
	m.mu.RLock()
	silent := m.roster.silent(before)
	m.mu.RUnlock()
	if len(silent) == 0 || !settle() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var changes []consumerChange
	for _, s := range silent {
		if m.roster.find(s.group.name, s.peer) == s && s.seen < before {
			changes = append(changes, m.remove(s, true))
		}
	}
	return changes
}

// has reports whether a connection is in any group.
func (m *consumerManager) has(peer *remoting.Peer) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.roster.byPeer[peer]) > 0
}

// idList returns the answer body to 38, which names each client of a group once, ordered by id; false: the group is
// not online. All members get the same bytes, as rebalancing wants it.
func (m *consumerManager) idList(group string) ([]byte, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	g := m.roster.groups[group]
	if g == nil {
		return nil, false
	}
	if body := g.state.idList.Load(); body != nil {
		return *body, true
	}
	list := protocol.GetConsumerListByGroupResponseBody{ConsumerIDList: slices.Sorted(maps.Keys(g.ids))}
	body := list.AppendJSON(nil, protocol.FormDefault)
	g.state.idList.Store(&body)
	return body, true
}

// clients returns the newest connection of each client of a group.
func (m *consumerManager) clients(group string) []client {
	m.mu.RLock()
	defer m.mu.RUnlock()
	g := m.roster.groups[group]
	if g == nil {
		return nil
	}
	list := make([]client, 0, len(g.ids))
	for _, newest := range g.ids {
		list = append(list, newest.client)
	}
	return list
}

// client returns the newest connection of a client in a group.
func (m *consumerManager) client(group, id string) (client, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if g := m.roster.groups[group]; g != nil {
		if newest := g.ids[id]; newest != nil {
			return newest.client, true
		}
	}
	return client{}, false
}

// clientOf returns the client that a connection is in a group.
func (m *consumerManager) clientOf(group string, peer *remoting.Peer) (client, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if member := m.roster.find(group, peer); member != nil {
		return member.client, true
	}
	return client{}, false
}

// onlineGroup is a consumer group at one moment.
type onlineGroup struct {
	consumerSettings
	conns         []client                     // ordered by client id
	subscriptions []*protocol.SubscriptionData // ordered by topic; they do not change
}

// group returns a consumer group with all its connections; false: it is not online.
func (m *consumerManager) group(name string) (onlineGroup, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	g := m.roster.groups[name]
	if g == nil {
		return onlineGroup{}, false
	}
	o := onlineGroup{consumerSettings: g.state.consumerSettings}
	for _, member := range g.list {
		o.conns = append(o.conns, member.client)
	}
	slices.SortFunc(o.conns, compareClients)
	for _, topic := range slices.Sorted(maps.Keys(g.state.subscriptions)) {
		o.subscriptions = append(o.subscriptions, g.state.subscriptions[topic])
	}
	return o, true
}

// settings returns what the last heartbeat of a group said; false: it is not online.
func (m *consumerManager) settings(group string) (consumerSettings, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if g := m.roster.groups[group]; g != nil {
		return g.state.consumerSettings, true
	}
	return consumerSettings{}, false
}

// groupsOf returns the online groups that subscribe a topic, ordered by name. Topics that a group does not subscribe any
// more are left out at once; the original keeps them while the group stays online.
func (m *consumerManager) groupsOf(topic string) []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Sorted(maps.Keys(m.topics[topic]))
}

// topicsOf returns the topics that a group subscribes, ordered by name.
func (m *consumerManager) topicsOf(group string) []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if g := m.roster.groups[group]; g != nil {
		return slices.Sorted(maps.Keys(g.state.subscriptions))
	}
	return nil
}

// subscription returns what a group wants of a topic, which does not change, or nil. compensated says that what came with
// requests counts as well (see compensate).
func (m *consumerManager) subscription(group, topic string, compensated bool) *protocol.SubscriptionData {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if g := m.roster.groups[group]; g != nil {
		if sub := g.state.subscriptions[topic]; sub != nil {
			return sub
		}
	}
	if compensated {
		return m.compensated[group][topic].data
	}
	return nil
}

// compensate remembers a subscription that came with a request, for groups that send no heartbeats. sub must not
// change any more.
func (m *consumerManager) compensate(group, topic string, sub *protocol.SubscriptionData) {
	m.mu.Lock()
	defer m.mu.Unlock()
	topics := m.compensated[group]
	if topics == nil {
		topics = map[string]compensatedSubscriptions{}
		m.compensated[strings.Clone(group)] = topics
	}
	topics[strings.Clone(topic)] = compensatedSubscriptions{sub, m.clock()}
}

// expireCompensated forgets the subscriptions that no request has repeated for longer than timeout. The original goes by
// their version, which is a time in Java clients only.
func (m *consumerManager) expireCompensated(timeout time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.clock() - timeout
	for group, topics := range m.compensated {
		maps.DeleteFunc(topics, func(_ string, s compensatedSubscriptions) bool { return s.at < before })
		if len(topics) == 0 {
			delete(m.compensated, group)
		}
	}
}
