package protocol

import (
	"bytes"
	"encoding/binary"
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

// Marks in formMarked. No JSON that we write has these bytes otherwise.
const (
	keepLine = 0x01 // at the start of a list that is an array of numbers in Java: it stays on one line
	asIs     = 0x02 // before the length, as a uvarint, of a text that stays as it is and the text
)

// JSONBody is a body or file content that is written in RocketMQ's dialect of JSON.
type JSONBody interface {
	// AppendJSON appends the body to dst without blanks: members by name, null members left out.
	AppendJSON(dst []byte, f JSONForm) []byte
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

// appendJSONLongs appends what is a long[] in Java.
func appendJSONLongs(dst []byte, list []int64, f JSONForm) []byte {
	dst = append(dst, '[')
	if f == formMarked {
		dst = append(dst, keepLine)
	}
	for i, n := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONLong(dst, n, f)
	}
	return append(dst, ']')
}

// appendAsIs appends a value whose text is not ours, and which even AppendPretty leaves as it is.
func appendAsIs(dst []byte, text string, f JSONForm) []byte {
	if f == formMarked {
		dst = binary.AppendUvarint(append(dst, asIs), uint64(len(text)))
	}
	return append(dst, text...)
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

// AppendPretty appends body in the form that RocketMQ uses for files such as topics.json: FormDefault with a line for each
// member and element, except those of an array of numbers and of odd entries of a file, a TAB per level, no blank after the
// colon and no newline at the end (spec/since-2025-09.md §1.3).
func AppendPretty(dst []byte, body JSONBody) []byte {
	compact := body.AppendJSON(make([]byte, 0, cap(dst)-len(dst)), formMarked) // it needs less room than what becomes of it
	level := 0
	newline := func() {
		dst = append(dst, '\n')
		for range level {
			dst = append(dst, '\t')
		}
	}
	for i := 0; i < len(compact); i++ {
		switch c := compact[i]; c {
		case '"':
			end := i + 1
			for compact[end] != '"' {
				if compact[end] == '\\' {
					end++
				}
				end++
			}
			dst = append(dst, compact[i:end+1]...)
			i = end
		case asIs:
			length, n := binary.Uvarint(compact[i+1:])
			start := i + 1 + n
			end := start + int(length)
			dst = append(dst, compact[start:end]...)
			i = end - 1
		case '{', '[':
			dst = append(dst, c)
			if compact[i+1] == keepLine {
				end := i + bytes.IndexByte(compact[i:], ']')
				dst = append(dst, compact[i+2:end+1]...)
				i = end
				continue
			}
			if next := compact[i+1]; next == '}' || next == ']' {
				dst = append(dst, next)
				i++
				continue
			}
			level++
			newline()
		case '}', ']':
			level--
			newline()
			dst = append(dst, c)
		case ',':
			dst = append(dst, c)
			newline()
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
