package protocol

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// The JSON header encoding is an object with the members code, extFields, flag, language, opaque, remark,
// serializeTypeCurrentRPC and version, written in this order and without blanks. What Java and the official
// Go client send is read in one pass by decodeJSONFast; everything else that Java peers accept, from single
// quotes to numbers as strings, by decodeJSONLenient.
//
// Source: spec/remoting.md §2.4, §9.2; spec/since-2025-09.md §1.

// decodeJSON reads c from header. spare is memory for the extFields.
func (c *Command) decodeJSON(header []byte, spare Ext) error {
	codec, body := c.Codec, c.Body
	if utf8.Valid(header) && c.decodeJSONFast(unsafe.String(unsafe.SliceData(header), len(header)), spare) {
		c.own() // so far its strings are parts of header, which is not ours to keep
		return nil
	}
	clear(spare[:cap(spare)])
	*c = Command{Codec: codec, Body: body}
	if err := c.decodeJSONLenient(header, spare); err != nil {
		return fmt.Errorf("%w: %w", ErrFrameHeader, err)
	}
	return nil
}

// own replaces the strings of c by copies. They share one allocation, which is what a request costs in the end; so
// it leaves out the keys of route requests, by far the most frequent ones.
func (c *Command) own() {
	size := len(c.Remark)
	for _, f := range c.Ext {
		size += len(f.Value)
		if routeKey(f.Key) == "" {
			size += len(f.Key)
		}
	}
	var copies strings.Builder
	copies.Grow(size)
	keep := func(s string) string {
		from := copies.Len()
		copies.WriteString(s)
		return copies.String()[from:]
	}
	c.Remark = keep(c.Remark)
	for i := range c.Ext {
		f := &c.Ext[i]
		if known := routeKey(f.Key); known != "" {
			f.Key = known
		} else {
			f.Key = keep(f.Key)
		}
		f.Value = keep(f.Value)
	}
}

// routeKey returns key if it is a field of GetRouteInfoRequestHeader, else "".
func routeKey(key string) string {
	switch key {
	case "topic":
		return "topic"
	case "acceptStandardJsonOnly":
		return "acceptStandardJsonOnly"
	}
	return ""
}

// decodeJSONFast reads c from a header without blanks, escapes and other liberties. It reports false, and
// leaves c half filled, at the first thing it does not know; that may still be a good header. The strings of c are
// parts of s.
func (c *Command) decodeJSONFast(s string, spare Ext) bool {
	if len(s) < 2 || s[0] != '{' {
		return false
	}
	i := 1
	for {
		name, next := plainString(s, i)
		if next < 0 || next >= len(s) || s[next] != ':' {
			return false
		}
		i = next + 1
		if i >= len(s) {
			return false
		}
		var number int32
		var text string
		switch name {
		case "code":
			number, i = plainInt(s, i)
			c.Code = number
		case "flag":
			number, i = plainInt(s, i)
			c.Flag = number
		case "opaque":
			number, i = plainInt(s, i)
			c.Opaque = number
		case "version":
			number, i = plainInt(s, i)
			c.Version = Version(number)
		case "language":
			text, i = plainString(s, i)
			c.Language = languageNamed(text)
		case "remark":
			if hasNull(s, i) {
				c.Remark, c.HasRemark, i = "", false, i+len("null")
				break
			}
			c.Remark, i = plainString(s, i)
			c.HasRemark = true
		case "serializeTypeCurrentRPC":
			_, i = plainString(s, i)
		case "extFields":
			if hasNull(s, i) {
				c.Ext, i = nil, i+len("null")
				break
			}
			c.Ext, i = plainExt(s, i, spare)
		default:
			return false
		}
		if i < 0 || i >= len(s) {
			return false
		}
		switch s[i] {
		case ',':
			i++
		case '}':
			return i == len(s)-1 || s[i+1:] == "\n" // the C++ client ends a line
		default:
			return false
		}
	}
}

// plainExt reads an object of strings at s[i] into the memory of spare, and returns the offset behind it,
// or -1.
func plainExt(s string, i int, spare Ext) (Ext, int) {
	if i+1 >= len(s) || s[i] != '{' {
		return nil, -1
	}
	ext := spare[:0]
	if s[i+1] == '}' {
		return present(ext), i + 2
	}
	if cap(ext) == 0 {
		ext = make(Ext, 0, 2)
	}
	for {
		var f Field
		if f.Key, i = plainString(s, i+1); i < 0 || i >= len(s) || s[i] != ':' || f.Key == "$ref" {
			return nil, -1
		}
		if f.Value, i = plainString(s, i+1); i < 0 || i >= len(s) || len(ext) == MaxExtFields {
			return nil, -1
		}
		ext = append(ext, f)
		if s[i] == '}' {
			return ext, i + 1
		}
		if s[i] != ',' {
			return nil, -1
		}
	}
}

