package namesrv

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// Tests of spec/field-reports.md at the level of the table, by number, and of faults of spec/namesrv.md §14.

func TestN19OneAddressOneID(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", id: 1, addr: "X", topics: topics("T", "U")}
	for _, id := range []int64{1, 0, 1} {
		b.id = id
		tt.register(b)
		require.Equal(t, fmt.Sprintf("%d:X", id), tt.members("a"))
	}
}

func TestN20SplitBrain(t *testing.T) {
	tt := newTableTest(t)
	x := &broker{name: "a", addr: "X", version: version(5, 1, 1), zone: protocol.Some("z"), topics: topics("T", "U")}
	y := &broker{name: "a", addr: "Y", version: version(3, 1, 1), topics: topics("T", "V")}
	tt.register(x)
	before := tt.snapshot()

	res := tt.register(y)
	require.Equal(t, registered{outrankedBy: "X"}, res)
	require.Equal(t, before, tt.snapshot(), "lower state: no trace")
	require.Empty(t, tt.close(y))
	require.Equal(t, before, tt.snapshot())

	y.version.StateVersion, y.conn = 6, nil
	require.Equal(t, "X", tt.register(y).replaced)
	require.Equal(t, "a{0:Y} 8/8/6", tt.where("T"))
	tt.close(x)
	require.Equal(t, "a{0:Y} 8/8/6", tt.where("T"), "the loser's end")

	x.version.StateVersion, x.conn = 6, nil
	for range 3 { // equal states: the last one wins, again and again
		tt.register(x)
		require.Equal(t, "0:X", tt.members("a"))
		tt.register(y)
		require.Equal(t, "0:Y", tt.members("a"))
	}
	tt.close(x)
	require.Equal(t, "a{0:Y} 8/8/6", tt.where("T"))
}

func TestN21NewAddressWithinTheTimeout(t *testing.T) {
	tt := newTableTest(t)
	x := &broker{name: "a", addr: "X", timeout: protocol.Some[int64](20_000), topics: topics("T", "U")}
	y := &broker{name: "a", addr: "Y", topics: topics("T", "U")}
	tt.register(x)
	tt.register(y)
	require.Equal(t, "a{0:Y} 8/8/6", tt.where("T"))
	tt.now += 5 * time.Second
	tt.close(x)
	require.Equal(t, "a{0:Y} 8/8/6", tt.where("T"))
	tt.now += 20 * time.Second
	require.Empty(t, tt.expire(settled, false))
	require.Equal(t, "a{0:Y} 8/8/6", tt.where("T"))
	stored, changed := tt.queryDataVersion(queryHeader("C", "a", 0, "X"), &x.version)
	require.Nil(t, stored, "F2: the replaced address is not live")
	require.True(t, changed)
}

func TestN22RenamedBroker(t *testing.T) {
	tt := newTableTest(t)
	old := &broker{name: "old", addr: "X", conn: newPeer(), topics: topics("T", "U")}
	tt.register(old)
	tt.register(&broker{name: "new", addr: "X", conn: old.conn, topics: topics("T", "V")})
	require.Equal(t, "C[new]", tt.cluster())
	require.Equal(t, []string{"T", "V"}, sorted(tt.allTopics()))
	require.Equal(t, "new{0:X} 8/8/6", tt.where("T"))
	tt.close(old)
	require.Empty(t, tt.cluster())
	require.Empty(t, tt.allTopics())
}

func TestN22RenamedBrokerOfAGroup(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "old", addr: "X", acting: actingOn, topics: topics("T", "U")})
	tt.register(&broker{name: "old", id: 1, addr: "Y", acting: actingOn, topics: topics("T", "U")})
	res := tt.register(&broker{name: "new", addr: "X", acting: actingOn, notify: true, topics: topics("T", "V")})
	require.Equal(t, "new{0:X} 8/8/6; old{1:Y} 8/8/4", tt.where("T"))
	require.Equal(t, []notice{{targets: []string{"Y"}, header: protocol.NotifyMinBrokerIDChangeRequestHeader{
		MinBrokerID: protocol.Some[int64](1), MinBrokerAddr: protocol.Some("Y"), OfflineBrokerAddr: protocol.Some("X"),
	}}}, res.notices)
}

