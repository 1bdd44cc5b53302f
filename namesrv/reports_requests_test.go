package namesrv_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// Field reports about requests and their bodies: spec/field-reports.md, sections A and B.

// The exact limit is accepted, one byte more ends the connection; what was registered before stays.
func TestN4(t *testing.T) {
	ns := startNamesrv(t)
	ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1", Topics: numbered("a", 1000)})

	big := testBroker{Name: "big", Addr: "127.0.0.1:2", Topics: numbered("topic-with-a-name-of-some-length-", 60_000)}
	c := ns.dial()
	began := time.Now()
	c.register(big)
	require.Less(t, time.Since(began), 5*time.Second)
	require.NoError(t, ns.Admin().isServed("topic-with-a-name-of-some-length-41234", "big"))

	// The same frame with blanks behind the body, until it is as long as a frame may be, or one byte longer.
	for _, excess := range []int{0, 1} {
		cmd := c.request(protocol.ReqRegisterBroker, big.ext(), big.body())
		frame, err := protocol.AppendFrame(nil, cmd)
		require.NoError(t, err)
		frame = append(frame, bytes.Repeat([]byte(" "), protocol.MaxFrame+excess-len(frame))...)
		binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
		_, err = c.conn.Write(frame)
		if excess == 0 {
			require.NoError(t, err)
			answer, err := c.receive()
			require.NoError(t, err)
			require.Zero(t, answer.Code, answer.Remark)
		} else {
			_, err := c.receive()
			require.Error(t, err)
		}
	}
	require.Equal(t, 4, ns.route("a999").queues("a"))
	eventually(t, func() error { return ns.Admin().isServed("topic-with-a-name-of-some-length-0") }) // it left with its connection
	require.Contains(t, ns.Log.String(), strconv.Itoa(protocol.MaxFrame))
}

func TestN5(t *testing.T) {
	ns := startNamesrv(t)
	for i, version := range []protocol.Version{32767, 100000, 0, -1, 2147483647, -2147483648} {
		c := ns.dial()
		c.version = version
		b := testBroker{Name: fmt.Sprintf("v%d", i), Addr: fmt.Sprintf("127.0.0.1:%d", i+1)}
		body := b.body()
		if version < protocol.Version3_0_11 {
			body = b.wrapper()
		}
		c.must(protocol.ReqRegisterBroker, b.ext(), body)
		c.must(protocol.ReqGetRouteInfoByTopic, ext("topic", b.Name+"-1"), "")
		require.NoError(t, ns.Admin().isServed(b.Name+"-1", b.Name))
	}
	// Without any version.
	c := ns.dial()
	b := testBroker{Name: "none", Addr: "127.0.0.1:9"}
	fields, err := json.Marshal(map[string]string{
		"brokerName": b.Name, "brokerAddr": b.Addr, "clusterName": "C", "haServerAddr": "x", "brokerId": "0",
	})
	require.NoError(t, err)
	answer := c.raw(fmt.Sprintf(`{"code":103,"extFields":%s,"flag":0,"language":"JAVA","opaque":7}`, fields), b.wrapper())
	require.Zero(t, answer.Code, answer.Remark)
	require.Len(t, ns.clusters().BrokerAddrTable, 7)
	ns.consistent()
}

// raw sends a frame with a JSON header as it stands.
func (c *client) raw(header, body string) *protocol.Command {
	c.t.Helper()
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(header)+len(body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(header)))
	frame = append(append(frame, header...), body...)
	_, err := c.conn.Write(frame)
	require.NoError(c.t, err)
	answer, err := c.receive()
	require.NoError(c.t, err)
	return answer
}

// without returns fields less one.
func without(fields protocol.Ext, key string) protocol.Ext {
	rest := protocol.Ext{}
	for _, f := range fields {
		if f.Key != key {
			rest = append(rest, f)
		}
	}
	return rest
}

