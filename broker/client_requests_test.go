package broker

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// requireRefused checks an answer that consists of code and remark.
func requireRefused(t *testing.T, answer protocol.Command, code protocol.ResponseCode, remark string) {
	t.Helper()
	require.Equal(t, int32(code), answer.Code)
	require.Equal(t, remark, answer.Remark)
	require.Empty(t, answer.Body)
}

// requireBody checks an answer with code 0 and a body.
func requireBody(t *testing.T, answer protocol.Command, body string) {
	t.Helper()
	require.Equal(t, int32(protocol.RespSuccess), answer.Code, answer.Remark)
	require.False(t, answer.HasRemark)
	require.Nil(t, answer.Ext)
	require.Equal(t, body, string(answer.Body))
}

// The row of the original's ConsumerManageProcessorTest about lists; those about offsets come with the store.
func TestConsumerManageProcessor(t *testing.T) {
	r := newClientRig(t)
	c := r.dial()
	ask := func(group string) protocol.Command {
		return c.ask(protocol.ReqGetConsumerListByGroup, &protocol.GetConsumerListByGroupRequestHeader{ConsumerGroup: group}, nil)
	}
	answer := ask("unknown")
	requireRefused(t, answer, protocol.RespSystemError, "no consumer for this group, unknown")
	require.Equal(t, protocol.Ext{}, answer.Ext, "extFields are there, and empty")
	c.beat(newBeat("a").consumer("G", "T"))
	answer = ask("G")
	require.Equal(t, int32(protocol.RespSuccess), answer.Code)
	require.Equal(t, protocol.Ext{}, answer.Ext, "extFields are there, and empty")
	require.Equal(t, `{"consumerIdList":["a"]}`, string(answer.Body))
	c.unregister("a", "", "G")
	requireRefused(t, ask("G"), protocol.RespSystemError, "no consumer for this group, G")
	requireRefused(t, c.ask(protocol.ReqGetConsumerListByGroup, nil, nil), protocol.RespSystemError, "the field consumerGroup is missing")
}

func TestLockBatch(t *testing.T) {
	c := newClientRig(t).dial()
	body := func(client string, queues ...int) []byte {
		b := protocol.LockBatchRequestBody{ConsumerGroup: "G", ClientID: client, MQSet: []protocol.MessageQueue{}}
		for _, q := range queues {
			b.MQSet = append(b.MQSet, protocol.MessageQueue{Topic: "T", BrokerName: "broker-a", QueueID: int32(q)})
		}
		return b.AppendJSON(nil, protocol.FormDefault)
	}
	queue := func(q int) string { return fmt.Sprintf(`{"brokerName":"broker-a","queueId":%d,"topic":"T"}`, q) }
	requireBody(t, c.ask(protocol.ReqLockBatchMQ, nil, body("a", 0, 1)), `{"lockOKMQSet":[`+queue(0)+`,`+queue(1)+`]}`)
	requireBody(t, c.ask(protocol.ReqLockBatchMQ, nil, body("b", 1, 2)), `{"lockOKMQSet":[`+queue(2)+`]}`)
	requireBody(t, c.ask(protocol.ReqLockBatchMQ, nil, body("b", 1)), `{"lockOKMQSet":[]}`)
	requireBody(t, c.ask(protocol.ReqUnlockBatchMQ, nil, body("a", 1)), ``)
	requireBody(t, c.ask(protocol.ReqLockBatchMQ, nil, body("b", 1)), `{"lockOKMQSet":[`+queue(1)+`]}`)
	requireBody(t, c.ask(protocol.ReqLockBatchMQ, nil, body("b")), `{"lockOKMQSet":[]}`)
	for _, bad := range []string{``, `null`, `{`, `{"clientId":"a","mqSet":[]}`, `{"consumerGroup":"G","mqSet":[]}`, `{"clientId":"a","consumerGroup":"G","mqSet":[7]}`} {
		for _, code := range []protocol.RequestCode{protocol.ReqLockBatchMQ, protocol.ReqUnlockBatchMQ} {
			answer := c.ask(code, nil, []byte(bad))
			require.Equal(t, int32(protocol.RespSystemError), answer.Code, bad)
			require.NotEmpty(t, answer.Remark)
		}
	}
}

