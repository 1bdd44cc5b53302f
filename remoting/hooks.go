package remoting

import (
	"context"

	"github.com/mq-server/mq/protocol"
)

// Hook sees every request that reaches a handler, and its answer (spec/remoting.md §5.8). Hooks run in the order
// of registration, on the goroutine that runs the handler.
type Hook interface {
	// Before runs ahead of the handler. An error skips the handler and decides about the answer just as a
	// handler's error does; *Error gives it exactly.
	Before(ctx context.Context, peer *Peer, req *protocol.Command) error
	// After sees the answer that is about to be written, nil if the handler gave none. It must not change it:
	// answers may be shared.
	After(ctx context.Context, peer *Peer, req *protocol.Command, resp *Response)
}

// Listener learns of connections. Its methods run on the connection's own goroutine, so calls for different
// peers come at the same time, and a slow Listener delays only the peer it was called for. No call is ever left out.
type Listener interface {
	// Connected is called once, after PROXY header and TLS handshake and before the first request.
	Connected(peer *Peer)
	// Closed is called exactly once for each Connected, after the connection was closed, the peer's context has
	// ended and the last handler of the peer has returned.
	Closed(peer *Peer, reason CloseReason)
}

// CloseReason says why a connection ended.
type CloseReason uint8

// Reasons for the end of a connection.
const (
	CloseEOF      CloseReason = iota + 1 // the peer closed it
	CloseError                           // reading or writing failed, for instance by a reset
	CloseIdle                            // no complete frame and no completed write for the idle time
	CloseProtocol                        // the peer sent something that is no frame
	CloseStalled                         // the peer did not take its answers, or did not finish a large frame or take a large answer that others waited for
	CloseLocal                           // Peer.Close
	CloseShutdown                        // the server or client ended
)

func (r CloseReason) String() string {
	switch r {
	case CloseEOF:
		return "closed by peer"
	case CloseError:
		return "connection error"
	case CloseIdle:
		return "idle"
	case CloseProtocol:
		return "bad frame"
	case CloseStalled:
		return "stalled"
	case CloseLocal:
		return "closed"
	case CloseShutdown:
		return "shutdown"
	}
	return "open"
}
