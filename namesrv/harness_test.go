package namesrv_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

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

// throughout checks again and again for as long as d, which is how one sees that something does not happen.
func throughout(t testing.TB, d time.Duration, check func() error) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if err := check(); err != nil {
			t.Fatal(err)
		}
	}
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

// nameServer is a NameServer in this process, on a port of its own.
type nameServer struct {
	Addr string
	Log  *logBuffer

	t     testing.TB
	dir   string
	stop  func()
	admin *client // opened when first asked for
}

// startNamesrv starts a NameServer with lines of a properties file, on a directory of its own. It ends with the test.
func startNamesrv(t testing.TB, properties ...string) *nameServer {
	t.Helper()
	return startNamesrvIn(t, t.TempDir(), properties...)
}

// startNamesrvIn starts a NameServer in dir, where an earlier one may have left its files.
func startNamesrvIn(t testing.TB, dir string, properties ...string) *nameServer {
	t.Helper()
	ns, err := newNamesrv(t, dir, namesrv.Options{}, properties...)
	require.NoError(t, err)
	return ns
}

// startNamesrvWith starts a NameServer with options of its own; Config and Log are set here.
func startNamesrvWith(t testing.TB, o namesrv.Options, properties ...string) *nameServer {
	t.Helper()
	ns, err := newNamesrv(t, t.TempDir(), o, properties...)
	require.NoError(t, err)
	return ns
}

// startNamesrvOn starts a NameServer on a listener that is there already.
func startNamesrvOn(t testing.TB, l net.Listener, o namesrv.Options, properties ...string) *nameServer {
	t.Helper()
	o.Listener = l
	return startNamesrvWith(t, o, properties...)
}

