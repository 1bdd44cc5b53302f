package broker

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

func TestSystemTopics(t *testing.T) {
	byName := func(s topicSettings) map[string]*protocol.TopicConfig {
		return newConfigTable(systemTopics(s), nameOfTopic).byName
	}
	type row struct{ queues, perm int32 }
	want := map[string]row{
		"SELF_TEST_TOPIC": {1, 6}, "TBW102": {8, 7}, "BenchmarkTest": {1024, 6}, "GoldenCluster": {16, 7}, "broker-a": {1, 7},
		"OFFSET_MOVED_EVENT": {1, 6}, "SCHEDULE_TOPIC_XXXX": {18, 6}, "GoldenCluster_REPLY_TOPIC": {1, 6},
		"rmq_sys_REVIVE_LOG_GoldenCluster": {8, 6}, "rmq_sys_SYNC_BROKER_MEMBER_broker-a": {1, 1},
		"RMQ_SYS_TRANS_HALF_TOPIC": {1, 6}, "RMQ_SYS_TRANS_OP_HALF_TOPIC": {1, 6},
		"RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC": {1, 6}, "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC": {1, 6},
	}
	got := map[string]row{}
	for name, topic := range byName(goldenTopicSettings) {
		require.Equal(t, topic.ReadQueueNums, topic.WriteQueueNums)
		got[name] = row{topic.WriteQueueNums, topic.Perm}
	}
	require.Equal(t, want, got)

	// Java 5.5.0 stored the same ones with these settings.
	golden, err := protocol.DecodeTopicsFile([]byte(goldenConfig(t, "5.5.0", "topics.json")), 0, nil)
	require.NoError(t, err)
	stored := newConfigTable(golden.Topics, nameOfTopic).byName
	for name, topic := range byName(goldenTopicSettings) {
		require.Equal(t, stored[name], topic)
	}

	s := goldenTopicSettings
	s.AutoCreateTopicEnable, s.ClusterTopicEnable, s.BrokerTopicEnable = false, false, false
	s.TraceTopicEnable, s.TimerWheelEnable, s.MsgTraceTopicName = true, true, "Trace"
	topics := byName(s)
	require.NotContains(t, topics, "TBW102")
	require.EqualValues(t, 1, topics["GoldenCluster"].Perm)
	require.EqualValues(t, 1, topics["broker-a"].Perm)
	require.EqualValues(t, 1, topics["Trace"].WriteQueueNums)
	require.EqualValues(t, 1, topics["rmq_sys_wheel_timer"].WriteQueueNums)

	s.BrokerName = s.ClusterName
	require.EqualValues(t, 1, byName(s)[s.ClusterName].WriteQueueNums, "the later insertion wins")
}

func TestSystemTopicNames(t *testing.T) {
	table := openTestTopics(t, t.TempDir())
	names := table.systemTopicNames()
	require.True(t, slices.IsSorted(names))
	for _, name := range []string{"TBW102", "GoldenCluster", "broker-a", "CHECKPOINT_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC", "RMQ_SYS_TRACE_TOPIC"} {
		require.Contains(t, names, name)
		require.True(t, table.isSystem(name))
	}
	require.True(t, table.isSystem("rmq_sys_anything"))
	require.False(t, table.isSystem("Orders"))
	require.False(t, table.isSystem("%RETRY%G"))
	for _, name := range []string{"SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC",
		"SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT", "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"} {
		require.True(t, sendNotAllowed(name))
	}
	require.False(t, sendNotAllowed("TBW102"))
	require.False(t, sendNotAllowed("BenchmarkTest"))
}
