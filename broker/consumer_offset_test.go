package broker_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/broker"
	"github.com/mq-server/mq/protocol"
)

func offsetFields(group, topic, queueID, offset string) protocol.Ext {
	return ext("consumerGroup", group, "topic", topic, "queueId", queueID, "commitOffset", offset)
}

func queryFields(group, topic, queueID string, more ...string) protocol.Ext {
	return ext(append([]string{"consumerGroup", group, "topic", topic, "queueId", queueID}, more...)...)
}

// offsets are the offsets that the broker shows to replicas (43), by topic@group.
func (b *testBroker) offsets() map[string]json.RawMessage {
	b.t.Helper()
	f, err := protocol.DecodeConsumerOffsets(b.Admin().must(protocol.ReqGetAllConsumerOffset, nil, "").Body, 0)
	require.NoError(b.t, err)
	table := map[string]json.RawMessage{}
	for _, g := range f.Offsets {
		table[g.Key] = g.AppendJSON(nil, protocol.FormStrict)
	}
	return table
}

func (b *testBroker) offsetsFile() string {
	return filepath.Join(b.dir, "store/config/consumerOffset.json")
}

// requireAnswer checks everything about an answer without a body that a client sees.
func requireAnswer(t *testing.T, answer *protocol.Command, code protocol.ResponseCode, remark string, fields protocol.Ext) {
	t.Helper()
	require.Equal(t, code, protocol.ResponseCode(answer.Code), answer.Remark)
	require.Equal(t, remark, answer.Remark)
	require.Equal(t, remark != "", answer.HasRemark)
	require.Equal(t, fields, answer.Ext)
	require.Empty(t, answer.Body)
}

// startOffsetBroker starts a broker with topics T and U and groups G and H.
func startOffsetBroker(t *testing.T) *testBroker {
	b := startBroker(t)
	for _, topic := range []string{"T", "U"} {
		b.Admin().must(protocol.ReqUpdateAndCreateTopic, topicFields(topic), "")
	}
	for _, group := range []string{"G", "H"} {
		b.Admin().must(protocol.ReqUpdateAndCreateSubscriptionGroup, nil, fmt.Sprintf(`{"groupName":%q}`, group))
	}
	return b
}

