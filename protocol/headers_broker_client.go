package protocol

// HeartbeatResponseHeader answers HEART_BEAT (34) since 5.0, in extFields that belong to no class of the original. Brokers
// before 5.0 answer without any: their clients stay with full heartbeats.
//
// Source: spec/broker.md §5.1.
type HeartbeatResponseHeader struct {
	SupportV2 Opt[bool] // IS_SUPPORT_HEART_BEAT_V2: the broker takes heartbeats without subscriptions
	SubChange Opt[bool] // IS_SUB_CHANGE: a consumer of this client had other subscriptions before; always for full heartbeats
}

// Decode reads h from ext; it does not fail.
func (h *HeartbeatResponseHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.SupportV2 = r.OptBool("IS_SUPPORT_HEART_BEAT_V2")
	h.SubChange = r.OptBool("IS_SUB_CHANGE")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *HeartbeatResponseHeader) AppendExt(ext Ext) Ext {
	return appendOptBool(appendOptBool(ext, "IS_SUPPORT_HEART_BEAT_V2", h.SupportV2), "IS_SUB_CHANGE", h.SubChange)
}

// UnregisterClientRequestHeader is the header of UNREGISTER_CLIENT (35). The original annotates ClientID as required, but
// does not miss it: it is the connection that leaves.
//
// Source: spec/broker.md §5.2.
type UnregisterClientRequestHeader struct {
	ClientID      string
	ProducerGroup Opt[string]
	ConsumerGroup Opt[string]
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *UnregisterClientRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.ClientID = r.OptString("clientID").Value
	h.ProducerGroup = r.OptString("producerGroup")
	h.ConsumerGroup = r.OptString("consumerGroup")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *UnregisterClientRequestHeader) AppendExt(ext Ext) Ext {
	ext = appendOptString(append(ext, Field{"clientID", h.ClientID}), "producerGroup", h.ProducerGroup)
	return appendOptString(ext, "consumerGroup", h.ConsumerGroup)
}

// GetConsumerListByGroupRequestHeader is the header of GET_CONSUMER_LIST_BY_GROUP (38). The group is required.
//
// Source: spec/broker.md §5.6.
type GetConsumerListByGroupRequestHeader struct {
	ConsumerGroup string
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *GetConsumerListByGroupRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.ConsumerGroup = r.String("consumerGroup")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetConsumerListByGroupRequestHeader) AppendExt(ext Ext) Ext {
	return append(ext, Field{"consumerGroup", h.ConsumerGroup})
}

// NotifyConsumerIDsChangedRequestHeader is the header of NOTIFY_CONSUMER_IDS_CHANGED (40), which the broker sends to
// consumers. The group is required.
//
// Source: spec/broker.md §5.5.
type NotifyConsumerIDsChangedRequestHeader struct {
	ConsumerGroup string
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *NotifyConsumerIDsChangedRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.ConsumerGroup = r.String("consumerGroup")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *NotifyConsumerIDsChangedRequestHeader) AppendExt(ext Ext) Ext {
	return append(ext, Field{"consumerGroup", h.ConsumerGroup})
}

// GetConsumerConnectionListRequestHeader is the header of GET_CONSUMER_CONNECTION_LIST (203). The group is required.
//
// Source: spec/broker.md §6.5.
type GetConsumerConnectionListRequestHeader struct {
	ConsumerGroup string
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *GetConsumerConnectionListRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.ConsumerGroup = r.String("consumerGroup")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetConsumerConnectionListRequestHeader) AppendExt(ext Ext) Ext {
	return append(ext, Field{"consumerGroup", h.ConsumerGroup})
}

// GetProducerConnectionListRequestHeader is the header of GET_PRODUCER_CONNECTION_LIST (204). The group is required.
//
// Source: spec/broker.md §6.5.
type GetProducerConnectionListRequestHeader struct {
	ProducerGroup string
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *GetProducerConnectionListRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.ProducerGroup = r.String("producerGroup")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetProducerConnectionListRequestHeader) AppendExt(ext Ext) Ext {
	return append(ext, Field{"producerGroup", h.ProducerGroup})
}

