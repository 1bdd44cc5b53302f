package namesrv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// tableTest is a routeTable with a clock that the test moves. Each step checks the invariants of the table.
type tableTest struct {
	*routeTable
	t   testing.TB
	now time.Duration
}

func newTableTest(t testing.TB) *tableTest {
	tt := &tableTest{t: t}
	tt.routeTable = newRouteTable(func() time.Duration { return tt.now }, 0)
	return tt
}

// broker is a broker as the tests send it. Zero values: cluster "C", a connection of its own, version (0, 1, 1),
// HA address "ha-"+addr, neither zone nor enableActingMaster.
type broker struct {
	cluster, name, addr string
	id                  int64
	acting              protocol.Opt[bool]
	zone                protocol.Opt[string]
	timeout             protocol.Opt[int64]
	conn                *remoting.Peer
	version             protocol.DataVersion
	topics              []protocol.TopicConfig
	mappings            []protocol.NamedQueueMapping
	filterServers       []string
	deleteTopics        bool
	notify              bool
}

var (
	actingOn  = protocol.Some(true)
	actingOff = protocol.Some(false)
)

func topic(name string) protocol.TopicConfig {
	return protocol.TopicConfig{TopicName: name, ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6}
}

func topicWith(name string, queues, perm int32) protocol.TopicConfig {
	return protocol.TopicConfig{TopicName: name, ReadQueueNums: queues, WriteQueueNums: queues, Perm: perm}
}

func topics(names ...string) []protocol.TopicConfig {
	list := make([]protocol.TopicConfig, len(names))
	for i, name := range names {
		list[i] = topic(name)
	}
	return list
}

func version(state, timestamp, counter int64) protocol.DataVersion {
	return protocol.DataVersion{StateVersion: state, Timestamp: timestamp, Counter: counter}
}

// request returns the registration of b.
func (b *broker) request() (*registration, *protocol.RegisterBrokerBody) {
	if b.conn == nil {
		b.conn = newPeer()
	}
	if b.version == (protocol.DataVersion{}) {
		b.version = version(0, 1, 1)
	}
	cluster := b.cluster
	if cluster == "" {
		cluster = "C"
	}
	v := b.version
	body := &protocol.RegisterBrokerBody{
		FilterServerList: b.filterServers, Topics: b.topics, DataVersion: &v, Mappings: b.mappings,
	}
	if body.FilterServerList == nil {
		body.FilterServerList = []string{}
	}
	return &registration{
		header: protocol.RegisterBrokerRequestHeader{
			BrokerName: b.name, BrokerAddr: b.addr, ClusterName: cluster, BrokerID: b.id,
			HAServerAddr: protocol.Some("ha-" + b.addr), HeartbeatTimeoutMillis: b.timeout,
			EnableActingMaster: b.acting, ZoneName: b.zone,
		},
		version: protocol.Version5_5_0, conn: b.conn, deleteTopics: b.deleteTopics, notifyMinBroker: b.notify,
	}, body
}

// newPeer returns a connection that is equal to no other.
func newPeer() *remoting.Peer { return new(remoting.Peer) }

// tryRegister sends the registration of b, first as a repeated one.
func (tt *tableTest) tryRegister(b *broker) (registered, error) {
	r, body := b.request()
	text := fmt.Sprintf("%+v %+v %+v %+v", body.FilterServerList, body.Topics, *body.DataVersion, body.Mappings)
	res, ok := tt.renew(r, []byte(text))
	var err error
	if !ok {
		res, err = tt.routeTable.register(r, body)
	}
	tt.check()
	return res, err
}

func (tt *tableTest) register(b *broker) registered {
	tt.t.Helper()
	res, err := tt.tryRegister(b)
	require.NoError(tt.t, err)
	return res
}

func (tt *tableTest) unregister(b *broker) {
	tt.routeTable.unregister(b.name, b.addr, b.notify)
	tt.check()
}

func (tt *tableTest) close(b *broker) []notice {
	_, notices := tt.connectionClosed(b.conn, b.notify)
	tt.check()
	return notices
}

// settled is for expire: there is nothing to wait for.
func settled() bool { return true }

