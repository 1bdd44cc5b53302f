package namesrv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

func TestN17RegistrationOnANewConnection(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", topics: topics("T", "U")}
	tt.register(b)
	old := *b
	b.conn = nil
	tt.register(b) // first register on 2, then close 1
	tt.close(&old)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("T"))
	tt.close(b)
	require.Equal(t, "none", tt.where("T"))
	b.conn = nil
	tt.register(b) // first close, then register
	tt.close(&old)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("T"))
}

func TestN17ManyRounds(t *testing.T) {
	tt := newTableTest(t)
	var brokers sync.WaitGroup
	for i := range 20 {
		brokers.Go(func() {
			name := string(rune('a' + i))
			b := &broker{name: name, addr: name, topics: topics("T", "T"+name)}
			r, body := b.request()
			for range 500 {
				old := r.conn
				next := *r
				next.conn = new(remoting.Peer)
				r = &next
				var ends sync.WaitGroup
				ends.Go(func() { tt.connectionClosed(old, false) })
				if rand.IntN(2) == 0 {
					ends.Wait()
				}
				if _, ok := tt.renew(r, []byte(name)); !ok {
					if _, err := tt.routeTable.register(r, body); err != nil {
						t.Error(err)
					}
				}
				ends.Wait()
				if tt.route("T"+name, routeQuery{}) == nil {
					t.Errorf("the end of an old connection took %s away", name)
					return
				}
			}
		})
	}
	brokers.Wait()
	tt.check()
}

func TestN18LateUnregisterOfTheOldMaster(t *testing.T) {
	tt := newTableTest(t)
	x := &broker{name: "a", addr: "X", topics: topics("T", "U")}
	tt.register(x)
	tt.register(&broker{name: "a", addr: "Y", version: version(1, 1, 1), topics: topics("T", "U")})
	tt.unregister(x)
	require.Equal(t, "a{0:Y} 8/8/6", tt.where("T"))
}

func TestN27HeartbeatOfAnUnknownBroker(t *testing.T) {
	tt := newTableTest(t)
	require.False(t, tt.heartbeat("C", "X"))
	require.Empty(t, tt.cluster())
	tt.register(&broker{name: "a", addr: "X", timeout: protocol.Some[int64](1000), topics: topics("T", "U")})
	require.False(t, tt.heartbeat("D", "X"))
	for range 5 {
		tt.now += time.Second
		require.True(t, tt.heartbeat("C", "X"))
	}
	for range 5 {
		tt.now += time.Second
		tt.queryDataVersion(queryHeader("C", "a", 0, "X"), nil)
	}
	require.Empty(t, tt.expire(settled, false))
}

func TestN36GoneAtOnce(t *testing.T) {
	tt := newTableTest(t)
	a := &broker{name: "a", addr: "X", topics: topics("T", "U")}
	b := &broker{name: "b", addr: "Y", timeout: protocol.Some[int64](3000), topics: topics("T", "V")}
	tt.register(a)
	tt.register(b)
	tt.close(a)
	require.Equal(t, []string{"T", "V"}, sorted(tt.allTopics()))
	tt.now = 3*time.Second + 1
	require.Len(t, tt.expire(settled, false), 1)
	require.Empty(t, tt.allTopics())
}

func TestN37EachUnregistrationStandsAlone(t *testing.T) {
	tt := newTableTest(t)
	for range 200 {
		a := &broker{name: "a", addr: "A", topics: topics("T", "TA")}
		b := &broker{name: "b", addr: "B", topics: topics("T", "TB")}
		c := &broker{name: "c", addr: "D", topics: topics("T", "TC")}
		tt.register(a)
		tt.register(b)
		tt.register(c)
		tt.unregister(a)
		tt.unregister(&broker{name: "b", addr: "nonsense"})
		tt.unregister(&broker{name: "ghost", addr: "A"})
		tt.unregister(c)
		require.Equal(t, "b{0:B} 8/8/6", tt.where("T"))
		require.Equal(t, []string{"T", "TB"}, sorted(tt.allTopics()))
	}
}

func TestF4BrokersOfOneConnection(t *testing.T) {
	tt := newTableTest(t)
	conn := newPeer()
	for _, name := range []string{"k1", "k2", "k3"} {
		tt.register(&broker{name: name, addr: name, conn: conn, topics: topics("T", "U")})
	}
	tt.register(&broker{name: "k2", addr: "k2", topics: topics("T", "U")}) // has moved on
	addrs, _ := tt.connectionClosed(conn, false)
	tt.check()
	require.Equal(t, []string{"k1", "k3"}, sorted(addrs))
	require.Equal(t, "k2{0:k2} 8/8/6", tt.where("T"))
}

func TestExpiryOfOneBrokerOfAConnection(t *testing.T) {
	tt := newTableTest(t)
	conn := newPeer()
	tt.register(&broker{name: "k1", addr: "X", conn: conn, timeout: protocol.Some[int64](1000), topics: topics("T", "U")})
	tt.register(&broker{name: "k2", addr: "Y", conn: conn, topics: topics("T", "U")})
	tt.now = 2 * time.Second
	gone := tt.expire(settled, false)
	require.Len(t, gone, 1)
	require.Nil(t, gone[0].conn, "the other one still lives on it")
	require.Equal(t, "k2{0:Y} 8/8/6", tt.where("T"))
	tt.now = time.Hour
	gone = tt.expire(settled, false)
	require.Len(t, gone, 1)
	require.Same(t, conn, gone[0].conn)
	tt.check()
}

