package broker

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
)

// testTopics is a table with settings that may change, and a record of what it reported.
type testTopics struct {
	*topicTable
	t        *testing.T
	dir      string
	settings topicSettings
	told     []string
}

func newTestTopics(t *testing.T) *testTopics {
	t.Helper()
	tt := &testTopics{t: t, dir: t.TempDir(), settings: goldenTopicSettings}
	tt.open()
	return tt
}

// open opens the table, anew if it was open.
func (tt *testTopics) open() {
	tt.t.Helper()
	opts := topicOptionsIn(tt.dir)
	opts.Settings = func() topicSettings { return tt.settings }
	opts.Changed = func(names []string) { tt.told = append(tt.told, names...) }
	var err error
	tt.topicTable, err = openTopics(opts)
	require.NoError(tt.t, err)
}

func (tt *testTopics) counter() int64 {
	_, version := tt.snapshot()
	return version.Counter
}

// step makes a change and checks by how much the counter goes up, and what NameServers are told at once.
func (tt *testTopics) step(bumps int64, told []string, change func() error) {
	tt.t.Helper()
	before := tt.counter()
	tt.told = nil
	require.NoError(tt.t, change())
	require.Equal(tt.t, bumps, tt.counter()-before)
	require.Equal(tt.t, told, tt.told)
	requireOnDisk(tt.t, tt.topicTable)
}

// refused makes a change that must fail and leave everything as it is.
func (tt *testTopics) refused(change func() error) error {
	tt.t.Helper()
	topics, version := tt.snapshot()
	tt.told = nil
	err := change()
	require.Error(tt.t, err)
	topicsAfter, versionAfter := tt.snapshot()
	require.Equal(tt.t, version, versionAfter)
	require.Equal(tt.t, topics, topicsAfter)
	require.Empty(tt.t, tt.told)
	requireOnDisk(tt.t, tt.topicTable)
	return err
}

func (tt *testTopics) topic(name string) protocol.TopicConfig {
	tt.t.Helper()
	topic, ok := tt.get(name)
	require.True(tt.t, ok, name)
	return *topic
}

func TestUpdateTopic(t *testing.T) {
	tt := newTestTopics(t)
	orders := *newTopic("Orders", 4, 6, 0, false)
	orders.ReadQueueNums, orders.Order, orders.TopicFilterType = 8, true, protocol.FilterMultiTag
	tt.step(1, []string{"Orders"}, func() error { return tt.update(orders, "+message.type=FIFO") })
	want := orders
	want.Attributes = map[string]string{"message.type": "FIFO"}
	require.Equal(t, want, tt.topic("Orders"))

	tt.step(0, nil, func() error { return tt.update(orders, "") })
	tt.step(0, nil, func() error { return tt.update(orders, "+message.type=FIFO") })
	orders.Perm = 4
	tt.step(1, []string{"Orders"}, func() error { return tt.update(orders, "") })
	require.Equal(t, map[string]string{"message.type": "FIFO"}, tt.topic("Orders").Attributes, "without attributes the old ones stay")
	tt.step(1, []string{"Orders"}, func() error { return tt.update(orders, "-message.type") })
	require.Empty(t, tt.topic("Orders").Attributes)

	tt.open()
	orders.Attributes = nil
	require.Equal(t, orders, tt.topic("Orders"))
}

