package broker

// Requests about topics: UPDATE_AND_CREATE_TOPIC (17), UPDATE_AND_CREATE_TOPIC_LIST (18, 5.x), DELETE_TOPIC_IN_BROKER (215),
// GET_ALL_TOPIC_CONFIG (21), GET_TOPIC_CONFIG (351, 5.x), GET_SYSTEM_TOPIC_LIST_FROM_BROKER (305).
//
//   - Of 18 all topics are made, or none.
//   - Nobody waits for NameServers: the answer comes when the change is on disk.
//   - 21 is one page of the table for those who ask for one (5.x), and everything for the others.

import (
	"context"
	"errors"
	"strings"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// errNoTopics refuses a list request that has no list.
var errNoTopics = errors.New("CreateTopicListRequestBody: topicConfigList is missing")

// unsetRemark is what the original leaves in the remark of some successful answers.
const unsetRemark = "not set any response code"

// topicUpdated is the answer to 17 and 18.
var topicUpdated = &remoting.Response{Code: protocol.RespSuccess, Remark: unsetRemark, HasRemark: true}

// updateTopic makes or changes a topic (17).
//
// Source: spec/broker.md §3.7.
func (s *Server) updateTopic(_ context.Context, req *remoting.Request[protocol.CreateTopicRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	topic := protocol.TopicConfig{
		TopicName: h.Topic, ReadQueueNums: h.ReadQueueNums, WriteQueueNums: h.WriteQueueNums, Perm: h.Perm,
		TopicFilterType: h.TopicFilterType, TopicSysFlag: h.TopicSysFlag.Or(0), Order: h.Order,
	}
	if err := s.topics.update(topic, h.Attributes.Or("")); err != nil {
		return nil, err
	}
	s.logChange(req.Peer, "topic updated", "topic", h.Topic)
	return topicUpdated, nil
}

// updateTopicList makes or changes topics (18).
//
// Source: spec/broker.md §3.7.
func (s *Server) updateTopicList(_ context.Context, peer *remoting.Peer, cmd *protocol.Command) (*remoting.Response, error) {
	body, err := protocol.DecodeCreateTopicListRequestBody(cmd.Body)
	if err != nil {
		return nil, err
	}
	if body.TopicConfigList == nil {
		return nil, errNoTopics
	}
	if err := s.topics.updateList(body.TopicConfigList); err != nil {
		return nil, err
	}
	s.logChanges(peer, "topics updated", "topics", len(body.TopicConfigList))
	return topicUpdated, nil
}

// deleteTopic removes a topic, the retry topics that pop consumers have for it, and the offsets of both (215). NameServers
// hear of it from the tool, which sends them 216.
//
// Source: spec/broker.md §3.7.
func (s *Server) deleteTopic(_ context.Context, req *remoting.Request[protocol.DeleteTopicRequestHeader]) (*remoting.Response, error) {
	topic := req.Header.Topic
	var retryTopics []string
	if s.conf.Broker().ClearRetryTopicWhenDeleteTopic {
		for _, group := range s.consumersOf(topic) {
			// Pop retry topics of a group for a topic are called like the retry topic of a group "group_topic".
			if _, ok := s.groups.get(group + "_" + topic); !ok {
				retryTopics = append(retryTopics, popRetryTopics(topic, group)...)
			}
		}
	}
	removed, err := s.topics.delete(topic, retryTopics)
	if err != nil {
		return nil, err
	}
	// Nobody can commit offsets of these topics any more. A call that fails here can be made again.
	if err := s.offsets.removeTopics(append(retryTopics, topic)); err != nil {
		return nil, err
	}
	for _, name := range removed {
		s.logChange(req.Peer, "topic deleted", "topic", name)
	}
	return remoting.Success(), nil
}

// allTopics lists topics (21): all, or a page.
//
// Source: spec/broker.md §6.5, spec/ha.md §3.2.
func (s *Server) allTopics(_ context.Context, req *remoting.Request[protocol.GetAllTopicConfigRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	topics, version := s.topics.snapshot()
	from, to := s.page(len(topics), version, h.TopicSeq, h.MaxTopicNum, h.DataVersion)
	mapping := protocol.DataVersion{Timestamp: s.started.UnixMilli()} // of static topics, which there are none of
	body := protocol.TopicConfigAndMappingSerializeWrapper{
		DataVersion: &version, MappingDataVersion: &mapping, TopicConfigTable: deref(topics[from:to]),
	}
	answer := jsonAnswer(&body)
	answer.Header = &protocol.GetAllTopicConfigResponseHeader{TotalTopicNum: protocol.Some(int32(len(topics)))}
	return answer, nil
}

// page returns which part of a table of n entries, ordered by name, is asked for: everything by those who name neither part
// nor version, and with enableSplitMetadata=false. A page begins at 0 if the version that the asker has is another one.
func (s *Server) page(n int, version protocol.DataVersion, seq, size protocol.Opt[int32], known protocol.Opt[string]) (from, to int) {
	b := s.conf.Broker()
	if !b.EnableSplitMetadata || !seq.Present && !size.Present && !known.Present {
		return 0, n
	}
	limit := b.SplitMetadataSize
	if size.Present {
		limit = min(limit, max(0, int(size.Value)))
	}
	if v, err := protocol.DecodeDataVersion([]byte(known.Or("")), 0); err == nil && v == version {
		from = min(max(0, int(seq.Or(0))), n)
	}
	return from, min(from+limit, n)
}

// deref returns what a list points to.
func deref[T any](list []*T) []T {
	copies := make([]T, len(list))
	for i, p := range list {
		copies[i] = *p
	}
	return copies
}

// topicConfig shows one topic (351).
//
// Source: spec/broker.md §6.5.
func (s *Server) topicConfig(_ context.Context, req *remoting.Request[protocol.GetTopicConfigRequestHeader]) (*remoting.Response, error) {
	topic, ok := s.topics.get(req.Header.Topic)
	if !ok {
		return nil, &remoting.Error{
			Code: protocol.RespTopicNotExist, Remark: "No topic in this broker. topic: " + req.Header.Topic,
		}
	}
	return jsonAnswer(topic), nil
}

// systemTopics lists the topics that belong to the system (305).
//
// Source: spec/broker.md §6.5.
func (s *Server) systemTopics(context.Context, *remoting.Peer, *protocol.Command) (*remoting.Response, error) {
	return jsonAnswer(&protocol.TopicList{TopicList: s.topics.systemTopicNames()}), nil
}

// logChange notes what somebody has changed.
func (s *Server) logChange(peer *remoting.Peer, what, key, name string) {
	s.log.Info().Str(key, brief(name)).Str("remoteAddr", peer.RemoteAddr()).Msg(what)
}

// logChanges notes that somebody has changed many things at once.
func (s *Server) logChanges(peer *remoting.Peer, what, key string, n int) {
	s.log.Info().Int(key, n).Str("remoteAddr", peer.RemoteAddr()).Msg(what)
}

// brief is a name as log lines have it: a peer may send megabytes where a name belongs.
func brief(name string) string {
	const longest = 256 // bytes
	if len(name) <= longest {
		return name
	}
	return strings.ToValidUTF8(name[:longest], "") + "…"
}
