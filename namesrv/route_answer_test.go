package namesrv

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

func (tt *tableTest) body(topic string, q routeQuery) string {
	tt.t.Helper()
	resp := tt.route(topic, q)
	require.NotNil(tt.t, resp)
	require.Equal(tt.t, protocol.RespSuccess, resp.Code)
	require.Nil(tt.t, resp.Header)
	require.False(tt.t, resp.HasRemark)
	again := tt.route(topic, q)
	require.Equal(tt.t, string(resp.Body), string(again.Body), "the ready answer")
	return string(resp.Body)
}

func TestN10N13RouteInBothForms(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{cluster: "DefaultCluster", name: "broker-a", addr: "10.0.0.1:10911", filterServers: []string{"h/1"}, topics: topics("T", "U")})
	tt.register(&broker{cluster: "DefaultCluster", name: "broker-a", id: 1, addr: "10.0.0.2:10911", zone: protocol.Some("zöne"), topics: topics("T", "U")})
	const head = `{"brokerDatas":[{"brokerAddrs":`
	const tail = `,"brokerName":"broker-a","cluster":"DefaultCluster","enableActingMaster":false,"zoneName":"zöne"}],` +
		`"filterServerTable":{"10.0.0.1:10911":["h/1"]},` +
		`"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}`
	require.Equal(t, head+`{0:"10.0.0.1:10911",1:"10.0.0.2:10911"}`+tail, tt.body("T", routeQuery{form: protocol.FormDefault}))
	require.Equal(t, head+`{"0":"10.0.0.1:10911","1":"10.0.0.2:10911"}`+tail, tt.body("T", routeQuery{form: protocol.FormStrict}))
}

func TestN46OrderTopicConf(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", topics: topics("T", "U")})
	for _, conf := range []string{"a:4;b:4", "a:5", ""} {
		require.Equal(t, conf, *tt.look("T", func(q *routeQuery) { q.orderConf = protocol.Some(conf) }).OrderTopicConf)
		require.Nil(t, tt.look("T").OrderTopicConf)
		tt.check()
	}
	for i := range 2 * maxAnswersPerTopic {
		q := routeQuery{orderConf: protocol.Some(fmt.Sprint("a:", i))}
		tt.route("T", q)
		require.Same(t, tt.route("T", q), tt.route("T", q), "former configurations take no place from the present one")
	}
}

func TestActingMasterInRoutes(t *testing.T) {
	tt := newTableTest(t)
	member := memberTopicPrefix + "a"
	config := topics("T", member)
	tt.register(&broker{name: "a", id: 1, addr: "Y", acting: actingOn, topics: config})
	tt.register(&broker{name: "a", id: 2, addr: "Z", acting: actingOn, topics: config})
	tt.register(&broker{name: "b", id: 1, addr: "W", acting: actingOff, topics: config})
	require.Equal(t, "a{0:Y 2:Z} 8/8/4; b{1:W} 8/8/6", tt.where("T", withActingMaster))
	require.Equal(t, "a{1:Y 2:Z} 8/8/4; b{1:W} 8/8/6", tt.where("T"), "switch off")
	require.Equal(t, "a{1:Y 2:Z} 8/8/4; b{1:W} 8/8/6", tt.where(member, withActingMaster))
	require.Equal(t, "1:Y 2:Z", tt.members("a"))
	tt.check()
}

func TestZones(t *testing.T) {
	require.Equal(t, "z", zoneFilter(true, "z"))
	require.Empty(t, zoneFilter(true, " \t"))
	require.Empty(t, zoneFilter(false, "z"))

	tt := newTableTest(t)
	for i, zone := range []protocol.Opt[string]{protocol.Some("z1"), protocol.Some("z2"), {}} {
		name := string(rune('a' + i))
		tt.register(&broker{
			name: name, addr: name, zone: zone, filterServers: []string{"f" + name}, topics: topics("T", "T"+name),
			mappings: []protocol.NamedQueueMapping{mapping("T", name, 1)},
		})
	}
	require.Equal(t, "a{0:a} 8/8/6; b{0:b} 8/8/6; c{0:c} 8/8/6", tt.where("T"))
	require.Equal(t, "a{0:a} 8/8/6", tt.where("T", inZone("z1")))
	require.Equal(t, "b{0:b} 8/8/6", tt.where("T", inZone("Z2")))
	r := tt.look("T", inZone("z1"))
	require.Equal(t, map[string][]string{"a": {"fa"}}, r.FilterServerTable)
	require.Len(t, r.TopicQueueMappingByBroker, 3)
	require.Equal(t, `{"brokerDatas":[],"filterServerTable":{},"queueDatas":[]`, strings.Split(tt.body("T", routeQuery{zone: "z9"}), `,"topicQueue`)[0])
	require.Contains(t, tt.body("T", routeQuery{zone: "z1"}), `{0:"a"}`, "F20: the form that was asked for")
	require.Contains(t, tt.body("T", routeQuery{zone: "z1", form: protocol.FormStrict}), `{"0":"a"}`)
	tt.check()

	tt.register(&broker{name: "d", id: 1, addr: "d", acting: actingOn, zone: protocol.Some("z1"), topics: topics("T", "Td")})
	require.Equal(t, "b{0:b} 8/8/6; d{1:d} 8/8/4", tt.where("T", inZone("z2")), "without master: open to all")
	require.Equal(t, "b{0:b} 8/8/6", tt.where("T", inZone("z2"), withActingMaster), "a stand-in counts as a master")
	for i := range 100 {
		tt.where("T", inZone(fmt.Sprint("nobody's ", i)))
	}
	e, _ := tt.topics.Load("T")
	require.LessOrEqual(t, len(e.answers.Load().answers), maxAnswersPerTopic)
	tt.check()
}

