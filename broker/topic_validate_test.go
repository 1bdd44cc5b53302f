package broker

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// requireInvalid checks for the answer INVALID_PARAMETER with exactly this remark; "" is no error.
func requireInvalid(t *testing.T, remark string, err error) {
	t.Helper()
	if remark == "" {
		require.NoError(t, err)
		return
	}
	require.EqualError(t, err, remark)
	var answer *remoting.Error
	require.True(t, errors.As(err, &answer))
	require.Equal(t, protocol.RespInvalidParameter, answer.Code)
}

// TopicValidatorTest of the original, and spec/broker.md §3.5.
func TestValidateTopicName(t *testing.T) {
	n := func(prefix string, length int) string { return prefix + strings.Repeat("x", length-len(prefix)) }
	illegal := func(name string) string {
		return "The specified topic: " + name + ", contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"
	}
	for _, test := range []struct{ name, remark string }{
		{"", "The specified topic is blank."},
		{" \t\r\n\f\v", "The specified topic is blank."},
		{"../TopicTest", illegal("../TopicTest")},
		{"a.b", illegal("a.b")},
		{"a b", illegal("a b")},
		{"a+b", illegal("a+b")},
		{"Größe", illegal("Größe")},
		{"a\x00", illegal("a\x00")},
		{"%|azAZ09_-", ""},
		{n("", 127), ""},
		{n("", 128), "The specified topic: " + n("", 128) + ", is longer than topic max length: 127"},
		{n("%RETRY%", 255), ""},
		{n("%RETRY%", 256), "The specified topic is DLQ or Retry topic: " + n("%RETRY%", 256) + ", and it's longer than topic max length: 255"},
		{n("%DLQ%", 255), ""},
		{n("%DLQ%", 256), "The specified topic is DLQ or Retry topic: " + n("%DLQ%", 256) + ", and it's longer than topic max length: 255"},
		{n("%LMQ%", 128), "The specified topic: " + n("%LMQ%", 128) + ", is longer than topic max length: 127"},
	} {
		requireInvalid(t, test.remark, validateTopicName(test.name))
	}
}

func TestValidateGroupName(t *testing.T) {
	for _, test := range []struct{ name, remark string }{
		{"", "The specified group is blank."},
		{"  ", "The specified group is blank."},
		{"a.b", "The specified group: a.b, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"},
		{strings.Repeat("g", 120), ""},
		{strings.Repeat("g", 121), "The specified group: " + strings.Repeat("g", 121) + ", is longer than group max length: 120"},
	} {
		requireInvalid(t, test.remark, validateGroupName(test.name))
	}
}

func TestValidateConfigs(t *testing.T) {
	topic := func(perm, read, write int32) *protocol.TopicConfig {
		return &protocol.TopicConfig{TopicName: "T", Perm: perm, ReadQueueNums: read, WriteQueueNums: write}
	}
	for perm := range int32(8) {
		require.NoError(t, validateTopicConfig(topic(perm, 0, 65536)))
	}
	requireInvalid(t, "The perm of topic[T] is 8, allowing only 0 to 7", validateTopicConfig(topic(8, 1, 1)))
	requireInvalid(t, "The perm of topic[T] is -1, allowing only 0 to 7", validateTopicConfig(topic(-1, 1, 1)))
	requireInvalid(t, "The readQueueNums of topic[T] is -4, allowing only 0 to 65536", validateTopicConfig(topic(6, -4, 1)))
	requireInvalid(t, "The writeQueueNums of topic[T] is 2147483647, allowing only 0 to 65536", validateTopicConfig(topic(6, 1, 2147483647)))

	group := func(queues, times int32) *protocol.SubscriptionGroupConfig {
		return &protocol.SubscriptionGroupConfig{GroupName: "G", RetryQueueNums: queues, RetryMaxTimes: times}
	}
	require.NoError(t, validateGroupConfig(group(0, 0)))
	require.NoError(t, validateGroupConfig(group(65536, 2147483647)))
	requireInvalid(t, "The retryQueueNums of group[G] is -1, allowing only 0 to 65536", validateGroupConfig(group(-1, 16)))
	requireInvalid(t, "The retryQueueNums of group[G] is 65537, allowing only 0 to 65536", validateGroupConfig(group(65537, 16)))
	requireInvalid(t, "The retryMaxTimes of group[G] is -1, allowing only 0 and above", validateGroupConfig(group(1, -1)))
}
