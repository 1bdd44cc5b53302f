package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/namesrv"
	"github.com/mq-server/mq/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startNamesrv runs a NameServer of this process until the test ends, and returns its address.
func startNamesrv(t *testing.T) string {
	t.Helper()
	store, err := conf.Load(conf.Sources{
		Set: []string{"kvConfigPath=" + filepath.Join(t.TempDir(), "kvConfig.json")},
		Log: zerolog.Nop(),
	})
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s, err := namesrv.New(namesrv.Options{Listener: ln, Config: store, Log: zerolog.Nop()})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return ln.Addr().String()
}

// known returns the names of the bench brokers that the NameServer at addr knows.
func known(t *testing.T, addr string) []string {
	t.Helper()
	c, err := dialCaller(t.Context(), addr)
	require.NoError(t, err)
	defer c.Close()
	answer, err := c.call(newRequest(protocol.ReqGetBrokerClusterInfo, protocol.CurrentVersion, nil, nil), time.Second)
	require.NoError(t, mustSucceed(answer, err))
	info, err := protocol.DecodeClusterInfo(answer.Body)
	require.NoError(t, err)
	var names []string
	for _, b := range info.BrokerAddrTable {
		names = append(names, b.BrokerName)
	}
	return names
}

func TestRouteCountsEveryAnswerAndLeavesNothing(t *testing.T) {
	addr := startNamesrv(t)
	r, err := RunRoute(t.Context(), RouteOptions{
		Load:    Load{Addr: addr, Connections: 3, Depth: 8, Count: 100},
		Brokers: Brokers{Count: 2, Topics: 5, Queues: 8}, Version: protocol.CurrentVersion,
	})
	require.NoError(t, err)
	require.EqualValues(t, 300, r.Answers)
	require.Zero(t, r.Errors)
	require.Equal(t, map[int32]int64{0: 300}, r.Codes)
	require.Greater(t, r.ResponseBytes, 300.0, "two brokers are in each answer")
	require.Positive(t, r.PerSecond)
	require.LessOrEqual(t, r.Latency.P50, r.Latency.P99)
	require.LessOrEqual(t, r.Latency.P99, r.Latency.Max)
	require.Empty(t, known(t, addr), "the brokers unregister at the end")
}

func TestRouteOfUnknownTopicIsAnError(t *testing.T) {
	addr := startNamesrv(t)
	r, err := RunRoute(t.Context(), RouteOptions{
		Load: Load{Addr: addr, Connections: 1, Depth: 1, Count: 7}, Topic: "nobody-has-it", Version: protocol.CurrentVersion,
	})
	require.NoError(t, err)
	require.Equal(t, map[int32]int64{int32(protocol.RespTopicNotExist): 7}, r.Codes)
	require.EqualValues(t, 7, r.Errors)
	require.Zero(t, r.PerSecond, "only successful answers count")
}

func TestRouteForADuration(t *testing.T) {
	addr := startNamesrv(t)
	var calls int
	r, err := RunRoute(t.Context(), RouteOptions{
		Load: Load{
			Addr: addr, Connections: 2, Depth: 1, Duration: 1100 * time.Millisecond, WarmUp: 100 * time.Millisecond, Rate: 500,
			Progress: func(Progress) { calls++ },
		},
		Brokers: Brokers{Count: 1, Topics: 2, Queues: 1}, Version: protocol.CurrentVersion,
	})
	require.NoError(t, err)
	require.Zero(t, r.Errors)
	require.Positive(t, r.Answers)
	require.LessOrEqual(t, r.Answers, int64(560), "500 a second for 1.1 s")
	require.Positive(t, calls)
}

func TestRegisterHoldsItsBrokersUntilToldOtherwise(t *testing.T) {
	addr := startNamesrv(t)
	for _, change := range []Change{ChangeNothing, ChangeVersion} {
		for _, compressed := range []bool{false, true} {
			var held []string
			r, err := RunRegister(t.Context(), RegisterOptions{
				Load:    Load{Addr: addr, Depth: 1, Count: 4, Hold: func(*Report) { held = known(t, addr) }},
				Brokers: Brokers{Count: 3, Topics: 20, Queues: 4, OwnTopics: true, Compressed: compressed}, Change: change,
			})
			require.NoError(t, err)
			require.EqualValues(t, 12, r.Answers)
			require.Zero(t, r.Errors)
			require.Equal(t, []string{"mq-bench-register-0000", "mq-bench-register-0001", "mq-bench-register-0002"}, held)
		}
	}
}

func TestLoseWaitsUntilABrokerIsForgotten(t *testing.T) {
	addr := startNamesrv(t)
	r, err := RunLose(t.Context(), addr, Brokers{Count: 3, Topics: 10, Queues: 4}, 4)
	require.NoError(t, err)
	require.EqualValues(t, 4, r.Answers)
	require.Positive(t, r.Latency.Max)
	require.Empty(t, known(t, addr))
}

