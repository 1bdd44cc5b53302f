package broker

// What is passed on to consumers: GET_CONSUMER_RUNNING_INFO (307), CONSUME_MESSAGE_DIRECTLY (309),
// INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223) with GET_CONSUMER_STATUS_FROM_CLIENT (221), RESET_CONSUMER_CLIENT_OFFSET (220).
//
//   - One-way requests are not passed on: nobody waits for what a consumer would answer.
//   - The asker's connection and everybody else go on while a consumer is waited for: handlers return at once, and the answer
//     follows.
//   - A consumer has 10 s for 307 and 309, whose askers hear CONSUME_MSG_TIMEOUT (207) then; for 221 all of a group have
//     5 s together.
//   - A client with several connections is asked over its newest.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

const (
	relayTimeout  = 10 * time.Second // 307 and 309
	statusTimeout = 5 * time.Second  // 221

	// maxRelays bounds the requests that are being passed on; further ones are answered SYSTEM_BUSY. The server's
	// limit of calls to peers is to be no lower.
	maxRelays = 1024
	// maxRelaysOfOne bounds those of one connection, so that who asks silent consumers on and on leaves others room.
	maxRelaysOfOne = 64
	// maxRelayBytes bounds what such requests keep in memory until they are answered, and their answers until the askers
	// take them.
	maxRelayBytes = 256 << 20
	// statusFanOut bounds the consumers that one 223 asks at a time.
	statusFanOut = 256
)

// consumerRunningInfo passes a question about its state on to a consumer (307).
//
// Source: spec/broker.md §6.5, spec/messaging.md §8.8.
func (s *clientService) consumerRunningInfo(_ context.Context, req *remoting.Request[protocol.GetConsumerRunningInfoRequestHeader]) (*remoting.Response, error) {
	return s.relay(req.Peer, req.Command, req.Header.ConsumerGroup, req.Header.ClientID, &protocol.Command{
		Code: req.Command.Code, Ext: req.Command.Ext, Body: req.Command.Body,
	})
}

// consumeMessageDirectly lets a consumer consume one stored message (309).
//
// Source: spec/broker.md §6.5, spec/messaging.md §8.8.
func (s *clientService) consumeMessageDirectly(_ context.Context, req *remoting.Request[protocol.ConsumeMessageDirectlyResultRequestHeader]) (*remoting.Response, error) {
	if s.Message == nil {
		return nil, &remoting.Error{
			Code:   protocol.RespRequestCodeNotSupported, // 3
			Remark: fmt.Sprintf(" request type %d not supported", req.Command.Code),
		}
	}
	h := req.Header
	switch {
	case !h.ClientID.Present:
		return nil, &protocol.FieldError{Field: "clientId"}
	case !h.MsgID.Present:
		return nil, &protocol.FieldError{Field: "msgId"}
	}
	message, err := s.Message(h.MsgID.Value)
	if err != nil {
		return nil, err
	}
	h.BrokerName = protocol.Some(s.BrokerName)
	return s.relay(req.Peer, req.Command, h.ConsumerGroup, h.ClientID.Value, &protocol.Command{
		Code: req.Command.Code, Ext: h.AppendExt(nil), Body: message,
	})
}

// relay passes forward, of which it makes a copy, on to a consumer and its answer, as it is, to asker, whose request was cmd.
// It does not wait.
func (s *clientService) relay(asker *remoting.Peer, cmd *protocol.Command, group, clientID string, forward *protocol.Command) (*remoting.Response, error) {
	consumer, ok := s.consumers.client(group, clientID)
	if !ok {
		return nil, &remoting.Error{
			Code: protocol.RespSystemError, Remark: fmt.Sprintf("The Consumer <%s> <%s> not online", group, clientID),
		}
	}
	if oldest := protocol.Version3_1_8Snapshot; consumer.version < oldest {
		return nil, &remoting.Error{
			Code: protocol.RespSystemError,
			Remark: fmt.Sprintf("The Consumer <%s> Version <%s> too low to finish, please upgrade it to %s",
				consumer.id, consumer.version, oldest),
		}
	}
	if cmd.IsOneway() {
		return nil, nil // nobody wants the answer
	}
	group, clientID = strings.Clone(group), strings.Clone(clientID)
	forward, size := ownCommand(forward)
	return s.later(asker, cmd.Opaque, size, func() *remoting.Response {
		ctx, cancel := context.WithTimeout(asker.Context(), s.relayTimeout)
		defer cancel()
		answer, err := consumer.peer.Invoke(ctx, forward)
		if err != nil {
			return relayError(ctx, group, clientID, err)
		}
		return &remoting.Response{
			Code: protocol.ResponseCode(answer.Code), Remark: answer.Remark, HasRemark: answer.HasRemark,
			Header: rawHeader(answer.Ext), Body: answer.Body,
		}
	})
}

