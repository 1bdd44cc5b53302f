package broker

import "sync/atomic"

// edge notices that a condition has begun to hold: what holds for many requests is to be logged once.
type edge struct{ held atomic.Bool }

// rises tells whether holds, which it is told over and over, is true and was false the last time.
func (e *edge) rises(holds bool) bool {
	return e.held.Load() != holds && e.held.Swap(holds) != holds && holds
}
