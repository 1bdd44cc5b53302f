package namesrv_test

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// listeningBroker is the port where a broker is told of the lowest id in its group.
type listeningBroker struct {
	t       testing.TB
	addr    string
	notices chan *protocol.Command
}

func listenAsBroker(t testing.TB) *listeningBroker {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &listeningBroker{t: t, addr: l.Addr().String(), notices: make(chan *protocol.Command, 100)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			for {
				cmd, err := readCommand(conn)
				if err != nil {
					break
				}
				b.notices <- cmd
			}
			conn.Close()
		}
	}()
	t.Cleanup(func() { <-done })
	t.Cleanup(func() { l.Close() })
	return b
}

// told waits for a notice with these fields.
func (b *listeningBroker) told(keysAndValues ...string) {
	b.t.Helper()
	select {
	case n := <-b.notices:
		require.Equal(b.t, int32(905), n.Code)
		require.True(b.t, n.IsOneway())
		require.Empty(b.t, n.Body)
		got, want := slices.Clone(n.Ext), ext(keysAndValues...)
		byKey := func(a, b protocol.Field) int {
			if a.Key < b.Key {
				return -1
			}
			return 1
		}
		slices.SortFunc(got, byKey)
		slices.SortFunc(want, byKey)
		require.Equal(b.t, want, got)
	case <-time.After(patience):
		b.t.Fatal("no notice")
	}
}

// notTold makes sure that nothing came so far.
func (b *listeningBroker) notTold() {
	b.t.Helper()
	select {
	case n := <-b.notices:
		b.t.Fatalf("a notice: %+v", n.Ext)
	case <-time.After(100 * time.Millisecond):
	}
}

func TestNoticesOfLowestID(t *testing.T) {
	t.Parallel()
	l0, l1, l2 := listenAsBroker(t), listenAsBroker(t), listenAsBroker(t)
	ns := startNamesrv(t) // it ends before them, and its connections with it
	acting := ext("enableActingMaster", "true")
	master := testBroker{Name: "a", Addr: l0.addr, More: acting}
	nonsense := testBroker{Name: "a", Addr: "nonsense", ID: 1, More: acting}
	slave1 := testBroker{Name: "a", Addr: l1.addr, ID: 2, More: acting}
	slave2 := testBroker{Name: "a", Addr: l2.addr, ID: 3, More: acting}

	// The switch is off at first.
	ns.startBroker(slave2)
	c1 := ns.startBroker(slave1)
	l2.notTold()
	c1.unregister(slave1)
	l2.notTold()

	ns.Admin().must(protocol.ReqUpdateNamesrvConfig, nil, "notifyMinBrokerIdChanged=true")
	c1.register(slave1)
	l2.told("minBrokerId", "2", "minBrokerAddr", l1.addr, "haBrokerAddr", "ha-"+l1.addr)
	l1.notTold() // it knows

	// An address that is none harms nobody (F23).
	cn := ns.startBroker(nonsense)
	l1.told("minBrokerId", "1", "minBrokerAddr", "nonsense", "haBrokerAddr", "ha-nonsense")
	l2.told("minBrokerId", "1", "minBrokerAddr", "nonsense", "haBrokerAddr", "ha-nonsense")
	c0 := ns.startBroker(master)
	l1.told("minBrokerId", "0", "minBrokerAddr", l0.addr, "haBrokerAddr", "ha-"+l0.addr)
	l2.told("minBrokerId", "0", "minBrokerAddr", l0.addr, "haBrokerAddr", "ha-"+l0.addr)

	// Who is not the lowest leaves unnoticed, the lowest is missed, however it goes.
	cn.close()
	eventually(t, func() error { return ns.Admin().hasMembers("a", l0.addr, l1.addr, l2.addr) })
	c0.close()
	l1.told("minBrokerId", "2", "minBrokerAddr", l1.addr, "offlineBrokerAddr", l0.addr)
	l2.told("minBrokerId", "2", "minBrokerAddr", l1.addr, "offlineBrokerAddr", l0.addr)
	c1.unregister(slave1)
	l2.told("minBrokerId", "3", "minBrokerAddr", l2.addr, "offlineBrokerAddr", l1.addr)
	for _, l := range []*listeningBroker{l0, l1, l2} {
		l.notTold()
	}
}
