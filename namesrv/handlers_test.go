package namesrv

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// newTestServer is a server that is not run, for calling its handlers.
func newTestServer(t testing.TB, properties ...string) *Server {
	t.Helper()
	store, err := conf.Load(conf.Sources{Environ: []string{"HOME=" + t.TempDir()}, Set: properties})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	s, err := New(Options{Listener: l, Config: store, Log: zerolog.Nop()})
	require.NoError(t, err)
	return s
}

// The table has every code of spec/namesrv.md §4.1 that is received, and no other.
func TestHandlersAreComplete(t *testing.T) {
	for _, properties := range [][]string{nil, {"clusterTest=true"}} {
		var codes []int
		for code := range newTestServer(t, properties...).handlers() {
			codes = append(codes, int(code))
		}
		slices.Sort(codes)
		require.Equal(t, []int{100, 101, 102, 103, 104, 105, 106, 205, 206, 216, 217, 219, 224, 304, 311, 312, 313, 318, 319, 322, 327, 901, 904}, codes)
	}
}

// Answers and remarks that clients and tools know: spec/namesrv.md §4.3, §4.4, §11.1.
func TestErrorCodes(t *testing.T) {
	s := newTestServer(t)
	for _, tt := range []struct {
		err    error
		code   protocol.ResponseCode
		remark string
	}{
		{s.unknownTopic(protocol.Some("T")), 17, "No topic route info in name server for the topic: T\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."},
		{s.unknownTopic(protocol.Opt[string]{}), 17, "No topic route info in name server for the topic: null\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."},
		{conf.ErrBlackList, 16, "Can not update config in black list."},
		{conf.ErrParse, 1, "string2Properties error"},
		{ErrNotReady, 1, "name server not ready"},
		{ErrDisabled, 1, "disable"},
		{protocol.ErrNamespaceOrKeyNull, 1, "namespace or key is null"},
		{errFirstRegistrationIncomplete, 1, "register broker failed"},
		{bodyError("RegisterBrokerBody", &protocol.BodyError{Body: "RegisterBrokerBody", Err: protocol.ErrNullBody}), 1, "Failed to decode RegisterBrokerBody: body is null"},
		{&sharedNameError{brokerName: "a", cluster: "C2", holder: "C1"}, 1, "register broker failed: brokerName a is alive in cluster C1, clusterName C2 is refused"},
		{fmt.Errorf("KV configuration could not be written: %w", ErrKVStopped), 1, "KV configuration could not be written: " + ErrKVStopped.Error()},
	} {
		code := protocol.RespSystemError
		if e, ok := tt.err.(*remoting.Error); ok {
			code = e.Code
		}
		for _, row := range errorCodes {
			if row.Err == tt.err {
				code = row.Code
			}
		}
		require.Equal(t, tt.code, code, "%v", tt.err)
		require.Equal(t, tt.remark, tt.err.Error())
	}
	s.stopping.Store(true)
	require.Equal(t, ErrNotReady, s.unknownTopic(protocol.Some("T")), "a server on its way out does not know that a topic is nowhere")
}

var sink *remoting.Response

// BenchmarkRouteInfo is a route request but for the network: header, settings, cached answer.
func BenchmarkRouteInfo(b *testing.B) {
	s := newTestServer(b)
	body := protocol.RegisterBrokerBody{DataVersion: &protocol.DataVersion{}, Topics: []protocol.TopicConfig{
		{TopicName: "T", ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6}, {TopicName: "U", ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6},
	}}
	_, err := s.routes.register(&registration{header: protocol.RegisterBrokerRequestHeader{
		BrokerName: "a", BrokerAddr: "127.0.0.1:10911", ClusterName: "C",
	}, conn: new(remoting.Peer)}, &body)
	require.NoError(b, err)
	handler := s.handlers()[protocol.ReqGetRouteInfoByTopic].Handler
	cmd := &protocol.Command{Code: 105, Version: protocol.CurrentVersion, Ext: protocol.Ext{{Key: "topic", Value: "T"}}}
	b.ReportAllocs()
	for b.Loop() {
		if sink, err = handler(b.Context(), nil, cmd); err != nil {
			b.Fatal(err)
		}
	}
}

