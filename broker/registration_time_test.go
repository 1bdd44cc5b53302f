package broker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// The tests of this file run on the clock of package synctest. Their NameServers are functions.

// timedNamesrv is a NameServer that is reached without a socket.
type timedNamesrv struct {
	mu     sync.Mutex // guards what follows
	model  namesrvModel
	mode   string        // "": answers; "busy": with SYSTEM_BUSY; "dead": refuses connections; "silent": never answers
	delay  time.Duration // before an answer
	conns  []*timedConn  // open ones
	dialed []time.Time
	got    []gotRequest
}

func (n *timedNamesrv) set(mode string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mode = mode
}

func (n *timedNamesrv) known() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.model.known
}

func (n *timedNamesrv) version() protocol.DataVersion {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.model.version
}

func (n *timedNamesrv) topics() map[string]protocol.TopicConfig {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.model.topics)
}

func (n *timedNamesrv) requests() []gotRequest {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.got)
}

func (n *timedNamesrv) dials() []time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.dialed)
}

func (n *timedNamesrv) times(codes ...protocol.RequestCode) []time.Time {
	var at []time.Time
	for _, g := range n.requests() {
		if slices.Contains(codes, protocol.RequestCode(g.cmd.Code)) {
			at = append(at, g.at)
		}
	}
	return at
}

func (n *timedNamesrv) cut() {
	n.mu.Lock()
	conns := n.conns
	n.conns = nil
	n.model.forget()
	n.mu.Unlock()
	for _, c := range conns {
		c.cancel()
	}
}

type timedConn struct {
	namesrv *timedNamesrv
	ctx     context.Context
	cancel  context.CancelFunc
}

func (c *timedConn) Context() context.Context { return c.ctx }
func (c *timedConn) Retire()                  {}
func (c *timedConn) Close()                   { c.cancel() }
func (c *timedConn) Oneway(_ context.Context, cmd *protocol.Command) error {
	c.receive(cmd)
	return nil
}

func (c *timedConn) receive(cmd *protocol.Command) (mode string, delay time.Duration, resp *protocol.Command) {
	n := c.namesrv
	n.mu.Lock()
	defer n.mu.Unlock()
	n.got = append(n.got, gotRequest{time.Now(), *cmd})
	if n.mode == "busy" {
		return "", n.delay, failure(protocol.RespSystemBusy, "busy")
	}
	sent := *cmd
	sent.Version = protocol.CurrentVersion
	return n.mode, n.delay, n.model.answer(&sent)
}

func (c *timedConn) Invoke(ctx context.Context, cmd *protocol.Command) (*protocol.Command, error) {
	mode, delay, resp := c.receive(cmd)
	var answer <-chan time.Time
	if mode == "" {
		answer = time.After(delay)
	}
	select {
	case <-answer:
		return resp, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.ctx.Done():
		return nil, errors.New("closed")
	}
}

// timedWorld are NameServers by address.
type timedWorld map[string]*timedNamesrv

func newTimedWorld(addrs ...string) timedWorld {
	w := timedWorld{}
	for _, a := range addrs {
		w[a] = &timedNamesrv{}
	}
	return w
}

func (w timedWorld) connect(_ context.Context, addr string) (namesrvConn, error) {
	n := w[addr]
	if n == nil {
		return nil, errors.New("no route to host")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dialed = append(n.dialed, time.Now())
	if n.mode == "dead" {
		return nil, errors.New("connection refused")
	}
	c := &timedConn{namesrv: n}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	n.conns = append(n.conns, c)
	return c, nil
}

// pass lets d go by, and all that is due in it.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// seconds gives times in seconds after start, rounded.
func seconds(start time.Time, at []time.Time) []int {
	var s []int
	for _, t := range at {
		s = append(s, int(t.Sub(start).Round(time.Second)/time.Second))
	}
	return s
}

// runTimed runs a registrar in a synctest bubble; f ends the test.
func runTimed(t *testing.T, w timedWorld, list string, f func(t *testing.T, r *testRegistrar, start time.Time), options ...registrarOption) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newTestRegistrar(testSettings(list), newFakeTopics(20), append([]registrarOption{
			func(_ *testRegistrar, cfg *registrarConfig) { cfg.Connect = w.connect }}, options...)...)
		start := time.Now()
		r.start()
		defer func() { r.stop() }()
		synctest.Wait()
		f(t, r, start)
	})
}

