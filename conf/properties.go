package conf

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Property is one key of a properties text.
type Property struct {
	Key, Value string
	Line       int // where the definition that counts begins, from 1
	Shadowed   int // line of an earlier definition of the same key, 0 without one
}

// SyntaxError says what is wrong with a properties text, and where.
type SyntaxError struct {
	Line   int // from 1
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

const utf8BOM = "\xef\xbb\xbf"

// DecodeText turns the bytes of a properties file into text. Java reads and writes such files as
// ISO-8859-1, people write UTF-8: what is valid UTF-8 is taken as such, all else as ISO-8859-1.
// A byte order mark is dropped.
func DecodeText(data []byte) string {
	if utf8.Valid(data) {
		return strings.TrimPrefix(string(data), utf8BOM)
	}
	latin1 := make([]rune, len(data))
	for i, b := range data {
		latin1[i] = rune(b)
	}
	return string(latin1)
}

// ParseProperties reads text as java.util.Properties does (spec/namesrv.md §1.5): comments begin with
// # or !, a key ends at the first unescaped =, : or blank, a backslash at its end continues a line, and
// values keep their trailing blanks. Keys come in order of first appearance; the last definition of a
// key counts. Half a surrogate pair becomes U+FFFD. The only error is a *SyntaxError for a malformed
// \u escape outside of comments.
func ParseProperties(text string) ([]Property, error) {
	var (
		props []Property
		seen  = map[string]int{} // key to index in props
		lines = lineReader{text: text, line: 1}
		buf   []byte
	)
	for {
		start, line, ok := lines.next(buf)
		if !ok {
			return props, nil
		}
		buf = line
		rawKey, rawValue := splitProperty(line)
		key, keyOK := unescape(rawKey)
		value, valueOK := unescape(rawValue)
		if !keyOK || !valueOK {
			return nil, &SyntaxError{Line: start, Reason: `malformed \u escape: four hexadecimal digits must follow`}
		}
		if i, again := seen[key]; again {
			props[i] = Property{Key: key, Value: value, Line: start, Shadowed: props[i].Line}
			continue
		}
		seen[key] = len(props)
		props = append(props, Property{Key: key, Value: value, Line: start})
	}
}

// lineReader cuts a text into logical lines.
type lineReader struct {
	text string
	pos  int // next byte
	line int // its line, from 1
}

// next returns the next logical line that is neither blank nor a comment: without leading blanks, with
// its continuations joined and its escapes untouched. The line is built in buf.
func (r *lineReader) next(buf []byte) (start int, line []byte, ok bool) {
	for {
		r.skipBlanks()
		if r.pos == len(r.text) {
			return 0, nil, false
		}
		start, line = r.line, buf[:0]
		if c := r.text[r.pos]; c == '#' || c == '!' {
			r.natural()
			continue
		}
		for {
			part := r.natural()
			goesOn := endsInBackslash(part)
			if goesOn {
				part = part[:len(part)-1]
			}
			line = append(line, part...)
			if !goesOn {
				break
			}
			if r.pos == len(r.text) {
				// Java has an empty key when nothing but a backslash ends the text, unless \r\n follows it.
				return start, line, len(line) > 0 || !strings.HasSuffix(r.text, "\r\n")
			}
			if len(line) == 0 {
				break // nothing was continued: what follows may still be a comment
			}
			r.skipBlanks()
		}
		if len(line) > 0 {
			return start, line, true
		}
	}
}

// natural returns the rest of the current line and moves behind its end: \n, \r or \r\n.
func (r *lineReader) natural() string {
	rest := r.text[r.pos:]
	end := strings.IndexAny(rest, "\r\n")
	if end < 0 {
		r.pos = len(r.text)
		return rest
	}
	r.line++
	r.pos += end + 1
	if rest[end] == '\r' && strings.HasPrefix(rest[end+1:], "\n") {
		r.pos++
	}
	return rest[:end]
}

func (r *lineReader) skipBlanks() {
	for r.pos < len(r.text) && isBlank(r.text[r.pos]) {
		r.pos++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\f' }

// endsInBackslash reports whether s ends in a backslash that is not itself escaped.
func endsInBackslash(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// splitProperty cuts a logical line at its separator: blanks, or one = or : with blanks around it.
func splitProperty(line []byte) (key, value []byte) {
	end, escaped := 0, false
	for ; end < len(line); end++ {
		c := line[end]
		if !escaped && (c == '=' || c == ':' || isBlank(c)) {
			break
		}
		escaped = c == '\\' && !escaped
	}
	value = trimBlanks(line[end:])
	if len(value) > 0 && (value[0] == '=' || value[0] == ':') {
		value = trimBlanks(value[1:])
	}
	return line[:end], value
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	return b
}

// unescape resolves the escapes of a key or value; ok is false for a malformed \u escape.
func unescape(raw []byte) (text string, ok bool) {
	out := make([]byte, 0, len(raw))
	high := rune(0) // first half of a surrogate pair, waiting for the second
	flush := func() {
		if high != 0 {
			out, high = utf8.AppendRune(out, utf8.RuneError), 0
		}
	}
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' || i+1 == len(raw) {
			flush()
			out = append(out, c)
			continue
		}
		i++
		if raw[i] == 'u' {
			r, hexOK := fourHex(raw[i+1:])
			if !hexOK {
				return "", false
			}
			i += 4
			switch {
			case high != 0 && utf16.DecodeRune(high, r) != utf8.RuneError:
				out, high = utf8.AppendRune(out, utf16.DecodeRune(high, r)), 0
			case r >= 0xd800 && r < 0xdc00:
				flush()
				high = r
			default:
				flush()
				out = utf8.AppendRune(out, r) // a lone second half becomes U+FFFD
			}
			continue
		}
		flush()
		switch raw[i] {
		case 't':
			out = append(out, '\t')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 'f':
			out = append(out, '\f')
		default:
			out = append(out, raw[i])
		}
	}
	flush()
	return string(out), true
}

func fourHex(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// AppendProperty appends one line "key=value\n" that ParseProperties and java.util.Properties read back
// as the same key and value, whichever of the two encodings they assume: the line is ASCII, everything
// else is escaped. Bytes that are not UTF-8 are written as U+FFFD.
func AppendProperty(dst []byte, key, value string) []byte {
	for _, r := range key {
		switch r {
		case ' ', '=', ':', '#', '!':
			dst = append(dst, '\\', byte(r))
		default:
			dst = appendEscaped(dst, r)
		}
	}
	dst = append(dst, '=')
	for i, r := range value {
		if i == 0 && r == ' ' {
			dst = append(dst, '\\')
		}
		dst = appendEscaped(dst, r)
	}
	return append(dst, '\n')
}

func appendEscaped(dst []byte, r rune) []byte {
	switch {
	case r == '\\':
		return append(dst, `\\`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == '\f':
		return append(dst, `\f`...)
	case r >= ' ' && r <= '~':
		return append(dst, byte(r))
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(dst, `\u%04X\u%04X`, high, low)
	default:
		return fmt.Appendf(dst, `\u%04X`, r)
	}
}
