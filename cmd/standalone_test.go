package cmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

var standaloneReady = regexp.MustCompile(`^mq standalone ready: NameServer (127\.0\.0\.1:\d+), broker (127\.0\.0\.1:\d+), data in (.+)\n$`)

// startStandalone starts both servers on free ports, with data in dir.
func startStandalone(t *testing.T, dir string, environ []string, args ...string) (p *process, namesrvAddr, brokerAddr string) {
	t.Helper()
	args = append([]string{"standalone", "-d", dir, "--bind", "127.0.0.1", "--namesrv-port", "0", "--broker-port", "0"}, args...)
	p = startCommand(t, "mq standalone ready", environ, args...)
	found := standaloneReady.FindStringSubmatch(p.stdout)
	require.NotNil(t, found, p.stdout)
	require.Equal(t, dir, found[3])
	return p, found[1], found[2]
}

// fields makes extFields of keys and values, in turn.
func fields(keysAndValues ...string) (e protocol.Ext) {
	for i := 0; i < len(keysAndValues); i += 2 {
		e = append(e, protocol.Field{Key: keysAndValues[i], Value: keysAndValues[i+1]})
	}
	return e
}

func TestStandalone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	// What would lead elsewhere does not.
	environ := []string{"NAMESRV_ADDR=127.0.0.1:1", "ROCKETMQ_HOME=/nowhere", "MQ_LISTEN_PORT=1", "MQ_BROKER_NAME=from-environment",
		"MQ_STORE_PATH_ROOT_DIR=elsewhere", "MQ_storePathCommitLog=elsewhere/log", "MQ_BROKER_CONFIG_PATH=elsewhere.properties"}
	p, namesrvAddr, brokerAddr := startStandalone(t, dir, environ, "--set", "defaultTopicQueueNums=5")

	// The line means that it is ready: routes are there.
	answer := call(t, namesrvAddr, &protocol.Command{Code: int32(protocol.ReqGetRouteInfoByTopic), Ext: fields("topic", "TBW102")})
	require.Zero(t, answer.Code, answer.Remark)
	require.Contains(t, string(answer.Body), brokerAddr)
	require.Contains(t, string(answer.Body), `"brokerName":"from-environment"`)
	require.Contains(t, string(answer.Body), `"writeQueueNums":5`)

	answer = call(t, brokerAddr, &protocol.Command{Code: int32(protocol.ReqUpdateAndCreateTopic), Ext: fields("topic", "Orders",
		"readQueueNums", "4", "writeQueueNums", "4", "perm", "6", "topicFilterType", "SINGLE_TAG")})
	require.Zero(t, answer.Code, answer.Remark)
	answer = call(t, brokerAddr, &protocol.Command{Code: int32(protocol.ReqUpdateBrokerConfig), Body: []byte("regionId=r1\n")})
	require.Zero(t, answer.Code, answer.Remark)
	answer = call(t, namesrvAddr, &protocol.Command{Code: int32(protocol.ReqPutKVConfig), Ext: fields("namespace", "n", "key", "k", "value", "v")})
	require.Zero(t, answer.Code, answer.Remark)
	answer = call(t, namesrvAddr, &protocol.Command{Code: int32(protocol.ReqUpdateNamesrvConfig), Body: []byte("orderMessageEnable=true\n")})
	require.Zero(t, answer.Code, answer.Remark)

	began := time.Now()
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM), p.stderr)
	require.Less(t, time.Since(began), 3*time.Second)
	require.Regexp(t, `(?s)unregistered from NameServer.*standalone has ended`, p.stderr.String(), "the broker takes its leave first")
	require.NotContains(t, p.stderr.String(), "WRN")

	// All of it is in the folder, and nothing is elsewhere.
	var files []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			files = append(files, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	}))
	require.Subset(t, files, []string{
		"namesrv/kvConfig.json", "namesrv/namesrv.properties", "store/config/broker.properties", "store/config/subscriptionGroup.json", "store/config/topics.json",
	})
	elsewhere, err := os.ReadDir(p.Dir)
	require.NoError(t, err)
	require.Empty(t, elsewhere, "the home folder is not touched")

	// The next start finds it again.
	p, namesrvAddr, brokerAddr = startStandalone(t, dir, environ)
	answer = call(t, namesrvAddr, &protocol.Command{Code: int32(protocol.ReqGetRouteInfoByTopic), Ext: fields("topic", "Orders")})
	require.Zero(t, answer.Code, answer.Remark)
	answer = call(t, brokerAddr, &protocol.Command{Code: int32(protocol.ReqGetBrokerConfig)})
	require.Contains(t, string(answer.Body), "\nregionId=r1\n")
	require.Contains(t, string(answer.Body), "\nstorePathCommitLog="+dir+"/store/commitlog\n")
	answer = call(t, namesrvAddr, &protocol.Command{Code: int32(protocol.ReqGetKVConfig), Ext: fields("namespace", "n", "key", "k")})
	require.Zero(t, answer.Code, answer.Remark)
	require.Contains(t, configText(t, namesrvAddr), "orderMessageEnable=true\n")

	// A second one on the same ports ends with a line that says why, and harms nobody.
	_, port, _ := strings.Cut(namesrvAddr, ":")
	_, stderr, status := run(t, nil, "standalone", "-d", filepath.Join(t.TempDir(), "other"), "--bind", "127.0.0.1", "--namesrv-port", port, "--broker-port", "0")
	require.Equal(t, 1, status)
	require.Equal(t, "mq: cannot listen at "+namesrvAddr+": address already in use\n", stderr)
	require.Equal(t, 0, p.stop(t, syscall.SIGINT), p.stderr)
}

func TestStandaloneMistakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"--namesrv-port", "70000"}, "mq: --namesrv-port: 70000 is not a port\n"},
		{[]string{"--broker-port", "-1"}, "mq: --broker-port: -1 is not a port\n"},
		{[]string{"-d", ""}, "mq: --dir: the name of a folder is missing\n"},
		{[]string{"-d", file}, "mq: mkdir " + file + ": not a directory\n"},
		{[]string{"word", "--namesrv-port", "0"}, "mq: unexpected \"word\" (see mq standalone --help)\n"},
		{[]string{"--bind", ""}, "mq: --bind: \"\" is not an IP address or a host name\n"},
		{[]string{"--set", "listenPort=10911"}, "mq: --set listenPort: use --broker-port\n"},
		{[]string{"--set", " bindAddress =::1"}, "mq: --set bindAddress: use --bind\n"},
		{[]string{"--set", "namesrvAddr=10.0.0.1:9876"}, "mq: --set namesrvAddr: the broker registers with the NameServer beside it\n"},
		{[]string{"--namesrv-port", "0", "--broker-port", "0", "--set", "nosuchkey=1"}, "mq: --set \"nosuchkey\": there is no such configuration key\n"},
	} {
		stdout, stderr, status := run(t, nil, append([]string{"standalone"}, row.args...)...)
		require.Equal(t, row.want, stderr)
		require.Empty(t, stdout)
		require.Equal(t, 1, status)
	}
	// Nothing is left behind where a start fails.
	dir := filepath.Join(t.TempDir(), "data")
	_, _, status := run(t, nil, "standalone", "-d", dir, "--namesrv-port", "0", "--broker-port", "0", "--set", "nosuchkey=1")
	require.Equal(t, 1, status)
	_, err := os.Stat(filepath.Join(dir, "store"))
	require.True(t, errors.Is(err, fs.ErrNotExist))
}