// seenRoute is a route as a strict client reads it.
type seenRoute struct {
	QueueDatas []struct {
		BrokerName                                        string
		ReadQueueNums, WriteQueueNums, Perm, TopicSysFlag int32
	}
	BrokerDatas []struct {
		Cluster, BrokerName string
		BrokerAddrs         map[string]string
		ZoneName            *string
		EnableActingMaster  bool
	}
	OrderTopicConf            *string
	FilterServerTable         map[string][]string
	TopicQueueMappingByBroker map[string]struct {
		Epoch     json.Number
		CurrIDMap map[string]int
	}
}

// look asks for a route in strict form; nil if there is none.
func (tt *tableTest) look(topic string, options ...func(*routeQuery)) *seenRoute {
	tt.t.Helper()
	q := routeQuery{form: protocol.FormStrict}
	for _, o := range options {
		o(&q)
	}
	resp := tt.route(topic, q)
	if resp == nil {
		return nil
	}
	var route seenRoute
	dec := json.NewDecoder(strings.NewReader(string(resp.Body)))
	require.NoError(tt.t, dec.Decode(&route), "%s", resp.Body)
	return &route
}

func withActingMaster(q *routeQuery) { q.actingMaster = true }

func inZone(zone string) func(*routeQuery) { return func(q *routeQuery) { q.zone = zone } }

// where gives a route as text: "a{0:X 1:Y} 8/8/6; b{...} ..." or "none".
func (tt *tableTest) where(topic string, options ...func(*routeQuery)) string {
	tt.t.Helper()
	r := tt.look(topic, options...)
	if r == nil {
		return "none"
	}
	require.Len(tt.t, r.QueueDatas, len(r.BrokerDatas))
	var groups []string
	for i, b := range r.BrokerDatas {
		var ids []string
		for id, addr := range b.BrokerAddrs {
			ids = append(ids, id+":"+addr)
		}
		slices.Sort(ids)
		q := r.QueueDatas[i]
		require.Equal(tt.t, b.BrokerName, q.BrokerName)
		groups = append(groups, fmt.Sprintf("%s{%s} %d/%d/%d", b.BrokerName, strings.Join(ids, " "), q.ReadQueueNums, q.WriteQueueNums, q.Perm))
	}
	return strings.Join(groups, "; ")
}

func (tt *tableTest) perm(topic string) int32 {
	tt.t.Helper()
	r := tt.look(topic)
	require.NotNil(tt.t, r, "no route of %s", topic)
	require.Len(tt.t, r.QueueDatas, 1)
	return r.QueueDatas[0].Perm
}

func (tt *tableTest) members(name string) string {
	var list []string
	for _, a := range tt.memberGroup(name) {
		list = append(list, fmt.Sprintf("%d:%s", a.ID, a.Addr))
	}
	return strings.Join(list, " ")
}

