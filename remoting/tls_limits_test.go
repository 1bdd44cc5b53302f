package remoting

import (
	"crypto/tls"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

func TestParseTLSLimits(t *testing.T) {
	const (
		v10, v11, v12, v13 = tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12, tls.VersionTLS13
		gcm128             = tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
		chacha             = tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256
	)
	for _, c := range []struct {
		name, ciphers, protocols string
		min, max                 uint16
		suites                   []uint16
		note                     bool
	}{
		{name: "nothing set"},
		{name: "one version", protocols: "TLSv1.2", min: v12, max: v12},
		{name: "two versions, any order, blanks", protocols: " TLSv1.3 ,TLSv1.2,", min: v12, max: v13},
		{name: "old versions", protocols: "TLSv1,TLSv1.1,TLSv1.2,TLSv1.3", min: v10, max: v13},
		{name: "oldest only", protocols: "TLSv1,TLSv1.1", min: v10, max: v11},
		{name: "Java's name", ciphers: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", min: v12, max: v12, suites: []uint16{gcm128}},
		{name: "OpenSSL's name", ciphers: "ECDHE-RSA-AES128-GCM-SHA256", min: v12, max: v12, suites: []uint16{gcm128}},
		{name: "both names of one, order kept", ciphers: "ECDHE-RSA-CHACHA20-POLY1305, ECDHE-RSA-AES128-GCM-SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
			min: v12, max: v12, suites: []uint16{chacha, gcm128}},
		{name: "Java's name of an old suite", ciphers: "SSL_RSA_WITH_3DES_EDE_CBC_SHA", min: v12, max: v12, suites: []uint16{tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA}},
		{name: "TLS 1.3 only, some of it", ciphers: "TLS_AES_256_GCM_SHA384", min: v13, max: v13, note: true},
		{name: "TLS 1.3 only, all of it", ciphers: "TLS_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256,TLS_CHACHA20_POLY1305_SHA256", min: v13, max: v13},
		{name: "both generations", ciphers: "TLS_AES_128_GCM_SHA256,ECDHE-RSA-AES128-GCM-SHA256", min: v12, max: v13, suites: []uint16{gcm128}, note: true},
		{name: "suite cuts versions", ciphers: "ECDHE-RSA-AES128-GCM-SHA256", protocols: "TLSv1.2,TLSv1.3", min: v12, max: v12, suites: []uint16{gcm128}},
		{name: "versions reach below", ciphers: "ECDHE-RSA-AES128-SHA", protocols: "TLSv1.1,TLSv1.2", min: v11, max: v12, suites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := parseTLSLimits(c.ciphers, c.protocols)
			require.NoError(t, err)
			require.Equal(t, c.note, l.note != "")
			require.Equal(t, tlsLimits{min: c.min, max: c.max, ciphers: c.suites, note: l.note}, l)
		})
	}
	for _, c := range []struct{ name, ciphers, protocols, want string }{
		{"unknown cipher", "ECDHE-RSA-AES128-GCM-SHA256,FOO", "", `tls.ciphers=ECDHE-RSA-AES128-GCM-SHA256,FOO: "FOO" is unknown or not supported`},
		{"cipher that Go lacks", "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", "", `"TLS_DHE_RSA_WITH_AES_128_GCM_SHA256" is unknown or not supported`},
		{"unknown protocol", "", "TLSv1.4", `tls.protocols=TLSv1.4: "TLSv1.4" is not one of`},
		{"case matters", "", "tlsv1.2", `"tlsv1.2" is not one of`},
		{"hole", "", "TLSv1.1,TLSv1.3", "neighbours"},
		{"no suite left", "ECDHE-RSA-AES128-GCM-SHA256", "TLSv1.3", "none of the suites"},
		{"no version left", "TLS_AES_128_GCM_SHA256", "TLSv1.2", "none of the suites"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseTLSLimits(c.ciphers, c.protocols)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// Every OpenSSL name stands for a suite that exists, and every suite before TLS 1.3 that has an OpenSSL name has it here.
func TestOpenSSLNames(t *testing.T) {
	for openssl, name := range openSSLNames {
		l, err := parseTLSLimits(openssl, "TLSv1,TLSv1.1,TLSv1.2")
		require.NoError(t, err, openssl)
		require.Len(t, l.ciphers, 1)
		require.Equal(t, name, tls.CipherSuiteName(l.ciphers[0]))
	}
}

// The limits hold on the wire, on both sides, in test mode as with files.
func TestTLSLimitsOnTheWire(t *testing.T) {
	_, files := tlsFiles(t, newTestCA(t, "ca"), 5)
	for name, base := range map[string]TLSOptions{"files": files, "test mode": {TestMode: true}} {
		for _, c := range []struct {
			name                   string
			ciphers, protocols     string
			clientMin, clientMax   uint16
			clientSuites           []uint16
			wantVersion, wantSuite uint16 // 0: refused
		}{
			{"default takes 1.3", "", "", 0, 0, nil, tls.VersionTLS13, 0},
			{"default refuses 1.1", "", "", tls.VersionTLS10, tls.VersionTLS11, nil, 0, 0},
			{"1.1 when allowed", "", "TLSv1.1,TLSv1.2", tls.VersionTLS10, tls.VersionTLS11, nil, tls.VersionTLS11, 0},
			{"1.2 only", "", "TLSv1.2", 0, 0, nil, tls.VersionTLS12, 0},
			{"1.3 only refuses 1.2", "", "TLSv1.3", tls.VersionTLS12, tls.VersionTLS12, nil, 0, 0},
			{"suite of 1.2", "ECDHE-ECDSA-AES256-GCM-SHA384", "", 0, 0, nil, tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384},
			{"another suite of 1.2", "ECDHE-ECDSA-AES256-GCM-SHA384", "", tls.VersionTLS12, tls.VersionTLS12,
				[]uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}, 0, 0},
			{"suites of 1.3", "TLS_AES_128_GCM_SHA256", "", tls.VersionTLS12, tls.VersionTLS12, nil, 0, 0},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				o := base
				o.Ciphers, o.Protocols = c.ciphers, c.protocols
				s, err := NewTLS(o, zerolog.Nop())
				require.NoError(t, err)
				addr, _ := startHandshakes(t, s, handshakeLimits{})
				cfg := anyServer()
				cfg.MinVersion, cfg.MaxVersion, cfg.CipherSuites = c.clientMin, c.clientMax, c.clientSuites
				conn, err := tlsEcho(t, addr, cfg)
				if c.wantVersion == 0 {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				require.Equal(t, c.wantVersion, conn.ConnectionState().Version)
				if c.wantSuite != 0 {
					require.Equal(t, c.wantSuite, conn.ConnectionState().CipherSuite)
				}
			})
		}
	}

	addr, _ := startHandshakes(t, mustTLS(t, TLSOptions{TestMode: true}), handshakeLimits{})
	client := mustTLS(t, TLSOptions{Mode: "disabled", ClientEnable: true, Protocols: "TLSv1.2", Ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305"})
	conn, err := tlsEcho(t, addr, client.ClientConfig())
	require.NoError(t, err)
	require.Equal(t, uint16(tls.VersionTLS12), conn.ConnectionState().Version)
	require.Equal(t, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, conn.ConnectionState().CipherSuite)
}
