package remoting

import "sync"

// Quota bounds how many of something each connection has under way, where Limits do not see it: what a handler that
// returned nil, nil has begun. Safe for concurrent use.
type Quota struct {
	most int

	mu    sync.Mutex
	taken map[*Peer]int // none is 0; guarded by mu
}

// NewQuota returns a quota of at most most for each connection.
func NewQuota(most int) *Quota { return &Quota{most: most, taken: make(map[*Peer]int)} }

// Take counts one more for p and reports true, or reports false if p has as many as it may.
func (q *Quota) Take(p *Peer) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken[p] >= q.most {
		return false
	}
	q.taken[p]++
	return true
}

// Give undoes a Take that reported true.
func (q *Quota) Give(p *Peer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken[p]--; q.taken[p] == 0 {
		delete(q.taken, p)
	}
}
