package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// brokerBody is one class of body or file, with values that are not their zeros and what they are on the wire.
type brokerBody struct {
	class  string
	decode func([]byte) (JSONBody, error)
	full   JSONBody
	wire   string
}

// asBody makes a decoder return its body as a JSONBody.
func asBody[T any, P interface {
	*T
	JSONBody
}](decode func([]byte) (T, error)) func([]byte) (JSONBody, error) {
	return func(data []byte) (JSONBody, error) {
		b, err := decode(data)
		return P(&b), err
	}
}

func asBodyAt[T any, P interface {
	*T
	JSONBody
}](decode func([]byte, int64) (T, error)) func([]byte) (JSONBody, error) {
	return asBody[T, P](func(data []byte) (T, error) { return decode(data, testNow) })
}

const (
	subscriptionWire = `{"classFilterMode":true,"codeSet":[97,-1],"expressionType":"SQL92","subString":"a > 3","subVersion":1700000000000,` +
		`"tagsSet":["a","b"],"topic":"T"}`
	queueWire   = `{"brokerName":"b","queueId":3,"topic":"T"}`
	versionWire = `{"counter":3,"stateVersion":1,"timestamp":1700000000000}`
	topicWire   = `{"attributes":{"+message.type":"FIFO"},"order":true,"perm":4,"readQueueNums":2,"topicFilterType":"MULTI_TAG",` +
		`"topicName":"T","topicSysFlag":1,"writeQueueNums":3}`
	mappingWire = `{"bname":"b","currIdMap":{0:1},"dirty":true,"epoch":5,"hostedQueues":{0:[{"bname":"b","endOffset":-1,"gen":1,` +
		`"logicOffset":2,"queueId":3,"startOffset":4,"timeOfEnd":-1,"timeOfStart":6}]},"scope":"s","topic":"T","totalQueues":7}`
	groupWire = `{"attributes":{"k":"v"},"brokerId":2,"consumeBroadcastEnable":false,"consumeEnable":false,"consumeFromMinEnable":false,` +
		`"consumeMessageOrderly":true,"consumeTimeoutMinute":16,"groupName":"G","groupRetryPolicy":{"customizedRetryPolicy":{"next":[1000,5000]},` +
		`"exponentialRetryPolicy":{"initial":1,"max":2,"multiplier":3},"type":"EXPONENTIAL"},"groupSysFlag":1,` +
		`"notifyConsumerIdsChangedEnable":false,"retryMaxTimes":17,"retryQueueNums":2,"subscriptionDataSet":[{"expression":"*",` +
		`"expressionType":"TAG","topic":"T","version":4}],"whichBrokerWhenConsumeSlowly":3}`
)

func fullSubscription() SubscriptionData {
	return SubscriptionData{
		ClassFilterMode: true, Topic: "T", SubString: "a > 3", TagsSet: []string{"a", "b"}, CodeSet: []int32{97, -1},
		SubVersion: 1700000000000, ExpressionType: "SQL92",
	}
}

func fullTopic() TopicConfig {
	return TopicConfig{
		MapKey: "T", TopicName: "T", ReadQueueNums: 2, WriteQueueNums: 3, Perm: 4, TopicSysFlag: 1, TopicFilterType: FilterMultiTag,
		Order: true, Attributes: map[string]string{"+message.type": "FIFO"},
	}
}

func fullMapping() TopicQueueMappingDetail {
	return TopicQueueMappingDetail{
		TopicQueueMappingInfo: TopicQueueMappingInfo{
			Topic: "T", Bname: "b", Scope: "s", TotalQueues: 7, Epoch: 5, Dirty: true, CurrIDMap: []QueueIDMapping{{0, 1}},
		},
		HostedQueues: []HostedQueue{{0, []LogicQueueMappingItem{{
			Gen: 1, QueueID: 3, Bname: "b", LogicOffset: 2, StartOffset: 4, EndOffset: -1, TimeOfStart: 6, TimeOfEnd: -1,
		}}}},
	}
}

