package broker

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/protocol"
)

// Bits of TopicConfig.TopicSysFlag.
const (
	sysFlagUnit    = 1
	sysFlagUnitSub = 2
)

// maxMadeTopics bounds the topics that are made because somebody sends to them: from there on only tools make topics, and
// groups their retry topics. The original has no bound.
const maxMadeTopics = 2 * maxMadeGroups

// topicSettings are the settings that topics depend on.
type topicSettings struct {
	BrokerName, ClusterName            string
	AutoCreateTopicEnable              bool
	DefaultTopicQueueNums              int32
	ClusterTopicEnable                 bool
	BrokerTopicEnable                  bool
	TraceTopicEnable                   bool
	MsgTraceTopicName                  string
	ReviveQueueNum                     int32
	TimerWheelEnable                   bool
	EnableMixedMessageType             bool
	ValidateSystemTopicWhenUpdateTopic bool
}

// topicOptions are what a topicTable needs.
type topicOptions struct {
	Dir string // the folder config/
	// Settings returns the settings of this moment. Names, and which system topics there are, are taken once, at the start.
	Settings func() topicSettings
	// Changed is told the names of topics that were made or changed by something the NameServers have to learn at once. It
	// is called after the change is on disk and can be seen, by one goroutine at a time, and must neither wait nor change
	// topics. What only the data version tells (deletions, order flags, bump) is not reported. Nil: nobody.
	Changed func(names []string)
	Now     func() time.Time // nil: time.Now
	Log     zerolog.Logger
}

// topicTable is the broker's topics and their data version, kept in topics.json. Source: spec/broker.md §3.
//
// Reading never waits. Every change returns after it is on disk, and the table and the version change together: equal
// versions mean equal tables (spec/field-reports.md N61). A change that changes nothing writes nothing and leaves the
// version as it is. TopicConfigs that are handed out are never changed and must not be.
type topicTable struct {
	file     *configFile[topicState, *topicDraft]
	settings func() topicSettings
	changed  func(names []string)
	now      func() time.Time
	log      zerolog.Logger
	system   map[string]bool // names of system topics; never changed
	most     int             // maxMadeTopics
	full     edge            // no more topics were made
}

// topicState is one immutable state of the table.
type topicState struct {
	version protocol.DataVersion
	topics  *configTable[protocol.TopicConfig]
	odd     []protocol.OddEntry // entries of the file that cannot be used, ascending by name; written back as they are
}

// topicDraft is the next state in the making.
type topicDraft struct {
	configDraft[protocol.TopicConfig]
	from *topicState
	tell map[string]bool // the topics that NameServers have to learn of
}

func nameOfTopic(t *protocol.TopicConfig) string { return t.TopicName }

// newTopic returns a topic with as many queues to read as to write.
func newTopic(name string, queues, perm, sysFlag int32, order bool) *protocol.TopicConfig {
	return &protocol.TopicConfig{
		MapKey: name, TopicName: name, ReadQueueNums: queues, WriteQueueNums: queues, Perm: perm, TopicSysFlag: sysFlag, Order: order,
	}
}

// openTopics reads topics.json, puts the missing system topics in, and writes the file if that changed anything, there was
// none, or it was damaged. The data version changes only if the table is not the one of the file.
func openTopics(opts topicOptions) (*topicTable, error) {
	t := &topicTable{settings: opts.Settings, changed: opts.Changed, now: opts.Now, log: opts.Log, most: maxMadeTopics}
	if t.now == nil {
		t.now = time.Now
	}
	if t.changed == nil {
		t.changed = func([]string) {}
	}
	t.file = &configFile[topicState, *topicDraft]{
		log: opts.Log, begin: t.begin, finish: (*topicDraft).state, encode: (*topicState).file, committed: t.tell,
	}
	if err := openConfigFile(t.file, filepath.Join(opts.Dir, "topics.json"), t.decode, t.loaded); err != nil {
		return nil, fmt.Errorf("topics: %w", err)
	}
	return t, nil
}

func (t *topicTable) decode(data []byte) (protocol.TopicsFile, error) {
	return protocol.DecodeTopicsFile(data, t.nowMillis(), usableTopic)
}

// loaded makes a state of what was stored, and tells whether it has to be written.
func (t *topicTable) loaded(stored storedFile[protocol.TopicsFile], log zerolog.Logger) (state *topicState, write bool) {
	content := &stored.content
	warnUnknown(content.Unknown, log)
	sortOdd(content.Odd)
	logOdd(content.Odd, log, "topic", "topic cannot be used: its entry is kept in the file, and there is no such topic until it is made anew")
	system := systemTopics(t.settings())
	t.system = systemTopicSet(system)
	table := newConfigTable(append(system, content.Topics...), nameOfTopic) // stored values win
	version, write := stored.version(content.DataVersion, len(table.byName) != len(content.Topics), t.nowMillis())
	return &topicState{version: version, topics: table, odd: withoutTouched(content.Odd, table.byName)}, write
}

