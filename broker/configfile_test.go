package broker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// goldenTopicSettings are those of the brokers that the files in testdata/config are from.
var goldenTopicSettings = topicSettings{
	BrokerName: "broker-a", ClusterName: "GoldenCluster", AutoCreateTopicEnable: true, DefaultTopicQueueNums: 8,
	ClusterTopicEnable: true, BrokerTopicEnable: true, MsgTraceTopicName: traceTopic, ReviveQueueNum: 8,
	ValidateSystemTopicWhenUpdateTopic: true,
}

// testClock is a clock that goes on by a second whenever it is looked at.
func testClock() func() time.Time {
	var n atomic.Int64
	return func() time.Time { return time.UnixMilli(1_800_000_000_000).Add(time.Duration(n.Add(1)) * time.Second) }
}

func topicOptionsIn(dir string) topicOptions {
	return topicOptions{
		Dir: dir, Settings: func() topicSettings { return goldenTopicSettings }, Now: testClock(), Log: zerolog.Nop(),
	}
}

func openTestTopics(t *testing.T, dir string) *topicTable {
	t.Helper()
	table, err := openTopics(topicOptionsIn(dir))
	require.NoError(t, err)
	return table
}

func groupOptionsIn(dir string) groupOptions {
	return groupOptions{
		Dir: dir, Settings: func() groupSettings {
			return groupSettings{AutoCreateSubscriptionGroup: true, EnableCreateSysGroup: true}
		},
		Now: testClock(), Log: zerolog.Nop(),
	}
}

func openTestGroups(t *testing.T, dir string) *groupTable {
	t.Helper()
	table, err := openGroups(groupOptionsIn(dir))
	require.NoError(t, err)
	return table
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func goldenConfig(t *testing.T, version, name string) string {
	t.Helper()
	return readFile(t, filepath.Join("testdata", "config", version, name))
}

func topicNames(table *topicTable) []string {
	topics, _ := table.snapshot()
	names := make([]string, len(topics))
	for i, topic := range topics {
		names[i] = topic.TopicName
	}
	return names
}

// storedTopics reads topics.json back, the way the next start would.
func storedTopics(t *testing.T, dir string) protocol.TopicsFile {
	t.Helper()
	f, err := protocol.DecodeTopicsFile([]byte(readFile(t, filepath.Join(dir, "topics.json"))), 0, nil)
	require.NoError(t, err)
	return f
}

// requireOnDisk checks that topics.json holds exactly the table.
func requireOnDisk(t *testing.T, table *topicTable) {
	t.Helper()
	require.Equal(t, string(table.file.load().file()), readFile(t, table.file.path))
}

// entryBlock is an entry of a table in a pretty file: two levels deep.
var entryBlock = regexp.MustCompile(`(?ms)^\t\t"[^\n]*":\{\n.*?^\t\t\}`)

// inOrder returns a pretty file with the entries of its last table in the order of their names; Java's order is that of
// a hash map.
func inOrder(text string) string {
	blocks := entryBlock.FindAllString(text, -1)
	slices.Sort(blocks)
	i := -1
	return entryBlock.ReplaceAllStringFunc(text, func(string) string {
		i++
		return blocks[i]
	})
}

// The files that a Java 5.5.0 broker wrote come out as they went in, but for the order of the entries.
func TestConfigFilesAsJavaWritesThem(t *testing.T) {
	for _, suffix := range []string{"", ".bak"} {
		t.Run("topics.json"+suffix, func(t *testing.T) {
			dir := t.TempDir()
			text := goldenConfig(t, "5.5.0", "topics.json"+suffix)
			writeFile(t, filepath.Join(dir, "topics.json"), text)
			table := openTestTopics(t, dir)
			require.Equal(t, inOrder(text), string(table.file.load().file()))
			require.Equal(t, text, readFile(t, filepath.Join(dir, "topics.json")), "nothing has changed, so nothing is written")
			require.NoFileExists(t, filepath.Join(dir, "topics.json.bak"))
		})
		t.Run("subscriptionGroup.json"+suffix, func(t *testing.T) {
			dir := t.TempDir()
			text := goldenConfig(t, "5.5.0", "subscriptionGroup.json"+suffix)
			writeFile(t, filepath.Join(dir, "subscriptionGroup.json"), text)
			table := openTestGroups(t, dir)
			require.Equal(t, inOrder(text), string(table.file.load().file()))
			require.Equal(t, text, readFile(t, filepath.Join(dir, "subscriptionGroup.json")))
		})
	}
}

// The files of a Java 4.9.7 broker are taken over; what comes out differs from them by the members that 5.x added.
func TestConfigFilesOf497(t *testing.T) {
	since5 := regexp.MustCompile(`(?m)^\t*"(attributes|stateVersion|forbiddenTable|consumeMessageOrderly|consumeTimeoutMinute|` +
		`groupSysFlag)":.*\n|^\t*"groupRetryPolicy":\{\n.*\n\t*\},\n`)
	for _, suffix := range []string{"", ".bak"} {
		t.Run("topics.json"+suffix, func(t *testing.T) {
			text := goldenConfig(t, "4.9.7", "topics.json"+suffix)
			f, err := protocol.DecodeTopicsFile([]byte(text), 0, nil)
			require.NoError(t, err)
			require.Empty(t, f.Odd)
			require.Empty(t, f.Unknown)
			slices.SortFunc(f.Topics, func(a, b *protocol.TopicConfig) int { return strings.Compare(a.TopicName, b.TopicName) })
			require.Equal(t, inOrder(text), since5.ReplaceAllString(string(protocol.AppendPretty(nil, &f)), ""))

			// The system topics of 5.5.0 come in, which is a new version.
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "topics.json"), text)
			table := openTestTopics(t, dir)
			_, version := table.snapshot()
			require.Equal(t, f.DataVersion.Counter+1, version.Counter)
			for _, topic := range append(f.Topics, systemTopics(goldenTopicSettings)...) {
				require.Contains(t, topicNames(table), topic.TopicName)
			}
			requireOnDisk(t, table)
		})
		t.Run("subscriptionGroup.json"+suffix, func(t *testing.T) {
			text := goldenConfig(t, "4.9.7", "subscriptionGroup.json"+suffix)
			f, err := protocol.DecodeGroupsFile([]byte(text), 0, nil)
			require.NoError(t, err)
			require.Empty(t, f.OddGroups)
			require.Empty(t, f.Unknown)
			slices.SortFunc(f.Groups, func(a, b *protocol.SubscriptionGroupConfig) int { return strings.Compare(a.GroupName, b.GroupName) })
			require.Equal(t, inOrder(text), since5.ReplaceAllString(string(protocol.AppendPretty(nil, &f)), ""))

			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "subscriptionGroup.json"), text)
			table := openTestGroups(t, dir)
			groups, _, version := table.snapshot()
			require.Equal(t, f.DataVersion.Counter+1, version.Counter, "4.9.7 has no CID_RMQ_SYS_TRANS, and does not read its version back")
			require.Len(t, groups, len(f.Groups)+1)
		})
	}
}

