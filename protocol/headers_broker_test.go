package protocol

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var brokerHeaderCases = []headerCase{
	{
		code: ReqUpdateAndCreateTopic,
		full: &CreateTopicRequestHeader{
			Topic: "t", DefaultTopic: "TBW102", ReadQueueNums: 3, WriteQueueNums: 4, Perm: 6, TopicFilterType: FilterMultiTag,
			TopicSysFlag: Some(int32(1)), Order: true, Attributes: Some("+message.type=FIFO"), Force: Some(true),
		},
		wire: Ext{
			{"topic", "t"}, {"defaultTopic", "TBW102"}, {"readQueueNums", "3"}, {"writeQueueNums", "4"}, {"perm", "6"},
			{"topicFilterType", "MULTI_TAG"}, {"topicSysFlag", "1"}, {"order", "true"}, {"attributes", "+message.type=FIFO"}, {"force", "true"},
		},
		required: []string{"topic", "readQueueNums", "writeQueueNums", "perm", "topicFilterType"},
	},
	{code: ReqDeleteTopicInBroker, full: &DeleteTopicRequestHeader{"t"}, wire: Ext{{"topic", "t"}}},
	{
		code: ReqGetAllTopicConfig, full: &GetAllTopicConfigRequestHeader{Some(int32(5)), Some("{}"), Some(int32(2000))},
		wire: Ext{{"topicSeq", "5"}, {"dataVersion", "{}"}, {"maxTopicNum", "2000"}},
	},
	{
		code: ReqGetAllTopicConfig, response: true, full: &GetAllTopicConfigResponseHeader{Some(int32(7))},
		wire: Ext{{"totalTopicNum", "7"}},
	},
	{
		code: ReqGetBrokerConfig, response: true, full: &GetBrokerConfigResponseHeader{`{"counter":0}`},
		wire: Ext{{"version", `{"counter":0}`}}, required: []string{"version"},
	},
	{
		code: ReqHeartBeat, response: true, full: &HeartbeatResponseHeader{Some(true), Some(false)},
		wire: Ext{{"IS_SUPPORT_HEART_BEAT_V2", "true"}, {"IS_SUB_CHANGE", "false"}},
	},
	{
		code: ReqUnregisterClient, full: &UnregisterClientRequestHeader{"id", Some("p"), Some("c")},
		wire: Ext{{"clientID", "id"}, {"producerGroup", "p"}, {"consumerGroup", "c"}},
	},
	{
		code: ReqGetConsumerListByGroup, full: &GetConsumerListByGroupRequestHeader{"g"},
		wire: Ext{{"consumerGroup", "g"}}, required: []string{"consumerGroup"},
	},
	{
		code: ReqNotifyConsumerIDsChanged, full: &NotifyConsumerIDsChangedRequestHeader{"g"},
		wire: Ext{{"consumerGroup", "g"}}, required: []string{"consumerGroup"},
	},
	{
		code: ReqGetAllSubscriptionGroupConfig, full: &GetAllSubscriptionGroupRequestHeader{Some(int32(5)), Some(""), Some(int32(2000))},
		wire: Ext{{"groupSeq", "5"}, {"dataVersion", ""}, {"maxGroupNum", "2000"}},
	},
	{
		code: ReqGetAllSubscriptionGroupConfig, response: true, full: &GetAllSubscriptionGroupResponseHeader{Some(int32(7))},
		wire: Ext{{"totalGroupNum", "7"}},
	},
	{
		code: ReqGetConsumerConnectionList, full: &GetConsumerConnectionListRequestHeader{"g"},
		wire: Ext{{"consumerGroup", "g"}}, required: []string{"consumerGroup"},
	},
	{
		code: ReqGetProducerConnectionList, full: &GetProducerConnectionListRequestHeader{"g"},
		wire: Ext{{"producerGroup", "g"}}, required: []string{"producerGroup"},
	},
	{
		code: ReqDeleteSubscriptionGroup, full: &DeleteSubscriptionGroupRequestHeader{"g", true},
		wire: Ext{{"groupName", "g"}, {"cleanOffset", "true"}, {"removeOffset", "true"}}, required: []string{"groupName"},
	},
	{
		code: ReqResetConsumerClientOffset,
		full: &ResetOffsetRequestHeader{"t", "g", -1, true, Some(int32(2)), Some(int64(9))},
		wire: Ext{
			{"topic", "t"}, {"group", "g"}, {"timestamp", "-1"}, {"isForce", "true"}, {"queueId", "2"}, {"offset", "9"},
		},
		required: []string{"topic", "group", "timestamp"},
	},
	{
		code: ReqGetConsumerStatusFromClient, full: &GetConsumerStatusRequestHeader{"t", "g", Some("id")},
		wire: Ext{{"topic", "t"}, {"group", "g"}, {"clientAddr", "id"}}, required: []string{"topic", "group"},
	},
	{
		code: ReqQueryTopicConsumeByWho, full: &QueryTopicConsumeByWhoRequestHeader{"t"},
		wire: Ext{{"topic", "t"}}, required: []string{"topic"},
	},
	{
		code: ReqGetConsumerRunningInfo, full: &GetConsumerRunningInfoRequestHeader{"g", "id", Some(true)},
		wire:     Ext{{"consumerGroup", "g"}, {"clientId", "id"}, {"jstackEnable", "true"}},
		required: []string{"consumerGroup", "clientId"},
	},
	{
		code: ReqConsumeMessageDirectly,
		full: &ConsumeMessageDirectlyResultRequestHeader{
			"g", Some("id"), Some("7F00000100002A9F0000000000000000"), Some("b"), Some("t"), Some(int32(1)), Some(int32(2)),
		},
		wire: Ext{
			{"consumerGroup", "g"}, {"clientId", "id"}, {"msgId", "7F00000100002A9F0000000000000000"}, {"brokerName", "b"}, {"topic", "t"},
			{"topicSysFlag", "1"}, {"groupSysFlag", "2"},
		},
		required: []string{"consumerGroup"},
	},
	{
		code: ReqUpdateConsumerOffset, full: &UpdateConsumerOffsetRequestHeader{"g", "t", Some(int32(3)), Some(int64(1) << 40)},
		wire:     Ext{{"consumerGroup", "g"}, {"topic", "t"}, {"queueId", "3"}, {"commitOffset", "1099511627776"}},
		required: []string{"consumerGroup", "topic"},
	},
	{
		code: ReqQueryConsumerOffset, full: &QueryConsumerOffsetRequestHeader{"g", "t", 3, Some(false)},
		wire:     Ext{{"consumerGroup", "g"}, {"topic", "t"}, {"queueId", "3"}, {"setZeroIfNotFound", "false"}},
		required: []string{"consumerGroup", "topic", "queueId"},
	},
	{
		code: ReqQueryConsumerOffset, response: true, full: &QueryConsumerOffsetResponseHeader{7},
		wire: Ext{{"offset", "7"}}, required: []string{"offset"},
	},
	{
		code: ReqCloneGroupOffset, full: &CloneGroupOffsetRequestHeader{"g", "h", Some("t"), true},
		wire:     Ext{{"srcGroup", "g"}, {"destGroup", "h"}, {"topic", "t"}, {"offline", "true"}},
		required: []string{"srcGroup", "destGroup"},
	},
	{
		code: ReqQueryTopicsByConsumer, full: &QueryTopicsByConsumerRequestHeader{"g"},
		wire: Ext{{"group", "g"}}, required: []string{"group"},
	},
	{
		code: ReqQuerySubscriptionByConsumer, full: &QuerySubscriptionByConsumerRequestHeader{"g", Some("t")},
		wire: Ext{{"group", "g"}, {"topic", "t"}}, required: []string{"group"},
	},
	{
		code: ReqGetTopicConfig, full: &GetTopicConfigRequestHeader{"t", Some(true)},
		wire: Ext{{"topic", "t"}, {"lo", "true"}}, required: []string{"topic"},
	},
	{
		code: ReqGetSubscriptionGroupConfig, full: &GetSubscriptionGroupConfigRequestHeader{"g"},
		wire: Ext{{"group", "g"}}, required: []string{"group"},
	},
	{
		code: ReqUpdateAndGetGroupForbidden, full: &UpdateGroupForbiddenRequestHeader{"g", "t", Some(false)},
		wire: Ext{{"group", "g"}, {"topic", "t"}, {"readable", "false"}}, required: []string{"group", "topic"},
	},
}

