package protocol

import (
	"bytes"
	"encoding/binary"
)

// Marks in formMarked. No JSON that we write has these bytes otherwise.
const (
	keepLine = 0x01 // at the start of a list that is an array of numbers in Java: it stays on one line
	asIs     = 0x02 // before the length, as a uvarint, of a text that stays as it is and the text
)

// AppendPretty appends body in the form that RocketMQ uses for files such as topics.json: FormDefault with a line for each
// member and element, except those of an array of numbers and of odd entries of a file, a TAB per level, no blank after the
// colon and no newline at the end (spec/since-2025-09.md §1.3).
func AppendPretty(dst []byte, body JSONBody) []byte {
	compact := body.AppendJSON(make([]byte, 0, cap(dst)-len(dst)), formMarked) // it needs less room than what becomes of it
	level := 0
	start := 0 // of what has still to be copied
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		if !breaksLine[c] {
			continue
		}
		switch c {
		case '"':
			for i++; compact[i] != '"'; i++ {
				if compact[i] == '\\' {
					i++
				}
			}
		case asIs:
			length, n := binary.Uvarint(compact[i+1:])
			dst = append(dst, compact[start:i]...)
			start = i + 1 + n
			i = start + int(length) - 1
		case '{', '[':
			switch next := compact[i+1]; next {
			case keepLine:
				dst = append(dst, compact[start:i+1]...)
				start = i + 2
				i += bytes.IndexByte(compact[i:], ']')
			case '}', ']':
				i++
			default:
				level++
				dst = appendNewline(append(dst, compact[start:i+1]...), level)
				start = i + 1
			}
		case '}', ']':
			level--
			dst = appendNewline(append(dst, compact[start:i]...), level)
			start = i
		case ',':
			dst = appendNewline(append(dst, compact[start:i+1]...), level)
			start = i + 1
		}
	}
	return append(dst, compact[start:]...)
}

// breaksLine has the bytes that AppendPretty looks at.
var breaksLine = [256]bool{'"': true, asIs: true, '{': true, '[': true, '}': true, ']': true, ',': true}

// appendNewline appends the end of a line and the TABs of the next one.
func appendNewline(dst []byte, level int) []byte {
	dst = append(dst, '\n')
	for range level {
		dst = append(dst, '\t')
	}
	return dst
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
