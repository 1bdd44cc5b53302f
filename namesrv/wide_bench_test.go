package namesrv

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mq-server/mq/protocol"
)

// BenchmarkWideTopic is 20,000 brokers of the same two topics that come and go in no order, while somebody asks for one of the
// topics over and over, or nobody does.
func BenchmarkWideTopic(b *testing.B) {
	const brokers = 20_000
	topics := benchTopics("shared", 2)
	order := rand.New(rand.NewPCG(1, 2)).Perm(brokers)
	requests := make([]*registration, brokers)
	for i := range requests {
		requests[i] = benchRequest(i)
	}
	v := version(0, 1, 1)
	body := &protocol.RegisterBrokerBody{Topics: topics, DataVersion: &v}
	register := func(table *routeTable) {
		for _, i := range order {
			if _, err := table.register(requests[i], body); err != nil {
				b.Fatal(err)
			}
		}
	}
	newTable := func() *routeTable { return newRouteTable(func() time.Duration { return 0 }, 0) }

	b.Run("come", func(b *testing.B) {
		for b.Loop() {
			register(newTable())
		}
	})
	for _, asked := range []bool{false, true} {
		b.Run(fmt.Sprintf("go/asked=%t", asked), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				table := newTable()
				register(table)
				var done atomic.Bool
				var reader sync.WaitGroup
				if asked {
					reader.Go(func() {
						for !done.Load() {
							table.route(topics[0].TopicName, routeQuery{form: protocol.FormStrict})
						}
					})
				}
				b.StartTimer()
				for _, i := range order {
					if addrs, _ := table.connectionClosed(requests[i].conn, false); len(addrs) != 1 {
						b.Fatal(fmt.Sprint(addrs))
					}
				}
				b.StopTimer()
				done.Store(true)
				reader.Wait()
				b.StartTimer()
			}
		})
	}
}
