package remoting

import "time"

// largeFrames is the room for frames above smallFrame of all connections of a server or client: those being read
// and those being handled. It also keeps their buffers for reuse. Safe for concurrent use.
//
// A frame takes room as its buffer grows, that is for what has arrived and not for what its length promises:
// promising costs nothing and keeps nobody out. When there is no room, it waits with the rest of its bytes unread in
// its socket. It needs its peer until it is its handler's: to send more of it, and then to take the answers that have
// to be taken before it can be handled.
type largeFrames struct {
	room
	free     [][]byte // guarded by mu; together at most maxSpare bytes
	spare    int64    // bytes in free; guarded by mu
	maxSpare int64
	freedAt  time.Time // when free was used last; guarded by mu
}

// keepBuffers is how long unused buffers are kept.
const keepBuffers = 5 * time.Second

// newLargeFrames returns limit bytes of room for frames of at most frame bytes.
func newLargeFrames(limit, frame int, stall time.Duration) *largeFrames {
	f := &largeFrames{maxSpare: int64(limit)}
	f.init(limit, frame, stall)
	return f
}

// trim drops buffers that have been unused for a while.
func (f *largeFrames) trim(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spare > 0 && now.Sub(f.freedAt) > keepBuffers {
		f.free, f.spare = nil, 0
	}
}

// frame returns a frame of size bytes of p, with a buffer to begin with.
func (f *largeFrames) frame(p *Peer, size int) *largeFrame {
	return &largeFrame{
		share: share{of: &f.room, peer: p, due: int64(size), begun: time.Now()},
		owner: f, size: size, buf: make([]byte, 0, min(size, smallFrame)),
	}
}

// reuse returns the smallest free buffer of size bytes or a little more, or nil.
func (f *largeFrames) reuse(size int) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	best := -1
	for i, b := range f.free {
		if cap(b) >= size && cap(b) <= size+size/4 && (best < 0 || cap(b) < cap(f.free[best])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	b, last := f.free[best], len(f.free)-1
	f.free[best], f.free[last] = f.free[last], nil
	f.free = f.free[:last]
	f.spare -= int64(cap(b))
	f.freedAt = time.Now()
	return b[:0]
}

// keep takes a buffer for reuse if it is worth it. Callers hold mu.
func (f *largeFrames) keep(b []byte) {
	if size := int64(cap(b)); size > smallFrame && f.spare+size <= f.maxSpare {
		f.free = append(f.free, b)
		f.spare += size
		f.freedAt = time.Now()
	}
}

// largeFrame is a frame that does not fit readBuffer, while it is gathered and until it has been handled.
type largeFrame struct {
	share
	owner *largeFrames
	size  int    // bytes, with the length prefix
	buf   []byte // what has arrived
}

func (l *largeFrame) complete() bool { return len(l.buf) == l.size }

// full tells whether the buffer must grow before more is read.
func (l *largeFrame) full() bool { return len(l.buf) == cap(l.buf) && !l.complete() }

// space returns where to read to: no further than the end of the frame. It is empty if the buffer is full.
func (l *largeFrame) space() []byte { return l.buf[len(l.buf):min(l.size, cap(l.buf))] }

// grow makes a full buffer larger, no more than growFactor times, after waiting for room until stop is closed.
func (l *largeFrame) grow(stop <-chan struct{}) error {
	size := min(l.size, growFactor*cap(l.buf))
	if size <= smallFrame { // takes no room
		l.buf = append(make([]byte, 0, size), l.buf...)
		return nil
	}
	size = (size + smallFrame - 1) / smallFrame * smallFrame // few sizes, so that buffers fit again
	f := l.owner
	held := 0
	if cap(l.buf) > smallFrame {
		held = cap(l.buf)
	}
	if err := f.acquire(&l.share, int64(size-held), stop); err != nil {
		return err
	}
	buf := f.reuse(size)
	if buf == nil {
		buf = make([]byte, 0, size)
	}
	old := l.buf
	l.buf = append(buf, old...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep(old[:0])
	f.holders[&l.share] = struct{}{}
	return nil
}

// took notes that n more bytes are in the buffer.
func (l *largeFrame) took(n int) {
	l.buf = l.buf[:len(l.buf)+n]
	l.got.Store(int64(len(l.buf)))
}

// handed notes that the frame is its handler's now, whatever its peer does. nil is allowed.
func (l *largeFrame) handed() {
	if l == nil || l.size <= smallFrame {
		return
	}
	l.owner.mu.Lock()
	delete(l.owner.holders, &l.share)
	l.owner.mu.Unlock()
}

// release gives back room and buffer. Nothing may refer to the frame any more. nil is allowed.
func (l *largeFrame) release() {
	if l == nil || l.size <= smallFrame {
		return
	}
	f := l.owner
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep(l.buf[:0])
	l.buf = nil
	f.give(&l.share)
	f.promote()
}
