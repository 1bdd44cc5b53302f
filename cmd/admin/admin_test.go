package admin_test

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// cluster is a NameServer with two clusters of fake brokers: in "east" broker-a with a slave, and broker-b; in "west" broker-w.
type cluster struct {
	ns          string
	a, a1, b, w *fakeBroker
	masks       []string // of addresses, for golden texts
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{ns: startNamesrv(t)}
	ns := []string{c.ns}
	c.a = startBroker(t, "east", "broker-a", 0, ns, "Orders", "%RETRY%Group", "Ordered")
	c.a1 = startBroker(t, "east", "broker-a", 1, ns, "Orders", "%RETRY%Group", "Ordered")
	c.b = startBroker(t, "east", "broker-b", 0, ns, "Orders", "%RETRY%Group")
	c.w = startBroker(t, "west", "broker-w", 0, ns, "Orders", "Wild")
	c.masks = []string{c.ns, "127.0.0.1:09876", c.a.Addr, "127.0.0.1:10911", c.a1.Addr, "127.0.0.1:11911", c.b.Addr, "127.0.0.1:20911", c.w.Addr, "127.0.0.1:30911"}
	return c
}

// runtimeInfo is that of a 5.5.0 broker with some load.
func runtimeInfo(more ...string) *remoting.Response {
	table := protocol.KVTable{Table: map[string]string{
		"brokerVersionDesc": "V5_5_0", "brokerActive": "true", "putTps": "12.5 11.0 10.0", "getTransferredTps": "1234.567 0.0 0.0",
		"sendThreadPoolQueueSize": "3", "sendThreadPoolQueueHeadWaitTimeMills": "17",
		"pullThreadPoolQueueSize": "4", "pullThreadPoolQueueHeadWaitTimeMills": "18",
		"ackThreadPoolQueueSize": "5", "ackThreadPoolQueueHeadWaitTimeMills": "19",
		"timerReadBehind": "2", "timerOffsetBehind": "7", "timerCongestNum": "25000", "timerEnqueueTps": "1.5", "timerDequeueTps": "2.5",
		"pageCacheLockTimeMills": "6", "earliestMessageTimeStamp": "-1", "commitLogDiskRatio": "0.25",
		"msgPutTotalYesterdayMorning": "100", "msgPutTotalTodayMorning": "150", "msgPutTotalTodayNow": "175",
		"msgGetTotalYesterdayMorning": "10", "msgGetTotalTodayMorning": "20", "msgGetTotalTodayNow": "50",
	}}
	for i := 0; i < len(more); i += 2 {
		if table.Table[more[i]] = more[i+1]; more[i+1] == "" {
			delete(table.Table, more[i])
		}
	}
	return remoting.Body(table.AppendJSON(nil, protocol.FormDefault))
}

func TestClusterList(t *testing.T) {
	c := startCluster(t)
	for _, b := range []*fakeBroker{c.a, c.a1, c.b} {
		b.answer(protocol.ReqGetBrokerRuntimeInfo, runtimeInfo())
	}
	c.w.answer(protocol.ReqGetBrokerRuntimeInfo, runtimeInfo("brokerVersionDesc", "V4_9_7", "brokerActive", "", "ackThreadPoolQueueSize", "",
		"ackThreadPoolQueueHeadWaitTimeMills", "", "getTransferredTps", "", "getTransferedTps", "99.0 1.0 1.0"))

	golden(t, "clusterList", succeed(t, "clusterList", "-n", c.ns), c.masks...)
	golden(t, "clusterList-m", succeed(t, "clusterList", "-n", c.ns, "-m"), c.masks...)
	west := succeed(t, "clusterList", "-n", c.ns, "-c", "west")
	require.Contains(t, west, "broker-w")
	require.NotContains(t, west, "broker-a")
	row := asJSON(t, "clusterList", "-n", c.ns, "-c", "west").(map[string]any)["brokers"].([]any)[0].(map[string]any)
	require.Equal(t, "broker-w", row["brokerName"])
	require.EqualValues(t, 12.5, row["inTps"])
	require.EqualValues(t, 99, row["outTps"], "the figure has another name in 4.9")
	require.EqualValues(t, 25, row["inTotalToday"])

	_, stderr := fail(t, "clusterList", "-n", c.ns, "-c", "nowhere")
	require.Contains(t, stderr, `no cluster "nowhere"`)

	// A broker that does not answer has a line, all others theirs, and the command fails.
	c.b.refuse(protocol.ReqGetBrokerRuntimeInfo, protocol.RespSystemError, "no\nmood")
	stdout, stderr := fail(t, "clusterList", "-n", c.ns)
	golden(t, "clusterList-failed", stdout, c.masks...)
	require.Equal(t, "mq: "+c.b.Addr+" answers 1 (SYSTEM_ERROR): no mood\n", stderr)
}

