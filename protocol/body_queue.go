package protocol

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
)

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

var (
	messageQueueNames   = newJSONNames("brokerName", "queueId", "topic")
	messageQueueCNames  = newJSONNames("brokerName", "offset", "queueId", "topic")
	lockBatchNames      = newJSONNames("clientId", "consumerGroup", "mqSet", "onlyThisBroker")
	lockResponseNames   = newJSONNames("lockOKMQSet")
	resetOffsetNames    = newJSONNames("offsetTable")
	consumerStatusNames = newJSONNames("consumerTable", "messageQueueTable")
)

// Compare orders queues by topic, broker name and number.
func (m MessageQueue) Compare(other MessageQueue) int {
	return cmp.Or(strings.Compare(m.Topic, other.Topic), strings.Compare(m.BrokerName, other.BrokerName),
		cmp.Compare(m.QueueID, other.QueueID))
}

// AppendJSON appends the queue.
func (m *MessageQueue) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.string("brokerName", m.BrokerName)
	w.int("queueId", m.QueueID)
	w.string("topic", m.Topic)
	return w.end()
}

func (r *jsonReader) messageQueue(m *MessageQueue) {
	var o jsonObject
	for ok := r.requiredObject(&o, messageQueueNames, "a message queue"); ok && r.member(&o); {
		switch o.name {
		case "brokerName":
			r.string(&m.BrokerName)
		case "queueId":
			r.int32(&m.QueueID)
		case "topic":
			r.string(&m.Topic)
		}
	}
}

// appendQueueMap appends a map whose keys are message queues, in their order.
func appendQueueMap[V any](dst []byte, table map[MessageQueue]V, f JSONForm, value func([]byte, V) []byte) []byte {
	dst = append(dst, '{')
	for i, mq := range slices.SortedFunc(maps.Keys(table), MessageQueue.Compare) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = mq.AppendJSON(dst, f)
		dst = append(dst, ':')
		dst = value(dst, table[mq])
	}
	return append(dst, '}')
}

// readQueueMap reads a map whose keys are message queues. It is nil for null and "" only.
func readQueueMap[V any](r *jsonReader, value func() V) map[MessageQueue]V {
	var o jsonObject
	if !r.object(&o, nil) {
		return nil
	}
	table := map[MessageQueue]V{}
	for {
		mq, ok := r.queueKey(&o)
		if !ok {
			return table
		}
		table[mq] = value()
	}
}

// queueKey moves to the value of the next entry of a map whose keys are message queues, and returns its key: a bare object,
// or a text that holds one.
func (r *jsonReader) queueKey(o *jsonObject) (mq MessageQueue, ok bool) {
	if r.err != nil {
		return MessageQueue{}, false
	}
	switch c := r.skipCommas(); c {
	case '}':
		r.leave(&o.outer)
		return MessageQueue{}, false
	case '{':
		r.messageQueue(&mq)
	case '"', '\'':
		nested := newJSONReader(bytes.Clone(r.quoted()))
		if nested.begin() {
			nested.messageQueue(&mq)
			nested.end()
		}
		if nested.err != nil {
			r.fail("a message queue was expected as name")
		}
	default:
		r.failUnexpected()
	}
	ok = r.colon()
	return mq, ok
}

func appendOffsetTable(dst []byte, table map[MessageQueue]int64, f JSONForm) []byte {
	return appendQueueMap(dst, table, f, func(dst []byte, offset int64) []byte { return appendJSONLong(dst, offset, f) })
}

func (r *jsonReader) offsetTable() map[MessageQueue]int64 { return readQueueMap(r, r.offset) }

// offset reads an offset, which must not be null.
func (r *jsonReader) offset() (n int64) {
	if r.null() {
		r.fail("an offset is null")
	}
	r.int64(&n)
	return n
}

// AppendJSON appends the request as release 5.5.0 does.
func (l *LockBatchRequestBody) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.string("clientId", l.ClientID)
	w.string("consumerGroup", l.ConsumerGroup)
	writeList(&w, "mqSet", l.MQSet)
	w.bool("onlyThisBroker", l.OnlyThisBroker)
	return w.end()
}

// DecodeLockBatchRequestBody reads the body of LOCK_BATCH_MQ (41) or UNLOCK_BATCH_MQ (42). A body that holds nothing gives
// ErrNullBody.
func DecodeLockBatchRequestBody(data []byte) (LockBatchRequestBody, error) {
	var l LockBatchRequestBody
	err := decodeBody("LockBatchRequestBody", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, lockBatchNames); ok && r.member(&o); {
			switch o.name {
			case "clientId":
				r.string(&l.ClientID)
			case "consumerGroup":
				r.string(&l.ConsumerGroup)
			case "mqSet":
				l.MQSet = readObjectList(r, r.messageQueue)
			case "onlyThisBroker":
				r.bool(&l.OnlyThisBroker)
			}
		}
	})
	if err != nil {
		return LockBatchRequestBody{}, err
	}
	return l, nil
}

