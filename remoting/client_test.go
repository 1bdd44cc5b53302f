package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

func newTestClient(t *testing.T, cfg ClientConfig) *Client {
	t.Helper()
	c := NewClient(cfg)
	t.Cleanup(c.Close)
	return c
}

// withTimeout returns a context of the test that ends after d.
func withTimeout(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func echoCommand(body string) *protocol.Command {
	return &protocol.Command{Code: int32(codeEcho), Body: []byte(body)}
}

func TestClientInvoke(t *testing.T) {
	for _, codec := range []protocol.Codec{protocol.CodecJSON, protocol.CodecBinary} {
		got := make(chan protocol.Command, 1)
		s := startServer(t, ServerConfig{Log: zerolog.Nop(), Default: &Entry{Handler: func(ctx context.Context, p *Peer, cmd *protocol.Command) (*Response, error) {
			select {
			case got <- *cmd:
			default:
			}
			return echoBody(ctx, p, cmd)
		}}})
		c := newTestClient(t, ClientConfig{Codec: codec})
		cmd := echoCommand("hello")
		cmd.Ext = protocol.Ext{{Key: "k", Value: "v"}}
		resp, err := c.Invoke(t.Context(), s.Addr().String(), cmd)
		require.NoError(t, err)
		require.Equal(t, "hello", string(resp.Body))
		request := <-got
		require.Equal(t, protocol.LanguageGo, request.Language)
		require.Equal(t, protocol.CurrentVersion, request.Version)
		require.Equal(t, codec, request.Codec)
		require.Zero(t, request.Flag)
		require.Equal(t, protocol.Ext{{Key: "k", Value: "v"}}, request.Ext)
		require.Zero(t, cmd.Opaque, "the caller's command is left alone")
	}
}

// TestClientSharesAConnection has many callers at once dial once and each get its own answer.
func TestClientSharesAConnection(t *testing.T) {
	exec := NewExecutor("test", 8, 1000)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeEcho: {Handler: echoBody}, codeSlow: Entry{Handler: echoBody}.On(exec)}})
	c := newTestClient(t, ClientConfig{})
	var wg sync.WaitGroup
	var callbacks atomic.Int32
	for i := range 50 {
		wg.Go(func() {
			for j := range 20 {
				cmd := echoCommand(fmt.Sprint(i, "/", j, strings.Repeat("x", 1000*(j%20))))
				if j%2 == 0 {
					cmd.Code = int32(codeSlow)
				}
				want := string(cmd.Body)
				resp, err := c.Invoke(t.Context(), s.Addr().String(), cmd)
				if err != nil || string(resp.Body) != want {
					t.Errorf("%v", err)
				}
				c.InvokeAsync(t.Context(), s.Addr().String(), cmd, func(resp *protocol.Command, err error) {
					callbacks.Add(1)
					if err != nil || string(resp.Body) != want {
						t.Errorf("%v", err)
					}
				})
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, s.Connections())
	eventually(t, func() bool { return callbacks.Load() == 1000 })
}

func TestClientOneway(t *testing.T) {
	got := make(chan *protocol.Command, 1)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeEcho: {Handler: func(_ context.Context, _ *Peer, cmd *protocol.Command) (*Response, error) {
		kept := *cmd
		kept.Body = slices.Clone(cmd.Body)
		got <- &kept
		return Success(), nil
	}}}})
	c := newTestClient(t, ClientConfig{})
	require.NoError(t, c.Oneway(t.Context(), s.Addr().String(), echoCommand("hi")))
	cmd := <-got
	require.Equal(t, protocol.FlagOneway, cmd.Flag)
	require.Equal(t, "hi", string(cmd.Body))
}