// At start, 10 s later, then every period.
func TestRegistrationPeriod(t *testing.T) {
	w := newTimedWorld("127.0.0.1:1")
	runTimed(t, w, "127.0.0.1:1", func(t *testing.T, r *testRegistrar, start time.Time) {
		pass(101 * time.Second)
		require.Equal(t, []int{0, 10, 40, 70, 100}, seconds(start, w["127.0.0.1:1"].times(reqRegister)))
		r.change(func(s *registrarSettings) { s.ForceRegister = false })
		pass(60 * time.Second)
		require.Equal(t, []int{130, 160}, seconds(start, w["127.0.0.1:1"].times(reqQuery)))
		require.Len(t, w["127.0.0.1:1"].times(reqRegister), 5)
		require.Len(t, r.log.with(), 1)
	})
}

// Changes within a short time are merged; while they come, the full list comes every other period only.
func TestChangesMerge(t *testing.T) {
	w := newTimedWorld("127.0.0.1:1")
	runTimed(t, w, "127.0.0.1:1", func(t *testing.T, r *testRegistrar, start time.Time) {
		n := w["127.0.0.1:1"]
		pass(11 * time.Second) // registered at 0 and 10
		for i := range 4000 {
			r.topics.put(plainTopic(fmt.Sprintf("created-%04d", i), 4))
			r.topicsChanged(nil)
			synctest.Wait()
			if i == 0 {
				require.True(t, n.topics()["created-0000"].Perm == 6, "the first goes at once")
			}
			pass(25 * time.Millisecond)
		}
		pass(time.Second)
		require.Len(t, n.topics(), 4020)
		messages, full := 0, []time.Time{}
		for _, g := range n.requests()[2:] {
			body, err := protocol.DecodeRegisterBrokerBody(g.cmd.Body, protocol.RegisterBodyOptions{Version: protocol.CurrentVersion})
			require.NoError(t, err)
			if len(body.Topics) > 20 {
				full = append(full, g.at)
			} else {
				messages++
				require.LessOrEqual(t, len(body.Topics), 9)
			}
		}
		require.InDelta(t, 100*5, messages, 15) // 100 s, five per second
		require.Equal(t, []int{70}, seconds(start, full))
	})
}

// N54: over three minutes, with dead, silent and slow NameServers beside it, the good one is served on time.
func TestN54ThreeMinutes(t *testing.T) {
	w := newTimedWorld("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4")
	w["127.0.0.1:1"].mode, w["127.0.0.1:2"].mode, w["127.0.0.1:3"].delay = "dead", "silent", 20*time.Second
	runTimed(t, w, "127.0.0.1:1;127.0.0.1:2;127.0.0.1:3;127.0.0.1:4", func(t *testing.T, r *testRegistrar, start time.Time) {
		pass(time.Second)
		require.Len(t, w["127.0.0.1:4"].times(reqRegister), 1)
		pass(3 * time.Minute)
		at := w["127.0.0.1:4"].times(reqRegister)
		require.Equal(t, []int{0, 10, 40, 70, 100, 130, 160}, seconds(start, at))
		require.Equal(t, []int{0, 30, 80, 130, 180}, seconds(start, w["127.0.0.1:3"].times(reqRegister)), "each takes 20 s")

		dialed := w["127.0.0.1:1"].dials()
		require.Greater(t, len(dialed), 35)
		require.Less(t, len(dialed), 70)
		for i := range dialed[1:] {
			require.LessOrEqual(t, dialed[i+1].Sub(dialed[i]), maxBackoff+maxBackoff/4)
		}
		require.InDelta(t, 181/26, len(w["127.0.0.1:2"].dials()), 2)
		require.Len(t, r.log.with("cannot be reached"), 2, "a line per change of state")
		require.Len(t, r.log.with(), 4)

		w["127.0.0.1:1"].set("")
		pass(maxBackoff + maxBackoff/4)
		require.Len(t, w["127.0.0.1:1"].times(reqRegister), 1)
		require.Len(t, r.log.with(), 5)
	})
}

