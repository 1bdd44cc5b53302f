package remoting

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// The tests of this file send a real Server what no client should send, and look at three things: the connection
// ends as it should, a well-behaved client is served correctly all the while, and neither memory nor the log grow
// out of proportion.

// victim is the server under attack.
type victim struct {
	*Server
	addr     string
	log      *syncBuffer
	executed atomic.Int64 // requests of code 100 that were handled
}

// listAnswer is the body of code 206, large beside its request.
var listAnswer = bytes.Repeat([]byte{'t'}, 62_000)

// startVictim runs a server with these handlers: 105 gives "route of <topic>" on the connection's goroutine, 100 has
// a side effect, 103 tells the length of its body from an executor, 206 gives a large answer.
func startVictim(t testing.TB, change func(*ServerConfig)) *victim {
	v := &victim{log: new(syncBuffer)}
	executor := NewExecutor("test", 2, 1000)
	cfg := ServerConfig{
		Log: zerolog.New(v.log).Level(zerolog.InfoLevel),
		Table: Table{
			protocol.ReqGetRouteInfoByTopic: Handle(func(_ context.Context, req *Request[topicHeader]) (*Response, error) {
				return Body([]byte("route of " + req.Header.Topic)), nil
			}),
			protocol.ReqPutKVConfig: Entry{Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) {
				v.executed.Add(1)
				return Success(), nil
			}},
			protocol.ReqRegisterBroker: Entry{Handler: func(_ context.Context, _ *Peer, cmd *protocol.Command) (*Response, error) {
				return Body([]byte(strconv.Itoa(len(cmd.Body)))), nil
			}}.On(executor),
			protocol.ReqGetAllTopicListFromNameServer: Entry{Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) {
				return Body(listAnswer), nil
			}},
		},
	}
	if change != nil {
		change(&cfg)
	}
	v.Server = startServer(t, cfg)
	v.addr = v.Addr().String()
	return v
}

// closeAll closes all connections.
func (v *victim) closeAll() {
	for _, p := range v.snapshot() {
		p.Close()
	}
}

// logLines returns the log's lines so far.
func (v *victim) logLines() []string {
	text := strings.TrimSuffix(v.log.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// requireQuietLog checks that events misdeeds cost at most a line each, none of them long, none of a higher level
// than a warning.
func (v *victim) requireQuietLog(t testing.TB, events int) {
	t.Helper()
	lines := v.logLines()
	require.LessOrEqual(t, len(lines), events)
	for _, line := range lines {
		require.Less(t, len(line), 400, line)
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &fields), line)
		require.Equal(t, "warn", fields["level"], line)
		require.Contains(t, fields, "remoteAddr", line)
	}
}

// frame builds a request as a frame.
func frame(t testing.TB, code protocol.RequestCode, opaque int32, topic string, body []byte) []byte {
	b, err := protocol.AppendFrame(nil, &protocol.Command{
		Code: int32(code), Version: protocol.CurrentVersion, Opaque: opaque,
		Ext: protocol.Ext{{Key: "topic", Value: topic}}, Body: body,
	})
	require.NoError(t, err)
	return b
}

// rawFrame builds a frame of a length prefix, a header word and whatever bytes are to follow.
func rawFrame(total, word uint32, rest string) []byte {
	b := binary.BigEndian.AppendUint32(nil, total)
	b = binary.BigEndian.AppendUint32(b, word)
	return append(b, rest...)
}

// readCommand reads one frame.
func readCommand(r io.Reader) (*protocol.Command, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	n, err := protocol.FrameLength(prefix[:], protocol.MaxFrame)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	cmd, err := protocol.DecodeCommand(b)
	return &cmd, err
}

// askRoute asks for a topic's route and checks the answer.
func askRoute(t testing.TB, c net.Conn, opaque int32, topic string) error {
	if _, err := c.Write(frame(t, protocol.ReqGetRouteInfoByTopic, opaque, topic, nil)); err != nil {
		return err
	}
	got, err := readCommand(c)
	if err != nil {
		return err
	}
	return checkRoute(got, opaque, topic)
}

func checkRoute(got *protocol.Command, opaque int32, topic string) error {
	if !got.IsResponse() || got.Code != 0 || got.Opaque != opaque || string(got.Body) != "route of "+topic {
		return fmt.Errorf("asked for %q with opaque %d, got %+v", topic, opaque, got)
	}
	return nil
}

// witness is a well-behaved client that asks on and on while others misbehave.
type witness struct {
	stop    chan struct{}
	done    chan error
	answers int           // read after done
	slowest time.Duration // read after done
}

func startWitness(t testing.TB, addr string) *witness {
	w := &witness{stop: make(chan struct{}), done: make(chan error, 1)}
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	require.NoError(t, c.SetDeadline(time.Now().Add(testDeadline)))
	require.NoError(t, askRoute(t, c, 1, "first")) // whoever counts goroutines from now on counts this connection's
	go func() {
		defer c.Close()
		for n := int32(2); ; n++ {
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			start := time.Now()
			if err := askRoute(t, c, n, fmt.Sprintf("topic-%d", n)); err != nil {
				w.done <- fmt.Errorf("request %d of the witness: %w", n, err)
				return
			}
			w.slowest = max(w.slowest, time.Since(start))
			w.answers++
			select {
			case <-w.stop:
				w.done <- nil
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return w
}

// served ends the witness and checks that it was served without a fault and without a long wait. Also
// a newcomer must be served. The bound is loose: the machine may be busy with other things.
func (w *witness) served(t testing.TB, addr string) {
	t.Helper()
	close(w.stop)
	require.NoError(t, <-w.done)
	require.Positive(t, w.answers)
	require.Less(t, w.slowest, 2*time.Second, "slowest of %d answers", w.answers)
	require.NoError(t, askRoute(t, dial(t, addr), 77, "newcomer"))
}

// requireClosed checks that the server closes c within a second without having sent anything. A reset counts:
// it is what a close with unread bytes looks like.
func requireClosed(t testing.TB, c net.Conn, what string) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Second)))
	n, err := c.Read(make([]byte, 1))
	require.Zero(t, n, "%s was answered", what)
	require.Error(t, err, what)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "%s did not end the connection", what)
}

