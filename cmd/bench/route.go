package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mq-server/mq/protocol"
)

// RouteOptions say which routes a run asks for.
type RouteOptions struct {
	Load    Load
	Brokers Brokers          // registered before the run and unregistered after it, unless Topic is set
	Topic   string           // ask for this existing topic only, and register nothing
	Version protocol.Version // announced in the requests: below 401 the answers have the legacy form
}

// routeSource asks for its topics one after another.
type routeSource struct {
	requests []template
	next     int
}

func (s *routeSource) appendFrame(dst []byte, opaque int32) []byte {
	t := s.requests[s.next]
	if s.next++; s.next == len(s.requests) {
		s.next = 0
	}
	return t.appendFrame(dst, opaque)
}

// RunRoute loads a NameServer with GET_ROUTEINFO_BY_TOPIC (105).
func RunRoute(ctx context.Context, o RouteOptions) (*Report, error) {
	if err := o.Load.check(); err != nil {
		return nil, err
	}
	o.Brokers.kind = kindRoute
	topics := []string{o.Topic}
	var setup map[string]int64
	if o.Topic == "" {
		if err := o.Brokers.check(); err != nil {
			return nil, err
		}
		reg, err := o.Brokers.registerAll(ctx, o.Load.Addr)
		if err != nil {
			return nil, err
		}
		defer reg.leave()
		var wg sync.WaitGroup
		defer wg.Wait()
		keepCtx, stop := context.WithCancel(ctx)
		defer stop()
		wg.Go(func() { reg.keepAlive(keepCtx, 30*time.Second) })
		topics = topics[:0]
		if o.Brokers.OwnTopics {
			for i := range o.Brokers.Count {
				topics = append(topics, o.Brokers.topic(i, i%o.Brokers.Topics))
			}
		} else {
			for t := range o.Brokers.Topics {
				topics = append(topics, o.Brokers.topic(0, t))
			}
		}
		setup = map[string]int64{"brokers": int64(o.Brokers.Count), "topics": int64(o.Brokers.Topics)}
	}
	requests := make([]template, len(topics))
	for i, topic := range topics {
		cmd := newRequest(protocol.ReqGetRouteInfoByTopic, o.Version, protocol.Ext{{Key: "topic", Value: topic}}, nil)
		var err error
		if requests[i], err = newTemplate(cmd); err != nil {
			return nil, fmt.Errorf("topic %s: %w", topic, err)
		}
	}
	sources := make([]frameSource, o.Load.Connections)
	for i := range sources {
		sources[i] = &routeSource{requests: requests, next: i * len(requests) / len(sources)}
	}
	r, err := drive(ctx, o.Load, sources)
	if r != nil {
		r.Kind, r.Setup = o.Brokers.kind.name, setup
	}
	return r, err
}