// The row ConsumerManageProcessorTest of spec/broker.md §10, and what Java 5.5.0 was seen to answer.
func TestConsumerManageProcessor(t *testing.T) {
	b := startOffsetBroker(t)
	fast := dial(t, b.FastAddr)
	for _, c := range []*client{b.Admin(), fast} {
		update := func(code protocol.ResponseCode, remark string, fields protocol.Ext) {
			t.Helper()
			requireAnswer(t, c.ask(protocol.ReqUpdateConsumerOffset, fields, ""), code, remark, protocol.Ext{})
		}
		update(protocol.RespSuccess, "", offsetFields("G", "T", "0", "10"))
		update(protocol.RespSuccess, "", offsetFields("G", "T", "0", "3"))
		update(protocol.RespSuccess, "", append(offsetFields("G", "T", "+1", "007"), ext("bname", "x", "ns", "n")...))
		update(protocol.RespSuccess, "", offsetFields("G", "T", "2", "-1"))
		update(protocol.RespSuccess, "", offsetFields("CID_ONSAPI_OWNER", "TBW102", "4", "1"))
		update(protocol.RespSubscriptionGroupNotExist, "Group Gno not exist!", offsetFields("Gno", "T", "0", "10"))
		update(protocol.RespSubscriptionGroupNotExist, "Group Gno not exist!", offsetFields("Gno", "Tno", "x", "x"))
		update(protocol.RespSubscriptionGroupNotExist, "Group  not exist!", offsetFields("", "T", "0", "10"))
		update(protocol.RespSubscriptionGroupNotExist, "Group a@b not exist!", offsetFields("a@b", "T", "0", "10"))
		update(protocol.RespTopicNotExist, "Topic Tno not exist!", offsetFields("G", "Tno", "0", "10"))
		update(protocol.RespTopicNotExist, "Topic %RETRY%G not exist!", offsetFields("G", "%RETRY%G", "0", "10"))
		update(protocol.RespInvalidParameter, "QueueId is null, topic is T", offsetFields("G", "T", "x", "10"))
		update(protocol.RespInvalidParameter, "QueueId is null, topic is T", ext("consumerGroup", "G", "topic", "T"))
		update(protocol.RespInvalidParameter, "QueueId is null, topic is T", offsetFields("G", "T", "2147483648", "10"))
		update(protocol.RespInvalidParameter, "Offset is null, topic is T", queryFields("G", "T", "0"))
		update(protocol.RespInvalidParameter, "Offset is null, topic is T", offsetFields("G", "T", "0", "1.5"))
		c.refused(protocol.RespSystemError, protocol.ReqUpdateConsumerOffset, ext("topic", "T", "queueId", "0", "commitOffset", "10"), "", "consumerGroup")
		c.refused(protocol.RespSystemError, protocol.ReqUpdateConsumerOffset, ext("consumerGroup", "G"), "", "topic")
		c.refused(protocol.RespSystemError, protocol.ReqUpdateConsumerOffset, nil, "", "consumerGroup")

		query := func(code protocol.ResponseCode, remark string, want, fields protocol.Ext) {
			t.Helper()
			requireAnswer(t, c.ask(protocol.ReqQueryConsumerOffset, fields, ""), code, remark, want)
		}
		query(protocol.RespSuccess, "", ext("offset", "3"), queryFields("G", "T", "0"))
		query(protocol.RespSuccess, "", ext("offset", "7"), queryFields("G", "T", "1", "setZeroIfNotFound", "false"))
		query(protocol.RespSuccess, "", ext("offset", "1"), queryFields("CID_ONSAPI_OWNER", "TBW102", "4"))
		const none, notZero = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first",
			"Not found, do not set to zero, maybe this group boot first"
		for _, unknown := range []protocol.Ext{
			queryFields("G", "T", "2"), queryFields("G", "T", "5"), queryFields("H", "T", "0"), queryFields("G", "U", "0"),
			queryFields("Gno", "Tno", "0"), queryFields("", "T", "0"), queryFields("G", "T", "-7"),
		} {
			query(protocol.RespQueryNotFound, none, protocol.Ext{}, unknown)
			query(protocol.RespQueryNotFound, none, protocol.Ext{}, append(unknown, ext("setZeroIfNotFound", "TRUE")...))
			query(protocol.RespQueryNotFound, notZero, protocol.Ext{}, append(unknown, ext("setZeroIfNotFound", "false")...))
			query(protocol.RespQueryNotFound, notZero, protocol.Ext{}, append(unknown, ext("setZeroIfNotFound", "")...))
		}
		for _, field := range []string{"consumerGroup", "topic", "queueId"} {
			var fields protocol.Ext
			for _, f := range queryFields("G", "T", "0") {
				if f.Key != field {
					fields = append(fields, f)
				}
			}
			c.refused(protocol.RespSystemError, protocol.ReqQueryConsumerOffset, fields, "", field)
		}
		c.refused(protocol.RespSystemError, protocol.ReqQueryConsumerOffset, queryFields("G", "T", "x"), "", "queueId")
	}
	require.Equal(t, map[string]json.RawMessage{
		"T@G": json.RawMessage(`{"0":3,"1":7,"2":-1}`), "TBW102@CID_ONSAPI_OWNER": json.RawMessage(`{"4":1}`),
	}, b.offsets())
	require.NotContains(t, b.groups(), "Gno")
	require.Nil(t, b.topic("Tno"))
	require.Contains(t, b.Log.String(), "consumer offset goes back")
	fast.close()
}

