package remoting

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// eventLog is a Listener that checks the order of its calls.
type eventLog struct {
	mu     sync.Mutex
	open   map[*Peer]bool
	closed map[*Peer]CloseReason
	faults []string
}

func newEventLog() *eventLog {
	return &eventLog{open: map[*Peer]bool{}, closed: map[*Peer]CloseReason{}}
}

func (l *eventLog) Connected(p *Peer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[p] || l.closed[p] != 0 {
		l.faults = append(l.faults, "connected twice")
	}
	l.open[p] = true
}

func (l *eventLog) Closed(p *Peer, reason CloseReason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open[p] {
		l.faults = append(l.faults, "closed without being open")
	}
	if p.Context().Err() == nil {
		l.faults = append(l.faults, "closed before its context")
	}
	delete(l.open, p)
	l.closed[p] = reason
}

func (l *eventLog) count(reason CloseReason) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, r := range l.closed {
		if r == reason {
			n++
		}
	}
	return n
}

func TestCloseReasons(t *testing.T) {
	peers := make(chan *Peer, 1)
	for _, c := range []struct {
		name string
		do   func(*testConn)
		want CloseReason
	}{
		{"end of stream", func(c *testConn) { c.Close() }, CloseEOF},
		{"end of stream within a frame", func(c *testConn) { c.send([]byte{0, 0, 1}); c.Close() }, CloseEOF},
		{"reset", func(c *testConn) { require.NoError(t, c.Conn.(*net.TCPConn).SetLinger(0)); c.Close() }, CloseError},
		{"too large", func(c *testConn) { c.send([]byte{0, 0xFF, 0xFF, 0xFD}) }, CloseProtocol},
		{"too short", func(c *testConn) { c.send([]byte{0, 0, 0, 3}) }, CloseProtocol},
		{"unknown codec", func(c *testConn) { c.send([]byte{0, 0, 0, 4, 2, 0, 0, 0}) }, CloseProtocol},
		{"own close", func(*testConn) { (<-peers).Close() }, CloseLocal},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := newEventLog()
			s := startServer(t, ServerConfig{Listener: log, Log: zerolog.Nop(), Table: Table{codeEcho: {Handler: func(_ context.Context, p *Peer, _ *protocol.Command) (*Response, error) {
				select {
				case peers <- p:
				default:
				}
				return Success(), nil
			}}}})
			conn := dialTest(t, s)
			conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho)}))
			conn.receive()
			c.do(conn)
			eventually(t, func() bool { return log.count(c.want) == 1 })
			require.Empty(t, log.faults)
			require.Zero(t, s.Connections())
			select {
			case <-peers:
			default:
			}
		})
	}
}

// TestBadFrameAfterGoodOne has the good one answered although both came in one read.
func TestBadFrameAfterGoodOne(t *testing.T) {
	var log syncBuffer
	s := startServer(t, ServerConfig{Table: Table{codeEcho: {Handler: echoBody}}, Log: zerolog.New(&log)})
	conn := dialTest(t, s)
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 4}), []byte{0xFF, 0xFF, 0xFF, 0xFF})
	require.EqualValues(t, 4, conn.receive().Opaque)
	conn.closed()
	eventually(t, func() bool { return s.Connections() == 0 })
	require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), conn.LocalAddr().String())
	require.Less(t, len(log.String()), 300)
}

// TestBadFrameLogIsBounded has a flood of bad peers cost a bounded number of lines.
func TestBadFrameLogIsBounded(t *testing.T) {
	var l logLimit
	lines, dropped := 0, 0
	for i := range 1000 {
		if n, ok := l.allow(int64(i) * int64(time.Millisecond) * 3); ok { // within three seconds
			lines++
			dropped += n
		}
	}
	require.Equal(t, 3*linesPerSecond, lines)
	require.Equal(t, 2*(333-linesPerSecond)+1, dropped, "what was left out is told with the next line")
}

