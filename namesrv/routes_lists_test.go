package namesrv

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestN42ListsOf60000Topics would take minutes in quadratic time. BenchmarkTopicsByCluster60000 shows the growth.
func TestN42ListsOf60000Topics(t *testing.T) {
	const topics = 60_000
	table := benchTable(t, 4, topics, true)
	for range 10 {
		start := time.Now()
		require.Len(t, table.allTopics(), topics)
		require.Len(t, table.topicsByCluster("DefaultCluster"), topics)
		require.Less(t, time.Since(start), time.Second)
	}
}

func TestTopicsByClusterListsEachOnce(t *testing.T) {
	tt := newTableTest(t)
	tt.register(&broker{cluster: "C", name: "a", addr: "A", topics: topics("T", "TA")})
	tt.register(&broker{cluster: "D", name: "b", addr: "B", topics: topics("T", "TB")})
	tt.register(&broker{cluster: "C", name: "c", addr: "C", topics: topics("T", "TC", "TB")})
	require.Equal(t, []string{"T", "TA", "TB", "TC"}, sorted(tt.topicsByCluster("C")))
	require.Equal(t, []string{"T", "TB"}, sorted(tt.topicsByCluster("D")))
	require.Empty(t, tt.topicsByCluster(""))
}

func TestLosingOneBrokerCostsItsOwnTopics(t *testing.T) {
	table := benchTable(t, 100, 1000, false)
	start := time.Now()
	_, found := table.unregister("b7", "b7", false)
	require.True(t, found)
	require.Less(t, time.Since(start), 50*time.Millisecond)
	require.Len(t, table.allTopics(), 99_000)
	(&tableTest{routeTable: table, t: t}).check()
}
