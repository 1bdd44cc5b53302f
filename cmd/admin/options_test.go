package admin_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/cmd"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// TestMistakes has each mistake in a command line be one line on stderr that says what it is, and nothing be asked of anybody.
func TestMistakes(t *testing.T) {
	ns, broker := startFake(t), startFake(t)
	policy := func(text string) []string {
		return []string{"updateSubGroup", "-b", broker.Addr, "-g", "G", "-p", text}
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"unknown command":            {[]string{"clusterLists"}, `there is no command "clusterLists" (see mq admin --help)`},
		"unknown option":             {[]string{"clusterList", "-z"}, "unrecognized option: -z (see mq admin clusterList --help)"},
		"stray word":                 {[]string{"clusterList", "all"}, `unexpected "all"`},
		"stray word between":         {[]string{"deleteTopic", "-c", "east", "Orders", "-t", "T"}, `unexpected "Orders"`},
		"value missing":              {[]string{"topicRoute", "-t"}, "flag needs an argument: -t"},
		"topic missing":              {[]string{"topicRoute"}, "--topic: a value is required"},
		"topic blank":                {[]string{"topicRoute", "-t", " "}, "--topic: a value is required"},
		"neither broker nor cluster": {[]string{"brokerStatus"}, "give either a broker (-b) or a cluster (-c)"},
		"broker and cluster":         {[]string{"updateTopic", "-t", "T", "-b", broker.Addr, "-c", "east"}, "give either a broker (-b) or a cluster (-c)"},
		"no number":                  {[]string{"updateTopic", "-b", broker.Addr, "-t", "T", "-r", "many"}, `--readQueueNums: "many" is no number`},
		"number too large":           {[]string{"updateTopic", "-b", broker.Addr, "-t", "T", "-w", "2147483648"}, `--writeQueueNums: "2147483648" is no number of 32 bits`},
		"number negative":            {[]string{"updateTopic", "-b", broker.Addr, "-t", "T", "-w", "-1"}, "less than none"},
		"permission":                 {[]string{"updateTopic", "-b", broker.Addr, "-t", "T", "-p", "8"}, "permission 8"},
		"no boolean":                 {[]string{"updateTopic", "-b", broker.Addr, "-t", "T", "-o", "yes"}, `--order: "yes" is neither true nor false`},
		"attribute without sign":     {[]string{"updateTopic", "-b", broker.Addr, "-t", "T", "-a", "a=b"}, `attribute "a=b": to set one write +name=value`},
		"attribute without value":    {[]string{"updateTopic", "-b", broker.Addr, "-t", "T", "-a", "+a"}, `attribute "+a": to remove one write -name`},
		"attribute twice":            {[]string{"updateTopic", "-b", broker.Addr, "-t", "T", "-a", "+a=b,+a=c"}, `attribute "+a" is given twice`},
		"policy is no JSON":          {policy("EXPONENTIAL"), `--groupRetryPolicy: retry policy "EXPONENTIAL" is no JSON object`},
		"policy is more than one":    {policy(`{},"retryMaxTimes":7`), "is no JSON object"},
		"policy is null":             {policy("null"), "is no JSON object"},
		"policy of no type":          {policy(`{"type":"LINEAR"}`), `retry policy: type "LINEAR" is neither EXPONENTIAL nor CUSTOMIZED`},
		"policy with another member": {policy(`{"customizedRetryPolicies":{}}`), `unknown field "customizedRetryPolicies"`},
		"policy with bad steps":      {policy(`{"customizedRetryPolicy":{"next":["1s"]}}`), "cannot unmarshal string"},
		"value of an item missing":   {[]string{"updateBrokerConfig", "-b", broker.Addr, "-k", "a"}, "--value: a value is required"},
		"interval":                   {[]string{"clusterList", "-i", "0"}, "--interval: 0 is no time to wait"},
		"timeout":                    {[]string{"clusterList", "--timeout", "0s"}, "--timeout: 0s is no time to wait"},
		"consumers":                  {[]string{"allocateMQ", "-t", "T", "-i", "a,,b"}, `consumer "" is empty or given twice`},
		"commas in the list":         {[]string{"clusterList", "-n", "a:1,b:1"}, `-n: "a:1,b:1" is not host:port`},
		"port missing":               {[]string{"brokerStatus", "-b", "localhost"}, `address "localhost" has no port`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("NAMESRV_ADDR", ns.Addr)
			stdout, stderr := fail(t, c.args...)
			require.Empty(t, stdout)
			require.Contains(t, stderr, c.want)
		})
	}
	require.Empty(t, ns.asked())
	require.Empty(t, broker.asked())
}

