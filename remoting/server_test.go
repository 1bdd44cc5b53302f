package remoting

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

const (
	codeEcho protocol.RequestCode = 9001 + iota
	codeSlow
	codeFail
	codePanic
	codeHold
	codeUnknown
)

var errKnown = errors.New("no such thing")

type extHeader struct{ N int32 }

func (h *extHeader) Decode(ext protocol.Ext) error {
	r := protocol.ReadExt(ext)
	h.N = r.Int32("n")
	return r.Err()
}

func (h *extHeader) AppendExt(ext protocol.Ext) protocol.Ext {
	return append(ext, protocol.Field{Key: "n", Value: fmt.Sprint(h.N + 1)})
}

// failing fails in the way that the body names.
func failing(_ context.Context, _ *Peer, cmd *protocol.Command) (*Response, error) {
	switch string(cmd.Body) {
	case "exact":
		return nil, fmt.Errorf("wrapped: %w", &Error{Code: protocol.RespNoPermission, Remark: "keep out"})
	case "known":
		return nil, fmt.Errorf("%w: t1", errKnown)
	case "field":
		return nil, &protocol.FieldError{Field: "topic"}
	case "long":
		return nil, errors.New(strings.Repeat("é", 5000))
	}
	return nil, errors.New("who knows")
}

func TestAnswers(t *testing.T) {
	exec := NewExecutor("test", 2, 100)
	var log syncBuffer
	s := startServer(t, ServerConfig{
		Table: Table{
			codeEcho:  {Handler: echoBody},
			codeSlow:  Entry{Handler: echoBody}.On(exec),
			codeFail:  {Handler: failing},
			codePanic: {Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) { panic("boom") }},
			codeHold: Handle(func(_ context.Context, r *Request[extHeader]) (*Response, error) {
				return &Response{Header: &extHeader{r.Header.N}, HasRemark: true}, nil
			}),
		},
		Errors: []ErrorCode{{errKnown, protocol.RespTopicNotExist}},
		Log:    zerolog.New(&log),
	})
	for _, c := range []struct {
		name      string
		code      protocol.RequestCode
		body      string
		ext       protocol.Ext
		want      protocol.ResponseCode
		remark    string
		hasRemark bool
		wantExt   protocol.Ext
		wantBody  string
	}{
		{name: "success", code: codeEcho, body: "hello", wantBody: "hello"},
		{name: "no body", code: codeEcho},
		{name: "on an executor", code: codeSlow, body: "hello", wantBody: "hello"},
		{name: "unknown code", code: codeUnknown, want: protocol.RespRequestCodeNotSupported, remark: " request type 9006 not supported", hasRemark: true},
		{name: "negative code", code: -3, want: protocol.RespRequestCodeNotSupported, remark: " request type -3 not supported", hasRemark: true},
		{name: "exact error", code: codeFail, body: "exact", want: protocol.RespNoPermission, remark: "keep out", hasRemark: true},
		{name: "error of the table", code: codeFail, body: "known", want: protocol.RespTopicNotExist, remark: "no such thing: t1", hasRemark: true},
		{name: "field error", code: codeFail, body: "field", want: protocol.RespSystemError, remark: "the field topic is missing", hasRemark: true},
		{name: "other error", code: codeFail, body: "", want: protocol.RespSystemError, remark: "who knows", hasRemark: true},
		{name: "long error", code: codeFail, body: "long", want: protocol.RespSystemError, remark: strings.Repeat("é", maxRemark/2), hasRemark: true},
		{name: "panic", code: codePanic, want: protocol.RespSystemError, remark: "internal error: boom", hasRemark: true},
		{name: "typed headers, empty remark", code: codeHold, ext: protocol.Ext{{Key: "n", Value: "4"}}, wantExt: protocol.Ext{{Key: "n", Value: "5"}}, hasRemark: true},
		{name: "missing field", code: codeHold, want: protocol.RespSystemError, remark: "the field n is missing", hasRemark: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, codec := range []protocol.Codec{protocol.CodecJSON, protocol.CodecBinary} {
				conn := dialTest(t, s)
				conn.send(requestFrame(t, protocol.Command{Code: int32(c.code), Opaque: -5, Ext: c.ext, Body: []byte(c.body), Codec: codec}))
				got := conn.receive()
				want := protocol.Command{
					Code: int32(c.want), Language: protocol.LanguageGo, Version: protocol.CurrentVersion, Opaque: -5,
					Flag: protocol.FlagResponse, Remark: c.remark, HasRemark: c.hasRemark, Ext: c.wantExt,
				}
				if codec == protocol.CodecBinary && c.code > 32767 {
					continue
				}
				if c.wantBody != "" {
					want.Body = []byte(c.wantBody)
				}
				require.Equal(t, want, got)
			}
		})
	}
	require.Equal(t, 2, strings.Count(log.String(), "handler panicked"), "the stack is logged once per panic")
	require.Contains(t, log.String(), "server_test.go")
}

