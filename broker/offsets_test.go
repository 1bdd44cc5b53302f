package broker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mq-server/mq/protocol"
)

func offsetOptionsIn(dir string) offsetOptions {
	return offsetOptions{
		Dir:      dir,
		Settings: func() offsetSettings { return offsetSettings{FlushInterval: 5 * time.Second, VersionStep: 500} },
		Now:      testClock(), Log: zerolog.Nop(),
	}
}

func openTestOffsets(t testing.TB, dir string) *offsetTable {
	t.Helper()
	table, err := openOffsets(offsetOptionsIn(dir))
	require.NoError(t, err)
	return table
}

func always() error { return nil }

// put commits an offset.
func (t *offsetTable) put(tb testing.TB, topic, group string, queueID int32, offset int64) {
	tb.Helper()
	_, err := t.commit(topic, group, queueID, offset, always)
	require.NoError(tb, err)
}

// offsets returns the whole table: offset by key and queue.
func (t *offsetTable) offsets() map[string]map[int32]int64 {
	all := map[string]map[int32]int64{}
	for _, g := range t.snapshot().Offsets {
		all[g.Key] = map[int32]int64{}
		for _, q := range g.Queues {
			all[g.Key][q.QueueID] = q.Offset
		}
	}
	return all
}

// goldenOffsets are what both Java brokers had after the same traffic, but for group GID_sql and the transactions.
var goldenOffsets = map[string]map[int32]int64{
	"Orders@GID_orders":          {0: 30, 1: 30, 2: 30, 3: 30},
	"Tasks@GID_tasks":            {0: 3, 1: 3},
	"Payments@GID_pull":          {0: 5},
	"%RETRY%GID_tasks@GID_tasks": {0: 6},
}

func TestOffsetsFileOfJava(t *testing.T) {
	for version, others := range map[string]map[string]map[int32]int64{
		"5.5.0": {
			"Orders@GID_sql": {0: 13, 1: 18, 2: 20, 3: 10},
			"RMQ_SYS_TRANS_OP_HALF_TOPIC@CID_RMQ_SYS_TRANS": {0: 2}, "RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS": {0: 39},
		},
		"4.9.7": {
			"Orders@GID_sql": {0: 28, 1: 30, 2: 30, 3: 25}, "%RETRY%GID_sql@GID_sql": {0: 0},
			"RMQ_SYS_TRANS_OP_HALF_TOPIC@CID_RMQ_SYS_TRANS": {0: 5}, "RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS": {0: 29},
		},
	} {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "consumerOffset.json")
			text := goldenConfig(t, version, "consumerOffset.json")
			writeFile(t, path, text)
			table := openTestOffsets(t, dir)
			want := maps.Clone(goldenOffsets)
			maps.Copy(want, others)
			require.Equal(t, want, table.offsets())
			require.NoError(t, table.save())
			require.Equal(t, text, readFile(t, path), "nothing has changed, so nothing is written")

			table.put(t, "Orders", "GID_sql", 0, want["Orders@GID_sql"][0]+1)
			want["Orders@GID_sql"][0]++
			require.NoError(t, table.save())
			require.Equal(t, want, openTestOffsets(t, dir).offsets())
			require.Equal(t, text, readFile(t, path+".bak"))
		})
	}
}

