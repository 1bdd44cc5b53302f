package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// command is a run of the program in a home of its own; environ is added to an empty environment.
func command(t *testing.T, environ []string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), binary, args...)
	c.Dir = t.TempDir()
	c.Env = append([]string{"HOME=" + c.Dir, "PATH=" + os.Getenv("PATH")}, environ...)
	return c
}

// run waits for the program to end.
func run(t *testing.T, environ []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	c := command(t, environ, args...)
	c.Stdout, c.Stderr = &out, &errs
	timer := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

func properties(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "namesrv.properties")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const bootLine = "The Name Server boot success. serializeType="

// process is a server that runs.
type process struct {
	*exec.Cmd
	stdout string // up to the line that tells of the start
	stderr *bytes.Buffer
	addr   string // of a NameServer
}

func start(t *testing.T, environ []string, args ...string) *process {
	t.Helper()
	p := startCommand(t, bootLine, environ, append([]string{"namesrv"}, args...)...)
	_, p.addr, _ = strings.Cut(strings.TrimSpace(p.stdout[strings.Index(p.stdout, bootLine):]), "address ")
	return p
}

// startCommand starts a server and waits for the line on stdout that begins with boot.
func startCommand(t *testing.T, boot string, environ []string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: command(t, environ, args...), stderr: &bytes.Buffer{}}
	p.Stderr = p.stderr
	pipe, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	timer := time.AfterFunc(20*time.Second, func() { _ = p.Process.Kill() })
	t.Cleanup(func() { timer.Stop() })
	lines := bufio.NewReader(pipe)
	for {
		line, err := lines.ReadString('\n')
		p.stdout += line
		if errors.Is(err, io.EOF) {
			_ = p.Wait()
			t.Fatalf("it did not start:\n%s", p.stderr)
		}
		require.NoError(t, err)
		if strings.HasPrefix(line, boot) {
			return p
		}
	}
}

// stop asks for an end, and returns the exit status.
func (p *process) stop(t *testing.T, sig os.Signal) int {
	t.Helper()
	require.NoError(t, p.Process.Signal(sig))
	_ = p.Wait()
	return p.ProcessState.ExitCode()
}

func call(t *testing.T, addr string, cmd *protocol.Command) protocol.Command {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	cmd.Opaque, cmd.Version = 7, 401
	frame, err := protocol.AppendFrame(nil, cmd)
	require.NoError(t, err)
	_, err = conn.Write(frame)
	require.NoError(t, err)
	prefix := make([]byte, 4)
	_, err = io.ReadFull(conn, prefix)
	require.NoError(t, err)
	length, err := protocol.FrameLength(prefix, protocol.MaxFrame)
	require.NoError(t, err)
	frame = make([]byte, length)
	_, err = io.ReadFull(conn, frame)
	require.NoError(t, err)
	answer, err := protocol.DecodeCommand(frame)
	require.NoError(t, err)
	require.EqualValues(t, 7, answer.Opaque)
	return answer
}

func configText(t *testing.T, addr string) string {
	t.Helper()
	answer := call(t, addr, &protocol.Command{Code: 319})
	require.Zero(t, answer.Code, answer.Remark)
	return string(answer.Body)
}

func TestN47_MistakesInTheFile(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"listenPort=98x76", `:1: listenPort: "98x76" is not a whole number from 0 to 65535`},
		{"#\nlistenPort=70000", `:2: listenPort: "70000" is not a whole number from 0 to 65535`},
		{"orderMessageEnable=yes", `:1: orderMessageEnable: "yes" is not true or false`},
		{`a=\u00zz`, `:1: malformed \u escape: four hexadecimal digits must follow`},
	} {
		path := properties(t, row.text)
		stdout, stderr, status := run(t, nil, "namesrv", "-c", path)
		require.Equal(t, "mq: "+path+row.want+"\n", stderr)
		require.Empty(t, stdout)
		require.Equal(t, 1, status)
	}
}

func TestN47_UnusualFileThatIsRight(t *testing.T) {
	path := properties(t, "# comment\r\n! comment\r\nlistenPort = 0 \r\nbindAddress:127.0.0.1\r\norderMessageEnable true \r\n"+
		"waitSecondsForService=1\r\nwaitSecondsForService=2\r\nlisenPort=1\r\nserverWorkerThreads=3\r\n")
	p := start(t, nil, "-c", path, "--log-format", "json")
	text := configText(t, p.addr)
	for _, want := range []string{"orderMessageEnable=true\n", "waitSecondsForService=2\n", "lisenPort=1\n", "serverWorkerThreads=3\n"} {
		require.Contains(t, text, want)
	}
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM))
	require.Contains(t, p.stderr.String(), `"level":"warn","keys":["`+path+`:8: lisenPort"]`)
	require.Contains(t, p.stderr.String(), `"keys":["serverWorkerThreads"],`)
	require.Equal(t, "load config properties file OK, "+path+"\n"+bootLine+"JSON, address "+p.addr+"\n", p.stdout)
	require.NotEqual(t, "127.0.0.1:0", p.addr)
}

