package remoting

import (
	"sync"
	"time"
)

// largeFrames is the room for frames above smallFrame of all connections of a server or client: those being read
// and those being handled. A frame asks for all of its length before more of it is read, so that those which
// have begun can finish; later ones wait in the order of their arrival, unread in their sockets. It also keeps
// the buffers of such frames for reuse. Safe for concurrent use.
type largeFrames struct {
	limit int64         // bytes
	time  time.Duration // Limits.LargeFrameTime

	mu      sync.Mutex
	used    int64               // guarded by mu
	waiters []*largeWaiter      // guarded by mu
	reading map[*Peer]time.Time // who has begun a frame, and when; guarded by mu
	free    [][]byte            // guarded by mu; together at most limit bytes
	spare   int64               // bytes in free; guarded by mu
	freedAt time.Time           // when free was used last; guarded by mu
}

type largeWaiter struct {
	peer  *Peer
	size  int64
	since time.Time
	ready chan struct{} // closed when it has its room
}

// keepBuffers is how long unused buffers are kept.
const keepBuffers = 5 * time.Second

func newLargeFrames(limit int, stall time.Duration) *largeFrames {
	return &largeFrames{limit: int64(limit), time: stall, reading: make(map[*Peer]time.Time)}
}

// acquire waits until there is room for size bytes, or the connection ends.
func (f *largeFrames) acquire(p *Peer, size int) error {
	f.mu.Lock()
	if len(f.waiters) == 0 && f.used+int64(size) <= f.limit {
		f.admit(p, int64(size))
		f.mu.Unlock()
		return nil
	}
	w := &largeWaiter{peer: p, size: int64(size), since: time.Now(), ready: make(chan struct{})}
	f.waiters = append(f.waiters, w)
	f.mu.Unlock()

	p.busy.Store(true) // its bytes wait for us, not we for them
	defer p.busy.Store(false)
	select {
	case <-w.ready:
		p.touch()
		return nil
	case <-p.ctx.Done():
	case <-p.core.stopping:
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, other := range f.waiters {
		if other == w {
			f.waiters = append(f.waiters[:i], f.waiters[i+1:]...)
			f.promote()
			return ErrClosed
		}
	}
	delete(f.reading, p) // it got its room at the same moment
	f.give(w.size)
	return ErrClosed
}

// admit gives p its room. Callers hold mu.
func (f *largeFrames) admit(p *Peer, size int64) {
	f.used += size
	f.reading[p] = time.Now()
}

// give takes the room back. Callers hold mu.
func (f *largeFrames) give(size int64) {
	f.used -= size
	f.promote()
}

// promote admits those waiters, from the front, for whom there is room. Callers hold mu.
func (f *largeFrames) promote() {
	for len(f.waiters) > 0 && f.used+f.waiters[0].size <= f.limit {
		w := f.waiters[0]
		f.waiters[0] = nil
		f.waiters = f.waiters[1:]
		f.admit(w.peer, w.size)
		close(w.ready)
	}
}

// sweep returns the peers that have taken too long over their frame while others wait, and drops buffers that
// have been unused for a while.
func (f *largeFrames) sweep(now time.Time) (stalled []*Peer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiters) > 0 && now.Sub(f.waiters[0].since) > f.time {
		for p, since := range f.reading {
			if now.Sub(since) > f.time {
				stalled = append(stalled, p)
			}
		}
	}
	if f.spare > 0 && now.Sub(f.freedAt) > keepBuffers {
		f.free, f.spare = nil, 0
	}
	return stalled
}

// frame returns the buffer for a frame of size bytes of p, who has acquired room for it if it is above smallFrame.
func (f *largeFrames) frame(p *Peer, size int) *largeFrame {
	l := &largeFrame{owner: f, peer: p, size: size}
	if size > smallFrame {
		l.buf = f.reuse(size)
	}
	if l.buf == nil {
		l.buf = make([]byte, 0, min(size, growFactor*readBufferSize))
	}
	return l
}

// reuse returns the smallest free buffer that takes size bytes, or nil.
func (f *largeFrames) reuse(size int) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	best := -1
	for i, b := range f.free {
		if cap(b) >= size && (best < 0 || cap(b) < cap(f.free[best])) {
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

// largeFrame is a frame that does not fit readBuffer, while it is gathered and until it has been handled.
type largeFrame struct {
	owner *largeFrames
	peer  *Peer
	size  int    // bytes, with the length prefix
	buf   []byte // what has arrived
}

func (l *largeFrame) complete() bool { return len(l.buf) == l.size }

// space returns where to read to: no further than the end of the frame, and no more than growFactor times what
// has arrived already.
func (l *largeFrame) space() []byte {
	if len(l.buf) == cap(l.buf) {
		grown := make([]byte, len(l.buf), min(l.size, growFactor*cap(l.buf)))
		copy(grown, l.buf)
		l.buf = grown
	}
	return l.buf[len(l.buf):min(l.size, cap(l.buf))]
}

// arrived notes that the frame is complete.
func (l *largeFrame) arrived() {
	if l.size <= smallFrame {
		return
	}
	l.owner.mu.Lock()
	delete(l.owner.reading, l.peer)
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
	if !l.complete() {
		delete(f.reading, l.peer)
	} else if size := int64(cap(l.buf)); f.spare+size <= f.limit {
		f.free = append(f.free, l.buf)
		f.spare += size
		f.freedAt = time.Now()
	}
	l.buf = nil
	f.give(int64(l.size))
}