// A client whose offsets go back all the time does not fill the disk with log lines.
func TestFewLinesAboutOffsetsThatGoBack(t *testing.T) {
	b := startOffsetBroker(t)
	started := time.Now()
	for range 50 {
		b.Admin().must(protocol.ReqUpdateConsumerOffset, offsetFields("G", "T", "0", "2"), "")
		b.Admin().must(protocol.ReqUpdateConsumerOffset, offsetFields("G", "T", "0", "1"), "")
	}
	most := 10 * (2 + int(time.Since(started)/time.Second))
	lines := strings.Count(b.Log.String(), "consumer offset goes back")
	require.GreaterOrEqual(t, lines, 10)
	require.LessOrEqual(t, lines, min(most, 50))
}

// Commits are oneway in clients; what follows on the connection finds them.
func TestOffsetsCommittedOneway(t *testing.T) {
	b := startOffsetBroker(t)
	c := b.dial()
	for i, fields := range []protocol.Ext{offsetFields("Gno", "T", "0", "1"), offsetFields("G", "T", "x", "1"), offsetFields("G", "T", "0", "99")} {
		c.write(&protocol.Command{
			Code: int32(protocol.ReqUpdateConsumerOffset), Opaque: int32(900 + i), Flag: protocol.FlagOneway, Ext: fields,
		})
	}
	requireAnswer(t, c.ask(protocol.ReqQueryConsumerOffset, queryFields("G", "T", "0"), ""), protocol.RespSuccess, "", ext("offset", "99"))
	require.Equal(t, map[string]json.RawMessage{"T@G": json.RawMessage(`{"0":99}`)}, b.offsets())
}

// Peer row about offsets that survive: they are in the file in time, and at once when the broker ends.
func TestOffsetsSurviveRestarts(t *testing.T) {
	b := startOffsetBroker(t)
	b.Admin().must(protocol.ReqUpdateConsumerOffset, offsetFields("G", "T", "0", "10"), "")
	require.NoFileExists(t, b.offsetsFile())
	b.stop()
	require.Contains(t, read(t, b.offsetsFile()), "\t\t\"T@G\":{\n\t\t\t0:10\n\t\t}\n")
	again := startBrokerIn(t, b.dir)
	require.Equal(t, map[string]json.RawMessage{"T@G": json.RawMessage(`{"0":10}`)}, again.offsets())
	before, err := os.Stat(b.offsetsFile())
	require.NoError(t, err)
	again.stop()
	after, err := os.Stat(b.offsetsFile())
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime(), "nothing has changed")

	require.NoError(t, os.WriteFile(b.offsetsFile(), []byte(`{"offsetTable":{"T@G":{0:1}`), 0o600))
	_, err = newBroker(t, b.dir, broker.Options{})
	require.ErrorContains(t, err, "consumerOffset.json: the file is damaged", "and there was no file before it")
}

func TestAllConsumerOffsets(t *testing.T) {
	b := startOffsetBroker(t)
	answer := b.Admin().ask(protocol.ReqGetAllConsumerOffset, nil, "")
	require.Nil(t, answer.Ext)
	require.Regexp(t, `^\{"dataVersion":\{"counter":0,"stateVersion":0,"timestamp":\d+\},"groupTopicMap":\{\},"offsetTable":\{\},"pullOffsetTable":\{\}\}$`,
		string(answer.Body))
	b.Admin().must(protocol.ReqUpdateConsumerOffset, offsetFields("H", "T", "1", "4"), "")
	b.Admin().must(protocol.ReqUpdateConsumerOffset, offsetFields("G", "U", "0", "5"), "")
	b.Admin().must(protocol.ReqUpdateConsumerOffset, offsetFields("G", "T", "0", "3"), "")
	require.Regexp(t, `"groupTopicMap":\{"G":\["T","U"\],"H":\["T"\]\},"offsetTable":\{"T@G":\{0:3\},"T@H":\{1:4\},"U@G":\{0:5\}\},"pullOffsetTable":\{\}\}$`,
		string(b.Admin().ask(protocol.ReqGetAllConsumerOffset, nil, "").Body))
}

