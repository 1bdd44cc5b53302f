package broker

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/protocol"
)

// systemGroupPrefix begins the names of groups that the system's own consumers use.
const systemGroupPrefix = "CID_RMQ_SYS_"

// systemGroups are the groups that every broker has from the start. Source: spec/broker.md §5.7.
var systemGroups = []string{
	"TOOLS_CONSUMER", "FILTERSRV_CONSUMER", "SELF_TEST_C_GROUP", "CID_ONS-HTTP-PROXY", "CID_ONSAPI_PULL",
	"CID_ONSAPI_PERMISSION", "CID_ONSAPI_OWNER", systemGroupPrefix + "TRANS",
}

// maxMadeGroups bounds the groups that are made because somebody asks for them: from there on only tools make groups. The
// original has no bound, so that clients with ever new names fill its memory, its disk and, by retry topics, the NameServers.
const maxMadeGroups = 100_000

// forbidRead is the bit of a group's mask that forbids it to read a topic.
const forbidRead = 2

// errForbiddenBit refuses a bit that a mask does not have.
var errForbiddenBit = errors.New("a forbidden mask has the bits 0 to 31")

// groupSettings are the settings that consumer groups depend on.
type groupSettings struct {
	AutoCreateSubscriptionGroup bool
	EnableCreateSysGroup        bool
}

// groupOptions are what a groupTable needs.
type groupOptions struct {
	Dir      string // the folder config/
	Settings func() groupSettings
	Now      func() time.Time // nil: time.Now
	Log      zerolog.Logger
}

// groupTable is the broker's consumer groups, what they may not do, and their data version, kept in
// subscriptionGroup.json. Source: spec/broker.md §5.7.
//
// Reading never waits. Every change returns after it is on disk, and the tables and the version change together. A change
// that changes nothing writes nothing and leaves the version as it is. Configurations that are handed out are never
// changed and must not be.
type groupTable struct {
	file     *configFile[groupState, *groupDraft]
	settings func() groupSettings
	now      func() time.Time
	log      zerolog.Logger
	most     int  // maxMadeGroups
	full     edge // no more groups were made
}

// groupState is one immutable state of the table. The odd entries cannot be used; they are ascending by name and written
// back as they are.
type groupState struct {
	version      protocol.DataVersion
	groups       *configTable[protocol.SubscriptionGroupConfig]
	oddGroups    []protocol.OddEntry
	forbidden    map[string]map[string]int32 // mask by group and topic; never 0, no group without topics
	oddForbidden []protocol.OddEntry
}

// groupDraft is the next state in the making.
type groupDraft struct {
	configDraft[protocol.SubscriptionGroupConfig]
	from      *groupState
	forbidden map[string]map[string]int32 // the groups whose masks have changed; nil: none left
}

func nameOfGroup(g *protocol.SubscriptionGroupConfig) string { return g.GroupName }

// openGroups reads subscriptionGroup.json, puts the missing system groups in, and writes the file if that changed anything,
// there was none, or it was damaged. The data version changes only if the table is not the one of the file.
func openGroups(opts groupOptions) (*groupTable, error) {
	t := &groupTable{settings: opts.Settings, now: opts.Now, log: opts.Log, most: maxMadeGroups}
	if t.now == nil {
		t.now = time.Now
	}
	t.file = &configFile[groupState, *groupDraft]{
		log: opts.Log, begin: t.begin, finish: (*groupDraft).state, encode: (*groupState).file, committed: func(*groupDraft) {},
	}
	if err := openConfigFile(t.file, filepath.Join(opts.Dir, "subscriptionGroup.json"), t.decode, t.loaded); err != nil {
		return nil, fmt.Errorf("consumer groups: %w", err)
	}
	return t, nil
}

func (t *groupTable) decode(data []byte) (protocol.GroupsFile, error) {
	return protocol.DecodeGroupsFile(data, t.nowMillis(), usableGroup)
}

