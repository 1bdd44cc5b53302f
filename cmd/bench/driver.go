package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/protocol"
)

// opaqueBase is the first opaque of a connection. All opaques of a run then have ten digits, so that a request
// can be made once and have its opaque overwritten in place.
const opaqueBase = 1_000_000_000

// frameSource makes the requests of one connection. It is used by one goroutine.
type frameSource interface {
	// appendFrame appends the next request, carrying opaque, to dst.
	appendFrame(dst []byte, opaque int32) []byte
}

// Load says how the connections of a run are driven.
type Load struct {
	Addr        string        // host:port of the server
	Connections int           // connections, each driven by a goroutine of its own
	Depth       int           // requests in flight per connection
	Duration    time.Duration // measured time, after WarmUp
	WarmUp      time.Duration // driven but not measured
	Rate        float64       // requests per second over all connections; 0 is as fast as answers come
	Count       int           // requests per connection, instead of Duration, if > 0
	Progress    func(Progress)
	// Hold, if set, is called with the result before the connections are closed: a NameServer forgets the brokers of
	// a closed connection.
	Hold func(*Report)
}

// Progress is the state of a run while it goes on.
type Progress struct {
	Elapsed time.Duration // since the start, warm-up included
	WarmUp  bool
	Answers int64   // since the start
	Errors  int64   // since the start
	PerSec  float64 // answers per second since the last call
}

const (
	dialTimeout  = 5 * time.Second
	drainTimeout = 10 * time.Second // for answers that are due when the time is up
	maxAnswer    = 64 << 20         // bytes; a larger frame is no answer
)

func (l Load) check() error {
	switch {
	case l.Addr == "":
		return errors.New("an address (host:port) is needed")
	case l.Connections < 1:
		return fmt.Errorf("connections: %d is below 1", l.Connections)
	case l.Depth < 1 || l.Depth > 1<<16:
		return fmt.Errorf("depth: %d is not in 1..65536", l.Depth)
	case l.Duration <= 0 && l.Count <= 0:
		return errors.New("a duration or a count is needed")
	case l.Rate < 0:
		return fmt.Errorf("rate: %g is negative", l.Rate)
	}
	return nil
}

// counters are shared by the drivers of a run and read by its progress line.
type counters struct {
	answers, errors atomic.Int64
	measureFrom     atomic.Int64 // nanoseconds since start; answers before it are not recorded
}

// drive runs one driver per source until the load is done or ctx ends, and returns their merged result.
func drive(ctx context.Context, l Load, sources []frameSource) (*Report, error) {
	start := time.Now()
	shared := &counters{}
	shared.measureFrom.Store(int64(l.WarmUp))
	if l.Count > 0 {
		l.WarmUp = 0
		shared.measureFrom.Store(0)
	}

	progressCtx, stopProgress := context.WithCancel(ctx)
	var progress sync.WaitGroup
	if l.Progress != nil {
		progress.Go(func() { reportProgress(progressCtx, l, start, shared) })
	}

	drivers := make([]*driver, len(sources))
	var g errgroup.Group
	for i, src := range sources {
		d := newDriver(l, i, src, start, shared)
		drivers[i] = d
		g.Go(func() error { return d.run(ctx) })
	}
	err := g.Wait()
	stopProgress()
	progress.Wait()
	defer func() {
		for _, d := range drivers {
			if d.conn != nil {
				d.conn.Close()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	r := &Report{Addr: l.Addr, Connections: l.Connections, Depth: l.Depth, Rate: l.Rate, hist: newHistogram(), Codes: map[int32]int64{}}
	for _, d := range drivers {
		r.add(d)
	}
	r.finish()
	if l.Hold != nil {
		l.Hold(r)
	}
	return r, nil
}

func reportProgress(ctx context.Context, l Load, start time.Time, c *counters) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var last int64
	lastAt := start
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			n := c.answers.Load()
			l.Progress(Progress{
				Elapsed: now.Sub(start), WarmUp: now.Sub(start) < l.WarmUp, Answers: n, Errors: c.errors.Load(),
				PerSec: float64(n-last) / now.Sub(lastAt).Seconds(),
			})
			last, lastAt = n, now
		}
	}
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(100, int64(time.Minute), 2) // nanoseconds, within one percent; 25 KB
}

// driver keeps one connection busy. All fields belong to its goroutine.
type driver struct {
	load   Load
	index  int
	src    frameSource
	start  time.Time
	shared *counters

	conn     net.Conn
	in       []byte  // unread bytes are in[r:w]
	r, w     int     //
	out      []byte  // the batch being written
	sent     []int64 // send time by opaque, a ring of a power of two; nanoseconds since start, 0 = not in flight
	next     int32   // next opaque
	inFlight int
	done     int // answers on this connection, for Load.Count

	hist                   *hdrhistogram.Histogram
	codes                  map[int32]int64 // answers by response code, measured part
	bytesIn, bytesOut      int64           // measured part
	answers, sentRequests  int64           // measured part
	failures               int64           // connections lost, answers that never came
	firstError             error
	measuredFrom, lastDone int64 // nanoseconds since start
}