// Who consumes what: 300 knows those that are online and those with offsets, 343 the offsets only.
func TestWhoConsumesWhat(t *testing.T) {
	b := startOffsetBroker(t)
	c := b.dial()
	c.heartbeat("c1", "Online", "T", "V")
	b.Admin().must(protocol.ReqUpdateConsumerOffset, offsetFields("G", "T", "0", "1"), "")
	b.Admin().must(protocol.ReqUpdateConsumerOffset, offsetFields("H", "U", "0", "1"), "")
	b.Admin().must(protocol.ReqUpdateConsumerOffset, offsetFields("Online", "T", "0", "1"), "")
	for topic, want := range map[string]string{"T": `["G","Online"]`, "U": `["H"]`, "V": `["Online"]`, "Unknown": `[]`, "": `[]`} {
		require.Equal(t, `{"groupList":`+want+`}`, string(b.Admin().must(protocol.ReqQueryTopicConsumeByWho, ext("topic", topic), "").Body))
	}
	for group, want := range map[string]string{"G": `["T"]`, "H": `["U"]`, "Online": `["T"]`, "Unknown": `[]`, "": `[]`} {
		require.Equal(t, fmt.Sprintf(`{"brokerAddr":%q,"topicList":%s}`, b.Addr, want),
			string(b.Admin().must(protocol.ReqQueryTopicsByConsumer, ext("group", group), "").Body))
	}
	b.Admin().refused(protocol.RespSystemError, protocol.ReqQueryTopicConsumeByWho, nil, "", "topic")
	b.Admin().refused(protocol.RespSystemError, protocol.ReqQueryTopicsByConsumer, nil, "", "group")

	// A topic that a group does not subscribe any more: the original keeps the group there while it stays online.
	c.heartbeat("c1", "Online", "V")
	require.Equal(t, `{"groupList":["Online"]}`, string(b.Admin().must(protocol.ReqQueryTopicConsumeByWho, ext("topic", "V"), "").Body))
	b.Admin().must(protocol.ReqDeleteSubscriptionGroup, ext("groupName", "Online", "cleanOffset", "true"), "")
	require.Equal(t, `{"groupList":["G"]}`, string(b.Admin().must(protocol.ReqQueryTopicConsumeByWho, ext("topic", "T"), "").Body))
	c.close()
}

// Nobody's offsets are left behind, whether or not there is a topic of that name, and they are gone from the disk at once.
func TestDeleteTopicDeletesOffsets(t *testing.T) {
	b := startOffsetBroker(t)
	c := b.Admin()
	c.must(protocol.ReqUpdateAndCreateSubscriptionGroup, nil, `{"groupName":"H_T"}`)
	for _, topic := range []string{"%RETRY%G_T", "%RETRY%H_T", "%RETRY%G"} {
		c.must(protocol.ReqUpdateAndCreateTopic, topicFields(topic), "")
		c.must(protocol.ReqUpdateConsumerOffset, offsetFields("G", topic, "0", "2"), "")
	}
	c.must(protocol.ReqUpdateConsumerOffset, offsetFields("G", "T", "0", "2"), "")
	c.must(protocol.ReqUpdateConsumerOffset, offsetFields("H", "T", "0", "2"), "")
	c.must(protocol.ReqUpdateConsumerOffset, offsetFields("G", "U", "0", "2"), "")

	c.must(protocol.ReqDeleteTopicInBroker, ext("topic", "T"), "")
	two := json.RawMessage(`{"0":2}`)
	want := map[string]json.RawMessage{"%RETRY%G@G": two, "%RETRY%H_T@G": two, "U@G": two}
	require.Equal(t, want, b.offsets(), "%RETRY%H_T is the retry topic of group H_T")
	onDisk, err := protocol.DecodeConsumerOffsets([]byte(read(t, b.offsetsFile())), 0)
	require.NoError(t, err)
	require.Len(t, onDisk.Offsets, len(want))
	require.Nil(t, b.topic("%RETRY%G_T"))
	requireAnswer(t, c.ask(protocol.ReqUpdateConsumerOffset, offsetFields("G", "T", "0", "3"), ""),
		protocol.RespTopicNotExist, "Topic T not exist!", protocol.Ext{})

	// A topic that has been made anew is consumed from its beginning.
	c.must(protocol.ReqUpdateAndCreateTopic, topicFields("T"), "")
	require.EqualValues(t, protocol.RespQueryNotFound, c.ask(protocol.ReqQueryConsumerOffset, queryFields("G", "T", "0"), "").Code)

	b.stop()
	require.NoError(t, os.WriteFile(b.offsetsFile(), []byte(`{"offsetTable":{"Gone@G":{0:1},"Gone@H":{0:1},"Kept@G":{0:1}}}`), 0o600))
	again := startBrokerIn(t, b.dir)
	again.Admin().must(protocol.ReqDeleteTopicInBroker, ext("topic", "Gone"), "")
	require.Equal(t, map[string]json.RawMessage{"Kept@G": json.RawMessage(`{"0":1}`)}, again.offsets())
}

