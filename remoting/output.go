package remoting

import (
	"net"
	"sync"

	"github.com/mq-server/mq/protocol"
)

const (
	// flushAt is how much output gathers, in bytes copied, before the connection's goroutine writes it although
	// more requests are at hand.
	flushAt = 64 << 10
	// sharedBody is from where, in bytes, a body is written from where it is instead of being copied.
	sharedBody = 16 << 10
	// writeStep bounds what is written at once, in bytes, so that a slow peer's progress shows.
	writeStep = 256 << 10
	// maxPooledOutput is the largest buffer, in bytes, that goes back to the pool.
	maxPooledOutput = 128 << 10
)

var outputBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, 2<<10)
	return &b
}}

// output is what waits to be written to one connection; all of it is guarded by Peer.mu.
type output struct {
	batch
	flushing bool // somebody writes an earlier batch
	written  int  // bytes of that batch
	flusher  bool // a goroutine for flushing has been started and has not begun
}

// pending is the number of bytes that wait or are being written.
func (o *output) pending() int { return o.size + o.written }

// batch is a sequence of frames.
type batch struct {
	buf    *[]byte      // pooled; the frames without the bodies in shared; nil if there are none
	shared []sharedPart // in the order of their places
	size   int          // bytes in all
	charge              // of the requests that are answered in here, until it is written
}

// charge is what requests on executors count for until they have been answered and the answers are written. That of
// requests on the connection's own goroutine is zero.
type charge struct {
	requests, bytes int
	answer          *share // room for an answer that may be large; a connection has one at a time, see Entry.LargeAnswer
}

// add adds that of more requests.
func (c *charge) add(more charge) {
	c.requests += more.requests
	c.bytes += more.bytes
	if more.answer != nil {
		c.answer = more.answer
	}
}

// sharedPart is a body that belongs into batch.buf at place at.
type sharedPart struct {
	at   int
	body []byte
}

// append adds one frame of header and body. On error nothing is added.
func (b *batch) append(cmd *protocol.Command, body []byte) error {
	if b.buf == nil {
		b.buf = outputBuffers.Get().(*[]byte)
	}
	before := len(*b.buf)
	buf, err := protocol.AppendFrameHeader(*b.buf, cmd, len(body))
	if err != nil {
		return err
	}
	b.size += len(buf) - before + len(body)
	if len(body) < sharedBody {
		*b.buf = append(buf, body...)
		return nil
	}
	*b.buf = buf
	b.shared = append(b.shared, sharedPart{len(buf), body})
	return nil
}