func TestN23OneNameInTwoClusters(t *testing.T) {
	for _, id := range []int64{0, 1} {
		tt := newTableTest(t)
		x := &broker{cluster: "C1", name: "a", addr: "X", topics: topics("T", "U")}
		y := &broker{cluster: "C2", name: "a", id: id, addr: "Y", topics: topics("T", "V")}
		tt.register(x)
		before := tt.snapshot()
		_, err := tt.tryRegister(y)
		var shared *sharedNameError
		require.ErrorAs(t, err, &shared)
		require.ErrorContains(t, err, "cluster C1")
		require.Equal(t, before, tt.snapshot())
		tt.close(y)
		tt.unregister(y)
		require.Equal(t, before, tt.snapshot())
		require.Empty(t, tt.topicsByCluster("C2"))
		tt.close(x)
		require.Empty(t, tt.cluster())
		tt.register(y) // the name is free
		require.Equal(t, "C2[a]", tt.cluster())
	}
}

func TestN24OneTopicFirst(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", topics: topics("only")}
	_, err := tt.tryRegister(b)
	require.ErrorIs(t, err, errFirstRegistrationIncomplete)
	require.EqualError(t, err, "register broker failed")
	require.Empty(t, tt.cluster(), "F6: no group without address")
	require.False(t, tt.registerTopic("only", []protocol.QueueData{{BrokerName: "a", Perm: 6}}))

	b.topics = nil
	for i := range 50 {
		b.topics = append(b.topics, topic(fmt.Sprint("T", i)))
	}
	tt.register(b)
	require.Len(t, tt.allTopics(), 50)
	_, err = tt.tryRegister(&broker{name: "a", id: 1, addr: "Y", topics: topics("only")})
	require.Error(t, err, "a slave, too")
	require.Equal(t, "0:X", tt.members("a"))
	b.topics = topics("only")
	tt.register(b)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("only"), "of a known broker it is an update")
}

func TestN25AbsentOptionalFields(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{name: "a", addr: "X", topics: topics("T", "U")})
	require.False(t, tt.look("T").BrokerDatas[0].EnableActingMaster)
	tt.now = 120 * time.Second
	require.Empty(t, tt.expire(settled, false))
	tt.now++
	require.Len(t, tt.expire(settled, false), 1)
}

func TestN26VersionQueryOfAnotherBroker(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", id: 1, addr: "X", topics: topics("T", "U")}
	tt.register(b)
	for _, c := range []struct {
		name    string
		header  *protocol.QueryDataVersionRequestHeader
		changed bool
		stored  bool
	}{
		{"same", queryHeader("C", "a", 1, "X"), false, true},
		{"other id", queryHeader("C", "a", 0, "X"), true, true},
		{"other name", queryHeader("C", "b", 1, "X"), true, true},
		{"other cluster", queryHeader("D", "a", 1, "X"), true, false},
		{"unknown address", queryHeader("C", "a", 1, "Y"), true, false},
		{"neither name nor id", &protocol.QueryDataVersionRequestHeader{ClusterName: "C", BrokerAddr: "X"}, false, true},
	} {
		stored, changed := tt.queryDataVersion(c.header, &b.version)
		require.Equal(t, c.changed, changed, c.name)
		require.Equal(t, c.stored, stored != nil, c.name)
	}
}

func TestN28FollowerWithALowerID(t *testing.T) {
	for _, acting := range []protocol.Opt[bool]{actingOff, actingOn} {
		tt := newTableTest(t)
		master := &broker{name: "a", addr: "X", acting: acting, topics: topics("T", "U")}
		candidate := &broker{name: "a", id: -1, addr: "Z", acting: acting, topics: topics("T", "U", "W")}
		tt.register(master)
		tt.register(candidate)
		require.Equal(t, "a{-1:Z 0:X} 8/8/6", tt.where("T"))
		require.Equal(t, "none", tt.where("W"), "it is not the master")
		tt.wipeWritePerm("a")
		require.Equal(t, "a{-1:Z 0:X} 8/8/4", tt.where("T", withActingMaster), "nobody stands in for a living master")
		tt.addWritePerm("a")
		tt.close(master)
		if acting == actingOn {
			require.Equal(t, "a{0:Z} 8/8/4", tt.where("T", withActingMaster))
		}
		master.conn = nil
		tt.register(master) // its data version has not moved
		require.Equal(t, "a{-1:Z 0:X} 8/8/6", tt.where("T"))
	}
}