// residentBytes is the process's resident memory; elsewhere than on Linux, what Go took from the system.
func residentBytes(t testing.TB) int64 {
	debug.FreeOSMemory()
	if data, err := os.ReadFile("/proc/self/statm"); err == nil {
		pages, err := strconv.ParseInt(strings.Fields(string(data))[1], 10, 64)
		require.NoError(t, err)
		return pages * int64(os.Getpagesize())
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// requireFlat checks that resident memory has not grown by more than limit since before. The race detector keeps books
// of its own about all memory.
func requireFlat(t testing.TB, before, limit int64) {
	t.Helper()
	requirePeak(t, residentBytes(t)-before, limit)
}

func requirePeak(t testing.TB, grown, limit int64) {
	t.Helper()
	if raceEnabled {
		limit *= 3
	}
	require.Less(t, grown, limit, "growth of resident memory")
}

// requireGoroutines polls until the number of goroutines is back at most at before.
func requireGoroutines(t testing.TB, before int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

const mib = 1 << 20

// N1: a header length larger than its frame. The frame is refused, only its connection is closed, and nothing is
// allocated in proportion to what was claimed.
func TestN1HeaderLengthBeyondFrame(t *testing.T) {
	v := startVictim(t, nil)
	w := startWitness(t, v.addr)
	attacks := [][]byte{
		rawFrame(20, 0x00FFFFFF, strings.Repeat("x", 16)),
		rawFrame(20, 20-3, strings.Repeat("x", 16)),
		rawFrame(20, 0x01FFFFFF, strings.Repeat("x", 16)),
	}
	goroutines := runtime.NumGoroutine()
	before := residentBytes(t)
	var allocated, after runtime.MemStats
	runtime.ReadMemStats(&allocated)
	const rounds = 1000
	for n := range rounds {
		c := dial(t, v.addr)
		_, err := c.Write(attacks[n%len(attacks)])
		require.NoError(t, err)
		requireClosed(t, c, "header beyond the frame")
		c.Close()
	}
	runtime.ReadMemStats(&after)
	// The witness's garbage is in it, too.
	require.Less(t, (after.TotalAlloc-allocated.TotalAlloc)/rounds, uint64(256<<10), "bytes allocated per attack")
	requireFlat(t, before, 30*mib)
	requireGoroutines(t, goroutines)
	w.served(t, v.addr)
	v.requireQuietLog(t, rounds)
	require.Contains(t, v.log.String(), protocol.ErrFrameHeaderSize.Error())
}

// jsonFrame builds a frame of a JSON header.
func jsonFrame(header string) []byte {
	return rawFrame(uint32(4+len(header)), uint32(len(header)), header)
}

// oddFrames are frames that no reading of the protocol makes sense of: each ends its connection (spec/remoting.md §1.2).
var oddFrames = []struct {
	name string
	data []byte
}{
	{"length 0", []byte{0, 0, 0, 0}},
	{"length 1", []byte{0, 0, 0, 1, 0}},
	{"length 2", []byte{0, 0, 0, 2, 0, 0}},
	{"length 3", []byte{0, 0, 0, 3, 0, 0, 0}},
	{"length -1", []byte{0xff, 0xff, 0xff, 0xff}},
	{"length -2^31", []byte{0x80, 0, 0, 0}},
	{"length 2^31-1", []byte{0x7f, 0xff, 0xff, 0xff}},
	{"length 2^24", []byte{1, 0, 0, 0}},
	{"length one above the limit", []byte{0, 0xff, 0xff, 0xfd}},
	{"encoding 2", rawFrame(8, 2<<24|4, "null")},
	{"encoding 0x7F", rawFrame(8, 0x7f<<24|4, "null")},
	{"encoding 0xFF", rawFrame(8, 0xff<<24|4, "null")},
	{"encoding 2 and nothing else", rawFrame(4, 2<<24, "")},
	{"no header at all", rawFrame(4, 0, "")},
	{"body without header", rawFrame(9, 0, "hello")},
	{"header one byte beyond the frame", rawFrame(6, 3, "{}")},
	{"JSON null", jsonFrame("null")},
	{"JSON array", jsonFrame("[]")},
	{"JSON open object", jsonFrame("{")},
	{"JSON string", jsonFrame(`"x"`)},
	{"JSON number", jsonFrame("7")},
	{"JSON blanks", jsonFrame(" \t ")},
	{"JSON zero bytes", jsonFrame("\x00\x00\x00")},
	{"JSON and more", jsonFrame(`{"code":105,"opaque":1}x`)},
	{"JSON bad UTF-8", jsonFrame("{\"code\":105,\"remark\":\"\xff\xfe\"}")},
	{"JSON opaque out of range", jsonFrame(`{"code":105,"opaque":2147483648}`)},
	{"JSON deep objects", jsonFrame(strings.Repeat(`{"a":`, 4000))},
	{"JSON deep arrays", jsonFrame(`{"extFields":` + strings.Repeat("[", 20_000))},
	{"binary, empty header", rawFrame(4, 1<<24, "")},
	{"binary, 20 bytes", rawFrame(24, 1<<24|20, strings.Repeat("\x00", 20))},
	{"binary, remark beyond header", rawFrame(25, 1<<24|21, "\x00\x69\x00\x01\xdf\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00")},
	{"binary, remark of -1 bytes", rawFrame(25, 1<<24|21, "\x00\x69\x00\x01\xdf\x00\x00\x00\x01\x00\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00")},
	{"binary, remark of 2^31-1 bytes", rawFrame(25, 1<<24|21, "\x00\x69\x00\x01\xdf\x00\x00\x00\x01\x00\x00\x00\x00\x7f\xff\xff\xff\x00\x00\x00\x00")},
	{"binary, extFields beyond header", rawFrame(25, 1<<24|21, "\x00\x69\x00\x01\xdf\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09")},
	{"binary, value beyond extFields", rawFrame(32, 1<<24|28, "\x00\x69\x00\x01\xdf\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x01a\x00\x00\x00\x63")},
	{"binary, key length negative", rawFrame(28, 1<<24|24, "\x00\x69\x00\x01\xdf\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff")},
}

// N2: short and odd frames end their connection, first thing or in the middle of a conversation, and nothing else.
func TestN2OddFrames(t *testing.T) {
	v := startVictim(t, nil)
	w := startWitness(t, v.addr)
	require.NoError(t, askRoute(t, dial(t, v.addr), 1, "first"))
	goroutines := runtime.NumGoroutine()
	before := residentBytes(t)
	for _, c := range oddFrames {
		t.Run(c.name, func(t *testing.T) {
			fresh := dial(t, v.addr)
			_, err := fresh.Write(c.data)
			require.NoError(t, err)
			requireClosed(t, fresh, c.name)

			used := dial(t, v.addr)
			require.NoError(t, askRoute(t, used, 3, "before"))
			_, err = used.Write(c.data)
			require.NoError(t, err)
			requireClosed(t, used, c.name)

			// Byte by byte it is no different. Later bytes may meet a closed connection.
			slow := dial(t, v.addr)
			_ = sendPieces(slow, c.data[:min(len(c.data), 100)], 1)
			if len(c.data) > 100 {
				_, _ = slow.Write(c.data[100:])
			}
			requireClosed(t, slow, c.name)

			require.NoError(t, askRoute(t, dial(t, v.addr), 4, "after"))
		})
	}
	requireGoroutines(t, goroutines+1) // the connection of "first" may be gone or not
	requireFlat(t, before, 30*mib)
	w.served(t, v.addr)
	v.requireQuietLog(t, 3*len(oddFrames))
}

// N3: other protocols are told from frames at their first byte and refused, with a line in the log at most.
func TestN3OtherProtocols(t *testing.T) {
	v := startVictim(t, nil)
	w := startWitness(t, v.addr)
	var hello bytes.Buffer
	_ = tls.Client(&captureConn{w: &hello}, anyServer()).Handshake()
	random := func(first byte) []byte {
		b := make([]byte, 64)
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		b[0] = first
		return b
	}
	payloads := map[string][]byte{
		"HTTP/2 preface":   []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x12\x04\x00\x00\x00\x00\x00"),
		"HTTP GET":         []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"HTTP POST":        []byte("POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"),
		"TLS client hello": hello.Bytes(),
		"SSH":              []byte("SSH-2.0-OpenSSH_9.6\r\n"),
		"Redis":            []byte("*1\r\n$4\r\nPING\r\n"),
		"SMB":              []byte("\xffSMBr\x00\x00\x00\x00"),
		"new lines":        []byte("\r\n\r\n"),
		"random":           random(0x9c),
		"random, high":     random(0xff),
		"random, low":      random(0x02),
	}
	require.NotEmpty(t, payloads["TLS client hello"])
	for name, data := range payloads {
		t.Run(name, func(t *testing.T) {
			logged := len(v.log.String())
			c := dial(t, v.addr)
			_, err := c.Write(data)
			require.NoError(t, err)
			if name == "new lines" { // may still become a PROXY header
				require.NoError(t, c.(*net.TCPConn).CloseWrite())
			}
			requireClosed(t, c, name)
			require.Less(t, len(v.log.String())-logged, 1024)
		})
	}

	goroutines := runtime.NumGoroutine()
	before := residentBytes(t)
	logged := len(v.log.String())
	const parallel = 200
	var attackers sync.WaitGroup
	for n := range parallel {
		attackers.Go(func() {
			data := payloads[[]string{"HTTP/2 preface", "HTTP GET", "TLS client hello", "random"}[n%4]]
			c, err := net.Dial("tcp", v.addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = c.Write(data)
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
			if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("attempt %d: %d bytes, %v", n, n, err)
			}
		})
	}
	attackers.Wait()
	require.Less(t, len(v.log.String())-logged, parallel*1024)
	requireGoroutines(t, goroutines)
	requireFlat(t, before, 30*mib)
	w.served(t, v.addr)
	v.requireQuietLog(t, parallel+len(payloads))
}

// captureConn takes what is written and gives nothing to read.
type captureConn struct {
	net.Conn
	w io.Writer
}

func (c *captureConn) Write(p []byte) (int, error) { return c.w.Write(p) }
func (c *captureConn) Read([]byte) (int, error)    { return 0, io.EOF }

// N3: who connects and stays silent is closed after the idle time, without a word in the log; so is who sends
// nothing after a first request.
func TestN3SilentConnections(t *testing.T) {
	const idle = 200 * time.Millisecond
	v := startVictim(t, func(cfg *ServerConfig) { cfg.Idle = func() time.Duration { return idle } })
	w := startWitness(t, v.addr)
	for _, talked := range []bool{false, true} {
		c := dial(t, v.addr)
		if talked {
			require.NoError(t, askRoute(t, c, 1, "hello"))
		}
		start := time.Now()
		_, err := c.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.Greater(t, time.Since(start), idle/2)
		require.Less(t, time.Since(start), 5*time.Second)
	}
	w.served(t, v.addr)
	require.Empty(t, v.logLines())
}

// frameOfSize makes a REGISTER_BROKER frame of exactly size bytes, length prefix included.
func frameOfSize(t testing.TB, size int) []byte {
	empty := frame(t, protocol.ReqRegisterBroker, 9, "t", nil)
	b := append(empty, make([]byte, size-len(empty))...)
	binary.BigEndian.PutUint32(b, uint32(size-4))
	return b
}

// N4: a frame of exactly the limit is served. One byte more closes its connection as soon as the length has been
// read, with a line that names peer, size and limit; other connections stay.
func TestN4FrameLimit(t *testing.T) {
	v := startVictim(t, nil)
	w := startWitness(t, v.addr)
	earlier := dial(t, v.addr)
	require.NoError(t, askRoute(t, earlier, 1, "earlier"))

	largest := frameOfSize(t, protocol.MaxFrame)
	require.Equal(t, []byte{0, 0xff, 0xff, 0xfc}, largest[:4])
	c := dial(t, v.addr)
	for range 2 {
		_, err := c.Write(largest)
		require.NoError(t, err)
		got, err := readCommand(c)
		require.NoError(t, err)
		require.Equal(t, int32(9), got.Opaque)
		require.Equal(t, strconv.Itoa(len(largest)-len(frame(t, protocol.ReqRegisterBroker, 9, "t", nil))), string(got.Body))
	}
	require.NoError(t, askRoute(t, c, 2, "same connection"))
	require.Empty(t, v.logLines())

	_, err := c.Write([]byte{0, 0xff, 0xff, 0xfd}) // only the length is sent
	require.NoError(t, err)
	requireClosed(t, c, "one byte above the limit")
	require.Eventually(t, func() bool { return len(v.logLines()) == 1 }, time.Second, time.Millisecond)
	line := v.logLines()[0]
	require.Contains(t, line, c.LocalAddr().String())
	require.Contains(t, line, "16777217")
	require.Contains(t, line, "16777216")

	require.NoError(t, askRoute(t, earlier, 2, "earlier"))
	w.served(t, v.addr)
}

// N4: large frames in small pieces, and many at a time, are all served; memory stays within the room for them.
func TestN4ManyLargeFrames(t *testing.T) {
	v := startVictim(t, nil)
	w := startWitness(t, v.addr)
	big := frameOfSize(t, 4*mib)
	before := residentBytes(t)
	var clients sync.WaitGroup
	var peak atomic.Int64
	for range 24 {
		clients.Go(func() {
			c, err := net.Dial("tcp", v.addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(30 * time.Second))
			if err := sendPieces(c, big, 50_000); err != nil {
				t.Error(err)
				return
			}
			if got, err := readCommand(c); err != nil || got.Opaque != 9 {
				t.Errorf("%v, %v", got, err)
			}
			peak.Store(max(peak.Load(), residentBytes(t)))
		})
	}
	clients.Wait()
	requirePeak(t, peak.Load()-before, 100*mib) // 24 frames of 4 MiB, with room for 32 MiB and as much kept for reuse
	w.served(t, v.addr)
	require.Empty(t, v.logLines())
}

// Large frames that are promised and never come take no memory and keep nobody from being served for long.
func TestPromisedFramesTakeNoMemory(t *testing.T) {
	v := startVictim(t, func(cfg *ServerConfig) { cfg.Limits.LargeFrameTime = 200 * time.Millisecond })
	w := startWitness(t, v.addr)
	before := residentBytes(t)
	promise := frameOfSize(t, protocol.MaxFrame)[:200]
	for range 300 {
		_, err := dial(t, v.addr).Write(promise)
		require.NoError(t, err)
	}
	honest := dial(t, v.addr)
	_, err := honest.Write(frameOfSize(t, mib))
	require.NoError(t, err)
	start := time.Now()
	got, err := readCommand(honest)
	require.NoError(t, err)
	require.Equal(t, int32(9), got.Opaque)
	t.Logf("waited %s", time.Since(start))
	requireFlat(t, before, 30*mib)
	w.served(t, v.addr)
	v.requireQuietLog(t, 300)
}

// Large frames that begin and stall are cut off together once others have waited for their room, and cost no more
// memory than there is room.
func TestStalledLargeFramesMakeWay(t *testing.T) {
	v := startVictim(t, func(cfg *ServerConfig) { cfg.Limits.LargeFrameTime = 200 * time.Millisecond })
	w := startWitness(t, v.addr)
	before := residentBytes(t)
	half := frameOfSize(t, protocol.MaxFrame)[:300<<10]
	const attacks = 20
	var attackers sync.WaitGroup
	for range attacks { // the last ones have to wait themselves
		c := dial(t, v.addr)
		attackers.Go(func() {
			_, _ = c.Write(half)
			_, _ = io.Copy(io.Discard, c)
		})
	}
	require.Eventually(t, func() bool { return waitersOf(&v.core.large.room) > 0 }, 5*time.Second, time.Millisecond)
	v.takesLargeFrame(t, 10*time.Second)
	requireFlat(t, before, 100*mib)
	w.served(t, v.addr)
	v.requireQuietLog(t, attacks)
	require.Contains(t, v.log.String(), errFrameStalled.Error())
	// The last ones have nobody waiting for them any more; they go with their sockets.
	v.closeAll()
	attackers.Wait()
}

// takesLargeFrame sends a large frame as an honest peer does, and wants its answer within d.
func (v *victim) takesLargeFrame(t *testing.T, d time.Duration) {
	t.Helper()
	honest := dial(t, v.addr)
	start := time.Now()
	_, err := honest.Write(frameOfSize(t, 2*mib))
	require.NoError(t, err)
	got, err := readCommand(honest)
	require.NoError(t, err)
	require.Equal(t, int32(9), got.Opaque)
	require.Less(t, time.Since(start), d)
}

// A large frame that is complete cannot be handed to its executor while its peer does not take earlier answers. It holds
// room all the while, and is cut off once others wait for it; so is a peer that takes its answers too slowly.
func TestUnreadAnswersHoldNoRoom(t *testing.T) {
	const limit = time.Second
	for name, take := range map[string]func(net.Conn) error{
		"nothing is read": func(net.Conn) error { return nil },
		"a little is read at a time": func(c net.Conn) error {
			_, err := io.CopyN(io.Discard, c, 100)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := startVictim(t, func(cfg *ServerConfig) {
				cfg.Limits.LargeFrameTime = limit
				cfg.SendBuffer = 4 << 10
				cfg.Table[protocol.ReqGetBrokerClusterInfo] = Entry{Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) {
					return Body(make([]byte, 8*mib)), nil
				}}.On(NewExecutor("lists", 2, 100)).WithLargeAnswer()
			})
			w := startWitness(t, v.addr)
			attack := append(frame(t, protocol.ReqGetBrokerClusterInfo, 1, "t", nil), frameOfSize(t, protocol.MaxFrame)...)
			const attacks = 4
			var attackers sync.WaitGroup
			for range attacks {
				c := dial(t, v.addr)
				attackers.Go(func() { _, _ = c.Write(attack) })
				attackers.Go(func() {
					tick := time.NewTicker(10 * time.Millisecond)
					defer tick.Stop()
					for take(c) == nil && v.Connections() > 1 {
						<-tick.C
					}
				})
			}
			require.Eventually(t, func() bool {
				v.core.large.mu.Lock()
				defer v.core.large.mu.Unlock()
				return v.core.large.privileged != nil && len(v.core.large.waiters) > 0
			}, 5*time.Second, time.Millisecond)
			v.takesLargeFrame(t, 8*time.Second)
			w.served(t, v.addr)
			v.requireQuietLog(t, attacks)
			require.Contains(t, v.log.String(), errFrameStalled.Error())
			v.closeAll()
			attackers.Wait()
		})
	}
}

// Peers that ask for work on executors and take none of the answers hold no worker, large answers or not.
func TestUnreadAnswersHoldNoWorkers(t *testing.T) {
	executor := NewExecutor("lists", 1, 1000)
	list := Entry{Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) {
		return Body(make([]byte, mib)), nil
	}}.On(executor)
	v := startVictim(t, func(cfg *ServerConfig) {
		cfg.SendBuffer = 64 << 10
		cfg.Table[protocol.ReqGetAllTopicListFromNameServer] = list
		cfg.Table[protocol.ReqGetBrokerClusterInfo] = list.WithLargeAnswer()
	})
	w := startWitness(t, v.addr)
	before := residentBytes(t)
	const attacks = 10
	for n := range attacks {
		code := protocol.ReqGetAllTopicListFromNameServer
		if n%2 == 0 {
			code = protocol.ReqGetBrokerClusterInfo
		}
		_, err := dial(t, v.addr).Write(bytes.Repeat(frame(t, code, 1, "t", nil), 100))
		require.NoError(t, err)
	}
	honest := dial(t, v.addr)
	for n := range int32(20) {
		start := time.Now()
		_, err := honest.Write(frame(t, protocol.ReqGetBrokerClusterInfo, n, "t", nil))
		require.NoError(t, err)
		got, err := readCommand(honest)
		require.NoError(t, err)
		require.Equal(t, n, got.Opaque)
		require.Len(t, got.Body, mib)
		require.Less(t, time.Since(start), 2*time.Second)
	}
	eventually(t, func() bool { return executor.Stats().Running == 0 })
	requireFlat(t, before, 250*mib) // five peers with 32 answers, five with one
	w.served(t, v.addr)
	require.Empty(t, v.logLines())
}

