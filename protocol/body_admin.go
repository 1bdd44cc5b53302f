package protocol

import (
	"cmp"
	"strings"
)

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

var (
	topicConfigListNames = newJSONNames("topicConfigList")
	topicMappingNames    = newJSONNames("dataVersion", "mappingDataVersion", "topicConfigTable", "topicQueueMappingDetailMap",
		"topicQueueMappingInfoMap")
	mappingDetailName  = newJSONNames("mappingDetail")
	hostedQueuesName   = newJSONNames("hostedQueues")
	logicQueueNames    = newJSONNames("bname", "endOffset", "gen", "logicOffset", "queueId", "startOffset", "timeOfEnd", "timeOfStart")
	queueMappingsNames = newJSONNames("dataVersion", "topicQueueMappingInfoMap")
)

// AppendJSON appends the list in its order.
func (l *CreateTopicListRequestBody) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	writeList(&w, "topicConfigList", l.TopicConfigList)
	return w.end()
}

// DecodeCreateTopicListRequestBody reads the body of 18. Whether names are there and good is for the broker to say; a filter
// type that there is not is an error. A body that holds nothing gives ErrNullBody.
func DecodeCreateTopicListRequestBody(data []byte) (CreateTopicListRequestBody, error) {
	var l CreateTopicListRequestBody
	err := decodeBody("CreateTopicListRequestBody", data, func(r *jsonReader) {
		r.orders = true
		var o jsonObject
		for ok := r.object(&o, topicConfigListNames); ok && r.member(&o); {
			l.TopicConfigList = readObjectList(r, func(t *TopicConfig) { r.topicConfigOf(t, "", newString, false) })
		}
	})
	if err != nil {
		return CreateTopicListRequestBody{}, err
	}
	return l, nil
}

func newString(b []byte) string { return string(b) }

// AppendJSON appends the mapping as Java writes it.
func (d *TopicQueueMappingDetail) AppendJSON(dst []byte, f JSONForm) []byte {
	hosted := d.HostedQueues
	if hosted == nil {
		hosted = []HostedQueue{}
	}
	return d.appendWith(hosted, dst, f)
}

// queueMappingDetail reads a mapping, which must name its broker.
func (r *jsonReader) queueMappingDetail(d *TopicQueueMappingDetail) {
	start := r.pos
	r.queueMapping(&d.TopicQueueMappingInfo)
	if r.err != nil {
		return
	}
	r.pos = start // once more, for the member that is not in TopicQueueMappingInfo
	var o jsonObject
	for ok := r.object(&o, hostedQueuesName); ok && r.member(&o); {
		d.HostedQueues = r.hostedQueues()
	}
}

func compareHosted(a, b HostedQueue) int { return cmp.Compare(a.LogicID, b.LogicID) }

func appendHostedQueues(dst []byte, list []HostedQueue, f JSONForm) []byte {
	dst = append(dst, '{')
	for i, q := range sortedBy(list, compareHosted) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONIntKey(dst, int64(q.LogicID), f)
		dst = append(dst, '[')
		for j := range q.Items {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = q.Items[j].AppendJSON(dst, f)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// hostedQueues reads a map from logical queue to its stretches, in ascending order.
func (r *jsonReader) hostedQueues() []HostedQueue {
	var list []HostedQueue
	var o jsonObject
	for more := r.object(&o, nil); more; {
		key, ok := r.intKey(&o)
		if !ok {
			break
		}
		q := HostedQueue{LogicID: int32(key)}
		if int64(q.LogicID) != key {
			r.fail("a number out of range")
		}
		q.Items = readObjectList(r, r.logicQueue)
		list = append(list, q)
	}
	return sortLast(list, compareHosted)
}

// AppendJSON appends the stretch.
func (i *LogicQueueMappingItem) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.string("bname", i.Bname)
	w.long("endOffset", i.EndOffset)
	w.int("gen", i.Gen)
	w.long("logicOffset", i.LogicOffset)
	w.int("queueId", i.QueueID)
	w.long("startOffset", i.StartOffset)
	w.long("timeOfEnd", i.TimeOfEnd)
	w.long("timeOfStart", i.TimeOfStart)
	return w.end()
}

func (r *jsonReader) logicQueue(i *LogicQueueMappingItem) {
	*i = LogicQueueMappingItem{EndOffset: -1, TimeOfStart: -1, TimeOfEnd: -1}
	var o jsonObject
	for ok := r.requiredObject(&o, logicQueueNames, "a part of a queue"); ok && r.member(&o); {
		switch o.name {
		case "bname":
			r.string(&i.Bname)
		case "endOffset":
			r.int64(&i.EndOffset)
		case "gen":
			r.int32(&i.Gen)
		case "logicOffset":
			r.int64(&i.LogicOffset)
		case "queueId":
			r.int32(&i.QueueID)
		case "startOffset":
			r.int64(&i.StartOffset)
		case "timeOfEnd":
			r.int64(&i.TimeOfEnd)
		case "timeOfStart":
			r.int64(&i.TimeOfStart)
		}
	}
}

// AppendJSON appends the entry's mapping without its key.
func (n *NamedQueueMappingDetail) AppendJSON(dst []byte, f JSONForm) []byte {
	return n.Detail.AppendJSON(dst, f)
}

func writeMappingDetails(w *jsonWriter, name string, list []NamedQueueMappingDetail) {
	byKey := func(a, b NamedQueueMappingDetail) int { return strings.Compare(a.Key, b.Key) }
	writeTable(w, name, sortedBy(list, byKey), func(n *NamedQueueMappingDetail) string { return n.Key })
}

func (r *jsonReader) mappingDetails() []NamedQueueMappingDetail {
	return readObjectMap(r, func(key string, n *NamedQueueMappingDetail) {
		n.Key = key
		r.queueMappingDetail(&n.Detail)
	})
}

// AppendJSON appends the tables: topics in the order of the list, mappings by topic.
func (t *TopicConfigAndMappingSerializeWrapper) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.dataVersion("dataVersion", t.DataVersion)
	w.dataVersion("mappingDataVersion", t.MappingDataVersion)
	w.dst = appendTopicTable(w.name("topicConfigTable"), t.TopicConfigTable, f)
	writeMappingDetails(&w, "topicQueueMappingDetailMap", t.TopicQueueMappingDetailMap)
	w.dst = appendMappings(w.name("topicQueueMappingInfoMap"), sortedBy(t.TopicQueueMappingInfoMap, compareMappings), f)
	return w.end()
}

