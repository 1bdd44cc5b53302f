package protocol

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJSONWriterStrings(t *testing.T) {
	for in, want := range map[string]string{
		"":                        `""`,
		"a/<>'&b":                 `"a/<>'&b"`,
		"\"\\\b\t\n\f\r":          `"\"\\\b\t\n\f\r"`,
		"\x00\x01\x0b\x1f":        `"\u0000\u0001\u000b\u001f"`,
		"\x0b\x7f\u0085\u2028中/<": "\"\\u000b\x7f\u0085\u2028中/<\"", // spec/since-2025-09.md §1.1
		"😀":                       `"😀"`,
		"a\xffb\xc3":              `"a` + "\uFFFD" + `b` + "\uFFFD" + `"`,
		"\uFFFD":                  `"` + "\uFFFD" + `"`,
	} {
		require.Equal(t, want, string(appendJSONString(nil, in)))
	}
}

func TestJSONWriterForms(t *testing.T) {
	zone := "z/中"
	route := TopicRouteData{
		BrokerDatas: []BrokerData{{
			Cluster: "c", BrokerName: "bx", ZoneName: &zone,
			BrokerAddrs: BrokerAddrs{{1, "127.0.0.1:4002"}, {0, "127.0.0.1:4000"}, {-1, "x"}},
		}},
		FilterServerTable: []FilterServers{{"b", nil}, {"a", []string{"h/1", NullElement}}},
		OrderTopicConf:    new("bx:4"),
		QueueDatas:        []QueueData{{"bx", 4, 5, 6, 1}},
		TopicQueueMappingByBroker: []NamedQueueMapping{{"bx", TopicQueueMappingInfo{
			Topic: "s", Bname: "bx", Scope: GlobalScope, TotalQueues: 3, Epoch: 9007199254740993,
			CurrIDMap: []QueueIDMapping{{10, 1}, {2, 2}, {0, 0}},
		}}},
	}
	require.Equal(t, `{"brokerDatas":[{"brokerAddrs":{-1:"x",0:"127.0.0.1:4000",1:"127.0.0.1:4002"},"brokerName":"bx",`+
		`"cluster":"c","enableActingMaster":false,"zoneName":"z/中"}],"filterServerTable":{"a":["h/1",null],"b":[]},`+
		`"orderTopicConf":"bx:4","queueDatas":[{"brokerName":"bx","perm":6,"readQueueNums":4,"topicSysFlag":1,"writeQueueNums":5}],`+
		`"topicQueueMappingByBroker":{"bx":{"bname":"bx","currIdMap":{0:0,2:2,10:1},"dirty":false,"epoch":9007199254740993,`+
		`"scope":"__global__","topic":"s","totalQueues":3}}}`, string(route.AppendJSON(nil, FormDefault)))
	strict := route.AppendJSON(nil, FormStrict)
	require.Equal(t, `{"brokerDatas":[{"brokerAddrs":{"-1":"x","0":"127.0.0.1:4000","1":"127.0.0.1:4002"},"brokerName":"bx",`+
		`"cluster":"c","enableActingMaster":false,"zoneName":"z/中"}],"filterServerTable":{"a":["h/1",null],"b":[]},`+
		`"orderTopicConf":"bx:4","queueDatas":[{"brokerName":"bx","perm":6,"readQueueNums":4,"topicSysFlag":1,"writeQueueNums":5}],`+
		`"topicQueueMappingByBroker":{"bx":{"bname":"bx","currIdMap":{"0":0,"2":2,"10":1},"dirty":false,"epoch":"9007199254740993",`+
		`"scope":"__global__","topic":"s","totalQueues":3}}}`, string(strict))
	require.True(t, json.Valid(strict))
	require.Equal(t, BrokerAddrs{{1, "127.0.0.1:4002"}, {0, "127.0.0.1:4000"}, {-1, "x"}}, route.BrokerDatas[0].BrokerAddrs,
		"the writer must not reorder its input")
}

func TestJSONWriterLongs(t *testing.T) {
	for n, want := range map[int64]string{
		1<<53 - 1: `9007199254740991`, 1 << 53: `"9007199254740992"`, -1<<53 + 1: `-9007199254740991`, -1 << 53: `"-9007199254740992"`,
	} {
		require.Equal(t, want, string(appendJSONLong(nil, n, FormStrict)))
	}
	require.Equal(t, `9007199254740992`, string(appendJSONLong(nil, 1<<53, FormDefault)))
}

// An empty value of every body is what Java writes for a new object.
func TestJSONWriterEmptyBodies(t *testing.T) {
	for want, body := range map[string]JSONBody{
		`{"brokerDatas":[],"filterServerTable":{},"queueDatas":[]}`: &TopicRouteData{},
		`{"brokerAddrTable":{},"clusterAddrTable":{}}`:              &ClusterInfo{},
		`{"topicList":[]}`:                         &TopicList{},
		`{"table":{}}`:                             &KVTable{},
		`{"configTable":{}}`:                       &KVConfigSerializeWrapper{},
		`{"brokerMemberGroup":{"brokerAddrs":{}}}`: &GetBrokerMemberGroupResponseBody{BrokerMemberGroup: &BrokerMemberGroup{}},
		`{"topicConfigTable":{}}`:                  &TopicConfigSerializeWrapper{},
	} {
		require.Equal(t, want, string(body.AppendJSON(nil, FormDefault)))
		require.Equal(t, "x"+want, string(body.AppendJSON([]byte("x"), FormStrict)))
	}
}

func TestAppendPretty(t *testing.T) {
	w := TopicConfigSerializeWrapper{
		DataVersion: &DataVersion{Counter: 1, Timestamp: 2},
		TopicConfigTable: []TopicConfig{{
			TopicName: `a"{[,`, ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6,
			Attributes: map[string]string{"k": "v", "j": "\\"},
		}, {TopicName: "b"}},
	}
	require.Equal(t, `{
	"dataVersion":{
		"counter":1,
		"stateVersion":0,
		"timestamp":2
	},
	"topicConfigTable":{
		"a\"{[,":{
			"attributes":{
				"j":"\\",
				"k":"v"
			},
			"order":false,
			"perm":6,
			"readQueueNums":8,
			"topicFilterType":"SINGLE_TAG",
			"topicName":"a\"{[,",
			"topicSysFlag":0,
			"writeQueueNums":8
		},
		"b":{
			"attributes":{},
			"order":false,
			"perm":0,
			"readQueueNums":0,
			"topicFilterType":"SINGLE_TAG",
			"topicName":"b",
			"topicSysFlag":0,
			"writeQueueNums":0
		}
	}
}`, string(AppendPretty(nil, &w)))
	again, err := DecodeTopicConfigSerializeWrapper(AppendPretty(nil, &w), testNow)
	require.NoError(t, err)
	require.Equal(t, string(w.AppendJSON(nil, FormDefault)), string(again.AppendJSON(nil, FormDefault)))

	route := TopicRouteData{BrokerDatas: []BrokerData{{BrokerAddrs: BrokerAddrs{{0, "x"}, {1, "y"}}}}}
	require.Contains(t, string(AppendPretty(nil, &route)), "\"brokerAddrs\":{\n\t\t\t\t0:\"x\",\n\t\t\t\t1:\"y\"\n\t\t\t},")
}
