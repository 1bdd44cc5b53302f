package broker_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// topicJSON is a TopicConfig as tools send it.
func topicJSON(name string, queues, perm int, attributes string) string {
	return fmt.Sprintf(`{"attributes":{%s},"order":false,"perm":%d,"readQueueNums":%d,"topicFilterType":"SINGLE_TAG","topicName":%q,"topicSysFlag":0,"writeQueueNums":%d}`,
		attributes, perm, queues, name, queues)
}

func topicList(topics ...string) string {
	return `{"topicConfigList":[` + strings.Join(topics, ",") + `]}`
}

func groupList(groups ...string) string {
	return `{"groupConfigList":[` + strings.Join(groups, ",") + `]}`
}

// Peer test AdminBrokerProcessorTest of spec/broker.md §10, the rows about topics.
func TestAdminTopics(t *testing.T) {
	b := startBroker(t)
	c := b.Admin()
	system := decode(t, c.must(protocol.ReqGetSystemTopicListFromBroker, nil, ""))["topicList"].([]any)
	require.Contains(t, system, "TBW102")
	require.Contains(t, system, "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC")
	require.Contains(t, system, "C_REPLY_TOPIC")
	before := b.snapshot()
	for _, name := range system {
		name := name.(string)
		conflict := "The topic[" + name + "] is conflict with system topic."
		c.refused(protocol.RespInvalidParameter, protocol.ReqUpdateAndCreateTopic, topicFields(name), "", conflict)
		c.refused(protocol.RespInvalidParameter, protocol.ReqUpdateAndCreateTopicList, nil, topicList(topicJSON("Fine", 1, 6, ""), topicJSON(name, 1, 6, "")), conflict)
		c.refused(protocol.RespInvalidParameter, protocol.ReqDeleteTopicInBroker, ext("topic", name), "", conflict)
	}
	require.Equal(t, before, b.snapshot())

	answer := c.must(protocol.ReqUpdateAndCreateTopic, topicFields("Orders", "attributes", "+message.type=FIFO"), "")
	require.Equal(t, "not set any response code", answer.Remark)
	require.Equal(t, map[string]any{
		"attributes": map[string]any{"message.type": "FIFO"}, "order": false, "perm": 6.0, "readQueueNums": 4.0,
		"topicFilterType": "SINGLE_TAG", "topicName": "Orders", "topicSysFlag": 0.0, "writeQueueNums": 4.0,
	}, b.topic("Orders"))
	c.must(protocol.ReqUpdateAndCreateTopic, topicFields("Orders", "order", "true", "topicFilterType", "MULTI_TAG", "-topicSysFlag", ""), "")
	require.Equal(t, true, b.topic("Orders")["order"])
	require.Equal(t, map[string]any{"message.type": "FIFO"}, b.topic("Orders")["attributes"], "they stay")

	mixed := topicFields("Mixed", "attributes", "+message.type=MIXED")
	c.refused(protocol.RespInvalidParameter, protocol.ReqUpdateAndCreateTopic, mixed, "", "MIXED message type is not supported.")
	c.must(protocol.ReqUpdateBrokerConfig, nil, "enableMixedMessageType=true")
	c.must(protocol.ReqUpdateAndCreateTopic, mixed, "")

	list := topicList(topicJSON("L1", 2, 6, `"+message.type":"DELAY"`), topicJSON("L2", 2, 4, ""))
	c.must(protocol.ReqUpdateAndCreateTopicList, nil, list)
	require.Equal(t, map[string]any{"message.type": "DELAY"}, b.topic("L1")["attributes"])
	c.must(protocol.ReqUpdateAndCreateTopicList, nil, topicList(topicJSON("L2", 2, 4, ""), topicJSON("L3", 3, 6, ""), topicJSON("L1", 2, 6, "")))
	require.Equal(t, 3.0, b.topic("L3")["readQueueNums"], "one that is as it should be does not keep the others back")
	c.must(protocol.ReqUpdateAndCreateTopicList, nil, topicList())

	c.must(protocol.ReqDeleteTopicInBroker, ext("topic", "Orders"), "")
	require.Nil(t, b.topic("Orders"))
	before = b.snapshot()
	c.must(protocol.ReqDeleteTopicInBroker, ext("topic", "Orders"), "")
	require.Equal(t, before, b.snapshot(), "one that there is not: success, and nothing changes")
	c.refused(protocol.RespTopicNotExist, protocol.ReqGetTopicConfig, ext("topic", "Orders"), "", "No topic in this broker. topic: Orders")
}