// Peers that ask for the largest lists and do not take them, or only bit by bit, cost no more memory than there is room
// for answers, and make way for others that wait for it.
func TestUnreadLargeAnswersMakeWay(t *testing.T) {
	for name, take := range map[string]func(net.Conn) error{
		"nothing is read": func(net.Conn) error { return nil },
		"a little is read at a time": func(c net.Conn) error {
			_, err := io.CopyN(io.Discard, c, 10_000)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			executor := NewExecutor("lists", 2, 100)
			v := startVictim(t, func(cfg *ServerConfig) {
				cfg.Idle = func() time.Duration { return 4 * time.Second } // two sweeps a second
				cfg.Limits.LargeFrameTime = 400 * time.Millisecond
				cfg.Limits.LargeAnswers = 64 * mib
				cfg.SendBuffer = 64 << 10
				cfg.Table[protocol.ReqGetBrokerClusterInfo] = Entry{Handler: func(context.Context, *Peer, *protocol.Command) (*Response, error) {
					return Body(bytes.Repeat([]byte{'l'}, protocol.MaxFrame-1000)), nil
				}}.On(executor).WithLargeAnswer()
			})
			w := startWitness(t, v.addr)
			before := residentBytes(t)
			const attacks = 20
			var attackers sync.WaitGroup
			for range attacks {
				c := dial(t, v.addr)
				_, err := c.Write(bytes.Repeat(frame(t, protocol.ReqGetBrokerClusterInfo, 1, "t", nil), 3))
				require.NoError(t, err)
				attackers.Go(func() {
					tick := time.NewTicker(10 * time.Millisecond)
					defer tick.Stop()
					for take(c) == nil && v.Connections() > 1 {
						<-tick.C
					}
				})
			}
			eventually(t, func() bool { return waitersOf(&v.core.answers) >= attacks-4 })
			eventually(t, func() bool { return executor.Stats() == ExecutorStats{} }) // those who wait hold nothing
			requireFlat(t, before, 64*mib+30*mib)

			honest := dial(t, v.addr)
			start := time.Now()
			_, err := honest.Write(frame(t, protocol.ReqGetBrokerClusterInfo, 5, "t", nil))
			require.NoError(t, err)
			got, err := readCommand(honest)
			require.NoError(t, err)
			require.Equal(t, int32(5), got.Opaque)
			require.Len(t, got.Body, protocol.MaxFrame-1000)
			t.Logf("waited %s", time.Since(start))
			require.Less(t, time.Since(start), 10*time.Second) // five rounds of four attackers
			require.Contains(t, v.log.String(), errAnswerStalled.Error())
			requireFlat(t, before, 64*mib+50*mib) // got is in it
			w.served(t, v.addr)
			v.requireQuietLog(t, attacks)
			v.closeAll()
			attackers.Wait()
			requireFree(t, &v.core.answers)
		})
	}
}

