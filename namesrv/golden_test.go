package namesrv_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The golden transcripts: what a client sent to a Java NameServer and what came back, byte for byte. This file reads and plays
// them, golden_compare_test.go says what must be equal, golden_better_test.go what mq answers where Java is at fault, and
// golden_server_test.go starts the servers. testdata/README.md describes the data.

// TestGoldenTranscripts plays every transcript against a server of its own. Many wait for timers, so they run side by side.
func TestGoldenTranscripts(t *testing.T) {
	const atOnce = 24
	for _, version := range []string{"5.5.0", "lenient-reading"} {
		t.Run(version, func(t *testing.T) {
			scenarios := readTranscripts(t, filepath.Join("testdata", "golden-"+version+".jsonl.gz"))
			reports := make([][]string, len(scenarios))
			slots := make(chan struct{}, atOnce)
			var wg sync.WaitGroup
			for i, sc := range scenarios {
				if !againstOriginal() {
					sc.improve(t, version)
				}
				dir := t.TempDir()
				wg.Go(func() {
					slots <- struct{}{}
					defer func() { <-slots }()
					reports[i] = sc.play(dir)
				})
			}
			wg.Wait()
			for i, sc := range scenarios {
				t.Run(sc.Name, func(t *testing.T) {
					for _, r := range reports[i] {
						t.Error(r)
					}
				})
			}
		})
	}
}

// scenario is one transcript. It starts on an empty server.
type scenario struct {
	Name       string            `json:"scenario"`
	Properties string            `json:"properties"` // text of the properties file, but for listenPort and kvConfigPath
	Files      map[string]string `json:"files"`      // to be there at start: kvConfig, conf
	Steps      []*step           `json:"steps"`
	NoStart    []string          `json:"-"` // the server must refuse to start and its message must have these texts
}

// step is one thing done and what came of it.
type step struct {
	N         int      `json:"step"`
	Note      string   `json:"note"`
	Action    string   `json:"action"`
	Conn      string   `json:"conn"`
	Listen    string   `json:"listen"`
	File      string   `json:"file"`
	MS        int      `json:"ms"`
	Count     int      `json:"count"`
	Split     []int    `json:"split"`
	Pipelined bool     `json:"pipelined"`
	QuietMS   int      `json:"quietMs"`
	Until     *until   `json:"until"`
	Unordered bool     `json:"unordered"`
	Mask      []string `json:"mask"`
	Fault     string   `json:"javaFault"`
	Scope     []string `json:"faultScope"`
	Better    string   `json:"better"`
	Opaque    *int     `json:"opaque"` // of the request
	Request   *frame   `json:"request"`
	Outcome   string   `json:"outcome"`
	Response  *frame   `json:"response"`
	Frames    []*frame `json:"frames"`
	Content   *string  `json:"content"`

	remark []string // texts the answer's remark must have, where it need not be the recorded one
}

// until makes a step repeat its request until the answer fits.
type until struct {
	Code      *int   `json:"code"`
	BodyIs    string `json:"bodyIs"`
	BodyHas   string `json:"bodyHas"`
	BodyLacks string `json:"bodyLacks"`
	TimeoutMS int    `json:"timeoutMs"`
	Unmet     bool   `json:"unmet"`
}

// met says whether an answer fits. All conditions given must hold.
func (u *until) met(f *frame) bool {
	return (u.Code == nil || *u.Code == f.readHeader().Code) &&
		(u.BodyIs == "" || u.BodyIs == f.Body) &&
		(u.BodyHas == "" || strings.Contains(f.Body, u.BodyHas)) &&
		(u.BodyLacks == "" || !strings.Contains(f.Body, u.BodyLacks))
}

// readTranscripts reads a file of scenarios, one a line.
func readTranscripts(t *testing.T, name string) []*scenario {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	zip, err := gzip.NewReader(file)
	require.NoError(t, err)
	var all []*scenario
	for d := json.NewDecoder(zip); ; {
		sc := new(scenario)
		if err := d.Decode(sc); err == io.EOF {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, sc)
	}
}

