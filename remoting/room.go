package remoting

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// room is a number of bytes that all connections of a server or client share for something large. Who finds none left
// waits, in the order of arrival. So that those who wait for each other can finish, one of them at a time is
// privileged: it need not ask. Who holds room while others wait, and needs its peer to go on, is to be closed if
// the peer takes too long, and much earlier if the peer does nothing. Safe for concurrent use.
type room struct {
	limit int64         // bytes, without those of the privileged one
	time  time.Duration // Limits.LargeFrameTime

	mu         sync.Mutex
	used       int64               // bytes held by all but the privileged one; guarded by mu
	privileged *share              // guarded by mu
	waiters    []*roomWaiter       // guarded by mu
	holders    map[*share]struct{} // those that need their peers to go on; guarded by mu
	sweptAt    time.Time           // owned by the sweeper
}

// roomWaiter is a share that waits for more room.
type roomWaiter struct {
	share *share
	more  int64 // bytes
	since time.Time
	ready chan struct{} // closed when it has its room
}

// share is what one frame or answer has of a room.
type share struct {
	of   *room
	peer *Peer
	due  int64 // bytes that the peer is to send or take

	begun time.Time // when it could begin to

	got  atomic.Int64  // bytes that it has sent or taken, for the sweeper
	seen int64         // got when the sweeper last saw it get on; owned by the sweeper
	lag  time.Duration // how long others have waited for the peer; owned by the sweeper

	held   int64         // bytes taken from the room; guarded by of.mu
	waited time.Duration // for room, since begun; guarded by of.mu
}

// init divides limit bytes of room: enough for the largest, most bytes, is kept for the privileged one.
func (r *room) init(limit, most int, stall time.Duration) {
	r.limit, r.time, r.holders = int64(limit-most), stall, make(map[*share]struct{})
}

// try gets s more bytes of room if there are some and nobody waits.
func (r *room) try(s *share, more int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.enter(s, more)
}

// enter is try for callers that hold mu.
func (r *room) enter(s *share, more int64) bool {
	return r.privileged == s || len(r.waiters) == 0 && r.admit(s, more)
}

// acquire gets s more bytes of room, after waiting until there are some. It gives up when the connection ends, or stop
// is closed; what room s has is given back by release.
func (r *room) acquire(s *share, more int64, stop <-chan struct{}) error {
	r.mu.Lock()
	if r.enter(s, more) {
		r.mu.Unlock()
		return nil
	}
	w := &roomWaiter{share: s, more: more, since: time.Now(), ready: make(chan struct{})}
	r.waiters = append(r.waiters, w)
	delete(r.holders, s) // it cannot go on
	r.promote()
	r.mu.Unlock()

	p := s.peer
	defer p.busy.Store(p.busy.Swap(true)) // its bytes wait for us, not we for them
	select {
	case <-w.ready:
		p.touch()
		return nil
	case <-p.Context().Done():
	case <-stop:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.waiters, w); i >= 0 {
		r.waiters = slices.Delete(r.waiters, i, i+1)
		r.promote()
	}
	return ErrClosed
}

// admit gives s more room if there is any, or the privilege if nobody has it. Callers hold mu.
func (r *room) admit(s *share, more int64) bool {
	switch {
	case r.used+more <= r.limit:
		r.used += more
		s.held += more
	case r.privileged == nil:
		r.privileged = s
		r.used -= s.held
		s.held = 0
	default:
		return false
	}
	return true
}

// promote admits waiters, from the front, as far as there is room. Callers hold mu.
func (r *room) promote() {
	for len(r.waiters) > 0 && r.admit(r.waiters[0].share, r.waiters[0].more) {
		w := r.waiters[0]
		r.waiters[0] = nil
		r.waiters = r.waiters[1:]
		w.share.waited += time.Since(w.since)
		close(w.ready)
	}
}

// give takes all room back from s. Callers hold mu, and promote.
func (r *room) give(s *share) {
	delete(r.holders, s)
	r.used -= s.held
	s.held = 0
	if r.privileged == s {
		r.privileged = nil
	}
}

// sweep returns the peers that have taken too long while others wait. Only one goroutine calls it.
func (r *room) sweep(now time.Time) (stalled []*Peer) {
	elapsed := min(now.Sub(r.sweptAt), time.Second) // after a pause of the whole process no peer is to blame for it
	r.sweptAt = now
	var holders []*share
	r.mu.Lock()
	if len(r.waiters) > 0 {
		overdue := now.Sub(r.waiters[0].since) > r.time
		for s := range r.holders {
			if overdue && !s.arrived() && now.Sub(s.begun)-s.waited > r.time {
				stalled = append(stalled, s.peer)
			} else {
				holders = append(holders, s)
			}
		}
	}
	r.mu.Unlock()
	for _, s := range holders {
		if s.lags(elapsed) > r.time/4 {
			stalled = append(stalled, s.peer)
		}
	}
	return stalled
}

// arrived tells whether the peer has sent or taken everything.
func (s *share) arrived() bool { return s.got.Load() >= s.due }

// lags adds the time since the last sweep to lag if the peer has done nothing, and returns lag. While a frame arrives, or
// an answer is taken, a stretch of it starts lag anew. Then it adds up: earlier answers may be taken bit by bit. That earlier
// requests are still being handled is not the peer's fault. Only the sweeper calls it.
func (s *share) lags(elapsed time.Duration) time.Duration {
	switch got := s.got.Load(); {
	case got >= s.due:
		if s.peer.takesAnswers() {
			return 0
		}
	case got-s.seen >= smallFrame:
		s.seen, s.lag = got, 0
		return 0
	}
	s.lag += elapsed
	return s.lag
}

// took notes that the peer has taken n more bytes. nil is allowed.
func (s *share) took(n int) {
	if s != nil {
		s.got.Add(int64(n))
	}
}

// fit leaves an answer the room for n bytes, which it turned out to have, or none if it is small after all. From then
// on it is the peer who is waited for. nil is allowed.
func (s *share) fit(n int) {
	if s == nil {
		return
	}
	r := s.of
	r.mu.Lock()
	defer r.mu.Unlock()
	r.give(s)
	if n > smallFrame {
		r.admit(s, int64(n)) // there is room, or else the privilege was its own
		s.due, s.begun, s.waited = int64(n), time.Now(), 0
		r.holders[s] = struct{}{}
	}
	r.promote()
}

// release gives all room back. nil is allowed.
func (s *share) release() {
	if s == nil {
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.give(s)
	s.of.promote()
}
