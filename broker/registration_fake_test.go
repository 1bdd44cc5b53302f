package broker

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// namesrvModel is what a Java NameServer makes of one broker's registrations (spec/namesrv.md §5). The zero value is
// 5.x; its methods are not safe for concurrent use.
type namesrvModel struct {
	v49     bool // one comparison of versions for the whole table, no one-topic rule, no answer to 217
	known   bool
	version protocol.DataVersion
	topics  map[string]protocol.TopicConfig
}

func (m *namesrvModel) forget() { m.known, m.topics = false, nil }

// answer handles a request as the NameServer would.
func (m *namesrvModel) answer(cmd *protocol.Command) *protocol.Command {
	switch protocol.RequestCode(cmd.Code) {
	case protocol.ReqRegisterBroker:
		return m.register(cmd)
	case protocol.ReqUnregisterBroker:
		m.forget()
	case protocol.ReqQueryDataVersion:
		v, err := protocol.DecodeDataVersion(cmd.Body, 0)
		changed := err != nil || !m.known || v != m.version
		resp := success((&protocol.QueryDataVersionResponseHeader{Changed: changed}).AppendExt(nil))
		if m.known {
			resp.Body = m.version.AppendJSON(nil, protocol.FormDefault)
		}
		return resp
	case protocol.ReqRegisterTopicInNamesrv:
		if m.v49 {
			return nil
		}
		name, _ := cmd.Ext.Get("topic")
		route, err := protocol.DecodeTopicRouteData(cmd.Body)
		if err != nil {
			return failure(protocol.RespSystemError, err.Error())
		}
		if q := route.QueueDatas[0]; m.known {
			m.topics[name] = protocol.TopicConfig{TopicName: name, ReadQueueNums: q.ReadQueueNums,
				WriteQueueNums: q.WriteQueueNums, Perm: q.Perm, TopicSysFlag: q.TopicSysFlag}
		}
	}
	return success(nil)
}

func (m *namesrvModel) register(cmd *protocol.Command) *protocol.Command {
	var h protocol.RegisterBrokerRequestHeader
	if err := h.Decode(cmd.Ext); err != nil {
		return failure(protocol.RespSystemError, err.Error())
	}
	if h.BodyCRC32 != protocol.BodyCRC32(cmd.Body) {
		return failure(protocol.RespSystemError, "crc32 not match")
	}
	version := cmd.Version
	if m.v49 {
		version = protocol.Version4_9_4
	}
	body, err := protocol.DecodeRegisterBrokerBody(cmd.Body, protocol.RegisterBodyOptions{
		Version: version, Compressed: h.Compressed, MaxInflated: 64 << 20})
	if err != nil {
		return failure(protocol.RespSystemError, err.Error())
	}
	if m.v49 && h.Compressed && inflated(cmd.Body, `SINGLE_TAG {`) {
		return failure(protocol.RespSystemError, "Failed to decode RegisterBrokerBody")
	}
	first := !m.known
	if first && len(body.Topics) == 1 && !m.v49 {
		return failure(protocol.RespSystemError, "register broker failed")
	}
	if first {
		m.topics = map[string]protocol.TopicConfig{}
	}
	news := first || *body.DataVersion != m.version
	for _, t := range body.Topics {
		t.MapKey = ""
		if _, has := m.topics[t.TopicName]; news || !has && !m.v49 {
			m.topics[t.TopicName] = t
		}
	}
	m.known, m.version = true, *body.DataVersion
	return success(protocol.Ext{})
}

// inflated tells whether a compressed body contains text.
func inflated(body []byte, text string) bool {
	r, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		return false
	}
	plain, err := io.ReadAll(r)
	return err == nil && bytes.Contains(plain, []byte(text))
}

func success(ext protocol.Ext) *protocol.Command {
	return &protocol.Command{Code: int32(protocol.RespSuccess), Ext: ext}
}

func failure(code protocol.ResponseCode, remark string) *protocol.Command {
	return &protocol.Command{Code: int32(code), Remark: remark}
}

// fakeNamesrv is a NameServer over TCP that records what it gets.
type fakeNamesrv struct {
	addr  string
	ln    net.Listener
	bytes atomic.Int64 // received
	wg    sync.WaitGroup

	mu       sync.Mutex // guards what follows
	handle   func(*protocol.Command) *protocol.Command
	model    namesrvModel
	owner    net.Conn // over which the broker registered last
	conns    map[net.Conn]bool
	accepted int
	got      []gotRequest
}