// Deleting a topic deletes the retry topics that pop consumers have for it, of both forms, but no other group's retry topic.
func TestDeleteTopicDeletesPopRetryTopics(t *testing.T) {
	b := startBroker(t)
	c := b.Admin()
	c.heartbeat("c1", "G", "T")
	c.heartbeat("c2", "H", "T")
	c.must(protocol.ReqUpdateAndCreateSubscriptionGroup, nil, `{"groupName":"H_T"}`)
	for _, name := range []string{"T", "%RETRY%G_T", "%RETRY%H_T"} {
		c.must(protocol.ReqUpdateAndCreateTopic, topicFields(name), "")
	}
	c.must(protocol.ReqDeleteTopicInBroker, ext("topic", "T"), "")
	require.Nil(t, b.topic("T"))
	require.Nil(t, b.topic("%RETRY%G_T"))
	require.NotNil(t, b.topic("%RETRY%H_T"), "there is a group H_T")
	require.NotNil(t, b.topic("%RETRY%G"))
}

// Peer test AdminBrokerProcessorTest, the rows about groups.
func TestAdminGroups(t *testing.T) {
	b := startBroker(t, "autoCreateSubscriptionGroup=false")
	c := b.Admin()
	require.Len(t, b.groups(), 8)
	c.must(protocol.ReqUpdateAndCreateSubscriptionGroup, nil, `{"groupName":"G1","retryMaxTimes":3,"attributes":{"+priority.factor":"7"}}`)
	require.EqualValues(t, 3, b.groups()["G1"].RetryMaxTimes)
	require.Equal(t, map[string]string{"priority.factor": "7"}, b.groups()["G1"].Attributes)
	one := decode(t, c.must(protocol.ReqGetSubscriptionGroupConfig, ext("group", "G1"), ""))
	require.Equal(t, 3.0, one["retryMaxTimes"])
	c.refused(protocol.RespSubscriptionGroupNotExist, protocol.ReqGetSubscriptionGroupConfig, ext("group", "G2"), "", "No group in this broker")
	c.must(protocol.ReqUpdateAndCreateSubscriptionGroupList, nil, groupList(`{"groupName":"G2"}`, `{"groupName":"G3","consumeEnable":false}`))
	require.False(t, b.groups()["G3"].ConsumeEnable)
	c.must(protocol.ReqUpdateAndCreateSubscriptionGroupList, nil, groupList())

	// 353
	forbidden := func(fields ...string) string {
		answer := c.must(protocol.ReqUpdateAndGetGroupForbidden, ext(append([]string{"group", "G1"}, fields...)...), "")
		require.True(t, answer.HasRemark)
		require.Empty(t, answer.Remark)
		return string(answer.Body)
	}
	require.Equal(t, `{"group":"G1","readable":true,"topic":"A"}`, forbidden("topic", "A"))
	require.Equal(t, `{"group":"G1","readable":false,"topic":"A"}`, forbidden("topic", "A", "readable", "false"))
	require.Equal(t, `{"group":"G1","readable":false,"topic":"B"}`, forbidden("topic", "B", "readable", "false"))
	require.Equal(t, `{"group":"G1","readable":true,"topic":"A"}`, forbidden("topic", "A", "readable", "true"))
	require.Equal(t, `{"group":"G1","readable":false,"topic":"B"}`, forbidden("topic", "B"), "other topics keep theirs")

	// 207 leaves nothing behind, whether or not there was something
	for range 2 {
		c.must(protocol.ReqDeleteSubscriptionGroup, ext("groupName", "G1", "cleanOffset", "false"), "")
		require.NotContains(t, b.groups(), "G1")
		require.NotContains(t, read(t, b.groupsFile()), "G1")
	}
	c.must(protocol.ReqUpdateBrokerConfig, nil, "autoCreateSubscriptionGroup=true")
	c.must(protocol.ReqDeleteSubscriptionGroup, ext("groupName", "Never"), "")
	require.NotContains(t, b.groups(), "Never", "not made anew, as 5.5.0 does")
	require.Equal(t, "G4", decode(t, c.must(protocol.ReqGetSubscriptionGroupConfig, ext("group", "G4"), ""))["groupName"])
}

