package cmd

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
)

const brokerBoot = "The broker["

// startBroker starts a broker on a free port of 127.0.0.1, unless args say otherwise.
func startBroker(t *testing.T, environ []string, args ...string) *process {
	t.Helper()
	args = append([]string{"broker", "--set", "listenPort=0", "--set", "bindAddress=127.0.0.1"}, args...)
	return startCommand(t, brokerBoot, environ, args...)
}

// brokerAddress is the address in a broker's boot line.
func brokerAddress(line string) string {
	_, rest, _ := strings.Cut(line, ", ")
	addr, _, _ := strings.Cut(rest, "] boot success.")
	return addr
}

func TestBrokerBootLine(t *testing.T) {
	p := startBroker(t, nil, "--set", "brokerName=broker-a", "-n", "127.0.0.1:1; 127.0.0.1:2 ;127.0.0.1:1;")
	addr := brokerAddress(p.stdout)
	require.Equal(t, brokerBoot+"broker-a, "+addr+"] boot success. serializeType=JSON and name server is 127.0.0.1:1;127.0.0.1:2\n", p.stdout)
	require.EqualValues(t, 3, call(t, addr, &protocol.Command{Code: 99999}).Code, "it serves")
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM), p.stderr)

	p = startBroker(t, []string{"ROCKETMQ_SERIALIZE_TYPE=ROCKETMQ"}, "--set", "brokerName=b")
	addr = brokerAddress(p.stdout)
	require.Equal(t, brokerBoot+"b, "+addr+"] boot success. serializeType=ROCKETMQ\n", p.stdout)
	require.Equal(t, protocol.CodecBinary, call(t, addr, &protocol.Command{Code: 99999}).Codec)
	require.Equal(t, 0, p.stop(t, syscall.SIGINT), p.stderr)
}

// twoPorts finds a free port whose port minus two is free as well.
func twoPorts(t *testing.T) (mainPort, fastPort string) {
	t.Helper()
	for range 100 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		mainAddr := ln.Addr().(*net.TCPAddr)
		fastAddr := &net.TCPAddr{IP: mainAddr.IP, Port: mainAddr.Port - 2}
		fast, err := net.ListenTCP("tcp", fastAddr)
		ln.Close()
		if err != nil {
			continue
		}
		fast.Close()
		_, mainPort, _ = net.SplitHostPort(mainAddr.String())
		_, fastPort, _ = net.SplitHostPort(fastAddr.String())
		return mainPort, fastPort
	}
	t.Fatal("no two ports are free")
	return "", ""
}

func TestBrokerLocksItsFolder(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	p := startBroker(t, nil, "--set", "storePathRootDir="+root)
	args := []string{"broker", "--set", "listenPort=0", "--set", "bindAddress=127.0.0.1", "--set", "storePathRootDir=" + root}
	stdout, stderr, status := run(t, nil, args...)
	require.Equal(t, 1, status)
	require.Empty(t, stdout)
	require.Equal(t, "mq: "+filepath.Join(root, "lock")+": another broker is at work in this folder\n", stderr)
	require.Equal(t, -1, p.stop(t, syscall.SIGKILL), "killed")
	p = startBroker(t, nil, "--set", "storePathRootDir="+root)
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM), p.stderr)
}

func TestBrokerListensAtBothPorts(t *testing.T) {
	mainPort, fastPort := twoPorts(t)
	p := startBroker(t, nil, "--set", "listenPort="+mainPort, "--set", "brokerIP1=10.1.2.3")
	require.Contains(t, p.stdout, ", 10.1.2.3:"+mainPort+"] boot success")
	for _, port := range []string{mainPort, fastPort} {
		require.EqualValues(t, 3, call(t, "127.0.0.1:"+port, &protocol.Command{Code: 99999}).Code)
	}
	_, stderr, status := run(t, nil, "broker", "--set", "bindAddress=127.0.0.1", "--set", "listenPort="+mainPort)
	require.Equal(t, 1, status)
	require.Equal(t, "mq: cannot listen at 127.0.0.1:"+mainPort+": address already in use\n", stderr)
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM))

	fast, err := net.Listen("tcp", "127.0.0.1:"+fastPort)
	require.NoError(t, err)
	defer fast.Close()
	_, stderr, status = run(t, nil, "broker", "--set", "bindAddress=127.0.0.1", "--set", "listenPort="+mainPort)
	require.Equal(t, 1, status)
	require.Equal(t, "mq: port for clients with vipChannelEnabled, listenPort-2: cannot listen at 127.0.0.1:"+fastPort+": address already in use\n", stderr)
}

// A broker that listens at a host's name is found where it listens.
func TestN59_BrokerAtAName(t *testing.T) {
	p := startBroker(t, nil, "--set", "bindAddress=localhost")
	addr := brokerAddress(p.stdout)
	require.Regexp(t, `^(127\.0\.0\.1|\[::1\]):\d+$`, addr)
	require.EqualValues(t, 3, call(t, addr, &protocol.Command{Code: 99999}).Code)
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM))
}

func TestN58_BrokerOverIPv6(t *testing.T) {
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no ::1")
	}
	probe.Close()
	p := startBroker(t, nil, "--set", "bindAddress=[::1]", "-n", "[::1]:9876;127.0.0.1:9876")
	addr := brokerAddress(p.stdout)
	require.True(t, strings.HasPrefix(addr, "[::1]:"), p.stdout)
	require.Contains(t, p.stdout, " and name server is [::1]:9876;127.0.0.1:9876\n")
	require.EqualValues(t, 3, call(t, addr, &protocol.Command{Code: 99999}).Code)
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM))
}

