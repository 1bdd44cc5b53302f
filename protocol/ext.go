package protocol

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Field is one entry of a command's extFields.
type Field struct{ Key, Value string }

// Ext is a command's extFields, also called its custom header, in wire order. nil means that the command
// has none; an empty Ext that is not nil is written as {}.
type Ext []Field

// Get returns the value of key. Where a sender wrote a key twice, the last one counts.
func (e Ext) Get(key string) (value string, ok bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if e[i].Key == key {
			return e[i].Value, true
		}
	}
	return "", false
}

// without returns e without key, in the same memory.
func (e Ext) without(key string) Ext {
	kept := e[:0]
	for i := range e {
		if e[i].Key != key {
			kept = append(kept, e[i])
		}
	}
	return kept
}

// HeaderEncoder is a typed request or response header that can write itself into extFields.
type HeaderEncoder interface {
	// AppendExt appends the header's fields to ext and returns the result. A header class of the original
	// gives at least an empty Ext, so that the command carries extFields.
	AppendExt(ext Ext) Ext
}

// Opt is a header field that a peer may leave out.
type Opt[T any] struct {
	Value   T
	Present bool
}

// Some returns a field that is present.
func Some[T any](value T) Opt[T] { return Opt[T]{Value: value, Present: true} }

// Or returns the field's value, or def when it is absent.
func (o Opt[T]) Or(def T) T {
	if o.Present {
		return o.Value
	}
	return def
}

// FieldError says which header field of a request is missing or malformed. Its text is fit for a remark.
type FieldError struct {
	Field  string // wire name
	Reason string // what is wrong with it; empty: it is missing
}

func (e *FieldError) Error() string {
	if e.Reason == "" {
		return "the field " + e.Field + " is missing"
	}
	return e.Field + ": " + e.Reason
}

// ExtDecoder reads typed fields out of extFields and keeps the first failure; ReadExt makes one. Texts are
// read by the original's rules: booleans never fail, numbers may have a sign and the digits of any script.
//
// Source: spec/remoting.md §3.2.
type ExtDecoder struct {
	ext Ext
	err *FieldError
}

// ReadExt returns a decoder of ext.
func ReadExt(ext Ext) ExtDecoder { return ExtDecoder{ext: ext} }

// Err returns the first failure as a *FieldError, or nil.
func (d *ExtDecoder) Err() error {
	if d.err == nil {
		return nil // not a nil *FieldError inside an error
	}
	return d.err
}

func (d *ExtDecoder) fail(key, reason string) {
	if d.err == nil {
		d.err = &FieldError{Field: key, Reason: reason}
	}
}

// String returns a required text, which may be empty.
func (d *ExtDecoder) String(key string) string {
	value, ok := d.ext.Get(key)
	if !ok {
		d.fail(key, "")
	}
	return value
}

// OptString returns an optional text.
func (d *ExtDecoder) OptString(key string) Opt[string] {
	value, ok := d.ext.Get(key)
	return Opt[string]{value, ok}
}

// Int32 returns a required number.
func (d *ExtDecoder) Int32(key string) int32 { return int32(d.integer(key, 32)) }

// Int64 returns a required number.
func (d *ExtDecoder) Int64(key string) int64 { return d.integer(key, 64) }

// OptInt32 returns an optional number, and def when it is absent or malformed.
func (d *ExtDecoder) OptInt32(key string, def int32) int32 { return d.MaybeInt32(key).Or(def) }

// MaybeInt32 returns an optional number; a malformed one counts as absent.
func (d *ExtDecoder) MaybeInt32(key string) Opt[int32] {
	n, ok := d.optInteger(key, 32)
	return Opt[int32]{int32(n), ok}
}

// MaybeInt64 returns an optional number; a malformed one counts as absent.
func (d *ExtDecoder) MaybeInt64(key string) Opt[int64] {
	n, ok := d.optInteger(key, 64)
	return Opt[int64]{n, ok}
}

// Bool returns an optional boolean, and def when it is absent. "true" in any letter case is true, all else
// is false.
func (d *ExtDecoder) Bool(key string, def bool) bool { return d.OptBool(key).Or(def) }

