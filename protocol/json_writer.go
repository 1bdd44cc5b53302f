package protocol

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// JSONForm selects one of the two forms in which RocketMQ writes a body. They differ in map keys and large numbers only
// (spec/since-2025-09.md §1.1 and §1.2); AppendPretty makes the third form, for files, out of FormDefault.
type JSONForm uint8

const (
	// FormDefault leaves numeric map keys bare, {0:"a"}, and is therefore no standard JSON. Every body uses it unless
	// something else is said.
	FormDefault JSONForm = iota
	// FormStrict is standard JSON: numeric map keys in quotes, and longs beyond ±(2^53-1) as strings.
	FormStrict

	// formMarked is FormDefault with marks for AppendPretty.
	formMarked
)

// JSONBody is a body or file content that is written in RocketMQ's dialect of JSON.
type JSONBody interface {
	// AppendJSON appends the body to dst without blanks: members by name, null members left out.
	AppendJSON(dst []byte, f JSONForm) []byte
}

// jsonWriter writes one object, member by member. Its caller gives the members in ascending order of name.
type jsonWriter struct {
	dst  []byte
	form JSONForm
	more bool // a member has been written
}

func beginObject(dst []byte, f JSONForm) jsonWriter {
	return jsonWriter{dst: append(dst, '{'), form: f}
}

// end closes the object and returns what has been written.
func (w *jsonWriter) end() []byte { return append(w.dst, '}') }

// name appends the name of the next member and returns the destination, for the value of a type that has no method here.
func (w *jsonWriter) name(name string) []byte {
	if w.more {
		w.dst = append(w.dst, ',')
	}
	w.more = true
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
	return w.dst
}

// key is name for the key of a map, which may be any text.
func (w *jsonWriter) key(key string) []byte {
	if w.more {
		w.dst = append(w.dst, ',')
	}
	w.more = true
	w.dst = append(appendJSONString(w.dst, key), ':')
	return w.dst
}

func (w *jsonWriter) string(name, s string) { w.dst = appendJSONString(w.name(name), s) }

// optString leaves null out.
func (w *jsonWriter) optString(name string, s *string) {
	if s != nil {
		w.string(name, *s)
	}
}

func (w *jsonWriter) int(name string, n int32) { w.dst = strconv.AppendInt(w.name(name), int64(n), 10) }

func (w *jsonWriter) long(name string, n int64) { w.dst = appendJSONLong(w.name(name), n, w.form) }

func (w *jsonWriter) bool(name string, b bool) { w.dst = strconv.AppendBool(w.name(name), b) }

func (w *jsonWriter) strings(name string, list []string) {
	w.dst = appendJSONStrings(w.name(name), list)
}

func (w *jsonWriter) stringMap(name string, m map[string]string) {
	w.dst = appendJSONMap(w.name(name), m)
}

func (w *jsonWriter) body(name string, b JSONBody) { w.dst = b.AppendJSON(w.name(name), w.form) }

// dataVersion leaves null out.
func (w *jsonWriter) dataVersion(name string, v *DataVersion) {
	if v != nil {
		w.body(name, v)
	}
}

// enum appends the name of constant number n, counted from 1; 0 is null and left out.
func (w *jsonWriter) enum(name string, names []string, n uint8) {
	if n > 0 && int(n) <= len(names) {
		w.string(name, names[n-1])
	}
}

func (w *jsonWriter) language(name string, l Language) {
	if int(l) < len(languageNames) {
		w.string(name, l.String())
	}
}

// writeList appends a member that is a list of objects; nil is an empty list.
func writeList[T any, P interface {
	*T
	JSONBody
}](w *jsonWriter, name string, list []T) {
	w.dst = append(w.name(name), '[')
	for i := range list {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = P(&list[i]).AppendJSON(w.dst, w.form)
	}
	w.dst = append(w.dst, ']')
}

// writeTable appends a member that is a map of strings to objects, in the order of the list.
func writeTable[T any, P interface {
	*T
	JSONBody
}](w *jsonWriter, name string, list []T, key func(*T) string) {
	w.dst = append(w.name(name), '{')
	for i := range list {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = appendJSONString(w.dst, key(&list[i]))
		w.dst = append(w.dst, ':')
		w.dst = P(&list[i]).AppendJSON(w.dst, w.form)
	}
	w.dst = append(w.dst, '}')
}

// maxSafeInteger is the largest integer a JSON reader that knows only doubles keeps exactly.
const maxSafeInteger = 1<<53 - 1

const lowerHex = "0123456789abcdef"

// appendJSONString appends s in quotes. Only the quote, the backslash and U+0000 to U+001F are escaped; everything else
// is raw UTF-8, and each byte that is none becomes U+FFFD.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&0xF])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// appendJSONLong appends the value of a Java long: plain digits, in FormStrict in quotes where a double is not exact.
func appendJSONLong(dst []byte, n int64, f JSONForm) []byte {
	if f == FormStrict && (n > maxSafeInteger || n < -maxSafeInteger) {
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, n, 10)
		return append(dst, '"')
	}
	return strconv.AppendInt(dst, n, 10)
}

// appendJSONIntKey appends the name of an entry of a map with numeric keys, and the colon.
func appendJSONIntKey(dst []byte, n int64, f JSONForm) []byte {
	if f == FormStrict {
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, n, 10)
		return append(dst, '"', ':')
	}
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, ':')
}

// NullElement stands for null in a list of strings, where RocketMQ keeps it. It is no valid UTF-8, so that no string that
// was read equals it.
const NullElement = "\xFFnull"

// appendJSONStrings appends a list of strings; nil is an empty list.
func appendJSONStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if s == NullElement {
			dst = append(dst, "null"...)
			continue
		}
		dst = appendJSONString(dst, s)
	}
	return append(dst, ']')
}

// appendJSONMap appends a map of strings, ordered by key.
func appendJSONMap(dst []byte, m map[string]string) []byte {
	if len(m) == 0 { // the common cases need no list of keys
		return append(dst, '{', '}')
	}
	dst = append(dst, '{')
	if len(m) == 1 {
		for k, v := range m {
			dst = appendJSONString(dst, k)
			dst = append(dst, ':')
			dst = appendJSONString(dst, v)
		}
		return append(dst, '}')
	}
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, k)
		dst = append(dst, ':')
		dst = appendJSONString(dst, m[k])
	}
	return append(dst, '}')
}

// sortedBy returns list in the order of cmp: itself if it has that order, else a copy.
func sortedBy[T any](list []T, cmp func(a, b T) int) []T {
	if slices.IsSortedFunc(list, cmp) {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, cmp)
	return list
}
