package protocol

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// The ROCKETMQ header encoding:
//
//	| code (2) | language (1) | version (2) | opaque (4) | flag (4) |
//	| remark length (4) | remark | ext length (4) | ext: { key length (2) | key | value length (4) | value }* |
//
// Integers are big-endian and signed, lengths count bytes of UTF-8. There is no null: length 0 reads as
// null, so that an empty remark, key or value does not exist.
//
// Source: spec/remoting.md §2.5 (RocketMQSerializable).
const (
	binaryRemarkAt   = 13 // offset of the remark's length
	binaryHeaderSize = 21 // the least size: both lengths are always there
)

// decodeBinary reads c from header and returns the number of bytes it has used. spare is memory for the
// extFields.
func (c *Command) decodeBinary(header []byte, spare Ext) (used int, err error) {
	if len(header) < binaryHeaderSize {
		return 0, fmt.Errorf("%w: %d bytes", ErrFrameHeader, len(header))
	}
	c.Code = int32(int16(binary.BigEndian.Uint16(header)))
	c.Language = languageOf(header[2])
	c.Version = Version(int16(binary.BigEndian.Uint16(header[3:])))
	c.Opaque = int32(binary.BigEndian.Uint32(header[5:]))
	c.Flag = int32(binary.BigEndian.Uint32(header[9:]))

	remarkLen := int(int32(binary.BigEndian.Uint32(header[binaryRemarkAt:])))
	if remarkLen < 0 || remarkLen > len(header)-binaryHeaderSize {
		return 0, fmt.Errorf("%w: remark of %d bytes", ErrFrameHeader, remarkLen)
	}
	extAt := binaryRemarkAt + 4 + remarkLen
	extLen := int(int32(binary.BigEndian.Uint32(header[extAt:])))
	extAt += 4
	if extLen > len(header)-extAt {
		return 0, fmt.Errorf("%w: extFields of %d bytes", ErrFrameHeader, extLen)
	}
	extLen = max(extLen, 0) // negative: none, as in the original
	used = extAt + extLen

	// One string holds the remark and all of the extFields.
	text := string(header[binaryRemarkAt+4 : used])
	c.Remark, c.HasRemark = validUTF8(text[:remarkLen]), remarkLen > 0
	if extLen > 0 {
		c.Ext, err = decodeBinaryExt(text[remarkLen+4:], spare)
	}
	return used, err
}

func decodeBinaryExt(s string, ext Ext) (Ext, error) {
	for n := 0; s != ""; n++ {
		if n == MaxExtFields {
			return nil, fmt.Errorf("%w: more than %d extFields", ErrFrameHeader, MaxExtFields)
		}
		if len(s) < 2 {
			return nil, fmt.Errorf("%w: extFields end inside a key", ErrFrameHeader)
		}
		size := int(int16(uint16(s[0])<<8 | uint16(s[1])))
		s = s[2:]
		if size < 0 || size > len(s) {
			return nil, fmt.Errorf("%w: key of %d bytes", ErrFrameHeader, size)
		}
		key := s[:size]
		s = s[size:]
		if len(s) < 4 {
			return nil, fmt.Errorf("%w: extFields end inside a value", ErrFrameHeader)
		}
		size = int(int32(uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])))
		s = s[4:]
		if size < 0 || size > len(s) {
			return nil, fmt.Errorf("%w: value of %d bytes", ErrFrameHeader, size)
		}
		value := s[:size]
		s = s[size:]
		switch key = validUTF8(key); {
		case key == "": // a null key: nothing can ask for it
		case value == "": // a null value, also in place of an earlier one
			ext = ext.without(key)
		default:
			ext = append(ext, Field{key, validUTF8(value)})
		}
	}
	if len(ext) == 0 {
		return nil, nil // this encoding does not tell empty extFields from none
	}
	return ext, nil
}

// appendBinary appends c's header to dst. Code and version are cut to 16 bits, as in the original.
func (c *Command) appendBinary(dst []byte) ([]byte, error) {
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Code))
	dst = append(dst, byte(c.Language))
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Version))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Opaque))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Flag))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(c.Remark)))
	dst = append(dst, c.Remark...)
	lengthAt := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for i := range c.Ext {
		f := &c.Ext[i]
		if len(f.Key) > math.MaxInt16 {
			return nil, fmt.Errorf("%w: extFields key of %d bytes", ErrFrameHeader, len(f.Key))
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(f.Key)))
		dst = append(dst, f.Key...)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(f.Value)))
		dst = append(dst, f.Value...)
	}
	binary.BigEndian.PutUint32(dst[lengthAt:], uint32(len(dst)-lengthAt-4))
	return dst, nil
}

// validUTF8 returns s with each byte that is not UTF-8 replaced by U+FFFD, as Java decodes it.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