type gotRequest struct {
	at  time.Time
	cmd protocol.Command
}

// silent is a handle function that answers nothing.
func silent(*protocol.Command) *protocol.Command { return nil }

// startNamesrv starts a fake on addr; handle nil: the model answers.
func startNamesrv(t testing.TB, addr string, handle func(*protocol.Command) *protocol.Command) *fakeNamesrv {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	f := &fakeNamesrv{addr: ln.Addr().String(), ln: ln, conns: map[net.Conn]bool{}}
	f.handle = handle
	if handle == nil {
		f.handle = f.model.answer
	}
	f.wg.Go(f.accept)
	t.Cleanup(f.stop)
	return f
}

func (f *fakeNamesrv) accept() {
	for {
		conn, err := f.ln.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		f.conns[conn] = true
		f.accepted++
		f.mu.Unlock()
		f.wg.Go(func() {
			f.serve(conn)
			_ = conn.Close()
			f.mu.Lock()
			defer f.mu.Unlock()
			delete(f.conns, conn)
			if f.owner == conn {
				f.owner = nil
				f.model.forget()
			}
		})
	}
}

func (f *fakeNamesrv) serve(conn net.Conn) {
	in := bufio.NewReaderSize(conn, 64<<10)
	for {
		var prefix [4]byte
		if _, err := io.ReadFull(in, prefix[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(prefix[:]))
		if len(frame) > protocol.MaxFrame-4 {
			return
		}
		if _, err := io.ReadFull(in, frame); err != nil {
			return
		}
		f.bytes.Add(int64(4 + len(frame)))
		cmd, err := protocol.DecodeCommand(frame)
		if err != nil {
			return
		}
		f.mu.Lock()
		f.got = append(f.got, gotRequest{time.Now(), cmd})
		handle := f.handle
		resp := handle(&cmd)
		if cmd.Code == int32(protocol.ReqRegisterBroker) && resp != nil && resp.Code == 0 {
			f.owner = conn
		}
		f.mu.Unlock()
		if resp == nil || cmd.IsOneway() {
			continue
		}
		resp.Opaque, resp.Flag = cmd.Opaque, protocol.FlagResponse
		if resp.Version == 0 {
			resp.Version = protocol.CurrentVersion
		}
		if f.model.v49 {
			resp.Version = protocol.Version4_9_4
		}
		out, err := protocol.AppendFrame(nil, resp)
		if err != nil {
			return
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

// cut closes all connections, with the state that the NameServer keeps for them.
func (f *fakeNamesrv) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for conn := range f.conns {
		_ = conn.Close()
	}
}

// stop ends the NameServer.
func (f *fakeNamesrv) stop() {
	_ = f.ln.Close()
	f.cut()
	f.wg.Wait()
}

func (f *fakeNamesrv) setHandle(handle func(*protocol.Command) *protocol.Command) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handle = handle
}

// requests returns what has come, of the given codes, or all.
func (f *fakeNamesrv) requests(codes ...protocol.RequestCode) []gotRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	var got []gotRequest
	for _, g := range f.got {
		if len(codes) == 0 || slices.Contains(codes, protocol.RequestCode(g.cmd.Code)) {
			got = append(got, g)
		}
	}
	return got
}

func (f *fakeNamesrv) count(codes ...protocol.RequestCode) int { return len(f.requests(codes...)) }

// topic returns what the model knows of a topic.
func (f *fakeNamesrv) topic(name string) (protocol.TopicConfig, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, ok := f.model.topics[name]
	return t, ok
}

// knows tells whether the model's table is that of topics.
func (f *fakeNamesrv) knows(topics *fakeTopics) bool {
	want, version := topics.snapshot()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.model.known || f.model.version != version || len(f.model.topics) != len(want) {
		return false
	}
	for _, t := range want {
		got := f.model.topics[t.TopicName]
		if !sameTopic(&got, t) {
			return false
		}
	}
	return true
}

func (f *fakeNamesrv) openConnections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns)
}

// fakeTopics is a topic table.
type fakeTopics struct {
	mu      sync.Mutex
	topics  []*protocol.TopicConfig
	version protocol.DataVersion
}

func newFakeTopics(n int) *fakeTopics {
	f := &fakeTopics{version: protocol.DataVersion{Timestamp: 1_700_000_000_000}}
	for i := range n {
		f.topics = append(f.topics, &protocol.TopicConfig{TopicName: fmt.Sprintf("topic-of-some-length-%06d", i),
			ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6})
	}
	return f
}