// loaded makes a state of what was stored, and tells whether it has to be written.
func (t *groupTable) loaded(stored storedFile[protocol.GroupsFile], log zerolog.Logger) (state *groupState, write bool) {
	content := &stored.content
	warnUnknown(content.Unknown, log)
	sortOdd(content.OddGroups)
	sortOdd(content.OddForbidden)
	logOdd(content.OddGroups, log, "group", "group cannot be used: its entry is kept in the file, and there is no such group until it is made anew")
	logOdd(content.OddForbidden, log, "group", "what is forbidden to a group cannot be read: it is kept in the file and has no effect")
	forbidden := make(map[string]map[string]int32, len(content.Forbidden))
	for group, topics := range content.Forbidden {
		maps.DeleteFunc(topics, func(_ string, mask int32) bool { return mask == 0 })
		if len(topics) > 0 {
			forbidden[group] = topics
		}
	}
	groups := make([]*protocol.SubscriptionGroupConfig, 0, len(systemGroups)+len(content.Groups))
	for _, name := range systemGroups {
		g := protocol.NewSubscriptionGroupConfig(name)
		groups = append(groups, &g)
	}
	table := newConfigTable(append(groups, content.Groups...), nameOfGroup) // stored values win
	version, write := stored.version(content.DataVersion, len(table.byName) != len(content.Groups), t.nowMillis())
	return &groupState{
		version: version, groups: table, oddGroups: withoutTouched(content.OddGroups, table.byName),
		forbidden: forbidden, oddForbidden: content.OddForbidden,
	}, write
}

// usableGroup refuses what the file may hold but nothing could work with.
func usableGroup(g *protocol.SubscriptionGroupConfig) error {
	switch {
	case g.GroupName == "":
		return errors.New("it has no name")
	case g.RetryQueueNums > maxQueueNums:
		return fmt.Errorf("it has more than %d retry queues", maxQueueNums)
	}
	return nil
}

func (t *groupTable) nowMillis() int64 { return t.now().UnixMilli() }

func (t *groupTable) begin(from *groupState) *groupDraft {
	return &groupDraft{configDraft: newConfigDraft(from.groups, from.version, t.nowMillis()), from: from}
}

// masks returns what is forbidden to a group, by topic.
func (d *groupDraft) masks(group string) map[string]int32 {
	if topics, touched := d.forbidden[group]; touched {
		return topics
	}
	return d.from.forbidden[group]
}

// setMasks replaces what is forbidden to a group.
func (d *groupDraft) setMasks(group string, topics map[string]int32) {
	if d.forbidden == nil {
		d.forbidden = make(map[string]map[string]int32)
	}
	d.forbidden[group] = topics
}

// state returns what the draft has become.
func (d *groupDraft) state() *groupState {
	if d.version == d.from.version {
		return d.from
	}
	s := &groupState{
		version: d.version, groups: d.finish(), oddGroups: withoutTouched(d.from.oddGroups, d.changes),
		forbidden: d.from.forbidden, oddForbidden: withoutTouched(d.from.oddForbidden, d.forbidden),
	}
	if len(d.forbidden) > 0 {
		s.forbidden = maps.Clone(s.forbidden)
		for group, topics := range d.forbidden {
			if len(topics) == 0 {
				delete(s.forbidden, group)
			} else {
				s.forbidden[group] = topics
			}
		}
	}
	return s
}

// file returns the content of subscriptionGroup.json.
func (s *groupState) file() []byte {
	const perGroup = 600 // bytes, of an ordinary one
	dst := make([]byte, 0, perGroup*(len(s.groups.sorted)+1))
	return protocol.AppendPretty(dst, &protocol.GroupsFile{
		DataVersion: s.version, Groups: s.groups.sorted, OddGroups: s.oddGroups,
		Forbidden: s.forbidden, OddForbidden: s.oddForbidden,
	})
}

// get returns the group called name. It makes none; see find.
func (t *groupTable) get(name string) (*protocol.SubscriptionGroupConfig, bool) {
	g, ok := t.file.load().groups.byName[name]
	return g, ok
}

// snapshot returns all groups, ascending by name, what is forbidden to them as a bit mask by group and topic, and the
// version of exactly these tables. None of it may be changed.
func (t *groupTable) snapshot() ([]*protocol.SubscriptionGroupConfig, map[string]map[string]int32, protocol.DataVersion) {
	s := t.file.load()
	return s.groups.sorted, s.forbidden, s.version
}

