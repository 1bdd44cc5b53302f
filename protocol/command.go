package protocol

// Codec is the encoding of a command header, as the top byte of a frame's second word names it.
//
// Source: spec/remoting.md §1, §2.4, §2.5.
type Codec uint8

// Header encodings.
const (
	CodecJSON   Codec = 0
	CodecBinary Codec = 1 // ROCKETMQ
)

// Bits of Command.Flag; others are carried and ignored.
const (
	FlagResponse int32 = 1 << 0
	FlagOneway   int32 = 1 << 1
)

// Command is one RemotingCommand: a request or a response.
type Command struct {
	Code      int32 // a RequestCode, or a ResponseCode when IsResponse
	Language  Language
	Version   Version
	Opaque    int32 // chosen by the asker, repeated in the answer; any value
	Flag      int32
	Remark    string
	HasRemark bool   // tells a JSON remark "" from none; implied when Remark is not empty
	Ext       Ext    // extFields; nil: absent
	Body      []byte // nil and empty are the same on the wire
	Codec     Codec  // encoding of the header it came with, or is to be written with
}

// IsResponse reports whether c answers a request. It then goes to the waiting asker, whatever IsOneway says.
func (c *Command) IsResponse() bool { return c.Flag&FlagResponse != 0 }

// IsOneway reports whether the sender of c expects no answer.
func (c *Command) IsOneway() bool { return c.Flag&FlagOneway != 0 }