// ownCommand returns a copy of code, extFields and body that keeps nothing of the request they come from, and its size in bytes.
func ownCommand(cmd *protocol.Command) (own *protocol.Command, size int) {
	own = &protocol.Command{Code: cmd.Code, Ext: slices.Clone(cmd.Ext), Body: slices.Clone(cmd.Body)}
	size = len(own.Body)
	for i := range own.Ext {
		f := &own.Ext[i]
		f.Key, f.Value = strings.Clone(f.Key), strings.Clone(f.Value)
		size += len(f.Key) + len(f.Value)
	}
	return own, size
}

// tooManyRelays is the answer when a limit of relays is reached.
var tooManyRelays = &remoting.Error{Code: protocol.RespSystemBusy, Remark: "too many requests wait for consumers already"}

// later runs ask, which keeps so many bytes, on a goroutine of its own and answers the request opaque of asker with what it
// returns.
func (s *clientService) later(asker *remoting.Peer, opaque int32, size int, ask func() *remoting.Response) (*remoting.Response, error) {
	if !s.askers.Take(asker) {
		return nil, tooManyRelays
	}
	done := func() {
		s.relayed.Add(-int64(size))
		s.askers.Give(asker)
	}
	if s.relayed.Add(int64(size)) > s.relayMost || !s.relays.Go(func() {
		defer done()
		s.relayAnswer(asker, opaque, ask())
	}) {
		done()
		return nil, tooManyRelays
	}
	return nil, nil
}

// relayAnswer sends an answer to asker once it has taken earlier ones. The time for that is bounded, and so is what all askers
// together may leave waiting.
func (s *clientService) relayAnswer(asker *remoting.Peer, opaque int32, resp *remoting.Response) {
	size := int64(len(resp.Body))
	if header, ok := resp.Header.(rawHeader); ok {
		for _, f := range header {
			size += int64(len(f.Key) + len(f.Value))
		}
	}
	defer s.relayed.Add(-size)
	err := remoting.ErrBusy
	if s.relayed.Add(size) <= s.relayMost {
		ctx, cancel := context.WithTimeout(asker.Context(), s.relayTimeout)
		defer cancel()
		err = asker.RespondWait(ctx, opaque, resp)
	}
	if errors.Is(err, remoting.ErrBusy) {
		_ = asker.Respond(opaque, &remoting.Response{Code: tooManyRelays.Code, Remark: tooManyRelays.Remark}) // fails if the asker has gone
	}
}

// requireOffsetRequests refuses to send 220 or 221 to clients of which one is too old to know them.
func requireOffsetRequests(clients []client) error {
	for _, c := range clients {
		if c.version < protocol.Version3_0_7Snapshot {
			return &remoting.Error{
				Code:   protocol.RespSystemError,
				Remark: fmt.Sprintf("the client does not support this feature. version=%s", c.version),
			}
		}
	}
	return nil
}

// relayError is the answer when a consumer gave none.
func relayError(ctx context.Context, group, clientID string, err error) *remoting.Response {
	code, what := protocol.RespSystemError, "cannot be asked"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code, what = protocol.RespConsumeMsgTimeout, "Timeout" // 207
	}
	return &remoting.Response{
		Code: code, Remark: fmt.Sprintf("consumer <%s> <%s> %s: %v", group, clientID, what, err), HasRemark: true,
	}
}

// rawHeader is the extFields of an answer that is passed on.
type rawHeader protocol.Ext

// AppendExt implements protocol.HeaderEncoder.
func (h rawHeader) AppendExt(ext protocol.Ext) protocol.Ext {
	if ext == nil {
		return protocol.Ext(h)
	}
	return append(ext, h...)
}