func TestResponseBytes(t *testing.T) { // spec/remoting.md §11, items 5 and 8, with our language and version
	for _, c := range []struct {
		codec protocol.Codec
		want  string
	}{
		{protocol.CodecJSON, "000000610000005d" + hex.EncodeToString([]byte(`{"code":0,"flag":1,"language":"GO","opaque":5,"serializeTypeCurrentRPC":"JSON","version":513}`))},
		{protocol.CodecBinary, "0000001901000015" + "0000" + "09" + "0201" + "00000005" + "00000001" + "00000000" + "00000000"},
	} {
		s := startServer(t, ServerConfig{
			Table: Table{codeEcho: {Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) { return Success(), nil }}},
			Codec: c.codec, Log: zerolog.Nop(),
		})
		conn := dialTest(t, s)
		conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 5}))
		got := make([]byte, len(c.want)/2)
		_, err := conn.r.Read(got)
		require.NoError(t, err)
		require.Equal(t, c.want, hex.EncodeToString(got))
	}
}

func TestOnewayIsNeverAnswered(t *testing.T) {
	exec := NewExecutor("test", 1, 1)
	var calls atomic.Int32
	count := func(ctx context.Context, p *Peer, cmd *protocol.Command) (*Response, error) {
		calls.Add(1)
		return echoBody(ctx, p, cmd)
	}
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{
		codeEcho: {Handler: count}, codeSlow: Entry{Handler: count}.On(exec), codeFail: {Handler: failing},
		codePanic: {Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) { panic("boom") }},
	}})
	conn := dialTest(t, s)
	for _, code := range []protocol.RequestCode{codeEcho, codeSlow, codeFail, codePanic, codeUnknown} {
		conn.send(requestFrame(t, protocol.Command{Code: int32(code), Opaque: 1, Flag: protocol.FlagOneway}))
	}
	eventually(t, func() bool { return calls.Load() == 2 })
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 2}))
	require.EqualValues(t, 2, conn.receive().Opaque, "the first answer is that of the first request that wants one")
}

func TestUnmatchedResponseIsIgnored(t *testing.T) { // spec/remoting.md §11, item 19
	s := startServer(t, ServerConfig{Table: Table{codeEcho: {Handler: echoBody}}, Log: zerolog.Nop()})
	conn := dialTest(t, s)
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 1, Flag: protocol.FlagResponse}),
		requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 2, Flag: protocol.FlagResponse | protocol.FlagOneway}),
		requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 3}))
	require.EqualValues(t, 3, conn.receive().Opaque)
}