// usableTopic refuses what the file may hold but nothing could work with.
func usableTopic(t *protocol.TopicConfig) error {
	switch {
	case t.TopicName == "":
		return fmt.Errorf("it has no name")
	case max(t.ReadQueueNums, t.WriteQueueNums) > maxQueueNums:
		return fmt.Errorf("it has more than %d queues", maxQueueNums)
	}
	return nil
}

func (t *topicTable) nowMillis() int64 { return t.now().UnixMilli() }

func (t *topicTable) begin(from *topicState) *topicDraft {
	return &topicDraft{configDraft: newConfigDraft(from.topics, from.version, t.nowMillis()), from: from}
}

// change puts a topic in, with a new version. Tell says whether NameServers have to learn of it at once. The name may be part
// of a request, of which nothing is kept.
func (d *topicDraft) change(topic *protocol.TopicConfig, tell bool) {
	topic.TopicName = strings.Clone(topic.TopicName)
	topic.MapKey = topic.TopicName
	d.put(topic)
	d.bump()
	if tell {
		if d.tell == nil {
			d.tell = make(map[string]bool)
		}
		d.tell[topic.TopicName] = true
	}
}

// state returns what the draft has become.
func (d *topicDraft) state() *topicState {
	if d.version == d.from.version {
		return d.from
	}
	return &topicState{version: d.version, topics: d.finish(), odd: withoutTouched(d.from.odd, d.changes)}
}

// file returns the content of topics.json.
func (s *topicState) file() []byte {
	const perTopic = 280 // bytes, of an ordinary one
	dst := make([]byte, 0, perTopic*(len(s.topics.sorted)+1))
	return protocol.AppendPretty(dst, &protocol.TopicsFile{DataVersion: s.version, Topics: s.topics.sorted, Odd: s.odd})
}

// tell reports what a draft has changed.
func (t *topicTable) tell(d *topicDraft) {
	if len(d.tell) > 0 {
		t.changed(slices.Sorted(maps.Keys(d.tell)))
	}
}

// get returns the topic called name.
func (t *topicTable) get(name string) (*protocol.TopicConfig, bool) {
	topic, ok := t.file.load().topics.byName[name]
	return topic, ok
}

// snapshot returns all topics, ascending by name, and the version of exactly this table.
func (t *topicTable) snapshot() ([]*protocol.TopicConfig, protocol.DataVersion) {
	s := t.file.load()
	return s.topics.sorted, s.version
}

// some returns those of the named topics that there are, in the order of names, and the version of the table they are in.
func (t *topicTable) some(names []string) ([]*protocol.TopicConfig, protocol.DataVersion) {
	s := t.file.load()
	list := make([]*protocol.TopicConfig, 0, len(names))
	for _, name := range names {
		if topic, ok := s.topics.byName[name]; ok {
			list = append(list, topic)
		}
	}
	return list, s.version
}

// update makes or changes a topic (code 17). attributes is the text of a modification; what the topic has of them
// already stays. A topic that is equal afterwards is left alone.
func (t *topicTable) update(topic protocol.TopicConfig, attributes string) error {
	changes, err := parseAttributes(attributes)
	if err != nil {
		return err
	}
	return t.updateAll([]topicUpdate{{topic, changes}})
}

// updateList makes or changes topics (code 18), all or none of them. The keys of Attributes have their signs.
func (t *topicTable) updateList(topics []protocol.TopicConfig) error {
	updates := make([]topicUpdate, len(topics))
	for i, topic := range topics {
		updates[i] = topicUpdate{topic, attributeChanges(topic.Attributes)}
	}
	return t.updateAll(updates)
}

// topicUpdate is what is wanted of a topic; the attributes of the topic itself do not count.
type topicUpdate struct {
	topic      protocol.TopicConfig
	attributes []attributeChange
}

func (t *topicTable) updateAll(updates []topicUpdate) error {
	settings := t.settings()
	for _, u := range updates {
		if err := t.validateUpdate(&u, settings); err != nil {
			return err
		}
	}
	return t.file.commit(func(d *topicDraft) error {
		wanted := d.clone() // one name may come twice
		var effective []*protocol.TopicConfig
		for _, u := range updates {
			existing, exists := wanted.get(u.topic.TopicName)
			topic := u.topic
			topic.MapKey, topic.Attributes = topic.TopicName, nil
			if exists {
				topic.Attributes = existing.Attributes
			}
			var err error
			if topic.Attributes, err = alterAttributes(topicAttributes, topic.Attributes, u.attributes, !exists); err != nil {
				return err
			}
			if !exists || !equalTopics(existing, &topic) {
				wanted.put(&topic)
				effective = append(effective, &topic)
			}
		}
		for _, topic := range effective {
			d.change(topic, true)
		}
		return nil
	})
}

