package protocol

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// N13: the Go client slices brokerAddrs as text.
func TestN13RouteIsCompactAndComplete(t *testing.T) {
	addrs := regexp.MustCompile(`"brokerAddrs":\{(("?-?\d+"?:"[^" ]*")(,"?-?\d+"?:"[^" ]*")*)?\}`)
	blanks := regexp.MustCompile(`[:,{}\[\]]\s|\s[:,{}\[\]]`)
	for _, route := range []*TopicRouteData{
		{},
		{BrokerDatas: []BrokerData{{}}, QueueDatas: []QueueData{{}}},
		routeSample(),
	} {
		for _, form := range []JSONForm{FormDefault, FormStrict} {
			text := string(route.AppendJSON(nil, form))
			require.Len(t, addrs.FindAllString(text, -1), len(route.BrokerDatas), text)
			require.NotRegexp(t, blanks, text)
			require.Contains(t, text, `"brokerDatas":[`)
			require.Contains(t, text, `"queueDatas":[`)
			require.Contains(t, text, `"filterServerTable":{`)
		}
	}
}

// N14: the flag of a queue is read under its old name as well, and written under the new one.
func TestN14TopicSynFlagIsRead(t *testing.T) {
	for in, want := range map[string]int32{
		`"topicSynFlag":1`:                     1,
		`"topicSysFlag":2,"topicSynFlag":1`:    2,
		`"topicSynFlag":1,"topicSysFlag":2`:    2,
		`"topicSynFlag":"3","readQueueNums":1`: 3,
		`"perm":6`:                             0,
	} {
		route, err := DecodeTopicRouteData([]byte(`{"queueDatas":[{"brokerName":"b",` + in + `}]}`))
		require.NoError(t, err)
		require.Equal(t, want, route.QueueDatas[0].TopicSysFlag, in)
		require.Contains(t, string(route.AppendJSON(nil, FormDefault)), `"topicSysFlag":`+strconv.Itoa(int(want))+`,`)
	}
}

func TestDecodeTopicRouteData(t *testing.T) {
	route, err := DecodeTopicRouteData([]byte(`{"brokerDatas":{"brokerName":"a","cluster":"c","brokerAddrs":{1:"y",0:"x",2:null},"zoneName":"z","enableActingMaster":1},
		"queueDatas":[{brokerName:"a",perm:'4'},{"brokerName":"b"}],"filterServerTable":{"y":["1"],"x":"2","z":null},
		"orderTopicConf":"a:1","topicQueueMappingByBroker":{}}`))
	require.NoError(t, err)
	require.Equal(t, TopicRouteData{
		OrderTopicConf: new("a:1"),
		BrokerDatas: []BrokerData{{Cluster: "c", BrokerName: "a", BrokerAddrs: BrokerAddrs{{0, "x"}, {1, "y"}},
			ZoneName: new("z"), EnableActingMaster: true}},
		QueueDatas:                []QueueData{{BrokerName: "a", Perm: 4}, {BrokerName: "b"}},
		FilterServerTable:         []FilterServers{{"x", []string{"2"}}, {"y", []string{"1"}}},
		TopicQueueMappingByBroker: []NamedQueueMapping{},
	}, route)

	// fastjson 1 writes a group that occurs twice as a reference.
	route, err = DecodeTopicRouteData([]byte(`{"brokerDatas":[{"brokerName":"a","brokerAddrs":{0:"x"}},{"$ref":"$.brokerDatas[0]"}],"queueDatas":[]}`))
	require.NoError(t, err)
	require.Equal(t, route.BrokerDatas[0], route.BrokerDatas[1])

	_, err = DecodeTopicRouteData([]byte(`{"queueDatas":[{"perm":6}]}`))
	require.EqualError(t, err, "TopicRouteData: JSON at offset 25: the field brokerName is missing")
}

func TestDecodeClusterInfo(t *testing.T) {
	info, err := DecodeClusterInfo([]byte(`{"brokerAddrTable":{"b":{"brokerAddrs":{0:"x"},"brokerName":"b","cluster":"c"},"a":{},"b":{"cluster":"d"}},
		"clusterAddrTable":{"d":["b","a"],"c":[]}}`))
	require.NoError(t, err)
	require.Equal(t, ClusterInfo{
		BrokerAddrTable:  []BrokerData{{BrokerName: "b", Cluster: "d"}, {BrokerName: "a"}},
		ClusterAddrTable: []ClusterBrokers{{"d", []string{"b", "a"}}, {"c", []string{}}},
	}, info)
	require.Equal(t, `{"brokerAddrTable":{"a":{"brokerAddrs":{},"brokerName":"a","cluster":"","enableActingMaster":false},`+
		`"b":{"brokerAddrs":{},"brokerName":"b","cluster":"d","enableActingMaster":false}},"clusterAddrTable":{"c":[],"d":["b","a"]}}`,
		string(info.AppendJSON(nil, FormStrict)))
}