func fullGroup() SubscriptionGroupConfig {
	return SubscriptionGroupConfig{
		GroupName: "G", ConsumeMessageOrderly: true, RetryQueueNums: 2, RetryMaxTimes: 17, BrokerID: 2, WhichBrokerWhenConsumeSlowly: 3,
		GroupRetryPolicy: GroupRetryPolicy{
			Type: RetryExponential, ExponentialRetryPolicy: &ExponentialRetryPolicy{1, 2, 3},
			CustomizedRetryPolicy: &CustomizedRetryPolicy{[]int64{1000, 5000}},
		},
		GroupSysFlag: 1, ConsumeTimeoutMinute: 16, SubscriptionDataSet: []SimpleSubscriptionData{{"T", "TAG", "*", 4}},
		Attributes: map[string]string{"k": "v"},
	}
}

var (
	testVersion  = DataVersion{StateVersion: 1, Timestamp: 1700000000000, Counter: 3}
	testQueue    = MessageQueue{Topic: "T", BrokerName: "b", QueueID: 3}
	brokerBodies = []brokerBody{
		{
			"HeartbeatData", asBodyAt(DecodeHeartbeatData),
			&HeartbeatData{
				ClientID: "id", ProducerDataSet: []ProducerData{{"P"}}, HeartbeatFingerprint: -5, WithoutSub: true,
				ConsumerDataSet: []ConsumerData{{"G", ConsumePop, LiteSelective, ConsumeFromTimestamp, []SubscriptionData{fullSubscription()}, true}},
			},
			`{"clientID":"id","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_TIMESTAMP","consumeType":"CONSUME_POP","groupName":"G",` +
				`"messageModel":"LITE_SELECTIVE","subscriptionDataSet":[` + subscriptionWire + `],"unitMode":true}],"heartbeatFingerprint":-5,` +
				`"producerDataSet":[{"groupName":"P"}],"withoutSub":true}`,
		},
		{
			"CheckClientRequestBody", asBody(DecodeCheckClientRequestBody),
			&CheckClientRequestBody{"id", "G", new("ns"), new(fullSubscription())},
			`{"clientId":"id","group":"G","namespace":"ns","subscriptionData":` + subscriptionWire + `}`,
		},
		{
			"GetConsumerListByGroupResponseBody", asBody(DecodeGetConsumerListByGroupResponseBody),
			&GetConsumerListByGroupResponseBody{[]string{"b", "a"}}, `{"consumerIdList":["b","a"]}`,
		},
		{
			"ConsumerConnection", asBody(DecodeConsumerConnection),
			&ConsumerConnection{
				[]Connection{{"id", "127.0.0.1:5", LanguageGo, Version5_5_0}}, []SubscriptionData{fullSubscription()},
				ConsumeActively, Broadcasting, ConsumeFromLastOffset,
			},
			`{"connectionSet":[{"clientAddr":"127.0.0.1:5","clientId":"id","language":"GO","version":513}],` +
				`"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_ACTIVELY","messageModel":"BROADCASTING",` +
				`"subscriptionTable":{"T":` + subscriptionWire + `}}`,
		},
		{
			"ProducerConnection", asBody(DecodeProducerConnection),
			&ProducerConnection{[]Connection{{"id", "127.0.0.1:5", LanguageUnknown, 1}}},
			`{"connectionSet":[{"clientAddr":"127.0.0.1:5","clientId":"id","version":1}]}`,
		},
		{
			"ProducerTableInfo", asBody(DecodeProducerTableInfo),
			&ProducerTableInfo{map[string][]ProducerInfo{"P": {{"id", "/127.0.0.1:5", LanguageCPP, 1, 1700000000000}}, "O": {}}},
			`{"data":{"O":[],"P":[{"clientId":"id","language":"CPP","lastUpdateTimestamp":1700000000000,"remoteIP":"/127.0.0.1:5","version":1}]}}`,
		},
		{
			"QuerySubscriptionResponseBody", asBody(DecodeQuerySubscriptionResponseBody),
			&QuerySubscriptionResponseBody{new(fullSubscription()), "G", new("T")},
			`{"group":"G","subscriptionData":` + subscriptionWire + `,"topic":"T"}`,
		},
		{
			"LockBatchRequestBody", asBody(DecodeLockBatchRequestBody),
			&LockBatchRequestBody{"G", "id", true, []MessageQueue{testQueue}},
			`{"clientId":"id","consumerGroup":"G","mqSet":[` + queueWire + `],"onlyThisBroker":true}`,
		},
		{
			"LockBatchResponseBody", asBody(DecodeLockBatchResponseBody),
			&LockBatchResponseBody{[]MessageQueue{testQueue}}, `{"lockOKMQSet":[` + queueWire + `]}`,
		},
		{
			"ResetOffsetBody", asBody(DecodeResetOffsetBody),
			&ResetOffsetBody{map[MessageQueue]int64{testQueue: 7, {"A", "b", 4}: -1}},
			`{"offsetTable":{{"brokerName":"b","queueId":4,"topic":"A"}:-1,` + queueWire + `:7}}`,
		},
		{
			"GetConsumerStatusBody", asBody(DecodeGetConsumerStatusBody),
			&GetConsumerStatusBody{map[MessageQueue]int64{testQueue: 7}, map[string]map[MessageQueue]int64{"id": {testQueue: 8}}},
			`{"consumerTable":{"id":{` + queueWire + `:8}},"messageQueueTable":{` + queueWire + `:7}}`,
		},
		{
			"ConsumeMessageDirectlyResult", asBody(DecodeConsumeMessageDirectlyResult),
			&ConsumeMessageDirectlyResult{true, true, CMThrowException, new("r"), 5},
			`{"autoCommit":true,"consumeResult":"CR_THROW_EXCEPTION","order":true,"remark":"r","spentTimeMills":5}`,
		},
		{"SubscriptionGroupConfig", asBody(DecodeSubscriptionGroupConfig), new(fullGroup()), groupWire},
		{
			"SubscriptionGroupWrapper", asBodyAt(DecodeSubscriptionGroupWrapper),
			&SubscriptionGroupWrapper{
				[]SubscriptionGroupConfig{fullGroup()}, map[string]map[string]int32{"G": {"T": 4, "S": 1}}, &testVersion,
			},
			`{"dataVersion":` + versionWire + `,"forbiddenTable":{"G":{"S":1,"T":4}},"subscriptionGroupTable":{"G":` + groupWire + `}}`,
		},
		{
			"SubscriptionGroupList", asBody(DecodeSubscriptionGroupList),
			&SubscriptionGroupList{[]SubscriptionGroupConfig{fullGroup()}}, `{"groupConfigList":[` + groupWire + `]}`,
		},
		{"GroupList", asBody(DecodeGroupList), &GroupList{[]string{"b", "a"}}, `{"groupList":["b","a"]}`},
		{
			"GroupForbidden", asBody(DecodeGroupForbidden),
			&GroupForbidden{"T", "G", new(true)}, `{"group":"G","readable":true,"topic":"T"}`,
		},
		{
			"CreateTopicListRequestBody", asBody(DecodeCreateTopicListRequestBody),
			&CreateTopicListRequestBody{[]TopicConfig{fullTopic()}}, `{"topicConfigList":[` + topicWire + `]}`,
		},
		{
			"TopicConfigAndMappingSerializeWrapper", asBodyAt(DecodeTopicConfigAndMappingSerializeWrapper),
			&TopicConfigAndMappingSerializeWrapper{
				[]TopicConfig{fullTopic()}, &testVersion, &testVersion, []NamedQueueMapping{{"T", fullMapping().TopicQueueMappingInfo}},
				[]NamedQueueMappingDetail{{"T", fullMapping()}},
			},
			`{"dataVersion":` + versionWire + `,"mappingDataVersion":` + versionWire + `,"topicConfigTable":{"T":` + topicWire +
				`},"topicQueueMappingDetailMap":{"T":` + mappingWire + `},"topicQueueMappingInfoMap":{"T":{"bname":"b","currIdMap":{0:1},` +
				`"dirty":true,"epoch":5,"scope":"s","topic":"T","totalQueues":7}}}`,
		},
		{
			"TopicConfigAndQueueMapping", asBody(DecodeTopicConfigAndQueueMapping),
			&TopicConfigAndQueueMapping{fullTopic(), new(fullMapping())},
			strings.Replace(topicWire, `,"order"`, `,"mappingDetail":`+mappingWire+`,"order"`, 1),
		},
		{
			"TopicQueueMappingSerializeWrapper", asBodyAt(DecodeTopicQueueMappingSerializeWrapper),
			&TopicQueueMappingSerializeWrapper{[]NamedQueueMappingDetail{{"T", fullMapping()}}, &testVersion},
			`{"dataVersion":` + versionWire + `,"topicQueueMappingInfoMap":{"T":` + mappingWire + `}}`,
		},
	}
)

