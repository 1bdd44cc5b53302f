package broker

// Requests about consumer offsets: UPDATE_CONSUMER_OFFSET (15), QUERY_CONSUMER_OFFSET (14), GET_ALL_CONSUMER_OFFSET (43),
// CLONE_GROUP_OFFSET (314), and who consumes what: QUERY_TOPIC_CONSUME_BY_WHO (300), QUERY_TOPICS_BY_CONSUMER (343, 5.x).
//
//   - 15 makes neither group nor topic. It says that one is missing as 5.x does; 4.9 keeps offsets of anything.
//   - 15 is answered before the offset is on disk, as by the original: flushConsumerOffsetInterval is what a crash can cost.
//   - 14 knows what has been committed and nothing else: there is no store yet that could tell a young queue, which consumers
//     begin at 0.
//   - 314 copies every topic that it is asked for; the original copies nothing if none is named.
//   - 300 and 343 are ordered.

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// updateConsumerOffset notes how far a group has come in a queue (15).
//
// Source: spec/messaging.md §3.2.
func (s *Server) updateConsumerOffset(_ context.Context, req *remoting.Request[protocol.UpdateConsumerOffsetRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	before, err := s.offsets.commit(h.Topic, h.ConsumerGroup, h.QueueID.Value, h.CommitOffset.Value, func() error {
		if _, ok := s.groups.get(h.ConsumerGroup); !ok {
			return &remoting.Error{
				Code: protocol.RespSubscriptionGroupNotExist, Remark: fmt.Sprintf("Group %s not exist!", h.ConsumerGroup),
			}
		}
		if _, ok := s.topics.get(h.Topic); !ok {
			return &remoting.Error{Code: protocol.RespTopicNotExist, Remark: fmt.Sprintf("Topic %s not exist!", h.Topic)}
		}
		if !h.QueueID.Present {
			return invalidParameter("QueueId is null, topic is %s", h.Topic)
		}
		if !h.CommitOffset.Present {
			return invalidParameter("Offset is null, topic is %s", h.Topic)
		}
		return nil
	})
	var refused *remoting.Error
	if errors.As(err, &refused) { // with the header that a success has
		return &remoting.Response{Code: refused.Code, Remark: refused.Remark, HasRemark: true, Header: emptyHeader{}}, nil
	}
	if err != nil {
		return nil, err
	}
	if h.CommitOffset.Value < before {
		s.few.Warn().Str("consumerGroup", h.ConsumerGroup).Str("topic", h.Topic).Int32("queueId", h.QueueID.Value).
			Int64("commitOffset", h.CommitOffset.Value).Int64("storeOffset", before).Str("remoteAddr", req.Peer.RemoteAddr()).
			Msg("consumer offset goes back")
	}
	return emptyHeaderAnswer, nil
}

// queryConsumerOffset tells how far a group has come in a queue (14). Not to know is QUERY_NOT_FOUND, and no other code:
// clients take all others for failures. They begin where their consumeFromWhere says then.
//
// Source: spec/messaging.md §3.1.
func (s *Server) queryConsumerOffset(_ context.Context, req *remoting.Request[protocol.QueryConsumerOffsetRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	if offset := s.offsets.query(h.Topic, h.ConsumerGroup, h.QueueID); offset >= 0 {
		return &remoting.Response{Header: &protocol.QueryConsumerOffsetResponseHeader{Offset: offset}}, nil
	}
	remark := "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
	if h.SetZeroIfNotFound.Present && !h.SetZeroIfNotFound.Value {
		remark = "Not found, do not set to zero, maybe this group boot first"
	}
	return &remoting.Response{Code: protocol.RespQueryNotFound, Remark: remark, HasRemark: true, Header: emptyHeader{}}, nil
}

// allConsumerOffsets shows all offsets (43), to replicas.
//
// Source: spec/ha.md §3.2.
func (s *Server) allConsumerOffsets(context.Context, *remoting.Peer, *protocol.Command) (*remoting.Response, error) {
	all := s.offsets.snapshot()
	all.Odd = nil
	return jsonAnswer(all), nil
}

// cloneGroupOffset gives a group the offsets of another one (314): of one topic or of all, but for topics that there are not
// and, while the other one is online, those that it does not subscribe. It is on disk when it is answered.
//
// Source: spec/broker.md §6.3, appendix B.
func (s *Server) cloneGroupOffset(_ context.Context, req *remoting.Request[protocol.CloneGroupOffsetRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	if err := validateGroupName(h.DestGroup); err != nil {
		return nil, err
	}
	topics := []string{h.Topic.Value}
	if isBlank(h.Topic.Value) {
		topics = s.offsets.topicsOf(h.SrcGroup)
	}
	online := !h.Offline && len(s.clients.consumers.topicsOf(h.SrcGroup)) > 0
	topics = slices.DeleteFunc(topics, func(topic string) bool {
		_, exists := s.topics.get(topic)
		return !exists || online && s.clients.consumers.subscription(h.SrcGroup, topic, false) == nil
	})
	if err := s.offsets.clone(h.SrcGroup, h.DestGroup, topics); err != nil {
		return nil, err
	}
	s.log.Info().Str("srcGroup", brief(h.SrcGroup)).Str("destGroup", h.DestGroup).Int("topics", len(topics)).
		Str("remoteAddr", req.Peer.RemoteAddr()).Msg("consumer offsets copied")
	return remoting.Success(), nil
}

// groupsOfTopic names the groups that subscribe a topic or have offsets of it (300).
//
// Source: spec/broker.md §6.5.
func (s *Server) groupsOfTopic(_ context.Context, req *remoting.Request[protocol.QueryTopicConsumeByWhoRequestHeader]) (*remoting.Response, error) {
	return jsonAnswer(&protocol.GroupList{GroupList: s.consumersOf(req.Header.Topic)}), nil
}

// consumersOf returns the groups that subscribe a topic or have offsets of it, ordered by name.
func (s *Server) consumersOf(topic string) []string {
	groups := append(s.clients.consumers.groupsOf(topic), s.offsets.groupsOf(topic)...)
	slices.Sort(groups)
	return slices.Compact(groups)
}

// topicsOfGroup names the topics that a group has offsets of (343), whatever it subscribes.
//
// Source: spec/broker.md §6.5.
func (s *Server) topicsOfGroup(_ context.Context, req *remoting.Request[protocol.QueryTopicsByConsumerRequestHeader]) (*remoting.Response, error) {
	topics := s.offsets.topicsOf(req.Header.Group)
	slices.Sort(topics)
	return jsonAnswer(&protocol.TopicList{TopicList: topics, BrokerAddr: &s.identity.addr}), nil
}
