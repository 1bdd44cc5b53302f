package protocol

import "strconv"

// TopicFilterType says how many tags a message may carry. It travels by name and nothing looks at it.
type TopicFilterType uint8

const (
	FilterSingleTag TopicFilterType = iota // SINGLE_TAG, the default; also for null and unknown names
	FilterMultiTag                         // MULTI_TAG
)

// Defaults of TopicConfig for members that are absent, null or "" (spec/namesrv.md §3, spec/since-2025-09.md §1.6).
const (
	defaultTopicQueueNums = 16
	defaultTopicPerm      = 6 // read and write
)

// TopicConfig is one topic as a broker registers and stores it.
type TopicConfig struct {
	// MapKey is the name the entry has in topicConfigTable. The topic is TopicName, whatever MapKey is; the two differ
	// only in bodies made by hand. When written, an empty MapKey stands for TopicName.
	MapKey          string
	TopicName       string
	ReadQueueNums   int32
	WriteQueueNums  int32
	Perm            int32 // bits: 1 inherit, 2 write, 4 read, 8 priority
	TopicSysFlag    int32 // bits: 1 unit, 2 unit-sub
	TopicFilterType TopicFilterType
	Order           bool
	Attributes      map[string]string // nil when there are none
}

// TopicConfigSerializeWrapper is a broker's topic table: the registration body of brokers before 3.0.11, and the content
// of topics.json.
type TopicConfigSerializeWrapper struct {
	TopicConfigTable []TopicConfig // in wire order, one per MapKey
	DataVersion      *DataVersion  // nil: null
}

// CreateTopicListRequestBody is the body of UPDATE_AND_CREATE_TOPIC_LIST (18). The keys of attributes begin with + or -.
// Source: spec/broker.md §3.7.
type CreateTopicListRequestBody struct {
	TopicConfigList []TopicConfig
}

var (
	topicFilterTypeNames = []string{"SINGLE_TAG", "MULTI_TAG"}

	topicConfigListNames = newJSONNames("topicConfigList")
	topicWrapperNames    = newJSONNames("dataVersion", "topicConfigTable")
	topicConfigNames     = newJSONNames("attributes", "order", "perm", "readQueueNums", "topicFilterType", "topicName",
		"topicSysFlag", "writeQueueNums")
)

// String returns the name on the wire.
func (t TopicFilterType) String() string {
	if t == FilterMultiTag {
		return topicFilterTypeNames[1]
	}
	return topicFilterTypeNames[0]
}

// AppendJSON appends the config as an entry of topicConfigTable, without its MapKey.
func (t *TopicConfig) AppendJSON(dst []byte, f JSONForm) []byte { return t.appendWith(nil, dst, f) }

