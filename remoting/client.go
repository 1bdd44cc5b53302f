package remoting

import (
	"context"
	"crypto/tls"
	"fmt"
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
type Client struct{}

// NewClient returns a client. It connects when it is first asked to.
func NewClient(cfg ClientConfig) *Client { return &Client{} }

// Invoke sends cmd, whose Opaque and Flag it chooses, to addr ("host:port") and waits for the answer until ctx ends.
// Errors: *ConnectError, *SendError, *TimeoutError, ErrBusy, ErrClosed after Close.
func (c *Client) Invoke(ctx context.Context, addr string, cmd *protocol.Command) (*protocol.Command, error) {
	return nil, nil
}

// InvokeAsync is Invoke that returns at once and gives the outcome to done, on a goroutine of the client.
func (c *Client) InvokeAsync(ctx context.Context, addr string, cmd *protocol.Command, done func(*protocol.Command, error)) {
}

// Oneway sends cmd without waiting for an answer. It returns once cmd is in the connection's output buffer.
// Errors: as Invoke.
func (c *Client) Oneway(ctx context.Context, addr string, cmd *protocol.Command) error { return nil }

// Close closes all connections, fails what waits on them, and returns once all that the client started has ended.
func (c *Client) Close() {}