// fileDamages are what power cuts leave of a file.
var fileDamages = map[string]func(text string) string{
	"empty":                             func(string) string { return "" },
	"blank":                             func(string) string { return "\n\n" },
	"null":                              func(string) string { return "null" },
	"truncated":                         func(text string) string { return text[:len(text)*2/3] },
	"truncated by a byte":               func(text string) string { return text[:len(text)-1] },
	"truncated before the table":        func(text string) string { return text[:strings.Index(text, "Table\"")] },
	"filled with NUL":                   func(text string) string { return strings.Repeat("\x00", len(text)) },
	"NUL at the end":                    func(text string) string { return text + "\x00\x00\x00" },
	"NUL in place of the second half":   func(text string) string { return text[:len(text)/2] + strings.Repeat("\x00", len(text)/2) },
	"remains of a longer version":       func(text string) string { return text + text[len(text)-40:] },
	"one bracket of a longer version":   func(text string) string { return text + "}" },
	"no table":                          func(string) string { return `{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":1}}` },
	"a table that is none":              func(string) string { return `{"topicConfigTable":7,"subscriptionGroupTable":7}` },
	"something else":                    func(string) string { return "<html>" },
	"the first bytes, then other bytes": func(text string) string { return text[:50] + "\xff\xfe\x80" + text[90:] },
}