// cluster gives 106 as text: "C[a b] D[c]".
func (tt *tableTest) cluster() string {
	var list []string
	for _, c := range tt.clusterInfo().ClusterAddrTable {
		list = append(list, c.Cluster+fmt.Sprint(c.BrokerNames))
	}
	return strings.Join(list, " ")
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// snapshot gives all that 106 and 206 say and all routes, to see that nothing changed.
func (tt *tableTest) snapshot() string {
	info := tt.clusterInfo()
	text := string(info.AppendJSON(nil, protocol.FormStrict))
	for _, name := range sorted(tt.allTopics()) {
		text += "\n" + name + " " + string(tt.route(name, routeQuery{form: protocol.FormStrict}).Body)
	}
	return text
}

// check fails the test unless all parts of the table fit together: the invariants of spec/field-reports.md, the
// indexes, and that ready answers are what would be made now.
func (tt *tableTest) check() {
	tt.t.Helper()
	t := tt.routeTable
	t.mu.RLock()
	defer t.mu.RUnlock()
	fail := func(format string, args ...any) { tt.t.Helper(); tt.t.Fatalf(format, args...) }

	if t.topics.Size() != len(t.entries) {
		fail("%d topics in the map, %d in the list", t.topics.Size(), len(t.entries))
	}
	var cached int64
	for i, e := range t.entries {
		if got, ok := t.topics.Load(e.name); !ok || got != e || int(e.index) != i {
			fail("topic %q is not where it should be", e.name)
		}
		if e.queues.empty() {
			fail("topic %q has no queues", e.name)
		}
		before := ""
		for q := range e.queues.all() {
			if before != "" && before >= q.group.name {
				fail("queues of %q are out of order", e.name)
			}
			before = q.group.name
			if t.groups[q.group.name] != q.group {
				fail("topic %q has queues of %q, which is gone", e.name, q.group.name)
			}
			if int(q.slot) >= len(q.group.topics) || q.group.topics[q.slot] != e {
				fail("group %q does not know that it has %q", q.group.name, e.name)
			}
		}
		for _, m := range e.mappings {
			if _, ok := e.queues.find(m.source.name); !ok {
				fail("mapping of %q by %q outlives its source", e.name, m.source.name)
			}
		}
		if set := e.answers.Load(); set != nil {
			cached += set.bytes
			for k := range set.answers {
				a := &set.answers[k]
				route, _ := e.routeData(a.query)
				if want := route.AppendJSON(nil, a.query.form); string(want) != string(a.response.Body) {
					fail("ready answer for %q is\n%s\nand should be\n%s", e.name, a.response.Body, want)
				}
			}
		}
	}
	if t.answers.size.Load() != cached {
		fail("cache counts %d bytes and holds %d", t.answers.size.Load(), cached)
	}
	brokers, listed := 0, 0
	for name, g := range t.groups {
		if g.name != name || len(g.members) == 0 {
			fail("group %q: name %q, %d members", name, g.name, len(g.members))
		}
		if t.clusters[g.cluster][name] != g {
			fail("group %q is not in its cluster", name)
		}
		addrs := map[string]bool{}
		for i, m := range g.members {
			if i > 0 && g.members[i-1].id >= m.id {
				fail("members of %q are out of order", name)
			}
			if addrs[m.addr] {
				fail("group %q has %q twice", name, m.addr)
			}
			addrs[m.addr] = true
			if m.group != g || m.cluster != g.cluster || t.byAddr[m.brokerKey] != m || !slices.Contains(t.byConn[m.conn], m) {
				fail("member %q of %q is not in the indexes", m.addr, name)
			}
		}
		brokers += len(g.members)
		for _, e := range g.topics {
			if _, ok := e.queues.find(name); !ok || e.index < 0 {
				fail("group %q lists %q, which it has not", name, e.name)
			}
		}
	}
	if len(t.byAddr) != brokers {
		fail("%d addresses, %d members", len(t.byAddr), brokers)
	}
	for conn, list := range t.byConn {
		if len(list) == 0 {
			fail("a connection without brokers is listed")
		}
		for i, b := range list {
			if b.conn != conn || b.slot != i {
				fail("broker %q is listed with a connection that is not its own", b.addr)
			}
		}
		listed += len(list)
	}
	if listed != brokers {
		fail("%d brokers by connection, %d members", listed, brokers)
	}
	for cluster, list := range t.clusters {
		if len(list) == 0 {
			fail("cluster %q is empty", cluster)
		}
		for name, g := range list {
			if g.cluster != cluster || t.groups[name] != g {
				fail("cluster %q lists %q wrongly", cluster, name)
			}
		}
	}
}

// Tests of spec/namesrv.md §13 B, by number.

// masterAndSlave are the brokers of those tests.
func masterAndSlave() (master, slave *broker) {
	master = &broker{name: "a", id: 0, addr: "X", acting: actingOn, topics: topics("T", "baseTopic")}
	slave = &broker{name: "a", id: 1, addr: "Y", acting: actingOn, topics: topics("T", "baseTopic")}
	return master, slave
}

func TestPeer10ClustersOfTwoBrokers(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{cluster: "C1", name: "a", addr: "X", topics: topics("T", "U")})
	tt.register(&broker{cluster: "C2", name: "b", addr: "Y", topics: topics("T", "U")})
	info := tt.clusterInfo()
	require.Equal(t, []protocol.ClusterBrokers{{Cluster: "C1", BrokerNames: []string{"a"}}, {Cluster: "C2", BrokerNames: []string{"b"}}}, info.ClusterAddrTable)
	require.Equal(t, protocol.BrokerAddrs{{ID: 0, Addr: "X"}}, info.BrokerAddrTable[0].BrokerAddrs)
	require.Equal(t, protocol.BrokerAddrs{{ID: 0, Addr: "Y"}}, info.BrokerAddrTable[1].BrokerAddrs)
}

func TestPeer11DeleteTopic(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{cluster: "C1", name: "a", addr: "X", topics: topics("T", "U")})
	tt.register(&broker{cluster: "C2", name: "b", addr: "Y", topics: topics("T", "U")})
	tt.deleteTopic("T", "C1")
	tt.check()
	require.Equal(t, "b{0:Y} 8/8/6", tt.where("T"))
	tt.deleteTopic("U", "")
	tt.check()
	require.Equal(t, "none", tt.where("U"))
}

