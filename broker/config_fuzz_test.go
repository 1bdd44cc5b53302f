package broker

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// Any topics.json is refused or read, and what is read is written so that it reads back equal: topics, version and the
// entries that cannot be used.
func FuzzTopicsFile(f *testing.F) {
	addConfigFiles(f, "topics.json")
	f.Add([]byte(`{"dataVersion":null,"topicConfigTable":{"A":null,"B":{"topicName":"A"},"C":[{}],'D':{perm:"7",},"A":{}}}`))
	f.Add([]byte(`{"dataVersion":{"counter":null},"topicConfigTable":{"A":{"attributes":{"a":"b","c":null}},"B":{"$ref":"$.topicConfigTable.A"}}}`))
	f.Add([]byte(`{"topiCConfigTABle":{"":{}"0":[{}]'C':{0000:"0000"}"0":{}}}`))
	f.Add([]byte(`{"topicConfigTable":{"A":{"$ref":"$.dataVersion"},"B":/**/{perm:'x'//
		},"C":[{"$ref":"$.topicConfigTable.TBW102"}],"D":{"readQueueNums":1000000000}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
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
	})
}

// The same for subscriptionGroup.json.
func FuzzSubscriptionGroupFile(f *testing.F) {
	addConfigFiles(f, "subscriptionGroup.json")
	f.Add([]byte(`{"forbiddenTable":{"G":{"T":4,"U":0},"H":null,"I":{"T":"x"}},"subscriptionGroupTable":{"G":{"retryMaxTimes":"x"},"H":{}}}`))
	f.Add([]byte(`{"subscriptionGroupTable":{"G":{"groupRetryPolicy":{"customizedRetryPolicy":{"next":[1,2]},"type":"x"},` +
		`"subscriptionDataSet":[{"topic":"T"}]}}}`))
	f.Add([]byte(`{"forbiddenTable":{"G":{0:4},"H":{"$ref":"$.dataVersion"}},"subscriptionGroupTable":{"A":{0:1},"B":{/**/brokerId:'x'},` +
		`"C":{"groupRetryPolicy":{"$ref":"$.forbiddenTable"},"retryQueueNums":1000000000},"D":{"$ref":"$.subscriptionGroupTable.TOOLS_CONSUMER"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
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
	})
}

// requireFound checks that entries have the texts that they have in a file, or those in quotes.
func requireFound(t *testing.T, file []byte, odd []protocol.OddEntry) {
	for _, e := range odd {
		require.True(t, bytes.Contains(file, []byte(e.JSON)) || strings.HasPrefix(e.JSON, `"`), e.JSON)
	}
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
