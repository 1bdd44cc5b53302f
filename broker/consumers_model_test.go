package broker

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mq-server/mq/protocol"
)

// consumerModel is what a consumerManager should know, in plain maps.
type consumerModel struct {
	members map[string]map[int]*modelMember // by group and connection
	topics  map[string]map[string]int64     // by group and topic: version
	prints  map[string]int32                // of the heartbeat that brought the subscriptions, by group
	models  map[string]protocol.MessageModel
	arrival int
}

type modelMember struct {
	id      string
	seen    time.Duration
	arrived int
}

// drop removes a member and reports whether the rest is to be told, if it may be.
func (m *consumerModel) drop(group string, conn int) (tell bool) {
	tell = m.models[group] != protocol.Broadcasting
	delete(m.members[group], conn)
	if len(m.members[group]) > 0 {
		return tell
	}
	delete(m.members, group)
	delete(m.topics, group)
	delete(m.prints, group)
	delete(m.models, group)
	return false
}

// ids returns the client ids of a group, each once, and the newest connection of each.
func (m *consumerModel) ids(group string) map[string]int {
	newest := map[string]int{}
	for conn, member := range m.members[group] {
		if other, ok := newest[member.id]; !ok || m.members[group][other].arrived < member.arrived {
			newest[member.id] = conn
		}
	}
	return newest
}