// N8: a request is answered once and alike in whatever pieces it arrives, plain and over TLS, with a PROXY header and
// without.
func TestN8AnySegmentation(t *testing.T) {
	v := startVictim(t, func(cfg *ServerConfig) { cfg.TLS = mustTLS(t, TLSOptions{TestMode: true}) })
	proxied := []byte("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n")
	one := frame(t, protocol.ReqGetRouteInfoByTopic, 1, "one", nil)
	two := append(one[:len(one):len(one)], frame(t, protocol.ReqGetRouteInfoByTopic, 2, "two", nil)...)
	type cut struct {
		name string
		at   []int // where pieces end
	}
	cuts := []cut{
		{"whole", []int{len(two)}},
		{"11 bytes, then the rest", []int{11, len(two)}},
		{"one and a half", []int{len(two) * 3 / 4, len(two)}},
	}
	for n := 1; n <= 40; n++ {
		c := cut{name: fmt.Sprintf("pieces of %d", n)}
		for at := n; at < len(two); at += n {
			c.at = append(c.at, at)
		}
		cuts = append(cuts, cut{c.name, append(c.at, len(two))})
	}
	for _, overTLS := range []bool{false, true} {
		for _, proxy := range []bool{false, true} {
			for _, cut := range cuts {
				t.Run(fmt.Sprintf("tls=%v/proxy=%v/%s", overTLS, proxy, cut.name), func(t *testing.T) {
					c := dial(t, v.addr)
					if proxy {
						_, err := c.Write(proxied)
						require.NoError(t, err)
					}
					if overTLS {
						c = tls.Client(c, anyServer())
					}
					from := 0
					for _, to := range cut.at {
						_, err := c.Write(two[from:to])
						require.NoError(t, err)
						runtime.Gosched()
						from = to
					}
					for i, topic := range []string{"one", "two"} {
						got, err := readCommand(c)
						require.NoError(t, err)
						require.NoError(t, checkRoute(got, int32(i+1), topic))
					}
					require.NoError(t, askRoute(t, c, 3, "nothing left over"))
				})
			}
		}
	}
	require.Empty(t, v.logLines())
}

