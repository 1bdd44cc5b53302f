package remoting

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// TLSOptions are the tls.* settings (spec/remoting.md §7.7). Their defaults are applied by the configuration, not here.
// Texts are taken as they stand in the file; an empty one counts as absent.
type TLSOptions struct {
	Mode     string // tls.server.mode: disabled, permissive, enforcing; case-sensitive, all else is permissive
	TestMode bool   // tls.test.mode.enable: a self-signed certificate made at start, nobody is verified, no file is read

	NeedClientAuth string // tls.server.need.client.auth: none, optional, require in any case; all else is none
	KeyPath        string // tls.server.keyPath: PEM private key
	KeyPassword    string // tls.server.keyPassword
	CertPath       string // tls.server.certPath: PEM certificate chain, leaf first
	AuthClient     bool   // tls.server.authClient: verify client certificates; otherwise any will do
	TrustCertPath  string // tls.server.trustCertPath: PEM authorities, looked at if AuthClient is set

	ClientEnable        bool   // tls.enable: outgoing connections use TLS
	ClientKeyPath       string // tls.client.keyPath
	ClientKeyPassword   string // tls.client.keyPassword
	ClientCertPath      string // tls.client.certPath
	ClientAuthServer    bool   // tls.client.authServer: verify the server's chain; its host name is never verified
	ClientTrustCertPath string // tls.client.trustCertPath: PEM authorities, looked at if ClientAuthServer is set; absent = the system's

	Ciphers   string // tls.ciphers: comma list of Java's or OpenSSL's names, both sides; absent = crypto/tls's choice
	Protocols string // tls.protocols: comma list such as TLSv1.2,TLSv1.3, both sides; absent = these two
}

// tlsMode is tls.server.mode.
type tlsMode uint8

const (
	tlsDisabled tlsMode = iota
	tlsPermissive
	tlsEnforcing
)

// parseTLSMode never fails: what the original does not recognise is permissive to it (spec/remoting.md §7.4).
func parseTLSMode(s string) tlsMode {
	switch s {
	case "disabled":
		return tlsDisabled
	case "enforcing":
		return tlsEnforcing
	}
	return tlsPermissive
}

// pollInterval is how often Watch looks at its files, as in the original's FileWatchService. A change is acted on
// once two looks in a row saw the same content.
const pollInterval = 500 * time.Millisecond

// TLS holds the TLS side of a server and of the clients beside it. It is safe for concurrent use.
type TLS struct {
	serverMode tlsMode
	opts       TLSOptions
	log        zerolog.Logger
	poll       time.Duration

	limits  tlsLimits
	files   serverFiles                // owned by Watch once it runs
	current atomic.Pointer[tls.Config] // what new server connections use; nil in mode disabled
	server  *tls.Config                // hands out current; nil in mode disabled
	client  *tls.Config                // nil unless ClientEnable
}

