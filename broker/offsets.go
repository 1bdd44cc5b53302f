package broker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/protocol"
)

// firstOffsetsSave is how long after the start offsets are saved for the first time.
const firstOffsetsSave = 10 * time.Second

// noOffset is what is known of a queue that nothing is known of.
const noOffset = -1

// errManyQueues refuses offsets of more queues than a topic can have.
var errManyQueues = fmt.Errorf("a consumer group has offsets of %d queues of a topic at most", maxQueueNums)

// offsetSettings are the settings that offsets depend on.
type offsetSettings struct {
	FlushInterval time.Duration
	VersionStep   int64 // so many changes make a new data version
}

// offsetOptions are what an offsetTable needs.
type offsetOptions struct {
	Dir      string // the folder config/
	Settings func() offsetSettings
	Now      func() time.Time // nil: time.Now
	Log      zerolog.Logger
}

// offsetTable is how far consumer groups have come in the queues of topics, kept in consumerOffset.json.
// Source: spec/messaging.md §3.
//
// Commits change memory only: there may be many thousands in a second, each of them outdated by the next. They are saved
// every flushConsumerOffsetInterval and at the end. What a crash loses are the commits of that time; their messages are
// then consumed once more. What is removed or copied is on disk when it is answered.
type offsetTable struct {
	file     *configFile[savedOffsets, *savedOffsets]
	settings func() offsetSettings
	now      func() time.Time

	mu      sync.RWMutex
	byTopic map[string]map[string]*groupOffsets // by topic and group; guarded by mu
	byGroup map[string]map[string]*groupOffsets // the same by group and topic; guarded by mu
	odd     []protocol.OddEntry                 // cannot be used, ascending by name; guarded by mu

	versionMu sync.Mutex
	version   protocol.DataVersion // guarded by versionMu

	changes atomic.Int64 // since the start
	needed  atomic.Int64 // so many changes of them must not be lost
}

// savedOffsets is what is known of the file.
type savedOffsets struct {
	changes int64 // the file has these and maybe more
}

// groupOffsets are the offsets of one group in the queues of one topic.
type groupOffsets struct {
	key string // topic@group

	mu     sync.Mutex
	queues []protocol.QueueOffset // ascending by queue; guarded by mu
}

func compareQueueID(q protocol.QueueOffset, id int32) int { return cmp.Compare(q.QueueID, id) }

// get returns the offset of a queue, or noOffset.
func (g *groupOffsets) get(queueID int32) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i, ok := slices.BinarySearchFunc(g.queues, queueID, compareQueueID); ok {
		return g.queues[i].Offset
	}
	return noOffset
}

// set puts the offset of a queue in place of another, which it returns, and tells whether that makes a difference.
func (g *groupOffsets) set(queueID int32, offset int64) (before int64, changed bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i, ok := slices.BinarySearchFunc(g.queues, queueID, compareQueueID)
	if ok {
		before = g.queues[i].Offset
		g.queues[i].Offset = offset
		return before, before != offset, nil
	}
	if len(g.queues) >= maxQueueNums {
		return noOffset, false, errManyQueues
	}
	g.queues = slices.Insert(g.queues, i, protocol.QueueOffset{QueueID: queueID, Offset: offset})
	return noOffset, true, nil
}

// snapshot returns a copy of the offsets.
func (g *groupOffsets) snapshot() []protocol.QueueOffset {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.queues)
}

// openOffsets reads consumerOffset.json, and writes it if it was damaged.
func openOffsets(opts offsetOptions) (*offsetTable, error) {
	t := &offsetTable{
		settings: opts.Settings, now: opts.Now,
		byTopic: map[string]map[string]*groupOffsets{}, byGroup: map[string]map[string]*groupOffsets{},
	}
	if t.now == nil {
		t.now = time.Now
	}
	t.file = &configFile[savedOffsets, *savedOffsets]{
		log:       opts.Log,
		begin:     func(from *savedOffsets) *savedOffsets { return from },
		finish:    t.unsaved,
		encode:    func(*savedOffsets) []byte { return t.content() },
		committed: func(*savedOffsets) {},
	}
	if err := openConfigFile(t.file, filepath.Join(opts.Dir, "consumerOffset.json"), t.decode, t.loaded); err != nil {
		return nil, fmt.Errorf("consumer offsets: %w", err)
	}
	return t, nil
}

