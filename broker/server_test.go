package broker_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/broker"
	"github.com/mq-server/mq/protocol"
)

// startBlackhole starts what takes connections and never answers. It ends with the test.
func startBlackhole(t testing.TB) (addr string) {
	t.Helper()
	l := listen(t)
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				_, _ = io.Copy(io.Discard, conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		conns.Wait()
	})
	return l.Addr().String()
}

// refusingAddr is an address where nobody listens.
func refusingAddr(t testing.TB) string {
	t.Helper()
	l := listen(t)
	defer l.Close()
	return l.Addr().String()
}

// Peer tests BrokerControllerTest and BrokerShutdownTest of spec/broker.md §10: a start and stop with port 0, on both ports;
// a second stop does no harm.
func TestBrokerStartsAndStops(t *testing.T) {
	dir := t.TempDir()
	b := startBrokerIn(t, dir)
	for _, addr := range []string{b.Addr, b.FastAddr} {
		c := dial(t, addr)
		c.must(protocol.ReqGetBrokerRuntimeInfo, nil, "")
		c.refused(protocol.RespRequestCodeNotSupported, 99999, nil, "", " request type 99999 not supported")
	}
	b.Admin().must(protocol.ReqUpdateAndCreateTopic, topicFields("Orders"), "")
	before := b.snapshot()
	b.stop()
	b.stop()
	for _, addr := range []string{b.Addr, b.FastAddr} {
		_, err := net.Dial("tcp", addr)
		require.Error(t, err, "the port is closed")
	}
	again := startBrokerIn(t, dir)
	again.Config.SetListenPort(b.Config.Server().ListenPort) // which 26 shows
	require.Equal(t, withoutVersions(before), withoutVersions(again.snapshot()), "all is as it was")
	require.NotNil(t, again.topic("Orders"))
}

// What a heartbeat needs is written at once, so that no end of groups in it keeps the broker from stopping in time.
func TestStopWithGreatHeartbeatUnderWay(t *testing.T) {
	b := startBroker(t)
	beat := protocol.HeartbeatData{ClientID: "c"}
	for i := range 5000 {
		beat.ConsumerDataSet = append(beat.ConsumerDataSet, protocol.ConsumerData{GroupName: fmt.Sprintf("G%d", i)})
	}
	body := string(beat.AppendJSON(nil, protocol.FormDefault))
	c := b.dial()
	c.send(protocol.ReqHeartBeat, nil, body)
	b.Admin().must(protocol.ReqGetBrokerRuntimeInfo, nil, "")
	begin := time.Now()
	b.stop()
	require.Less(t, time.Since(begin), 3*time.Second)

	again := startBrokerIn(t, b.dir)
	again.dial().must(protocol.ReqHeartBeat, nil, body)
	require.NotNil(t, again.topic("%RETRY%G4999"))
	require.Contains(t, again.groups(), "G4999")
}

// Only one broker works in a folder; the next one may once it has ended.
func TestLockOfTheFolder(t *testing.T) {
	b := startBroker(t)
	require.Equal(t, "lock", read(t, filepath.Join(b.dir, "store", "lock")))
	before := read(t, b.topicsFile())
	_, err := newBroker(t, b.dir, broker.Options{})
	require.EqualError(t, err, filepath.Join(b.dir, "store", "lock")+": another broker is at work in this folder")
	require.Equal(t, before, read(t, b.topicsFile()))
	b.stop()
	startBrokerIn(t, b.dir)
}

// withoutVersions masks the data version of the configuration and of mappings, which begin anew with every start.
func withoutVersions(snapshot string) string {
	before, rest, _ := strings.Cut(snapshot, `"mappingDataVersion":`)
	_, after, _ := strings.Cut(rest, "}")
	return before + after
}

// Codes that need a message store, and those that the fast port never has.
func TestCodesThatNeedAStore(t *testing.T) {
	b := startBroker(t)
	for _, addr := range []string{b.Addr, b.FastAddr} {
		c := dial(t, addr)
		for _, code := range []protocol.RequestCode{
			10, 310, 320, 36, 370, 11, 361, 200052, 200050, 200051, 200151, 200053, 200054, 200055, 324, 325, 12, 33, 400, 401,
			37, 29, 30, 31, 32, 45, 60, 61, 202, 208, 222, 303, 306, 316, 329, 308, 315, 317, 321, 323, 354, 355, 402, 513,
			905, 906, 907, 908, 1007, 1008, 2001, 3001, 3010, 200056, 50, 53, 13, 22, 209, 301, 200070, 200079, 5001, 309,
		} {
			fields := ext()
			if code == 309 {
				fields = ext("consumerGroup", "G", "clientId", "c", "msgId", "0")
			}
			c.refused(protocol.RespRequestCodeNotSupported, code, fields, "", fmt.Sprintf(" request type %d not supported", code))
		}
	}
}

