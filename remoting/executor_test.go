package remoting

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestExecutorBoundsAndOrder(t *testing.T) {
	x := NewExecutor("test", 2, 3)
	gate, started := make(chan struct{}), make(chan struct{}, 2)
	for range 2 {
		require.True(t, x.Go(func() { started <- struct{}{}; <-gate }))
	}
	<-started
	<-started

	var mu sync.Mutex
	var order []int
	for i := range 3 {
		require.True(t, x.Go(func() { mu.Lock(); order = append(order, i); mu.Unlock() }))
	}
	require.False(t, x.Go(func() { t.Error("ran although the queue was full") }))
	s := x.Stats()
	require.Equal(t, 2, s.Running)
	require.Equal(t, 3, s.Queue)

	gate <- struct{}{} // one worker goes on alone, so the order is that of the queue
	eventually(t, func() bool { return x.Stats().Running == 1 })
	require.Equal(t, []int{0, 1, 2}, order)
	close(gate)
	x.Wait()
	require.Equal(t, ExecutorStats{}, x.Stats())
	require.Equal(t, "test", x.Name())
}

func TestExecutorHeadAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor("test", 1, 10)
		gate := make(chan struct{})
		require.True(t, x.Go(func() { <-gate }))
		require.True(t, x.Go(func() {}))
		time.Sleep(250 * time.Millisecond)
		require.True(t, x.Go(func() {}))
		time.Sleep(50 * time.Millisecond)
		require.Equal(t, 300*time.Millisecond, x.Stats().HeadAge)
		close(gate)
		x.Wait()
		require.Zero(t, x.Stats().HeadAge)
	})
}

func TestExecutorExpiresRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor("test", 1, 10)
		gate := make(chan struct{})
		require.True(t, x.Go(func() { <-gate }))
		var refused []string
		request := func() {
			require.True(t, x.submit(func() { t.Error("ran although it had expired") }, func(remark string) { refused = append(refused, remark) }))
		}
		remark := func(waited time.Duration, queue int) string { return fmt.Sprint(waited, " ", queue) }
		request()
		time.Sleep(time.Second)
		request()
		time.Sleep(time.Second)
		require.Zero(t, x.Expire(3*time.Second, remark))
		require.Equal(t, 1, x.Expire(1500*time.Millisecond, remark))
		require.Equal(t, 1, x.Expire(0, remark))
		require.Equal(t, []string{"2s 1", "1s 0"}, refused)
		ran := false
		require.True(t, x.Go(func() { ran = true }))
		time.Sleep(time.Second)
		require.Zero(t, x.Expire(0, remark), "not a request")
		close(gate)
		x.Wait()
		require.True(t, ran)
	})
}

func TestRingModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring[int]
		var model []int
		next := 0
		for range rapid.IntRange(0, 500).Draw(t, "steps") {
			if len(model) > 0 && rapid.IntRange(0, 2).Draw(t, "op") == 0 {
				require.Equal(t, model[0], *r.head())
				require.Equal(t, model[0], r.pop())
				model = model[1:]
			} else {
				r.push(next)
				model = append(model, next)
				next++
			}
			require.Equal(t, len(model), r.len())
		}
	})
}
