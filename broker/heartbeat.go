package broker

// HEART_BEAT (34), UNREGISTER_CLIENT (35), CHECK_CLIENT_CONFIG (46).
//
//   - 34 of all versions; with heartbeatFingerprint, since 5.0, it is a heartbeat V2. The answer is that of 5.x to all
//     clients; those before it do not look at the fields.
//   - A body that lacks a name, or for which there is no room, is refused, code 1, and changes nothing. Consumers and
//     producers of a heartbeat are registered together, after the groups and retry topics they need are on disk.
//   - A consumer whose group there is not, and cannot be made, is left out (5.x; 4.9 registers it).
//   - 35 makes no group, as the original's does when it looks whether to notify.

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

const (
	// maxClientName bounds, in bytes, client ids and producer groups, which are kept and sent to others.
	maxClientName = 4096
	// maxHeartbeatGroups bounds the groups of one heartbeat.
	maxHeartbeatGroups = 10_000
)

var (
	// errHeartbeat refuses a heartbeat that names nobody.
	errHeartbeat = errors.New("HeartbeatData")
	// errTooManyClients refuses one for which there is no room.
	errTooManyClients = fmt.Errorf("%w: clients and their subscriptions take %d bytes already", errHeartbeat, maxClientBytes)
)

// heartbeat registers a client's consumers and producers (34).
//
// Source: spec/broker.md §5.1.
func (s *clientService) heartbeat(_ context.Context, peer *remoting.Peer, cmd *protocol.Command) (*remoting.Response, error) {
	beat, err := protocol.DecodeHeartbeatData(cmd.Body, s.Now().UnixMilli())
	if err != nil {
		return nil, err
	}
	if err := validateHeartbeat(&beat); err != nil {
		return nil, err
	}
	if !s.consumers.admits(peer, beat.ConsumerDataSet) || !s.producers.admits(peer, beat.ProducerDataSet) {
		s.few.Warn().Str("clientId", brief(beat.ClientID)).Str("remoteAddr", peer.RemoteAddr()).Msg("no room for more clients")
		return nil, errTooManyClients
	}
	settings := s.Settings()
	entries, err := s.consumerEntries(&beat, settings.RejectPullConsumer)
	if err != nil {
		return nil, err
	}
	c := client{id: beat.ClientID, peer: peer, language: cmd.Language, version: cmd.Version}
	changes, stale := s.consumers.heartbeat(c, entries, beat.HeartbeatFingerprint, beat.WithoutSub)
	s.consumersChanged(changes, "heartbeat")
	if settings.EnableRegisterProducer || !settings.RejectTransactionMessage {
		s.producersChanged(s.producers.heartbeat(c, beat.ProducerDataSet), "heartbeat")
	}
	return heartbeatAnswer(stale || beat.HeartbeatFingerprint == 0), nil
}

// heartbeatAnswers are the two answers to a heartbeat: to one whose subscriptions are known, and to another.
var heartbeatAnswers = [2]remoting.Response{
	{Header: &protocol.HeartbeatResponseHeader{SupportV2: protocol.Some(true), SubChange: protocol.Some(false)}},
	{Header: &protocol.HeartbeatResponseHeader{SupportV2: protocol.Some(true), SubChange: protocol.Some(true)}},
}

func heartbeatAnswer(subChange bool) *remoting.Response {
	if subChange {
		return &heartbeatAnswers[1]
	}
	return &heartbeatAnswers[0]
}

// validateHeartbeat refuses a heartbeat that lacks a name, or has more than bounds allow.
func validateHeartbeat(beat *protocol.HeartbeatData) error {
	check := func(what, name string) error {
		switch {
		case name == "":
			return fmt.Errorf("%w: %s is missing", errHeartbeat, what)
		case len(name) > maxClientName:
			return fmt.Errorf("%w: %s has more than %d bytes", errHeartbeat, what, maxClientName)
		}
		return nil
	}
	if err := check("clientID", beat.ClientID); err != nil {
		return err
	}
	if len(beat.ConsumerDataSet)+len(beat.ProducerDataSet) > maxHeartbeatGroups {
		return fmt.Errorf("%w: more than %d groups", errHeartbeat, maxHeartbeatGroups)
	}
	for i := range beat.ConsumerDataSet {
		data := &beat.ConsumerDataSet[i]
		if err := check("groupName of a consumer", data.GroupName); err != nil {
			return err
		}
		for j := range data.SubscriptionDataSet {
			if err := check("topic of a subscription", data.SubscriptionDataSet[j].Topic); err != nil {
				return err
			}
		}
	}
	for i := range beat.ProducerDataSet {
		if err := check("groupName of a producer", beat.ProducerDataSet[i].GroupName); err != nil {
			return err
		}
	}
	return nil
}