func TestInlineAnswersKeepTheOrder(t *testing.T) {
	s := startServer(t, ServerConfig{Table: Table{codeEcho: {Handler: echoBody}}, Log: zerolog.Nop()})
	conn := dialTest(t, s)
	const n = 5000
	go func() {
		for i := range n {
			b, _ := protocol.AppendFrame(nil, &protocol.Command{Code: int32(codeEcho), Opaque: int32(i), Body: bytes.Repeat([]byte{byte(i)}, i%700)})
			if _, err := conn.Write(b); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for i := range n {
		got := conn.receive()
		require.EqualValues(t, i, got.Opaque)
		require.Len(t, got.Body, i%700)
	}
}

func TestOverload(t *testing.T) { // spec/remoting.md §11, item 18
	exec := NewExecutor("test", 1, 1)
	gate := make(chan struct{})
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{
		codeSlow: Entry{Handler: func(ctx context.Context, _ *Peer, _ *protocol.Command) (*Response, error) {
			await(ctx, gate)
			return Success(), nil
		}}.On(exec),
	}})
	conn := dialTest(t, s)
	for i := range 4 {
		conn.send(requestFrame(t, protocol.Command{Code: int32(codeSlow), Opaque: int32(i)}))
	}
	for _, opaque := range []int32{2, 3} {
		got := conn.receive()
		require.EqualValues(t, protocol.RespSystemBusy, got.Code)
		require.Equal(t, "[OVERLOAD]system busy, start flow control for a while", got.Remark)
		require.Equal(t, opaque, got.Opaque)
	}
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeSlow), Opaque: 9, Flag: protocol.FlagOneway})) // refused in silence
	close(gate)
	require.EqualValues(t, 0, conn.receive().Opaque)
	require.EqualValues(t, 1, conn.receive().Opaque)
}

// TestInFlightLimit holds back the reading of a connection that has its share of requests on executors.
func TestInFlightLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits Limits
		body   int
		large  bool // answers
		weight int
		want   int32
	}{
		{"count", Limits{InFlight: 3}, 10, false, 0, 3},
		{"bytes", Limits{InFlightBytes: 5000}, 2000, false, 0, 2},
		{"a single large one is let through", Limits{InFlightBytes: 500}, 2000, false, 0, 1},
		{"large answers come one by one", Limits{}, 10, true, 0, 1},
		{"weight", Limits{InFlightBytes: 5000}, 10, false, 1500, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			exec := NewExecutor("test", 100, 100)
			gate := make(chan struct{})
			var running, most atomic.Int32
			s := startServer(t, ServerConfig{Log: zerolog.Nop(), Limits: c.limits, Table: Table{
				codeEcho: {Handler: echoBody},
				codeSlow: Entry{LargeAnswer: c.large, Handler: func(ctx context.Context, _ *Peer, _ *protocol.Command) (*Response, error) {
					n := running.Add(1)
					defer running.Add(-1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					await(ctx, gate)
					return Success(), nil
				}}.On(exec).Weighing(func(*protocol.Command) int { return c.weight }),
			}})
			conn := dialTest(t, s)
			for i := range 10 {
				conn.send(requestFrame(t, protocol.Command{Code: int32(codeSlow), Opaque: int32(i), Body: make([]byte, c.body)}))
			}
			eventually(t, func() bool { return running.Load() == c.want })
			other := dialTest(t, s) // is not held back
			other.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 77}))
			require.EqualValues(t, 77, other.receive().Opaque)
			close(gate)
			seen := map[int32]bool{}
			for range 10 {
				seen[conn.receive().Opaque] = true
			}
			require.Len(t, seen, 10)
			require.Equal(t, c.want, most.Load())
		})
	}
}

func TestHeldRequest(t *testing.T) { // spec/remoting.md §5.7
	held := make(chan *Peer, 1)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{
		codeEcho: {Handler: echoBody},
		codeHold: {Handler: func(_ context.Context, p *Peer, cmd *protocol.Command) (*Response, error) {
			held <- p
			return nil, nil
		}},
	}})
	conn := dialTest(t, s)
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeHold), Opaque: 1}), requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 2}))
	require.EqualValues(t, 2, conn.receive().Opaque)
	peer := <-held
	require.NoError(t, peer.Respond(1, Body([]byte("late"))))
	got := conn.receive()
	require.EqualValues(t, 1, got.Opaque)
	require.Equal(t, "late", string(got.Body))
	conn.Close()
	<-peer.Context().Done()
	require.ErrorIs(t, peer.Respond(1, Success()), ErrClosed)
}