func TestF31Timeouts(t *testing.T) {
	tt := newTableTest(t)
	for name, millis := range map[string]int64{"zero": 0, "negative": math.MinInt64, "huge": math.MaxInt64, "long": 9e18} {
		tt.register(&broker{name: name, addr: name, timeout: protocol.Some(millis), topics: topics("T", "U")})
	}
	tt.now = time.Millisecond
	require.Len(t, tt.expire(settled, false), 2)
	require.Equal(t, "C[huge long]", tt.cluster())
	tt.now = 99 * 365 * 24 * time.Hour
	require.Empty(t, tt.expire(settled, false))
	require.True(t, tt.heartbeat("C", "huge"))
	tt.now = math.MaxInt64
	require.Len(t, tt.expire(settled, false), 2, "no overflow")
}

func TestExpiryLetsWaitingSignsOfLifeCount(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", topics: topics("T", "U")})
	tt.register(&broker{name: "b", addr: "Y", topics: topics("T", "U")})
	tt.now = time.Hour // the process was stopped, say
	require.Empty(t, tt.expire(func() bool { return false }, false), "the server ends")
	gone := tt.expire(func() bool { return tt.heartbeat("C", "X") }, false)
	require.Len(t, gone, 1)
	require.Equal(t, "Y", gone[0].brokerAddr)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("T"))
}

func TestUnregisterWithFieldsThatDoNotFit(t *testing.T) { // golden transcript leave-unregister-odd
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", topics: topics("T", "U")})
	tt.register(&broker{name: "a", id: 1, addr: "Y", topics: topics("T", "U")})
	before := tt.snapshot()
	tt.unregister(&broker{name: "a", addr: "nobody's"})
	tt.unregister(&broker{name: "nobody", addr: "X"})
	require.Equal(t, before, tt.snapshot())
	tt.unregister(&broker{name: "a", id: 1, addr: "X"}) // the address counts
	require.Equal(t, "1:Y", tt.members("a"))
}

func TestNoticesOfTheLowestLeaving(t *testing.T) {
	tt := newTableTest(t)
	at := func(id int64, addr string) *broker {
		b := &broker{name: "a", id: id, addr: addr, acting: actingOn, notify: true, timeout: protocol.Some[int64](1000), topics: topics("T", "U")}
		tt.register(b)
		return b
	}
	left := func(addr string, id int64, lowest string, to ...string) []notice {
		return []notice{{targets: to, header: protocol.NotifyMinBrokerIDChangeRequestHeader{
			MinBrokerID: protocol.Some(id), MinBrokerAddr: protocol.Some(lowest), OfflineBrokerAddr: protocol.Some(addr),
		}}}
	}
	x, y, z := at(0, "X"), at(1, "Y"), at(2, "Z")
	w := at(3, "W")
	require.Empty(t, tt.close(z), "not the lowest")
	require.Equal(t, left("X", 1, "Y", "Y", "W"), tt.close(x))
	tt.now = 500 * time.Millisecond
	tt.heartbeat("C", "W")
	tt.now = 1200 * time.Millisecond
	gone := tt.expire(settled, true)
	require.Len(t, gone, 1)
	require.Equal(t, y.addr, gone[0].brokerAddr)
	require.Equal(t, left("Y", 3, "W", "W"), gone[0].notices)
	notices, found := tt.routeTable.unregister("a", w.addr, true)
	require.True(t, found)
	require.Empty(t, notices, "nobody is left")

	x.acting, y.acting = actingOff, actingOff
	tt.register(x)
	tt.register(y)
	require.Empty(t, tt.close(x), "no acting master")
}

// The work is linear in the number of brokers, whose leaving nobody else can wait for for long.
func TestLossOfAConnectionWithManyBrokers(t *testing.T) {
	lose := func(n int) time.Duration {
		fastest := time.Hour
		for range 3 {
			table := newRouteTable(func() time.Duration { return 0 }, 0)
			conn := newPeer()
			for i := range n {
				r, body := (&broker{cluster: fmt.Sprint("C", i/100), name: fmt.Sprint("b", i), addr: fmt.Sprint("b", i), conn: conn}).request()
				_, err := table.register(r, body)
				require.NoError(t, err)
			}
			began := time.Now()
			addrs, _ := table.connectionClosed(conn, false)
			fastest = min(fastest, time.Since(began))
			require.Len(t, addrs, n)
			require.Empty(t, table.groups)
		}
		return fastest
	}
	few, many := lose(1000), lose(16_000)
	// In proportion would be 16 times as long, caches and the race detector aside; by the square 256 times.
	require.Less(t, many, 128*max(few, time.Millisecond), "16 times the brokers took %v, not %v", many, few)
}

// A sign of life that comes while the broker's removal waits for readers saves it: its sender is told of success.
func TestHeartbeatOvertakesExpiry(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", topics: topics("T", "U")})
	tt.now = defaultBrokerTimeout + time.Second
	tt.mu.RLock() // as the heartbeat does
	gone := make(chan []departure)
	go func() { gone <- tt.routeTable.expire(settled, false) }()
	for deadline := time.Now().Add(10 * time.Second); tt.mu.TryRLock(); {
		tt.mu.RUnlock()
		require.True(t, time.Now().Before(deadline), "nobody wants to remove the broker")
		runtime.Gosched()
	}
	tt.byAddr[brokerKey{"C", "X"}].seen.Store(int64(tt.now))
	tt.mu.RUnlock()
	require.Empty(t, <-gone)
	require.True(t, tt.heartbeat("C", "X"))
}
