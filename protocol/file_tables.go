package protocol

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
)

// OddEntry is an entry of a configuration file that cannot be used: its value does not fit. It is written back as it was
// found, byte by byte, so that it is as odd to the next reader of the file, and the file loses nothing of it.
type OddEntry struct {
	Name string
	JSON string // the value as it stands in the file, or that in quotes where it could not stand there again; see oddText
	Err  error  // what is wrong with it
}

// TopicsFile is the content of topics.json. Source: spec/broker.md §3.2.
type TopicsFile struct {
	DataVersion DataVersion
	Topics      []*TopicConfig // ascending by name when written; in file order, one per name, when read
	Odd         []OddEntry     // entries of topicConfigTable; ascending by name when written
	// Unknown are the names of members that no class of ours has, each once. They are not written again.
	Unknown []string
}

// ErrNoTable is wrapped by errors of files that are JSON but lack the table that makes up their content.
var ErrNoTable = errors.New("the table is missing")

// DecodeTopicsFile reads topics.json in the form of any release. now is the time in milliseconds since 1970, for a data
// version that is absent or has no timestamp. usable says what is wrong with a topic that could be read; nil: nothing ever.
//
// The name of a topic is the one of its entry, whatever topicName says. An entry that does not fit or is not usable lands
// in Odd and costs the others nothing; text that is no JSON fails as a whole. A text that holds nothing gives ErrNullBody,
// one without topicConfigTable ErrNoTable.
func DecodeTopicsFile(data []byte, now int64, usable func(*TopicConfig) error) (TopicsFile, error) {
	f := TopicsFile{DataVersion: DataVersion{Timestamp: now}}
	err := decodeBody("TopicsFile", data, func(r *jsonReader) {
		r.skipped = skippedOnce(&f.Unknown)
		found := false
		var o jsonObject
		for ok := r.object(&o, topicWrapperNames); ok && r.member(&o); {
			switch o.name {
			case "dataVersion":
				if v := r.dataVersion(now); v != nil {
					f.DataVersion = *v
				}
			case "topicConfigTable":
				f.Topics, f.Odd, found = readTable(r, func(name string) *TopicConfig {
					t := new(TopicConfig)
					r.namedTopicConfig(t, name)
					check(r, t, usable)
					return t
				})
			}
		}
		if r.err == nil && !found {
			r.err = ErrNoTable
		}
	})
	if err != nil {
		return TopicsFile{}, err
	}
	return f, nil
}

// namedTopicConfig is topicConfig for a topic whose name is known to be name.
func (r *jsonReader) namedTopicConfig(t *TopicConfig, name string) {
	r.topicConfigOf(t, name, func([]byte) string { return name }, false)
	t.MapKey, t.TopicName = name, name
}

// AppendJSON appends the file, without blanks but for those in odd entries; AppendPretty makes of it what RocketMQ writes.
func (f *TopicsFile) AppendJSON(dst []byte, form JSONForm) []byte {
	dst = append(dst, `{"dataVersion":`...)
	dst = f.DataVersion.AppendJSON(dst, form)
	dst = append(dst, `,"topicConfigTable":`...)
	dst = appendTable(dst, f.Topics, f.Odd, func(t *TopicConfig) string { return t.TopicName }, form)
	return append(dst, '}')
}

// GroupsFile is the content of subscriptionGroup.json. Source: spec/broker.md §5.7.
type GroupsFile struct {
	DataVersion DataVersion
	Groups      []*SubscriptionGroupConfig // ascending by name when written; in file order, one per name, when read
	OddGroups   []OddEntry                 // entries of subscriptionGroupTable; ascending by name when written
	// Forbidden has a bit mask by group and topic; 1<<2 forbids reading. Nil if there is none, as before 5.0.
	Forbidden    map[string]map[string]int32
	OddForbidden []OddEntry // entries of forbiddenTable; ascending by name when written
	// Unknown are the names of members that no class of ours has, each once. They are not written again.
	Unknown []string
}