func TestUpdateTopicRefused(t *testing.T) {
	tt := newTestTopics(t)
	require.NoError(t, tt.update(*newTopic("Orders", 4, 6, 0, false), "+queue.type=SimpleCQ"))
	for _, test := range []struct {
		topic      *protocol.TopicConfig
		attributes string
		remark     string
		code       protocol.ResponseCode
	}{
		{newTopic("", 4, 6, 0, false), "", "The specified topic is blank.", 29},
		{newTopic("a.b", 4, 6, 0, false), "", "The specified topic: a.b, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$", 29},
		{newTopic("TBW102", 4, 6, 0, false), "", "The topic[TBW102] is conflict with system topic.", 29},
		{newTopic("GoldenCluster", 4, 6, 0, false), "", "The topic[GoldenCluster] is conflict with system topic.", 29},
		{newTopic("rmq_sys_mine", 4, 6, 0, false), "", "The topic[rmq_sys_mine] is conflict with system topic.", 29},
		{newTopic("Orders", 4, 8, 0, false), "", "The perm of topic[Orders] is 8, allowing only 0 to 7", 29},
		{newTopic("Orders", 4, -1, 0, false), "", "The perm of topic[Orders] is -1, allowing only 0 to 7", 29},
		{newTopic("Orders", -4, 6, 0, false), "", "The readQueueNums of topic[Orders] is -4, allowing only 0 to 65536", 29},
		{newTopic("Orders", 2147483647, 6, 0, false), "", "The readQueueNums of topic[Orders] is 2147483647, allowing only 0 to 65536", 29},
		{newTopic("New", 4, 6, 0, false), "+message.type=MIXED", "MIXED message type is not supported.", 29},
		{newTopic("New", 4, 6, 0, false), "+queue.length=3", "unsupported key: queue.length", 1},
		{newTopic("New", 4, 6, 0, false), "message.type=FIFO", "add/alter attribute format is wrong: message.type", 1},
		{newTopic("Orders", 8, 6, 0, false), "+queue.type=BatchCQ", "attempt to update an unchangeable attribute. key: queue.type", 1},
	} {
		err := tt.refused(func() error { return tt.update(*test.topic, test.attributes) })
		if test.code == protocol.RespInvalidParameter {
			requireInvalid(t, test.remark, err)
		} else {
			require.EqualError(t, err, test.remark)
		}
	}
	tt.settings.EnableMixedMessageType = true
	tt.settings.ValidateSystemTopicWhenUpdateTopic = false
	tt.step(1, []string{"New"}, func() error { return tt.update(*newTopic("New", 4, 6, 0, false), "+message.type=MIXED") })
	tt.step(1, []string{"SELF_TEST_TOPIC"}, func() error { return tt.update(*newTopic("SELF_TEST_TOPIC", 2, 6, 0, false), "") })
	tt.open()
	require.EqualValues(t, 2, tt.topic("SELF_TEST_TOPIC").WriteQueueNums, "stored values win over built-in ones")
}

func TestUpdateTopicList(t *testing.T) {
	tt := newTestTopics(t)
	list := []protocol.TopicConfig{*newTopic("A", 4, 6, 0, false), *newTopic("B", 4, 6, 0, false), *newTopic("C", 4, 6, 0, false)}
	list[1].Attributes = map[string]string{"+message.type": "FIFO"}
	tt.step(3, []string{"A", "B", "C"}, func() error { return tt.updateList(list) })
	require.Equal(t, map[string]string{"message.type": "FIFO"}, tt.topic("B").Attributes)
	tt.step(0, nil, func() error { return tt.updateList(list) })
	tt.step(0, nil, func() error { return tt.updateList(nil) })

	// An entry that is as before is skipped, and only that one.
	list[2].Perm = 4
	tt.step(2, []string{"C", "D"}, func() error { return tt.updateList(append(list, *newTopic("D", 1, 6, 0, false))) })

	// One bad entry anywhere, and nothing happens.
	for _, bad := range []protocol.TopicConfig{
		*newTopic("a.b", 1, 6, 0, false), *newTopic("TBW102", 1, 6, 0, false), *newTopic("X", 1, 9, 0, false), *newTopic("X", -1, 6, 0, false),
		{TopicName: "X", Perm: 6, Attributes: map[string]string{"message.type": "FIFO"}},
		{TopicName: "X", Perm: 6, Attributes: map[string]string{"+message.type": "fifo"}},
		{TopicName: "X", Perm: 6, Attributes: map[string]string{"+message.type": "MIXED"}},
		{TopicName: "B", Perm: 6, Attributes: map[string]string{"-queue.type": ""}},
	} {
		for at := range 3 {
			changed := []protocol.TopicConfig{*newTopic("E", 1, 6, 0, false), *newTopic("A", 9, 6, 0, false)}
			_ = tt.refused(func() error { return tt.updateList(slices.Insert(changed, at, bad)) })
		}
	}

	// The same name twice: one after the other.
	twice := []protocol.TopicConfig{*newTopic("F", 1, 6, 0, false), *newTopic("F", 2, 6, 0, false)}
	twice[1].Attributes = map[string]string{"+queue.type": "BatchCQ"}
	_ = tt.refused(func() error { return tt.updateList(twice) })
	twice[1].Attributes = nil
	tt.step(2, []string{"F"}, func() error { return tt.updateList(twice) })
	require.EqualValues(t, 2, tt.topic("F").WriteQueueNums)
}

