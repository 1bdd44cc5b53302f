package remoting

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/mq-server/mq/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testDeadline is how long a test waits for what must happen.
const testDeadline = 20 * time.Second

// eventually polls until ok.
func eventually(tb testing.TB, ok func() bool) {
	tb.Helper()
	require.Eventually(tb, ok, testDeadline, time.Millisecond)
}

// startServer runs a server on a free loopback port until the test ends.
func startServer(tb testing.TB, cfg ServerConfig) *Server {
	tb.Helper()
	s := newTestServer(tb, cfg)
	runServer(tb, s)
	return s
}

// newTestServer returns a server on a free loopback port that does not run yet.
func newTestServer(tb testing.TB, cfg ServerConfig) *Server {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	s, err := NewServer(ln, cfg)
	require.NoError(tb, err)
	return s
}

// runServer runs s until the test ends, or until the function it returns is called.
func runServer(tb testing.TB, s *Server) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(tb, <-done)
	})
	tb.Cleanup(stop)
	return stop
}

// testConn is a client that sees frames as they are.
type testConn struct {
	net.Conn
	tb testing.TB
	r  *bufio.Reader
}

// dialTest connects to s until the test ends.
func dialTest(tb testing.TB, s *Server) *testConn {
	tb.Helper()
	conn, err := net.Dial("tcp", s.Addr().String())
	require.NoError(tb, err)
	tb.Cleanup(func() { conn.Close() })
	require.NoError(tb, conn.SetDeadline(time.Now().Add(testDeadline)))
	return &testConn{conn, tb, bufio.NewReader(conn)}
}

// send writes frames in one piece.
func (c *testConn) send(frames ...[]byte) {
	c.tb.Helper()
	var all []byte
	for _, f := range frames {
		all = append(all, f...)
	}
	_, err := c.Write(all)
	require.NoError(c.tb, err)
}

// tryReceive reads a frame.
func (c *testConn) tryReceive() (protocol.Command, error) {
	prefix := make([]byte, 4)
	if _, err := io.ReadFull(c.r, prefix); err != nil {
		return protocol.Command{}, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(prefix))
	if _, err := io.ReadFull(c.r, frame); err != nil {
		return protocol.Command{}, err
	}
	return protocol.DecodeCommand(frame)
}

// receive reads a frame.
func (c *testConn) receive() protocol.Command {
	c.tb.Helper()
	cmd, err := c.tryReceive()
	require.NoError(c.tb, err)
	return cmd
}

// closed waits for the end of the connection; nothing may come before it.
func (c *testConn) closed() {
	c.tb.Helper()
	n, err := c.r.Read(make([]byte, 1))
	require.Zero(c.tb, n)
	require.Error(c.tb, err)
	require.NotErrorIs(c.tb, err, context.DeadlineExceeded)
	ne, ok := err.(net.Error)
	require.False(c.tb, ok && ne.Timeout(), "still open")
}

// requestFrame encodes a request.
func requestFrame(tb testing.TB, cmd protocol.Command) []byte {
	tb.Helper()
	if cmd.Version == 0 {
		cmd.Version = protocol.CurrentVersion
	}
	b, err := protocol.AppendFrame(nil, &cmd)
	require.NoError(tb, err)
	return b
}

// echoBody is a handler that answers with the request's body.
func echoBody(_ context.Context, _ *Peer, cmd *protocol.Command) (*Response, error) {
	return Body(append([]byte(nil), cmd.Body...)), nil
}

// await waits in a handler for gate to be closed, or for the end of the connection, so that a test that fails ends.
func await(ctx context.Context, gate <-chan struct{}) {
	select {
	case <-gate:
	case <-ctx.Done():
	}
}
