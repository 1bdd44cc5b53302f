package remoting

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// sendPieces writes data in pieces of n bytes, each in a segment of its own as far as TCP can be made to.
func sendPieces(c net.Conn, data []byte, n int) error {
	for len(data) > 0 {
		n = min(n, len(data))
		if _, err := c.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
		runtime.Gosched()
	}
	return nil
}

// A PROXY header ahead of plain and of TLS, in any segmentation: removed, told, and nothing of what follows is lost.
func TestHandshakeProxy(t *testing.T) {
	addr, results := startHandshakes(t, mustTLS(t, TLSOptions{TestMode: true}), handshakeLimits{})
	for _, h := range goodProxyHeaders {
		for _, piece := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprintf("%s/plain/%d", h.name, piece), func(t *testing.T) {
				c := dial(t, addr)
				require.NoError(t, sendPieces(c, append(h.header[:len(h.header):len(h.header)], "\x00\x00\x00\x01x"...), piece))
				got := make([]byte, 5)
				_, err := io.ReadFull(c, got)
				require.NoError(t, err)
				require.Equal(t, "\x00\x00\x00\x01x", string(got))
				r := <-results
				require.NoError(t, r.err)
				require.Equal(t, h.want, r.Proxy)
				require.False(t, r.TLS)
			})
			t.Run(fmt.Sprintf("%s/tls/%d", h.name, piece), func(t *testing.T) {
				raw := dial(t, addr)
				require.NoError(t, sendPieces(raw, h.header, piece))
				c := tls.Client(raw, anyServer())
				require.NoError(t, echo(c, "hello"))
				r := <-results
				require.NoError(t, r.err)
				require.Equal(t, h.want, r.Proxy)
				require.True(t, r.TLS)
			})
		}
	}
	// Header and client hello in one segment.
	raw := dial(t, addr)
	glued := &glueConn{Conn: raw, head: goodProxyHeaders[0].header}
	require.NoError(t, echo(tls.Client(glued, anyServer()), "hello"))
	require.Equal(t, "1.2.3.4:1111", (<-results).Proxy.remoteAddr)
}

// glueConn puts head in front of the first write.
type glueConn struct {
	net.Conn
	head []byte
}

func (g *glueConn) Write(p []byte) (int, error) {
	n := len(g.head)
	m, err := g.Conn.Write(append(g.head, p...))
	g.head = nil
	return max(0, m-n), err
}

func TestHandshakeProxyThenRefused(t *testing.T) {
	const header = "PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n"
	ca := newTestCA(t, "ca")
	for _, c := range []struct {
		mode, then string
		want       error
	}{
		{"permissive", "GET / HTTP/1.1\r\n", ErrNotRemoting},
		{"permissive", header, ErrNotRemoting}, // a second header is no frame
		{"permissive", "\r\n\r\n\x00\r\nQUIT\n", ErrNotRemoting},
		{"permissive", "\xff", ErrNotRemoting},
		{"enforcing", "\x00\x00\x00\x10", ErrTLSRequired},
		{"disabled", "\x16\x03\x01", ErrTLSDisabled},
	} {
		t.Run(fmt.Sprintf("%s/%q", c.mode, c.then), func(t *testing.T) {
			_, o := tlsFiles(t, ca, 5)
			o.Mode = c.mode
			addr, results := startHandshakes(t, mustTLS(t, o), handshakeLimits{})
			conn := dial(t, addr)
			_, err := conn.Write([]byte(header + c.then))
			require.NoError(t, err)
			require.ErrorIs(t, (<-results).err, c.want)
			_, err = conn.Read(make([]byte, 1))
			require.Error(t, err)
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		})
	}
}

// Every first byte decides by itself: no byte more is awaited.
func TestHandshakeFirstByteDecides(t *testing.T) {
	addr, results := startHandshakes(t, nil, handshakeLimits{})
	for b := range 256 {
		c := dial(t, addr)
		_, err := c.Write([]byte{byte(b)})
		require.NoError(t, err)
		switch {
		case isProxyByte(byte(b)):
			c.Close()
			require.ErrorIs(t, (<-results).err, io.ErrUnexpectedEOF, "%#x", b)
		case b == 0:
			r := <-results
			require.NoError(t, r.err)
			require.Equal(t, []byte{0}, r.Initial)
		case b == tlsRecordHandshake:
			require.ErrorIs(t, (<-results).err, ErrTLSDisabled)
		default:
			require.ErrorIs(t, (<-results).err, ErrNotRemoting, "%#x", b)
		}
	}
}

func TestMayBeginFrameFollowsLimit(t *testing.T) {
	for _, c := range []struct {
		maxFrame int
		highest  byte
	}{
		{0, 0}, {1, 0}, {1 << 10, 0}, {16 << 20, 0}, {16<<20 + 3, 0}, {16<<20 + 4, 1}, {64 << 20, 3}, {1 << 30, 0x3f},
	} {
		for b := range 256 {
			require.Equal(t, byte(b) <= c.highest, mayBeginFrame(byte(b), c.maxFrame), "limit %d, byte %#x", c.maxFrame, b)
		}
	}
}