// forbiddenTopics are the bit masks that a group has by topic.
type forbiddenTopics struct {
	group  string
	topics map[string]int32
}

func (t *forbiddenTopics) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	for _, topic := range slices.Sorted(maps.Keys(t.topics)) {
		w.dst = strconv.AppendInt(w.key(topic), int64(t.topics[topic]), 10)
	}
	return w.end()
}

// DecodeGroupsFile reads subscriptionGroup.json in the form of any release. now is the time in milliseconds since 1970, for
// a data version that is absent or has no timestamp. usable says what is wrong with a group that could be read; nil: nothing
// ever.
//
// The name of a group is the one of its entry, whatever groupName says. An entry of either table that does not fit or is
// not usable is set aside and costs the others nothing; text that is no JSON fails as a whole. A text that holds nothing
// gives ErrNullBody, one without subscriptionGroupTable ErrNoTable.
func DecodeGroupsFile(data []byte, now int64, usable func(*SubscriptionGroupConfig) error) (GroupsFile, error) {
	f := GroupsFile{DataVersion: DataVersion{Timestamp: now}}
	err := decodeBody("GroupsFile", data, func(r *jsonReader) {
		r.skipped = skippedOnce(&f.Unknown)
		found := false
		var o jsonObject
		for ok := r.object(&o, groupWrapperNames); ok && r.member(&o); {
			switch o.name {
			case "dataVersion":
				if v := r.dataVersion(now); v != nil {
					f.DataVersion = *v
				}
			case "forbiddenTable":
				var rows []*forbiddenTopics
				rows, f.OddForbidden, _ = readTable(r, r.forbiddenTopics)
				f.Forbidden = nil
				for _, row := range rows {
					if f.Forbidden == nil {
						f.Forbidden = make(map[string]map[string]int32, len(rows))
					}
					if len(row.topics) > 0 {
						f.Forbidden[row.group] = row.topics
					}
				}
			case "subscriptionGroupTable":
				f.Groups, f.OddGroups, found = readTable(r, func(name string) *SubscriptionGroupConfig {
					g := new(SubscriptionGroupConfig)
					r.groupConfig(g)
					g.GroupName = name
					check(r, g, usable)
					return g
				})
			}
		}
		if r.err == nil && !found {
			r.err = ErrNoTable
		}
	})
	if err != nil {
		return GroupsFile{}, err
	}
	return f, nil
}

// forbiddenTopics reads the masks of a group.
func (r *jsonReader) forbiddenTopics(group string) *forbiddenTopics {
	t := &forbiddenTopics{group: group, topics: map[string]int32{}}
	var o jsonObject
	for more := r.requiredObject(&o, nil, "a group"); more; {
		b, ok := r.textKey(&o)
		if !ok {
			break
		}
		topic := string(b)
		var mask int32
		r.int32(&mask)
		t.topics[topic] = mask
	}
	return t
}

// AppendJSON appends the file, without blanks but for those in odd entries; AppendPretty makes of it what RocketMQ writes.
func (f *GroupsFile) AppendJSON(dst []byte, form JSONForm) []byte {
	dst = append(dst, `{"dataVersion":`...)
	dst = f.DataVersion.AppendJSON(dst, form)
	dst = append(dst, `,"forbiddenTable":`...)
	rows := make([]*forbiddenTopics, 0, len(f.Forbidden))
	for _, group := range slices.Sorted(maps.Keys(f.Forbidden)) {
		rows = append(rows, &forbiddenTopics{group, f.Forbidden[group]})
	}
	dst = appendTable(dst, rows, f.OddForbidden, func(t *forbiddenTopics) string { return t.group }, form)
	dst = append(dst, `,"subscriptionGroupTable":`...)
	dst = appendTable(dst, f.Groups, f.OddGroups, func(g *SubscriptionGroupConfig) string { return g.GroupName }, form)
	return append(dst, '}')
}

