package namesrv

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// model is what routeTable ought to be: plain maps, every rule of spec/namesrv.md §4 to §7 and of the design written
// down without regard to time, memory or other goroutines.
type model struct {
	now    time.Duration
	groups map[string]*modelGroup
	queues map[string]map[string]modelQueue // topic, broker name
}

type modelGroup struct {
	cluster string
	members map[int64]modelBroker
	zone    protocol.Opt[string]
	acting  bool
	wiped   bool
}

type modelBroker struct {
	addr    string
	seen    time.Duration
	timeout time.Duration
	version protocol.DataVersion
	conn    *remoting.Peer
}

type modelQueue struct {
	config   protocol.TopicConfig
	withheld bool
}

func newModel() *model {
	return &model{groups: map[string]*modelGroup{}, queues: map[string]map[string]modelQueue{}}
}

// idOf finds the member of a group with an address.
func (g *modelGroup) idOf(addr string) (int64, bool) {
	for id, m := range g.members {
		if m.addr == addr {
			return id, true
		}
	}
	return 0, false
}

func (g *modelGroup) lowest() int64 { return slices.Min(slices.Collect(maps.Keys(g.members))) }

func (g *modelGroup) hasMaster() bool {
	_, ok := g.members[0]
	return ok
}

func (m *model) topicsOf(name string) map[string]bool {
	found := map[string]bool{}
	for topic, by := range m.queues {
		if _, ok := by[name]; ok {
			found[topic] = true
		}
	}
	return found
}

func (m *model) dropQueue(topic, name string) {
	delete(m.queues[topic], name)
	if len(m.queues[topic]) == 0 {
		delete(m.queues, topic)
	}
}

func (m *model) setQueue(topic, name string, q modelQueue) {
	if m.queues[topic] == nil {
		m.queues[topic] = map[string]modelQueue{}
	}
	m.queues[topic][name] = q
}

// leave ends a registration. It returns whom a notice goes to.
func (m *model) leave(name string, id int64, notify bool) []string {
	g := m.groups[name]
	wasLowest := id == g.lowest()
	delete(g.members, id)
	if len(g.members) == 0 {
		for topic := range m.topicsOf(name) {
			m.dropQueue(topic, name)
		}
		delete(m.groups, name)
		return nil
	}
	if g.acting && !g.hasMaster() {
		for topic := range m.topicsOf(name) {
			q := m.queues[topic][name]
			q.withheld = true
			m.queues[topic][name] = q
		}
	}
	if !wasLowest || !notify || !g.acting {
		return nil
	}
	var told []string
	for _, b := range g.members {
		told = append(told, b.addr)
	}
	return told
}

// register returns what kind of answer there is, and whom notices go to.
func (m *model) register(b *broker) (outcome string, told []string) {
	g := m.groups[b.name]
	if g != nil && g.cluster != b.cluster {
		return "shared", nil
	}
	var holder modelBroker
	held := false
	if g != nil {
		holder, held = g.members[b.id]
	}
	if held && holder.addr != b.addr && holder.version.StateVersion > b.version.StateVersion {
		return "outranked", nil
	}
	if !held && len(b.topics) == 1 {
		return "one topic", nil
	}
	// The address leaves another name of its cluster.
	for name, other := range m.groups {
		if name != b.name && other.cluster == b.cluster {
			if id, ok := other.idOf(b.addr); ok {
				told = append(told, m.leave(name, id, b.notify)...)
			}
		}
	}
	lower := b.id < 0
	if g == nil {
		g = &modelGroup{cluster: b.cluster, members: map[int64]modelBroker{}}
		m.groups[b.name] = g
	} else {
		lower = b.id < g.lowest()
	}
	var oldVersion *protocol.DataVersion
	if id, ok := g.idOf(b.addr); ok {
		v := g.members[id].version
		oldVersion = &v
		delete(g.members, id)
	}
	timeout := 120 * time.Second
	if b.timeout.Present {
		timeout = time.Duration(b.timeout.Value) * time.Millisecond
	}
	g.members[b.id] = modelBroker{addr: b.addr, seen: m.now, timeout: timeout, version: b.version, conn: b.conn}
	g.zone = b.zone
	g.acting = b.acting.Or(false)

	prime := b.id != 0 && b.acting.Present && b.id == g.lowest() && !g.hasMaster()
	if b.id == 0 || prime {
		had := m.topicsOf(b.name)
		has := map[string]bool{}
		for _, c := range b.topics {
			has[c.TopicName] = true
		}
		whole := true
		for topic := range had {
			whole = whole && has[topic]
		}
		changed := !held || oldVersion == nil || *oldVersion != b.version
		if b.deleteTopics && len(b.topics) != 1 {
			for topic := range had {
				if !has[topic] {
					m.dropQueue(topic, b.name)
				}
			}
		}
		for _, c := range b.topics {
			old := m.queues[c.TopicName][b.name].config
			differs := old.ReadQueueNums != c.ReadQueueNums || old.Perm != c.Perm
			if changed || !had[c.TopicName] || !whole && differs {
				m.setQueue(c.TopicName, b.name, modelQueue{config: c, withheld: prime && g.acting})
			}
		}
	}
	if lower && b.notify && g.acting {
		for id, member := range g.members {
			if id != b.id || len(g.members) == 1 {
				told = append(told, member.addr)
			}
		}
	}
	return "registered", told
}