func TestDeleteTopic(t *testing.T) {
	tt := newTestTopics(t)
	for _, name := range []string{"A", "%RETRY%G_A", "%RETRY%H+A", "%RETRY%G"} {
		_, err := tt.createIfAbsent(name, 1, 6, 0)
		require.NoError(t, err)
	}
	requireInvalid(t, "The specified topic is blank.", tt.refused(func() error { _, err := tt.delete(" ", nil); return err }))
	requireInvalid(t, "The topic[TBW102] is conflict with system topic.",
		tt.refused(func() error { _, err := tt.delete("TBW102", nil); return err }))
	tt.step(0, nil, func() error {
		removed, err := tt.delete("Unknown", popRetryTopics("Unknown", "G"))
		require.Equal(t, []string{"Unknown"}, removed)
		return err
	})
	tt.step(3, nil, func() error {
		removed, err := tt.delete("A", []string{"%RETRY%G_A", "%RETRY%G+A", "%RETRY%H_A", "%RETRY%H+A", "%RETRY%I_A"})
		require.Equal(t, []string{"A", "%RETRY%G_A", "%RETRY%H+A"}, removed)
		return err
	})
	for _, name := range []string{"A", "%RETRY%G_A", "%RETRY%H+A"} {
		_, ok := tt.get(name)
		require.False(t, ok)
	}
	tt.topic("%RETRY%G")
	require.NoError(t, tt.update(*newTopic("A", 1, 6, 0, false), ""))
	_, err := tt.createIfAbsent("%RETRY%G_A", 1, 6, 0)
	require.NoError(t, err)
	tt.step(1, nil, func() error { _, err := tt.delete("A", nil); return err })
	tt.topic("%RETRY%G_A")

	tt.open()
	_, ok := tt.get("A")
	require.False(t, ok)
}