// N51: with TLS enforced a plain request is neither answered nor executed, with TLS disabled a TLS client is refused
// quickly, in permissive mode both are served on one port.
func TestN51ModesAreKept(t *testing.T) {
	put := frame(t, protocol.ReqPutKVConfig, 5, "t", nil)
	mode := func(m string) func(*ServerConfig) {
		return func(cfg *ServerConfig) { cfg.TLS = mustTLS(t, TLSOptions{Mode: m, TestMode: true}) }
	}
	overTLS := func(t *testing.T, v *victim) net.Conn { return tls.Client(dial(t, v.addr), anyServer()) }

	t.Run("enforcing", func(t *testing.T) {
		v := startVictim(t, mode("enforcing"))
		kept := overTLS(t, v)
		require.NoError(t, askRoute(t, kept, 1, "kept"))
		for _, data := range [][]byte{
			put, append(put[:len(put):len(put)], put...), put[:11], append([]byte("PROXY UNKNOWN\r\n"), put...),
			frame(t, protocol.ReqRegisterBroker, 5, "t", make([]byte, 1000)),
		} {
			c := dial(t, v.addr)
			_, err := c.Write(data)
			require.NoError(t, err)
			requireClosed(t, c, "plain request")
		}
		require.NoError(t, askRoute(t, kept, 2, "kept"))
		require.Zero(t, v.executed.Load())
		v.requireQuietLog(t, 5)
		require.Contains(t, v.log.String(), ErrTLSRequired.Error())
	})
	t.Run("disabled", func(t *testing.T) {
		v := startVictim(t, mode("disabled"))
		w := startWitness(t, v.addr)
		start := time.Now()
		require.Error(t, overTLS(t, v).(*tls.Conn).Handshake())
		require.Less(t, time.Since(start), time.Second)
		w.served(t, v.addr)
		v.requireQuietLog(t, 1)
		require.Contains(t, v.log.String(), ErrTLSDisabled.Error())
	})
	t.Run("permissive", func(t *testing.T) {
		v := startVictim(t, mode("permissive"))
		for range 3 {
			require.NoError(t, askRoute(t, dial(t, v.addr), 1, "plain"))
			require.NoError(t, askRoute(t, overTLS(t, v), 2, "TLS"))
		}
		require.Empty(t, v.logLines())
	})
}