// route is the answer to 105.
func (m *model) route(topic string, q routeQuery) (string, bool) {
	by, ok := m.queues[topic]
	if !ok {
		return "", false
	}
	route := protocol.TopicRouteData{}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		g, queue := m.groups[name], by[name]
		perm := queue.config.Perm
		if queue.withheld || g.wiped {
			perm &^= 2
		}
		addrs := map[int64]string{}
		for id, b := range g.members {
			addrs[id] = b.addr
		}
		if q.actingMaster && g.acting && !g.hasMaster() && perm&2 == 0 && !strings.HasPrefix(topic, memberTopicPrefix) {
			delete(addrs, g.lowest())
			addrs[0] = g.members[g.lowest()].addr
		}
		_, master := addrs[0]
		if q.zone != "" && master && !(g.zone.Present && strings.EqualFold(g.zone.Value, q.zone)) {
			continue
		}
		data := protocol.BrokerData{Cluster: g.cluster, BrokerName: name, EnableActingMaster: g.acting}
		if g.zone.Present {
			data.ZoneName = &g.zone.Value
		}
		for _, id := range slices.Sorted(maps.Keys(addrs)) {
			data.BrokerAddrs = append(data.BrokerAddrs, protocol.BrokerAddr{ID: id, Addr: addrs[id]})
		}
		route.BrokerDatas = append(route.BrokerDatas, data)
		route.QueueDatas = append(route.QueueDatas, protocol.QueueData{
			BrokerName: name, ReadQueueNums: queue.config.ReadQueueNums, WriteQueueNums: queue.config.WriteQueueNums, Perm: perm,
		})
	}
	if q.orderConf.Present {
		route.OrderTopicConf = &q.orderConf.Value
	}
	return string(route.AppendJSON(nil, q.form)), true
}

func (m *model) clusterInfo() string {
	var list []string
	for name, g := range m.groups {
		var addrs []string
		for _, id := range slices.Sorted(maps.Keys(g.members)) {
			addrs = append(addrs, fmt.Sprintf("%d:%s", id, g.members[id].addr))
		}
		list = append(list, fmt.Sprintf("%s/%s %v", g.cluster, name, addrs))
	}
	return strings.Join(sorted(list), "; ")
}

// modelTest runs random operations on both.
type modelTest struct {
	tt    *tableTest
	m     *model
	conns []*remoting.Peer
}

const modelPeers = 4

var (
	modelTopics   = []string{"T0", "T1", "T2", "T3", "T4", memberTopicPrefix + "a"}
	modelNames    = []string{"a", "b", "c"}
	modelAddrs    = []string{"W", "X", "Y", "Z"}
	modelClusters = []string{"C", "C", "C", "D"}
	modelZones    = []protocol.Opt[string]{{}, protocol.Some("z1"), protocol.Some("z2")}
)

func drawBroker(t *rapid.T, x *modelTest) *broker {
	b := &broker{
		cluster:      rapid.SampledFrom(modelClusters).Draw(t, "cluster"),
		name:         rapid.SampledFrom(modelNames).Draw(t, "name"),
		id:           rapid.SampledFrom([]int64{0, 0, 0, 1, 2, -1}).Draw(t, "id"),
		addr:         rapid.SampledFrom(modelAddrs).Draw(t, "addr"),
		acting:       rapid.SampledFrom([]protocol.Opt[bool]{{}, actingOff, actingOn}).Draw(t, "acting"),
		zone:         rapid.SampledFrom(modelZones).Draw(t, "zone"),
		conn:         rapid.SampledFrom(x.conns).Draw(t, "conn"),
		version:      version(rapid.Int64Range(0, 1).Draw(t, "state"), 1, rapid.Int64Range(1, 2).Draw(t, "counter")),
		timeout:      rapid.SampledFrom([]protocol.Opt[int64]{{}, protocol.Some[int64](1000), protocol.Some[int64](3000)}).Draw(t, "timeout"),
		deleteTopics: rapid.Bool().Draw(t, "deleteTopics"),
		notify:       rapid.Bool().Draw(t, "notify"),
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(modelTopics), 0, 4, rapid.ID).Draw(t, "topics") {
		b.topics = append(b.topics, topicWith(name, rapid.Int32Range(4, 5).Draw(t, "queues"), rapid.SampledFrom([]int32{6, 4, 7}).Draw(t, "perm")))
	}
	return b
}