func (t *offsetTable) decode(data []byte) (protocol.ConsumerOffsets, error) {
	return protocol.DecodeConsumerOffsets(data, t.now().UnixMilli())
}

// loaded takes over what was stored, and tells whether it has to be written.
func (t *offsetTable) loaded(stored storedFile[protocol.ConsumerOffsets], log zerolog.Logger) (state *savedOffsets, write bool) {
	content := &stored.content
	warnUnknown(content.Unknown, log)
	sortOdd(content.Odd)
	logOdd(content.Odd, log, "topicAtGroup", "offsets cannot be used: their entry is kept in the file, and the group has none until it commits some")
	t.odd = content.Odd
	for _, g := range content.Offsets {
		topic, group, _ := protocol.CutOffsetsKey(g.Key)
		t.add(topic, group).queues = g.Queues
	}
	t.version, _ = stored.version(content.DataVersion, false, t.now().UnixMilli())
	return new(savedOffsets), stored.recovered
}

// add makes a place for the offsets of a group in a topic. The caller holds mu, or is the only one.
func (t *offsetTable) add(topic, group string) *groupOffsets {
	key := protocol.OffsetsKey(topic, group)
	topic, group = key[:len(topic)], key[len(topic)+1:] // they may be parts of a request
	g := &groupOffsets{key: key}
	putNested(t.byTopic, topic, group, g)
	putNested(t.byGroup, group, topic, g)
	if isLeft(t.odd, map[string]bool(nil), key) {
		t.odd = withoutTouched(t.odd, map[string]bool{key: true})
	}
	return g
}

func putNested[V any](table map[string]map[string]V, outer, inner string, v V) {
	if table[outer] == nil {
		table[outer] = make(map[string]V, 1)
	}
	table[outer][inner] = v
}

func removeNested[V any](table map[string]map[string]V, outer, inner string) {
	delete(table[outer], inner)
	if len(table[outer]) == 0 {
		delete(table, outer)
	}
}

// commit notes how far a group has come in a queue: the offset of the message to come next, whatever was there before. It
// returns what that was, or noOffset.
//
// allowed is asked while nothing can be removed, so that no offset outlives the removal of what it asks for; it must not
// wait. Its error is returned, and nothing is noted then.
func (t *offsetTable) commit(topic, group string, queueID int32, offset int64, allowed func() error) (before int64, err error) {
	t.mu.RLock()
	unlock := t.mu.RUnlock
	g := t.byTopic[topic][group]
	if g == nil {
		t.mu.RUnlock()
		t.mu.Lock()
		unlock = t.mu.Unlock
		g = t.byTopic[topic][group]
	}
	changed := false
	if err = allowed(); err == nil {
		if g == nil {
			g = t.add(topic, group)
		}
		before, changed, err = g.set(queueID, offset)
	}
	unlock()
	if changed {
		t.changed()
	}
	return before, err
}

// changed counts a change, and makes a new data version when it is time.
func (t *offsetTable) changed() int64 {
	n := t.changes.Add(1)
	if n%max(t.settings().VersionStep, 1) == 0 {
		t.versionMu.Lock()
		t.version = bumped(t.version, t.now().UnixMilli())
		t.versionMu.Unlock()
	}
	return n
}

// query returns how far a group has come in a queue: the offset of the message to come next. It is below 0 if that is not
// known.
func (t *offsetTable) query(topic, group string, queueID int32) int64 {
	t.mu.RLock()
	g := t.byTopic[topic][group]
	t.mu.RUnlock()
	if g == nil {
		return noOffset
	}
	return g.get(queueID)
}

// groupsOf returns the groups that have offsets of a topic, in any order.
func (t *offsetTable) groupsOf(topic string) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Collect(maps.Keys(t.byTopic[topic]))
}

// topicsOf returns the topics that a group has offsets of, in any order.
func (t *offsetTable) topicsOf(group string) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Collect(maps.Keys(t.byGroup[group]))
}

