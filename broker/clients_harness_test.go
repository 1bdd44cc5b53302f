package broker

import (
	"context"
	"encoding/binary"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// clientDeadline is how long a test waits for what must happen.
const clientDeadline = 20 * time.Second

// clientClock is a clock that a test sets.
type clientClock struct{ nanos atomic.Int64 }

func (c *clientClock) advance(d time.Duration) { c.nanos.Add(int64(d)) }
func (c *clientClock) time() time.Time         { return time.UnixMilli(1_700_000_000_000).Add(c.elapsed()) }
func (c *clientClock) elapsed() time.Duration  { return time.Duration(c.nanos.Load()) }

// clientGroups is a table of groups for tests.
type clientGroups struct {
	mu     sync.Mutex
	groups map[string]*protocol.SubscriptionGroupConfig
	create bool  // autoCreateSubscriptionGroup
	fail   error // of making a group
}

func (g *clientGroups) get(name string) (*protocol.SubscriptionGroupConfig, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	config, ok := g.groups[name]
	return config, ok
}

func (g *clientGroups) findAll(names []string) ([]*protocol.SubscriptionGroupConfig, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]*protocol.SubscriptionGroupConfig, len(names))
	for i, name := range names {
		config, ok := g.groups[name]
		switch {
		case ok:
		case g.fail != nil:
			return nil, g.fail
		case g.create:
			made := protocol.NewSubscriptionGroupConfig(name)
			config, g.groups[name] = &made, &made
		}
		list[i] = config
	}
	return list, nil
}

func (g *clientGroups) names() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.groups))
}

// clientTopics is a table of topics for tests.
type clientTopics struct {
	mu     sync.Mutex
	topics map[string]*protocol.TopicConfig
	fail   error // of making a topic
	refuse error // of what cannot be made
}

func (t *clientTopics) get(name string) (*protocol.TopicConfig, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	config, ok := t.topics[name]
	return config, ok
}

func (t *clientTopics) ensureRetryTopics(wanted []retryTopic) (refused []error, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refuse != nil {
		return []error{t.refuse}, nil
	}
	if t.fail != nil {
		return nil, t.fail
	}
	for _, w := range wanted {
		config := protocol.TopicConfig{
			TopicName: retryTopicPrefix + w.group, ReadQueueNums: w.queues, WriteQueueNums: w.queues, Perm: 6, Order: w.order,
		}
		if w.unitMode {
			config.TopicSysFlag = 2
		}
		t.topics[config.TopicName] = &config
	}
	return nil, nil
}

func (t *clientTopics) names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.topics))
}

// clientRig is a clientService behind a server on a loopback port.
type clientRig struct {
	tb       testing.TB
	service  *clientService
	clock    *clientClock
	groups   *clientGroups
	topics   *clientTopics
	settings atomic.Pointer[clientSettings]
	server   *remoting.Server

	mu    sync.Mutex
	peers map[string]*remoting.Peer // open ones, by address of the client
	// closed counts the connections whose end the service knows.
	closed int
}

func (r *clientRig) Connected(p *remoting.Peer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.peers[p.RemoteAddr()] = p
}

func (r *clientRig) Closed(p *remoting.Peer, reason remoting.CloseReason) {
	r.service.connectionClosed(p, reason)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.peers, p.RemoteAddr())
	r.closed++
}

