package remoting

import (
	"context"
	"net"
	"time"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/protocol"
)

// Limits bounds what one peer, or all of them, may cost. A zero value means the default.
type Limits struct {
	Frame          int           // largest frame in bytes, length prefix included; default and most: 16 MiB
	InFlight       int           // requests of one connection that are on executors or whose answers are unwritten; default 32
	InFlightBytes  int           // bytes of such requests, unless it is a single one; default 1 MiB
	Output         int           // bytes that wait to be written to one connection before its requests are left unread; default 256 KiB
	LargeFrames    int           // bytes of all frames above 64 KiB that are being read or handled; at least Frame; default 32 MiB
	LargeFrameTime time.Duration // how long such a frame may take to arrive once others wait for room; default 10 s
	Invokes        int           // calls that await an answer, over all connections; default 64 on servers, 65535 on clients
}

// ServerConfig is what a Server needs. Only Log and one of Table and Default are of the essence.
type ServerConfig struct {
	Table    Table
	Default  *Entry      // handles the codes that Table lacks; nil: they are answered code 3
	Errors   []ErrorCode // first match wins; *Error and *protocol.FieldError come first, all else is code 1
	Hooks    []Hook
	Listener Listener // may be nil
	Log      zerolog.Logger

	TLS   *TLS           // nil: plain connections only
	Codec protocol.Codec // header encoding of all that is sent; the original's default is JSON, whatever the peer uses

	Idle           func() time.Duration // asked before every check, so it may change; nil: 120 s; 0: never
	Limits         Limits
	MaxConnections int // further ones are closed at once; 0: no limit
	SendBuffer     int // SO_SNDBUF of connections in bytes; 0: the system's choice
	ReceiveBuffer  int // SO_RCVBUF

	// Drain is asked when Run's context ends: for that long the server goes on, but answers the requests of peers
	// newer than 5.3.1 with GO_AWAY (spec/remoting.md §5.6). nil or 0: it ends at once.
	Drain func() time.Duration
	// StopTime is how long handlers may take to finish, and answers to be written, once the server stops; default 3 s.
	StopTime time.Duration
}

// Server answers requests on a listener.
type Server struct{}

// NewServer returns a server on ln, which it owns from then on. It starts nothing.
func NewServer(ln net.Listener, cfg ServerConfig) (*Server, error) { return &Server{}, nil }

// Addr returns the address the server listens on.
func (s *Server) Addr() net.Addr { return nil }

// Run serves until ctx ends, then drains, and returns after all that it started has ended. It returns nil after
// ctx has ended, else why the listener failed. Call it once.
func (s *Server) Run(ctx context.Context) error { return nil }

// Connections returns the number of open connections.
func (s *Server) Connections() int { return 0 }