func TestN29WipeHolds(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", topics: topics("T", "U", "V")}
	tt.register(b)
	perms := func(want int32, names ...string) {
		t.Helper()
		for _, name := range names {
			require.Equal(t, want, tt.perm(name), name)
		}
	}
	require.Equal(t, 3, tt.wipeWritePerm("a"))
	perms(4, "T", "U", "V")
	tt.register(b)
	perms(4, "T", "U", "V")
	b.topics, b.version.Counter = append(b.topics, topic("W")), 2
	tt.register(b)
	perms(4, "T", "U", "V", "W")
	require.Equal(t, 4, tt.addWritePerm("a"))
	perms(6, "T", "U", "V", "W")
	tt.wipeWritePerm("a")
	tt.close(b)
	b.conn = nil
	tt.register(b)
	perms(6, "T", "U", "V", "W")
}

func TestF24PermsAreAsBeforeTheWipe(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X"}
	perms := []int32{0, 1, 2, 4, 6, 7, 8, 12, 14, 15, -1}
	for _, p := range perms {
		b.topics = append(b.topics, topicWith(fmt.Sprint(p), 8, p))
	}
	tt.register(b)
	require.Equal(t, len(perms), tt.wipeWritePerm("a"))
	for _, p := range perms {
		require.Equal(t, p&^2, tt.perm(fmt.Sprint(p)))
	}
	require.Equal(t, len(perms), tt.addWritePerm("a"))
	for _, p := range perms {
		require.Equal(t, p, tt.perm(fmt.Sprint(p)))
	}
}

func TestAddWritePermOfAGroupWithoutMaster(t *testing.T) {
	tt := newTableTest(t)
	master, slave := masterAndSlave()
	tt.register(master)
	tt.register(slave)
	tt.unregister(master)
	require.Equal(t, "a{0:Y} 8/8/4", tt.where("T", withActingMaster))
	require.Equal(t, 2, tt.addWritePerm("a"))
	tt.check()
	require.Equal(t, "a{1:Y} 8/8/6", tt.where("T", withActingMaster), "a writable group gets no stand-in")
	tt.register(slave)
	slave.topics = topics("T", "new")
	tt.register(slave)
	require.Equal(t, "a{1:Y} 8/8/6", tt.where("T", withActingMaster), "the same version, repeated or a part")
	slave.version.Counter++
	tt.register(slave)
	require.Equal(t, "a{0:Y} 8/8/4", tt.where("T", withActingMaster), "a new version withholds it again")
}

func TestN30SplitRegistration(t *testing.T) {
	tt := newTableTest(t)
	batch := func(from, to int) []protocol.TopicConfig {
		var list []protocol.TopicConfig
		for i := from; i <= to; i++ {
			list = append(list, topicWith(fmt.Sprint(i), 4, 6))
		}
		return list
	}
	b := &broker{name: "a", addr: "X", topics: batch(1, 800)}
	tt.register(b)
	b.topics = batch(801, 1600)
	tt.register(b)
	require.Len(t, tt.allTopics(), 1600)
	tt.wipeWritePerm("a")
	b.topics = batch(801, 1600)
	b.topics[900-801] = topicWith("900", 8, 6)
	tt.register(b) // the same version once more
	require.Equal(t, "a{0:X} 8/8/4", tt.where("900"))
	require.Equal(t, "a{0:X} 4/4/4", tt.where("901"))
	require.Len(t, tt.allTopics(), 1600)
}

func TestSameVersionMeansSameTable(t *testing.T) { // as in the original: golden transcript register-again
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", topics: topics("T", "U")}
	tt.register(b)
	b.topics = []protocol.TopicConfig{topicWith("T", 3, 6), topic("U")}
	tt.register(b)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("T"))
	b.topics = []protocol.TopicConfig{topicWith("T", 3, 6), topic("U"), topic("V")}
	tt.register(b)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("T"))
	require.Equal(t, "a{0:X} 8/8/6", tt.where("V"))
}