func TestFiguresThatAreNone(t *testing.T) {
	c := startCluster(t)
	c.w.answer(protocol.ReqGetBrokerRuntimeInfo, runtimeInfo("putTps", "NaN 0.0 0.0", "getTransferredTps", "Infinity NaN NaN", "commitLogDiskRatio", "-Inf", "timerEnqueueTps", "1e999"))
	row := asJSON(t, "clusterList", "-n", c.ns, "-c", "west").(map[string]any)["brokers"].([]any)[0].(map[string]any)
	for _, figure := range []string{"inTps", "outTps", "commitLogDiskRatio", "timerEnqueueTps"} {
		require.Zero(t, row[figure], figure)
	}
}

func TestClusterListShowsTheAgeOfTheOldestMessage(t *testing.T) {
	c := startCluster(t)
	begin := time.Now().Add(-90 * time.Minute).UnixMilli()
	c.w.answer(protocol.ReqGetBrokerRuntimeInfo, runtimeInfo("earliestMessageTimeStamp", strconv.FormatInt(begin, 10)))
	require.Regexp(t, ` 1\.50 +0\.2500 `, succeed(t, "clusterList", "-n", c.ns, "-c", "west"))
}

func TestTopics(t *testing.T) {
	c := startCluster(t)
	for _, b := range []*fakeBroker{c.a, c.b, c.w} {
		b.answer(protocol.ReqQueryTopicConsumeByWho, remoting.Body([]byte(`{"groupList":["Zebra","Group"]}`)))
	}
	c.a.refuse(protocol.ReqQueryTopicConsumeByWho, protocol.RespSystemError, "") // then broker-b is asked, but for Ordered, which it has not

	golden(t, "topicList", succeed(t, "topicList", "-n", c.ns))
	stdout, stderr := fail(t, "topicList", "-n", c.ns, "-c")
	golden(t, "topicList-c", stdout)
	require.Equal(t, "mq: "+c.a.Addr+" answers 1 (SYSTEM_ERROR)\n", stderr)
	golden(t, "topicRoute", succeed(t, "topicRoute", "-n", c.ns, "-t", "Ordered"), c.masks...)
	golden(t, "topicRoute-l", succeed(t, "topicRoute", "-n", c.ns, "-t", "Orders", "-l"), c.masks...)
	require.Equal(t, "east\nwest\n", succeed(t, "topicClusterList", "-n", c.ns, "-t", "Orders"))

	route := asJSON(t, "topicRoute", "-n", c.ns, "-t", "Ordered").(map[string]any)
	require.Equal(t, map[string]any{"0": c.a.Addr, "1": c.a1.Addr}, route["brokerDatas"].([]any)[0].(map[string]any)["brokerAddrs"])
	require.Equal(t, map[string]any{"clusters": []any{"west"}}, asJSON(t, "topicClusterList", "-n", c.ns, "-t", "Wild"))

	for _, command := range []string{"topicRoute", "topicClusterList"} {
		stdout, stderr := fail(t, command, "-n", c.ns, "-t", "Nothing")
		require.Empty(t, stdout)
		require.Contains(t, stderr, "17 (TOPIC_NOT_EXIST)")
	}
}

func TestAllocateMQ(t *testing.T) {
	c := startCluster(t)
	out := succeed(t, "allocateMQ", "-n", c.ns, "-t", "Orders", "-i", "10.0.0.2, 10.0.0.1,10.0.0.3,10.0.0.4,10.0.0.5") // 12 queues
	golden(t, "allocateMQ", out)
	ns := startFake(t)
	ns.answer(protocol.ReqGetRouteInfoByTopic, remoting.Body([]byte(`{"brokerDatas":[],"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":2147483647,"writeQueueNums":1},{"brokerName":"b","perm":6,"readQueueNums":2147483647,"writeQueueNums":1}]}`)))
	_, tooMany := fail(t, "allocateMQ", "-n", ns.Addr, "-t", "Orders", "-i", "a")
	require.Equal(t, "mq: topic \"Orders\" has 4294967294 queues, more than the 1048576 that can be listed\n", tooMany)
	_, stderr := fail(t, "allocateMQ", "-n", c.ns, "-t", "Orders", "-i", "a,b,a")
	require.Contains(t, stderr, `"a" is empty or given twice`)
}