func TestPeer12AllTopics(t *testing.T) {
	tt := newTableTest(t)
	require.Empty(t, tt.allTopics())
	tt.register(&broker{name: "a", addr: "X", topics: topics("T", "U", "V")})
	require.Equal(t, []string{"T", "U", "V"}, sorted(tt.allTopics()))
}

func TestPeer13SlaveLearnsOfItsMaster(t *testing.T) {
	tt := newTableTest(t)
	master, slave := masterAndSlave()
	require.Equal(t, protocol.RegisterBrokerResponseHeader{}, tt.register(master).header)
	want := protocol.RegisterBrokerResponseHeader{HAServerAddr: protocol.Some("ha-X"), MasterAddr: protocol.Some("X")}
	require.Equal(t, want, tt.register(slave).header)
	require.Equal(t, want, tt.register(slave).header, "renewed")
}

func TestPeer14Unregister(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", topics: topics("T", "U", "V")}
	tt.register(b)
	tt.unregister(b)
	for _, name := range []string{"T", "U", "V"} {
		require.Equal(t, "none", tt.where(name))
	}
}

func TestPeer15MasterThenSlave(t *testing.T) {
	tt := newTableTest(t)
	master, slave := masterAndSlave()
	tt.register(master)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("T"))
	tt.register(slave)
	require.Equal(t, "a{0:X 1:Y} 8/8/6", tt.where("T"))
}

func TestPeer16AnotherTopic(t *testing.T) {
	tt := newTableTest(t)
	master, slave := masterAndSlave()
	tt.register(master)
	tt.register(slave)
	master.topics = append(master.topics, topic("more"))
	master.version.Counter++
	tt.register(master)
	require.Equal(t, "a{0:X 1:Y} 8/8/6", tt.where("more"))
}

func testRoleSwitch(t *testing.T, leave func(*tableTest, *broker)) {
	tt := newTableTest(t)
	master, slave := masterAndSlave()
	master.acting, slave.acting = actingOff, actingOff
	tt.register(master)
	tt.register(slave)
	leave(tt, master)
	require.Equal(t, "a{1:Y} 8/8/6", tt.where("T"))
	slave.id, slave.version = 0, version(1, 2, 2)
	tt.register(slave)
	require.Equal(t, "a{0:Y} 8/8/6", tt.where("T"))
	master.id, master.conn = 1, nil
	tt.register(master)
	require.Equal(t, "a{0:Y 1:X} 8/8/6", tt.where("T"))
}

func TestPeer17RoleSwitch(t *testing.T) { testRoleSwitch(t, (*tableTest).unregister) }
func TestPeer34RoleSwitchByConnection(t *testing.T) {
	testRoleSwitch(t, func(tt *tableTest, b *broker) { tt.close(b) })
}

func TestPeer18SlaveUnregisters(t *testing.T) {
	tt := newTableTest(t)
	master, slave := masterAndSlave()
	tt.register(master)
	tt.register(slave)
	tt.unregister(slave)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("T"))
}

func TestPeer19ActingMaster(t *testing.T) {
	tt := newTableTest(t)
	master, slave := masterAndSlave()
	tt.register(master)
	tt.register(slave)
	tt.unregister(master)
	require.Equal(t, "a{0:Y} 8/8/4", tt.where("T", withActingMaster))
	require.Equal(t, "a{1:Y} 8/8/4", tt.where("T"), "without supportActingMaster")
}

func TestPeer20NoActingMaster(t *testing.T) {
	tt := newTableTest(t)
	master, slave := masterAndSlave()
	master.acting, slave.acting = actingOff, actingOff
	tt.register(master)
	tt.register(slave)
	tt.unregister(master)
	require.Equal(t, "a{1:Y} 8/8/6", tt.where("T", withActingMaster))
}

func TestPeer21TwoMastersUnregister(t *testing.T) {
	tt := newTableTest(t)
	a := &broker{name: "a", addr: "X", topics: topics("T", "U")}
	b := &broker{name: "b", addr: "Y", topics: topics("V", "W")}
	tt.register(a)
	tt.register(b)
	tt.unregister(a)
	tt.unregister(b)
	require.Empty(t, tt.allTopics())
}

