package remoting

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// tlsLimits is what tls.ciphers and tls.protocols allow; zero values leave the choice to crypto/tls.
type tlsLimits struct {
	min, max uint16
	ciphers  []uint16 // of TLS 1.2 and older
	note     string   // something the operator should be told once
}

// apply sets the limits in cfg.
func (l tlsLimits) apply(cfg *tls.Config) {
	cfg.MinVersion, cfg.MaxVersion, cfg.CipherSuites = max(l.min, tls.VersionTLS10), l.max, l.ciphers
	if l.min == 0 {
		cfg.MinVersion = tls.VersionTLS12
	}
}

// tlsVersions are the values of tls.protocols, in Java's names.
var tlsVersions = map[string]uint16{
	"TLSv1":   tls.VersionTLS10,
	"TLSv1.1": tls.VersionTLS11,
	"TLSv1.2": tls.VersionTLS12,
	"TLSv1.3": tls.VersionTLS13,
}

// openSSLNames are OpenSSL's names of suites, by the names that Java, the standards and crypto/tls share. TLS 1.3
// suites are called the same everywhere.
var openSSLNames = map[string]string{
	"ECDHE-ECDSA-AES128-GCM-SHA256": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
	"ECDHE-ECDSA-AES256-GCM-SHA384": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
	"ECDHE-ECDSA-CHACHA20-POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
	"ECDHE-ECDSA-AES128-SHA256":     "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
	"ECDHE-ECDSA-AES128-SHA":        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
	"ECDHE-ECDSA-AES256-SHA":        "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
	"ECDHE-RSA-AES128-GCM-SHA256":   "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
	"ECDHE-RSA-AES256-GCM-SHA384":   "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
	"ECDHE-RSA-CHACHA20-POLY1305":   "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
	"ECDHE-RSA-AES128-SHA256":       "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
	"ECDHE-RSA-AES128-SHA":          "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
	"ECDHE-RSA-AES256-SHA":          "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
	"ECDHE-RSA-DES-CBC3-SHA":        "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
	"AES128-GCM-SHA256":             "TLS_RSA_WITH_AES_128_GCM_SHA256",
	"AES256-GCM-SHA384":             "TLS_RSA_WITH_AES_256_GCM_SHA384",
	"AES128-SHA256":                 "TLS_RSA_WITH_AES_128_CBC_SHA256",
	"AES128-SHA":                    "TLS_RSA_WITH_AES_128_CBC_SHA",
	"AES256-SHA":                    "TLS_RSA_WITH_AES_256_CBC_SHA",
	"DES-CBC3-SHA":                  "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
}

// parseTLSLimits reads tls.ciphers and tls.protocols. Errors name the setting and the item.
//
// crypto/tls does not let anyone choose among the suites of TLS 1.3, all of which are strong. Naming one
// of them allows them all (a note says so if some were left out), naming none switches TLS 1.3 off.
func parseTLSLimits(ciphers, protocols string) (tlsLimits, error) {
	var l tlsLimits
	if err := l.parseProtocols(protocols); err != nil {
		return tlsLimits{}, fmt.Errorf("tls.protocols=%s: %w", protocols, err)
	}
	if err := l.parseCiphers(ciphers); err != nil {
		return tlsLimits{}, fmt.Errorf("tls.ciphers=%s: %w", ciphers, err)
	}
	return l, nil
}

// parseProtocols sets the range of versions.
func (l *tlsLimits) parseProtocols(list string) error {
	var versions []uint16
	for _, item := range splitList(list) {
		v, ok := tlsVersions[item]
		if !ok {
			return fmt.Errorf("%q is not one of TLSv1, TLSv1.1, TLSv1.2, TLSv1.3", item)
		}
		versions = append(versions, v)
	}
	if len(versions) == 0 {
		return nil
	}
	l.min, l.max = slices.Min(versions), slices.Max(versions)
	for v := l.min; v <= l.max; v++ {
		if !slices.Contains(versions, v) {
			return errors.New("the versions must be neighbours: crypto/tls cannot leave one out")
		}
	}
	return nil
}

// parseCiphers sets the suites, and narrows the versions to those that have any of them.
func (l *tlsLimits) parseCiphers(list string) error {
	wanted := splitList(list)
	if len(wanted) == 0 {
		return nil
	}
	known := make(map[string]*tls.CipherSuite)
	modern := 0 // how many suites TLS 1.3 has
	for _, c := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		known[c.Name] = c
		if isTLS13(c) {
			modern++
		}
	}

	named := make(map[uint16]bool) // of TLS 1.3
	for _, item := range wanted {
		name := item
		if n, ok := openSSLNames[item]; ok {
			name = n
		} else if rest, ok := strings.CutPrefix(item, "SSL_"); ok {
			name = "TLS_" + rest // Java's name for suites older than TLS
		}
		switch c := known[name]; {
		case c == nil:
			return fmt.Errorf("%q is unknown or not supported", item)
		case isTLS13(c):
			named[c.ID] = true
		case !slices.Contains(l.ciphers, c.ID):
			l.ciphers = append(l.ciphers, c.ID)
		}
	}

	lowest, highest := l.min, l.max
	if lowest == 0 {
		lowest, highest = tls.VersionTLS12, tls.VersionTLS13
	}
	if len(named) == 0 {
		highest = min(highest, tls.VersionTLS12)
	} else if len(named) < modern {
		l.note = "TLS 1.3 suites cannot be allowed one by one, all of them stay allowed"
	}
	if len(l.ciphers) == 0 {
		lowest = max(lowest, tls.VersionTLS13)
	}
	if lowest > highest {
		return errors.New("none of the suites belongs to a version that tls.protocols allows")
	}
	l.min, l.max = lowest, highest
	return nil
}

// isTLS13 tells whether c belongs to TLS 1.3, whose suites fit no other version.
func isTLS13(c *tls.CipherSuite) bool {
	return len(c.SupportedVersions) == 1 && c.SupportedVersions[0] == tls.VersionTLS13
}

// splitList splits a comma list; blanks around items and empty items do not count.
func splitList(list string) []string {
	var items []string
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