// NewTLS reads and checks everything that o names, so that a server with a wrong key, certificate, authority,
// cipher or protocol does not start (the original starts without TLS, or exits: spec/remoting.md §7.7). Errors name the
// setting and the file, never a secret. In mode disabled the server's files are not looked at, without ClientEnable the
// client's are not.
func NewTLS(o TLSOptions, log zerolog.Logger) (*TLS, error) {
	t := &TLS{serverMode: parseTLSMode(o.Mode), opts: o, log: log, poll: pollInterval}
	if t.serverMode == tlsDisabled && !o.ClientEnable {
		return t, nil
	}
	var err error
	if t.limits, err = parseTLSLimits(o.Ciphers, o.Protocols); err != nil {
		return nil, err
	}
	if t.limits.note != "" {
		log.Warn().Str("tls.ciphers", o.Ciphers).Msg(t.limits.note)
	}
	if t.serverMode != tlsDisabled {
		if err := t.initServer(); err != nil {
			return nil, err
		}
	}
	if o.ClientEnable {
		if t.client, err = clientConfig(o, t.limits); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// mode is the effective tls.server.mode; a nil TLS is disabled.
func (t *TLS) mode() tlsMode {
	if t == nil {
		return tlsDisabled
	}
	return t.serverMode
}

// ServerConfig is the configuration for incoming connections, nil in mode disabled. It stays the same for the
// life of t: every handshake asks for the newest certificates.
func (t *TLS) ServerConfig() *tls.Config {
	if t == nil {
		return nil
	}
	return t.server
}

// ClientConfig is the configuration for outgoing connections, nil if they are to be plain. Callers do not change it.
func (t *TLS) ClientConfig() *tls.Config {
	if t == nil {
		return nil
	}
	return t.client
}

// initServer makes the server's first configuration.
func (t *TLS) initServer() error {
	if t.opts.TestMode {
		cfg, err := testModeConfig(t.limits)
		if err != nil {
			return fmt.Errorf("tls.test.mode.enable: %w", err)
		}
		t.current.Store(cfg)
	} else {
		t.files = newServerFiles(t.opts)
		if err := t.files.load(); err != nil {
			return err
		}
		t.current.Store(t.serverConfig())
		t.files.describe(t.log.Info()).Msg("TLS certificate loaded")
	}
	t.server = &tls.Config{
		MinVersion:         tls.VersionTLS12, // never used: GetConfigForClient answers every time
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return t.current.Load(), nil },
	}
	return nil
}

// serverConfig makes the configuration of the files last loaded.
//
// Session tickets are off: with them a resumed session would show its client the certificate from before a
// reload, and would let a client in whose authority is no longer trusted. Connections here live for hours.
func (t *TLS) serverConfig() *tls.Config {
	cfg := &tls.Config{
		Certificates:           []tls.Certificate{t.files.pair},
		SessionTicketsDisabled: true,
	}
	t.limits.apply(cfg)
	need := strings.ToLower(t.opts.NeedClientAuth)
	switch {
	case need == "optional" && t.opts.AuthClient:
		cfg.ClientAuth = tls.VerifyClientCertIfGiven
	case need == "optional":
		cfg.ClientAuth = tls.RequestClientCert
	case need == "require" && t.opts.AuthClient:
		cfg.ClientAuth = tls.RequireAndVerifyClientCert
	case need == "require":
		cfg.ClientAuth = tls.RequireAnyClientCert
	}
	cfg.ClientCAs = t.files.pool
	return cfg
}

// clientConfig makes the configuration for outgoing connections.
func clientConfig(o TLSOptions, limits tlsLimits) (*tls.Config, error) {
	cfg := &tls.Config{InsecureSkipVerify: true} // host names are never verified, chains below
	limits.apply(cfg)
	if o.TestMode {
		return cfg, nil
	}
	if o.ClientKeyPath != "" || o.ClientCertPath != "" {
		key := pemFile{setting: "tls.client.keyPath", path: o.ClientKeyPath}
		cert := pemFile{setting: "tls.client.certPath", path: o.ClientCertPath}
		pair, err := loadPair(&key, &cert, "tls.client.keyPassword", o.ClientKeyPassword)
		if err != nil {
			return nil, err
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	if !o.ClientAuthServer {
		return cfg, nil
	}
	var roots *x509.CertPool // nil = the system's
	if o.ClientTrustCertPath != "" {
		trust := pemFile{setting: "tls.client.trustCertPath", path: o.ClientTrustCertPath}
		if err := trust.read(); err != nil {
			return nil, err
		}
		var err error
		if roots, err = parseTrust(&trust); err != nil {
			return nil, err
		}
	}
	cfg.VerifyConnection = func(cs tls.ConnectionState) error {
		opts := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range cs.PeerCertificates[1:] {
			opts.Intermediates.AddCert(c)
		}
		_, err := cs.PeerCertificates[0].Verify(opts)
		return err
	}
	return cfg, nil
}

// testModeConfig is the server's configuration in test mode: a certificate of its own making, any client
// certificate accepted, none needed.
//
// The certificate is ECDSA, made in well under a millisecond. A client that cannot use it (one held to RSA
// suites) makes the server generate an RSA one then, once.
func testModeConfig(limits tlsLimits) (*tls.Config, error) {
	ec, err := selfSigned(func() (any, any, error) {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, nil, err
		}
		return k, k.Public(), nil
	})
	if err != nil {
		return nil, err
	}
	rsaCert := sync.OnceValues(func() (*tls.Certificate, error) {
		return selfSigned(func() (any, any, error) {
			k, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				return nil, nil, err
			}
			return k, k.Public(), nil
		})
	})
	cfg := &tls.Config{
		ClientAuth:             tls.RequestClientCert,
		SessionTicketsDisabled: true,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if hello.SupportsCertificate(ec) == nil {
				return ec, nil
			}
			return rsaCert()
		},
	}
	limits.apply(cfg)
	return cfg, nil
}

