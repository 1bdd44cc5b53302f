package remoting

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// waitersOf returns how many wait for room.
func waitersOf(r *room) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiters)
}

// requireFree waits until all of the room is free.
func requireFree(tb testing.TB, r *room) {
	tb.Helper()
	eventually(tb, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.used == 0 && r.privileged == nil && len(r.holders) == 0 && len(r.waiters) == 0
	})
}

// listServer is a server with room for one large answer at a time. codeSlow answers with its body once gate is closed,
// or as its fields say.
type listServer struct {
	*Server
	exec  *Executor
	log   *eventLog
	gate  chan struct{}
	mu    sync.Mutex
	order []int32 // opaques, as they are handled; guarded by mu
}

func startListServer(t *testing.T, cfg ServerConfig) (l *listServer, stop func()) {
	l = &listServer{exec: NewExecutor("lists", 1, 1), log: newEventLog(), gate: make(chan struct{})}
	cfg.Log, cfg.Listener = zerolog.Nop(), l.log
	cfg.Limits.LargeAnswers = 1 // that is one
	cfg.SendBuffer = 64 << 10
	cfg.Table = Table{
		codeEcho: {Handler: echoBody},
		codeSlow: Entry{Handler: func(ctx context.Context, p *Peer, cmd *protocol.Command) (*Response, error) {
			l.mu.Lock()
			l.order = append(l.order, cmd.Opaque)
			l.mu.Unlock()
			await(ctx, l.gate)
			switch how, _ := cmd.Ext.Get("how"); how {
			case "nothing":
				return nil, nil
			case "error":
				return nil, errors.New("no list")
			case "panic":
				panic("no list")
			case "large":
				return Body(make([]byte, protocol.MaxFrame-1000)), nil
			case "too large":
				return Body(make([]byte, protocol.MaxFrame)), nil
			}
			return echoBody(ctx, p, cmd)
		}}.On(l.exec).WithLargeAnswer(),
	}
	l.Server = newTestServer(t, cfg)
	return l, runServer(t, l.Server)
}

// list is a request for a list.
func list(t *testing.T, opaque int32, how string) []byte {
	return requestFrame(t, protocol.Command{Code: int32(codeSlow), Opaque: opaque, Ext: protocol.Ext{{Key: "how", Value: how}}})
}

// TestLargeAnswersWait gives room for answers in the order of arrival, and lets nobody else wait.
func TestLargeAnswersWait(t *testing.T) {
	s, _ := startListServer(t, ServerConfig{})
	var conns []*testConn
	for i := range int32(5) {
		conns = append(conns, dialTest(t, s.Server))
		conns[i].send(
			requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 20 + i}), list(t, i, ""),
			list(t, 10+i, ""), requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 30 + i}),
		)
		require.Equal(t, 20+i, conns[i].receive().Opaque) // does not wait for what comes after it
		eventually(t, func() bool { return s.exec.Stats().Running == 1 && waitersOf(&s.core.answers) == int(i) })
	}
	require.Zero(t, s.exec.Stats().Queue) // those who wait are not in it
	gone := conns[2]                      // has its turn all the same, for which it does not stay
	gone.Close()
	for _, p := range s.snapshot() {
		if p.RemoteAddr() == conns[3].LocalAddr().String() {
			p.Close() // closed by us, which ends the wait
		}
	}
	eventually(t, func() bool { return waitersOf(&s.core.answers) == 3 })

	other := dialTest(t, s.Server)
	other.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 7}))
	require.EqualValues(t, 7, other.receive().Opaque)
	// Neither does a request that holds room for its large frame: others would wait for it.
	other.send(requestFrame(t, protocol.Command{Code: int32(codeSlow), Opaque: 8, Body: make([]byte, 100<<10)}))
	refused := other.receive()
	require.EqualValues(t, protocol.RespSystemBusy, refused.Code)
	require.Equal(t, remarkOverload, refused.Remark)
	requireFree(t, &s.core.large.room)

	close(s.gate)
	for _, i := range []int32{0, 1, 4} {
		require.Equal(t, i, conns[i].receive().Opaque)
		require.ElementsMatch(t, []int32{10 + i, 30 + i}, []int32{conns[i].receive().Opaque, conns[i].receive().Opaque})
	}
	first := slices.DeleteFunc(s.handled(), func(o int32) bool { return o >= 10 })
	require.Equal(t, []int32{0, 1, 2, 4}, first)
	requireFree(t, &s.core.answers)
}