// AppendJSON appends the queues in their order.
func (l *LockBatchResponseBody) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	writeList(&w, "lockOKMQSet", l.LockOKMQSet)
	return w.end()
}

// DecodeLockBatchResponseBody reads the answer to LOCK_BATCH_MQ (41).
func DecodeLockBatchResponseBody(data []byte) (LockBatchResponseBody, error) {
	var l LockBatchResponseBody
	err := decodeBody("LockBatchResponseBody", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, lockResponseNames); ok && r.member(&o); {
			l.LockOKMQSet = readObjectList(r, r.messageQueue)
		}
	})
	if err != nil {
		return LockBatchResponseBody{}, err
	}
	return l, nil
}

// AppendJSON appends the offsets, ordered by queue.
func (b *ResetOffsetBody) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.dst = appendOffsetTable(w.name("offsetTable"), b.OffsetTable, f)
	return w.end()
}

// DecodeResetOffsetBody reads new offsets in either form: as a map, and as the list that is meant for C++.
func DecodeResetOffsetBody(data []byte) (ResetOffsetBody, error) {
	var b ResetOffsetBody
	err := decodeBody("ResetOffsetBody", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, resetOffsetNames); ok && r.member(&o); {
			if r.skipBlanks() != '[' {
				b.OffsetTable = r.offsetTable()
				continue
			}
			b.OffsetTable = map[MessageQueue]int64{}
			var a jsonArray
			for ok := r.array(&a); ok && r.element(&a); {
				mq, offset := r.messageQueueForC()
				b.OffsetTable[mq] = offset
			}
		}
	})
	if err != nil {
		return ResetOffsetBody{}, err
	}
	return b, nil
}

// messageQueueForC reads a queue with its offset.
func (r *jsonReader) messageQueueForC() (mq MessageQueue, offset int64) {
	var o jsonObject
	for ok := r.requiredObject(&o, messageQueueCNames, "a message queue"); ok && r.member(&o); {
		switch o.name {
		case "brokerName":
			r.string(&mq.BrokerName)
		case "offset":
			r.int64(&offset)
		case "queueId":
			r.int32(&mq.QueueID)
		case "topic":
			r.string(&mq.Topic)
		}
	}
	return mq, offset
}

// AppendJSON appends the offsets as a list, ordered by queue.
func (b *ResetOffsetBodyForC) AppendJSON(dst []byte, f JSONForm) []byte {
	dst = append(dst, `{"offsetTable":[`...)
	for i, mq := range slices.SortedFunc(maps.Keys(b.OffsetTable), MessageQueue.Compare) {
		if i > 0 {
			dst = append(dst, ',')
		}
		w := beginObject(dst, f)
		w.string("brokerName", mq.BrokerName)
		w.long("offset", b.OffsetTable[mq])
		w.int("queueId", mq.QueueID)
		w.string("topic", mq.Topic)
		dst = w.end()
	}
	return append(dst, ']', '}')
}

// AppendJSON appends the offsets, ordered by client id and queue.
func (b *GetConsumerStatusBody) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	clients := beginObject(w.name("consumerTable"), f)
	for _, id := range slices.Sorted(maps.Keys(b.ConsumerTable)) {
		clients.dst = appendOffsetTable(clients.key(id), b.ConsumerTable[id], f)
	}
	w.dst = clients.end()
	w.dst = appendOffsetTable(w.name("messageQueueTable"), b.MessageQueueTable, f)
	return w.end()
}

// DecodeGetConsumerStatusBody reads the answer to 221 or 223.
func DecodeGetConsumerStatusBody(data []byte) (GetConsumerStatusBody, error) {
	var b GetConsumerStatusBody
	err := decodeBody("GetConsumerStatusBody", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, consumerStatusNames); ok && r.member(&o); {
			switch o.name {
			case "consumerTable":
				b.ConsumerTable = map[string]map[MessageQueue]int64{}
				var clients jsonObject
				for more := r.object(&clients, nil); more; {
					id, ok := r.textKey(&clients)
					if !ok {
						break
					}
					b.ConsumerTable[string(id)] = r.offsetTable()
				}
			case "messageQueueTable":
				b.MessageQueueTable = r.offsetTable()
			}
		}
	})
	if err != nil {
		return GetConsumerStatusBody{}, err
	}
	return b, nil
}
