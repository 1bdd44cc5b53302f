package broker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
)

const (
	reqRegister   = protocol.ReqRegisterBroker
	reqUnregister = protocol.ReqUnregisterBroker
	reqQuery      = protocol.ReqQueryDataVersion
	reqOneTopic   = protocol.ReqRegisterTopicInNamesrv
	reqHeartbeat  = protocol.ReqBrokerHeartbeat
)

// N53: 200 topics, created one after another, cost each NameServer a fraction of one full list, and are known at once.
func TestN53CreatingManyTopicsIsCheap(t *testing.T) {
	for _, single := range []bool{false, true} {
		t.Run(fmt.Sprintf("single=%v", single), func(t *testing.T) {
			a, b := startNamesrv(t, "127.0.0.1:0", nil), startNamesrv(t, "127.0.0.1:0", nil)
			set := testSettings(a.addr + ";" + b.addr)
			set.SingleTopic = single
			r := startRegistrar(t, set, newFakeTopics(20_000))
			soon(t, func() bool { return a.knows(r.topics) && b.knows(r.topics) }, "first registration")
			before := [2]int64{a.bytes.Load(), b.bytes.Load()}

			made := map[string]time.Time{}
			late := time.Duration(0)
			check := func() {
				for name, at := range made {
					_, atA := a.topic(name)
					_, atB := b.topic(name)
					if atA && atB {
						late = max(late, time.Since(at))
						delete(made, name)
					}
				}
			}
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for i := range 200 {
				name := fmt.Sprintf("created-%03d", i)
				r.topics.put(plainTopic(name, 4))
				made[name] = time.Now()
				r.topicsChanged([]string{name})
				<-tick.C
				check()
			}
			soon(t, func() bool { check(); return len(made) == 0 }, "all topics known")
			require.Less(t, late, 2*time.Second)
			for i, f := range []*fakeNamesrv{a, b} {
				require.Less(t, f.bytes.Load()-before[i], int64(2<<20))
				require.Equal(t, 1, f.accepted, "one connection")
			}
		})
	}
}

// N54: dead and silent NameServers do not delay the others.
func TestN54DeadAndSilentNamesrvs(t *testing.T) {
	addrs := []string{closedPort(t)}
	for range 5 {
		addrs = append(addrs, startNamesrv(t, "127.0.0.1:0", silent).addr)
	}
	good := startNamesrv(t, "127.0.0.1:0", nil)
	set := testSettings(strings.Join(append(addrs, good.addr), ";"))
	set.Period = 100 * time.Millisecond
	began := time.Now()
	r := startRegistrar(t, set, newFakeTopics(30))
	soon(t, func() bool { return good.knows(r.topics) }, "registered")
	require.Less(t, time.Since(began), time.Second)

	r.topics.put(plainTopic("created", 4))
	changed := time.Now()
	r.topicsChanged([]string{"created"})
	soon(t, func() bool { return good.knows(r.topics) }, "change known")
	require.Less(t, time.Since(changed), time.Second)

	n := good.count(reqRegister)
	soon(t, func() bool { return good.count(reqRegister) >= n+10 }, "goes on")
	for i, g := range good.requests(reqRegister) {
		if i > 0 {
			require.Less(t, g.at.Sub(good.requests(reqRegister)[i-1].at), time.Second)
		}
	}
	require.Len(t, r.log.with(addrs[0], "cannot be reached"), 1, "a refused connection is logged once")

	calls := time.Now()
	for range 10_000 {
		r.topicsChanged(nil)
	}
	require.Less(t, time.Since(calls), time.Second, "nobody waits")

	r.stop()
	began = time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	r.unregisterAll(ctx)
	require.Less(t, time.Since(began), 2*time.Second)
	require.Equal(t, 1, good.count(reqUnregister))
	got := good.requests()
	require.Equal(t, int32(reqUnregister), got[len(got)-1].cmd.Code, "nothing follows")
	soon(t, func() bool { return good.openConnections() == 0 }, "connection closed")
}

