package remoting

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/rc4"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"
	"math/big"
	"slices"
	"strings"
	"unicode/utf16"
)

// errKeyPassword: decryption ran, and its result was no key. The usual reason is another password.
var errKeyPassword = errors.New("wrong password or damaged key")

// parsePrivateKey parses the first private key of a PEM text: PKCS#8, PKCS#1 or SEC 1, each plain or encrypted.
// A password given for a plain key is ignored. Errors name passwordSetting, not the password.
func parsePrivateKey(data []byte, passwordSetting, password string) (crypto.Signer, error) {
	block, rest := pem.Decode(data)
	for block != nil && !strings.HasSuffix(block.Type, "PRIVATE KEY") {
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		return nil, errors.New("no private key in PEM form")
	}

	der := block.Bytes
	//lint:ignore SA1019 weak, but operators have such files
	legacy := x509.IsEncryptedPEMBlock(block)
	if legacy || block.Type == "ENCRYPTED PRIVATE KEY" {
		if password == "" {
			return nil, fmt.Errorf("the key is encrypted and %s is not set", passwordSetting)
		}
		var err error
		if legacy {
			//lint:ignore SA1019 as above
			der, err = x509.DecryptPEMBlock(block, []byte(password))
		} else {
			der, err = decryptPKCS8(der, password, maxKeyIterations)
		}
		if errors.Is(err, x509.IncorrectPasswordError) {
			err = errKeyPassword
		}
		if err != nil {
			return nil, fmt.Errorf("decrypting with %s: %w", passwordSetting, err)
		}
	}

	key, err := parseKeyDER(der)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a key of type %T cannot sign", key)
	}
	return signer, nil
}

// parseKeyDER parses a plain key in any of the three formats; PEM labels are not always right about it.
func parseKeyDER(der []byte) (any, error) {
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return key, nil
	}
	return nil, fmt.Errorf("not a usable private key: %w", err)
}

// Object identifiers of password-based encryption (RFC 8018 appendix A, RFC 7292 appendix C).
var (
	oidPKCS5  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5}
	oidPKCS12 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 1}

	oidPBEMD5DES  = append(slices.Clone(oidPKCS5), 3)
	oidPBESHA1DES = append(slices.Clone(oidPKCS5), 10)
	oidPBKDF2     = append(slices.Clone(oidPKCS5), 12)
	oidPBES2      = append(slices.Clone(oidPKCS5), 13)

	oidPBESHA1RC4128 = append(slices.Clone(oidPKCS12), 1)
	oidPBESHA1RC440  = append(slices.Clone(oidPKCS12), 2)
	oidPBESHA13DES   = append(slices.Clone(oidPKCS12), 3)
)

// pbkdf2Hashes are the pseudo-random functions of PBKDF2, by object identifier.
var pbkdf2Hashes = map[string]func() hash.Hash{
	"1.2.840.113549.2.7":  sha1.New,
	"1.2.840.113549.2.8":  sha256.New224,
	"1.2.840.113549.2.9":  sha256.New,
	"1.2.840.113549.2.10": sha512.New384,
	"1.2.840.113549.2.11": sha512.New,
}

// pbes2Ciphers are the block ciphers of PBES2, all in CBC mode, by object identifier.
var pbes2Ciphers = map[string]struct {
	keyLen int // bytes
	block  func(key []byte) (cipher.Block, error)
}{
	"2.16.840.1.101.3.4.1.2":  {16, aes.NewCipher},
	"2.16.840.1.101.3.4.1.22": {24, aes.NewCipher},
	"2.16.840.1.101.3.4.1.42": {32, aes.NewCipher},
	"1.2.840.113549.3.7":      {24, des.NewTripleDESCipher},
}

// maxKeyIterations bounds the work that a key file may ask for; openssl's own choice is 2048.
const maxKeyIterations = 10_000_000