func TestClientConnectError(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := ln.Addr().String()
	ln.Close()
	c := newTestClient(t, ClientConfig{})
	for _, bad := range []string{addr, "no-port", "127.0.0.1:99999"} {
		_, err = c.Invoke(t.Context(), bad, echoCommand(""))
		ce, ok := errors.AsType[*ConnectError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, bad, ce.Addr)
		require.ErrorContains(t, err, "connect to "+bad+" failed")
		require.Error(t, c.Oneway(t.Context(), bad, echoCommand("")))
		failed := make(chan error, 1)
		c.InvokeAsync(t.Context(), bad, echoCommand(""), func(_ *protocol.Command, err error) { failed <- err })
		require.Error(t, <-failed)
	}
}

// TestClientTimeout has a call end with its context, and the next one use a new connection.
func TestClientTimeout(t *testing.T) {
	gate := make(chan struct{})
	t.Cleanup(func() { close(gate) })
	exec := NewExecutor("test", 8, 1000)
	for _, keep := range []bool{false, true} {
		s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{
			codeEcho: {Handler: echoBody},
			codeSlow: Entry{Handler: func(ctx context.Context, _ *Peer, _ *protocol.Command) (*Response, error) {
				await(ctx, gate)
				return Success(), nil
			}}.On(exec),
		}})
		c := newTestClient(t, ClientConfig{KeepOnTimeout: keep})
		addr := s.Addr().String()
		_, err := c.Invoke(t.Context(), addr, echoCommand(""))
		require.NoError(t, err)
		first := c.snapshot()[0]

		_, err = c.Invoke(withTimeout(t, 150*time.Millisecond), addr, &protocol.Command{Code: int32(codeSlow)})
		te, ok := errors.AsType[*TimeoutError](err)
		require.True(t, ok, "%v", err)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, addr, te.Addr)
		require.Regexp(t, `^wait response on the channel <127\.0\.0\.1:\d+> timeout, \d+\(ms\)$`, err.Error())
		require.Empty(t, first.calls)

		canceled, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		_, err = c.Invoke(canceled, addr, &protocol.Command{Code: int32(codeSlow)})
		require.ErrorIs(t, err, context.Canceled)

		_, err = c.Invoke(t.Context(), addr, echoCommand(""))
		require.NoError(t, err)
		require.Equal(t, keep, c.snapshot()[0] == first)
	}
}

// TestClientFailsPendingCallsAtOnce does not let calls wait for an answer that cannot come (spec/remoting.md §11, item 30).
func TestClientFailsPendingCallsAtOnce(t *testing.T) {
	exec := NewExecutor("test", 8, 1000)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{
		codeEcho: {Handler: echoBody},
		codeSlow: Entry{Handler: func(ctx context.Context, p *Peer, _ *protocol.Command) (*Response, error) {
			p.Close()
			return nil, ctx.Err()
		}}.On(exec),
	}})
	c := newTestClient(t, ClientConfig{})
	_, err := c.Invoke(withTimeout(t, testDeadline), s.Addr().String(), &protocol.Command{Code: int32(codeSlow)})
	se, ok := errors.AsType[*SendError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, s.Addr().String(), se.Addr)
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorContains(t, err, "send request to <"+s.Addr().String()+"> failed")
	_, err = c.Invoke(t.Context(), s.Addr().String(), echoCommand("")) // connects again
	require.NoError(t, err)
}

// TestClientReconnects finds its server again after a restart on the same port.
func TestClientReconnects(t *testing.T) {
	cfg := ServerConfig{Log: zerolog.Nop(), Table: Table{codeEcho: {Handler: echoBody}}}
	s := newTestServer(t, cfg)
	stop := runServer(t, s)
	addr := s.Addr().String()
	c := newTestClient(t, ClientConfig{})
	_, err := c.Invoke(t.Context(), addr, echoCommand(""))
	require.NoError(t, err)
	stop()
	eventually(t, func() bool { return len(c.snapshot()) == 0 })
	_, err = c.Invoke(t.Context(), addr, echoCommand(""))
	require.Error(t, err)

	ln, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	s, err = NewServer(ln, cfg)
	require.NoError(t, err)
	runServer(t, s)
	_, err = c.Invoke(t.Context(), addr, echoCommand(""))
	require.NoError(t, err)
}