// TLS clients that break off, lie or stall harm nobody.
func TestBrokenTLSClients(t *testing.T) {
	ca := newTestCA(t, "ca")
	dir, o := tlsFiles(t, ca, 5)
	o.AuthClient, o.NeedClientAuth, o.TrustCertPath = true, "require", write(t, dir, "ca.crt", ca.pem)
	v := startVictim(t, func(cfg *ServerConfig) { cfg.TLS = mustTLS(t, o) })
	w := startWitness(t, v.addr)
	const rounds = 30
	for n := range rounds {
		c := dial(t, v.addr)
		switch n % 3 {
		case 0: // no certificate
			if overTLS := tls.Client(c, anyServer()); overTLS.Handshake() == nil {
				_, err := overTLS.Read(make([]byte, 1))
				require.Error(t, err)
			}
		case 1: // rubbish within TLS
			_, err := c.Write(append([]byte{0x16, 3, 1, 0x40, 0}, bytes.Repeat([]byte{'x'}, 0x4000)...))
			require.NoError(t, err)
		case 2: // breaks off
			_, err := c.Write([]byte{0x16, 3, 1, 2, 0, 1, 0})
			require.NoError(t, err)
		}
		c.Close()
	}
	// Rubbish after a good handshake.
	cfg := anyServer()
	cfg.Certificates = ca.pair(t, 8)
	raw := dial(t, v.addr)
	good := tls.Client(raw, cfg)
	require.NoError(t, askRoute(t, good, 1, "good"))
	_, err := raw.Write(bytes.Repeat([]byte{0xab}, 100))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return v.Connections() <= 1 }, 5*time.Second, 5*time.Millisecond)
	w.served(t, v.addr)
	v.requireQuietLog(t, rounds+1)
}

