package broker

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mq-server/mq/protocol"
)

// requireTopicsKept checks that topics.json is refused or read, and that what is read is written so that it reads back equal:
// topics, version and the entries that cannot be used.
func requireTopicsKept(t require.TestingT, data []byte) {
	first, err := protocol.DecodeTopicsFile(data, 1, usableTopic)
	if err != nil {
		require.Zero(t, first)
		return
	}
	table := &topicTable{settings: func() topicSettings { return goldenTopicSettings }, now: testClock()}
	state, _ := table.loaded(storedFile[protocol.TopicsFile]{content: first, found: true}, zerolog.Nop())
	for _, topic := range first.Topics {
		require.Contains(t, state.topics.byName, topic.TopicName)
	}
	requireFound(t, data, state.odd)
	second, err := protocol.DecodeTopicsFile(state.file(), 2, usableTopic)
	require.NoError(t, err)
	again, changed := table.loaded(storedFile[protocol.TopicsFile]{content: second, found: true}, zerolog.Nop())
	require.False(t, changed)
	require.Equal(t, string(state.file()), string(again.file()))
	require.Equal(t, state.topics.byName, again.topics.byName)
	requireSameOdd(t, state.odd, again.odd)
}

// requireGroupsKept checks the same of subscriptionGroup.json.
func requireGroupsKept(t require.TestingT, data []byte) {
	first, err := protocol.DecodeGroupsFile(data, 1, usableGroup)
	if err != nil {
		require.Zero(t, first)
		return
	}
	table := &groupTable{now: testClock()}
	state, _ := table.loaded(storedFile[protocol.GroupsFile]{content: first, found: true}, zerolog.Nop())
	requireFound(t, data, slices.Concat(state.oddGroups, state.oddForbidden))
	second, err := protocol.DecodeGroupsFile(state.file(), 2, usableGroup)
	require.NoError(t, err)
	again, changed := table.loaded(storedFile[protocol.GroupsFile]{content: second, found: true}, zerolog.Nop())
	require.False(t, changed)
	require.Equal(t, string(state.file()), string(again.file()))
	require.Equal(t, state.groups.byName, again.groups.byName)
	require.Equal(t, state.forbidden, again.forbidden)
	requireSameOdd(t, state.oddGroups, again.oddGroups)
	requireSameOdd(t, state.oddForbidden, again.oddForbidden)
}

// requireFound checks that entries have the texts that they have in a file, or those in quotes.
func requireFound(t require.TestingT, file []byte, odd []protocol.OddEntry) {
	for _, e := range odd {
		require.True(t, bytes.Contains(file, []byte(e.JSON)) || strings.HasPrefix(e.JSON, `"`), e.JSON)
	}
}

func FuzzTopicsFile(f *testing.F) {
	addConfigFiles(f, "topics.json")
	f.Add([]byte(`{"dataVersion":null,"topicConfigTable":{"A":null,"B":{"topicName":"A"},"C":[{}],'D':{perm:"7",},"A":{}}}`))
	f.Add([]byte(`{"dataVersion":{"counter":null},"topicConfigTable":{"A":{"attributes":{"a":"b","c":null}},"B":{"$ref":"$.topicConfigTable.A"}}}`))
	f.Add([]byte(`{"topiCConfigTABle":{"":{}"0":[{}]'C':{0000:"0000"}"0":{}}}`))
	f.Add([]byte(`{"topicConfigTable":{"A":{"$ref":"$.dataVersion"},"B":/**/{perm:'x'//
		},"C":[{"$ref":"$.topicConfigTable.TBW102"}],"D":{"readQueueNums":1000000000}}}`))
	f.Fuzz(func(t *testing.T, data []byte) { requireTopicsKept(t, data) })
}