// When the registrations that wait fill the queue, further ones are answered "busy", and routes as ever.
func TestOverload(t *testing.T) {
	s := newTestServer(t, "defaultThreadPoolNums=1", "defaultThreadPoolQueueCapacity=1")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		require.NoError(t, <-done)
	}()
	release := make(chan struct{})
	for range 2 { // one at work, one that waits
		require.True(t, s.changes.Go(func() { <-release }))
	}
	client := remoting.NewClient(remoting.ClientConfig{Log: zerolog.Nop()})
	defer client.Close()
	ask := func(code protocol.RequestCode, fields protocol.Ext) *protocol.Command {
		t.Helper()
		answer, err := client.Invoke(ctx, s.Addr().String(), &protocol.Command{Code: int32(code), Version: protocol.CurrentVersion, Ext: fields})
		require.NoError(t, err)
		return answer
	}
	register := protocol.RegisterBrokerRequestHeader{BrokerName: "a", BrokerAddr: "127.0.0.1:1", ClusterName: "C"}
	answer := ask(protocol.ReqRegisterBroker, register.AppendExt(nil))
	require.Equal(t, int32(protocol.RespSystemBusy), answer.Code)
	require.Equal(t, "[OVERLOAD]system busy, start flow control for a while", answer.Remark)
	require.Equal(t, int32(protocol.RespTopicNotExist), ask(protocol.ReqGetRouteInfoByTopic, protocol.Ext{{Key: "topic", Value: "T"}}).Code)
	require.Equal(t, int32(protocol.RespSuccess), ask(protocol.ReqGetAllTopicListFromNameServer, nil).Code)
	require.Equal(t, int32(protocol.RespSuccess), ask(protocol.ReqPutKVConfig, protocol.Ext{{Key: "namespace", Value: "N"}, {Key: "key", Value: "k"}, {Key: "value", Value: "v"}}).Code)
	close(release)
	s.changes.Wait()
	require.Equal(t, int32(protocol.RespSuccess), ask(protocol.ReqRegisterBroker, register.AppendExt(nil)).Code)
}

// logText is a log that a test reads while it is written.
type logText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// The water mark is a debug line with the original's text, and only while something waits.
func TestWaterMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text logText
		s := &Server{log: zerolog.New(&text)}
		for _, x := range []**remoting.Executor{&s.changes, &s.lists, &s.disk, &s.lookups} {
			*x = remoting.NewExecutor("x", 1, 10)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.waterMarkLoop(ctx) }()
		time.Sleep(5500 * time.Millisecond)
		synctest.Wait()
		require.Empty(t, text.String())
		release := make(chan struct{})
		for range 3 {
			s.disk.Go(func() { <-release })
		}
		time.Sleep(time.Second)
		synctest.Wait()
		require.Contains(t, text.String(), `"message":"[WATERMARK] ClientQueueSize:0 ClientQueueSlowTime:0 DefaultQueueSize:2 DefaultQueueSlowTime:500"`)
		require.Contains(t, text.String(), `"level":"debug"`)
		close(release)
		cancel()
		require.NoError(t, <-done)
		s.disk.Wait()
	})
}

// The KV configuration is logged after a minute and every ten minutes from then on.
func TestPrintKV(t *testing.T) {
	kv, _ := runKV(t, filepath.Join(t.TempDir(), "kv"))
	require.NoError(t, kv.put(t.Context(), "N", "k", "v"))
	synctest.Test(t, func(t *testing.T) {
		var text logText
		s := &Server{kv: kv, log: zerolog.New(&text).Level(zerolog.InfoLevel)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.printLoop(ctx) }()
		const line = `{"level":"info","namespaces":1,"keys":1,"message":"KV configuration"}` + "\n"
		time.Sleep(59 * time.Second)
		synctest.Wait()
		require.Empty(t, text.String())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, line, text.String())
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		require.Equal(t, line+line+line, text.String())
		cancel()
		require.NoError(t, <-done)
	})
}

// However many connections send small bodies that inflate to large ones, few of them do so at a time.
func TestRegistrationsBeingReadAreBounded(t *testing.T) {
	s := newTestServer(t)
	body := &protocol.RegisterBrokerBody{Topics: topics("T", "U"), DataVersion: &protocol.DataVersion{}}
	for i := range 40_000 {
		body.Topics = append(body.Topics, topic(fmt.Sprint("a-topic-of-a-usual-length-", i)))
	}
	compressed, err := body.AppendCompressed(nil, protocol.Version5_5_0)
	require.NoError(t, err)
	require.Less(t, len(compressed), 1<<20)
	register := func(ctx context.Context, name string, body []byte) error {
		_, err := s.registerAnew(ctx, &registration{
			header:  protocol.RegisterBrokerRequestHeader{ClusterName: "C", BrokerName: name, BrokerAddr: name, Compressed: true},
			version: protocol.Version5_5_0, conn: new(remoting.Peer),
		}, body)
		return err
	}
	require.True(t, s.decoding.TryAcquire(registrationText-protocol.DefaultMaxInflated+1)) // one more would be too much
	gone, leave := context.WithCancel(t.Context())
	leave()
	require.ErrorIs(t, register(gone, "a", compressed), context.Canceled)
	require.Empty(t, s.routes.allTopics())

	done := make(chan error)
	go func() { done <- register(t.Context(), "a", compressed) }()
	s.decoding.Release(registrationText - protocol.DefaultMaxInflated + 1)
	require.NoError(t, <-done)
	require.Len(t, s.routes.allTopics(), len(body.Topics))
	require.True(t, s.decoding.TryAcquire(registrationText), "all is given back")
}
