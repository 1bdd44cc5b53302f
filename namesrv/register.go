package namesrv

// REGISTER_BROKER (103), all versions, and REGISTER_TOPIC_IN_NAMESRV (217), 5.x.
//
//   - A registration is taken entirely or not at all, and one that is refused leaves no trace (F6, F7).
//   - One that repeats the last one taken is recognised by its bytes and only renews the broker's life.
//   - The broker of highest stateVersion holds an id; between equals the last one. Who loses an id is forgotten (F2).
//   - A name belongs to one cluster (F3), an address to one name of a cluster, and to one id of a name.
//   - Topics come from the master, and from the lowest slave of a 5.x group without one.

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// Bounds of heartbeatTimeoutMillis (F31). A broker whose timeout is 0 or less expires at the next scan.
const (
	defaultBrokerTimeout = 120 * time.Second
	maxBrokerTimeout     = 100 * 365 * 24 * time.Hour
)

// registration is a REGISTER_BROKER request but for its body.
type registration struct {
	header  protocol.RegisterBrokerRequestHeader
	version protocol.Version // of the request; decides how its body is read
	conn    *remoting.Peer

	deleteTopics    bool // deleteTopicWithBrokerRegistration
	notifyMinBroker bool // notifyMinBrokerIdChanged

	print fingerprint // set by renew
}

// fingerprint identifies a registration by all that it says. The zero value is that of none.
type fingerprint struct {
	header       protocol.RegisterBrokerRequestHeader
	version      protocol.Version
	deleteTopics bool
	size         int
	hash         uint64 // of the body, with a seed nobody else knows
}

// registered is the outcome of a registration that is answered with code 0.
type registered struct {
	header  protocol.RegisterBrokerResponseHeader
	notices []notice

	// For the log:
	known       bool   // the broker was registered before with this name, id and address
	replaced    string // address that has lost the id to this broker; "" if none has
	outrankedBy string // address of the broker with a higher stateVersion; "" if the registration was taken
}

// sharedNameError refuses a broker whose name is in use in another cluster.
type sharedNameError struct{ brokerName, cluster, holder string }

func (e *sharedNameError) Error() string {
	return fmt.Sprintf("register broker failed: brokerName %s is alive in cluster %s, clusterName %s is refused",
		e.brokerName, e.holder, e.cluster)
}

// errFirstRegistrationIncomplete refuses a broker that comes with exactly one topic while its id is not registered:
// that is an update which overtook the full registration. Its text is the original's remark for code 1.
var errFirstRegistrationIncomplete = errors.New("register broker failed")

// renew takes a registration that repeats, byte for byte, the last one taken of its broker. If it reports false
// the registration's body is to be decoded and handed to register. Nothing is changed but the time the broker was last
// seen and, if it has come on another connection, that.
func (t *routeTable) renew(r *registration, body []byte) (registered, bool) {
	r.print = fingerprint{
		header: r.header, version: r.version, deleteTopics: r.deleteTopics, size: len(body),
		hash: maphash.Bytes(t.seed, body),
	}
	key := brokerKey{r.header.ClusterName, r.header.BrokerAddr}

	t.mu.RLock()
	b := t.byAddr[key]
	if b == nil || b.print != r.print {
		t.mu.RUnlock()
		return registered{}, false
	}
	if b.conn == r.conn {
		b.seen.Store(int64(t.clock()))
		res := registered{header: b.masterHeader(), known: true}
		t.mu.RUnlock()
		return res, true
	}
	t.mu.RUnlock()

	t.writer.Lock()
	defer t.writer.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if b = t.byAddr[key]; b == nil || b.print != r.print {
		return registered{}, false
	}
	t.detach(b)
	t.attach(b, r.conn)
	b.seen.Store(int64(t.clock()))
	return registered{header: b.masterHeader(), known: true}, true
}

// masterHeader tells a slave where its master is.
func (b *liveBroker) masterHeader() protocol.RegisterBrokerResponseHeader {
	master := b.group.member(masterID)
	if b.id == masterID || master == nil {
		return protocol.RegisterBrokerResponseHeader{}
	}
	return protocol.RegisterBrokerResponseHeader{HAServerAddr: master.haAddr, MasterAddr: protocol.Some(master.addr)}
}

// topicName returns name as a string, the one in use if the topic is known. For RegisterBodyOptions.Intern.
func (t *routeTable) topicName(name []byte) string {
	if e, ok := t.topics.Load(string(name)); ok {
		return e.name
	}
	return string(name)
}