func TestN31ClockInTheFuture(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", version: version(0, 2550000000000, 7), topics: topics("T", "U")}
	tt.register(b)
	b.topics, b.version = topics("T", "U", "V"), version(0, 1700000000000, 8)
	tt.register(b)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("V"))
	b.topics, b.version = []protocol.TopicConfig{topicWith("T", 3, 6), topic("U"), topic("V")}, version(0, 1600000000000, 1)
	tt.register(b)
	require.Equal(t, "a{0:X} 3/3/6", tt.where("T"))
}

func TestN32TopicDeletedAtOneBroker(t *testing.T) {
	for _, on := range []bool{false, true} {
		tt := newTableTest(t)
		a := &broker{name: "a", addr: "X", topics: topics("T", "U", "V"), deleteTopics: on}
		b := &broker{name: "b", addr: "Y", topics: topics("T", "U"), deleteTopics: on}
		tt.register(a)
		tt.register(b)
		a.topics, a.version.Counter = topics("U", "V"), 2
		tt.register(a)
		if !on {
			require.Equal(t, "a{0:X} 8/8/6; b{0:Y} 8/8/6", tt.where("T"))
			continue
		}
		require.Equal(t, "b{0:Y} 8/8/6", tt.where("T"))
		a.topics, a.version.Counter = topics("one"), 3
		tt.register(a)
		require.Equal(t, []string{"T", "U", "V", "one"}, sorted(tt.allTopics()), "one topic deletes no others")
		tt.unregister(b)
		require.Equal(t, "none", tt.where("T"))
	}
}

func TestN33EmptiedStoreAtTheSameAddress(t *testing.T) {
	for _, on := range []bool{false, true} {
		for _, counter := range []int64{1, 9} { // the same version as before, and another one
			tt := newTableTest(t)
			before := &broker{name: "a", addr: "X", version: version(0, 1, 9), deleteTopics: on}
			for i := 1; i <= 10; i++ {
				before.topics = append(before.topics, topicWith(fmt.Sprint("T", i), 4, 6))
			}
			tt.register(before)
			after := &broker{name: "a", addr: "X", version: version(0, 1, counter), deleteTopics: on, topics: topics("T1", "T11")}
			tt.register(after)
			seen := func() {
				t.Helper()
				require.Equal(t, "a{0:X} 8/8/6", tt.where("T1"))
				require.Equal(t, "a{0:X} 8/8/6", tt.where("T11"))
				if on {
					require.Equal(t, "none", tt.where("T5"))
				} else {
					require.Equal(t, "a{0:X} 4/4/6", tt.where("T5"))
				}
			}
			seen()
			tt.close(before)
			seen()
			tt.close(after)
			require.Empty(t, tt.allTopics())
		}
	}
}

func TestN34DeleteInOneCluster(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{cluster: "C1", name: "a", addr: "X", topics: topics("T", "U")})
	tt.register(&broker{cluster: "C2", name: "b", addr: "Y", topics: topics("T", "U")})
	require.False(t, tt.deleteTopic("T", "nope"))
	require.Equal(t, "a{0:X} 8/8/6; b{0:Y} 8/8/6", tt.where("T"))
	require.True(t, tt.deleteTopic("T", "C1"))
	require.Equal(t, "b{0:Y} 8/8/6", tt.where("T"))
	tt.deleteTopic("T", "")
	require.Equal(t, "none", tt.where("T"))
	require.False(t, tt.deleteTopic("T", ""))
	require.False(t, tt.deleteTopic("nope", "C1"))
	tt.check()
}

func TestN35DeletedTopicComesBack(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", topics: topics("T", "U")}
	tt.register(b)
	tt.deleteTopic("T", "")
	tt.register(b)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("T"), "the broker owns the truth")
	tt.deleteTopic("T", "")
	b.topics, b.version.Counter = topics("U", "V"), 2
	tt.register(b)
	tt.register(b)
	require.Equal(t, "none", tt.where("T"))
}

