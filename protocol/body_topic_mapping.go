package protocol

import (
	"cmp"
	"strconv"
	"strings"
)

// TopicQueueMappingInfo maps the logical queues of a static topic to the physical queues of one broker.
type TopicQueueMappingInfo struct {
	Topic       string // left out when written if it is empty, because Java has null there
	Bname       string // hosting broker's name
	Scope       string // default "__global__"
	TotalQueues int32
	Epoch       int64
	Dirty       bool
	CurrIDMap   []QueueIDMapping // ascending by LogicID
}

// QueueIDMapping is one entry of TopicQueueMappingInfo.CurrIDMap.
type QueueIDMapping struct {
	LogicID    int32
	PhysicalID int32
}

// NamedQueueMapping is one entry of a map to TopicQueueMappingInfo: by topic in a registration, by broker name in a route.
type NamedQueueMapping struct {
	Key  string
	Info TopicQueueMappingInfo
}

// GlobalScope is the scope of a static topic that says nothing else.
const GlobalScope = "__global__"

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
	queueMappingNames = newJSONNames("bname", "currIdMap", "dirty", "epoch", "scope", "topic", "totalQueues")
	topicMappingNames = newJSONNames("dataVersion", "mappingDataVersion", "topicConfigTable", "topicQueueMappingDetailMap",
		"topicQueueMappingInfoMap")
	mappingDetailName  = newJSONNames("mappingDetail")
	hostedQueuesName   = newJSONNames("hostedQueues")
	logicQueueNames    = newJSONNames("bname", "endOffset", "gen", "logicOffset", "queueId", "startOffset", "timeOfEnd", "timeOfStart")
	queueMappingsNames = newJSONNames("dataVersion", "topicQueueMappingInfoMap")
)

// AppendJSON appends the mapping as Java writes it.
func (m *TopicQueueMappingInfo) AppendJSON(dst []byte, f JSONForm) []byte {
	return m.appendWith(nil, dst, f)
}

// appendWith appends the mapping, with the queues that are hosted if hosted is not nil.
func (m *TopicQueueMappingInfo) appendWith(hosted []HostedQueue, dst []byte, f JSONForm) []byte {
	dst = append(dst, `{"bname":`...)
	dst = appendJSONString(dst, m.Bname)
	dst = append(dst, `,"currIdMap":{`...)
	for i, id := range sortedBy(m.CurrIDMap, compareLogicID) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONIntKey(dst, int64(id.LogicID), f)
		dst = strconv.AppendInt(dst, int64(id.PhysicalID), 10)
	}
	dst = append(dst, `},"dirty":`...)
	dst = strconv.AppendBool(dst, m.Dirty)
	dst = append(dst, `,"epoch":`...)
	dst = appendJSONLong(dst, m.Epoch, f)
	if hosted != nil {
		dst = append(dst, `,"hostedQueues":`...)
		dst = appendHostedQueues(dst, hosted, f)
	}
	dst = append(dst, `,"scope":`...)
	dst = appendJSONString(dst, m.Scope)
	if m.Topic != "" {
		dst = append(dst, `,"topic":`...)
		dst = appendJSONString(dst, m.Topic)
	}
	dst = append(dst, `,"totalQueues":`...)
	dst = strconv.AppendInt(dst, int64(m.TotalQueues), 10)
	return append(dst, '}')
}

func compareLogicID(a, b QueueIDMapping) int { return cmp.Compare(a.LogicID, b.LogicID) }

// queueMapping reads a mapping, which must name its broker.
func (r *jsonReader) queueMapping(m *TopicQueueMappingInfo) {
	*m = TopicQueueMappingInfo{Scope: GlobalScope}
	var o jsonObject
	if !r.object(&o, queueMappingNames) {
		r.fail("a queue mapping is null")
		return
	}
	named := false
	for r.member(&o) {
		switch o.name {
		case "bname":
			if b, ok := r.text(); ok {
				m.Bname, named = string(b), true
			}
		case "currIdMap":
			m.CurrIDMap = r.queueIDMap()
		case "dirty":
			r.bool(&m.Dirty)
		case "epoch":
			r.int64(&m.Epoch)
		case "scope":
			r.string(&m.Scope)
		case "topic":
			r.string(&m.Topic)
		case "totalQueues":
			r.int32(&m.TotalQueues)
		}
	}
	if !named {
		r.fail("a queue mapping has no bname")
	}
}

// queueIDMap reads a map from logical to physical queue, in ascending order.
func (r *jsonReader) queueIDMap() []QueueIDMapping {
	var ids []QueueIDMapping
	var o jsonObject
	for more := r.object(&o, nil); more; {
		key, ok := r.intKey(&o)
		if !ok {
			break
		}
		if r.null() {
			r.fail("a queue is null")
		}
		id := QueueIDMapping{LogicID: int32(key)}
		if int64(id.LogicID) != key {
			r.fail("a number out of range")
		}
		r.int32(&id.PhysicalID)
		ids = append(ids, id)
	}
	return sortLast(ids, compareLogicID)
}

// appendMappings appends a map to queue mappings, in the order of the list.
func appendMappings(dst []byte, list []NamedQueueMapping, f JSONForm) []byte {
	dst = append(dst, '{')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, list[i].Key)
		dst = append(dst, ':')
		dst = list[i].Info.AppendJSON(dst, f)
	}
	return append(dst, '}')
}

// mappings reads a map to queue mappings. It is nil for null and "" only.
func (r *jsonReader) mappings() []NamedQueueMapping {
	return readObjectMap(r, func(key string, n *NamedQueueMapping) {
		n.Key = key
		r.queueMapping(&n.Info)
	})
}

func compareMappings(a, b NamedQueueMapping) int { return strings.Compare(a.Key, b.Key) }

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