// What we write is what release 5.5.0 writes, but for the order of maps, and for what it has pulled, which nobody reads.
func TestOffsetsFileAsJavaWritesIt(t *testing.T) {
	dir := t.TempDir()
	text := goldenConfig(t, "5.5.0", "consumerOffset.json")
	writeFile(t, filepath.Join(dir, "consumerOffset.json"), text)
	lines := func(text string) []string {
		text, _, _ = strings.Cut(text, "\t\"pullOffsetTable\"")
		lines := strings.Split(strings.ReplaceAll(text, ",", ""), "\n")
		slices.Sort(lines)
		return lines
	}
	written := string(openTestOffsets(t, dir).content())
	require.Equal(t, lines(text), lines(written))

	table := openTestOffsets(t, t.TempDir())
	table.version = protocol.DataVersion{Counter: 1, Timestamp: 1_700_000_000_000}
	table.put(t, "TopicA", "CG", 1, 4)
	table.put(t, "TopicA", "CG", 0, 3)
	table.put(t, "%RETRY%CG", "CG", 0, 0)
	require.Equal(t, `{
	"dataVersion":{
		"counter":1,
		"stateVersion":0,
		"timestamp":1700000000000
	},
	"groupTopicMap":{
		"CG":[
			"%RETRY%CG",
			"TopicA"
		]
	},
	"offsetTable":{
		"%RETRY%CG@CG":{
			0:0
		},
		"TopicA@CG":{
			0:3,
			1:4
		}
	},
	"pullOffsetTable":{}
}`, string(table.content()))
	require.Equal(t, `{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1700000000000},"groupTopicMap":{"CG":["%RETRY%CG","TopicA"]},`+
		`"offsetTable":{"%RETRY%CG@CG":{0:0},"TopicA@CG":{0:3,1:4}},"pullOffsetTable":{}}`,
		string(table.snapshot().AppendJSON(nil, protocol.FormDefault)))
}

func TestOffsetsCommit(t *testing.T) {
	table := openTestOffsets(t, t.TempDir())
	require.EqualValues(t, noOffset, table.query("T", "G", 0))
	commit := func(queueID int32, offset, wantBefore int64) {
		t.Helper()
		before, err := table.commit("T", "G", queueID, offset, always)
		require.NoError(t, err)
		require.Equal(t, wantBefore, before)
		require.Equal(t, offset, table.query("T", "G", queueID))
	}
	commit(0, 7, noOffset)
	commit(0, 3, 7) // also backwards
	commit(2147483647, 9223372036854775807, noOffset)
	commit(-1, 5, noOffset)
	commit(1, -5, noOffset)
	commit(1, -9223372036854775808, -5)
	require.EqualValues(t, noOffset, table.query("T", "G", 2))
	require.EqualValues(t, noOffset, table.query("T", "H", 0))
	require.EqualValues(t, noOffset, table.query("U", "G", 0))

	errNo := errors.New("no")
	for _, group := range []string{"G", "H"} {
		_, err := table.commit("T", group, 0, 100, func() error { return errNo })
		require.ErrorIs(t, err, errNo)
	}
	require.Equal(t, map[string]map[int32]int64{"T@G": {-1: 5, 0: 3, 1: -9223372036854775808, 2147483647: 9223372036854775807}}, table.offsets())
	require.Equal(t, []string{"G"}, table.groupsOf("T"))
	require.Equal(t, []string{"T"}, table.topicsOf("G"))
	require.Empty(t, table.groupsOf("U"))
	require.Empty(t, table.topicsOf("H"))

	for i := range int32(maxQueueNums - 4) {
		table.put(t, "T", "G", 10+i, 1)
	}
	_, err := table.commit("T", "G", 3, 1, always)
	require.ErrorIs(t, err, errManyQueues)
	require.EqualValues(t, noOffset, table.query("T", "G", 3))
	commit(0, 4, 3)
}