// Connect gives the connection that calls use, and a new one only after that has ended or is retired.
func TestClientConnect(t *testing.T) {
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeEcho: {Handler: echoBody}}})
	addr := s.Addr().String()
	c := newTestClient(t, ClientConfig{})
	first, err := c.Connect(t.Context(), addr)
	require.NoError(t, err)
	resp, err := first.Invoke(t.Context(), echoCommand("x"))
	require.NoError(t, err)
	require.Equal(t, "x", string(resp.Body))
	again, err := c.Connect(t.Context(), addr)
	require.NoError(t, err)
	require.Same(t, first, again)

	first.Close()
	require.Error(t, first.Context().Err())
	_, err = first.Invoke(t.Context(), echoCommand(""))
	require.ErrorIs(t, err, ErrClosed)
	second, err := c.Connect(t.Context(), addr)
	require.NoError(t, err)
	require.NotSame(t, first, second)

	second.Retire()
	third, err := c.Connect(t.Context(), addr)
	require.NoError(t, err)
	require.NotSame(t, second, third)
	for _, p := range []*Peer{second, third} { // it is still there for who has it
		resp, err = p.Invoke(t.Context(), echoCommand("x"))
		require.NoError(t, err)
		require.Equal(t, "x", string(resp.Body))
	}
	second.Close()
	again, err = c.Connect(t.Context(), addr)
	require.NoError(t, err)
	require.Same(t, third, again)
	third.Retire()

	c.Close()
	require.Error(t, third.Context().Err())
	_, err = c.Connect(t.Context(), addr)
	require.ErrorIs(t, err, ErrClosed)
}

// TestClientGoAway asks once more, on a new connection and with a new opaque (spec/remoting.md §11, item 29).
func TestClientGoAway(t *testing.T) {
	var mu sync.Mutex
	var peers []*Peer
	var opaques []int32
	refusals := 1
	exec := NewExecutor("test", 8, 1000)
	gate := make(chan struct{})
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{
		codeEcho: {Handler: func(ctx context.Context, p *Peer, cmd *protocol.Command) (*Response, error) {
			mu.Lock()
			defer mu.Unlock()
			peers, opaques = append(peers, p), append(opaques, cmd.Opaque)
			if refusals > 0 {
				refusals--
				return nil, &Error{protocol.RespGoAway, remarkGoAway}
			}
			return echoBody(ctx, p, cmd)
		}},
		codeSlow: Entry{Handler: func(ctx context.Context, p *Peer, cmd *protocol.Command) (*Response, error) {
			await(ctx, gate)
			return echoBody(ctx, p, cmd)
		}}.On(exec),
	}})
	addr := s.Addr().String()
	c := newTestClient(t, ClientConfig{})
	late := make(chan error, 1)
	c.InvokeAsync(t.Context(), addr, &protocol.Command{Code: int32(codeSlow)}, func(_ *protocol.Command, err error) { late <- err })
	eventually(t, func() bool { return exec.Stats().Running == 1 })

	resp, err := c.Invoke(t.Context(), addr, echoCommand("again"))
	require.NoError(t, err)
	require.Equal(t, "again", string(resp.Body))
	require.Len(t, peers, 2)
	require.NotSame(t, peers[0], peers[1])
	require.NotEqual(t, opaques[0], opaques[1])
	close(gate)
	require.NoError(t, <-late, "the old connection is left to those who wait on it")

	refusals = 2
	_, err = c.Invoke(t.Context(), addr, echoCommand(""))
	require.ErrorIs(t, err, errGoAway)
	refusals = 1
	stubborn := newTestClient(t, ClientConfig{NoGoAwayRetry: true})
	_, err = stubborn.Invoke(t.Context(), addr, echoCommand(""))
	require.ErrorIs(t, err, errGoAway)
}