// Three NameServers, one of which takes connections and never answers, and one of which refuses them: the healthy one has the
// broker within a second, changes within two, and is left within three.
func TestSilentNameServers(t *testing.T) {
	ns := startNamesrv(t)
	began := time.Now()
	b := startBroker(t, "namesrvAddr="+startBlackhole(t)+";"+refusingAddr(t)+";"+ns.Addr)
	eventually(t, func() error { return ns.serves("TBW102", b, 8, 7) })
	require.Less(t, time.Since(began), time.Second)

	began = time.Now()
	b.Admin().must(protocol.ReqUpdateAndCreateTopic, topicFields("Orders"), "")
	b.Admin().heartbeat("c1", "G1", "Orders")
	require.Less(t, time.Since(began), time.Second, "nobody waits for NameServers")
	eventually(t, func() error { return errors.Join(ns.serves("Orders", b, 4, 6), ns.serves("%RETRY%G1", b, 1, 6)) })
	require.Less(t, time.Since(began), 2*time.Second)

	began = time.Now()
	b.stop()
	require.Less(t, time.Since(began), 3*time.Second)
	require.Nil(t, ns.route("Orders"))
	require.Nil(t, ns.route("TBW102"))
}

// The same without any NameServer that answers.
func TestStopWithDeadNameServersOnly(t *testing.T) {
	b := startBroker(t, "namesrvAddr="+startBlackhole(t)+";"+startBlackhole(t)+";"+refusingAddr(t))
	eventually(t, func() error {
		if n := strings.Count(b.Log.String(), "NameServer cannot be reached"); n == 0 {
			return errors.New("the refusing one has not been tried")
		}
		return nil
	})
	began := time.Now()
	b.Admin().must(protocol.ReqUpdateAndCreateTopic, topicFields("Orders"), "")
	require.Less(t, time.Since(began), time.Second)
	began = time.Now()
	var stopping sync.WaitGroup
	for range 2 { // from elsewhere, and twice
		stopping.Go(b.stop)
	}
	stopping.Wait()
	require.Less(t, time.Since(began), 3*time.Second)
}

func TestRegistrationFollowsTopicsAndConfiguration(t *testing.T) {
	first, second := startNamesrv(t), startNamesrv(t)
	b := startBroker(t, "namesrvAddr="+first.Addr, "brokerIP1=::1")
	addr := "[::1]:" + b.Addr[strings.LastIndexByte(b.Addr, ':')+1:]
	b.Addr = addr // as it is told: an IPv6 address in brackets
	eventually(t, func() error { return first.serves("broker-a", b, 1, 7) })
	admin := dial(t, "127.0.0.1:"+addr[len("[::1]:"):])

	admin.must(protocol.ReqUpdateAndCreateTopic, topicFields("Orders"), "")
	eventually(t, func() error { return first.serves("Orders", b, 4, 6) })
	admin.must(protocol.ReqUpdateAndCreateTopic, topicFields("Orders", "readQueueNums", "7", "writeQueueNums", "7"), "")
	eventually(t, func() error { return first.serves("Orders", b, 7, 6) })

	// A permission is in force at the NameServers without a restart, for all topics.
	admin.must(protocol.ReqUpdateBrokerConfig, nil, "brokerPermission=4\n")
	eventually(t, func() error { return errors.Join(first.serves("Orders", b, 7, 4), first.serves("broker-a", b, 1, 4)) })
	admin.must(protocol.ReqUpdateBrokerConfig, nil, "brokerPermission=6\n")
	eventually(t, func() error { return first.serves("Orders", b, 7, 6) })

	// The list of NameServers is in force at once.
	admin.must(protocol.ReqUpdateBrokerConfig, nil, "namesrvAddr="+second.Addr+"\n")
	eventually(t, func() error { return second.serves("Orders", b, 7, 6) })
	eventually(t, func() error {
		if first.route("Orders") != nil {
			return errors.New("the first NameServer still has it")
		}
		return nil
	})
}