// What there is room for is what is there: all of it is counted, whatever way it came and went.
func TestOffsetsRoom(t *testing.T) {
	dir := t.TempDir()
	table := openTestOffsets(t, dir)
	requireSize := func() {
		t.Helper()
		size := 0
		for _, g := range table.snapshot().Offsets {
			size += pairBytes + len(g.Key) + queueBytes*len(g.Queues)
		}
		require.EqualValues(t, size, table.size.Load())
	}
	table.put(t, "T", "G", 0, 1)
	table.put(t, "T", "G", 1, 2)
	table.put(t, "U", "G", 0, 3)
	table.put(t, "T", "H", 0, 4)
	requireSize()
	require.NoError(t, table.clone("G", "H", []string{"T", "U"}))
	requireSize()
	require.NoError(t, table.removeTopics([]string{"U"}))
	requireSize()
	table.put(t, "V", "H", 0, 5)
	table = openTestOffsets(t, dir)
	requireSize()

	var log bytes.Buffer
	table.log = zerolog.New(&log)
	want := map[string]map[int32]int64{"T@G": {0: 1, 1: 2}, "T@H": {0: 1, 1: 2}}
	require.Equal(t, want, table.offsets())
	table.most = table.size.Load() + queueBytes
	table.put(t, "T", "G", 2, 6)
	for range 2 {
		_, err := table.commit("T", "G", 3, 1, always)
		require.ErrorIs(t, err, errManyOffsets)
		_, err = table.commit("U", "G", 0, 1, always)
		require.ErrorIs(t, err, errManyOffsets)
	}
	require.ErrorIs(t, table.clone("G", "I", []string{"T"}), errManyOffsets)
	table.put(t, "T", "G", 0, 7)
	want["T@G"][0], want["T@G"][2] = 7, 6
	require.Equal(t, want, table.offsets())
	requireSize()
	require.Equal(t, 1, strings.Count(log.String(), "no room for more consumer offsets"))

	require.NoError(t, table.removeGroup("H"))
	requireSize()
	table.put(t, "U", "G", 0, 8)
	requireSize()
	table.most = table.size.Load()
	_, err := table.commit("U", "G", 1, 1, always)
	require.ErrorIs(t, err, errManyOffsets)
	require.Equal(t, 2, strings.Count(log.String(), "no room for more consumer offsets"))
	require.NoError(t, table.removeGroup("G"))
	require.Zero(t, table.size.Load())
}

// Every 500 changes make a new version. The original counts commits that change nothing as well.
func TestOffsetsVersion(t *testing.T) {
	table := openTestOffsets(t, t.TempDir())
	counter := func() int64 { return table.snapshot().DataVersion.Counter }
	for i := range int64(499) {
		table.put(t, "T", "G", 0, i)
		table.put(t, "T", "G", 0, i)
	}
	require.Zero(t, counter())
	before := table.snapshot().DataVersion.Timestamp
	table.put(t, "T", "G", 0, 499)
	require.EqualValues(t, 1, counter())
	require.Greater(t, table.snapshot().DataVersion.Timestamp, before)
	for i := range int64(500) {
		table.put(t, "T", "G", 0, 1000+i)
	}
	require.EqualValues(t, 2, counter())
	table.settings = func() offsetSettings { return offsetSettings{} }
	table.put(t, "T", "G", 0, 1)
	require.EqualValues(t, 3, counter())
}

// Offsets are saved 10 s after the start and every 5 s then, if any has changed, and go on after a failure.
func TestOffsetsAreSavedInTime(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		table := openTestOffsets(t, dir)
		var mu sync.Mutex
		var saved []string // guarded by mu
		var failing atomic.Bool
		table.file.write = func(data []byte) error {
			mu.Lock()
			defer mu.Unlock()
			saved = append(saved, string(data))
			if failing.Load() {
				return os.ErrPermission
			}
			return nil
		}
		var interval atomic.Int64
		interval.Store(int64(5 * time.Second))
		table.settings = func() offsetSettings {
			return offsetSettings{FlushInterval: time.Duration(interval.Load()), VersionStep: 500}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- table.saveLoop(ctx) }()
		after := func(d time.Duration, writes int, content string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			require.Len(t, saved, writes)
			if writes > 0 {
				require.Contains(t, saved[writes-1], content)
			}
		}
		table.put(t, "T", "G", 0, 1)
		after(10*time.Second-1, 0, "")
		after(1, 1, "0:1")
		after(time.Minute, 1, "0:1")
		table.put(t, "T", "G", 0, 2)
		after(5*time.Second, 2, "0:2")
		table.put(t, "T", "G", 0, 2)
		after(time.Minute, 2, "0:2")
		failing.Store(true)
		table.put(t, "T", "G", 0, 3)
		after(5*time.Second, 3, "0:3")
		after(5*time.Second, 4, "0:3")
		failing.Store(false)
		after(5*time.Second, 5, "0:3")
		after(time.Minute, 5, "0:3")

		// The interval is changed while the loop waits.
		interval.Store(int64(time.Hour))
		after(5*time.Second, 5, "0:3")
		table.put(t, "T", "G", 0, 4)
		after(30*time.Minute, 5, "0:3")
		interval.Store(int64(100 * time.Millisecond))
		after(time.Second, 6, "0:4")
		table.put(t, "T", "G", 0, 5)
		after(100*time.Millisecond, 7, "0:5")
		cancel()
		require.NoError(t, <-done)
	})
}