func TestConnectionsOfGroups(t *testing.T) {
	r := newClientRig(t)
	c := r.dial()
	addr := c.LocalAddr().String()
	connection := `{"clientAddr":"` + addr + `","clientId":"a","language":"JAVA","version":513}`

	ask := func(group string) protocol.Command {
		return c.ask(protocol.ReqGetConsumerConnectionList, &protocol.GetConsumerConnectionListRequestHeader{ConsumerGroup: group}, nil)
	}
	requireRefused(t, ask("G"), protocol.RespConsumerNotOnline, "the consumer group[G] not online")
	b := newBeat("a").consumer("G", "U", "T").producer("P")
	b.ConsumerDataSet[0].SubscriptionDataSet[1].TagsSet = []string{"TagA"}
	b.ConsumerDataSet[0].SubscriptionDataSet[1].CodeSet = []int32{2598919}
	b.ConsumerDataSet[0].SubscriptionDataSet[1].SubString = "TagA"
	c.beat(b)
	requireBody(t, ask("G"), `{"connectionSet":[`+connection+`],"consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET",`+
		`"consumeType":"CONSUME_PASSIVELY","messageModel":"CLUSTERING","subscriptionTable":{`+
		`"T":{"classFilterMode":false,"codeSet":[2598919],"expressionType":"TAG","subString":"TagA","subVersion":1,"tagsSet":["TagA"],"topic":"T"},`+
		`"U":{"classFilterMode":false,"codeSet":[],"expressionType":"TAG","subString":"*","subVersion":1,"tagsSet":[],"topic":"U"}}}`)

	producers := func(group string) protocol.Command {
		return c.ask(protocol.ReqGetProducerConnectionList, &protocol.GetProducerConnectionListRequestHeader{ProducerGroup: group}, nil)
	}
	requireRefused(t, producers("Q"), protocol.RespSystemError, "the producer group[Q] not exist")
	requireBody(t, producers("P"), `{"connectionSet":[`+connection+`]}`)

	r.clock.advance(7 * time.Second)
	requireBody(t, c.ask(protocol.ReqGetAllProducerInfo, nil, nil),
		`{"data":{"P":[{"clientId":"a","language":"JAVA","lastUpdateTimestamp":1700000000000,"remoteIP":"/`+addr+`","version":513}]}}`)
	r.hangUp(c)
	requireBody(t, r.dial().ask(protocol.ReqGetAllProducerInfo, nil, nil), `{"data":{}}`)
}

func TestSubscriptionOfGroup(t *testing.T) {
	c := newClientRig(t).dial()
	ask := func(h protocol.QuerySubscriptionByConsumerRequestHeader) protocol.Command {
		return c.ask(protocol.ReqQuerySubscriptionByConsumer, &h, nil)
	}
	requireBody(t, ask(protocol.QuerySubscriptionByConsumerRequestHeader{Group: "G", Topic: protocol.Some("T")}), `{"group":"G","topic":"T"}`)
	c.beat(newBeat("a").consumer("G", "T"))
	requireBody(t, ask(protocol.QuerySubscriptionByConsumerRequestHeader{Group: "G", Topic: protocol.Some("T")}),
		`{"group":"G","subscriptionData":{"classFilterMode":false,"codeSet":[],"expressionType":"TAG","subString":"*","subVersion":1,"tagsSet":[],"topic":"T"},"topic":"T"}`)
	requireBody(t, ask(protocol.QuerySubscriptionByConsumerRequestHeader{Group: "G", Topic: protocol.Some("U")}), `{"group":"G","topic":"U"}`)
	requireBody(t, ask(protocol.QuerySubscriptionByConsumerRequestHeader{Group: "G"}), `{"group":"G"}`)
}