func (r *clientRig) closedCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// newClientRig starts a service and its server until the test ends.
func newClientRig(tb testing.TB, change ...func(*clientOptions)) *clientRig {
	tb.Helper()
	r := &clientRig{
		tb: tb, clock: &clientClock{},
		groups: &clientGroups{groups: map[string]*protocol.SubscriptionGroupConfig{}, create: true},
		topics: &clientTopics{topics: map[string]*protocol.TopicConfig{}},
		peers:  map[string]*remoting.Peer{},
	}
	r.settings.Store(&clientSettings{
		NotifyConsumerIDsChanged: true, RealTimeNotify: true, EnableRegisterProducer: true,
		ChannelExpiredTimeout: 120 * time.Second, SubscriptionExpiredTimeout: 600 * time.Second,
	})
	o := clientOptions{
		Groups: r.groups, Topics: r.topics, Settings: func() clientSettings { return *r.settings.Load() },
		BrokerName: "broker-a", Now: r.clock.time, Log: zerolog.Nop(),
	}
	for _, f := range change {
		f(&o)
	}
	r.service = newClientService(o)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	s := r.service
	r.server, err = remoting.NewServer(ln, remoting.ServerConfig{
		Table: remoting.Table{
			protocol.ReqHeartBeat:                       {Handler: s.heartbeat},
			protocol.ReqUnregisterClient:                remoting.Handle(s.unregisterClient),
			protocol.ReqGetConsumerListByGroup:          remoting.Handle(s.consumerList),
			protocol.ReqLockBatchMQ:                     {Handler: s.lockQueues},
			protocol.ReqUnlockBatchMQ:                   {Handler: s.unlockQueues},
			protocol.ReqCheckClientConfig:               {Handler: s.checkClientConfig},
			protocol.ReqGetConsumerConnectionList:       remoting.Handle(s.consumerConnections),
			protocol.ReqGetProducerConnectionList:       remoting.Handle(s.producerConnections),
			protocol.ReqInvokeBrokerToGetConsumerStatus: remoting.Handle(s.consumerStatus),
			protocol.ReqGetConsumerRunningInfo:          remoting.Handle(s.consumerRunningInfo),
			protocol.ReqConsumeMessageDirectly:          remoting.Handle(s.consumeMessageDirectly),
			protocol.ReqGetAllProducerInfo:              {Handler: s.allProducers},
			protocol.ReqQuerySubscriptionByConsumer:     remoting.Handle(s.subscriptionOfGroup),
		},
		Listener: r,
		Limits:   remoting.Limits{Invokes: maxRelays},
		Log:      zerolog.Nop(),
	})
	require.NoError(tb, err)
	serving, stopServing := context.WithCancel(context.Background())
	telling, stopTelling := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- r.server.Run(serving) }()
	go func() { done <- s.run(telling) }()
	tb.Cleanup(func() {
		stopServing()
		stopTelling()
		require.NoError(tb, <-done)
		require.NoError(tb, <-done)
	})
	return r
}

// rigConn is a client's connection.
type rigConn struct {
	net.Conn
	tb      testing.TB
	peer    *remoting.Peer // as the server sees it
	version protocol.Version
	opaque  int32
	waiting []protocol.Command // requests of the server that came while an answer was awaited
}

// dial connects a client until the test ends.
func (r *clientRig) dial() *rigConn {
	r.tb.Helper()
	conn, err := net.Dial("tcp", r.server.Addr().String())
	require.NoError(r.tb, err)
	r.tb.Cleanup(func() { _ = conn.Close() })
	require.NoError(r.tb, conn.SetDeadline(time.Now().Add(clientDeadline)))
	c := &rigConn{Conn: conn, tb: r.tb, version: protocol.CurrentVersion}
	c.ask(protocol.ReqCheckClientConfig, nil, nil) // its first byte makes it a connection
	r.mu.Lock()
	defer r.mu.Unlock()
	c.peer = r.peers[conn.LocalAddr().String()]
	require.NotNil(r.tb, c.peer)
	return c
}

// hangUp closes a connection and waits until the service knows.
func (r *clientRig) hangUp(c *rigConn) {
	r.tb.Helper()
	before := r.closedCount()
	require.NoError(r.tb, c.Close())
	eventuallyClients(r.tb, func() bool { return r.closedCount() > before })
}

func eventuallyClients(tb testing.TB, ok func() bool) {
	tb.Helper()
	require.Eventually(tb, ok, clientDeadline, time.Millisecond)
}

// send sends a command and returns its opaque.
func (c *rigConn) send(cmd protocol.Command) int32 {
	c.tb.Helper()
	c.opaque++
	cmd.Opaque, cmd.Version = c.opaque, c.version
	c.write(cmd)
	return c.opaque
}

func (c *rigConn) write(cmd protocol.Command) {
	c.tb.Helper()
	frame, err := protocol.AppendFrame(nil, &cmd)
	require.NoError(c.tb, err)
	_, err = c.Write(frame)
	require.NoError(c.tb, err)
}

// read reads the next frame.
func (c *rigConn) read() (protocol.Command, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(c, prefix[:]); err != nil {
		return protocol.Command{}, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(prefix[:]))
	if _, err := io.ReadFull(c, frame); err != nil {
		return protocol.Command{}, err
	}
	return protocol.DecodeCommand(frame)
}

// answer reads the answer to opaque.
func (c *rigConn) answer(opaque int32) protocol.Command {
	c.tb.Helper()
	for {
		cmd, err := c.read()
		require.NoError(c.tb, err)
		if cmd.IsResponse() {
			require.Equal(c.tb, opaque, cmd.Opaque)
			return cmd
		}
		c.waiting = append(c.waiting, cmd)
	}
}

// request reads the next request of the server.
func (c *rigConn) request() protocol.Command {
	c.tb.Helper()
	if len(c.waiting) > 0 {
		cmd := c.waiting[0]
		c.waiting = c.waiting[1:]
		return cmd
	}
	cmd, err := c.read()
	require.NoError(c.tb, err)
	require.False(c.tb, cmd.IsResponse())
	return cmd
}