func TestCreateOnSend(t *testing.T) {
	create := func(tt *testTopics, name, model string, queues int32, unit bool) func() error {
		return func() error { _, err := tt.createOnSend(name, model, queues, unit); return err }
	}
	t.Run("as many queues as both sides want", func(t *testing.T) {
		tt := newTestTopics(t)
		for i, test := range []struct{ client, want int32 }{{4, 4}, {8, 8}, {9, 8}, {0, 0}, {-3, 0}, {2147483647, 8}} {
			name := fmt.Sprint("T", i)
			tt.step(1, []string{name}, create(tt, name, "TBW102", test.client, false))
			require.Equal(t, *newTopic(name, test.want, 6, 0, false), tt.topic(name))
		}
	})
	t.Run("inherits perm without INHERIT, and the filter type", func(t *testing.T) {
		tt := newTestTopics(t)
		model := *newTopic("Model", 3, 5, 2, true)
		model.TopicFilterType = protocol.FilterMultiTag
		require.NoError(t, tt.update(model, "+message.type=FIFO"))
		tt.step(1, []string{"T"}, create(tt, "T", "Model", 16, true))
		want := *newTopic("T", 3, 4, 1, false)
		want.TopicFilterType = protocol.FilterMultiTag
		require.Equal(t, want, tt.topic("T"))
	})
	t.Run("an existing topic is returned", func(t *testing.T) {
		tt := newTestTopics(t)
		topic, err := tt.createOnSend("SELF_TEST_TOPIC", "nothing", 4, false)
		require.NoError(t, err)
		require.Equal(t, "SELF_TEST_TOPIC", topic.TopicName)
	})
	t.Run("no such model, or one that does not hand down", func(t *testing.T) {
		tt := newTestTopics(t)
		for _, model := range []string{"", "nothing", "BenchmarkTest"} {
			tt.step(0, nil, func() error {
				topic, err := tt.createOnSend("T", model, 4, false)
				require.Nil(t, topic)
				return err
			})
		}
	})
	t.Run("a name that is none", func(t *testing.T) {
		tt := newTestTopics(t)
		requireInvalid(t, "The specified topic: a b, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$",
			tt.refused(create(tt, "a b", "TBW102", 4, false)))
	})
	t.Run("no auto-creation", func(t *testing.T) {
		tt := newTestTopics(t)
		tt.settings.AutoCreateTopicEnable = false
		tt.open() // TBW102 is in the file
		require.EqualValues(t, 7, tt.topic("TBW102").Perm)
		tt.step(1, []string{"TBW102"}, create(tt, "T", "TBW102", 4, false))
		require.EqualValues(t, 6, tt.topic("TBW102").Perm)
		tt.step(0, nil, create(tt, "T", "TBW102", 4, false))
		_, ok := tt.get("T")
		require.False(t, ok)
		tt.step(1, []string{"T"}, create(tt, "T", "GoldenCluster", 4, false)) // others may still hand down
	})
	t.Run("retry topics need no model", func(t *testing.T) {
		tt := newTestTopics(t)
		tt.step(1, []string{"%RETRY%G"}, create(tt, "%RETRY%G", "nothing", 4, true))
		require.Equal(t, *newTopic("%RETRY%G", 1, 6, 2, false), tt.topic("%RETRY%G"))
		tt.step(1, []string{"%RETRY%H"}, create(tt, "%RETRY%H", "TBW102", 4, false))
		require.Equal(t, *newTopic("%RETRY%H", 4, 6, 0, false), tt.topic("%RETRY%H"), "but take one")
	})
	t.Run("at once", func(t *testing.T) {
		tt := newTestTopics(t)
		before := tt.counter()
		var wg sync.WaitGroup
		topics := make([]*protocol.TopicConfig, 50)
		for i := range topics {
			wg.Go(func() { topics[i], _ = tt.createOnSend("T", "TBW102", int32(i%8+1), false) })
		}
		wg.Wait()
		require.EqualValues(t, 1, tt.counter()-before)
		for _, topic := range topics {
			require.Same(t, topics[0], topic)
		}
	})
	t.Run("no more than there is room for", func(t *testing.T) {
		tt := newTestTopics(t)
		var log bytes.Buffer
		tt.topicTable.log = zerolog.New(&log)
		topics, _ := tt.snapshot()
		tt.most = len(topics) + 1
		tt.step(1, []string{"T"}, create(tt, "T", "TBW102", 4, false))
		for _, name := range []string{"U", "%RETRY%U"} {
			tt.step(0, nil, func() error {
				topic, err := tt.createOnSend(name, "TBW102", 4, false)
				require.Nil(t, topic)
				return err
			})
		}
		tt.step(0, nil, create(tt, "T", "TBW102", 4, false))
		tt.step(1, []string{"ByTool"}, func() error { return tt.update(*newTopic("ByTool", 1, 6, 0, false), "") })
		tt.step(1, []string{"%RETRY%G"}, func() error {
			_, err := tt.ensureRetryTopics([]retryTopic{{group: "G", queues: 1}})
			return err
		})
		require.Equal(t, 1, strings.Count(log.String(), "too many topics"))
		for _, name := range []string{"T", "ByTool", "%RETRY%G"} {
			_, err := tt.delete(name, nil)
			require.NoError(t, err)
		}
		tt.step(1, []string{"U"}, create(tt, "U", "TBW102", 4, false))
	})
	t.Run("not on disk, not made", func(t *testing.T) {
		tt := newTestTopics(t)
		errDisk := errors.New("disk full")
		tt.file.write = func([]byte) error { return errDisk }
		err := tt.refused(func() error {
			topic, err := tt.createOnSend("T", "TBW102", 4, false)
			require.Nil(t, topic)
			return err
		})
		require.ErrorIs(t, err, errDisk)
	})
}

// ensureRetryTopic is ensureRetryTopics for one, which it returns.
func (t *topicTable) ensureRetryTopic(group string, queues int32, unitMode, order bool) (*protocol.TopicConfig, error) {
	refused, err := t.ensureRetryTopics([]retryTopic{{group, queues, unitMode, order}})
	if err != nil || len(refused) > 0 {
		return nil, errors.Join(append(refused, err)...)
	}
	topic, _ := t.get(retryTopicPrefix + group)
	return topic, nil
}

