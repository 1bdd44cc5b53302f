package namesrv

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// TestN41ReadersAmongComingAndGoingBrokers reads all that can be read while brokers register, leave, are wiped and lose
// topics. Every answer must be a state that there was: names in clusters have groups with addresses, topics of 206
// come from living brokers, and never is half a registration seen.
func TestN41ReadersAmongComingAndGoingBrokers(t *testing.T) {
	const brokers, readers = 20, 4
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	start := time.Now()
	table := newRouteTable(func() time.Duration { return time.Since(start) }, 64<<10) // small: eviction takes part
	table.wide = brokers / 2                                                          // and so do answers made without the lock
	var writers, watchers sync.WaitGroup
	var done atomic.Bool

	for i := range brokers {
		writers.Go(func() {
			name := fmt.Sprintf("b%02d", i)
			both := []protocol.TopicConfig{topic("first-" + name), topic("second-" + name), topic("shared")}
			for n := range rounds {
				v := version(0, 1, int64(n))
				r := &registration{
					header: protocol.RegisterBrokerRequestHeader{ClusterName: "C", BrokerName: name, BrokerAddr: name, EnableActingMaster: actingOn},
					conn:   new(remoting.Peer), notifyMinBroker: true,
				}
				text := []byte(name)
				body := &protocol.RegisterBrokerBody{FilterServerList: []string{}, Topics: both, DataVersion: &v}
				for range 2 {
					if _, ok := table.renew(r, text); ok {
						continue
					}
					if _, err := table.register(r, body); err != nil {
						t.Error(err)
					}
				}
				if table.route("second-"+name, routeQuery{}) == nil {
					t.Error("a registration that has returned is not visible")
				}
				switch n % 4 {
				case 0:
					table.unregister(name, name, true)
				case 1:
					table.connectionClosed(r.conn, true)
				case 2:
					table.wipeWritePerm(name)
					table.addWritePerm(name)
				case 3:
					table.registerTopic("shared", []protocol.QueueData{{BrokerName: name, Perm: 6}})
					table.heartbeat("C", name)
					table.expire(settled, true)
				}
			}
		})
	}
	for i := range readers {
		watchers.Go(func() {
			for n := 0; !done.Load(); n++ {
				info := table.clusterInfo()
				for _, c := range info.ClusterAddrTable {
					for _, name := range c.BrokerNames {
						at := slices.IndexFunc(info.BrokerAddrTable, func(d protocol.BrokerData) bool { return d.BrokerName == name })
						if at < 0 || len(info.BrokerAddrTable[at].BrokerAddrs) == 0 {
							t.Errorf("%s has no group or no address", name)
						}
					}
				}
				name := fmt.Sprintf("b%02d", (n+i)%brokers)
				all := table.topicsByCluster("C")
				if slices.Contains(all, "first-"+name) != slices.Contains(all, "second-"+name) {
					t.Error("half a registration in the list of topics")
				}
				table.allTopics()
				table.systemTopics()
				table.unitTopics(sysFlagUnit, 0)
				table.memberGroup(name)
				resp := table.route("shared", routeQuery{form: protocol.FormStrict, actingMaster: n%2 == 0})
				if resp == nil {
					continue
				}
				var route seenRoute
				if err := json.Unmarshal(resp.Body, &route); err != nil {
					t.Error(err)
				}
				if len(route.BrokerDatas) == 0 || len(route.BrokerDatas) != len(route.QueueDatas) {
					t.Errorf("half a route: %s", resp.Body)
				}
				for _, d := range route.BrokerDatas {
					if len(d.BrokerAddrs) == 0 {
						t.Errorf("no address: %s", resp.Body)
					}
				}
			}
		})
	}
	writers.Wait()
	done.Store(true)
	watchers.Wait()
	tt := &tableTest{routeTable: table, t: t}
	tt.check()
	for i := range brokers {
		name := fmt.Sprintf("b%02d", i)
		table.unregister(name, name, false)
	}
	tt.check()
	require.Empty(t, table.allTopics())
	require.Empty(t, tt.cluster())
	require.Empty(t, table.byConn)
	require.Zero(t, table.answers.size.Load())
}

// TestRegistrationIsSeenAsAWhole has a broker change both of its topics again and again. A reader that has seen the new
// state of one must not see the old state of the other afterwards, whichever was encoded before.
func TestRegistrationIsSeenAsAWhole(t *testing.T) {
	table := newRouteTable(func() time.Duration { return 0 }, 0)
	const rounds = 500
	var done atomic.Bool
	var readers sync.WaitGroup
	queues := func(name string) int32 {
		resp := table.route(name, routeQuery{form: protocol.FormStrict})
		if resp == nil {
			return 0
		}
		var route seenRoute
		if err := json.Unmarshal(resp.Body, &route); err != nil {
			t.Error(err)
			return 0
		}
		return route.QueueDatas[0].ReadQueueNums
	}
	for i := range 4 {
		one, other := "T1", "T2"
		if i%2 == 0 {
			one, other = other, one
		}
		readers.Go(func() {
			for !done.Load() {
				first := queues(one)
				if second := queues(other); second < first {
					t.Errorf("%s has %d queues, and then %s has %d", one, first, other, second)
					return
				}
			}
		})
	}
	conn := new(remoting.Peer)
	for n := range int32(rounds) {
		v := version(0, 1, int64(n))
		_, err := table.register(&registration{
			header: protocol.RegisterBrokerRequestHeader{ClusterName: "C", BrokerName: "a", BrokerAddr: "X"}, conn: conn,
		}, &protocol.RegisterBrokerBody{DataVersion: &v, Topics: []protocol.TopicConfig{topicWith("T1", n+1, 6), topicWith("T2", n+1, 6)}})
		require.NoError(t, err)
		require.Equal(t, n+1, queues("T2"))
	}
	done.Store(true)
	readers.Wait()
}