// frame is a message. In the data it has a JSON header and a body, or is given in hex as a whole.
type frame struct {
	Header string `json:"header"`
	Body   string `json:"body"`
	Hex    string `json:"hex"`

	codec byte
	raw   []byte // length included
}

const (
	codecJSON = iota
	codecBinary
	codecNone // no frame of either codec
)

func (f *frame) UnmarshalJSON(data []byte) error {
	type plain frame
	if err := json.Unmarshal(data, (*plain)(f)); err != nil {
		return err
	}
	if f.Hex == "" {
		f.raw = jsonFrame(f.Header, f.Body)
		return nil
	}
	raw, err := hex.DecodeString(f.Hex)
	*f = *newFrame(raw)
	return err
}

func jsonFrame(header, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(header)+len(body)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(header)))
	return append(append(b, header...), body...)
}

// newFrame takes a frame apart.
func newFrame(raw []byte) *frame {
	f := &frame{raw: raw, codec: codecNone}
	if len(raw) < 8 {
		return f
	}
	word := binary.BigEndian.Uint32(raw[4:])
	if n := int(word & 0xffffff); word>>24 < codecNone && 8+n <= len(raw) {
		f.codec, f.Header, f.Body = byte(word>>24), string(raw[8:8+n]), string(raw[8+n:])
	}
	return f
}

// header is what a frame's header says, in either codec.
type header struct {
	Code, Opaque, Flag int
	Remark             string
	ExtFields          map[string]string
}

func (f *frame) readHeader() header {
	var h header
	switch f.codec {
	case codecJSON:
		_ = json.Unmarshal([]byte(f.Header), &h) // what cannot be read is compared as text
	case codecBinary:
		b := []byte(f.Header)
		num := func(size int) int {
			if len(b) < size {
				b = nil
				return 0
			}
			n := 0
			for _, x := range b[:size] {
				n = n<<8 | int(x)
			}
			b = b[size:]
			return n
		}
		text := func(size int) string {
			size = min(size, len(b))
			s := string(b[:size])
			b = b[size:]
			return s
		}
		h.Code = int(int16(num(2)))
		num(1) // language
		num(2) // version
		h.Opaque, h.Flag = int(int32(num(4))), int(int32(num(4)))
		h.Remark = text(num(4))
		for num(4); len(b) > 0; {
			if h.ExtFields == nil {
				h.ExtFields = map[string]string{}
			}
			key := text(num(2))
			h.ExtFields[key] = text(num(4))
		}
	}
	return h
}

// observed is what came of a step.
type observed struct {
	outcome string // "answer", "silence", "closed", "open" (it stayed so) or "refused" (no connection)
	frame   *frame
	frames  []*frame // notifications
	content string   // of a file
	unmet   bool     // the until condition did not come true
	stray   []*frame // frames nothing waits for
}

// player plays a scenario against one server.
type player struct {
	server    goldenServer
	conns     map[string]*wire
	listeners map[string]*wire
	toReal    [][2]string // listener addresses: as written, as opened
	pending   []*step     // pipelined steps whose answer is not in
	report    []string
}

// play starts a server, does all steps and returns what differs from the recording.
func (sc *scenario) play(dir string) (report []string) {
	server, err := startGolden(dir, sc)
	if sc.NoStart != nil {
		return refusesToStart(server, err, sc.NoStart)
	}
	if err != nil {
		return []string{"start: " + err.Error()}
	}
	p := &player{server: server, conns: map[string]*wire{}, listeners: map[string]*wire{}}
	defer func() {
		for _, w := range p.conns {
			w.close()
		}
		for _, w := range p.listeners {
			w.close()
		}
		if err := p.server.stop(); err != nil {
			report = append(report, "stop: "+err.Error())
		}
	}()
	for _, st := range sc.Steps {
		ob, err := p.step(st)
		if err != nil {
			return append(p.report, fmt.Sprintf("step %d: %v", st.N, err))
		}
		if ob != nil {
			p.judge(st, ob)
		}
	}
	return p.report
}

