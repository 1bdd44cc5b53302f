package namesrv_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/protocol"
)

// Field reports about registrations, topics and the life of routes, over real connections: spec/field-reports.md,
// sections C to E. Those that need no connection are in the tests of the route table.

// A registration survives the end of the connection that carried the one before it.
func TestN17(t *testing.T) {
	t.Parallel()
	const brokers, rounds = 20, 500
	ns := startNamesrv(t)
	var g errgroup.Group
	for i := range brokers {
		look := ns.dial()
		b := testBroker{Name: fmt.Sprintf("b%d", i), Addr: fmt.Sprintf("127.0.0.1:%d", i+1)}
		last := ns.startBroker(b)
		g.Go(func() error {
			random := rand.New(rand.NewPCG(17, uint64(i)))
			for round := range rounds {
				pause := time.Duration(random.Int64N(int64(5 * time.Millisecond)))
				next, err := ns.tryDial()
				if err != nil {
					return err
				}
				// Half of the rounds close first, the others register first.
				if round%2 == 0 {
					last.close()
					time.Sleep(pause)
				}
				answer, err := next.try(protocol.ReqRegisterBroker, b.ext(), b.body())
				if err != nil || answer.Code != 0 {
					return fmt.Errorf("%s: register: %v %v", b.Name, answer, err)
				}
				if round%2 == 1 {
					time.Sleep(pause)
					last.close()
				}
				for range 3 {
					if err := look.isServed(b.Name+"-1", b.Name); err != nil {
						return fmt.Errorf("round %d: %w", round, err)
					}
				}
				last = next
			}
			time.Sleep(200 * time.Millisecond) // for ends of connections that come late
			defer last.close()
			return look.isServed(b.Name+"-1", b.Name)
		})
	}
	require.NoError(t, g.Wait())
	eventually(t, func() error {
		if topics := ns.topics(); len(topics) > 0 {
			return fmt.Errorf("%v", topics)
		}
		return nil
	})
	ns.consistent()
}

// tryDial is dial for other goroutines than the test's.
func (ns *nameServer) tryDial() (*client, error) {
	conn, err := net.Dial("tcp", ns.Addr)
	if err != nil {
		return nil, err
	}
	ns.t.Cleanup(func() { conn.Close() })
	return newClient(ns.t, conn), nil
}

func TestN21(t *testing.T) {
	t.Parallel()
	ns := startNamesrv(t, "scanNotActiveBrokerInterval=50")
	short := ext("heartbeatTimeoutMillis", "1000")
	x := ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1", Topics: named("T", "U"), More: short})
	y := ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:2", Topics: named("T", "U")})
	onlyY := func() error {
		r, err := ns.Admin().tryRoute("T")
		if err != nil {
			return err
		}
		if got := r.addrs("a"); !maps.Equal(got, map[string]string{"0": "127.0.0.1:2"}) {
			return fmt.Errorf("addresses %v", got)
		}
		return nil
	}
	throughout(t, 300*time.Millisecond, onlyY)
	x.close()
	throughout(t, 1500*time.Millisecond, onlyY) // past the expiry of X
	ns.consistent()
	y.close()
	eventually(t, func() error { return ns.Admin().isServed("T") })
}

func TestN22(t *testing.T) {
	ns := startNamesrv(t)
	c := ns.startBroker(testBroker{Name: "old", Addr: "127.0.0.1:1"})
	c.register(testBroker{Name: "new", Addr: "127.0.0.1:1"})
	ns.consistent()
	require.NoError(t, ns.Admin().isServed("new-1", "new"))
	require.NoError(t, ns.Admin().isServed("old-1"), "the address has another name now")
	c.close()
	eventually(t, func() error {
		if info, topics := ns.clusters(), ns.topics(); len(info.BrokerAddrTable)+len(info.ClusterAddrTable)+len(topics) > 0 {
			return fmt.Errorf("%v %v", info, topics)
		}
		return nil
	})
}