func TestN48_Print(t *testing.T) {
	path := properties(t, "listenPort=1234\ntls.server.keyPassword=hush\nwaitSecondsForService=7")
	stdout, stderr, status := run(t, []string{"MQ_PRODUCT_ENV_NAME=unit1"}, "namesrv", "-c", path, "-p", "--set", "listenPort=4321", "--set", "tls.ciphers=A,B")
	require.Equal(t, 0, status)
	require.Empty(t, stderr)
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	require.Len(t, lines, len(conf.Keys()))
	for i, k := range conf.Keys() {
		require.True(t, strings.HasPrefix(lines[i], k.Name+"="), lines[i])
	}
	for _, want := range []string{"listenPort=4321", "waitSecondsForService=7", "productEnvName=unit1", "tls.server.keyPassword=******", "tls.ciphers=A,B", "connectTimeoutMillis=3000", "serverWorkerThreads=8"} {
		require.Contains(t, lines, want)
	}

	missing := filepath.Join(t.TempDir(), "missing.properties")
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"namesrv", "-c", missing}, "mq: configuration file: open " + missing + ": no such file or directory\n"},
		{[]string{"namesrv", "-p", "-c", missing}, "mq: configuration file: open " + missing + ": no such file or directory\n"},
		{[]string{"namesrv", "-c", filepath.Dir(missing)}, "mq: configuration file: read " + filepath.Dir(missing) + ": is a directory\n"},
		{[]string{"namesrv", "-z"}, "mq: unrecognized option: -z (see mq namesrv --help)\n"},
		{[]string{"namesrv", "--zz=1"}, "mq: unrecognized option: -zz (see mq namesrv --help)\n"},
		{[]string{"namesrv", "-c"}, "mq: flag needs an argument: -c (see mq namesrv --help)\n"},
		{[]string{"namesrv", "-c", ""}, "mq: -c: the name of a file is missing\n"},
		{[]string{"namesrv", "--set", "listenPort=x"}, "mq: --set: listenPort: \"x\" is not a whole number from 0 to 65535\n"},
		{[]string{"namesrv", "--log-level", "loud"}, "mq: --log-level \"loud\": want one of [trace debug info warn error disabled]\n"},
		{[]string{"help", "namsrv"}, "mq: there is no command \"namsrv\" (see mq --help)\n"},
		{[]string{"bench", "rout"}, "mq: there is no command \"rout\" (see mq bench --help)\n"},
		{[]string{"bench", "route", "2"}, "mq: unexpected \"2\" (see mq bench route --help)\n"},
		{[]string{"completion", "bash", "2"}, "mq: unexpected \"2\" (see mq completion bash --help)\n"},
		{[]string{"namsrv"}, "mq: there is no command \"namsrv\" (see mq --help)\n"},
		{[]string{"-z"}, "mq: unrecognized option: -z (see mq --help)\n"},
	} {
		stdout, stderr, status := run(t, nil, row.args...)
		require.Equal(t, row.want, stderr, "%q", row.args)
		require.Empty(t, stdout, "%q", row.args)
		require.Equal(t, 1, status, "%q", row.args)
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{"namesrv", "-h"}, {"namesrv", "--help"}, {"namesrv", "--he"}} {
		stdout, stderr, status := run(t, nil, args...)
		require.Equal(t, 0, status)
		require.Empty(t, stderr)
		for _, want := range []string{"mq namesrv [-c FILE]", "--configFile FILE, -c FILE", "--printConfigItem, -p", "--namesrvAddr LIST, -n LIST"} {
			require.Contains(t, stdout, want)
		}
	}
	for line, want := range map[string]string{
		"help": "mq [global options] command", "help broker": "mq broker [-c FILE]", "help admin updateTopic": "mq admin updateTopic - create",
		"admin help topicroute": "mq admin topicRoute - show", "bench help route": "mq bench route - ask", "bench": "mq bench - load",
	} {
		stdout, stderr, status := run(t, nil, strings.Fields(line)...)
		require.Equal(t, 0, status, line)
		require.Empty(t, stderr, line)
		require.Contains(t, stdout, want, line)
	}
	stdout, _, status := run(t, nil, "--version")
	require.Equal(t, 0, status)
	require.True(t, strings.HasPrefix(stdout, "mq 1.2.3 "), stdout)
	stdout, _, status = run(t, nil)
	require.Equal(t, 0, status)
	require.Contains(t, stdout, "COMMANDS:")
}

