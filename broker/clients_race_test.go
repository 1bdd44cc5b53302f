package broker

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// A heartbeat that is handled after its connection has ended, or while it ends, registers nobody for good.
func TestNoGhosts(t *testing.T) {
	t.Run("connections that end while their heartbeats are handled", func(t *testing.T) {
		r := newClientRig(t)
		const clients, rounds = 8, 30
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() {
				for round := range rounds {
					c := r.dial()
					id := fmt.Sprintf("client-%d", i)
					frame := func(b *beat) []byte {
						cmd := protocol.Command{Code: int32(protocol.ReqHeartBeat), Version: protocol.CurrentVersion, Body: b.AppendJSON(nil, protocol.FormDefault)}
						frame, err := protocol.AppendFrame(nil, &cmd)
						if err != nil {
							panic(err)
						}
						return frame
					}
					var frames []byte
					for n := range 20 {
						frames = append(frames, frame(newBeat(id).consumer("G", "T").consumer(fmt.Sprintf("G%d", n), "T").producer("P"))...)
					}
					_, _ = c.Write(frames)
					switch round % 3 {
					case 0: // it ends by itself
					case 1:
						c.peer.Close()
					case 2: // everything at once
						runtime.Gosched()
						c.peer.Close()
					}
					_ = c.Close()
				}
			})
		}
		all.Wait()
		eventuallyClients(t, func() bool { return r.closedCount() == clients*rounds })
		requireNobody(t, r)
		require.Empty(t, r.service.producers.roster.byPeer)
		require.Empty(t, r.service.producers.roster.ids)
	})
	t.Run("a heartbeat for a connection that has ended", func(t *testing.T) {
		r := newClientRig(t)
		c := r.dial()
		r.hangUp(c)
		body := newBeat("a").consumer("G", "T").producer("P").AppendJSON(nil, protocol.FormDefault)
		answer, err := r.service.heartbeat(t.Context(), c.peer, &protocol.Command{Body: body})
		require.NoError(t, err)
		require.Equal(t, protocol.RespSuccess, answer.Code)
		requireNobody(t, r)
		require.Empty(t, r.service.notices.changed)
	})
}

// All that the managers do, at the same time, for the race detector.
func TestClientsConcurrently(t *testing.T) {
	r := newClientRig(t)
	s := r.service
	var peers []*remoting.Peer
	for range 4 {
		peers = append(peers, r.dial().peer)
	}
	deadline := time.Now().Add(200 * time.Millisecond)
	var all sync.WaitGroup
	for i, p := range peers {
		all.Go(func() {
			for n := 0; time.Now().Before(deadline); n++ {
				c := client{id: fmt.Sprintf("client-%d", i%3), peer: p, version: protocol.CurrentVersion}
				b := newBeat(c.id).consumer("G", "T", fmt.Sprintf("T%d", n%5)).consumer("H", "T").producer("P")
				changes, _ := s.consumers.heartbeat(c, entries(b), int32(n%3), n%4 == 0)
				s.consumersChanged(changes, "test")
				s.producers.heartbeat(c, b.ProducerDataSet)
				switch n % 7 {
				case 0:
					s.consumers.closed(p)
				case 1:
					s.producers.closed(p)
				case 2:
					s.consumers.unregister("G", p, true)
				case 3:
					s.producers.unregister("P", p)
				}
				s.locks.lock("G", c.id, []protocol.MessageQueue{{Topic: "T", QueueID: int32(n % 3)}})
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for time.Now().Before(deadline) {
				s.consumers.idList("G")
				s.consumers.group("G")
				s.consumers.clients("H")
				s.consumers.groupsOf("T")
				s.consumers.topicsOf("G")
				s.consumers.subscription("G", "T", true)
				s.producers.all()
				s.producers.available("P")
				s.producers.find("client-0")
				r.clock.advance(time.Second)
				s.consumers.expire(120*time.Second, yes)
				s.producers.expire(yes)
				s.locks.expire()
				s.locks.anyLocked("G")
			}
		})
	}
	all.Wait()
	for _, p := range peers {
		s.consumers.closed(p)
		s.producers.closed(p)
	}
	requireNobody(t, r)
}
