package broker

// What is asked about clients, all versions but where noted: GET_CONSUMER_LIST_BY_GROUP (38), LOCK_BATCH_MQ (41),
// UNLOCK_BATCH_MQ (42), GET_CONSUMER_CONNECTION_LIST (203), GET_PRODUCER_CONNECTION_LIST (204), GET_ALL_PRODUCER_INFO (328),
// QUERY_SUBSCRIPTION_BY_CONSUMER (345, 5.x).
//
//   - 38 names each client once, however many connections it has, and all in the same order to everybody.
//   - All lists are ordered.

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// emptyHeader is a response header without fields: extFields is there, and empty.
type emptyHeader struct{}

// AppendExt implements protocol.HeaderEncoder.
func (emptyHeader) AppendExt(ext protocol.Ext) protocol.Ext {
	if ext == nil {
		return protocol.Ext{}
	}
	return ext
}

// emptyHeaderAnswer is the answer with code 0, an empty header and nothing else.
var emptyHeaderAnswer = &remoting.Response{Code: protocol.RespSuccess, Header: emptyHeader{}}

var (
	// errLockBatch refuses a request for locks that names no group or no client.
	errLockBatch = errors.New("LockBatchRequestBody: consumerGroup and clientId are needed")
	// errLockNames refuses one with names that nobody has.
	errLockNames = fmt.Errorf("LockBatchRequestBody: consumerGroup and clientId have %d bytes at most, topic and brokerName %d",
		maxClientName, maxRetryTopicLength)
)

// jsonAnswer returns an answer with a body in the default form.
func jsonAnswer(body interface {
	AppendJSON(dst []byte, f protocol.JSONForm) []byte
}) *remoting.Response {
	return remoting.Body(body.AppendJSON(nil, protocol.FormDefault))
}

// consumerList tells a consumer who shares the queues with it (38).
//
// Source: spec/broker.md §5.6.
func (s *clientService) consumerList(_ context.Context, req *remoting.Request[protocol.GetConsumerListByGroupRequestHeader]) (*remoting.Response, error) {
	body, ok := s.consumers.idList(req.Header.ConsumerGroup)
	if !ok {
		return &remoting.Response{
			Code: protocol.RespSystemError, Remark: "no consumer for this group, " + req.Header.ConsumerGroup, HasRemark: true,
			Header: emptyHeader{},
		}, nil
	}
	return &remoting.Response{Code: protocol.RespSuccess, Header: emptyHeader{}, Body: body}, nil
}

// lockQueues gives a client queues to consume alone (41).
//
// Source: spec/broker.md §5.8.
func (s *clientService) lockQueues(_ context.Context, _ *remoting.Peer, cmd *protocol.Command) (*remoting.Response, error) {
	body, err := lockBatch(cmd)
	if err != nil {
		return nil, err
	}
	held := s.locks.lock(body.ConsumerGroup, body.ClientID, body.MQSet)
	return jsonAnswer(&protocol.LockBatchResponseBody{LockOKMQSet: held}), nil
}

// unlockQueues takes queues back from a client (42).
func (s *clientService) unlockQueues(_ context.Context, _ *remoting.Peer, cmd *protocol.Command) (*remoting.Response, error) {
	body, err := lockBatch(cmd)
	if err != nil {
		return nil, err
	}
	s.locks.unlock(body.ConsumerGroup, body.ClientID, body.MQSet)
	return remoting.Success(), nil
}

// lockBatch reads the body of 41 and 42.
func lockBatch(cmd *protocol.Command) (protocol.LockBatchRequestBody, error) {
	body, err := protocol.DecodeLockBatchRequestBody(cmd.Body)
	if err == nil && (body.ConsumerGroup == "" || body.ClientID == "") {
		err = errLockBatch
	}
	if err == nil && (max(len(body.ConsumerGroup), len(body.ClientID)) > maxClientName || slices.ContainsFunc(body.MQSet, hasLongName)) {
		err = errLockNames
	}
	return body, err
}

// hasLongName tells whether there can be no such queue. What is locked is kept for a while.
func hasLongName(q protocol.MessageQueue) bool {
	return max(len(q.Topic), len(q.BrokerName)) > maxRetryTopicLength
}

// connection is a client as 203 and 204 show it.
func (c *client) connection() protocol.Connection {
	return protocol.Connection{
		ClientID: c.id, ClientAddr: c.peer.RemoteAddr(), Language: c.language, Version: c.version,
	}
}

// consumerConnections shows the connections and subscriptions of a consumer group (203).
func (s *clientService) consumerConnections(_ context.Context, req *remoting.Request[protocol.GetConsumerConnectionListRequestHeader]) (*remoting.Response, error) {
	group, ok := s.consumers.group(req.Header.ConsumerGroup)
	if !ok {
		return nil, errNotOnline(req.Header.ConsumerGroup)
	}
	body := protocol.ConsumerConnection{
		ConsumeType: group.consumeType, MessageModel: group.messageModel, ConsumeFromWhere: group.consumeFrom,
	}
	for i := range group.conns {
		body.ConnectionSet = append(body.ConnectionSet, group.conns[i].connection())
	}
	for _, sub := range group.subscriptions {
		body.SubscriptionTable = append(body.SubscriptionTable, *sub)
	}
	return jsonAnswer(&body), nil
}

// errNotOnline is the answer about a consumer group without members where there is a code for it.
func errNotOnline(group string) *remoting.Error {
	return &remoting.Error{
		Code:   protocol.RespConsumerNotOnline, // 206
		Remark: fmt.Sprintf("the consumer group[%s] not online", group),
	}
}

// producerConnections shows the connections of a producer group (204).
func (s *clientService) producerConnections(_ context.Context, req *remoting.Request[protocol.GetProducerConnectionListRequestHeader]) (*remoting.Response, error) {
	conns := s.producers.group(req.Header.ProducerGroup)
	if len(conns) == 0 {
		return nil, &remoting.Error{
			Code:   protocol.RespSystemError,
			Remark: fmt.Sprintf("the producer group[%s] not exist", req.Header.ProducerGroup),
		}
	}
	var body protocol.ProducerConnection
	for i := range conns {
		body.ConnectionSet = append(body.ConnectionSet, conns[i].connection())
	}
	return jsonAnswer(&body), nil
}

// allProducers shows the producers of all groups (328).
func (s *clientService) allProducers(context.Context, *remoting.Peer, *protocol.Command) (*remoting.Response, error) {
	body := protocol.ProducerTableInfo{Data: map[string][]protocol.ProducerInfo{}}
	now := s.Now()
	for group, conns := range s.producers.all() {
		list := make([]protocol.ProducerInfo, len(conns))
		for i, c := range conns {
			list[i] = protocol.ProducerInfo{
				ClientID: c.id, RemoteIP: "/" + c.peer.RemoteAddr(), Language: c.language, Version: c.version,
				LastUpdateTimestamp: now.Add(-c.silent).UnixMilli(),
			}
		}
		body.Data[group] = list
	}
	return jsonAnswer(&body), nil
}

// subscriptionOfGroup shows what a group wants of a topic (345).
func (s *clientService) subscriptionOfGroup(_ context.Context, req *remoting.Request[protocol.QuerySubscriptionByConsumerRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	body := protocol.QuerySubscriptionResponseBody{Group: h.Group}
	if h.Topic.Present {
		body.Topic = &h.Topic.Value
		body.SubscriptionData = s.consumers.subscription(h.Group, h.Topic.Value, false)
	}
	return jsonAnswer(&body), nil
}
