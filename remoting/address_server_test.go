package remoting

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAddressServerURL(t *testing.T) {
	for _, row := range []struct{ domain, subgroup, unit, want string }{
		{"jmenv.tbsite.net", "nsaddr", "", "http://jmenv.tbsite.net:8080/rocketmq/nsaddr"},
		{"jmenv.tbsite.net:80", "nsaddr", " ", "http://jmenv.tbsite.net:80/rocketmq/nsaddr"},
		{"127.0.0.1", "other", "unit1", "http://127.0.0.1:8080/rocketmq/other-unit1?nofix=1"},
		{"[::1]", "nsaddr", "", "http://[::1]:8080/rocketmq/nsaddr"},
		{"[::1]:9", "nsaddr", "", "http://[::1]:9/rocketmq/nsaddr"},
		{"::1", "nsaddr", "", "http://[::1]:8080/rocketmq/nsaddr"},
	} {
		require.Equal(t, row.want, AddressServerURL(row.domain, row.subgroup, row.unit))
	}
}

func TestFetchServers(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	answers := map[string]struct {
		status     int
		body       string
		want, fail string
	}{
		"one":    {200, "a:1", "a:1", ""},
		"list":   {200, "a:1;b:2", "a:1;b:2", ""},
		"blanks": {200, "\n \r\n a:1; b:2 ; \r\nsecond line", "a:1; b:2 ;", ""},
		"cr":     {200, "a:1\rb:2", "a:1", ""},
		"empty":  {200, "", "", "the answer is empty"},
		"blank":  {200, " \n ", "", "the answer is empty"},
		"gone":   {404, "a:1", "", "404"},
		"broken": {500, "a:1", "", "500"},
		"none":   {204, "", "", "204"},
		"most":   {200, "a:1" + strings.Repeat(" ", addressServerLimit-3), "a:1", ""},
		"long":   {200, "a:1" + strings.Repeat(" ", addressServerLimit-2), "", "the answer is too long"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[strings.TrimPrefix(r.URL.Path, "/rocketmq/")]
		w.WriteHeader(answer.status)
		_, _ = fmt.Fprint(w, answer.body)
	}))
	defer server.Close()
	for name, row := range answers {
		url := AddressServerURL(strings.TrimPrefix(server.URL, "http://"), name, "")
		got, err := FetchServers(t.Context(), url)
		require.Equal(t, row.want, got, name)
		if row.fail == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, row.fail, name)
		require.ErrorContains(t, err, url, name)
	}
}

// An address server that cannot be reached, or is silent, is an error that names the URL.
func TestFetchServersFails(t *testing.T) {
	_, err := FetchServers(t.Context(), AddressServerURL("127.0.0.1:1", "nsaddr", ""))
	require.ErrorContains(t, err, "http://127.0.0.1:1/rocketmq/nsaddr")
	_, err = FetchServers(t.Context(), AddressServerURL("no host", "nsaddr", ""))
	require.Error(t, err)

	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, by the kernel, and never answers
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	url := AddressServerURL(silent.Addr().String(), "nsaddr", "")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = FetchServers(ctx, url)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, url)
}