func createRequest(topic string, more ...string) request {
	fields := map[string]string{
		"topic": topic, "defaultTopic": "TBW102", "readQueueNums": "8", "writeQueueNums": "8", "perm": "6",
		"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
	}
	for i := 0; i < len(more); i += 2 {
		fields[more[i]] = more[i+1]
	}
	r := request{Code: protocol.ReqUpdateAndCreateTopic}
	for _, key := range []string{"topic", "defaultTopic", "readQueueNums", "writeQueueNums", "perm", "topicFilterType", "topicSysFlag", "order", "attributes"} {
		if value, ok := fields[key]; ok {
			r.Ext = append(r.Ext, protocol.Field{Key: key, Value: value})
		}
	}
	return r
}

func TestUpdateTopic(t *testing.T) {
	c := startCluster(t)
	out := succeed(t, "updateTopic", "-n", c.ns, "-c", "east", "-t", " New ")
	golden(t, "updateTopic", out, c.masks...)
	require.Equal(t, []request{createRequest("New")}, c.a.asked())
	require.Equal(t, []request{createRequest("New")}, c.b.asked())
	require.Empty(t, c.a1.asked(), "slaves follow their masters")
	require.Empty(t, c.w.asked())

	succeed(t, "updateTopic", "-b", c.a1.Addr, "-t", "New", "-r", "16", "-w", "12", "-p", "4", "-u", "true", "-s", "TRUE", "-o", "false", "-a", "-cleanup.policy,+message.type=FIFO")
	require.Equal(t, []request{createRequest("New", "readQueueNums", "16", "writeQueueNums", "12", "perm", "4", "topicSysFlag", "3", "attributes", "-cleanup.policy,+message.type=FIFO")}, c.a1.asked())

	// What one broker refuses the others have got, and the command fails.
	c.a.refuse(protocol.ReqUpdateAndCreateTopic, protocol.RespInvalidParameter, "not here")
	stdout, stderr := fail(t, "updateTopic", "-n", c.ns, "-c", "east", "-t", "New", "-o", "true")
	require.Contains(t, stdout, "create topic to "+c.b.Addr+" success.")
	require.NotContains(t, stdout, c.a.Addr)
	require.NotContains(t, stdout, "orderConf")
	require.Equal(t, "mq: "+c.a.Addr+" answers 29 (INVALID_PARAMETER): not here\n", stderr)
}

func TestUpdateTopicSetsTheOrder(t *testing.T) {
	c := startCluster(t)
	order := func() string { return orderConf(t, c.ns, "Ordered") }
	golden(t, "updateTopic-o", succeed(t, "updateTopic", "-n", c.ns, "-c", "east", "-t", "Ordered", "-w", "2", "-o", "true"), c.masks...)
	require.Equal(t, "broker-a:2;broker-b:2", order())
	out := succeed(t, "updateTopic", "-n", c.ns, "-b", c.a.Addr, "-t", "Ordered", "-w", "3", "-o", "true")
	require.Contains(t, out, "set broker orderConf. isOrder=true, orderConf=[broker-a:3]\n")
	require.Equal(t, "broker-a:3;broker-b:2", order())
	succeed(t, "updateTopic", "-n", c.ns, "-b", c.w.Addr, "-t", "Ordered", "-o", "true")
	require.Equal(t, "broker-a:3;broker-b:2;broker-w:8", order())
	require.Equal(t, createRequest("Ordered", "order", "true"), c.w.asked()[0])

	result := asJSON(t, "updateTopic", "-n", c.ns, "-b", c.w.Addr, "-t", "Ordered", "-o", "true")
	require.Equal(t, map[string]any{
		"topic": "Ordered", "readQueueNums": 8., "writeQueueNums": 8., "perm": 6., "topicSysFlag": 0., "order": true,
		"brokers": []any{map[string]any{"addr": c.w.Addr}}, "orderConf": "broker-w:8", "nameServers": []any{map[string]any{"addr": c.ns}},
	}, result)
}