// Apache RocketMQ #6096, #3401, #9328, #9705.
// It has the rows of the original's ConfigManagerTest, spec/broker.md §10, too.
func TestN60DamagedTopicsFile(t *testing.T) {
	good := goldenConfig(t, "5.5.0", "topics.json")
	const counter = 18 // of the good file
	for name, damage := range fileDamages {
		t.Run(name+", good backup", func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "topics.json")
			writeFile(t, path, damage(good))
			writeFile(t, path+".bak", good)
			var log bytes.Buffer
			opts := topicOptionsIn(dir)
			opts.Log = zerolog.New(&log)
			table, err := openTopics(opts)
			require.NoError(t, err)

			backup, err := protocol.DecodeTopicsFile([]byte(good), 0, nil)
			require.NoError(t, err)
			topics, version := table.snapshot()
			require.ElementsMatch(t, backup.Topics, topics)
			require.Greater(t, version.Counter, int64(counter), "NameServers may have seen a newer table than the backup")
			requireOnDisk(t, table)
			require.Equal(t, good, readFile(t, path+".bak"), "the good backup is kept")
			require.Equal(t, damage(good), readFile(t, path+".damaged"))
			require.Contains(t, log.String(), "went on with its backup")
			require.Contains(t, log.String(), `"level":"error"`)
		})
		for other, damageBackup := range fileDamages {
			t.Run(name+", backup "+other, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "topics.json")
				writeFile(t, path, damage(good))
				writeFile(t, path+".bak", damageBackup(good))
				_, err := openTopics(topicOptionsIn(dir))
				require.ErrorContains(t, err, path+":")
				require.ErrorContains(t, err, path+".bak:")
				require.Equal(t, damage(good), readFile(t, path), "nothing is touched")
				require.Equal(t, damageBackup(good), readFile(t, path+".bak"))
			})
		}
		t.Run(name+", no backup", func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "topics.json")
			writeFile(t, path, damage(good))
			_, err := openTopics(topicOptionsIn(dir))
			require.ErrorContains(t, err, path+":")
			require.ErrorContains(t, err, path+".bak:")
		})
		t.Run("missing, backup "+name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "topics.json")
			writeFile(t, path+".bak", damage(good))
			_, err := openTopics(topicOptionsIn(dir))
			require.ErrorContains(t, err, path+" is missing")
			require.ErrorContains(t, err, path+".bak:")
			require.NoFileExists(t, path)
		})
	}
	t.Run("missing, good backup", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "topics.json")
		writeFile(t, path+".bak", good)
		table := openTestTopics(t, dir)
		require.Contains(t, topicNames(table), "Fifo")
		requireOnDisk(t, table)
		require.Equal(t, good, readFile(t, path+".bak"))
	})
	t.Run("neither: a first start", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "store", "config")
		table := openTestTopics(t, dir)
		require.Len(t, topicNames(table), len(systemTopics(goldenTopicSettings)))
		_, version := table.snapshot()
		require.Zero(t, version.Counter)
		require.NotZero(t, version.Timestamp)
		requireOnDisk(t, table)
	})
	t.Run("not a file", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "topics.json")
		require.NoError(t, os.Mkdir(path, 0o700))
		writeFile(t, path+".bak", good)
		_, err := openTopics(topicOptionsIn(dir))
		require.ErrorContains(t, err, path)
	})
}

func TestN60DamagedSubscriptionGroupFile(t *testing.T) {
	good := goldenConfig(t, "5.5.0", "subscriptionGroup.json")
	for name, damage := range fileDamages {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "subscriptionGroup.json")
			writeFile(t, path, damage(good))
			_, err := openGroups(groupOptionsIn(dir))
			require.ErrorContains(t, err, path+":")
			require.ErrorContains(t, err, path+".bak:")

			writeFile(t, path+".bak", good)
			table := openTestGroups(t, dir)
			g, ok := table.get("GID_limited")
			require.True(t, ok)
			require.EqualValues(t, 3, g.RetryMaxTimes)
			_, _, version := table.snapshot()
			require.Greater(t, version.Counter, int64(5))
			require.Equal(t, string(table.file.load().file()), readFile(t, path))
		})
	}
}

// The files are behind a symbolic link: backup and damaged file lie beside the target.
func TestConfigFileBehindSymlink(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	target := filepath.Join(elsewhere, "t")
	writeFile(t, target, "")
	writeFile(t, target+".bak", goldenConfig(t, "5.5.0", "topics.json"))
	require.NoError(t, os.Symlink(target, filepath.Join(dir, "topics.json")))
	table := openTestTopics(t, dir)
	require.Contains(t, topicNames(table), "Fifo")
	require.Equal(t, readFile(t, target), string(table.file.load().file()))
	require.FileExists(t, target+".damaged")
}

