package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// header is what these checks need of a JSON header.
type header struct {
	Code      int               `json:"code"`
	ExtFields map[string]string `json:"extFields,omitempty"`
	Flag      int               `json:"flag"`
	Language  string            `json:"language"`
	Opaque    int               `json:"opaque"`
	Remark    string            `json:"remark,omitempty"`
	Version   int               `json:"version"`
}

func writeFrame(w io.Writer, head, body []byte) error {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(head)+len(body)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(head)))
	_, err := w.Write(append(append(b, head...), body...))
	return err
}

// readFrame returns the codec, header and body of a frame.
func readFrame(r io.Reader) (codec byte, head, body []byte, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return 0, nil, nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < 4 || n > 64<<20 {
		return 0, nil, nil, fmt.Errorf("frame of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return 0, nil, nil, err
	}
	word := binary.BigEndian.Uint32(b)
	h := int(word & 0xffffff)
	if 4+h > len(b) {
		return 0, nil, nil, errors.New("header beyond the frame")
	}
	return byte(word >> 24), b[4 : 4+h], b[4+h:], nil
}

// caller is a connection that requests are sent on, one after the other.
type caller struct {
	conn   net.Conn
	opaque int
}

func dial(addr string) (*caller, error) {
	conn, err := net.DialTimeout("tcp", addr, 2*time.Second)
	if err != nil {
		return nil, err
	}
	return &caller{conn: conn}, nil
}

func (c *caller) close() { c.conn.Close() }

// call sends a request and returns the answer. After an error the connection is of no more use.
func (c *caller) call(code, version int, ext map[string]string, body []byte) (header, []byte, error) {
	c.opaque++
	_ = c.conn.SetDeadline(time.Now().Add(10 * time.Second))
	head, err := json.Marshal(header{Code: code, ExtFields: ext, Language: "JAVA", Opaque: c.opaque, Version: version})
	if err != nil {
		return header{}, nil, err
	}
	if err := writeFrame(c.conn, head, body); err != nil {
		return header{}, nil, err
	}
	for {
		codec, head, body, err := readFrame(c.conn)
		if err != nil {
			return header{}, nil, err
		}
		if codec != 0 {
			return header{}, nil, fmt.Errorf("answer in codec %d", codec)
		}
		var h header
		if err := json.Unmarshal(head, &h); err != nil {
			return header{}, nil, err
		}
		if h.Flag&1 != 0 && h.Opaque == c.opaque { // else a request of the server
			return h, body, nil
		}
	}
}

// must is a call that succeeds, with the newest version.
func (c *caller) must(code int, ext map[string]string, body []byte) ([]byte, error) {
	h, answer, err := c.call(code, 513, ext, body)
	if err == nil && h.Code != 0 {
		err = fmt.Errorf("code %d is answered %d %s", code, h.Code, h.Remark)
	}
	return answer, err
}

// ask sends one request on a connection of its own and returns the answer.
func ask(addr string, code, version int, ext map[string]string) (header, string, error) {
	c, err := dial(addr)
	if err != nil {
		return header{}, "", err
	}
	defer c.close()
	h, body, err := c.call(code, version, ext, nil)
	return h, string(body), err
}

var bareKey = regexp.MustCompile(`([{,]\s*)(-?\d+):`)

// quoteKeys makes the bare numeric names of a body or file, which Java writes, strings.
func quoteKeys(body []byte) []byte { return bareKey.ReplaceAll(body, []byte(`$1"$2":`)) }

// byValue brings a body into an order of its own: Java's is that of hash tables. Bare numeric names count as quoted.
func byValue(body string) (string, error) {
	if body == "" {
		return "", nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(quoteKeys([]byte(body))))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	return sorted(v), nil
}

func sorted(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for k, x := range v {
			parts = append(parts, fmt.Sprintf("%q:%s", k, sorted(x)))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, sorted(x))
		}
		slices.Sort(parts)
		return "[" + strings.Join(parts, ",") + "]"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// relay passes connections on to a server and notes what is asked and answered on them.
type relay struct {
	addr  string
	bytes atomic.Int64 // passed on to the server

	mu    sync.Mutex
	calls []call // in the order of their answers; guarded by mu
}

// call is a request that was answered, or that is not to be.
type call struct {
	asked, answered time.Time
	code, result    int
	version         int // of who asks
	size            int // of the request's body, in bytes
}

func newRelay(to string) *relay {
	r, err := newRelayAt("127.0.0.1:0", to)
	if err != nil {
		panic(err) // no port left on the loopback address
	}
	return r
}

// newRelayAt is newRelay at an address.
func newRelayAt(addr, to string) (*relay, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	r := &relay{addr: l.Addr().String()}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				from.Close()
				continue
			}
			var asked sync.Map // opaque, then call
			go r.pass(server, from, &r.bytes, func(h header, size int) {
				c := call{asked: time.Now(), code: h.Code, version: h.Version, size: size}
				if h.Flag&2 == 0 {
					asked.Store(h.Opaque, c)
					return
				}
				c.answered = c.asked // one-way: that will do
				r.mu.Lock()
				defer r.mu.Unlock()
				r.calls = append(r.calls, c)
			})
			go r.pass(from, server, nil, func(h header, _ int) {
				c, ok := asked.LoadAndDelete(h.Opaque)
				if !ok {
					return
				}
				done := c.(call)
				done.answered, done.result = time.Now(), h.Code
				r.mu.Lock()
				defer r.mu.Unlock()
				r.calls = append(r.calls, done)
			})
		}
	}()
	return r, nil
}

// pass copies one direction, counts its bytes, and shows every header with the size of the body.
func (r *relay) pass(dst, src net.Conn, count *atomic.Int64, show func(header, int)) {
	defer dst.Close()
	pr, pw := io.Pipe()
	go func() {
		for in := bufio.NewReader(pr); ; {
			codec, head, body, err := readFrame(in)
			if err != nil {
				_, _ = io.Copy(io.Discard, in) // noting ends, passing on does not
				return
			}
			if count != nil {
				count.Add(int64(8 + len(head) + len(body)))
			}
			var h header
			if codec == 0 && json.Unmarshal(head, &h) == nil {
				show(h, len(body))
			}
		}
	}()
	_, _ = io.Copy(dst, io.TeeReader(src, pw))
	pw.Close()
}

// answered returns the calls since begin, of one of the codes if any are given.
func (r *relay) answered(begin time.Time, codes ...int) []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []call
	for _, c := range r.calls {
		if c.asked.After(begin) && (len(codes) == 0 || slices.Contains(codes, c.code)) {
			found = append(found, c)
		}
	}
	return found
}

// succeeded counts the calls of a code that were answered with success.
func (r *relay) succeeded(code int) int {
	n := 0
	for _, c := range r.answered(time.Time{}, code) {
		if c.result == 0 {
			n++
		}
	}
	return n
}

// failed counts registrations and heartbeats that were not answered with success.
func (r *relay) failed() int {
	n := 0
	for _, c := range r.answered(time.Time{}, 103, 322, 904) {
		if c.result != 0 {
			n++
		}
	}
	return n
}