func told(notices []notice) []string {
	var list []string
	for _, n := range notices {
		list = append(list, n.targets...)
	}
	return sorted(list)
}

func TestTableAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := &modelTest{tt: newTableTest(t), m: newModel()}
		x.tt.wide = rapid.IntRange(0, 2).Draw(rt, "wide") // answers are made in either way
		for range modelPeers {
			x.conns = append(x.conns, newPeer())
		}
		var last *broker // to repeat
		rt.Repeat(map[string]func(*rapid.T){
			"register": func(rt *rapid.T) {
				last = drawBroker(rt, x)
				x.register(rt, last)
			},
			"registerAgain": func(rt *rapid.T) {
				if last == nil {
					rt.Skip("nothing registered yet")
				}
				b := *last
				b.conn = rapid.SampledFrom(x.conns).Draw(rt, "conn")
				x.register(rt, &b)
			},
			"unregister": func(rt *rapid.T) {
				name, addr := rapid.SampledFrom(modelNames).Draw(rt, "name"), rapid.SampledFrom(modelAddrs).Draw(rt, "addr")
				var want []string
				g := x.m.groups[name]
				known := false
				if g != nil {
					var id int64
					if id, known = g.idOf(addr); known {
						want = x.m.leave(name, id, true)
					}
				}
				notices, found := x.tt.routeTable.unregister(name, addr, true)
				require.Equal(rt, known, found)
				require.Equal(rt, sorted(want), told(notices))
			},
			"connectionClosed": func(rt *rapid.T) {
				conn := rapid.SampledFrom(x.conns).Draw(rt, "conn")
				var want []string
				for name, g := range maps.Clone(x.m.groups) {
					for _, id := range slices.Sorted(maps.Keys(g.members)) {
						if g.members[id].conn == conn {
							want = append(want, g.members[id].addr)
							x.m.leave(name, id, false)
						}
					}
				}
				addrs, notices := x.tt.connectionClosed(conn, false)
				require.ElementsMatch(rt, want, addrs)
				require.Empty(rt, notices)
			},
			"expire": func(rt *rapid.T) {
				step := time.Duration(rapid.IntRange(0, 2500).Draw(rt, "millis")) * time.Millisecond
				x.m.now += step
				x.tt.now += step
				var want []string
				for name, g := range maps.Clone(x.m.groups) {
					for id, b := range maps.Clone(g.members) {
						if x.m.now-b.seen > b.timeout {
							want = append(want, b.addr)
							x.m.leave(name, id, false)
						}
					}
				}
				var got []string
				for _, d := range x.tt.expire(settled, false) {
					got = append(got, d.brokerAddr)
				}
				require.ElementsMatch(rt, want, got)
			},
			"heartbeat": func(rt *rapid.T) {
				cluster, addr := rapid.SampledFrom(modelClusters).Draw(rt, "cluster"), rapid.SampledFrom(modelAddrs).Draw(rt, "addr")
				known := false
				for _, g := range x.m.groups {
					if id, ok := g.idOf(addr); ok && g.cluster == cluster {
						b := g.members[id]
						b.seen = x.m.now
						g.members[id] = b
						known = true
					}
				}
				require.Equal(rt, known, x.tt.heartbeat(cluster, addr))
			},
			"queryDataVersion": func(rt *rapid.T) {
				b := drawBroker(rt, x)
				var want *protocol.DataVersion
				changed := true
				for name, g := range x.m.groups {
					if id, ok := g.idOf(b.addr); ok && g.cluster == b.cluster {
						known := g.members[id]
						known.seen = x.m.now
						g.members[id] = known
						want = &known.version
						changed = name != b.name || id != b.id || known.version != b.version
					}
				}
				stored, got := x.tt.queryDataVersion(queryHeader(b.cluster, b.name, b.id, b.addr), &b.version)
				require.Equal(rt, want, stored)
				require.Equal(rt, changed, got)
			},
			"wipeOrAddWritePerm": func(rt *rapid.T) {
				name := rapid.SampledFrom(modelNames).Draw(rt, "name")
				wipe := rapid.Bool().Draw(rt, "wipe")
				owned := x.m.topicsOf(name)
				if g := x.m.groups[name]; g != nil {
					g.wiped = wipe
				}
				if wipe {
					require.Equal(rt, len(owned), x.tt.wipeWritePerm(name))
					return
				}
				for topic := range owned {
					q := x.m.queues[topic][name]
					q.withheld = false
					x.m.queues[topic][name] = q
				}
				require.Equal(rt, len(owned), x.tt.addWritePerm(name))
			},
			"deleteTopic": func(rt *rapid.T) {
				topic, cluster := rapid.SampledFrom(modelTopics).Draw(rt, "topic"), rapid.SampledFrom([]string{"", "C", "D", "nope"}).Draw(rt, "cluster")
				for name := range maps.Clone(x.m.queues[topic]) {
					if cluster == "" || x.m.groups[name].cluster == cluster {
						x.m.dropQueue(topic, name)
					}
				}
				x.tt.deleteTopic(topic, cluster)
			},
			"registerTopic": func(rt *rapid.T) {
				topic := rapid.SampledFrom(modelTopics).Draw(rt, "topic")
				var queues []protocol.QueueData
				for _, name := range rapid.SliceOfN(rapid.SampledFrom(append([]string{"nobody"}, modelNames...)), 0, 3).Draw(rt, "names") {
					queues = append(queues, protocol.QueueData{BrokerName: name, ReadQueueNums: 9, WriteQueueNums: 9, Perm: rapid.SampledFrom([]int32{6, 4}).Draw(rt, "perm")})
				}
				_, exists := x.m.queues[topic]
				all := true
				for _, d := range queues {
					all = all && x.m.groups[d.BrokerName] != nil
				}
				for _, d := range queues {
					if x.m.groups[d.BrokerName] == nil || !exists && !all {
						break
					}
					x.m.setQueue(topic, d.BrokerName, modelQueue{config: topicWith(topic, 9, d.Perm)})
				}
				require.Equal(rt, all, x.tt.registerTopic(topic, queues))
			},
			"": x.compare,
		})
	})
}