func TestN8(t *testing.T) { // field report N8: requests in any segmentation are answered once
	exec := NewExecutor("test", 4, 100)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{
		codeEcho: {Handler: echoBody}, codeSlow: Entry{Handler: echoBody}.On(exec),
	}})
	requests := func(t *testing.T) (all []byte, want map[int32]string) {
		want = map[int32]string{}
		for i := range 6 {
			body := fmt.Sprintf("body %d", i)
			codec, code := protocol.Codec(i%2), codeEcho
			if i%3 == 2 {
				code = codeSlow
			}
			all = append(all, requestFrame(t, protocol.Command{Code: int32(code), Opaque: int32(i), Codec: codec, Body: []byte(body)})...)
			want[int32(i)] = body
		}
		return all, want
	}
	check := func(t *testing.T, conn *testConn, want map[int32]string) {
		t.Helper()
		got := map[int32]string{}
		for range want {
			r := conn.receive()
			got[r.Opaque] = string(r.Body)
		}
		require.Equal(t, want, got)
	}
	write := func(t *testing.T, conn *testConn, pieces ...[]byte) {
		t.Helper()
		for _, p := range pieces {
			conn.send(p)
			time.Sleep(time.Millisecond) // lets the piece become a segment; nothing is awaited
		}
	}
	t.Run("byte by byte", func(t *testing.T) {
		conn := dialTest(t, s)
		all, want := requests(t)
		for i := range all {
			write(t, conn, all[i:i+1])
		}
		check(t, conn, want)
	})
	t.Run("eleven bytes, then the rest", func(t *testing.T) {
		conn := dialTest(t, s)
		all, want := requests(t)
		write(t, conn, all[:11], all[11:])
		check(t, conn, want)
	})
	t.Run("one and a half", func(t *testing.T) {
		conn := dialTest(t, s)
		all, want := requests(t)
		n := len(all)/6 + len(all)/12
		write(t, conn, all[:n], all[n:])
		check(t, conn, want)
	})
	t.Run("at random", func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			conn := dialTest(t, s)
			all, want := requests(t)
			for len(all) > 0 {
				n := 1 + r.IntN(len(all))
				write(t, conn, all[:n])
				all = all[n:]
			}
			check(t, conn, want)
		}
	})
}

// TestFrameSizes sends frames around every buffer size, glued together in all sorts of pieces.
func TestFrameSizes(t *testing.T) {
	exec := NewExecutor("test", 4, 100)
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{
		codeEcho: {Handler: echoBody}, codeSlow: Entry{Handler: echoBody}.On(exec),
	}})
	var sizes []int
	for _, around := range []int{0, readBufferSize, sharedBody, smallFrame, growFactor * smallFrame, flushAt, writeStep, 3 << 20} {
		for _, d := range []int{-200, -120, -1, 0, 1, 5} {
			sizes = append(sizes, max(0, around+d))
		}
	}
	for _, code := range []protocol.RequestCode{codeEcho, codeSlow} {
		conn := dialTest(t, s)
		var all []byte
		want := map[int32][]byte{}
		for i, n := range sizes {
			body := bytes.Repeat([]byte{byte(i), byte(n)}, n/2+1)[:n]
			want[int32(i)] = body
			all = append(all, requestFrame(t, protocol.Command{Code: int32(code), Opaque: int32(i), Body: body})...)
		}
		go func() {
			r := rand.New(rand.NewPCG(3, 4))
			for len(all) > 0 {
				n := min(len(all), 1+r.IntN(1<<r.IntN(21)))
				if _, err := conn.Write(all[:n]); err != nil {
					t.Error(err)
					return
				}
				all = all[n:]
			}
		}()
		for range sizes {
			got := conn.receive()
			require.True(t, bytes.Equal(want[got.Opaque], got.Body), "body %d", got.Opaque)
			delete(want, got.Opaque)
		}
		require.Empty(t, want)
	}
	requireFree(t, &s.core.large.room)
}

// TestAnswerTooLarge has an answer that makes no frame replaced by an error.
func TestAnswerTooLarge(t *testing.T) {
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeEcho: {Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) {
		return Body(make([]byte, protocol.MaxFrame)), nil
	}}}})
	conn := dialTest(t, s)
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 4}))
	got := conn.receive()
	require.EqualValues(t, protocol.RespSystemError, got.Code)
	require.Contains(t, got.Remark, "frame too large")
}