func queryHeader(cluster, name string, id int64, addr string) *protocol.QueryDataVersionRequestHeader {
	return &protocol.QueryDataVersionRequestHeader{
		ClusterName: cluster, BrokerAddr: addr, BrokerName: protocol.Some(name), BrokerID: protocol.Some(id),
	}
}

func TestPeer22QueryDataVersion(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", version: version(1, 2, 3), topics: topics("T", "U")})
	for v, want := range map[protocol.DataVersion]bool{
		version(1, 2, 3): false,
		version(1, 9, 3): true,
		version(1, 2, 9): true,
		version(9, 2, 3): true,
	} {
		_, changed := tt.queryDataVersion(queryHeader("C", "a", 0, "X"), &v)
		require.Equal(t, want, changed, "%+v", v)
	}
	_, changed := tt.queryDataVersion(queryHeader("C", "a", 0, "X"), nil)
	require.True(t, changed, "no version")
}

func TestPeer23TopicConfigChanged(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", topics: topics("T", "U")}
	require.Equal(t, "none", tt.where("T"))
	tt.register(b)
	b.topics = topics("T", "U", "V") // same version: a topic it lacks is taken
	tt.register(b)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("V"))
}

func TestPeer24StoredVersion(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", version: version(1, 2, 3), topics: topics("T", "U")})
	v := version(1, 2, 3)
	stored, _ := tt.queryDataVersion(queryHeader("C", "a", 0, "X"), &v)
	require.Equal(t, &v, stored)
}

func TestPeer25WipeWritePerm(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", topics: topics("T", "U")})
	require.Equal(t, int32(6), tt.perm("T"))
	require.Equal(t, 2, tt.wipeWritePerm("a"))
	tt.check()
	require.Equal(t, int32(4), tt.perm("T"))
}

func TestPeer26TwoGroups(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", topics: topics("T", "U")})
	require.Equal(t, "a{0:X} 8/8/6", tt.where("T"))
	tt.register(&broker{name: "b", addr: "Y", topics: topics("T", "U")})
	require.Equal(t, "a{0:X} 8/8/6; b{0:Y} 8/8/6", tt.where("T"))
}

func TestPeer27MasterLeavesAndReturns(t *testing.T) {
	tt := newTableTest(t)
	master, slave := masterAndSlave()
	tt.register(master)
	tt.register(slave)
	require.Equal(t, "a{0:X 1:Y} 8/8/6", tt.where("T", withActingMaster))
	tt.unregister(master)
	require.Equal(t, "a{0:Y} 8/8/4", tt.where("T", withActingMaster))
	tt.register(master)
	require.Equal(t, "a{0:X 1:Y} 8/8/6", tt.where("T", withActingMaster))
}

func TestPeer28Scan(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", timeout: protocol.Some[int64](30_000), topics: topics("T", "U")}
	tt.register(b)
	require.Empty(t, tt.expire(settled, false), "fresh")
	tt.now += 30 * time.Second
	require.Empty(t, tt.expire(settled, false), "the timeout itself is no excess")
	tt.now++
	gone := tt.expire(settled, false)
	tt.check()
	require.Len(t, gone, 1)
	require.Equal(t, departure{cluster: "C", brokerName: "a", brokerAddr: "X", silent: 30*time.Second + 1, conn: b.conn}, gone[0])
	require.Empty(t, tt.cluster())
}

func TestPeer29And30OrderedTopicOfTheActingMaster(t *testing.T) {
	for _, queues := range []int32{8, 1} {
		tt := newTableTest(t)
		config := []protocol.TopicConfig{topicWith("T", queues, 6), topic("baseTopic")}
		config[0].Order = true
		slave := &broker{name: "a", id: 1, addr: "Y", acting: actingOn, topics: config}
		tt.register(slave)
		alone := fmt.Sprintf("a{0:Y} %d/%d/4", queues, queues)
		require.Equal(t, alone, tt.where("T", withActingMaster))
		master := &broker{name: "a", addr: "X", acting: actingOn, topics: config}
		tt.register(master)
		tt.unregister(master)
		require.Equal(t, alone, tt.where("T", withActingMaster))

		other := &broker{name: "b", addr: "Z", acting: actingOn, topics: config}
		otherSlave := &broker{name: "b", id: 1, addr: "W", acting: actingOn, topics: config}
		tt.register(other)
		tt.register(otherSlave)
		require.Equal(t, alone+fmt.Sprintf("; b{0:Z 1:W} %d/%d/6", queues, queues), tt.where("T", withActingMaster))
	}
}