// orderConf returns the order configuration that a NameServer has for a topic.
func orderConf(t *testing.T, ns, topic string) string {
	t.Helper()
	client := remoting.NewClient(remoting.ClientConfig{})
	defer client.Close()
	header := &protocol.GetKVConfigRequestHeader{Namespace: protocol.Some("ORDER_TOPIC_CONFIG"), Key: protocol.Some(topic)}
	resp, err := client.Invoke(t.Context(), ns, &protocol.Command{Code: int32(protocol.ReqGetKVConfig), Ext: header.AppendExt(nil)})
	require.NoError(t, err)
	value, _ := resp.Ext.Get("value")
	return value
}

func TestDeleteTopic(t *testing.T) {
	c := startCluster(t)
	del := request{Code: protocol.ReqDeleteTopicInBroker, Ext: protocol.Ext{{Key: "topic", Value: "Orders"}}}

	// As long as a broker has it, the NameServers keep it.
	c.b.refuse(protocol.ReqDeleteTopicInBroker, protocol.RespSystemError, "busy")
	stdout, stderr := fail(t, "deleteTopic", "-n", c.ns, "-c", "east", "-t", "Orders")
	require.Empty(t, stdout)
	require.Contains(t, stderr, "busy")
	require.Equal(t, []request{del}, c.a.asked())
	require.Equal(t, "east\nwest\n", succeed(t, "topicClusterList", "-n", c.ns, "-t", "Orders"))

	c.b.answer(protocol.ReqDeleteTopicInBroker, remoting.Success())
	require.Equal(t, "delete topic [Orders] from cluster [east] success.\ndelete topic [Orders] from NameServer success.\n",
		succeed(t, "deleteTopic", "-n", c.ns, "-c", "east", "-t", "Orders"))
	require.Equal(t, []request{del}, c.a.asked())
	require.Empty(t, c.w.asked())
	require.Equal(t, "west\n", succeed(t, "topicClusterList", "-n", c.ns, "-t", "Orders"), "other clusters keep theirs")

	_, stderr = fail(t, "deleteTopic", "-n", c.ns, "-c", "nowhere", "-t", "Orders")
	require.Contains(t, stderr, `no cluster "nowhere"`)
}

func TestSubGroups(t *testing.T) {
	c := startCluster(t)
	golden(t, "updateSubGroup", succeed(t, "updateSubGroup", "-n", c.ns, "-c", "east", "-g", "Group", "-s", "false", "-m", "true", "-d", "true", "-o", "true",
		"-q", "2", "-r", "3", "-i", "1", "-w", "2", "-a", "false", "--attributes", "+priority.factor=2",
		"-p", `{"type":"EXPONENTIAL","exponentialRetryPolicy":{"initial":1000,"max":9000,"multiplier":3}}`), c.masks...)
	got := c.a.asked()
	require.Equal(t, got, c.b.asked())
	require.Len(t, got, 1)
	require.Equal(t, protocol.ReqUpdateAndCreateSubscriptionGroup, got[0].Code)
	config, err := protocol.DecodeSubscriptionGroupConfig([]byte(got[0].Body))
	require.NoError(t, err)
	want := protocol.NewSubscriptionGroupConfig("Group")
	want.ConsumeEnable, want.ConsumeFromMinEnable, want.ConsumeBroadcastEnable, want.ConsumeMessageOrderly = false, true, true, true
	want.RetryQueueNums, want.RetryMaxTimes, want.BrokerID, want.WhichBrokerWhenConsumeSlowly = 2, 3, 1, 2
	want.NotifyConsumerIDsChangedEnable = false
	want.GroupRetryPolicy.Type = protocol.RetryExponential
	want.GroupRetryPolicy.ExponentialRetryPolicy = &protocol.ExponentialRetryPolicy{Initial: 1000, Max: 9000, Multiplier: 3}
	want.Attributes = map[string]string{"+priority.factor": "2"}
	require.Equal(t, want, config)

	golden(t, "updateSubGroup-plain", succeed(t, "updateSubGroup", "-b", c.w.Addr, "-g", "Group", "-p", `{"type":"CUSTOMIZED","customizedRetryPolicy":{"next":[1,2]}}`), c.masks...)
	c.w.asked()
	result := asJSON(t, "updateSubGroup", "-b", c.w.Addr, "-g", "Group").(map[string]any)
	require.Equal(t, "Group", result["subscriptionGroupConfig"].(map[string]any)["groupName"])
	require.Equal(t, []any{map[string]any{"addr": c.w.Addr}}, result["brokers"])

	golden(t, "deleteSubGroup", succeed(t, "deleteSubGroup", "-n", c.ns, "-c", "east", "-g", "Group", "-r", "true"), c.masks...)
	del := request{Code: protocol.ReqDeleteSubscriptionGroup, Ext: protocol.Ext{{Key: "groupName", Value: "Group"}, {Key: "cleanOffset", Value: "true"}, {Key: "removeOffset", Value: "true"}}}
	require.Equal(t, []request{del,
		{Code: protocol.ReqDeleteTopicInBroker, Ext: protocol.Ext{{Key: "topic", Value: "%RETRY%Group"}}},
		{Code: protocol.ReqDeleteTopicInBroker, Ext: protocol.Ext{{Key: "topic", Value: "%DLQ%Group"}}},
	}, c.b.asked())
	fail(t, "topicRoute", "-n", c.ns, "-t", "%RETRY%Group")

	c.w.asked()
	require.Equal(t, "delete subscription group [Group] from broker ["+c.w.Addr+"] success.\n", succeed(t, "deleteSubGroup", "-b", c.w.Addr, "-g", "Group"))
	require.Len(t, c.w.asked(), 1)
}

