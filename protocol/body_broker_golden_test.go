package protocol

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Bodies between Java clients, mqadmin and brokers. Those of 5.5.0 are written again as they came, but for the order of maps.
func TestGoldenBrokerBodies(t *testing.T) {
	decoders := map[string]func([]byte) (JSONBody, error){}
	for _, b := range brokerBodies {
		decoders[b.class] = b.decode
	}
	decoders["KVTable"] = asBody(DecodeKVTable)
	requests := map[RequestCode]string{
		ReqHeartBeat:                        "HeartbeatData",
		ReqLockBatchMQ:                      "LockBatchRequestBody",
		ReqUnlockBatchMQ:                    "LockBatchRequestBody",
		ReqCheckClientConfig:                "CheckClientRequestBody",
		ReqUpdateAndCreateSubscriptionGroup: "SubscriptionGroupConfig",
		ReqResetConsumerClientOffset:        "ResetOffsetBody",
	}
	answers := map[RequestCode]string{
		ReqGetBrokerRuntimeInfo:      "KVTable",
		ReqGetConsumerListByGroup:    "GetConsumerListByGroupResponseBody",
		ReqLockBatchMQ:               "LockBatchResponseBody",
		ReqGetConsumerConnectionList: "ConsumerConnection",
		ReqGetProducerConnectionList: "ProducerConnection",
		ReqInvokeBrokerToResetOffset: "ResetOffsetBody",
		ReqQueryTopicConsumeByWho:    "GroupList",
		ReqGetAllProducerInfo:        "ProducerTableInfo",
		ReqGetTopicConfig:            "TopicConfigAndQueueMapping",
	}
	seen := map[string]bool{}
	for _, g := range readGolden(t, "broker-bodies.jsonl") {
		t.Run(g.From, func(t *testing.T) {
			class := requests[RequestCode(g.Code)]
			if g.Response {
				class = answers[RequestCode(g.Code)]
			}
			require.NotEmpty(t, class)
			seen[class] = true
			body, err := decoders[class]([]byte(g.Body))
			require.NoError(t, err)
			again := body.AppendJSON(nil, FormDefault)
			if g.Version >= Version5_0_0 {
				require.Equal(t, sortedJSON(t, []byte(g.Body)), sortedJSON(t, again))
				require.Len(t, again, len(g.Body))
			}
			same, err := decoders[class](again)
			require.NoError(t, err)
			require.Equal(t, string(again), string(same.AppendJSON(nil, FormDefault)))
		})
	}
	require.Len(t, seen, 13)
}

// Files that Java brokers left behind. Those of 5.5.0 are written again as they were, but for the order of maps.
func TestGoldenBrokerFiles(t *testing.T) {
	decoders := map[string]func([]byte) (JSONBody, error){
		"topics.json":            asBodyAt(DecodeTopicConfigSerializeWrapper),
		"subscriptionGroup.json": asBodyAt(DecodeSubscriptionGroupWrapper),
		"topicQueueMapping.json": asBodyAt(DecodeTopicQueueMappingSerializeWrapper),
	}
	for _, g := range readGolden(t, "broker-files.jsonl") {
		t.Run(g.From, func(t *testing.T) {
			file, err := decoders[g.Note]([]byte(g.Body))
			require.NoError(t, err)
			again := string(AppendPretty(nil, file))
			switch {
			case !strings.HasPrefix(g.From, "broker/5.5.0"):
			case g.Note == "subscriptionGroup.json": // ours is sorted
				require.Equal(t, sortedJSON(t, []byte(g.Body)), sortedJSON(t, []byte(again)))
				require.ElementsMatch(t, strings.Split(strings.ReplaceAll(g.Body, ",", ""), "\n"), strings.Split(strings.ReplaceAll(again, ",", ""), "\n"))
			default:
				require.Equal(t, g.Body, again)
			}
			same, err := decoders[g.Note]([]byte(again))
			require.NoError(t, err)
			require.Equal(t, again, string(AppendPretty(nil, same)))
		})
	}

	groups, err := DecodeSubscriptionGroupWrapper([]byte(readGolden(t, "broker-files.jsonl")[1].Body), testNow)
	require.NoError(t, err)
	require.Nil(t, groups.ForbiddenTable)
	require.Equal(t, &DataVersion{Counter: 5, Timestamp: 1795960178197}, groups.DataVersion)
	for _, g := range groups.SubscriptionGroupTable {
		if g.GroupName == "GID_limited" {
			want := NewSubscriptionGroupConfig("GID_limited")
			want.ConsumeBroadcastEnable, want.ConsumeFromMinEnable = false, false
			want.RetryMaxTimes, want.RetryQueueNums = 3, 2
			require.Equal(t, want, g)
		}
	}
}
