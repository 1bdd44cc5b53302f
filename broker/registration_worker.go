package broker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/protocol"
)

// namesrvWorker keeps the broker registered with one NameServer. It connects, registers in full, tells changes, and
// repeats the registration once per period. When the connection ends or a call fails it begins anew: a NameServer
// forgets a broker whose connection it loses, and what could not be told meanwhile goes with the full registration.
type namesrvWorker struct {
	r    *registrar
	addr string
	stop context.CancelFunc // ends run
	wake chan struct{}      // capacity 1: want is not zero

	mu     sync.Mutex
	want   wishes              // guarded by mu
	conn   namesrvConn         // nil: not connected; guarded by mu
	result *registrationResult // of the last registration over conn; nil: not registered; guarded by mu
	owing  time.Time           // since when an answer is due, over whatever connection; zero: none is; guarded by mu

	// What follows is owned by run.
	state   namesrvState
	began   bool        // there has been a registration
	leaving namesrvConn // connection to a NameServer that is going away, over which the broker is registered; nil: none
}

// wishes is what a worker is asked for. Wishes add up until it gets to them.
type wishes struct {
	changes bool // tell changed topics
	round   bool // do now what is done once per period
	force   bool // ... and register whatever the version
}

// namesrvState is what the log says about a NameServer. Only changes of it are logged above Debug.
type namesrvState uint8

const (
	namesrvUnknown namesrvState = iota
	namesrvRegistered
	namesrvRefusing
	namesrvLost
)

// refusedError says that a NameServer answered a registration with a code other than success.
type refusedError struct {
	Code   protocol.ResponseCode
	Remark string
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("refused with code %d: %s", e.Code, e.Remark)
}

var (
	errConnectionLost = errors.New("connection lost")
	errNoAnswer       = errors.New("no answer")
	errGoingAway      = errors.New("the NameServer is going away")
)

func newNamesrvWorker(r *registrar, addr string, stop context.CancelFunc) *namesrvWorker {
	return &namesrvWorker{r: r, addr: addr, stop: stop, wake: make(chan struct{}, 1)}
}

// ask adds to what the worker is asked for. It never waits.
func (w *namesrvWorker) ask(more wishes) {
	w.mu.Lock()
	w.want.changes = w.want.changes || more.changes
	w.want.round = w.want.round || more.round
	w.want.force = w.want.force || more.force
	w.mu.Unlock()
	signal(w.wake)
}

// wishes returns what the worker has been asked for since the last call.
func (w *namesrvWorker) wishes() wishes {
	w.mu.Lock()
	defer w.mu.Unlock()
	want := w.want
	w.want = wishes{}
	return want
}

// connection returns the connection to the NameServer; nil: there is none.
func (w *namesrvWorker) connection() namesrvConn {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conn
}

// answer returns what the NameServer said in the last registration; nil: the broker is not registered.
func (w *namesrvWorker) answer() *registrationResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.result
}

func (w *namesrvWorker) setConnection(conn namesrvConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn, w.result = conn, nil
}

func (w *namesrvWorker) setAnswer(result *registrationResult) {
	w.mu.Lock()
	w.result = result
	w.mu.Unlock()
	signal(w.r.answered)
}

// asked notes that a request is being sent.
func (w *namesrvWorker) asked() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owing.IsZero() {
		w.owing = time.Now()
	}
}

// heard notes a sign of life.
func (w *namesrvWorker) heard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owing = time.Time{}
}

// patience is how long to wait for the last answer. A NameServer that owes one may be silent: it gets what is left of
// presumedSilent, as a first registration may be under way, and then no more than it takes to write a request.
func (w *namesrvWorker) patience() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owing.IsZero() {
		return shortTimeout
	}
	return max(writeTimeout, presumedSilent-time.Since(w.owing))
}

// run keeps the broker registered until ctx ends, and leaves the connection open, for unregister.
func (w *namesrvWorker) run(ctx context.Context) {
	wait := minBackoff
	for {
		began := time.Now()
		err := w.session(ctx)
		if ctx.Err() != nil {
			return
		}
		if conn := w.connection(); conn != nil {
			if errors.Is(err, errGoingAway) && w.leaving == nil {
				// It still serves older clients, and would forget the broker.
				conn.Retire()
				w.leaving = conn
			} else {
				conn.Close()
			}
			w.setConnection(nil)
		}
		w.enter(namesrvLost, err)
		if time.Since(began) > 2*maxBackoff && !errors.Is(err, errNoAnswer) {
			wait = minBackoff
		}
		if !sleep(ctx, wait-wait/4+rand.N(wait/2)) {
			return
		}
		wait = min(2*wait, maxBackoff)
	}
}

