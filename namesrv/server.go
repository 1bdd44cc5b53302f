package namesrv

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// Options is what a Server needs. Listener and Config are required.
type Options struct {
	// Listener is where requests come in. The server owns it once New has succeeded.
	Listener net.Listener
	// Config is read live where spec/namesrv.md §1.3 says so, and changed by UPDATE_NAMESRV_CONFIG (318).
	Config *conf.Store
	// TLS decides about TLS on the listener. nil: plain connections only.
	TLS *remoting.TLS
	// Client is how connections to brokers, and to the production environment, are made.
	Client remoting.ClientConfig
	// Codec is the header encoding of answers; the zero value is JSON, the original's default.
	Codec protocol.Codec
	Log   zerolog.Logger
	// Production is where cluster-test mode (clusterTest=true) finds the production environment.
	Production Production
	// Now is the clock that liveness and the warm-up are measured with; nil: time.Now. It should be monotonic.
	Now func() time.Time
}

// Server is a NameServer. Get one from New, and call Run once.
type Server struct {
	conf         *conf.Store
	tls          *remoting.TLS
	log          zerolog.Logger
	now          func() time.Time
	started      time.Time // the warm-up counts from here
	scanInterval time.Duration

	routes     *routeTable
	kv         *kvStore
	rpc        *remoting.Server
	client     *remoting.Client // notices to brokers, questions to the production environment
	notices    *notifier
	production *production // nil unless clusterTest

	changes *remoting.Executor // changes of the route table, registrations above all
	lists   *remoting.Executor // long answers
	disk    *remoting.Executor // what waits for the disk: KV and configuration changes
	lookups *remoting.Executor // questions to the production environment

	decoding *semaphore.Weighted // bytes of text, see registrationText

	stopping atomic.Bool // set once Run's context has ended: routes are kept as they are, and none is called unknown
}

// New checks the options, loads the KV configuration and wires a server. It starts nothing.
func New(o Options) (*Server, error) {
	if o.Listener == nil || o.Config == nil {
		return nil, errors.New("namesrv: a listener and a configuration are needed")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	cfg := o.Config.Snapshot()
	started := o.Now()
	s := &Server{
		conf:         o.Config,
		tls:          o.TLS,
		log:          o.Log,
		now:          o.Now,
		started:      started,
		scanInterval: cfg.Namesrv.ScanInterval(),
		routes:       newRouteTable(func() time.Duration { return o.Now().Sub(started) }, 0),
		client:       remoting.NewClient(o.Client),
	}
	var err error
	if s.kv, err = openKVStore(cfg.Namesrv.KVConfigPath, o.Log); err != nil {
		return nil, err
	}
	s.notices = newNotifier(s.client, o.Log)
	if cfg.Namesrv.ClusterTest {
		s.production = newProduction(o.Production, cfg.Namesrv.ProductEnvName, o.Listener.Addr().String(), s.client, o.Log)
	}

	s.decoding = semaphore.NewWeighted(registrationText)
	workers, queue := cfg.Namesrv.DefaultThreadPoolNums, cfg.Namesrv.DefaultThreadPoolQueueCap
	// Registrations are work for processors only, and routes want one for themselves.
	s.changes = remoting.NewExecutor("changes", min(workers, max(1, runtime.GOMAXPROCS(0)-1)), queue)
	s.lists = remoting.NewExecutor("lists", min(workers, max(1, runtime.GOMAXPROCS(0)-1)), queue)
	s.disk = remoting.NewExecutor("disk", workers, queue)
	s.lookups = remoting.NewExecutor("lookups", cfg.Namesrv.ClientRequestThreadPoolNums, cfg.Namesrv.ClientRequestThreadPoolQueueCap)

	s.rpc, err = remoting.NewServer(o.Listener, remoting.ServerConfig{
		Table:         s.handlers(),
		Default:       &remoting.Entry{Handler: remoting.Unsupported},
		Errors:        errorCodes,
		Listener:      s,
		Log:           o.Log,
		TLS:           o.TLS,
		Codec:         o.Codec,
		Idle:          func() time.Duration { return o.Config.Server().Idle() },
		SendBuffer:    cfg.Server.ServerSocketSndBufSize,
		ReceiveBuffer: cfg.Server.ServerSocketRcvBufSize,
		Drain:         func() time.Duration { return o.Config.Server().Drain() },
	})
	return s, err
}

// Addr is the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.rpc.Addr() }

// Run serves on the listener given to New until ctx ends or a part fails, and closes it. It returns nil after
// ctx ends, else the first failure. Call it once.
//
// When ctx ends, answers stay what they were until the last connection is closed: no broker leaves any more
// because its connection does, so that nobody is told of a topic without brokers by a server on its way out
// (spec/field-reports.md N39).
func (s *Server) Run(ctx context.Context) error {
	g, all := errgroup.WithContext(context.WithoutCancel(ctx))
	serving, stopServing := context.WithCancel(all)
	background, stopBackground := context.WithCancel(all) // outlives serving: requests under way need it
	defer stopServing()
	defer stopBackground()

	g.Go(func() error {
		select {
		case <-ctx.Done():
		case <-all.Done():
		}
		s.stopping.Store(true)
		stopServing()
		return nil
	})
	g.Go(func() error {
		defer stopBackground()
		return s.rpc.Run(serving)
	})
	g.Go(func() error { return s.scanLoop(serving) })
	g.Go(func() error { return s.printLoop(serving) })
	g.Go(func() error { return s.waterMarkLoop(serving) })
	g.Go(func() error { return s.kv.run(background) })
	g.Go(func() error { return s.notices.run(background) })
	if s.production != nil {
		g.Go(func() error { return s.production.run(background) })
	}
	if s.tls != nil {
		g.Go(func() error { return s.tls.Watch(background) })
	}
	err := g.Wait()
	s.client.Close()
	s.lookups.Wait()
	return err
}

// Connected implements remoting.Listener. Connections mean nothing until a broker registers on one.
func (s *Server) Connected(*remoting.Peer) {}

// Closed implements remoting.Listener: the brokers of a connection leave with it, unless the server itself is leaving.
func (s *Server) Closed(peer *remoting.Peer, reason remoting.CloseReason) {
	if reason == remoting.CloseShutdown || s.stopping.Load() {
		return
	}
	addrs, notices := s.routes.connectionClosed(peer, s.conf.Namesrv().NotifyMinBrokerIDChanged)
	for _, addr := range addrs {
		s.log.Info().Str("brokerAddr", brief(addr)).Stringer("reason", reason).Msg("broker left: its connection ended")
	}
	s.notify(notices)
}

// expire removes the brokers that have been silent for too long, and closes their connections. What they have sent
// gets a moment to be read first: after a pause of the process (SIGSTOP, a virtual machine that moved) all have been
// silent, and all their heartbeats wait.
func (s *Server) expire(ctx context.Context) {
	settle := func() bool {
		timer := time.NewTimer(expirySettle)
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for _, d := range s.routes.expire(settle, s.conf.Namesrv().NotifyMinBrokerIDChanged) {
		s.log.Warn().Str("clusterName", brief(d.cluster)).Str("brokerName", brief(d.brokerName)).Int64("brokerId", d.brokerID).
			Str("brokerAddr", brief(d.brokerAddr)).Dur("silentMillis", d.silent).Msg("broker expired")
		if d.conn != nil && !s.routes.hasBroker(d.conn) { // else it has come back in the meantime
			d.conn.Close()
		}
		s.notify(d.notices)
	}
}