// appendWith appends the config, with the mapping of its queues if that is not nil.
func (t *TopicConfig) appendWith(mapping *TopicQueueMappingDetail, dst []byte, f JSONForm) []byte {
	dst = append(dst, `{"attributes":`...)
	dst = appendJSONMap(dst, t.Attributes)
	if mapping != nil {
		dst = append(dst, `,"mappingDetail":`...)
		dst = mapping.AppendJSON(dst, f)
	}
	dst = append(dst, `,"order":`...)
	dst = strconv.AppendBool(dst, t.Order)
	dst = append(dst, `,"perm":`...)
	dst = strconv.AppendInt(dst, int64(t.Perm), 10)
	dst = append(dst, `,"readQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(t.ReadQueueNums), 10)
	dst = append(dst, `,"topicFilterType":"`...)
	dst = append(dst, t.TopicFilterType.String()...)
	dst = append(dst, `","topicName":`...)
	dst = appendJSONString(dst, t.TopicName)
	dst = append(dst, `,"topicSysFlag":`...)
	dst = strconv.AppendInt(dst, int64(t.TopicSysFlag), 10)
	dst = append(dst, `,"writeQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(t.WriteQueueNums), 10)
	return append(dst, '}')
}

// appendTopicTable appends topics as topicConfigTable, in their order.
func appendTopicTable(dst []byte, topics []TopicConfig, f JSONForm) []byte {
	dst = append(dst, '{')
	for i := range topics {
		t := &topics[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		key := t.MapKey
		if key == "" {
			key = t.TopicName
		}
		dst = appendJSONString(dst, key)
		dst = append(dst, ':')
		dst = t.AppendJSON(dst, f)
	}
	return append(dst, '}')
}

// topicConfig reads the config of the topic that the map calls key.
func (r *jsonReader) topicConfig(t *TopicConfig, key string, intern func([]byte) string) {
	r.topicConfigOf(t, key, intern, true)
}

// topicConfigOf is topicConfig; needName says whether it is an error if there is no topicName.
func (r *jsonReader) topicConfigOf(t *TopicConfig, key string, intern func([]byte) string, needName bool) {
	*t = TopicConfig{
		MapKey:        key,
		ReadQueueNums: defaultTopicQueueNums, WriteQueueNums: defaultTopicQueueNums, Perm: defaultTopicPerm,
	}
	var o jsonObject
	start, named := r.pos, false
	if !r.object(&o, topicConfigNames) {
		r.fail("a topic is null")
		return
	}
	for r.member(&o) {
		switch o.name {
		case "attributes":
			t.Attributes = r.stringMap()
		case "order":
			r.bool(&t.Order)
		case "perm":
			r.int32(&t.Perm)
		case "readQueueNums":
			r.int32(&t.ReadQueueNums)
		case "topicFilterType":
			t.TopicFilterType = TopicFilterType(max(0, r.enum(topicFilterTypeNames)))
		case "topicName":
			var b []byte
			b, named = r.text()
			if string(b) == key {
				t.TopicName = key
			} else {
				t.TopicName = intern(b)
			}
		case "topicSysFlag":
			r.int32(&t.TopicSysFlag)
		case "writeQueueNums":
			r.int32(&t.WriteQueueNums)
		}
	}
	if !named && needName {
		r.pos = start
		r.fail("a topic has no topicName")
	}
	if key == "" {
		t.MapKey = t.TopicName
	}
}

// topicTable reads topicConfigTable. An entry replaces an earlier one with the same key.
func (r *jsonReader) topicTable(intern func([]byte) string) []TopicConfig {
	if intern == nil {
		intern = func(b []byte) string { return string(b) }
	}
	var o jsonObject
	start := r.pos
	if !r.object(&o, nil) {
		r.pos = start
		r.fail("topicConfigTable is null")
		return nil
	}
	var topics []TopicConfig
	if !r.sized {
		// A topic takes 160 bytes or more as brokers write it.
		r.sized = true
		topics = make([]TopicConfig, 0, (len(r.data)-r.pos)/160+1)
	}
	for {
		b, ok := r.textKey(&o)
		if !ok {
			return lastOfKey(topics)
		}
		topics = append(topics, TopicConfig{})
		r.topicConfig(&topics[len(topics)-1], intern(b), intern)
	}
}

// lastOfKey removes, in place, all topics but the last of each MapKey. The order of the first occurrences stays.
func lastOfKey(topics []TopicConfig) []TopicConfig {
	if len(topics) < 2 {
		return topics
	}
	index := make(map[string]int32, len(topics))
	kept := topics[:0]
	for _, t := range topics {
		if i, ok := index[t.MapKey]; ok {
			kept[i] = t
			continue
		}
		index[t.MapKey] = int32(len(kept))
		kept = append(kept, t)
	}
	clear(topics[len(kept):])
	return kept
}

// AppendJSON appends the table as a broker before 3.0.11 sends it.
func (w *TopicConfigSerializeWrapper) AppendJSON(dst []byte, f JSONForm) []byte {
	dst = append(dst, '{')
	if w.DataVersion != nil {
		dst = append(dst, `"dataVersion":`...)
		dst = w.DataVersion.AppendJSON(dst, f)
		dst = append(dst, ',')
	}
	dst = append(dst, `"topicConfigTable":`...)
	dst = appendTopicTable(dst, w.TopicConfigTable, f)
	return append(dst, '}')
}

// DecodeTopicConfigSerializeWrapper reads a topic table. now is the time in milliseconds since 1970, for a data version
// that is absent or has no timestamp.
func DecodeTopicConfigSerializeWrapper(data []byte, now int64) (TopicConfigSerializeWrapper, error) {
	w := TopicConfigSerializeWrapper{DataVersion: &DataVersion{Timestamp: now}}
	err := decodeBody("TopicConfigSerializeWrapper", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, topicWrapperNames); ok && r.member(&o); {
			switch o.name {
			case "dataVersion":
				w.DataVersion = r.dataVersion(now)
			case "topicConfigTable":
				w.TopicConfigTable = r.topicTable(nil)
			}
		}
	})
	if err != nil {
		return TopicConfigSerializeWrapper{}, err
	}
	return w, nil
}

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
