package remoting

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"

	"github.com/mq-server/mq/protocol"
)

// core is what all connections of a server or client share. Apart from the atomic fields it does not change.
type core struct {
	table    map[int32]*Entry // by request code
	fallback *Entry           // for other codes; nil: they are refused
	errors   []ErrorCode
	hooks    []Hook
	log      zerolog.Logger
	codec    protocol.Codec
	limits   Limits

	base     context.Context // parent of all connections'; set before the first one
	start    time.Time       // origin of clock
	clock    atomic.Int64    // time in ns by the monotonic clock, as of the sweeper's last round
	peerID   atomic.Uint64
	opaque   atomic.Int32 // last one given to a call, whatever the connection
	draining atomic.Bool
	stopping chan struct{} // closed when connections are told to end
	large    *largeFrames
	answers  room // for those of entries with LargeAnswer
	invokes  *semaphore.Weighted
	warnings logLimit
}

func newCore(table Table, limits Limits, invokes int, log zerolog.Logger) *core {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&limits.Frame, protocol.MaxFrame)
	limits.Frame = min(limits.Frame, protocol.MaxFrame)
	def(&limits.InFlight, 32)
	def(&limits.InFlightBytes, 1<<20)
	def(&limits.Output, 256<<10)
	def(&limits.LargeFrames, 32<<20)
	limits.LargeFrames = max(limits.LargeFrames, limits.Frame)
	def(&limits.LargeAnswers, 256<<20)
	limits.LargeAnswers = max(limits.LargeAnswers, protocol.MaxFrame)
	def(&limits.Invokes, invokes)
	if limits.LargeFrameTime <= 0 {
		limits.LargeFrameTime = 10 * time.Second
	}
	entries := make(map[int32]*Entry, len(table))
	for code, entry := range table {
		entries[int32(code)] = &entry
	}
	c := &core{
		table: entries, log: log, limits: limits,
		start: time.Now(), stopping: make(chan struct{}),
		large:   newLargeFrames(limits.LargeFrames, limits.Frame, limits.LargeFrameTime),
		invokes: semaphore.NewWeighted(int64(limits.Invokes)),
	}
	c.answers.init(limits.LargeAnswers, protocol.MaxFrame, limits.LargeFrameTime)
	c.tick()
	return c
}

// now is the time in ns since some moment before the start, by the monotonic clock and not 0. It lags by up to
// sweepEvery, which is good enough for idleness and costs connections nothing.
func (c *core) now() int64 { return c.clock.Load() }

// tick lets now catch up with the time.
func (c *core) tick() { c.clock.Store(int64(time.Since(c.start)) + 1) }

// isStopping tells whether connections have been told to end.
func (c *core) isStopping() bool {
	select {
	case <-c.stopping:
		return true
	default:
		return false
	}
}

// handleFrame handles one frame, whose buffer is large if it has its own. An error ends the connection.
func (p *Peer) handleFrame(frame []byte, large *largeFrame) error {
	p.in.resume() // a large frame came without it
	cmd := &p.in.buf.cmd
	if err := cmd.Decode(frame); err != nil {
		large.release()
		return err
	}
	if cmd.IsResponse() {
		p.deliver(cmd)
		large.release()
		return nil
	}
	entry, refusal := p.core.route(cmd)
	if refusal != nil {
		large.release()
		if !cmd.IsOneway() {
			p.answer(cmd.Opaque, refusal, charge{})
		}
		return nil
	}
	if entry.Executor == nil {
		p.serveRequest(p.core.base, entry, cmd, charge{})
		large.release()
		return nil
	}
	return p.submit(entry, detach(cmd, large != nil), len(frame), large)
}

// route finds the entry for a request, or the answer to one that reaches no handler (spec/remoting.md §5.2).
func (c *core) route(cmd *protocol.Command) (*Entry, *Response) {
	entry, ok := c.table[cmd.Code]
	if !ok {
		entry = c.fallback
	}
	if entry == nil {
		return nil, refuse(protocol.RespRequestCodeNotSupported, remarkNotSupported(cmd.Code))
	}
	if cmd.Version > protocol.Version5_3_1 && c.draining.Load() {
		return nil, refuse(protocol.RespGoAway, remarkGoAway)
	}
	return entry, nil
}

// refuse returns an answer that consists of code and remark.
func refuse(code protocol.ResponseCode, remark string) *Response {
	return &Response{Code: code, Remark: remark, HasRemark: true}
}

// detach returns a command that outlives the input buffer. own tells that Body may be kept as it is.
func detach(cmd *protocol.Command, own bool) *protocol.Command {
	kept := *cmd
	*cmd = protocol.Command{} // its Ext went with the copy
	if !own && kept.Body != nil {
		kept.Body = append([]byte(nil), kept.Body...)
	}
	return &kept
}