// pipeHandshake runs handshake on one end of a pipe; to be used in a synctest bubble, where time is free.
func pipeHandshake(s *TLS, limits handshakeLimits) (peer net.Conn, result <-chan handshakeResult) {
	peer, raw := net.Pipe()
	out := make(chan handshakeResult, 1)
	go func() {
		a, err := handshake(raw, s, limits)
		if err != nil {
			raw.Close()
		}
		out <- handshakeResult{a, err}
	}()
	return peer, out
}

func TestHandshakeSilence(t *testing.T) {
	const idle = 120 * time.Second
	for _, c := range []struct {
		name  string
		sent  string
		after time.Duration
		want  []error
	}{
		{"nothing", "", idle, []error{os.ErrDeadlineExceeded}},
		{"half a PROXY header", "PROXY TCP4", defaultHandshakeTimeout, []error{ErrProxyHeader, os.ErrDeadlineExceeded}},
		// A connection that a proxy opened ahead of need is idle, not slow.
		{"nothing after a PROXY header", "PROXY UNKNOWN\r\n", idle, []error{os.ErrDeadlineExceeded}},
		{"half a TLS hello", "\x16\x03\x01\x00", defaultHandshakeTimeout, []error{ErrTLSHandshake, os.ErrDeadlineExceeded}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tm := mustTLS(t, TLSOptions{TestMode: true})
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				peer, result := pipeHandshake(tm, handshakeLimits{Idle: idle})
				_, err := peer.Write([]byte(c.sent))
				require.NoError(t, err)
				r := <-result
				for _, want := range c.want {
					require.ErrorIs(t, r.err, want)
				}
				require.Equal(t, c.after, time.Since(start))
			})
		})
	}
}

// Trickling a PROXY header does not prolong the time it may take.
func TestHandshakeTrickle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		peer, result := pipeHandshake(nil, handshakeLimits{Idle: 120 * time.Second})
		var writer sync.WaitGroup
		defer writer.Wait()
		writer.Go(func() {
			for _, b := range []byte("PROXY UNKNOWN and so on and so on") {
				if _, err := peer.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		r := <-result
		require.ErrorIs(t, r.err, os.ErrDeadlineExceeded)
		require.Equal(t, defaultHandshakeTimeout, time.Since(start))
	})
}

func TestHandshakeClosedWithoutAWord(t *testing.T) {
	addr, results := startHandshakes(t, nil, handshakeLimits{})
	dial(t, addr).Close()
	require.Equal(t, io.EOF, (<-results).err)
}

// The socket comes back without a deadline, plain and TLS, so that later reads do not fail out of the blue.
func TestHandshakeLeavesNoDeadline(t *testing.T) {
	tm := mustTLS(t, TLSOptions{TestMode: true})
	synctest.Test(t, func(t *testing.T) {
		for _, overTLS := range []bool{false, true} {
			peer, result := pipeHandshake(tm, handshakeLimits{Idle: time.Minute})
			if overTLS {
				c := tls.Client(peer, anyServer())
				require.NoError(t, c.Handshake())
				peer = c
			} else {
				_, err := peer.Write([]byte{0})
				require.NoError(t, err)
			}
			r := <-result
			require.NoError(t, r.err)
			require.Equal(t, overTLS, r.TLS)

			go func() {
				time.Sleep(time.Hour)
				_, _ = peer.Write([]byte("later"))
			}()
			got := make([]byte, 5)
			_, err := io.ReadFull(r.Conn, got)
			require.NoError(t, err)
			require.Equal(t, "later", string(got))
			peer.Close()
			r.Conn.Close()
		}
	})
}

// Waiting for a first byte costs no more than the goroutine that waits.
func TestHandshakeWaitingIsCheap(t *testing.T) {
	const n = 200
	var waiting []net.Conn
	done := make(chan error, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	goroutines := runtime.NumGoroutine()
	for range n {
		a, b := net.Pipe()
		waiting = append(waiting, a)
		go func() {
			_, err := handshake(b, nil, handshakeLimits{})
			done <- err
		}()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.LessOrEqual(t, runtime.NumGoroutine()-goroutines, n)
	perConn := (int64(after.HeapAlloc) + int64(after.StackInuse) - int64(before.HeapAlloc) - int64(before.StackInuse)) / n
	require.Less(t, perConn, int64(8<<10), "bytes for a pipe, the goroutine and the handshake")
	for _, c := range waiting {
		c.Close()
	}
	for range n {
		require.Error(t, <-done)
	}
}

func TestHandshakeErrorTextIsShortAndSafe(t *testing.T) {
	addr, results := startHandshakes(t, nil, handshakeLimits{})
	c := dial(t, addr)
	_, err := c.Write([]byte("P\n\x1b[31m" + strings.Repeat("x", 5000)))
	require.NoError(t, err)
	r := <-results
	require.ErrorIs(t, r.err, ErrNotRemoting)
	require.Less(t, len(r.err.Error()), 120)
	require.NotContains(t, r.err.Error(), "\n")
}
