package protocol

// UpdateConsumerOffsetRequestHeader is the header of UPDATE_CONSUMER_OFFSET (15). Group and topic are required; so are the numbers,
// but it is the broker that says so, after it has looked for the group and the topic.
//
// Source: spec/messaging.md §3.2.
type UpdateConsumerOffsetRequestHeader struct {
	ConsumerGroup string
	Topic         string
	QueueID       Opt[int32]
	CommitOffset  Opt[int64] // of the message to come next, in messages
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *UpdateConsumerOffsetRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.ConsumerGroup = r.String("consumerGroup")
	h.Topic = r.String("topic")
	h.QueueID = r.MaybeInt32("queueId")
	h.CommitOffset = r.MaybeInt64("commitOffset")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *UpdateConsumerOffsetRequestHeader) AppendExt(ext Ext) Ext {
	ext = append(ext, Field{"consumerGroup", h.ConsumerGroup}, Field{"topic", h.Topic})
	return appendOptInt64(appendOptInt32(ext, "queueId", h.QueueID), "commitOffset", h.CommitOffset)
}

// QueryConsumerOffsetRequestHeader is the header of QUERY_CONSUMER_OFFSET (14). Group, topic and queue are required.
//
// Source: spec/messaging.md §3.1.
type QueryConsumerOffsetRequestHeader struct {
	ConsumerGroup string
	Topic         string
	QueueID       int32
	// SetZeroIfNotFound false asks not to begin a young queue at 0; since 5.0.
	SetZeroIfNotFound Opt[bool]
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *QueryConsumerOffsetRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.ConsumerGroup = r.String("consumerGroup")
	h.Topic = r.String("topic")
	h.QueueID = r.Int32("queueId")
	h.SetZeroIfNotFound = r.OptBool("setZeroIfNotFound")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *QueryConsumerOffsetRequestHeader) AppendExt(ext Ext) Ext {
	ext = append(ext, Field{"consumerGroup", h.ConsumerGroup}, Field{"topic", h.Topic})
	return appendOptBool(appendInt(ext, "queueId", int64(h.QueueID)), "setZeroIfNotFound", h.SetZeroIfNotFound)
}

// QueryConsumerOffsetResponseHeader answers QUERY_CONSUMER_OFFSET (14).
//
// Source: spec/messaging.md §3.1.
type QueryConsumerOffsetResponseHeader struct {
	Offset int64 // of the message to come next, in messages
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *QueryConsumerOffsetResponseHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Offset = r.Int64("offset")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *QueryConsumerOffsetResponseHeader) AppendExt(ext Ext) Ext {
	return appendInt(ext, "offset", h.Offset)
}

// CloneGroupOffsetRequestHeader is the header of CLONE_GROUP_OFFSET (314). The groups are required.
//
// Source: spec/broker.md §6.3.
type CloneGroupOffsetRequestHeader struct {
	SrcGroup  string
	DestGroup string
	Topic     Opt[string] // absent or blank: all that the source has offsets of
	Offline   bool        // copies also what the source, being online, does not subscribe
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *CloneGroupOffsetRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.SrcGroup = r.String("srcGroup")
	h.DestGroup = r.String("destGroup")
	h.Topic = r.OptString("topic")
	h.Offline = r.Bool("offline", false)
	return r.Err()
}

// AppendExt appends h to ext.
func (h *CloneGroupOffsetRequestHeader) AppendExt(ext Ext) Ext {
	ext = append(ext, Field{"srcGroup", h.SrcGroup}, Field{"destGroup", h.DestGroup})
	return appendBool(appendOptString(ext, "topic", h.Topic), "offline", h.Offline)
}
