package broker

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
)

// Requests to NameServers, as 5.5.0 sends them (spec/broker.md §4, §8):
//
//	103 REGISTER_BROKER            all topics, in slices where need be, or those that changed
//	104 UNREGISTER_BROKER          at shutdown, and when a NameServer leaves the list
//	217 REGISTER_TOPIC_IN_NAMESRV  one changed topic, with enableSingleTopicRegister
//	322 QUERY_DATA_VERSION         whether to register again; one-way as a heartbeat
//	904 BROKER_HEARTBEAT           one-way heartbeat, with compatibleWithOldNameSrv=false

// Times of the registration that no property sets.
const (
	longestPeriod = 60 * time.Second       // upper bound of registerNameServerPeriod
	firstPeriod   = 10 * time.Second       // from the first registration with a NameServer to the second
	mergeWindow   = 200 * time.Millisecond // after a message about changes further ones gather for so long
	shortTimeout  = 3 * time.Second        // of 217, and of all 104 together
	minBackoff    = 200 * time.Millisecond // before the first attempt to connect after a failure
	maxBackoff    = 4 * time.Second        // before further ones

	presumedSilent = time.Second            // after so long without an answer a NameServer is taken for silent
	writeTimeout   = 100 * time.Millisecond // of a 104 that nobody waits for
)

// registrarSettings are the properties that the registration depends on, at one moment.
type registrarSettings struct {
	Servers namesrvSettings

	Period                time.Duration // registerNameServerPeriod, within its bounds
	Timeout               time.Duration // registerBrokerTimeoutMills, of one call
	ForceRegister         bool          // forceRegister: every Period without asking for the data version first
	Compressed            bool          // compressedRegister
	SingleTopic           bool          // enableSingleTopicRegister: changes go as 217
	Split                 bool          // enableSplitRegistration
	SplitSize             int           // splitRegistrationSize, topics
	Permission            int32         // brokerPermission
	SlaveActingMaster     bool          // enableSlaveActingMaster: heartbeats, and NotActiveTimeout goes with registrations
	NotActiveTimeout      time.Duration // brokerNotActiveTimeoutMillis
	HeartbeatInterval     time.Duration // brokerHeartbeatInterval
	CompatibleWithOldNSrv bool          // compatibleWithOldNameSrv: heartbeats are 322 instead of 904
	ZoneName, ZoneMode    string        // of the environment (ROCKETMQ_ZONE, ROCKETMQ_ZONE_MODE); "": not sent
}

// newRegistrarSettings takes what the registration needs from the configuration. The zone, which is no property, is left
// out.
func newRegistrarSettings(c *conf.BrokerConfig) registrarSettings {
	domain, subgroup := c.AddressServer()
	return registrarSettings{
		Servers: namesrvSettings{
			Addr:            c.NamesrvAddr,
			ByAddressServer: c.FetchNamesrvAddrByAddressServer,
			Domain:          domain,
			Subgroup:        subgroup,
			FetchInterval:   c.FetchNamesrvAddrInterval,
			UpdatePeriod:    c.UpdateNameServerAddrPeriod,
		},
		Period:                c.RegisterPeriod(),
		Timeout:               c.RegisterBrokerTimeout,
		ForceRegister:         c.ForceRegister,
		Compressed:            c.CompressedRegister,
		SingleTopic:           c.EnableSingleTopicRegister,
		Split:                 c.EnableSplitRegistration,
		SplitSize:             c.SplitRegistrationSize,
		Permission:            int32(c.BrokerPermission),
		SlaveActingMaster:     c.EnableSlaveActingMaster,
		NotActiveTimeout:      c.BrokerNotActiveTimeout,
		HeartbeatInterval:     c.BrokerHeartbeatInterval,
		CompatibleWithOldNSrv: c.CompatibleWithOldNameSrv,
	}
}

// brokerMember is what the broker registers as.
type brokerMember struct {
	Cluster string
	Name    string
	ID      int64  // 0 is the master
	Addr    string // brokerIP1:listenPort
	HAAddr  string // brokerIP2:haListenPort
}