func TestN23(t *testing.T) {
	ns := startNamesrv(t)
	x := ns.startBroker(testBroker{Cluster: "C1", Name: "broker-a", Addr: "127.0.0.1:1", Topics: named("T", "U")})
	before := ns.snapshot()
	y := ns.dial()
	second := testBroker{Cluster: "C2", Name: "broker-a", Addr: "127.0.0.1:2", Topics: named("T", "V")}
	y.refused(protocol.RespSystemError, protocol.ReqRegisterBroker, second.ext(), second.body(), "broker-a", "C1")
	check := func() {
		t.Helper()
		require.Equal(t, before, ns.snapshot())
		require.Equal(t, map[string]string{"0": "127.0.0.1:1"}, ns.route("T").addrs("broker-a"))
		require.Equal(t, `{"topicList":[]}`, string(ns.Admin().must(protocol.ReqGetTopicsByCluster, ext("cluster", "C2"), "").Body))
		require.Contains(t, string(ns.Admin().must(protocol.ReqGetTopicsByCluster, ext("cluster", "C1"), "").Body), `"T"`)
		ns.consistent()
	}
	check()
	y.close()
	check()
	x.close()
	eventually(t, func() error { return ns.Admin().isServed("T") })
	require.Empty(t, ns.clusters().ClusterAddrTable)

	ns.startBroker(second) // the name is free now
	require.Equal(t, map[string][]string{"C2": {"broker-a"}}, ns.clusters().ClusterAddrTable)
}

func TestN25(t *testing.T) {
	t.Parallel()
	ns := startNamesrv(t, "scanNotActiveBrokerInterval=20")
	ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1"})
	require.False(t, ns.route("a-1").BrokerDatas[0].EnableActingMaster)
	throughout(t, 500*time.Millisecond, func() error { return ns.Admin().isServed("a-1", "a") })
}

func TestN26(t *testing.T) {
	ns := startNamesrv(t)
	b := testBroker{Name: "a", Addr: "127.0.0.1:1", ID: 1}
	c := ns.startBroker(b)
	const stored = `{"counter":1,"stateVersion":0,"timestamp":1}`
	for _, tt := range []struct {
		name       string
		key, value string
		version    string
		changed    string
		stored     string
	}{
		{"the same", "brokerId", "1", stored, "false", stored},
		{"another version", "brokerId", "1", `{"counter":2,"stateVersion":0,"timestamp":1}`, "true", stored},
		{"no version", "brokerId", "1", "", "true", stored},
		{"another id", "brokerId", "0", stored, "true", stored},
		{"another name", "brokerName", "b", stored, "true", stored},
		{"another cluster", "clusterName", "D", stored, "true", ""},
		{"unknown address", "brokerAddr", "127.0.0.1:2", stored, "true", ""},
	} {
		answer := c.must(protocol.ReqQueryDataVersion, with(b.ext(), tt.key, tt.value), tt.version)
		changed, _ := answer.Ext.Get("changed")
		require.Equal(t, tt.changed, changed, tt.name)
		require.Equal(t, tt.stored, string(answer.Body), tt.name)
	}
}

// A heartbeat of an unknown broker is answered with success, as in the original, and leaves no ghost.
func TestN27(t *testing.T) {
	ns := startNamesrv(t)
	b := testBroker{Name: "a", Addr: "127.0.0.1:1"}
	before := ns.snapshot()
	c := ns.dial()
	for range 10 {
		c.must(protocol.ReqBrokerHeartbeat, b.ext(), "")
	}
	require.Equal(t, before, ns.snapshot())
	require.Contains(t, ns.Log.String(), "heartbeat of an unknown broker")
	answer := c.must(protocol.ReqQueryDataVersion, b.ext(), `{"counter":1,"stateVersion":0,"timestamp":1}`)
	changed, _ := answer.Ext.Get("changed")
	require.Equal(t, "true", changed, "asking for its version tells a broker that it is unknown")
}

func TestN30(t *testing.T) {
	ns := startNamesrv(t)
	b := testBroker{Name: "a", Addr: "127.0.0.1:1"}
	first, second := b, b
	first.Topics, second.Topics = numbered("x", 800), numbered("y", 800)
	c := ns.dial()
	c.register(first)
	c.register(second)
	require.Len(t, ns.topics(), 1600)
	require.NoError(t, ns.Admin().isServed("x799", "a"))
	require.NoError(t, ns.Admin().isServed("y0", "a"))

	c.must(protocol.ReqWipeWritePermOfBroker, ext("brokerName", "a"), "")
	second.Topics = numbered("y", 800)
	second.Topics[100].Queues = 8
	c.register(first)
	c.register(second)
	r := ns.route("y100")
	require.Equal(t, 8, r.queues("a"))
	require.Equal(t, 4, r.QueueDatas[0].Perm, "the wipe holds")
	require.Len(t, ns.topics(), 1600)
}

