package broker

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

const (
	// leaveTimeout is how long the NameServers have to take note that the broker leaves, all at a time.
	leaveTimeout = 2 * time.Second
	// stopTimeout is how long handlers may take to finish, and answers to be written, once the listeners are closed.
	stopTimeout = 800 * time.Millisecond
)

// Options is what a Server needs. Main, Fast and Config are required.
type Options struct {
	// Main and Fast are where requests come in: listenPort, and the port for clients with vipChannelEnabled. The server
	// owns them once New has succeeded. Config must know the port of Main (conf.BrokerStore.SetListenPort).
	Main, Fast net.Listener
	// Config is read live where its keys are, and changed by UPDATE_BROKER_CONFIG (25).
	Config *conf.BrokerStore
	// TLS decides about TLS on the listeners. nil: plain connections only.
	TLS *remoting.TLS
	// Client is how connections to NameServers are made.
	Client remoting.ClientConfig
	// Codec is the header encoding of answers and of what clients are sent; the zero value is JSON, the original's default.
	Codec protocol.Codec
	// ZoneName and ZoneMode go to the NameServers with every request, unless they are "" (ROCKETMQ_ZONE, ROCKETMQ_ZONE_MODE).
	ZoneName, ZoneMode string
	Log                zerolog.Logger
	// Now is the clock of clients' liveness and of data versions; nil: time.Now. It should be monotonic.
	Now func() time.Time
}

// Server is a broker. Get one from New, and call Run once.
type Server struct {
	conf     *conf.BrokerStore
	tls      *remoting.TLS
	log      zerolog.Logger
	few      zerolog.Logger // fewLines
	now      func() time.Time
	started  time.Time
	identity identity

	zoneName, zoneMode string

	topics    *topicTable
	groups    *groupTable
	offsets   *offsetTable
	clients   *clientService
	registrar *registrar
	client    *remoting.Client // towards NameServers
	lock      *os.File         // of the store's folder; closed by Run

	main, fast *remoting.Server
	work       workQueues

	// replication is what NameServers last said about the master of this broker's name; nil: nothing yet.
	replication       atomic.Pointer[registrationResult]
	firstRegistration chan struct{} // closed by registered
}

