package broker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// testClient is a client on a connection that is never used.
func testClient(id string) client {
	return client{id: id, peer: new(remoting.Peer), version: protocol.CurrentVersion}
}

func entries(b *beat) []consumerEntry {
	var list []consumerEntry
	for i := range b.ConsumerDataSet {
		list = append(list, consumerEntry{&b.ConsumerDataSet[i], true})
	}
	return list
}

// beatIn registers a client and returns what changed.
func beatIn(m *consumerManager, c client, b *beat) []consumerChange {
	changes, _ := m.heartbeat(c, entries(b), b.HeartbeatFingerprint, b.WithoutSub)
	return changes
}

// told returns the groups that changes let be told (40).
func told(changes []consumerChange) []string {
	var groups []string
	for _, c := range changes {
		if c.notify {
			groups = append(groups, c.group)
		}
	}
	return groups
}

// leavers returns the client ids that changes say have left.
func leavers(changes []consumerChange) []string {
	var ids []string
	for _, c := range changes {
		if c.left != nil {
			ids = append(ids, c.left.id)
		}
	}
	return ids
}

// The rows of the original's ConsumerManagerTest, spec/broker.md §10.
func TestConsumerManager(t *testing.T) {
	setup := func() (*consumerManager, *clientClock) {
		clock := &clientClock{}
		return newConsumerManager(clock.elapsed), clock
	}
	a, b := testClient("a"), testClient("b")

	t.Run("registration, unregistration and close of broadcasting consumers never notify", func(t *testing.T) {
		m, _ := setup()
		b1 := newBeat("a").consumer("G", "T").model(protocol.Broadcasting)
		require.Empty(t, told(beatIn(m, a, b1)))
		require.Empty(t, told(beatIn(m, b, b1)))
		change, ok := m.unregister("G", a.peer, true)
		require.True(t, ok)
		require.False(t, change.notify)
		require.Empty(t, told(beatIn(m, a, b1)))
		require.Empty(t, told(m.closed(a.peer)))
	})
	t.Run("registration, unregistration and close of clustering consumers notify", func(t *testing.T) {
		m, _ := setup()
		require.Equal(t, []string{"G"}, told(beatIn(m, a, newBeat("a").consumer("G", "T"))))
		require.Equal(t, []string{"G"}, told(beatIn(m, b, newBeat("b").consumer("G", "T"))))
		require.Empty(t, beatIn(m, b, newBeat("b").consumer("G", "T")), "nothing changed")
		change, ok := m.unregister("G", b.peer, true)
		require.True(t, ok)
		require.True(t, change.notify)
		require.Equal(t, []string{"G"}, told(beatIn(m, b, newBeat("b").consumer("G", "T"))))
		require.Equal(t, []string{"G"}, told(m.closed(b.peer)))
		last := m.closed(a.peer)
		require.Empty(t, told(last), "nobody is left")
		require.True(t, last[0].gone)
	})
	t.Run("a group whose configuration does not notify", func(t *testing.T) {
		m, _ := setup()
		data := newBeat("a").consumer("G", "T")
		quiet := []consumerEntry{{&data.ConsumerDataSet[0], false}}
		changes, _ := m.heartbeat(a, quiet, 0, false)
		require.Empty(t, told(changes))
		changes, _ = m.heartbeat(b, quiet, 0, false)
		require.Empty(t, told(changes))
		change, _ := m.unregister("G", a.peer, false)
		require.False(t, change.notify)
		changes, _ = m.heartbeat(a, quiet, 0, false)
		require.Len(t, changes, 1)
		require.Equal(t, []string{"G"}, told(m.closed(a.peer)), "the end of a connection does not ask the configuration")
	})
	t.Run("find by client id and by connection", func(t *testing.T) {
		m, _ := setup()
		beatIn(m, a, newBeat("a").consumer("G", "T"))
		c, ok := m.client("G", "a")
		require.True(t, ok)
		require.Equal(t, a, c)
		c, ok = m.clientOf("G", a.peer)
		require.True(t, ok)
		require.Equal(t, a, c)
		_, ok = m.client("G", "b")
		require.False(t, ok)
		_, ok = m.clientOf("G", b.peer)
		require.False(t, ok)
		_, ok = m.client("H", "a")
		require.False(t, ok)
	})
	t.Run("subscriptions of heartbeats and of requests", func(t *testing.T) {
		m, _ := setup()
		beatIn(m, a, newBeat("a").consumer("G", "T"))
		other := testSubscription("U", 7)
		m.compensate("G", "U", &other)
		m.compensate("quiet", "U", &other)
		require.Equal(t, "T", m.subscription("G", "T", true).Topic)
		require.Equal(t, &other, m.subscription("G", "U", true))
		require.Equal(t, &other, m.subscription("quiet", "U", true))
		require.Nil(t, m.subscription("G", "U", false))
		require.Nil(t, m.subscription("quiet", "U", false))
		require.Nil(t, m.subscription("quiet", "T", true))
	})
	t.Run("old subscriptions of requests are dropped, fresh ones of the same group stay", func(t *testing.T) {
		m, clock := setup()
		sub := testSubscription("T", 1)
		m.compensate("G", "old", &sub)
		clock.advance(600 * time.Second)
		m.compensate("G", "fresh", &sub)
		m.expireCompensated(600 * time.Second)
		require.NotNil(t, m.subscription("G", "old", true), "not older than the timeout")
		clock.advance(time.Second)
		m.expireCompensated(600 * time.Second)
		require.Nil(t, m.subscription("G", "old", true))
		require.NotNil(t, m.subscription("G", "fresh", true))
		clock.advance(601 * time.Second)
		m.expireCompensated(600 * time.Second)
		require.Empty(t, m.compensated)
	})
	t.Run("groups of a topic", func(t *testing.T) {
		m, _ := setup()
		beatIn(m, a, newBeat("a").consumer("G", "T", "U").consumer("H", "T"))
		require.Equal(t, []string{"G", "H"}, m.groupsOf("T"))
		require.Equal(t, []string{"G"}, m.groupsOf("U"))
		require.Empty(t, m.groupsOf("V"))
	})
	t.Run("registration without subscriptions leaves the topics of the group known", func(t *testing.T) {
		m, _ := setup()
		beatIn(m, a, newBeat("a").consumer("G", "T"))
		beatIn(m, b, newBeat("b").consumer("G").v2(1, true))
		require.Equal(t, []string{"G"}, m.groupsOf("T"))
		require.Equal(t, []string{"T"}, m.topicsOf("G"))
	})
	t.Run("topics that the group unsubscribes are dropped while it stays online", func(t *testing.T) {
		m, _ := setup()
		beatIn(m, a, newBeat("a").consumer("G", "T", "U"))
		require.Equal(t, []string{"G"}, told(beatIn(m, a, newBeat("a").consumer("G", "U"))))
		require.Empty(t, m.groupsOf("T"))
		require.Equal(t, []string{"U"}, m.topicsOf("G"))
		require.NotContains(t, m.topics, "T")
	})
	t.Run("a newer version replaces a subscription silently, an older or equal one is ignored", func(t *testing.T) {
		m, _ := setup()
		with := func(version int64, expression string) *beat {
			b := newBeat("a").consumer("G", "T")
			s := &b.ConsumerDataSet[0].SubscriptionDataSet[0]
			s.SubVersion, s.SubString = version, expression
			return b
		}
		beatIn(m, a, with(5, "five"))
		changes := beatIn(m, a, with(6, "six"))
		require.Empty(t, told(changes))
		require.True(t, changes[0].subscribed)
		require.Equal(t, "six", m.subscription("G", "T", false).SubString)
		require.Empty(t, beatIn(m, a, with(6, "equal")))
		require.Empty(t, beatIn(m, a, with(4, "older")))
		require.Equal(t, "six", m.subscription("G", "T", false).SubString)
	})
	t.Run("the last heartbeat wins", func(t *testing.T) {
		m, _ := setup()
		beatIn(m, a, newBeat("a").consumer("G", "T"))
		other := newBeat("b").consumer("G", "T").model(protocol.Broadcasting)
		other.ConsumerDataSet[0].ConsumeType = protocol.ConsumePop
		other.ConsumerDataSet[0].ConsumeFromWhere = protocol.ConsumeFromTimestamp
		beatIn(m, b, other)
		settings, ok := m.settings("G")
		require.True(t, ok)
		require.Equal(t, consumerSettings{protocol.ConsumePop, protocol.Broadcasting, protocol.ConsumeFromTimestamp}, settings)
	})
	t.Run("another client id on a known connection replaces the first", func(t *testing.T) {
		m, _ := setup()
		beatIn(m, a, newBeat("a").consumer("G", "T"))
		renamed := a
		renamed.id = "a2"
		require.Empty(t, told(beatIn(m, renamed, newBeat("a2").consumer("G", "T"))))
		_, ok := m.client("G", "a")
		require.False(t, ok)
		c, ok := m.client("G", "a2")
		require.True(t, ok)
		require.Equal(t, renamed, c)
		body, _ := m.idList("G")
		require.Equal(t, `{"consumerIdList":["a2"]}`, string(body))
	})
	t.Run("expiry cleans the topics and tells the others", func(t *testing.T) {
		m, clock := setup()
		beatIn(m, a, newBeat("a").consumer("G", "T").consumer("H", "T"))
		clock.advance(60 * time.Second)
		beatIn(m, b, newBeat("b").consumer("G", "T"))
		clock.advance(60 * time.Second)
		require.Empty(t, m.expire(120*time.Second, yes), "120 s are not too long")
		clock.advance(time.Millisecond)
		changes := m.expire(120*time.Second, yes)
		require.Equal(t, []string{"a", "a"}, leavers(changes))
		require.Equal(t, []string{"G"}, told(changes))
		require.Equal(t, []string{"G"}, m.groupsOf("T"))
		_, ok := m.idList("H")
		require.False(t, ok)
		clock.advance(60 * time.Second)
		m.expire(120*time.Second, yes)
		require.Empty(t, m.topics)
		require.Empty(t, m.roster.byPeer)
	})
	t.Run("who is heard of while the scan waits is not expired", func(t *testing.T) {
		m, clock := setup()
		beatIn(m, a, newBeat("a").consumer("G", "T"))
		beatIn(m, b, newBeat("b").consumer("G", "T"))
		clock.advance(121 * time.Second)
		changes := m.expire(120*time.Second, func() bool {
			beatIn(m, a, newBeat("a").consumer("G", "T"))
			return true
		})
		require.Equal(t, []string{"b"}, leavers(changes))
		clock.advance(121 * time.Second)
		require.Empty(t, m.expire(120*time.Second, func() bool { return false }))
	})
}