func TestRenewal(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", timeout: protocol.Some[int64](1000), topics: topics("T", "U")}
	tt.register(b)
	r, _ := b.request()
	body := []byte("body")
	renew := func(change func(*registration)) bool {
		again := *r
		if change != nil {
			change(&again)
		}
		_, ok := tt.renew(&again, body)
		return ok
	}
	require.False(t, renew(nil), "another body")
	again := *r
	tt.renew(&again, body)
	_, err := tt.routeTable.register(&again, &protocol.RegisterBrokerBody{Topics: b.topics, DataVersion: &b.version})
	require.NoError(t, err)
	require.True(t, renew(nil))
	for what, change := range map[string]func(*registration){
		"name":          func(r *registration) { r.header.BrokerName = "b" },
		"id":            func(r *registration) { r.header.BrokerID = 1 },
		"HA address":    func(r *registration) { r.header.HAServerAddr.Value = "h" },
		"zone":          func(r *registration) { r.header.ZoneName = protocol.Some("") },
		"acting master": func(r *registration) { r.header.EnableActingMaster = actingOff },
		"timeout":       func(r *registration) { r.header.HeartbeatTimeoutMillis.Value = 7 },
		"CRC":           func(r *registration) { r.header.BodyCRC32 = 7 },
		"version":       func(r *registration) { r.version = 36 },
		"switch":        func(r *registration) { r.deleteTopics = true },
	} {
		require.False(t, renew(change), what)
	}

	tt.now = time.Second
	require.True(t, renew(nil))
	tt.now = 2 * time.Second
	require.Empty(t, tt.expire(settled, false), "renewed in time")

	second := newPeer()
	require.True(t, renew(func(r *registration) { r.conn = second }), "on another connection")
	tt.check()
	tt.close(b)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("T"))
	tt.connectionClosed(second, false)
	require.Equal(t, "none", tt.where("T"))
	require.False(t, renew(nil), "gone")
}

func TestSlaveBecomesMasterWithTheSameVersion(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", id: 1, addr: "X", acting: actingOn, topics: topics("T", "U")}
	tt.register(b)
	require.Equal(t, int32(4), tt.perm("T"))
	b.id = 0
	tt.register(b)
	require.Equal(t, int32(6), tt.perm("T"))
}

func TestRepetitionsThatHaveAnEffect(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", topics: topics("T", "U"), deleteTopics: true}
	tt.register(b)
	tt.registerTopic("S", []protocol.QueueData{{BrokerName: "a", Perm: 6}})
	tt.register(b)
	require.Equal(t, "none", tt.where("S"), "the broker's table does not have it")
	tt.unregister(b)

	master, slave := masterAndSlave()
	slave.topics = topics("T", "OnlySlave")
	tt.register(master)
	tt.register(slave)
	require.Equal(t, "none", tt.where("OnlySlave"))
	tt.unregister(master)
	tt.register(slave)
	require.Equal(t, "a{1:Y} 8/8/4", tt.where("OnlySlave"), "now its topics count")
}

func TestRenewalKeepsReadyAnswers(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", topics: topics("T", "U")}
	tt.register(b)
	q := routeQuery{form: protocol.FormStrict}
	body := func() *byte { return &tt.route("T", q).Body[0] }
	ready := body()
	tt.register(b)
	require.Same(t, ready, body(), "renewed")
	b.version.Counter++
	tt.register(b)
	require.Same(t, ready, body(), "only the data version has changed")
	b.version.Counter++
	b.topics = []protocol.TopicConfig{topic("T"), topicWith("U", 3, 6)}
	tt.register(b)
	require.Same(t, ready, body(), "another topic has changed")
	require.Equal(t, "a{0:X} 3/3/6", tt.where("U"))
}

func TestOldSlavesBringNoTopics(t *testing.T) {
	tt := newTableTest(t)
	slave := &broker{name: "a", id: 1, addr: "Y", topics: topics("T", "OnlySlave")}
	tt.register(slave)
	require.Empty(t, tt.allTopics())
	tt.register(&broker{name: "a", addr: "X", topics: topics("T", "U")})
	slave.version.Counter++
	require.Equal(t, protocol.Some("X"), tt.register(slave).header.MasterAddr)
	require.Equal(t, []string{"T", "U"}, sorted(tt.allTopics()))
}

