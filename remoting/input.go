package remoting

import (
	"crypto/tls"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/mq-server/mq/protocol"
)

const (
	// readBufferSize is how much is read at once, in bytes: some eighty route requests.
	readBufferSize = 16 << 10
	// smallFrame is up to where a frame or an answer takes no room, in bytes with its length prefix.
	smallFrame = 64 << 10
	// growFactor is how much larger, at most, the buffer of a frame gets than the bytes of it that have arrived.
	growFactor = 4
)

// readBuffer is what a connection reads into while there is something to read, and what else an idle connection has
// no use for.
type readBuffer struct {
	cmd     protocol.Command // the frame at hand; its Ext keeps its capacity
	replies batch            // of handlers on the connection's goroutine, until it flushes; empty in the pool
	data    [readBufferSize]byte
}

var readBuffers = sync.Pool{New: func() any { return new(readBuffer) }}

// input is the reading side of a connection; all of it is owned by the connection's goroutine.
//
// The bytes read but not consumed are buf.data[r:w]. While the connection waits for more, buf goes back to the
// pool and what is left of them is in held: a connection holds what its peer has sent, not what it might send.
// A frame that does not fit readBuffer is gathered in large.
type input struct {
	buf   *readBuffer
	r, w  int
	held  []byte
	large *largeFrame
	err   error // of the last read; set where no error can be returned
}

// resume makes the unconsumed bytes available in buf.
func (in *input) resume() {
	if in.buf != nil {
		return
	}
	in.buf = readBuffers.Get().(*readBuffer)
	in.r, in.w = 0, copy(in.buf.data[:], in.held)
	in.held = nil
}

// rest gives buf back while there is nothing to read. There must be nothing to flush.
func (in *input) rest() {
	if in.buf == nil {
		return
	}
	if in.r < in.w {
		in.held = append(in.held, in.buf.data[in.r:in.w]...)
	}
	readBuffers.Put(in.buf)
	in.buf = nil
}

// end gives everything back when the connection has ended.
func (in *input) end() {
	if in.buf != nil {
		in.r, in.w = 0, 0
		in.buf.replies.release()
		in.rest()
	}
	in.large.release()
	*in = input{}
}

// space returns where to read to; it is never empty.
func (in *input) space() []byte {
	if l := in.large; l != nil {
		return l.space()
	}
	in.resume()
	if in.r == in.w {
		in.r, in.w = 0, 0
	}
	return in.buf.data[in.w:]
}

// took notes that n bytes were read into space.
func (in *input) took(n int) {
	if in.large != nil {
		in.large.took(n)
		return
	}
	in.w += n
}

// fill waits for bytes and reads them. A peer that closed is io.EOF.
func (p *Peer) fill() error {
	if p.raw == nil {
		return p.fillTLS()
	}
	if err := p.raw.Read(p.readable); err != nil {
		return err
	}
	return p.in.err
}

// fillTLS is fill for TLS connections, and for sockets that cannot be read directly. Those of clients hold the
// buffer while they wait.
func (p *Peer) fillTLS() error {
	for {
		n, err := p.conn.Read(p.in.space())
		p.in.took(n)
		if n > 0 {
			return nil
		}
		if !errors.Is(err, errWouldBlock) {
			return err
		}
		p.in.rest()
		if err := p.conn.(*tls.Conn).NetConn().(*tlsSocket).wait(); err != nil {
			return err
		}
	}
}

// tryRead is called by the poller when the socket may be readable, and reports false to wait until it is.
func (p *Peer) tryRead(fd uintptr) bool {
	n, wait, err := readNow(fd, p.in.space())
	if wait {
		p.in.rest()
		return false
	}
	switch {
	case err != nil:
		p.in.err = os.NewSyscallError("read", err)
	case n == 0:
		p.in.err = io.EOF
	default:
		p.in.err = nil
		p.in.took(n)
	}
	return true
}

// next returns the next complete frame without its length prefix, or nil if more bytes are needed. The frame
// aliases the input buffer and is valid until the next fill; large is its buffer if it has one of its own, which
// the caller then must release.
//
// Errors: those of protocol.FrameLength, and ErrClosed if the connection ended while a large frame waited for room.
func (p *Peer) next() (frame []byte, large *largeFrame, err error) {
	in := &p.in
	if l := in.large; l != nil {
		if l.full() {
			return nil, nil, p.growLarge()
		}
		if !l.complete() {
			return nil, nil, nil
		}
		in.large = nil
		return l.buf[4:], l, nil
	}
	have := in.w - in.r
	if have < 4 {
		p.in.makeRoom(4)
		return nil, nil, nil
	}
	n, err := protocol.FrameLength(in.buf.data[in.r:in.w], p.core.limits.Frame)
	if err != nil {
		return nil, nil, err
	}
	total := 4 + n
	switch {
	case have >= total:
		frame = in.buf.data[in.r+4 : in.r+total]
		in.r += total
		return frame, nil, nil
	case total <= readBufferSize:
		in.makeRoom(total)
		return nil, nil, nil
	}
	p.beginLarge(total)
	return nil, nil, nil
}

// makeRoom makes the unconsumed bytes the beginning of a stretch of n bytes.
func (in *input) makeRoom(n int) {
	if in.buf != nil && in.r > 0 && readBufferSize-in.r < n {
		in.w = copy(in.buf.data[:], in.buf.data[in.r:in.w])
		in.r = 0
	}
}

// beginLarge makes the frame of total bytes that the input begins with a large one.
func (p *Peer) beginLarge(total int) {
	in := &p.in
	l := p.core.large.frame(p, total)
	l.buf = append(l.buf, in.buf.data[in.r:in.w]...)
	in.r, in.w = 0, 0
	in.large = l
}

// growLarge makes room in the large frame for more bytes, after waiting for it.
func (p *Peer) growLarge() error {
	if err := p.flush(); err != nil { // the wait may be long
		return err
	}
	p.in.rest()
	return p.in.large.grow(p.core.stopping)
}
