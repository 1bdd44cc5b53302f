package remoting

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// testCA signs certificates for the TLS tests.
type testCA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newTestCA(t testing.TB, name string) *testCA {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &testCA{cert: cert, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// issue makes a certificate with the serial number, and its key, both as PEM. The certificate names no host: nothing in
// remoting may depend on one.
func (ca *testCA) issue(t testing.TB, serial int64) (certPEM, keyPEM []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return ca.sign(t, serial, key.Public()), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

func (ca *testCA) sign(t testing.TB, serial int64, public any) []byte {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "some name"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, public, ca.key)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// pair makes a client's certificate.
func (ca *testCA) pair(t testing.TB, serial int64) []tls.Certificate {
	pair, err := tls.X509KeyPair(ca.issue(t, serial))
	require.NoError(t, err)
	return []tls.Certificate{pair}
}

// write puts a file into dir and returns its path.
func write(t testing.TB, dir, name string, data []byte) string {
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// tlsFiles writes a server's certificate and key into a new folder.
func tlsFiles(t testing.TB, ca *testCA, serial int64) (dir string, o TLSOptions) {
	dir = t.TempDir()
	cert, key := ca.issue(t, serial)
	return dir, TLSOptions{CertPath: write(t, dir, "tls.crt", cert), KeyPath: write(t, dir, "tls.key", key)}
}

func mustTLS(t testing.TB, o TLSOptions) *TLS {
	s, err := NewTLS(o, zerolog.Nop())
	require.NoError(t, err)
	return s
}

// handshakeResult is what handshake returned for one connection.
type handshakeResult struct {
	accepted
	err error
}

// startHandshakes accepts connections, takes each through handshake, tells the result and then echoes until the peer
// closes. It stops and is awaited at the end of the test.
func startHandshakes(t testing.TB, s *TLS, limits handshakeLimits) (addr string, results <-chan handshakeResult) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	out := make(chan handshakeResult, 1000)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	wg.Go(func() {
		for {
			raw, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, raw)
			mu.Unlock()
			wg.Go(func() {
				defer raw.Close()
				a, err := handshake(raw, s, limits)
				out <- handshakeResult{a, err}
				if err != nil {
					return
				}
				if _, err := a.Conn.Write(a.Initial); err == nil {
					_, _ = io.Copy(a.Conn, a.Conn)
				}
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return ln.Addr().String(), out
}

// dial opens a connection that is closed at the end of the test and gives up after 10 s.
func dial(t testing.TB, addr string) net.Conn {
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	return c
}

// echo checks that what is sent comes back.
func echo(c net.Conn, text string) error {
	if _, err := c.Write([]byte(text)); err != nil {
		return err
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil {
		return err
	}
	if string(got) != text {
		return fmt.Errorf("sent %q, got %q", text, got)
	}
	return nil
}

// tlsEcho makes a TLS connection and checks that it carries data. With TLS 1.3 a refused client certificate shows at
// the first read only.
func tlsEcho(t testing.TB, addr string, cfg *tls.Config) (*tls.Conn, error) {
	c := tls.Client(dial(t, addr), cfg)
	return c, echo(c, "\x00\x00\x00\x04over TLS")
}

// anyServer is a client that accepts every server.
func anyServer() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

// serial makes a new connection and returns the serial number of the certificate that the server shows.
func serial(t testing.TB, addr string, cfg *tls.Config) int64 {
	c, err := tlsEcho(t, addr, cfg)
	require.NoError(t, err)
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// eventuallyTrue polls until ok holds, at most 10 s.
func eventuallyTrue(t testing.TB, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, 10*time.Second, 10*time.Millisecond, what)
}

func TestTLSModes(t *testing.T) {
	ca := newTestCA(t, "ca")
	for _, c := range []struct {
		mode       string
		plain, tls error
	}{
		{"disabled", nil, ErrTLSDisabled},
		{"permissive", nil, nil},
		{"enforcing", ErrTLSRequired, nil},
		{"Enforcing", nil, nil}, // case matters, what is unknown is permissive
		{"", nil, nil},
	} {
		for _, testMode := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/test=%v", c.mode, testMode), func(t *testing.T) {
				_, o := tlsFiles(t, ca, 5)
				o.Mode, o.TestMode = c.mode, testMode
				addr, results := startHandshakes(t, mustTLS(t, o), handshakeLimits{})

				plain := dial(t, addr)
				err := echo(plain, "\x00\x00\x00\x04plain")
				got := <-results
				require.ErrorIs(t, got.err, c.plain)
				require.Equal(t, c.plain == nil, err == nil)
				if c.plain == nil {
					require.False(t, got.TLS)
					require.IsType(t, &net.TCPConn{}, got.Conn)
					require.Nil(t, got.Proxy)
				}

				_, err = tlsEcho(t, addr, anyServer())
				got = <-results
				require.ErrorIs(t, got.err, c.tls)
				require.Equal(t, c.tls == nil, err == nil)
				if c.tls == nil {
					require.True(t, got.TLS)
					require.Empty(t, got.Initial)
				}
			})
		}
	}
}

func TestNoTLSAtAllIsDisabled(t *testing.T) {
	addr, results := startHandshakes(t, nil, handshakeLimits{})
	require.NoError(t, echo(dial(t, addr), "\x00\x00\x00\x04plain"))
	require.NoError(t, (<-results).err)
	_, err := tlsEcho(t, addr, anyServer())
	require.Error(t, err)
	require.ErrorIs(t, (<-results).err, ErrTLSDisabled)

	var none *TLS
	require.Nil(t, none.ServerConfig())
	require.Nil(t, none.ClientConfig())
	require.NoError(t, none.Watch(t.Context()))
}

// Every combination of tls.server.need.client.auth and tls.server.authClient, against clients without a certificate,
// with one of the trusted authority and with one of another.
func TestTLSClientCertificates(t *testing.T) {
	ca, stranger := newTestCA(t, "ca"), newTestCA(t, "stranger")
	type outcome struct{ none, trusted, strange bool }
	for _, c := range []struct {
		need string
		auth bool
		want outcome
	}{
		{"none", false, outcome{true, true, true}},
		{"none", true, outcome{true, true, true}},
		{"optional", false, outcome{true, true, true}},
		{"optional", true, outcome{true, true, false}},
		{"OPTIONAL", true, outcome{true, true, false}},
		{"require", false, outcome{false, true, true}},
		{"require", true, outcome{false, true, false}},
		{"Require", true, outcome{false, true, false}},
		{"mandatory", true, outcome{true, true, true}}, // unknown is none
		{"", true, outcome{true, true, true}},
	} {
		t.Run(fmt.Sprintf("%s/%v", c.need, c.auth), func(t *testing.T) {
			dir, o := tlsFiles(t, ca, 5)
			o.Mode, o.NeedClientAuth, o.AuthClient = "enforcing", c.need, c.auth
			o.TrustCertPath = write(t, dir, "ca.crt", ca.pem)
			addr, results := startHandshakes(t, mustTLS(t, o), handshakeLimits{})
			try := func(certs []tls.Certificate) bool {
				cfg := anyServer()
				// Offered whatever authorities the server asks for.
				cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					if len(certs) == 0 {
						return &tls.Certificate{}, nil
					}
					return &certs[0], nil
				}
				_, err := tlsEcho(t, addr, cfg)
				got := <-results
				require.Equal(t, err == nil, got.err == nil, "%v, %v", err, got.err)
				if got.err != nil {
					require.ErrorIs(t, got.err, ErrTLSHandshake)
				}
				return err == nil
			}
			require.Equal(t, c.want, outcome{try(nil), try(ca.pair(t, 7)), try(stranger.pair(t, 8))})
		})
	}
}

func TestTLSTestModeNeedsNoFileAndAcceptsAnyClient(t *testing.T) {
	o := TLSOptions{
		TestMode: true, NeedClientAuth: "require", AuthClient: true,
		KeyPath: "/nowhere/key", CertPath: "/nowhere/cert", TrustCertPath: "/nowhere/ca",
	}
	addr, _ := startHandshakes(t, mustTLS(t, o), handshakeLimits{})
	_, err := tlsEcho(t, addr, anyServer())
	require.NoError(t, err)
	cfg := anyServer()
	cfg.Certificates = newTestCA(t, "whoever").pair(t, 1)
	_, err = tlsEcho(t, addr, cfg)
	require.NoError(t, err)
}

// A client held to RSA suites gets an RSA certificate in test mode, where the first one is ECDSA.
func TestTLSTestModeServesRSAOnlyClients(t *testing.T) {
	addr, _ := startHandshakes(t, mustTLS(t, TLSOptions{TestMode: true}), handshakeLimits{})
	for range 2 {
		cfg := anyServer()
		cfg.MaxVersion = tls.VersionTLS12
		cfg.CipherSuites = []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}
		c, err := tlsEcho(t, addr, cfg)
		require.NoError(t, err)
		require.Equal(t, x509.RSA, c.ConnectionState().PeerCertificates[0].PublicKeyAlgorithm)
	}
	c, err := tlsEcho(t, addr, anyServer())
	require.NoError(t, err)
	require.Equal(t, x509.ECDSA, c.ConnectionState().PeerCertificates[0].PublicKeyAlgorithm)
}

func TestTLSEncryptedKey(t *testing.T) {
	ca := newTestCA(t, "ca")
	plain, err := parsePrivateKey(readKeyFile(t, "rsa-plain.pem"), "p", "")
	require.NoError(t, err)
	dir := t.TempDir()
	o := TLSOptions{
		CertPath:    write(t, dir, "tls.crt", ca.sign(t, 5, plain.(*rsa.PrivateKey).Public())),
		KeyPath:     filepath.Join("testdata", "keys", "rsa-pbes2-aes256-sha256.pem"),
		KeyPassword: keyFilePassword,
	}
	addr, _ := startHandshakes(t, mustTLS(t, o), handshakeLimits{})
	require.Equal(t, int64(5), serial(t, addr, anyServer()))
}

// Every mistake in the settings stops the start and names setting and file.
func TestNewTLSNamesTheMistake(t *testing.T) {
	ca := newTestCA(t, "ca")
	dir, good := tlsFiles(t, ca, 5)
	_, otherKey := ca.issue(t, 6)
	other := write(t, dir, "other.key", otherKey)
	rubbish := write(t, dir, "rubbish.pem", []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	empty := write(t, dir, "empty.pem", nil)
	missing := filepath.Join(dir, "missing.pem")
	encrypted := filepath.Join("testdata", "keys", "rsa-pbes2-aes256-sha256.pem")
	huge := write(t, dir, "huge.pem", bytes.Repeat([]byte{'a'}, maxPEMFile+1))

	for _, c := range []struct {
		name   string
		change func(*TLSOptions)
		want   []string
	}{
		{"key not set", func(o *TLSOptions) { o.KeyPath = "" }, []string{"tls.server.keyPath is not set"}},
		{"certificate not set", func(o *TLSOptions) { o.CertPath = "" }, []string{"tls.server.certPath is not set"}},
		{"key missing", func(o *TLSOptions) { o.KeyPath = missing }, []string{"tls.server.keyPath=" + missing, "no such file"}},
		{"certificate missing", func(o *TLSOptions) { o.CertPath = missing }, []string{"tls.server.certPath=" + missing, "no such file"}},
		{"key is a folder", func(o *TLSOptions) { o.KeyPath = dir }, []string{"tls.server.keyPath=" + dir, "not a regular file"}},
		{"key too large", func(o *TLSOptions) { o.KeyPath = huge }, []string{"tls.server.keyPath=" + huge, "limit"}},
		{"key not parseable", func(o *TLSOptions) { o.KeyPath = empty }, []string{"tls.server.keyPath=" + empty, "no private key"}},
		{"certificate empty", func(o *TLSOptions) { o.CertPath = empty }, []string{"tls.server.certPath=" + empty, "no certificate"}},
		{"certificate not parseable", func(o *TLSOptions) { o.CertPath = rubbish }, []string{"tls.server.certPath=" + rubbish}},
		{"key and certificate swapped", func(o *TLSOptions) { o.CertPath, o.KeyPath = o.KeyPath, o.CertPath }, []string{"tls.server.keyPath=" + good.CertPath}},
		{"key of another certificate", func(o *TLSOptions) { o.KeyPath = other }, []string{"tls.server.keyPath=" + other, "does not fit", "tls.server.certPath=" + good.CertPath}},
		{"password missing", func(o *TLSOptions) { o.KeyPath = encrypted }, []string{"tls.server.keyPath=" + encrypted, "tls.server.keyPassword is not set"}},
		{"password wrong", func(o *TLSOptions) { o.KeyPath, o.KeyPassword = encrypted, "topsecret" }, []string{"tls.server.keyPath=" + encrypted, "wrong password"}},
		{"trust not set", func(o *TLSOptions) { o.AuthClient = true }, []string{"tls.server.trustCertPath is not set"}},
		{"trust missing", func(o *TLSOptions) { o.AuthClient, o.TrustCertPath = true, missing }, []string{"tls.server.trustCertPath=" + missing}},
		{"trust not parseable", func(o *TLSOptions) { o.AuthClient, o.TrustCertPath = true, rubbish }, []string{"tls.server.trustCertPath=" + rubbish}},
		{"unknown cipher", func(o *TLSOptions) { o.Ciphers = "ECDHE-RSA-AES128-GCM-SHA256,NULL-MD5" }, []string{"tls.ciphers", `"NULL-MD5"`}},
		{"unknown protocol", func(o *TLSOptions) { o.Protocols = "TLSv1.2,SSLv3" }, []string{"tls.protocols", `"SSLv3"`}},
		{"client key without certificate", func(o *TLSOptions) { o.ClientEnable, o.ClientKeyPath = true, good.KeyPath }, []string{"tls.client.certPath is not set"}},
		{"client certificate without key", func(o *TLSOptions) { o.ClientEnable, o.ClientCertPath = true, good.CertPath }, []string{"tls.client.keyPath is not set"}},
		{"client key of another certificate", func(o *TLSOptions) {
			o.ClientEnable, o.ClientCertPath, o.ClientKeyPath = true, good.CertPath, other
		}, []string{"tls.client.keyPath=" + other, "does not fit"}},
		{"client trust missing", func(o *TLSOptions) {
			o.ClientEnable, o.ClientAuthServer, o.ClientTrustCertPath = true, true, missing
		}, []string{"tls.client.trustCertPath=" + missing}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := good
			c.change(&o)
			_, err := NewTLS(o, zerolog.Nop())
			require.Error(t, err)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, err.Error(), "topsecret")
		})
	}
}

// What a mode or switch makes needless is not looked at.
func TestNewTLSLooksAtNothingNeedless(t *testing.T) {
	ca := newTestCA(t, "ca")
	_, good := tlsFiles(t, ca, 5)
	for name, change := range map[string]func(*TLSOptions){
		"mode disabled":      func(o *TLSOptions) { o.Mode, o.KeyPath, o.Ciphers = "disabled", "/nowhere", "nonsense" },
		"trust without auth": func(o *TLSOptions) { o.TrustCertPath = "/nowhere" },
		"client files, client off": func(o *TLSOptions) {
			o.ClientKeyPath, o.ClientAuthServer, o.ClientTrustCertPath = "/nowhere", true, "/nowhere"
		},
		"client trust, no auth":   func(o *TLSOptions) { o.ClientEnable, o.ClientTrustCertPath = true, "/nowhere" },
		"password of a plain key": func(o *TLSOptions) { o.KeyPassword = "needless" },
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			change(&o)
			mustTLS(t, o)
		})
	}
}

