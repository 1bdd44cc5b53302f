package remoting

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// largeFrames is the room for frames above smallFrame of all connections of a server or client: those being read
// and those being handled. It also keeps their buffers for reuse. Safe for concurrent use.
//
// A frame takes room as its buffer grows, that is for what has arrived and not for what its length promises:
// promising costs nothing and keeps nobody out. When there is no room, it waits, in the order of arrival, with the
// rest of its bytes unread in its socket. So that frames which wait for each other can finish, one of them at a
// time is privileged: it need not ask. Whose frame holds room while others wait is to be closed if it does not arrive in
// time, and much earlier if its peer does nothing for it: sends no more of it, or does not take the answers that have
// to be taken before it can be handled.
type largeFrames struct {
	limit int64         // bytes, without those of the privileged frame
	time  time.Duration // Limits.LargeFrameTime

	mu         sync.Mutex
	used       int64                    // room of all frames but the privileged one; guarded by mu
	privileged *largeFrame              // guarded by mu
	waiters    []*largeWaiter           // guarded by mu
	reading    map[*largeFrame]struct{} // those that hold room and have not been handed to their handler; guarded by mu
	free       [][]byte                 // guarded by mu; together at most maxSpare bytes
	spare      int64                    // bytes in free; guarded by mu
	maxSpare   int64
	freedAt    time.Time // when free was used last; guarded by mu
	sweptAt    time.Time // owned by the sweeper
}

// largeWaiter is a frame that waits for more room.
type largeWaiter struct {
	frame *largeFrame
	more  int64 // bytes
	since time.Time
	ready chan struct{} // closed when it has its room
}

// keepBuffers is how long unused buffers are kept.
const keepBuffers = 5 * time.Second

// newLargeFrames divides limit bytes of room: enough for the largest frame, frame bytes, is kept for the privileged one.
func newLargeFrames(limit, frame int, stall time.Duration) *largeFrames {
	return &largeFrames{
		limit: int64(limit - frame), maxSpare: int64(limit), time: stall,
		reading: make(map[*largeFrame]struct{}),
	}
}