func newDriver(l Load, index int, src frameSource, start time.Time, shared *counters) *driver {
	ring := 2
	for ring < 2*l.Depth {
		ring *= 2
	}
	return &driver{
		load: l, index: index, src: src, start: start, shared: shared,
		in: make([]byte, 4<<10), sent: make([]int64, ring), next: opaqueBase,
		hist: newHistogram(), codes: map[int32]int64{},
	}
}

func (d *driver) now() int64 { return int64(time.Since(d.start)) }

// stopAt is the moment at which no further request is sent; nanoseconds since start.
func (d *driver) stopAt() int64 {
	if d.load.Count > 0 {
		return 1<<63 - 1
	}
	return int64(d.load.WarmUp + d.load.Duration)
}

// run drives the connection to the end of the load. A lost connection counts as a failure and is opened again;
// only a server that can't be reached at the very start is an error.
func (d *driver) run(ctx context.Context) error {
	connected := false
	for ctx.Err() == nil && d.now() < d.stopAt() && !d.countReached() {
		err := d.connect(ctx)
		if err == nil {
			connected = true
			stop := context.AfterFunc(ctx, func() { d.conn.Close() })
			err = d.exchange(ctx)
			stop()
			if err != nil {
				d.conn.Close()
			}
		}
		if err == nil || ctx.Err() != nil {
			break
		}
		if !connected {
			return err
		}
		d.fail(err)
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	if d.lastDone == 0 || d.load.Count == 0 {
		d.lastDone = min(d.now(), max(d.stopAt(), d.lastDone))
	}
	return nil
}

func (d *driver) countReached() bool { return d.load.Count > 0 && d.done >= d.load.Count }

func (d *driver) connect(ctx context.Context) error {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", d.load.Addr)
	if err != nil {
		return err
	}
	d.conn, d.r, d.w, d.inFlight = conn, 0, 0, 0
	clear(d.sent)
	return nil
}

func (d *driver) fail(err error) {
	lost := max(int64(d.inFlight), 1)
	d.failures += lost
	d.shared.errors.Add(lost)
	if d.firstError == nil {
		d.firstError = err
	}
}

// exchange sends and reads until the load is done: nil, or the connection fails.
func (d *driver) exchange(ctx context.Context) error {
	var pace pacer
	if d.load.Rate > 0 {
		pace = newPacer(d.load, d.index, d.now())
	}
	for {
		if d.load.Rate > 0 && !pace.wait(ctx, d) {
			return nil
		}
		if err := d.send(d.load.Depth-d.inFlight, pace.due); err != nil {
			return err
		}
		if d.inFlight == 0 {
			return nil
		}
		for {
			if d.now() > d.stopAt() {
				if err := d.conn.SetReadDeadline(time.Now().Add(drainTimeout)); err != nil {
					return err
				}
			}
			if err := d.receive(); err != nil {
				return err
			}
			if d.load.Rate == 0 || d.inFlight == 0 {
				break
			}
		}
	}
}

// send writes up to n requests as one batch, none once the load is done. due is the moment at which they should
// have been sent, 0 for now.
func (d *driver) send(n int, due int64) error {
	now := d.now()
	if now >= d.stopAt() {
		return nil
	}
	if d.load.Count > 0 {
		n = min(n, d.load.Count-d.done-d.inFlight)
	}
	if n <= 0 {
		return nil
	}
	d.out = d.out[:0]
	stamp := now
	if due > 0 && due < now {
		stamp = due
	}
	for range n {
		d.out = d.src.appendFrame(d.out, d.next)
		d.sent[int(d.next)&(len(d.sent)-1)] = max(stamp, 1)
		if d.next++; d.next < opaqueBase {
			d.next = opaqueBase
		}
	}
	d.inFlight += n
	if now >= d.shared.measureFrom.Load() {
		d.sentRequests += int64(n)
		d.bytesOut += int64(len(d.out))
	}
	_, err := d.conn.Write(d.out)
	return err
}

// receive reads once and takes all complete answers.
func (d *driver) receive() error {
	if d.r == d.w {
		d.r, d.w = 0, 0
	}
	if d.w == len(d.in) {
		if d.r > 0 && d.r >= len(d.in)/2 {
			d.w = copy(d.in, d.in[d.r:d.w])
			d.r = 0
		} else {
			d.w = copy(d.in, d.in[d.r:d.w])
			d.r = 0
			d.in = append(d.in, make([]byte, len(d.in))...)
		}
	}
	n, err := d.conn.Read(d.in[d.w:])
	if err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("the server closed the connection")
		}
		return err
	}
	d.w += n
	now := d.now()
	for d.w-d.r >= 8 {
		total := int64(binary.BigEndian.Uint32(d.in[d.r:]))
		if total < 4 || total > maxAnswer {
			return fmt.Errorf("an answer claims %d bytes", total)
		}
		size := int(total) + 4
		if d.w-d.r < size {
			break
		}
		if err := d.answer(d.in[d.r:d.r+size], now); err != nil {
			return err
		}
		d.r += size
	}
	return nil
}

