package protocol

import "errors"

var errTODO = errors.New("not implemented")

// MaxFrame is the largest frame in bytes, the length prefix included (com.rocketmq.remoting.frameMaxLength).
const MaxFrame = 16 << 20

// Errors of frames. Any of them while reading means that the connection is of no further use.
var (
	ErrFrameTooLarge   = errors.New("frame too large")
	ErrFrameTooShort   = errors.New("frame too short")
	ErrFrameCodec      = errors.New("unknown header encoding")
	ErrFrameHeaderSize = errors.New("header length exceeds frame")
	ErrFrameHeader     = errors.New("malformed header")
)

// FrameLength returns the number of bytes that follow the 4 bytes of prefix, which it reads as an unsigned
// big-endian length. limit is the largest frame in bytes, prefix included.
//
// Errors: ErrFrameTooLarge, ErrFrameTooShort.
func FrameLength(prefix []byte, limit int) (int, error) { return 0, errTODO }

// DecodeCommand decodes a frame without its length prefix. Body aliases frame, the strings do not.
//
// Errors: ErrFrameTooShort, ErrFrameCodec, ErrFrameHeaderSize, ErrFrameHeader.
func DecodeCommand(frame []byte) (Command, error) {
	var c Command
	err := c.Decode(frame)
	return c, err
}

// Decode is DecodeCommand into an existing command, all of which it replaces. It reuses the capacity of
// c.Ext, so that a reader that is done with one command before it reads the next spares an allocation.
func (c *Command) Decode(frame []byte) error { return errTODO }

// AppendFrame appends c to dst as one frame with length prefix; on error dst is returned unchanged.
//
// Errors: ErrFrameTooLarge above MaxFrame.
func AppendFrame(dst []byte, c *Command) ([]byte, error) { return dst, errTODO }

// AppendFrameHeader appends the frame of c up to its body, for a body of bodyLen bytes that the caller
// writes behind it; c.Body is not looked at. On error dst is returned unchanged.
//
// Errors: ErrFrameTooLarge above MaxFrame.
func AppendFrameHeader(dst []byte, c *Command, bodyLen int) ([]byte, error) { return dst, errTODO }