func TestN35(t *testing.T) {
	ns := startNamesrv(t)
	b := testBroker{Name: "a", Addr: "127.0.0.1:1", Topics: named("T", "U")}
	c := ns.startBroker(b)
	c.must(protocol.ReqDeleteTopicInNamesrv, ext("topic", "T"), "")
	require.NoError(t, ns.Admin().isServed("T"))
	c.register(b)
	require.NoError(t, ns.Admin().isServed("T", "a"), "the broker owns the truth")

	b.Topics, b.Count = named("U", "V"), 2
	c.register(b)
	c.must(protocol.ReqDeleteTopicInNamesrv, ext("topic", "T"), "")
	c.register(b)
	require.NoError(t, ns.Admin().isServed("T"))
	require.NoError(t, ns.Admin().isServed("V", "a"))
}

// Brokers leave with their connections, however those end, and at the latest when they have been silent for too long.
func TestN36(t *testing.T) {
	t.Parallel()
	ns := startNamesrv(t, "scanNotActiveBrokerInterval=100")
	goneWithin := func(d time.Duration, topic string, began time.Time) {
		t.Helper()
		eventually(t, func() error { return ns.Admin().isServed(topic) })
		require.NotContains(t, ns.topics(), topic)
		require.Less(t, time.Since(began), d)
	}
	closes := ns.startBroker(testBroker{Name: "closes", Addr: "127.0.0.1:1"})
	resets := ns.startBroker(testBroker{Name: "resets", Addr: "127.0.0.1:2"})
	leaves := ns.startBroker(testBroker{Name: "leaves", Addr: "127.0.0.1:3"})
	silent := ns.startBroker(testBroker{Name: "silent", Addr: "127.0.0.1:4", More: ext("heartbeatTimeoutMillis", "1000")})
	began := time.Now()
	closes.close()
	goneWithin(2*time.Second, "closes-1", began)

	began = time.Now()
	require.NoError(t, resets.conn.(*net.TCPConn).SetLinger(0))
	resets.close()
	goneWithin(2*time.Second, "resets-1", began)

	leaves.unregister(testBroker{Name: "leaves", Addr: "127.0.0.1:3"})
	require.NoError(t, ns.Admin().isServed("leaves-1"), "104 is done when it is answered")

	silent.closed() // by the scan
	require.NoError(t, ns.Admin().isServed("silent-1"))
	ns.consistent()
	require.Empty(t, ns.topics())
}

// Signs of life of every kind keep a broker alive, on its own connection or another.
func TestBrokerLives(t *testing.T) {
	t.Parallel()
	ns := startNamesrv(t, "scanNotActiveBrokerInterval=50")
	short := ext("heartbeatTimeoutMillis", "600")
	beat, query, again := testBroker{Name: "beat", Addr: "127.0.0.1:1", More: short},
		testBroker{Name: "query", Addr: "127.0.0.1:2", More: short},
		testBroker{Name: "again", Addr: "127.0.0.1:3", More: short}
	for _, b := range []testBroker{beat, query, again} {
		ns.startBroker(b)
	}
	other := ns.dial()
	throughout(t, 2*time.Second, func() error {
		other.must(protocol.ReqBrokerHeartbeat, beat.ext(), "")
		other.must(protocol.ReqQueryDataVersion, query.ext(), "")
		other.register(again)
		for _, b := range []testBroker{beat, query, again} {
			if err := ns.Admin().isServed(b.Name+"-1", b.Name); err != nil {
				return err
			}
		}
		return nil
	})
	other.close() // it carried the last registration of one
	eventually(t, func() error { return ns.Admin().isServed("again-1") })
}