// TestOptionsOfMqnamesrv has the spellings that the Java program accepts (spec/namesrv.md §1.1).
func TestOptionsOfMqnamesrv(t *testing.T) {
	path := properties(t, "listenPort=1234\n")
	for _, args := range [][]string{
		{"-c", path}, {"-c" + path}, {"--configFile", path}, {"--configFile=" + path}, {"--config", path}, {"--config=" + path},
		{"-n", "1.1.1.1:9876;2.2.2.2:9876", "-c", path}, {"-nx", "-c", path}, {"--namesrvAddr=x", "ignored", "-c", path},
	} {
		stdout, _, status := run(t, nil, append(append([]string{"namesrv"}, args...), "--print")...)
		require.Equal(t, 0, status, "%q", args)
		require.Contains(t, stdout, "listenPort=1234\n", "%q", args)
	}
}

func TestStartThatFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for _, row := range []struct {
		rule    string
		environ []string
		text    string
		want    string
	}{
		{"port taken", nil, "unknown=1\nbindAddress=127.0.0.1\nlistenPort=" + port, "cannot listen at 127.0.0.1:" + port + ": address already in use"},
		{"address of another host", nil, "bindAddress=192.0.2.1\nlistenPort=0", "cannot listen at 192.0.2.1:0: cannot assign requested address"},
		{"address that does not resolve", nil, "bindAddress=no-such-host.invalid\nlistenPort=0", "cannot listen at no-such-host.invalid:0: bindAddress cannot be resolved: "},
		{"unknown header encoding", []string{"ROCKETMQ_SERIALIZE_TYPE=json"}, "bindAddress=127.0.0.1\nlistenPort=0", `ROCKETMQ_SERIALIZE_TYPE: "json" is neither JSON nor ROCKETMQ`},
		{"certificate missing", nil, "bindAddress=127.0.0.1\nlistenPort=0\ntls.test.mode.enable=false\ntls.server.certPath=/nowhere/cert\ntls.server.keyPath=/nowhere/key", "/nowhere/"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			stdout, stderr, status := run(t, row.environ, "namesrv", "-c", properties(t, row.text))
			require.Equal(t, 1, status)
			require.Empty(t, stdout)
			require.Contains(t, stderr, row.want)
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			require.True(t, strings.HasPrefix(stderr, "mq: "), stderr)
		})
	}
}

func TestStartAndStop(t *testing.T) {
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	if !signal.Ignored(syscall.SIGHUP) { // else these tests run under nohup, and so does the server
		signals = append(signals, syscall.SIGHUP)
	}
	for _, sig := range signals {
		p := start(t, nil, "--set", "listenPort=0", "--set", "bindAddress=127.0.0.1")
		require.True(t, strings.HasPrefix(p.addr, "127.0.0.1:"), p.addr)
		require.Contains(t, configText(t, p.addr), "listenPort="+strings.TrimPrefix(p.addr, "127.0.0.1:")+"\n")
		require.Equal(t, 0, p.stop(t, sig), p.stderr)
	}
}

// TestHangupUnderNohup has a server go on when its terminal closes, if it was started so.
func TestHangupUnderNohup(t *testing.T) {
	signal.Ignore(syscall.SIGHUP) // what the server inherits
	p := start(t, nil, "--set", "listenPort=0", "--set", "bindAddress=127.0.0.1")
	signal.Reset(syscall.SIGHUP)
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	require.NotEmpty(t, configText(t, p.addr))
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM), p.stderr) // a second signal that counts would have killed it
}

// TestSecondSignal ends a server that is still sending its clients away.
func TestSecondSignal(t *testing.T) {
	path := properties(t, "bindAddress=127.0.0.1\nlistenPort=0\nenableShutdownGracefully=true\nshutdownWaitTimeSeconds=600\n")
	p := start(t, nil, "-c", path)
	conn, err := net.Dial("tcp", p.addr)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool {
		_ = p.Process.Signal(syscall.SIGTERM)
		return p.Process.Signal(syscall.Signal(0)) != nil || exited(p)
	}, 10*time.Second, 20*time.Millisecond)
}

// exited reports whether p is gone or waits to be reaped.
func exited(p *process) bool {
	var info syscall.WaitStatus
	pid, err := syscall.Wait4(p.Process.Pid, &info, syscall.WNOHANG, nil)
	return err != nil || pid == p.Process.Pid
}

func TestN58_BothFamilies(t *testing.T) {
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no ::1")
	}
	probe.Close()
	p := start(t, nil, "--set", "listenPort=0", "--set", "bindAddress=[::1]")
	require.True(t, strings.HasPrefix(p.addr, "[::1]:"), p.addr)
	require.Contains(t, configText(t, p.addr), "bindAddress=[::1]\n")
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM))
}