func TestPrimeSlave(t *testing.T) { // golden transcript register-prime-slave
	tt := newTableTest(t)
	b3 := &broker{name: "a", id: 3, addr: "3", acting: actingOff, topics: topics("S1", "S2")}
	tt.register(b3)
	require.Equal(t, "a{3:3} 8/8/6", tt.where("S1"))
	b3.acting, b3.version.Counter = actingOn, 2
	tt.register(b3)
	require.Equal(t, int32(4), tt.perm("S1"))
	tt.register(&broker{name: "a", id: 2, addr: "2", acting: actingOn, topics: topics("S1", "S3")})
	require.Equal(t, "a{2:2 3:3} 8/8/4", tt.where("S3"))
	b3.topics, b3.version.Counter = topics("S4", "S5"), 3
	tt.register(b3)
	require.Equal(t, "none", tt.where("S4"))
	b1 := &broker{name: "a", id: 1, addr: "1", topics: topics("S6", "S7")}
	tt.register(b1)
	require.Equal(t, "none", tt.where("S6"))
	require.Equal(t, int32(4), tt.perm("S1"))
	b1.acting = actingOn
	tt.register(b1)
	require.Equal(t, int32(4), tt.perm("S6"))
	b1.acting, b1.version.Counter = actingOff, 2
	tt.register(b1)
	require.Equal(t, int32(6), tt.perm("S6"))
}

func TestFilterServers(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", filterServers: []string{"f1", "f2"}, topics: topics("T", "U")}
	tt.register(b)
	tt.register(&broker{name: "a", id: 1, addr: "Y", topics: topics("T", "U")})
	require.Equal(t, map[string][]string{"X": {"f1", "f2"}}, tt.look("T").FilterServerTable)

	r, body := b.request()
	body.FilterServerList = nil // leaves the list alone
	_, err := tt.routeTable.register(r, body)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"X": {"f1", "f2"}}, tt.look("T").FilterServerTable)
	b.filterServers = []string{}
	tt.register(b)
	require.Empty(t, tt.look("T").FilterServerTable)
}

func mapping(topic, bname string, epoch int64) protocol.NamedQueueMapping {
	return protocol.NamedQueueMapping{Key: topic, Info: protocol.TopicQueueMappingInfo{
		Topic: topic, Bname: bname, Scope: "__global__", TotalQueues: 1, Epoch: epoch,
		CurrIDMap: []protocol.QueueIDMapping{{LogicID: 0, PhysicalID: 0}},
	}}
}

func TestStaticTopics(t *testing.T) {
	tt := newTableTest(t)
	epochs := func(name string) map[string]string {
		t.Helper()
		found := map[string]string{}
		for bname, m := range tt.look(name).TopicQueueMappingByBroker {
			found[bname] = m.Epoch.String()
		}
		return found
	}
	a := &broker{name: "a", addr: "X", topics: topics("S", "U"), mappings: []protocol.NamedQueueMapping{mapping("S", "a", 5), mapping("not there", "a", 5)}}
	tt.register(a)
	require.Equal(t, map[string]string{"a": "5"}, epochs("S"))
	require.Empty(t, epochs("U"))
	a.mappings = []protocol.NamedQueueMapping{mapping("S", "a", 6)}
	tt.register(a)
	require.Equal(t, map[string]string{"a": "5"}, epochs("S"), "same version: not taken")
	a.version.Counter++
	tt.register(a)
	require.Equal(t, map[string]string{"a": "6"}, epochs("S"))
	b := &broker{name: "b", addr: "Y", topics: topics("S", "V"), mappings: []protocol.NamedQueueMapping{mapping("S", "b", 7), mapping("S", "elsewhere", 1)}}
	tt.register(b)
	require.Equal(t, map[string]string{"a": "6", "b": "7", "elsewhere": "1"}, epochs("S"))

	tt.deleteTopic("S", "")
	tt.register(a)
	require.Equal(t, map[string]string{"a": "6"}, epochs("S"), "topic and mapping come back with their broker")
	tt.register(b)
	tt.unregister(b)
	require.Equal(t, map[string]string{"a": "6"}, epochs("S"), "F5: mappings go with their broker")
	b.mappings = []protocol.NamedQueueMapping{mapping("S", "a", 8)}
	tt.register(b)
	tt.deleteTopic("S", "")
	tt.register(b)
	require.Equal(t, map[string]string{"a": "8"}, epochs("S"), "another broker may tell")
	tt.register(a)
	tt.unregister(a)
	require.Empty(t, epochs("S"), "F5: they go with whom they are about")
	tt.register(a)
	tt.unregister(b)

	tt.deleteTopic("S", "")
	a.mappings = nil
	tt.register(a)
	require.Empty(t, epochs("S"), "F5: and with their topic")
}

