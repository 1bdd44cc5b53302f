package remoting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/protocol"
)

// Limits bounds what one peer, or all of them, may cost. A zero value means the default.
type Limits struct {
	Frame          int           // largest frame in bytes, length prefix included; default and most: 16 MiB
	InFlight       int           // requests of one connection that are on executors or whose answers are unwritten; default 32
	InFlightBytes  int           // bytes of those requests together; a larger one is taken if it is the only one; see Entry.LargeAnswer and Weight; default 1 MiB
	Output         int           // bytes that wait to be written to one connection before its requests are left unread; default 256 KiB
	LargeFrames    int           // bytes of all frames above 64 KiB that are being read or handled; at least Frame; default 32 MiB
	LargeFrameTime time.Duration // how long such a frame may take to arrive, or an answer as below to be taken, once others wait for room; its peer may do nothing for it for a quarter of that; default 10 s
	LargeAnswers   int           // bytes of all answers of entries with LargeAnswer: 16 MiB for one that is being made, then its size until it is written, nothing up to 64 KiB; at least 16 MiB; default 256 MiB
	Invokes        int           // calls that await an answer, over all connections; default 64 on servers, 65535 on clients
}

// DefaultIdle is how long a connection may go without a complete frame and without a completed write before it is closed.
const DefaultIdle = 120 * time.Second

// defaultStopTime is ServerConfig.StopTime's default.
const defaultStopTime = 3 * time.Second

// DefaultMaxConnections is how many connections a server has at once unless it is told otherwise; the limit of the
// process for open files may be lower. Idle they cost some 600 MB.
const DefaultMaxConnections = 100_000

// ServerConfig is what a Server needs. Table or Default must be given; everything else may be left out.
type ServerConfig struct {
	Table    Table
	Default  *Entry      // handles the codes that Table lacks; nil: they are answered code 3
	Errors   []ErrorCode // first match wins; *Error and *protocol.FieldError come first, all else is code 1
	Hooks    []Hook
	Listener Listener // may be nil
	Log      zerolog.Logger

	TLS   *TLS           // nil: plain connections only
	Codec protocol.Codec // header encoding of all that is sent; the original's default is JSON, whatever the peer uses

	Idle           func() time.Duration // asked before every check, so it may change; nil: DefaultIdle; 0: never
	Limits         Limits
	MaxConnections int // further ones are closed at once; 0: DefaultMaxConnections
	SendBuffer     int // SO_SNDBUF of connections in bytes; 0: the system's choice
	ReceiveBuffer  int // SO_RCVBUF

	// Drain is asked when Run's context ends: for that long the server goes on, but answers the requests of peers
	// newer than 5.3.1 with GO_AWAY (spec/remoting.md §5.6). nil or 0: it ends at once.
	Drain func() time.Duration
	// StopTime is how long handlers may take to finish, and answers to be written, once the server stops; default 3 s.
	StopTime time.Duration
}

// Server answers requests on a listener.
type Server struct {
	ln   net.Listener
	cfg  ServerConfig
	core *core

	serving sync.WaitGroup // connections

	mu     sync.Mutex
	peers  map[*Peer]bool // all connections; true once past the handshake; guarded by mu
	ending bool           // no more connections are taken; guarded by mu
}

// NewServer returns a server on ln, which it owns from then on. It starts nothing.
func NewServer(ln net.Listener, cfg ServerConfig) (*Server, error) {
	if len(cfg.Table) == 0 && cfg.Default == nil {
		return nil, errors.New("remoting: a server without handlers")
	}
	for code, entry := range cfg.Table {
		if entry.Handler == nil {
			return nil, fmt.Errorf("remoting: no handler for code %d", code)
		}
	}
	if cfg.Idle == nil {
		cfg.Idle = func() time.Duration { return DefaultIdle }
	}
	if cfg.StopTime <= 0 {
		cfg.StopTime = defaultStopTime
	}
	if cfg.MaxConnections <= 0 {
		cfg.MaxConnections = DefaultMaxConnections
	}
	core := newCore(cfg.Table, cfg.Limits, 64, cfg.Log)
	core.fallback, core.errors, core.hooks, core.codec = cfg.Default, cfg.Errors, cfg.Hooks, cfg.Codec
	return &Server{ln: ln, cfg: cfg, core: core, peers: make(map[*Peer]bool)}, nil
}

// Addr returns the address the server listens on.
func (s *Server) Addr() net.Addr { return s.ln.Addr() }

// Connections returns the number of open connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.peers)
}

// Run serves until ctx ends, then drains, and returns after all that it started has ended, handlers on executors
// included. It returns nil after ctx has ended, else why the listener failed. Call it once.
func (s *Server) Run(ctx context.Context) error {
	base, end := context.WithCancel(context.WithoutCancel(ctx)) // handlers may finish after ctx has ended
	defer end()
	s.core.base = base

	var parts sync.WaitGroup
	defer parts.Wait()
	sweep, endSweep := context.WithCancel(base)
	defer endSweep()
	parts.Go(func() { s.core.sweep(sweep, s.cfg.Idle, s.snapshot) })

	accepting := make(chan error, 1)
	parts.Go(func() { accepting <- s.accept() })

	var err error
	select {
	case <-ctx.Done():
		err = s.drain(accepting)
	case err = <-accepting:
	}
	_ = s.ln.Close()
	s.stop(end)
	return err
}