// registrationResult is what NameServers know about the broker's group. Where they disagree, the first one in the
// list that has been registered with and knows something counts.
type registrationResult struct {
	MasterAddr   string            // for slaves whose master is alive, else ""
	HAServerAddr string            // replication address of that master; "": unknown
	Order        *protocol.KVTable // order topics; nil: nothing was said
}

// namesrvConn is a connection to a NameServer; *remoting.Peer is one.
type namesrvConn interface {
	Invoke(ctx context.Context, cmd *protocol.Command) (*protocol.Command, error)
	Oneway(ctx context.Context, cmd *protocol.Command) error // never waits
	Context() context.Context                                // ends when the connection closes
	Retire()                                                 // the next one that Connect returns is another one
	Close()
}

// registrarConfig is what a registrar needs. The functions may be called on any goroutine and return at once, but for
// Connect and Result.
type registrarConfig struct {
	Member   func() brokerMember
	Settings func() registrarSettings
	// Topics returns the topics, ascending by name, and their version, taken together. Neither changes afterwards.
	Topics func() ([]*protocol.TopicConfig, protocol.DataVersion)
	// Connect returns the connection to a NameServer, the present one if it is still open: remoting.Client.Connect.
	Connect func(ctx context.Context, addr string) (namesrvConn, error)
	// Result takes over what NameServers answer to registrations. One goroutine calls it. Nil: nobody cares.
	Result   func(registrationResult)
	Resolver hostResolver // nil: the system's
	Log      zerolog.Logger
}

// registrar keeps the broker registered with all NameServers. Each has a worker of its own, which owns the connection
// to it and knows what was last said over it: no NameServer waits for another, and nobody waits for one.
//
// The methods may be called on any goroutine.
type registrar struct {
	cfg      registrarConfig
	relist   chan struct{} // capacity 1: the list of NameServers may have changed
	answered chan struct{} // capacity 1: there are new results

	mu      sync.Mutex
	order   []string                  // addresses of the NameServers in the order of the list; guarded by mu, never changed in place
	workers map[string]*namesrvWorker // by address; guarded by mu
	table   *registrationTable        // of the last version; guarded by mu
}

// newRegistrar returns a registrar that does nothing before run.
func newRegistrar(cfg registrarConfig) *registrar {
	return &registrar{
		cfg:      cfg,
		relist:   make(chan struct{}, 1),
		answered: make(chan struct{}, 1),
		workers:  make(map[string]*namesrvWorker),
	}
}

// run registers with all NameServers and keeps it so until ctx ends, and leaves the connections open. It returns nil.
// Call it once.
func (r *registrar) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.followServers(ctx, g) })
	g.Go(func() error { return r.sendHeartbeats(ctx) })
	g.Go(func() error { return r.passResults(ctx) })
	return g.Wait()
}

// topicsChanged has the NameServers told about changed topics. It never waits.
func (r *registrar) topicsChanged([]string) {
	for _, w := range r.snapshot() {
		w.ask(wishes{changes: true})
	}
}

// registerSoon has the broker registered anew with all NameServers, at once. Without force those that know the
// current version are left alone, if the settings say so. It never waits.
func (r *registrar) registerSoon(force bool) {
	for _, w := range r.snapshot() {
		w.ask(wishes{round: true, force: force})
	}
}

// serversChanged has the list of NameServers looked at anew. It never waits.
func (r *registrar) serversChanged() { signal(r.relist) }

// servers returns the addresses of the NameServers, in the order of the list. The caller must not change it.
func (r *registrar) servers() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order
}

// unregisterAll takes leave of all NameServers at once and closes the connections to them. It returns when all have
// answered but those known to be silent, at the latest after 3 s or when ctx ends. Call it after run.
func (r *registrar) unregisterAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	var g errgroup.Group
	for _, w := range r.snapshot() {
		g.Go(func() error {
			w.unregister(ctx)
			return nil
		})
	}
	_ = g.Wait() // none fails
}