// Bytes of a frame that trickle in do not keep a connection from being idle: only complete frames count
// (spec/remoting.md §7.2).
func TestTrickledFramesAreIdle(t *testing.T) {
	const idle = 250 * time.Millisecond
	v := startVictim(t, func(cfg *ServerConfig) { cfg.Idle = func() time.Duration { return idle } })
	w := startWitness(t, v.addr)
	data := frameOfSize(t, 1000)
	var attackers sync.WaitGroup
	start := time.Now()
	for n := range 50 {
		attackers.Go(func() {
			c, err := net.Dial("tcp", v.addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if n%2 == 0 { // some have been good clients before
				if err := askRoute(t, c, 1, "good"); err != nil {
					t.Error(err)
				}
			}
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for _, b := range data {
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
				<-tick.C
			}
			t.Error("a whole frame trickled in without the connection being closed")
		})
	}
	attackers.Wait()
	require.Less(t, time.Since(start), 8*time.Second)
	w.served(t, v.addr)
	v.requireQuietLog(t, 50)
}

// N9: who asks and does not read is left unread himself; what waits for him is bounded, and after the idle time he is
// cut off.
func TestN9PeerThatNeverReads(t *testing.T) {
	const idle = 500 * time.Millisecond
	v := startVictim(t, func(cfg *ServerConfig) { cfg.Idle = func() time.Duration { return idle } })
	w := startWitness(t, v.addr)
	before := residentBytes(t)
	var peak atomic.Int64
	var attackers sync.WaitGroup
	cut := make(chan struct{})
	const attacks = 5
	for range attacks {
		attackers.Go(func() {
			c, err := net.Dial("tcp", v.addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			ask := bytes.Repeat(frame(t, protocol.ReqGetAllTopicListFromNameServer, 1, "t", nil), 2000)
			for range 5 { // 10,000 requests, 620 MB of answers
				if _, err := c.Write(ask); err != nil {
					if errors.Is(err, os.ErrDeadlineExceeded) {
						t.Error("a peer that never reads was not cut off")
					}
					return
				}
				peak.Store(max(peak.Load(), residentBytes(t)))
			}
			// All requests fitted the sockets' buffers. After what did arrive comes the end of the connection.
			<-cut
			if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("a peer that never reads was not cut off")
			}
		})
	}
	require.Eventually(t, func() bool {
		peak.Store(max(peak.Load(), residentBytes(t)))
		return strings.Count(v.log.String(), "stalled") == attacks
	}, 15*time.Second, 50*time.Millisecond)
	close(cut)
	attackers.Wait()
	requirePeak(t, peak.Load()-before, 40*mib)
	w.served(t, v.addr)
	v.requireQuietLog(t, attacks)
}

// Connections that are reset at any moment leave nothing behind.
func TestResets(t *testing.T) {
	v := startVictim(t, nil)
	w := startWitness(t, v.addr)
	goroutines := runtime.NumGoroutine()
	request := frame(t, protocol.ReqRegisterBroker, 1, "t", make([]byte, 5000))
	for n := range 300 {
		c := dial(t, v.addr).(*net.TCPConn)
		_, err := c.Write(request[:n*len(request)/300])
		require.NoError(t, err)
		if n%2 == 0 {
			require.NoError(t, c.SetLinger(0))
		}
		c.Close()
	}
	requireGoroutines(t, goroutines)
	require.Eventually(t, func() bool { return v.Connections() == 1 }, 5*time.Second, 5*time.Millisecond)
	w.served(t, v.addr)
	require.Empty(t, v.logLines())
}

// Noise behind a plausible first byte: whatever it is taken for, it ends or is answered, and nobody else notices.
func TestNoise(t *testing.T) {
	v := startVictim(t, nil)
	w := startWitness(t, v.addr)
	goroutines := runtime.NumGoroutine()
	before := residentBytes(t)
	rng := rand.New(rand.NewPCG(1, 2))
	good := frame(t, protocol.ReqGetRouteInfoByTopic, 1, "t", nil)
	const rounds = 1000
	for n := range rounds {
		data := append([]byte(nil), good...)
		if n%2 == 0 { // a good frame with some bytes changed
			for range 1 + rng.IntN(4) {
				data[rng.IntN(len(data))] = byte(rng.Uint32())
			}
		} else { // a short length and noise
			data = data[:8+rng.IntN(len(data)-8)]
			binary.BigEndian.PutUint32(data, uint32(len(data)-4))
			for i := 4; i < len(data); i++ {
				data[i] = byte(rng.Uint32())
			}
		}
		c := dial(t, v.addr)
		_, err := c.Write(data)
		require.NoError(t, err)
		_ = c.(*net.TCPConn).CloseWrite()
		_, err = io.Copy(io.Discard, c) // until the server has closed, too
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "%x", data)
		c.Close()
	}
	requireGoroutines(t, goroutines)
	requireFlat(t, before, 30*mib)
	w.served(t, v.addr)
	v.requireQuietLog(t, rounds)
}

