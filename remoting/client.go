package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/protocol"
)

// ClientConfig is what a Client needs; all of it may be left out.
type ClientConfig struct {
	Table          Table // for requests that servers send; other codes are answered code 3
	Log            zerolog.Logger
	TLS            *tls.Config    // nil: plain connections
	Codec          protocol.Codec // header encoding of requests
	ConnectTimeout time.Duration  // default 3 s
	Idle           time.Duration  // connections without traffic are closed after it; default 120 s, negative: never
	Limits         Limits
	KeepOnTimeout  bool // leave a connection open on which a call has timed out (clientCloseSocketIfTimeout=false)
	NoGoAwayRetry  bool // enableReconnectForGoAway=false
	SendBuffer     int  // SO_SNDBUF in bytes; 0: the system's choice
	ReceiveBuffer  int  // SO_RCVBUF
}

// ConnectError says that no connection to Addr could be made. The request was not sent.
type ConnectError struct {
	Addr string
	Err  error
}

func (e *ConnectError) Error() string { return fmt.Sprintf("connect to %s failed: %v", e.Addr, e.Err) }
func (e *ConnectError) Unwrap() error { return e.Err }

// SendError says that a request was not sent, or that its connection ended before the answer.
type SendError struct {
	Addr string
	Err  error
}

func (e *SendError) Error() string {
	return fmt.Sprintf("send request to <%s> failed: %v", e.Addr, e.Err)
}
func (e *SendError) Unwrap() error { return e.Err }

// TimeoutError says that a call's context ended before the answer came; Err is the context's error.
type TimeoutError struct {
	Addr   string
	Waited time.Duration
	Err    error
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("wait response on the channel <%s> timeout, %d(ms)", e.Addr, e.Waited.Milliseconds())
}
func (e *TimeoutError) Unwrap() error { return e.Err }

// Client calls servers, over one connection per address. Safe for concurrent use.
type Client struct {
	cfg  ClientConfig
	core *core
	end  context.CancelFunc // of core.base

	running sync.WaitGroup // goroutines; begun under mu while closed is false

	mu       sync.Mutex
	conns    map[string]*clientConn // by address; guarded by mu
	old      map[*Peer]struct{}     // replaced, and not at their end yet; guarded by mu
	sweeping bool                   // guarded by mu
	closed   bool                   // guarded by mu
}

// clientConn is the connection to one address, possibly in the making.
type clientConn struct {
	made chan struct{} // closed when peer or err is set
	peer *Peer
	err  error
}

// NewClient returns a client. It connects when it is first asked to.
func NewClient(cfg ClientConfig) *Client {
	if cfg.ConnectTimeout <= 0 {
		cfg.ConnectTimeout = 3 * time.Second
	}
	if cfg.Idle == 0 {
		cfg.Idle = DefaultIdle
	}
	c := &Client{
		cfg: cfg, core: newCore(cfg.Table, cfg.Limits, 65535, cfg.Log),
		conns: make(map[string]*clientConn), old: make(map[*Peer]struct{}),
	}
	c.core.codec = cfg.Codec
	c.core.base, c.end = context.WithCancel(context.Background())
	return c
}

// Invoke sends cmd to addr ("host:port") and waits for the answer until ctx ends. Opaque, Flag, Language, Version
// and Codec are chosen for it; cmd.Body must not change any more. An answer with GO_AWAY is not returned: the
// request is sent once more, on a new connection (spec/remoting.md §6.6). After a timeout the connection is closed,
// unless KeepOnTimeout is set or the wait was short (§6.4).
//
// Errors: *ConnectError, *SendError, *TimeoutError, all with addr.
func (c *Client) Invoke(ctx context.Context, addr string, cmd *protocol.Command) (*protocol.Command, error) {
	p, err := c.peer(ctx, addr)
	if err != nil {
		return nil, err
	}
	resp, err := c.invoke(ctx, p, addr, cmd)
	if err != nil || protocol.ResponseCode(resp.Code) != protocol.RespGoAway {
		return resp, err
	}
	if c.cfg.NoGoAwayRetry {
		return nil, &SendError{addr, errGoAway}
	}
	p.Retire()
	if p, err = c.peer(ctx, addr); err != nil {
		return nil, err
	}
	resp, err = c.invoke(ctx, p, addr, cmd)
	if err == nil && protocol.ResponseCode(resp.Code) == protocol.RespGoAway {
		return nil, &SendError{addr, errGoAway}
	}
	return resp, err
}

var errGoAway = errors.New("the server is going away")

// shortWait is up to which wait a timeout does not speak against the connection.
const shortWait = 100 * time.Millisecond

// invoke calls p and names addr in its errors.
func (c *Client) invoke(ctx context.Context, p *Peer, addr string, cmd *protocol.Command) (*protocol.Command, error) {
	began := time.Now()
	resp, err := p.Invoke(ctx, cmd)
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		waited := time.Since(began)
		if err == context.DeadlineExceeded && waited > shortWait && !c.cfg.KeepOnTimeout {
			p.Close()
		}
		return nil, &TimeoutError{addr, waited, err}
	}
	return nil, &SendError{addr, err}
}

// InvokeAsync is Invoke that returns at once and gives the outcome to done, on a goroutine of the client.
// After Close it calls done itself, with ErrClosed.
func (c *Client) InvokeAsync(ctx context.Context, addr string, cmd *protocol.Command, done func(*protocol.Command, error)) {
	c.mu.Lock()
	closed := c.closed
	if !closed {
		c.running.Go(func() { done(c.Invoke(ctx, addr, cmd)) })
	}
	c.mu.Unlock()
	if closed {
		done(nil, &SendError{addr, ErrClosed})
	}
}