func TestBrokerStatus(t *testing.T) {
	c := startCluster(t)
	for _, b := range []*fakeBroker{c.a, c.a1, c.b} {
		b.answer(protocol.ReqGetBrokerRuntimeInfo, remoting.Body([]byte(`{"table":{"runtime":"[ 0 days ]","brokerVersionDesc":"V5_5_0"}}`)))
	}
	require.Equal(t, "brokerVersionDesc               : V5_5_0\nruntime                         : [ 0 days ]\n", succeed(t, "brokerStatus", "-b", c.a.Addr))
	golden(t, "brokerStatus", succeed(t, "brokerStatus", "-n", c.ns, "-c", "east"), c.masks...)
	require.Equal(t, map[string]any{"brokers": []any{map[string]any{"addr": c.a.Addr, "table": map[string]any{"runtime": "[ 0 days ]", "brokerVersionDesc": "V5_5_0"}}}},
		asJSON(t, "brokerStatus", "-b", c.a.Addr))
}

func TestBrokerConfig(t *testing.T) {
	c := startCluster(t)
	for _, b := range []*fakeBroker{c.a, c.a1, c.b} {
		b.answer(protocol.ReqGetBrokerConfig, remoting.Body([]byte("b=2\na=1\nbrokerIP1=127.0.0.1\ntext=x\\y = z\n")))
	}
	golden(t, "getBrokerConfig", succeed(t, "getBrokerConfig", "-n", c.ns, "-b", c.a1.Addr), c.masks...)
	golden(t, "getBrokerConfig-c", succeed(t, "getBrokerConfig", "-n", c.ns, "-c", "east"), c.masks...)

	// Values arrive as they are given, whatever is in them.
	for _, b := range []*fakeBroker{c.a, c.a1, c.b} {
		b.asked()
	}
	require.Equal(t, "update broker config success, "+c.a.Addr+"\nupdate broker config success, "+c.b.Addr+"\n",
		succeed(t, "updateBrokerConfig", "-n", c.ns, "-c", "east", "-k", "regionId", "-v", "a\\b\nbrokerConfigPath=é"))
	got := c.b.asked()
	require.Equal(t, protocol.ReqUpdateBrokerConfig, got[0].Code)
	require.Equal(t, "regionId=a\\\\b\\nbrokerConfigPath=\\u00E9\n", got[0].Body)
	require.Empty(t, c.a1.asked())
	succeed(t, "updateBrokerConfig", "-n", c.ns, "-c", "east", "-a", "true", "-k", "regionId", "-v", "")
	require.Equal(t, "regionId=\n", c.a1.asked()[0].Body)

	c.a.refuse(protocol.ReqUpdateBrokerConfig, protocol.RespNoPermission, "Can not update config in black list.")
	stdout, stderr := fail(t, "updateBrokerConfig", "-n", c.ns, "-c", "east", "-k", "brokerConfigPath", "-v", "x")
	require.Equal(t, "update broker config success, "+c.b.Addr+"\n", stdout)
	require.Contains(t, stderr, "16 (NO_PERMISSION): Can not update config in black list.")
}