// selfSigned makes a certificate for a key fresh from generate, valid from yesterday for ten years.
func selfSigned(generate func() (private, public any, err error)) (*tls.Certificate, error) {
	private, public, err := generate()
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "mq test mode"},
		NotBefore:    now.AddDate(0, 0, -1),
		NotAfter:     now.AddDate(10, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private, Leaf: leaf}, nil
}

// maxPEMFile bounds a key, certificate or trust file in bytes. A system's whole authority bundle is 200 KB.
const maxPEMFile = 4 << 20

// pemFile is one file named by a setting, with what was last read from it.
type pemFile struct {
	setting string
	path    string
	data    []byte
}

// read takes in the file's content, or leaves the last one and returns an error naming setting and file.
func (f *pemFile) read() error {
	if f.path == "" {
		return fmt.Errorf("%s is not set", f.setting)
	}
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	case info.Size() > maxPEMFile:
		err = fmt.Errorf("%d bytes, more than the limit of %d", info.Size(), maxPEMFile)
	}
	if err != nil {
		return f.wrap(err)
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return f.wrap(err)
	}
	f.data = data
	return nil
}

// wrap names the setting and the file in front of err.
func (f *pemFile) wrap(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) { // it would name the file once more
		err = pe.Err
	}
	return fmt.Errorf("%s=%s: %w", f.setting, f.path, err)
}

// loadPair reads a key and its certificate chain and checks that they belong together.
func loadPair(key, cert *pemFile, passwordSetting, password string) (tls.Certificate, error) {
	if err := cert.read(); err != nil {
		return tls.Certificate{}, err
	}
	if err := key.read(); err != nil {
		return tls.Certificate{}, err
	}
	return parsePair(key, cert, passwordSetting, password)
}

// parsePair makes a certificate of the contents last read.
func parsePair(key, cert *pemFile, passwordSetting, password string) (tls.Certificate, error) {
	private, err := parsePrivateKey(key.data, passwordSetting, password)
	if err != nil {
		return tls.Certificate{}, key.wrap(err)
	}
	chain, err := parseCertificates(cert.data)
	if err != nil {
		return tls.Certificate{}, cert.wrap(err)
	}
	public, ok := private.Public().(interface{ Equal(x crypto.PublicKey) bool })
	if !ok || !public.Equal(chain[0].PublicKey) {
		return tls.Certificate{}, key.wrap(fmt.Errorf("the key does not fit the certificate in %s=%s", cert.setting, cert.path))
	}
	pair := tls.Certificate{PrivateKey: private, Leaf: chain[0]}
	for _, c := range chain {
		pair.Certificate = append(pair.Certificate, c.Raw)
	}
	return pair, nil
}

// parseTrust makes a pool of the authorities last read.
func parseTrust(f *pemFile) (*x509.CertPool, error) {
	certs, err := parseCertificates(f.data)
	if err != nil {
		return nil, f.wrap(err)
	}
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool, nil
}

// parseCertificates parses the certificates of a PEM text, at least one; other blocks are skipped.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" && block.Type != "X509 CERTIFICATE" && block.Type != "TRUSTED CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		certs = append(certs, c)
	}
	if len(certs) == 0 {
		return nil, errors.New("no certificate in PEM form")
	}
	return certs, nil
}

// Watch takes over changed files until ctx ends, then returns nil. It returns at once in test mode and in mode
// disabled, where there is no file to watch.
//
// A new key and certificate come into use for new connections once they fit each other; a half-finished or
// failed renewal, rubbish or a missing file leaves the last good pair in use and is logged once. New
// authorities come into use by themselves. Established connections stay as they are. Contents are compared,
// not times or names, so a file may be rewritten, replaced, deleted and made anew, or reached through a symbolic
// link that is swapped.
func (t *TLS) Watch(ctx context.Context) error {
	if t.mode() == tlsDisabled || t.opts.TestMode {
		return nil
	}
	tick := time.NewTicker(t.poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			t.reload()
		}
	}
}

// reload looks at the files once.
func (t *TLS) reload() {
	changed, err := t.files.refresh()
	if err != nil {
		t.log.Warn().Err(err).Msg("TLS files changed but not usable, keeping the last ones")
	}
	if changed {
		t.current.Store(t.serverConfig())
		t.files.describe(t.log.Info()).Msg("TLS certificate reloaded")
	}
}