// TestServerCallsClient has requests go the other way (spec/remoting.md §6.9).
func TestServerCallsClient(t *testing.T) {
	peers := make(chan *Peer, 1)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeEcho: {Handler: func(_ context.Context, p *Peer, _ *protocol.Command) (*Response, error) {
		peers <- p
		return Success(), nil
	}}}})
	exec := NewExecutor("test", 2, 10)
	oneways := make(chan string, 1)
	gate := make(chan struct{})
	c := newTestClient(t, ClientConfig{Table: Table{
		codeSlow: Entry{Handler: echoBody}.On(exec),
		codeFail: {Handler: failing},
		codeHold: Entry{Handler: func(ctx context.Context, _ *Peer, _ *protocol.Command) (*Response, error) {
			await(ctx, gate)
			return Success(), nil
		}}.On(exec),
		codePanic: {Handler: func(_ context.Context, _ *Peer, cmd *protocol.Command) (*Response, error) {
			oneways <- string(cmd.Body)
			return Success(), nil
		}},
	}})
	_, err := c.Invoke(t.Context(), s.Addr().String(), echoCommand(""))
	require.NoError(t, err)
	peer := <-peers

	resp, err := peer.Invoke(t.Context(), &protocol.Command{Code: int32(codeSlow), Body: []byte("ask")})
	require.NoError(t, err)
	require.Equal(t, "ask", string(resp.Body))
	resp, err = peer.Invoke(t.Context(), &protocol.Command{Code: int32(codeFail)})
	require.NoError(t, err)
	require.EqualValues(t, protocol.RespSystemError, resp.Code)
	resp, err = peer.Invoke(t.Context(), &protocol.Command{Code: 41})
	require.NoError(t, err)
	require.EqualValues(t, protocol.RespRequestCodeNotSupported, resp.Code)
	require.Equal(t, " request type 41 not supported", resp.Remark)
	require.NoError(t, peer.Oneway(t.Context(), &protocol.Command{Code: int32(codePanic), Body: []byte("note")}))
	require.Equal(t, "note", <-oneways)

	_, err = peer.Invoke(withTimeout(t, 10*time.Millisecond), &protocol.Command{Code: int32(codeHold)})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	close(gate)
	peer.Close()
	_, err = peer.Invoke(t.Context(), &protocol.Command{Code: int32(codeSlow)})
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, peer.Oneway(t.Context(), &protocol.Command{Code: int32(codeSlow)}), ErrClosed)
}

// TestPushesAreBounded refuses oneways to a peer that does not read, without waiting for it.
func TestPushesAreBounded(t *testing.T) {
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), SendBuffer: 4096, Table: Table{codeEcho: {Handler: echoBody}}})
	conn := dialTest(t, s)
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho)}))
	conn.receive()
	peer := onlyPeer(t, s)
	sent := 0
	var err error
	for ; err == nil; sent++ {
		require.Less(t, sent, 100000)
		err = peer.Oneway(t.Context(), &protocol.Command{Code: int32(codeEcho), Body: make([]byte, 1000)})
	}
	require.ErrorIs(t, err, ErrBusy)
	for range sent - 1 {
		require.True(t, func() bool { cmd := conn.receive(); return cmd.IsOneway() }())
	}
}

// TestInvokeLimit bounds the calls that wait for an answer.
func TestInvokeLimit(t *testing.T) {
	gate := make(chan struct{})
	exec := NewExecutor("test", 8, 1000)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeSlow: Entry{Handler: func(ctx context.Context, _ *Peer, _ *protocol.Command) (*Response, error) {
		await(ctx, gate)
		return Success(), nil
	}}.On(exec)}})
	c := newTestClient(t, ClientConfig{Limits: Limits{Invokes: 2}})
	done := make(chan error, 2)
	for range 2 {
		c.InvokeAsync(t.Context(), s.Addr().String(), &protocol.Command{Code: int32(codeSlow)}, func(_ *protocol.Command, err error) { done <- err })
	}
	eventually(t, func() bool { return exec.Stats().Running == 2 })
	_, err := c.Invoke(withTimeout(t, 20*time.Millisecond), s.Addr().String(), &protocol.Command{Code: int32(codeSlow)})
	require.ErrorIs(t, err, ErrBusy)
	close(gate)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
}