// DecodeTopicConfigAndMappingSerializeWrapper reads the answer to 21. now is the time in milliseconds since 1970, for a data
// version that is absent or has no timestamp; an absent mapping data version stays nil.
func DecodeTopicConfigAndMappingSerializeWrapper(data []byte, now int64) (TopicConfigAndMappingSerializeWrapper, error) {
	t := TopicConfigAndMappingSerializeWrapper{DataVersion: &DataVersion{Timestamp: now}}
	err := decodeBody("TopicConfigAndMappingSerializeWrapper", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, topicMappingNames); ok && r.member(&o); {
			switch o.name {
			case "dataVersion":
				t.DataVersion = r.dataVersion(now)
			case "mappingDataVersion":
				t.MappingDataVersion = r.dataVersion(now)
			case "topicConfigTable":
				t.TopicConfigTable = r.topicTable(nil)
			case "topicQueueMappingDetailMap":
				t.TopicQueueMappingDetailMap = r.mappingDetails()
			case "topicQueueMappingInfoMap":
				t.TopicQueueMappingInfoMap = r.mappings()
			}
		}
	})
	if err != nil {
		return TopicConfigAndMappingSerializeWrapper{}, err
	}
	return t, nil
}

// AppendJSON appends the topic.
func (t *TopicConfigAndQueueMapping) AppendJSON(dst []byte, f JSONForm) []byte {
	return t.appendWith(t.MappingDetail, dst, f)
}

// DecodeTopicConfigAndQueueMapping reads the answer to 351.
func DecodeTopicConfigAndQueueMapping(data []byte) (TopicConfigAndQueueMapping, error) {
	var t TopicConfigAndQueueMapping
	err := decodeBody("TopicConfigAndQueueMapping", data, func(r *jsonReader) {
		start := r.pos
		r.topicConfig(&t.TopicConfig, "", newString)
		if r.err != nil {
			return
		}
		r.pos = start // once more, for the member that is not in TopicConfig
		var o jsonObject
		for ok := r.object(&o, mappingDetailName); ok && r.member(&o); {
			if t.MappingDetail = nil; !r.null() {
				t.MappingDetail = &TopicQueueMappingDetail{}
				r.queueMappingDetail(t.MappingDetail)
			}
		}
	})
	if err != nil {
		return TopicConfigAndQueueMapping{}, err
	}
	return t, nil
}

// AppendJSON appends the table, ordered by topic.
func (t *TopicQueueMappingSerializeWrapper) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.dataVersion("dataVersion", t.DataVersion)
	writeMappingDetails(&w, "topicQueueMappingInfoMap", t.TopicQueueMappingInfoMap)
	return w.end()
}

// DecodeTopicQueueMappingSerializeWrapper reads the content of topicQueueMapping.json. now is the time in milliseconds since
// 1970, for a data version that is absent or has no timestamp.
func DecodeTopicQueueMappingSerializeWrapper(data []byte, now int64) (TopicQueueMappingSerializeWrapper, error) {
	t := TopicQueueMappingSerializeWrapper{DataVersion: &DataVersion{Timestamp: now}}
	err := decodeBody("TopicQueueMappingSerializeWrapper", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, queueMappingsNames); ok && r.member(&o); {
			switch o.name {
			case "dataVersion":
				t.DataVersion = r.dataVersion(now)
			case "topicQueueMappingInfoMap":
				t.TopicQueueMappingInfoMap = r.mappingDetails()
			}
		}
	})
	if err != nil {
		return TopicQueueMappingSerializeWrapper{}, err
	}
	return t, nil
}