// Order configuration of a NameServer reaches the topics that there are. Source: spec/broker.md §3.8.
func TestOrderConfigurationIsApplied(t *testing.T) {
	ns := startNamesrv(t)
	c := dial(t, ns.Addr)
	c.must(protocol.ReqPutKVConfig, ext("namespace", "ORDER_TOPIC_CONFIG", "key", "Orders", "value", "broker-a:4"), "")
	b := startBroker(t, "namesrvAddr="+ns.Addr)
	eventually(t, func() error { return ns.serves("TBW102", b, 8, 7) })
	b.Admin().must(protocol.ReqUpdateAndCreateTopic, topicFields("Orders"), "")
	eventually(t, func() error {
		if b.topic("Orders")["order"] != true {
			return errors.New("it is not ordered")
		}
		return nil
	})
}

// What was answered with success is on disk: a copy of the folder, as a kill -9 would leave it, has it.
func TestSuccessIsOnDisk(t *testing.T) {
	b := startBroker(t)
	c := b.Admin()
	for i := range 20 {
		name := fmt.Sprintf("T%d", i)
		c.must(protocol.ReqUpdateAndCreateTopic, topicFields(name), "")
		c.must(protocol.ReqUpdateAndCreateSubscriptionGroup, nil, `{"groupName":"G`+name+`","retryMaxTimes":3}`)
		c.must(protocol.ReqUpdateBrokerConfig, nil, fmt.Sprintf("transactionCheckMax=%d\n", 100+i))
		require.Contains(t, read(t, b.topicsFile()), `"`+name+`"`)
		require.Contains(t, read(t, b.groupsFile()), `"G`+name+`"`)
		require.Contains(t, read(t, b.confFile()), fmt.Sprintf("transactionCheckMax=%d\n", 100+i))
	}
	c.must(protocol.ReqDeleteTopicInBroker, ext("topic", "T0"), "")
	c.must(protocol.ReqDeleteSubscriptionGroup, ext("groupName", "GT0"), "")
	c.heartbeat("c1", "Online", "T1")

	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(b.dir)))
	conf := read(t, filepath.Join(dir, "broker.properties"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broker.properties"), []byte(strings.ReplaceAll(conf, b.dir, dir)), 0o644))
	killed := startBrokerIn(t, dir)
	require.Equal(t, b.topicNames(), killed.topicNames())
	require.Equal(t, b.groups(), killed.groups())
	require.Equal(t, 119, killed.Config.Broker().TransactionCheckMax)
}

// A full queue is answered SYSTEM_BUSY, and what is answered so has not happened.
func TestWorkLimits(t *testing.T) {
	b := startBroker(t, "adminBrokerThreadPoolNums=1", "adminBrokerThreadPoolQueueCapacity=1")
	c := b.dial()
	const requests = 32
	names := map[int32]string{}
	for i := range requests {
		name := fmt.Sprintf("T%02d", i)
		names[c.send(protocol.ReqUpdateAndCreateTopic, topicFields(name), "")] = name
	}
	var made []string
	for range requests {
		answer, err := c.receive()
		require.NoError(t, err)
		if answer.Code == int32(protocol.RespSuccess) {
			made = append(made, names[answer.Opaque])
			continue
		}
		require.Equal(t, int32(protocol.RespSystemBusy), answer.Code, answer.Remark)
		require.Equal(t, "[OVERLOAD]system busy, start flow control for a while", answer.Remark)
	}
	require.NotEmpty(t, made)
	require.Less(t, len(made), requests, "so many changes at a time fit neither one worker nor a queue of one")
	slices.Sort(made)
	require.Equal(t, made, slices.DeleteFunc(b.topicNames(), func(name string) bool { return !slices.Contains(slices.Collect(maps.Values(names)), name) }))
}

// Clients are the same on both ports, and leave with their connections.
func TestClientsOfBothPorts(t *testing.T) {
	b := startBroker(t)
	vip, plain := dial(t, b.FastAddr), b.dial()
	answer := vip.heartbeat("vip", "G1", "Orders")
	require.Equal(t, ext("IS_SUPPORT_HEART_BEAT_V2", "true", "IS_SUB_CHANGE", "true"), answer.Ext)
	plain.heartbeat("plain", "G1", "Orders")
	require.Equal(t, int32(protocol.ReqNotifyConsumerIDsChanged), vip.request().Code)
	members := func() string {
		return string(b.Admin().ask(protocol.ReqGetConsumerListByGroup, ext("consumerGroup", "G1"), "").Body)
	}
	require.Equal(t, `{"consumerIdList":["plain","vip"]}`, members())
	vip.close()
	eventually(t, func() error {
		if got := members(); got != `{"consumerIdList":["plain"]}` {
			return errors.New(got)
		}
		return nil
	})
	plain.must(protocol.ReqUnregisterClient, ext("clientID", "plain", "consumerGroup", "G1"), "")
	b.Admin().refused(protocol.RespSystemError, protocol.ReqGetConsumerListByGroup, ext("consumerGroup", "G1"), "", "no consumer for this group, G1")
	require.NotNil(t, b.topic("%RETRY%G1"))
	require.Contains(t, b.groups(), "G1")
}

// A request that is passed on to a client which does not answer blocks no other, not even of the same asker.
func TestForwardedRequestBlocksNobody(t *testing.T) {
	b := startBroker(t, "adminBrokerThreadPoolNums=1")
	silent, asker := b.dial(), b.dial()
	silent.heartbeat("c1", "G1", "Orders")
	waiting := asker.send(protocol.ReqGetConsumerRunningInfo, ext("consumerGroup", "G1", "clientId", "c1", "jstackEnable", "false"), "")
	asker.must(protocol.ReqGetBrokerConfig, nil, "")
	asker.must(protocol.ReqUpdateAndCreateTopic, topicFields("Orders"), "")
	b.Admin().must(protocol.ReqGetAllTopicConfig, nil, "")
	forwarded := silent.request()
	for forwarded.Code == int32(protocol.ReqNotifyConsumerIDsChanged) {
		forwarded = silent.request()
	}
	require.Equal(t, int32(protocol.ReqGetConsumerRunningInfo), forwarded.Code)
	silent.write(&protocol.Command{Opaque: forwarded.Opaque, Flag: protocol.FlagResponse, Body: []byte("{}")})
	require.Equal(t, "{}", string(asker.answer(waiting).Body))
}

// A broker whose files cannot be read does not start, and says which.
func TestBrokerDoesNotStartWithDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "store/config"), 0o755))
	for _, name := range []string{"topics.json", "topics.json.bak"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "store/config", name), []byte("{"), 0o644))
	}
	_, err := newBroker(t, dir, broker.Options{})
	require.ErrorContains(t, err, "topics.json")
	require.ErrorContains(t, err, "topics.json.bak")
}