func with(fields protocol.Ext, key, value string) protocol.Ext {
	return append(without(fields, key), protocol.Field{Key: key, Value: value})
}

func TestN6(t *testing.T) {
	ns := startNamesrv(t)
	there := testBroker{Name: "a", Addr: "127.0.0.1:1"}
	ns.startBroker(there)
	c := ns.dial()
	before := ns.snapshot()

	b := testBroker{Name: "b", Addr: "127.0.0.1:2"}
	for _, name := range []string{"brokerName", "brokerAddr", "clusterName", "brokerId"} {
		c.refused(protocol.RespSystemError, protocol.ReqRegisterBroker, without(b.ext(), name), b.body(), name)
		require.Equal(t, before, ns.snapshot())
		c.refused(protocol.RespSystemError, protocol.ReqUnregisterBroker, without(there.ext(), name), "", name)
		require.Equal(t, before, ns.snapshot())
	}
	for _, id := range []string{"abc", "-9223372036854775809", "", "1.5"} {
		c.refused(protocol.RespSystemError, protocol.ReqRegisterBroker, with(b.ext(), "brokerId", id), b.body(), "brokerId")
		require.Equal(t, before, ns.snapshot())
		c.refused(protocol.RespSystemError, protocol.ReqUnregisterBroker, with(there.ext(), "brokerId", id), "", "brokerId")
		require.Equal(t, before, ns.snapshot())
	}
	c.refused(protocol.RespSystemError, protocol.ReqRegisterBroker, nil, b.body(), "brokerName")
	require.Equal(t, before, ns.snapshot())

	c.must(protocol.ReqRegisterBroker, without(b.ext(), "haServerAddr"), b.body())
	ns.consistent()
}

func TestN7(t *testing.T) {
	ns := startNamesrv(t)
	dv := `"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1}`
	wrapped := func(inner string) string {
		return `{"topicConfigSerializeWrapper":` + inner + `,"filterServerList":[]}`
	}
	for i, body := range []string{
		"", "{}", "null", "[]", " ",
		wrapped("null"),
		wrapped(`{"dataVersion":null,"topicConfigTable":{}}`),
		wrapped(`{"dataVersion":null,"topicConfigTable":{"x":{"topicName":"x"},"y":{"topicName":"y"}}}`),
		wrapped(`{` + dv + `,"topicConfigTable":null}`),
		wrapped(`{` + dv + `,"topicConfigTable":{"x":null,"y":{"topicName":"y"}}}`),
		wrapped(`{` + dv + `,"topicConfigTable":{"x":{"perm":6},"y":{"topicName":"y"}}}`),
		wrapped(`{` + dv + `,"topicConfigTable":{"x":{"topicName":"x"},"y":{"topicName":`),
		"not JSON", "\xff\xfe", "\x78\x9c\x00",
	} {
		name := fmt.Sprintf("b%d", i)
		old := testBroker{Name: name, Addr: fmt.Sprintf("127.0.0.1:%d", 1000+i)}
		c := ns.dial()
		before := ns.snapshot()
		answer := c.ask(protocol.ReqRegisterBroker, old.ext(), body)
		if answer.Code != int32(protocol.RespSuccess) {
			require.Equal(t, int32(protocol.RespSystemError), answer.Code, "%q", body)
			require.NotEmpty(t, answer.Remark, "%q", body)
			require.Equal(t, before, ns.snapshot(), "%q", body)
		}
		ns.consistent()

		moved := testBroker{Name: name, Addr: fmt.Sprintf("127.0.0.1:%d", 2000+i)}
		c2 := ns.startBroker(moved)
		require.Equal(t, map[string]string{"0": moved.Addr}, ns.route(name+"-1").addrs(name), "%q", body)
		c.close()
		c2.close()
		eventually(t, func() error { return ns.Admin().isServed(name + "-1") })
	}
}