// TestConfigFileCrash leaves behind what a crash at any point of a replacement leaves (conf.TestReplaceFileCrash has the
// points): the next start has the old or the new table, and goes on from there.
func TestConfigFileCrash(t *testing.T) {
	state := func(counter int64, topics ...string) string {
		f := protocol.TopicsFile{DataVersion: protocol.DataVersion{Counter: counter, Timestamp: 1_700_000_000_000}}
		for _, name := range topics {
			f.Topics = append(f.Topics, newTopic(name, 1, 6, 0, false))
		}
		return string(protocol.AppendPretty(nil, &f))
	}
	older, old, next := state(1, "A"), state(2, "A", "B"), state(3, "A", "B", "C")
	half := next[:len(next)/2]
	points := []map[string]string{ // by suffix
		{"": old, ".bak": older},
		{"": old, ".bak": older, ".tmp": ""},
		{"": old, ".bak": older, ".tmp": half},
		{"": old, ".bak": older, ".tmp": next},
		{"": old, ".bak": older, ".tmp": next, ".bak.tmp": half},
		{"": old, ".bak": older, ".tmp": next, ".bak.tmp": old},
		{"": next, ".bak": older, ".bak.tmp": old},
		{"": next, ".bak": old},
		// While the backup takes the place of a damaged file.
		{".bak": old, ".damaged": half},
		{".bak": old, ".damaged": half, ".tmp": half},
		{".bak": old, ".damaged": half, ".tmp": old},
		// A crash of the original, which moves the file to .bak and writes a new one in place.
		{".bak": old},
		{"": "", ".bak": old},
		{"": half, ".bak": old},
	}
	for i, files := range points {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "topics.json")
			for suffix, text := range files {
				writeFile(t, path+suffix, text)
			}
			table := openTestTopics(t, dir)
			require.Subset(t, topicNames(table), []string{"A", "B"})
			_, version := table.snapshot()
			require.GreaterOrEqual(t, version.Counter, int64(2))
			require.NoError(t, table.update(*newTopic("D", 1, 6, 0, false), ""))
			requireOnDisk(t, table)
			require.Equal(t, topicNames(table), topicNames(openTestTopics(t, dir)))
		})
	}
}

// blockWrites makes every write of a file wait for a value in the channel, and counts the writes.
func blockWrites(table *topicTable) (proceed chan error, writes *atomic.Int32) {
	proceed, writes = make(chan error), new(atomic.Int32)
	write := table.file.write
	table.file.write = func(data []byte) error {
		writes.Add(1)
		if err := <-proceed; err != nil {
			return err
		}
		return write(data)
	}
	return proceed, writes
}

// waitForQueue waits until n changes wait for the writer.
func waitForQueue(t *testing.T, table *topicTable, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		table.file.mu.Lock()
		defer table.file.mu.Unlock()
		return len(table.file.queue) == n
	}, 10*time.Second, 100*time.Microsecond)
}

// 200 topics that are made at once take two writes: one for the first, one for the others.
func TestConcurrentChangesShareAWrite(t *testing.T) {
	var told [][]string
	opts := topicOptionsIn(t.TempDir())
	opts.Changed = func(names []string) { told = append(told, names) } // by one goroutine at a time
	table, err := openTopics(opts)
	require.NoError(t, err)
	_, before := table.snapshot()
	proceed, writes := blockWrites(table)

	const n = 200
	var wg sync.WaitGroup
	errs := make([]error, n)
	create := func(i int) {
		wg.Go(func() { _, errs[i] = table.createOnSend(fmt.Sprintf("T%03d", i), autoCreateTopic, 4, false) })
	}
	create(0)
	require.Eventually(t, func() bool { return writes.Load() == 1 }, 10*time.Second, 100*time.Microsecond)
	for i := 1; i < n; i++ {
		create(i)
	}
	waitForQueue(t, table, n-1)
	_, ok := table.get("T000")
	require.False(t, ok, "it is not on disk yet")
	proceed <- nil
	proceed <- nil
	wg.Wait()

	require.EqualValues(t, 2, writes.Load())
	require.Equal(t, make([]error, n), errs)
	_, after := table.snapshot()
	require.Equal(t, before.Counter+n, after.Counter, "one for each")
	require.Len(t, told, 2)
	require.Len(t, told[1], n-1)
	requireOnDisk(t, table)
}