func TestAnswerCacheIsBounded(t *testing.T) {
	tt := newTableTest(t)
	tt.routeTable = newRouteTable(tt.clock, 100<<10)
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprint("T", i))
	}
	tt.register(&broker{name: "a", addr: "X", topics: topics(names...)})
	for range 3 {
		for _, name := range names {
			for _, form := range []protocol.JSONForm{protocol.FormDefault, protocol.FormStrict} {
				require.Contains(t, tt.body(name, routeQuery{form: form}), `"a"`)
				require.LessOrEqual(t, tt.answers.size.Load(), int64(100<<10))
			}
			tt.body("T0", routeQuery{}) // in use all the time
		}
	}
	tt.check()
	e, _ := tt.topics.Load("T0")
	require.NotNil(t, e.answers.Load(), "answers in use stay")
	tt.unregister(&broker{name: "a", addr: "X"})
	require.Zero(t, tt.answers.size.Load())
}

func TestReadyAnswersAllocateNothing(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", topics: topics("T", "U")})
	q := routeQuery{form: protocol.FormStrict, orderConf: protocol.Some("a:4")}
	tt.route("T", q)
	require.Zero(t, testing.AllocsPerRun(100, func() { tt.route("T", q) }))
}

// The zone is a part of the request's header, of which a peer may make 16 MiB.
func TestReadyAnswersKeepNoHeader(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", zone: protocol.Some("z1"), topics: topics("T", "U")})
	header := strings.Repeat("x", 1000) + "z1"
	zone := header[1000:]
	tt.route("T", routeQuery{zone: zone})
	e, _ := tt.topics.Load("T")
	kept := e.answers.Load().answers[0].query.zone
	require.Equal(t, "z1", kept)
	require.NotSame(t, unsafe.StringData(zone), unsafe.StringData(kept))
}

// All who ask for a wide topic before its answer is begun get one answer, and it knows all that had happened by then.
func TestWideAnswerIsMadeOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tt := newTableTest(t)
		tt.wide = 1
		for _, name := range []string{"a", "b"} {
			tt.register(&broker{name: name, addr: name, topics: topics("T", "U")})
		}
		for range cap(tt.making) { // as if other answers were being made
			tt.making <- struct{}{}
		}
		const readers = 10
		answers := make(chan *remoting.Response, readers)
		for range readers {
			go func() { answers <- tt.route("T", routeQuery{}) }()
		}
		synctest.Wait()
		require.Len(t, tt.pending, 1)
		tt.register(&broker{name: "c", addr: "c", topics: topics("T", "U")}) // changes do not wait for answers
		for range cap(tt.making) {
			<-tt.making
		}
		first := <-answers
		require.Contains(t, string(first.Body), `"brokerName":"c"`)
		for range readers - 1 {
			require.Same(t, first, <-answers)
		}
		require.Empty(t, tt.pending)
		require.Same(t, &first.Body[0], &tt.route("T", routeQuery{}).Body[0], "it is ready now")
		tt.check()
	})
}

// A topic on so many brokers that they do not lie in one piece.
func TestWideTopic(t *testing.T) {
	const brokers = 3 * runLength
	tt := newTableTest(t)
	order := rand.New(rand.NewPCG(1, 2)).Perm(brokers)
	for _, i := range order {
		benchRegister(t, tt.routeTable, i, topics("T", "U"), 1)
	}
	tt.check()
	require.Len(t, tt.look("T").BrokerDatas, brokers)
	require.Equal(t, brokers, len(tt.clusterInfo().BrokerAddrTable))
	require.ElementsMatch(t, []string{"T", "U"}, tt.topicsByCluster("DefaultCluster"))
	for n, i := range order {
		name := fmt.Sprintf("b%d", i)
		switch {
		case n == brokers-1:
			require.True(t, tt.deleteTopic("U", ""))
			require.True(t, tt.deleteTopic("T", "DefaultCluster"))
		case n%100 == 0:
			require.Equal(t, 2, tt.wipeWritePerm(name))
			require.Len(t, tt.look("T").BrokerDatas, brokers-n)
			tt.check()
		}
		_, found := tt.routeTable.unregister(name, name, false)
		require.True(t, found)
	}
	tt.check()
	require.Empty(t, tt.allTopics())
}
