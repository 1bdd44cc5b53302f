package protocol

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// QueueOffset is how far a consumer group has come in one queue.
type QueueOffset struct {
	QueueID int32
	Offset  int64 // of the message to come next, in messages; below 0: none
}

// GroupOffsets is how far a consumer group has come in the queues of one topic.
type GroupOffsets struct {
	Key    string        // topic@group
	Queues []QueueOffset // ascending by QueueID
}

// OffsetsKey is the name under which the offsets of a group in a topic are kept.
func OffsetsKey(topic, group string) string { return topic + "@" + group }

// CutOffsetsKey returns the parts of the name topic@group. ok is false if it has not exactly two parts, or an empty one.
func CutOffsetsKey(key string) (topic, group string, ok bool) {
	topic, group, ok = strings.Cut(key, "@")
	return topic, group, ok && topic != "" && group != "" && !strings.Contains(group, "@")
}

// ConsumerOffsets is the content of consumerOffset.json and the body of GET_ALL_CONSUMER_OFFSET (43). Besides the offsets it
// has, by group, the topics that they are of (groupTopicMap), and how far groups have pulled (pullOffsetTable), which no
// broker reads. The latter is left empty: replicas of release 5.5.0 read no body in which it is not.
//
// Sources: spec/messaging.md §3.4, spec/since-2025-09.md §1.3, spec/ha.md §3.2.
type ConsumerOffsets struct {
	DataVersion DataVersion
	Offsets     []GroupOffsets // ascending by Key when written; in file order, one per key, when read
	Odd         []OddEntry     // entries of offsetTable that cannot be used; ascending by name when written
	// Unknown are the names of members that no class of ours has, each once. They are not written again.
	Unknown []string
}

var consumerOffsetsNames = newJSONNames("dataVersion", "groupTopicMap", "offsetTable", "pullOffsetTable")

// DecodeConsumerOffsets reads consumerOffset.json in the form of any release. now is the time in milliseconds since 1970, for a
// data version that is absent, as before 5.0, or has no timestamp.
//
// An entry that does not fit lands in Odd and costs the others nothing; text that is no JSON fails as a whole. A text that
// holds nothing gives ErrNullBody, one without offsetTable ErrNoTable.
func DecodeConsumerOffsets(data []byte, now int64) (ConsumerOffsets, error) {
	f := ConsumerOffsets{DataVersion: DataVersion{Timestamp: now}}
	err := decodeBody("ConsumerOffsets", data, func(r *jsonReader) {
		r.skipped = skippedOnce(&f.Unknown)
		found := false
		var o jsonObject
		for ok := r.object(&o, consumerOffsetsNames); ok && r.member(&o); {
			switch o.name {
			case "dataVersion":
				if v := r.dataVersion(now); v != nil {
					f.DataVersion = *v
				}
			case "offsetTable":
				var list []*GroupOffsets
				list, f.Odd, found = readTable(r, r.groupOffsets)
				f.Offsets = make([]GroupOffsets, len(list))
				for i, g := range list {
					f.Offsets[i] = *g
				}
			default: // follow from offsetTable, or are read by nobody
				r.skipValue()
			}
		}
		if r.err == nil && !found {
			r.err = ErrNoTable
		}
	})
	if err != nil {
		return ConsumerOffsets{}, err
	}
	return f, nil
}

// groupOffsets reads the offsets by queue that belong to key.
func (r *jsonReader) groupOffsets(key string) *GroupOffsets {
	g := &GroupOffsets{Key: key}
	if _, _, ok := CutOffsetsKey(key); !ok {
		r.fail("a name is not topic@group")
	}
	var o jsonObject
	for more := r.requiredObject(&o, nil, "a table of offsets"); more; {
		id, ok := r.intKey(&o)
		if !ok {
			break
		}
		if id != int64(int32(id)) {
			r.fail("a queue number is out of range")
		}
		g.Queues = append(g.Queues, QueueOffset{QueueID: int32(id), Offset: r.offset()})
	}
	g.Queues = sortLast(g.Queues, func(a, b QueueOffset) int { return cmp.Compare(a.QueueID, b.QueueID) })
	return g
}

// AppendJSON appends the offsets by queue.
func (g *GroupOffsets) AppendJSON(dst []byte, form JSONForm) []byte {
	dst = append(dst, '{')
	for i, q := range g.Queues {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONLong(appendJSONIntKey(dst, int64(q.QueueID), form), q.Offset, form)
	}
	return append(dst, '}')
}

// AppendJSON appends the offsets without blanks: the body of 43. AppendPretty makes of them what RocketMQ writes to the file.
func (f *ConsumerOffsets) AppendJSON(dst []byte, form JSONForm) []byte {
	w := beginObject(dst, form)
	w.dataVersion("dataVersion", &f.DataVersion)
	topics := map[string][]string{} // by group
	list := make([]*GroupOffsets, len(f.Offsets))
	for i := range f.Offsets {
		list[i] = &f.Offsets[i]
		if topic, group, ok := CutOffsetsKey(list[i].Key); ok {
			topics[group] = append(topics[group], topic)
		}
	}
	w.dst = append(w.name("groupTopicMap"), '{')
	for i, group := range slices.Sorted(maps.Keys(topics)) {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		slices.Sort(topics[group])
		w.dst = append(appendJSONString(w.dst, group), ':')
		w.dst = appendJSONStrings(w.dst, topics[group])
	}
	w.dst = append(w.dst, '}')
	w.dst = appendTable(w.name("offsetTable"), list, f.Odd, func(g *GroupOffsets) string { return g.Key }, form)
	w.dst = append(w.name("pullOffsetTable"), "{}"...)
	return w.end()
}
