package protocol

// CreateTopicRequestHeader is the header of UPDATE_AND_CREATE_TOPIC (17). Whether topic, queue numbers, permission and
// attributes are good is for the broker to say. The original annotates DefaultTopic and Order as required, too, but misses
// neither.
//
// Source: spec/broker.md §3.7.
type CreateTopicRequestHeader struct {
	Topic           string
	DefaultTopic    string // no broker looks at it
	ReadQueueNums   int32
	WriteQueueNums  int32
	Perm            int32 // bits: 1 inherit, 2 write, 4 read, 8 priority
	TopicFilterType TopicFilterType
	TopicSysFlag    Opt[int32] // bits: 1 unit, 2 unit-sub
	Order           bool
	Attributes      Opt[string] // changes, such as +message.type=FIFO,-cleanup.policy; since 5.0
	Force           Opt[bool]   // static topics only; since 5.0
}

// Decode reads h from ext. A malformed optional number counts as absent.
//
// Errors: *FieldError.
func (h *CreateTopicRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Topic = r.String("topic")
	h.DefaultTopic = r.OptString("defaultTopic").Value
	h.ReadQueueNums = r.Int32("readQueueNums")
	h.WriteQueueNums = r.Int32("writeQueueNums")
	h.Perm = r.Int32("perm")
	switch name := r.String("topicFilterType"); name {
	case FilterMultiTag.String():
		h.TopicFilterType = FilterMultiTag
	case FilterSingleTag.String():
		h.TopicFilterType = FilterSingleTag
	default:
		r.fail("topicFilterType", "neither SINGLE_TAG nor MULTI_TAG: "+quoteShort(name))
	}
	h.TopicSysFlag = r.MaybeInt32("topicSysFlag")
	h.Order = r.Bool("order", false)
	h.Attributes = r.OptString("attributes")
	h.Force = r.OptBool("force")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *CreateTopicRequestHeader) AppendExt(ext Ext) Ext {
	ext = append(ext, Field{"topic", h.Topic}, Field{"defaultTopic", h.DefaultTopic})
	ext = appendInt(ext, "readQueueNums", int64(h.ReadQueueNums))
	ext = appendInt(ext, "writeQueueNums", int64(h.WriteQueueNums))
	ext = appendInt(ext, "perm", int64(h.Perm))
	ext = append(ext, Field{"topicFilterType", h.TopicFilterType.String()})
	ext = appendOptInt32(ext, "topicSysFlag", h.TopicSysFlag)
	ext = appendBool(ext, "order", h.Order)
	ext = appendOptString(ext, "attributes", h.Attributes)
	return appendOptBool(ext, "force", h.Force)
}

// DeleteTopicRequestHeader is the header of DELETE_TOPIC_IN_BROKER (215). A missing topic is the empty one, which
// the broker refuses.
//
// Source: spec/broker.md §3.7.
type DeleteTopicRequestHeader struct {
	Topic string
}

// Decode reads h from ext; it does not fail.
func (h *DeleteTopicRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Topic = r.OptString("topic").Value
	return r.Err()
}

// AppendExt appends h to ext.
func (h *DeleteTopicRequestHeader) AppendExt(ext Ext) Ext {
	return append(ext, Field{"topic", h.Topic})
}

// GetAllTopicConfigRequestHeader is the header of GET_ALL_TOPIC_CONFIG (21): one page of the table, ordered by name. Without
// any field, as before 5.0, everything is asked for.
//
// Source: spec/broker.md §6.5, spec/ha.md §3.2.
type GetAllTopicConfigRequestHeader struct {
	TopicSeq    Opt[int32]  // index of the first topic of the page
	DataVersion Opt[string] // JSON of the version that the page before had; "" for the first page
	MaxTopicNum Opt[int32]  // length of the page
}

// Decode reads h from ext; it does not fail. A malformed number counts as absent.
func (h *GetAllTopicConfigRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.TopicSeq = r.MaybeInt32("topicSeq")
	h.DataVersion = r.OptString("dataVersion")
	h.MaxTopicNum = r.MaybeInt32("maxTopicNum")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetAllTopicConfigRequestHeader) AppendExt(ext Ext) Ext {
	ext = appendOptInt32(ext, "topicSeq", h.TopicSeq)
	ext = appendOptString(ext, "dataVersion", h.DataVersion)
	return present(appendOptInt32(ext, "maxTopicNum", h.MaxTopicNum))
}

// GetAllTopicConfigResponseHeader answers GET_ALL_TOPIC_CONFIG (21).
//
// Source: spec/ha.md §3.2.
type GetAllTopicConfigResponseHeader struct {
	TotalTopicNum Opt[int32] // topics in the whole table; absent before 5.0, whose page is the whole table
}

// Decode reads h from ext; it does not fail.
func (h *GetAllTopicConfigResponseHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.TotalTopicNum = r.MaybeInt32("totalTopicNum")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetAllTopicConfigResponseHeader) AppendExt(ext Ext) Ext {
	return present(appendOptInt32(ext, "totalTopicNum", h.TotalTopicNum))
}

// GetTopicConfigRequestHeader is the header of GET_TOPIC_CONFIG (351). The topic is required.
//
// Source: spec/broker.md §6.5.
type GetTopicConfigRequestHeader struct {
	Topic string
	Logic Opt[bool] // lo: with the queue mapping of a static topic
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *GetTopicConfigRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Topic = r.String("topic")
	h.Logic = r.OptBool("lo")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetTopicConfigRequestHeader) AppendExt(ext Ext) Ext {
	return appendOptBool(append(ext, Field{"topic", h.Topic}), "lo", h.Logic)
}

// QueryTopicConsumeByWhoRequestHeader is the header of QUERY_TOPIC_CONSUME_BY_WHO (300). The topic is required.
//
// Source: spec/broker.md §6.5.
type QueryTopicConsumeByWhoRequestHeader struct {
	Topic string
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *QueryTopicConsumeByWhoRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Topic = r.String("topic")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *QueryTopicConsumeByWhoRequestHeader) AppendExt(ext Ext) Ext {
	return append(ext, Field{"topic", h.Topic})
}

// GetBrokerConfigResponseHeader answers GET_BROKER_CONFIG (26).
//
// Source: spec/broker.md §6.5.
type GetBrokerConfigResponseHeader struct {
	Version string // DataVersion of the configuration, as JSON
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *GetBrokerConfigResponseHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Version = r.String("version")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetBrokerConfigResponseHeader) AppendExt(ext Ext) Ext {
	return append(ext, Field{"version", h.Version})
}
