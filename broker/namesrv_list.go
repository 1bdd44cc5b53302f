package broker

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/conf"
)

// Times of the list of NameServers that no property sets.
const (
	resolvePeriod  = 30 * time.Second // names are resolved anew
	resolveRetry   = 5 * time.Second  // the same after a failure
	resolveTimeout = 5 * time.Second  // of one name
)

// hostResolver finds the addresses of host names; *net.Resolver is one.
type hostResolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// serverList is the list of NameServers in the making: what was asked for, and what names stood for when they were last
// resolved. One goroutine owns it.
type serverList struct {
	r     *registrar
	text  string              // the list that items were read from
	items []string            // host:port, as listed
	found map[string][]string // addresses by item; stays when a name cannot be resolved any more
	bad   map[string]bool     // items that could not be resolved last time
	fault string              // what is wrong with the list as a whole; logged once
}

// followServers keeps the workers in line with the list of NameServers until ctx ends. New workers run in g.
//
// Names are resolved to all of their addresses, over and over. A list that is empty, that cannot be read or fetched,
// and a name that cannot be resolved change nothing, and are tried again. Source: spec/broker.md §4.1.
func (r *registrar) followServers(ctx context.Context, g *errgroup.Group) error {
	l := serverList{r: r, found: map[string][]string{}, bad: map[string]bool{}}
	for {
		wait := l.update(ctx, func(addrs []string) { r.setServers(ctx, g, addrs) })
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-r.relist:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

// update reads the list, resolves its names, and publishes the addresses: those that need no resolving at once, the
// others as they are found. It returns how long to wait until it is called again.
func (l *serverList) update(ctx context.Context, publish func([]string)) (wait time.Duration) {
	set := l.r.cfg.Settings().Servers
	text, wait, err := set.list(ctx)
	if ctx.Err() != nil {
		return wait
	}
	if err != nil {
		l.fail(err.Error())
		return min(wait, resolveRetry)
	}
	if strings.TrimSpace(text) != "" && text != l.text {
		items, err := conf.ParseServers(text)
		if err != nil {
			l.fail(err.Error())
			return wait
		}
		l.text, l.items = text, items
		l.forget()
	}
	l.fault = ""
	if l.resolve(ctx, publish) {
		return wait
	}
	return min(wait, resolveRetry)
}

// fail logs what is wrong with the list, unless that is known.
func (l *serverList) fail(fault string) {
	if l.fault != fault {
		l.fault = fault
		l.r.cfg.Log.Warn().Str("error", fault).Msg("list of NameServers not updated")
	}
}

// forget drops what is known of items that are no longer listed.
func (l *serverList) forget() {
	for item := range l.found {
		if !slices.Contains(l.items, item) {
			delete(l.found, item)
		}
	}
	for item := range l.bad {
		if !slices.Contains(l.items, item) {
			delete(l.bad, item)
		}
	}
}

// resolve looks up all names at a time. It returns whether all were found.
func (l *serverList) resolve(ctx context.Context, publish func([]string)) bool {
	type answer struct {
		item  string
		addrs []string
		err   error
	}
	var lookups errgroup.Group
	answers := make(chan answer, len(l.items)) // has room for all
	names := 0
	for _, item := range l.items {
		host, port, err := net.SplitHostPort(item)
		if _, notIP := netip.ParseAddr(host); err != nil || notIP == nil {
			l.found[item] = []string{item}
			continue
		}
		names++
		lookups.Go(func() error {
			addrs, err := resolveServer(ctx, l.r.cfg.Resolver, host, port)
			answers <- answer{item, addrs, err}
			return nil
		})
	}
	defer func() { _ = lookups.Wait() }() // none fails
	l.publish(publish)
	all := true
	for range names {
		a := <-answers
		if ctx.Err() != nil {
			return false
		}
		if a.err != nil {
			all = false
			if !l.bad[a.item] {
				l.r.cfg.Log.Warn().Err(a.err).Str("namesrvAddr", a.item).Msg("NameServer's name cannot be resolved")
			}
			l.bad[a.item] = true
			continue
		}
		delete(l.bad, a.item)
		l.found[a.item] = a.addrs
		l.publish(publish)
	}
	return all
}

// publish publishes the addresses known so far, if there are any.
func (l *serverList) publish(publish func([]string)) {
	var addrs []string
	for _, item := range l.items {
		for _, addr := range l.found[item] {
			if !slices.Contains(addrs, addr) {
				addrs = append(addrs, addr)
			}
		}
	}
	if len(addrs) > 0 {
		publish(addrs)
	}
}