// TestHeldRequestsOfOnePeer has large answers to held requests wait until the peer has taken those before, and a peer have
// no more of them than its share.
func TestHeldRequestsOfOnePeer(t *testing.T) {
	held := make(chan *Peer, 1)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), SendBuffer: 64 << 10, Table: Table{
		codeHold: {Handler: func(_ context.Context, p *Peer, _ *protocol.Command) (*Response, error) {
			held <- p
			return nil, nil
		}},
	}})
	conn := dialTest(t, s)
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeHold)}))
	peer := <-held
	const size = 8 << 20
	large := Body(make([]byte, size))
	require.NoError(t, peer.RespondWait(noWait, 1, large), "nothing waits yet")
	require.ErrorIs(t, peer.RespondWait(noWait, 2, large), ErrBusy)
	third := make(chan error, 1)
	go func() { third <- peer.RespondWait(context.Background(), 3, large) }()
	for _, opaque := range []int32{1, 3} {
		got := conn.receive()
		require.Equal(t, opaque, got.Opaque)
		require.Len(t, got.Body, size)
	}
	require.NoError(t, <-third)

	q := NewQuota(2)
	require.True(t, q.Take(peer))
	require.True(t, q.Take(peer))
	require.False(t, q.Take(peer))
	require.True(t, q.Take(new(Peer)))
	q.Give(peer)
	require.True(t, q.Take(peer))
	q.Give(peer)
	q.Give(peer)
	require.Len(t, q.taken, 1, "nothing is kept of a peer that has none")

	conn.Close()
	<-peer.Context().Done()
	require.ErrorIs(t, peer.RespondWait(context.Background(), 4, large), ErrClosed)
}

type testHook struct {
	before func(*protocol.Command) error
	after  func(*Response)
}

func (h testHook) Before(_ context.Context, _ *Peer, cmd *protocol.Command) error {
	if h.before == nil {
		return nil
	}
	return h.before(cmd)
}

func (h testHook) After(_ context.Context, _ *Peer, _ *protocol.Command, resp *Response) {
	if h.after != nil {
		h.after(resp)
	}
}

func TestHooks(t *testing.T) {
	var mu sync.Mutex
	var calls []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, fmt.Sprintf(format, args...))
	}
	s := startServer(t, ServerConfig{
		Log: zerolog.Nop(),
		Table: Table{codeEcho: {Handler: func(_ context.Context, _ *Peer, cmd *protocol.Command) (*Response, error) {
			note("handler")
			return Success(), nil
		}}},
		Hooks: []Hook{
			testHook{before: func(cmd *protocol.Command) error {
				note("before 1")
				switch string(cmd.Body) {
				case "refuse":
					return &Error{Code: protocol.RespNoPermission, Remark: "who are you"}
				case "panic":
					panic("hook")
				}
				return nil
			}, after: func(r *Response) { note("after 1: %d", r.Code) }},
			testHook{before: func(*protocol.Command) error { note("before 2"); return nil }, after: func(r *Response) { note("after 2: %d", r.Code) }},
		},
	})
	for _, c := range []struct {
		body   string
		code   protocol.ResponseCode
		remark string
		calls  []string
	}{
		{"", 0, "", []string{"before 1", "before 2", "handler", "after 1: 0", "after 2: 0"}},
		{"refuse", protocol.RespNoPermission, "who are you", []string{"before 1", "after 1: 16", "after 2: 16"}},
		{"panic", protocol.RespSystemError, "internal error: hook", []string{"before 1", "after 1: 1", "after 2: 1"}},
	} {
		mu.Lock()
		calls = nil
		mu.Unlock()
		conn := dialTest(t, s)
		conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Body: []byte(c.body)}))
		got := conn.receive()
		require.EqualValues(t, c.code, got.Code)
		require.Equal(t, c.remark, got.Remark)
		require.Equal(t, c.calls, calls)
	}
}

