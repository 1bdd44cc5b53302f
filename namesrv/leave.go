package namesrv

// UNREGISTER_BROKER (104), all versions; BROKER_HEARTBEAT (904), 5.x; QUERY_DATA_VERSION (322), all versions;
// the ends of connections, and silence.
//
//   - Whatever ends a broker ends the registration it was about, never a newer one (F10). Nothing is queued: when the
//     call returns it is done.
//   - The end of a connection ends all brokers that registered on it last (F4).
//   - What is left of a group whose brokers may act as master loses write permission with its master.

import (
	"time"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// departure is a broker that was removed for its silence.
type departure struct {
	cluster, brokerName, brokerAddr string
	brokerID                        int64
	silent                          time.Duration
	conn                            *remoting.Peer // to be closed; nil: another broker is alive on it
	notices                         []notice
}

// remove ends the registration of a broker. Its group goes with its last member.
func (t *routeTable) remove(b *liveBroker, notifyMinBroker bool) []notice {
	g := b.group
	t.answers.takeBack(g.topics...)
	wasLowest := g.members[0] == b
	t.forget(b)
	if len(g.members) == 0 {
		t.dropGroup(g)
		return nil
	}
	g.forgetPrints()
	if g.actingMaster && g.member(masterID) == nil {
		for _, e := range g.topics {
			e.queues.get(g).withheld = true
		}
	}
	if !wasLowest || !notifyMinBroker || !g.actingMaster {
		return nil
	}
	lowest := g.members[0]
	n := notice{header: protocol.NotifyMinBrokerIDChangeRequestHeader{
		MinBrokerID: protocol.Some(lowest.id), MinBrokerAddr: protocol.Some(lowest.addr),
		OfflineBrokerAddr: protocol.Some(b.addr),
	}}
	for _, m := range g.members {
		n.targets = append(n.targets, m.addr)
	}
	return []notice{n}
}

// unregister ends the registration of the broker with this name and address. Cluster and id of the request are not
// looked at, as in the original. It reports whether there was one.
//
// Source: spec/namesrv.md §6.2.
func (t *routeTable) unregister(brokerName, brokerAddr string, notifyMinBroker bool) ([]notice, bool) {
	t.writer.Lock()
	defer t.writer.Unlock()
	g := t.groups[brokerName]
	if g == nil {
		return nil, false
	}
	b := t.byAddr[brokerKey{g.cluster, brokerAddr}]
	if b == nil || b.group != g {
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.remove(b, notifyMinBroker), true
}

// connectionClosed ends the registrations whose connection was conn, and returns their addresses. A connection that
// only asked costs no more than a look.
func (t *routeTable) connectionClosed(conn *remoting.Peer, notifyMinBroker bool) (addrs []string, notices []notice) {
	if !t.hasBroker(conn) {
		return nil, nil
	}
	t.writer.Lock()
	defer t.writer.Unlock()
	for len(t.byConn[conn]) > 0 {
		list := t.byConn[conn]
		b := list[len(list)-1]
		t.mu.Lock() // for each on its own: readers wait for the topics of one broker at most
		notices = append(notices, t.remove(b, notifyMinBroker)...)
		t.mu.Unlock()
		addrs = append(addrs, b.addr)
	}
	return addrs, notices
}

// hasBroker tells whether a broker lives on a connection.
func (t *routeTable) hasBroker(conn *remoting.Peer) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byConn[conn]) > 0
}

// expire removes the brokers that have been silent for longer than their timeouts. If it finds any it calls settle,
// which gives time for signs of life that have arrived but are not handled yet, as after a pause of the whole
// process; it then removes those that are still silent, or nobody if settle reports false.
//
// Source: spec/namesrv.md §6.3.
func (t *routeTable) expire(settle func() bool, notifyMinBroker bool) []departure {
	now := t.clock()
	var silent []*liveBroker
	t.mu.RLock()
	for _, b := range t.byAddr {
		if b.silence(now) > b.timeout {
			silent = append(silent, b)
		}
	}
	t.mu.RUnlock()
	if len(silent) == 0 || !settle() {
		return nil
	}
	var gone []departure
	for _, b := range silent {
		if d, ok := t.expireOne(b, now, notifyMinBroker); ok {
			gone = append(gone, d)
		}
	}
	return gone
}

// silence is the time from the broker's last sign of life to now.
func (b *liveBroker) silence(now time.Duration) time.Duration {
	return now - time.Duration(b.seen.Load())
}

// expireOne removes a broker if it has not been heard of.
func (t *routeTable) expireOne(b *liveBroker, now time.Duration, notifyMinBroker bool) (departure, bool) {
	t.writer.Lock()
	defer t.writer.Unlock()
	t.mu.Lock() // from here on nobody can be told that the broker's life was renewed
	defer t.mu.Unlock()
	silent := b.silence(now)
	if t.byAddr[b.brokerKey] != b || silent <= b.timeout {
		return departure{}, false
	}
	d := departure{
		cluster: b.cluster, brokerName: b.group.name, brokerAddr: b.addr, brokerID: b.id, silent: silent, conn: b.conn,
	}
	d.notices = t.remove(b, notifyMinBroker)
	if len(t.byConn[d.conn]) > 0 {
		d.conn = nil
	}
	return d, true
}

// heartbeat notes that a broker is alive, and reports whether it is known.
//
// Source: spec/namesrv.md §4.3 (904).
func (t *routeTable) heartbeat(cluster, brokerAddr string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	b := t.byAddr[brokerKey{cluster, brokerAddr}]
	if b == nil {
		return false
	}
	b.seen.Store(int64(t.clock()))
	return true
}

// queryDataVersion notes that a broker is alive and compares its data version, nil for none, with the one it
// registered. Changed is true as well if the broker is unknown, or known by another name or id than those the header
// has (N26; the original looks at the address only). Stored is nil if the broker, or its version, is unknown.
//
// Source: spec/namesrv.md §4.3 (322).
func (t *routeTable) queryDataVersion(h *protocol.QueryDataVersionRequestHeader, version *protocol.DataVersion) (stored *protocol.DataVersion, changed bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	b := t.byAddr[brokerKey{h.ClusterName, h.BrokerAddr}]
	if b == nil {
		return nil, true
	}
	b.seen.Store(int64(t.clock()))
	changed = !sameVersion(b.version, version) ||
		h.BrokerName.Present && h.BrokerName.Value != b.group.name ||
		h.BrokerID.Present && h.BrokerID.Value != b.id
	return cloneVersion(b.version), changed
}
