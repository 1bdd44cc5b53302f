package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mq-server/mq/protocol"
)

// Peer is one connection as handlers and listeners see it, from its first to its last byte. Peers are compared by
// pointer and safe for concurrent use.
//
// One goroutine per connection reads frames, runs the handlers that have no executor, and writes their answers.
// A second one exists only while answers of executors or calls to the peer are being written.
type Peer struct {
	id   uint64
	core *core
	sock net.Conn // as accepted or dialled

	// What the handshake settles, before anybody else sees the peer.
	conn     net.Conn           // sock, or TLS over it
	raw      syscall.RawConn    // of sock, if frames are read from it directly
	readable func(uintptr) bool // tryRead
	remote   string
	attrs    map[string]string // read-only; nil if there are none

	tasks sync.WaitGroup // handlers on executors, and the flusher; begun under mu while reason is 0, or by the reading goroutine

	in      input        // owned by the reading goroutine
	active  atomic.Int64 // core.now() at the last complete frame or completed write
	writing atomic.Int64 // core.now() when the running write began or got on last; 0: none is running
	busy    atomic.Bool  // complete frames are at hand, or a large one waits for room
	retired atomic.Bool  // calls by address no longer use it; see Retire
	suspect int64        // what active was when the sweeper found the connection idle; owned by the sweeper

	mu           sync.Mutex // guards what follows; not held while reading, writing or calling anybody
	room         *sync.Cond // on mu; see wait; nil until somebody waits
	life         *lifetime  // nil until somebody asks for the context
	out          output
	requests     int                              // on executors, or answered and not written yet
	requestBytes int                              // of those
	calls        map[int32]chan *protocol.Command // calls to the peer that await an answer, by opaque; nil until the first
	reason       CloseReason                      // 0 while open
	cause        error
}

// lifetime is a context that ends with its connection.
type lifetime struct {
	ctx context.Context
	end context.CancelFunc
}

// newPeer returns the peer of a fresh connection.
func (c *core) newPeer(sock net.Conn) *Peer {
	p := &Peer{id: c.peerID.Add(1), core: c, sock: sock, conn: sock, remote: sock.RemoteAddr().String()}
	p.touch()
	return p
}

// use makes conn what frames are read from and written to.
func (p *Peer) use(conn net.Conn, initial []byte) {
	p.conn = conn
	p.in.held = initial
	if sc, ok := conn.(syscall.Conn); ok && rawReads {
		if raw, err := sc.SyscallConn(); err == nil {
			p.raw, p.readable = raw, p.tryRead
		}
	}
	if t, ok := conn.(*tls.Conn); ok {
		if socket, ok := t.NetConn().(*tlsSocket); ok {
			socket.stopBlocking()
		}
	}
}

// touch notes activity.
func (p *Peer) touch() { p.active.Store(p.core.now()) }

// serve reads and handles frames until the connection ends, and returns after its last task has. It leaves the
// connection closed.
func (p *Peer) serve() {
	err := p.loop()
	if p.core.isStopping() && (err == ErrClosed || errors.Is(err, os.ErrDeadlineExceeded)) && p.working() {
		p.tasks.Go(p.drop)
		p.settle()
	}
	p.end(err)
	p.tasks.Wait()
	p.in.end()
	p.discard()
}

// drop reads and forgets what the peer sends while its last answers are being written. When the peer leaves, it closes the
// connection, so that nobody waits for answers that will not be taken.
func (p *Peer) drop() {
	for {
		_ = p.sock.SetReadDeadline(time.Time{}) // that of stop, which may come late
		if _, err := io.Copy(io.Discard, p.sock); !errors.Is(err, os.ErrDeadlineExceeded) {
			p.close(CloseShutdown, err)
			return
		}
	}
}

// end closes the connection for err, which ended its reading.
func (p *Peer) end(err error) {
	reason := CloseError
	switch {
	case p.core.isStopping():
		reason = CloseShutdown
	case err == io.EOF:
		reason = CloseEOF
	case isFrameError(err):
		reason = CloseProtocol
	}
	p.close(reason, err)
}

