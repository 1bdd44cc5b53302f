package remoting

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pires/go-proxyproto"
	"github.com/stretchr/testify/require"
)

// proxyV2Header builds a version 2 header byte by byte, as section 2.2 of the PROXY protocol draws it.
func proxyV2Header(command, family byte, rest []byte) []byte {
	h := append([]byte("\r\n\r\n\x00\r\nQUIT\n"), command, family)
	h = binary.BigEndian.AppendUint16(h, uint16(len(rest)))
	return append(h, rest...)
}

// proxyTLV builds one type-length-value of a version 2 header.
func proxyTLV(typ byte, value string) []byte {
	return append([]byte{typ, byte(len(value) >> 8), byte(len(value))}, value...)
}

var (
	v4Addrs = []byte{1, 2, 3, 4, 5, 6, 7, 8, 0x04, 0x57, 0x08, 0xae} // 1.2.3.4:1111 -> 5.6.7.8:2222
	v6Addrs = append(bytes.Repeat([]byte{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 2), v4Addrs[8:]...)
)

func unixAddrs(src, dst string) []byte {
	b := make([]byte, 216)
	copy(b, src)
	copy(b[108:], dst)
	return b
}

var v4Attrs = map[string]string{
	"proxy_protocol_addr":        "1.2.3.4",
	"proxy_protocol_port":        "1111",
	"proxy_protocol_server_addr": "5.6.7.8",
	"proxy_protocol_server_port": "2222",
}

// with adds entries to a copy of m.
func with(m map[string]string, kv ...string) map[string]string {
	c := make(map[string]string)
	for k, v := range m {
		c[k] = v
	}
	for i := 0; i < len(kv); i += 2 {
		c[kv[i]] = kv[i+1]
	}
	return c
}

var goodProxyHeaders = []struct {
	name   string
	header []byte
	want   *proxyInfo
}{
	{"v1 TCP4", []byte("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n"), &proxyInfo{"1.2.3.4:1111", v4Attrs}},
	{"v1 TCP6", []byte("PROXY TCP6 2001:db8::1 2001:db8::2 1111 2222\r\n"), &proxyInfo{"[2001:db8::1]:1111", map[string]string{
		"proxy_protocol_addr": "2001:db8::1", "proxy_protocol_port": "1111",
		"proxy_protocol_server_addr": "2001:db8::2", "proxy_protocol_server_port": "2222",
	}}},
	{"v1 port 0 counts as none", []byte("PROXY TCP4 1.2.3.4 5.6.7.8 0 2222\r\n"), &proxyInfo{"", map[string]string{
		"proxy_protocol_addr": "1.2.3.4", "proxy_protocol_server_addr": "5.6.7.8", "proxy_protocol_server_port": "2222",
	}}},
	{"v1 UNKNOWN", []byte("PROXY UNKNOWN\r\n"), nil},
	{"v1 UNKNOWN with the longest text", []byte("PROXY UNKNOWN " + strings.Repeat("f", 91) + "\r\n"), nil},
	{"v2 TCP4", proxyV2Header(0x21, 0x11, v4Addrs), &proxyInfo{"1.2.3.4:1111", v4Attrs}},
	{"v2 TCP6", proxyV2Header(0x21, 0x21, v6Addrs), &proxyInfo{"[2001:db8::1]:1111", map[string]string{
		"proxy_protocol_addr": "2001:db8::1", "proxy_protocol_port": "1111",
		"proxy_protocol_server_addr": "2001:db8::1", "proxy_protocol_server_port": "2222",
	}}},
	{"v2 UDP4", proxyV2Header(0x21, 0x12, v4Addrs), &proxyInfo{"1.2.3.4:1111", v4Attrs}},
	{"v2 unix", proxyV2Header(0x21, 0x31, unixAddrs("/run/src", "/run/dst")), &proxyInfo{"", map[string]string{
		"proxy_protocol_addr": "/run/src", "proxy_protocol_server_addr": "/run/dst",
	}}},
	{"v2 TLV, ASCII", proxyV2Header(0x21, 0x11, append(v4Addrs[:12:12], proxyTLV(0xEA, "vpc-1")...)),
		&proxyInfo{"1.2.3.4:1111", with(v4Attrs, "proxy_protocol_tlv_0xea", "vpc-1")}},
	{"v2 TLVs, one not ASCII, one empty, one padding", proxyV2Header(0x21, 0x11, bytes.Join([][]byte{
		v4Addrs, proxyTLV(0x02, "a\x00b"), proxyTLV(0x05, ""), proxyTLV(0x04, "   "), proxyTLV(0xE0, "x y~"), proxyTLV(0xE1, "\x80"),
	}, nil)), &proxyInfo{"1.2.3.4:1111", with(v4Attrs, "proxy_protocol_tlv_0xe0", "x y~")}},
	{"v2 LOCAL", proxyV2Header(0x20, 0x00, nil), nil},
	{"v2 LOCAL with addresses", proxyV2Header(0x20, 0x11, v4Addrs), nil},
	{"v2 PROXY unspecified", proxyV2Header(0x21, 0x00, []byte("abc")), nil},
	{"v2 longest", proxyV2Header(0x21, 0x11, append(v4Addrs[:12:12],
		proxyTLV(0xEA, strings.Repeat("z", maxProxyV2-proxyV2Fixed-12-3))...)),
		&proxyInfo{"1.2.3.4:1111", with(v4Attrs, "proxy_protocol_tlv_0xea", strings.Repeat("z", maxProxyV2-proxyV2Fixed-12-3))}},
}

var badProxyHeaders = []struct {
	name   string
	header []byte
	want   error
}{
	{"other text with P", []byte("POST / HTTP/1.1\r\n"), ErrNotRemoting},
	{"HTTP/2", []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), ErrNotRemoting},
	{"last letter of the signature wrong", []byte("PROXX"), ErrNotRemoting},
	{"carriage return, then other", []byte("\r\nhello"), ErrNotRemoting},
	{"last byte of the v2 signature wrong", []byte("\r\n\r\n\x00\r\nQUIT\r"), ErrNotRemoting},
	{"v1 without end", []byte("PROXY UNKNOWN " + strings.Repeat("f", 200)), ErrProxyHeader},
	{"v1 one byte too long", []byte("PROXY UNKNOWN " + strings.Repeat("f", 92) + "\r\n"), ErrProxyHeader},
	{"v1 LF without CR", []byte("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\n"), ErrProxyHeader},
	{"v1 glued signature", []byte("PROXYTCP4 1.2.3.4 5.6.7.8 1111 2222\r\n"), ErrProxyHeader},
	{"v1 unknown family", []byte("PROXY TCP5 1.2.3.4 5.6.7.8 1111 2222\r\n"), ErrProxyHeader},
	{"v1 port above 65535", []byte("PROXY TCP4 1.2.3.4 5.6.7.8 65536 2222\r\n"), ErrProxyHeader},
	{"v1 address of the other family", []byte("PROXY TCP4 ::1 ::1 1111 2222\r\n"), ErrProxyHeader},
	{"v1 address missing", []byte("PROXY TCP4 1.2.3.4\r\n"), ErrProxyHeader},
	{"v2 version 3", proxyV2Header(0x31, 0x11, v4Addrs), ErrProxyHeader},
	{"v2 command 2", proxyV2Header(0x22, 0x11, v4Addrs), ErrProxyHeader},
	{"v2 addresses cut", proxyV2Header(0x21, 0x11, v4Addrs[:11]), ErrProxyHeader},
	{"v2 unknown family", proxyV2Header(0x21, 0x41, v4Addrs), ErrProxyHeader},
	{"v2 TLV runs over the end", proxyV2Header(0x21, 0x11, append(v4Addrs[:12:12], 0xEA, 0, 9, 'a')), ErrProxyHeader},
	{"v2 above the limit", proxyV2Header(0x21, 0x11, make([]byte, maxProxyV2-proxyV2Fixed+1)), ErrProxyHeader},
	{"v1 ends early", []byte("PROXY TCP4 1.2"), io.ErrUnexpectedEOF},
	{"v2 ends early", proxyV2Header(0x21, 0x11, v4Addrs)[:20], io.ErrUnexpectedEOF},
}