// Answers 21 and 201 in pages, as slaves ask for them, and whole to those of 4.9.
func TestTablesInPages(t *testing.T) {
	b := startBroker(t, "splitMetadataSize=3")
	c := b.Admin()
	type page struct {
		DataVersion, MappingDataVersion                  json.RawMessage
		TopicConfigTable, SubscriptionGroupTable         map[string]json.RawMessage
		TopicQueueMappingInfoMap, ForbiddenTable, Ignore map[string]any
	}
	get := func(code protocol.RequestCode, fields protocol.Ext) (p page, total string) {
		answer := c.must(code, fields, "")
		require.NoError(t, json.Unmarshal(answer.Body, &p), "%s", answer.Body)
		total, _ = answer.Ext.Get(map[protocol.RequestCode]string{21: "totalTopicNum", 201: "totalGroupNum"}[code])
		return p, total
	}
	whole, total := get(21, nil)
	require.Len(t, whole.TopicConfigTable, len(b.topicNames()))
	require.Equal(t, fmt.Sprint(len(b.topicNames())), total)
	require.NotEmpty(t, whole.MappingDataVersion)

	seen := map[string]json.RawMessage{}
	version := ""
	for seq := 0; seq < len(b.topicNames()); {
		p, _ := get(21, ext("topicSeq", fmt.Sprint(seq), "maxTopicNum", "2000", "dataVersion", version))
		require.LessOrEqual(t, len(p.TopicConfigTable), 3)
		require.Contains(t, p.TopicConfigTable, b.topicNames()[seq])
		for name, topic := range p.TopicConfigTable {
			seen[name] = topic
		}
		seq += len(p.TopicConfigTable)
		version = string(p.DataVersion)
	}
	require.Equal(t, whole.TopicConfigTable, seen)
	names := func(p page) int { return len(p.TopicConfigTable) }
	for _, row := range []struct {
		rule   string
		fields protocol.Ext
		first  int // index of the first name
		n      int
	}{
		{"another version begins at 0", ext("topicSeq", "4", "maxTopicNum", "2", "dataVersion", `{"counter":77,"stateVersion":0,"timestamp":1}`), 0, 2},
		{"a blank version begins at 0", ext("topicSeq", "4", "maxTopicNum", "2", "dataVersion", ""), 0, 2},
		{"no version begins at 0", ext("topicSeq", "4", "maxTopicNum", "2"), 0, 2},
		{"window", ext("topicSeq", "4", "maxTopicNum", "2", "dataVersion", version), 4, 2},
		{"last window is short", ext("topicSeq", fmt.Sprint(len(seen)-1), "maxTopicNum", "2", "dataVersion", version), len(seen) - 1, 1},
		{"beyond the end", ext("topicSeq", "1000", "maxTopicNum", "2", "dataVersion", version), 0, 0},
		{"before the beginning", ext("topicSeq", "-5", "maxTopicNum", "2", "dataVersion", version), 0, 2},
		{"negative length", ext("topicSeq", "0", "maxTopicNum", "-2", "dataVersion", version), 0, 0},
	} {
		p, total := get(21, row.fields)
		require.Equal(t, row.n, names(p), row.rule)
		require.Equal(t, fmt.Sprint(len(seen)), total, row.rule)
		if row.n > 0 {
			require.Contains(t, p.TopicConfigTable, b.topicNames()[row.first], row.rule)
		}
	}
	groups, total := get(201, nil)
	require.Len(t, groups.SubscriptionGroupTable, 8)
	require.Equal(t, "8", total)
	require.NotNil(t, groups.ForbiddenTable)
	last, _ := get(201, ext("groupSeq", "6", "maxGroupNum", "2000", "dataVersion", string(groups.DataVersion)))
	require.Len(t, last.SubscriptionGroupTable, 2)
	c.must(protocol.ReqUpdateBrokerConfig, nil, "enableSplitMetadata=false")
	p, _ := get(21, ext("topicSeq", "4", "maxTopicNum", "2", "dataVersion", version))
	require.Len(t, p.TopicConfigTable, len(seen))
}