// writeTo writes the batch to conn and calls step with the length of each part, which is at most writeStep.
func (b *batch) writeTo(conn net.Conn, step func(n int)) error {
	buf := *b.buf
	if len(b.shared) == 0 && len(buf) <= writeStep {
		n, err := conn.Write(buf)
		step(n)
		return err
	}
	var parts net.Buffers
	size := 0
	flush := func() error {
		n, err := parts.WriteTo(conn)
		parts, size = parts[:0], 0
		step(int(n))
		return err
	}
	add := func(p []byte) error {
		for len(p) > 0 {
			n := min(len(p), writeStep-size)
			parts = append(parts, p[:n])
			p = p[n:]
			if size += n; size == writeStep {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return nil
	}
	from := 0
	for _, s := range b.shared {
		if err := add(buf[from:s.at]); err != nil {
			return err
		}
		if err := add(s.body); err != nil {
			return err
		}
		from = s.at
	}
	if err := add(buf[from:]); err != nil || size == 0 {
		return err
	}
	return flush()
}

// release gives the buffer back.
func (b *batch) release() {
	if b.buf != nil && cap(*b.buf) <= maxPooledOutput {
		*b.buf = (*b.buf)[:0]
		outputBuffers.Put(b.buf)
	}
	*b = batch{}
}

// join moves the frames of other to the end of b.
func (b *batch) join(other *batch) {
	switch {
	case other.size == 0:
		return
	case b.size == 0:
		b.release()
		*b, *other = *other, batch{}
		return
	}
	at := len(*b.buf)
	*b.buf = append(*b.buf, *other.buf...)
	for _, s := range other.shared {
		b.shared = append(b.shared, sharedPart{at + s.at, s.body})
	}
	b.size += other.size
	b.add(other.charge)
	other.release()
}

// flush writes what waits, unless somebody else is writing and little waits: then it is left to them. Only the
// connection's goroutine calls it.
func (p *Peer) flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in.buf != nil {
		p.out.join(&p.in.buf.replies)
	}
	for p.out.size > 0 && p.reason == 0 {
		if !p.out.flushing {
			p.writeBatch()
		} else if p.out.pending() < p.core.limits.Output {
			return nil
		} else {
			p.wait()
		}
	}
	if p.reason != 0 {
		return ErrClosed
	}
	return nil
}

// flushSoon has the output flushed by somebody else than the caller. Callers hold mu.
func (p *Peer) flushSoon() {
	if p.out.flushing || p.out.flusher || p.reason != 0 || p.out.size == 0 {
		return
	}
	p.out.flusher = true
	p.tasks.Go(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.out.flusher = false
		for p.out.size > 0 && !p.out.flushing && p.reason == 0 {
			p.writeBatch()
		}
	})
}

// writeBatch writes what waits now. Callers hold mu, which is released while writing; nobody else is writing.
// A failure closes the connection. Callers loop until the output is empty: those who add to it while somebody is
// writing do not see to the flushing themselves.
func (p *Peer) writeBatch() {
	b := p.out.batch
	p.out.batch = batch{}
	p.out.flushing, p.out.written = true, b.size
	p.mu.Unlock()
	p.writing.Store(p.core.now())
	cost := b.charge
	err := b.writeTo(p.conn, func(n int) {
		p.wrote()
		cost.answer.took(n)
	})
	p.writing.Store(0)
	b.release()
	cost.answer.release()
	if err != nil {
		p.close(CloseError, err)
	}
	p.mu.Lock()
	p.out.flushing, p.out.written = false, 0
	p.done(cost)
}

// discard forgets the output of a connection that has ended.
func (p *Peer) discard() {
	p.mu.Lock()
	b := p.out.batch
	p.out.batch = batch{}
	p.mu.Unlock()
	b.answer.release()
	b.release()
}

// wrote notes progress in writing.
func (p *Peer) wrote() {
	now := p.core.now()
	p.active.Store(now)
	p.writing.Store(now)
}

// begin counts an executor request of n bytes as in flight, after waiting until the limits allow it. Only the
// connection's goroutine calls it.
func (p *Peer) begin(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &p.core.limits
	for p.reason == 0 && (p.out.pending() >= l.Output || p.requests > 0 && (p.requests >= l.InFlight || p.requestBytes+n > l.InFlightBytes)) {
		p.out.join(&p.in.buf.replies)
		p.flushSoon()
		p.wait()
	}
	if p.reason != 0 {
		return ErrClosed
	}
	p.requests++
	p.requestBytes += n
	return nil
}

// takesAnswers tells whether no output waits to be taken by the peer.
func (p *Peer) takesAnswers() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.pending() == 0
}

// done counts requests as no longer in flight and wakes those who wait for that. Callers hold mu.
func (p *Peer) done(cost charge) {
	p.requests -= cost.requests
	p.requestBytes -= cost.bytes
	p.wake()
}

// forget ends requests that get no answer.
func (p *Peer) forget(cost charge) {
	cost.answer.release()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done(cost)
}

// settle waits until all requests have been answered and all answers written, or the connection ends.
func (p *Peer) settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.reason == 0 && (p.requests > 0 || p.out.size > 0 || p.out.flushing) {
		p.flushSoon()
		p.wait()
	}
}