// N55: blanks, empty items and duplicates are dropped; a list that is wrong changes nothing and is named.
func TestN55ListOfNamesrvs(t *testing.T) {
	a, b := startNamesrv(t, "127.0.0.1:0", nil), startNamesrv(t, "127.0.0.1:0", nil)
	r := startRegistrar(t, testSettings(" "+a.addr+"; "+b.addr+" ;"+a.addr+"; ;"), newFakeTopics(3))
	soon(t, func() bool { return a.knows(r.topics) && b.knows(r.topics) }, "registered")
	require.Equal(t, []string{a.addr, b.addr}, r.servers())
	require.Equal(t, 1, a.accepted)

	for _, bad := range []string{a.addr + "," + b.addr, "127.0.0.1", "http://" + a.addr, ":9876"} {
		r.change(func(s *registrarSettings) { s.Servers.Addr = bad })
		r.serversChanged()
		soon(t, func() bool { return len(r.log.with("not updated", `\"`+bad+`\" is not host:port`)) == 1 }, bad)
		require.Equal(t, []string{a.addr, b.addr}, r.servers(), bad)
	}
	r.change(func(s *registrarSettings) { s.Servers.Addr = "" })
	r.serversChanged()
	r.change(func(s *registrarSettings) { s.Servers.Addr = b.addr })
	r.serversChanged()
	soon(t, func() bool { return a.count(reqUnregister) == 1 }, "a left")
	require.Zero(t, b.count(reqUnregister))
	require.Equal(t, 1, b.count(reqRegister), "b was not touched")
}

// N57: a NameServer that leaves the list is taken leave of, one that comes gets a full registration, at once.
func TestN57ListChangesWhileRunning(t *testing.T) {
	a, b, c := startNamesrv(t, "127.0.0.1:0", nil), startNamesrv(t, "127.0.0.1:0", nil), startNamesrv(t, "127.0.0.1:0", nil)
	r := startRegistrar(t, testSettings(a.addr+";"+b.addr), newFakeTopics(10))
	soon(t, func() bool { return a.knows(r.topics) && b.knows(r.topics) }, "registered")

	r.change(func(s *registrarSettings) { s.Servers.Addr = b.addr + ";" + c.addr })
	r.serversChanged()
	soon(t, func() bool { return c.knows(r.topics) && a.openConnections() == 0 }, "list applied")
	require.Equal(t, 1, a.count(reqUnregister))
	require.False(t, a.knows(r.topics))
	require.Equal(t, 1, b.count())

	r.topics.put(plainTopic("later", 4))
	r.topicsChanged([]string{"later"})
	soon(t, func() bool { return b.knows(r.topics) && c.knows(r.topics) }, "told")
	require.Equal(t, 2, a.count(), "a is left alone")

	// Also one that does not answer is removed without delay for the others.
	r.change(func(s *registrarSettings) {
		s.Servers.Addr = startNamesrv(t, "127.0.0.1:0", silent).addr + ";" + a.addr
	})
	r.serversChanged()
	soon(t, func() bool { return a.knows(r.topics) }, "a is back")
}

// N24, N27: a NameServer that was restarted gets the full list within seconds, and never a single topic first.
func TestN24N27NamesrvRestarts(t *testing.T) {
	a := startNamesrv(t, "127.0.0.1:0", nil)
	r := startRegistrar(t, testSettings(a.addr), newFakeTopics(50))
	soon(t, func() bool { return a.knows(r.topics) }, "registered")
	a.stop()
	r.topics.put(plainTopic("while-down", 4))
	r.topicsChanged([]string{"while-down"})
	soon(t, func() bool { return len(r.log.with("cannot be reached")) == 1 }, "noticed")

	again := startNamesrv(t, a.addr, nil)
	up := time.Now()
	soon(t, func() bool { return again.knows(r.topics) }, "registered again")
	require.Less(t, time.Since(up), maxBackoff+2*time.Second)
	require.Equal(t, 1, again.count(), "one full registration")

	again.cut()
	cut := time.Now()
	soon(t, func() bool { return again.count(reqRegister) == 2 && again.knows(r.topics) }, "registered a third time")
	require.Less(t, time.Since(cut), 3*time.Second)
	soon(t, func() bool { return len(r.log.with("registered with NameServer")) == 3 }, "logged")
}