func TestDeleteTopicKeepsRetryTopicsIfAskedTo(t *testing.T) {
	b := startBroker(t, "clearRetryTopicWhenDeleteTopic=false")
	for _, topic := range []string{"T", "%RETRY%G_T"} {
		b.Admin().must(protocol.ReqUpdateAndCreateTopic, topicFields(topic), "")
	}
	b.Admin().must(protocol.ReqUpdateAndCreateSubscriptionGroup, nil, `{"groupName":"G"}`)
	b.Admin().must(protocol.ReqUpdateConsumerOffset, offsetFields("G", "T", "0", "2"), "")
	b.Admin().must(protocol.ReqUpdateConsumerOffset, offsetFields("G", "%RETRY%G_T", "0", "2"), "")
	b.Admin().must(protocol.ReqDeleteTopicInBroker, ext("topic", "T"), "")
	require.NotNil(t, b.topic("%RETRY%G_T"))
	require.Equal(t, map[string]json.RawMessage{"%RETRY%G_T@G": json.RawMessage(`{"0":2}`)}, b.offsets())
}

func TestDeleteGroupDeletesOffsets(t *testing.T) {
	b := startBroker(t)
	c := b.Admin()
	c.must(protocol.ReqUpdateAndCreateTopic, topicFields("T"), "")
	fill := func(group, attributes string) {
		c.must(protocol.ReqUpdateAndCreateSubscriptionGroup, nil, fmt.Sprintf(`{"groupName":%q,"attributes":{%s}}`, group, attributes))
		c.must(protocol.ReqUpdateConsumerOffset, offsetFields(group, "T", "0", "2"), "")
	}
	for name, test := range map[string]struct {
		attributes string
		fields     []string
		kept       bool
	}{
		"not":        {fields: nil, kept: true},
		"false":      {fields: []string{"cleanOffset", "false", "removeOffset", "false"}, kept: true},
		"odd":        {fields: []string{"cleanOffset", "yes"}, kept: true},
		"true":       {fields: []string{"cleanOffset", "true"}},
		"letters":    {fields: []string{"cleanOffset", "TRUE"}},
		"4.9":        {fields: []string{"removeOffset", "true"}},
		"lite group": {attributes: `"+lite.bind.topic":"T"`},
	} {
		t.Run(name, func(t *testing.T) {
			fill("Other", "")
			fill("G", test.attributes)
			c.must(protocol.ReqDeleteSubscriptionGroup, append(ext("groupName", "G"), ext(test.fields...)...), "")
			require.NotContains(t, b.groups(), "G")
			require.Contains(t, b.offsets(), "T@Other")
			if test.kept {
				require.Contains(t, b.offsets(), "T@G")
			} else {
				require.NotContains(t, b.offsets(), "T@G")
				require.NotContains(t, read(t, b.offsetsFile()), "T@G", "gone from the disk")
			}
			// The group is not there any more, its offsets may be.
			c.must(protocol.ReqDeleteSubscriptionGroup, ext("groupName", "G", "cleanOffset", "true"), "")
			require.NotContains(t, b.offsets(), "T@G")
			require.NotContains(t, b.groups(), "G")
		})
	}
}

