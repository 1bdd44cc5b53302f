package protocol

// CreateTopicListRequestBody is the body of UPDATE_AND_CREATE_TOPIC_LIST (18). The keys of attributes begin with + or -.
// Source: spec/broker.md §3.7.
type CreateTopicListRequestBody struct {
	TopicConfigList []TopicConfig
}

// TopicQueueMappingDetail is the mapping of a static topic with the history of the queues that this broker hosts.
type TopicQueueMappingDetail struct {
	TopicQueueMappingInfo
	HostedQueues []HostedQueue // a map by LogicID
}

// HostedQueue is where the messages of one logical queue are, oldest first.
type HostedQueue struct {
	LogicID int32
	Items   []LogicQueueMappingItem
}

// LogicQueueMappingItem is a stretch of a logical queue that one physical queue holds.
type LogicQueueMappingItem struct {
	Gen         int32
	QueueID     int32
	Bname       string
	LogicOffset int64 // messages, in the logical queue
	StartOffset int64 // messages, in the physical queue
	EndOffset   int64 // messages; -1: it still grows
	TimeOfStart int64 // milliseconds since 1970; -1: unknown
	TimeOfEnd   int64 // milliseconds since 1970; -1: unknown
}

// NamedQueueMappingDetail is one entry of a map to TopicQueueMappingDetail, by topic.
type NamedQueueMappingDetail struct {
	Key    string
	Detail TopicQueueMappingDetail
}

// TopicConfigAndMappingSerializeWrapper is the answer to GET_ALL_TOPIC_CONFIG (21). Brokers before 5.0 give topics and data
// version only. Source: spec/broker.md §6.5.
type TopicConfigAndMappingSerializeWrapper struct {
	TopicConfigTable           []TopicConfig // a map by MapKey
	DataVersion                *DataVersion  // nil: null, left out when written
	MappingDataVersion         *DataVersion  // nil: null, left out when written
	TopicQueueMappingInfoMap   []NamedQueueMapping
	TopicQueueMappingDetailMap []NamedQueueMappingDetail
}

// TopicConfigAndQueueMapping is the answer to GET_TOPIC_CONFIG (351).
type TopicConfigAndQueueMapping struct {
	TopicConfig
	MappingDetail *TopicQueueMappingDetail // nil: null, left out when written
}

// TopicQueueMappingSerializeWrapper is the content of topicQueueMapping.json.
type TopicQueueMappingSerializeWrapper struct {
	TopicQueueMappingInfoMap []NamedQueueMappingDetail
	DataVersion              *DataVersion // nil: null, left out when written
}