func TestBrokerBodiesOnTheWire(t *testing.T) {
	for _, b := range brokerBodies {
		t.Run(b.class, func(t *testing.T) {
			require.Equal(t, b.wire, string(b.full.AppendJSON(nil, FormDefault)))
			require.Equal(t, "x"+b.wire, string(b.full.AppendJSON([]byte("x"), FormDefault)))
			got, err := b.decode([]byte(b.wire))
			require.NoError(t, err)
			require.Equal(t, b.full, got)

			strict := b.full.AppendJSON(nil, FormStrict)
			require.Equal(t, !strings.Contains(b.wire, "{{"), json.Valid(strict), "keys that are queues are bare in any form")
			got, err = b.decode(strict)
			require.NoError(t, err)
			require.Equal(t, b.full, got)

			pretty := AppendPretty(nil, b.full)
			got, err = b.decode(pretty)
			require.NoError(t, err)
			require.Equal(t, b.full, got)

			empty, err := b.decode([]byte(`{"aMemberOfTomorrow":[{}],"clientIDs":null}`))
			if err == nil {
				text := empty.AppendJSON(nil, FormDefault)
				again, err := b.decode(text)
				require.NoError(t, err, string(text))
				require.Equal(t, string(text), string(again.AppendJSON(nil, FormDefault)))
			} else {
				require.ErrorContains(t, err, "a topic has no topicName")
			}
		})
	}
}

