package namesrv

import (
	"context"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// Requests for the server's own configuration; both lines of releases have them.
//
//	318 UPDATE_NAMESRV_CONFIG  all or nothing; answered when it is on disk; 16 for keys of the black list
//	319 GET_NAMESRV_CONFIG     "key=value" lines, secrets masked
//
// Source: spec/namesrv.md §11; spec/field-reports.md N49, N50.

// updateConfig changes the configuration as the properties text in the body says. No body, no change.
func (s *Server) updateConfig(_ context.Context, req *remoting.Request[protocol.NoHeader]) (*remoting.Response, error) {
	if len(req.Command.Body) > 0 {
		if err := s.conf.Update(req.Command.Body); err != nil {
			s.log.Warn().Err(err).Str("from", req.Peer.RemoteAddr()).Msg("configuration update refused")
			return nil, err
		}
		s.log.Info().Str("from", req.Peer.RemoteAddr()).Msg("configuration update taken")
	}
	return remoting.Success(), nil
}

// getConfig answers with the whole configuration.
func (s *Server) getConfig(context.Context, *remoting.Request[protocol.NoHeader]) (*remoting.Response, error) {
	return remoting.Body([]byte(s.conf.Text())), nil
}