// The shutdown is over after 3 s although a NameServer is silent, and those that answer are told at once.
func TestUnregisterDeadline(t *testing.T) {
	w := newTimedWorld("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4")
	w["127.0.0.1:1"].mode = "dead"
	runTimed(t, w, "127.0.0.1:1;127.0.0.1:2;127.0.0.1:3;127.0.0.1:4", func(t *testing.T, r *testRegistrar, _ time.Time) {
		pass(5 * time.Second)
		w["127.0.0.1:2"].set("silent")
		w["127.0.0.1:3"].set("silent")
		began := time.Now()
		r.stop()
		require.Zero(t, time.Since(began))
		r.unregisterAll(context.Background())
		require.Equal(t, 3*time.Second, time.Since(began))
		for _, addr := range []string{"127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4"} {
			require.Equal(t, []int{0}, seconds(began, w[addr].times(reqUnregister)))
			require.Error(t, w[addr].conns[0].ctx.Err(), "closed") // nothing runs any more
		}
		r.unregisterAll(context.Background()) // does nothing more
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

// Nobody waits for the farewell of a NameServer that is known to be silent, which is sent all the same, with the zone.
func TestUnregisterFromSilent(t *testing.T) {
	const addr = "127.0.0.1:1"
	second := time.Second
	for _, row := range []struct {
		name string
		mode string                                  // at the start
		do   func(n *timedNamesrv, r *testRegistrar) // up to the end
		want time.Duration
		gone bool // there is no connection any more, hence nobody to tell
	}{
		{"answers", "", func(*timedNamesrv, *testRegistrar) { pass(5 * second) }, 0, false},
		{"never answered", "silent", func(*timedNamesrv, *testRegistrar) { pass(5 * second) }, writeTimeout, false},
		{"first registration under way", "silent", func(*timedNamesrv, *testRegistrar) { pass(300 * time.Millisecond) }, presumedSilent - 300*time.Millisecond, false},
		{"silent over the second connection, too", "silent", func(n *timedNamesrv, _ *testRegistrar) {
			for len(n.dials()) < 2 {
				pass(100 * time.Millisecond)
			}
			require.Len(t, n.times(reqRegister), 2)
		}, writeTimeout, false},
		{"waits to be connected with again", "silent", func(*timedNamesrv, *testRegistrar) { pass(24*second + 10*time.Millisecond) }, 0, true},
		{"fell silent in the second registration", "", func(n *timedNamesrv, _ *testRegistrar) {
			pass(5 * second)
			n.set("silent")
			pass(10 * second)
		}, writeTimeout, false},
		{"fell silent unnoticed", "", func(n *timedNamesrv, _ *testRegistrar) {
			pass(5 * second)
			n.set("silent")
		}, shortTimeout, false},
		{"answers again", "silent", func(n *timedNamesrv, _ *testRegistrar) {
			pass(20 * second)
			n.set("")
			pass(10 * second)
			require.True(t, n.known())
			n.set("silent")
		}, shortTimeout, false},
		{"cut the connection instead of answering", "", func(n *timedNamesrv, r *testRegistrar) {
			pass(5 * second)
			n.set("silent")
			r.registerSoon(true)
			pass(2 * second)
			n.set("")
			n.cut()
			pass(second)
			require.True(t, n.known())
		}, 0, false},
		{"slow", "", func(n *timedNamesrv, _ *testRegistrar) {
			pass(5 * second)
			n.mu.Lock()
			n.delay = 20 * second
			n.mu.Unlock()
			pass(10 * second)
		}, writeTimeout, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newTimedWorld(addr)
			n := w[addr]
			n.mode = row.mode
			runTimed(t, w, addr, func(t *testing.T, r *testRegistrar, _ time.Time) {
				r.change(func(s *registrarSettings) { s.ZoneName = "z1" })
				row.do(n, r)
				began := time.Now()
				r.stop()
				r.unregisterAll(context.Background())
				require.Equal(t, row.want, time.Since(began))
				if row.gone {
					require.Empty(t, n.times(reqUnregister))
					return
				}
				require.Equal(t, []int{0}, seconds(began, n.times(reqUnregister)))
				got := n.requests()
				last := got[len(got)-1].cmd
				require.Equal(t, int32(reqUnregister), last.Code, "nothing follows")
				require.Equal(t, "z1", extField(&last, "__ZONE_NAME"))
				require.Equal(t, "broker-a", extField(&last, "brokerName"))
				require.Equal(t, "127.0.0.1:20911", extField(&last, "brokerAddr"))
				require.Equal(t, "GoldenCluster", extField(&last, "clusterName"))
				require.Equal(t, "0", extField(&last, "brokerId"))
			})
		})
	}
}

// extField returns an extension field, "" if it is absent.
func extField(cmd *protocol.Command, key string) string {
	value, _ := cmd.Ext.Get(key)
	return value
}

// A NameServer that cuts the connection over and over is not flooded with registrations.
func TestConnectionCutOverAndOver(t *testing.T) {
	w := newTimedWorld("127.0.0.1:1")
	runTimed(t, w, "127.0.0.1:1", func(t *testing.T, r *testRegistrar, start time.Time) {
		n := w["127.0.0.1:1"]
		for time.Since(start) < time.Minute {
			pass(10 * time.Millisecond)
			n.cut()
		}
		require.Less(t, len(n.times(reqRegister)), 30)
		pass(10 * time.Second)
		require.True(t, n.known())
		pass(30 * time.Second)
		cut := time.Now()
		n.cut()
		pass(time.Second)
		require.True(t, n.known(), "after a while it is quick again")
		require.Zero(t, seconds(cut, n.times(reqRegister))[len(n.times(reqRegister))-1])
	})
}

// fakeResolver resolves names from a table; a name that is not in there fails, one with a nil entry hangs.
type fakeResolver struct {
	mu    sync.Mutex
	names map[string][]string
}

func (f *fakeResolver) set(name string, addrs ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names[name] = addrs
}

func (f *fakeResolver) LookupHost(ctx context.Context, host string) ([]string, error) {
	f.mu.Lock()
	addrs, ok := f.names[host]
	f.mu.Unlock()
	if !ok {
		return nil, errors.New("no such host")
	}
	if addrs == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return addrs, nil
}

// N56: all addresses of a name are registered with, it is resolved anew, and may be unknown for a while.
func TestN56Names(t *testing.T) {
	resolver := &fakeResolver{names: map[string][]string{"ns": {"127.0.0.2", "127.0.0.1", "::1"}, "hangs": nil}}
	w := newTimedWorld("127.0.0.1:1", "127.0.0.2:1", "127.0.0.3:1", "127.0.0.4:1", "127.0.0.5:1")
	registered := func() []string {
		var addrs []string
		for _, addr := range slices.Sorted(maps.Keys(w)) {
			if n := w[addr]; n.known() {
				addrs = append(addrs, addr)
			}
		}
		return addrs
	}
	runTimed(t, w, "hangs:1;ns:1;later:1;127.0.0.5:1", func(t *testing.T, r *testRegistrar, _ time.Time) {
		require.Equal(t, []string{"127.0.0.1:1", "127.0.0.2:1", "127.0.0.5:1"}, registered(), "nobody waits for a name")
		require.Equal(t, []string{"127.0.0.1:1", "127.0.0.2:1", "127.0.0.5:1"}, r.servers())
		pass(10 * time.Second)
		require.Len(t, r.log.with("cannot be resolved", "later:1"), 1)
		resolver.set("later", "127.0.0.4")
		resolver.set("ns", "127.0.0.2", "127.0.0.3")
		pass(time.Minute)
		require.Equal(t, []string{"127.0.0.2:1", "127.0.0.3:1", "127.0.0.4:1", "127.0.0.5:1"}, registered())
		require.Len(t, w["127.0.0.1:1"].times(reqUnregister), 1)

		resolver.mu.Lock()
		delete(resolver.names, "ns")
		resolver.mu.Unlock()
		pass(5 * time.Minute)
		require.Equal(t, []string{"127.0.0.2:1", "127.0.0.3:1", "127.0.0.4:1", "127.0.0.5:1"}, registered(), "the last known ones stay")
		require.Len(t, r.log.with("cannot be resolved"), 3)
	}, func(_ *testRegistrar, cfg *registrarConfig) { cfg.Resolver = resolver })
}

// N61: what a NameServer gets under one version is one table, whenever it gets it.
func TestN61VersionAndTableTogether(t *testing.T) {
	w := newTimedWorld("127.0.0.1:1")
	runTimed(t, w, "127.0.0.1:1", func(t *testing.T, r *testRegistrar, _ time.Time) {
		n := w["127.0.0.1:1"]
		n.mu.Lock()
		n.delay = 7 * time.Millisecond
		n.mu.Unlock()
		want := map[protocol.DataVersion]string{}
		for i := range 500 {
			r.topics.put(plainTopic(fmt.Sprintf("topic-%d", i%50), int32(i+1)))
			topics, version := r.topics.snapshot()
			want[version] = fmt.Sprint(values(topics))
			r.topicsChanged(nil)
			if i%40 == 0 {
				r.registerSoon(true)
			}
			pass(3 * time.Millisecond)
		}
		pass(time.Second)
		have := map[string]protocol.TopicConfig{}
		for _, g := range n.requests() {
			if g.cmd.Code != int32(reqRegister) {
				continue
			}
			body, err := protocol.DecodeRegisterBrokerBody(g.cmd.Body, protocol.RegisterBodyOptions{Version: protocol.CurrentVersion})
			require.NoError(t, err)
			for _, topic := range body.Topics {
				topic.MapKey = ""
				have[topic.TopicName] = topic
			}
			if body.DataVersion.Counter > 0 {
				var list []*protocol.TopicConfig
				for _, name := range slices.Sorted(maps.Keys(have)) {
					topic := have[name]
					list = append(list, &topic)
				}
				require.Equal(t, want[*body.DataVersion], fmt.Sprint(values(list)), "incremental or not: the table at its version")
			}
		}
		topics, version := r.topics.snapshot()
		require.Equal(t, version, n.version())
		require.Len(t, n.topics(), len(topics))
	})
}

// N61: a version that comes with another permission never goes out with the one before, which a NameServer would keep.
func TestN61VersionAndPermissionTogether(t *testing.T) {
	w := newTimedWorld("127.0.0.1:1")
	var armed atomic.Bool
	var r *testRegistrar
	permission := func(t *testing.T, n *timedNamesrv) int32 {
		for _, topic := range n.topics() {
			return topic.Perm
		}
		t.Fatal("no topic")
		return 0
	}
	runTimed(t, w, "127.0.0.1:1", func(t *testing.T, _ *testRegistrar, _ time.Time) {
		n := w["127.0.0.1:1"]
		require.EqualValues(t, 6, permission(t, n))
		armed.Store(true)
		r.registerSoon(true)
		pass(time.Second)
		require.False(t, armed.Load())
		require.EqualValues(t, 4, permission(t, n))
	}, func(test *testRegistrar, cfg *registrarConfig) {
		r = test
		cfg.Settings = func() registrarSettings {
			set := test.settings()
			if armed.CompareAndSwap(true, false) { // right after they were read
				test.change(func(s *registrarSettings) { s.Permission = permRead })
				test.topics.put()
				test.registerSoon(true)
			}
			return set
		}
	})
}

func values(topics []*protocol.TopicConfig) []protocol.TopicConfig {
	var list []protocol.TopicConfig
	for _, t := range topics {
		c := *t
		c.Attributes = nil
		list = append(list, c)
	}
	return list
}
