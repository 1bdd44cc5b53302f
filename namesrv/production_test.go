package namesrv_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/namesrv"
	"github.com/mq-server/mq/protocol"
)

// Cluster-test mode: spec/namesrv.md §4.6.
func TestClusterTestMode(t *testing.T) {
	production := startNamesrv(t, "orderMessageEnable=true")
	production.startBroker(testBroker{Name: "p", Addr: "10.0.0.1:10911", Topics: named("both", "there")})
	production.Admin().put("ORDER_TOPIC_CONFIG", "there", "p:4")
	down, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	down.Close()

	ns := startNamesrvWith(t, namesrv.Options{Production: namesrv.Production{Addrs: []string{down.Addr().String(), production.Addr}}},
		"clusterTest=true", "needWaitForService=true")
	ns.startBroker(testBroker{Name: "t", Addr: "127.0.0.1:1", Topics: named("both", "here")})
	ns.Admin().put("ORDER_TOPIC_CONFIG", "here", "t:4")
	route := func(more ...string) string {
		t.Helper()
		return string(ns.Admin().must(protocol.ReqGetRouteInfoByTopic, ext(more...), "").Body)
	}
	for range 3 {
		require.Contains(t, route("topic", "here"), `"brokerAddrs":{0:"127.0.0.1:1"}`, "default JSON, no warm-up")
		require.Contains(t, route("topic", "here"), `"orderTopicConf":"t:4"`, "whatever orderMessageEnable says")
		require.NotContains(t, route("topic", "both"), "10.0.0.1", "what is known here is not asked for")
		require.Equal(t, `{"brokerDatas":[{"brokerAddrs":{0:"10.0.0.1:10911"},"brokerName":"p","cluster":"C","enableActingMaster":false}],"filterServerTable":{},"orderTopicConf":"p:4","queueDatas":[{"brokerName":"p","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}`,
			route("topic", "there"))
		require.Contains(t, route("topic", "there", "acceptStandardJsonOnly", "true"), `{"0":"10.0.0.1:10911"}`)
		ns.Admin().refused(protocol.RespTopicNotExist, protocol.ReqGetRouteInfoByTopic, ext("topic", "nowhere"), "", "nowhere")
		ns.Admin().refused(protocol.RespTopicNotExist, protocol.ReqGetRouteInfoByTopic, nil, "", "null")
	}
	require.Equal(t, []string{"both", "here"}, ns.topics(), "the other codes work")
}

// Two servers in cluster-test mode that take each other for production do not ask for ever.
func TestClusterTestModeDoesNotGoInCircles(t *testing.T) {
	var addrs [2]net.Listener
	for i := range addrs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		addrs[i] = l
	}
	first := startNamesrvOn(t, addrs[0], namesrv.Options{Production: namesrv.Production{Addrs: []string{addrs[1].Addr().String(), addrs[0].Addr().String()}}}, "clusterTest=true")
	startNamesrvOn(t, addrs[1], namesrv.Options{Production: namesrv.Production{Addrs: []string{addrs[0].Addr().String()}}}, "clusterTest=true")
	began := time.Now()
	first.Admin().refused(protocol.RespTopicNotExist, protocol.ReqGetRouteInfoByTopic, ext("topic", "nowhere"), "", "nowhere")
	require.Less(t, time.Since(began), 2*time.Second)
}

// A production environment that does not answer holds up nobody but who asks for it.
func TestClusterTestModeSilentProduction(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, by the kernel, and never answers
	require.NoError(t, err)
	defer silent.Close()
	ns := startNamesrvWith(t, namesrv.Options{Production: namesrv.Production{Addrs: []string{silent.Addr().String()}}}, "clusterTest=true")
	ns.startBroker(testBroker{Name: "t", Addr: "127.0.0.1:1"})
	c := ns.dial()
	began := time.Now()
	for range 20 {
		c.send(c.request(protocol.ReqGetRouteInfoByTopic, ext("topic", "nowhere"), ""))
	}
	known := c.request(protocol.ReqGetRouteInfoByTopic, ext("topic", "t-1"), "")
	c.send(known)
	answer, err := c.receive()
	require.NoError(t, err)
	require.Equal(t, known.Opaque, answer.Opaque)
	require.Zero(t, answer.Code)
	ns.Admin().must(protocol.ReqGetBrokerClusterInfo, nil, "")
	require.Less(t, time.Since(began), time.Second)
	answer, err = c.receive()
	require.NoError(t, err)
	require.Equal(t, int32(protocol.RespTopicNotExist), answer.Code)
}

