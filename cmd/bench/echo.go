package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/protocol"
)

// echoTemplate is a binary header: the echo client and server exchange frames that differ from the real ones in
// content only, and the server copies the opaque (four bytes at offset 13) from the request.
const (
	echoHeader    = 21
	echoMinFrame  = 8 + echoHeader
	echoOpaqueOff = 8 + 5
)

// Echo is a bare TCP server that answers each frame with a frame of a fixed size: no header is decoded, nothing
// is looked up. What it reaches is what a Go server that does one read and one write per batch can reach.
type Echo struct {
	Listener      net.Listener
	ResponseBytes int // size of every answer, length prefix included
}

// Run serves until ctx ends, and closes the listener and all connections.
func (e Echo) Run(ctx context.Context) error {
	if e.ResponseBytes < echoMinFrame || e.ResponseBytes > protocol.MaxFrame {
		return fmt.Errorf("response bytes: %d is not in %d..%d", e.ResponseBytes, echoMinFrame, protocol.MaxFrame)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	stop := context.AfterFunc(ctx, func() { e.Listener.Close() })
	defer stop()
	answer := echoFrame(e.ResponseBytes)
	for {
		conn, err := e.Listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		wg.Go(func() {
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			defer stop()
			defer conn.Close()
			echoConn(conn, answer)
		})
	}
}

func echoConn(conn net.Conn, answer []byte) {
	in := make([]byte, 64<<10)
	out := make([]byte, 0, 64<<10)
	r, w := 0, 0
	for {
		n, err := conn.Read(in[w:])
		if err != nil {
			return
		}
		w += n
		out = out[:0]
		for w-r >= echoMinFrame {
			size := int(binary.BigEndian.Uint32(in[r:])) + 4
			if size > len(in) || size < echoMinFrame {
				return
			}
			if w-r < size {
				break
			}
			at := len(out)
			out = append(out, answer...)
			copy(out[at+echoOpaqueOff:], in[r+echoOpaqueOff:r+echoOpaqueOff+4])
			r += size
		}
		if len(out) > 0 {
			if _, err := conn.Write(out); err != nil {
				return
			}
		}
		w = copy(in, in[r:w])
		r = 0
	}
}

func echoFrame(size int) []byte {
	f := make([]byte, size)
	binary.BigEndian.PutUint32(f, uint32(size-4))
	binary.BigEndian.PutUint32(f[4:], uint32(protocol.CodecBinary)<<24|echoHeader)
	return f
}

type echoSource struct{ frame []byte }

func (s echoSource) appendFrame(dst []byte, opaque int32) []byte {
	binary.BigEndian.PutUint32(s.frame[echoOpaqueOff:], uint32(opaque))
	return append(dst, s.frame...)
}

// RunEcho loads the Echo server at l.Addr with requests of requestBytes; with an empty address it serves one
// itself, in this process, with answers of responseBytes.
func RunEcho(ctx context.Context, l Load, requestBytes, responseBytes int) (*Report, error) {
	if requestBytes < echoMinFrame || requestBytes > 32<<10 {
		return nil, fmt.Errorf("request bytes: %d is not in %d..%d", requestBytes, echoMinFrame, 32<<10)
	}
	run := func(ctx context.Context) (*Report, error) {
		if err := l.check(); err != nil {
			return nil, err
		}
		sources := make([]frameSource, l.Connections)
		for i := range sources {
			sources[i] = echoSource{echoFrame(requestBytes)}
		}
		r, err := drive(ctx, l, sources)
		if r != nil {
			r.Kind = "echo"
		}
		return r, err
	}
	if l.Addr != "" {
		return run(ctx)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l.Addr = ln.Addr().String()
	serveCtx, stop := context.WithCancel(ctx)
	defer stop()
	var g errgroup.Group
	g.Go(func() error { return Echo{Listener: ln, ResponseBytes: responseBytes}.Run(serveCtx) })
	r, err := run(ctx)
	stop()
	if serveErr := g.Wait(); serveErr != nil && !errors.Is(serveErr, io.EOF) {
		return nil, serveErr
	}
	return r, err
}