func TestOffsetsRemoved(t *testing.T) {
	dir := t.TempDir()
	table := openTestOffsets(t, dir)
	for _, topic := range []string{"T", "Tx", "xT", "%RETRY%G"} {
		for _, group := range []string{"G", "Gx", "xG", "T"} {
			table.put(t, topic, group, 0, 1)
		}
	}
	keys := func(table *offsetTable) []string { return slices.Sorted(maps.Keys(table.offsets())) }
	require.NoError(t, table.removeTopics([]string{"T", "%RETRY%G", "Unknown"}))
	want := []string{"Tx@G", "Tx@Gx", "Tx@T", "Tx@xG", "xT@G", "xT@Gx", "xT@T", "xT@xG"}
	require.Equal(t, want, keys(table))
	require.Equal(t, want, keys(openTestOffsets(t, dir)), "on disk")
	require.ElementsMatch(t, []string{"Tx", "xT"}, table.topicsOf("G"))
	require.Empty(t, table.groupsOf("T"))

	require.NoError(t, table.removeGroup("G"))
	want = []string{"Tx@Gx", "Tx@T", "Tx@xG", "xT@Gx", "xT@T", "xT@xG"}
	require.Equal(t, want, keys(table))
	require.Equal(t, want, keys(openTestOffsets(t, dir)))
	require.Empty(t, table.topicsOf("G"))

	// Nothing to remove: nothing to write, although there are commits.
	table.put(t, "Tx", "Gx", 0, 2)
	written := readFile(t, table.file.path)
	require.NoError(t, table.removeGroup("G"))
	require.NoError(t, table.removeTopics([]string{"T"}))
	require.Equal(t, written, readFile(t, table.file.path))

	// A removal that could not be written is an error until it is.
	write := table.file.write
	table.file.write = func([]byte) error { return os.ErrPermission }
	require.ErrorIs(t, table.removeGroup("Gx"), os.ErrPermission)
	require.ErrorIs(t, table.removeGroup("Gx"), os.ErrPermission)
	table.file.write = write
	require.NoError(t, table.removeGroup("Gx"))
	require.Equal(t, []string{"Tx@T", "Tx@xG", "xT@T", "xT@xG"}, keys(openTestOffsets(t, dir)))
}

func TestOffsetsCloned(t *testing.T) {
	dir := t.TempDir()
	table := openTestOffsets(t, dir)
	table.put(t, "T", "G", 0, 3)
	table.put(t, "T", "G", 1, 4)
	table.put(t, "U", "G", 0, 5)
	table.put(t, "T", "H", 7, 7)
	require.NoError(t, table.clone("G", "H", []string{"T", "Unknown"}))
	want := map[string]map[int32]int64{"T@G": {0: 3, 1: 4}, "T@H": {0: 3, 1: 4}, "U@G": {0: 5}}
	require.Equal(t, want, table.offsets())
	require.Equal(t, want, openTestOffsets(t, dir).offsets(), "on disk")
	require.Equal(t, []string{"T"}, table.topicsOf("H"))
	table.put(t, "T", "G", 0, 9)
	require.EqualValues(t, 3, table.query("T", "H", 0), "a copy")
	require.NoError(t, table.clone("G", "G", []string{"T"}))
	require.NoError(t, table.clone("Nobody", "G", []string{"T"}))
	require.EqualValues(t, 9, table.query("T", "G", 0))
}