// N24: a NameServer that has forgotten the broker without closing the connection refuses one topic. All follow at once.
func TestN24OneTopicRefused(t *testing.T) {
	for _, split := range []bool{false, true} {
		a := startNamesrv(t, "127.0.0.1:0", nil)
		set := testSettings(a.addr)
		set.Split, set.SplitSize = split, 7
		r := startRegistrar(t, set, newFakeTopics(50))
		soon(t, func() bool { return a.knows(r.topics) }, "registered")
		a.mu.Lock()
		a.model.forget()
		a.mu.Unlock()
		r.topics.put(plainTopic("one", 4))
		r.topicsChanged([]string{"one"})
		soon(t, func() bool { return a.knows(r.topics) }, "all known again")
		require.Empty(t, r.log.with("refuses"))
	}
}

// A refused registration is tried again, with the connection left open, and logged once.
func TestRegistrationRefused(t *testing.T) {
	refuse := func(*protocol.Command) *protocol.Command { return failure(protocol.RespSystemError, "not you") }
	a := startNamesrv(t, "127.0.0.1:0", refuse)
	set := testSettings(a.addr)
	set.Period = 200 * time.Millisecond // bounds the wait after a refusal
	r := startRegistrar(t, set, newFakeTopics(5))
	soon(t, func() bool { return a.count(reqRegister) >= 2 }, "tried again")
	a.setHandle(a.model.answer)
	soon(t, func() bool { return a.knows(r.topics) }, "accepted")
	require.Len(t, r.log.with("refuses the registration", "not you"), 1)
	require.Equal(t, 1, a.accepted)
	soon(t, func() bool { return len(r.log.with("registered with NameServer")) == 1 }, "logged")
}

// BrokerOuterAPITest: who says "changed", or says it unreadably, is registered with, also if another one is too slow.
func TestNeedRegisterVotes(t *testing.T) {
	query := func(answer func(cmd *protocol.Command) *protocol.Command) func(f *fakeNamesrv) {
		return func(f *fakeNamesrv) {
			f.setHandle(func(cmd *protocol.Command) *protocol.Command {
				if cmd.Code == int32(reqQuery) {
					return answer(cmd)
				}
				return f.model.answer(cmd)
			})
		}
	}
	yes := query(func(*protocol.Command) *protocol.Command {
		return success(protocol.Ext{{Key: "changed", Value: "true"}})
	})
	no := query(func(cmd *protocol.Command) *protocol.Command {
		resp := success(protocol.Ext{{Key: "changed", Value: "false"}})
		resp.Body = cmd.Body
		return resp
	})
	silence := query(silent)
	tests := []struct {
		name string
		vote [3]func(*fakeNamesrv)
		want [3]int // registrations after the first
	}{
		{"three say changed", [3]func(*fakeNamesrv){yes, yes, yes}, [3]int{1, 1, 1}},
		{"nobody does", [3]func(*fakeNamesrv){no, no, no}, [3]int{0, 0, 0}},
		{"two in time, one too slow", [3]func(*fakeNamesrv){yes, yes, silence}, [3]int{1, 1, 0}},
		{"the flag is absent", [3]func(*fakeNamesrv){
			query(func(*protocol.Command) *protocol.Command { return success(nil) }), no, no}, [3]int{1, 0, 0}},
		{"the flag is no boolean", [3]func(*fakeNamesrv){no, query(func(cmd *protocol.Command) *protocol.Command {
			return success(protocol.Ext{{Key: "changed", Value: "?"}})
		}), no}, [3]int{0, 0, 0}},
		{"another version in the body", [3]func(*fakeNamesrv){query(func(*protocol.Command) *protocol.Command {
			resp := success(protocol.Ext{{Key: "changed", Value: "false"}})
			resp.Body = []byte(`{"counter":9,"timestamp":1}`)
			return resp
		}), no, no}, [3]int{1, 0, 0}},
		{"another code", [3]func(*fakeNamesrv){query(func(*protocol.Command) *protocol.Command {
			return failure(protocol.RespRequestCodeNotSupported, "")
		}), no, no}, [3]int{0, 0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f [3]*fakeNamesrv
			for i := range f {
				f[i] = startNamesrv(t, "127.0.0.1:0", nil)
			}
			set := testSettings(f[0].addr + ";" + f[1].addr + ";" + f[2].addr)
			set.ForceRegister = false
			r := startRegistrar(t, set, newFakeTopics(4))
			for i := range f {
				soon(t, func() bool { return f[i].knows(r.topics) }, "registered")
				tt.vote[i](f[i])
			}
			r.registerSoon(false)
			for i := range f {
				soon(t, func() bool { return f[i].count(reqQuery) == 1 && f[i].count(reqRegister) == 1+tt.want[i] }, "voted")
			}
			r.stop()
			for i := range f {
				require.Equal(t, 1+tt.want[i], f[i].count(reqRegister))
			}
		})
	}
}