func TestDecodeDataVersion(t *testing.T) {
	for in, want := range map[string]DataVersion{
		`{"counter":1,"stateVersion":2,"timestamp":3}`:                                   {2, 3, 1, false},
		`{"timestamp":"1700000000000","counter":"1"}`:                                    {0, 1700000000000, 1, false},
		`{"counter":9223372036854775807,"stateVersion":9007199254740993,"timestamp":-5}`: {9007199254740993, -5, 9223372036854775807, false},
		`{"counter":null,"stateVersion":null,"timestamp":null}`:                          {0, testNow, 0, true},
		`{}`: {0, testNow, 0, false},
	} {
		got, err := DecodeDataVersion([]byte(in), testNow)
		require.NoError(t, err)
		require.Equal(t, want, got, in)
	}
	require.Equal(t, `{"stateVersion":0,"timestamp":8}`,
		string((&DataVersion{Timestamp: 8, CounterNull: true}).AppendJSON(nil, FormDefault)))
	_, err := DecodeDataVersion([]byte(` `), testNow)
	require.ErrorIs(t, err, ErrNullBody)
	_, err = DecodeDataVersion([]byte(`{"counter":`), testNow)
	require.EqualError(t, err, "DataVersion: JSON at offset 11: unexpected end")
}

// Contents of kvConfig.json, and what the Java NameServer makes of them at start (spec/namesrv.md §8.3).
func TestDecodeKVConfig(t *testing.T) {
	for _, c := range []struct {
		rule, in string
		want     map[string]map[string]string
	}{
		{"empty", ``, map[string]map[string]string{}},
		{"blanks", " \n", map[string]map[string]string{}},
		{"null", `null`, map[string]map[string]string{}},
		{"empty list", `[]`, map[string]map[string]string{}},
		{"no namespaces", `{"configTable":{}}`, map[string]map[string]string{}},
		{"ordinary", `{"configTable":{"ORDER_TOPIC_CONFIG":{"TopicA":"broker-a:4"},"N1":{},"N2":{"主":"题"}}}`,
			map[string]map[string]string{"ORDER_TOPIC_CONFIG": {"TopicA": "broker-a:4"}, "N1": {}, "N2": {"主": "题"}}},
		{"lenient", " {'configTable':{'N':{a:1,\"b\":null,\"c\":true,\"d\":\"x\",\"e\":{\"f\":[1]},}, \"M\":null},\"other\":[1]} \n",
			map[string]map[string]string{"N": {"a": "1", "c": "true", "d": "x", "e": `{"f":[1]}`}}},
		{"byte order mark", "\uFEFF{\"configTable\":{}}", map[string]map[string]string{}},
		{"keys that look like references", `{"configTable":{"$ref":{"$ref":"$.configTable"}}}`,
			map[string]map[string]string{"$ref": {"$ref": "$.configTable"}}},
		{"namespace twice", `{"configTable":{"N":{"a":"1"},"N":{"b":"2"}}}`, map[string]map[string]string{"N": {"b": "2"}}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, err := DecodeKVConfigSerializeWrapper([]byte(c.in))
			require.NoError(t, err)
			require.Equal(t, c.want, got.ConfigTable)
			again, err := DecodeKVConfigSerializeWrapper(got.AppendJSON(nil, FormDefault))
			require.NoError(t, err)
			require.Equal(t, got, again)
		})
	}
	for _, in := range []string{`{}`, `{"configTable":null}`, `{"configTable":[]}`, `{"configTable":{}} x`, `{"configTable":{`, `x`, `{"configTable":{"N":5}}`} {
		_, err := DecodeKVConfigSerializeWrapper([]byte(in))
		require.ErrorContains(t, err, "KVConfigSerializeWrapper: JSON at offset ", in)
	}
	require.Equal(t, `{"configTable":{"A":{"x":"1","y":"\"2"},"B":{}}}`, string((&KVConfigSerializeWrapper{
		ConfigTable: map[string]map[string]string{"B": {}, "A": {"y": `"2`, "x": "1"}},
	}).AppendJSON(nil, FormDefault)))
}
