package namesrv

// GET_ROUTEINFO_BY_TOPIC (105), all versions: the answers and the cache of ready ones.
//
//   - An answer is encoded once for each form, zone and setting, and served as it is until something changes.
//   - The answer for a topic on very many brokers takes long: it is made without the lock, for all who ask at a time.
//   - Acting masters: the lowest slave of a group without a master appears as id 0 (5.x, supportActingMaster).
//   - Zones: groups of other zones are left out (5.x), in the form of JSON that the client asked for (F20).

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

const (
	defaultAnswerCache = 64 << 20 // bytes
	answerOverhead     = 256      // bytes that a ready answer needs beside its body, about
	maxAnswersPerTopic = 8        // forms times zones
	wideTopic          = 64       // queueEntries; encoding the answer for as many takes some 0.1 ms

	memberTopicPrefix = "rmq_sys_SYNC_BROKER_MEMBER_" // topics by which 5.x brokers ask for their group
)

// routeQuery is all that an answer to 105 depends on beside the topic.
type routeQuery struct {
	form         protocol.JSONForm
	actingMaster bool                 // supportActingMaster
	orderConf    protocol.Opt[string] // orderTopicConf: present if orderMessageEnable is set and the topic has one
	zone         string               // only groups of this zone; "": of all, see zoneFilter
}

// zoneFilter returns the zone for a routeQuery from a request's fields.
//
// Source: spec/namesrv.md §7.3.
func zoneFilter(mode bool, name string) string {
	if !mode || strings.TrimSpace(name) == "" {
		return ""
	}
	return name
}

// answerSet holds the ready answers of a topic. It does not change once it is published.
type answerSet struct {
	answers []answer
	bytes   int64
}

type answer struct {
	query    routeQuery
	response remoting.Response
}

// route returns where a topic lives, or nil if nobody serves it. The response is shared.
func (t *routeTable) route(topic string, q routeQuery) *remoting.Response {
	e, ok := t.topics.Load(topic)
	if !ok {
		return nil
	}
	if set := e.answers.Load(); set != nil {
		for i := range set.answers {
			if a := &set.answers[i]; a.query == q {
				if !e.used.Load() {
					e.used.Store(true)
				}
				return &a.response
			}
		}
	}
	return t.makeAnswer(topic, q)
}

// makeAnswer encodes an answer and keeps it ready.
func (t *routeTable) makeAnswer(topic string, q routeQuery) *remoting.Response {
	t.mu.RLock()
	e, ok := t.topics.Load(topic) // again: the topic may be another one by now
	if ok && e.queues.len() > t.wide {
		t.mu.RUnlock()
		return t.wideAnswer(topic, q)
	}
	defer t.mu.RUnlock()
	if !ok {
		return nil
	}
	route, keep := e.routeData(q)
	a := encodeAnswer(&route, q)
	if keep {
		t.answers.add(t.entries, e, a) // while mu is held: a change has to find it
	}
	return &a.response
}

// answerKey is a question for a wide topic.
type answerKey struct {
	topic string
	query routeQuery
}

// pendingAnswer is the answer for all who ask before its making begins.
type pendingAnswer struct {
	ready    chan struct{} // closed when response is set
	response *remoting.Response
}

// wideAnswer is makeAnswer for a topic whose answer is megabytes and milliseconds of work. That is done for all who
// wait for the same, so that many who ask right after a change cost as much as one or two; for a bounded number of
// answers at a time; and without mu but for the look at the table, so that changes do not wait for it.
//
// Each caller gets an answer made from the table as it was after the call had begun.
func (t *routeTable) wideAnswer(topic string, q routeQuery) *remoting.Response {
	key := answerKey{topic, q}
	t.pendingMu.Lock()
	p, waiting := t.pending[key]
	if !waiting {
		p = &pendingAnswer{ready: make(chan struct{})}
		t.pending[key] = p
	}
	t.pendingMu.Unlock()
	if waiting {
		<-p.ready
		return p.response
	}
	defer close(p.ready)
	t.making <- struct{}{}
	defer func() { <-t.making }()
	t.pendingMu.Lock()
	delete(t.pending, key) // who comes from now on may want a newer one
	t.pendingMu.Unlock()
	p.response = t.makeWideAnswer(topic, q)
	return p.response
}

func (t *routeTable) makeWideAnswer(topic string, q routeQuery) *remoting.Response {
	t.mu.RLock()
	e, ok := t.topics.Load(topic)
	if !ok {
		t.mu.RUnlock()
		return nil
	}
	route, keep := e.routeData(q)
	changes := e.changes
	t.mu.RUnlock()

	a := encodeAnswer(&route, q)
	if keep {
		t.mu.RLock()
		defer t.mu.RUnlock()
		if e.index >= 0 && e.changes == changes {
			t.answers.add(t.entries, e, a)
		}
	}
	return &a.response
}

func encodeAnswer(route *protocol.TopicRouteData, q routeQuery) *answer {
	q.zone = strings.Clone(q.zone) // it is a part of the request's header, which may be large
	return &answer{query: q, response: remoting.Response{
		Code: protocol.RespSuccess, Body: slices.Clip(route.AppendJSON(make([]byte, 0, 256*len(route.QueueDatas)), q.form)),
	}}
}