// decryptPKCS8 decrypts an EncryptedPrivateKeyInfo (RFC 5958): PBES2 with PBKDF2, which is what openssl writes
// today, and the older schemes that RocketMQ's TLS guides had their readers use (PBE-SHA1-RC4-128) or that old
// releases of openssl chose. It never panics, whatever der holds: a reload may meet rubbish.
func decryptPKCS8(der []byte, password string, maxIterations int) ([]byte, error) {
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return nil, fmt.Errorf("not an encrypted PKCS#8 key: %w", err)
	}
	oid, params := info.Algorithm.Algorithm, info.Algorithm.Parameters.FullBytes
	if oid.Equal(oidPBES2) {
		return decryptPBES2(params, info.Data, password, maxIterations)
	}

	var pbe struct {
		Salt       []byte
		Iterations int
	}
	if _, err := asn1.Unmarshal(params, &pbe); err != nil {
		return nil, fmt.Errorf("encryption %s: bad parameters: %w", oid, err)
	}
	if err := checkIterations(pbe.Iterations, maxIterations); err != nil {
		return nil, err
	}
	pkcs5 := func(h func() hash.Hash) ([]byte, error) {
		k := pbkdf1(h, password, pbe.Salt, pbe.Iterations)
		block, err := des.NewCipher(k[:8])
		if err != nil {
			return nil, err
		}
		return decryptCBC(block, k[8:16], info.Data)
	}
	pkcs12 := func(id byte, size int) []byte { return pkcs12KDF(password, pbe.Salt, pbe.Iterations, id, size) }
	switch {
	case oid.Equal(oidPBEMD5DES):
		return pkcs5(md5.New)
	case oid.Equal(oidPBESHA1DES):
		return pkcs5(sha1.New)
	case oid.Equal(oidPBESHA1RC4128):
		return decryptRC4(pkcs12(pkcs12Key, 16), info.Data)
	case oid.Equal(oidPBESHA1RC440):
		return decryptRC4(pkcs12(pkcs12Key, 5), info.Data)
	case oid.Equal(oidPBESHA13DES):
		block, err := des.NewTripleDESCipher(pkcs12(pkcs12Key, 24))
		if err != nil {
			return nil, err
		}
		return decryptCBC(block, pkcs12(pkcs12IV, 8), info.Data)
	}
	return nil, fmt.Errorf("encryption %s is not supported; PBES2 with AES is (openssl pkcs8 -topk8 -v2 aes-256-cbc)", oid)
}

// decryptPBES2 decrypts by RFC 8018 section 6.2, with PBKDF2 and a block cipher in CBC mode.
func decryptPBES2(params, data []byte, password string, maxIterations int) ([]byte, error) {
	var scheme struct{ KDF, Cipher pkix.AlgorithmIdentifier }
	if _, err := asn1.Unmarshal(params, &scheme); err != nil {
		return nil, fmt.Errorf("PBES2: bad parameters: %w", err)
	}
	if !scheme.KDF.Algorithm.Equal(oidPBKDF2) {
		return nil, fmt.Errorf("PBES2: key derivation %s is not supported; PBKDF2 is", scheme.KDF.Algorithm)
	}
	var kdf struct {
		Salt       []byte
		Iterations int
		KeyLen     int                      `asn1:"optional"`
		Hash       pkix.AlgorithmIdentifier `asn1:"optional"` // absent means SHA-1
	}
	if _, err := asn1.Unmarshal(scheme.KDF.Parameters.FullBytes, &kdf); err != nil {
		return nil, fmt.Errorf("PBKDF2: bad parameters: %w", err)
	}
	if err := checkIterations(kdf.Iterations, maxIterations); err != nil {
		return nil, err
	}
	newHash := sha1.New
	if kdf.Hash.Algorithm != nil {
		if newHash = pbkdf2Hashes[kdf.Hash.Algorithm.String()]; newHash == nil {
			return nil, fmt.Errorf("PBKDF2: hash %s is not supported", kdf.Hash.Algorithm)
		}
	}
	enc, ok := pbes2Ciphers[scheme.Cipher.Algorithm.String()]
	if !ok {
		return nil, fmt.Errorf("PBES2: cipher %s is not supported", scheme.Cipher.Algorithm)
	}
	var iv []byte
	if _, err := asn1.Unmarshal(scheme.Cipher.Parameters.FullBytes, &iv); err != nil {
		return nil, fmt.Errorf("PBES2: bad cipher parameters: %w", err)
	}
	key, err := pbkdf2.Key(newHash, password, kdf.Salt, kdf.Iterations, enc.keyLen)
	if err != nil {
		return nil, err
	}
	block, err := enc.block(key)
	if err != nil {
		return nil, err
	}
	return decryptCBC(block, iv, data)
}