// acquire gets l more bytes of room, after waiting until there is some, or the connection ends.
func (f *largeFrames) acquire(l *largeFrame, more int64) error {
	f.mu.Lock()
	if f.privileged == l || len(f.waiters) == 0 && f.admit(l, more) {
		f.mu.Unlock()
		return nil
	}
	w := &largeWaiter{frame: l, more: more, since: time.Now(), ready: make(chan struct{})}
	f.waiters = append(f.waiters, w)
	delete(f.reading, l) // it cannot go on
	f.promote()
	f.mu.Unlock()

	p := l.peer
	p.busy.Store(true) // its bytes wait for us, not we for them
	defer p.busy.Store(false)
	select {
	case <-w.ready:
		p.touch()
		return nil
	case <-p.Context().Done():
	case <-p.core.stopping:
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.Index(f.waiters, w); i >= 0 {
		f.waiters = slices.Delete(f.waiters, i, i+1)
		f.promote()
	}
	return ErrClosed // what room it has is given back by release
}

// admit gives l more room if there is any, or the privilege if nobody has it. Callers hold mu.
func (f *largeFrames) admit(l *largeFrame, more int64) bool {
	switch {
	case f.used+more <= f.limit:
		f.used += more
		l.room += more
	case f.privileged == nil:
		f.privileged = l
		f.used -= l.room
		l.room = 0
	default:
		return false
	}
	f.reading[l] = struct{}{}
	return true
}

// promote admits waiters, from the front, as far as there is room. Callers hold mu.
func (f *largeFrames) promote() {
	for len(f.waiters) > 0 && f.admit(f.waiters[0].frame, f.waiters[0].more) {
		w := f.waiters[0]
		f.waiters[0] = nil
		f.waiters = f.waiters[1:]
		w.frame.waited += time.Since(w.since)
		close(w.ready)
	}
}

// sweep returns the peers that have taken too long over their frame while others wait, and drops buffers that
// have been unused for a while. Only one goroutine calls it.
func (f *largeFrames) sweep(now time.Time) (stalled []*Peer) {
	elapsed := min(now.Sub(f.sweptAt), time.Second) // after a pause of the whole process no peer is to blame for it
	f.sweptAt = now
	var holders []*largeFrame
	f.mu.Lock()
	if len(f.waiters) > 0 {
		overdue := now.Sub(f.waiters[0].since) > f.time
		for l := range f.reading {
			if overdue && !l.arrived() && now.Sub(l.begun)-l.waited > f.time {
				stalled = append(stalled, l.peer)
			} else {
				holders = append(holders, l)
			}
		}
	}
	if f.spare > 0 && now.Sub(f.freedAt) > keepBuffers {
		f.free, f.spare = nil, 0
	}
	f.mu.Unlock()
	for _, l := range holders {
		if l.lags(elapsed) > f.time/4 {
			stalled = append(stalled, l.peer)
		}
	}
	return stalled
}

// frame returns a frame of size bytes of p, with a buffer to begin with.
func (f *largeFrames) frame(p *Peer, size int) *largeFrame {
	return &largeFrame{owner: f, peer: p, size: size, buf: make([]byte, 0, min(size, smallFrame)), begun: time.Now()}
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
	owner *largeFrames
	peer  *Peer
	size  int    // bytes, with the length prefix
	buf   []byte // what has arrived

	begun time.Time // when its length was read

	got  atomic.Int64  // len(buf), for the sweeper
	seen int64         // got when the sweeper last saw it get on; owned by the sweeper
	lag  time.Duration // how long others have waited for the peer; owned by the sweeper

	room   int64         // bytes taken from owner; guarded by owner.mu
	waited time.Duration // for room; guarded by owner.mu
}

func (l *largeFrame) complete() bool { return len(l.buf) == l.size }

// full tells whether the buffer must grow before more is read.
func (l *largeFrame) full() bool { return len(l.buf) == cap(l.buf) && !l.complete() }

// space returns where to read to: no further than the end of the frame. It is empty if the buffer is full.
func (l *largeFrame) space() []byte { return l.buf[len(l.buf):min(l.size, cap(l.buf))] }

// grow makes a full buffer larger, no more than growFactor times, after waiting for room.
func (l *largeFrame) grow() error {
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
	if err := f.acquire(l, int64(size-held)); err != nil {
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
	return nil
}

// took notes that n more bytes are in the buffer.
func (l *largeFrame) took(n int) {
	l.buf = l.buf[:len(l.buf)+n]
	l.got.Store(int64(len(l.buf)))
}

// arrived is complete for others than the connection's goroutine.
func (l *largeFrame) arrived() bool { return l.got.Load() == int64(l.size) }

// lags adds the time since the last sweep to lag if the peer has done nothing for the frame, and returns lag. While the
// frame arrives a stretch of it starts lag anew. Then it adds up: earlier answers may be taken bit by bit. That earlier
// requests are still being handled is not the peer's fault. Only the sweeper calls it.
func (l *largeFrame) lags(elapsed time.Duration) time.Duration {
	switch got := l.got.Load(); {
	case got == int64(l.size):
		if l.peer.takesAnswers() {
			return 0
		}
	case got-l.seen >= smallFrame:
		l.seen, l.lag = got, 0
		return 0
	}
	l.lag += elapsed
	return l.lag
}

// handed notes that the frame is its handler's now, whatever its peer does. nil is allowed.
func (l *largeFrame) handed() {
	if l == nil || l.size <= smallFrame {
		return
	}
	l.owner.mu.Lock()
	delete(l.owner.reading, l)
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
	delete(f.reading, l)
	f.keep(l.buf[:0])
	l.buf = nil
	f.used -= l.room
	l.room = 0
	if f.privileged == l {
		f.privileged = nil
	}
	f.promote()
}