// submit hands a request of size bytes to its executor, after waiting until the connection's limits allow it. One with
// a large answer takes all that they allow, and room for the answer.
func (p *Peer) submit(entry *Entry, cmd *protocol.Command, size int, large *largeFrame) error {
	if entry.LargeAnswer {
		size = max(size, p.core.limits.InFlightBytes)
	}
	if entry.Weight != nil {
		size = max(size, entry.Weight(cmd))
	}
	if err := p.begin(size); err != nil {
		large.release()
		return err
	}
	large.handed()
	var room *share
	if entry.LargeAnswer {
		var err error
		if room, err = p.roomForAnswer(large == nil); err != nil {
			large.release()
			p.forget(charge{requests: 1, bytes: size})
			return err
		}
	}
	cost := charge{requests: 1, bytes: size, answer: room}
	p.tasks.Add(1)
	run := func() {
		defer p.tasks.Done()
		defer large.release()
		if p.Closed() && p.core.isStopping() { // cut off: what has not begun is given up
			p.forget(cost)
			return
		}
		p.serveRequest(p.Context(), entry, cmd, cost)
	}
	busy := func(remark string) {
		defer p.tasks.Done()
		large.release()
		if cmd.IsOneway() {
			p.forget(cost)
			return
		}
		p.answer(cmd.Opaque, refuse(protocol.RespSystemBusy, remark), cost)
	}
	if entry.LargeAnswer && room == nil || !entry.Executor.submit(run, busy) {
		busy(remarkOverload)
	}
	return nil
}