// Oneway sends cmd without waiting for an answer. It connects if need be, waits for room to send until ctx ends, and
// returns once cmd is in the connection's output buffer.
//
// Errors: as Invoke.
func (c *Client) Oneway(ctx context.Context, addr string, cmd *protocol.Command) error {
	p, err := c.peer(ctx, addr)
	if err != nil {
		return err
	}
	if err := p.request(ctx, cmd, c.core.opaque.Add(1), protocol.FlagOneway, nil); err != nil {
		return &SendError{addr, err}
	}
	return nil
}

// Connect returns the connection to addr over which calls go, and makes it if there is none. It is for those who must
// know that a request goes over the same connection as an earlier one: they call the peer itself, and lose it when its
// context ends. Answers with GO_AWAY are theirs to handle: see Peer.Retire.
//
// Errors: *ConnectError, *SendError.
func (c *Client) Connect(ctx context.Context, addr string) (*Peer, error) {
	return c.peer(ctx, addr)
}

// peer returns the connection to addr. All who ask at a time share the making of one. A new one takes the place of one that
// is retired, which is left to those who still wait for its answers.
func (c *Client) peer(ctx context.Context, addr string) (*Peer, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, &SendError{addr, ErrClosed}
	}
	conn := c.conns[addr]
	if conn == nil || conn.peer != nil && conn.peer.retired.Load() {
		if conn != nil {
			c.old[conn.peer] = struct{}{}
		}
		conn = &clientConn{made: make(chan struct{})}
		c.conns[addr] = conn
		c.running.Go(func() { c.connect(addr, conn) })
		if !c.sweeping {
			c.sweeping = true
			c.running.Go(func() { c.core.sweep(c.core.base, func() time.Duration { return max(0, c.cfg.Idle) }, c.snapshot) })
		}
	}
	c.mu.Unlock()
	select {
	case <-conn.made:
	case <-ctx.Done():
		return nil, &ConnectError{addr, ctx.Err()}
	}
	if conn.err != nil {
		return nil, &ConnectError{addr, conn.err}
	}
	return conn.peer, nil
}

// connect makes the connection to addr and serves it until it ends.
func (c *Client) connect(addr string, conn *clientConn) {
	p, err := c.dial(addr)
	if err != nil && c.core.base.Err() != nil {
		err = ErrClosed
	}
	c.mu.Lock()
	conn.peer, conn.err = p, err
	if err != nil {
		delete(c.conns, addr) // before anybody learns of it, so that whoever asks again then tries again
	}
	closed := c.closed
	c.mu.Unlock()
	close(conn.made)
	if err != nil {
		return
	}
	if closed { // Close has not seen it
		p.close(CloseShutdown, nil)
	}
	c.core.run(p, clientListener{c, addr, conn})
}

// clientListener makes room for a new connection once the old one is closed.
type clientListener struct {
	client *Client
	addr   string
	conn   *clientConn
}

func (l clientListener) Connected(*Peer)           {}
func (l clientListener) Closed(*Peer, CloseReason) { l.client.forget(l.addr, l.conn) }

// forget removes a connection that has ended.
func (c *Client) forget(addr string, conn *clientConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns[addr] == conn {
		delete(c.conns, addr)
	}
	delete(c.old, conn.peer)
}

// dial connects to addr, whose host is resolved anew each time.
func (c *Client) dial(addr string) (*Peer, error) {
	hostport, err := splitAddr(addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.core.base, c.cfg.ConnectTimeout)
	defer cancel()
	sock, err := (&net.Dialer{KeepAlive: -1}).DialContext(ctx, "tcp", hostport)
	if err != nil {
		return nil, err
	}
	setSocketOptions(sock, c.cfg.SendBuffer, c.cfg.ReceiveBuffer)
	conn := sock
	if c.cfg.TLS != nil {
		secured := tls.Client(sock, c.cfg.TLS)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = sock.Close()
			return nil, err
		}
		conn = secured
	}
	p := c.core.newPeer(sock)
	p.use(conn, nil)
	return p, nil
}

// splitAddr returns addr in the form that package net takes. The port follows the last colon; the brackets of an
// IPv6 host may be left out (spec/remoting.md §6.5).
func splitAddr(addr string) (string, error) {
	i := strings.LastIndexByte(addr, ':')
	if i < 0 {
		return "", fmt.Errorf("address %q has no port", addr)
	}
	host := addr[:i]
	if len(host) >= 2 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	return net.JoinHostPort(host, addr[i+1:]), nil
}

// snapshot returns the open connections.
func (c *Client) snapshot() []*Peer {
	c.mu.Lock()
	defer c.mu.Unlock()
	peers := make([]*Peer, 0, len(c.conns)+len(c.old))
	for _, conn := range c.conns {
		if conn.peer != nil {
			peers = append(peers, conn.peer)
		}
	}
	for p := range c.old {
		peers = append(peers, p)
	}
	return peers
}

// Close closes all connections, fails what waits on them, and returns once all that the client started has ended,
// callbacks included. It may be called more than once, but not from a callback.
func (c *Client) Close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.core.stopping)
	}
	c.mu.Unlock()
	c.end()
	for _, p := range c.snapshot() {
		p.close(CloseShutdown, nil)
	}
	c.running.Wait()
}