// A query without an answer is a vote for registering: over a new connection.
func TestSilentQueryLeadsToRegistration(t *testing.T) {
	a := startNamesrv(t, "127.0.0.1:0", nil)
	a.setHandle(func(cmd *protocol.Command) *protocol.Command {
		if cmd.Code == int32(reqQuery) {
			return nil
		}
		return a.model.answer(cmd)
	})
	set := testSettings(a.addr)
	set.ForceRegister, set.Timeout = false, 50*time.Millisecond
	r := startRegistrar(t, set, newFakeTopics(4))
	soon(t, func() bool { return a.knows(r.topics) }, "registered")
	r.registerSoon(false)
	soon(t, func() bool { return a.count(reqRegister) == 2 && a.knows(r.topics) }, "registered again")
}

// 100,000 topics register in slices, are all known, and stay registered without being sent again.
func TestHugeTableRegistersInSlices(t *testing.T) {
	for _, v49 := range []bool{false, true} {
		t.Run(fmt.Sprintf("v49=%v", v49), func(t *testing.T) {
			a := startNamesrv(t, "127.0.0.1:0", nil)
			a.model.v49 = v49
			set := testSettings(a.addr)
			set.Period = 50 * time.Millisecond
			r := startRegistrar(t, set, newFakeTopics(100_000))
			soon(t, func() bool { return a.knows(r.topics) }, "registered")
			slices := a.count(reqRegister)
			require.Greater(t, slices, 1)
			for _, g := range a.requests(reqRegister) {
				require.Less(t, len(g.cmd.Body), 2*sliceBody)
			}
			soon(t, func() bool { return a.count(reqQuery) >= 5 }, "asked")
			require.Equal(t, slices, a.count(reqRegister), "not sent again")

			r.topics.put(plainTopic("one-more", 4))
			r.topicsChanged([]string{"one-more"})
			soon(t, func() bool { return a.knows(r.topics) }, "change known")
			require.Equal(t, slices+1, a.count(reqRegister))
			require.Less(t, len(a.requests(reqRegister)[slices].cmd.Body), 1000)
		})
	}
}

// Topics that changed while there was no connection are known after a registration in slices, also by a NameServer that
// still has the old ones.
func TestSlicesBringChanges(t *testing.T) {
	for _, v49 := range []bool{false, true} {
		a := startNamesrv(t, "127.0.0.1:0", nil)
		a.model.v49 = v49
		set := testSettings(a.addr)
		set.Split, set.SplitSize = true, 10
		r := startRegistrar(t, set, newFakeTopics(51))
		soon(t, func() bool { return a.knows(r.topics) }, "registered")
		a.mu.Lock()
		a.owner = nil // it does not notice that the connection ends
		a.mu.Unlock()
		a.cut()
		r.topics.put(plainTopic("topic-of-some-length-000049", 99))
		soon(t, func() bool { return a.count(reqRegister) == 12 && a.knows(r.topics) }, "change known")
	}
}

