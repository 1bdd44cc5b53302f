package broker

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

func runningInfo(group, clientID string) *protocol.GetConsumerRunningInfoRequestHeader {
	return &protocol.GetConsumerRunningInfoRequestHeader{ConsumerGroup: group, ClientID: clientID, JstackEnable: protocol.Some(false)}
}

// The rows about 307 of the original's AdminBrokerProcessorTest, spec/broker.md §10.
func TestConsumerRunningInfo(t *testing.T) {
	t.Run("offline", func(t *testing.T) {
		c := newClientRig(t).dial()
		requireRefused(t, c.ask(protocol.ReqGetConsumerRunningInfo, runningInfo("G", "a"), nil),
			protocol.RespSystemError, "The Consumer <G> <a> not online")
		require.Equal(t, int32(protocol.RespSystemError), c.ask(protocol.ReqGetConsumerRunningInfo, nil, nil).Code)
	})
	t.Run("too old", func(t *testing.T) {
		r := newClientRig(t)
		old, admin := r.dial(), r.dial()
		old.version = protocol.Version3_1_8Snapshot - 1
		old.beat(newBeat("a").consumer("G", "T"))
		requireRefused(t, admin.ask(protocol.ReqGetConsumerRunningInfo, runningInfo("G", "a"), nil), protocol.RespSystemError,
			"The Consumer <a> Version <V3_1_7> too low to finish, please upgrade it to V3_1_8_SNAPSHOT")
	})
	t.Run("passed on with all fields and the body, and answered with the consumer's words", func(t *testing.T) {
		r := newClientRig(t)
		consumer, admin := r.dial(), r.dial()
		consumer.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, consumer, "G")
		ext := append(runningInfo("G", "a").AppendExt(nil), protocol.Field{Key: "more", Value: "x"})
		opaque := admin.send(protocol.Command{Code: int32(protocol.ReqGetConsumerRunningInfo), Ext: ext, Body: []byte("body")})
		got := consumer.request()
		require.Equal(t, int32(protocol.ReqGetConsumerRunningInfo), got.Code)
		require.False(t, got.IsOneway())
		require.Equal(t, ext, got.Ext)
		require.Equal(t, "body", string(got.Body))
		consumer.reply(got, protocol.Command{Code: 0, Remark: "not set any response code", Ext: protocol.Ext{{Key: "k", Value: "v"}}, Body: []byte(`{"mqTable":{}}`)})
		answer := admin.answer(opaque)
		require.Equal(t, int32(protocol.RespSuccess), answer.Code)
		require.Equal(t, "not set any response code", answer.Remark)
		require.Equal(t, protocol.Ext{{Key: "k", Value: "v"}}, answer.Ext)
		require.Equal(t, `{"mqTable":{}}`, string(answer.Body))

		opaque = admin.send(protocol.Command{Code: int32(protocol.ReqGetConsumerRunningInfo), Ext: ext})
		consumer.reply(consumer.request(), protocol.Command{Code: 1, Remark: "no"})
		answer = admin.answer(opaque)
		require.Equal(t, int32(1), answer.Code)
		require.Nil(t, answer.Ext)
	})
	t.Run("a consumer that does not answer in time", func(t *testing.T) {
		r := newClientRig(t)
		require.Equal(t, 10*time.Second, r.service.relayTimeout)
		r.service.relayTimeout = 50 * time.Millisecond
		consumer, admin := r.dial(), r.dial()
		consumer.beat(newBeat("a").consumer("G", "T"))
		answer := admin.ask(protocol.ReqGetConsumerRunningInfo, runningInfo("G", "a"), nil)
		requireRefused(t, answer, protocol.RespConsumeMsgTimeout, "consumer <G> <a> Timeout: context deadline exceeded")
	})
	t.Run("a consumer that hangs up", func(t *testing.T) {
		r := newClientRig(t)
		consumer, admin := r.dial(), r.dial()
		consumer.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, consumer, "G")
		opaque := admin.send(protocol.Command{Code: int32(protocol.ReqGetConsumerRunningInfo), Ext: runningInfo("G", "a").AppendExt(nil)})
		consumer.request()
		r.hangUp(consumer)
		requireRefused(t, admin.answer(opaque), protocol.RespSystemError, "consumer <G> <a> cannot be asked: connection closed")
	})
	t.Run("blocks no other request, neither of the asker nor of the consumer", func(t *testing.T) {
		r := newClientRig(t)
		consumer, admin := r.dial(), r.dial()
		consumer.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, consumer, "G")
		const asked = maxRelaysOfOne // more than a connection may have on executors
		opaques := map[int32]bool{}
		for range asked {
			opaques[admin.send(protocol.Command{Code: int32(protocol.ReqGetConsumerRunningInfo), Ext: runningInfo("G", "a").AppendExt(nil)})] = true
		}
		require.Equal(t, []string{"a"}, admin.members("G"))
		require.Equal(t, []string{"a"}, consumer.members("G"))
		for range asked {
			consumer.reply(consumer.request(), protocol.Command{})
		}
		for range asked {
			answer, err := admin.read()
			require.NoError(t, err)
			require.True(t, opaques[answer.Opaque])
			delete(opaques, answer.Opaque)
		}
	})
	t.Run("what waits for consumers has an end", func(t *testing.T) {
		r := newClientRig(t)
		consumer, admin := r.dial(), r.dial()
		consumer.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, consumer, "G")
		_, size := ownCommand(&protocol.Command{Ext: runningInfo("G", "a").AppendExt(nil), Body: make([]byte, 100)})
		r.service.relayMost = int64(size)
		ask := func(body int) int32 {
			return admin.send(protocol.Command{
				Code: int32(protocol.ReqGetConsumerRunningInfo), Ext: runningInfo("G", "a").AppendExt(nil), Body: make([]byte, body),
			})
		}
		const busy = "too many requests wait for consumers already"
		requireRefused(t, admin.answer(ask(101)), protocol.RespSystemBusy, busy)
		first := ask(100)
		got := consumer.request()
		requireRefused(t, admin.answer(ask(0)), protocol.RespSystemBusy, busy)
		consumer.reply(got, protocol.Command{})
		require.Zero(t, admin.answer(first).Code)
		eventuallyClients(t, func() bool { return r.service.relayed.Load() == 0 })
		second := ask(100)
		consumer.reply(consumer.request(), protocol.Command{})
		require.Zero(t, admin.answer(second).Code)
	})
	t.Run("no asker has more than its share", func(t *testing.T) {
		r := newClientRig(t)
		consumer, greedy, modest := r.dial(), r.dial(), r.dial()
		consumer.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, consumer, "G")
		question := protocol.Command{Code: int32(protocol.ReqGetConsumerRunningInfo), Ext: runningInfo("G", "a").AppendExt(nil)}
		for range maxRelaysOfOne {
			greedy.send(question)
		}
		const busy = "too many requests wait for consumers already"
		requireRefused(t, greedy.answer(greedy.send(question)), protocol.RespSystemBusy, busy)
		for range maxRelaysOfOne {
			consumer.reply(consumer.request(), protocol.Command{})
			_, err := greedy.read()
			require.NoError(t, err)
		}
		other := modest.send(question)
		consumer.reply(consumer.request(), protocol.Command{})
		require.Zero(t, modest.answer(other).Code)
		eventuallyClients(t, func() bool { return r.service.relays.Stats().Running == 0 })
		again := greedy.send(question)
		consumer.reply(consumer.request(), protocol.Command{})
		require.Zero(t, greedy.answer(again).Code)
	})
	t.Run("answers that the asker does not take have an end", func(t *testing.T) {
		const answers, size = maxRelaysOfOne, 1 << 20
		r := newClientRig(t)
		r.service.relayMost = 4 * size
		r.service.relayTimeout = time.Second
		consumer, admin := r.dial(), r.dial()
		consumer.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, consumer, "G")
		for range answers {
			admin.send(protocol.Command{Code: int32(protocol.ReqGetConsumerRunningInfo), Ext: runningInfo("G", "a").AppendExt(nil)})
		}
		for range answers {
			consumer.reply(consumer.request(), protocol.Command{Body: make([]byte, size)})
		}
		eventuallyClients(t, func() bool { return r.service.relays.Stats().Running == 0 })
		require.Zero(t, r.service.relayed.Load())
		count := map[int32]int{}
		for range answers {
			answer, err := admin.read()
			require.NoError(t, err)
			count[answer.Code]++
			if answer.Code == 0 {
				require.Len(t, answer.Body, size)
			}
		}
		require.Positive(t, count[0])
		require.Less(t, count[0], answers/2, "MiB that fit the buffers of the sockets")
		require.Positive(t, count[int32(protocol.RespSystemBusy)])
	})
	t.Run("a consumer may ask about itself", func(t *testing.T) {
		c := newClientRig(t).dial()
		c.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, c, "G")
		opaque := c.send(protocol.Command{Code: int32(protocol.ReqGetConsumerRunningInfo), Ext: runningInfo("G", "a").AppendExt(nil)})
		c.reply(c.request(), protocol.Command{Body: []byte("me")})
		require.Equal(t, "me", string(c.answer(opaque).Body))
	})
	t.Run("an asker that hangs up ends the wait", func(t *testing.T) {
		r := newClientRig(t)
		consumer, admin := r.dial(), r.dial()
		consumer.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, consumer, "G")
		admin.send(protocol.Command{Code: int32(protocol.ReqGetConsumerRunningInfo), Ext: runningInfo("G", "a").AppendExt(nil)})
		consumer.request()
		require.Equal(t, 1, r.service.relays.Stats().Running)
		r.hangUp(admin)
		eventuallyClients(t, func() bool { return r.service.relays.Stats().Running == 0 })
	})
}