func TestN47_BrokerStartThatFails(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.conf")
	bad := properties(t, "#\nlistenPort=10x911\n")
	for _, row := range []struct {
		rule    string
		environ []string
		args    []string
		status  int
		want    string
	}{
		{"a bad number in the file", nil, []string{"-c", bad}, 1, bad + ":2: listenPort: \"10x911\" is not a whole number from 0 to 65535"},
		{"no such file", nil, []string{"-c", missing}, 1, "configuration file: open " + missing + ": no such file or directory"},
		{"no file name", nil, []string{"-c", ""}, 1, "-c: the name of a file is missing"},
		{"a bad list", nil, []string{"-n", "127.0.0.1"}, 253, `-n: namesrvAddr: "127.0.0.1" is not host:port; several are separated by ';'`},
		{"a bad list in the variable", []string{"NAMESRV_ADDR=a,b"}, nil, 253, `environment variable NAMESRV_ADDR: namesrvAddr: "a,b" is not host:port; several are separated by ';'`},
		{"no list", nil, []string{"-n", ""}, 1, "-n: the list of NameServers is missing"},
		{"an empty list", nil, []string{"-n", " ; "}, 253, `-n: namesrvAddr: " ; " is not host:port; several are separated by ';'`},
		{"an id that is no number", nil, []string{"--set", "brokerId=x"}, 253, `--set: brokerId: "x" is not a whole number from -9223372036854775808 to 9223372036854775807`},
		{"a folder that cannot be", nil, []string{"--set", "listenPort=0", "--set", "bindAddress=127.0.0.1", "--set", "storePathRootDir=" + bad}, 1, "storePathRootDir: mkdir " + bad + ": not a directory"},
		{"a slave without an id", nil, []string{"--set", "brokerRole=SLAVE"}, 253, `brokerId: "0" is not above 0, as a slave's must be`},
		{"a mode that is not here", nil, []string{"--set", "enableControllerMode=true"}, 1, `--set: enableControllerMode: "true" is not available here, only false is`},
		{"an unknown key on the command line", nil, []string{"--set", "orderMessageEnable=true"}, 1, `--set "orderMessageEnable": there is no such configuration key`},
		{"an unknown option", nil, []string{"-z"}, 1, "unrecognized option: -z (see mq broker --help)"},
		{"an unknown header encoding", []string{"ROCKETMQ_SERIALIZE_TYPE=json"}, nil, 1, `ROCKETMQ_SERIALIZE_TYPE: "json" is neither JSON nor ROCKETMQ`},
	} {
		t.Run(row.rule, func(t *testing.T) {
			stdout, stderr, status := run(t, row.environ, append([]string{"broker"}, row.args...)...)
			require.Equal(t, "mq: "+row.want+"\n", stderr)
			require.Empty(t, stdout)
			require.Equal(t, row.status, status)
		})
	}
}

func TestN48_PrintBroker(t *testing.T) {
	path := properties(t, "brokerName=b\nlistenPort=1234\nbrokerIP1=10.0.0.1\ntls.server.keyPassword=hush\nnamesrvAddr=file:1\n")
	stdout, stderr, status := run(t, []string{"MQ_REGION_ID=variable"}, "broker", "-c", path, "-p", "-m", "-n", "flag:1; flag:2", "--set", "storePathRootDir=/data")
	require.Equal(t, 0, status)
	require.Empty(t, stderr)
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	require.Len(t, lines, len(conf.BrokerKeys()), "-p wins over -m")
	for _, want := range []string{
		"brokerName=b", "listenPort=1234", "haListenPort=1235", "namesrvAddr=flag:1;flag:2", "regionId=variable", "storePathCommitLog=/data/commitlog",
		"tls.server.keyPassword=******", "flushDiskType=ASYNC_FLUSH", "connectTimeoutMillis=3000",
	} {
		require.Contains(t, lines, want)
	}

	stdout, stderr, status = run(t, []string{"NAMESRV_ADDR=env:1"}, "broker", "--printImportant", "-c"+properties(t, "brokerName=b"))
	require.Equal(t, 0, status)
	require.Empty(t, stderr)
	for _, want := range []string{"brokerName=b\n", "namesrvAddr=env:1\n", "listenPort=10911\n", "aclEnable=false\n"} {
		require.Contains(t, stdout, want)
	}
	require.NotContains(t, stdout, "regionId")

	path = properties(t, "brokerName=b")
	for _, args := range [][]string{{"-pm", "-c" + path}, {"-mpc", path}, {"-pmc" + path}, {"-pc", path, "-m"}} {
		stdout, stderr, status := run(t, nil, append([]string{"broker"}, args...)...)
		require.Equal(t, 0, status, args)
		require.Empty(t, stderr, args)
		require.Contains(t, stdout, "brokerName=b\n", args)
		require.Contains(t, stdout, "regionId=DefaultRegion\n", args)
	}
	_, stderr, status = run(t, nil, "broker", "-pz")
	require.Equal(t, 1, status)
	require.Equal(t, "mq: unrecognized option: -pz (see mq broker --help)\n", stderr)

	for _, args := range [][]string{{"-h"}, {"--help"}} {
		stdout, stderr, status := run(t, nil, append([]string{"broker"}, args...)...)
		require.Equal(t, 0, status)
		require.Empty(t, stderr)
		for _, want := range []string{"mq broker [-c FILE]", "--configFile FILE, -c FILE", "--printConfigItem, -p", "--printImportantConfig, -m", "--namesrvAddr LIST, -n LIST"} {
			require.Contains(t, stdout, want)
		}
	}
}

// TestBrokerSample starts a broker with the sample file.
func TestBrokerSample(t *testing.T) {
	text, err := os.ReadFile("../conf/broker.conf")
	require.NoError(t, err)
	p := startBroker(t, nil, "-c", properties(t, string(text)))
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM))
	require.NotContains(t, p.stderr.String(), "WRN")
}