func TestBrokerBodiesThatHoldNothing(t *testing.T) {
	for _, b := range brokerBodies {
		for _, text := range []string{"", " ", "null", "[]"} {
			_, err := b.decode([]byte(text))
			require.ErrorIs(t, err, ErrNullBody, b.class)
			var named *BodyError
			require.True(t, errors.As(err, &named))
			require.Equal(t, b.class, named.Body)
		}
		for _, text := range []string{"{", "x", `"x"`, "5", "{} {}", "[{}]"} {
			got, err := b.decode([]byte(text))
			require.Error(t, err, "%s %s", b.class, text)
			require.NotErrorIs(t, err, ErrNullBody)
			require.Zero(t, string(bytes.Trim(got.AppendJSON(nil, FormDefault)[:1], "{")))
		}
	}
}

// The Go client has no fingerprint, hash codes as texts, nanoseconds for versions and names of its own.
func TestHeartbeatOfTheGoClient(t *testing.T) {
	h, err := DecodeHeartbeatData([]byte(`{"clientID":"127.0.0.1@9@1","producerDataSet":[{"groupName":"P"}],"consumerDataSet":[{"groupName":"G",`+
		`"consumeType":"CONSUME_PASSIVELY","messageModel":"Clustering","consumeFromWhere":"UNKNOWN","subscriptionDataSet":[{"classFilterMode":false,`+
		`"topic":"T","subString":"a || b","tagsSet":["a","b"],"codeSet":["97","98"],"subVersion":1700000000000000000,"expressionType":"TAG"}],`+
		`"unitMode":false}]}`), testNow)
	require.NoError(t, err)
	require.Equal(t, HeartbeatData{
		ClientID: "127.0.0.1@9@1", ProducerDataSet: []ProducerData{{"P"}},
		ConsumerDataSet: []ConsumerData{{
			GroupName: "G", ConsumeType: ConsumePassively, MessageModel: Clustering,
			SubscriptionDataSet: []SubscriptionData{{
				Topic: "T", SubString: "a || b", TagsSet: []string{"a", "b"}, CodeSet: []int32{97, 98}, SubVersion: 1700000000000000000,
				ExpressionType: "TAG",
			}},
		}},
	}, h)
	require.Equal(t, "null", h.ConsumerDataSet[0].ConsumeFromWhere.String())
	require.Equal(t, "CLUSTERING", h.ConsumerDataSet[0].MessageModel.String())
	require.Equal(t, "CONSUME_PASSIVELY", h.ConsumerDataSet[0].ConsumeType.String())
	require.NotContains(t, string(h.AppendJSON(nil, FormDefault)), "consumeFromWhere")
}