// reply answers a request of the server.
func (c *rigConn) reply(to protocol.Command, with protocol.Command) {
	c.tb.Helper()
	with.Opaque, with.Flag, with.Version = to.Opaque, protocol.FlagResponse, c.version
	c.write(with)
}

// notices asks for nothing in particular and returns the groups that the client has been told about so far.
func (c *rigConn) notices() []string {
	c.tb.Helper()
	c.ask(protocol.ReqCheckClientConfig, nil, nil)
	var groups []string
	for _, cmd := range c.waiting {
		require.Equal(c.tb, int32(protocol.ReqNotifyConsumerIDsChanged), cmd.Code)
		group, _ := cmd.Ext.Get("consumerGroup")
		groups = append(groups, group)
	}
	c.waiting = nil
	return groups
}

// ask sends a request and returns its answer.
func (c *rigConn) ask(code protocol.RequestCode, header protocol.HeaderEncoder, body []byte) protocol.Command {
	c.tb.Helper()
	cmd := protocol.Command{Code: int32(code), Body: body}
	if header != nil {
		cmd.Ext = header.AppendExt(nil)
	}
	return c.answer(c.send(cmd))
}

// beat is a heartbeat to be built.
type beat struct{ protocol.HeartbeatData }

func newBeat(clientID string) *beat {
	return &beat{protocol.HeartbeatData{ClientID: clientID}}
}

func (b *beat) producer(group string) *beat {
	b.ProducerDataSet = append(b.ProducerDataSet, protocol.ProducerData{GroupName: group})
	return b
}

func (b *beat) consumer(group string, topics ...string) *beat {
	data := protocol.ConsumerData{
		GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering,
		ConsumeFromWhere: protocol.ConsumeFromFirstOffset,
	}
	for _, topic := range topics {
		data.SubscriptionDataSet = append(data.SubscriptionDataSet, testSubscription(topic, 1))
	}
	b.ConsumerDataSet = append(b.ConsumerDataSet, data)
	return b
}

func (b *beat) model(m protocol.MessageModel) *beat {
	b.ConsumerDataSet[len(b.ConsumerDataSet)-1].MessageModel = m
	return b
}

func (b *beat) v2(fingerprint int32, withoutSub bool) *beat {
	b.HeartbeatFingerprint, b.WithoutSub = fingerprint, withoutSub
	return b
}

func testSubscription(topic string, version int64) protocol.SubscriptionData {
	return protocol.SubscriptionData{Topic: topic, SubString: "*", SubVersion: version, ExpressionType: "TAG"}
}

// beat sends a heartbeat and returns whether the answer says that subscriptions have changed.
func (c *rigConn) beat(b *beat) bool {
	c.tb.Helper()
	answer := c.ask(protocol.ReqHeartBeat, nil, b.AppendJSON(nil, protocol.FormDefault))
	require.Equal(c.tb, int32(protocol.RespSuccess), answer.Code, answer.Remark)
	require.Empty(c.tb, answer.Body)
	require.Len(c.tb, answer.Ext, 2)
	require.Equal(c.tb, protocol.Field{Key: "IS_SUPPORT_HEART_BEAT_V2", Value: "true"}, answer.Ext[0])
	require.Equal(c.tb, "IS_SUB_CHANGE", answer.Ext[1].Key)
	return answer.Ext[1].Value == "true"
}

// members asks for the client ids of a group; nil if it is not online.
func (c *rigConn) members(group string) []string {
	c.tb.Helper()
	answer := c.ask(protocol.ReqGetConsumerListByGroup, &protocol.GetConsumerListByGroupRequestHeader{ConsumerGroup: group}, nil)
	if answer.Code == int32(protocol.RespSystemError) {
		require.Equal(c.tb, "no consumer for this group, "+group, answer.Remark)
		return nil
	}
	require.Equal(c.tb, int32(protocol.RespSuccess), answer.Code)
	body, err := protocol.DecodeGetConsumerListByGroupResponseBody(answer.Body)
	require.NoError(c.tb, err)
	return body.ConsumerIDList
}

// unregister sends 35 for a consumer group, a producer group or both.
func (c *rigConn) unregister(clientID, producers, consumers string) {
	c.tb.Helper()
	h := protocol.UnregisterClientRequestHeader{ClientID: clientID}
	if producers != "" {
		h.ProducerGroup = protocol.Some(producers)
	}
	if consumers != "" {
		h.ConsumerGroup = protocol.Some(consumers)
	}
	answer := c.ask(protocol.ReqUnregisterClient, &h, nil)
	require.Equal(c.tb, int32(protocol.RespSuccess), answer.Code, answer.Remark)
	require.NotNil(c.tb, answer.Ext)
	require.Empty(c.tb, answer.Ext)
}

func yes() bool { return true }
