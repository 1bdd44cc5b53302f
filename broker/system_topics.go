package broker

import (
	"maps"
	"slices"
	"strings"

	"github.com/mq-server/mq/protocol"
)

// Topics with a meaning of their own. Source: spec/broker.md §3.4, spec/since-2025-09.md §4.1.
const (
	autoCreateTopic       = "TBW102" // stands for topics that do not exist yet
	scheduleTopic         = "SCHEDULE_TOPIC_XXXX"
	benchmarkTopic        = "BenchmarkTest"
	selfTestTopic         = "SELF_TEST_TOPIC"
	offsetMovedTopic      = "OFFSET_MOVED_EVENT"
	traceTopic            = "RMQ_SYS_TRACE_TOPIC"
	transHalfTopic        = "RMQ_SYS_TRANS_HALF_TOPIC"
	transOpHalfTopic      = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
	rocksTransHalfTopic   = "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC"
	rocksTransOpHalfTopic = "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"
	transMaxTimeTopic     = "TRANS_CHECK_MAX_TIME_TOPIC"
	checkpointTopic       = "CHECKPOINT_TOPIC"
	timerTopic            = "rmq_sys_wheel_timer"

	systemTopicPrefix = "rmq_sys_"
	replyTopicSuffix  = "_REPLY_TOPIC"        // after the cluster's name
	reviveTopicPrefix = "rmq_sys_REVIVE_LOG_" // before the cluster's name
	memberTopicPrefix = "rmq_sys_SYNC_BROKER_MEMBER_"

	retryTopicPrefix = "%RETRY%" // before a group: messages to be delivered again
	dlqTopicPrefix   = "%DLQ%"   // before a group: messages given up
)

// alwaysSystemTopics are system topics whether or not this broker has them.
var alwaysSystemTopics = []string{
	autoCreateTopic, scheduleTopic, benchmarkTopic, transHalfTopic, traceTopic, transOpHalfTopic, transMaxTimeTopic,
	selfTestTopic, offsetMovedTopic, checkpointTopic, rocksTransHalfTopic, rocksTransOpHalfTopic,
}

// sendNotAllowed tells whether clients may not send to a topic.
func sendNotAllowed(topic string) bool {
	switch topic {
	case scheduleTopic, transHalfTopic, transOpHalfTopic, transMaxTimeTopic, selfTestTopic, offsetMovedTopic,
		rocksTransHalfTopic, rocksTransOpHalfTopic:
		return true
	}
	return false
}

// systemTopics returns the topics that a broker with these settings has from the start. Of two with one name the later one
// counts.
func systemTopics(s topicSettings) []*protocol.TopicConfig {
	var list []*protocol.TopicConfig
	add := func(name string, queues, perm int32) {
		list = append(list, newTopic(name, queues, perm, 0, false))
	}
	shared := func(enabled bool) int32 { // permission of the topics that are called like the cluster and the broker
		if enabled {
			return permRead | permWrite | permInherit
		}
		return permInherit
	}
	add(selfTestTopic, 1, permRead|permWrite)
	if s.AutoCreateTopicEnable {
		add(autoCreateTopic, s.DefaultTopicQueueNums, permRead|permWrite|permInherit)
	}
	add(benchmarkTopic, 1024, permRead|permWrite)
	add(s.ClusterName, 16, shared(s.ClusterTopicEnable))
	add(s.BrokerName, 1, shared(s.BrokerTopicEnable))
	add(offsetMovedTopic, 1, permRead|permWrite)
	add(scheduleTopic, 18, permRead|permWrite)
	if s.TraceTopicEnable {
		add(s.MsgTraceTopicName, 1, permRead|permWrite)
	}
	add(s.ClusterName+replyTopicSuffix, 1, permRead|permWrite)
	add(reviveTopicPrefix+s.ClusterName, s.ReviveQueueNum, permRead|permWrite)
	add(memberTopicPrefix+s.BrokerName, 1, permInherit)
	add(transHalfTopic, 1, permRead|permWrite)
	add(transOpHalfTopic, 1, permRead|permWrite)
	add(rocksTransHalfTopic, 1, permRead|permWrite)
	add(rocksTransOpHalfTopic, 1, permRead|permWrite)
	if s.TimerWheelEnable {
		add(timerTopic, 1, permRead|permWrite)
	}
	return list
}

// systemTopicSet returns the names of the system topics of a broker that inserted these.
func systemTopicSet(inserted []*protocol.TopicConfig) map[string]bool {
	set := make(map[string]bool)
	for _, name := range alwaysSystemTopics {
		set[name] = true
	}
	for _, t := range inserted {
		set[t.TopicName] = true
	}
	return set
}

// isSystem tells whether a topic is one of the system's: clients can neither change nor delete it.
func (t *topicTable) isSystem(topic string) bool {
	return t.system[topic] || strings.HasPrefix(topic, systemTopicPrefix)
}

// systemTopicNames returns the answer to code 305: the names of the system topics, ascending, also of those that this
// broker does not have.
func (t *topicTable) systemTopicNames() []string { return slices.Sorted(maps.Keys(t.system)) }
