package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxFrame is the largest frame in bytes, the length prefix included: the default of the original's
// com.rocketmq.remoting.frameMaxLength, which every Java peer applies to what it receives.
const MaxFrame = 16 << 20

// MaxExtFields is the largest number of extFields a command may come with. Real ones have a few dozen; the
// limit keeps the memory that a header takes in proportion, and looking up a field cheap.
const MaxExtFields = 1024

const (
	prefixSize = 4         // the length of what follows
	wordSize   = 4         // codec and header length
	maxHeader  = 1<<24 - 1 // the header length has three bytes
)

// Errors of frames. After any of them on reading, the connection is of no further use.
var (
	ErrFrameTooLarge   = errors.New("frame too large")
	ErrFrameTooShort   = errors.New("frame too short")
	ErrFrameCodec      = errors.New("unknown header encoding")
	ErrFrameHeaderSize = errors.New("header length exceeds the frame")
	ErrFrameHeader     = errors.New("malformed header")
)

// FrameLength returns the number of bytes that follow prefix, the first four bytes of a frame: an unsigned
// big-endian length. limit is the largest frame to accept in bytes, prefix included.
//
// Errors: ErrFrameTooLarge, ErrFrameTooShort.
// Source: spec/remoting.md §1.1.
func FrameLength(prefix []byte, limit int) (int, error) {
	total := binary.BigEndian.Uint32(prefix)
	if int64(total) > int64(limit)-prefixSize {
		return 0, fmt.Errorf("%w: %d bytes, the limit is %d", ErrFrameTooLarge, int64(total)+prefixSize, limit)
	}
	if total < wordSize {
		return 0, fmt.Errorf("%w: length %d", ErrFrameTooShort, total)
	}
	return int(total), nil
}

// DecodeCommand decodes a frame without its length prefix:
//
//	| codec (1) | H (3) | header (H) | body |   integers are big-endian
//
// The body aliases frame. The strings do not, but share one allocation: of a long header, what is to be kept for
// long is better cloned.
//
// Errors: ErrFrameTooShort, ErrFrameCodec, ErrFrameHeaderSize, ErrFrameHeader.
// Source: spec/remoting.md §1, §2.4, §2.5.
func DecodeCommand(frame []byte) (Command, error) {
	var c Command
	err := c.Decode(frame)
	return c, err
}

// Decode is DecodeCommand into a command that exists, all of which it replaces. It reuses the memory of
// c.Ext, so a reader that is done with one command before it reads the next saves an allocation. After an
// error the content of c is undefined.
func (c *Command) Decode(frame []byte) error {
	spare := c.Ext[:0]
	*c = Command{}
	if len(frame) < wordSize {
		return fmt.Errorf("%w: %d bytes", ErrFrameTooShort, len(frame))
	}
	word := binary.BigEndian.Uint32(frame)
	codec, size := Codec(word>>24), int(word&maxHeader)
	if size > len(frame)-wordSize {
		return fmt.Errorf("%w: %d of %d bytes", ErrFrameHeaderSize, size, len(frame)-wordSize)
	}
	header := frame[wordSize : wordSize+size]
	c.Codec = codec
	switch codec {
	case CodecJSON:
		c.Body = bodyOf(frame[wordSize+size:])
		return c.decodeJSON(header, spare)
	case CodecBinary:
		used, err := c.decodeBinary(header, spare)
		// The original takes the body from where it has stopped reading, so bytes that are left over in a
		// padded header come first, and as many are lost at the end.
		c.Body = bodyOf(frame[wordSize+used : len(frame)-(size-used)])
		return err
	default:
		return fmt.Errorf("%w: %d", ErrFrameCodec, codec)
	}
}

// bodyOf returns nil for an empty body, so that there is one form of "no body".
func bodyOf(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// AppendFrame appends c to dst as one frame; on error dst is returned unchanged.
//
//	| length (4) | codec (1) | H (3) | header (H) | body (B) |   integers are big-endian
//
// length counts all bytes after itself: 4+H+B.
//
// Errors: ErrFrameTooLarge above MaxFrame; ErrFrameHeader when the binary encoding cannot express a key.
// Source: spec/remoting.md §1, §2.4, §2.5.
func AppendFrame(dst []byte, c *Command) ([]byte, error) {
	out, err := AppendFrameHeader(dst, c, len(c.Body))
	if err != nil {
		return dst, err
	}
	return append(out, c.Body...), nil
}

// AppendFrameHeader appends the frame of c up to its body, which has bodyLen bytes and is for the caller to
// write behind it; c.Body is not looked at. On error dst is returned unchanged.
//
// Errors: as AppendFrame.
func AppendFrameHeader(dst []byte, c *Command, bodyLen int) ([]byte, error) {
	start := len(dst)
	out := append(dst, 0, 0, 0, 0, byte(c.Codec), 0, 0, 0)
	switch c.Codec {
	case CodecJSON:
		out = c.appendJSON(out)
	case CodecBinary:
		var err error
		if out, err = c.appendBinary(out); err != nil {
			return dst, err
		}
	default:
		return dst, fmt.Errorf("%w: %d", ErrFrameCodec, c.Codec)
	}
	size := len(out) - start - prefixSize - wordSize
	if size > maxHeader || bodyLen > MaxFrame || prefixSize+wordSize+size+bodyLen > MaxFrame {
		return dst, fmt.Errorf("%w: header of %d and body of %d bytes", ErrFrameTooLarge, size, bodyLen)
	}
	binary.BigEndian.PutUint32(out[start:], uint32(wordSize+size+bodyLen))
	binary.BigEndian.PutUint32(out[start+prefixSize:], uint32(c.Codec)<<24|uint32(size))
	return out, nil
}
