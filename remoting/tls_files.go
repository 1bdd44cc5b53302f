package remoting

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"

	"github.com/rs/zerolog"
)

// serverFiles are the server's key, certificate and authorities, as files and as what was last made of them.
// It belongs to one goroutine at a time.
type serverFiles struct {
	password string // tls.server.keyPassword

	key, cert watchedFile
	trust     watchedFile // path "" unless authorities are needed

	pair tls.Certificate // last good pair
	pool *x509.CertPool  // last good authorities; nil if none are needed
}

// watchedFile is a file whose changes are acted on once they have settled.
type watchedFile struct {
	pemFile        // data: what the last look saw
	acted   []byte // the content that was last tried, good or not
	misses  int    // how many looks in a row failed
}

// newServerFiles names the files, reading none.
func newServerFiles(o TLSOptions) serverFiles {
	f := serverFiles{password: o.KeyPassword}
	f.key.pemFile = pemFile{setting: "tls.server.keyPath", path: o.KeyPath}
	f.cert.pemFile = pemFile{setting: "tls.server.certPath", path: o.CertPath}
	if o.AuthClient {
		f.trust.pemFile = pemFile{setting: "tls.server.trustCertPath", path: o.TrustCertPath}
	}
	return f
}

// needsTrust tells whether client certificates are verified.
func (f *serverFiles) needsTrust() bool { return f.trust.setting != "" }

// load reads and checks everything for the first time.
func (f *serverFiles) load() error {
	for _, w := range f.all() {
		if err := w.read(); err != nil {
			return err
		}
		w.acted = w.data
	}
	if err := f.parseTrust(); err != nil {
		return err
	}
	return f.parsePair()
}

// all lists the files in use.
func (f *serverFiles) all() []*watchedFile {
	if f.needsTrust() {
		return []*watchedFile{&f.cert, &f.key, &f.trust}
	}
	return []*watchedFile{&f.cert, &f.key}
}

// refresh looks at the files and takes over what changed and is good. changed tells whether anything was taken
// over. err tells what cannot be used; it comes once for each new state of the files, not at every look.
//
// A content is tried when two looks in a row saw it: a file caught while it is being written does no harm and
// makes no noise.
func (f *serverFiles) refresh() (changed bool, err error) {
	var errs []error
	pairDue, trustDue := false, false
	for _, w := range f.all() {
		before := w.data
		if err := w.read(); err != nil {
			if w.misses++; w.misses == 2 {
				errs = append(errs, err)
			}
			continue
		}
		w.misses = 0
		if !bytes.Equal(before, w.data) || bytes.Equal(w.data, w.acted) {
			continue
		}
		w.acted = w.data
		if w == &f.trust {
			trustDue = true
		} else {
			pairDue = true
		}
	}
	if trustDue {
		err := f.parseTrust()
		changed = err == nil
		errs = append(errs, err)
	}
	if pairDue {
		err := f.parsePair()
		changed = changed || err == nil
		errs = append(errs, err)
	}
	return changed, errors.Join(errs...)
}

// parsePair makes the pair anew of the contents last read, or leaves it.
func (f *serverFiles) parsePair() error {
	pair, err := parsePair(&f.key.pemFile, &f.cert.pemFile, "tls.server.keyPassword", f.password)
	if err == nil {
		f.pair = pair
	}
	return err
}

// parseTrust makes the authorities anew of the content last read, or leaves them.
func (f *serverFiles) parseTrust() error {
	if !f.needsTrust() {
		return nil
	}
	pool, err := parseTrust(&f.trust.pemFile)
	if err == nil {
		f.pool = pool
	}
	return err
}

// describe puts the certificate in use into a log line.
func (f *serverFiles) describe(e *zerolog.Event) *zerolog.Event {
	leaf := f.pair.Leaf
	return e.Str("certPath", f.cert.path).Str("subject", leaf.Subject.String()).
		Str("serial", leaf.SerialNumber.Text(16)).Time("notAfter", leaf.NotAfter)
}