func TestBrokerHeadersRefuseBadRequiredValues(t *testing.T) {
	create := brokerHeaderCases[0].wire
	for _, c := range []struct {
		field, value, want string
		header             header
		wire               Ext
	}{
		{"readQueueNums", "x", `readQueueNums: not an integer: "x"`, &CreateTopicRequestHeader{}, create},
		{"writeQueueNums", "2147483648", `writeQueueNums: out of range: "2147483648"`, &CreateTopicRequestHeader{}, create},
		{"perm", "", `perm: not an integer: ""`, &CreateTopicRequestHeader{}, create},
		{"topicFilterType", "single_tag", `topicFilterType: neither SINGLE_TAG nor MULTI_TAG: "single_tag"`, &CreateTopicRequestHeader{}, create},
		{
			"timestamp", "now", `timestamp: not an integer: "now"`, &ResetOffsetRequestHeader{},
			Ext{{"topic", "t"}, {"group", "g"}, {"timestamp", "0"}},
		},
	} {
		err := c.header.Decode(append(slices.Clone(c.wire), Field{c.field, c.value}))
		require.EqualError(t, err, c.want)
	}
}

// A broker of any release must understand which offsets go, and so must we.
func TestDeleteSubscriptionGroupUnderstandsBothNames(t *testing.T) {
	for _, c := range []struct {
		ext  Ext
		want bool
	}{
		{Ext{{"groupName", "g"}}, false},
		{Ext{{"groupName", "g"}, {"removeOffset", "true"}}, true},
		{Ext{{"groupName", "g"}, {"cleanOffset", "TRUE"}}, true},
		{Ext{{"groupName", "g"}, {"cleanOffset", "false"}, {"removeOffset", "true"}}, true},
		{Ext{{"groupName", "g"}, {"cleanOffset", "false"}, {"removeOffset", "yes"}}, false},
	} {
		var h DeleteSubscriptionGroupRequestHeader
		require.NoError(t, h.Decode(c.ext))
		require.Equal(t, c.want, h.CleanOffset, c.ext)
	}
}