// The rows of the original's ConsumerManagerScannerTest, spec/broker.md §10.
func TestConsumerManagerScanner(t *testing.T) {
	for _, row := range []struct {
		name  string
		leave func(*consumerManager, *clientClock, client) []consumerChange
	}{
		{"close", func(m *consumerManager, _ *clientClock, c client) []consumerChange { return m.closed(c.peer) }},
		{"unregister", func(m *consumerManager, _ *clientClock, c client) []consumerChange {
			change, ok := m.unregister("G", c.peer, true)
			require.True(t, ok)
			return []consumerChange{change}
		}},
		{"expiry", func(m *consumerManager, clock *clientClock, _ client) []consumerChange {
			clock.advance(121 * time.Second)
			return m.expire(120*time.Second, yes)
		}},
	} {
		t.Run(row.name+" reports exactly one departure, of the client as it was registered", func(t *testing.T) {
			clock := &clientClock{}
			m := newConsumerManager(clock.elapsed)
			c := testClient("a")
			c.language, c.version = protocol.LanguageCPP, protocol.Version4_9_4
			beatIn(m, c, newBeat("a").consumer("G", "T"))
			changes := row.leave(m, clock, c)
			require.Len(t, changes, 1)
			require.Equal(t, "G", changes[0].group)
			require.Equal(t, &c, changes[0].left)
			require.True(t, changes[0].gone)
			require.Empty(t, m.closed(c.peer))
			_, ok := m.unregister("G", c.peer, true)
			require.False(t, ok)
			clock.advance(300 * time.Second)
			require.Empty(t, m.expire(120*time.Second, yes))
		})
	}
}