func TestStaticTopicsKeepOthersFromBeingDeleted(t *testing.T) {
	tt := newTableTest(t)
	a := &broker{name: "a", addr: "X", topics: topics("S", "U", "V"), deleteTopics: true}
	tt.register(a)
	a.topics, a.mappings = topics("S", "U"), []protocol.NamedQueueMapping{mapping("S", "a", 5)}
	tt.register(a)
	require.Equal(t, "a{0:X} 8/8/6", tt.where("V"))
}

func TestTwoEntriesOfOneTopic(t *testing.T) {
	tt := newTableTest(t)
	b := &broker{name: "a", addr: "X", topics: []protocol.TopicConfig{topicWith("T", 1, 6), topicWith("T", 2, 6)}}
	tt.register(b)
	require.Equal(t, "a{0:X} 2/2/6", tt.where("T"), "the later one")
	b.topics, b.version.Counter = []protocol.TopicConfig{topicWith("T", 1, 6), topicWith("T", 2, 6)}, 2
	tt.register(b)
	require.Equal(t, "a{0:X} 2/2/6", tt.where("T"))
}

func TestZonesOfMembersAlternate(t *testing.T) {
	tt := newTableTest(t)
	master, slave := masterAndSlave()
	master.zone, slave.zone = protocol.Some("z1"), protocol.Some("z2")
	for range 2 { // the last registration counts, repeated or not
		tt.register(master)
		require.Equal(t, "z1", *tt.look("T").BrokerDatas[0].ZoneName)
		tt.register(slave)
		require.Equal(t, "z2", *tt.look("T").BrokerDatas[0].ZoneName)
	}
	master.zone = protocol.Opt[string]{}
	tt.register(master)
	require.Nil(t, tt.look("T").BrokerDatas[0].ZoneName)
}

func TestNoticesOfLowerIDs(t *testing.T) {
	lower := func(id int64, addr string, to ...string) []notice {
		return []notice{{targets: to, header: protocol.NotifyMinBrokerIDChangeRequestHeader{
			MinBrokerID: protocol.Some(id), MinBrokerAddr: protocol.Some(addr), HABrokerAddr: protocol.Some("ha-" + addr),
		}}}
	}
	tt := newTableTest(t)
	at := func(id int64, addr string, v int64) *broker {
		return &broker{name: "a", id: id, addr: addr, acting: actingOn, notify: true, version: version(0, 1, v), topics: topics("T", "U")}
	}
	require.Empty(t, tt.register(at(2, "Z", 1)).notices, "the first one")
	require.Equal(t, lower(1, "Y", "Z"), tt.register(at(1, "Y", 1)).notices)
	require.Equal(t, lower(0, "X", "Y", "Z"), tt.register(at(0, "X", 1)).notices)
	require.Empty(t, tt.register(at(0, "X", 2)).notices, "again")
	require.Empty(t, tt.register(at(5, "W", 1)).notices, "a higher id")
	tt.unregister(&broker{name: "a", addr: "X"})
	require.Equal(t, lower(0, "Y", "Z", "W"), tt.register(at(0, "Y", 2)).notices, "the lowest gets a lower id")
	require.Equal(t, lower(-1, "V", "V"), tt.register(&broker{name: "n", id: -1, addr: "V", acting: actingOn, notify: true}).notices, "negative and alone")

	silent := at(-2, "S", 1)
	silent.notify = false
	require.Empty(t, tt.register(silent).notices, "switch off")
	off := at(-3, "Q", 1)
	off.acting = actingOff
	require.Empty(t, tt.register(off).notices, "F23: a group without acting master")
}