func idleAfter(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

func TestIdle(t *testing.T) { // spec/remoting.md §11, item 25
	log := newEventLog()
	exec := NewExecutor("test", 4, 100)
	gate := make(chan struct{})
	const idle = 400 * time.Millisecond
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Listener: log, Idle: idleAfter(idle), Table: Table{
		codeEcho: {Handler: echoBody},
		codeSlow: Entry{Handler: func(ctx context.Context, _ *Peer, _ *protocol.Command) (*Response, error) {
			await(ctx, gate)
			return Success(), nil
		}}.On(exec),
	}})
	request := requestFrame(t, protocol.Command{Code: int32(codeEcho)})

	silent, trickling, used := dialTest(t, s), dialTest(t, s), dialTest(t, s)
	active, working := dialTest(t, s), dialTest(t, s)
	for _, c := range []*testConn{used, trickling, active} {
		c.send(request)
		c.receive()
	}
	working.send(requestFrame(t, protocol.Command{Code: int32(codeSlow), Opaque: 5}))

	var answered atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	pace := func(step func() error) {
		ticker := time.NewTicker(idle / 20)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if step() != nil {
					return
				}
			}
		}
	}
	wg.Go(func() { // requests keep a connection open
		pace(func() error {
			if _, err := active.Write(request); err != nil {
				return err
			}
			_, err := active.tryReceive()
			answered.Add(1)
			return err
		})
	})
	wg.Go(func() { // bytes that make no frame do not
		big := requestFrame(t, protocol.Command{Code: int32(codeEcho), Body: make([]byte, 100000)})
		pace(func() error {
			_, err := trickling.Write(big[:1])
			big = big[1:]
			return err
		})
	})
	silent.closed()
	used.closed()
	trickling.closed()
	eventually(t, func() bool { return log.count(CloseIdle) == 2 }) // the silent one was never connected
	more := answered.Load() + 60
	eventually(t, func() bool { return answered.Load() >= more }) // longer than any idle connection lives
	require.Equal(t, 2, s.Connections(), "the active one and the one that waits for its answer")
	close(gate)
	require.EqualValues(t, 5, working.receive().Opaque)
}

// TestIdleTimeIsLive has a change of the idle time take hold of connections that exist.
func TestIdleTimeIsLive(t *testing.T) {
	var idle atomic.Int64
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeEcho: {Handler: echoBody}}, Idle: func() time.Duration { return time.Duration(idle.Load()) }})
	conn := dialTest(t, s)
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho)}))
	conn.receive()
	idle.Store(int64(20 * time.Millisecond))
	conn.closed()
}

// TestN9 has a peer ask 20,000 times for 50 KB and read nothing for a while (field reports N9, F32).
func TestN9(t *testing.T) {
	route := Body(bytes.Repeat([]byte("r"), 50<<10))
	exec := NewExecutor("test", 4, 1000)
	for _, c := range []struct {
		name  string
		entry Entry
	}{
		{"inline", Entry{Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) { return route, nil }}},
		{"own bytes", Entry{Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) {
			return Body(slices.Clone(route.Body)), nil
		}}},
		{"executor", Entry{Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) {
			return Body(slices.Clone(route.Body)), nil
		}, Executor: exec}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 20000
			if raceEnabled {
				n = 4000
			}
			var asked atomic.Int64
			entry := Entry{Executor: c.entry.Executor, Handler: func(ctx context.Context, p *Peer, cmd *protocol.Command) (*Response, error) {
				asked.Add(1)
				return c.entry.Handler(ctx, p, cmd)
			}}
			s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeSlow: entry, codeEcho: {Handler: echoBody}}})
			before := heapInUse()
			greedy := dialTest(t, s)
			require.NoError(t, greedy.SetDeadline(time.Now().Add(2*time.Minute)))
			written := make(chan error, 1)
			go func() {
				var all []byte
				for i := range n {
					all, _ = protocol.AppendFrame(all, &protocol.Command{Code: int32(codeSlow), Opaque: int32(i)})
				}
				_, err := greedy.Write(all)
				written <- err
			}()
			// The server has stalled once its side of the connection does not move any more.
			peer := onlyPeer(t, s)
			var last int64
			stable := 0
			eventually(t, func() bool {
				now := asked.Load()
				if now == last && peer.writing.Load() != 0 {
					stable++
				} else {
					stable = 0
				}
				last = now
				return stable > 100
			})
			other := dialTest(t, s) // is served at its usual speed
			var worst time.Duration
			for i := range 200 {
				from := time.Now()
				other.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: int32(i)}))
				require.EqualValues(t, i, other.receive().Opaque)
				worst = max(worst, time.Since(from))
			}
			t.Logf("other client's slowest answer: %v", worst)
			grown := int64(heapInUse()) - int64(before)
			require.Less(t, grown, int64(20<<20), "bytes in use while the peer does not read")

			seen := make([]bool, n)
			for range n {
				got := greedy.receive()
				require.False(t, seen[got.Opaque], "answered twice")
				require.Len(t, got.Body, len(route.Body))
				seen[got.Opaque] = true
			}
			require.NoError(t, <-written)
		})
	}
}

