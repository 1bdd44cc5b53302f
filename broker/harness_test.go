package broker_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/broker"
	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/namesrv"
	"github.com/mq-server/mq/protocol"
)

// patience is how long tests wait for what must come, however slow the machine is.
const patience = 20 * time.Second

// eventually waits until check returns nil.
func eventually(t testing.TB, check func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("still not: %v", err)
}

// logBuffer is a log that tests look into.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// listen returns a listener on a free port of the loopback interface, which the test may pass on.
func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l
}

// nameServer is a NameServer in this process.
type nameServer struct {
	Addr string
	t    testing.TB
	stop func()
}

// startNamesrv starts a NameServer on a port of its own. It ends with the test.
func startNamesrv(t testing.TB) *nameServer {
	t.Helper()
	return startNamesrvOn(t, listen(t))
}

func startNamesrvOn(t testing.TB, l net.Listener) *nameServer {
	t.Helper()
	config, err := conf.Load(conf.Sources{Environ: []string{"HOME=" + t.TempDir()}, Log: zerolog.Nop()})
	require.NoError(t, err)
	server, err := namesrv.New(namesrv.Options{Listener: l, Config: config, Log: zerolog.Nop()})
	require.NoError(t, err)
	ns := &nameServer{Addr: l.Addr().String(), t: t, stop: start(t, server.Run)}
	return ns
}

// start runs a server and returns what stops it, which also the end of the test does.
func start(t testing.TB, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(patience):
			t.Error("Run does not return")
		}
	})
	t.Cleanup(stop)
	return stop
}

// route returns a topic's route as strict JSON; nil if there is none.
func (ns *nameServer) route(topic string) *routeJSON {
	ns.t.Helper()
	c := dial(ns.t, ns.Addr)
	defer c.close()
	answer := c.ask(protocol.ReqGetRouteInfoByTopic, ext("topic", topic), "")
	if answer.Code == int32(protocol.RespTopicNotExist) {
		return nil
	}
	require.Zero(ns.t, answer.Code, answer.Remark)
	var r routeJSON
	require.NoError(ns.t, json.Unmarshal(answer.Body, &r), "%s", answer.Body)
	return &r
}

// routeJSON is a TopicRouteData.
type routeJSON struct {
	BrokerDatas []struct {
		BrokerAddrs         map[string]string
		BrokerName, Cluster string
	}
	QueueDatas []struct {
		BrokerName                                        string
		Perm, ReadQueueNums, WriteQueueNums, TopicSysFlag int
	}
}

// serves is nil if the NameServer has exactly this broker for the topic, with so many queues.
func (ns *nameServer) serves(topic string, b *testBroker, queues, perm int) error {
	r := ns.route(topic)
	if r == nil || len(r.BrokerDatas) != 1 || len(r.QueueDatas) != 1 {
		return fmt.Errorf("route of %s: %+v", topic, r)
	}
	q := r.QueueDatas[0]
	if r.BrokerDatas[0].BrokerAddrs["0"] != b.Addr || q.ReadQueueNums != queues || q.WriteQueueNums != queues || q.Perm != perm {
		return fmt.Errorf("route of %s: %+v instead of %s with %d queues and perm %d", topic, r, b.Addr, queues, perm)
	}
	return nil
}

// testBroker is a broker in this process, on two ports of its own.
type testBroker struct {
	Addr, FastAddr string
	Log            *logBuffer
	Config         *conf.BrokerStore

	t     testing.TB
	dir   string
	stop  func()
	admin *client // opened when first asked for
}

// startBroker starts a broker with lines of a properties file, on a directory of its own. It ends with the test.
func startBroker(t testing.TB, properties ...string) *testBroker {
	t.Helper()
	return startBrokerIn(t, t.TempDir(), properties...)
}

// startBrokerIn starts a broker in dir, where an earlier one may have left its files.
func startBrokerIn(t testing.TB, dir string, properties ...string) *testBroker {
	t.Helper()
	b, err := newBroker(t, dir, broker.Options{}, properties...)
	require.NoError(t, err)
	return b
}