func TestHeartbeatDefaultsAndFaults(t *testing.T) {
	h, err := DecodeHeartbeatData([]byte(`{"consumerDataSet":{"groupName":"G","consumeType":2,"messageModel":null,"subscriptionDataSet":{"topic":"T"}}}`), testNow)
	require.NoError(t, err)
	require.Equal(t, []ConsumerData{{
		GroupName: "G", ConsumeType: ConsumePop, SubscriptionDataSet: []SubscriptionData{{Topic: "T", SubVersion: testNow, ExpressionType: "TAG"}},
	}}, h.ConsumerDataSet)
	require.Nil(t, h.ProducerDataSet)

	for in, reason := range map[string]string{
		`{"producerDataSet":[null]}`:                                              "a producer group is null",
		`{"producerDataSet":[{}]}`:                                                "a producer group has no groupName",
		`{"producerDataSet":[{"groupName":null}]}`:                                "a producer group has no groupName",
		`{"consumerDataSet":[null]}`:                                              "a consumer group is null",
		`{"consumerDataSet":[{"unitMode":true}]}`:                                 "a consumer group has no groupName",
		`{"consumerDataSet":[{"groupName":"G","subscriptionDataSet":[null]}]}`:    "a subscription is null",
		`{"consumerDataSet":[{"groupName":"G","subscriptionDataSet":[{}]}]}`:      "a subscription has no topic",
		`{"consumerDataSet":[{"groupName":"G","consumeType":9}]}`:                 "offset 51: not one of CONSUME_ACTIVELY, CONSUME_PASSIVELY, CONSUME_POP, nor the number of one",
		`{"heartbeatFingerprint":2147483648}`:                                     "a number out of range",
		`{"producerDataSet":5}`:                                                   "a list was expected",
		`{"consumerDataSet":[{"groupName":"G","subscriptionDataSet":["T"]}]}`:     "an object was expected",
		`{"producerDataSet":[` + strings.Repeat(`{groupName:1},`, 1<<18+1) + `]}`: "a list is too long",
	} {
		h, err := DecodeHeartbeatData([]byte(in), testNow)
		require.ErrorContains(t, err, reason)
		require.Zero(t, h)
	}
}

