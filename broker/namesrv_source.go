package broker

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mq-server/mq/remoting"
)

// namesrvSettings say where the list of NameServers comes from.
type namesrvSettings struct {
	Addr string // namesrvAddr: host:port, separated by ';'
	// ByAddressServer is fetchNamesrvAddrByAddressServer: ask an address server if Addr is blank.
	ByAddressServer bool
	Domain          string        // rmqAddressServerDomain
	Subgroup        string        // rmqAddressServerSubGroup
	FetchInterval   time.Duration // fetchNamesrvAddrInterval
	UpdatePeriod    time.Duration // updateNameServerAddrPeriod
}

// list returns the list as it is now, which may be "", and how long it is good for.
//
// With fetchNameSrvAddrByDnsLookup the original takes namesrvAddr for a name to be resolved to all its addresses. Here
// every name in the list is.
func (s *namesrvSettings) list(ctx context.Context) (text string, wait time.Duration, err error) {
	if strings.TrimSpace(s.Addr) != "" || !s.ByAddressServer {
		wait = resolvePeriod
		if s.UpdatePeriod > 0 {
			wait = min(wait, s.UpdatePeriod)
		}
		return s.Addr, wait, nil
	}
	text, err = remoting.FetchServers(ctx, remoting.AddressServerURL(s.Domain, s.Subgroup, ""))
	return text, max(s.FetchInterval, time.Second), err
}

var errNoAddress = errors.New("the name has no address")

// resolveServer returns the addresses of the NameServers at host, ascending: those of IPv4, or those of IPv6 if there
// are no others. Both at once would mostly be the same servers twice.
func resolveServer(ctx context.Context, resolver hostResolver, host, port string) ([]string, error) {
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	found, err := resolver.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	var v4, v6 []netip.Addr
	for _, text := range found {
		switch ip, err := netip.ParseAddr(text); {
		case err != nil:
		case ip.Unmap().Is4():
			v4 = append(v4, ip.Unmap())
		default:
			v6 = append(v6, ip)
		}
	}
	if len(v4) == 0 {
		v4 = v6
	}
	if len(v4) == 0 {
		return nil, errNoAddress
	}
	slices.SortFunc(v4, netip.Addr.Compare)
	addrs := make([]string, 0, len(v4))
	for _, ip := range slices.Compact(v4) {
		addrs = append(addrs, net.JoinHostPort(ip.String(), port))
	}
	return addrs, nil
}