// removeTopics removes the offsets of all groups in these topics. They are gone from the disk as well when it returns nil.
func (t *offsetTable) removeTopics(topics []string) error {
	return t.remove(func(e protocol.OddEntry) bool {
		topic, _, _ := strings.Cut(e.Name, "@")
		return slices.Contains(topics, topic)
	}, func() (removed bool) {
		for _, topic := range topics {
			for group := range t.byTopic[topic] {
				removeNested(t.byGroup, group, topic)
				removed = true
			}
			delete(t.byTopic, topic)
		}
		return removed
	})
}

// removeGroup removes the offsets of a group in all topics. They are gone from the disk as well when it returns nil.
func (t *offsetTable) removeGroup(group string) error {
	return t.remove(func(e protocol.OddEntry) bool {
		_, g, _ := strings.Cut(e.Name, "@")
		return g == group
	}, func() (removed bool) {
		for topic := range t.byGroup[group] {
			removeNested(t.byTopic, topic, group)
			removed = true
		}
		delete(t.byGroup, group)
		return removed
	})
}

// remove removes odd entries and, by from, which has mu, others.
func (t *offsetTable) remove(isOdd func(protocol.OddEntry) bool, from func() bool) error {
	t.mu.Lock()
	removed := from()
	if slices.ContainsFunc(t.odd, isOdd) {
		t.odd = slices.DeleteFunc(slices.Clone(t.odd), isOdd)
		removed = true
	}
	t.mu.Unlock()
	if removed {
		t.mustSave()
	}
	return t.saveNeeded()
}

// clone gives a group the offsets that another one has of these topics, in place of its own there. Topics without offsets are
// passed over. The offsets are on disk when it returns nil.
func (t *offsetTable) clone(from, to string, topics []string) error {
	cloned := false
	t.mu.Lock()
	for _, topic := range topics {
		g := t.byTopic[topic][from]
		if g == nil || from == to {
			continue
		}
		queues := g.snapshot()
		t.add(topic, to).queues = queues // nobody else knows it
		cloned = true
	}
	t.mu.Unlock()
	if cloned {
		t.mustSave()
	}
	return t.saveNeeded()
}

// mustSave counts a change that must not be lost.
func (t *offsetTable) mustSave() {
	n := t.changed()
	for {
		before := t.needed.Load()
		if before >= n || t.needed.CompareAndSwap(before, n) {
			return
		}
	}
}

// saveNeeded saves if there are changes that must not be lost: also those that an earlier call failed to save.
func (t *offsetTable) saveNeeded() error {
	if t.file.load().changes >= t.needed.Load() {
		return nil
	}
	return t.save()
}

// save writes what has been committed, if anything has changed.
func (t *offsetTable) save() error {
	return t.file.commit(func(*savedOffsets) error { return nil })
}

// unsaved returns what the file will have when it is written now, which is saved itself if it has all that.
func (t *offsetTable) unsaved(saved *savedOffsets) *savedOffsets {
	if n := t.changes.Load(); n > saved.changes {
		return &savedOffsets{changes: n}
	}
	return saved
}

// saveLoop saves over and over until ctx ends.
func (t *offsetTable) saveLoop(ctx context.Context) error {
	wait := time.NewTimer(firstOffsetsSave)
	defer wait.Stop()
	for {
		select {
		case <-wait.C:
			_ = t.save() // it logs, and all is tried again
			wait.Reset(t.settings().FlushInterval)
		case <-ctx.Done():
			return nil
		}
	}
}

// snapshot returns the version and all offsets, ascending by their key, and the entries that cannot be used. Each group's
// offsets of a topic are those of one moment.
func (t *offsetTable) snapshot() *protocol.ConsumerOffsets {
	t.versionMu.Lock()
	all := &protocol.ConsumerOffsets{DataVersion: t.version}
	t.versionMu.Unlock()

	t.mu.RLock()
	all.Odd = t.odd
	var list []*groupOffsets
	for _, groups := range t.byTopic {
		for _, g := range groups {
			list = append(list, g)
		}
	}
	t.mu.RUnlock()

	slices.SortFunc(list, func(a, b *groupOffsets) int { return strings.Compare(a.key, b.key) })
	all.Offsets = make([]protocol.GroupOffsets, len(list))
	for i, g := range list {
		all.Offsets[i] = protocol.GroupOffsets{Key: g.key, Queues: g.snapshot()}
	}
	return all
}

// content returns the content of consumerOffset.json.
func (t *offsetTable) content() []byte { return protocol.AppendPretty(nil, t.snapshot()) }