func TestEcho(t *testing.T) {
	r, err := RunEcho(t.Context(), Load{Connections: 2, Depth: 16, Count: 1000}, 130, 70_000)
	require.NoError(t, err)
	require.EqualValues(t, 2000, r.Answers)
	require.Zero(t, r.Errors)
	require.Equal(t, 130.0, r.RequestBytes)
	require.Equal(t, 70_000.0, r.ResponseBytes)
}

// A server that is slower than what is asked of it shows late answers, not none.
func TestSlowServerIsMeasured(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		buf := make([]byte, 100)
		for {
			if _, err := io.ReadFull(conn, buf); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond) // the server's slowness, not a wait of the test's
			if _, err := conn.Write(buf); err != nil {
				return
			}
		}
	}()
	r, err := RunEcho(t.Context(), Load{
		Addr: ln.Addr().String(), Connections: 1, Depth: 1, Rate: 2000, Duration: 300 * time.Millisecond, WarmUp: 100 * time.Millisecond,
	}, 100, 100)
	ln.Close()
	<-done
	require.NoError(t, err)
	require.Positive(t, r.Answers)
	require.Greater(t, r.Latency.P99, 100*time.Millisecond, "latency counts from when a request was due")
}

// A server that closes connections in the middle costs errors, not the run.
func TestLostConnectionsAreCounted(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, echoMinFrame)
			_, _ = conn.Read(buf)
			conn.Close()
		}
	}()
	r, err := RunEcho(t.Context(), Load{Addr: ln.Addr().String(), Connections: 1, Depth: 2, Duration: 300 * time.Millisecond}, 100, 100)
	ln.Close()
	<-done
	require.NoError(t, err)
	require.Zero(t, r.Answers)
	require.GreaterOrEqual(t, r.Errors, int64(2))
	require.NotEmpty(t, r.FirstError)
}

func TestOptionsAreChecked(t *testing.T) {
	ok := Load{Addr: "127.0.0.1:1", Connections: 1, Depth: 1, Count: 1}
	require.NoError(t, ok.check())
	for name, change := range map[string]func(*Load){
		"address":     func(l *Load) { l.Addr = "" },
		"connections": func(l *Load) { l.Connections = 0 },
		"depth":       func(l *Load) { l.Depth = 0 },
		"duration":    func(l *Load) { l.Count = 0 },
		"rate":        func(l *Load) { l.Rate = -1 },
	} {
		l := ok
		change(&l)
		require.ErrorContains(t, l.check(), name)
	}
	require.ErrorContains(t, Brokers{Count: 1, Topics: 1, Queues: 1}.check(), "topics")
	_, err := RunRegister(t.Context(), RegisterOptions{Load: ok, Brokers: Brokers{Count: 1, Topics: 200_000, Queues: 8}, Change: ChangeNothing})
	require.ErrorIs(t, err, protocol.ErrFrameTooLarge)
}

func TestAnswerIdentity(t *testing.T) {
	for _, codec := range []protocol.Codec{protocol.CodecJSON, protocol.CodecBinary} {
		frame, err := protocol.AppendFrame(nil, &protocol.Command{
			Code: -1000, Opaque: -7, Flag: protocol.FlagResponse, Remark: `"opaque":5,"code":6`, HasRemark: true, Codec: codec,
			Ext: protocol.Ext{{Key: "value", Value: `"code":9`}}, Body: []byte("body"),
		})
		require.NoError(t, err)
		opaque, code, err := answerIdentity(frame)
		require.NoError(t, err)
		require.EqualValues(t, -7, opaque)
		require.EqualValues(t, -1000, code)
	}
	_, _, err := answerIdentity([]byte{0, 0, 0, 6, 0, 0, 9, 9, '{', '}'})
	require.Error(t, err)
}

func TestReportFormats(t *testing.T) {
	addr := startNamesrv(t)
	r, err := RunRoute(t.Context(), RouteOptions{
		Load: Load{Addr: addr, Connections: 1, Depth: 1, Count: 3}, Topic: "nobody-has-it", Version: protocol.CurrentVersion,
	})
	require.NoError(t, err)
	var text, js bytes.Buffer
	require.NoError(t, r.WriteText(&text))
	require.Contains(t, text.String(), "errors      3  code 17: 3")
	require.NoError(t, r.WriteJSON(&js))
	var back struct {
		Kind         string
		Answers      int64
		Codes        map[string]int64
		LatencyNanos map[string]int64
	}
	require.NoError(t, json.Unmarshal(js.Bytes(), &back))
	require.Equal(t, "route", back.Kind)
	require.EqualValues(t, 3, back.Answers)
	require.Equal(t, map[string]int64{"17": 3}, back.Codes)
	require.Positive(t, back.LatencyNanos["P99"])
}