// register takes a registration or refuses it without a trace. It keeps parts of body: names of topics must not be
// parts of larger strings.
//
// Errors: *sharedNameError, errFirstRegistrationIncomplete. A master that another one outranks is no error, as in the
// original, see registered.outrankedBy.
//
// Source: spec/namesrv.md §5.
func (t *routeTable) register(r *registration, body *protocol.RegisterBrokerBody) (registered, error) {
	t.writer.Lock()
	defer t.writer.Unlock()

	p, res, err := t.plan(r, body)
	if err != nil || res.outrankedBy != "" {
		return res, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.takeBack(p)
	t.carryOut(r, body, p, &res)
	return res, nil
}

// registrationPlan is what a registration that is going to be taken will change.
type registrationPlan struct {
	key    brokerKey
	group  *brokerGroup // nil: to be made
	live   *liveBroker  // nil: to be made
	holder *liveBroker  // has the id and will lose it; nil: nobody
	moved  *liveBroker  // has the address under another name and will lose it; nil: nobody

	acting    bool // enableActingMaster
	isLower   bool // the id is below all the group had
	regrouped bool // the routes of all of the group's topics change
	withhold  bool // topics come without write permission
	accept    bool // differences count; else only what is missing is added
	missing   []*topicEntry
	puts      []topicPut // in the order of the table
	mappings  []*protocol.NamedQueueMapping
}

// topicPut is a topic that a registration adds to a group, or changes.
type topicPut struct {
	config *protocol.TopicConfig
	entry  *topicEntry // nil: nobody has the topic yet
}

// plan judges a registration and works out what it changes. It changes nothing.
func (t *routeTable) plan(r *registration, body *protocol.RegisterBrokerBody) (*registrationPlan, registered, error) {
	h := &r.header
	p := &registrationPlan{key: brokerKey{h.ClusterName, h.BrokerAddr}, group: t.groups[h.BrokerName]}
	var res registered

	if p.group != nil && p.group.cluster != h.ClusterName {
		return nil, res, &sharedNameError{brokerName: h.BrokerName, cluster: h.ClusterName, holder: p.group.cluster}
	}
	if p.group != nil {
		if m := p.group.member(h.BrokerID); m != nil && m.addr == h.BrokerAddr {
			res.known = true
		} else {
			p.holder = m
		}
	}
	vacant := p.holder == nil && !res.known // the id has no address
	if p.holder != nil {
		if stateVersion(p.holder.version) > stateVersion(body.DataVersion) {
			return nil, registered{outrankedBy: p.holder.addr}, nil
		}
		res.replaced = p.holder.addr
	}
	if vacant && len(body.Topics) == 1 {
		return nil, res, errFirstRegistrationIncomplete
	}

	if b := t.byAddr[p.key]; b != nil && b.group == p.group {
		p.live = b
	} else {
		p.moved = b
	}
	p.acting = h.EnableActingMaster.Or(false)
	p.isLower = h.BrokerID < 0
	contributes := h.BrokerID == masterID
	prime := !contributes && h.EnableActingMaster.Present
	if p.group == nil {
		p.regrouped = true
	} else {
		p.isLower = h.BrokerID < p.group.members[0].id
		for _, m := range p.group.members {
			if m.addr != h.BrokerAddr && (m.id == masterID && m != p.holder || m.id < h.BrokerID) {
				prime = false
			}
		}
		p.regrouped = p.live == nil || p.live.id != h.BrokerID || p.group.actingMaster != p.acting ||
			p.group.zone != h.ZoneName ||
			body.FilterServerList != nil && !slices.Equal(p.live.filterServers, body.FilterServerList)
	}
	p.withhold = prime && p.acting
	if contributes || prime {
		changed := vacant || p.live == nil || !sameVersion(p.live.version, body.DataVersion)
		t.planTopics(r, body, p, changed)
	}
	return p, res, nil
}

// planTopics works out what becomes of the group's topics. If the data version has changed, every difference counts.
// If it has not, the broker promises by it that its table has not changed either, and as in the original only
// topics that are missing are added. But a table that lacks topics of the group is only a part of what the version
// stands for (as in split registrations, or after a restart with an emptied store), and differences count again.
func (t *routeTable) planTopics(r *registration, body *protocol.RegisterBrokerBody, p *registrationPlan, changed bool) {
	named := 0 // topics of the group that are in the table
	t.stamp++
	if p.group == nil {
		p.puts = make([]topicPut, 0, len(body.Topics))
	}
	for i := range body.Topics {
		put := topicPut{config: &body.Topics[i]}
		if e, ok := t.topics.Load(put.config.TopicName); ok {
			put.entry = e
			if p.group != nil { // else no topic has it
				at, ok := e.queues.find(r.header.BrokerName)
				if ok && e.stamp != t.stamp { // else the later one of a name counts
					e.stamp = t.stamp
					named++
					old, q := e.queues.entry(at), p.queueEntry(put.config)
					if !changed {
						q.withheld = old.withheld // 327 may have given the permission back
					}
					if old.same(&q) {
						continue
					}
				}
			}
		}
		p.puts = append(p.puts, put)
	}
	known := 0
	if p.group != nil {
		known = len(p.group.topics)
	}
	p.accept = changed || named < known
	if !p.accept {
		p.puts = slices.DeleteFunc(p.puts, func(put topicPut) bool { return put.entry != nil && put.entry.stamp == t.stamp })
	}

	// One topic is an update of that topic (N32), and a static topic is no reason to forget ordinary ones (Java).
	if r.deleteTopics && named < known && len(body.Mappings) == 0 && len(body.Topics) != 1 {
		for _, e := range p.group.topics {
			if e.stamp != t.stamp {
				p.missing = append(p.missing, e)
			}
		}
	}
	for i := range body.Mappings {
		m := &body.Mappings[i]
		if e, ok := t.topics.Load(m.Key); ok {
			at, ok := e.findMapping(m.Info.Bname)
			if ok && (!p.accept || sameMapping(&e.mappings[at].info, &m.Info)) {
				continue
			}
		}
		p.mappings = append(p.mappings, m)
	}
}

// queueEntry returns what the registration says of a topic. The group is missing.
func (p *registrationPlan) queueEntry(c *protocol.TopicConfig) queueEntry {
	return queueEntry{
		read: c.ReadQueueNums, write: c.WriteQueueNums, perm: c.Perm, sysFlag: c.TopicSysFlag,
		withheld: p.withhold,
	}
}

// takeBack takes back all answers that the plan makes wrong, except those of p.moved, see remove.
func (t *routeTable) takeBack(p *registrationPlan) {
	if p.group != nil && p.regrouped {
		t.answers.takeBack(p.group.topics...)
	}
	t.answers.takeBack(p.missing...)
	for i := range p.puts {
		if e := p.puts[i].entry; e != nil {
			t.answers.takeBack(e)
		}
	}
	for _, m := range p.mappings {
		if e, ok := t.topics.Load(m.Key); ok {
			t.answers.takeBack(e)
		}
	}
}

// carryOut changes the table as planned.
func (t *routeTable) carryOut(r *registration, body *protocol.RegisterBrokerBody, p *registrationPlan, res *registered) {
	h := &r.header
	if p.moved != nil { // first of all, because it takes back answers
		res.notices = t.remove(p.moved, r.notifyMinBroker)
	}
	if p.holder != nil {
		t.forget(p.holder)
	}
	g, b := p.group, p.live
	if g == nil {
		g = t.addGroup(strings.Clone(h.ClusterName), strings.Clone(h.BrokerName))
	}
	switch {
	case b == nil:
		b = &liveBroker{brokerKey: brokerKey{g.cluster, strings.Clone(h.BrokerAddr)}, group: g, id: h.BrokerID}
		t.byAddr[b.brokerKey] = b
		g.insert(b)
		t.attach(b, r.conn)
	case b.id != h.BrokerID:
		g.remove(b)
		b.id = h.BrokerID
		g.insert(b)
	}
	if b.conn != r.conn {
		t.detach(b)
		t.attach(b, r.conn)
	}
	g.actingMaster = p.acting
	g.zone = cloneOpt(h.ZoneName)
	b.haAddr = cloneOpt(h.HAServerAddr)
	b.version = cloneVersion(body.DataVersion)
	b.timeout = brokerTimeout(h.HeartbeatTimeoutMillis)
	b.seen.Store(int64(t.clock()))
	if body.FilterServerList != nil {
		b.filterServers = cloneStrings(body.FilterServerList)
	}

	for _, e := range p.missing {
		t.take(e, g)
	}
	if len(g.topics) == 0 {
		g.topics = make([]*topicEntry, 0, len(p.puts))
	}
	for _, put := range p.puts {
		e := put.entry
		if e == nil || e.index < 0 { // new, or gone with the broker that moved here
			e = t.entry(put.config.TopicName)
		}
		q := p.queueEntry(put.config)
		q.group = g
		e.put(q)
	}
	for _, m := range p.mappings {
		t.putMapping(m, g)
	}

	if p.regrouped {
		g.forgetPrints() // who is prime, or who wrote zone and flags last, may be another one now
	}
	b.print = r.print.clone()
	res.header = b.masterHeader()
	if p.isLower && r.notifyMinBroker && g.actingMaster {
		n := notice{header: protocol.NotifyMinBrokerIDChangeRequestHeader{
			MinBrokerID: protocol.Some(b.id), MinBrokerAddr: protocol.Some(b.addr), HABrokerAddr: b.haAddr,
		}}
		for _, m := range g.members {
			if m != b || len(g.members) == 1 {
				n.targets = append(n.targets, m.addr)
			}
		}
		res.notices = append(res.notices, n)
	}
}

// putMapping sets a mapping of a topic that the group has. Mappings of other topics would outlive their reason.
func (t *routeTable) putMapping(m *protocol.NamedQueueMapping, g *brokerGroup) {
	e, ok := t.topics.Load(m.Key)
	if !ok {
		return
	}
	if _, ok := e.queues.find(g.name); !ok {
		return
	}
	at, ok := e.findMapping(m.Info.Bname)
	if !ok {
		e.mappings = slices.Insert(e.mappings, at, queueMapping{})
	}
	e.mappings[at] = queueMapping{source: g, info: cloneMapping(&m.Info)}
}

// findMapping returns the place of the mapping of a broker name, or where it would have to be.
func (e *topicEntry) findMapping(brokerName string) (at int, ok bool) {
	return slices.BinarySearchFunc(e.mappings, brokerName, func(m queueMapping, name string) int {
		return strings.Compare(m.info.Bname, name)
	})
}

// registerTopic sets what brokers have of a topic. Of a new topic it takes all or, if one of the brokers is unknown,
// nothing; of a topic that is there it takes the entries ahead of the first unknown broker. It reports whether it took
// all. The original answers code 0 in any case, and brokers send their own name only.
//
// Source: spec/namesrv.md §4.3 (217).
func (t *routeTable) registerTopic(topic string, queues []protocol.QueueData) (taken bool) {
	t.writer.Lock()
	defer t.writer.Unlock()
	known := slices.IndexFunc(queues, func(d protocol.QueueData) bool { return t.groups[d.BrokerName] == nil })
	if known < 0 {
		known = len(queues)
	}
	e, ok := t.topics.Load(topic)
	if known == 0 || !ok && known < len(queues) {
		return len(queues) == 0
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	if ok {
		t.answers.takeBack(e)
	} else {
		e = t.entry(strings.Clone(topic))
	}
	for i := range queues[:known] {
		d := &queues[i]
		g := t.groups[d.BrokerName]
		e.put(queueEntry{
			group: g, read: d.ReadQueueNums, write: d.WriteQueueNums, perm: d.Perm, sysFlag: d.TopicSysFlag,
		})
		g.forgetPrints()
	}
	return known == len(queues)
}

// stateVersion orders masters; a broker without a data version has the lowest.
func stateVersion(v *protocol.DataVersion) int64 {
	if v == nil {
		return 0
	}
	return v.StateVersion
}

// sameVersion tells whether two data versions are known and equal.
func sameVersion(a, b *protocol.DataVersion) bool { return a != nil && b != nil && *a == *b }

func cloneVersion(v *protocol.DataVersion) *protocol.DataVersion {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}

// brokerTimeout is the silence after which a broker expires.
func brokerTimeout(millis protocol.Opt[int64]) time.Duration {
	if !millis.Present {
		return defaultBrokerTimeout
	}
	return time.Duration(min(max(millis.Value, 0), maxBrokerTimeout.Milliseconds())) * time.Millisecond
}

func sameMapping(a, b *protocol.TopicQueueMappingInfo) bool {
	return a.Topic == b.Topic && a.Bname == b.Bname && a.Scope == b.Scope && a.TotalQueues == b.TotalQueues &&
		a.Epoch == b.Epoch && a.Dirty == b.Dirty && slices.Equal(a.CurrIDMap, b.CurrIDMap)
}

func cloneMapping(m *protocol.TopicQueueMappingInfo) protocol.TopicQueueMappingInfo {
	c := *m
	c.Topic, c.Bname, c.Scope = strings.Clone(m.Topic), strings.Clone(m.Bname), strings.Clone(m.Scope)
	c.CurrIDMap = slices.Clone(m.CurrIDMap)
	return c
}

func cloneOpt(o protocol.Opt[string]) protocol.Opt[string] {
	o.Value = strings.Clone(o.Value)
	return o
}

func cloneStrings(list []string) []string {
	c := make([]string, len(list))
	for i, s := range list {
		c[i] = strings.Clone(s)
	}
	return c
}

// clone returns f without hold on the request's memory.
func (f fingerprint) clone() fingerprint {
	h := &f.header
	h.BrokerName, h.BrokerAddr, h.ClusterName = strings.Clone(h.BrokerName), strings.Clone(h.BrokerAddr), strings.Clone(h.ClusterName)
	h.HAServerAddr, h.ZoneName = cloneOpt(h.HAServerAddr), cloneOpt(h.ZoneName)
	return f
}
