package namesrv

import (
	"cmp"
	"hash/maphash"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

const (
	masterID = 0 // the broker id of a group's master

	permWrite = 2 // bit of a topic's perm
)

// routeTable knows which brokers are alive and which topics they serve. It is a value without goroutines: time, the
// connections of brokers and the settings come in as arguments, and what has to be told to brokers or closed
// afterwards goes out as results.
//
// It is safe for concurrent use. Changes are made one at a time: they are worked out under writer, while readers go
// on, and carried out under mu, all of one change at once. So no reader sees half a registration, and what register
// has returned is seen by every request from then on. Reading a ready route answer takes no lock at all: a change
// takes back the answers of all topics it concerns before it touches the first of them.
//
// The work for one broker is proportional to its own topics, however many there are and however many other brokers
// have the same; see brokerGroup.topics, queueList, byAddr and byConn.
//
// Source: spec/namesrv.md §3 to §7, §10. Differences from the original are told where they are made.
type routeTable struct {
	clock func() time.Duration // monotonic; the time since any fixed moment

	seed maphash.Seed // of the fingerprints of registrations

	writer sync.Mutex // held by changes from begin to end; taken before mu
	stamp  uint32     // names the registration that last saw a topic, see topicEntry.stamp; guarded by writer

	// mu guards everything below. Who holds writer may read without it, because only writers change anything.
	mu       sync.RWMutex
	topics   *xsync.Map[string, *topicEntry]    // by name; may be read without mu
	entries  []*topicEntry                      // all of topics, in no order
	groups   map[string]*brokerGroup            // by broker name; each has a member at least
	clusters map[string]map[string]*brokerGroup // by cluster and broker name; none is empty
	byAddr   map[brokerKey]*liveBroker
	byConn   map[*remoting.Peer][]*liveBroker // never empty; several brokers may share a connection

	answers answerCache

	wide      int                          // a topic of more queueEntries is answered by wideAnswer
	making    chan struct{}                // holds one for each wide answer that is being made, as many as its capacity
	pendingMu sync.Mutex                   // never held together with another lock
	pending   map[answerKey]*pendingAnswer // wide answers whose making has not begun; guarded by pendingMu
}

// brokerKey is what distinguishes living brokers: one address may be known in several clusters.
type brokerKey struct{ cluster, addr string }

// topicEntry is a topic that at least one group serves.
type topicEntry struct {
	name     string
	queues   queueList      // never empty; guarded by routeTable.mu
	mappings []queueMapping // of static topics; sorted by info.Bname; guarded by routeTable.mu
	index    int32          // in routeTable.entries; -1 once the topic is gone; guarded by routeTable.mu
	changes  uint32         // counts how often answers were taken back; guarded by routeTable.mu
	stamp    uint32         // guarded by routeTable.writer

	used    atomic.Bool               // an answer was asked for since the cache last looked
	answers atomic.Pointer[answerSet] // nil: none is ready
}

// queueEntry is what one group has of a topic. There are as many as topics times brokers, hence the plain form.
type queueEntry struct {
	group    *brokerGroup
	slot     int32 // index of the topic in group.topics
	read     int32
	write    int32
	perm     int32 // as the broker registered it
	sysFlag  int32
	withheld bool // no write permission, because the group has an acting master only
}

// effectivePerm is the permission that clients see.
func (q *queueEntry) effectivePerm() int32 {
	if q.withheld || q.group.wiped {
		return q.perm &^ permWrite
	}
	return q.perm
}

// same tells whether q says the same as other about the queues, wherever the topic is listed.
func (q *queueEntry) same(other *queueEntry) bool {
	return q.read == other.read && q.write == other.write && q.perm == other.perm &&
		q.sysFlag == other.sysFlag && q.withheld == other.withheld
}

// queueMapping tells where the logical queues of a static topic are. It goes when the topic leaves the group that
// brought the mapping, or the group that it is about (fault F5 of the original keeps it for good).
type queueMapping struct {
	source *brokerGroup
	info   protocol.TopicQueueMappingInfo
}

// brokerGroup is a master and its slaves: the brokers of one name. A name belongs to one cluster at a time.
type brokerGroup struct {
	cluster string
	name    string

	// The rest is guarded by routeTable.mu.
	members      []*liveBroker // sorted by id, and by address unique; never empty
	zone         protocol.Opt[string]
	actingMaster bool          // enableActingMaster of the last registration of a member
	wiped        bool          // 205 has taken write permission from all topics, registered or to come, until 327
	topics       []*topicEntry // all that have a queueEntry of this group, in no order
}

// member returns the member with an id, or nil.
func (g *brokerGroup) member(id int64) *liveBroker {
	for _, m := range g.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

// place is where the member with an id is, or would have to be.
func (g *brokerGroup) place(id int64) int {
	at, _ := slices.BinarySearchFunc(g.members, id, func(m *liveBroker, id int64) int { return cmp.Compare(m.id, id) })
	return at
}

// insert adds a member at its place.
func (g *brokerGroup) insert(b *liveBroker) { g.members = slices.Insert(g.members, g.place(b.id), b) }

// remove takes a member out, whose id is still the one it was inserted with.
func (g *brokerGroup) remove(b *liveBroker) {
	at := g.place(b.id)
	g.members = slices.Delete(g.members, at, at+1)
}

// forgetPrints makes the next registration of every member count, even if it repeats the last one.
func (g *brokerGroup) forgetPrints() {
	for _, m := range g.members {
		m.print = fingerprint{}
	}
}

// liveBroker is the registration of one broker. Every member of a group is live and every live broker is a member.
// A registration by the same name and address renews it; with another one it is another liveBroker, so that
// whoever holds the pointer to an old one cannot hurt the new one.
type liveBroker struct {
	brokerKey
	group *brokerGroup
	seen  atomic.Int64 // routeTable.clock at the last sign of life; may be set under mu.RLock

	// The rest is guarded by routeTable.mu.
	id            int64
	conn          *remoting.Peer // that carried the last registration
	slot          int            // index in routeTable.byConn[conn]
	haAddr        protocol.Opt[string]
	version       *protocol.DataVersion // nil equals no version
	timeout       time.Duration
	filterServers []string
	print         fingerprint // of the last registration that was taken; zero: the next one counts in any case
}

// newRouteTable returns an empty table. The clock must be monotonic. Answers up to about cacheLimit bytes are kept
// ready, 0 means defaultAnswerCache.
func newRouteTable(clock func() time.Duration, cacheLimit int64) *routeTable {
	if cacheLimit == 0 {
		cacheLimit = defaultAnswerCache
	}
	return &routeTable{
		clock:    clock,
		seed:     maphash.MakeSeed(),
		topics:   xsync.NewMap[string, *topicEntry](),
		groups:   map[string]*brokerGroup{},
		clusters: map[string]map[string]*brokerGroup{},
		byAddr:   map[brokerKey]*liveBroker{},
		byConn:   map[*remoting.Peer][]*liveBroker{},
		answers:  answerCache{limit: cacheLimit},
		wide:     wideTopic,
		making:   make(chan struct{}, runtime.GOMAXPROCS(0)),
		pending:  map[answerKey]*pendingAnswer{},
	}
}

// entry returns a topic, which need not exist yet. The caller gives it queues before mu is free.
func (t *routeTable) entry(topic string) *topicEntry {
	e, ok := t.topics.Load(topic)
	if !ok {
		e = &topicEntry{name: topic, index: int32(len(t.entries))}
		t.entries = append(t.entries, e)
		t.topics.Store(topic, e)
	}
	return e
}

// put sets what a group has of a topic. The caller has taken back the topic's answers.
func (e *topicEntry) put(q queueEntry) {
	at, ok := e.queues.find(q.group.name)
	if ok {
		old := e.queues.entry(at)
		q.slot = old.slot
		*old = q
		return
	}
	q.slot = int32(len(q.group.topics))
	q.group.topics = append(q.group.topics, e)
	e.queues.insert(at, q)
}

// take removes what a group has of a topic; the topic goes with its last group. The caller has taken back the
// topic's answers.
func (t *routeTable) take(e *topicEntry, g *brokerGroup) {
	at, ok := e.queues.find(g.name)
	if !ok {
		return
	}
	last := len(g.topics) - 1
	slot := e.queues.entry(at).slot
	if moved := g.topics[last]; moved != e {
		g.topics[slot] = moved
		moved.queues.get(g).slot = slot
	}
	g.topics[last] = nil
	g.topics = g.topics[:last]
	t.takeAt(e, at)
}

// takeAt removes a queueEntry without regard for its group's list of topics.
func (t *routeTable) takeAt(e *topicEntry, at place) {
	g := e.queues.entry(at).group
	e.queues.delete(at)
	if e.mappings != nil {
		e.mappings = slices.DeleteFunc(e.mappings, func(m queueMapping) bool {
			return m.source == g || m.info.Bname == g.name
		})
	}
	if !e.queues.empty() {
		return
	}
	last := len(t.entries) - 1
	moved := t.entries[last]
	t.entries[e.index], moved.index = moved, e.index
	t.entries[last] = nil
	t.entries = t.entries[:last]
	e.index = -1
	t.topics.Delete(e.name)
}

// addGroup makes a group, which the caller gives its first member.
func (t *routeTable) addGroup(cluster, name string) *brokerGroup {
	g := &brokerGroup{cluster: cluster, name: name}
	t.groups[name] = g
	if t.clusters[cluster] == nil {
		t.clusters[cluster] = map[string]*brokerGroup{}
	}
	t.clusters[cluster][name] = g
	return g
}

// dropGroup removes a group that has lost its last member, with all that it has of topics.
func (t *routeTable) dropGroup(g *brokerGroup) {
	for _, e := range g.topics {
		at, _ := e.queues.find(g.name)
		t.takeAt(e, at)
	}
	g.topics = nil
	delete(t.groups, g.name)
	if delete(t.clusters[g.cluster], g.name); len(t.clusters[g.cluster]) == 0 {
		delete(t.clusters, g.cluster)
	}
}

// attach makes a broker live on a connection.
func (t *routeTable) attach(b *liveBroker, conn *remoting.Peer) {
	b.conn, b.slot = conn, len(t.byConn[conn])
	t.byConn[conn] = append(t.byConn[conn], b)
}

// detach undoes attach.
func (t *routeTable) detach(b *liveBroker) {
	list := t.byConn[b.conn]
	last := len(list) - 1
	list[b.slot] = list[last]
	list[b.slot].slot = b.slot
	list[last] = nil
	if last == 0 {
		delete(t.byConn, b.conn)
	} else {
		t.byConn[b.conn] = list[:last]
	}
	b.conn = nil
}

// forget removes a broker from its group and from all indexes. The group may be left without members.
func (t *routeTable) forget(b *liveBroker) {
	t.detach(b)
	delete(t.byAddr, b.brokerKey)
	b.group.remove(b)
}
