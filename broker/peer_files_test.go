package broker_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// The row BrokerPathConfigHelperTest of spec/broker.md §10, as far as there is something to keep: what is in the store's folder.
func TestBrokerPathConfigHelper(t *testing.T) {
	b := startBroker(t)
	b.Admin().must(protocol.ReqUpdateAndCreateTopic, topicFields("Orders"), "")
	b.Admin().must(protocol.ReqUpdateAndCreateSubscriptionGroup, nil, `{"groupName":"G"}`)
	b.stop()
	names := func(folder string) (names []string) {
		entries, err := os.ReadDir(filepath.Join(b.dir, folder))
		require.NoError(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	require.Equal(t, []string{"config", "lock"}, names("store"))
	require.Equal(t, []string{"subscriptionGroup.json", "subscriptionGroup.json.bak", "topics.json", "topics.json.bak"}, names("store/config"))
}

// The rows RocksdbTopicConfigManagerTest and TopicConfigManagerV2Test of spec/broker.md §10: a topic survives a restart as it
// is, and one that was removed stays removed.
func TestTopicsSurviveRestarts(t *testing.T) {
	b := startBroker(t)
	b.Admin().must(protocol.ReqUpdateAndCreateTopic, topicFields("Kept", "readQueueNums", "3", "perm", "4", "order", "true", "topicSysFlag", "1",
		"attributes", "+message.type=FIFO"), "")
	b.Admin().must(protocol.ReqUpdateAndCreateTopic, topicFields("Removed"), "")
	b.Admin().must(protocol.ReqDeleteTopicInBroker, ext("topic", "Removed"), "")
	before := b.topic("Kept")
	require.NotNil(t, before)
	b.stop()
	again := startBrokerIn(t, b.dir)
	require.Equal(t, before, again.topic("Kept"))
	require.Nil(t, again.topic("Removed"))
}
