package namesrv_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/namesrv"
	"github.com/mq-server/mq/protocol"
)

// What the original's own tests assert, by the numbers of spec/namesrv.md §13: A (server, hooks) and C (requests). B is in
// the tests of the route table; options and exit statuses of A3 are package cmd's.

func TestPeer1NewServerIsComplete(t *testing.T) {
	_, err := namesrv.New(namesrv.Options{})
	require.Error(t, err)
	dir := t.TempDir()
	store, err := conf.Load(conf.Sources{Environ: []string{"HOME=" + dir}})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	s, err := namesrv.New(namesrv.Options{Listener: l, Config: store})
	require.NoError(t, err)
	require.Equal(t, l.Addr(), s.Addr())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries, "nothing is started or written before Run")
}

func TestPeer2StartAndShutdown(t *testing.T) {
	ns := startNamesrv(t)
	ns.stop()
	ns.stop() // harmless
	_, err := net.Dial("tcp", ns.Addr)
	require.Error(t, err)
}

// Connections without a broker come and go without a trace.
func TestPeer4ClosingMeansNothing(t *testing.T) {
	ns := startNamesrv(t)
	ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1"})
	before := ns.snapshot()
	for range 20 {
		c := ns.dial()
		c.must(protocol.ReqGetAllTopicListFromNameServer, nil, "")
		if err := c.conn.(*net.TCPConn).SetLinger(0); err != nil {
			t.Fatal(err)
		}
		c.close()
	}
	ns.dial().close()
	require.Equal(t, before, ns.snapshot())
}

func TestPeer5To9Zones(t *testing.T) {
	ns := startNamesrv(t)
	zone := func(name string) protocol.Ext { return ext("__ZONE_NAME", name) }
	topics := named("T", "baseTopic")
	ns.startBroker(testBroker{Name: "BrokerA", Addr: "10.0.0.1:10911", Topics: topics, More: zone("zone1")})
	ns.startBroker(testBroker{Name: "BrokerB", Addr: "10.0.0.2:10911", Topics: topics, More: zone("zone2")})
	c := ns.dial()
	c.must(protocol.ReqRegisterBroker, testBroker{Name: "BrokerA", Addr: "10.0.0.1:10911", More: zone("zone1")}.ext(),
		strings.Replace(testBroker{Name: "BrokerA", Topics: topics}.body(), `"filterServerList":[]`, `"filterServerList":["f:1"]`, 1))
	c.must(protocol.ReqRegisterBroker, testBroker{Name: "BrokerB", Addr: "10.0.0.2:10911", More: zone("zone2")}.ext(),
		strings.Replace(testBroker{Name: "BrokerB", Topics: topics}.body(), `"filterServerList":[]`, `"filterServerList":["f:2"]`, 1))
	body := func(code protocol.RequestCode, more ...string) string {
		t.Helper()
		return string(ns.Admin().must(code, ext(append([]string{"topic", "T"}, more...)...), "").Body)
	}
	all := body(protocol.ReqGetRouteInfoByTopic)
	require.Contains(t, all, "BrokerB")

	clusterInfo := body(protocol.ReqGetBrokerClusterInfo)
	require.Equal(t, clusterInfo, body(protocol.ReqGetBrokerClusterInfo, "__ZONE_MODE", "true", "__ZONE_NAME", "zone1"), "5: other requests")
	require.Equal(t, all, body(protocol.ReqGetRouteInfoByTopic, "__ZONE_MODE", "false", "__ZONE_NAME", "zone1"), "5: mode false")
	require.Equal(t, all, body(protocol.ReqGetRouteInfoByTopic, "__ZONE_MODE", "true"), "6: no name")
	require.Equal(t, all, body(protocol.ReqGetRouteInfoByTopic, "__ZONE_MODE", "true", "__ZONE_NAME", " "), "6: blank name")
	ns.Admin().refused(protocol.RespTopicNotExist, protocol.ReqGetRouteInfoByTopic,
		ext("topic", "none", "__ZONE_MODE", "true", "__ZONE_NAME", "zone1"), "", "none") // 7, 8

	one := body(protocol.ReqGetRouteInfoByTopic, "__ZONE_MODE", "true", "__ZONE_NAME", "ZONE1") // 9
	require.NotContains(t, one, "BrokerB")
	require.NotContains(t, one, "10.0.0.2")
	require.Contains(t, one, `"filterServerTable":{"10.0.0.1:10911":["f:1"]}`)
	require.Contains(t, one, `"brokerAddrs":{"0":"10.0.0.1:10911"}`, "the form that the client asked for")
	none := body(protocol.ReqGetRouteInfoByTopic, "__ZONE_MODE", "true", "__ZONE_NAME", "zone9")
	require.Equal(t, `{"brokerDatas":[],"filterServerTable":{},"queueDatas":[]}`, none)
}