func TestTLSClientConfig(t *testing.T) {
	ca, stranger := newTestCA(t, "ca"), newTestCA(t, "stranger")
	dir, server := tlsFiles(t, ca, 5)
	server.AuthClient, server.NeedClientAuth = true, "require"
	server.TrustCertPath = write(t, dir, "ca.crt", ca.pem)
	addr, _ := startHandshakes(t, mustTLS(t, server), handshakeLimits{})

	cert, key := ca.issue(t, 9)
	identity := TLSOptions{
		Mode: "disabled", ClientEnable: true,
		ClientCertPath: write(t, dir, "client.crt", cert), ClientKeyPath: write(t, dir, "client.key", key),
	}
	client := func(change func(*TLSOptions)) error {
		o := identity
		change(&o)
		_, err := tlsEcho(t, addr, mustTLS(t, o).ClientConfig())
		return err
	}
	require.NoError(t, client(func(*TLSOptions) {}), "the server is not verified by default")
	require.NoError(t, client(func(o *TLSOptions) {
		o.ClientAuthServer, o.ClientTrustCertPath = true, server.TrustCertPath
	}), "chain verified, host name not")
	require.ErrorContains(t, client(func(o *TLSOptions) {
		o.ClientAuthServer, o.ClientTrustCertPath = true, write(t, dir, "stranger.crt", stranger.pem)
	}), "unknown authority")
	require.ErrorContains(t, client(func(o *TLSOptions) { o.ClientAuthServer = true }), "unknown authority", "the system's authorities")
	require.Error(t, client(func(o *TLSOptions) { o.ClientCertPath, o.ClientKeyPath = "", "" }), "this server wants a certificate")
	require.Error(t, client(func(o *TLSOptions) { o.TestMode = true }), "no identity in test mode")
	require.Nil(t, mustTLS(t, TLSOptions{Mode: "disabled"}).ClientConfig())
}