func FuzzSubscriptionGroupFile(f *testing.F) {
	addConfigFiles(f, "subscriptionGroup.json")
	f.Add([]byte(`{"forbiddenTable":{"G":{"T":4,"U":0},"H":null,"I":{"T":"x"}},"subscriptionGroupTable":{"G":{"retryMaxTimes":"x"},"H":{}}}`))
	f.Add([]byte(`{"subscriptionGroupTable":{"G":{"groupRetryPolicy":{"customizedRetryPolicy":{"next":[1,2]},"type":"x"},` +
		`"subscriptionDataSet":[{"topic":"T"}]}}}`))
	f.Add([]byte(`{"forbiddenTable":{"G":{0:4},"H":{"$ref":"$.dataVersion"}},"subscriptionGroupTable":{"A":{0:1},"B":{/**/brokerId:'x'},` +
		`"C":{"groupRetryPolicy":{"$ref":"$.forbiddenTable"},"retryQueueNums":1000000000},"D":{"$ref":"$.subscriptionGroupTable.TOOLS_CONSUMER"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) { requireGroupsKept(t, data) })
}

func addConfigFiles(f *testing.F, name string) {
	files, err := filepath.Glob(filepath.Join("testdata", "config", "*", name+"*"))
	require.NoError(f, err)
	require.Len(f, files, 4)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
}

// Files whose entries are anything that the dialect allows, much of it out of place.
func TestStrangeConfigFiles(t *testing.T) {
	blank := rapid.SampledFrom([]string{"", "", "", "", " ", "\n", "\t", "\r\n", "/*\"{*/", "//'\n"})
	comma := rapid.SampledFrom([]string{",", ",", ",", ";", ",,", ""})
	name := rapid.SampledFrom([]string{
		"0", `"$ref"`, `'$ref'`, `"x"`, `"T"`, "perm", `'perm'`, `"order"`, "readQueueNums", "attributes", "topicName", "brokerId", "retryQueueNums",
		"groupRetryPolicy", `"customizedRetryPolicy"`, `"exponentialRetryPolicy"`, "next", "type", "subscriptionDataSet",
	})
	scalar := rapid.SampledFrom([]string{
		"1", "-1", "1e9", "1.5", "2000000000", "null", "undefined", "NaN", "true", "''", `""`, `"x"`, "'7'", `"'"`, `'"'`, `"\""`, `"\u0000"`,
		"\"\x00\"", "\"\x01\x02\"", "\"\xC3!\"", "{}", "[]", `"$.x"`,
		`{"$ref":"$"}`, `{"$ref":"$.x"}`, `{"$ref":"$.dataVersion"}`, `{'$ref':'$.forbiddenTable'}`, `{"$ref":"$.topicConfigTable.A"}`,
		`{"$ref":"$.topicConfigTable.TBW102"}`, `{"$ref":"$.subscriptionGroupTable.A"}`, `{"$ref":"$.subscriptionGroupTable.TOOLS_CONSUMER"}`,
	})
	var value func(t *rapid.T, depth int) string
	list := func(t *rapid.T, most int, element func() string) (text string) {
		for range rapid.IntRange(0, most).Draw(t, "length") {
			text += blank.Draw(t, "blank") + element() + comma.Draw(t, "comma")
		}
		return text
	}
	value = func(t *rapid.T, depth int) string {
		before := blank.Draw(t, "blank")
		switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case kind < 4 || depth == 0:
			return before + scalar.Draw(t, "scalar")
		case kind < 8:
			return before + "{" + list(t, 3, func() string { return name.Draw(t, "name") + ":" + value(t, depth-1) }) + "}"
		default:
			return before + "[" + list(t, 2, func() string { return value(t, depth-1) }) + "]"
		}
	}
	entry := rapid.SampledFrom([]string{"A", "B", "C", "", "TBW102", "TOOLS_CONSUMER"})
	rapid.Check(t, func(t *rapid.T) {
		table := func() string {
			return list(t, 5, func() string { return fmt.Sprintf("%q:", entry.Draw(t, "entry")) + value(t, 3) })
		}
		data := fmt.Appendf(nil, `{"x":%s,"topicConfigTable":{%s},"forbiddenTable":{%s},"subscriptionGroupTable":{%s}}`,
			value(t, 2), table(), table(), table())
		requireTopicsKept(t, data)
		requireGroupsKept(t, data)
	})
}