// resetClientOffsets tells the consumers of a group to go on from other offsets (220). list gives the offsets in the form
// that C++ clients read. Nobody is told if one of them is too old to understand.
//
// Source: spec/broker.md §6.4, §6.5 (client side of 222).
func (s *clientService) resetClientOffsets(topic, group string, timestamp int64, offsets map[protocol.MessageQueue]int64, list bool) error {
	clients := s.consumers.clients(group)
	if len(clients) == 0 {
		return errNotOnline(group)
	}
	if err := requireOffsetRequests(clients); err != nil {
		return err
	}
	body := protocol.ResetOffsetBody{OffsetTable: offsets}
	header := protocol.ResetOffsetRequestHeader{Topic: topic, Group: group, Timestamp: timestamp, QueueID: protocol.Some[int32](-1)}
	cmd := &protocol.Command{Code: int32(protocol.ReqResetConsumerClientOffset), Ext: header.AppendExt(nil)}
	if list {
		cmd.Body = (*protocol.ResetOffsetBodyForC)(&body).AppendJSON(nil, protocol.FormDefault)
	} else {
		cmd.Body = body.AppendJSON(nil, protocol.FormDefault)
	}
	for _, c := range clients {
		if err := c.peer.Oneway(context.Background(), cmd); err != nil {
			s.log.Warn().Err(err).Str("consumerGroup", group).Str("clientId", c.id).Msg("consumer not told to reset its offsets")
		}
	}
	return nil
}

// consumerStatus collects from the consumers of a group, or from one of them, how far they are (223 with 221). One that gives
// no answer, or is not online, is left out.
//
// Source: spec/broker.md §6.5, spec/messaging.md §8.6, §8.8.
func (s *clientService) consumerStatus(_ context.Context, req *remoting.Request[protocol.GetConsumerStatusRequestHeader]) (*remoting.Response, error) {
	h := req.Header
	clients := s.consumers.clients(h.Group)
	if len(clients) == 0 {
		return nil, &remoting.Error{
			Code:   protocol.RespSystemError,
			Remark: fmt.Sprintf("No Any Consumer online in the consumer group: [%s]", h.Group),
		}
	}
	if only := h.ClientAddr.Or(""); only != "" {
		clients = slices.DeleteFunc(clients, func(c client) bool { return c.id != only })
	}
	if err := requireOffsetRequests(clients); err != nil {
		return nil, err
	}
	if req.Command.IsOneway() {
		return nil, nil
	}
	asker := req.Peer
	h.Topic, h.Group = strings.Clone(h.Topic), strings.Clone(h.Group)
	h.ClientAddr = protocol.Opt[string]{} // it is not the client's to know whom else the asker meant
	return s.later(asker, req.Command.Opaque, len(h.Topic)+len(h.Group), func() *remoting.Response {
		return s.askStatus(asker.Context(), clients, h)
	})
}

// askStatus asks clients for their offsets (221).
func (s *clientService) askStatus(ctx context.Context, clients []client, h protocol.GetConsumerStatusRequestHeader) *remoting.Response {
	cmd := &protocol.Command{Code: int32(protocol.ReqGetConsumerStatusFromClient), Ext: h.AppendExt(nil)}
	ctx, cancel := context.WithTimeout(ctx, s.statusTimeout)
	defer cancel()
	tables := make([]map[protocol.MessageQueue]int64, len(clients))
	var asked errgroup.Group
	asked.SetLimit(statusFanOut)
	for i, c := range clients {
		asked.Go(func() error {
			answer, err := c.peer.Invoke(ctx, cmd)
			if err == nil && answer.Code == int32(protocol.RespSuccess) {
				var status protocol.GetConsumerStatusBody
				status, err = protocol.DecodeGetConsumerStatusBody(answer.Body)
				tables[i] = status.MessageQueueTable
			}
			if err != nil {
				s.log.Warn().Err(err).Str("consumerGroup", h.Group).Str("clientId", c.id).Msg("consumer gave no status")
			}
			return nil
		})
	}
	_ = asked.Wait()
	body := protocol.GetConsumerStatusBody{ConsumerTable: map[string]map[protocol.MessageQueue]int64{}}
	for i, c := range clients {
		if tables[i] != nil {
			body.ConsumerTable[c.id] = tables[i]
		}
	}
	answer := jsonAnswer(&body)
	answer.Remark, answer.HasRemark = unsetRemark, true
	return answer
}