// New checks the options, locks the folder of what is stored, loads it, and wires a server. It starts nothing. It is an error
// if another broker works in that folder.
func New(o Options) (_ *Server, err error) {
	if o.Main == nil || o.Fast == nil || o.Config == nil {
		return nil, errors.New("broker: two listeners and a configuration are needed")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	cfg := o.Config.Snapshot()
	lock, err := lockStore(cfg.Store.StorePathRootDir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = lock.Close()
		}
	}()
	s := &Server{
		conf:     o.Config,
		lock:     lock,
		tls:      o.TLS,
		log:      o.Log,
		few:      fewLines(o.Log),
		now:      o.Now,
		started:  o.Now(),
		identity: newIdentity(cfg),
		work:     newWorkQueues(&cfg.Broker),
		client:   remoting.NewClient(o.Client),
		zoneName: o.ZoneName, zoneMode: o.ZoneMode,
		firstRegistration: make(chan struct{}),
	}
	s.registrar = newRegistrar(registrarConfig{
		Member:   s.identity.member,
		Settings: s.registrarSettings,
		Topics:   func() ([]*protocol.TopicConfig, protocol.DataVersion) { return s.topics.snapshot() },
		Connect:  s.connect,
		Result:   s.registered,
		Log:      o.Log,
	})
	dir := configDir(cfg)
	s.topics, err = openTopics(topicOptions{
		Dir: dir, Settings: s.topicSettings, Changed: s.registrar.topicsChanged, Now: o.Now, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	if s.groups, err = openGroups(groupOptions{Dir: dir, Settings: s.groupSettings, Now: o.Now, Log: o.Log}); err != nil {
		return nil, err
	}
	if s.offsets, err = openOffsets(offsetOptions{Dir: dir, Settings: s.offsetSettings, Now: o.Now, Log: o.Log}); err != nil {
		return nil, err
	}
	s.clients = newClientService(clientOptions{
		Groups: s.groups, Topics: s.topics, Settings: s.clientSettings, BrokerName: s.identity.name,
		Now: o.Now, Log: o.Log,
	})
	table := s.handlers()
	if s.main, err = s.newRemoting(o.Main, table, o.Codec); err != nil {
		return nil, err
	}
	s.fast, err = s.newRemoting(o.Fast, table, o.Codec)
	return s, err
}

// fewLines returns a logger for what one client can have logged with each request: some lines a second are enough.
func fewLines(log zerolog.Logger) zerolog.Logger {
	return log.Sample(&zerolog.BurstSampler{Burst: 10, Period: time.Second})
}

// newRemoting returns the server of one port.
func (s *Server) newRemoting(ln net.Listener, table remoting.Table, codec protocol.Codec) (*remoting.Server, error) {
	cfg := s.conf.Snapshot()
	return remoting.NewServer(ln, remoting.ServerConfig{
		Table:         table,
		Default:       &remoting.Entry{Handler: remoting.Unsupported},
		Errors:        errorCodes,
		Listener:      s,
		Log:           s.log,
		TLS:           s.tls,
		Codec:         codec,
		Idle:          func() time.Duration { return s.conf.Server().Idle() },
		Limits:        remoting.Limits{Invokes: maxRelays},
		SendBuffer:    cfg.Server.ServerSocketSndBufSize,
		ReceiveBuffer: cfg.Server.ServerSocketRcvBufSize,
		Drain:         func() time.Duration { return s.conf.Server().Drain() },
		StopTime:      stopTimeout,
	})
}

// connect returns the connection to a NameServer.
func (s *Server) connect(ctx context.Context, addr string) (namesrvConn, error) {
	peer, err := s.client.Connect(ctx, addr)
	if err != nil {
		return nil, err // not a nil *Peer in an interface
	}
	return peer, nil
}

// Addr is the address of the main port.
func (s *Server) Addr() net.Addr { return s.main.Addr() }

// FastAddr is the address of the port for clients with vipChannelEnabled.
func (s *Server) FastAddr() net.Addr { return s.fast.Addr() }

// Registered is closed once a NameServer knows the broker.
func (s *Server) Registered() <-chan struct{} { return s.firstRegistration }

// Run serves on the listeners given to New until ctx ends or a part fails, and closes them. It returns nil after ctx ends,
// else the first failure. Call it once.
//
// When ctx ends the broker first leaves all NameServers at a time, so that clients learn of it while they are still served,
// then its ports, then the rest (spec/broker.md §8). That takes less than 3 s, however silent NameServers are, unless
// enableShutdownGracefully asks for more. Consumer offsets are written last; all else that was answered with success is on
// disk already.
func (s *Server) Run(ctx context.Context) error {
	g, all := errgroup.WithContext(context.WithoutCancel(ctx))
	registering, stopRegistering := context.WithCancel(all)
	serving, stopServing := context.WithCancel(all)
	background, stopBackground := context.WithCancel(all) // outlives serving: requests under way need it
	defer stopBackground()
	defer stopServing()
	defer stopRegistering()
	defer context.AfterFunc(ctx, stopRegistering)()

	g.Go(func() error {
		defer stopServing()
		err := s.registrar.run(registering)
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
		defer cancel()
		s.registrar.unregisterAll(leaving)
		return err
	})
	g.Go(func() error {
		defer stopBackground()
		ports, serving := errgroup.WithContext(serving)
		ports.Go(func() error { return s.main.Run(serving) })
		ports.Go(func() error { return s.fast.Run(serving) })
		return ports.Wait()
	})
	g.Go(func() error { return s.clientScanLoop(serving) })
	g.Go(func() error { return s.waterMarkLoop(serving) })
	g.Go(func() error { return s.fastFailureLoop(serving) })
	g.Go(func() error { return s.clients.run(background) })
	g.Go(func() error { return s.offsets.saveLoop(background) })
	if s.tls != nil {
		g.Go(func() error { return s.tls.Watch(background) })
	}
	err := errors.Join(g.Wait(), s.offsets.save())
	s.client.Close()
	_ = s.lock.Close() // the last thing: the next broker may begin
	return err
}

// Connected implements remoting.Listener. Connections mean nothing until a client sends a heartbeat on one.
func (s *Server) Connected(*remoting.Peer) {}

// Closed implements remoting.Listener: the clients of a connection leave with it.
func (s *Server) Closed(peer *remoting.Peer, reason remoting.CloseReason) {
	s.clients.connectionClosed(peer, reason)
}

// registered takes over what NameServers answer to registrations: where the master is, for the replication to come, and
// which topics are ordered. Source: spec/broker.md §4.8.
func (s *Server) registered(result registrationResult) {
	last := s.replication.Swap(&result)
	if last == nil {
		last = &registrationResult{}
		close(s.firstRegistration)
	}
	if last.MasterAddr != result.MasterAddr || last.HAServerAddr != result.HAServerAddr {
		s.log.Info().Str("masterAddr", result.MasterAddr).Str("haServerAddr", result.HAServerAddr).Msg("NameServers know the master as")
	}
	if result.Order == nil {
		return
	}
	if err := s.topics.setOrder(result.Order.Table); err != nil {
		s.log.Error().Err(err).Msg("order configuration of the NameServers is not applied")
	}
}

// The settings of the parts, at this moment.

func (s *Server) topicSettings() topicSettings {
	cfg := s.conf.Snapshot()
	b := &cfg.Broker
	return topicSettings{
		BrokerName:                         b.BrokerName,
		ClusterName:                        b.BrokerClusterName,
		AutoCreateTopicEnable:              b.AutoCreateTopicEnable,
		DefaultTopicQueueNums:              int32(b.DefaultTopicQueueNums),
		ClusterTopicEnable:                 b.ClusterTopicEnable,
		BrokerTopicEnable:                  b.BrokerTopicEnable,
		TraceTopicEnable:                   b.TraceTopicEnable,
		MsgTraceTopicName:                  b.MsgTraceTopicName,
		ReviveQueueNum:                     int32(b.ReviveQueueNum),
		TimerWheelEnable:                   cfg.Store.TimerWheelEnable,
		EnableMixedMessageType:             b.EnableMixedMessageType,
		ValidateSystemTopicWhenUpdateTopic: b.ValidateSystemTopicWhenUpdateTopic,
	}
}

func (s *Server) groupSettings() groupSettings {
	b := s.conf.Broker()
	return groupSettings{
		AutoCreateSubscriptionGroup: b.AutoCreateSubscriptionGroup, EnableCreateSysGroup: b.EnableCreateSysGroup,
	}
}

func (s *Server) offsetSettings() offsetSettings {
	b := s.conf.Broker()
	return offsetSettings{FlushInterval: b.FlushConsumerOffsetInterval, VersionStep: b.ConsumerOffsetUpdateVersionStep}
}

func (s *Server) clientSettings() clientSettings {
	b := s.conf.Broker()
	return clientSettings{
		NotifyConsumerIDsChanged:   b.NotifyConsumerIDsChangedEnable,
		RealTimeNotify:             b.RealTimeNotifyConsumerChange,
		RejectPullConsumer:         b.RejectPullConsumerEnable,
		RejectTransactionMessage:   b.RejectTransactionMessage,
		EnableRegisterProducer:     b.EnableRegisterProducer,
		EnablePropertyFilter:       b.EnablePropertyFilter,
		ChannelExpiredTimeout:      b.ChannelExpiredTimeout,
		SubscriptionExpiredTimeout: b.SubscriptionExpiredTimeout,
	}
}

func (s *Server) registrarSettings() registrarSettings {
	settings := newRegistrarSettings(s.conf.Broker())
	settings.ZoneName, settings.ZoneMode = s.zoneName, s.zoneMode
	return settings
}