// step does one step. It returns nil for a pipelined one: await reports that.
func (p *player) step(st *step) (*observed, error) {
	ms := time.Duration(st.MS) * time.Millisecond
	switch st.Action {
	case "send":
		return p.send(st)
	case "close":
		p.hangUp(st.Conn, false)
	case "reset":
		p.hangUp(st.Conn, true)
	case "sleep":
		time.Sleep(ms)
	case "listen":
		return &observed{}, p.listen(st)
	case "expect":
		return &observed{frames: p.listeners[st.Conn].collect(st.Count, ms)}, nil
	case "expectClosed":
		f, closed := p.conns[st.Conn].next(ms)
		switch {
		case f != nil:
			return &observed{outcome: "open", stray: []*frame{f}}, nil
		case !closed:
			return &observed{outcome: "open"}, nil
		}
		p.hangUp(st.Conn, false)
		return &observed{outcome: "closed"}, nil
	case "restart":
		for label := range p.conns {
			p.hangUp(label, false)
		}
		return &observed{}, p.server.restart()
	case "terminate":
		p.server.terminate()
	case "file":
		b, err := os.ReadFile(p.server.file(st.File))
		if errors.Is(err, os.ErrNotExist) {
			return &observed{content: "(no file)"}, nil
		}
		return &observed{content: string(b)}, err
	default:
		return nil, fmt.Errorf("unknown action %q", st.Action)
	}
	return &observed{}, nil
}

func (p *player) hangUp(label string, reset bool) {
	if w := p.conns[label]; w != nil {
		if reset {
			_ = w.conn.(*net.TCPConn).SetLinger(0) // RST instead of FIN
		}
		w.close()
		delete(p.conns, label)
	}
}

// send sends a step's request and waits as the step wants.
func (p *player) send(st *step) (*observed, error) {
	w := p.conns[st.Conn]
	if w == nil {
		conn, err := net.Dial("tcp", p.server.addr())
		if err != nil {
			return &observed{outcome: "refused"}, nil
		}
		w = newWire()
		w.conn = conn
		w.read(conn, true)
		p.conns[st.Conn] = w
	}
	if st.Until == nil {
		if err := w.write(p.outgoing(st.Request.raw), st.Split); err != nil {
			return &observed{outcome: "closed"}, nil
		}
		if st.Pipelined {
			p.pending = append(p.pending, st)
			return nil, nil
		}
		return p.await(w, st), nil
	}
	for end := time.Now().Add(time.Duration(st.Until.TimeoutMS) * time.Millisecond); ; time.Sleep(40 * time.Millisecond) {
		if err := w.write(p.outgoing(st.Request.raw), nil); err != nil {
			return &observed{outcome: "closed", unmet: true}, nil
		}
		ob := p.await(w, st)
		if ob.outcome == "answer" && len(ob.stray) == 0 && st.Until.met(p.incoming(ob.frame)) {
			return ob, nil
		}
		if ob.outcome != "answer" || len(ob.stray) > 0 || time.Now().After(end) {
			ob.unmet = true
			return ob, nil
		}
	}
}

// await waits for the answer to a step and to the pipelined ones before it.
func (p *player) await(w *wire, st *step) *observed {
	ob := &observed{outcome: "silence"}
	quiet := 5 * time.Second
	if st.QuietMS > 0 {
		quiet = time.Duration(st.QuietMS) * time.Millisecond
	}
	for end := time.Now().Add(quiet); ob.frame == nil || len(p.pending) > 0; {
		f, closed := w.next(time.Until(end))
		if f == nil {
			if closed && ob.frame == nil {
				ob.outcome = "closed"
			}
			break
		}
		i := slices.IndexFunc(p.pending, func(st *step) bool { return st.answeredBy(f) })
		switch {
		case ob.frame == nil && st.answeredBy(f):
			ob.outcome, ob.frame = "answer", f
		case i >= 0:
			early := p.pending[i]
			p.pending = slices.Delete(p.pending, i, i+1)
			p.judge(early, &observed{outcome: "answer", frame: f})
		default:
			ob.stray = append(ob.stray, f)
		}
	}
	for _, late := range p.pending {
		p.judge(late, &observed{outcome: "silence"})
	}
	p.pending = nil
	return ob
}