func TestPeer31SlaveOnly(t *testing.T) {
	tt := newTableTest(t)
	master, slave := masterAndSlave()
	tt.register(slave)
	require.Equal(t, int32(4), tt.perm("T"))
	tt.register(master)
	require.Equal(t, int32(6), tt.perm("T"))
	tt.unregister(master)
	require.Equal(t, int32(4), tt.perm("T"))
	tt.register(master)
	require.Equal(t, int32(6), tt.perm("T"))
}

func TestPeer32And33ConnectionLost(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", topics: topics("T", "U")}
	tt.register(b)
	tt.close(b)
	require.Equal(t, "none", tt.where("T"))
	require.Equal(t, "none", tt.where("U"))

	master, slave := masterAndSlave()
	master.acting, slave.acting = actingOff, actingOff
	tt.register(master)
	tt.register(slave)
	tt.close(master)
	require.Equal(t, "a{1:Y} 8/8/6", tt.where("T"))
	tt.close(slave)
	require.Equal(t, "none", tt.where("T"))
}

func TestPeer35DeleteTopicWithBrokerRegistration(t *testing.T) {
	for _, on := range []bool{false, true} {
		tt := newTableTest(t)
		a := &broker{name: "a", addr: "X", topics: topics("T", "U", "V"), deleteTopics: on}
		b := &broker{name: "b", addr: "Y", topics: topics("T", "U", "V"), deleteTopics: on}
		tt.register(a)
		tt.register(b)
		a.topics, a.version.Counter = topics("U", "V"), 2
		tt.register(a)
		if !on {
			require.Equal(t, "a{0:X} 8/8/6; b{0:Y} 8/8/6", tt.where("T"))
			continue
		}
		require.Equal(t, "b{0:Y} 8/8/6", tt.where("T"))
		b.topics = topics("U", "V") // the version does not matter
		tt.register(b)
		require.Equal(t, "none", tt.where("T"))
		require.Equal(t, "a{0:X} 8/8/6; b{0:Y} 8/8/6", tt.where("U"))
	}
}

func TestPeer36RegisterTopic(t *testing.T) {
	tt := newTableTest(t)
	queues := []protocol.QueueData{{BrokerName: "a", ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6}}
	require.False(t, tt.registerTopic("S", queues))
	require.Equal(t, "none", tt.where("S"), "before any broker")
	b := &broker{name: "a", addr: "X", topics: topics("T", "U"), deleteTopics: true}
	tt.register(b)
	require.True(t, tt.registerTopic("S", queues))
	tt.check()
	require.Equal(t, "a{0:X} 8/8/6", tt.where("S"))
	b.topics = topics("T", "U", "S")
	tt.register(b)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("S"))
	require.Equal(t, "a{0:X} 8/8/6", tt.where("T"))
	b.topics = topics("T", "U")
	tt.register(b)
	require.Equal(t, "none", tt.where("S"))
	require.True(t, tt.registerTopic("S", queues))
	tt.unregister(b)
	require.Empty(t, tt.allTopics())
}

func TestRegisterTopicOfAnUnknownBroker(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", topics: topics("T", "U")})
	tt.register(&broker{name: "b", addr: "Y", topics: topics("V", "W")})
	data := func(name string) protocol.QueueData {
		return protocol.QueueData{BrokerName: name, ReadQueueNums: 9, WriteQueueNums: 9, Perm: 6}
	}

	require.False(t, tt.registerTopic("new", []protocol.QueueData{data("a"), data("nobody")}))
	require.Equal(t, "none", tt.where("new"), "a new topic: all or nothing")
	require.False(t, tt.registerTopic("T", []protocol.QueueData{data("b"), data("nobody"), data("a")}))
	require.Equal(t, "a{0:X} 8/8/6; b{0:Y} 9/9/6", tt.where("T"), "a known one: up to the unknown broker")
	tt.check()
}