func TestSlavesWithoutMaster(t *testing.T) {
	ns := startNamesrv(t)
	slave := startBroker(t, "east", "broker-a", 1, []string{ns}, "Orders")
	slave.answer(protocol.ReqGetBrokerConfig, remoting.Body([]byte("a=1\n")))
	require.Equal(t, "============Master: NO_MASTER============\n============My Master: NO_MASTER=====Slave: "+slave.Addr+"============\n"+
		"a                                                 =  1\n\n", succeed(t, "getBrokerConfig", "-n", ns, "-c", "east"))
	_, stderr := fail(t, "updateTopic", "-n", ns, "-c", "east", "-t", "New")
	require.Contains(t, stderr, `cluster "east" has no master`)
}

func TestNameServers(t *testing.T) {
	one, two := startNamesrv(t), startNamesrv(t)
	both := one + ";" + two
	startBroker(t, "east", "broker-a", 0, []string{one, two}, "Orders")
	masks := []string{one, "127.0.0.1:09876", two, "127.0.0.1:19876"}

	out := succeed(t, "updateNamesrvConfig", "-n", both, "-k", "waitSecondsForService", "-v", "46")
	require.Equal(t, "update name server config success!["+one+", "+two+"]\nwaitSecondsForService : 46\n", out)
	out = succeed(t, "getNamesrvConfig", "-n", both)
	require.Equal(t, 2, strings.Count(out, "\nwaitSecondsForService                             =  46\n"))
	require.Less(t, strings.Index(out, "============"+one+"============\n"), strings.Index(out, "============"+two+"============\n"))
	_, stderr := fail(t, "updateNamesrvConfig", "-n", both, "-k", "configStorePath", "-v", "/elsewhere")
	require.Contains(t, stderr, one+" answers 16 (NO_PERMISSION)")
	require.Contains(t, stderr, two+" answers 16 (NO_PERMISSION)")

	require.Equal(t, "create or update kv config to namespace success.\n", succeed(t, "updateKvConfig", "-n", both, "-s", "ORDER_TOPIC_CONFIG", "-k", "Orders", "-v", "broker-a:4"))
	for _, ns := range []string{one, two} {
		require.Equal(t, "broker-a:4", orderConf(t, ns, "Orders"))
	}
	require.Equal(t, "delete kv config from namespace success.\n", succeed(t, "deleteKvConfig", "-n", both, "-s", "ORDER_TOPIC_CONFIG", "-k", "Orders"))
	require.Empty(t, orderConf(t, two, "Orders"))

	golden(t, "wipeWritePerm", succeed(t, "wipeWritePerm", "-n", both, "-b", "broker-a"), masks...)
	for _, ns := range []string{one, two} {
		require.Contains(t, succeed(t, "topicRoute", "-n", ns, "-t", "Orders"), `"perm":4`)
	}
	require.Equal(t, map[string]any{"brokerName": "broker-a", "nameServers": []any{
		map[string]any{"addr": one, "topicCount": 2.}, map[string]any{"addr": two, "topicCount": 2.},
	}}, asJSON(t, "addWritePerm", "-n", both, "-b", "broker-a"))
	require.Contains(t, succeed(t, "topicRoute", "-n", one, "-t", "Orders"), `"perm":6`)

	// One that is away costs the others nothing.
	away := "127.0.0.1:1"
	stdout, stderr := fail(t, "wipeWritePerm", "-n", away+";"+two, "-b", "broker-a")
	require.Equal(t, "wipe write perm of broker[broker-a] in name server["+away+"] Failed\nwipe write perm of broker[broker-a] in name server["+two+"] OK, 2\n", stdout)
	require.Contains(t, stderr, "connect to "+away+" failed")
	require.Contains(t, succeed(t, "topicClusterList", "-n", away+";"+one, "-t", "Orders"), "east")
	stdout, _ = fail(t, "deleteKvConfig", "-n", away+";"+two, "-s", "s", "-k", "k")
	require.Empty(t, stdout)
}

// TestSilentNameServer has one accept connections and say nothing.
func TestSilentNameServer(t *testing.T) {
	ns := startNamesrv(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { ln.Close() })
	begin := time.Now()
	succeed(t, "topicList", "-n", ln.Addr().String()+";"+ns)
	require.Less(t, time.Since(begin), 4*time.Second, "the timeout is 5 s")
	_, stderr := fail(t, "topicList", "-n", ln.Addr().String(), "--timeout", "200ms")
	require.Contains(t, stderr, "timeout")
}

