package admin_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/cmd"
)

// startStandalone runs "mq standalone" in this process and returns the addresses of its NameServer and its broker.
func startStandalone(t *testing.T) (ns, broker string) {
	t.Helper()
	out, stdout := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	var stderr bytes.Buffer
	done := make(chan int, 1)
	args := []string{"mq", "standalone", "-d", t.TempDir(), "--namesrv-port", "0", "--broker-port", "0", "--bind", "127.0.0.1",
		"--set", "brokerIP1=127.0.0.1", "--set", "brokerName=broker-a", "--set", "brokerClusterName=east", "--log-level", "warn"}
	go func() {
		done <- cmd.Run(ctx, args, stdout, &stderr)
		stdout.Close()
	}()
	lines := bufio.NewScanner(out)
	t.Cleanup(func() {
		cancel()
		for lines.Scan() {
		}
		require.Zero(t, <-done, stderr.String())
	})
	ready := regexp.MustCompile(`ready: NameServer ([^ ,]+), broker ([^ ,]+),`)
	for lines.Scan() {
		if m := ready.FindStringSubmatch(lines.Text()); m != nil {
			return m[1], m[2]
		}
	}
	require.Fail(t, "standalone has ended", stderr.String())
	return "", ""
}

// TestOurServers has each command at our own NameServer and broker; what the servers do with it is seen by other commands.
func TestOurServers(t *testing.T) {
	ns, broker := startStandalone(t)
	n := func(args ...string) []string { return append(args, "-n", ns) }

	require.Regexp(t, `(?m)^east +broker-a +0 +`+broker+` +V5_5_0 .* (true|false)$`, succeed(t, n("clusterList")...))
	require.Regexp(t, `(?m)^east +broker-a +0 +0 +0 +0$`, succeed(t, n("clusterList", "-m")...))

	require.Contains(t, succeed(t, n("updateTopic", "-c", "east", "-t", "Orders", "-r", "3", "-w", "2", "-o", "true")...), "create topic to "+broker+" success.\n")
	require.Regexp(t, `(?m)^east +broker-a +{0=`+broker+`} +3 +2 +6 *$`, succeed(t, n("topicRoute", "-t", "Orders", "-l")...))
	require.Equal(t, "broker-a:2", orderConf(t, ns, "Orders"))
	require.Equal(t, "east\n", succeed(t, n("topicClusterList", "-t", "Orders")...))
	require.Contains(t, succeed(t, n("topicList")...), "\nOrders\n")
	require.Regexp(t, `(?m)^east +Orders *$`, succeed(t, n("topicList", "-c")...))
	require.Contains(t, succeed(t, n("allocateMQ", "-t", "Orders", "-i", "a")...), `"queueId":2`)

	require.Contains(t, succeed(t, n("updateSubGroup", "-b", broker, "-g", "Group")...), "create subscription group to "+broker+" success.\n")
	require.Contains(t, succeed(t, n("deleteSubGroup", "-c", "east", "-g", "Group", "-r", "true")...), "delete subscription group [Group] from broker ["+broker+"]")

	require.Contains(t, succeed(t, n("brokerStatus", "-c", "east")...), "brokerVersionDesc               : V5_5_0\n")
	succeed(t, n("updateBrokerConfig", "-c", "east", "-k", "regionId", "-v", `a\b`)...)
	require.Contains(t, succeed(t, n("getBrokerConfig", "-b", broker)...), "\nregionId                                          =  a\\b\n")
	_, stderr := fail(t, n("updateBrokerConfig", "-b", broker, "-k", "brokerConfigPath", "-v", "x")...)
	require.Contains(t, stderr, "16 (NO_PERMISSION)")

	succeed(t, n("wipeWritePerm", "-b", "broker-a")...)
	require.Regexp(t, `3 +2 +4 *\n`, succeed(t, n("topicRoute", "-t", "Orders", "-l")...))
	succeed(t, n("addWritePerm", "-b", "broker-a")...)
	require.Regexp(t, `3 +2 +6 *\n`, succeed(t, n("topicRoute", "-t", "Orders", "-l")...))

	_, stderr = fail(t, n("producerConnection", "-g", "nobody", "-t", "Orders")...)
	require.Contains(t, stderr, `no producer of group "nobody" is online`)
	_, stderr = fail(t, "consumerConnection", "-g", "nobody", "-b", broker)
	require.Contains(t, stderr, `no consumer of group "nobody" is online`)
	_, stderr = fail(t, n("updateTopic", "-c", "east", "-t", "no good")...)
	require.Contains(t, stderr, broker+" answers ")

	succeed(t, n("deleteTopic", "-c", "east", "-t", "Orders")...)
	fail(t, n("topicRoute", "-t", "Orders")...)
}