// A connection cannot have more questions wait than it may have other requests, whoever else asks, nor make them large.
func TestClusterTestModeBoundsQuestions(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, by the kernel, and never answers
	require.NoError(t, err)
	defer silent.Close()
	ns := startNamesrvWith(t, namesrv.Options{Production: namesrv.Production{Addrs: []string{silent.Addr().String()}}}, "clusterTest=true")
	const allowed, asked = 32, 100
	greedy, modest := ns.dial(), ns.dial()
	question := func(c *client, topic string) *protocol.Command {
		return c.request(protocol.ReqGetRouteInfoByTopic, ext("topic", topic), "")
	}
	answered := func(c *client, want protocol.ResponseCode) *protocol.Command {
		t.Helper()
		answer, err := c.receive()
		require.NoError(t, err)
		require.Equal(t, int32(want), answer.Code)
		return answer
	}
	for range asked {
		greedy.send(question(greedy, "nowhere"))
	}
	for range asked - allowed {
		require.Equal(t, "[OVERLOAD]system busy, start flow control for a while", answered(greedy, protocol.RespSystemBusy).Remark)
	}
	long := question(greedy, strings.Repeat("x", 256))
	greedy.send(long)
	require.Equal(t, long.Opaque, answered(greedy, protocol.RespTopicNotExist).Opaque)
	modest.send(question(modest, "nowhere"))

	silent.Close() // and all that it has accepted: what waits is answered
	for range allowed {
		answered(greedy, protocol.RespTopicNotExist)
	}
	answered(modest, protocol.RespTopicNotExist)
	greedy.send(question(greedy, "nowhere")) // what was answered counts no longer
	answered(greedy, protocol.RespTopicNotExist)
}

func TestClusterTestModeAddressServer(t *testing.T) {
	production := startNamesrv(t)
	production.startBroker(testBroker{Name: "p", Addr: "10.0.0.1:10911"})
	var path atomic.Pointer[string]
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path.Store(&r.RequestURI)
		fmt.Fprintf(w, "\n %s ;\nsomething else\n", production.Addr)
	}))
	defer web.Close()
	ns := startNamesrvWith(t, namesrv.Options{Production: namesrv.Production{AddressServer: strings.TrimPrefix(web.URL, "http://")}},
		"clusterTest=true", "productEnvName=unit1")
	eventually(t, func() error {
		answer := ns.Admin().ask(protocol.ReqGetRouteInfoByTopic, ext("topic", "p-1"), "")
		if answer.Code != 0 {
			return fmt.Errorf("%d %s", answer.Code, answer.Remark)
		}
		return nil
	})
	require.Equal(t, "/rocketmq/nsaddr-unit1?nofix=1", *path.Load())
}

func TestProductionFromEnviron(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want namesrv.Production
		err  string
	}{
		{nil, namesrv.Production{AddressServer: "jmenv.tbsite.net"}, ""},
		{map[string]string{"NAMESRV_ADDR": "a:1; b:2;"}, namesrv.Production{Addrs: []string{"a:1", "b:2"}, AddressServer: "jmenv.tbsite.net"}, ""},
		{map[string]string{"ROCKETMQ_NAMESRV_DOMAIN": "host:80", "ROCKETMQ_NAMESRV_DOMAIN_SUBGROUP": "g"}, namesrv.Production{AddressServer: "host:80", SubGroup: "g"}, ""},
		{map[string]string{"NAMESRV_ADDR": "a,b"}, namesrv.Production{}, "NAMESRV_ADDR"},
	} {
		got, err := namesrv.ProductionFromEnviron(func(key string) string { return tt.env[key] })
		if tt.err != "" {
			require.ErrorContains(t, err, tt.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
}