// A write that fails fails all changes of its group, and none of them has happened; the next group is not affected.
func TestFailedWriteChangesNothing(t *testing.T) {
	opts := topicOptionsIn(t.TempDir())
	var told []string
	opts.Changed = func(names []string) { told = append(told, names...) }
	table, err := openTopics(opts)
	require.NoError(t, err)
	proceed, writes := blockWrites(table)
	names, version := topicNames(table), func() protocol.DataVersion { _, v := table.snapshot(); return v }
	before, versionBefore := names, version()

	errDisk := errors.New("disk full")
	var wg sync.WaitGroup
	errs := make([]error, 4)
	wg.Go(func() { errs[0] = table.update(*newTopic("A", 1, 6, 0, false), "") })
	require.Eventually(t, func() bool { return writes.Load() == 1 }, 10*time.Second, 100*time.Microsecond)
	wg.Go(func() { errs[1] = table.update(*newTopic("B", 1, 6, 0, false), "") })
	waitForQueue(t, table, 1)
	wg.Go(func() { errs[2] = table.update(*newTopic("B", 1, 6, 0, false), "") }) // changes nothing if the one before it holds
	waitForQueue(t, table, 2)
	wg.Go(func() { errs[3] = table.update(*newTopic("C", 1, 6, 0, false), "-message.type") })
	waitForQueue(t, table, 3)
	proceed <- errDisk
	proceed <- errDisk
	wg.Wait()
	require.ErrorIs(t, errs[0], errDisk)
	require.ErrorContains(t, errs[0], "topics.json could not be written")
	require.ErrorIs(t, errs[1], errDisk)
	require.ErrorIs(t, errs[2], errDisk)
	require.EqualError(t, errs[3], "only add attribute is supported while creating topic. key: message.type")
	require.Equal(t, before, topicNames(table))
	require.Equal(t, versionBefore, version())
	require.Empty(t, told)

	// The file may hold either state, so that even a change that changes nothing writes it.
	wg.Go(func() { proceed <- nil })
	_, err = table.delete("A", nil)
	require.NoError(t, err)
	wg.Wait()
	require.EqualValues(t, 3, writes.Load())
	_, err = table.delete("A", nil)
	require.NoError(t, err)
	require.EqualValues(t, 3, writes.Load(), "now it is known to hold the state")
	requireOnDisk(t, table)
}

// A change that panics takes none of the others with it for ever.
func TestPanicInAChange(t *testing.T) {
	table := openTestTopics(t, t.TempDir())
	require.Panics(t, func() { _ = table.file.commit(func(*topicDraft) error { panic("bug") }) })
	require.NoError(t, table.update(*newTopic("A", 1, 6, 0, false), ""))
	requireOnDisk(t, table)
}

// requireSameOdd checks that entries have the same names and texts.
func requireSameOdd(t require.TestingT, want, got []protocol.OddEntry) {
	texts := func(odd []protocol.OddEntry) (list []string) {
		for _, e := range odd {
			list = append(list, e.Name+" "+e.JSON)
		}
		return list
	}
	require.Equal(t, texts(want), texts(got))
}