// CLONE_GROUP_OFFSET as Java 5.5.0 was seen to do it, and all topics where it does nothing (spec/broker.md appendix B).
func TestCloneGroupOffset(t *testing.T) {
	b := startOffsetBroker(t)
	c := b.Admin()
	consumer := b.dial()
	consumer.heartbeat("c1", "Online", "T")
	for _, f := range []protocol.Ext{
		offsetFields("G", "T", "0", "3"), offsetFields("G", "T", "1", "4"), offsetFields("G", "U", "0", "5"),
		offsetFields("H", "T", "7", "7"), offsetFields("Online", "T", "0", "8"), offsetFields("Online", "U", "0", "9"),
	} {
		c.must(protocol.ReqUpdateConsumerOffset, f, "")
	}
	clone := func(fields ...string) map[string]json.RawMessage {
		t.Helper()
		answer := c.ask(protocol.ReqCloneGroupOffset, ext(fields...), "")
		requireAnswer(t, answer, protocol.RespSuccess, "", nil)
		return b.offsets()
	}
	offsets := clone("srcGroup", "G", "destGroup", "H", "topic", "T", "offline", "false")
	require.JSONEq(t, `{"0":3,"1":4}`, string(offsets["T@H"]), "in place of what there was")
	require.Contains(t, read(t, b.offsetsFile()), `"T@H"`, "on disk")
	require.NotContains(t, offsets, "U@H")
	offsets = clone("srcGroup", "G", "destGroup", "New")
	require.JSONEq(t, `{"0":3,"1":4}`, string(offsets["T@New"]))
	require.JSONEq(t, `{"0":5}`, string(offsets["U@New"]))
	require.Equal(t, offsets, clone("srcGroup", "Nobody", "destGroup", "New2", "topic", "T"))
	require.Equal(t, offsets, clone("srcGroup", "G", "destGroup", "New2", "topic", "Unknown"))
	require.Equal(t, offsets, clone("srcGroup", "Online", "destGroup", "New2", "topic", "U"), "it is online and does not subscribe U")
	require.JSONEq(t, `{"0":9}`, string(clone("srcGroup", "Online", "destGroup", "New2", "topic", "U", "offline", "true")["U@New2"]))
	require.JSONEq(t, `{"0":8}`, string(clone("srcGroup", "Online", "destGroup", "New2", "topic", " ")["T@New2"]))
	before := b.offsets()
	c.refused(protocol.RespSystemError, protocol.ReqCloneGroupOffset, ext("destGroup", "H"), "", "srcGroup")
	c.refused(protocol.RespSystemError, protocol.ReqCloneGroupOffset, ext("srcGroup", "G"), "", "destGroup")
	for _, bad := range []string{"", "a@b", "no group"} {
		c.refused(protocol.RespInvalidParameter, protocol.ReqCloneGroupOffset, ext("srcGroup", "G", "destGroup", bad, "topic", "T"), "")
	}
	require.Equal(t, before, b.offsets())
	consumer.close()
}

// What cannot be written is not answered with success.
func TestOffsetsDiskFailure(t *testing.T) {
	b := startOffsetBroker(t)
	c := b.Admin()
	c.must(protocol.ReqUpdateConsumerOffset, offsetFields("G", "T", "0", "3"), "")
	require.NoError(t, os.MkdirAll(filepath.Join(b.offsetsFile(), "in the way"), 0o755))
	c.refused(protocol.RespSystemError, protocol.ReqCloneGroupOffset, ext("srcGroup", "G", "destGroup", "H", "topic", "T"), "",
		"consumerOffset.json could not be written")
	c.refused(protocol.RespSystemError, protocol.ReqDeleteSubscriptionGroup, ext("groupName", "G", "cleanOffset", "true"), "",
		"consumerOffset.json could not be written")
	require.NoError(t, os.RemoveAll(b.offsetsFile()))
	c.must(protocol.ReqDeleteSubscriptionGroup, ext("groupName", "G", "cleanOffset", "true"), "")
	require.NotContains(t, read(t, b.offsetsFile()), "T@G")
	require.Contains(t, read(t, b.offsetsFile()), "T@H")
}