// GetConsumerRunningInfoRequestHeader is the header of GET_CONSUMER_RUNNING_INFO (307), to the broker and from there to the
// consumer. Group and client id are required.
//
// Source: spec/broker.md §6.5.
type GetConsumerRunningInfoRequestHeader struct {
	ConsumerGroup string
	ClientID      string
	JstackEnable  Opt[bool] // with the stacks of the consumer's threads
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *GetConsumerRunningInfoRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.ConsumerGroup = r.String("consumerGroup")
	h.ClientID = r.String("clientId")
	h.JstackEnable = r.OptBool("jstackEnable")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetConsumerRunningInfoRequestHeader) AppendExt(ext Ext) Ext {
	ext = append(ext, Field{"consumerGroup", h.ConsumerGroup}, Field{"clientId", h.ClientID})
	return appendOptBool(ext, "jstackEnable", h.JstackEnable)
}

// ConsumeMessageDirectlyResultRequestHeader is the header of CONSUME_MESSAGE_DIRECTLY (309), to the broker and from there,
// with BrokerName and the flags set, to the consumer. The group is required.
//
// Source: spec/broker.md §6.5.
type ConsumeMessageDirectlyResultRequestHeader struct {
	ConsumerGroup string
	ClientID      Opt[string]
	MsgID         Opt[string] // holds store host and CommitLog offset
	BrokerName    Opt[string]
	Topic         Opt[string] // since 5.0, as the flags
	TopicSysFlag  Opt[int32]
	GroupSysFlag  Opt[int32]
}

// Decode reads h from ext. A malformed optional number counts as absent.
//
// Errors: *FieldError.
func (h *ConsumeMessageDirectlyResultRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.ConsumerGroup = r.String("consumerGroup")
	h.ClientID = r.OptString("clientId")
	h.MsgID = r.OptString("msgId")
	h.BrokerName = r.OptString("brokerName")
	h.Topic = r.OptString("topic")
	h.TopicSysFlag = r.MaybeInt32("topicSysFlag")
	h.GroupSysFlag = r.MaybeInt32("groupSysFlag")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *ConsumeMessageDirectlyResultRequestHeader) AppendExt(ext Ext) Ext {
	ext = appendOptString(append(ext, Field{"consumerGroup", h.ConsumerGroup}), "clientId", h.ClientID)
	ext = appendOptString(ext, "msgId", h.MsgID)
	ext = appendOptString(ext, "brokerName", h.BrokerName)
	ext = appendOptString(ext, "topic", h.Topic)
	ext = appendOptInt32(ext, "topicSysFlag", h.TopicSysFlag)
	return appendOptInt32(ext, "groupSysFlag", h.GroupSysFlag)
}

// ResetOffsetRequestHeader is the header of INVOKE_BROKER_TO_RESET_OFFSET (222), and of RESET_CONSUMER_CLIENT_OFFSET (220)
// from the broker to consumers. Topic, group and timestamp are required.
//
// Source: spec/broker.md §6.4, §6.5.
type ResetOffsetRequestHeader struct {
	Topic     string
	Group     string
	Timestamp int64      // milliseconds since 1970; negative: the end of the queue
	IsForce   bool       // also forwards
	QueueID   Opt[int32] // since 5.0; absent or -1: all queues
	Offset    Opt[int64] // since 5.0; in messages; absent or -1: by timestamp
}

// Decode reads h from ext. A malformed optional number counts as absent.
//
// Errors: *FieldError.
func (h *ResetOffsetRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Topic = r.String("topic")
	h.Group = r.String("group")
	h.Timestamp = r.Int64("timestamp")
	h.IsForce = r.Bool("isForce", false)
	h.QueueID = r.MaybeInt32("queueId")
	h.Offset = r.MaybeInt64("offset")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *ResetOffsetRequestHeader) AppendExt(ext Ext) Ext {
	ext = append(ext, Field{"topic", h.Topic}, Field{"group", h.Group})
	ext = appendBool(appendInt(ext, "timestamp", h.Timestamp), "isForce", h.IsForce)
	return appendOptInt64(appendOptInt32(ext, "queueId", h.QueueID), "offset", h.Offset)
}

// GetConsumerStatusRequestHeader is the header of INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223), and of
// GET_CONSUMER_STATUS_FROM_CLIENT (221) from the broker to consumers. Topic and group are required.
//
// Source: spec/messaging.md §8.6.
type GetConsumerStatusRequestHeader struct {
	Topic      string
	Group      string
	ClientAddr Opt[string] // client id of the only consumer asked; absent or "": all of them
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *GetConsumerStatusRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Topic = r.String("topic")
	h.Group = r.String("group")
	h.ClientAddr = r.OptString("clientAddr")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetConsumerStatusRequestHeader) AppendExt(ext Ext) Ext {
	return appendOptString(append(ext, Field{"topic", h.Topic}, Field{"group", h.Group}), "clientAddr", h.ClientAddr)
}