func newNamesrv(t testing.TB, dir string, o namesrv.Options, properties ...string) (*nameServer, error) {
	t.Helper()
	ns := &nameServer{Log: &logBuffer{}, t: t, dir: dir}
	if len(properties) > 0 || !exists(ns.confFile()) {
		text := "kvConfigPath=" + ns.kvFile() + "\n" + strings.Join(properties, "\n")
		require.NoError(t, os.WriteFile(ns.confFile(), []byte(text), 0o644))
	}
	o.Log = zerolog.New(ns.Log).Level(zerolog.DebugLevel)
	var err error
	if o.Config, err = conf.Load(conf.Sources{File: ns.confFile(), Environ: []string{"HOME=" + dir}, Log: o.Log}); err != nil {
		return nil, err
	}
	if o.Listener == nil {
		if o.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
	}
	server, err := namesrv.New(o)
	if err != nil {
		o.Listener.Close()
		return nil, err
	}
	ns.Addr = o.Listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	ns.stop = sync.OnceFunc(func() {
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
	t.Cleanup(func() {
		if ns.admin != nil {
			ns.admin.close()
		}
		ns.stop()
	})
	return ns, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (ns *nameServer) confFile() string { return filepath.Join(ns.dir, "namesrv.properties") }
func (ns *nameServer) kvFile() string   { return filepath.Join(ns.dir, "kvConfig.json") }

// client is a connection of a test. It is for one goroutine.
type client struct {
	t      testing.TB
	conn   net.Conn
	in     *bufio.Reader
	opaque int32

	version protocol.Version
	codec   protocol.Codec
}

// dial opens a connection, which ends with the test.
func (ns *nameServer) dial() *client {
	ns.t.Helper()
	conn, err := net.Dial("tcp", ns.Addr)
	require.NoError(ns.t, err)
	c := newClient(ns.t, conn)
	ns.t.Cleanup(c.close)
	return c
}

func newClient(t testing.TB, conn net.Conn) *client {
	return &client{t: t, conn: conn, in: bufio.NewReader(conn), version: protocol.CurrentVersion}
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

// request makes a request with the next opaque of c.
func (c *client) request(code protocol.RequestCode, fields protocol.Ext, body string) *protocol.Command {
	c.opaque++
	return &protocol.Command{
		Code: int32(code), Language: protocol.LanguageJava, Version: c.version, Opaque: c.opaque,
		Ext: fields, Body: []byte(body), Codec: c.codec,
	}
}

// send writes a request, or several at once, and does not wait for answers.
func (c *client) send(cmds ...*protocol.Command) {
	c.t.Helper()
	var frames []byte
	for _, cmd := range cmds {
		var err error
		frames, err = protocol.AppendFrame(frames, cmd)
		require.NoError(c.t, err)
	}
	_, err := c.conn.Write(frames)
	require.NoError(c.t, err)
}

// receive reads the next frame.
func (c *client) receive() (*protocol.Command, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	return readCommand(c.in)
}

func readCommand(r io.Reader) (*protocol.Command, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, err
	}
	cmd, err := protocol.DecodeCommand(frame)
	return &cmd, err
}

// try sends a request and returns its answer.
func (c *client) try(code protocol.RequestCode, fields protocol.Ext, body string) (*protocol.Command, error) {
	cmd := c.request(code, fields, body)
	frame, err := protocol.AppendFrame(nil, cmd)
	if err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(frame); err != nil {
		return nil, err
	}
	answer, err := c.receive()
	if err != nil {
		return nil, err
	}
	if answer.Opaque != cmd.Opaque || !answer.IsResponse() {
		return nil, fmt.Errorf("request %d is answered by %+v", cmd.Opaque, answer)
	}
	return answer, nil
}

// ask sends a request and returns its answer, whatever that is.
func (c *client) ask(code protocol.RequestCode, fields protocol.Ext, body string) *protocol.Command {
	c.t.Helper()
	answer, err := c.try(code, fields, body)
	require.NoError(c.t, err, "request code %d", code)
	return answer
}

// must is ask for requests that have to succeed.
func (c *client) must(code protocol.RequestCode, fields protocol.Ext, body string) *protocol.Command {
	c.t.Helper()
	answer := c.ask(code, fields, body)
	require.Equal(c.t, int32(protocol.RespSuccess), answer.Code, "request code %d: %s", code, answer.Remark)
	return answer
}

// refused is ask for requests that have to be answered with want, and a remark that has all the texts.
func (c *client) refused(want protocol.ResponseCode, code protocol.RequestCode, fields protocol.Ext, body string, texts ...string) *protocol.Command {
	c.t.Helper()
	answer := c.ask(code, fields, body)
	require.Equal(c.t, int32(want), answer.Code, "request code %d: %s", code, answer.Remark)
	for _, text := range texts {
		require.Contains(c.t, answer.Remark, text)
	}
	require.NotEmpty(c.t, answer.Remark)
	require.Empty(c.t, answer.Body)
	return answer
}

// closed waits for the server to close the connection.
func (c *client) closed() {
	c.t.Helper()
	answer, err := c.receive()
	require.Error(c.t, err, "the connection is open: %+v", answer)
	var timeout net.Error
	require.False(c.t, errors.As(err, &timeout) && timeout.Timeout(), "the connection is still open")
}

// Admin is a connection that is open as long as the server, for looking at it.
func (ns *nameServer) Admin() *client {
	ns.t.Helper()
	if ns.admin == nil {
		ns.admin = ns.dial()
	}
	return ns.admin
}

// testTopic is a topic as a broker registers it. Zero values: 4 queues, perm 6.
type testTopic struct {
	Name   string
	Queues int
	Perm   string
	Flag   int
}

// testBroker is a broker as a test plays it. Zero values: cluster C, two topics named after the broker, data version
// (0, 1, 1).
type testBroker struct {
	Cluster, Name, Addr string
	ID                  int64
	Topics              []testTopic
	State, Stamp, Count int64 // data version
	More                protocol.Ext
}

func (b testBroker) ext() protocol.Ext {
	return append(ext(
		"brokerName", b.Name, "brokerAddr", b.Addr, "clusterName", cmp.Or(b.Cluster, "C"),
		"haServerAddr", "ha-"+b.Addr, "brokerId", strconv.FormatInt(b.ID, 10),
	), b.More...)
}

func (b testBroker) topics() []testTopic {
	if b.Topics == nil {
		return []testTopic{{Name: b.Name + "-1"}, {Name: b.Name + "-2"}}
	}
	return b.Topics
}

// named makes plain topics.
func named(names ...string) []testTopic {
	topics := []testTopic{}
	for _, name := range names {
		topics = append(topics, testTopic{Name: name})
	}
	return topics
}

// numbered makes n plain topics, prefix0 and so on.
func numbered(prefix string, n int) []testTopic {
	topics := make([]testTopic, n)
	for i := range topics {
		topics[i].Name = prefix + strconv.Itoa(i)
	}
	return topics
}

// wrapper is the inner part of the registration body, which brokers before 3.0.11 send alone.
func (b testBroker) wrapper() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, `{"dataVersion":{"counter":%d,"stateVersion":%d,"timestamp":%d},"topicConfigTable":{`,
		cmp.Or(b.Count, 1), b.State, cmp.Or(b.Stamp, 1))
	for i, topic := range b.topics() {
		if i > 0 {
			sb.WriteByte(',')
		}
		queues := cmp.Or(topic.Queues, 4)
		fmt.Fprintf(&sb, `%q:{"order":false,"perm":%s,"readQueueNums":%d,"topicFilterType":"SINGLE_TAG","topicName":%q,"topicSysFlag":%d,"writeQueueNums":%d}`,
			topic.Name, cmp.Or(topic.Perm, "6"), queues, topic.Name, topic.Flag, queues)
	}
	sb.WriteString("}}")
	return sb.String()
}

func (b testBroker) body() string {
	return `{"filterServerList":[],"topicConfigSerializeWrapper":` + b.wrapper() + `}`
}

// register registers a broker, which has to succeed.
func (c *client) register(b testBroker) *protocol.Command {
	c.t.Helper()
	return c.must(protocol.ReqRegisterBroker, b.ext(), b.body())
}

// unregister takes a broker out, which has to succeed.
func (c *client) unregister(b testBroker) {
	c.t.Helper()
	c.must(protocol.ReqUnregisterBroker, ext("brokerName", b.Name, "brokerAddr", b.Addr,
		"clusterName", cmp.Or(b.Cluster, "C"), "brokerId", strconv.FormatInt(b.ID, 10)), "")
}

// startBroker registers a broker on a connection of its own, which it returns.
func (ns *nameServer) startBroker(b testBroker) *client {
	ns.t.Helper()
	c := ns.dial()
	c.register(b)
	return c
}

// routeJSON is a TopicRouteData as strict JSON.
type routeJSON struct {
	OrderTopicConf *string
	BrokerDatas    []struct {
		BrokerAddrs        map[string]string
		BrokerName         string
		Cluster            string
		EnableActingMaster bool
		ZoneName           *string
	}
	QueueDatas []struct {
		BrokerName                                        string
		Perm, ReadQueueNums, WriteQueueNums, TopicSysFlag int
	}
	FilterServerTable map[string][]string
}

// errNoRoute is answer 17.
var errNoRoute = errors.New("topic does not exist")

// tryRoute asks for a route. An error but errNoRoute says what is wrong with the answer.
func (c *client) tryRoute(topic string) (*routeJSON, error) {
	answer, err := c.try(protocol.ReqGetRouteInfoByTopic, ext("topic", topic), "")
	switch {
	case err != nil:
		return nil, err
	case answer.Code == int32(protocol.RespTopicNotExist) && len(answer.Body) == 0:
		return nil, errNoRoute
	case answer.Code != int32(protocol.RespSuccess):
		return nil, fmt.Errorf("route of %s: code %d %s", topic, answer.Code, answer.Remark)
	}
	var r routeJSON
	if err := json.Unmarshal(answer.Body, &r); err != nil {
		return nil, fmt.Errorf("route of %s: %w: %s", topic, err, answer.Body)
	}
	if len(r.BrokerDatas) == 0 || len(r.QueueDatas) == 0 {
		return nil, fmt.Errorf("route of %s is empty: %s", topic, answer.Body)
	}
	return &r, nil
}

// route returns a route that has to be there.
func (ns *nameServer) route(topic string) *routeJSON {
	ns.t.Helper()
	r, err := ns.Admin().tryRoute(topic)
	require.NoError(ns.t, err, topic)
	return r
}

// addrs are the addresses of a broker in the route, by id; nil if it is not there.
func (r *routeJSON) addrs(brokerName string) map[string]string {
	for _, b := range r.BrokerDatas {
		if b.BrokerName == brokerName {
			return b.BrokerAddrs
		}
	}
	return nil
}

// queues are the write queues of a topic at a broker; -1 if it has none.
func (r *routeJSON) queues(brokerName string) int {
	for _, q := range r.QueueDatas {
		if q.BrokerName == brokerName {
			return q.WriteQueueNums
		}
	}
	return -1
}

// isServed is nil if the topic's route has exactly these brokers, each with addresses.
func (c *client) isServed(topic string, brokerNames ...string) error {
	r, err := c.tryRoute(topic)
	if errors.Is(err, errNoRoute) && len(brokerNames) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	var names []string
	for _, b := range r.BrokerDatas {
		if len(b.BrokerAddrs) == 0 {
			return fmt.Errorf("route of %s: %s has no address", topic, b.BrokerName)
		}
		names = append(names, b.BrokerName)
	}
	if slices.Sort(names); !slices.Equal(names, brokerNames) {
		return fmt.Errorf("route of %s has brokers %q instead of %q", topic, names, brokerNames)
	}
	return nil
}

// hasMembers is nil if the broker has exactly these addresses.
func (c *client) hasMembers(brokerName string, addrs ...string) error {
	answer, err := c.try(protocol.ReqGetBrokerMemberGroup, ext("clusterName", "C", "brokerName", brokerName, "acceptStandardJsonOnly", "true"), "")
	if err != nil {
		return err
	}
	var group struct {
		BrokerMemberGroup struct{ BrokerAddrs map[string]string }
	}
	if err := json.Unmarshal(answer.Body, &group); err != nil {
		return fmt.Errorf("%w: %s", err, answer.Body)
	}
	got := slices.Sorted(maps.Values(group.BrokerMemberGroup.BrokerAddrs))
	if slices.Sort(addrs); !slices.Equal(got, addrs) {
		return fmt.Errorf("%s has %q instead of %q", brokerName, got, addrs)
	}
	return nil
}

// clusters is a ClusterInfo as strict JSON.
type clusters struct {
	BrokerAddrTable map[string]struct {
		BrokerAddrs map[string]string
		Cluster     string
	}
	ClusterAddrTable map[string][]string
}

func (ns *nameServer) clusters() clusters {
	ns.t.Helper()
	var info clusters
	answer := ns.Admin().must(protocol.ReqGetBrokerClusterInfo, ext("acceptStandardJsonOnly", "true"), "")
	require.NoError(ns.t, json.Unmarshal(answer.Body, &info), "%s", answer.Body)
	return info
}

// topics is the sorted answer to 206.
func (ns *nameServer) topics() []string {
	ns.t.Helper()
	var list struct{ TopicList []string }
	require.NoError(ns.t, json.Unmarshal(ns.Admin().must(protocol.ReqGetAllTopicListFromNameServer, nil, "").Body, &list))
	slices.Sort(list.TopicList)
	return list.TopicList
}

// consistent checks what must hold after every step: spec/field-reports.md, invariants 1 to 3.
func (ns *nameServer) consistent() {
	ns.t.Helper()
	info := ns.clusters()
	named := 0
	for cluster, names := range info.ClusterAddrTable {
		for _, name := range names {
			named++
			require.NotEmpty(ns.t, info.BrokerAddrTable[name].BrokerAddrs, "%s in %s has no address", name, cluster)
		}
	}
	require.Len(ns.t, info.BrokerAddrTable, named, "a broker is in no cluster")
	for name, b := range info.BrokerAddrTable {
		seen := map[string]bool{}
		for _, addr := range b.BrokerAddrs {
			require.False(ns.t, seen[addr], "%s appears twice in %s", addr, name)
			seen[addr] = true
		}
	}
	for _, topic := range ns.topics() {
		_, err := ns.Admin().tryRoute(topic)
		require.NoError(ns.t, err, topic)
	}
}

// snapshot is all that a refused request must leave as it was: invariant 5.
func (ns *nameServer) snapshot() string {
	ns.t.Helper()
	return fmt.Sprint(ns.clusters(), ns.topics(), string(ns.Admin().must(protocol.ReqGetNamesrvConfig, nil, "").Body))
}

func TestServerStartsAndStops(t *testing.T) {
	ns := startNamesrv(t)
	require.Equal(t, `{"brokerAddrTable":{},"clusterAddrTable":{}}`, string(ns.Admin().must(protocol.ReqGetBrokerClusterInfo, nil, "").Body))
	b := ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1"})
	require.NoError(t, ns.Admin().isServed("a-1", "a"))
	ns.consistent()
	ns.stop()
	b.closed()
	_, err := net.Dial("tcp", ns.Addr)
	require.Error(t, err)
}

// testClock is a clock that the test moves.
type testClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *testClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
