package protocol

import "errors"

// RegisterBrokerBody is what a broker tells with REGISTER_BROKER (103). Source: spec/namesrv.md §4.2.
type RegisterBrokerBody struct {
	// FilterServerList holds the addresses of the broker's filter servers. Nil (JSON null, or a body of a broker before
	// 3.0.11) leaves those known so far as they are; empty and not nil clears them.
	FilterServerList []string
	// Topics is topicConfigTable in wire order, one entry per MapKey (the last one in the body). Two entries may still
	// name the same topic; the later one counts.
	Topics []TopicConfig
	// DataVersion is nil if it was null. It is then stored as "none", which equals no version.
	DataVersion *DataVersion
	// MappingDataVersion is nil if it was null or absent. No peer looks at it.
	MappingDataVersion *DataVersion
	// Mappings is topicQueueMappingInfoMap in wire order; empty for brokers before 5.0.
	Mappings []NamedQueueMapping
}

// RegisterBodyOptions say how a registration body is to be read.
type RegisterBodyOptions struct {
	// Version is the version in the request's header: below Version3_0_11 the body is a TopicConfigSerializeWrapper, from
	// Version5_0_0 on a compressed body has a section of queue mappings. A negative one is refused.
	Version Version
	// Compressed is the header field of this name. A body that begins like a zlib stream is inflated in any case.
	Compressed bool
	// Now is the time in milliseconds since 1970, for a data version without timestamp.
	Now int64
	// MaxInflated limits the size in bytes of an inflated body; 0 means DefaultMaxInflated.
	MaxInflated int
	// Intern gives the string for the bytes of a topic name, for example one that is in use already. It must not keep
	// its argument. Nil makes a new string.
	Intern func(name []byte) string
}

// DefaultMaxInflated is the limit for inflated registration bodies in bytes: 4 times what fits into a frame, enough for
// 500,000 topics.
const DefaultMaxInflated = 64 << 20

var (
	// ErrNullBody is wrapped by errors of bodies that hold nothing: no bytes, blanks, null or []. Such a body is
	// an empty value for some requests, and a fault in others.
	ErrNullBody = errors.New("body is null")
	// ErrInflatedTooLarge is wrapped by errors of compressed bodies beyond RegisterBodyOptions.MaxInflated.
	ErrInflatedTooLarge = errors.New("inflated body is too large")
)

// BodyError is the error of all DecodeXxx functions for bodies.
type BodyError struct {
	Body string // class name in the original, such as RegisterBrokerBody
	Err  error
}

func (e *BodyError) Error() string { return "decode " + e.Body + ": " + e.Err.Error() }

func (e *BodyError) Unwrap() error { return e.Err }