func TestPeer37VersionsOfOneAddressInTwoClusters(t *testing.T) {
	tt := newTableTest(t)
	one := &broker{cluster: "C1", name: "a", addr: "X", version: version(0, 1, 1), topics: topics("T", "U")}
	two := &broker{cluster: "C2", name: "b", addr: "X", version: version(0, 1, 7), topics: topics("T", "U")}
	tt.register(one)
	tt.register(two)
	stored := func(b *broker) *protocol.DataVersion {
		v, _ := tt.queryDataVersion(queryHeader(b.cluster, b.name, 0, "X"), nil)
		return v
	}
	require.Equal(t, &one.version, stored(one))
	require.Equal(t, &two.version, stored(two))
	tt.unregister(two)
	require.Equal(t, &one.version, stored(one))
	require.Nil(t, stored(two))
}

func TestPeer38WipeAndAdd(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X"})
	b := &broker{name: "a", addr: "X", topics: topics("T"), conn: newPeer()}
	tt.register(b)
	steps := []struct {
		do   func(string) int
		want int32
	}{{tt.wipeWritePerm, 4}, {tt.addWritePerm, 6}, {tt.wipeWritePerm, 4}, {tt.wipeWritePerm, 4}}
	for _, s := range steps {
		require.Equal(t, 1, s.do("a"))
		tt.check()
		require.Equal(t, s.want, tt.perm("T"))
	}
	require.Zero(t, tt.wipeWritePerm("nobody"))
	require.Zero(t, tt.addWritePerm("nobody"))
}

func TestPeer39Lists(t *testing.T) {
	tt := newTableTest(t)
	require.Nil(t, tt.route("nope", routeQuery{}))
	require.Equal(t, protocol.TopicList{TopicList: []string{}}, tt.systemTopics())
	require.Empty(t, tt.topicsByCluster("C"))

	var config []protocol.TopicConfig
	for name, flag := range map[string]int32{"none": 0, "unit": 1, "sub": 2, "both": 3, "four": 4, "five": 5, "neg": -1} {
		c := topic(name)
		c.TopicSysFlag = flag
		config = append(config, c)
	}
	tt.register(&broker{name: "a", addr: "X", topics: config})
	tt.register(&broker{name: "C", id: 3, addr: "Y", topics: topics("T", "U")}) // a broker named as its cluster
	require.Equal(t, []string{"both", "five", "neg", "unit"}, sorted(tt.unitTopics(sysFlagUnit, 0)))
	require.Equal(t, []string{"both", "neg", "sub"}, sorted(tt.unitTopics(sysFlagUnitSub, 0)))
	require.Equal(t, []string{"sub"}, tt.unitTopics(sysFlagUnitSub, sysFlagUnit))
	system := tt.systemTopics()
	require.Equal(t, []string{"C", "a"}, system.TopicList)
	require.Contains(t, []string{"X", "Y"}, *system.BrokerAddr)
}

func staticCluster(t *testing.T) *tableTest {
	tt := newTableTest(t)
	var config []protocol.TopicConfig
	for i := range int32(10) {
		config = append(config, protocol.TopicConfig{TopicName: fmt.Sprintf("T%d", i), ReadQueueNums: 8 + i, WriteQueueNums: 8, Perm: 6, TopicSysFlag: i % 4})
	}
	for _, name := range []string{"a", "b", "c"} {
		for id := range int64(3) {
			tt.register(&broker{name: name, id: id, addr: fmt.Sprintf("%s%d", name, id), topics: config})
		}
	}
	return tt
}

func TestPeer40StaticCluster(t *testing.T) {
	tt := staticCluster(t)
	require.Equal(t, "C[a b c]", tt.cluster())
	all := []string{"T0", "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9"}
	require.Equal(t, all, sorted(tt.allTopics()))
	require.Equal(t, all, sorted(tt.topicsByCluster("C")))
	require.Equal(t, "a{0:a0 1:a1 2:a2} 15/8/6; b{0:b0 1:b1 2:b2} 15/8/6; c{0:c0 1:c1 2:c2} 15/8/6", tt.where("T7"))
	require.Equal(t, int32(3), tt.look("T7").QueueDatas[0].TopicSysFlag)
	tt.deleteTopic("T7", "")
	tt.check()
	require.Equal(t, "none", tt.where("T7"))
}

func TestPeer41StaticClusterRoles(t *testing.T) {
	tt := staticCluster(t)
	tt.register(&broker{name: "a", id: 0, addr: "a1", topics: topics("T0", "T1")})
	require.Equal(t, "0:a1 2:a2", tt.members("a"))
	tt.unregister(&broker{name: "a", addr: "a2"})
	require.Equal(t, "0:a1", tt.members("a"))
}