func TestOneClientIDIsOneMember(t *testing.T) {
	m := newConsumerManager((&clientClock{}).elapsed)
	first, second, other := testClient("b"), testClient("b"), testClient("a")
	for _, c := range []client{first, other, second} {
		require.Equal(t, []string{"G"}, told(beatIn(m, c, newBeat(c.id).consumer("G", "T"))), "each connection has to hear of it")
	}
	want := func(ids string, connection client) {
		t.Helper()
		body, ok := m.idList("G")
		require.True(t, ok)
		require.Equal(t, `{"consumerIdList":[`+ids+`]}`, string(body))
		c, ok := m.client("G", "b")
		require.Equal(t, connection.peer != nil, ok)
		require.Same(t, connection.peer, c.peer)
	}
	want(`"a","b"`, second)
	require.Len(t, m.clients("G"), 2)
	group, _ := m.group("G")
	require.Len(t, group.conns, 3, "203 shows connections")

	m.closed(second.peer)
	want(`"a","b"`, first)
	beatIn(m, second, newBeat("b").consumer("G", "T"))
	m.closed(first.peer)
	want(`"a","b"`, second)
	m.closed(second.peer)
	want(`"a"`, client{})
}

func TestConsumerListIsTheSameForAllUntilItChanges(t *testing.T) {
	m := newConsumerManager((&clientClock{}).elapsed)
	for _, id := range []string{"c", "a", "b"} {
		beatIn(m, testClient(id), newBeat(id).consumer("G", "T"))
	}
	list, _ := m.idList("G")
	require.Equal(t, `{"consumerIdList":["a","b","c"]}`, string(list))
	again, _ := m.idList("G")
	require.Same(t, &list[0], &again[0], "made once")
	last := testClient("aa")
	beatIn(m, last, newBeat("aa").consumer("G", "T"))
	list, _ = m.idList("G")
	require.Equal(t, `{"consumerIdList":["a","aa","b","c"]}`, string(list))
	m.closed(last.peer)
	list, _ = m.idList("G")
	require.Equal(t, `{"consumerIdList":["a","b","c"]}`, string(list))
}