func TestN50_NoSecretIsShown(t *testing.T) {
	path := properties(t, "bindAddress=127.0.0.1\nlistenPort=0\ntls.server.keyPassword=hush1\nmyCredentials=hush2\n")
	p := start(t, nil, "-c", path, "--log-level", "trace")
	require.NotContains(t, configText(t, p.addr), "hush")
	answer := call(t, p.addr, &protocol.Command{Code: 318, Body: []byte("myCredentials=hush3\nwaitSecondsForService=hush")})
	require.EqualValues(t, 1, answer.Code)
	answer = call(t, p.addr, &protocol.Command{Code: 318, Body: []byte("myCredentials=hush4")})
	require.EqualValues(t, 0, answer.Code)
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM))
	require.NotContains(t, p.stderr.String(), "hush1")
	require.NotContains(t, p.stderr.String(), "hush4")
	stdout, stderr, _ := run(t, nil, "namesrv", "-p", "-c", path)
	require.NotContains(t, stdout+stderr, "hush")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "myCredentials=hush4\n")
}

// TestUpdatesSurviveRestart with the same command, with -c and without (spec/namesrv.md §14 F18).
func TestUpdatesSurviveRestart(t *testing.T) {
	path := properties(t, "bindAddress=127.0.0.1\nlistenPort=0\n")
	home := t.TempDir()
	for _, args := range [][]string{{"-c", path}, {"--set", "bindAddress=127.0.0.1", "--set", "listenPort=0"}} {
		environ := []string{"HOME=" + home}
		p := start(t, environ, args...)
		answer := call(t, p.addr, &protocol.Command{Code: 318, Body: []byte("waitSecondsForService=9\nproductEnvName=é\\\\")})
		require.Zero(t, answer.Code, answer.Remark)
		require.Equal(t, 0, p.stop(t, syscall.SIGKILL)+1)
		p = start(t, environ, args...)
		require.Contains(t, configText(t, p.addr), "productEnvName=é\\\n")
		require.Contains(t, configText(t, p.addr), "waitSecondsForService=9\n")
		require.Equal(t, 0, p.stop(t, syscall.SIGTERM))
	}
}

func TestSerializeType(t *testing.T) {
	p := start(t, []string{"ROCKETMQ_SERIALIZE_TYPE=ROCKETMQ"}, "--set", "listenPort=0", "--set", "bindAddress=127.0.0.1")
	require.Contains(t, p.stdout, bootLine+"ROCKETMQ, address 127.0.0.1:")
	require.Equal(t, protocol.CodecBinary, call(t, p.addr, &protocol.Command{Code: 319}).Codec)
	require.Equal(t, 0, p.stop(t, syscall.SIGTERM))
}

func TestBootAddress(t *testing.T) {
	for _, row := range []struct{ host, ip, want string }{
		{"0.0.0.0", "::", "0.0.0.0:9"}, {"::", "::", "[::]:9"}, {"localhost", "127.0.0.1", "127.0.0.1:9"}, {"::1", "::1", "[::1]:9"},
	} {
		require.Equal(t, row.want, bootAddress(row.host, &net.TCPAddr{IP: net.ParseIP(row.ip), Port: 9}))
	}
}

// The settings of NettyClientConfig reach the connections that servers make.
func TestClientConfig(t *testing.T) {
	load := func(set ...string) remoting.ClientConfig {
		home := t.TempDir()
		store, err := conf.Load(conf.Sources{Set: set, Environ: []string{"HOME=" + home, "ROCKETMQ_HOME=" + home}, Log: zerolog.Nop()})
		require.NoError(t, err)
		tls, err := remoting.NewTLS(tlsOptions(store.Snapshot()), zerolog.Nop())
		require.NoError(t, err)
		return clientConfig(store.Snapshot(), tls, protocol.CodecBinary, zerolog.Nop())
	}
	c := load()
	require.Nil(t, c.TLS)
	c.Log = zerolog.Logger{}
	require.Equal(t, remoting.ClientConfig{Codec: protocol.CodecBinary, ConnectTimeout: 3 * time.Second, Idle: 2 * time.Minute}, c)

	c = load("connectTimeoutMillis=700", "clientChannelMaxIdleTimeSeconds=0", "clientCloseSocketIfTimeout=false",
		"enableReconnectForGoAway=false", "clientSocketSndBufSize=4096", "clientSocketRcvBufSize=8192", "useTLS=true")
	require.NotNil(t, c.TLS)
	c.TLS, c.Log = nil, zerolog.Logger{}
	require.Equal(t, remoting.ClientConfig{Codec: protocol.CodecBinary, ConnectTimeout: 700 * time.Millisecond, Idle: -1,
		KeepOnTimeout: true, NoGoAwayRetry: true, SendBuffer: 4096, ReceiveBuffer: 8192}, c)
}
