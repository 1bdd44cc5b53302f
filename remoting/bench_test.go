package remoting

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// routeBody stands for a small topic's route answer.
var routeBody = make([]byte, 400)

// topicHeader is shaped like GetRouteInfoRequestHeader.
type topicHeader struct {
	Topic  string
	Strict bool
}

func (h *topicHeader) Decode(ext protocol.Ext) error {
	r := protocol.ReadExt(ext)
	h.Topic = r.String("topic")
	h.Strict = r.Bool("acceptStandardJsonOnly", false)
	return r.Err()
}

// readyAnswers answers 105 with a ready body, as the route table does.
func readyAnswers(tb testing.TB) Table {
	tb.Helper()
	ready := Body(routeBody)
	return Table{protocol.ReqGetRouteInfoByTopic: Handle(func(_ context.Context, req *Request[topicHeader]) (*Response, error) {
		if req.Header.Topic != "TopicTest" {
			return nil, fmt.Errorf("topic %q", req.Header.Topic)
		}
		return ready, nil
	})}
}

func routeRequest(tb testing.TB, opaque int32) []byte {
	tb.Helper()
	frame, err := protocol.AppendFrame(nil, &protocol.Command{
		Code: int32(protocol.ReqGetRouteInfoByTopic), Version: protocol.CurrentVersion, Opaque: opaque,
		Ext: protocol.Ext{{Key: "topic", Value: "TopicTest"}, {Key: "acceptStandardJsonOnly", Value: "true"}},
	})
	require.NoError(tb, err)
	return frame
}

// BenchmarkRoute measures requests for a ready answer of 400 bytes over 16 connections, depth in flight on each,
// beside a bare echo server that looks at nothing and sends as many bytes for as many. Compare ns/op, or on a
// busy machine cpu-ns/op, which counts client and server:
//
//	go test ./remoting -run '^$' -bench Route -benchtime 3s
func BenchmarkRoute(b *testing.B) {
	request := routeRequest(b, 7)
	for _, depth := range []int{1, 32} {
		b.Run(fmt.Sprintf("depth=%d/bare", depth), func(b *testing.B) {
			addr := bareEcho(b, len(request), answerSize(b, request))
			load(b, addr, 16, depth, request, answerSize(b, request))
		})
		b.Run(fmt.Sprintf("depth=%d/remoting", depth), func(b *testing.B) {
			s := startServer(b, ServerConfig{Table: readyAnswers(b), Log: zerolog.Nop()})
			load(b, s.Addr().String(), 16, depth, request, answerSize(b, request))
		})
	}
}

// answerSize asks a server for the size of its answer to request.
func answerSize(tb testing.TB, request []byte) int {
	tb.Helper()
	s := startServer(tb, ServerConfig{Table: readyAnswers(tb), Log: zerolog.Nop()})
	conn, err := net.Dial("tcp", s.Addr().String())
	require.NoError(tb, err)
	defer conn.Close()
	_, err = conn.Write(request)
	require.NoError(tb, err)
	prefix := make([]byte, 4)
	_, err = io.ReadFull(conn, prefix)
	require.NoError(tb, err)
	return 4 + int(binary.BigEndian.Uint32(prefix))
}

// load sends b.N requests over conns connections, depth at a time on each.
func load(b *testing.B, addr string, conns, depth int, request []byte, answer int) {
	b.Helper()
	var batch []byte
	for range depth {
		batch = append(batch, request...)
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	defer reportCPU(b, cpuTime(b))
	for range conns {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer conn.Close()
			in := make([]byte, depth*answer)
			for left.Add(-int64(depth)) > -int64(depth) {
				if _, err := conn.Write(batch); err != nil {
					b.Error(err)
					return
				}
				if _, err := io.ReadFull(conn, in); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
}

// bareEcho serves answers of answer bytes, without content, to requests of request bytes.
func bareEcho(b *testing.B, request, answer int) string {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	b.Cleanup(func() { ln.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				in, out := make([]byte, readBufferSize), make([]byte, (readBufferSize/request+1)*answer)
				got := 0
				for {
					n, err := conn.Read(in)
					if err != nil {
						return
					}
					got += n
					if _, err := conn.Write(out[:got/request*answer]); err != nil {
						return
					}
					got %= request
				}
			})
		}
	})
	return ln.Addr().String()
}

// cpuTime returns the processor time that this process has used.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reportCPU reports the processor time per operation since from, which other processes disturb less than ns/op.
func reportCPU(b *testing.B, from time.Duration) {
	b.Helper()
	b.ReportMetric(float64(cpuTime(b)-from)/float64(b.N), "cpu-ns/op")
}

// BenchmarkHandleFrame measures what a request for a ready answer costs apart from the socket.
func BenchmarkHandleFrame(b *testing.B) {
	client, server := net.Pipe()
	defer client.Close()
	core := newCore(readyAnswers(b), Limits{}, 64, zerolog.Nop())
	core.base = b.Context()
	p := core.newPeer(server)
	defer p.Close()
	p.in.resume()
	frame := routeRequest(b, 7)[4:]
	b.ReportAllocs()
	from := cpuTime(b)
	for b.Loop() {
		if err := p.handleFrame(frame, nil); err != nil {
			b.Fatal(err)
		}
		if p.in.buf.replies.size > flushAt {
			p.in.buf.replies.release()
		}
	}
	reportCPU(b, from)
}