func TestN37(t *testing.T) {
	ns := startNamesrv(t)
	c := ns.dial()
	unregister := func(b testBroker) *protocol.Command {
		return c.request(protocol.ReqUnregisterBroker, without(b.ext(), "haServerAddr"), "")
	}
	a, b, k := testBroker{Name: "a", Addr: "127.0.0.1:1"}, testBroker{Name: "b", Addr: "127.0.0.1:2"}, testBroker{Name: "c", Addr: "127.0.0.1:3"}
	for range 200 {
		ca, cb, cc := ns.startBroker(a), ns.startBroker(b), ns.startBroker(k)
		bad := unregister(b)
		bad.Ext = without(bad.Ext, "brokerId")
		c.send(unregister(a), bad, unregister(testBroker{Name: "ghost", Addr: "127.0.0.1:4"}), unregister(k))
		refused := 0
		for range 4 {
			answer, err := c.receive()
			require.NoError(t, err)
			if answer.Code != 0 {
				require.Equal(t, bad.Opaque, answer.Opaque)
				refused++
			}
		}
		require.Equal(t, 1, refused)
		require.Equal(t, []string{"b-1", "b-2"}, ns.topics())
		ns.consistent()
		ca.close()
		cb.close()
		cc.close()
		eventually(t, func() error { return ns.Admin().isServed("b-1") })
	}
}

func TestN38(t *testing.T) {
	for _, withBroker := range []bool{false, true} {
		t.Run(fmt.Sprintf("broker=%t", withBroker), func(t *testing.T) {
			t.Parallel()
			ns := startNamesrv(t, "needWaitForService=true", "waitSecondsForService=2")
			began := time.Now()
			if withBroker {
				ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1"}) // taken from the start
			}
			eventually(t, func() error {
				known := ns.Admin().ask(protocol.ReqGetRouteInfoByTopic, ext("topic", "a-1"), "")
				unknown := ns.Admin().ask(protocol.ReqGetRouteInfoByTopic, ext("topic", "b"), "")
				if known.Code == int32(protocol.RespSystemError) {
					require.Less(t, time.Since(began), 4*time.Second)
					require.Equal(t, "name server not ready", known.Remark)
					return errors.New(known.Remark)
				}
				require.GreaterOrEqual(t, time.Since(began), 1900*time.Millisecond)
				if withBroker {
					require.Zero(t, known.Code)
				} else {
					require.Equal(t, int32(protocol.RespTopicNotExist), known.Code)
				}
				require.Contains(t, []int32{1, 17}, unknown.Code) // asked a moment later
				return nil
			})
		})
	}
}

// Until its last connection is closed a server that stops gives right answers, or none, or "not ready".
func TestN39(t *testing.T) {
	const clients = 50
	for _, graceful := range []bool{false, true} {
		t.Run(fmt.Sprintf("graceful=%t", graceful), func(t *testing.T) {
			ns := startNamesrv(t, fmt.Sprintf("enableShutdownGracefully=%t", graceful), "shutdownWaitTimeSeconds=1")
			for i := range 10 {
				b := ns.startBroker(testBroker{Name: fmt.Sprintf("b%d", i), Addr: fmt.Sprintf("127.0.0.1:%d", i+1), Topics: named("T", fmt.Sprintf("t%d", i))})
				_ = b
			}
			var g errgroup.Group
			asked := make(chan struct{}, clients)
			for i := range clients {
				c := ns.dial()
				if i%2 == 0 {
					c.version = protocol.Version4_9_4 // knows no GO_AWAY
				}
				g.Go(func() error {
					for n := 0; ; n++ {
						if n == 10 {
							asked <- struct{}{}
						}
						answer, err := c.try(protocol.ReqGetRouteInfoByTopic, ext("topic", "T"), "")
						if err != nil {
							return nil // closed
						}
						switch answer.Code {
						case int32(protocol.RespSuccess):
							if n := strings.Count(string(answer.Body), `"brokerAddrs":{"0"`); n != 10 {
								return fmt.Errorf("a route of %d brokers: %s", n, answer.Body)
							}
						case int32(protocol.RespGoAway):
							if !graceful || i%2 == 0 {
								return fmt.Errorf("told to go away")
							}
							return nil
						case int32(protocol.RespSystemError):
							if answer.Remark != "name server not ready" {
								return fmt.Errorf("%d %s", answer.Code, answer.Remark)
							}
						default:
							return fmt.Errorf("%d %s", answer.Code, answer.Remark)
						}
					}
				})
			}
			for range clients {
				<-asked
			}
			began := time.Now()
			ns.stop()
			require.Less(t, time.Since(began), 5*time.Second)
			require.NoError(t, g.Wait())
			l, err := net.Listen("tcp", ns.Addr)
			require.NoError(t, err, "the port is not free")
			l.Close()
		})
	}
}