// roomForAnswer takes room for the largest answer, since nobody knows yet how large it gets. If there is none, it waits, or
// returns nil: requests that are large themselves had better not wait, or others would wait for their room.
func (p *Peer) roomForAnswer(wait bool) (*share, error) {
	s := &share{of: &p.core.answers, peer: p}
	if s.of.try(s, protocol.MaxFrame) {
		return s, nil
	}
	if !wait {
		return nil, nil
	}
	if err := p.flush(); err != nil { // the wait may be long
		return nil, err
	}
	p.in.rest()
	defer p.in.resume()
	if err := s.of.acquire(s, protocol.MaxFrame, nil); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// serveRequest runs a request's handler and sends its answer, if any. Without charge it is on the connection's goroutine,
// which then also flushes.
func (p *Peer) serveRequest(ctx context.Context, entry *Entry, cmd *protocol.Command, cost charge) {
	resp := p.core.call(ctx, p, entry, cmd)
	if resp == nil || cmd.IsOneway() {
		if cost.requests > 0 {
			p.forget(cost)
		}
		return
	}
	p.answer(cmd.Opaque, resp, cost)
}

// answer sends resp, unless the connection has ended.
func (p *Peer) answer(opaque int32, resp *Response, cost charge) {
	if cost.requests == 0 { // on the connection's goroutine
		appendResponse(&p.in.buf.replies, p.core.codec, opaque, resp)
		return
	}
	b := batch{charge: cost}
	appendResponse(&b, p.core.codec, opaque, resp)
	cost.answer.fit(b.size)
	p.mu.Lock()
	if p.reason == 0 {
		p.out.join(&b)
		p.flushSoon()
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	b.release()
	p.forget(cost)
}

// appendResponse adds resp to b, or an answer that says why it cannot be sent.
func appendResponse(b *batch, codec protocol.Codec, opaque int32, resp *Response) {
	cmd := protocol.Command{
		Code: int32(resp.Code), Language: protocol.LanguageGo, Version: protocol.CurrentVersion,
		Opaque: opaque, Flag: protocol.FlagResponse,
		Remark: resp.Remark, HasRemark: resp.HasRemark || resp.Remark != "",
		Codec: codec,
	}
	if resp.Header != nil {
		cmd.Ext = resp.Header.AppendExt(nil)
	}
	err := b.append(&cmd, resp.Body)
	if err == nil {
		return
	}
	// The answer does not make a frame: it is too large, or a field is.
	cmd.Code, cmd.Ext = int32(protocol.RespSystemError), nil
	cmd.Remark, cmd.HasRemark = remarkOf(fmt.Errorf("the answer cannot be sent: %w", err)), true
	if err := b.append(&cmd, nil); err != nil {
		panic(err) // a short remark always makes a frame
	}
}

// call runs hooks and handler of a request and returns the answer, nil for none. It does not panic.
func (c *core) call(ctx context.Context, p *Peer, entry *Entry, cmd *protocol.Command) *Response {
	resp, err := c.handle(ctx, p, entry, cmd)
	if err != nil {
		resp = c.errorResponse(err)
	}
	if len(c.hooks) > 0 {
		if err := c.after(ctx, p, cmd, resp); err != nil {
			resp = c.errorResponse(err)
		}
	}
	return resp
}

// handle runs the hooks' Before and the handler.
func (c *core) handle(ctx context.Context, p *Peer, entry *Entry, cmd *protocol.Command) (resp *Response, err error) {
	defer c.recover(p, cmd, &err)
	for _, h := range c.hooks {
		if err := h.Before(ctx, p, cmd); err != nil {
			return nil, err
		}
	}
	return entry.Handler(ctx, p, cmd)
}

// after runs the hooks' After.
func (c *core) after(ctx context.Context, p *Peer, cmd *protocol.Command, resp *Response) (err error) {
	defer c.recover(p, cmd, &err)
	for _, h := range c.hooks {
		h.After(ctx, p, cmd, resp)
	}
	return nil
}

// recover turns a panic of a handler or hook into an error and logs its stack. It is a fault of ours, whatever
// the peer sent; the peer is told no more than what the panic says.
func (c *core) recover(p *Peer, cmd *protocol.Command, err *error) {
	v := recover()
	if v == nil {
		return
	}
	*err = &Error{Code: protocol.RespSystemError, Remark: remarkOf(fmt.Errorf("internal error: %v", v))}
	c.log.Error().Str("remoteAddr", p.remote).Int32("code", cmd.Code).Interface("panic", fmt.Sprint(v)).
		Bytes("stack", debug.Stack()).Msg("handler panicked")
}

// errorResponse is the one place where errors become answers.
func (c *core) errorResponse(err error) *Response {
	if e, ok := errors.AsType[*Error](err); ok {
		return refuse(e.Code, e.Remark)
	}
	code := protocol.RespSystemError
	if _, ok := errors.AsType[*protocol.FieldError](err); !ok {
		for _, row := range c.errors {
			if errors.Is(err, row.Err) {
				code = row.Code
				break
			}
		}
	}
	return refuse(code, remarkOf(err))
}

// remarkOf returns err's text as a remark.
func remarkOf(err error) string {
	s := strings.ToValidUTF8(err.Error(), "\uFFFD")
	if len(s) > maxRemark {
		s = strings.ToValidUTF8(s[:maxRemark], "")
	}
	return s
}

// logLimit lets a few log lines a second through, for events that any peer can cause at will.
// Safe for concurrent use.
type logLimit struct {
	mu      sync.Mutex
	second  int64 // guarded by mu
	lines   int   // in that second; guarded by mu
	dropped int   // since the last line; guarded by mu
}

const linesPerSecond = 20

// allow reports whether a line may be written, and how many were not since the last one.
func (l *logLimit) allow(now int64) (dropped int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := now / int64(time.Second); s != l.second {
		l.second, l.lines = s, 0
	}
	if l.lines++; l.lines > linesPerSecond {
		l.dropped++
		return 0, false
	}
	dropped, l.dropped = l.dropped, 0
	return dropped, true
}

// warn writes a line about something that the peer at remote has caused, or leaves it out if there are too many.
func (c *core) warn(msg, remote string, err error) { c.warnAt("remoteAddr", remote, msg, err) }

// warnAt is warn for an address of any kind, which the line has under key.
func (c *core) warnAt(key, addr, msg string, err error) {
	dropped, ok := c.warnings.allow(c.now())
	if !ok {
		return
	}
	e := c.log.Warn().Str(key, addr).AnErr("reason", err)
	if dropped > 0 {
		e = e.Int("leftOut", dropped)
	}
	e.Msg(msg)
}

// run serves a connection past its handshake, tells l about it, and returns once it has ended.
func (c *core) run(p *Peer, l Listener) {
	if l != nil {
		l.Connected(p)
	}
	p.serve()
	reason, err := p.closed()
	switch reason {
	case CloseProtocol:
		c.warn("connection closed: bad frame", p.remote, err)
	case CloseStalled:
		c.warn("connection closed: peer stalled", p.remote, err)
	default:
		c.log.Debug().Str("remoteAddr", p.remote).Stringer("reason", reason).AnErr("error", err).Msg("connection closed")
	}
	if l != nil {
		l.Closed(p, reason)
	}
}

// sweepEvery returns how often to look for idle connections.
func sweepEvery(idle time.Duration) time.Duration {
	if idle <= 0 {
		return time.Second
	}
	return min(max(idle/8, 10*time.Millisecond), time.Second)
}

// sweep looks for idle and stalled connections now and then until ctx ends.
func (c *core) sweep(ctx context.Context, idle func() time.Duration, peers func() []*Peer) {
	timer := time.NewTimer(sweepEvery(idle()))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		c.tick()
		d := idle()
		if d > 0 {
			for _, p := range peers() {
				p.sweep(d)
			}
		}
		now := time.Now()
		c.large.trim(now)
		for _, p := range c.large.sweep(now) {
			p.close(CloseStalled, errFrameStalled)
		}
		for _, p := range c.answers.sweep(now) {
			p.close(CloseStalled, errAnswerStalled)
		}
		timer.Reset(sweepEvery(d))
	}
}

var (
	errFrameStalled  = errors.New("its large frame held up others: not completed in time, or answers not taken before it")
	errAnswerStalled = errors.New("its large answer held up others: not taken in time")
)