// Peer rule N60: nothing is taken for empty because it cannot be read.
func TestN60DamagedOffsetsFile(t *testing.T) {
	good := goldenConfig(t, "5.5.0", "consumerOffset.json")
	damaged := map[string]string{
		"empty": "", "blanks": " \n", "zeros": strings.Repeat("\x00", len(good)), "half": good[:len(good)/2], "tail": good + "}",
		"null": "null", "no table": `{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":1}}`, "null table": `{"offsetTable":null}`,
	}
	for name, text := range damaged {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "consumerOffset.json")
			writeFile(t, path, text)
			_, err := openOffsets(offsetOptionsIn(dir))
			require.ErrorIs(t, err, errDamaged)
			require.ErrorContains(t, err, path)
			require.Equal(t, text, readFile(t, path), "left alone")

			writeFile(t, path+".bak", good)
			var log bytes.Buffer
			opts := offsetOptionsIn(dir)
			opts.Log = zerolog.New(&log)
			table, err := openOffsets(opts)
			require.NoError(t, err)
			require.Contains(t, log.String(), "went on with its backup")
			require.EqualValues(t, 20, table.query("Orders", "GID_sql", 2))
			require.Greater(t, table.snapshot().DataVersion.Counter, int64(0))
			require.Equal(t, string(table.content()), readFile(t, path))
			require.Equal(t, text, readFile(t, path+".damaged"))
		})
	}
	t.Run("none", func(t *testing.T) {
		dir := t.TempDir()
		table := openTestOffsets(t, dir)
		require.NoError(t, table.save())
		require.NoFileExists(t, table.file.path)
		require.Empty(t, table.offsets())
	})
}

// What cannot be used costs nothing else and stays in the file until there is something in its place.
func TestOddOffsets(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "consumerOffset.json")
	writeFile(t, path, `{"future":1,"offsetTable":{"T@G":{"0":3,1:"4",007:5,},"NoGroup":{0:1},"@G":{0:1},"T@":{0:1},"A@B@C":{0:1},"Null@G":{0:null},
		"Text@G":"x","Big@G":{0:99999999999999999999},"Queue@G":{4294967296:1},"Null2@G":null,"Empty@G":{},"Del@X":{0:null},"X@Del":{0:null}},
		"pullOffsetTable":{"T@G":{0:77}},"groupTopicMap":{"Z":["Y"]}}`)
	var log bytes.Buffer
	opts := offsetOptionsIn(dir)
	opts.Log = zerolog.New(&log)
	table, err := openOffsets(opts)
	require.NoError(t, err)
	require.Equal(t, map[string]map[int32]int64{"T@G": {0: 3, 1: 4, 7: 5}, "Empty@G": {}}, table.offsets())
	for _, text := range []string{"future", "NoGroup", "A@B@C", "Null@G", "Text@G"} {
		require.Contains(t, log.String(), text)
	}
	odd := func() (names []string) {
		f, err := protocol.DecodeConsumerOffsets([]byte(readFile(t, path)), 0)
		require.NoError(t, err)
		for _, e := range f.Odd {
			names = append(names, e.Name)
		}
		return names
	}
	table.put(t, "Null", "G", 0, 8)
	require.NoError(t, table.removeTopics([]string{"Del"}))
	require.NoError(t, table.removeGroup("Del"))
	require.Equal(t, []string{"@G", "A@B@C", "Big@G", "NoGroup", "Null2@G", "Queue@G", "T@", "Text@G"}, odd())
	again := openTestOffsets(t, dir)
	require.Equal(t, table.offsets(), again.offsets())
	require.Equal(t, string(table.content()), string(again.content()))
}

