package broker

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// benchClients are clients of 100 consumer groups and of one producer group, on connections of their own.
func benchClients(n int) (clients []client, beats []*beat) {
	for i := range n {
		clients = append(clients, client{
			id: fmt.Sprintf("10.0.%d.%d@%d#2795960582394", i>>8&255, i&255, i), peer: new(remoting.Peer), version: protocol.CurrentVersion,
		})
	}
	for i := range 100 {
		group := fmt.Sprintf("GID_orders_%03d", i)
		beats = append(beats, newBeat("").consumer(group, "Orders", retryTopicPrefix+group).producer("CLIENT_INNER_PRODUCER"))
	}
	return clients, beats
}

// BenchmarkClients registers 100,000 clients, each with a consumer and a producer, and reports what one of them costs.
// Connections are not counted.
func BenchmarkClients(b *testing.B) {
	const n = 100_000
	clients, beats := benchClients(n)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	clock := &clientClock{}
	for b.Loop() {
		before := heap()
		consumers, producers := newConsumerManager(clock.elapsed), newProducerManager(clock.elapsed)
		for i, c := range clients {
			beat := beats[i%len(beats)]
			consumers.heartbeat(c, entries(beat), 0, false)
			producers.heartbeat(c, beat.ProducerDataSet)
		}
		b.ReportMetric(float64(heap()-before)/n, "B/client")
		runtime.KeepAlive(consumers)
		runtime.KeepAlive(producers)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/client")
	runtime.KeepAlive(clients)
}

// BenchmarkHeartbeat is a heartbeat that changes nothing, from its body on, among 100,000 clients.
func BenchmarkHeartbeat(b *testing.B) {
	const n = 100_000
	clients, beats := benchClients(n)
	r := newClientRig(b)
	for i, c := range clients {
		beat := beats[i%len(beats)]
		r.service.consumers.heartbeat(c, entries(beat), 0, false)
		r.service.producers.heartbeat(c, beat.ProducerDataSet)
	}
	var bodies [][]byte
	for i := range beats {
		beats[i].ClientID = clients[i].id
		bodies = append(bodies, beats[i].AppendJSON(nil, protocol.FormDefault))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		at := i % len(bodies)
		cmd := protocol.Command{Body: bodies[at], Version: protocol.CurrentVersion}
		if _, err := r.service.heartbeat(b.Context(), clients[at].peer, &cmd); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExpiryScan is a scan of 100,000 consumers that finds none.
func BenchmarkExpiryScan(b *testing.B) {
	clients, beats := benchClients(100_000)
	m := newConsumerManager((&clientClock{}).elapsed)
	for i, c := range clients {
		m.heartbeat(c, entries(beats[i%len(beats)]), 0, false)
	}
	b.ResetTimer()
	for b.Loop() {
		m.expire(producerTimeout, yes)
	}
}

// BenchmarkConnectionClosed is the end of one connection among 100,000 and its return.
func BenchmarkConnectionClosed(b *testing.B) {
	clients, beats := benchClients(100_000)
	m := newConsumerManager((&clientClock{}).elapsed)
	for i, c := range clients {
		m.heartbeat(c, entries(beats[i%len(beats)]), 0, false)
	}
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		at := i % len(clients)
		m.closed(clients[at].peer)
		m.heartbeat(clients[at], entries(beats[at%len(beats)]), 0, false)
	}
}