// routeData builds the route of a topic. Nothing in it changes any more, and nothing may be changed. Keep is false if
// the answer is a rare one.
func (e *topicEntry) routeData(q routeQuery) (route protocol.TopicRouteData, keep bool) {
	keep = q.zone == ""
	n := e.queues.len()
	route = protocol.TopicRouteData{
		QueueDatas:  make([]protocol.QueueData, 0, n),
		BrokerDatas: make([]protocol.BrokerData, 0, n),
	}
	if q.orderConf.Present {
		route.OrderTopicConf = &q.orderConf.Value
	}
	standIns := q.actingMaster && !strings.HasPrefix(e.name, memberTopicPrefix)
	for qe := range e.queues.all() {
		g := qe.group
		data := g.brokerData()
		if standIns && g.actingMaster && qe.effectivePerm()&permWrite == 0 && g.member(masterID) == nil {
			data.BrokerAddrs[0].ID = masterID
		}
		if q.zone != "" {
			keep = keep || g.zone.Value == q.zone
			// A group without a master is open to all zones.
			hasMaster := slices.ContainsFunc(data.BrokerAddrs, func(a protocol.BrokerAddr) bool { return a.ID == masterID })
			if hasMaster && !(g.zone.Present && strings.EqualFold(g.zone.Value, q.zone)) {
				continue
			}
		}
		route.BrokerDatas = append(route.BrokerDatas, data)
		route.QueueDatas = append(route.QueueDatas, protocol.QueueData{
			BrokerName: g.name, ReadQueueNums: qe.read, WriteQueueNums: qe.write,
			Perm: qe.effectivePerm(), TopicSysFlag: qe.sysFlag,
		})
		for _, m := range g.members {
			if len(m.filterServers) > 0 {
				route.FilterServerTable = append(route.FilterServerTable,
					protocol.FilterServers{BrokerAddr: m.addr, Servers: m.filterServers})
			}
		}
	}
	for i := range e.mappings {
		m := &e.mappings[i]
		route.TopicQueueMappingByBroker = append(route.TopicQueueMappingByBroker, protocol.NamedQueueMapping{Key: m.info.Bname, Info: m.info})
	}
	return route, keep
}

// brokerData describes the group as it is now.
func (g *brokerGroup) brokerData() protocol.BrokerData {
	data := protocol.BrokerData{
		Cluster: g.cluster, BrokerName: g.name, EnableActingMaster: g.actingMaster,
		BrokerAddrs: g.brokerAddrs(),
	}
	if g.zone.Present {
		zone := g.zone.Value
		data.ZoneName = &zone
	}
	return data
}

func (g *brokerGroup) brokerAddrs() protocol.BrokerAddrs {
	addrs := make(protocol.BrokerAddrs, len(g.members))
	for i, m := range g.members {
		addrs[i] = protocol.BrokerAddr{ID: m.id, Addr: m.addr}
	}
	return addrs
}

// answerCache bounds the memory of ready answers. Beyond the limit those go that nobody has asked for lately.
type answerCache struct {
	limit int64 // bytes
	size  atomic.Int64

	evicting sync.Mutex // taken after routeTable.mu; never waited for
	hand     int        // where the search for unused answers goes on; guarded by evicting
}

// add keeps an answer of e ready. It is called with routeTable.mu held for reading.
func (c *answerCache) add(entries []*topicEntry, e *topicEntry, a *answer) {
	n := int64(len(a.response.Body)) + answerOverhead
	if n > c.limit/8 {
		return
	}
	for {
		old := e.answers.Load()
		set := &answerSet{bytes: n}
		if old != nil {
			for i := range old.answers {
				o := &old.answers[i]
				if o.query == a.query {
					return // another reader was faster
				}
				if o.query.actingMaster != a.query.actingMaster || o.query.orderConf != a.query.orderConf {
					continue // made with other settings: will not be asked for again
				}
				set.answers = append(set.answers, *o)
				set.bytes += int64(len(o.response.Body)) + answerOverhead
			}
		}
		if len(set.answers) >= maxAnswersPerTopic {
			return
		}
		set.answers = append(set.answers, *a)
		if e.answers.CompareAndSwap(old, set) {
			size := c.size.Add(set.bytes - old.size())
			if size > c.limit && c.evicting.TryLock() {
				c.evict(entries)
				c.evicting.Unlock()
			}
			return
		}
	}
}

func (s *answerSet) size() int64 {
	if s == nil {
		return 0
	}
	return s.bytes
}

// evict takes back answers until an eighth of the limit is free: in the order of entries, leaving out for one round
// those that were used since it last came by.
func (c *answerCache) evict(entries []*topicEntry) {
	for range 2 * len(entries) {
		if c.size.Load() <= c.limit/8*7 {
			return
		}
		c.hand = (c.hand + 1) % len(entries)
		if e := entries[c.hand]; !e.used.Swap(false) {
			c.drop(e)
		}
	}
}

// takeBack takes back the answers of topics that are about to change: the ready ones, and those that are being made.
// It is called with routeTable.mu held.
func (c *answerCache) takeBack(entries ...*topicEntry) {
	for _, e := range entries {
		e.changes++
		c.drop(e)
	}
}

// drop takes the ready answers of a topic out of the cache.
func (c *answerCache) drop(e *topicEntry) {
	if e.answers.Load() != nil {
		c.size.Add(-e.answers.Swap(nil).size())
	}
}