// Compressed bodies say so, and hold everything their form has room for.
func TestCompressedRegister(t *testing.T) {
	a := startNamesrv(t, "127.0.0.1:0", nil)
	set := testSettings(a.addr)
	set.Compressed = true
	r := startRegistrar(t, set, newFakeTopics(300))
	soon(t, func() bool { return a.knows(r.topics) }, "registered")
	got := a.requests(reqRegister)[0].cmd
	compressed, _ := got.Ext.Get("compressed")
	require.Equal(t, "true", compressed)
	require.Less(t, len(got.Body), 6000)

	r.topics.put(plainTopic("a name with blanks", 4)) // has no compressed form
	r.topicsChanged(nil)
	soon(t, func() bool { return a.knows(r.topics) }, "known")
	compressed, _ = a.requests(reqRegister)[1].cmd.Ext.Get("compressed")
	require.Equal(t, "false", compressed)
}

// A NameServer of 4.9 refuses the compressed form of 5.0: it gets its own, at once.
func TestCompressedRegisterOfBothLines(t *testing.T) {
	for _, split := range []bool{false, true} {
		old, modern := startNamesrv(t, "127.0.0.1:0", nil), startNamesrv(t, "127.0.0.1:0", nil)
		old.model.v49 = true
		set := testSettings(old.addr + ";" + modern.addr)
		set.Compressed, set.Split, set.SplitSize = true, split, 100
		r := startRegistrar(t, set, newFakeTopics(300))
		soon(t, func() bool { return old.knows(r.topics) && modern.knows(r.topics) }, "registered")
		require.Empty(t, r.log.with("refuses"))
		require.Equal(t, modern.count(reqRegister)+1, old.count(reqRegister))

		r.topics.put(plainTopic("one-more", 4))
		r.topicsChanged(nil)
		r.registerSoon(true)
		soon(t, func() bool { return old.knows(r.topics) && modern.knows(r.topics) }, "change known")
		require.Empty(t, r.log.with("refuses"), "its version is known now")
		for _, f := range []*fakeNamesrv{old, modern} {
			require.Equal(t, 1, f.accepted)
			for _, g := range f.requests(reqRegister) {
				require.Equal(t, "true", extField(&g.cmd, "compressed"))
			}
		}
	}
}

// With enableSingleTopicRegister changes go as 217, however many they are: a NameServer with
// deleteTopicWithBrokerRegistration would take the absence of the other topics for their deletion.
func TestSingleTopicRegisterIsNeverPartial(t *testing.T) {
	a := startNamesrv(t, "127.0.0.1:0", nil)
	set := testSettings(a.addr)
	set.SingleTopic = true
	r := startRegistrar(t, set, newFakeTopics(500))
	soon(t, func() bool { return a.knows(r.topics) }, "registered")
	var made []protocol.TopicConfig
	for i := range 60 {
		made = append(made, plainTopic(fmt.Sprintf("created-%02d", i), 4))
	}
	r.topics.put(made...)
	r.topicsChanged(nil)
	soon(t, func() bool { return a.count(reqOneTopic) == 60 }, "told")
	r.registerSoon(true)
	soon(t, func() bool { return a.knows(r.topics) }, "all known, with the version")
	for _, g := range a.requests(reqRegister) {
		require.GreaterOrEqual(t, len(decodeBodies(t, &g.cmd).Topics), 500)
	}
}

// A NameServer of 4.9 does not answer 217. It gets registrations of changed topics, over the connection that it has.
func TestSingleTopicRegisterWith49(t *testing.T) {
	a := startNamesrv(t, "127.0.0.1:0", nil)
	a.model.v49 = true
	set := testSettings(a.addr)
	set.SingleTopic = true
	r := startRegistrar(t, set, newFakeTopics(50))
	soon(t, func() bool { return a.knows(r.topics) }, "registered")
	made := time.Now()
	r.topics.put(plainTopic("created", 4))
	r.topicsChanged(nil)
	soon(t, func() bool { return a.knows(r.topics) }, "told")
	require.Less(t, time.Since(made), 2*time.Second)
	require.Zero(t, a.count(reqOneTopic))
	got := a.requests(reqRegister)
	require.Len(t, got, 2)
	require.Len(t, decodeBodies(t, &got[1].cmd).Topics, 1)
	require.Equal(t, 1, a.accepted)
}

