package remoting

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/pires/go-proxyproto"
)

// Attribute keys that a PROXY protocol header leaves on its connection (spec/remoting.md §7.5).
const (
	attrProxyAddr       = "proxy_protocol_addr"
	attrProxyPort       = "proxy_protocol_port"
	attrProxyServerAddr = "proxy_protocol_server_addr"
	attrProxyServerPort = "proxy_protocol_server_port"
	attrProxyTLVPrefix  = "proxy_protocol_tlv_0x" // followed by the type, two lower-case hex digits
)

const (
	// maxProxyV1 is the longest version 1 header in bytes, CR and LF included (PROXY protocol, section 2.1).
	maxProxyV1 = 107
	// proxyV2Fixed is what precedes the variable part of a version 2 header: signature, command, family, length.
	proxyV2Fixed = 16
	// maxProxyV2 bounds a whole version 2 header in bytes. The format allows 64 KiB; addresses take at most
	// 216 bytes, and the TLVs load balancers send are a few hundred.
	maxProxyV2 = 16 << 10
)

// ErrProxyHeader is wrapped by every failure to read a PROXY protocol header.
var ErrProxyHeader = errors.New("bad PROXY protocol header")

// proxyInfo is what a PROXY protocol header said about a connection.
type proxyInfo struct {
	// remoteAddr is "host:port" of the real client and stands in for the socket's peer address everywhere.
	// It is empty if the header did not name both.
	remoteAddr string
	// attrs are the connection's attributes by their wire names, proxy_protocol_…
	attrs map[string]string
}

// proxyBuf reads a PROXY protocol header in whatever pieces it arrives. It may read past the header; the
// excess stays in buf[used:].
type proxyBuf struct {
	r   io.Reader
	buf []byte
}

// fill reads until at least n bytes are there.
func (p *proxyBuf) fill(n int) error {
	for len(p.buf) < n {
		if len(p.buf) == cap(p.buf) {
			grown := make([]byte, len(p.buf), max(256, 2*cap(p.buf)))
			copy(grown, p.buf)
			p.buf = grown
		}
		m, err := p.r.Read(p.buf[len(p.buf):cap(p.buf)])
		p.buf = p.buf[:len(p.buf)+m]
		if err != nil && len(p.buf) < n {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// isProxyByte tells whether a connection that starts with b may start with a PROXY protocol header.
func isProxyByte(b byte) bool { return b == proxyproto.SIGV1[0] || b == proxyproto.SIGV2[0] }

// readProxyHeader reads a PROXY protocol header of version 1 or 2 from r, of which the bytes in got (at least
// one) have been read already. It returns what the header says (nil if it leaves the socket address in force:
// UNKNOWN, LOCAL), and the bytes read beyond it. A stream that turns out not to start with a header is
// ErrNotRemoting, a header that breaks the rules ErrProxyHeader; either is found at the first wrong byte of
// the signature, nothing more is awaited.
func readProxyHeader(r io.Reader, got []byte) (info *proxyInfo, rest []byte, err error) {
	p := &proxyBuf{r: r, buf: got}
	sig := proxyproto.SIGV1
	if got[0] == proxyproto.SIGV2[0] {
		sig = proxyproto.SIGV2
	}
	for n := 1; n <= len(sig); n++ {
		if err := p.fill(n); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrProxyHeader, err)
		}
		if p.buf[n-1] != sig[n-1] {
			return nil, nil, fmt.Errorf("%w: it starts with %q", ErrNotRemoting, p.buf[:n])
		}
	}

	var size int
	if sig[0] == proxyproto.SIGV1[0] {
		size, err = p.sizeV1()
	} else {
		size, err = p.sizeV2()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrProxyHeader, err)
	}
	info, err = parseProxyHeader(p.buf[:size])
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrProxyHeader, err)
	}
	return info, p.buf[size:], nil
}

// sizeV1 reads a version 1 header to its end, the first LF, and returns its size in bytes.
func (p *proxyBuf) sizeV1() (int, error) {
	for n := len(proxyproto.SIGV1) + 1; n <= maxProxyV1; n++ {
		if err := p.fill(n); err != nil {
			return 0, err
		}
		if p.buf[n-1] == '\n' {
			return n, nil
		}
	}
	return 0, fmt.Errorf("no line end within %d bytes", maxProxyV1)
}

// sizeV2 reads a version 2 header to its end and returns its size in bytes. Memory grows with the bytes that
// have arrived, not with the length that the header claims.
func (p *proxyBuf) sizeV2() (int, error) {
	if err := p.fill(proxyV2Fixed); err != nil {
		return 0, err
	}
	size := proxyV2Fixed + int(binary.BigEndian.Uint16(p.buf[proxyV2Fixed-2:]))
	if size > maxProxyV2 {
		return 0, fmt.Errorf("%d bytes, more than the limit of %d", size, maxProxyV2)
	}
	return size, p.fill(size)
}

// parseProxyHeader parses one complete header. The result is nil if the header leaves the socket address in force.
func parseProxyHeader(header []byte) (*proxyInfo, error) {
	if header[0] == proxyproto.SIGV2[0] && header[12] == byte(proxyproto.PROXY) && header[13]&0xF0 == 0 {
		return nil, nil // AF_UNSPEC, which the library refuses: "use the real endpoints" (PROXY protocol, section 2.2)
	}
	h, err := proxyproto.Read(bufio.NewReaderSize(bytes.NewReader(header), len(header)))
	if err != nil {
		return nil, err
	}
	if h.Command.IsLocal() {
		return nil, nil
	}
	tlvs, err := h.TLVs()
	if err != nil {
		return nil, err
	}

	info := &proxyInfo{attrs: make(map[string]string, 4+len(tlvs))}
	addr, port := hostPort(h.SourceAddr)
	info.set(attrProxyAddr, addr)
	info.set(attrProxyPort, port)
	if addr != "" && port != "" {
		info.remoteAddr = net.JoinHostPort(addr, port)
	}
	addr, port = hostPort(h.DestinationAddr)
	info.set(attrProxyServerAddr, addr)
	info.set(attrProxyServerPort, port)
	for _, tlv := range tlvs {
		if isPrintableASCII(tlv.Value) {
			info.set(fmt.Sprintf(attrProxyTLVPrefix+"%02x", byte(tlv.Type)), string(tlv.Value))
		}
	}
	return info, nil
}

// set stores value under key unless it is empty.
func (i *proxyInfo) set(key, value string) {
	if value != "" {
		i.attrs[key] = value
	}
}

// hostPort splits an address of a PROXY protocol header. Unix sockets have no port, and port 0 counts as none.
func hostPort(a net.Addr) (host, port string) {
	var n int
	switch a := a.(type) {
	case *net.TCPAddr:
		host, n = a.IP.String(), a.Port
	case *net.UDPAddr:
		host, n = a.IP.String(), a.Port
	case *net.UnixAddr:
		return a.Name, ""
	}
	if n > 0 {
		port = strconv.Itoa(n)
	}
	return host, port
}

// isPrintableASCII tells whether b holds nothing but bytes from 32 to 126.
func isPrintableASCII(b []byte) bool {
	for _, c := range b {
		if c < 32 || c > 126 {
			return false
		}
	}
	return true
}