// TestConsumerManagerModel does random things to a manager and to plain maps, and compares all that can be asked.
func TestConsumerManagerModel(t *testing.T) {
	groups := []string{"G", "H", "I"}
	topics := []string{"T", "U", "V"}
	rapid.Check(t, func(t *rapid.T) {
		clock := &clientClock{}
		manager := newConsumerManager(clock.elapsed)
		conns := make([]client, 6)
		for i := range conns {
			conns[i] = testClient("")
		}
		model := consumerModel{
			members: map[string]map[int]*modelMember{}, topics: map[string]map[string]int64{}, prints: map[string]int32{},
			models: map[string]protocol.MessageModel{},
		}
		conn := rapid.IntRange(0, len(conns)-1)
		connOf := func(c client) int {
			return slices.IndexFunc(conns, func(o client) bool { return o.peer == c.peer })
		}
		checkLeft := func(changes []consumerChange, want map[string][]int, tell map[string]bool) {
			got, gone := map[string][]int{}, map[string]bool{}
			for _, c := range changes {
				got[c.group] = append(got[c.group], connOf(*c.left))
				gone[c.group] = gone[c.group] || c.gone
			}
			for group := range got {
				require.Equal(t, model.members[group] == nil, gone[group])
			}
			for _, list := range got {
				slices.Sort(list)
			}
			require.Equal(t, want, got)
			told := map[string]bool{}
			for _, c := range changes {
				if c.notify && len(model.members[c.group]) > 0 {
					told[c.group] = true
				}
			}
			require.Equal(t, tell, told)
		}

		t.Repeat(map[string]func(*rapid.T){
			"heartbeat": func(t *rapid.T) {
				i := conn.Draw(t, "conn")
				c := conns[i]
				c.id = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
				b := newBeat(c.id)
				for _, group := range rapid.SliceOfNDistinct(rapid.SampledFrom(groups), 0, 3, rapid.ID[string]).Draw(t, "groups") {
					b.consumer(group).model(rapid.SampledFrom([]protocol.MessageModel{protocol.Clustering, protocol.Broadcasting}).Draw(t, "model"))
					data := &b.ConsumerDataSet[len(b.ConsumerDataSet)-1]
					for _, topic := range rapid.SliceOfNDistinct(rapid.SampledFrom(topics), 0, 3, rapid.ID[string]).Draw(t, "topics") {
						data.SubscriptionDataSet = append(data.SubscriptionDataSet, testSubscription(topic, rapid.Int64Range(1, 5).Draw(t, "version")))
					}
				}
				b.v2(rapid.Int32Range(0, 2).Draw(t, "fingerprint"), rapid.Bool().Draw(t, "withoutSub"))
				notify := rapid.Bool().Draw(t, "notify")

				list := entries(b)
				for j := range list {
					list[j].notify = notify
				}
				changes, stale := manager.heartbeat(c, list, b.HeartbeatFingerprint, b.WithoutSub)
				var wantTold []string
				wantStale := false
				for j := range b.ConsumerDataSet {
					data := &b.ConsumerDataSet[j]
					group := data.GroupName
					if model.members[group] == nil {
						model.members[group] = map[int]*modelMember{}
						model.topics[group] = map[string]int64{}
					}
					member, known := model.members[group][i]
					if !known {
						model.arrival++
						member = &modelMember{arrived: model.arrival}
						model.members[group][i] = member
					}
					if known && member.id != c.id { // counts as the newest of its new id
						model.arrival++
						member.arrived = model.arrival
					}
					member.id, member.seen = c.id, clock.elapsed()
					changed := !known
					if !b.WithoutSub {
						listed := map[string]int64{}
						for _, sub := range data.SubscriptionDataSet {
							version, ok := model.topics[group][sub.Topic]
							changed = changed || !ok
							listed[sub.Topic] = max(version, sub.SubVersion)
						}
						changed = changed || len(listed) != len(model.topics[group])
						model.topics[group] = listed
					}
					print, full := model.prints[group]
					wantStale = wantStale || full && print != b.HeartbeatFingerprint || !full && b.WithoutSub
					if !b.WithoutSub {
						model.prints[group] = b.HeartbeatFingerprint
					}
					model.models[group] = data.MessageModel
					if changed && notify && data.MessageModel != protocol.Broadcasting {
						wantTold = append(wantTold, group)
					}
				}
				require.Equal(t, wantTold, told(changes))
				require.Equal(t, wantStale, stale)
			},
			"unregister": func(t *rapid.T) {
				i, group := conn.Draw(t, "conn"), rapid.SampledFrom(groups).Draw(t, "group")
				notify := rapid.Bool().Draw(t, "notify")
				_, known := model.members[group][i]
				change, ok := manager.unregister(group, conns[i].peer, notify)
				require.Equal(t, known, ok)
				if known {
					require.Equal(t, model.drop(group, i) && notify, change.notify)
				}
			},
			"close": func(t *rapid.T) {
				i := conn.Draw(t, "conn")
				left, tell := map[string][]int{}, map[string]bool{}
				for group, members := range maps.Clone(model.members) {
					if members[i] != nil {
						left[group] = []int{i}
						if model.drop(group, i) {
							tell[group] = true
						}
					}
				}
				checkLeft(manager.closed(conns[i].peer), left, tell)
			},
			"time": func(t *rapid.T) {
				clock.advance(time.Duration(rapid.IntRange(1, 100).Draw(t, "seconds")) * time.Second)
			},
			"expire": func(t *rapid.T) {
				left, tell := map[string][]int{}, map[string]bool{}
				for _, group := range slices.Collect(maps.Keys(model.members)) {
					for _, i := range slices.Sorted(maps.Keys(model.members[group])) {
						if clock.elapsed()-model.members[group][i].seen > 120*time.Second {
							left[group] = append(left[group], i)
							tell[group] = model.drop(group, i)
						}
					}
				}
				maps.DeleteFunc(tell, func(_ string, t bool) bool { return !t })
				checkLeft(manager.expire(120*time.Second, yes), left, tell)
			},
			"": func(t *rapid.T) {
				byTopic := map[string][]string{}
				for _, group := range groups {
					members := model.members[group]
					body, online := manager.idList(group)
					require.Equal(t, members != nil, online)
					newest := model.ids(group)
					want := protocol.GetConsumerListByGroupResponseBody{ConsumerIDList: slices.Sorted(maps.Keys(newest))}
					if online {
						require.Equal(t, string(want.AppendJSON(nil, protocol.FormDefault)), string(body))
					}
					for _, id := range []string{"a", "b", "c"} {
						c, ok := manager.client(group, id)
						i, known := newest[id]
						require.Equal(t, known, ok)
						if known {
							require.Equal(t, i, connOf(c), fmt.Sprint(group, id))
						}
					}
					require.Len(t, manager.clients(group), len(newest))
					o, _ := manager.group(group)
					require.Len(t, o.conns, len(members))
					if online {
						require.Equal(t, model.models[group], o.messageModel)
					}
					wantTopics := slices.Sorted(maps.Keys(model.topics[group]))
					require.Equal(t, wantTopics, manager.topicsOf(group))
					for _, topic := range wantTopics {
						byTopic[topic] = append(byTopic[topic], group)
						require.Equal(t, model.topics[group][topic], manager.subscription(group, topic, false).SubVersion)
					}
				}
				for _, topic := range topics {
					require.Equal(t, byTopic[topic], manager.groupsOf(topic))
				}
				subscribed, size := 0, 0
				for _, g := range manager.roster.groups {
					own := 0
					for _, sub := range g.state.subscriptions {
						own += subscriptionSize(sub)
					}
					require.Equal(t, own, g.state.size)
					subscribed += own
					size += groupBytes + len(g.name)
					for _, m := range g.list {
						size += memberBytes + len(m.id)
					}
				}
				require.Equal(t, subscribed, manager.subscribed)
				require.Equal(t, size, manager.roster.size)
				total := 0
				for i := range conns {
					of := manager.roster.byPeer[conns[i].peer]
					for at, m := range of {
						require.Equal(t, at, m.inPeer)
						require.Same(t, m, m.group.list[m.inGroup])
						require.NotNil(t, model.members[m.group.name][i])
					}
					total += len(of)
				}
				for _, members := range model.members {
					total -= len(members)
				}
				require.Zero(t, total)
			},
		})
	})
}