// A NameServer that has too much to do is not sent all topics because it did not take one.
func TestBusyNamesrv(t *testing.T) {
	w := newTimedWorld("127.0.0.1:1")
	runTimed(t, w, "127.0.0.1:1", func(t *testing.T, r *testRegistrar, start time.Time) {
		n := w["127.0.0.1:1"]
		pass(5 * time.Second)
		n.set("busy")
		r.topics.put(plainTopic("created", 4))
		r.topicsChanged(nil)
		pass(900 * time.Millisecond)
		require.Len(t, n.times(reqRegister), 2)
		pass(6200 * time.Millisecond) // after 1, 2 and 4 s more
		require.Equal(t, []int{0, 5, 6, 8, 12}, seconds(start, n.times(reqRegister)))
		n.set("")
		pass(8 * time.Second)
		require.Contains(t, n.topics(), "created")
		require.Len(t, r.log.with("refuses", "busy"), 1)
		require.Len(t, r.log.with("registered with NameServer"), 2)
		require.Len(t, n.dials(), 1)
	})
}

// A NameServer that is going away keeps the broker for the clients that it still serves: the connection stays until there is a
// registration over another one.
func TestNamesrvGoesAway(t *testing.T) {
	a := startNamesrv(t, "127.0.0.1:0", nil)
	r := startRegistrar(t, testSettings(a.addr), newFakeTopics(10))
	soon(t, func() bool { return a.knows(r.topics) }, "registered")
	a.setHandle(func(*protocol.Command) *protocol.Command { return failure(protocol.RespGoAway, "please go away") })
	r.registerSoon(true)
	soon(t, func() bool { return a.count(reqRegister) >= 4 }, "tried over new connections")
	require.True(t, a.knows(r.topics))
	soon(t, func() bool { return a.openConnections() <= 2 }, "failed ones are closed")
	require.Len(t, r.log.with("cannot be reached", "going away"), 1)

	a.setHandle(a.model.answer)
	soon(t, func() bool { return a.openConnections() == 1 && len(r.log.with("registered with NameServer")) == 2 }, "registered anew")
	require.True(t, a.knows(r.topics))
	r.topics.put(plainTopic("later", 4))
	r.topicsChanged(nil)
	soon(t, func() bool { return a.knows(r.topics) }, "told")

	a.setHandle(func(*protocol.Command) *protocol.Command { return failure(protocol.RespGoAway, "please go away") })
	r.registerSoon(true)
	before := a.count(reqRegister)
	soon(t, func() bool { return a.count(reqRegister) >= before+2 }, "tried again")
	r.stop()
	r.unregisterAll(t.Context())
	soon(t, func() bool { return a.openConnections() == 0 }, "nothing stays open")
}

