package broker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

func producerGroups(names ...string) []protocol.ProducerData {
	var list []protocol.ProducerData
	for _, name := range names {
		list = append(list, protocol.ProducerData{GroupName: name})
	}
	return list
}

// The rows of the original's ProducerManagerTest, spec/broker.md §10.
func TestProducerManager(t *testing.T) {
	setup := func() (*producerManager, *clientClock) {
		clock := &clientClock{}
		return newProducerManager(clock.elapsed), clock
	}
	t.Run("expiry removes group and client id, and reports both", func(t *testing.T) {
		m, clock := setup()
		a := testClient("a")
		require.Equal(t, []producerChange{{group: "P", client: a, joined: true}}, m.heartbeat(a, producerGroups("P")))
		clock.advance(producerTimeout)
		require.Empty(t, m.expire(yes))
		clock.advance(time.Millisecond)
		require.Equal(t, []producerChange{{group: "P", client: a, gone: true}}, m.expire(yes))
		require.Empty(t, m.group("P"))
		_, ok := m.find("a")
		require.False(t, ok)
		require.Empty(t, m.roster.byPeer)
	})
	t.Run("expiry of one of two connections of a client keeps the other to be found", func(t *testing.T) {
		m, clock := setup()
		first, second := testClient("a"), testClient("a")
		m.heartbeat(first, producerGroups("P"))
		clock.advance(60 * time.Second)
		m.heartbeat(second, producerGroups("P"))
		clock.advance(61 * time.Second)
		require.Equal(t, []producerChange{{group: "P", client: first}}, m.expire(yes))
		c, ok := m.find("a")
		require.True(t, ok)
		require.Same(t, second.peer, c.peer)
	})
	t.Run("close", func(t *testing.T) {
		m, _ := setup()
		a, b := testClient("a"), testClient("b")
		m.heartbeat(a, producerGroups("P", "Q"))
		m.heartbeat(b, producerGroups("Q"))
		require.Len(t, m.closed(a.peer), 2)
		require.Equal(t, []string{"Q"}, m.groups())
		_, ok := m.find("a")
		require.False(t, ok)
		require.Empty(t, m.closed(a.peer))
	})
	t.Run("unregistering the last producer leaves nothing", func(t *testing.T) {
		m, _ := setup()
		a := testClient("a")
		m.heartbeat(a, producerGroups("P"))
		change, ok := m.unregister("P", a.peer)
		require.True(t, ok)
		require.Equal(t, producerChange{group: "P", client: a, gone: true}, change)
		require.Empty(t, m.groups())
		require.False(t, m.has(a.peer))
		_, ok = m.find("a")
		require.False(t, ok)
		_, ok = m.unregister("P", a.peer)
		require.False(t, ok)
	})
	t.Run("a client in two groups is found until it has left both", func(t *testing.T) {
		m, _ := setup()
		a := testClient("a")
		m.heartbeat(a, producerGroups("P", "Q"))
		m.unregister("Q", a.peer)
		_, ok := m.find("a")
		require.True(t, ok, "the original loses it here")
		m.unregister("P", a.peer)
		_, ok = m.find("a")
		require.False(t, ok)
	})
	t.Run("a heartbeat again changes nothing but the time", func(t *testing.T) {
		m, clock := setup()
		a := testClient("a")
		m.heartbeat(a, producerGroups("P"))
		clock.advance(100 * time.Second)
		require.Equal(t, []producerConn{{a, 100 * time.Second}}, m.group("P"))
		require.Empty(t, m.heartbeat(a, producerGroups("P")))
		require.Equal(t, []producerConn{{a, 0}}, m.group("P"))
		clock.advance(100 * time.Second)
		require.Empty(t, m.expire(yes))
	})
	t.Run("not tracked when registering is disabled and transactions are rejected", func(t *testing.T) {
		r := newClientRig(t)
		c := r.dial()
		settings := *r.settings.Load()
		settings.EnableRegisterProducer, settings.RejectTransactionMessage = false, true
		r.settings.Store(&settings)
		c.beat(newBeat("a").producer("P"))
		require.Empty(t, r.service.producers.groups())
		settings.RejectTransactionMessage = false
		r.settings.Store(&settings)
		c.beat(newBeat("a").producer("P"))
		require.Equal(t, []string{"P"}, r.service.producers.groups())
	})
}

// The rows of ProducerManagerTest about the choice of a connection.
func TestProducerAvailable(t *testing.T) {
	t.Run("takes turns among writable connections", func(t *testing.T) {
		r := newClientRig(t)
		turns := map[*remoting.Peer]int{}
		for _, id := range []string{"a", "b", "c"} {
			c := r.dial()
			c.beat(newBeat(id).producer("P"))
			turns[c.peer] = 2
		}
		m := r.service.producers
		for range 6 {
			turns[m.available("P")]--
		}
		for _, left := range turns {
			require.Zero(t, left)
		}
		require.Nil(t, m.available("Q"))
	})
	t.Run("one that is only open is still returned", func(t *testing.T) {
		r := newClientRig(t)
		full, writable := r.dial(), r.dial()
		full.beat(newBeat("a").producer("P"))
		m := r.service.producers
		stuck := 0
		eventuallyClients(t, func() bool { // the client does not read: what the system takes in its place has an end
			_ = full.peer.Oneway(t.Context(), &protocol.Command{Code: 1, Body: make([]byte, 100<<10)})
			if full.peer.Writable() {
				stuck = 0
			} else {
				stuck++
			}
			return stuck == 50
		})
		require.Same(t, full.peer, m.available("P"))
		writable.beat(newBeat("b").producer("P"))
		for range 4 {
			require.Same(t, writable.peer, m.available("P"))
		}
	})
	t.Run("none of closed ones", func(t *testing.T) {
		r := newClientRig(t)
		c := r.dial()
		m := r.service.producers
		c.beat(newBeat("a").producer("P"))
		c.peer.Close()
		require.Nil(t, m.available("P"))
	})
}