func TestN10(t *testing.T) {
	ns := startNamesrv(t)
	ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:10911"})
	ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:10921", ID: 1})
	const rest = `,"brokerName":"a","cluster":"C","enableActingMaster":false}],"filterServerTable":{},"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}`
	const legacy = `{"brokerDatas":[{"brokerAddrs":{0:"127.0.0.1:10911",1:"127.0.0.1:10921"}` + rest
	const strict = `{"brokerDatas":[{"brokerAddrs":{"0":"127.0.0.1:10911","1":"127.0.0.1:10921"}` + rest
	require.True(t, json.Valid([]byte(strict)))
	for _, tt := range []struct {
		version protocol.Version
		more    protocol.Ext
		want    string
	}{
		{0, nil, legacy},
		{317, nil, legacy},
		{399, nil, legacy},
		{400, nil, legacy},
		{401, nil, strict},
		{479, nil, strict},
		{513, nil, strict},
		{0, ext("acceptStandardJsonOnly", "true"), strict},
		{317, ext("acceptStandardJsonOnly", "TRUE"), strict},
		{317, ext("acceptStandardJsonOnly", "false"), legacy},
		{317, ext("acceptStandardJsonOnly", "yes"), legacy},
	} {
		c := ns.dial()
		c.version = tt.version
		answer := c.must(protocol.ReqGetRouteInfoByTopic, append(ext("topic", "a-1"), tt.more...), "")
		require.Equal(t, tt.want, string(answer.Body), "version %d, %v", tt.version, tt.more)
	}
}

// 106 and 901 stay as release 5.5.0 writes them unless strict JSON is asked for by name.
func TestN11(t *testing.T) {
	ns := startNamesrv(t)
	ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:10911"})
	ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:10921", ID: 1})
	for code, fields := range map[protocol.RequestCode]protocol.Ext{
		protocol.ReqGetBrokerClusterInfo: nil,
		protocol.ReqGetBrokerMemberGroup: ext("clusterName", "C", "brokerName", "a"),
	} {
		legacy := string(ns.Admin().must(code, fields, "").Body)
		strict := string(ns.Admin().must(code, with(fields, "acceptStandardJsonOnly", "true"), "").Body)
		require.True(t, json.Valid([]byte(strict)), strict)
		require.Contains(t, legacy, `{0:"127.0.0.1:10911",1:"127.0.0.1:10921"}`)
		require.Equal(t, legacy, regexp.MustCompile(`"(\d+)":`).ReplaceAllString(strict, "$1:"))
	}
}

func TestN12(t *testing.T) {
	ns := startNamesrv(t)
	c := ns.dial()
	b := testBroker{Name: "a", Addr: "127.0.0.1:1"}
	c.must(protocol.ReqRegisterBroker, b.ext(), `{"filterServerList":[],"topicConfigSerializeWrapper":{`+
		`"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1},"topicConfigTable":{`+
		`"s":{"topicName":"s","attributes":{"+x":"{0:\"x\"}"}},"t":{"topicName":"t"},"u":{"topicName":"u"}},`+
		`"topicQueueMappingInfoMap":{"s":{"bname":"a","currIdMap":{0:0,1:-1,-2:3},"dirty":false,"epoch":1,"scope":"__global__","topic":"s","totalQueues":3}}}}`)
	for _, topic := range []string{"s", "t", "u"} {
		require.NoError(t, ns.Admin().isServed(topic, "a"))
	}
	answer := ns.Admin().must(protocol.ReqGetRouteInfoByTopic, ext("topic", "s"), "")
	require.True(t, json.Valid(answer.Body), "%s", answer.Body)
	require.Contains(t, string(answer.Body), `"currIdMap":{"-2":3,"0":0,"1":-1}`)
}

// compactAddrs is what the Go client can cut out of a route: an object without blanks, never null.
var compactAddrs = regexp.MustCompile(`"brokerAddrs":\{("?-?\d+"?:"[^"\s]*"(,"?-?\d+"?:"[^"\s]*")*)?\}`)