// drain serves on as Drain says. It returns early if the listener fails.
func (s *Server) drain(accepting <-chan error) error {
	if s.cfg.Drain == nil {
		return nil
	}
	d := s.cfg.Drain()
	if d <= 0 {
		return nil
	}
	s.core.draining.Store(true)
	s.cfg.Log.Info().Dur("waitMillis", d).Msg("draining: clients are told to go away")
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case err := <-accepting:
		return err
	}
}

// stop ends all connections, gently for StopTime and then by cutting them off, and waits for them.
func (s *Server) stop(cut context.CancelFunc) {
	close(s.core.stopping)
	s.mu.Lock()
	s.ending = true
	for p, connected := range s.peers {
		if connected {
			p.stop()
		} else {
			_ = p.sock.Close()
		}
	}
	s.mu.Unlock()

	timer := time.AfterFunc(s.cfg.StopTime, func() {
		// First the connections, each with its context: a handler that gives up answers nobody, and none begins after it.
		for _, p := range s.snapshot() {
			_ = p.sock.Close() // no farewell, which TLS would wait to send
			p.close(CloseShutdown, nil)
		}
		cut()
	})
	defer timer.Stop()
	s.serving.Wait()
}

// snapshot returns the connections past their handshake.
func (s *Server) snapshot() []*Peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	peers := make([]*Peer, 0, len(s.peers))
	for p, connected := range s.peers {
		if connected {
			peers = append(peers, p)
		}
	}
	return peers
}

// accept takes connections until the listener is closed, which is no error.
func (s *Server) accept() error {
	const shortest, longest = 5 * time.Millisecond, time.Second
	pause := shortest
	for {
		sock, err := s.ln.Accept()
		if err == nil {
			pause = shortest
			s.admit(sock)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if !isPassing(err) {
			return fmt.Errorf("accept on %s: %w", s.ln.Addr(), err)
		}
		s.core.warnAt("listenAddr", s.ln.Addr().String(), "no connection can be accepted, trying again", err)
		select {
		case <-time.After(pause):
		case <-s.core.stopping:
			return nil
		}
		pause = min(2*pause, longest)
	}
}

// isPassing tells whether a failed accept may succeed later.
func isPassing(err error) bool {
	for _, e := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, // too many files, too little memory
		syscall.ECONNABORTED, syscall.ECONNRESET, // the peer left first
		// Linux reports what has befallen the new connection already, or that a firewall forbids it.
		syscall.EPERM, syscall.EPROTO, syscall.ENOPROTOOPT, syscall.EOPNOTSUPP,
		syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.EHOSTUNREACH,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// admit starts serving a connection, or closes it if there are too many.
func (s *Server) admit(sock net.Conn) {
	p := s.core.newPeer(sock)
	s.mu.Lock()
	full := len(s.peers) >= s.cfg.MaxConnections
	ending := s.ending
	if !full && !ending {
		s.peers[p] = false
		s.serving.Go(func() { s.serve(p) })
	}
	s.mu.Unlock()
	if full || ending {
		_ = sock.Close()
	}
	if full {
		s.core.warn("connection refused: there are too many", p.remote, nil)
	}
}

// serve runs a connection from handshake to end.
func (s *Server) serve(p *Peer) {
	defer func() {
		s.mu.Lock()
		delete(s.peers, p)
		s.mu.Unlock()
	}()
	setSocketOptions(p.sock, s.cfg.SendBuffer, s.cfg.ReceiveBuffer)
	if !s.handshake(p) {
		return
	}
	s.mu.Lock()
	s.peers[p] = true
	if s.ending {
		p.stop()
	}
	s.mu.Unlock()
	s.core.run(p, s.cfg.Listener)
}

// handshake brings p to where its first frame begins, or closes its socket and reports false.
func (s *Server) handshake(p *Peer) bool {
	a, err := handshake(p.sock, s.cfg.TLS, handshakeLimits{Idle: s.cfg.Idle(), MaxFrame: s.core.limits.Frame})
	if err != nil {
		_ = p.sock.Close()
		switch {
		case isFrameError(err):
			s.core.warn("connection closed: bad handshake", p.remote, err)
		case err != io.EOF && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, net.ErrClosed):
			s.cfg.Log.Debug().Str("remoteAddr", p.remote).Err(err).Msg("connection ended before its first frame")
		}
		return false
	}
	if a.Proxy != nil {
		p.attrs = a.Proxy.attrs
		if a.Proxy.remoteAddr != "" {
			p.remote = a.Proxy.remoteAddr
		}
	}
	p.use(a.Conn, a.Initial)
	p.touch()
	return true
}

// setSocketOptions sets what spec/remoting.md §7.1 asks for. A failure shows in the first read or write.
func setSocketOptions(sock net.Conn, send, receive int) {
	tcp, ok := sock.(*net.TCPConn) // which has TCP_NODELAY from the start
	if !ok {
		return
	}
	_ = tcp.SetKeepAlive(false)
	if send > 0 {
		_ = tcp.SetWriteBuffer(send)
	}
	if receive > 0 {
		_ = tcp.SetReadBuffer(receive)
	}
}
