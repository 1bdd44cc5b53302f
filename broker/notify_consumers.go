package broker

// NOTIFY_CONSUMER_IDS_CHANGED (40, one-way, to consumers), all versions.
//
//   - Every client of a group is told once, over its newest connection, that the group's members or topics have changed;
//     so is the one that caused the change.
//   - Who is to be told at all is decided where the change happens (consumerChange.notify).
//   - realTimeNotifyConsumerChange=false: changes are collected and told every 15 s, first after 30 s.
//   - A round is never cut short by the next change, as it is in the original, where the last ones of a large group may
//     wait for ever: changes that come meanwhile are told by one further round.

import (
	"context"
	"sync"
	"time"

	"github.com/mq-server/mq/protocol"
)

const (
	firstNoticeBatch = 30 * time.Second
	noticeBatches    = 15 * time.Second

	// After telling n clients a group rests for n times restPerClient, and restMost at most: each of them answers by
	// asking for the list of all, which makes the start of a large group a storm.
	restPerClient = 100 * time.Microsecond
	restMost      = time.Second
	// restFrom is the number of clients below which a group needs no rest.
	restFrom = 50
)

// consumerNotices tells consumers of changes in their groups. One goroutine, that of run, sends. A group that changes again
// before it is told is told once, so that what waits is bounded by the number of groups.
//
// Source: spec/broker.md §5.5.
type consumerNotices struct {
	tell     func(group string) (clients int) // sends without waiting
	realTime func() bool                      // realTimeNotifyConsumerChange

	wake chan struct{} // capacity 1: changed may have something new

	mu      sync.Mutex
	changed map[string]struct{} // groups to be told; guarded by mu
}

func newConsumerNotices(tell func(group string) int, realTime func() bool) *consumerNotices {
	return &consumerNotices{
		tell: tell, realTime: realTime, wake: make(chan struct{}, 1), changed: map[string]struct{}{},
	}
}

// offer lets a group be told soon. It never waits.
func (n *consumerNotices) offer(group string) {
	n.mu.Lock()
	n.changed[group] = struct{}{}
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default: // run is about to look anyway
	}
}

// run sends until ctx ends.
func (n *consumerNotices) run(ctx context.Context) error {
	resting := map[string]time.Time{} // groups that were told, and until when they rest
	batch := time.Now().Add(firstNoticeBatch)
	timer := time.NewTimer(firstNoticeBatch)
	defer timer.Stop()
	for ctx.Err() == nil {
		due := n.realTime()
		if now := time.Now(); !now.Before(batch) {
			batch = now.Add(noticeBatches)
			clear(resting)
			due = true
		}
		next := batch
		if due {
			n.round(ctx, resting)
			for _, until := range resting {
				if until.Before(next) {
					next = until
				}
			}
		}
		timer.Reset(time.Until(next))
		select {
		case <-n.wake:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// round tells all groups that changed and do not rest.
func (n *consumerNotices) round(ctx context.Context, resting map[string]time.Time) {
	now := time.Now()
	for group, until := range resting {
		if !now.Before(until) {
			delete(resting, group)
		}
	}
	for _, group := range n.take(resting) {
		if ctx.Err() != nil {
			return
		}
		if clients := n.tell(group); clients >= restFrom {
			resting[group] = time.Now().Add(min(time.Duration(clients)*restPerClient, restMost))
		}
	}
}

// take removes the groups that changed and do not rest.
func (n *consumerNotices) take(resting map[string]time.Time) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var groups []string
	for group := range n.changed {
		if _, rests := resting[group]; !rests {
			groups = append(groups, group)
			delete(n.changed, group)
		}
	}
	return groups
}

// tellConsumers sends 40 to the clients of a group, and returns how many there are. A client that does not take it rebalances
// without, some seconds later.
func (s *clientService) tellConsumers(group string) int {
	header := protocol.NotifyConsumerIDsChangedRequestHeader{ConsumerGroup: group}
	cmd := &protocol.Command{Code: int32(protocol.ReqNotifyConsumerIDsChanged), Ext: header.AppendExt(nil)}
	clients := s.consumers.clients(group)
	for _, c := range clients {
		if err := c.peer.Oneway(context.Background(), cmd); err != nil {
			s.log.Debug().Err(err).Str("consumerGroup", group).Str("clientId", c.id).Msg("consumer not told of a change of its group")
		}
	}
	return len(clients)
}