func TestN13(t *testing.T) {
	ns := startNamesrv(t)
	check := func() {
		t.Helper()
		for _, version := range []protocol.Version{317, 513} {
			c := ns.dial()
			c.version = version
			body := string(c.must(protocol.ReqGetRouteInfoByTopic, ext("topic", "T"), "").Body)
			require.Equal(t, strings.Count(body, `"brokerAddrs":`), len(compactAddrs.FindAllString(body, -1)), body)
			require.Regexp(t, `"brokerDatas":\[.*"queueDatas":\[`, body)
		}
	}
	topics := named("T", "U")
	ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1", Topics: topics})
	check()
	slave := ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:2", ID: 1, Topics: topics})
	check()
	ns.startBroker(testBroker{Name: "b", Addr: "127.0.0.1:3", ID: -1, Topics: topics})
	check()
	slave.close()
	eventually(t, func() error {
		if n := len(ns.route("T").addrs("a")); n != 1 {
			return fmt.Errorf("%d addresses", n)
		}
		return nil
	})
	check()
	// Everything is left out by its zone: lists are empty, not null.
	ns.Admin().must(protocol.ReqGetRouteInfoByTopic, ext("topic", "T"), "")
	answer := ns.Admin().must(protocol.ReqGetRouteInfoByTopic, ext("topic", "T", "__ZONE_MODE", "true", "__ZONE_NAME", "z"), "")
	require.Contains(t, string(answer.Body), `"brokerDatas":[`)
	require.Contains(t, string(answer.Body), `"queueDatas":[`)
}

func TestN14(t *testing.T) {
	ns := startNamesrv(t)
	c := ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1"})
	c.must(protocol.ReqRegisterTopicInNamesrv, ext("topic", "unit"),
		`{"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":1,"writeQueueNums":1,"topicSynFlag":1}]}`)
	require.Equal(t, `{"topicList":["unit"]}`, string(ns.Admin().must(protocol.ReqGetUnitTopicList, nil, "").Body))
	require.Equal(t, 1, ns.route("unit").QueueDatas[0].TopicSysFlag)
}

// deflated is a compressed registration body, with a section of mappings or without.
func deflated(topics []string, mappings bool) string {
	var plain bytes.Buffer
	number := func(n int) { _ = binary.Write(&plain, binary.BigEndian, int32(n)) }
	text := func(s string) {
		number(len(s))
		plain.WriteString(s)
	}
	text(`{"counter":1,"timestamp":1}`)
	number(len(topics))
	for _, topic := range topics {
		text(topic + " 4 4 6 SINGLE_TAG")
	}
	text("[]")
	if mappings {
		number(0)
	}
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(plain.Bytes())
	_ = w.Close()
	return z.String()
}

func TestN15(t *testing.T) {
	ns := startNamesrv(t)
	topics := []string{"t1", "t2"}
	for i, tt := range []struct {
		name       string
		version    protocol.Version
		compressed bool
		body       func(b testBroker) string
	}{
		{"new body, version 0", 0, false, testBroker.body},
		{"old body, version 30", 30, false, testBroker.wrapper},
		{"compressed, version 399, no mappings", 399, true, func(testBroker) string { return deflated(topics, false) }},
		{"compressed, version 413, mappings", 413, true, func(testBroker) string { return deflated(topics, true) }},
		{"compressed but not said so", 513, false, func(testBroker) string { return deflated(topics, true) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := testBroker{Name: fmt.Sprintf("b%d", i), Addr: fmt.Sprintf("127.0.0.1:%d", i+1), Topics: named(topics...)}
			body := tt.body(b)
			c := ns.dial()
			c.version = tt.version
			fields := append(b.ext(), ext("compressed", strconv.FormatBool(tt.compressed),
				"bodyCrc32", strconv.Itoa(int(crc32.ChecksumIEEE([]byte(body))&0x7FFFFFFF)))...)
			c.must(protocol.ReqRegisterBroker, fields, body)
			require.Equal(t, 4, ns.route("t1").queues(b.Name))
			require.Equal(t, 4, ns.route("t2").queues(b.Name))
		})
	}
}