// Results: of several NameServers the first in the list that knows something counts; N62: absent fields are no fault.
func TestRegistrationResults(t *testing.T) {
	slave := func(master, ha, body string) func(*protocol.Command) *protocol.Command {
		return func(*protocol.Command) *protocol.Command {
			var ext protocol.Ext
			if master != "" {
				ext = protocol.Ext{{Key: "haServerAddr", Value: ha}, {Key: "masterAddr", Value: master}, {Key: "new", Value: "x"}}
			}
			resp := success(ext)
			resp.Body = []byte(body)
			return resp
		}
	}
	a := startNamesrv(t, "127.0.0.1:0", slave("", "", ""))
	b := startNamesrv(t, "127.0.0.1:0", slave("10.0.0.1:10911", "10.0.0.1:10912", `{"table":{"Ordered":"broker-a:3"}}`))
	c := startNamesrv(t, "127.0.0.1:0", slave("10.0.0.2:10911", "10.0.0.2:10912", `{"table":{"Other":"broker-a:4"}}`))
	r := startRegistrar(t, testSettings(a.addr+";"+b.addr+";"+c.addr), newFakeTopics(3))
	soon(t, func() bool {
		result, _ := r.lastResult()
		return a.count() == 1 && c.count() == 1 && result.MasterAddr == "10.0.0.1:10911"
	}, "b's result")
	result, _ := r.lastResult()
	require.Equal(t, registrationResult{MasterAddr: "10.0.0.1:10911", HAServerAddr: "10.0.0.1:10912",
		Order: &protocol.KVTable{Table: map[string]string{"Ordered": "broker-a:3"}}}, result)

	b.setHandle(slave("", "", "no JSON"))
	c.setHandle(slave("", "", ""))
	r.registerSoon(true)
	soon(t, func() bool {
		result, _ := r.lastResult()
		return result == registrationResult{}
	}, "orphaned")
	_, n := r.lastResult()
	a.stop()
	b.stop()
	c.stop()
	soon(t, func() bool { return len(r.log.with("cannot be reached")) == 3 }, "all are lost")
	_, after := r.lastResult()
	require.Equal(t, n, after, "what was known stays")
}

// Heartbeats go on while a registration hangs, and carry the zone as all requests do.
func TestHeartbeats(t *testing.T) {
	for _, compatible := range []bool{true, false} {
		a := startNamesrv(t, "127.0.0.1:0", nil)
		set := testSettings(a.addr)
		set.SlaveActingMaster, set.HeartbeatInterval, set.CompatibleWithOldNSrv = true, 50*time.Millisecond, compatible
		set.ZoneName, set.ZoneMode = "z1", "true"
		r := startRegistrar(t, set, newFakeTopics(4))
		soon(t, func() bool { return a.knows(r.topics) }, "registered")
		a.setHandle(silent)
		r.registerSoon(true)
		code := reqHeartbeat
		if compatible {
			code = reqQuery
		}
		soon(t, func() bool { return a.count(reqRegister) == 2 }, "hanging")
		n := a.count(code)
		soon(t, func() bool { return a.count(code) >= n+3 }, "heartbeats")
		for _, g := range a.requests() {
			require.Equal(t, g.cmd.Code != int32(reqRegister), g.cmd.IsOneway())
			zone, _ := g.cmd.Ext.Get("__ZONE_NAME")
			mode, _ := g.cmd.Ext.Get("__ZONE_MODE")
			require.Equal(t, []string{"z1", "true"}, []string{zone, mode})
		}
		r.stop()
	}
}

// Changes that NameServers are told are those that they do not know, whoever made them.
func TestChangesAreTheDifference(t *testing.T) {
	topics := newFakeTopics(6)
	known := &registrationTable{}
	known.topics, known.version = topics.snapshot()
	same := *known.topics[2]
	same.Attributes = map[string]string{}
	topics.put(same, plainTopic("zz", 4), plainTopic("aa", 4), plainTopic("topic-of-some-length-000003", 9))
	topics.topics = append(topics.topics[:1], topics.topics[2:]...) // 0 has gone
	now := &registrationTable{}
	now.topics, now.version = topics.snapshot()
	var names []string
	for _, c := range now.changes(known) {
		names = append(names, c.TopicName)
	}
	require.Equal(t, []string{"aa", "topic-of-some-length-000003", "zz"}, names)
	require.Nil(t, now.changes(now))
}

// The defaults of the configuration are those of 5.5.0.
func TestRegistrarSettingsOfDefaults(t *testing.T) {
	store, err := conf.LoadBroker(conf.Sources{NameServers: "127.0.0.1:1", Environ: []string{"ROCKETMQ_HOME=" + t.TempDir(),
		"HOME=" + t.TempDir()}, Log: zerolog.Nop()})
	require.NoError(t, err)
	want := testSettings("127.0.0.1:1")
	want.Servers.Domain, want.Servers.Subgroup = "jmenv.tbsite.net", "nsaddr"
	want.Servers.FetchInterval = 10 * time.Second
	require.Equal(t, want, newRegistrarSettings(store.Broker()))
}
