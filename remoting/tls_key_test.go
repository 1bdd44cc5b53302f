package remoting

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// keyFilePassword opens every encrypted file of testdata/keys. The rsa-… files hold one and the same key. They were
// written by OpenSSL 3.0: rsa-pbes2-… by "openssl pkcs8 -topk8 -v2 CIPHER -v2prf HASH", rsa-pbe-… by
// "openssl pkcs8 -topk8 -v1 ALGORITHM -provider legacy -provider default", rsa-pkcs1-… by "openssl rsa -traditional";
// ec-keytool-… was made by keytool and exported by "openssl pkcs12 -nocerts". No server uses these keys.
const keyFilePassword = "s3cret-Pässword"

func readKeyFile(t testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", "keys", name))
	require.NoError(t, err)
	return data
}

func TestPrivateKeyFormats(t *testing.T) {
	want, err := parsePrivateKey(readKeyFile(t, "rsa-plain.pem"), "p", "")
	require.NoError(t, err)
	for _, name := range []string{
		"rsa-plain.pem", "rsa-pkcs1-plain.pem", "rsa-pkcs1-aes256.pem",
		"rsa-pbes2-aes256-sha256.pem", "rsa-pbes2-aes128-sha512.pem", "rsa-pbes2-3des-sha1.pem",
		"rsa-pbe-sha1-rc4-128.pem", "rsa-pbe-sha1-rc4-40.pem", "rsa-pbe-sha1-3des.pem",
		"rsa-pbe-md5-des.pem", "rsa-pbe-sha1-des.pem",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parsePrivateKey(readKeyFile(t, name), "p", keyFilePassword)
			require.NoError(t, err)
			require.True(t, want.(*rsa.PrivateKey).Equal(got))
		})
	}
	got, err := parsePrivateKey(readKeyFile(t, "ec-keytool-pbes2.pem"), "p", keyFilePassword)
	require.NoError(t, err)
	require.IsType(t, &ecdsa.PrivateKey{}, got)
}

func TestPrivateKeyErrors(t *testing.T) {
	encrypted := readKeyFile(t, "rsa-pbes2-aes256-sha256.pem")
	block, _ := pem.Decode(encrypted)
	cut := pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes[:len(block.Bytes)-1]})
	for _, c := range []struct {
		name     string
		data     []byte
		password string
		want     string
	}{
		{"no PEM at all", []byte("rubbish"), "", "no private key in PEM form"},
		{"empty file", nil, "", "no private key in PEM form"},
		{"a certificate only", []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "", "no private key in PEM form"},
		{"plain key of noise", []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), "", "not a usable private key"},
		{"PKCS#8, password not set", encrypted, "", "the key is encrypted and tls.server.keyPassword is not set"},
		{"PKCS#1, password not set", readKeyFile(t, "rsa-pkcs1-aes256.pem"), "", "tls.server.keyPassword is not set"},
		{"PBES2, wrong password", encrypted, "hunter2hunter2", "decrypting with tls.server.keyPassword: wrong password"},
		{"RC4, wrong password", readKeyFile(t, "rsa-pbe-sha1-rc4-128.pem"), "hunter2hunter2", "wrong password"},
		{"3DES, wrong password", readKeyFile(t, "rsa-pbe-sha1-3des.pem"), "hunter2hunter2", "wrong password"},
		{"PKCS#1, wrong password", readKeyFile(t, "rsa-pkcs1-aes256.pem"), "hunter2hunter2", "wrong password"},
		{"scrypt", readKeyFile(t, "rsa-scrypt.pem"), keyFilePassword, "PBKDF2 is"},
		{"cut short", cut, keyFilePassword, "not an encrypted PKCS#8 key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parsePrivateKey(c.data, "tls.server.keyPassword", c.password)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "hunter2")
			require.NotContains(t, err.Error(), keyFilePassword)
		})
	}
}

// FuzzDecryptPKCS8: whatever an encrypted key holds, it neither panics nor lets the password out.
func FuzzDecryptPKCS8(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "keys", "*.pem"))
	require.NoError(f, err)
	for _, name := range names {
		block, _ := pem.Decode(readKeyFile(f, filepath.Base(name)))
		f.Add(block.Bytes)
	}
	f.Fuzz(func(t *testing.T, der []byte) {
		if _, err := decryptPKCS8(der, keyFilePassword, 2048); err != nil {
			require.NotContains(t, err.Error(), keyFilePassword)
		}
	})
}