func TestN16(t *testing.T) {
	ns := startNamesrv(t)
	b := ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1"})
	b.close()
	eventually(t, func() error { return ns.Admin().isServed("a-1") })
	for _, topic := range []string{"unknown", "a-1", "", strings.Repeat("x", 10_000)} {
		ns.Admin().refused(protocol.RespTopicNotExist, protocol.ReqGetRouteInfoByTopic, ext("topic", topic), "",
			"No topic route info in name server for the topic: "+topic+"\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.")
	}
	ns.Admin().refused(protocol.RespTopicNotExist, protocol.ReqGetRouteInfoByTopic, nil, "", "topic: null\n")
}

// Every code takes the least that it needs, and any fields on top.
func TestN62(t *testing.T) {
	for name, more := range map[string]protocol.Ext{
		"minimal":   nil,
		"over-full": ext("unknown", "x", "lo", "false", "ns", "n", "nsd", "true", "bname", "b", "oway", "false", "epoch", "NaN", "中", "文"),
	} {
		t.Run(name, func(t *testing.T) {
			ns := startNamesrv(t)
			c := ns.dial()
			id := ext("brokerName", "a", "brokerAddr", "127.0.0.1:1", "clusterName", "C", "brokerId", "0")
			for _, tt := range []struct {
				code   protocol.RequestCode
				fields protocol.Ext
				body   string
				want   protocol.ResponseCode
			}{
				{protocol.ReqRegisterBroker, id, "", 0},
				{protocol.ReqRegisterTopicInNamesrv, ext("topic", "T"), `{"queueDatas":[{"brokerName":"a"}]}`, 0},
				{protocol.ReqGetRouteInfoByTopic, ext("topic", "T"), "", 0},
				{protocol.ReqGetBrokerClusterInfo, nil, "", 0},
				{protocol.ReqQueryDataVersion, ext("brokerAddr", "127.0.0.1:1", "clusterName", "C"), "", 0},
				{protocol.ReqBrokerHeartbeat, ext("brokerAddr", "127.0.0.1:1", "clusterName", "C"), "", 0},
				{protocol.ReqGetBrokerMemberGroup, ext("clusterName", "C", "brokerName", "a"), "", 0},
				{protocol.ReqWipeWritePermOfBroker, ext("brokerName", "a"), "", 0},
				{protocol.ReqAddWritePermOfBroker, ext("brokerName", "a"), "", 0},
				{protocol.ReqGetAllTopicListFromNameServer, nil, "", 0},
				{protocol.ReqGetTopicsByCluster, ext("cluster", "C"), "", 0},
				{protocol.ReqGetSystemTopicListFromNS, nil, "", 0},
				{protocol.ReqGetUnitTopicList, nil, "", 0},
				{protocol.ReqGetHasUnitSubTopicList, nil, "", 0},
				{protocol.ReqGetHasUnitSubUnUnitTopicList, nil, "", 0},
				{protocol.ReqPutKVConfig, ext("namespace", "N", "key", "k", "value", "v"), "", 0},
				{protocol.ReqGetKVConfig, ext("namespace", "N", "key", "k"), "", 0},
				{protocol.ReqGetKVListByNamespace, ext("namespace", "N"), "", 0},
				{protocol.ReqDeleteKVConfig, ext("namespace", "N", "key", "k"), "", 0},
				{protocol.ReqUpdateNamesrvConfig, nil, "", 0},
				{protocol.ReqGetNamesrvConfig, nil, "", 0},
				{protocol.ReqDeleteTopicInNamesrv, ext("topic", "T"), "", 0},
				{protocol.ReqUnregisterBroker, id, "", 0},
				{9999, nil, "", protocol.RespRequestCodeNotSupported},
			} {
				fields := append(append(protocol.Ext{}, tt.fields...), more...)
				for _, codec := range []protocol.Codec{protocol.CodecJSON, protocol.CodecBinary} {
					c.codec = codec
					answer := c.ask(tt.code, fields, tt.body)
					require.Equal(t, int32(tt.want), answer.Code, "%d: %s", tt.code, answer.Remark)
				}
			}
		})
	}
}

