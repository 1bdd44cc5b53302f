package broker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// The rows of the original's ClientManageProcessorTest, spec/broker.md §10.
func TestClientManageProcessor(t *testing.T) {
	t.Run("unregistering a producer removes the group", func(t *testing.T) {
		r := newClientRig(t)
		c := r.dial()
		c.beat(newBeat("a").producer("P").consumer("G", "T"))
		c.unregister("a", "P", "")
		require.Empty(t, r.service.producers.groups())
		require.Equal(t, []string{"a"}, c.members("G"))
	})
	t.Run("unregistering a consumer removes the group", func(t *testing.T) {
		r := newClientRig(t)
		c := r.dial()
		c.beat(newBeat("a").producer("P").consumer("G", "T"))
		c.unregister("a", "", "G")
		require.Nil(t, c.members("G"))
		require.Equal(t, []string{"P"}, r.service.producers.groups())
		require.Equal(t, int32(protocol.RespSuccess), c.ask(protocol.ReqUnregisterClient, nil, nil).Code, "without a field")
		c.unregister("a", "unknown", "unknown")
		require.Equal(t, []string{"G"}, r.groups.names(), "asking makes no group")
	})
	t.Run("heartbeat V2", func(t *testing.T) {
		r := newClientRig(t)
		c := r.dial()
		require.False(t, c.beat(newBeat("a").consumer("G", "T").v2(1, false)), "the first full one")
		group := r.service.consumers.roster.groups["G"]
		require.False(t, c.beat(newBeat("a").consumer("G").v2(1, true)), "a simple one")
		require.Same(t, group, r.service.consumers.roster.groups["G"])
		require.Equal(t, []string{"T"}, r.service.consumers.topicsOf("G"))
		require.True(t, c.beat(newBeat("a").consumer("G", "U").v2(2, false)), "another subscription")
		require.Equal(t, []string{"U"}, r.service.consumers.topicsOf("G"))
		require.False(t, c.beat(newBeat("a").consumer("G").v2(2, true)), "the simple one that follows")
		require.True(t, c.beat(newBeat("b").consumer("G", "T").consumer("H", "T").v2(3, false)), "for any group")
	})
	t.Run("a heartbeat without fingerprint is always answered that subscriptions have changed", func(t *testing.T) {
		c := newClientRig(t).dial()
		for range 2 {
			require.True(t, c.beat(newBeat("a").consumer("G", "T")))
		}
		require.True(t, c.beat(newBeat("a").producer("P")))
	})
	t.Run("a client that leaves its subscriptions out is asked for them when another member has sent other ones", func(t *testing.T) {
		r := newClientRig(t)
		a, b := r.dial(), r.dial()
		require.False(t, a.beat(newBeat("a").consumer("G", "T", "U").v2(1, false)))
		require.True(t, b.beat(newBeat("b").consumer("G", "T")), "without a fingerprint, as clients before 5.0")
		require.True(t, a.beat(newBeat("a").consumer("G").v2(1, true)))
		require.Equal(t, []string{"T"}, r.service.consumers.topicsOf("G"))
		require.True(t, a.beat(newBeat("a").consumer("G").v2(1, true)), "until they come")
		require.True(t, a.beat(newBeat("a").consumer("G", "T", "U").v2(1, false)))
		require.False(t, a.beat(newBeat("a").consumer("G").v2(1, true)))
		require.True(t, b.beat(newBeat("b").consumer("G").v2(2, true)))
		require.False(t, a.beat(newBeat("a").consumer("G").v2(1, true)), "which only subscriptions change")
		require.Equal(t, []string{"T", "U"}, r.service.consumers.topicsOf("G"))
	})
	t.Run("a client that leaves its subscriptions out although they are not known here is asked for them", func(t *testing.T) {
		r := newClientRig(t)
		c := r.dial()
		require.True(t, c.beat(newBeat("a").consumer("G").v2(1, true)), "as after a restart of the broker")
		require.Equal(t, []string{"a"}, c.members("G"))
		require.False(t, c.beat(newBeat("a").consumer("G", "T").v2(1, false)))
		require.False(t, c.beat(newBeat("a").consumer("G").v2(1, true)))
	})
}