// find returns the group called name, and makes it with default settings if there is none, that is allowed, and there are not
// maxMadeGroups. It returns nil without an error if there is no such group and none is to be made.
func (t *groupTable) find(name string) (*protocol.SubscriptionGroupConfig, error) {
	found, err := t.findAll([]string{name})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// findAll is find for several groups, with one write. It returns them in the order of names.
func (t *groupTable) findAll(names []string) ([]*protocol.SubscriptionGroupConfig, error) {
	found := make([]*protocol.SubscriptionGroupConfig, len(names))
	var missing []int
	settings := t.settings()
	for i, name := range names {
		if g, ok := t.get(name); ok {
			found[i] = g
			continue
		}
		allowed := settings.AutoCreateSubscriptionGroup || settings.EnableCreateSysGroup && strings.HasPrefix(name, systemGroupPrefix)
		if allowed && validateGroupName(name) == nil {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	refused := "" // one of those for which there is no room
	err := t.file.commit(func(d *groupDraft) error {
		for _, i := range missing {
			g, ok := d.get(names[i])
			if !ok && d.size >= t.most {
				refused = names[i]
				continue
			}
			if !ok {
				made := protocol.NewSubscriptionGroupConfig(strings.Clone(names[i])) // it may be part of a request
				g = &made
				d.put(g)
				d.bump()
			}
			found[i] = g
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if t.full.rises(refused != "") {
		t.log.Error().Str("group", refused).Int("groups", t.most).
			Msg("there are too many consumer groups: clients make no more of them, and those without a group do not consume")
	}
	return found, nil
}

// update makes or changes a group (code 200). The keys of Attributes have their signs; what the group has of them already
// stays. A group that is equal afterwards is left alone.
func (t *groupTable) update(group protocol.SubscriptionGroupConfig) error {
	return t.updateList([]protocol.SubscriptionGroupConfig{group})
}

// updateList makes or changes groups (code 225), all or none of them. An empty list does nothing.
func (t *groupTable) updateList(groups []protocol.SubscriptionGroupConfig) error {
	for i := range groups {
		if err := validateGroupName(groups[i].GroupName); err != nil {
			return err
		}
		if err := validateGroupConfig(&groups[i]); err != nil {
			return err
		}
	}
	if len(groups) == 0 {
		return nil
	}
	return t.file.commit(func(d *groupDraft) error {
		wanted := d.clone() // one name may come twice
		var effective []*protocol.SubscriptionGroupConfig
		for _, group := range groups {
			changes := attributeChanges(group.Attributes)
			existing, exists := wanted.get(group.GroupName)
			group.Attributes = nil
			if exists {
				group.Attributes = existing.Attributes
			}
			var err error
			if group.Attributes, err = alterAttributes(groupAttributes, group.Attributes, changes, !exists); err != nil {
				return err
			}
			if !exists || !reflect.DeepEqual(*existing, group) {
				wanted.put(&group)
				effective = append(effective, &group)
			}
		}
		for _, g := range effective {
			d.put(g)
			d.bump()
		}
		return nil
	})
}

// disableConsume forbids a group to consume at all, if there is such a group.
func (t *groupTable) disableConsume(name string) error {
	return t.file.commit(func(d *groupDraft) error {
		g, ok := d.get(name)
		if !ok || !g.ConsumeEnable {
			return nil
		}
		disabled := *g
		disabled.ConsumeEnable = false
		d.put(&disabled)
		d.bump()
		return nil
	})
}

// delete removes a group and what is forbidden to it (code 207). A group that there is not is no error.
func (t *groupTable) delete(name string) error {
	return t.file.commit(func(d *groupDraft) error {
		_, exists := d.get(name)
		if !exists && d.masks(name) == nil && !isLeft(d.from.oddGroups, d.changes, name) && !isLeft(d.from.oddForbidden, d.forbidden, name) {
			return nil
		}
		d.remove(name)
		d.setMasks(name, nil)
		d.bump()
		return nil
	})
}

// forbidden returns the mask of what a group may not do with a topic. Bit forbidRead is the only one with a meaning.
func (t *groupTable) forbidden(group, topic string) int32 {
	return t.file.load().forbidden[group][topic]
}

// isForbidden tells whether one bit of the mask is set.
func (t *groupTable) isForbidden(group, topic string, bit int) bool {
	return t.forbidden(group, topic)>>bit&1 != 0
}

// setForbidden sets or clears one bit of the mask of a group and topic, whether or not these exist; bits can be set only where
// there may be a group and a topic of these names. Other topics of the group keep theirs; the original drops them with the
// last bit of one (spec/broker.md appendix B).
func (t *groupTable) setForbidden(group, topic string, bit int, on bool) error {
	if bit < 0 || bit > 31 {
		return errForbiddenBit
	}
	if on {
		if _, exists := t.get(group); !exists {
			if err := validateGroupName(group); err != nil {
				return err
			}
		}
		if err := validateOwnTopicName(topic); err != nil {
			return err
		}
		group, topic = strings.Clone(group), strings.Clone(topic) // they may be parts of a request
	}
	return t.file.commit(func(d *groupDraft) error {
		before := d.masks(group)
		mask := before[topic] &^ (1 << bit)
		if on {
			mask |= 1 << bit
		}
		if mask == before[topic] {
			return nil
		}
		topics := maps.Clone(before)
		switch {
		case mask == 0:
			delete(topics, topic)
		case topics == nil:
			topics = map[string]int32{topic: mask}
		default:
			topics[topic] = mask
		}
		d.setMasks(group, topics)
		d.bump()
		return nil
	})
}