// onlyPeer returns the only connection of s.
func onlyPeer(t *testing.T, s *Server) *Peer {
	t.Helper()
	var peers []*Peer
	eventually(t, func() bool { peers = s.snapshot(); return len(peers) == 1 })
	return peers[0]
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// TestStalledReaderIsClosed closes a peer that takes nothing of its answers for the idle time.
func TestStalledReaderIsClosed(t *testing.T) {
	log := newEventLog()
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Listener: log, Idle: idleAfter(100 * time.Millisecond), SendBuffer: 4096, Table: Table{
		codeEcho: {Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) {
			return Body(make([]byte, 8<<20)), nil
		}},
	}})
	conn := dialTest(t, s)
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho)}))
	eventually(t, func() bool { return log.count(CloseStalled) == 1 })
	_, err := io.Copy(io.Discard, conn)
	require.Error(t, err, "reset: what was not taken is not kept")
}

// TestLargeFramesWait lets large frames in as there is room, and takes it from one that does not get on.
func TestLargeFramesWait(t *testing.T) {
	log := newEventLog()
	exec := NewExecutor("test", 4, 100)
	gate := make(chan struct{})
	s := startServer(t, ServerConfig{
		Log: zerolog.Nop(), Listener: log,
		Limits: Limits{Frame: 1 << 20, LargeFrames: 1 << 20, LargeFrameTime: 100 * time.Millisecond},
		Table: Table{codeEcho: {Handler: echoBody}, codeSlow: Entry{Handler: func(ctx context.Context, p *Peer, cmd *protocol.Command) (*Response, error) {
			await(ctx, gate)
			return echoBody(ctx, p, cmd)
		}}.On(exec)},
	})
	large := func(code protocol.RequestCode) []byte {
		return requestFrame(t, protocol.Command{Code: int32(code), Opaque: 1, Body: make([]byte, 700<<10)})
	}
	waiting := func(n int) func() bool {
		return func() bool { return waitersOf(&s.core.large.room) == n }
	}
	handled := dialTest(t, s) // has its room until it is handled, however long that takes
	handled.send(large(codeSlow))
	eventually(t, func() bool { return exec.Stats().Running == 1 })
	stalled := dialTest(t, s)
	stalled.send(large(codeEcho)[:100<<10])
	eventually(t, waiting(1))
	gone := dialTest(t, s)
	gone.send(large(codeEcho)[:100<<10])
	eventually(t, waiting(2))
	patient := dialTest(t, s)
	patient.send(large(codeEcho)[:100<<10])
	eventually(t, waiting(3))
	small := dialTest(t, s) // small frames do not wait
	small.send(requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 6, Body: make([]byte, 60<<10)}))
	require.EqualValues(t, 6, small.receive().Opaque)

	close(gate)
	require.EqualValues(t, 1, handled.receive().Opaque)
	stalled.closed() // it got room and made nothing of it, and so does the next one
	gone.closed()
	patient.send(large(codeEcho)[100<<10:])
	require.EqualValues(t, 1, patient.receive().Opaque)
	require.Equal(t, 2, log.count(CloseStalled))
	requireFree(t, &s.core.large.room)
}

// TestLargeFrameGrowsWithArrival has a claimed length cost nothing.
func TestLargeFrameGrowsWithArrival(t *testing.T) {
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Table: Table{codeEcho: {Handler: echoBody}}})
	conn := dialTest(t, s)
	conn.send(requestFrame(t, protocol.Command{Code: int32(codeEcho)}), []byte{0, 0xFF, 0xFF, 0xFC, 0, 0, 0, 50})
	conn.receive()
	peer := onlyPeer(t, s)
	peer.Close()
	eventually(t, func() bool { return s.Connections() == 0 })
	requireFree(t, &s.core.large.room)
	f := newLargeFrames(2*protocol.MaxFrame, protocol.MaxFrame, time.Second)
	l := f.frame(nil, protocol.MaxFrame)
	for !l.complete() {
		arrived := len(l.buf)
		if l.full() {
			require.NoError(t, l.grow(nil))
		}
		require.LessOrEqual(t, cap(l.buf), max(smallFrame, growFactor*arrived))
		l.buf = l.buf[:len(l.buf)+len(l.space())]
	}
	require.Equal(t, int64(cap(l.buf)), l.held)
	l.release()
	require.Zero(t, f.used)
}