// syncBuffer is a log that a test may read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// startWatching makes a TLS that polls quickly, watches its files until the test ends, and logs into the buffer.
func startWatching(t *testing.T, o TLSOptions) (*TLS, *syncBuffer) {
	log := new(syncBuffer)
	s, err := NewTLS(o, zerolog.New(log))
	require.NoError(t, err)
	s.poll = 5 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Watch(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return s, log
}

const keepLine = "keeping the last ones"

// N52: certificates are renewed without a restart, in whatever order and way the files change; half a renewal and
// rubbish leave the old pair in use with one line in the log; established connections stay.
func TestN52CertificateRenewal(t *testing.T) {
	ca := newTestCA(t, "ca")
	dir, o := tlsFiles(t, ca, 101)
	s, log := startWatching(t, o)
	addr, _ := startHandshakes(t, s, handshakeLimits{})
	old, err := tlsEcho(t, addr, anyServer())
	require.NoError(t, err)
	require.Equal(t, int64(101), serial(t, addr, anyServer()))
	serves := func(n int64) {
		t.Helper()
		eventuallyTrue(t, fmt.Sprintf("serial %d in use", n), func() bool { return serial(t, addr, anyServer()) == n })
		require.NoError(t, echo(old, "still here"))
	}
	told := 0 // how much of the log has been looked at
	complains := func(why string) {
		t.Helper()
		eventuallyTrue(t, "complaint: "+why, func() bool { return strings.Contains(log.String()[told:], why) })
		told = len(log.String())
	}

	// First the certificate, later the key: until both fit, the old pair stays.
	cert, key := ca.issue(t, 102)
	write(t, dir, "tls.crt", cert)
	complains("does not fit")
	require.Equal(t, int64(101), serial(t, addr, anyServer()))
	write(t, dir, "tls.key", key)
	serves(102)

	// First the key.
	cert, key = ca.issue(t, 103)
	write(t, dir, "tls.key", key)
	complains("does not fit")
	require.Equal(t, int64(102), serial(t, addr, anyServer()))
	write(t, dir, "tls.crt", cert)
	serves(103)

	// Both deleted, and written anew.
	require.NoError(t, os.Remove(o.CertPath))
	require.NoError(t, os.Remove(o.KeyPath))
	complains("no such file or directory")
	require.Equal(t, int64(103), serial(t, addr, anyServer()))
	cert, key = ca.issue(t, 104)
	write(t, dir, "tls.crt", cert)
	write(t, dir, "tls.key", key)
	serves(104)

	// Rubbish, then good content again.
	write(t, dir, "tls.crt", []byte("rubbish"))
	write(t, dir, "tls.key", []byte("rubbish"))
	complains("no private key in PEM form")
	require.Equal(t, int64(104), serial(t, addr, anyServer()))
	cert, key = ca.issue(t, 105)
	write(t, dir, "tls.crt", cert)
	write(t, dir, "tls.key", key)
	serves(105)

	require.NotContains(t, log.String(), "PRIVATE KEY")
}

// N52: a state of the files that stays unusable is told once, not at every look.
func TestN52ComplainsOnce(t *testing.T) {
	ca := newTestCA(t, "ca")
	dir, o := tlsFiles(t, ca, 101)
	log := new(syncBuffer)
	s, err := NewTLS(o, zerolog.New(log))
	require.NoError(t, err)
	looks := func(n int) {
		for range n {
			s.reload()
		}
	}
	looks(3)
	require.Zero(t, strings.Count(log.String(), keepLine))

	write(t, dir, "tls.crt", []byte("half of a certif"))
	looks(1)
	require.Zero(t, strings.Count(log.String(), keepLine), "seen once, it may still be in the making")
	looks(10)
	require.Equal(t, 1, strings.Count(log.String(), keepLine), log)

	require.NoError(t, os.Remove(o.KeyPath))
	looks(10)
	require.Equal(t, 2, strings.Count(log.String(), keepLine), log)

	cert, key := ca.issue(t, 102)
	write(t, dir, "tls.crt", cert)
	write(t, dir, "tls.key", key)
	looks(10)
	require.Equal(t, 2, strings.Count(log.String(), keepLine), log)
	require.Equal(t, 1, strings.Count(log.String(), "TLS certificate reloaded"), log)
}

// N52: the folder is reached through a symbolic link, and the link is swapped, as certificate managers do.
func TestN52SymlinkSwap(t *testing.T) {
	ca := newTestCA(t, "ca")
	root := t.TempDir()
	place := func(name string, n int64) string {
		require.NoError(t, os.Mkdir(filepath.Join(root, name), 0o700))
		cert, key := ca.issue(t, n)
		write(t, filepath.Join(root, name), "tls.crt", cert)
		write(t, filepath.Join(root, name), "tls.key", key)
		return name
	}
	current := filepath.Join(root, "current")
	require.NoError(t, os.Symlink(place("v1", 201), current))
	s, log := startWatching(t, TLSOptions{CertPath: filepath.Join(current, "tls.crt"), KeyPath: filepath.Join(current, "tls.key")})
	addr, _ := startHandshakes(t, s, handshakeLimits{})
	require.Equal(t, int64(201), serial(t, addr, anyServer()))

	next := filepath.Join(root, "next")
	require.NoError(t, os.Symlink(place("v2", 202), next))
	require.NoError(t, os.Rename(next, current))
	eventuallyTrue(t, "swapped pair in use", func() bool { return serial(t, addr, anyServer()) == 202 })
	require.NotContains(t, log.String(), keepLine)
}

// N52: new authorities count at once, without a new certificate, and even while a renewal of the certificate is half done.
func TestN52TrustReload(t *testing.T) {
	ca, next := newTestCA(t, "ca"), newTestCA(t, "next")
	dir, o := tlsFiles(t, ca, 101)
	o.AuthClient, o.NeedClientAuth = true, "require"
	o.TrustCertPath = write(t, dir, "trust.crt", ca.pem)
	s, log := startWatching(t, o)
	addr, _ := startHandshakes(t, s, handshakeLimits{})

	// Both clients remember sessions: an old session must not outlive the trust in its certificate.
	client := func(ca *testCA) func() bool {
		cfg := anyServer()
		pair := ca.pair(t, 7)
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair[0], nil }
		cfg.ClientSessionCache = tls.NewLRUClientSessionCache(10)
		return func() bool {
			_, err := tlsEcho(t, addr, cfg)
			return err == nil
		}
	}
	oldClient, newClient := client(ca), client(next)
	require.True(t, oldClient())
	require.False(t, newClient())

	cert, _ := ca.issue(t, 102)
	write(t, dir, "tls.crt", cert)
	eventuallyTrue(t, "half a renewal noticed", func() bool { return strings.Contains(log.String(), keepLine) })
	write(t, dir, "trust.crt", next.pem)
	eventuallyTrue(t, "new authority counts", newClient)
	require.False(t, oldClient())

	write(t, dir, "trust.crt", append(ca.pem, next.pem...))
	eventuallyTrue(t, "old authority counts again", oldClient)
	require.True(t, newClient())
	require.Equal(t, int64(101), func() int64 {
		cfg := anyServer()
		cfg.Certificates = ca.pair(t, 7)
		return serial(t, addr, cfg)
	}())
}

func TestTLSWatchEndsAtOnceWithoutFiles(t *testing.T) {
	require.NoError(t, mustTLS(t, TLSOptions{TestMode: true}).Watch(t.Context()))
	require.NoError(t, mustTLS(t, TLSOptions{Mode: "disabled"}).Watch(t.Context()))
}

func TestHandshakeNotTLSAfterAll(t *testing.T) {
	addr, results := startHandshakes(t, mustTLS(t, TLSOptions{TestMode: true}), handshakeLimits{})
	_, err := dial(t, addr).Write([]byte{0x16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	require.NoError(t, err)
	require.ErrorIs(t, (<-results).err, ErrTLSHandshake)
}