// TestWaitingForAnAnswerIsNotIdle has a connection stay open for as long as a call waits, which has a time limit of its own.
func TestWaitingForAnAnswerIsNotIdle(t *testing.T) {
	gate := make(chan struct{})
	exec := NewExecutor("test", 1, 1)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeSlow: Entry{Handler: func(ctx context.Context, _ *Peer, _ *protocol.Command) (*Response, error) {
		await(ctx, gate)
		return Success(), nil
	}}.On(exec)}})
	c := newTestClient(t, ClientConfig{Idle: -1}) // the test sweeps
	p, err := c.Connect(t.Context(), s.Addr().String())
	require.NoError(t, err)
	done := make(chan error, 1)
	c.InvokeAsync(withTimeout(t, testDeadline), s.Addr().String(), &protocol.Command{Code: int32(codeSlow)}, func(_ *protocol.Command, err error) { done <- err })
	eventually(t, func() bool { return exec.Stats().Running == 1 })
	sweep := func() {
		for range 3 {
			c.core.tick()
			p.sweep(0)
		}
	}
	sweep()
	require.False(t, p.Closed())
	close(gate)
	require.NoError(t, <-done)
	eventually(t, func() bool { sweep(); return p.Closed() })
}

func TestClientIdle(t *testing.T) {
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeEcho: {Handler: echoBody}}})
	c := newTestClient(t, ClientConfig{Idle: 200 * time.Millisecond})
	for range 2 {
		_, err := c.Invoke(t.Context(), s.Addr().String(), echoCommand(""))
		require.NoError(t, err)
		eventually(t, func() bool { return s.Connections() == 0 })
	}
}

func TestClientClose(t *testing.T) {
	exec := NewExecutor("test", 8, 1000)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeSlow: Entry{Handler: func(ctx context.Context, _ *Peer, _ *protocol.Command) (*Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}.On(exec)}})
	c := NewClient(ClientConfig{})
	failed := make(chan error, 3)
	note := func(_ *protocol.Command, err error) { failed <- err }
	for range 2 {
		c.InvokeAsync(t.Context(), s.Addr().String(), &protocol.Command{Code: int32(codeSlow)}, note)
	}
	eventually(t, func() bool { return exec.Stats().Running == 2 })
	c.Close()
	require.Len(t, failed, 2, "callbacks have run before Close returns")
	require.ErrorIs(t, <-failed, ErrClosed)
	require.ErrorIs(t, <-failed, ErrClosed)
	c.InvokeAsync(t.Context(), s.Addr().String(), echoCommand(""), note)
	require.ErrorIs(t, <-failed, ErrClosed)
	_, err := c.Invoke(t.Context(), s.Addr().String(), echoCommand(""))
	require.ErrorIs(t, err, ErrClosed)
	c.Close()
	eventually(t, func() bool { return s.Connections() == 0 })
}

// TestClientCloseWhileConnecting ends the making of a connection that takes its time, here over its TLS handshake.
func TestClientCloseWhileConnecting(t *testing.T) {
	c, addr, _ := slowToConnect(t)
	failed := make(chan error, 3)
	for range 3 {
		c.InvokeAsync(t.Context(), addr, echoCommand(""), func(_ *protocol.Command, err error) { failed <- err })
	}
	eventually(t, func() bool { return connecting(c, addr) })
	began := time.Now()
	c.Close()
	require.Less(t, time.Since(began), time.Second)
	require.Len(t, failed, 3, "callbacks have run before Close returns")
	for range 3 {
		require.ErrorIs(t, <-failed, ErrClosed)
	}
}