func (f *fakeTopics) snapshot() ([]*protocol.TopicConfig, protocol.DataVersion) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.topics, f.version
}

// put makes or changes topics, with one new version.
func (f *fakeTopics) put(topics ...protocol.TopicConfig) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.topics = slices.Clone(f.topics)
	for _, t := range topics {
		i, has := slices.BinarySearchFunc(f.topics, t.TopicName, func(have *protocol.TopicConfig, name string) int {
			return bytes.Compare([]byte(have.TopicName), []byte(name))
		})
		if has {
			f.topics[i] = &t
		} else {
			f.topics = slices.Insert(f.topics, i, &t)
		}
	}
	f.version.Counter++
	f.version.Timestamp++
}

func plainTopic(name string, queues int32) protocol.TopicConfig {
	return protocol.TopicConfig{TopicName: name, ReadQueueNums: queues, WriteQueueNums: queues, Perm: 6}
}

// testRegistrar is a registrar under test and what it was given.
type testRegistrar struct {
	*registrar
	topics *fakeTopics
	log    *logBuffer
	stop   func() // ends run; may be called again

	mu      sync.Mutex
	set     registrarSettings
	member  brokerMember
	results []registrationResult
}

func (r *testRegistrar) settings() registrarSettings {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.set
}

func (r *testRegistrar) change(f func(*registrarSettings)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.set)
}

func (r *testRegistrar) lastResult() (registrationResult, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.results) == 0 {
		return registrationResult{}, 0
	}
	return r.results[len(r.results)-1], len(r.results)
}

// testSettings are the defaults.
func testSettings(addr string) registrarSettings {
	return registrarSettings{
		Servers: namesrvSettings{Addr: addr, UpdatePeriod: 2 * time.Minute},
		Period:  30 * time.Second, Timeout: 24 * time.Second, ForceRegister: true, SplitSize: 800, Permission: 6,
		NotActiveTimeout: 10 * time.Second, HeartbeatInterval: time.Second, CompatibleWithOldNSrv: true,
	}
}

type registrarOption func(*testRegistrar, *registrarConfig)

// startRegistrar runs a registrar over TCP until the test ends.
func startRegistrar(t testing.TB, set registrarSettings, topics *fakeTopics, options ...registrarOption) *testRegistrar {
	t.Helper()
	client := remoting.NewClient(remoting.ClientConfig{ConnectTimeout: time.Second})
	r := newTestRegistrar(set, topics, append([]registrarOption{func(_ *testRegistrar, cfg *registrarConfig) {
		cfg.Connect = func(ctx context.Context, addr string) (namesrvConn, error) {
			p, err := client.Connect(ctx, addr)
			if err != nil {
				return nil, err
			}
			return p, nil
		}
	}}, options...)...)
	r.start()
	t.Cleanup(func() {
		r.stop()
		client.Close()
	})
	return r
}

func newTestRegistrar(set registrarSettings, topics *fakeTopics, options ...registrarOption) *testRegistrar {
	r := &testRegistrar{topics: topics, set: set, log: &logBuffer{}, member: brokerMember{
		Cluster: "GoldenCluster", Name: "broker-a", Addr: "127.0.0.1:20911", HAAddr: "127.0.0.1:20912"}}
	cfg := registrarConfig{
		Member:   func() brokerMember { return r.member },
		Settings: r.settings,
		Topics:   topics.snapshot,
		Result: func(result registrationResult) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.results = append(r.results, result)
		},
		Log: zerolog.New(r.log).Level(zerolog.InfoLevel),
	}
	for _, o := range options {
		o(r, &cfg)
	}
	r.registrar = newRegistrar(cfg)
	return r
}

func (r *testRegistrar) start() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.run(ctx)
	}()
	r.stop = func() {
		cancel()
		<-done
	}
}

// logBuffer collects log lines.
type logBuffer struct {
	mu    sync.Mutex
	lines []string
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, string(p))
	return len(p), nil
}

// with returns the lines that contain all of the texts.
func (b *logBuffer) with(texts ...string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []string
	for _, line := range b.lines {
		if !slices.ContainsFunc(texts, func(text string) bool { return !bytes.Contains([]byte(line), []byte(text)) }) {
			found = append(found, line)
		}
	}
	return found
}

// soon polls until ok.
func soon(t testing.TB, ok func() bool, what string) {
	t.Helper()
	require.Eventually(t, ok, 20*time.Second, 2*time.Millisecond, what)
}

// closedPort returns an address at which connections are refused.
func closedPort(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	return ln.Addr().String()
}