// A file full of entries that cannot be used, with names and values of any length, costs some log lines.
func TestManyOddEntries(t *testing.T) {
	odd := make([]protocol.OddEntry, 103)
	for i := range odd {
		odd[i] = protocol.OddEntry{Name: strings.Repeat("n", 1<<16), JSON: strings.Repeat("v", 1<<16), Err: errors.New("odd")}
	}
	var log bytes.Buffer
	logOdd(odd, zerolog.New(&log), "topic", "cannot be used")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Len(t, lines, 101)
	require.Less(t, len(lines[0]), 1<<10)
	require.Contains(t, lines[100], `"more":3,`)
}

// After random changes, failed writes, saves and restarts the table is that of a plain map, and what was removed or copied
// with success survives a restart without a save.
func TestOffsetsModel(t *testing.T) {
	root, runs := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(root, fmt.Sprint(runs))
		failing := false
		var table *offsetTable
		open := func() {
			var err error
			table, err = openOffsets(offsetOptionsIn(dir))
			require.NoError(t, err)
			path := table.file.path
			table.file.write = func(data []byte) error { // without the waiting for the disk
				if failing {
					return os.ErrPermission
				}
				return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, data, 0o600))
			}
		}
		open()
		type key struct{ topic, group string }
		model, disk := map[key]map[int32]int64{}, map[key]map[int32]int64{}
		clone := func(m map[key]map[int32]int64) map[key]map[int32]int64 {
			next := map[key]map[int32]int64{}
			for k, queues := range m {
				next[k] = maps.Clone(queues)
			}
			return next
		}
		topic := rapid.SampledFrom([]string{"A", "B", "AB", "%RETRY%G"})
		group := rapid.SampledFrom([]string{"G", "H", "A"})
		pending := false // an earlier call has failed
		durable := func(changed bool, err error) {
			switch {
			case err != nil:
				require.True(t, failing)
				require.ErrorIs(t, err, os.ErrPermission)
				require.True(t, changed || pending)
				pending = true
			case changed || pending:
				require.False(t, failing)
				disk, pending = clone(model), false
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"commit": func(t *rapid.T) {
				k := key{topic.Draw(t, "topic"), group.Draw(t, "group")}
				queue, offset := rapid.Int32Range(-1, 3).Draw(t, "queue"), rapid.Int64Range(-1, 3).Draw(t, "offset")
				want := int64(noOffset)
				if model[k] == nil {
					model[k] = map[int32]int64{}
				}
				if old, ok := model[k][queue]; ok {
					want = old
				}
				model[k][queue] = offset
				before, err := table.commit(k.topic, k.group, queue, offset, always)
				require.NoError(t, err)
				require.Equal(t, want, before)
			},
			"removeTopic": func(t *rapid.T) {
				name := topic.Draw(t, "topic")
				n := len(model)
				maps.DeleteFunc(model, func(k key, _ map[int32]int64) bool { return k.topic == name })
				durable(n != len(model), table.removeTopics([]string{name}))
			},
			"removeGroup": func(t *rapid.T) {
				name := group.Draw(t, "group")
				n := len(model)
				maps.DeleteFunc(model, func(k key, _ map[int32]int64) bool { return k.group == name })
				durable(n != len(model), table.removeGroup(name))
			},
			"clone": func(t *rapid.T) {
				from, to, name := group.Draw(t, "from"), group.Draw(t, "to"), topic.Draw(t, "topic")
				source := model[key{name, from}]
				copied := source != nil && from != to
				if copied {
					model[key{name, to}] = maps.Clone(source)
				}
				durable(copied, table.clone(from, to, []string{name}))
			},
			"save": func(*rapid.T) {
				if err := table.save(); err == nil {
					disk, pending = clone(model), false
				}
			},
			"disk": func(*rapid.T) { failing = !failing },
			"crash": func(t *rapid.T) {
				failing, pending = false, false
				open()
				if written, err := os.ReadFile(table.file.path); err == nil && len(disk) == 0 {
					require.Contains(t, string(written), `"offsetTable":{}`)
				}
				model = clone(disk)
			},
			"": func(t *rapid.T) {
				want := map[string]map[int32]int64{}
				for k, queues := range model {
					want[k.topic+"@"+k.group] = queues
				}
				require.Equal(t, want, table.offsets())
				for k, queues := range model {
					require.Contains(t, table.groupsOf(k.topic), k.group)
					require.Contains(t, table.topicsOf(k.group), k.topic)
					for queue, offset := range queues {
						require.Equal(t, offset, table.query(k.topic, k.group, queue))
					}
				}
			},
		})
	})
}

