package remoting

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// Why a connection is refused before its first frame. None of them is answered; the connection is closed.
var (
	// ErrNotRemoting: the first bytes begin neither a frame nor TLS nor a PROXY protocol header, for instance
	// HTTP or a port scanner.
	ErrNotRemoting = errors.New("not the RocketMQ remoting protocol")
	// ErrTLSDisabled: a TLS client hello while tls.server.mode is disabled.
	ErrTLSDisabled = errors.New("TLS client refused: tls.server.mode is disabled")
	// ErrTLSRequired: a plain client while tls.server.mode is enforcing. Nothing of what it sent is looked at.
	ErrTLSRequired = errors.New("plain client refused: tls.server.mode is enforcing")
	// ErrTLSHandshake is wrapped by every failed TLS handshake.
	ErrTLSHandshake = errors.New("TLS handshake failed")
)

// tlsRecordHandshake is the first byte of every TLS connection, and the top byte of no legal frame length.
const tlsRecordHandshake = 0x16

// defaultHandshakeTimeout is how long a peer may take over its PROXY header, and again over its TLS handshake.
const defaultHandshakeTimeout = 10 * time.Second

// handshakeLimits bounds what a peer may cost before its first frame.
type handshakeLimits struct {
	// Idle is how long to wait for a first byte. 0 waits for ever.
	Idle time.Duration
	// Timeout is how long a PROXY header, once begun, and a TLS handshake may take. 0 is defaultHandshakeTimeout.
	Timeout time.Duration
	// MaxFrame is the frame limit in bytes; it tells which first bytes can begin a frame. 0 is 16 MiB.
	MaxFrame int
}

// accepted is a connection past its handshake stage.
type accepted struct {
	// Conn carries the frames: the socket itself for a plain client, else a *tls.Conn over it.
	Conn net.Conn
	// Initial are the bytes of a plain connection that were read already and come before all that Conn gives.
	Initial []byte
	// TLS tells whether the client speaks TLS.
	TLS bool
	// Proxy is what a PROXY protocol header said; nil without one and if it left the socket address in force.
	Proxy *proxyInfo
}

// handshake takes a fresh connection to where its first frame begins: it removes a PROXY protocol header and
// then lets the next byte decide about TLS (spec/remoting.md §7.4). The first byte of a frame decides at once;
// unlike the original, nothing waits for 12 bytes.
//
// It runs in the caller's goroutine, starts none, and holds a buffer of a few bytes while it waits. It leaves raw
// without a deadline if it succeeds; if it fails, the caller closes raw. Closing raw from elsewhere ends it early.
//
// Errors: io.EOF from a peer that closed without a word, os.ErrDeadlineExceeded from one that stayed silent
// for limits.Idle, ErrNotRemoting, ErrProxyHeader, ErrTLSDisabled, ErrTLSRequired, ErrTLSHandshake.
func handshake(raw net.Conn, t *TLS, limits handshakeLimits) (accepted, error) {
	if limits.Timeout <= 0 {
		limits.Timeout = defaultHandshakeTimeout
	}
	got, err := firstByte(raw, limits.Idle)
	if err != nil {
		return accepted{}, err
	}
	var proxy *proxyInfo
	if isProxyByte(got[0]) {
		if err := raw.SetReadDeadline(time.Now().Add(limits.Timeout)); err != nil {
			return accepted{}, err
		}
		if proxy, got, err = readProxyHeader(raw, got); err != nil {
			return accepted{}, err
		}
		if len(got) == 0 { // a proxy may open connections ahead of need: this is idleness, not slowness
			if got, err = firstByte(raw, limits.Idle); err != nil {
				return accepted{}, err
			}
		}
	}

	mode := t.mode()
	switch {
	case got[0] == tlsRecordHandshake && mode == tlsDisabled:
		return accepted{}, ErrTLSDisabled
	case got[0] == tlsRecordHandshake:
		conn, err := tlsHandshake(raw, got, t.ServerConfig(), limits.Timeout)
		return accepted{Conn: conn, TLS: true, Proxy: proxy}, err
	case !mayBeginFrame(got[0], limits.MaxFrame):
		return accepted{}, fmt.Errorf("%w: it starts with %q", ErrNotRemoting, got[:1])
	case mode == tlsEnforcing:
		return accepted{}, ErrTLSRequired
	}
	return accepted{Conn: raw, Initial: got, Proxy: proxy}, raw.SetReadDeadline(time.Time{})
}

// firstByte waits for one byte, at most for idle if that is not 0.
func firstByte(raw net.Conn, idle time.Duration) ([]byte, error) {
	var deadline time.Time
	if idle > 0 {
		deadline = time.Now().Add(idle)
	}
	if err := raw.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	b := make([]byte, 1)
	_, err := io.ReadFull(raw, b)
	return b, err
}

// mayBeginFrame tells whether b can be the top byte of the length of a frame within maxFrame bytes.
func mayBeginFrame(b byte, maxFrame int) bool {
	return int64(b) <= int64(maxFrame-4)>>24 || b == 0
}

// tlsHandshake makes raw, of which got has been read already, a TLS connection.
func tlsHandshake(raw net.Conn, got []byte, cfg *tls.Config, timeout time.Duration) (net.Conn, error) {
	if err := raw.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	conn := tls.Server(&tlsSocket{Conn: raw, replay: got}, cfg)
	if err := conn.Handshake(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTLSHandshake, err)
	}
	return conn, raw.SetDeadline(time.Time{})
}

// tlsSocket is the connection beneath a TLS connection of a server. It first gives the bytes that were read ahead of
// the handshake. After stopBlocking its reads do not block, so that who reads the TLS connection can give up the
// buffer while there is nothing to read, and call wait.
type tlsSocket struct {
	net.Conn
	replay []byte          // owned by the reading goroutine
	raw    syscall.RawConn // nil: reads block
	peek   [1]byte         // owned by the reading goroutine
}

// stopBlocking makes later reads return errWouldBlock instead of waiting, where the system allows it.
func (c *tlsSocket) stopBlocking() {
	if sc, ok := c.Conn.(syscall.Conn); ok && rawReads {
		if raw, err := sc.SyscallConn(); err == nil {
			c.raw = raw
		}
	}
}

// Read gives the bytes to replay before those of the connection.
func (c *tlsSocket) Read(p []byte) (n int, err error) {
	if len(c.replay) > 0 {
		n := copy(p, c.replay)
		if c.replay = c.replay[n:]; len(c.replay) == 0 {
			c.replay = nil
		}
		return n, nil
	}
	if c.raw == nil {
		return c.Conn.Read(p)
	}
	wait := false
	rawErr := c.raw.Read(func(fd uintptr) bool {
		n, wait, err = readNow(fd, p)
		return true
	})
	switch {
	case rawErr != nil: // closed, or a deadline
		return 0, rawErr
	case wait:
		return 0, errWouldBlock
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// wait returns once the socket has bytes, or its end, to read.
func (c *tlsSocket) wait() error {
	return c.raw.Read(func(fd uintptr) bool { return readyNow(fd, c.peek[:]) })
}

// errWouldBlock is what a tlsSocket's Read returns when there is nothing to read. crypto/tls takes it for a read that
// timed out, after which a connection stays usable.
var errWouldBlock net.Error = wouldBlock{}

type wouldBlock struct{}

func (wouldBlock) Error() string   { return "nothing to read" }
func (wouldBlock) Timeout() bool   { return true }
func (wouldBlock) Temporary() bool { return true }