func newBroker(t testing.TB, dir string, o broker.Options, properties ...string) (*testBroker, error) {
	t.Helper()
	b := &testBroker{Log: &logBuffer{}, t: t, dir: dir}
	if _, err := os.Stat(b.confFile()); err != nil || len(properties) > 0 {
		text := "brokerName=broker-a\nbrokerClusterName=C\nbrokerIP1=127.0.0.1\nbrokerIP2=127.0.0.1\n" + strings.Join(properties, "\n")
		require.NoError(t, os.WriteFile(b.confFile(), []byte(text), 0o644))
	}
	o.Log = zerolog.New(b.Log).Level(zerolog.DebugLevel)
	var err error
	if o.Config, err = conf.LoadBroker(conf.Sources{File: b.confFile(), Environ: []string{"HOME=" + dir}, Log: o.Log}); err != nil {
		return nil, err
	}
	b.Config = o.Config
	o.Main, o.Fast = listen(t), listen(t)
	o.Config.SetListenPort(o.Main.Addr().(*net.TCPAddr).Port)
	server, err := broker.New(o)
	if err != nil {
		o.Main.Close()
		o.Fast.Close()
		return nil, err
	}
	require.Equal(t, o.Main.Addr(), server.Addr())
	require.Equal(t, o.Fast.Addr(), server.FastAddr())
	b.Addr, b.FastAddr = server.Addr().String(), server.FastAddr().String()
	stop := start(t, server.Run)
	b.stop = func() {
		if b.admin != nil {
			b.admin.close()
		}
		stop()
	}
	t.Cleanup(b.stop)
	return b, nil
}

func (b *testBroker) confFile() string   { return filepath.Join(b.dir, "broker.properties") }
func (b *testBroker) topicsFile() string { return filepath.Join(b.dir, "store/config/topics.json") }
func (b *testBroker) groupsFile() string {
	return filepath.Join(b.dir, "store/config/subscriptionGroup.json")
}

// Admin is a connection that is open as long as the broker, for looking at it.
func (b *testBroker) Admin() *client {
	b.t.Helper()
	if b.admin == nil {
		b.admin = b.dial()
	}
	return b.admin
}

func (b *testBroker) dial() *client { return dial(b.t, b.Addr) }

// snapshot is all that a refused request must leave as it was: topics, groups, configuration, and their files.
func (b *testBroker) snapshot() string {
	b.t.Helper()
	text := string(b.Admin().must(protocol.ReqGetAllTopicConfig, nil, "").Body) +
		string(b.Admin().must(protocol.ReqGetAllSubscriptionGroupConfig, nil, "").Body) +
		string(b.Admin().must(protocol.ReqGetBrokerConfig, nil, "").Body)
	for _, path := range []string{b.topicsFile(), b.groupsFile(), b.confFile()} {
		text += read(b.t, path)
	}
	return text
}

// topic is a topic as 351 shows it; nil: there is none.
func (b *testBroker) topic(name string) map[string]any {
	b.t.Helper()
	answer := b.Admin().ask(protocol.ReqGetTopicConfig, ext("topic", name), "")
	if answer.Code == int32(protocol.RespTopicNotExist) {
		return nil
	}
	return decode(b.t, answer)
}

// topicNames are the names of all topics, sorted, as 21 gives them.
func (b *testBroker) topicNames() []string {
	b.t.Helper()
	body, err := protocol.DecodeTopicConfigAndMappingSerializeWrapper(b.Admin().must(protocol.ReqGetAllTopicConfig, nil, "").Body, 0)
	require.NoError(b.t, err)
	var names []string
	for i := range body.TopicConfigTable {
		names = append(names, body.TopicConfigTable[i].TopicName)
	}
	slices.Sort(names)
	return names
}