// TestEventsExactlyOnce opens and resets connections with requests on executors.
// TestSweepOfLargeFrames has the frames that hold room cut off only while others wait, and as soon as it is their peers'
// fault that they do.
func TestSweepOfLargeFrames(t *testing.T) {
	const limit = 10 * time.Second
	arrive := func(l *largeFrame, until int) {
		for len(l.buf) < until {
			if l.full() {
				require.NoError(t, l.grow(nil))
			}
			l.took(min(len(l.space()), until-len(l.buf)))
		}
	}
	unread := func(l *largeFrame, bytes int) { l.peer.out.written = bytes }
	for _, c := range []struct {
		name    string
		arrived int
		before  func(l *largeFrame, second int) // a sweep
		alone   bool                            // nobody waits
		cut     int                             // at which second; 0: never
	}{
		{name: "stalled", arrived: 100 << 10, cut: 4},
		{name: "stalled, nobody waits", arrived: 100 << 10, alone: true},
		{name: "slow", arrived: 300 << 10, before: func(l *largeFrame, second int) {
			if second%2 == 0 {
				l.took(smallFrame)
			}
		}, cut: 11},
		{name: "complete, answers unread", arrived: mib, before: func(l *largeFrame, _ int) { unread(l, 1) }, cut: 3},
		{name: "complete, answers unread every other time", arrived: mib, before: func(l *largeFrame, second int) { unread(l, second%2) }, cut: 5},
		{name: "complete, answers unread, nobody waits", arrived: mib, before: func(l *largeFrame, _ int) { unread(l, 1) }, alone: true},
		{name: "complete, earlier requests are not done", arrived: mib},
		{name: "with its handler, answers unread", arrived: mib, before: func(l *largeFrame, _ int) { unread(l, 1); l.handed() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newLargeFrames(32*mib, 16*mib, limit)
			f.sweep(time.Unix(0, 0))
			l := f.frame(new(Peer), mib)
			l.begun = time.Unix(0, 0)
			arrive(l, c.arrived)
			if !c.alone {
				f.waiters = []*roomWaiter{{since: time.Unix(0, 0)}}
			}
			cut := 0
			for second := 1; second <= 15 && cut == 0; second++ {
				if c.before != nil {
					c.before(l, second)
				}
				if stalled := f.sweep(time.Unix(int64(second), 0)); len(stalled) > 0 {
					require.Equal(t, []*Peer{l.peer}, stalled)
					cut = second
				}
			}
			require.Equal(t, c.cut, cut)
		})
	}
}

func TestEventsExactlyOnce(t *testing.T) {
	log := newEventLog()
	exec := NewExecutor("test", 4, 1000)
	var running atomic.Int32
	s := startServer(t, ServerConfig{Log: zerolog.Nop(), Listener: log, Table: Table{
		codeEcho: {Handler: echoBody},
		codeSlow: Entry{Handler: func(ctx context.Context, p *Peer, cmd *protocol.Command) (*Response, error) {
			running.Add(1)
			defer running.Add(-1)
			log.mu.Lock()
			if log.closed[p] != 0 {
				log.faults = append(log.faults, "handler runs after Closed")
			}
			log.mu.Unlock()
			return echoBody(ctx, p, cmd)
		}}.On(exec),
	}})
	const clients, rounds = 8, 40
	batch := slices.Concat(
		requestFrame(t, protocol.Command{Code: int32(codeSlow), Opaque: 1}), requestFrame(t, protocol.Command{Code: int32(codeEcho), Opaque: 2}),
		requestFrame(t, protocol.Command{Code: int32(codeSlow), Opaque: 3}), requestFrame(t, protocol.Command{Code: int32(codeSlow), Opaque: 4}),
	)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 9))
			for range rounds {
				conn, err := net.Dial("tcp", s.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = conn.Write(batch)
				if r.IntN(2) == 0 {
					_, _ = conn.Read(make([]byte, 10))
				}
				if r.IntN(3) > 0 {
					_ = conn.(*net.TCPConn).SetLinger(0)
				}
				conn.Close()
			}
		})
	}
	wg.Wait()
	eventually(t, func() bool { return s.Connections() == 0 })
	log.mu.Lock()
	defer log.mu.Unlock()
	require.Empty(t, log.faults)
	require.Empty(t, log.open)
	require.Zero(t, running.Load())
	require.LessOrEqual(t, len(log.closed), clients*rounds)
	require.Greater(t, len(log.closed), clients*rounds/4)
}