// Headers of Java clients, brokers and mqadmin: read, and written again with the same fields.
func TestGoldenBrokerHeaders(t *testing.T) {
	type key struct {
		code     RequestCode
		response bool
	}
	cases := map[key]headerCase{}
	for _, c := range brokerHeaderCases {
		cases[key{c.code, c.response}] = c
	}
	cases[key{ReqInvokeBrokerToResetOffset, false}] = cases[key{ReqResetConsumerClientOffset, false}]
	seen := map[key]bool{}

	file, err := os.Open("testdata/broker-headers.jsonl")
	require.NoError(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var g struct {
			From     string
			Code     RequestCode
			Response bool
			Ext      [][2]string
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &g))
		t.Run(g.From, func(t *testing.T) {
			k := key{g.Code, g.Response}
			require.Contains(t, cases, k)
			seen[k] = true
			var ext, want Ext
			for _, f := range g.Ext {
				ext = append(ext, Field{f[0], f[1]})
				if f[0] != "ReqT" && f[0] != "bname" { // of the client's hooks and rpc layer
					want = append(want, Field{f[0], f[1]})
				}
			}
			h := cases[k].blank()
			require.NoError(t, h.Decode(ext))
			got := h.AppendExt(nil)
			if g.Code == ReqDeleteSubscriptionGroup {
				clean, _ := got.Get("cleanOffset")
				remove, _ := got.Get("removeOffset")
				require.Equal(t, clean, remove)
				if _, old := ext.Get("removeOffset"); old {
					got = got.without("cleanOffset")
				} else {
					got = got.without("removeOffset")
				}
			}
			require.ElementsMatch(t, want, got)
		})
	}
	require.Len(t, seen, 15)
}