// readers cut a stream into pieces in different ways.
var readers = map[string]func(io.Reader) io.Reader{
	"whole":   func(r io.Reader) io.Reader { return r },
	"halves":  iotest.HalfReader,
	"bytes":   iotest.OneByteReader,
	"dataErr": iotest.DataErrReader,
}

func TestReadProxyHeader(t *testing.T) {
	const next = "\x00\x00\x00\x10the frame that follows"
	for _, c := range goodProxyHeaders {
		for cut, pieces := range readers {
			t.Run(c.name+"/"+cut, func(t *testing.T) {
				r := pieces(bytes.NewReader([]byte(string(c.header[1:]) + next)))
				info, rest, err := readProxyHeader(r, c.header[:1:1])
				require.NoError(t, err)
				require.Equal(t, c.want, info)
				tail, err := io.ReadAll(r)
				require.NoError(t, err)
				require.Equal(t, next, string(rest)+string(tail))
			})
		}
	}
}

func TestReadProxyHeaderRefuses(t *testing.T) {
	for _, c := range badProxyHeaders {
		for cut, pieces := range readers {
			t.Run(c.name+"/"+cut, func(t *testing.T) {
				info, rest, err := readProxyHeader(pieces(bytes.NewReader(c.header[1:])), c.header[:1:1])
				require.ErrorIs(t, err, c.want)
				require.Nil(t, info)
				require.Nil(t, rest)
			})
		}
	}
}