// session connects and keeps the broker registered over that connection. It returns why the connection is of no more
// use, or when ctx ends.
func (w *namesrvWorker) session(ctx context.Context) error {
	conn, err := w.connect(ctx)
	if err != nil {
		return err
	}
	w.setConnection(conn)
	s := namesrvSession{w: w, conn: conn}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		want := w.wishes()
		s.changed = s.changed || want.changes
		s.force = s.force || want.force
		if want.round || want.force {
			s.due = time.Now()
		}
		if err := s.step(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		timer.Reset(time.Until(s.next()))
		select {
		case <-timer.C:
		case <-w.wake:
		case <-conn.Context().Done():
			return errConnectionLost
		case <-ctx.Done():
			return nil
		}
	}
}

// connect connects to the NameServer. How long that may take is up to registrarConfig.Connect.
func (w *namesrvWorker) connect(ctx context.Context) (namesrvConn, error) {
	ctx, cancel := context.WithTimeout(ctx, w.r.cfg.Settings().Timeout)
	defer cancel()
	return w.r.cfg.Connect(ctx, w.addr)
}

// closeLeaving closes the connection over which the broker was registered before.
func (w *namesrvWorker) closeLeaving() {
	if w.leaving != nil {
		w.leaving.Close()
		w.leaving = nil
	}
}

// unregister takes leave of the NameServer, if there is a connection to it, and closes that. Without one the
// NameServer has forgotten the broker. A silent one is told, too, because it may have taken in what it has not answered,
// but is not waited for. Call it after run.
func (w *namesrvWorker) unregister(ctx context.Context) {
	w.closeLeaving()
	conn := w.connection()
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, w.patience())
	defer cancel()
	m, set := w.r.cfg.Member(), w.r.cfg.Settings()
	resp, err := conn.Invoke(ctx, set.request(protocol.ReqUnregisterBroker, &protocol.UnRegisterBrokerRequestHeader{
		BrokerName: m.Name, BrokerAddr: m.Addr, ClusterName: m.Cluster, BrokerID: m.ID,
	}, nil))
	if err == nil {
		err = refusal(resp)
	}
	conn.Close()
	w.setConnection(nil)
	if err != nil {
		w.r.cfg.Log.Warn().Err(err).Str("namesrvAddr", w.addr).Msg("not unregistered from NameServer")
		return
	}
	w.r.cfg.Log.Info().Str("namesrvAddr", w.addr).Msg("unregistered from NameServer")
}

// enter notes a state, and logs it if it is new. err says why it is not registered.
func (w *namesrvWorker) enter(state namesrvState, err error) {
	event := w.r.cfg.Log.Debug()
	if w.state != state {
		event = w.r.cfg.Log.Warn()
		if state == namesrvRegistered {
			event = w.r.cfg.Log.Info()
		}
	}
	w.state = state
	event.Err(err).Str("namesrvAddr", w.addr).Msg(map[namesrvState]string{
		namesrvRegistered: "registered with NameServer",
		namesrvRefusing:   "NameServer refuses the registration",
		namesrvLost:       "NameServer cannot be reached",
	}[state])
}

// namesrvSession is what a worker knows while a connection lasts. The worker's goroutine owns it.
type namesrvSession struct {
	w    *namesrvWorker
	conn namesrvConn

	version  protocol.Version   // of the NameServer, by its last answer to a registration; 0: unknown
	told     *registrationTable // topics that the NameServer knows; nil: register in full
	toldAt   time.Time          // of the last full registration
	force    bool               // the next round registers, whatever the version and the settings
	due      time.Time          // when the next round is
	changed  bool               // topics may have changed since they were told
	mergeTil time.Time          // when changes may be told
	refusals time.Duration      // how long to wait after the next refusal; 0: the first
}

// next is when something is to be done.
func (s *namesrvSession) next() time.Time {
	if s.changed && s.told != nil && s.mergeTil.Before(s.due) {
		return s.mergeTil
	}
	return s.due
}

