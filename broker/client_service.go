package broker

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

const (
	// clientScan is how often the owner of a clientService calls expire.
	clientScan = 10 * time.Second
	// clientSettle is the time between finding clients silent and removing them.
	clientSettle = 250 * time.Millisecond
)

// clientSettings are the settings that clients depend on.
type clientSettings struct {
	NotifyConsumerIDsChanged   bool
	RealTimeNotify             bool // realTimeNotifyConsumerChange
	RejectPullConsumer         bool
	RejectTransactionMessage   bool
	EnableRegisterProducer     bool
	EnablePropertyFilter       bool
	ChannelExpiredTimeout      time.Duration // consumers only; producers have producerTimeout
	SubscriptionExpiredTimeout time.Duration // of subscriptions that came without a heartbeat
}

// groupFinder is what clients need of the table of consumer groups.
type groupFinder interface {
	// get returns a group that there is.
	get(name string) (*protocol.SubscriptionGroupConfig, bool)
	// findAll also makes groups, if that is allowed, and waits for the disk once; nil for a name without an error: there is
	// none and none is to be made.
	findAll(names []string) ([]*protocol.SubscriptionGroupConfig, error)
}

// retryTopics is what clients need of the table of topics.
type retryTopics interface {
	get(name string) (*protocol.TopicConfig, bool)
	// ensureRetryTopics makes retry topics, but for those it refuses. It waits for the disk, once, but not for NameServers.
	ensureRetryTopics(wanted []retryTopic) (refused []error, err error)
}

var (
	_ groupFinder = (*groupTable)(nil)
	_ retryTopics = (*topicTable)(nil)
)

// clientOptions are what a clientService needs. Groups, Topics and Settings are required.
type clientOptions struct {
	Groups     groupFinder
	Topics     retryTopics
	Settings   func() clientSettings
	BrokerName string
	Now        func() time.Time // monotonic; nil: time.Now
	// Compile checks an expression that is not a tag's; nil: the broker filters by tags only.
	Compile func(expressionType, expression string) error
	// Message finds a stored message by its id, in its stored form, for 309; nil: 309 is answered code 3.
	Message func(msgID string) ([]byte, error)
	Log     zerolog.Logger
}

// clientService answers what is asked by and about clients: heartbeats, lists of members, queue locks, questions
// passed on to consumers. Its state is memory only, and whole again within a heartbeat's time after a restart.
//
// All handlers may run on their connection's goroutine. Only a heartbeat that makes a group waits, for the disk; what is
// passed on to consumers is answered later (relay).
type clientService struct {
	clientOptions
	log zerolog.Logger
	few zerolog.Logger // fewLines

	consumers *consumerManager
	producers *producerManager
	locks     *lockManager
	notices   *consumerNotices
	relays    *remoting.Executor
	askers    *remoting.Quota // of relays
	relayed   atomic.Int64    // bytes that relays keep

	relayTimeout  time.Duration // of 307 and 309
	statusTimeout time.Duration // of all 221 of a group
	relayMost     int64         // maxRelayBytes
}

// newClientService wires a service and starts nothing. The owner calls run, connectionClosed, and expire every clientScan.
func newClientService(o clientOptions) *clientService {
	if o.Now == nil {
		o.Now = time.Now
	}
	start := o.Now()
	clock := func() time.Duration { return o.Now().Sub(start) }
	s := &clientService{
		clientOptions: o,
		log:           o.Log,
		few:           fewLines(o.Log),
		consumers:     newConsumerManager(clock),
		producers:     newProducerManager(clock),
		locks:         newLockManager(clock),
		relays:        remoting.NewExecutor("relays", maxRelays, 1),
		askers:        remoting.NewQuota(maxRelaysOfOne),
		relayTimeout:  relayTimeout,
		statusTimeout: statusTimeout,
		relayMost:     maxRelayBytes,
	}
	s.notices = newConsumerNotices(s.tellConsumers, func() bool { return s.Settings().RealTimeNotify })
	return s
}

// run tells consumers of changes until ctx ends, and returns when nothing that it began is under way: connections, which
// relays wait for, have to end by then.
func (s *clientService) run(ctx context.Context) error {
	err := s.notices.run(ctx)
	s.relays.Wait()
	return err
}

// connectionClosed takes the clients of a connection out of their groups. It is remoting.Listener's Closed: the last handler
// of the connection has returned.
func (s *clientService) connectionClosed(peer *remoting.Peer, reason remoting.CloseReason) {
	consumers, producers := s.consumers.closed(peer), s.producers.closed(peer)
	if reason == remoting.CloseShutdown {
		return // all are leaving
	}
	s.consumersChanged(consumers, reason.String())
	s.producersChanged(producers, reason.String())
}

// expire removes silent clients, and closes their connections unless something else is alive on them; it also forgets
// queue locks and subscriptions whose time is over. What clients have sent gets a moment to be read first: after a pause of
// the process all of them have been silent.
func (s *clientService) expire(ctx context.Context) {
	settle := func() bool {
		timer := time.NewTimer(clientSettle)
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	settings := s.Settings()
	consumers := s.consumers.expire(settings.ChannelExpiredTimeout, settle)
	producers := s.producers.expire(settle)
	s.consumersChanged(consumers, "silent")
	s.producersChanged(producers, "silent")
	for _, change := range consumers {
		s.closeIdle(change.left.peer)
	}
	for _, change := range producers {
		s.closeIdle(change.client.peer)
	}
	if n := len(consumers) + len(producers); n > 0 {
		s.log.Warn().Int("consumers", len(consumers)).Int("producers", len(producers)).Msg("clients expired")
	}
	s.locks.expire()
	s.consumers.expireCompensated(settings.SubscriptionExpiredTimeout)
}

// closeIdle closes the connection of a client that expired, if no other client is alive on it.
func (s *clientService) closeIdle(peer *remoting.Peer) {
	if !s.consumers.has(peer) && !s.producers.has(peer) {
		peer.Close()
	}
}

// consumersChanged tells whom it concerns.
func (s *clientService) consumersChanged(changes []consumerChange, why string) {
	enabled := len(changes) > 0 && s.Settings().NotifyConsumerIDsChanged
	for i := range changes {
		c := &changes[i]
		if c.notify && enabled {
			s.notices.offer(c.group)
		}
		s.logMember("consumer", c.group, c.joined, c.left, why)
	}
}

func (s *clientService) producersChanged(changes []producerChange, why string) {
	for i := range changes {
		c := &changes[i]
		if c.joined {
			s.logMember("producer", c.group, &c.client, nil, why)
		} else {
			s.logMember("producer", c.group, nil, &c.client, why)
		}
	}
}

func (s *clientService) logMember(kind, group string, joined, left *client, why string) {
	e := s.log.Debug()
	if !e.Enabled() || joined == nil && left == nil {
		return
	}
	c, msg := joined, kind+" joined"
	if left != nil {
		c, msg = left, kind+" left"
	}
	e.Str("group", group).Str("clientId", c.id).Str("remoteAddr", c.peer.RemoteAddr()).Str("reason", why).Msg(msg)
}