// Validate first, then all or nothing: what is refused changes neither memory nor disk.
func TestRefusedRequestsChangeNothing(t *testing.T) {
	b := startBroker(t, "namesrvAddr=127.0.0.1:1")
	c := b.Admin()
	c.must(protocol.ReqUpdateAndCreateTopic, topicFields("There"), "")
	c.must(protocol.ReqUpdateAndCreateSubscriptionGroup, nil, `{"groupName":"Here"}`)
	before := b.snapshot()
	const sysErr, invalid, forbidden = protocol.RespSystemError, protocol.RespInvalidParameter, protocol.RespNoPermission
	good := topicJSON("Good", 4, 6, "")
	for _, row := range []struct {
		rule   string
		want   protocol.ResponseCode
		code   protocol.RequestCode
		fields protocol.Ext
		body   string
		remark string
	}{
		{"17: no queue number", sysErr, 17, topicFields("New", "-readQueueNums", ""), "", "readQueueNums"},
		{"17: no perm", sysErr, 17, topicFields("New", "-perm", ""), "", "perm"},
		{"17: no filter type", sysErr, 17, topicFields("New", "-topicFilterType", ""), "", "topicFilterType"},
		{"17: unknown filter type", sysErr, 17, topicFields("New", "topicFilterType", "NO_TAG"), "", "topicFilterType"},
		{"17: queue number is none", sysErr, 17, topicFields("New", "writeQueueNums", "4x"), "", "writeQueueNums"},
		{"17: negative queue number", invalid, 17, topicFields("New", "readQueueNums", "-4"), "", "readQueueNums"},
		{"17: too many queues", invalid, 17, topicFields("There", "writeQueueNums", "2147483647"), "", "writeQueueNums"},
		{"17: perm 8", invalid, 17, topicFields("There", "perm", "8"), "", "perm"},
		{"17: perm -1", invalid, 17, topicFields("There", "perm", "-1"), "", "perm"},
		{"17: no topic", sysErr, 17, topicFields("New", "-topic", ""), "", "the field topic is missing"},
		{"17: empty topic", invalid, 17, topicFields(""), "", "blank"},
		{"17: bad name", invalid, 17, topicFields("../New"), "", "illegal characters"},
		{"17: long name", invalid, 17, topicFields(strings.Repeat("x", 128)), "", "longer than topic max length"},
		{"17: unknown attribute", sysErr, 17, topicFields("There", "attributes", "+color=red"), "", "unsupported key: color"},
		{"17: bad attribute", sysErr, 17, topicFields("There", "attributes", "+message.type=ODD"), "", "value is not in set"},
		{"17: no fields at all", sysErr, 17, nil, "", ""},
		{"18: no body", sysErr, 18, nil, "", ""},
		{"18: no list", sysErr, 18, nil, "{}", "topicConfigList"},
		{"18: null", sysErr, 18, nil, "null", ""},
		{"18: no JSON", sysErr, 18, nil, `{"topicConfigList":[` + good, ""},
		{"18: second has a bad perm", invalid, 18, nil, topicList(good, topicJSON("Bad", 4, 9, "")), "perm"},
		{"18: second has a bad attribute", sysErr, 18, nil, topicList(good, topicJSON("Bad", 4, 6, `"+queue.type":"Odd"`)), "value is not in set"},
		{"18: second has an empty name", invalid, 18, nil, topicList(good, topicJSON("", 4, 6, "")), "blank"},
		{"18: second has no name", invalid, 18, nil, topicList(good, `{"perm":6}`), "blank"},
		{"18: unknown filter type", sysErr, 18, nil, topicList(good, `{"topicName":"Bad","topicFilterType":"NO_TAG"}`), "not one of"},
		{"215: no topic", invalid, 215, ext(), "", "blank"},
		{"215: blank topic", invalid, 215, ext("topic", "  "), "", "blank"},
		{"200: no body", sysErr, 200, nil, "", ""},
		{"200: null", sysErr, 200, nil, "null", ""},
		{"200: no JSON", sysErr, 200, nil, `{"groupName":`, ""},
		{"200: no name", invalid, 200, nil, "{}", "blank"},
		{"200: bad name", invalid, 200, nil, `{"groupName":"a b"}`, "illegal characters"},
		{"200: long name", invalid, 200, nil, `{"groupName":"` + strings.Repeat("x", 121) + `"}`, "longer than group max length"},
		{"200: retry queues", invalid, 200, nil, `{"groupName":"Here","retryQueueNums":-1}`, "retryQueueNums"},
		{"200: retry times", invalid, 200, nil, `{"groupName":"Here","retryMaxTimes":-1}`, "retryMaxTimes"},
		{"200: attribute that is null", sysErr, 200, nil, `{"groupName":"Here","attributes":{"+priority.factor":null}}`, "null"},
		{"18: attribute that is null", sysErr, 18, nil, topicList(good, topicJSON("Bad", 4, 6, `"+message.type":null`)), "null"},
		{"200: unknown retry policy", sysErr, 200, nil, `{"groupName":"Here","groupRetryPolicy":{"type":"NEVER"}}`, "not one of"},
		{"200: unknown attribute", sysErr, 200, nil, `{"groupName":"Here","attributes":{"+color":"red"}}`, "unsupported key: color"},
		{"225: no body", sysErr, 225, nil, "", ""},
		{"225: no list", sysErr, 225, nil, "{}", "groupConfigList"},
		{"225: unknown retry policy", sysErr, 225, nil, groupList(`{"groupName":"Good"}`, `{"groupName":"Bad","groupRetryPolicy":{"type":"NEVER"}}`), "not one of"},
		{"225: second is bad", invalid, 225, nil, groupList(`{"groupName":"Good"}`, `{"groupName":"a b"}`), "illegal characters"},
		{"225: second has a bad attribute", sysErr, 225, nil, groupList(`{"groupName":"Good"}`, `{"groupName":"Bad","attributes":{"+priority.factor":"101"}}`), "range"},
		{"207: no group", sysErr, 207, ext(), "", "groupName"},
		{"351: no topic", sysErr, 351, ext(), "", "topic"},
		{"352: no group", sysErr, 352, ext(), "", "group"},
		{"353: no topic", sysErr, 353, ext("group", "Here", "readable", "false"), "", "topic"},
		{"25: no body", sysErr, 25, nil, "", ""},
		{"25: comment only", sysErr, 25, nil, "# nothing\n", ""},
		{"25: unknown key", sysErr, 25, nil, "brokerPermision=4\n", "brokerPermision"},
		{"25: value that does not apply", sysErr, 25, nil, "brokerPermission=all\n", "brokerPermission"},
		{"25: boolean that is none", sysErr, 25, nil, "autoCreateTopicEnable=yes\n", "autoCreateTopicEnable"},
		{"25: good, then bad", sysErr, 25, nil, "autoCreateTopicEnable=false\ndefaultTopicQueueNums=x\n", "defaultTopicQueueNums"},
		{"25: list that is none", sysErr, 25, nil, "namesrvAddr=nowhere\n", "namesrvAddr"},
		{"25: empty list", sysErr, 25, nil, "namesrvAddr=\n", "namesrvAddr"},
		{"25: forbidden", forbidden, 25, nil, "brokerConfigPath=/tmp/x\n", "Can not update config in black list."},
		{"25: forbidden, good beside it", forbidden, 25, nil, "regionId=x\nconfigBlackList=\n", "black list"},
		{"25: forbidden, with blanks", forbidden, 25, nil, "\\ brokerConfigPath\\ =/tmp/x\n", "black list"},
		{"25: forbidden, as a setter", forbidden, 25, nil, "setBrokerConfigPath=/tmp/x\n", "black list"},
		{"25: forbidden, in other case", forbidden, 25, nil, "BrokerConfigPath=/tmp/x\n", "black list"},
		{"25: forbidden, escaped", forbidden, 25, nil, "broker\\u0043onfigPath=/tmp/x\n", "black list"},
		{"25: rocketmqHome", forbidden, 25, nil, "rocketmqHome=/tmp/x\n", "black list"},
		{"34: no body", sysErr, 34, nil, "", ""},
		{"34: nobody", sysErr, 34, nil, `{"consumerDataSet":[{"groupName":"New"}]}`, "clientID"},
		{"41: no body", sysErr, 41, nil, "", ""},
		{"204: unknown", sysErr, 204, ext("producerGroup", "Nobody"), "", "the producer group[Nobody] not exist"},
		{"203: unknown", protocol.RespConsumerNotOnline, 203, ext("consumerGroup", "Nobody"), "", "the consumer group[Nobody] not online"},
		{"307: offline", sysErr, 307, ext("consumerGroup", "Nobody", "clientId", "c"), "", "not online"},
		{"38: unknown", sysErr, 38, ext("consumerGroup", "Nobody"), "", "no consumer for this group, Nobody"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			answer := c.ask(row.code, row.fields, row.body)
			require.Equal(t, int32(row.want), answer.Code, answer.Remark)
			require.NotEmpty(t, answer.Remark)
			require.Contains(t, answer.Remark, row.remark)
			require.Empty(t, answer.Body)
			require.Equal(t, before, b.snapshot())
		})
	}
}

