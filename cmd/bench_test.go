package cmd

import (
	"encoding/json"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The words of bench ready are a command line; those of the other commands are mistakes.
func TestBenchReady(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	require.NoError(t, l.Close())
	stdout, stderr, status := run(t, nil, "bench", "ready", "--addr", "127.0.0.1:"+port, "--json", "--",
		binary, "namesrv", "--set", "bindAddress=127.0.0.1", "--set", "listenPort="+port)
	require.Zero(t, status, stderr)
	var ready struct {
		Addr       string
		ReadyNanos int64
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &ready))
	require.Equal(t, "127.0.0.1:"+port, ready.Addr)
	require.Positive(t, ready.ReadyNanos)

	_, stderr, status = run(t, nil, "bench", "ready", "--addr", "127.0.0.1:"+port)
	require.Equal(t, 1, status)
	require.Equal(t, "mq: a command to start the server is needed\n", stderr)
}
