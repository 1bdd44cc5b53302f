package namesrv

import (
	"context"
	"strings"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// Requests for routes.
//
//	105 GET_ROUTEINFO_BY_TOPIC  where a topic lives; 17 when nobody serves it, 1 during the warm-up
//
// From version 401 (4.9.4) on, and for whoever asks for it, in strict JSON, else with bare numbers as names.
//
// Source: spec/namesrv.md §4.4, §4.6, §7, §9.

// routeInfo answers with a TopicRouteData.
func (s *Server) routeInfo(_ context.Context, req *remoting.Request[protocol.GetRouteInfoRequestHeader]) (*remoting.Response, error) {
	cfg := s.conf.Namesrv()
	if cfg.NeedWaitForService && s.now().Sub(s.started) < cfg.WaitForService() {
		return nil, ErrNotReady
	}
	h := &req.Header
	q := routeQuery{
		form:         jsonForm(h.AcceptStandardJSONOnly || req.Command.Version >= protocol.Version4_9_4),
		actingMaster: cfg.SupportActingMaster,
		zone:         zoneFilter(h.ZoneMode, h.ZoneName),
	}
	if cfg.OrderMessageEnable {
		q.orderConf = s.orderConf(h.Topic)
	}
	if h.Topic.Present {
		if route := s.routes.route(h.Topic.Value, q); route != nil {
			return route, nil
		}
	}
	return nil, s.unknownTopic(h.Topic)
}

// unknownTopic is the error for a topic without brokers. A server that stops cannot say so: the topic's
// brokers may just be registering elsewhere (spec/field-reports.md N39).
func (s *Server) unknownTopic(topic protocol.Opt[string]) error {
	if s.stopping.Load() {
		return ErrNotReady
	}
	return errTopicNotExist(topic)
}

// orderConf is the order configuration of a topic, if it has one.
func (s *Server) orderConf(topic protocol.Opt[string]) protocol.Opt[string] {
	value, ok := s.kv.get(orderTopicConfig, topic.Value)
	return protocol.Opt[string]{Value: value, Present: ok && topic.Present}
}

func jsonForm(strict bool) protocol.JSONForm {
	if strict {
		return protocol.FormStrict
	}
	return protocol.FormDefault
}

// routeInfoOrProduction is routeInfo in cluster-test mode: without warm-up, always with the order configuration, in
// default JSON unless the other is asked for by name, and with the production environment's answer for topics
// that are unknown here. Those questions wait on an executor of their own and hold up nobody; a connection has a few at a time,
// and more are answered SYSTEM_BUSY.
func (s *Server) routeInfoOrProduction(_ context.Context, req *remoting.Request[protocol.GetRouteInfoRequestHeader]) (*remoting.Response, error) {
	cfg := s.conf.Namesrv()
	h := &req.Header
	form := jsonForm(h.AcceptStandardJSONOnly)
	if !h.Topic.Present {
		return nil, s.unknownTopic(h.Topic)
	}
	route := s.routes.route(h.Topic.Value, routeQuery{
		form:         form,
		actingMaster: cfg.SupportActingMaster,
		orderConf:    s.orderConf(h.Topic),
		zone:         zoneFilter(h.ZoneMode, h.ZoneName),
	})
	if route != nil {
		return route, nil
	}
	_, forwarded := req.Command.Ext.Get(forwardedBy)
	if forwarded || s.stopping.Load() || req.Command.IsOneway() || len(h.Topic.Value) > longestTopic {
		return nil, s.unknownTopic(h.Topic)
	}

	// To the connection's own limits the request is done when this handler returns.
	peer, opaque := req.Peer, req.Command.Opaque
	if !s.production.asking.Take(peer) {
		return nil, remoting.ErrOverload
	}
	topic := protocol.Some(strings.Clone(h.Topic.Value)) // it is a part of the request's header, which may be large
	taken := s.lookups.Go(func() {
		defer s.production.asking.Give(peer)
		var resp *remoting.Response
		if route, err := s.production.route(peer.Context(), topic.Value); err == nil {
			resp = remoting.Body(route.AppendJSON(nil, form))
		} else {
			unknown := errTopicNotExist(topic)
			resp = &remoting.Response{Code: unknown.Code, Remark: unknown.Remark}
		}
		_ = peer.Respond(opaque, resp) // it fails if the peer is gone
	})
	if !taken {
		s.production.asking.Give(peer)
		return nil, remoting.ErrOverload
	}
	return nil, nil
}
