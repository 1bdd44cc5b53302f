package remoting

import (
	"sync"
	"time"
)

// Executor runs tasks on a bounded number of goroutines, in the order of their arrival, and refuses those that
// find its queue full. Goroutines exist only while there are tasks. Safe for concurrent use.
type Executor struct {
	name    string
	workers int
	queue   int

	mu      sync.Mutex
	running int        // goroutines; guarded by mu
	waiting ring[task] // guarded by mu
	idle    sync.Cond  // signalled when running drops to 0; on mu
}

type task struct {
	run    func()
	refuse func(remark string) // takes the place of run for one that has waited for too long; nil: it waits on
	from   time.Time
}

// ExecutorStats is a snapshot of an Executor.
type ExecutorStats struct {
	Running int           // tasks at work
	Queue   int           // tasks that wait for a worker
	HeadAge time.Duration // how long the oldest of them has waited; 0 if there is none
}

// NewExecutor returns an executor of at most workers tasks at a time, with queue more waiting. Both are at least 1.
func NewExecutor(name string, workers, queue int) *Executor {
	x := &Executor{name: name, workers: max(1, workers), queue: max(1, queue)}
	x.idle.L = &x.mu
	return x
}

// Name returns the name given to NewExecutor.
func (x *Executor) Name() string { return x.name }

// Go runs f soon and reports true, or reports false if all workers are at work and the queue is full. f must not panic.
func (x *Executor) Go(f func()) bool { return x.submit(f, nil) }

func (x *Executor) submit(f func(), refuse func(remark string)) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.running < x.workers {
		x.running++
		go x.work(f) // awaited by Wait
		return true
	}
	if x.waiting.len() >= x.queue {
		return false
	}
	x.waiting.push(task{f, refuse, time.Now()})
	return true
}

// work runs f and then whatever waits, until nothing does.
func (x *Executor) work(f func()) {
	for {
		f()
		x.mu.Lock()
		if x.waiting.len() == 0 {
			if x.running--; x.running == 0 {
				x.idle.Broadcast()
			}
			x.mu.Unlock()
			return
		}
		f = x.waiting.pop().run
		x.mu.Unlock()
	}
}

// Expire takes the requests that have waited for longer than limit out of the queue and has them answered SYSTEM_BUSY,
// with a remark that is told how long each has waited and how many wait behind it. It returns how many there were.
// Tasks of Go wait on, and so does what is behind them.
func (x *Executor) Expire(limit time.Duration, remark func(waited time.Duration, queue int) string) (expired int) {
	for {
		x.mu.Lock()
		if x.waiting.len() == 0 {
			x.mu.Unlock()
			return expired
		}
		head := *x.waiting.head()
		waited := time.Since(head.from)
		if waited <= limit || head.refuse == nil {
			x.mu.Unlock()
			return expired
		}
		x.waiting.pop()
		queue := x.waiting.len()
		x.mu.Unlock()
		head.refuse(remark(waited, queue))
		expired++
	}
}

// Wait returns once no task is at work or waiting. Tasks that arrive meanwhile prolong it.
func (x *Executor) Wait() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.running > 0 {
		x.idle.Wait()
	}
}

// Stats returns what the executor is doing now.
func (x *Executor) Stats() ExecutorStats {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := ExecutorStats{Running: x.running, Queue: x.waiting.len()}
	if s.Queue > 0 {
		s.HeadAge = time.Since(x.waiting.head().from)
	}
	return s
}

// ring is a FIFO queue that grows as needed and gives its memory back when it is empty.
type ring[T any] struct {
	buf   []T // len is a power of two, or 0
	first int
	n     int
}

func (r *ring[T]) len() int { return r.n }

// head returns the oldest element; there must be one.
func (r *ring[T]) head() *T { return &r.buf[r.first] }

func (r *ring[T]) push(v T) {
	if r.n == len(r.buf) {
		grown := make([]T, max(16, 2*len(r.buf)))
		m := copy(grown, r.buf[r.first:])
		copy(grown[m:], r.buf[:r.first])
		r.buf, r.first = grown, 0
	}
	r.buf[(r.first+r.n)&(len(r.buf)-1)] = v
	r.n++
}

func (r *ring[T]) pop() T {
	var zero T
	v := r.buf[r.first]
	r.buf[r.first] = zero
	r.first = (r.first + 1) & (len(r.buf) - 1)
	if r.n--; r.n == 0 && len(r.buf) > 1024 {
		r.buf, r.first = nil, 0
	}
	return v
}