// A name of a megabyte does not become a line of a megabyte.
func TestLongNamesAreLoggedInBrief(t *testing.T) {
	ns := startNamesrv(t)
	c := ns.dial()
	long := strings.Repeat("x", 1<<20)
	b := testBroker{Name: long, Addr: long, Cluster: long}
	c.register(b)
	other := b
	other.Cluster = "other"
	c.refused(protocol.RespSystemError, protocol.ReqRegisterBroker, other.ext(), other.body(), "register broker failed: brokerName xxx")
	c.refused(protocol.RespSystemError, protocol.ReqRegisterBroker, b.ext(), "no JSON", "Failed to decode")
	c.must(protocol.ReqRegisterTopicInNamesrv, ext("topic", long), `{"queueDatas":[{"brokerName":"?"}]}`)
	c.must(protocol.ReqWipeWritePermOfBroker, ext("brokerName", long), "")
	c.must(protocol.ReqAddWritePermOfBroker, ext("brokerName", long), "")
	c.must(protocol.ReqDeleteTopicInNamesrv, ext("topic", long+"-1", "clusterName", long), "")
	c.must(protocol.ReqDeleteTopicInNamesrv, ext("topic", "unknown"), "")
	c.must(protocol.ReqBrokerHeartbeat, ext("clusterName", long, "brokerAddr", "?", "brokerName", long), "")
	c.unregister(b)
	log := ns.Log.String()
	for _, text := range []string{"broker registered", "registration refused", "cannot be read", "not registered", "wiped", "given back", "broker unregistered"} {
		require.Contains(t, log, text)
	}
	require.Equal(t, 1, strings.Count(log, "topic deleted"))
	require.Less(t, len(log), 16<<10)
}

// Registrations that inflate to very much more than they look are taken one at a time for each connection: who sends many
// makes others wait for one of them, not for all.
func TestInflatingRegistrationsTakeTurns(t *testing.T) {
	ns := startNamesrv(t)
	topics := protocol.RegisterBrokerBody{DataVersion: &protocol.DataVersion{}}
	for i := range 20_000 {
		topics.Topics = append(topics.Topics, protocol.TopicConfig{TopicName: fmt.Sprint("t", i), ReadQueueNums: 1, WriteQueueNums: 1, Perm: 6})
	}
	body, err := topics.AppendCompressed(nil, protocol.CurrentVersion)
	require.NoError(t, err)

	const sent = 30 // as many as a connection may have in flight, nearly
	hostile := ns.dial()
	var requests []*protocol.Command
	for i := range sent {
		fields := testBroker{Name: fmt.Sprint("x", i), Addr: fmt.Sprintf("10.0.0.9:%d", 10000+i)}.ext()
		fields = with(with(fields, "compressed", "true"), "bodyCrc32", "0")
		requests = append(requests, hostile.request(protocol.ReqRegisterBroker, fields, string(body)))
	}
	hostile.send(requests...)
	var answered atomic.Int64
	done := make(chan error, 1)
	go func() {
		for range sent {
			if _, err := hostile.receive(); err != nil {
				done <- err
				return
			}
			answered.Add(1)
		}
		done <- nil
	}()
	eventually(t, func() error {
		if answered.Load() == 0 {
			return errors.New("no answer")
		}
		return nil
	})
	before := answered.Load()
	ns.startBroker(testBroker{Name: "a", Addr: "10.0.0.1:10911"})
	require.Less(t, answered.Load()-before, int64(8), "answers to the hostile peer while an honest broker waited")
	require.NoError(t, <-done)
}