func TestHeartbeatMakesGroupsAndRetryTopics(t *testing.T) {
	t.Run("of a new group", func(t *testing.T) {
		r := newClientRig(t)
		c := r.dial()
		b := newBeat("a").consumer("G", "T")
		b.ConsumerDataSet[0].UnitMode = true
		c.beat(b)
		require.Equal(t, []string{"G"}, r.groups.names())
		retry, ok := r.topics.get("%RETRY%G")
		require.True(t, ok)
		require.Equal(t, protocol.TopicConfig{TopicName: "%RETRY%G", ReadQueueNums: 1, WriteQueueNums: 1, Perm: 6, TopicSysFlag: 2}, *retry)
	})
	t.Run("a consumer without group is left out, the others are not", func(t *testing.T) {
		r := newClientRig(t)
		r.groups.create = false
		known := protocol.NewSubscriptionGroupConfig("known")
		r.groups.groups["known"] = &known
		c := r.dial()
		c.beat(newBeat("a").consumer("unknown", "T").consumer("known", "T").producer("P"))
		require.Nil(t, c.members("unknown"))
		require.Equal(t, []string{"a"}, c.members("known"))
		require.Equal(t, []string{"%RETRY%known"}, r.topics.names())
		require.Equal(t, []string{"P"}, r.service.producers.groups())
	})
	t.Run("the retry topic is ordered if a subscribed one is", func(t *testing.T) {
		r := newClientRig(t)
		r.topics.topics["T"] = &protocol.TopicConfig{TopicName: "T", Order: true}
		c := r.dial()
		ordered := func() bool {
			topic, _ := r.topics.get("%RETRY%G")
			return topic.Order
		}
		c.beat(newBeat("a").consumer("G", "S", "T").v2(1, false))
		require.True(t, ordered())
		c.beat(newBeat("a").consumer("G").v2(1, true))
		require.True(t, ordered(), "a heartbeat without subscriptions says nothing about it")
		c.beat(newBeat("a").consumer("G", "S").v2(2, false))
		require.False(t, ordered())
	})
	t.Run("pulling consumers are left out where they are rejected", func(t *testing.T) {
		r := newClientRig(t)
		settings := *r.settings.Load()
		settings.RejectPullConsumer = true
		r.settings.Store(&settings)
		c := r.dial()
		b := newBeat("a").consumer("pull", "T").consumer("push", "T")
		b.ConsumerDataSet[0].ConsumeType = protocol.ConsumeActively
		c.beat(b)
		require.Nil(t, c.members("pull"))
		require.Equal(t, []string{"a"}, c.members("push"))
		require.Equal(t, []string{"push"}, r.groups.names())
	})
	t.Run("a group of an old file whose name makes no topic consumes without retry topic", func(t *testing.T) {
		r := newClientRig(t)
		r.topics.refuse = &remoting.Error{Code: protocol.RespInvalidParameter, Remark: "the name"}
		c := r.dial()
		c.beat(newBeat("a").consumer("a b", "T"))
		require.Equal(t, []string{"a"}, c.members("a b"))
	})
	for name, fail := range map[string]func(*clientRig){
		"a group that cannot be written":       func(r *clientRig) { r.groups.fail = errors.New("disk full") },
		"a retry topic that cannot be written": func(r *clientRig) { r.topics.fail = errors.New("disk full") },
	} {
		t.Run(name+" registers nobody", func(t *testing.T) {
			r := newClientRig(t)
			fail(r)
			c := r.dial()
			answer := c.ask(protocol.ReqHeartBeat, nil, newBeat("a").consumer("G", "T").producer("P").AppendJSON(nil, protocol.FormDefault))
			require.Equal(t, int32(protocol.RespSystemError), answer.Code)
			require.Equal(t, "disk full", answer.Remark)
			requireNobody(t, r)
		})
	}
}

// requireNobody checks that no client is known.
func requireNobody(t *testing.T, r *clientRig) {
	t.Helper()
	require.Empty(t, r.service.producers.groups())
	require.Empty(t, r.service.consumers.roster.groups)
	require.Empty(t, r.service.consumers.roster.byPeer)
	require.Empty(t, r.service.consumers.topics)
}