func TestSubscriptionGroupDefaults(t *testing.T) {
	want := NewSubscriptionGroupConfig("G")
	require.Equal(t, `{"attributes":{},"brokerId":0,"consumeBroadcastEnable":true,"consumeEnable":true,"consumeFromMinEnable":true,`+
		`"consumeMessageOrderly":false,"consumeTimeoutMinute":15,"groupName":"G","groupRetryPolicy":{"type":"CUSTOMIZED"},"groupSysFlag":0,`+
		`"notifyConsumerIdsChangedEnable":true,"retryMaxTimes":16,"retryQueueNums":1,"whichBrokerWhenConsumeSlowly":1}`,
		string(want.AppendJSON(nil, FormDefault)))
	for _, in := range []string{
		`{"groupName":"G"}`,
		`{"groupName":"G","consumeEnable":null,"retryMaxTimes":"","groupRetryPolicy":null,"attributes":null,"subscriptionDataSet":null}`,
		`{"groupName":"G","groupRetryPolicy":{"type":""}}`,
		`{"groupName":"G","groupRetryPolicy":{"type":null,"exponentialRetryPolicy":null,"customizedRetryPolicy":null}}`,
	} {
		got, err := DecodeSubscriptionGroupConfig([]byte(in))
		require.NoError(t, err)
		require.Equal(t, want, got, in)
	}
	got, err := DecodeSubscriptionGroupConfig([]byte(`{"groupRetryPolicy":{"exponentialRetryPolicy":{},"type":"exponential"}}`))
	require.NoError(t, err)
	require.Equal(t, GroupRetryPolicy{Type: RetryExponential, ExponentialRetryPolicy: &ExponentialRetryPolicy{5000, 7200000, 2}}, got.GroupRetryPolicy)
	require.Empty(t, got.GroupName, "the broker judges names")
	for in, want := range map[string]GroupRetryPolicyType{"0": RetryExponential, "1": RetryCustomized, `"CUSTOMIZED"`: RetryCustomized} {
		got, err = DecodeSubscriptionGroupConfig([]byte(`{"groupRetryPolicy":{"type":` + in + `}}`))
		require.NoError(t, err)
		require.Equal(t, want, got.GroupRetryPolicy.Type, "by Java's ordinals")
	}
	unknown := `{"groupName":"G","groupRetryPolicy":{"type":"NOBODY_KNOWS"}}`
	_, err = DecodeSubscriptionGroupConfig([]byte(unknown))
	require.ErrorContains(t, err, "not one of EXPONENTIAL, CUSTOMIZED")
	table, err := DecodeSubscriptionGroupWrapper([]byte(`{"subscriptionGroupTable":{"G":`+unknown+`}}`), testNow)
	require.NoError(t, err)
	require.Equal(t, []SubscriptionGroupConfig{want}, table.SubscriptionGroupTable, "of another broker")
}

// The name that the table has for a group counts, nothing is read by halves, and the table of forbidden topics knows no null.
func TestSubscriptionGroupWrapperReading(t *testing.T) {
	w, err := DecodeSubscriptionGroupWrapper([]byte(`{"forbiddenTable":{"G":{"T":4,"U":null},"N":null,"E":{}},`+
		`"subscriptionGroupTable":{"G":{"groupName":"other","retryMaxTimes":3},"H":{},"G":{"retryMaxTimes":4}}}`), testNow)
	require.NoError(t, err)
	g := NewSubscriptionGroupConfig("G")
	g.RetryMaxTimes = 4
	require.Equal(t, SubscriptionGroupWrapper{
		[]SubscriptionGroupConfig{g, NewSubscriptionGroupConfig("H")}, map[string]map[string]int32{"G": {"T": 4}}, &DataVersion{Timestamp: testNow},
	}, w)

	_, err = DecodeSubscriptionGroupWrapper([]byte(`{"subscriptionGroupTable":{"G":null}}`), testNow)
	require.ErrorContains(t, err, "a group is null")
	w, err = DecodeSubscriptionGroupWrapper([]byte(`{"dataVersion":null,"subscriptionGroupTable":{}}`), testNow)
	require.NoError(t, err)
	require.Nil(t, w.DataVersion)
	require.Equal(t, `{"forbiddenTable":{},"subscriptionGroupTable":{}}`, string(w.AppendJSON(nil, FormDefault)))
}

