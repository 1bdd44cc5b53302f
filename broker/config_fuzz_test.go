package broker

import (
	"os"
	"path/filepath"
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
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := protocol.DecodeTopicsFile(data, 1)
		if err != nil {
			require.Zero(t, first)
			return
		}
		table := &topicTable{settings: func() topicSettings { return goldenTopicSettings }, now: testClock()}
		state, _ := table.loaded(storedFile[protocol.TopicsFile]{content: first, found: true}, zerolog.Nop())
		for _, topic := range first.Topics {
			if usableTopic(topic) == nil {
				require.Contains(t, state.topics.byName, topic.TopicName)
			}
		}
		second, err := protocol.DecodeTopicsFile(state.file(), 2)
		require.NoError(t, err)
		again, changed := table.loaded(storedFile[protocol.TopicsFile]{content: second, found: true}, zerolog.Nop())
		require.False(t, changed)
		require.Equal(t, string(state.file()), string(again.file()))
		require.Equal(t, state.topics.byName, again.topics.byName)
		require.Len(t, again.odd, len(state.odd))
	})
}

// The same for subscriptionGroup.json.
func FuzzSubscriptionGroupFile(f *testing.F) {
	addConfigFiles(f, "subscriptionGroup.json")
	f.Add([]byte(`{"forbiddenTable":{"G":{"T":4,"U":0},"H":null,"I":{"T":"x"}},"subscriptionGroupTable":{"G":{"retryMaxTimes":"x"},"H":{}}}`))
	f.Add([]byte(`{"subscriptionGroupTable":{"G":{"groupRetryPolicy":{"customizedRetryPolicy":{"next":[1,2]},"type":"x"},` +
		`"subscriptionDataSet":[{"topic":"T"}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := protocol.DecodeGroupsFile(data, 1)
		if err != nil {
			require.Zero(t, first)
			return
		}
		table := &groupTable{now: testClock()}
		state, _ := table.loaded(storedFile[protocol.GroupsFile]{content: first, found: true}, zerolog.Nop())
		second, err := protocol.DecodeGroupsFile(state.file(), 2)
		require.NoError(t, err)
		again, changed := table.loaded(storedFile[protocol.GroupsFile]{content: second, found: true}, zerolog.Nop())
		require.False(t, changed)
		require.Equal(t, string(state.file()), string(again.file()))
		require.Equal(t, state.groups.byName, again.groups.byName)
		require.Equal(t, state.forbidden, again.forbidden)
		require.Len(t, again.oddGroups, len(state.oddGroups))
		require.Len(t, again.oddForbidden, len(state.oddForbidden))
	})
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