// Above the limit of connections newcomers are refused, those who are there stay, and places that become free are
// given again.
func TestConnectionLimit(t *testing.T) {
	v := startVictim(t, func(cfg *ServerConfig) { cfg.MaxConnections = 10 })
	w := startWitness(t, v.addr)
	var held []net.Conn
	for n := range 9 {
		c := dial(t, v.addr)
		require.NoError(t, askRoute(t, c, int32(n), "held"))
		held = append(held, c)
	}
	for range 20 {
		requireClosed(t, dial(t, v.addr), "a connection too many")
	}
	for n, c := range held {
		require.NoError(t, askRoute(t, c, int32(n), "still here"))
	}
	held[0].Close()
	require.Eventually(t, func() bool { return v.Connections() < 10 }, 5*time.Second, 5*time.Millisecond)
	w.served(t, v.addr)
	v.requireQuietLog(t, 20)
}

const idleClientsEnv = "MQ_TEST_IDLE_CLIENTS" // "<address> <number> <plain or tls>"

// TestIdleClientsProcess is not a test but the other process of TestIdleConnections: it opens the connections, has a
// request answered on each, says so, and holds them until its input ends.
func TestIdleClientsProcess(t *testing.T) {
	args := strings.Fields(os.Getenv(idleClientsEnv))
	if len(args) != 3 {
		t.Skip("only runs for TestIdleConnections")
	}
	n, err := strconv.Atoi(args[1])
	require.NoError(t, err)
	raiseFileLimit()
	conns := make([]net.Conn, n)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", args[0]); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		if args[2] == "tls" {
			conns[i] = tls.Client(conns[i], anyServer())
		}
		_ = conns[i].SetDeadline(time.Now().Add(testDeadline))
		if err := askRoute(t, conns[i], int32(i), "idle"); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		_ = conns[i].SetDeadline(time.Time{})
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// 12,000 clients that asked once and are idle: all stay connected, each for a few KB, and others are served. TLS
// clients cost what crypto/tls holds besides.
func TestIdleConnections(t *testing.T) {
	for _, c := range []struct {
		kind  string
		n     int
		limit int64 // bytes per connection
	}{
		{"plain", 12_000, 8 << 10},
		{"tls", 1_000, 20 << 10},
	} {
		t.Run(c.kind, func(t *testing.T) {
			if limit := raiseFileLimit(); limit < uint64(c.n)+500 {
				t.Skipf("SKIPPED LOUDLY: only %d open files are allowed here, %d idle connections need more", limit, c.n)
			}
			v := startVictim(t, func(cfg *ServerConfig) { cfg.TLS = mustTLS(t, TLSOptions{TestMode: true}) })
			w := startWitness(t, v.addr)
			perConn := holdIdle(t, v, c.n, c.kind)
			t.Logf("%d bytes of heap and stacks per idle connection", perConn)
			if raceEnabled {
				c.limit *= 2
			}
			require.Less(t, perConn, c.limit)
			w.served(t, v.addr)
			require.Empty(t, v.logLines())
		})
	}
}

// holdIdle has another process hold n idle connections, checks that they all are there, and returns what each costs the
// server in bytes. They are gone when it returns.
func holdIdle(t *testing.T, v *victim, n int, kind string) (bytesPerConn int64) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestIdleClientsProcess$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", idleClientsEnv, v.addr, n, kind))
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	before := heapAndStacks()
	base := v.Connections()
	require.NoError(t, cmd.Start())
	defer func() {
		stdin.Close()
		require.NoError(t, cmd.Wait())
		require.Eventually(t, func() bool { return v.Connections() == base }, 30*time.Second, 10*time.Millisecond)
	}()
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && lines.Text() != "ready" {
		require.NotContains(t, lines.Text(), "failed")
	}
	require.NoError(t, lines.Err())
	require.Equal(t, base+n, v.Connections())
	return (heapAndStacks() - before) / int64(n)
}

// heapAndStacks is what is in use of both after a collection.
func heapAndStacks() int64 {
	runtime.GC()
	runtime.GC() // the second one empties what pools keep through the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