// answer takes one whole frame, read at now.
func (d *driver) answer(frame []byte, now int64) error {
	opaque, code, err := answerIdentity(frame)
	if err != nil {
		return err
	}
	slot := &d.sent[int(opaque)&(len(d.sent)-1)]
	if *slot == 0 {
		return fmt.Errorf("an answer with opaque %d that nobody waits for", opaque)
	}
	began := *slot
	*slot = 0
	d.inFlight--
	d.done++
	d.shared.answers.Add(1)
	if code != int32(protocol.RespSuccess) {
		d.shared.errors.Add(1)
	}
	// An answer counts from the moment it comes: one that was due during the warm-up and comes after it is late.
	from := d.shared.measureFrom.Load()
	if now < from {
		return nil
	}
	if d.measuredFrom == 0 {
		d.measuredFrom = max(began, from)
	}
	d.lastDone = now
	d.answers++
	d.codes[code]++
	d.bytesIn += int64(len(frame))
	return d.hist.RecordValue(min(max(now-began, 1), int64(time.Minute)))
}

// answerIdentity reads opaque and code of a whole frame with either header codec, without decoding the rest.
func answerIdentity(frame []byte) (opaque, code int32, err error) {
	word := binary.BigEndian.Uint32(frame[4:])
	hlen := int(word & 0xffffff)
	if hlen > len(frame)-8 {
		return 0, 0, fmt.Errorf("an answer claims a header of %d bytes in a frame of %d", hlen, len(frame))
	}
	head := frame[8 : 8+hlen]
	if protocol.Codec(word>>24) == protocol.CodecBinary {
		if hlen < 21 {
			return 0, 0, fmt.Errorf("a binary answer header of %d bytes", hlen)
		}
		return int32(binary.BigEndian.Uint32(head[5:])), int32(int16(binary.BigEndian.Uint16(head))), nil
	}
	var ok bool
	// Remark and extFields could hold the same text, but only with escaped quotes.
	if opaque, ok = jsonInt(head, `"opaque":`); !ok {
		return 0, 0, fmt.Errorf("an answer without opaque: %.120q", head)
	}
	if code, ok = jsonInt(head, `"code":`); !ok {
		return 0, 0, fmt.Errorf("an answer without code: %.120q", head)
	}
	return opaque, code, nil
}

func jsonInt(text []byte, name string) (int32, bool) {
	i := bytes.Index(text, []byte(name))
	if i < 0 {
		return 0, false
	}
	i += len(name)
	neg := i < len(text) && text[i] == '-'
	if neg {
		i++
	}
	var v int64
	digits := 0
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9' && digits < 11; i++ {
		v = v*10 + int64(text[i]-'0')
		digits++
	}
	if neg {
		v = -v
	}
	return int32(v), digits > 0
}

// pacer spreads the batches of all connections evenly over time.
type pacer struct {
	interval int64 // nanoseconds between two batches of this connection
	next     int64 // when the batch in hand was scheduled, nanoseconds since start
	due      int64 // from when its latency counts: next, or a little later if the timer was late
	timer    *time.Timer
}

func newPacer(l Load, index int, now int64) pacer {
	interval := int64(float64(time.Second) * float64(l.Connections*l.Depth) / l.Rate)
	return pacer{
		interval: interval,
		next:     now + interval*int64(index)/int64(l.Connections) - interval,
		timer:    time.NewTimer(time.Hour),
	}
}

// wait sleeps until the next batch is due; false if ctx ended. A batch that is late keeps the time at which it
// was due, so that a stalled server is charged for the requests it held up.
func (p *pacer) wait(ctx context.Context, d *driver) bool {
	p.next += p.interval
	p.due = p.next
	left := p.next - d.now()
	if left <= 0 {
		return true
	}
	p.timer.Reset(time.Duration(left))
	select {
	case <-ctx.Done():
		return false
	case <-p.timer.C:
		p.due = max(p.next, d.now()) // the timer's own lateness is not the server's
		return true
	}
}
