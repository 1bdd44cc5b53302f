package main

import (
	"bufio"
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

// ask sends one request on a connection of its own and returns the answer.
func ask(addr string, code, version int, ext map[string]string) (header, string, error) {
	c, err := net.DialTimeout("tcp", addr, 2*time.Second)
	if err != nil {
		return header{}, "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	head, err := json.Marshal(header{Code: code, ExtFields: ext, Language: "JAVA", Opaque: 1, Version: version})
	if err != nil {
		return header{}, "", err
	}
	if err := writeFrame(c, head, nil); err != nil {
		return header{}, "", err
	}
	codec, head, body, err := readFrame(c)
	if err != nil {
		return header{}, "", err
	}
	var h header
	if codec != 0 {
		return h, "", fmt.Errorf("answer in codec %d", codec)
	}
	return h, string(body), json.Unmarshal(head, &h)
}

var bareKey = regexp.MustCompile(`([{,])(-?\d+):`)

// byValue brings a body into an order of its own: Java's is that of hash tables. Bare numeric names count as quoted.
func byValue(body string) (string, error) {
	if body == "" {
		return "", nil
	}
	var v any
	d := json.NewDecoder(strings.NewReader(bareKey.ReplaceAllString(body, `$1"$2":`)))
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

// relay passes a broker's connections on to a NameServer and counts what is asked and answered on them.
type relay struct {
	addr string

	mu      sync.Mutex
	ok, bad map[int]int // by request code: answered with success, and otherwise; guarded by mu
}

func newRelay(to string) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // no port left on the loopback address
	}
	r := &relay{addr: l.Addr().String(), ok: map[int]int{}, bad: map[int]int{}}
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
			var asked sync.Map // opaque, then code
			go r.pass(server, from, func(h header) { asked.Store(h.Opaque, h.Code) })
			go r.pass(from, server, func(h header) {
				code, ok := asked.LoadAndDelete(h.Opaque)
				if !ok {
					return
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				if h.Code == 0 {
					r.ok[code.(int)]++
				} else {
					r.bad[code.(int)]++
				}
			})
		}
	}()
	return r
}

// pass copies one direction and shows every header.
func (r *relay) pass(dst, src net.Conn, show func(header)) {
	defer dst.Close()
	pr, pw := io.Pipe()
	go func() {
		for in := bufio.NewReader(pr); ; {
			codec, head, _, err := readFrame(in)
			if err != nil {
				_, _ = io.Copy(io.Discard, in) // counting ends, passing on does not
				return
			}
			var h header
			if codec == 0 && json.Unmarshal(head, &h) == nil {
				show(h)
			}
		}
	}()
	_, _ = io.Copy(dst, io.TeeReader(src, pw))
	pw.Close()
}

func (r *relay) succeeded(code int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ok[code]
}

// failed counts registrations and heartbeats that were not answered with success.
func (r *relay) failed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bad[103] + r.bad[322] + r.bad[904]
}