// Values of an update are in force, are shown, and read back equal at the next start, whatever they are.
func TestConfigurationUpdate(t *testing.T) {
	dir := t.TempDir()
	b := startBrokerIn(t, dir)
	c := b.Admin()
	version := func() string {
		v, _ := c.must(protocol.ReqGetBrokerConfig, nil, "").Ext.Get("version")
		return v
	}
	first := version()
	require.Regexp(t, `^\{"counter":0,"stateVersion":0,"timestamp":\d+\}$`, first)
	odd := `a\=b # c:\\d\u00e9 \!` // as properties: a=b # c:\dé !
	c.must(protocol.ReqUpdateBrokerConfig, nil, "regionId="+odd+"\ndefaultTopicQueueNums= 5 \nautoCreateTopicEnable=FALSE\n")
	require.NotEqual(t, first, version())
	text := string(c.must(protocol.ReqGetBrokerConfig, nil, "").Body)
	require.Contains(t, text, "\nregionId=a=b # c:\\dé !\n")
	require.Contains(t, text, "\ndefaultTopicQueueNums=5\n")
	require.Contains(t, text, "\nautoCreateTopicEnable=false\n")
	// A line break in a value cannot smuggle a second key in.
	c.must(protocol.ReqUpdateBrokerConfig, nil, `msgTraceTopicName=Trace`+"\n")
	answer := c.ask(protocol.ReqUpdateBrokerConfig, nil, `regionId=a\nbrokerConfigPath=/tmp/x`+"\n")
	b.stop()
	again := startBrokerIn(t, dir)
	require.NotContains(t, read(t, again.confFile()), "\nbrokerConfigPath=/tmp/x")
	if answer.Code == 0 {
		require.Equal(t, "a\nbrokerConfigPath=/tmp/x", again.Config.Broker().RegionID)
	} else {
		require.Equal(t, `a=b # c:\dé !`, again.Config.Broker().RegionID)
	}
	require.Equal(t, 5, again.Config.Broker().DefaultTopicQueueNums)
	require.False(t, again.Config.Broker().AutoCreateTopicEnable)
	require.Equal(t, "Trace", again.Config.Broker().MsgTraceTopicName)
}