// TestSameBrokerNameInTwoClusters has a NameServer that, as Java's does, gives one address for a name of two clusters.
func TestSameBrokerNameInTwoClusters(t *testing.T) {
	ns := startFake(t)
	info := protocol.ClusterInfo{
		BrokerAddrTable:  []protocol.BrokerData{{Cluster: "west", BrokerName: "broker-a", BrokerAddrs: protocol.BrokerAddrs{{ID: 0, Addr: "127.0.0.1:1"}}}},
		ClusterAddrTable: []protocol.ClusterBrokers{{Cluster: "east", BrokerNames: []string{"broker-a"}}, {Cluster: "west", BrokerNames: []string{"broker-a"}}},
	}
	ns.answer(protocol.ReqGetBrokerClusterInfo, remoting.Body(info.AppendJSON(nil, protocol.FormDefault)))
	_, stderr := fail(t, "deleteTopic", "-n", ns.Addr, "-c", "east", "-t", "Orders")
	require.Contains(t, stderr, `broker name "broker-a" is in the clusters "east" and "west"`)
}

func TestConnections(t *testing.T) {
	c := startCluster(t)
	producers := protocol.ProducerConnection{ConnectionSet: []protocol.Connection{
		{ClientID: "10.0.0.2@1", ClientAddr: "10.0.0.2:50000", Language: protocol.LanguageGo, Version: protocol.Version5_0_0},
		{ClientID: "10.0.0.1@1", ClientAddr: "10.0.0.1:50000", Language: protocol.LanguageJava, Version: protocol.Version5_5_0},
	}}
	c.a.answer(protocol.ReqGetProducerConnectionList, remoting.Body(producers.AppendJSON(nil, protocol.FormDefault)))
	c.b.refuse(protocol.ReqGetProducerConnectionList, protocol.RespSystemError, "the producer group[P] not exist")
	producers.ConnectionSet = append(producers.ConnectionSet[:1], protocol.Connection{ClientID: "10.0.0.3@1", ClientAddr: "10.0.0.3:50000", Language: protocol.LanguageJava, Version: protocol.Version5_5_0})
	c.w.answer(protocol.ReqGetProducerConnectionList, remoting.Body(producers.AppendJSON(nil, protocol.FormDefault)))
	golden(t, "producerConnection", succeed(t, "producerConnection", "-n", c.ns, "-g", "P", "-t", "Orders"))

	consumers := protocol.ConsumerConnection{
		ConnectionSet: []protocol.Connection{{ClientID: "10.0.0.1@1", ClientAddr: "10.0.0.1:50001", Language: protocol.LanguageJava, Version: protocol.Version5_5_0}},
		SubscriptionTable: []protocol.SubscriptionData{
			{Topic: "Orders", SubString: "TagA || TagB", ExpressionType: "TAG"}, {Topic: "%RETRY%Group", SubString: "*", ExpressionType: "TAG"},
		},
		ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering, ConsumeFromWhere: protocol.ConsumeFromFirstOffset,
	}
	c.a.refuse(protocol.ReqGetConsumerConnectionList, protocol.RespConsumerNotOnline, "the consumer group[Group] not online")
	c.b.answer(protocol.ReqGetConsumerConnectionList, remoting.Body(consumers.AppendJSON(nil, protocol.FormDefault)))
	golden(t, "consumerConnection", succeed(t, "consumerConnection", "-n", c.ns, "-g", "Group"))
	require.Equal(t, succeed(t, "consumerConnection", "-n", c.ns, "-g", "Group"), succeed(t, "consumerConnection", "-b", c.b.Addr, "-g", "Group"))
	require.Equal(t, "CLUSTERING", asJSON(t, "consumerConnection", "-b", c.b.Addr, "-g", "Group").(map[string]any)["messageModel"])

	c.b.refuse(protocol.ReqGetConsumerConnectionList, protocol.RespConsumerNotOnline, "the consumer group[Group] not online")
	for _, args := range [][]string{{"-n", c.ns}, {"-b", c.b.Addr}} {
		stdout, stderr := fail(t, append([]string{"consumerConnection", "-g", "Group"}, args...)...)
		require.Empty(t, stdout)
		require.Contains(t, stderr, `no consumer of group "Group" is online`)
	}
}
