package remoting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// An address server is an HTTP server that knows the NameServers. Source: spec/broker.md §4.1, spec/namesrv.md §4.6.

const (
	addressServerTimeout = 3 * time.Second // of one question
	addressServerLimit   = 64 << 10        // bytes of its answer
)

var (
	errLongAnswer  = errors.New("the answer is too long")
	errEmptyAnswer = errors.New("the answer is empty")
)

// AddressServerURL returns where an address server keeps the list of a subgroup's NameServers, or of those of one of its
// units if unit is not blank. domain is a host, with a port or without, which stands for port 8080.
func AddressServerURL(domain, subgroup, unit string) string {
	if ip, err := netip.ParseAddr(domain); err == nil && ip.Is6() {
		domain = "[" + domain + "]"
	}
	if !strings.Contains(domain[strings.LastIndexByte(domain, ']')+1:], ":") {
		domain += ":8080"
	}
	u := url.URL{Scheme: "http", Host: domain, Path: "/rocketmq/" + subgroup}
	if unit = strings.TrimSpace(unit); unit != "" {
		u.Path += "-" + unit
		u.RawQuery = "nofix=1"
	}
	return u.String()
}

// FetchServers asks the address server at url, for at most 3 s and through no proxy, and returns the list: the first line
// with text of what it answers, addresses separated by ";". Errors name the URL.
func FetchServers(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, addressServerTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", fmt.Errorf("address server: %w", err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // the next question is long in coming
	resp, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("address server: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("address server %s: %s", url, resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, addressServerLimit+1))
	text := strings.TrimSpace(string(body))
	switch {
	case err != nil:
	case len(body) > addressServerLimit:
		err = errLongAnswer
	case text == "":
		err = errEmptyAnswer
	}
	if err != nil {
		return "", fmt.Errorf("address server %s: %w", url, err)
	}
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		text = strings.TrimSpace(text[:end])
	}
	return text, nil
}
