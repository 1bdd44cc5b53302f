package namesrv

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

func benchTopics(prefix string, n int) []protocol.TopicConfig {
	list := make([]protocol.TopicConfig, n)
	for i := range list {
		list[i] = topic(fmt.Sprintf("%s-topic-of-usual-length-%06d", prefix, i))
	}
	return list
}

// benchTable returns a table of brokers named b0, b1, ... at addresses of the same name. If shared is set, all have the
// same topics.
func benchTable(tb testing.TB, brokers, topics int, shared bool) *routeTable {
	table := newRouteTable(func() time.Duration { return 0 }, 0)
	for i := range brokers {
		prefix := "shared"
		if !shared {
			prefix = fmt.Sprint(i)
		}
		benchRegister(tb, table, i, benchTopics(prefix, topics), 1)
	}
	return table
}

func benchRequest(broker int) *registration {
	name := fmt.Sprintf("b%d", broker)
	return &registration{
		header: protocol.RegisterBrokerRequestHeader{ClusterName: "DefaultCluster", BrokerName: name, BrokerAddr: name, HAServerAddr: protocol.Some(name)},
		conn:   new(remoting.Peer),
	}
}

func benchRegister(tb testing.TB, table *routeTable, broker int, topics []protocol.TopicConfig, counter int64) {
	v := version(0, 1, counter)
	if _, err := table.register(benchRequest(broker), &protocol.RegisterBrokerBody{Topics: topics, DataVersion: &v}); err != nil {
		tb.Fatal(err)
	}
}

func benchBody(topics []protocol.TopicConfig) []byte {
	v := version(0, 1, 1)
	body := &protocol.RegisterBrokerBody{Topics: topics, DataVersion: &v, FilterServerList: []string{}}
	return body.AppendJSON(nil, protocol.FormDefault)
}

func BenchmarkRouteReady(b *testing.B) {
	table := benchTable(b, 16, 1000, true)
	name := benchTopics("shared", 1)[0].TopicName
	q := routeQuery{form: protocol.FormStrict}
	b.SetBytes(int64(len(table.route(name, q).Body)))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if table.route(name, q) == nil {
				b.Error("no route")
			}
		}
	})
}

func BenchmarkRouteEncode(b *testing.B) {
	table := benchTable(b, 16, 1000, true)
	name := benchTopics("shared", 1)[0].TopicName
	q := routeQuery{form: protocol.FormStrict, zone: "nobody's"} // filtered and not kept
	b.ReportAllocs()
	for b.Loop() {
		if table.route(name, q) == nil {
			b.Error("no route")
		}
	}
}

// BenchmarkRegisterAgain10000 is the registration that brokers send every 30 s: nothing has changed.
func BenchmarkRegisterAgain10000(b *testing.B) {
	table := newRouteTable(func() time.Duration { return 0 }, 0)
	topics := benchTopics("b", 10_000)
	text := benchBody(topics)
	r := benchRequest(0)
	table.renew(r, text)
	v := version(0, 1, 1)
	if _, err := table.register(r, &protocol.RegisterBrokerBody{Topics: topics, DataVersion: &v}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := table.renew(r, text); !ok {
			b.Fatal("not recognised")
		}
	}
}

// BenchmarkRegisterVersion10000 is a registration with a new data version and the same topics, with its decoding.
func BenchmarkRegisterVersion10000(b *testing.B) {
	table := benchTable(b, 16, 10_000, true)
	text := benchBody(benchTopics("shared", 10_000))
	counter := int64(1)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		body, err := protocol.DecodeRegisterBrokerBody(text, protocol.RegisterBodyOptions{Version: protocol.Version5_5_0, Intern: table.topicName})
		if err != nil {
			b.Fatal(err)
		}
		counter++
		body.DataVersion.Counter = counter
		if _, err := table.register(benchRequest(0), &body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRegisterFirst10000(b *testing.B) {
	topics := benchTopics("b", 10_000)
	b.ReportAllocs()
	for b.Loop() {
		benchRegister(b, newRouteTable(func() time.Duration { return 0 }, 0), 0, topics, 1)
	}
}

// BenchmarkLoseOneOf300 is the end of one broker's connection, with its return left out of the time.
func BenchmarkLoseOneOf300(b *testing.B) {
	for _, shared := range []bool{false, true} {
		b.Run(fmt.Sprintf("shared=%t", shared), func(b *testing.B) {
			table := benchTable(b, 300, 10_000, shared)
			prefix := "shared"
			if !shared {
				prefix = "7"
			}
			topics := benchTopics(prefix, 10_000)
			b.ResetTimer()
			for range b.N {
				if _, found := table.unregister("b7", "b7", false); !found {
					b.Fatal("not there")
				}
				b.StopTimer()
				benchRegister(b, table, 7, topics, 1)
				b.StartTimer()
			}
		})
	}
}

// BenchmarkMemory16x80000 reports what a table of 16 brokers with the same 80,000 topics holds on to.
func BenchmarkMemory16x80000(b *testing.B) {
	for range b.N {
		before := heap()
		start := time.Now()
		table := benchTable(b, 16, 80_000, true)
		b.ReportMetric(time.Since(start).Seconds(), "s/table")
		b.ReportMetric(float64(heap()-before)/1e6, "MB")
		runtime.KeepAlive(table)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkTopicsByCluster60000(b *testing.B) {
	for _, topics := range []int{6_000, 60_000} {
		b.Run(fmt.Sprint(topics), func(b *testing.B) {
			table := benchTable(b, 4, topics, true)
			for b.Loop() {
				if len(table.topicsByCluster("DefaultCluster")) != topics || len(table.allTopics()) != topics {
					b.Fatal("wrong number")
				}
			}
		})
	}
}
