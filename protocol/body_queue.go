package protocol

// MessageQueue is a queue of a topic on one broker. Where it is the key of a map, it is written as a bare object, which is
// no standard JSON but all that release 5.5.0 reads (spec/since-2025-09.md §1.6).
type MessageQueue struct {
	Topic      string
	BrokerName string
	QueueID    int32
}

// LockBatchRequestBody is the body of LOCK_BATCH_MQ (41) and, under the name of UnlockBatchRequestBody, of UNLOCK_BATCH_MQ
// (42). Source: spec/broker.md §5.8.
type LockBatchRequestBody struct {
	ConsumerGroup  string
	ClientID       string
	OnlyThisBroker bool // other members of the broker group need not be asked; since 5.0
	MQSet          []MessageQueue
}

// LockBatchResponseBody is the answer to LOCK_BATCH_MQ (41): the queues that the client holds now.
type LockBatchResponseBody struct {
	LockOKMQSet []MessageQueue
}

// ResetOffsetBody is the answer to INVOKE_BROKER_TO_RESET_OFFSET (222) and the body of RESET_CONSUMER_CLIENT_OFFSET (220):
// the new offsets, in messages.
type ResetOffsetBody struct {
	OffsetTable map[MessageQueue]int64
}

// ResetOffsetBodyForC is ResetOffsetBody as consumers written in C++ want it: with a list in place of the map.
type ResetOffsetBodyForC ResetOffsetBody

// GetConsumerStatusBody is the answer to GET_CONSUMER_STATUS_FROM_CLIENT (221), which has MessageQueueTable, and to
// INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223), which has ConsumerTable: offsets of consumers, in messages.
type GetConsumerStatusBody struct {
	MessageQueueTable map[MessageQueue]int64
	ConsumerTable     map[string]map[MessageQueue]int64 // by client id
}