// skippedOnce returns a function that collects names, each once.
func skippedOnce(names *[]string) func(name []byte) {
	const most = 16 // of a file full of them, some are enough
	return func(name []byte) {
		if len(*names) < most && !slices.Contains(*names, string(name)) {
			*names = append(*names, string(name))
		}
	}
}

// readTable reads a map from names to values. A value that read fails on becomes an OddEntry, unless it is no JSON. Of
// entries with one name the last one counts. found is false for null.
func readTable[T any](r *jsonReader, read func(name string) *T) (list []*T, odd []OddEntry, found bool) {
	type place struct{ list, odd int } // index + 1 in either
	places := map[string]place{}
	var o jsonObject
	if !r.object(&o, nil) {
		return nil, nil, false
	}
	for {
		b, ok := r.textKey(&o)
		if !ok {
			break
		}
		name := string(b)
		var value *T
		text, err := r.attempt(func() { value = read(name) })
		if r.err != nil {
			return nil, nil, true
		}
		p := places[name]
		if p.list > 0 {
			list[p.list-1] = nil
		}
		if p.odd > 0 {
			odd[p.odd-1].Err = nil
		}
		if err == nil {
			list = append(list, value)
			p = place{list: len(list)}
		} else {
			odd = append(odd, OddEntry{Name: name, JSON: text, Err: err})
			p = place{odd: len(odd)}
		}
		places[name] = p
	}
	list = slices.DeleteFunc(list, func(t *T) bool { return t == nil })
	odd = slices.DeleteFunc(odd, func(e OddEntry) bool { return e.Err == nil })
	return list, odd, true
}

// check fails with what usable says of a value that has been read.
func check[T any](r *jsonReader, v *T, usable func(*T) error) {
	if r.err == nil && usable != nil {
		r.err = usable(v)
	}
}

// attempt calls read for the value in front of the reader. If read fails, it consumes the value and returns its text and
// the error, which r.err then no longer has; a value that is no JSON at all stays an error of the reader.
func (r *jsonReader) attempt(read func()) (text string, err error) {
	if r.skipBlanks(); r.err != nil {
		return "", nil
	}
	start, depth, skipped := r.pos, r.depth, r.skipped
	read()
	if r.err == nil || r.refs < 0 { // one reference more would cost as much again
		return "", nil
	}
	err, r.err = r.err, nil
	r.pos, r.depth, r.skipped = start, depth, nil
	r.skipValue()
	r.skipped = skipped
	if r.err != nil {
		return "", nil
	}
	return oddText(r.data[start:r.pos]), err
}

// oddText returns the text of a value that cannot be used, for a file that it is written to again. That is the value itself,
// except that it becomes a string, which no entry can be, if it has a reference, which could lead to something good there,
// or NUL bytes, which would make the file a damaged one.
func oddText(value []byte) string {
	hasReference := (value[0] == '{' || value[0] == '[') && bytes.Contains(value, []byte("$ref"))
	if hasReference || bytes.IndexByte(value, 0) >= 0 {
		return string(appendJSONString(nil, string(value)))
	}
	return string(value)
}

// appendTable appends a map of list and odd, both ascending by name and without a common name, in the order of names.
func appendTable[T any, PT interface {
	*T
	JSONBody
}](dst []byte, list []PT, odd []OddEntry, nameOf func(PT) string, form JSONForm) []byte {
	dst = append(dst, '{')
	first := true
	entry := func(name string) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendJSONString(dst, name)
		dst = append(dst, ':')
	}
	for len(list) > 0 || len(odd) > 0 {
		if len(odd) > 0 && (len(list) == 0 || cmp.Compare(odd[0].Name, nameOf(list[0])) < 0) {
			entry(odd[0].Name)
			dst = appendAsIs(dst, odd[0].JSON, form)
			odd = odd[1:]
			continue
		}
		entry(nameOf(list[0]))
		dst = list[0].AppendJSON(dst, form)
		list = list[1:]
	}
	return append(dst, '}')
}