func checkIterations(n, limit int) error {
	if n < 1 || n > limit {
		return fmt.Errorf("%d iterations, outside 1 to %d", n, limit)
	}
	return nil
}

// decryptCBC decrypts data and removes its padding. data is left alone.
func decryptCBC(block cipher.Block, iv, data []byte) ([]byte, error) {
	size := block.BlockSize()
	if len(iv) != size || len(data) == 0 || len(data)%size != 0 {
		return nil, errors.New("damaged key: lengths do not fit the cipher")
	}
	out := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, data)
	pad := int(out[len(out)-1])
	if pad < 1 || pad > size {
		return nil, errKeyPassword
	}
	for _, b := range out[len(out)-pad:] {
		if int(b) != pad {
			return nil, errKeyPassword
		}
	}
	return checkDER(out[:len(out)-pad])
}

func decryptRC4(key, data []byte) ([]byte, error) {
	c, err := rc4.NewCipher(key)
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return checkDER(out)
}

// checkDER tells a decrypted key from the noise that a wrong password yields.
func checkDER(der []byte) ([]byte, error) {
	var seq asn1.RawValue
	if rest, err := asn1.Unmarshal(der, &seq); err != nil || len(rest) > 0 || seq.Tag != asn1.TagSequence {
		return nil, errKeyPassword
	}
	return der, nil
}

// pbkdf1 is PBKDF1 of RFC 8018 section 5.1; the result is one whole hash.
func pbkdf1(newHash func() hash.Hash, password string, salt []byte, iterations int) []byte {
	h := newHash()
	sum := append([]byte(password), salt...)
	for range iterations {
		h.Reset()
		h.Write(sum)
		sum = h.Sum(nil)
	}
	return sum
}

// What pkcs12KDF derives, by the identifiers of RFC 7292 appendix B.3.
const (
	pkcs12Key byte = 1
	pkcs12IV  byte = 2
)

// pkcs12KDF derives size bytes by RFC 7292 appendix B.2, with SHA-1.
func pkcs12KDF(password string, salt []byte, iterations int, id byte, size int) []byte {
	const v = sha1.BlockSize
	text := make([]byte, 0, 2*len(password)+2)
	for _, u := range append(utf16.Encode([]rune(password)), 0) {
		text = append(text, byte(u>>8), byte(u))
	}
	input := append(repeatTo(salt, v), repeatTo(text, v)...)
	one := big.NewInt(1)

	var out []byte
	for {
		h := sha1.New()
		h.Write(bytes.Repeat([]byte{id}, v))
		h.Write(input)
		sum := h.Sum(nil)
		for range iterations - 1 {
			next := sha1.Sum(sum)
			sum = next[:]
		}
		if out = append(out, sum...); len(out) >= size {
			return out[:size]
		}
		// Each block of the input becomes itself + sum repeated to a block + 1, modulo 2^(8v).
		add := new(big.Int).SetBytes(bytes.Repeat(sum, v/len(sum)+1)[:v])
		add.Add(add, one)
		for i := 0; i < len(input); i += v {
			n := new(big.Int).SetBytes(input[i : i+v])
			wide := n.Add(n, add).FillBytes(make([]byte, v+1))
			copy(input[i:i+v], wide[1:])
		}
	}
}

// repeatTo repeats b up to the next multiple of block bytes; nothing stays nothing.
func repeatTo(b []byte, block int) []byte {
	if len(b) == 0 {
		return nil
	}
	n := (len(b) + block - 1) / block * block
	return bytes.Repeat(b, n/len(b)+1)[:n:n]
}