func TestRuntimeInfo(t *testing.T) {
	b := startBroker(t, "sendThreadPoolQueueCapacity=4711")
	var info struct{ Table map[string]string }
	require.NoError(t, json.Unmarshal(b.Admin().must(protocol.ReqGetBrokerRuntimeInfo, nil, "").Body, &info))
	table := info.Table
	for key, want := range map[string]string{
		"brokerVersionDesc": "V5_5_0", "brokerActive": "true", "putTps": "0.0 0.0 0.0", "getTransferredTps": "0.0 0.0 0.0",
		"getTransferedTps": "0.0 0.0 0.0", "sendThreadPoolQueueCapacity": "4711", "earliestMessageTimeStamp": "-1",
		"startAcceptSendRequestTimeStamp": "0", "commitLogMaxOffset": "0", "msgPutTotalTodayNow": "0",
	} {
		require.Equal(t, want, table[key], key)
	}
	require.Regexp(t, `^\[ 0 days, 0 hours, 0 minutes, \d+ seconds \]$`, table["runtime"])
	require.Regexp(t, `^(0\.\d{1,2}|1\.0)$`, table["commitLogDiskRatio"])
	require.Equal(t, table["commitLogDiskRatio"], table["commitLogDiskRatio_"+filepath.Join(b.dir, "store/commitlog")])
	require.Regexp(t, `^Total : \d+\.\d [KMGTPE]iB, Free : \d+\.\d [KMGTPE]iB\.$`, table["commitLogDirCapacity"])
	var boot int64
	_, err := fmt.Sscan(table["bootTimestamp"], &boot)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), time.UnixMilli(boot), time.Minute)
}
