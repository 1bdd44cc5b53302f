package namesrv

import (
	"context"
	"errors"
	"strings"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// Requests of brokers.
//
//	103 REGISTER_BROKER            a broker and its topics; also its sign of life
//	104 UNREGISTER_BROKER          it leaves; done when answered, unlike in the 5.x line
//	217 REGISTER_TOPIC_IN_NAMESRV  one topic more (5.x)
//	322 QUERY_DATA_VERSION         do I have to register? Also a sign of life
//	901 GET_BROKER_MEMBER_GROUP    who else has my name (5.x)
//	904 BROKER_HEARTBEAT           a sign of life (5.x); success also for unknown brokers
//
// A request that lacks a field it needs is answered code 1 and changes nothing.
//
// Source: spec/namesrv.md §4.2, §4.3, §5, §6.

// registerBroker takes a registration. A slave learns where its master is; all learn the order topics.
func (s *Server) registerBroker(ctx context.Context, req *remoting.Request[protocol.RegisterBrokerRequestHeader]) (*remoting.Response, error) {
	cfg := s.conf.Namesrv()
	r := &registration{
		header:          req.Header,
		version:         max(req.Command.Version, 0), // N5: a negative version counts as the oldest
		conn:            req.Peer,
		deleteTopics:    cfg.DeleteTopicWithBrokerRegistration,
		notifyMinBroker: cfg.NotifyMinBrokerIDChanged,
	}
	body := req.Command.Body
	res, renewed := s.routes.renew(r, body)
	if !renewed {
		// A body that is the one taken last has the checksum that was right then: only new ones are checked.
		if sum := req.Header.BodyCRC32; sum != 0 && sum != protocol.BodyCRC32(body) {
			return &remoting.Response{
				Code: protocol.RespSystemError, Remark: "crc32 not match", Header: &protocol.RegisterBrokerResponseHeader{},
			}, nil
		}
		var err error
		res, err = s.registerAnew(ctx, r, body)
		switch {
		case errors.Is(err, errFirstRegistrationIncomplete):
			return &remoting.Response{
				Code: protocol.RespSystemError, Remark: err.Error(), Header: &protocol.RegisterBrokerResponseHeader{},
			}, nil
		case err != nil:
			return nil, err
		}
	}
	answer := &remoting.Response{Header: &res.header}
	if cfg.ReturnOrderTopicConfigToBroker {
		if n, ok := s.kv.namespace(orderTopicConfig); ok {
			answer.Body = n.body()
		}
	}
	return answer, nil
}

// registrationText is how many bytes of text the registrations, of brokers and topics, may have together that are being
// decoded and taken at a time; others wait. It is as much as large frames may have, but compressed ones count as what they
// may inflate to: 50 KB can be 700,000 topics, and 100 MB for a moment.
const registrationText = 2 * protocol.DefaultMaxInflated

// registrationWeight is how many bytes of text a registration may turn out to have: a connection has one at a time of those
// that inflate. As many as it may have in flight by their size would keep all others waiting for up to ten seconds.
func registrationWeight(cmd *protocol.Command) int {
	var o protocol.RegisterBodyOptions
	return o.TextSize(cmd.Body)
}

// registerAnew takes a registration that says something new, and logs what it changed.
//
// Errors: those of routeTable.register, *remoting.Error for a body that cannot be read, and ctx's.
func (s *Server) registerAnew(ctx context.Context, r *registration, body []byte) (registered, error) {
	options := protocol.RegisterBodyOptions{
		Version:    r.version,
		Compressed: r.header.Compressed,
		Now:        s.now().UnixMilli(),
		Intern:     s.routes.topicName,
	}
	size := int64(options.TextSize(body))
	if err := s.decoding.Acquire(ctx, size); err != nil {
		return registered{}, err
	}
	defer s.decoding.Release(size)
	b, err := protocol.DecodeRegisterBrokerBody(body, options)
	if err != nil {
		s.logBroker(zerolog.WarnLevel, &r.header).Err(err).Str("from", r.conn.RemoteAddr()).Msg("broker registration cannot be read")
		return registered{}, bodyError("RegisterBrokerBody", err)
	}
	res, err := s.routes.register(r, &b)
	switch {
	case err != nil:
		s.logBroker(zerolog.WarnLevel, &r.header).Str(zerolog.ErrorFieldName, brief(err.Error())).Int("topics", len(b.Topics)).
			Msg("broker registration refused")
	case res.outrankedBy != "":
		s.logBroker(zerolog.WarnLevel, &r.header).Str("masterAddr", brief(res.outrankedBy)).
			Msg("broker registration ignored: another one has its id and a higher stateVersion")
	case res.replaced != "":
		s.logBroker(zerolog.WarnLevel, &r.header).Str("replaced", brief(res.replaced)).Int("topics", len(b.Topics)).
			Msg("broker registered in the place of another")
	case !res.known:
		s.logBroker(zerolog.InfoLevel, &r.header).Int("topics", len(b.Topics)).Msg("broker registered")
	}
	s.notify(res.notices)
	return res, err
}

func (s *Server) logBroker(level zerolog.Level, h *protocol.RegisterBrokerRequestHeader) *zerolog.Event {
	return s.log.WithLevel(level).Str("clusterName", brief(h.ClusterName)).Str("brokerName", brief(h.BrokerName)).
		Int64("brokerId", h.BrokerID).Str("brokerAddr", brief(h.BrokerAddr))
}

// brief is s as log lines have it: a peer may send megabytes where a name belongs.
func brief(s string) string {
	const longest = 256 // bytes
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…"
}

func (s *Server) notify(notices []notice) {
	for _, n := range notices {
		s.notices.offer(n)
	}
}

// bodyError is the answer to a body that cannot be read. It begins as the original's does, less the name of its class.
func bodyError(class string, err error) error {
	var be *protocol.BodyError
	if errors.As(err, &be) {
		err = be.Err
	}
	return &remoting.Error{Code: protocol.RespSystemError, Remark: "Failed to decode " + class + ": " + err.Error()}
}

// unregisterBroker removes a broker. That it is not there is no error.
func (s *Server) unregisterBroker(_ context.Context, req *remoting.Request[protocol.UnRegisterBrokerRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	notices, found := s.routes.unregister(h.BrokerName, h.BrokerAddr, s.conf.Namesrv().NotifyMinBrokerIDChanged)
	if found {
		s.log.Info().Str("clusterName", brief(h.ClusterName)).Str("brokerName", brief(h.BrokerName)).
			Str("brokerAddr", brief(h.BrokerAddr)).Msg("broker unregistered")
	}
	s.notify(notices)
	return remoting.Success(), nil
}

// registerTopic sets what brokers have of one topic. Brokers that are unknown are passed over, with success as in
// the original; no body, or one without queues, changes nothing.
func (s *Server) registerTopic(ctx context.Context, req *remoting.Request[protocol.RegisterTopicRequestHeader]) (*remoting.Response, error) {
	size := int64(len(req.Command.Body))
	if size == 0 {
		return remoting.Success(), nil
	}
	if err := s.decoding.Acquire(ctx, size); err != nil {
		return nil, err
	}
	defer s.decoding.Release(size)
	route, err := protocol.DecodeTopicRouteData(req.Command.Body)
	if err != nil && !errors.Is(err, protocol.ErrNullBody) {
		return nil, bodyError("TopicRouteData", err)
	}
	taken := s.routes.registerTopic(req.Header.Topic, route.QueueDatas)
	if !taken && len(route.QueueDatas) > 0 {
		s.log.Warn().Str("topic", brief(req.Header.Topic)).Str("from", req.Peer.RemoteAddr()).Msg("topic not registered: its broker is unknown")
	}
	return remoting.Success(), nil
}

// queryDataVersion says whether a broker's data version, from the body, differs from the one it registered, and
// answers with that. No version differs from any.
func (s *Server) queryDataVersion(_ context.Context, req *remoting.Request[protocol.QueryDataVersionRequestHeader]) (*remoting.Response, error) {
	var version *protocol.DataVersion
	if len(req.Command.Body) > 0 {
		v, err := protocol.DecodeDataVersion(req.Command.Body, s.now().UnixMilli())
		switch {
		case err == nil:
			version = &v
		case !errors.Is(err, protocol.ErrNullBody):
			return nil, bodyError("DataVersion", err)
		}
	}
	stored, changed := s.routes.queryDataVersion(&req.Header, version)
	answer := &remoting.Response{Header: &protocol.QueryDataVersionResponseHeader{Changed: changed}}
	if stored != nil {
		answer.Body = stored.AppendJSON(nil, protocol.FormDefault)
	}
	return answer, nil
}

// brokerMemberGroup lists the brokers of a name; none if it is unknown. The cluster is only repeated.
func (s *Server) brokerMemberGroup(_ context.Context, req *remoting.Request[protocol.GetBrokerMemberGroupRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	group := protocol.BrokerMemberGroup{}
	if h.ClusterName.Present {
		group.Cluster = &h.ClusterName.Value
	}
	if h.BrokerName.Present {
		group.BrokerName = &h.BrokerName.Value
		group.BrokerAddrs = s.routes.memberGroup(h.BrokerName.Value)
	}
	body := protocol.GetBrokerMemberGroupResponseBody{BrokerMemberGroup: &group}
	return remoting.Body(body.AppendJSON(nil, jsonForm(h.AcceptStandardJSONOnly))), nil
}

// brokerHeartbeat notes that a broker is alive. An unknown one is not told so, as in the original, but the log is.
func (s *Server) brokerHeartbeat(_ context.Context, req *remoting.Request[protocol.BrokerHeartbeatRequestHeader]) (*remoting.Response, error) {
	if h := &req.Header; !s.routes.heartbeat(h.ClusterName, h.BrokerAddr) {
		s.log.Debug().Str("clusterName", brief(h.ClusterName)).Str("brokerAddr", brief(h.BrokerAddr)).Msg("heartbeat of an unknown broker")
	}
	return remoting.Success(), nil
}
