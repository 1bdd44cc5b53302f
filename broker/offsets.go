package broker

import (
	"cmp"
	"context"
	"errors"
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

const (
	// maxOffsetBytes bounds, about, what offsets take in memory. Beyond it those that there are may change, but no queue gets one
	// that has none: groups may have offsets of any topic, and of queues that it does not have.
	maxOffsetBytes = 1 << 30
	// pairBytes and queueBytes are what a group's offsets of a topic take, about, beside its key, and what a queue takes.
	pairBytes, queueBytes = 450, 16
)

var (
	// errManyQueues refuses offsets of more queues than a topic can have.
	errManyQueues = fmt.Errorf("a consumer group has offsets of %d queues of a topic at most", maxQueueNums)
	// errManyOffsets refuses offsets for which there is no room.
	errManyOffsets = fmt.Errorf("consumer offsets take %d bytes already", maxOffsetBytes)
)

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
	log      zerolog.Logger

	mu      sync.RWMutex
	byTopic map[string]map[string]*groupOffsets // by topic and group; guarded by mu
	byGroup map[string]map[string]*groupOffsets // the same by group and topic; guarded by mu
	odd     []protocol.OddEntry                 // cannot be used, ascending by name; guarded by mu
	ordered []*groupOffsets                     // all, ascending by key; nil: not made since one was added or removed; guarded by mu
	renewed int                                 // how often one was added or removed; guarded by mu

	versionMu sync.Mutex
	version   protocol.DataVersion // guarded by versionMu

	size atomic.Int64 // about the bytes that all offsets take
	most int64        // maxOffsetBytes
	full edge         // something was refused, and nothing has been removed since

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

// set puts the offset of a queue in place of another, which it returns, and tells whether that makes a difference. more is
// asked for the room of one that was not there.
func (g *groupOffsets) set(queueID int32, offset int64, more func(bytes int) error) (before int64, changed bool, err error) {
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
	if err := more(queueBytes); err != nil {
		return noOffset, false, err
	}
	g.queues = slices.Insert(g.queues, i, protocol.QueueOffset{QueueID: queueID, Offset: offset})
	return noOffset, true, nil
}

// size is about the bytes that the offsets take. The caller holds offsetTable.mu, or is the only one.
func (g *groupOffsets) size() int { return pairBytes + len(g.key) + queueBytes*len(g.queues) }

// appendTo appends the offsets of one moment.
func (g *groupOffsets) appendTo(dst []protocol.QueueOffset) []protocol.QueueOffset {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append(dst, g.queues...)
}

// openOffsets reads consumerOffset.json, and writes it if it was damaged.
func openOffsets(opts offsetOptions) (*offsetTable, error) {
	t := &offsetTable{
		settings: opts.Settings, now: opts.Now, log: opts.Log, most: maxOffsetBytes,
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
	for _, g := range content.Offsets {
		topic, group, _ := protocol.CutOffsetsKey(g.Key)
		t.add(topic, group, g.Queues)
	}
	t.odd = content.Odd // no name is in both
	t.version, _ = stored.version(content.DataVersion, false, t.now().UnixMilli())
	return new(savedOffsets), stored.recovered
}

// add puts in the offsets of a group in the queues of a topic, in place of any that it has. The caller holds mu, or is the only
// one, and has looked for room.
func (t *offsetTable) add(topic, group string, queues []protocol.QueueOffset) *groupOffsets {
	key := protocol.OffsetsKey(topic, group)
	topic, group = key[:len(topic)], key[len(topic)+1:] // they may be parts of a request
	g := &groupOffsets{key: key, queues: queues}
	if old := t.byTopic[topic][group]; old != nil {
		t.size.Add(-int64(old.size()))
	}
	t.size.Add(int64(g.size()))
	putNested(t.byTopic, topic, group, g)
	putNested(t.byGroup, group, topic, g)
	t.renew()
	t.odd = withoutTouched(t.odd, map[string]bool{key: true})
	return g
}

// renew notes that a group's offsets of a topic have been added or removed. The caller holds mu, or is the only one.
func (t *offsetTable) renew() {
	t.ordered = nil
	t.renewed++
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
// wait. Its error is returned, and nothing is noted then. It may be asked twice.
func (t *offsetTable) commit(topic, group string, queueID int32, offset int64, allowed func() error) (before int64, err error) {
	t.mu.RLock()
	unlock := t.mu.RUnlock
	err = allowed()
	g := t.byTopic[topic][group]
	if err == nil && g == nil {
		t.mu.RUnlock()
		t.mu.Lock()
		unlock = t.mu.Unlock
		if err = allowed(); err == nil { // it may be no longer
			g, err = t.findOrAdd(topic, group)
		}
	}
	changed := false
	if err == nil {
		before, changed, err = g.set(queueID, offset, t.more)
	}
	unlock()
	if changed {
		t.changed()
	}
	t.logRefusal(err)
	return before, err
}

// findOrAdd returns the place of the offsets of a group in a topic, and makes it if there is none. The caller holds mu.
func (t *offsetTable) findOrAdd(topic, group string) (*groupOffsets, error) {
	if g := t.byTopic[topic][group]; g != nil {
		return g, nil
	}
	if err := t.room(pairBytes + len(protocol.OffsetsKey(topic, group)) + queueBytes); err != nil {
		return nil, err
	}
	return t.add(topic, group, nil), nil
}

// room returns errManyOffsets if there is none for more bytes.
func (t *offsetTable) room(bytes int) error {
	if t.size.Load()+int64(bytes) > t.most {
		return errManyOffsets
	}
	return nil
}

// logRefusal logs that there is no room, if that is why err refuses something, once until something has been removed.
func (t *offsetTable) logRefusal(err error) {
	if errors.Is(err, errManyOffsets) && t.full.rises(true) {
		t.log.Error().Int64("bytes", t.most).Msg("no room for more consumer offsets: groups get none of topics and queues of which they have none")
	}
}

// more takes bytes of the room.
func (t *offsetTable) more(bytes int) error {
	if err := t.room(bytes); err != nil {
		return err
	}
	t.size.Add(int64(bytes))
	return nil
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

// removeTopics removes the offsets of all groups in these topics. They are gone from the disk as well when it returns nil; on
// an error they are gone only from memory, and from the disk with the next save that succeeds. So it is with removeGroup.
func (t *offsetTable) removeTopics(topics []string) error {
	return t.remove(func(e protocol.OddEntry) bool {
		topic, _, _ := strings.Cut(e.Name, "@")
		return slices.Contains(topics, topic)
	}, func() (removed bool) {
		for _, topic := range topics {
			for group, g := range t.byTopic[topic] {
				t.size.Add(-int64(g.size()))
				removeNested(t.byGroup, group, topic)
				removed = true
			}
			delete(t.byTopic, topic)
		}
		return removed
	})
}

// removeGroup removes the offsets of a group in all topics.
func (t *offsetTable) removeGroup(group string) error {
	return t.remove(func(e protocol.OddEntry) bool {
		_, g, _ := strings.Cut(e.Name, "@")
		return g == group
	}, func() (removed bool) {
		for topic, g := range t.byGroup[group] {
			t.size.Add(-int64(g.size()))
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
	if removed {
		t.renew()
	}
	t.mu.Unlock()
	if removed {
		t.full.rises(false)
		t.mustSave()
	}
	return t.saveNeeded()
}

// clone gives a group the offsets that another one has of these topics, in place of its own there. Topics without offsets are
// passed over. All are copied or, on errManyOffsets, none; they are on disk when it returns nil.
func (t *offsetTable) clone(from, to string, topics []string) error {
	cloned, err := t.cloneInMemory(from, to, topics)
	if err != nil {
		t.logRefusal(err)
		return err
	}
	if cloned {
		t.mustSave()
	}
	return t.saveNeeded()
}

func (t *offsetTable) cloneInMemory(from, to string, topics []string) (cloned bool, err error) {
	if from == to {
		return false, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	more := 0
	for _, topic := range topics {
		if g := t.byTopic[topic][from]; g != nil {
			more += g.size()
		}
	}
	if more == 0 {
		return false, nil
	}
	if err := t.room(more); err != nil {
		return false, err
	}
	for _, topic := range topics {
		if g := t.byTopic[topic][from]; g != nil {
			t.add(topic, to, g.appendTo(nil))
		}
	}
	return true, nil
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

// saveLoop saves over and over until ctx ends. A new interval counts within a second.
func (t *offsetTable) saveLoop(ctx context.Context) error {
	last, interval := time.Now(), firstOffsetsSave
	wait := time.NewTimer(interval)
	defer wait.Stop()
	for {
		select {
		case <-wait.C:
			if time.Since(last) >= interval {
				_ = t.save() // it logs, and all is tried again
				last = time.Now()
			}
			interval = t.settings().FlushInterval
			wait.Reset(min(interval-time.Since(last), time.Second))
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

	var list []*groupOffsets
	list, all.Odd = t.all()
	all.Offsets = make([]protocol.GroupOffsets, len(list))
	var queues []protocol.QueueOffset // of all: far fewer allocations
	for i, g := range list {
		from := len(queues)
		queues = g.appendTo(queues)
		all.Offsets[i] = protocol.GroupOffsets{Key: g.key, Queues: queues[from:len(queues):len(queues)]}
	}
	return all
}

// all returns the offsets of all groups in all topics, ascending by key, and the entries that cannot be used, of one moment.
// Putting them in order takes most of the time that a save takes, and they stay what they are for long: the order is kept.
func (t *offsetTable) all() ([]*groupOffsets, []protocol.OddEntry) {
	t.mu.RLock()
	ordered, odd, renewed := t.ordered, t.odd, t.renewed
	if ordered != nil {
		t.mu.RUnlock()
		return ordered, odd
	}
	list := make([]*groupOffsets, 0, 2*len(t.byTopic))
	for _, groups := range t.byTopic {
		for _, g := range groups {
			list = append(list, g)
		}
	}
	t.mu.RUnlock()
	slices.SortFunc(list, func(a, b *groupOffsets) int { return strings.Compare(a.key, b.key) })
	t.mu.Lock()
	if t.renewed == renewed {
		t.ordered = list
	}
	t.mu.Unlock()
	return list, odd
}

// content returns the content of consumerOffset.json.
func (t *offsetTable) content() []byte {
	all := t.snapshot()
	size := 256
	for _, g := range all.Offsets {
		const perKey, perQueue = 24, 24 // bytes of ordinary ones; the topic and maybe the group stand there twice
		size += 2*len(g.Key) + perKey + perQueue*len(g.Queues)
	}
	return protocol.AppendPretty(make([]byte, 0, size), all)
}