func (st *step) answeredBy(f *frame) bool {
	return st.Opaque == nil || slices.Contains(st.Mask, "opaque") || f.readHeader().Opaque == *st.Opaque
}

// listen plays the broker that the server is to notify, at the written port or, where that is taken, at another of five digits.
func (p *player) listen(st *step) error {
	l, err := net.Listen("tcp", st.Listen)
	for try := 0; try < 50 && err != nil; try++ {
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err == nil && l.Addr().(*net.TCPAddr).Port < 10000 {
			l.Close()
			err = errors.New("no port of five digits")
		}
	}
	if err != nil {
		return err
	}
	w := newWire()
	w.conn = l
	w.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.read(c, false)
		}
	})
	p.listeners[st.Conn] = w
	if real := l.Addr().String(); real != st.Listen {
		p.toReal = append(p.toReal, [2]string{st.Listen, real})
	}
	return nil
}

// outgoing puts the real listener addresses into a request, incoming the written ones into what the server sent.
func (p *player) outgoing(raw []byte) []byte {
	for _, a := range p.toReal {
		raw = bytes.ReplaceAll(raw, []byte(a[0]), []byte(a[1]))
	}
	return raw
}

func (p *player) incoming(f *frame) *frame {
	raw := f.raw
	for _, a := range p.toReal {
		raw = bytes.ReplaceAll(raw, []byte(a[1]), []byte(a[0]))
	}
	return newFrame(raw)
}

// wire is a connection, or a listener and what it accepted, whose frames are read as they come.
type wire struct {
	conn io.Closer   // a net.Conn or a net.Listener
	in   chan *frame // more than any scenario receives; closed when the peer of a single connection is gone
	wg   sync.WaitGroup
	mu   sync.Mutex
	open []net.Conn // guarded by mu
}

func newWire() *wire { return &wire{in: make(chan *frame, 4096)} }

// read takes frames off a connection until it ends.
func (w *wire) read(c net.Conn, single bool) {
	w.mu.Lock()
	w.open = append(w.open, c)
	w.mu.Unlock()
	w.wg.Go(func() {
		if single {
			defer close(w.in)
		}
		for r := bufio.NewReader(c); ; {
			raw := make([]byte, 4)
			if _, err := io.ReadFull(r, raw); err != nil {
				return
			}
			n := binary.BigEndian.Uint32(raw)
			if n > 64<<20 {
				return
			}
			raw = append(raw, make([]byte, n)...)
			if _, err := io.ReadFull(r, raw[4:]); err != nil {
				return
			}
			w.in <- newFrame(raw)
		}
	})
}

// write sends data cut at the given offsets, with a pause between the parts.
func (w *wire) write(data []byte, split []int) error {
	c := w.conn.(net.Conn)
	at := 0
	for _, n := range split {
		if n <= at || n >= len(data) {
			continue
		}
		if _, err := c.Write(data[at:n]); err != nil {
			return err
		}
		time.Sleep(30 * time.Millisecond)
		at = n
	}
	_, err := c.Write(data[at:])
	return err
}

// next waits for a frame; nil and false when the time is up, nil and true when the peer is gone.
func (w *wire) next(d time.Duration) (f *frame, closed bool) {
	select {
	case f, ok := <-w.in:
		return f, !ok
	case <-time.After(d):
		return nil, false
	}
}

// collect waits for n frames, then a while longer for surplus ones.
func (w *wire) collect(n int, d time.Duration) []*frame {
	const quiet = 300 * time.Millisecond
	var out []*frame
	if n == 0 {
		d = quiet
	}
	for end := time.Now().Add(d); ; {
		f, _ := w.next(time.Until(end))
		if f == nil {
			return out
		}
		if out = append(out, f); len(out) == n {
			end = time.Now().Add(quiet)
		}
	}
}

func (w *wire) close() {
	w.conn.Close()
	w.mu.Lock()
	for _, c := range w.open {
		c.Close()
	}
	w.mu.Unlock()
	w.wg.Wait()
}