// handled returns the opaques of the requests that have been handled, in their order.
func (l *listServer) handled() []int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.order)
}

// TestRoomForAnswersIsGivenBack whatever becomes of the request.
func TestRoomForAnswersIsGivenBack(t *testing.T) {
	t.Run("answers", func(t *testing.T) {
		s, _ := startListServer(t, ServerConfig{})
		close(s.gate)
		conn := dialTest(t, s.Server)
		for _, how := range []string{"", "error", "panic", "large", "too large"} {
			conn.send(list(t, 1, how))
			require.EqualValues(t, 1, conn.receive().Opaque, how)
			requireFree(t, &s.core.answers)
		}
	})
	t.Run("no answer", func(t *testing.T) {
		s, _ := startListServer(t, ServerConfig{})
		close(s.gate)
		conn := dialTest(t, s.Server)
		conn.send(list(t, 1, "nothing"), requestFrame(t, protocol.Command{Code: int32(codeSlow), Opaque: 2, Flag: protocol.FlagOneway}), list(t, 3, ""))
		require.EqualValues(t, 3, conn.receive().Opaque)
		requireFree(t, &s.core.answers)
	})
	t.Run("executor full", func(t *testing.T) {
		s, _ := startListServer(t, ServerConfig{})
		release := make(chan struct{})
		for range 2 { // one at work, one waiting
			require.True(t, s.exec.Go(func() { <-release }))
		}
		conn := dialTest(t, s.Server)
		conn.send(list(t, 1, ""))
		require.EqualValues(t, protocol.RespSystemBusy, conn.receive().Code)
		requireFree(t, &s.core.answers)
		close(release)
	})
	t.Run("connection ends while the answer is made", func(t *testing.T) {
		s, _ := startListServer(t, ServerConfig{})
		dialTest(t, s.Server).send(list(t, 1, "large"))
		eventually(t, func() bool { return s.exec.Stats().Running == 1 })
		onlyPeer(t, s.Server).Close()
		close(s.gate)
		requireFree(t, &s.core.answers)
	})
	t.Run("connection ends while the answer is written", func(t *testing.T) {
		s, _ := startListServer(t, ServerConfig{})
		close(s.gate)
		conn := dialTest(t, s.Server)
		conn.send(list(t, 1, "large"))
		peer := onlyPeer(t, s.Server)
		eventually(t, func() bool { return peer.writing.Load() != 0 })
		peer.Close()
		requireFree(t, &s.core.answers)
	})
	t.Run("connection ends while the answer waits for others", func(t *testing.T) {
		s, _ := startListServer(t, ServerConfig{})
		conn := dialTest(t, s.Server)
		conn.send(list(t, 1, "large"))
		eventually(t, func() bool { return s.exec.Stats().Running == 1 })
		peer := onlyPeer(t, s.Server)
		require.NoError(t, peer.Oneway(t.Context(), &protocol.Command{Code: 40, Body: make([]byte, protocol.MaxFrame-1000)}))
		eventually(t, func() bool { return peer.writing.Load() != 0 })
		close(s.gate)
		eventually(t, func() bool { // the answer is in the next batch
			peer.mu.Lock()
			defer peer.mu.Unlock()
			return peer.out.answer != nil
		})
		peer.Close()
		requireFree(t, &s.core.answers)
		eventually(t, func() bool { return s.Connections() == 0 })
		require.Zero(t, peer.out.size)
	})
	t.Run("the server stops", func(t *testing.T) {
		s, stop := startListServer(t, ServerConfig{StopTime: testDeadline})
		close(s.gate)
		holder, waiter := dialTest(t, s.Server), dialTest(t, s.Server)
		holder.send(list(t, 1, "large"))
		eventually(t, func() bool { // it is being written, which takes all of the room
			s.core.answers.mu.Lock()
			defer s.core.answers.mu.Unlock()
			return len(s.core.answers.holders) == 1
		})
		waiter.send(list(t, 2, ""))
		eventually(t, func() bool { return waitersOf(&s.core.answers) == 1 })
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			stop()
		}()
		<-s.core.stopping
		require.EqualValues(t, 1, holder.receive().Opaque)
		require.EqualValues(t, 2, waiter.receive().Opaque) // what has been read is answered
		<-stopped
		requireFree(t, &s.core.answers)
	})
	t.Run("the server is cut off", func(t *testing.T) {
		s, stop := startListServer(t, ServerConfig{StopTime: 50 * time.Millisecond})
		close(s.gate)
		holder, waiter := dialTest(t, s.Server), dialTest(t, s.Server)
		holder.send(list(t, 1, "large"))
		eventually(t, func() bool { return s.Connections() == 2 })
		waiter.send(list(t, 2, "large"))
		eventually(t, func() bool { return waitersOf(&s.core.answers) == 1 })
		stop()
		requireFree(t, &s.core.answers)
	})
}