func TestPeer42KV(t *testing.T) {
	c := startNamesrv(t).Admin()
	answer := c.must(protocol.ReqPutKVConfig, ext("namespace", "namespace", "key", "key", "value", "value"), "")
	require.False(t, answer.HasRemark)
	require.Nil(t, answer.Ext)
	answer = c.must(protocol.ReqGetKVConfig, ext("namespace", "namespace", "key", "key"), "")
	require.Equal(t, ext("value", "value"), answer.Ext)
	absent := c.ask(protocol.ReqGetKVConfig, ext("namespace", "ns", "key", "k"), "")
	require.Equal(t, int32(protocol.RespQueryNotFound), absent.Code)
	require.Equal(t, "No config item, Namespace: ns Key: k", absent.Remark)
	require.Empty(t, absent.Ext)
	c.must(protocol.ReqDeleteKVConfig, ext("namespace", "namespace", "key", "key"), "")
	c.refused(protocol.RespQueryNotFound, protocol.ReqGetKVConfig, ext("namespace", "namespace", "key", "key"), "")
}

func TestPeer43UnknownCode(t *testing.T) {
	c := startNamesrv(t).Admin()
	require.Equal(t, " request type 10000 not supported", c.refused(protocol.RespRequestCodeNotSupported, 10000, nil, "").Remark)
}

func TestPeer44UpdateConfig(t *testing.T) {
	c := startNamesrv(t).Admin()
	c.must(protocol.ReqUpdateNamesrvConfig, nil, "enableTopicList=true")
	for _, key := range []string{"configStorePath", "kvConfigPath", "configBlackList"} {
		answer := c.refused(protocol.RespNoPermission, protocol.ReqUpdateNamesrvConfig, nil, key+"=/x")
		require.Equal(t, "Can not update config in black list.", answer.Remark)
	}
}

func TestPeer45Register(t *testing.T) {
	for _, version := range []protocol.Version{0, 100} {
		ns := startNamesrv(t)
		c := ns.dial()
		c.version = version
		b := testBroker{Name: "broker", Addr: "10.10.1.1", ID: 2333}
		answer := c.must(protocol.ReqRegisterBroker, b.ext(), "")
		require.False(t, answer.HasRemark)
		require.Equal(t, map[string]string{"2333": "10.10.1.1"}, ns.clusters().BrokerAddrTable["broker"].BrokerAddrs)
	}
}

// Stronger than 46, where the original leaves this to a queue.
func TestPeer46UnregisterIsDoneWhenAnswered(t *testing.T) {
	ns := startNamesrv(t)
	b := testBroker{Name: "broker", Addr: "10.10.1.1", ID: 2333}
	c := ns.startBroker(b)
	c.unregister(b)
	require.Empty(t, ns.clusters().BrokerAddrTable)
}

func TestPeer47AllTopicsSwitch(t *testing.T) {
	c := startNamesrv(t).Admin()
	c.must(protocol.ReqGetAllTopicListFromNameServer, nil, "")
	c.must(protocol.ReqUpdateNamesrvConfig, nil, "enableAllTopicList=false")
	require.Equal(t, "disable", c.refused(protocol.RespSystemError, protocol.ReqGetAllTopicListFromNameServer, nil, "").Remark)
}