// step does what is to be done now. A refusal is not an error: it is tried again later.
func (s *namesrvSession) step(ctx context.Context) error {
	now := time.Now()
	if s.next().After(now) {
		return nil
	}
	// The table comes first: a change of the permission that is in force before its version is may go out early, under the version
	// before. The other way round the new version could go out with the old permission, and the NameServer would take
	// the new one for nothing new.
	table := s.w.r.current()
	set := s.w.r.cfg.Settings()
	var err error
	if s.due.After(now) {
		err = s.tellChanges(ctx, &set, table)
	} else {
		err = s.round(ctx, &set, table)
	}
	if !isRefused(err) {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	s.w.setAnswer(nil)
	s.w.enter(namesrvRefusing, err)
	s.told = nil
	s.refusals = min(max(2*s.refusals, time.Second), set.Period)
	s.due = time.Now().Add(s.refusals)
	return nil
}

// round is done once per period: the broker registers, unless the NameServer may be asked first and knows the version.
// That is so for tables beyond one frame, too: as it takes them in slices, the version says that it has all.
func (s *namesrvSession) round(ctx context.Context, set *registrarSettings, table *registrationTable) error {
	if s.told != nil && !s.force && !set.Split && (!set.ForceRegister || table.inSlices(set.bodyForm(s.version))) {
		needed, err := s.registrationNeeded(ctx, set, table)
		if err != nil {
			return err
		}
		if !needed {
			s.due = time.Now().Add(set.Period)
			return nil
		}
	}
	s.changed = false
	return s.registerAll(ctx, set, table)
}

// registrationNeeded asks for the NameServer's data version. An answer that says nothing counts as a need, one with
// an error code does not; no answer is an error. Source: spec/broker.md §4.5.
func (s *namesrvSession) registrationNeeded(ctx context.Context, set *registrarSettings, table *registrationTable) (bool, error) {
	resp, err := s.invoke(ctx, set.Timeout, s.w.r.queryDataVersion(set, table.version))
	if err != nil || protocol.ResponseCode(resp.Code) != protocol.RespSuccess {
		return false, err
	}
	var h protocol.QueryDataVersionResponseHeader
	if err := h.Decode(resp.Ext); err != nil || h.Changed {
		return true, nil
	}
	if len(resp.Body) == 0 {
		return false, nil
	}
	known, err := protocol.DecodeDataVersion(resp.Body, 0)
	return err != nil || known != table.version, nil
}

// registerAll registers all topics.
func (s *namesrvSession) registerAll(ctx context.Context, set *registrarSettings, table *registrationTable) error {
	s.told = nil
	var result *registrationResult
	known := s.version != 0
	form := set.bodyForm(s.version)
	for _, body := range table.full(form) {
		var err error
		result, err = s.register(ctx, set, body)
		if isRefused(err) && !known && set.bodyForm(s.version) != form {
			return s.registerAll(ctx, set, table) // the refusal told the version
		}
		if err != nil {
			return err
		}
	}
	now := time.Now()
	s.told, s.toldAt, s.force, s.refusals = table, now, false, 0
	s.due = now.Add(set.Period)
	if !s.w.began {
		s.w.began = true
		s.due = now.Add(min(firstPeriod, set.Period))
	}
	s.w.closeLeaving()
	s.w.setAnswer(result)
	s.w.enter(namesrvRegistered, nil)
	return nil
}

// tellChanges registers the topics that have changed since the NameServer was last told: one by one if the settings
// say so, else in one message. Where they are many it registers all.
//
// With enableSingleTopicRegister no registration of some topics only goes out, because NameServers with
// deleteTopicWithBrokerRegistration would drop all others. But those of 4.9, which have no such thing, do not answer the
// request for one topic at all.
func (s *namesrvSession) tellChanges(ctx context.Context, set *registrarSettings, table *registrationTable) error {
	s.changed = false
	changed := table.changes(s.told)
	if len(changed) == 0 {
		return nil
	}
	s.mergeTil = time.Now().Add(mergeWindow)
	if size := sizeOf(changed); size > sliceBody || 2*len(changed) > len(table.topics) && size > 64<<10 {
		return s.registerAll(ctx, set, table)
	}
	var err error
	if set.SingleTopic && s.version >= protocol.Version5_0_0 {
		err = s.registerTopics(ctx, set, changed)
	} else {
		var result *registrationResult
		result, err = s.register(ctx, set, encodeRegistration(changed, table.version, set.bodyForm(s.version), maskChanged))
		if err == nil {
			s.w.setAnswer(result)
		}
	}
	if isRefused(err) && !isBusy(err) { // it does not know the broker any more
		return s.registerAll(ctx, set, table)
	}
	if err != nil {
		return err
	}
	s.told = table
	s.postpone(set)
	return nil
}

// postpone puts the next round off because changes were told just now: it sends all topics, which may be many, and
// would do so in the middle of a time in which more of them are made. It is not put off for longer than the longest
// period there is.
func (s *namesrvSession) postpone(set *registrarSettings) {
	if due := time.Now().Add(set.Period); due.Before(s.toldAt.Add(longestPeriod)) {
		s.due = due
	}
}

// registerTopics sends one REGISTER_TOPIC_IN_NAMESRV per topic, several at a time.
func (s *namesrvSession) registerTopics(ctx context.Context, set *registrarSettings, topics []*protocol.TopicConfig) error {
	const atATime = 16
	m := s.w.r.cfg.Member()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for _, t := range topics {
		g.Go(func() error {
			resp, err := s.invoke(ctx, shortTimeout, set.request(protocol.ReqRegisterTopicInNamesrv,
				&protocol.RegisterTopicRequestHeader{Topic: t.TopicName}, encodeTopicRoute(m.Name, t, set.Permission)))
			if err != nil {
				return err
			}
			return refusal(resp)
		})
	}
	return g.Wait()
}

// register sends one REGISTER_BROKER.
func (s *namesrvSession) register(ctx context.Context, set *registrarSettings, body registrationBody) (*registrationResult, error) {
	m := s.w.r.cfg.Member()
	header := protocol.RegisterBrokerRequestHeader{
		BrokerName: m.Name, BrokerAddr: m.Addr, ClusterName: m.Cluster, BrokerID: m.ID,
		HAServerAddr:       protocol.Some(m.HAAddr),
		EnableActingMaster: protocol.Some(set.SlaveActingMaster),
		Compressed:         body.compressed,
		BodyCRC32:          body.crc,
	}
	if set.SlaveActingMaster {
		header.HeartbeatTimeoutMillis = protocol.Some(set.NotActiveTimeout.Milliseconds())
	}
	resp, err := s.invoke(ctx, set.Timeout, set.request(protocol.ReqRegisterBroker, &header, body.data))
	if err != nil {
		return nil, err
	}
	s.version = resp.Version
	if err := refusal(resp); err != nil {
		return nil, err
	}
	var h protocol.RegisterBrokerResponseHeader
	if err := h.Decode(resp.Ext); err != nil {
		return nil, err
	}
	result := &registrationResult{MasterAddr: h.MasterAddr.Value, HAServerAddr: h.HAServerAddr.Value}
	if len(resp.Body) > 0 {
		if order, err := protocol.DecodeKVTable(resp.Body); err == nil {
			result.Order = &order
		} else if s.w.state != namesrvRegistered {
			s.w.r.cfg.Log.Warn().Err(err).Str("namesrvAddr", s.w.addr).Msg("order topics cannot be read")
		}
	}
	return result, nil
}

// invoke calls the NameServer. Any error means that the connection is of no more use, or that ctx has ended.
func (s *namesrvSession) invoke(ctx context.Context, timeout time.Duration, cmd *protocol.Command) (*protocol.Command, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s.w.asked()
	resp, err := s.conn.Invoke(limited, cmd)
	if err == nil || limited.Err() == nil { // an answer, or the end of the connection
		s.w.heard()
	}
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("%w to code %d within %v", errNoAnswer, cmd.Code, timeout)
	case err == nil && protocol.ResponseCode(resp.Code) == protocol.RespGoAway:
		return nil, errGoingAway
	}
	return resp, err
}

