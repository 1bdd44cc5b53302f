package remoting

import (
	"context"
	"errors"

	"github.com/mq-server/mq/protocol"
)

// Errors of calls to a peer.
var (
	// ErrClosed: the connection, or the client, is closed. The request may or may not have been handled.
	ErrClosed = errors.New("connection closed")
	// ErrBusy: as many calls or bytes as Limits allow wait already.
	ErrBusy = errors.New("too many requests in flight")
)

// Peer is one connection as handlers and listeners see it, from its first to its last byte. Peers are compared by
// pointer and safe for concurrent use.
type Peer struct{}

// ID is unique among the connections of one server or client.
func (p *Peer) ID() uint64 { return 0 }

// RemoteAddr is the peer's "host:port": the source a PROXY protocol header named, else the socket's.
func (p *Peer) RemoteAddr() string { return "" }

// Attr returns an attribute of the connection, such as proxy_protocol_addr (spec/remoting.md §7.5).
func (p *Peer) Attr(key string) (value string, ok bool) { return "", false }

// Context ends when the connection closes.
func (p *Peer) Context() context.Context { return nil }

// Close closes the connection, with reason CloseLocal. Calls after the first do nothing.
func (p *Peer) Close() {}

// Oneway sends cmd, whose Opaque and Flag it chooses, as a oneway request. It returns once cmd is in the output
// buffer. Errors: ErrClosed, ErrBusy.
func (p *Peer) Oneway(ctx context.Context, cmd *protocol.Command) error { return nil }

// Invoke sends cmd, whose Opaque and Flag it chooses, and waits for the answer. Errors: ErrClosed, ErrBusy, ctx's.
func (p *Peer) Invoke(ctx context.Context, cmd *protocol.Command) (*protocol.Command, error) {
	return nil, nil
}

// Respond answers a held request, one whose handler returned nil, nil, by its opaque. Errors: ErrClosed.
func (p *Peer) Respond(opaque int32, resp *Response) error { return nil }