// OptBool returns an optional boolean, read as by Bool.
func (d *ExtDecoder) OptBool(key string) Opt[bool] {
	value, ok := d.ext.Get(key)
	return Opt[bool]{ok && parseBool(value), ok}
}

func (d *ExtDecoder) integer(key string, bits int) int64 {
	value, ok := d.ext.Get(key)
	if !ok {
		d.fail(key, "")
		return 0
	}
	n, err := parseInteger(value, bits)
	if err != "" {
		d.fail(key, err+": "+quoteShort(value))
	}
	return n
}

func (d *ExtDecoder) optInteger(key string, bits int) (int64, bool) {
	value, ok := d.ext.Get(key)
	if !ok {
		return 0, false
	}
	n, err := parseInteger(value, bits)
	return n, err == ""
}

func parseBool(s string) bool { return len(s) == 4 && strings.EqualFold(s, "true") }

// parseInteger reads s as Java's Integer.parseInt and Long.parseLong do: an optional sign, then decimal
// digits of any script of the basic plane, in the range of a signed integer of bits bits. It returns what
// is wrong, or "".
func parseInteger(s string, bits int) (n int64, wrong string) {
	const notInteger, outOfRange = "not an integer", "out of range"
	i, negative := 0, false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		i, negative = 1, s[0] == '-'
	}
	if i == len(s) {
		return 0, notInteger
	}
	limit := uint64(1)<<(bits-1) - 1 // largest magnitude
	if negative {
		limit++
	}
	var magnitude uint64
	for i < len(s) {
		digit := uint64(s[i] - '0')
		size := 1
		if digit > 9 {
			if s[i] < utf8.RuneSelf {
				return 0, notInteger
			}
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			value, ok := digitValue(r)
			if !ok {
				return 0, notInteger
			}
			digit = uint64(value)
		}
		i += size
		if magnitude > (limit-digit)/10 {
			wrong = outOfRange // unless a letter follows
			continue
		}
		magnitude = magnitude*10 + digit
	}
	if wrong != "" {
		return 0, wrong
	}
	if negative {
		return -int64(magnitude), "" // also right for the smallest number, whose magnitude wraps onto itself
	}
	return int64(magnitude), ""
}

// digitValue returns the value of a decimal digit of the basic plane. Unicode keeps the ten digits of a
// script together, in order, so that a table range is a whole number of tens.
func digitValue(r rune) (int, bool) {
	if r > 0xFFFF {
		return 0, false
	}
	for _, t := range unicode.Nd.R16 {
		if c := uint16(r); t.Lo <= c && c <= t.Hi {
			return int(c-t.Lo) % 10, true
		}
	}
	return 0, false
}

// quoteShort quotes a peer's text for a remark or a log line, cut to a length that does no harm there.
func quoteShort(s string) string {
	const max = 64
	if len(s) <= max {
		return strconv.Quote(s)
	}
	return strconv.Quote(s[:max]) + "…"
}

// present makes sure that a header with no field set is still written, as {}.
func present(ext Ext) Ext {
	if ext == nil {
		return Ext{}
	}
	return ext
}

func appendInt(ext Ext, key string, n int64) Ext {
	return append(ext, Field{key, strconv.FormatInt(n, 10)})
}

func appendBool(ext Ext, key string, b bool) Ext {
	return append(ext, Field{key, strconv.FormatBool(b)})
}

func appendOptString(ext Ext, key string, o Opt[string]) Ext {
	if !o.Present {
		return ext
	}
	return append(ext, Field{key, o.Value})
}

func appendOptInt32(ext Ext, key string, o Opt[int32]) Ext {
	if !o.Present {
		return ext
	}
	return appendInt(ext, key, int64(o.Value))
}

func appendOptInt64(ext Ext, key string, o Opt[int64]) Ext {
	if !o.Present {
		return ext
	}
	return appendInt(ext, key, o.Value)
}

func appendOptBool(ext Ext, key string, o Opt[bool]) Ext {
	if !o.Present {
		return ext
	}
	return appendBool(ext, key, o.Value)
}