func TestConsumeMessageDirectly(t *testing.T) {
	header := &protocol.ConsumeMessageDirectlyResultRequestHeader{ConsumerGroup: "G", ClientID: protocol.Some("a"), MsgID: protocol.Some("0A")}
	t.Run("not supported without a store", func(t *testing.T) {
		c := newClientRig(t).dial()
		requireRefused(t, c.ask(protocol.ReqConsumeMessageDirectly, header, nil), protocol.RespRequestCodeNotSupported, " request type 309 not supported")
	})
	stored := func(o *clientOptions) {
		o.Message = func(id string) ([]byte, error) {
			if id != "0A" {
				return nil, errors.New("no such message")
			}
			return []byte("stored"), nil
		}
	}
	t.Run("passed on with the message and the broker's name", func(t *testing.T) {
		r := newClientRig(t, stored)
		consumer, admin := r.dial(), r.dial()
		requireRefused(t, admin.ask(protocol.ReqConsumeMessageDirectly, header, nil), protocol.RespSystemError, "The Consumer <G> <a> not online")
		consumer.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, consumer, "G")
		opaque := admin.send(protocol.Command{Code: int32(protocol.ReqConsumeMessageDirectly), Ext: header.AppendExt(nil)})
		got := consumer.request()
		require.Equal(t, "stored", string(got.Body))
		require.ElementsMatch(t, append(header.AppendExt(nil), protocol.Field{Key: "brokerName", Value: "broker-a"}), got.Ext)
		consumer.reply(got, protocol.Command{Body: []byte(`{"consumeResult":"CR_SUCCESS"}`)})
		require.Equal(t, `{"consumeResult":"CR_SUCCESS"}`, string(admin.answer(opaque).Body))
	})
	t.Run("refused without ids or message", func(t *testing.T) {
		c := newClientRig(t, stored).dial()
		for remark, h := range map[string]*protocol.ConsumeMessageDirectlyResultRequestHeader{
			"the field clientId is missing": {ConsumerGroup: "G", MsgID: protocol.Some("0A")},
			"the field msgId is missing":    {ConsumerGroup: "G", ClientID: protocol.Some("a")},
			"no such message":               {ConsumerGroup: "G", ClientID: protocol.Some("a"), MsgID: protocol.Some("0B")},
		} {
			requireRefused(t, c.ask(protocol.ReqConsumeMessageDirectly, h, nil), protocol.RespSystemError, remark)
		}
	})
}