// plainString reads a string in double quotes without escapes at s[i], and returns the offset behind it, or
// -1.
func plainString(s string, i int) (string, int) {
	if i >= len(s) || s[i] != '"' {
		return "", -1
	}
	i++
	for j := i; j < len(s); j++ {
		switch b := s[j]; {
		case b == '"':
			return s[i:j], j + 1
		case b == '\\' || b < ' ':
			return "", -1
		}
	}
	return "", -1
}

// plainInt reads an integer at s[i], and returns the offset behind it, or -1.
func plainInt(s string, i int) (int32, int) {
	negative := i < len(s) && s[i] == '-'
	if negative {
		i++
	}
	n, start := int64(0), i
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		if n = n*10 + int64(s[i]-'0'); n > math.MaxInt32+1 {
			return 0, -1
		}
	}
	if negative {
		n = -n
	}
	if i == start || n > math.MaxInt32 {
		return 0, -1
	}
	return int32(n), i
}

func hasNull(s string, i int) bool { return len(s)-i >= 4 && s[i:i+4] == "null" }

// headerNames are the members of a header, in the order in which Java writes them.
var headerNames = newJSONNames("code", "extFields", "flag", "language", "opaque", "remark", "serializeTypeCurrentRPC", "version")

// decodeJSONLenient reads c from anything that a Java peer takes for a header. Members that are absent, and
// numbers that are null, have the value of a new command.
func (c *Command) decodeJSONLenient(header []byte, spare Ext) error {
	return decodeJSON(header, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, headerNames); ok && r.member(&o); {
			switch o.name {
			case "code":
				r.int32(&c.Code)
			case "extFields":
				c.Ext = r.ext(spare)
			case "flag":
				r.int32(&c.Flag)
			case "language":
				c.Language = LanguageUnknown
				if i := r.enum(languageNames[:]); i >= 0 {
					c.Language = Language(i)
				}
			case "opaque":
				r.int32(&c.Opaque)
			case "remark":
				text, ok := r.text()
				c.Remark, c.HasRemark = string(text), ok
			case "serializeTypeCurrentRPC": // checked, but the frame knows better
				r.enum(codecNames[:])
			case "version":
				r.int32((*int32)(&c.Version))
			}
		}
	})
}

var codecNames = [...]string{"JSON", "ROCKETMQ"}

// ext reads extFields into the memory of spare. Values that are no strings become their text; a null takes
// its key away.
func (r *jsonReader) ext(spare Ext) Ext {
	var o jsonObject
	if !r.textMap(&o) {
		return nil
	}
	ext := spare[:0]
	for n := 0; ; n++ {
		b, ok := r.textKey(&o)
		if !ok {
			return present(ext)
		}
		if n == MaxExtFields {
			r.fail("too many extFields")
			return nil
		}
		key := string(b) // the next call reuses b
		if value, ok := r.text(); ok {
			ext = append(ext, Field{key, string(value)})
		} else {
			ext = ext.without(key)
		}
	}
}

// appendJSON appends c's header to dst.
func (c *Command) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(c.Code), 10)
	if c.Ext != nil {
		dst = append(dst, `,"extFields":{`...)
		for i := range c.Ext {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSONString(dst, c.Ext[i].Key)
			dst = append(dst, ':')
			dst = appendJSONString(dst, c.Ext[i].Value)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `,"flag":`...)
	dst = strconv.AppendInt(dst, int64(c.Flag), 10)
	if int(c.Language) < len(languageNames) {
		dst = append(dst, `,"language":"`...)
		dst = append(dst, languageNames[c.Language]...)
		dst = append(dst, `","opaque":`...)
	} else { // left out it would read as JAVA
		dst = append(dst, `,"language":null,"opaque":`...)
	}
	dst = strconv.AppendInt(dst, int64(c.Opaque), 10)
	if c.HasRemark || c.Remark != "" {
		dst = append(dst, `,"remark":`...)
		dst = appendJSONString(dst, c.Remark)
	}
	dst = append(dst, `,"serializeTypeCurrentRPC":"JSON","version":`...)
	dst = strconv.AppendInt(dst, int64(c.Version), 10)
	return append(dst, '}')
}