// What cannot be used costs nothing else, and stays in the file until somebody puts something in its place.
func TestOddEntries(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "topics.json")
	writeFile(t, path, `{"dataVersion":{"counter":7,"stateVersion":0,"timestamp":1700000000000},"future":1,"topicConfigTable":{
		"A":{"attributes":{},"order":false,"perm":6,"readQueueNums":4,"topicName":"A","writeQueueNums":4,"newMember":[1]},
		"Null":null, "Text":"x", "Perm":{"topicName":"Perm","perm":"rw"}, "List":[{"topicName":"a"},{}],
		"Huge":{"topicName":"Huge","readQueueNums":2147483647,"writeQueueNums":1},
		"Unnamed":{"perm":4,"readQueueNums":2,"writeQueueNums":2}, "Renamed":{"topicName":"Other","perm":2},
		"":{"topicName":"Lost"}, "Twice":{"perm":"x"}, "Twice":{"topicName":"Twice"}, "Defaults":{"topicName":"Defaults","perm":null,"order":""},
		"Kept":{"topicName":"Kept","perm":8,"readQueueNums":-4,"writeQueueNums":5}}}`)
	var log bytes.Buffer
	opts := topicOptionsIn(dir)
	opts.Log = zerolog.New(&log)
	table, err := openTopics(opts)
	require.NoError(t, err)
	own := slices.DeleteFunc(topicNames(table), table.isSystem)
	require.Equal(t, []string{"A", "Defaults", "Kept", "Renamed", "Twice", "Unnamed"}, own)
	topic, _ := table.get("Renamed")
	require.Equal(t, "Renamed", topic.TopicName)
	topic, _ = table.get("Unnamed")
	require.EqualValues(t, 4, topic.Perm)
	topic, _ = table.get("Defaults")
	require.EqualValues(t, 6, topic.Perm)
	require.EqualValues(t, 16, topic.ReadQueueNums)

	for _, text := range []string{"future", "newMember", "Null", "Text", "rw", "List", "Huge"} {
		require.Contains(t, log.String(), text)
	}
	odd := map[string]string{}
	for _, e := range storedTopics(t, dir).Odd {
		odd[e.Name] = e.JSON
	}
	require.Equal(t, map[string]string{"Null": "null", "Text": `"x"`, "Perm": `{"topicName":"Perm","perm":"rw"}`,
		"List": `[{"topicName":"a"},{}]`}, odd, "Huge and the one without a name can be read, not used")
	require.Contains(t, readFile(t, path), "\t\t\"Huge\":{\"topicName\":\"Huge\",\"readQueueNums\":2147483647,\"writeQueueNums\":1},\n")
	require.Contains(t, readFile(t, path), "\t\t\"\":{\"topicName\":\"Lost\"},\n")

	again := openTestTopics(t, dir)
	requireSameOdd(t, table.file.load().odd, again.file.load().odd)
	require.Equal(t, topicNames(table), topicNames(again))
	require.Equal(t, table.file.load().version, again.file.load().version)
	require.NoError(t, again.update(*newTopic("Perm", 1, 6, 0, false), ""))
	_, err = again.delete("Text", nil)
	require.NoError(t, err)
	require.Len(t, storedTopics(t, dir).Odd, 2)
	require.NotContains(t, readFile(t, path), "rw")
	requireOnDisk(t, again)

	groups := filepath.Join(dir, "subscriptionGroup.json")
	writeFile(t, groups, `{"forbiddenTable":{"G":{"T":4,"Z":0},"Bad":{"T":"no"},"Null":null,"Empty":{}},"subscriptionGroupTable":{
		"G":{"groupName":"G","retryMaxTimes":3},"Null":null,"Bad":{"retryMaxTimes":"many"},"Huge":{"retryQueueNums":2000000000}}}`)
	g := openTestGroups(t, dir)
	require.EqualValues(t, 4, g.forbidden("G", "T"))
	config, ok := g.get("G")
	require.True(t, ok)
	require.EqualValues(t, 3, config.RetryMaxTimes)
	_, ok = g.get("Huge")
	require.False(t, ok)
	f, err := protocol.DecodeGroupsFile([]byte(readFile(t, groups)), 0, nil)
	require.NoError(t, err)
	require.Len(t, f.OddGroups, 2)
	require.Len(t, f.OddForbidden, 2)
	groupsAgain := openTestGroups(t, dir)
	requireSameOdd(t, g.file.load().oddGroups, groupsAgain.file.load().oddGroups)
	requireSameOdd(t, g.file.load().oddForbidden, groupsAgain.file.load().oddForbidden)
	require.NoError(t, g.delete("Bad"))
	require.NoError(t, g.delete("Huge"))
	require.Equal(t, string(g.file.load().file()), readFile(t, groups))
	f, err = protocol.DecodeGroupsFile([]byte(readFile(t, groups)), 0, nil)
	require.NoError(t, err)
	require.Len(t, f.OddGroups, 1)
	require.Len(t, f.OddForbidden, 1)
	require.NotContains(t, readFile(t, groups), "Huge")
}

func BenchmarkCreateTopic(b *testing.B) {
	for _, n := range []int{1_000, 20_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			table, err := openTopics(topicOptionsIn(b.TempDir()))
			require.NoError(b, err)
			list := make([]protocol.TopicConfig, n)
			for i := range list {
				list[i] = *newTopic(fmt.Sprintf("topic-of-the-benchmark-%d", i), 8, 6, 0, false)
			}
			require.NoError(b, table.updateList(list))
			runtime.GC()
			i := 0
			for b.Loop() {
				i++
				require.NoError(b, table.update(*newTopic(fmt.Sprintf("new-%d", i), 8, 6, 0, false), ""))
			}
		})
	}
}

func BenchmarkGetTopic(b *testing.B) {
	table, err := openTopics(topicOptionsIn(b.TempDir()))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := table.get(selfTestTopic); !ok {
			b.Fatal("lost")
		}
	}
}
