package broker

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
)

// newTestServer makes a broker with lines of a properties file, on two free ports, and runs nothing. wrap changes the listener
// of the fast one.
func newTestServer(t *testing.T, properties string, wrap func(net.Listener) net.Listener) *Server {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "broker.properties")
	require.NoError(t, os.WriteFile(file, []byte(properties), 0o600))
	config, err := conf.LoadBroker(conf.Sources{File: file, Environ: []string{"HOME=" + dir}, Log: zerolog.Nop()})
	require.NoError(t, err)
	var listeners [2]net.Listener
	for i := range listeners {
		listeners[i], err = net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
	}
	s, err := New(Options{Main: listeners[0], Fast: wrap(listeners[1]), Config: config, Log: zerolog.Nop()})
	require.NoError(t, err)
	return s
}

// brokenListener fails like one whose interface has gone.
type brokenListener struct{ net.Listener }

var errBroken = errors.New("the listener is broken")

func (brokenListener) Accept() (net.Conn, error) { return nil, errBroken }

// A broker that loses one port gives up the other, and says why.
func TestRunEndsWhenAPartFails(t *testing.T) {
	s := newTestServer(t, "", func(l net.Listener) net.Listener { return brokenListener{l} })
	done := make(chan error, 1)
	go func() { done <- s.Run(t.Context()) }()
	select {
	case err := <-done:
		require.ErrorIs(t, err, errBroken)
	case <-time.After(clientDeadline):
		t.Fatal("it goes on")
	}
	_, err := net.Dial("tcp", s.Addr().String())
	require.Error(t, err)
}

// A broker that cannot write its offsets when it ends says so, and not that all is well.
func TestRunFailsWhenOffsetsAreNotSaved(t *testing.T) {
	s := newTestServer(t, "", func(l net.Listener) net.Listener { return l })
	s.offsets.put(t, "T", "G", 0, 1)
	s.offsets.file.write = func([]byte) error { return os.ErrPermission }
	ctx, stop := context.WithCancel(t.Context())
	stop()
	err := s.Run(ctx)
	require.ErrorIs(t, err, os.ErrPermission)
	require.ErrorContains(t, err, "consumerOffset.json")
}

// Requests that have waited for longer than their family's limit are answered SYSTEM_BUSY, and have not happened; those of
// other families are served all the while.
func TestFastFailure(t *testing.T) {
	s := newTestServer(t, "adminBrokerThreadPoolNums=1\nwaitTimeMillsInAdminBrokerQueue=100\n",
		func(l net.Listener) net.Listener { return l })
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-done)
	}()
	conn, err := net.Dial("tcp", s.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(clientDeadline)))
	c := &rigConn{Conn: conn, tb: t, version: protocol.CurrentVersion}

	gate := make(chan struct{})
	require.True(t, s.work.admin.Go(func() { <-gate }))
	waiting := c.send(protocol.Command{
		Code: int32(protocol.ReqUpdateAndCreateTopic),
		Ext:  (&protocol.CreateTopicRequestHeader{Topic: "Orders", ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6}).AppendExt(nil),
	})
	answer := c.answer(waiting)
	require.Equal(t, int32(protocol.RespSystemBusy), answer.Code)
	require.Regexp(t, `^\[TIMEOUT_CLEAN_QUEUE\]broker busy, start flow control for a while, period in queue: \d{3}ms, size of queue: 0$`, answer.Remark)
	require.False(t, c.beat(newBeat("c1").producer("P1").v2(7, false)), "heartbeats are served")
	close(gate)
	require.Equal(t, int32(protocol.RespTopicNotExist), c.ask(protocol.ReqGetTopicConfig, &protocol.GetTopicConfigRequestHeader{Topic: "Orders"}, nil).Code)
}