func TestEnsureTopics(t *testing.T) {
	tt := newTestTopics(t)
	ensure := func(group string, queues int32, unit, order bool) func() error {
		return func() error {
			topic, err := tt.ensureRetryTopic(group, queues, unit, order)
			if err == nil {
				require.Equal(t, order, topic.Order)
			}
			return err
		}
	}
	tt.step(1, []string{"%RETRY%G"}, ensure("G", 3, true, false))
	require.Equal(t, *newTopic("%RETRY%G", 3, 6, 2, false), tt.topic("%RETRY%G"))
	tt.step(0, nil, ensure("G", 5, false, false))
	tt.step(1, nil, ensure("G", 5, false, true)) // about an order flag nobody is told at once
	require.Equal(t, *newTopic("%RETRY%G", 3, 6, 2, true), tt.topic("%RETRY%G"))

	// A message that comes back leaves the flag alone.
	tt.step(0, nil, func() error {
		topic, err := tt.createIfAbsent("%RETRY%G", 1, 6, 0)
		require.True(t, topic.Order)
		return err
	})
	tt.step(1, []string{"%DLQ%G"}, func() error { _, err := tt.createIfAbsent("%DLQ%G", 1, 6, 0); return err })
	tt.step(1, []string{"TRANS_CHECK_MAX_TIME_TOPIC"}, func() error {
		_, err := tt.createIfAbsent(transMaxTimeTopic, 1, 6, 0)
		return err
	})
	long := strings.Repeat("g", 249)
	_ = tt.refused(ensure(long, 1, false, false))
	for _, group := range []string{"a b", "a\n"} {
		_ = tt.refused(ensure(group, 1, false, false))
	}
	tt.step(1, []string{"%RETRY%group.of.4.9"}, ensure("group.of.4.9", 1, false, false))
	_ = tt.refused(func() error { _, err := tt.createIfAbsent("X", -1, 6, 0); return err })

	tt.step(1, []string{"%DLQ%G"}, func() error { return tt.setSysFlag("%DLQ%G", sysFlagUnitSub, true) })
	tt.step(0, nil, func() error { return tt.setSysFlag("%DLQ%G", sysFlagUnitSub, true) })
	tt.step(1, []string{"%DLQ%G"}, func() error { return tt.setSysFlag("%DLQ%G", sysFlagUnitSub, false) })
	tt.step(0, nil, func() error { return tt.setSysFlag("Unknown", sysFlagUnit, true) })
}

func TestSetOrder(t *testing.T) {
	tt := newTestTopics(t)
	for _, name := range []string{"A", "B", "C"} {
		require.NoError(t, tt.update(*newTopic(name, 4, 6, 0, name == "C"), ""))
	}
	tt.step(0, nil, func() error { return tt.setOrder(nil) })
	tt.step(0, nil, func() error { return tt.setOrder(map[string]string{"C": "broker-a:8", "Unknown": "broker-a:8"}) })
	tt.step(1, nil, func() error {
		return tt.setOrder(map[string]string{"A": "broker-a:8", "B": "broker-a:8", "C": "x", "D": "y"})
	})
	for _, name := range []string{"A", "B", "C"} {
		require.True(t, tt.topic(name).Order)
	}
	tt.step(0, nil, func() error { return tt.setOrder(map[string]string{"A": "broker-a:8"}) }) // none ceases to be ordered
	require.True(t, tt.topic("B").Order)
	tt.step(1, nil, tt.bump)
}

func TestSomeTopics(t *testing.T) {
	tt := newTestTopics(t)
	topics, version := tt.some([]string{"TBW102", "Unknown", "BenchmarkTest"})
	require.Len(t, topics, 2)
	require.Equal(t, "TBW102", topics[0].TopicName)
	require.Equal(t, tt.counter(), version.Counter)
}