// loop reads and handles frames until reading fails. It returns why.
func (p *Peer) loop() error {
	p.in.resume()
	for {
		err := p.handleRead()
		if ferr := p.flush(); err == nil {
			err = ferr
		}
		if err != nil {
			return err
		}
		if err := p.fill(); err != nil {
			return err
		}
	}
}

// handleRead handles all complete frames that have been read.
func (p *Peer) handleRead() error {
	any := false
	defer func() {
		if any {
			p.touch()
			p.busy.Store(false)
		}
	}()
	for {
		frame, large, err := p.next()
		if frame == nil || err != nil {
			return err
		}
		if !any {
			any = true
			p.busy.Store(true)
		}
		if err := p.handleFrame(frame, large); err != nil {
			return err
		}
		if err := p.relieve(); err != nil {
			return err
		}
	}
}

// relieve flushes if much output has gathered.
func (p *Peer) relieve() error {
	if b := &p.in.buf.replies; b.size < flushAt || b.size < p.core.limits.Output && len(*b.buf) < flushAt {
		return nil
	}
	return p.flush()
}

// close closes the connection and fails the calls that wait on it. Only the first call counts.
func (p *Peer) close(reason CloseReason, cause error) {
	p.mu.Lock()
	if p.reason != 0 {
		p.mu.Unlock()
		return
	}
	p.reason, p.cause = reason, cause
	p.retired.Store(true)
	if p.life != nil {
		p.life.end()
	}
	for _, answer := range p.calls {
		close(answer)
	}
	p.calls = nil
	p.wake()
	p.mu.Unlock()

	switch reason {
	case CloseError, CloseIdle, CloseStalled: // no farewell, which TLS would wait to send
		if tcp, ok := p.sock.(*net.TCPConn); ok && reason == CloseStalled {
			_ = tcp.SetLinger(0) // the system shall not keep what the peer does not take, either
		}
		_ = p.sock.Close()
	default:
		_ = p.conn.Close()
	}
}

// wait waits until output was written, requests are done, or the connection ends. Callers hold mu and look again at
// what they wait for.
func (p *Peer) wait() {
	if p.room == nil {
		p.room = sync.NewCond(&p.mu)
	}
	p.room.Wait()
}

// wake wakes those in wait. Callers hold mu.
func (p *Peer) wake() {
	if p.room != nil {
		p.room.Broadcast()
	}
}

// closed returns why the connection ended; 0 while it is open.
func (p *Peer) closed() (CloseReason, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reason, p.cause
}

// stop lets the connection end: nothing more is read, what has been read is answered. It does not wait.
func (p *Peer) stop() { _ = p.sock.SetReadDeadline(time.Unix(1, 0)) }

// sweep closes the connection if it is idle, or if a write has not got on, for longer than idle. Idleness must
// show in two sweeps in a row, so that after a pause of the whole process bytes that came in are read first.
// Only one goroutine calls it.
func (p *Peer) sweep(idle time.Duration) {
	now := p.core.now()
	if since := p.writing.Load(); since != 0 && now-since > int64(idle) {
		p.close(CloseStalled, nil)
		return
	}
	active := p.active.Load()
	if now-active <= int64(idle) || p.busy.Load() || p.working() {
		p.suspect = 0
		return
	}
	if p.suspect != active {
		p.suspect = active
		return
	}
	p.close(CloseIdle, nil)
}

// working tells whether requests, of either side, or output are under way.
func (p *Peer) working() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests > 0 || p.out.size > 0 || p.out.flushing || len(p.calls) > 0
}

// isFrameError tells whether err is the fault of what the peer sent.
func isFrameError(err error) bool {
	for _, known := range []error{
		protocol.ErrFrameTooLarge, protocol.ErrFrameTooShort, protocol.ErrFrameCodec,
		protocol.ErrFrameHeaderSize, protocol.ErrFrameHeader,
		ErrNotRemoting, ErrProxyHeader, ErrTLSDisabled, ErrTLSRequired, ErrTLSHandshake,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