func TestN40(t *testing.T) {
	ns := startNamesrv(t)
	before := len(ns.Log.String())
	for range 300 {
		for _, fields := range []protocol.Ext{ext("cluster", "unknown"), ext("cluster", ""), nil} {
			require.Equal(t, `{"topicList":[]}`, string(ns.Admin().must(protocol.ReqGetTopicsByCluster, fields, "").Body))
		}
	}
	require.Less(t, len(ns.Log.String())-before, 1000)
}

// Whoever looks while brokers come and go sees whole states only.
func TestN41(t *testing.T) {
	t.Parallel()
	const brokers, readers = 20, 4
	ns := startNamesrv(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	for i := range brokers {
		b := testBroker{Cluster: fmt.Sprintf("C%d", i%3), Name: fmt.Sprintf("b%d", i), Addr: fmt.Sprintf("127.0.0.1:%d", i+1), Topics: named("T", fmt.Sprintf("t%d", i))}
		c := ns.dial()
		g.Go(func() error {
			for ctx.Err() == nil {
				if answer, err := c.try(protocol.ReqRegisterBroker, b.ext(), b.body()); err != nil || answer.Code != 0 {
					return fmt.Errorf("register: %v %v", answer, err)
				}
				if answer, err := c.try(protocol.ReqUnregisterBroker, b.ext(), ""); err != nil || answer.Code != 0 {
					return fmt.Errorf("unregister: %v %v", answer, err)
				}
			}
			return nil
		})
	}
	for range readers {
		c := ns.dial()
		g.Go(func() error {
			for ctx.Err() == nil {
				if err := c.looksWhole(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
}

// looksWhole reads 106, 206, 224 and a route and says what is wrong with them.
func (c *client) looksWhole() error {
	answer, err := c.try(protocol.ReqGetBrokerClusterInfo, ext("acceptStandardJsonOnly", "true"), "")
	if err != nil {
		return err
	}
	var info clusters
	if err := json.Unmarshal(answer.Body, &info); err != nil {
		return fmt.Errorf("%w: %s", err, answer.Body)
	}
	for cluster, names := range info.ClusterAddrTable {
		for _, name := range names {
			if b := info.BrokerAddrTable[name]; len(b.BrokerAddrs) == 0 || b.Cluster != cluster {
				return fmt.Errorf("%s in %s: %s", name, cluster, answer.Body)
			}
		}
	}
	if len(slices.Concat(slices.Collect(maps.Values(info.ClusterAddrTable))...)) != len(info.BrokerAddrTable) {
		return fmt.Errorf("a broker in no cluster: %s", answer.Body)
	}
	for _, request := range []struct {
		code   protocol.RequestCode
		fields protocol.Ext
	}{{protocol.ReqGetAllTopicListFromNameServer, nil}, {protocol.ReqGetTopicsByCluster, ext("cluster", "C1")}} {
		if answer, err = c.try(request.code, request.fields, ""); err != nil {
			return err
		}
		var list struct{ TopicList []string }
		if err := json.Unmarshal(answer.Body, &list); err != nil || list.TopicList == nil {
			return fmt.Errorf("%w: %s", err, answer.Body)
		}
	}
	if _, err := c.tryRoute("T"); err != nil && !errors.Is(err, errNoRoute) {
		return err
	}
	return nil
}

// When all have gone, nothing of them is left: invariant 6.
func TestNothingIsLeft(t *testing.T) {
	ns := startNamesrv(t)
	var wg sync.WaitGroup
	for i := range 50 {
		b := testBroker{Name: fmt.Sprintf("b%d", i), Addr: fmt.Sprintf("127.0.0.1:%d", i+1)}
		c := ns.startBroker(b)
		wg.Go(c.close)
	}
	wg.Wait()
	eventually(t, func() error {
		if info, topics := ns.clusters(), ns.topics(); len(info.BrokerAddrTable)+len(topics) > 0 {
			return fmt.Errorf("%v %v", info, topics)
		}
		return nil
	})
}