// A wrong signature is seen at its first wrong byte: nothing more is awaited from a peer that will not send more.
func TestReadProxyHeaderRefusesAtFirstWrongByte(t *testing.T) {
	for _, s := range []string{"PO", "PRI", "\rx", "\r\n\r\n\x00\r\nQUITT"} {
		never := iotest.ErrReader(errors.New("asked for more"))
		_, _, err := readProxyHeader(io.MultiReader(strings.NewReader(s[1:]), never), []byte(s[:1]))
		require.ErrorIs(t, err, ErrNotRemoting, "%q", s)
	}
}

// The claimed length of a version 2 header does not decide how much memory is taken before its bytes arrive.
func TestReadProxyHeaderMemoryFollowsArrival(t *testing.T) {
	header := proxyV2Header(0x21, 0x11, make([]byte, 16000))[:40]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const runs = 100
	for range runs {
		_, _, err := readProxyHeader(bytes.NewReader(header[1:]), header[:1:1])
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/runs, uint64(4096))
}

// FuzzPROXY: no panic and bounded reading, whatever arrives; the pieces in which it arrives make no difference;
// what the library's own writer makes of a result reads back as the same result.
func FuzzPROXY(f *testing.F) {
	for _, c := range goodProxyHeaders {
		f.Add(c.header)
	}
	for _, c := range badProxyHeaders {
		f.Add(c.header)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || !isProxyByte(data[0]) {
			return
		}
		r := bytes.NewReader(data[1:])
		info, rest, err := readProxyHeader(r, data[:1:1])
		info1, rest1, err1 := readProxyHeader(iotest.OneByteReader(bytes.NewReader(data[1:])), data[:1:1])
		require.Equal(t, err == nil, err1 == nil)
		require.Equal(t, info, info1)
		if err != nil {
			return
		}
		require.Empty(t, rest1)
		require.LessOrEqual(t, len(data)-r.Len(), 2*maxProxyV2, "bytes read")
		tail := data[len(data)-r.Len():]
		require.True(t, bytes.HasSuffix(data, append(rest, tail...)), "what follows the header is kept")
		if info == nil || info.remoteAddr == "" {
			return
		}
		src, err := net.ResolveTCPAddr("tcp", info.remoteAddr)
		require.NoError(t, err)
		again, err := proxyproto.HeaderProxyFromAddrs(2, src, src).Format()
		require.NoError(t, err)
		info2, _, err := readProxyHeader(bytes.NewReader(again[1:]), again[:1:1])
		require.NoError(t, err)
		require.Equal(t, info.remoteAddr, info2.remoteAddr)
	})
}