// groups are the groups that the broker has, by name.
func (b *testBroker) groups() map[string]protocol.SubscriptionGroupConfig {
	b.t.Helper()
	body, err := protocol.DecodeSubscriptionGroupWrapper(b.Admin().must(protocol.ReqGetAllSubscriptionGroupConfig, nil, "").Body, 0)
	require.NoError(b.t, err)
	groups := map[string]protocol.SubscriptionGroupConfig{}
	for _, g := range body.SubscriptionGroupTable {
		groups[g.GroupName] = g
	}
	return groups
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// decode reads an answer's body, which has to be strict JSON.
func decode(t testing.TB, answer *protocol.Command) map[string]any {
	t.Helper()
	require.Zero(t, answer.Code, answer.Remark)
	var v map[string]any
	require.NoError(t, json.Unmarshal(answer.Body, &v), "%s", answer.Body)
	return v
}

// client is a connection of a test. It is for one goroutine.
type client struct {
	t       testing.TB
	conn    net.Conn
	in      *bufio.Reader
	opaque  int32
	version protocol.Version
	// requests are those of the server that came while an answer was awaited.
	requests []*protocol.Command
}

// dial opens a connection, which ends with the test.
func dial(t testing.TB, addr string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	c := &client{t: t, conn: conn, in: bufio.NewReader(conn), version: protocol.CurrentVersion}
	t.Cleanup(c.close)
	return c
}

func (c *client) close() { c.conn.Close() }

// ext makes extFields of keys and values, in turn.
func ext(keysAndValues ...string) protocol.Ext {
	e := protocol.Ext{}
	for i := 0; i < len(keysAndValues); i += 2 {
		e = append(e, protocol.Field{Key: keysAndValues[i], Value: keysAndValues[i+1]})
	}
	return e
}

// send sends a request and returns its opaque.
func (c *client) send(code protocol.RequestCode, fields protocol.Ext, body string) int32 {
	c.t.Helper()
	c.opaque++
	c.write(&protocol.Command{
		Code: int32(code), Language: protocol.LanguageJava, Version: c.version, Opaque: c.opaque, Ext: fields, Body: []byte(body),
	})
	return c.opaque
}

func (c *client) write(cmd *protocol.Command) {
	c.t.Helper()
	frame, err := protocol.AppendFrame(nil, cmd)
	require.NoError(c.t, err)
	_, err = c.conn.Write(frame)
	require.NoError(c.t, err)
}

// receive reads the next frame.
func (c *client) receive() (*protocol.Command, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(c.in, length[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(c.in, frame); err != nil {
		return nil, err
	}
	cmd, err := protocol.DecodeCommand(frame)
	return &cmd, err
}

// answer reads the answer to a request.
func (c *client) answer(opaque int32) *protocol.Command {
	c.t.Helper()
	for {
		cmd, err := c.receive()
		require.NoError(c.t, err)
		if cmd.IsResponse() {
			require.Equal(c.t, opaque, cmd.Opaque)
			return cmd
		}
		c.requests = append(c.requests, cmd)
	}
}

// request returns the next request of the server.
func (c *client) request() *protocol.Command {
	c.t.Helper()
	if len(c.requests) > 0 {
		cmd := c.requests[0]
		c.requests = c.requests[1:]
		return cmd
	}
	cmd, err := c.receive()
	require.NoError(c.t, err)
	require.False(c.t, cmd.IsResponse())
	return cmd
}

// ask sends a request and returns its answer, whatever that is.
func (c *client) ask(code protocol.RequestCode, fields protocol.Ext, body string) *protocol.Command {
	c.t.Helper()
	return c.answer(c.send(code, fields, body))
}

// must is ask for requests that have to succeed.
func (c *client) must(code protocol.RequestCode, fields protocol.Ext, body string) *protocol.Command {
	c.t.Helper()
	answer := c.ask(code, fields, body)
	require.Equal(c.t, int32(protocol.RespSuccess), answer.Code, "request code %d: %s", code, answer.Remark)
	return answer
}

// refused is ask for requests that have to be answered with want, and a remark that has all the texts.
func (c *client) refused(want protocol.ResponseCode, code protocol.RequestCode, fields protocol.Ext, body string, texts ...string) {
	c.t.Helper()
	answer := c.ask(code, fields, body)
	require.Equal(c.t, int32(want), answer.Code, "request code %d: %s", code, answer.Remark)
	require.NotEmpty(c.t, answer.Remark)
	for _, text := range texts {
		require.Contains(c.t, answer.Remark, text)
	}
	require.Empty(c.t, answer.Body)
}

// topicFields are the fields of 17 for a topic, with changes made to them: key, value; "-key", "" takes one out.
func topicFields(name string, changes ...string) protocol.Ext {
	fields := ext("topic", name, "defaultTopic", "TBW102", "readQueueNums", "4", "writeQueueNums", "4", "perm", "6",
		"topicFilterType", "SINGLE_TAG", "topicSysFlag", "0", "order", "false")
	for i := 0; i < len(changes); i += 2 {
		key, out := strings.CutPrefix(changes[i], "-")
		fields = slices.DeleteFunc(fields, func(f protocol.Field) bool { return f.Key == key })
		if !out {
			fields = append(fields, protocol.Field{Key: key, Value: changes[i+1]})
		}
	}
	return fields
}

// heartbeat sends a consumer's heartbeat for a group and its topics, or a producer's without topics.
func (c *client) heartbeat(clientID, group string, topics ...string) *protocol.Command {
	c.t.Helper()
	beat := protocol.HeartbeatData{ClientID: clientID}
	if len(topics) == 0 {
		beat.ProducerDataSet = []protocol.ProducerData{{GroupName: group}}
	} else {
		consumer := protocol.ConsumerData{
			GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering,
			ConsumeFromWhere: protocol.ConsumeFromFirstOffset,
		}
		for _, topic := range topics {
			consumer.SubscriptionDataSet = append(consumer.SubscriptionDataSet,
				protocol.SubscriptionData{Topic: topic, SubString: "*", SubVersion: 1, ExpressionType: "TAG"})
		}
		beat.ConsumerDataSet = []protocol.ConsumerData{consumer}
	}
	return c.must(protocol.ReqHeartBeat, nil, string(beat.AppendJSON(nil, protocol.FormDefault)))
}
