package broker

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The address server's first line is the list; only namesrvAddr comes before it.
func TestAddressServer(t *testing.T) {
	a, b := startNamesrv(t, "127.0.0.1:0", nil), startNamesrv(t, "127.0.0.1:0", nil)
	var answer, path atomic.Value
	answer.Store("  " + a.addr + ";\r\nsecond line")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path.Store(r.Method + " " + r.URL.Path)
		_, _ = w.Write([]byte(answer.Load().(string)))
	}))
	defer server.Close()
	set := testSettings("")
	set.Servers = namesrvSettings{ByAddressServer: true, Domain: strings.TrimPrefix(server.URL, "http://"),
		Subgroup: "nsaddr-test", FetchInterval: time.Second}
	r := startRegistrar(t, set, newFakeTopics(3))
	soon(t, func() bool { return a.knows(r.topics) }, "registered")
	require.Equal(t, "GET /rocketmq/nsaddr-test", path.Load())

	for fault, text := range map[string]string{"is empty": "", "not a list": "not a list"} {
		answer.Store(text)
		r.serversChanged()
		soon(t, func() bool { return len(r.log.with("not updated", fault)) == 1 }, "bad answer named")
	}
	require.Equal(t, []string{a.addr}, r.servers())
	answer.Store(b.addr)
	soon(t, func() bool { return b.knows(r.topics) && a.count(reqUnregister) == 1 }, "new list within the interval")

	r.change(func(s *registrarSettings) { s.Servers.Addr = a.addr })
	r.serversChanged()
	soon(t, func() bool { return a.knows(r.topics) && b.count(reqUnregister) == 1 }, "namesrvAddr wins")
}

// BrokerOuterAPITest: localhost:6789 is 127.0.0.1:6789.
func TestResolveServer(t *testing.T) {
	resolver := &fakeResolver{names: map[string][]string{
		"localhost": {"::1", "127.0.0.1"},
		"both":      {"fd00::2", "10.0.0.2", "10.0.0.1", "10.0.0.2"},
		"v6":        {"fd00::2", "fd00::1"},
		"none":      {},
		"odd":       {"?"},
	}}
	for host, want := range map[string][]string{
		"localhost": {"127.0.0.1:6789"},
		"both":      {"10.0.0.1:6789", "10.0.0.2:6789"},
		"v6":        {"[fd00::1]:6789", "[fd00::2]:6789"},
	} {
		addrs, err := resolveServer(context.Background(), resolver, host, "6789")
		require.NoError(t, err)
		require.Equal(t, want, addrs)
	}
	for _, host := range []string{"none", "odd", "unknown"} {
		_, err := resolveServer(context.Background(), resolver, host, "6789")
		require.Error(t, err, host)
	}
}