// TestDraining has a server tell modern clients to go away, and serve older ones (spec/remoting.md §11, item 24).
func TestDraining(t *testing.T) {
	drained := make(chan time.Duration)
	exec := NewExecutor("test", 1, 1)
	s := newTestServer(t, ServerConfig{
		Log:   zerolog.Nop(),
		Table: Table{codeEcho: {Handler: echoBody}, codeSlow: Entry{Handler: echoBody}.On(exec)},
		Drain: func() time.Duration { return <-drained },
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	conn := dialTest(t, s)
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Version: 476}))
	require.EqualValues(t, 0, conn.receive().Code)
	cancel()
	drained <- time.Second
	eventually(t, s.core.draining.Load)

	late := dialTest(t, s)
	for _, c := range []*testConn{conn, late} {
		for _, code := range []protocol.RequestCode{codeEcho, codeSlow} {
			c.send(requestFrame(t, protocol.Command{Code: int32(code), Version: 475}))
			require.EqualValues(t, protocol.RespSuccess, c.receive().Code)
			c.send(requestFrame(t, protocol.Command{Code: int32(code), Version: 476, Flag: protocol.FlagOneway}))
			c.send(requestFrame(t, protocol.Command{Code: int32(code), Version: 476}))
			got := c.receive()
			require.EqualValues(t, protocol.RespGoAway, got.Code)
			require.Equal(t, "please go away", got.Remark)
		}
		c.send(requestFrame(t, protocol.Command{Code: int32(codeUnknown), Version: 476}))
		require.EqualValues(t, protocol.RespRequestCodeNotSupported, c.receive().Code)
	}
	require.NoError(t, <-done)
	conn.closed()
	late.closed()
}

// TestStopFinishesWhatHasBegun has a server answer what it has read before it ends.
func TestStopFinishesWhatHasBegun(t *testing.T) {
	exec := NewExecutor("test", 1, 10)
	gate, began := make(chan struct{}), make(chan struct{}, 1)
	log := newEventLog()
	s := newTestServer(t, ServerConfig{Log: zerolog.Nop(), Listener: log, Table: Table{
		codeSlow: Entry{Handler: func(ctx context.Context, _ *Peer, _ *protocol.Command) (*Response, error) {
			began <- struct{}{}
			await(ctx, gate)
			return Success(), nil
		}}.On(exec),
	}})
	stop := runServer(t, s)
	busy, idle := dialTest(t, s), dialTest(t, s)
	silent := dialTest(t, s)
	idle.send(requestFrame(t, protocol.Command{Code: int32(codeUnknown)}))
	idle.receive()
	busy.send(requestFrame(t, protocol.Command{Code: int32(codeSlow), Opaque: 1}))
	<-began
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop() }()
	idle.closed()
	silent.closed()
	select {
	case <-stopped:
		t.Fatal("ended before its handler")
	default:
	}
	close(gate)
	require.EqualValues(t, 1, busy.receive().Opaque)
	busy.closed()
	<-stopped
	require.Equal(t, 2, log.count(CloseShutdown))
	_, err := net.Dial("tcp", s.Addr().String())
	require.Error(t, err)
}

// TestStopCutsOffWhatDoesNotEnd bounds the end of a server whose handlers wait for their context. Those that have not begun
// by then do not begin.
func TestStopCutsOffWhatDoesNotEnd(t *testing.T) {
	exec := NewExecutor("test", 1, 10)
	began := make(chan struct{}, 10)
	s := newTestServer(t, ServerConfig{Log: zerolog.Nop(), StopTime: 50 * time.Millisecond, Table: Table{
		codeSlow: Entry{Handler: func(ctx context.Context, _ *Peer, _ *protocol.Command) (*Response, error) {
			began <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}}.On(exec),
	}})
	stop := runServer(t, s)
	conn := dialTest(t, s)
	for range 5 {
		conn.send(requestFrame(t, protocol.Command{Code: int32(codeSlow)}))
	}
	<-began
	eventually(t, func() bool { return exec.Stats().Queue == 4 })
	stop()
	conn.closed()
	require.Empty(t, began)
	require.Zero(t, exec.Stats().Queue)
}