// Secrets are shown neither by 26 nor in the log, not even while they are updated.
func TestSecretsAreMasked(t *testing.T) {
	b := startBroker(t, "metricsGrpcExporterHeader=token:s3cret-1", "innerClientAuthenticationCredentials=s3cret-2", "dbPassword=s3cret-3",
		"tls.server.keyPassword=s3cret-4")
	c := b.Admin()
	c.must(protocol.ReqUpdateBrokerConfig, nil, "metricsGrpcExporterHeader=token:s3cret-5\n")
	c.refused(protocol.RespSystemError, protocol.ReqUpdateBrokerConfig, nil, "myPassword=s3cret-6\n")
	text := string(c.must(protocol.ReqGetBrokerConfig, nil, "").Body)
	require.Contains(t, text, "metricsGrpcExporterHeader=******\n")
	require.Contains(t, text, "innerClientAuthenticationCredentials=******\n")
	require.Contains(t, text, "dbPassword=******\n")
	require.NotContains(t, text, "s3cret")
	require.Contains(t, read(t, b.confFile()), "s3cret-5", "kept")
	b.Config.LogNotes()
	require.NotContains(t, b.Log.String(), "s3cret")
	// Sending back what was shown changes no secret.
	c.must(protocol.ReqUpdateBrokerConfig, nil, "metricsGrpcExporterHeader=******\nregionId=r2\n")
	require.Contains(t, read(t, b.confFile()), "s3cret-5")
}

// A change that cannot be written is refused, and has not happened.
func TestDiskFailure(t *testing.T) {
	b := startBroker(t)
	c := b.Admin()
	require.NoError(t, os.Rename(b.dir+"/store/config", b.dir+"/store/elsewhere"))
	require.NoError(t, os.WriteFile(b.dir+"/store/config", nil, 0o644))
	topics, groups := b.topicNames(), b.groups()
	c.refused(protocol.RespSystemError, protocol.ReqUpdateAndCreateTopic, topicFields("Orders"), "", "topics.json could not be written")
	c.refused(protocol.RespSystemError, protocol.ReqUpdateAndCreateSubscriptionGroup, nil, `{"groupName":"G1"}`, "subscriptionGroup.json could not be written")
	require.Equal(t, topics, b.topicNames())
	require.Equal(t, groups, b.groups())
	require.NoError(t, os.Remove(b.dir+"/store/config"))
	require.NoError(t, os.Rename(b.dir+"/store/elsewhere", b.dir+"/store/config"))
	c.must(protocol.ReqUpdateAndCreateTopic, topicFields("Orders"), "")
	require.Contains(t, read(t, b.topicsFile()), `"Orders"`)
}