func TestPeer48Route(t *testing.T) {
	ns := startNamesrv(t)
	ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1"})
	require.NoError(t, ns.Admin().isServed("a-1", "a"))
	require.ErrorIs(t, ns.Admin().isServed("unknown", "a"), errNoRoute)
}

func TestPeer49AllElse(t *testing.T) {
	ns := startNamesrv(t)
	b := testBroker{Name: "a", Addr: "127.0.0.1:1"}
	ns.startBroker(b)
	for _, tt := range []struct {
		code   protocol.RequestCode
		fields protocol.Ext
		body   string
	}{
		{106, nil, ""}, {322, b.ext(), ""}, {901, b.ext(), ""}, {904, b.ext(), ""}, {327, b.ext(), ""}, {205, b.ext(), ""},
		{216, ext("topic", "T"), ""}, {224, ext("cluster", "C"), ""}, {304, nil, ""}, {311, nil, ""}, {312, nil, ""}, {313, nil, ""},
		{318, nil, "{key=value}"}, {319, nil, ""},
	} {
		answer := ns.Admin().must(tt.code, tt.fields, tt.body)
		require.False(t, answer.HasRemark, "code %d", tt.code)
	}
}

func TestPeer50KVList(t *testing.T) {
	c := startNamesrv(t).Admin()
	c.refused(protocol.RespQueryNotFound, protocol.ReqGetKVListByNamespace, ext("namespace", "N"), "")
	c.put("N", "k", "v")
	require.Equal(t, `{"table":{"k":"v"}}`, string(c.must(protocol.ReqGetKVListByNamespace, ext("namespace", "N"), "").Body))
}

func TestPeer51ClusterTest(t *testing.T) {
	ns := startNamesrv(t, "clusterTest=true", "productEnvName=nowhere")
	answer := ns.Admin().refused(protocol.RespTopicNotExist, protocol.ReqGetRouteInfoByTopic, ext("topic", "unknown"), "")
	require.Contains(t, answer.Remark, "unknown")
}

func TestPeer52WarmUp(t *testing.T) {
	clock := &testClock{at: time.Now()}
	for _, tt := range []struct {
		check bool
		wait  int
		after time.Duration
		ready bool
	}{
		{true, 0, 0, true},
		{false, 45, 0, true},
		{true, 45, 0, false},
		{true, 3, 0, false},
		{true, 3, 2999 * time.Millisecond, false},
		{true, 3, 4 * time.Second, true},
	} {
		ns := startNamesrvWith(t, namesrv.Options{Now: clock.now},
			fmt.Sprintf("needWaitForService=%t", tt.check), fmt.Sprintf("waitSecondsForService=%d", tt.wait))
		ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1"})
		clock.advance(tt.after)
		answer := ns.Admin().ask(protocol.ReqGetRouteInfoByTopic, ext("topic", "a-1"), "")
		if tt.ready {
			require.Zero(t, answer.Code, "%+v", tt)
		} else {
			require.Equal(t, int32(protocol.RespSystemError), answer.Code, "%+v", tt)
			require.Equal(t, "name server not ready", answer.Remark)
		}
		ns.stop()
	}
}

func TestPeer53And54KVStore(t *testing.T) {
	ns := startNamesrv(t)
	c := ns.Admin()
	c.must(protocol.ReqDeleteKVConfig, ext("namespace", "N", "key", "k"), "")
	c.refused(protocol.RespQueryNotFound, protocol.ReqGetKVListByNamespace, ext("namespace", "N"), "")
	c.refused(protocol.RespQueryNotFound, protocol.ReqGetKVConfig, ext("namespace", "N", "key", "k"), "")
	for i := range 3 {
		c.put("N", fmt.Sprint("k", i), fmt.Sprint("v", i))
	}
	const want = `{"table":{"k0":"v0","k1":"v1","k2":"v2"}}`
	require.Equal(t, want, string(c.must(protocol.ReqGetKVListByNamespace, ext("namespace", "N"), "").Body))
	ns.stop()
	c = startNamesrvIn(t, ns.dir).Admin()
	require.Equal(t, want, string(c.must(protocol.ReqGetKVListByNamespace, ext("namespace", "N"), "").Body))
}