// The rows of the original's Broker2ClientTest about offsets in clients, spec/broker.md §10.
func TestBroker2Client(t *testing.T) {
	offsets := map[protocol.MessageQueue]int64{{Topic: "T", BrokerName: "broker-a", QueueID: 1}: 5}
	tooOld := (&remoting.Error{Code: protocol.RespSystemError, Remark: "the client does not support this feature. version=V3_0_6"}).Error()
	t.Run("reset of a group that is offline", func(t *testing.T) {
		r := newClientRig(t)
		require.Equal(t, errNotOnline("G"), r.service.resetClientOffsets("T", "G", 0, offsets, false))
		require.Equal(t, protocol.RespConsumerNotOnline, errNotOnline("G").Code)
	})
	t.Run("reset of a group with a client that is too old tells nobody", func(t *testing.T) {
		r := newClientRig(t)
		good, old := r.dial(), r.dial()
		old.version = protocol.Version3_0_7Snapshot - 1
		good.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, good, "G")
		old.beat(newBeat("b").consumer("G", "T"))
		wantNotice(t, good, "G")
		require.EqualError(t, r.service.resetClientOffsets("T", "G", 0, offsets, false), tooOld)
		require.Empty(t, good.notices())
	})
	t.Run("reset reaches every client once", func(t *testing.T) {
		r := newClientRig(t)
		a, b := r.dial(), r.dial()
		a.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, a, "G")
		b.beat(newBeat("b").consumer("G", "T"))
		wantNotice(t, a, "G")
		wantNotice(t, b, "G")
		for list, body := range map[bool]string{
			false: `{"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"T"}:5}}`,
			true:  `{"offsetTable":[{"brokerName":"broker-a","offset":5,"queueId":1,"topic":"T"}]}`,
		} {
			require.NoError(t, r.service.resetClientOffsets("T", "G", 17, offsets, list))
			for _, c := range []*rigConn{a, b} {
				got := c.request()
				require.Equal(t, int32(protocol.ReqResetConsumerClientOffset), got.Code)
				require.True(t, got.IsOneway())
				require.Equal(t, protocol.Ext{{Key: "topic", Value: "T"}, {Key: "group", Value: "G"}, {Key: "timestamp", Value: "17"}, {Key: "isForce", Value: "false"}, {Key: "queueId", Value: "-1"}}, got.Ext)
				require.Equal(t, body, string(got.Body))
			}
		}
	})

	status := &protocol.GetConsumerStatusRequestHeader{Topic: "T", Group: "G"}
	t.Run("status of a group that is offline", func(t *testing.T) {
		r := newClientRig(t)
		requireRefused(t, r.dial().ask(protocol.ReqInvokeBrokerToGetConsumerStatus, status, nil), protocol.RespSystemError,
			"No Any Consumer online in the consumer group: [G]")
	})
	t.Run("status of one client", func(t *testing.T) {
		r := newClientRig(t)
		admin, a, old := r.dial(), r.dial(), r.dial()
		a.beat(newBeat("a").consumer("G", "T"))
		wantNotice(t, a, "G")
		old.version = protocol.Version3_0_7Snapshot - 1
		old.beat(newBeat("old").consumer("G", "T"))
		wantNotice(t, a, "G")
		of := func(client string) protocol.Command {
			h := protocol.GetConsumerStatusRequestHeader{Topic: "T", Group: "G", ClientAddr: protocol.Some(client)}
			return protocol.Command{Code: int32(protocol.ReqInvokeBrokerToGetConsumerStatus), Ext: h.AppendExt(nil)}
		}
		opaque := admin.send(of("a"))
		got := a.request()
		require.Equal(t, protocol.Ext{{Key: "topic", Value: "T"}, {Key: "group", Value: "G"}}, got.Ext)
		a.reply(got, protocol.Command{Body: []byte(`{"messageQueueTable":{}}`)})
		require.Equal(t, `{"consumerTable":{"a":{}},"messageQueueTable":{}}`, string(admin.answer(opaque).Body))
		none := admin.answer(admin.send(of("b")))
		require.Equal(t, `{"consumerTable":{},"messageQueueTable":{}}`, string(none.Body))
		require.Equal(t, "not set any response code", none.Remark)
		require.Equal(t, int32(protocol.RespSystemError), admin.answer(admin.send(of("old"))).Code)
	})
	t.Run("status with a client that is too old", func(t *testing.T) {
		r := newClientRig(t)
		old, admin := r.dial(), r.dial()
		old.version = protocol.Version3_0_7Snapshot - 1
		old.beat(newBeat("a").consumer("G", "T"))
		requireRefused(t, admin.ask(protocol.ReqInvokeBrokerToGetConsumerStatus, status, nil), protocol.RespSystemError,
			"the client does not support this feature. version=V3_0_6")
	})
	t.Run("status is collected from those that answer in time", func(t *testing.T) {
		r := newClientRig(t)
		require.Equal(t, 5*time.Second, r.service.statusTimeout)
		r.service.statusTimeout = 500 * time.Millisecond
		a, silent, failing, admin := r.dial(), r.dial(), r.dial(), r.dial()
		settings := *r.settings.Load()
		settings.NotifyConsumerIDsChanged = false
		r.settings.Store(&settings)
		a.beat(newBeat("a").consumer("G", "T"))
		silent.beat(newBeat("b").consumer("G", "T"))
		failing.beat(newBeat("c").consumer("G", "T"))
		opaque := admin.send(protocol.Command{Code: int32(protocol.ReqInvokeBrokerToGetConsumerStatus), Ext: status.AppendExt(nil)})
		got := a.request()
		require.Equal(t, int32(protocol.ReqGetConsumerStatusFromClient), got.Code)
		a.reply(got, protocol.Command{Body: []byte(`{"messageQueueTable":{{"brokerName":"broker-a","queueId":1,"topic":"T"}:5}}`)})
		failing.reply(failing.request(), protocol.Command{Code: 1})
		answer := admin.answer(opaque)
		require.Equal(t, int32(protocol.RespSuccess), answer.Code)
		body, err := protocol.DecodeGetConsumerStatusBody(answer.Body)
		require.NoError(t, err)
		require.Equal(t, map[string]map[protocol.MessageQueue]int64{"a": offsets}, body.ConsumerTable)
		require.Equal(t, "not set any response code", answer.Remark, "as in the original")
	})
}
