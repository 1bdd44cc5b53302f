package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/mq-server/mq/cmd"
	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/namesrv"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a server until the test ends.
func serve(t *testing.T, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
}

// listen binds a port of five digits, so that tables come out the same each time.
func listen(t *testing.T) net.Listener {
	t.Helper()
	for {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		if ln.Addr().(*net.TCPAddr).Port > 9999 {
			return ln
		}
		defer ln.Close()
	}
}

// startNamesrv starts a NameServer and returns its address.
func startNamesrv(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "namesrv.properties")
	require.NoError(t, os.WriteFile(file, []byte("kvConfigPath="+dir+"/kv.json\n"), 0o644))
	config, err := conf.Load(conf.Sources{File: file, Environ: []string{"HOME=" + dir}, Log: zerolog.Nop()})
	require.NoError(t, err)
	ln := listen(t)
	server, err := namesrv.New(namesrv.Options{Listener: ln, Config: config, Log: zerolog.Nop()})
	require.NoError(t, err)
	serve(t, server.Run)
	return ln.Addr().String()
}

// request is what a fake server was asked.
type request struct {
	Code protocol.RequestCode
	Ext  protocol.Ext
	Body string
}

// fakeServer answers as it was told to, and success to everything else.
type fakeServer struct {
	Addr string

	mu      sync.Mutex
	answers map[protocol.RequestCode]*remoting.Response // guarded by mu
	got     []request                                   // guarded by mu
}

func startFake(t *testing.T) *fakeServer {
	t.Helper()
	f := &fakeServer{answers: map[protocol.RequestCode]*remoting.Response{}}
	ln := listen(t)
	f.Addr = ln.Addr().String()
	server, err := remoting.NewServer(ln, remoting.ServerConfig{Log: zerolog.Nop(), Default: &remoting.Entry{Handler: f.handle}})
	require.NoError(t, err)
	serve(t, server.Run)
	return f
}

func (f *fakeServer) handle(_ context.Context, _ *remoting.Peer, cmd *protocol.Command) (*remoting.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	code := protocol.RequestCode(cmd.Code)
	f.got = append(f.got, request{code, slices.Clone(cmd.Ext), string(cmd.Body)})
	if answer, ok := f.answers[code]; ok {
		return answer, nil
	}
	return remoting.Success(), nil
}

// answer sets the answer to a code.
func (f *fakeServer) answer(code protocol.RequestCode, r *remoting.Response) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[code] = r
}

func (f *fakeServer) refuse(code protocol.RequestCode, with protocol.ResponseCode, remark string) {
	f.answer(code, &remoting.Response{Code: with, Remark: remark})
}

// asked returns what the server was asked since the last time.
func (f *fakeServer) asked() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	got := f.got
	f.got = nil
	return got
}

// fakeBroker is a fake server that is registered with NameServers.
type fakeBroker struct {
	*fakeServer
	cluster, name string
	id            int64
}

// startBroker registers a fake broker with topics of four queues, one of which each broker has.
func startBroker(t *testing.T, cluster, name string, id int64, namesrvs []string, topics ...string) *fakeBroker {
	t.Helper()
	b := &fakeBroker{startFake(t), cluster, name, id}
	b.register(t, namesrvs, topics...)
	return b
}

func (b *fakeBroker) register(t *testing.T, namesrvs []string, topics ...string) {
	t.Helper()
	body := protocol.RegisterBrokerBody{FilterServerList: []string{}, DataVersion: &protocol.DataVersion{Timestamp: time.Now().UnixMilli(), Counter: 1}}
	for _, topic := range append(topics, "TBW102") {
		body.Topics = append(body.Topics, protocol.TopicConfig{TopicName: topic, ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6})
	}
	header := &protocol.RegisterBrokerRequestHeader{
		BrokerName: b.name, BrokerAddr: b.Addr, ClusterName: b.cluster, BrokerID: b.id, HAServerAddr: protocol.Some("127.0.0.1:10912"),
	}
	client := remoting.NewClient(remoting.ClientConfig{})
	t.Cleanup(client.Close) // the NameServers know the broker until then
	for _, ns := range namesrvs {
		resp, err := client.Invoke(t.Context(), ns, &protocol.Command{
			Code: int32(protocol.ReqRegisterBroker), Ext: header.AppendExt(nil), Body: body.AppendJSON(nil, protocol.FormDefault),
		})
		require.NoError(t, err)
		require.Zero(t, resp.Code, resp.Remark)
	}
}

// run runs "mq admin" and returns its output and its status.
func run(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = cmd.Run(t.Context(), append([]string{"mq", "admin"}, args...), &out, &errs)
	return out.String(), errs.String(), status
}

// succeed runs a command that must succeed and returns its output.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, status := run(t, args...)
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
	return stdout
}

// fail runs a command that must fail with one line and returns its outputs.
func fail(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, status := run(t, args...)
	require.Equal(t, 1, status, stderr)
	require.Regexp(t, "^mq: [^\n]+\n$", stderr)
	return stdout, stderr
}

// asJSON runs a command with --json and returns what it prints.
func asJSON(t *testing.T, args ...string) any {
	t.Helper()
	out := succeed(t, append(args, "--json")...)
	require.Equal(t, 1, strings.Count(out, "\n"), "one line")
	var value any
	require.NoError(t, json.Unmarshal([]byte(out), &value))
	return value
}

// golden compares a text with a file of testdata. Pairs of strings to replace come first.
func golden(t *testing.T, name, got string, replace ...string) {
	t.Helper()
	got = strings.NewReplacer(replace...).Replace(got)
	file := filepath.Join("testdata", name+".txt")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
