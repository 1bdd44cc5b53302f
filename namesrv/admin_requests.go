package namesrv

import (
	"context"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// Requests of tools about brokers and topics; both lines of releases have them.
//
//	106 GET_BROKER_CLUSTER_INFO             all clusters, brokers and addresses
//	205 WIPE_WRITE_PERM_OF_BROKER           no more writing to a broker's topics
//	327 ADD_WRITE_PERM_OF_BROKER            the end of that (4.9.2)
//	206 GET_ALL_TOPIC_LIST_FROM_NAMESERVER  all topics; switch enableAllTopicList
//	216 DELETE_TOPIC_IN_NAMESRV             in one cluster or in all
//	224 GET_TOPICS_BY_CLUSTER               switch enableTopicList, as for the next but one
//	304 GET_SYSTEM_TOPIC_LIST_FROM_NS       names of clusters and brokers
//	311, 312, 313                           topics by the unit flags of their first broker
//
// Source: spec/namesrv.md §4.3.

// clusterInfo answers with a ClusterInfo, in strict JSON for whoever asks for it.
func (s *Server) clusterInfo(_ context.Context, req *remoting.Request[protocol.GetBrokerClusterInfoRequestHeader]) (*remoting.Response, error) {
	info := s.routes.clusterInfo()
	return remoting.Body(info.AppendJSON(nil, jsonForm(req.Header.AcceptStandardJSONOnly))), nil
}

// wipeWritePerm answers with the number of the broker's topics, none for an unknown one.
func (s *Server) wipeWritePerm(_ context.Context, req *remoting.Request[protocol.WipeWritePermOfBrokerRequestHeader]) (*remoting.Response, error) {
	header := protocol.WipeWritePermOfBrokerResponseHeader{}
	if name := req.Header.BrokerName; name.Present {
		header.WipeTopicCount = int32(s.routes.wipeWritePerm(name.Value))
		s.log.Info().Str("brokerName", brief(name.Value)).Int32("topics", header.WipeTopicCount).Msg("write permission of broker wiped")
	}
	return &remoting.Response{Header: &header}, nil
}

// addWritePerm answers with the number of the broker's topics, none for an unknown one.
func (s *Server) addWritePerm(_ context.Context, req *remoting.Request[protocol.AddWritePermOfBrokerRequestHeader]) (*remoting.Response, error) {
	header := protocol.AddWritePermOfBrokerResponseHeader{}
	if name := req.Header.BrokerName; name.Present {
		header.AddTopicCount = int32(s.routes.addWritePerm(name.Value))
		s.log.Info().Str("brokerName", brief(name.Value)).Int32("topics", header.AddTopicCount).Msg("write permission of broker given back")
	}
	return &remoting.Response{Header: &header}, nil
}

// deleteTopic removes a topic from one cluster, or from all. It returns with the next registration of a broker
// that has it.
func (s *Server) deleteTopic(_ context.Context, req *remoting.Request[protocol.DeleteTopicFromNamesrvRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	if s.routes.deleteTopic(h.Topic, h.ClusterName) {
		s.log.Info().Str("topic", brief(h.Topic)).Str("clusterName", brief(h.ClusterName)).Str("from", req.Peer.RemoteAddr()).Msg("topic deleted")
	}
	return remoting.Success(), nil
}

func topicList(topics []string) *remoting.Response {
	list := protocol.TopicList{TopicList: topics}
	return remoting.Body(list.AppendJSON(nil, protocol.FormDefault))
}

func (s *Server) allTopics(context.Context, *remoting.Request[protocol.NoHeader]) (*remoting.Response, error) {
	if !s.conf.Namesrv().EnableAllTopicList {
		return nil, ErrDisabled
	}
	return topicList(s.routes.allTopics()), nil
}

// topicsByCluster answers with an empty list for an unknown or missing cluster.
func (s *Server) topicsByCluster(_ context.Context, req *remoting.Request[protocol.GetTopicsByClusterRequestHeader]) (*remoting.Response, error) {
	if !s.conf.Namesrv().EnableTopicList {
		return nil, ErrDisabled
	}
	topics := []string{}
	if name := req.Header.Cluster; name.Present {
		topics = s.routes.topicsByCluster(name.Value)
	}
	return topicList(topics), nil
}

func (s *Server) systemTopics(context.Context, *remoting.Request[protocol.NoHeader]) (*remoting.Response, error) {
	list := s.routes.systemTopics()
	return remoting.Body(list.AppendJSON(nil, protocol.FormDefault)), nil
}

// unitTopics lists the topics that have all bits of with and none of without.
func (s *Server) unitTopics(with, without int32) func(context.Context, *remoting.Request[protocol.NoHeader]) (*remoting.Response, error) {
	return func(context.Context, *remoting.Request[protocol.NoHeader]) (*remoting.Response, error) {
		if !s.conf.Namesrv().EnableTopicList {
			return nil, ErrDisabled
		}
		return topicList(s.routes.unitTopics(with, without)), nil
	}
}