// refusal returns the error that an answer is; nil: it is none.
func refusal(resp *protocol.Command) error {
	if code := protocol.ResponseCode(resp.Code); code != protocol.RespSuccess {
		return &refusedError{code, resp.Remark}
	}
	return nil
}

// isRefused tells whether err is the answer of a NameServer that refuses.
func isRefused(err error) bool {
	_, refused := errors.AsType[*refusedError](err)
	return refused
}

// isBusy tells whether err is the answer of a NameServer that has too much to do.
func isBusy(err error) bool {
	refused, ok := errors.AsType[*refusedError](err)
	return ok && refused.Code == protocol.RespSystemBusy
}

// queryDataVersion asks a NameServer whether it knows version.
func (r *registrar) queryDataVersion(set *registrarSettings, version protocol.DataVersion) *protocol.Command {
	m := r.cfg.Member()
	return set.request(protocol.ReqQueryDataVersion, &protocol.QueryDataVersionRequestHeader{
		BrokerAddr: m.Addr, ClusterName: m.Cluster, BrokerName: protocol.Some(m.Name), BrokerID: protocol.Some(m.ID),
	}, version.AppendJSON(nil, protocol.FormDefault))
}

// request returns a request to a NameServer. All carry the broker's zone, if it has one (spec/broker.md §4.6).
func (s *registrarSettings) request(code protocol.RequestCode, header protocol.HeaderEncoder, body []byte) *protocol.Command {
	ext := header.AppendExt(nil)
	if s.ZoneName != "" {
		ext = append(ext, protocol.Field{Key: "__ZONE_NAME", Value: s.ZoneName})
	}
	if s.ZoneMode != "" {
		ext = append(ext, protocol.Field{Key: "__ZONE_MODE", Value: s.ZoneMode})
	}
	return &protocol.Command{Code: int32(code), Ext: ext, Body: body}
}