// setServers makes addrs the NameServers: new ones get a worker in g, those that are gone are taken leave of.
func (r *registrar) setServers(ctx context.Context, g *errgroup.Group, addrs []string) {
	var removed []*namesrvWorker
	r.mu.Lock()
	r.order = addrs
	for _, addr := range addrs {
		if r.workers[addr] != nil {
			continue
		}
		listed, stop := context.WithCancel(ctx)
		w := newNamesrvWorker(r, addr, stop)
		r.workers[addr] = w
		g.Go(func() error {
			defer stop()
			w.run(listed)
			if ctx.Err() == nil { // it was removed from the list
				w.unregister(ctx)
			}
			return nil
		})
	}
	for addr, w := range r.workers {
		if !slices.Contains(addrs, addr) {
			delete(r.workers, addr)
			removed = append(removed, w)
		}
	}
	r.mu.Unlock()
	for _, w := range removed {
		r.cfg.Log.Info().Str("namesrvAddr", w.addr).Msg("NameServer removed from the list")
		w.stop()
	}
}

// snapshot returns the workers in the order of the list.
func (r *registrar) snapshot() []*namesrvWorker {
	r.mu.Lock()
	defer r.mu.Unlock()
	workers := make([]*namesrvWorker, 0, len(r.order))
	for _, addr := range r.order {
		workers = append(workers, r.workers[addr])
	}
	return workers
}

// current returns the topics as they are now. As long as their version is the same, so is what it returns.
func (r *registrar) current() *registrationTable {
	topics, version := r.cfg.Topics()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.table == nil || r.table.version != version {
		r.table = &registrationTable{topics: topics, version: version}
	}
	return r.table
}

// passResults passes on what NameServers answered, until ctx ends.
func (r *registrar) passResults(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.answered:
		}
		if result, ok := r.result(); ok && r.cfg.Result != nil {
			r.cfg.Result(result)
		}
	}
}

// result merges what is known from the NameServers that are registered with. ok is false if there are none: what was
// known before stays.
func (r *registrar) result() (merged registrationResult, ok bool) {
	for _, w := range r.snapshot() {
		result := w.answer()
		if result == nil {
			continue
		}
		ok = true
		if merged.MasterAddr == "" && result.MasterAddr != "" {
			merged.MasterAddr, merged.HAServerAddr = result.MasterAddr, result.HAServerAddr
		}
		if merged.Order == nil {
			merged.Order = result.Order
		}
	}
	return merged, ok
}

// sendHeartbeats sends a heartbeat to every connected NameServer once per interval, until ctx ends, if the settings
// want it. It waits for none.
func (r *registrar) sendHeartbeats(ctx context.Context) error {
	const checkSettings = 10 * time.Second
	for {
		set := r.cfg.Settings()
		wait := checkSettings
		if set.SlaveActingMaster {
			wait = max(set.HeartbeatInterval, 50*time.Millisecond)
		}
		if !sleep(ctx, wait) {
			return nil
		}
		if set = r.cfg.Settings(); !set.SlaveActingMaster {
			continue
		}
		cmd := r.heartbeat(&set)
		for _, w := range r.snapshot() {
			if conn := w.connection(); conn != nil {
				_ = conn.Oneway(ctx, cmd) // what fails ends the connection, which its worker sees
			}
		}
	}
}

// heartbeat is the one-way request that keeps the broker alive at a NameServer.
func (r *registrar) heartbeat(set *registrarSettings) *protocol.Command {
	if set.CompatibleWithOldNSrv {
		_, version := r.cfg.Topics()
		return r.queryDataVersion(set, version)
	}
	m := r.cfg.Member()
	return set.request(protocol.ReqBrokerHeartbeat, &protocol.BrokerHeartbeatRequestHeader{
		ClusterName: m.Cluster, BrokerAddr: m.Addr, BrokerName: protocol.Some(m.Name),
	}, nil)
}

// signal wakes whoever waits on c, which has room for one signal.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// sleep waits for d and returns true, or returns false as soon as ctx ends.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