func (x *modelTest) register(rt *rapid.T, b *broker) {
	before := ""
	want, to := x.m.register(b)
	if want != "registered" {
		before = x.tt.snapshot()
	}
	res, err := x.tt.tryRegister(b)
	switch want {
	case "shared":
		var shared *sharedNameError
		require.ErrorAs(rt, err, &shared)
	case "one topic":
		require.ErrorIs(rt, err, errFirstRegistrationIncomplete)
	case "outranked":
		require.NoError(rt, err)
		require.NotEmpty(rt, res.outrankedBy)
	default:
		require.NoError(rt, err)
		require.Empty(rt, res.outrankedBy)
		g := x.m.groups[b.name]
		master, hasMaster := g.members[0]
		require.Equal(rt, hasMaster && b.id != 0, res.header.MasterAddr.Present)
		if res.header.MasterAddr.Present {
			require.Equal(rt, master.addr, res.header.MasterAddr.Value)
		}
	}
	if want != "registered" {
		require.Equal(rt, before, x.tt.snapshot(), "a refused registration leaves no trace")
	}
	require.Equal(rt, sorted(to), told(res.notices))
}

// compare looks at both from outside.
func (x *modelTest) compare(rt *rapid.T) {
	x.tt.check()
	require.ElementsMatch(rt, slices.Collect(maps.Keys(x.m.queues)), x.tt.allTopics())
	for _, cluster := range []string{"C", "D", "nope"} {
		want := []string{}
		for topic, by := range x.m.queues {
			for name := range by {
				if x.m.groups[name].cluster == cluster {
					want = append(want, topic)
					break
				}
			}
		}
		require.ElementsMatch(rt, want, x.tt.topicsByCluster(cluster))
	}
	var groups []string
	info := x.tt.clusterInfo()
	for _, d := range info.BrokerAddrTable {
		var addrs []string
		for _, a := range d.BrokerAddrs {
			addrs = append(addrs, fmt.Sprintf("%d:%s", a.ID, a.Addr))
		}
		groups = append(groups, fmt.Sprintf("%s/%s %v", d.Cluster, d.BrokerName, addrs))
	}
	require.Equal(rt, x.m.clusterInfo(), strings.Join(sorted(groups), "; "))
	for _, topic := range modelTopics {
		for _, form := range []protocol.JSONForm{protocol.FormDefault, protocol.FormStrict} {
			for _, q := range []routeQuery{
				{form: form}, {form: form, actingMaster: true}, {form: form, zone: "Z1"}, {form: form, zone: "z2", actingMaster: true},
				{form: form, orderConf: protocol.Some("a:4")},
			} {
				want, ok := x.m.route(topic, q)
				resp := x.tt.route(topic, q)
				if !ok {
					require.Nil(rt, resp, topic)
					continue
				}
				require.NotNil(rt, resp, topic)
				require.Equal(rt, want, string(resp.Body), topic)
			}
		}
	}
}
