package broker

// Requests about the broker's configuration, all versions: UPDATE_BROKER_CONFIG (25), GET_BROKER_CONFIG (26).
//
//   - 25 is applied whole or not at all: unknown keys, values that do not apply, and no keys at all are refused. Source of
//     that, and of keys that are forbidden however written: conf.BrokerStore.Update.
//   - Success means that the file has it and that it is in force, or will be at the next start for keys that are not live.

import (
	"context"
	"slices"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// updateConfig changes the configuration (25).
//
// Source: spec/broker.md §6.5.
func (s *Server) updateConfig(_ context.Context, _ *remoting.Peer, cmd *protocol.Command) (*remoting.Response, error) {
	changed, err := s.conf.Update(cmd.Body)
	if err != nil {
		return nil, err
	}
	if slices.Contains(changed, "brokerPermission") {
		err := s.topics.bump() // NameServers compare versions, and this changes what they are told
		s.registrar.registerSoon(true)
		if err != nil {
			return nil, err
		}
	}
	if slices.Contains(changed, "namesrvAddr") {
		s.registrar.serversChanged()
	}
	return remoting.Success(), nil
}

// getConfig shows the configuration (26).
//
// Source: spec/broker.md §6.5.
func (s *Server) getConfig(context.Context, *remoting.Peer, *protocol.Command) (*remoting.Response, error) {
	answer := remoting.Body([]byte(s.conf.Text()))
	answer.Header = &protocol.GetBrokerConfigResponseHeader{Version: s.conf.Version()}
	return answer, nil
}