// validateUpdate checks all of an update that does not depend on the table.
func (t *topicTable) validateUpdate(u *topicUpdate, settings topicSettings) error {
	name := u.topic.TopicName
	if err := validateTopicName(name); err != nil {
		return err
	}
	if settings.ValidateSystemTopicWhenUpdateTopic && t.isSystem(name) {
		return systemTopicConflict(name)
	}
	if err := validateTopicConfig(&u.topic); err != nil {
		return err
	}
	if !settings.EnableMixedMessageType && slices.Contains(u.attributes, attributeChange{"+" + attributeMessageType, messageTypeMixed}) {
		return invalidParameter("MIXED message type is not supported.")
	}
	return nil
}

func systemTopicConflict(topic string) error {
	return invalidParameter("The topic[%s] is conflict with system topic.", topic)
}

func equalTopics(a, b *protocol.TopicConfig) bool {
	return a.TopicName == b.TopicName && a.ReadQueueNums == b.ReadQueueNums && a.WriteQueueNums == b.WriteQueueNums &&
		a.Perm == b.Perm && a.TopicFilterType == b.TopicFilterType && a.TopicSysFlag == b.TopicSysFlag && a.Order == b.Order &&
		maps.Equal(a.Attributes, b.Attributes)
}

// delete removes a topic (code 215) and its retryTopics, and returns the names of those that there were; the topic itself
// is always the first. A topic that there is not is no error.
func (t *topicTable) delete(topic string, retryTopics []string) ([]string, error) {
	if isBlank(topic) {
		return nil, invalidParameter("The specified topic is blank.")
	}
	if t.isSystem(topic) {
		return nil, systemTopicConflict(topic)
	}
	names := append([]string{topic}, retryTopics...)
	var removed []string
	err := t.file.commit(func(d *topicDraft) error {
		removed = []string{topic}
		for _, name := range names {
			_, exists := d.get(name)
			if !exists && !isLeft(d.from.odd, d.changes, name) {
				continue
			}
			d.remove(name)
			d.bump()
			if name != topic {
				removed = append(removed, name)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return removed, nil
}

// popRetryTopics returns the names that the retry topic of a pop consumer group may have for a topic: the old and the new
// form.
func popRetryTopics(topic, group string) []string {
	return []string{retryTopicPrefix + group + "_" + topic, retryTopicPrefix + group + "+" + topic}
}

// createOnSend returns the topic that a message is sent to, and makes it if there is none, that is allowed, and there are not
// maxMadeTopics: like defaultTopic if that hands its settings down, with at most clientQueueNums queues; a retry topic else with one queue.
// It returns nil without an error if there is no such topic and none is to be made. Source: spec/broker.md §3.6.
func (t *topicTable) createOnSend(name, defaultTopic string, clientQueueNums int32, unitMode bool) (*protocol.TopicConfig, error) {
	if topic, ok := t.get(name); ok {
		return topic, nil
	}
	if err := validateTopicName(name); err != nil {
		return nil, err
	}
	isRetry := strings.HasPrefix(name, retryTopicPrefix)
	model, ok := t.get(defaultTopic)
	if !isRetry && (!ok || model.Perm&permInherit == 0) { // nothing will come of it: do not queue up behind writers
		return nil, nil
	}
	autoCreate := t.settings().AutoCreateTopicEnable
	sysFlag := int32(0)
	switch {
	case unitMode && isRetry:
		sysFlag = sysFlagUnitSub
	case unitMode:
		sysFlag = sysFlagUnit
	}
	var made *protocol.TopicConfig
	full := false
	err := t.file.commit(func(d *topicDraft) error {
		topic, ok := d.get(name)
		if ok {
			made = topic
			return nil
		}
		model, ok := d.get(defaultTopic)
		if ok && !autoCreate && defaultTopic == autoCreateTopic && model.Perm&permInherit != 0 {
			// It was stored while it was allowed to make topics. Clients are to see that it is no longer.
			closed := *model
			closed.Perm = permRead | permWrite
			d.change(&closed, true)
			model = &closed
		}
		switch {
		case ok && model.Perm&permInherit != 0:
			queues := max(0, min(clientQueueNums, model.WriteQueueNums))
			made = newTopic(name, queues, model.Perm&^permInherit, sysFlag, false)
			made.TopicFilterType = model.TopicFilterType
		case isRetry:
			made = newTopic(name, 1, permRead|permWrite, sysFlag, false)
		default:
			return nil
		}
		if full = d.size >= t.most; full {
			made = nil
			return nil
		}
		d.change(made, true)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if t.full.rises(full) {
		t.log.Error().Str("topic", name).Int("topics", t.most).Msg("there are too many topics: sending to topics that there are not makes no more of them")
	}
	return made, nil
}

// createIfAbsent returns the topic of this name, and makes it as given if there is none: retry and dead-letter topics when
// a message comes back, topics of the system on first use. An existing topic is left alone, whatever it is like.
// Source: spec/broker.md §3.4, §3.6.
func (t *topicTable) createIfAbsent(name string, queues, perm, sysFlag int32) (*protocol.TopicConfig, error) {
	if topic, ok := t.get(name); ok {
		return topic, nil
	}
	topic := newTopic(name, queues, perm, sysFlag, false)
	if err := validateOwnTopic(topic); err != nil {
		return nil, err
	}
	err := t.file.commit(func(d *topicDraft) error {
		if existing, ok := d.get(name); ok {
			topic = existing
		} else {
			d.change(topic, true)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return topic, nil
}

// retryTopic is what a heartbeat wants of the retry topic of a group.
type retryTopic struct {
	group    string
	queues   int32
	unitMode bool
	order    bool // the group consumes an ordered topic
}

// ensureRetryTopics makes the retry topics of groups that have sent a heartbeat, with one write. One that has another order
// flag is changed, about which the NameServers learn with the next regular registration. refused says which cannot be made
// because no topic can have their names or numbers; that does not keep the others from being made.
// Source: spec/broker.md §3.4.
func (t *topicTable) ensureRetryTopics(wanted []retryTopic) (refused []error, err error) {
	var topics []*protocol.TopicConfig
	for _, w := range wanted {
		sysFlag := int32(0)
		if w.unitMode {
			sysFlag = sysFlagUnitSub
		}
		topic := newTopic(retryTopicPrefix+w.group, w.queues, permRead|permWrite, sysFlag, w.order)
		if existing, ok := t.get(topic.TopicName); ok && existing.Order == topic.Order {
			continue
		}
		if err := validateOwnTopic(topic); err != nil {
			refused = append(refused, err)
			continue
		}
		topics = append(topics, topic)
	}
	if len(topics) == 0 {
		return refused, nil
	}
	return refused, t.file.commit(func(d *topicDraft) error {
		for _, topic := range topics {
			existing, ok := d.get(topic.TopicName)
			switch {
			case !ok:
				d.change(topic, true)
			case existing.Order != topic.Order:
				flipped := *existing
				flipped.Order = topic.Order
				d.change(&flipped, false)
			}
		}
		return nil
	})
}

func validateOwnTopic(t *protocol.TopicConfig) error {
	if err := validateOwnTopicName(t.TopicName); err != nil {
		return err
	}
	return validateTopicConfig(t)
}

// setOrder applies the order configuration of a NameServer: the topics that it names and that there are become ordered.
// None ceases to be. Source: spec/broker.md §3.8.
func (t *topicTable) setOrder(table map[string]string) error {
	unordered := func(get func(string) (*protocol.TopicConfig, bool)) (list []*protocol.TopicConfig) {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			if topic, ok := get(name); ok && !topic.Order {
				list = append(list, topic)
			}
		}
		return list
	}
	if len(unordered(t.get)) == 0 { // as after nearly every registration
		return nil
	}
	return t.file.commit(func(d *topicDraft) error {
		list := unordered(d.get)
		for _, topic := range list {
			ordered := *topic
			ordered.Order = true
			d.put(&ordered)
		}
		if len(list) > 0 {
			d.bump() // one for all
		}
		return nil
	})
}

// setSysFlag sets or clears one bit of a topic's system flag, if there is such a topic.
func (t *topicTable) setSysFlag(name string, bit int32, on bool) error {
	return t.file.commit(func(d *topicDraft) error {
		topic, ok := d.get(name)
		if !ok || (topic.TopicSysFlag&bit != 0) == on {
			return nil
		}
		changed := *topic
		changed.TopicSysFlag ^= bit
		d.change(&changed, true)
		return nil
	})
}

// bump gives the table a new version, because something else that NameServers are told with it has changed: the broker's
// permission or role.
func (t *topicTable) bump() error {
	return t.file.commit(func(d *topicDraft) error {
		d.bump()
		return nil
	})
}