// TestSweepOfLargeAnswers has those who do not take their answers cut off only while others wait, and once it is their
// turn to do something.
func TestSweepOfLargeAnswers(t *testing.T) {
	for _, c := range []struct {
		name  string
		size  int // of the answer; 0: it is being made
		taken func(second int) int
		alone bool // nobody waits
		cut   int  // at which second; 0: never
	}{
		{name: "not taken", size: mib, cut: 3},
		{name: "not taken, nobody waits", size: mib, alone: true},
		{name: "taken slowly", size: 8 * mib, taken: func(second int) int { return second % 2 * writeStep }, cut: 11},
		{name: "taken too slowly", size: 8 * mib, taken: func(int) int { return 20_000 }, cut: 3},
		{name: "being made"},
		{name: "small after all", size: smallFrame},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r room
			r.init(32*mib, 16*mib, 10*time.Second)
			r.sweep(time.Unix(0, 0))
			s := &share{of: &r, peer: new(Peer)}
			s.peer.out.written = 1
			require.True(t, r.try(s, 16*mib))
			s.waited = time.Hour // before it was made
			if c.size > 0 {
				s.fit(c.size)
				s.begun = time.Unix(0, 0)
			}
			if !c.alone {
				r.waiters = []*roomWaiter{{share: &share{}, more: 64 * mib, since: time.Unix(0, 0)}}
			}
			cut := 0
			for second := 1; second <= 15 && cut == 0; second++ {
				if c.taken != nil {
					s.took(c.taken(second))
				}
				if stalled := r.sweep(time.Unix(int64(second), 0)); len(stalled) > 0 {
					require.Equal(t, []*Peer{s.peer}, stalled)
					cut = second
				}
			}
			require.Equal(t, c.cut, cut)
		})
	}
}

// TestRoomFits has answers keep the room that they need and no more, the privileged one included.
func TestRoomFits(t *testing.T) {
	var r room
	r.init(32*mib, 16*mib, time.Second)
	shares := make([]*share, 3)
	for i := range shares {
		shares[i] = &share{of: &r, peer: new(Peer)}
	}
	require.True(t, r.try(shares[0], 16*mib))
	require.True(t, r.try(shares[1], 16*mib)) // privileged
	require.False(t, r.try(shares[2], 16*mib))
	shares[1].fit(2 * mib) // stays so: there is no other room
	require.Equal(t, shares[1], r.privileged)
	shares[0].fit(mib)
	require.EqualValues(t, mib, r.used)
	require.True(t, r.try(shares[2], 15*mib))
	shares[1].fit(100)
	require.Nil(t, r.privileged)
	require.Len(t, r.holders, 1)
	shares[1].release() // again
	shares[0].release()
	shares[2].release()
	require.Zero(t, r.used)
	require.Empty(t, r.holders)
}