func TestMalformedHeartbeatChangesNothing(t *testing.T) {
	consumer := `{"groupName":"G","consumeType":"CONSUME_PASSIVELY","messageModel":"CLUSTERING","consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","subscriptionDataSet":[{"topic":"T","subString":"*"}]}`
	for name, body := range map[string]string{
		"no body":                      ``,
		"null":                         `null`,
		"no JSON":                      `heartbeat`,
		"cut off":                      `{"clientID":"a","consumerDataSet":[` + consumer,
		"no client id":                 `{"consumerDataSet":[` + consumer + `]}`,
		"client id null":               `{"clientID":null,"consumerDataSet":[` + consumer + `]}`,
		"empty client id":              `{"clientID":"","consumerDataSet":[` + consumer + `]}`,
		"endless client id":            `{"clientID":"` + strings.Repeat("a", maxClientName+1) + `","consumerDataSet":[` + consumer + `]}`,
		"consumer without group":       `{"clientID":"a","consumerDataSet":[` + consumer + `,{"messageModel":"CLUSTERING"}]}`,
		"consumer with empty group":    `{"clientID":"a","consumerDataSet":[` + consumer + `,{"groupName":""}]}`,
		"consumer null":                `{"clientID":"a","consumerDataSet":[` + consumer + `,null]}`,
		"consumer no object":           `{"clientID":"a","consumerDataSet":[` + consumer + `,7]}`,
		"subscription without topic":   `{"clientID":"a","consumerDataSet":[` + consumer + `,{"groupName":"H","subscriptionDataSet":[{"subString":"*"}]}]}`,
		"subscription null":            `{"clientID":"a","consumerDataSet":[` + consumer + `,{"groupName":"H","subscriptionDataSet":[null]}]}`,
		"version no number":            `{"clientID":"a","consumerDataSet":[` + consumer + `,{"groupName":"H","subscriptionDataSet":[{"topic":"T","subVersion":"x"}]}]}`,
		"producer without group":       `{"clientID":"a","consumerDataSet":[` + consumer + `],"producerDataSet":[{}]}`,
		"producer with an empty group": `{"clientID":"a","consumerDataSet":[` + consumer + `],"producerDataSet":[{"groupName":"P"},{"groupName":""}]}`,
		"too many groups":              `{"clientID":"a","producerDataSet":[` + strings.Repeat(`{"groupName":"P"},`, maxHeartbeatGroups) + `{"groupName":"P"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newClientRig(t)
			c := r.dial()
			answer := c.ask(protocol.ReqHeartBeat, nil, []byte(body))
			require.Equal(t, int32(protocol.RespSystemError), answer.Code)
			require.NotEmpty(t, answer.Remark)
			requireNobody(t, r)
			require.Empty(t, r.groups.names())
			require.Empty(t, r.topics.names())
			c.beat(newBeat("a").consumer("G", "T"))
			require.Equal(t, []string{"a"}, c.members("G"), "the connection goes on")
		})
	}
}

// Heartbeats as clients send them: codes of the Go client are texts, and it says UNKNOWN; nobody minds what else there is.
func TestHeartbeatOfOtherClients(t *testing.T) {
	r := newClientRig(t)
	c := r.dial()
	body := `{"clientID":"10.0.0.5@77","producerDataSet":[],"consumerDataSet":[{"groupName":"G","consumeType":"CONSUME_PASSIVELY",` +
		`"messageModel":"CLUSTERING","consumeFromWhere":"UNKNOWN","unitMode":false,"subscriptionDataSet":[{"classFilterMode":false,` +
		`"topic":"T","subString":"a || b","tagsSet":["a","b"],"codeSet":["97","98"],"subVersion":1700000000000000000,"expressionType":"TAG"}],"new":1}]}`
	require.Equal(t, int32(protocol.RespSuccess), c.ask(protocol.ReqHeartBeat, nil, []byte(body)).Code)
	require.Equal(t, &protocol.SubscriptionData{
		Topic: "T", SubString: "a || b", TagsSet: []string{"a", "b"}, CodeSet: []int32{97, 98},
		SubVersion: 1700000000000000000, ExpressionType: "TAG",
	}, r.service.consumers.subscription("G", "T", false))
}

func TestNoticesOfConsumers(t *testing.T) {
	t.Run("all of the group are told when one joins or leaves, also the one that joins", func(t *testing.T) {
		r := newClientRig(t)
		a, b := r.dial(), r.dial()
		a.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, a, "G")
		b.beat(newBeat("b").consumer("G", "T"))
		wantNotice(t, a, "G")
		wantNotice(t, b, "G")
		b.unregister("b", "", "G")
		wantNotice(t, a, "G")
		b.beat(newBeat("b").consumer("G", "T"))
		wantNotice(t, a, "G")
		wantNotice(t, b, "G")
		r.hangUp(b)
		wantNotice(t, a, "G")
		a.beat(newBeat("a").consumer("G", "T"))
		require.Empty(t, a.notices(), "nothing changed")
		a.beat(newBeat("a").consumer("G", "T", "U"))
		wantNotice(t, a, "G")
	})
	t.Run("a client with two connections is told over the newer one", func(t *testing.T) {
		r := newClientRig(t)
		older, newer, other := r.dial(), r.dial(), r.dial()
		older.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, older, "G")
		newer.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, newer, "G")
		other.beat(newBeat("b").consumer("G", "T"))
		wantNotice(t, newer, "G")
		wantNotice(t, other, "G")
		require.Empty(t, older.notices())
		require.Equal(t, []string{"a", "b"}, other.members("G"))
	})
	t.Run("nobody is told where the broker does not", func(t *testing.T) {
		r := newClientRig(t)
		settings := *r.settings.Load()
		settings.NotifyConsumerIDsChanged = false
		r.settings.Store(&settings)
		a, b := r.dial(), r.dial()
		a.beat(newBeat("a").consumer("G", "T"))
		b.beat(newBeat("b").consumer("G", "T"))
		r.hangUp(b)
		require.Empty(t, r.service.notices.changed)
		require.Empty(t, a.notices())
	})
	t.Run("nor of a group that does not want it, but for the end of a connection", func(t *testing.T) {
		r := newClientRig(t)
		quiet := protocol.NewSubscriptionGroupConfig("G")
		quiet.NotifyConsumerIDsChangedEnable = false
		r.groups.groups["G"] = &quiet
		a, b := r.dial(), r.dial()
		a.beat(newBeat("a").consumer("G", "T"))
		b.beat(newBeat("b").consumer("G", "T"))
		b.unregister("b", "", "G")
		b.beat(newBeat("b").consumer("G", "T"))
		require.Empty(t, r.service.notices.changed)
		require.Empty(t, a.notices())
		r.hangUp(b)
		wantNotice(t, a, "G")
	})
	t.Run("expiry tells the rest and closes the connection", func(t *testing.T) {
		r := newClientRig(t)
		a, b := r.dial(), r.dial()
		b.beat(newBeat("b").consumer("G", "T").producer("P"))
		wantNotice(t, b, "G")
		r.clock.advance(100 * time.Second)
		a.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, a, "G")
		r.clock.advance(21 * time.Second)
		before := r.closedCount()
		r.service.expire(t.Context())
		wantNotice(t, a, "G")
		require.Equal(t, []string{"a"}, a.members("G"))
		require.Empty(t, r.service.producers.groups())
		eventuallyClients(t, func() bool { return r.closedCount() > before })
	})
	t.Run("a connection on which another client is alive stays open", func(t *testing.T) {
		r := newClientRig(t)
		c := r.dial()
		c.beat(newBeat("a").consumer("G", "T"))
		r.clock.advance(100 * time.Second)
		c.beat(newBeat("a").consumer("H", "T"))
		r.clock.advance(21 * time.Second)
		r.service.expire(t.Context())
		require.Nil(t, c.members("G"))
		require.Equal(t, []string{"a"}, c.members("H"))
		require.False(t, c.peer.Closed())
	})
}

// wantNotice waits for a notice about a group.
func wantNotice(t *testing.T, c *rigConn, group string) {
	t.Helper()
	notice := c.request()
	require.Equal(t, int32(protocol.ReqNotifyConsumerIDsChanged), notice.Code)
	require.True(t, notice.IsOneway())
	require.Equal(t, protocol.Ext{{Key: "consumerGroup", Value: group}}, notice.Ext)
	require.Empty(t, notice.Body)
}

func TestCheckClientConfig(t *testing.T) {
	body := func(expressionType string) []byte {
		return fmt.Appendf(nil, `{"clientId":"a","group":"G","subscriptionData":{"topic":"T","subString":"a > 3","expressionType":%s}}`, expressionType)
	}
	compile := func(expressionType, expression string) error {
		if expression == "a > 3" && expressionType == "SQL92" {
			return nil
		}
		return errors.New("Encountered >")
	}
	for _, row := range []struct {
		name    string
		body    []byte
		filter  bool
		compile func(string, string) error
		code    protocol.ResponseCode
		remark  string
	}{
		{name: "no body"},
		{name: "null", body: []byte("null")},
		{name: "no subscription", body: []byte(`{"clientId":"a","group":"G"}`)},
		{name: "a tag", body: body(`"TAG"`)},
		{name: "an empty type", body: body(`""`)},
		{name: "no type", body: body(`null`)},
		{name: "no topic", body: []byte(`{"subscriptionData":{}}`)},
		{name: "SQL without filters", body: body(`"SQL92"`), compile: compile, code: protocol.RespSystemError,
			remark: "The broker does not support consumer to filter message by SQL92"},
		{name: "SQL before there is a filter", body: body(`"SQL92"`), filter: true, code: protocol.RespSystemError,
			remark: "The broker does not support consumer to filter message by SQL92"},
		{name: "SQL", body: body(`"SQL92"`), filter: true, compile: compile},
		{name: "bad SQL", body: body(`"SQL"`), filter: true, compile: compile, code: protocol.RespSubscriptionParseFailed, remark: "Encountered >"},
		{name: "no JSON", body: []byte("{"), code: protocol.RespSystemError, remark: "*"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newClientRig(t, func(o *clientOptions) { o.Compile = row.compile })
			settings := *r.settings.Load()
			settings.EnablePropertyFilter = row.filter
			r.settings.Store(&settings)
			answer := r.dial().ask(protocol.ReqCheckClientConfig, nil, row.body)
			require.Equal(t, int32(row.code), answer.Code)
			if row.remark != "*" {
				require.Equal(t, row.remark, answer.Remark)
			}
			require.Nil(t, answer.Ext)
		})
	}
}

// What clients and subscriptions take has an end: beyond it those that there are go on, and nobody joins.
func TestNoRoomForClients(t *testing.T) {
	const noRoom = "HeartbeatData: clients and their subscriptions take 1073741824 bytes already"
	refused := func(c *rigConn, b *beat) {
		t.Helper()
		requireRefused(t, c.ask(protocol.ReqHeartBeat, nil, b.AppendJSON(nil, protocol.FormDefault)), protocol.RespSystemError, noRoom)
	}
	t.Run("consumers", func(t *testing.T) {
		r := newClientRig(t)
		a, b := r.dial(), r.dial()
		a.beat(newBeat("a").consumer("G", "T"))
		r.service.consumers.most = 0
		a.beat(newBeat("a").consumer("G", "T").producer("P"))
		a.beat(newBeat("a").consumer("G", "U"))
		refused(a, newBeat("a").consumer("G", "T", "U"))
		refused(a, newBeat("a").consumer("G", "U").consumer("H", "U").producer("Q"))
		refused(b, newBeat("b").consumer("G", "U"))
		require.Equal(t, []string{"a"}, a.members("G"))
		require.Equal(t, []string{"U"}, r.service.consumers.topicsOf("G"))
		require.Equal(t, []string{"P"}, r.service.producers.groups())
		require.Equal(t, []string{"G"}, r.groups.names(), "not even on disk")
		b.beat(newBeat("b").producer("P"))
		a.unregister("a", "", "G")
		require.Zero(t, r.service.consumers.subscribed)
		require.Zero(t, r.service.consumers.roster.size)
	})
	t.Run("producers", func(t *testing.T) {
		r := newClientRig(t)
		a, b := r.dial(), r.dial()
		a.beat(newBeat("a").producer("P"))
		r.service.producers.most = 0
		a.beat(newBeat("a").producer("P").consumer("G", "T"))
		refused(a, newBeat("a").producer("P").producer("Q").consumer("H", "T"))
		refused(b, newBeat("b").producer("P"))
		require.Equal(t, []string{"P"}, r.service.producers.groups())
		require.Nil(t, a.members("H"))
		r.hangUp(a)
		require.Zero(t, r.service.producers.roster.size)
	})
}