// TestSpellings has options in all the ways that mqadmin takes them.
func TestSpellings(t *testing.T) {
	c := startCluster(t)
	want := succeed(t, "topicRoute", "-n", c.ns, "-t", "Orders", "-l")
	for _, args := range [][]string{
		{"topicroute", "-l", "-n" + c.ns, "-tOrders"},
		{"TOPICROUTE", "--namesrvAddr", c.ns, "--topic", "Orders", "--list"},
		{"topicRoute", "--namesrvAddr=" + c.ns + ";", "--topic=Orders", "--list"},
		{"topicRoute", "-namesrvAddr", c.ns, "-topic", "Orders", "-list"},
		{"topicRoute", "--name", c.ns, "--to", "Orders", "--li"},
	} {
		require.Equal(t, want, succeed(t, args...), args)
	}
	t.Setenv("NAMESRV_ADDR", c.ns)
	require.Equal(t, want, succeed(t, "topicRoute", "-t", " Orders ", "-l"))
	require.Contains(t, succeed(t, "help", "topicroute"), "mq admin topicRoute - ")
	require.Contains(t, succeed(t, "topicRoute", "-h"), "mq admin topicRoute - ")
	require.Contains(t, succeed(t, "help"), "allocateMQ")
	require.Contains(t, succeed(t), "allocateMQ")
}

func TestNoNameServer(t *testing.T) {
	t.Setenv("NAMESRV_ADDR", "")
	for _, command := range [][]string{
		{"clusterList"}, {"getNamesrvConfig"}, {"wipeWritePerm", "-b", "broker-a"}, {"deleteKvConfig", "-s", "s", "-k", "k"},
		{"updateTopic", "-c", "east", "-t", "T"},
	} {
		_, stderr := fail(t, command...)
		require.Contains(t, stderr, "no NameServer is given", command)
	}
}

// TestInterval watches a cluster until it is told to end.
func TestInterval(t *testing.T) {
	c := startCluster(t)
	for _, b := range []*fakeBroker{c.a, c.a1, c.b, c.w} {
		b.answer(protocol.ReqGetBrokerRuntimeInfo, runtimeInfo())
	}
	c.w.refuse(protocol.ReqGetBrokerRuntimeInfo, protocol.RespSystemBusy, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var errs bytes.Buffer
	out := &cancelAtSecond{cancel: cancel}
	require.Zero(t, cmd.Run(ctx, []string{"mq", "admin", "clusterList", "-n", c.ns, "-i", "1"}, out, &errs))
	require.Equal(t, 2, strings.Count(out.String(), "#Cluster Name"))
	require.Equal(t, 2, strings.Count(errs.String(), c.w.Addr+" answers 2 (SYSTEM_BUSY)\n"))
}

// cancelAtSecond calls cancel when it is written to for the second time.
type cancelAtSecond struct {
	bytes.Buffer
	cancel context.CancelFunc
	writes int
}

func (b *cancelAtSecond) Write(p []byte) (int, error) {
	if b.writes++; b.writes == 2 {
		b.cancel()
	}
	return b.Buffer.Write(p)
}

// TestInterrupted has a command end with the context of the program.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	require.Equal(t, 1, cmd.Run(ctx, []string{"mq", "admin", "brokerStatus", "-b", startFake(t).Addr}, &out, &errs))
	require.Equal(t, "mq: interrupted\n", errs.String())
}

// TestUnreadableAnswers has servers answer with what is none.
func TestUnreadableAnswers(t *testing.T) {
	fake := startFake(t)
	for _, code := range []protocol.RequestCode{
		protocol.ReqGetBrokerClusterInfo, protocol.ReqGetRouteInfoByTopic, protocol.ReqGetAllTopicListFromNameServer, protocol.ReqGetBrokerRuntimeInfo,
		protocol.ReqGetConsumerConnectionList,
	} {
		fake.answer(code, remoting.Body([]byte(`{"a\uxxxx":`)))
	}
	for _, args := range [][]string{
		{"clusterList", "-n", fake.Addr}, {"topicList", "-n", fake.Addr}, {"topicRoute", "-n", fake.Addr, "-t", "T"}, {"brokerStatus", "-b", fake.Addr},
		{"consumerConnection", "-b", fake.Addr, "-g", "G"},
	} {
		_, stderr := fail(t, args...)
		require.Contains(t, stderr, "answer of", args)
	}
}