// TestClientTimeoutWhileConnecting ends the wait for a connection, which is made all the same, for those who wait on.
func TestClientTimeoutWhileConnecting(t *testing.T) {
	c, addr, answer := slowToConnect(t)
	_, err := c.Invoke(withTimeout(t, 20*time.Millisecond), addr, echoCommand(""))
	_, ok := errors.AsType[*ConnectError](err)
	require.True(t, ok, "%v", err)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, connecting(c, addr))
	done := make(chan error, 1)
	c.InvokeAsync(withTimeout(t, testDeadline), addr, echoCommand(""), func(_ *protocol.Command, err error) { done <- err })
	close(answer)
	require.NoError(t, <-done, "over the connection that was in the making")
}

// slowToConnect returns a client and the address of a server that begins to speak TLS when answer is closed.
func slowToConnect(t *testing.T) (c *Client, addr string, answer chan struct{}) {
	t.Helper()
	modern, err := NewTLS(TLSOptions{Mode: "enforcing", TestMode: true}, zerolog.Nop())
	require.NoError(t, err)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), TLS: modern, Table: Table{codeEcho: {Handler: echoBody}}})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	answer = make(chan struct{})
	var relays sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		_ = ln.Close()
		relays.Wait()
	})
	relays.Go(func() {
		in, err := ln.Accept()
		if err != nil {
			return
		}
		defer func() { _ = in.Close() }()
		await(ctx, answer)
		if ctx.Err() != nil {
			return
		}
		out, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer context.AfterFunc(ctx, func() { _, _ = in.Close(), out.Close() })()
		relays.Go(func() {
			_, _ = io.Copy(in, out)
			_ = in.Close()
		})
		_, _ = io.Copy(out, in)
		_ = out.Close()
	})
	return newTestClient(t, ClientConfig{TLS: &tls.Config{InsecureSkipVerify: true}, ConnectTimeout: testDeadline}), ln.Addr().String(), answer
}

// connecting tells whether the connection to addr is in the making.
func connecting(c *Client, addr string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn := c.conns[addr]
	return conn != nil && conn.peer == nil
}

func TestClientTLS(t *testing.T) {
	server, err := NewTLS(TLSOptions{Mode: "enforcing", TestMode: true}, zerolog.Nop())
	require.NoError(t, err)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), TLS: server, Table: Table{codeEcho: {Handler: echoBody}}})
	c := newTestClient(t, ClientConfig{TLS: &tls.Config{InsecureSkipVerify: true}})
	for _, n := range []int{0, 10, 20 << 10, 3 << 20} {
		body := strings.Repeat("b", n)
		resp, err := c.Invoke(t.Context(), s.Addr().String(), echoCommand(body))
		require.NoError(t, err)
		require.Equal(t, body, string(resp.Body))
	}
	plain := newTestClient(t, ClientConfig{})
	_, err = plain.Invoke(t.Context(), s.Addr().String(), echoCommand(""))
	require.ErrorIs(t, err, ErrClosed)
	toPlain := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeEcho: {Handler: echoBody}}})
	_, err = c.Invoke(t.Context(), toPlain.Addr().String(), echoCommand(""))
	_, ok := errors.AsType[*ConnectError](err)
	require.True(t, ok, "%v", err)
}

func TestSplitAddr(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:9876": "127.0.0.1:9876",
		"host:1":         "host:1",
		"[::1]:9876":     "[::1]:9876",
		"::1:9876":       "[::1]:9876",
		"fe80::1%lo:10":  "[fe80::1%lo]:10",
		":9876":          ":9876",
	} {
		got, err := splitAddr(addr)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := splitAddr("host")
	require.Error(t, err)
}

// TestClientDropsGarbage has a server that talks nonsense cost its connection and fail its calls at once.
func TestClientDropsGarbage(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	t.Cleanup(func() { ln.Close(); wg.Wait() })
	wg.Go(func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 10))
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	})
	c := newTestClient(t, ClientConfig{Log: zerolog.Nop()})
	_, err = c.Invoke(withTimeout(t, testDeadline), ln.Addr().String(), echoCommand(""))
	require.ErrorIs(t, err, ErrClosed)
}