// Keys that are queues come as bare objects; fastjson 1 also takes them as text.
func TestQueueKeys(t *testing.T) {
	want := ResetOffsetBody{map[MessageQueue]int64{testQueue: 7}}
	for _, in := range []string{
		`{"offsetTable":{` + queueWire + `:7}}`,
		`{"offsetTable":{ {"topic":"T" , "queueId":"3","brokerName":"b","x":{}} : "7" , }}`,
		`{"offsetTable":{"{\"brokerName\":\"b\",\"queueId\":3,\"topic\":\"T\"}":7}}`,
		`{"offsetTable":{'` + queueWire + `':7}}`,
		`{"offsetTable":{` + queueWire + `:6,` + queueWire + `:7}}`,
		`{"offsetTable":[{"brokerName":"b","offset":7,"queueId":3,"topic":"T"}]}`,
	} {
		got, err := DecodeResetOffsetBody([]byte(in))
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
	for in, reason := range map[string]string{
		`{"offsetTable":{5:7}}`:                      `unexpected "5"`,
		`{"offsetTable":{"x":7}}`:                    "a message queue was expected as name",
		`{"offsetTable":{"{} {}":7}}`:                "a message queue was expected as name",
		`{"offsetTable":{"":7}}`:                     "a message queue was expected as name",
		`{"offsetTable":{{"queueId":4294967296}:7}}`: "a number out of range",
		`{"offsetTable":{{}:null}}`:                  "an offset is null",
		`{"offsetTable":{{}7}}`:                      "a colon was expected",
		`{"offsetTable":{{}:7`:                       "unexpected end",
		`{"offsetTable":[null]}`:                     "a message queue is null",
	} {
		_, err := DecodeResetOffsetBody([]byte(in))
		require.ErrorContains(t, err, reason, in)
	}

	list := ResetOffsetBodyForC{map[MessageQueue]int64{testQueue: 7, {"A", "b", 4}: -1}}
	text := list.AppendJSON(nil, FormDefault)
	require.Equal(t, `{"offsetTable":[{"brokerName":"b","offset":-1,"queueId":4,"topic":"A"},{"brokerName":"b","offset":7,"queueId":3,"topic":"T"}]}`,
		string(text))
	got, err := DecodeResetOffsetBody(text)
	require.NoError(t, err)
	require.Equal(t, ResetOffsetBody(list), got)
}

func TestMessageQueueOrder(t *testing.T) {
	sorted := []MessageQueue{{"A", "a", 0}, {"A", "a", 1}, {"A", "b", 0}, {"B", "a", 0}}
	for i, a := range sorted {
		for j, b := range sorted {
			require.Equal(t, i < j, a.Compare(b) < 0)
			require.Equal(t, i == j, a.Compare(b) == 0)
		}
	}
}

// Arrays of numbers stay on one line in files, lists do not (spec/since-2025-09.md §1.3).
func TestPrettyGroup(t *testing.T) {
	g := fullGroup()
	text := string(AppendPretty(nil, &g))
	require.Contains(t, text, "\n\t\"groupRetryPolicy\":{\n\t\t\"customizedRetryPolicy\":{\n\t\t\t\"next\":[1000,5000]\n\t\t},\n\t\t\"exponentialRetryPolicy\":{\n")
	require.Contains(t, text, "\n\t\"subscriptionDataSet\":[\n\t\t{\n\t\t\t\"expression\":\"*\",\n")
	g.GroupRetryPolicy.CustomizedRetryPolicy.Next = nil
	require.Contains(t, string(AppendPretty(nil, &g)), `"next":[]`)
	require.NotContains(t, string(g.AppendJSON(nil, FormDefault)), "\x01")

	s := fullSubscription()
	require.Contains(t, string(AppendPretty(nil, &s)), "\"codeSet\":[\n\t\t97,\n\t\t-1\n\t],")
}

// Members that are null, numbers in the place of names, and what may be left out.
func TestOddMembersOfBrokerBodies(t *testing.T) {
	connections, err := DecodeProducerConnection([]byte(`{"connectionSet":[{"language":"go"},{"language":1},{"language":null},{"language":"COBOL"},{}]}`))
	require.NoError(t, err)
	require.Equal(t, []Connection{
		{Language: LanguageGo}, {Language: LanguageCPP}, {Language: LanguageUnknown}, {Language: LanguageUnknown}, {Language: LanguageUnknown},
	}, connections.ConnectionSet)

	h, err := DecodeHeartbeatData([]byte(`{"consumerDataSet":[{"groupName":"G","subscriptionDataSet":[{"topic":"T","codeSet":[1,null,"2"]},`+
		`{"topic":"U","codeSet":null,"tagsSet":null}]}]}`), testNow)
	require.NoError(t, err)
	require.Equal(t, []int32{1, 2}, h.ConsumerDataSet[0].SubscriptionDataSet[0].CodeSet)
	require.Nil(t, h.ConsumerDataSet[0].SubscriptionDataSet[1].CodeSet)
	h, err = DecodeHeartbeatData([]byte(`{"consumerDataSet":{"groupName":"G","subscriptionDataSet":{"topic":"T","codeSet":-97,"tagsSet":"a"}}}`), testNow)
	require.NoError(t, err, "one element where a list is wanted")
	require.Equal(t, SubscriptionData{Topic: "T", SubVersion: testNow, CodeSet: []int32{-97}, TagsSet: []string{"a"}, ExpressionType: "TAG"},
		h.ConsumerDataSet[0].SubscriptionDataSet[0])
	_, err = DecodeHeartbeatData([]byte(`{"consumerDataSet":[{"groupName":"G","subscriptionDataSet":[{"topic":"T","codeSet":[`+
		strings.Repeat("1,", MaxListElements+1)+`]}]}]}`), testNow)
	require.ErrorContains(t, err, "a list is too long")

	c, err := DecodeCheckClientRequestBody([]byte(`{"subscriptionData":null,"namespace":null}`))
	require.NoError(t, err)
	require.Zero(t, c)
	require.Equal(t, `{"clientId":"","group":""}`, string(c.AppendJSON(nil, FormDefault)))

	f, err := DecodeGroupForbidden([]byte(`{"readable":true,"readable":null}`))
	require.NoError(t, err)
	require.Nil(t, f.Readable)

	s, err := DecodeGetConsumerStatusBody([]byte(`{"messageQueueTable":null,"consumerTable":{"id":null}}`))
	require.NoError(t, err)
	require.Equal(t, `{"consumerTable":{"id":{}},"messageQueueTable":{}}`, string(s.AppendJSON(nil, FormDefault)))

	d, err := DecodeConsumeMessageDirectlyResult([]byte(`{"consumeResult":1}`))
	require.NoError(t, err)
	require.Equal(t, ConsumeMessageDirectlyResult{AutoCommit: true, ConsumeResult: CMLater}, d)
	require.Equal(t, "CR_LATER", d.ConsumeResult.String())
	require.Equal(t, "CUSTOMIZED", GroupRetryPolicyType(9).String())
}

// Topics and queues of static topics come in any order and leave in theirs.
func TestQueueMappingDetails(t *testing.T) {
	got, err := DecodeTopicQueueMappingSerializeWrapper([]byte(`{"topicQueueMappingInfoMap":{"B":{"bname":"b","hostedQueues":{2:null,"1":[{},{"gen":1}]}},`+
		`"A":{"bname":"a"}}}`), testNow)
	require.NoError(t, err)
	item := LogicQueueMappingItem{EndOffset: -1, TimeOfStart: -1, TimeOfEnd: -1}
	second := item
	second.Gen = 1
	require.Equal(t, []HostedQueue{{1, []LogicQueueMappingItem{item, second}}, {2, nil}}, got.TopicQueueMappingInfoMap[0].Detail.HostedQueues)
	require.Regexp(t, `^\{"dataVersion":.*"A":.*"B":.*"hostedQueues":\{1:\[\{.*\},\{.*\}\],2:\[\]\}`, string(got.AppendJSON(nil, FormDefault)))

	for in, reason := range map[string]string{
		`{"topicQueueMappingInfoMap":{"T":{}}}`:                                           "a queue mapping has no bname",
		`{"topicQueueMappingInfoMap":{"T":null}}`:                                         "a queue mapping is null",
		`{"topicQueueMappingInfoMap":{"T":{"bname":"b","hostedQueues":{4294967296:[]}}}}`: "a number out of range",
		`{"topicQueueMappingInfoMap":{"T":{"bname":"b","hostedQueues":{"x":[]}}}}`:        "a number was expected as name",
		`{"topicQueueMappingInfoMap":{"T":{"bname":"b","hostedQueues":{1:[null]}}}}`:      "a part of a queue is null",
	} {
		_, err := DecodeTopicQueueMappingSerializeWrapper([]byte(in), testNow)
		require.ErrorContains(t, err, reason, in)
	}
}