// consumerEntries returns the consumers of a heartbeat that are to be registered, with the groups and retry topics that they
// need on disk: written once, however many there are.
func (s *clientService) consumerEntries(beat *protocol.HeartbeatData, rejectPull bool) ([]consumerEntry, error) {
	var entries []consumerEntry
	var names []string
	for i := range beat.ConsumerDataSet {
		data := &beat.ConsumerDataSet[i]
		if rejectPull && data.ConsumeType == protocol.ConsumeActively {
			continue
		}
		entries, names = append(entries, consumerEntry{ConsumerData: data}), append(names, data.GroupName)
	}
	groups, err := s.Groups.findAll(names)
	if err != nil {
		return nil, err
	}
	retries := make([]retryTopic, 0, len(groups))
	registered := entries[:0]
	for i, group := range groups {
		if group == nil {
			continue
		}
		e := entries[i]
		e.notify = group.NotifyConsumerIDsChangedEnable
		registered = append(registered, e)
		retries = append(retries, retryTopic{
			group: group.GroupName, queues: group.RetryQueueNums, unitMode: e.UnitMode, order: s.isOrdered(group.GroupName, e.ConsumerData, beat.WithoutSub),
		})
	}
	refused, err := s.Topics.ensureRetryTopics(retries)
	for _, err := range refused {
		// A group of an old file may have a name of which no topic can be made. Its consumers consume all the same.
		s.log.Warn().Err(err).Str("clientId", beat.ClientID).Msg("group without retry topic")
	}
	return registered, err
}

// isOrdered tells whether a group subscribes an ordered topic. A heartbeat without subscriptions says nothing about that,
// where the original takes it for no.
//
// Source: spec/broker.md §3.4.
func (s *clientService) isOrdered(group string, data *protocol.ConsumerData, withoutSub bool) bool {
	ordered := func(topic string) bool {
		config, ok := s.Topics.get(topic)
		return ok && config.Order
	}
	if withoutSub {
		return slices.ContainsFunc(s.consumers.topicsOf(group), ordered)
	}
	return slices.ContainsFunc(data.SubscriptionDataSet, func(sub protocol.SubscriptionData) bool { return ordered(sub.Topic) })
}

// unregisterClient takes the asking connection out of a producer group, a consumer group or both (35).
//
// Source: spec/broker.md §5.2.
func (s *clientService) unregisterClient(_ context.Context, req *remoting.Request[protocol.UnregisterClientRequestHeader]) (*remoting.Response, error) {
	if group := req.Header.ProducerGroup; group.Present {
		if change, ok := s.producers.unregister(group.Value, req.Peer); ok {
			s.producersChanged([]producerChange{change}, "unregistered")
		}
	}
	if group := req.Header.ConsumerGroup; group.Present {
		config, known := s.Groups.get(group.Value)
		notify := !known || config.NotifyConsumerIDsChangedEnable
		if change, ok := s.consumers.unregister(group.Value, req.Peer, notify); ok {
			s.consumersChanged([]consumerChange{change}, "unregistered")
		}
	}
	return emptyHeaderAnswer, nil
}

// expressionTag is the expression type of tags, and what no type stands for.
const expressionTag = "TAG"

// checkClientConfig tells a consumer, before it starts, whether its subscription can be served (46).
//
// Source: spec/broker.md §5.2.
func (s *clientService) checkClientConfig(_ context.Context, _ *remoting.Peer, cmd *protocol.Command) (*remoting.Response, error) {
	if len(cmd.Body) == 0 {
		return remoting.Success(), nil
	}
	check, err := protocol.DecodeCheckClientRequestBody(cmd.Body)
	if errors.Is(err, protocol.ErrNullBody) {
		return remoting.Success(), nil
	}
	if err != nil {
		return nil, err
	}
	sub := check.SubscriptionData
	if sub == nil || sub.ExpressionType == "" || sub.ExpressionType == expressionTag {
		return remoting.Success(), nil
	}
	if s.Compile == nil || !s.Settings().EnablePropertyFilter {
		return nil, &remoting.Error{
			Code:   protocol.RespSystemError,
			Remark: "The broker does not support consumer to filter message by " + sub.ExpressionType,
		}
	}
	if err := s.Compile(sub.ExpressionType, sub.SubString); err != nil {
		return nil, &remoting.Error{Code: protocol.RespSubscriptionParseFailed, Remark: err.Error()}
	}
	return remoting.Success(), nil
}