// The data version of the file holds over restarts, and changes with what a restart changes (spec/field-reports.md N61).
func TestDataVersionOverRestarts(t *testing.T) {
	tt := newTestTopics(t)
	require.NoError(t, tt.update(*newTopic("A", 4, 6, 0, false), ""))
	_, before := tt.snapshot()
	for range 3 {
		tt.open()
		_, version := tt.snapshot()
		require.Equal(t, before, version, "nothing has changed")
	}
	tt.settings.TimerWheelEnable = true
	tt.open()
	require.Equal(t, before.Counter+1, tt.counter(), "there is one system topic more")
	requireOnDisk(t, tt.topicTable)
	tt.settings.TimerWheelEnable = false
	tt.open()
	require.Equal(t, before.Counter+1, tt.counter(), "it stays")
	require.NoError(t, tt.bump())
	tt.open()
	require.Equal(t, before.Counter+2, tt.counter(), "bumps of the permission are stored, too")
}

// Apache RocketMQ #10438, #10604, #9777: 500 updates from 8 clients while the broker registers, with a restart in between.
func TestN61TopicTableAndVersion(t *testing.T) {
	dir := t.TempDir()
	tables := map[protocol.DataVersion]string{} // what a NameServer was told, by version
	var lastCounter int64
	table := openTestTopics(t, dir)
	for range 2 {
		var stop atomic.Bool
		var clients, recorder sync.WaitGroup
		record := func() {
			topics, version := table.snapshot()
			text := tableText(topics)
			if known, ok := tables[version]; ok && known != text {
				t.Errorf("two tables for version %+v", version)
			}
			tables[version] = text
			if version.Counter < lastCounter {
				t.Errorf("counter falls from %d to %d", lastCounter, version.Counter)
			}
			lastCounter = version.Counter
		}
		recorder.Go(func() {
			for !stop.Load() {
				record()
			}
			record()
		})
		for client := range 8 {
			clients.Go(func() {
				rnd := rand.New(rand.NewPCG(61, uint64(client)))
				for range 32 {
					name := fmt.Sprint("T", rnd.IntN(20))
					var err error
					switch rnd.IntN(4) {
					case 0:
						_, err = table.delete(name, nil)
					case 1:
						_, err = table.createOnSend(name, autoCreateTopic, int32(rnd.IntN(9)), false)
					default:
						err = table.update(*newTopic(name, int32(rnd.IntN(5)), 6, 0, false), "")
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		clients.Wait()
		stop.Store(true)
		recorder.Wait()
		table = openTestTopics(t, dir)
	}
	topics, version := table.snapshot()
	require.Equal(t, tables[version], tableText(topics), "the last table told is the broker's")
}

// tableText is the table without its version.
func tableText(topics []*protocol.TopicConfig) string {
	f := protocol.TopicsFile{Topics: topics}
	return string(f.AppendJSON(nil, protocol.FormDefault))
}

// A broker that is killed while it makes topics has all that it had acknowledged: what is on disk at any moment is whole.
func TestFileIsAlwaysWhole(t *testing.T) {
	dir := t.TempDir()
	table := openTestTopics(t, dir)
	write := table.file.write
	table.file.write = func(data []byte) error {
		err := write(data)
		if _, err := protocol.DecodeTopicsFile([]byte(readFile(t, filepath.Join(dir, "topics.json"))), 0, nil); err != nil {
			t.Error(err)
		}
		return err
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			name := fmt.Sprint("T", i)
			if err := table.update(*newTopic(name, 1, 6, 0, false), ""); err != nil {
				t.Error(err)
				return
			}
			if f, err := protocol.DecodeTopicsFile([]byte(readFile(t, filepath.Join(dir, "topics.json"))), 0, nil); err != nil {
				t.Error(err)
			} else if !slices.ContainsFunc(f.Topics, func(c *protocol.TopicConfig) bool { return c.TopicName == name }) {
				t.Errorf("%s is acknowledged and not on disk", name)
			}
		})
	}
	wg.Wait()
}

// That only the backup could not be kept is no failure.
func TestBackupNotKept(t *testing.T) {
	tt := newTestTopics(t)
	write := tt.file.write
	tt.file.write = func(data []byte) error { return errors.Join(write(data), conf.ErrBackup) }
	tt.step(1, []string{"A"}, func() error { return tt.update(*newTopic("A", 1, 6, 0, false), "") })
}