// No offset outlives the removal of its topic, however many commits are on their way.
func TestOffsetsCommittedWhileTopicsGo(t *testing.T) {
	table := openTestOffsets(t, t.TempDir())
	table.file.write = func([]byte) error { return nil }
	errGone := errors.New("gone")
	for round := range 50 {
		var gone sync.Map
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for n := range int64(200) {
					topic := fmt.Sprint("T", rand.IntN(8))
					_, err := table.commit(topic, "G", int32(i), n, func() error {
						if _, ok := gone.Load(topic); ok {
							return errGone
						}
						return nil
					})
					if err != nil && !errors.Is(err, errGone) {
						t.Error(err)
					}
				}
			})
		}
		for i := range 8 {
			wg.Go(func() {
				topic := fmt.Sprint("T", i)
				gone.Store(topic, true)
				if err := table.removeTopics([]string{topic}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			for range 50 {
				_ = table.save() // puts all in order
			}
		})
		wg.Wait()
		require.Empty(t, table.offsets(), round)
	}
}

// benchmarkOffsets has 20,000 topics, each with 4 queues that one of 100 groups consumes.
func benchmarkOffsets(b *testing.B) (table *offsetTable, topics, groups []string) {
	table = openTestOffsets(b, b.TempDir())
	for i := range 20_000 {
		topics, groups = append(topics, fmt.Sprint("Topic", i)), append(groups, fmt.Sprint("Group", i%100))
		for queue := range int32(4) {
			table.put(b, topics[i], groups[i], queue, 1)
		}
	}
	return table, topics, groups
}

func BenchmarkCommitOffset(b *testing.B) {
	table, topics, groups := benchmarkOffsets(b)
	b.RunParallel(func(pb *testing.PB) {
		for n := rand.Int64N(1 << 40); pb.Next(); n++ {
			i := n % int64(len(topics))
			_, _ = table.commit(topics[i], groups[i], int32(n%4), n, always)
		}
	})
}

func BenchmarkEncodeOffsets(b *testing.B) {
	table, _, _ := benchmarkOffsets(b)
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(table.content())))
	}
}

// Any consumerOffset.json is refused or read, and what is read is written so that it reads back equal.
func FuzzConsumerOffsetFile(f *testing.F) {
	addConfigFiles(f, "consumerOffset.json")
	f.Add([]byte(`{"offsetTable":{"T@G":{"0":3,1:"4",007:5,},"A@B@C":{0:1},"Null@G":{0:null},"T@G":{2:-1}},"pullOffsetTable":{"T@G":{0:77}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		load := func(data []byte) (*offsetTable, error) {
			content, err := protocol.DecodeConsumerOffsets(data, 1)
			if err != nil {
				require.Zero(t, content)
				return nil, err
			}
			table := &offsetTable{byTopic: map[string]map[string]*groupOffsets{}, byGroup: map[string]map[string]*groupOffsets{}, now: testClock()}
			table.loaded(storedFile[protocol.ConsumerOffsets]{content: content, found: true}, zerolog.Nop())
			return table, nil
		}
		first, err := load(data)
		if err != nil {
			return
		}
		second, err := load(first.content())
		require.NoError(t, err)
		require.Equal(t, string(first.content()), string(second.content()))
		require.Equal(t, first.offsets(), second.offsets())
		require.Equal(t, len(first.odd), len(second.odd))
	})
}
