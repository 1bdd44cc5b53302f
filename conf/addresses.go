package conf

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ServerError says which item of a list of servers is not host:port.
type ServerError struct{ Item string }

func (e *ServerError) Error() string { return fmt.Sprintf("%q is not host:port", e.Item) }

// ParseServers reads a list of servers, host:port separated by ';', as namesrvAddr has it. A host is a name, an IPv4
// address or an IPv6 address in brackets; it need not resolve. Blanks are trimmed, empty items and duplicates are
// dropped; the order stays. The only error is a *ServerError: a comma separates nothing, and a scheme, a missing
// host and a missing port are mistakes. Source: spec/broker.md §1.3; spec/field-reports.md N55, N58.
func ParseServers(text string) ([]string, error) {
	var list []string
	for item := range strings.SplitSeq(text, ";") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		server, ok := parseServer(item)
		if !ok {
			return nil, &ServerError{item}
		}
		if !slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, server) }) {
			list = append(list, server)
		}
	}
	return list, nil
}

func parseServer(item string) (server string, ok bool) {
	colon := strings.LastIndexByte(item, ':')
	if colon < 0 {
		return "", false
	}
	host, digits := item[:colon], item[colon+1:]
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || port == 0 || !isHost(host) || strings.HasPrefix(host, "[") != strings.Contains(host, ":") {
		return "", false
	}
	host = withoutBrackets(host)
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	}
	return net.JoinHostPort(host, strconv.FormatUint(port, 10)), true
}

// HostPort is the address under which others reach port at host: with brackets around an IPv6 address, and without
// its zone, which means nothing elsewhere (spec/field-reports.md N58).
func HostPort(host string, port int) string {
	host = withoutBrackets(host)
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.WithZone("").String()
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// Interface is a network interface of this machine, as far as the choice of an address depends on it.
type Interface struct {
	Name  string
	Index int
	Flags net.Flags
	// Bridge is set for a Linux bridge, such as those of Docker.
	Bridge bool
	Addrs  []netip.Addr
}

// Interfaces lists the network interfaces of this machine.
func Interfaces() ([]Interface, error) {
	list, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var result []Interface
	for _, i := range list {
		_, err := os.Stat(filepath.Join("/sys/class/net", i.Name, "bridge"))
		known := Interface{Name: i.Name, Index: i.Index, Flags: i.Flags, Bridge: err == nil}
		addrs, err := i.Addrs()
		if err != nil {
			continue // it has gone in the meantime
		}
		for _, a := range addrs {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil {
				known.Addrs = append(known.Addrs, prefix.Addr().Unmap())
			}
		}
		result = append(result, known)
	}
	return result, nil
}

// LookUp returns the address at which net.Listen listens when it is given a host's name.
func LookUp(host string) (netip.Addr, error) {
	addr, err := net.ResolveIPAddr("ip", host)
	if err != nil {
		return netip.Addr{}, err
	}
	ip, _ := netip.AddrFromSlice(addr.IP)
	return ip.Unmap().WithZone(addr.Zone), nil
}

// DetectAddress chooses the address under which others most likely reach this machine: a public IPv4 address, or
// else a private one, or else an IPv6 address. Bridges, sub-interfaces, point-to-point links, and interfaces that
// are down are left out. A link-local address is better than nothing; ok is false if there is none at all but
// loopback. Of several equally good ones it is the one that the original chooses, which sees interfaces and their
// addresses in the reverse of the system's order. Source: spec/broker.md §1.3; spec/field-reports.md N59.
func DetectAddress(interfaces []Interface) (addr netip.Addr, ok bool) {
	interfaces = slices.Clone(interfaces)
	slices.SortStableFunc(interfaces, func(a, b Interface) int { return b.Index - a.Index })
	var public4, private4, public6, local6, linkLocal []netip.Addr
	for _, i := range interfaces {
		if i.Bridge || i.Flags&net.FlagUp == 0 || i.Flags&net.FlagPointToPoint != 0 || strings.Contains(i.Name, ":") {
			continue
		}
		for _, a := range slices.Backward(i.Addrs) {
			switch {
			case a.IsLoopback() || a.IsUnspecified() || a.IsMulticast():
			case a.IsLinkLocalUnicast():
				linkLocal = append(linkLocal, a)
			case a.Is4() && a.IsPrivate():
				private4 = append(private4, a)
			case a.Is4():
				public4 = append(public4, a)
			case a.IsPrivate() || siteLocal.Contains(a):
				local6 = append(local6, a)
			default:
				public6 = append(public6, a)
			}
		}
	}
	slices.Reverse(private4) // of private ones the original takes the last
	for _, list := range [][]netip.Addr{public4, private4, public6, local6, linkLocal} {
		if len(list) > 0 {
			return list[0].WithZone(""), true
		}
	}
	return netip.Addr{}, false
}

var siteLocal = netip.MustParsePrefix("fec0::/10") // deprecated, but Java still tells them apart