// TestStopDoesNotWaitForThoseWhoLeft ends at once although the requests of clients that are not there any more go on, whether
// they left before or during the end.
func TestStopDoesNotWaitForThoseWhoLeft(t *testing.T) {
	for _, kind := range []string{"plain", "tls"} {
		for _, when := range []string{"before", "during"} {
			t.Run(kind+" "+when, func(t *testing.T) {
				exec := NewExecutor("test", 1, 10)
				began := make(chan *Peer, 1)
				log := newEventLog()
				s := newTestServer(t, ServerConfig{Log: zerolog.Nop(), Listener: log, StopTime: testDeadline,
					TLS: mustTLS(t, TLSOptions{TestMode: true}), Table: Table{
						codeSlow: Entry{Handler: func(ctx context.Context, p *Peer, _ *protocol.Command) (*Response, error) {
							began <- p
							<-ctx.Done()
							return nil, ctx.Err()
						}}.On(exec),
					}})
				stop := runServer(t, s)
				conn := dialTest(t, s)
				if kind == "tls" {
					conn.Conn = tls.Client(conn.Conn, anyServer())
				}
				conn.send(requestFrame(t, protocol.Command{Code: int32(codeSlow)}))
				peer := <-began
				if when == "before" {
					conn.Close()
				}
				stopping := time.Now()
				stopped := make(chan struct{})
				go func() { defer close(stopped); stop() }()
				if when == "during" {
					eventually(t, func() bool {
						peer.mu.Lock()
						defer peer.mu.Unlock()
						return peer.room != nil // it waits for its answer to be written
					})
					conn.Close()
				}
				<-stopped
				require.Less(t, time.Since(stopping), testDeadline/2)
				require.Equal(t, 1, len(log.closed))
			})
		}
	}
}

func TestMaxConnections(t *testing.T) {
	var log syncBuffer
	s := startServer(t, ServerConfig{Table: Table{codeEcho: {Handler: echoBody}}, MaxConnections: 2, Log: zerolog.New(&log)})
	request := requestFrame(t, protocol.Command{Code: int32(codeEcho)})
	first, second := dialTest(t, s), dialTest(t, s)
	for _, c := range []*testConn{first, second} {
		c.send(request)
		c.receive()
	}
	dialTest(t, s).closed()
	require.Contains(t, log.String(), "too many")
	first.Close()
	eventually(t, func() bool { return s.Connections() == 1 })
	third := dialTest(t, s)
	third.send(request)
	third.receive()
}

// failingListener fails to accept with the errors it holds, then waits for its end.
type failingListener struct {
	net.Listener
	errs chan error
}

func (l failingListener) Accept() (net.Conn, error) {
	select {
	case err := <-l.errs:
		return nil, &net.OpError{Op: "accept", Err: err}
	default:
		return l.Listener.Accept()
	}
}

func TestAcceptErrors(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	errs := make(chan error, 3)
	for _, err := range []error{syscall.EMFILE, syscall.EPROTO, syscall.EPERM} {
		errs <- err
	}
	var log bytes.Buffer
	s, err := NewServer(failingListener{ln, errs}, ServerConfig{Table: Table{codeEcho: {Handler: echoBody}}, Log: zerolog.New(&log)})
	require.NoError(t, err)
	stop := runServer(t, s)
	conn := dialTest(t, s)
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 3}))
	require.EqualValues(t, 3, conn.receive().Opaque)
	stop() // nobody writes to log any more
	require.Contains(t, log.String(), `{"level":"warn","listenAddr":"`+ln.Addr().String()+`","reason":"accept: `+syscall.EMFILE.Error()+`",`)
	require.NotContains(t, log.String(), `{"level":"warn","remoteAddr"`, "no peer is to blame")

	ln, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	errs <- errors.New("broken")
	s, err = NewServer(failingListener{ln, errs}, ServerConfig{Table: Table{codeEcho: {Handler: echoBody}}, Log: zerolog.Nop()})
	require.NoError(t, err)
	require.ErrorContains(t, s.Run(t.Context()), "broken")
}

func TestNewServerChecks(t *testing.T) {
	_, err := NewServer(nil, ServerConfig{})
	require.Error(t, err)
	_, err = NewServer(nil, ServerConfig{Table: Table{codeEcho: {}}})
	require.Error(t, err)
}
