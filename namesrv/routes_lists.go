package namesrv

// GET_BROKER_CLUSTER_INFO (106), GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206), GET_TOPICS_BY_CLUSTER (224),
// GET_SYSTEM_TOPIC_LIST_FROM_NS (304), GET_UNIT_TOPIC_LIST (311), GET_HAS_UNIT_SUB_TOPIC_LIST (312),
// GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST (313), all versions; GET_BROKER_MEMBER_GROUP (901), 5.x.
//
//   - Each is a snapshot: a cluster's names have groups and groups have addresses (F13).
//   - The time is linear in the number of topics, for 224 in that of what the cluster's groups have of them if it is less.
//   - What the original tells in the order of a hash table has no order here either, except that clusters and brokers
//     are sorted.

import (
	"maps"
	"slices"
	"strings"

	"github.com/mq-server/mq/protocol"
)

// Bits of topicSysFlag.
const (
	sysFlagUnit    = 1
	sysFlagUnitSub = 2
)

// clusterInfo returns all clusters and groups.
func (t *routeTable) clusterInfo() protocol.ClusterInfo {
	info := t.unsortedClusterInfo()
	slices.SortFunc(info.BrokerAddrTable, func(a, b protocol.BrokerData) int { return strings.Compare(a.BrokerName, b.BrokerName) })
	slices.SortFunc(info.ClusterAddrTable, func(a, b protocol.ClusterBrokers) int { return strings.Compare(a.Cluster, b.Cluster) })
	for _, c := range info.ClusterAddrTable {
		slices.Sort(c.BrokerNames)
	}
	return info
}

func (t *routeTable) unsortedClusterInfo() protocol.ClusterInfo {
	t.mu.RLock()
	defer t.mu.RUnlock()
	info := protocol.ClusterInfo{
		BrokerAddrTable:  make([]protocol.BrokerData, 0, len(t.groups)),
		ClusterAddrTable: make([]protocol.ClusterBrokers, 0, len(t.clusters)),
	}
	for _, g := range t.groups {
		info.BrokerAddrTable = append(info.BrokerAddrTable, g.brokerData())
	}
	for cluster, groups := range t.clusters {
		names := slices.AppendSeq(make([]string, 0, len(groups)), maps.Keys(groups))
		info.ClusterAddrTable = append(info.ClusterAddrTable, protocol.ClusterBrokers{Cluster: cluster, BrokerNames: names})
	}
	return info
}

// memberGroup returns the members of a group, none if it is unknown.
func (t *routeTable) memberGroup(brokerName string) protocol.BrokerAddrs {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if g := t.groups[brokerName]; g != nil {
		return g.brokerAddrs()
	}
	return nil
}

// allTopics returns the names of all topics.
func (t *routeTable) allTopics() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.topicsWhere(func(*topicEntry) bool { return true })
}

// unitTopics returns the topics whose flag at the first broker has all bits of with and none of without. The first
// broker is the one with the lowest name.
func (t *routeTable) unitTopics(with, without int32) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.topicsWhere(func(e *topicEntry) bool {
		flag := e.queues.first().sysFlag
		return flag&with == with && flag&without == 0
	})
}

// topicsWhere goes through all topics. The caller holds mu.
func (t *routeTable) topicsWhere(match func(*topicEntry) bool) []string {
	list := make([]string, 0, len(t.entries))
	for _, e := range t.entries {
		if match(e) {
			list = append(list, e.name)
		}
	}
	return list
}

// topicsByCluster returns the topics that a broker of the cluster serves, none if the cluster is unknown.
func (t *routeTable) topicsByCluster(cluster string) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	groups, listed := t.clusters[cluster], 0
	for _, g := range groups {
		listed += len(g.topics)
	}
	if listed >= len(t.entries) { // then one pass over all topics is less work
		return t.topicsWhere(func(e *topicEntry) bool {
			for q := range e.queues.all() {
				if q.group.cluster == cluster {
					return true
				}
			}
			return false
		})
	}
	seen := make(map[*topicEntry]struct{}, listed)
	list := make([]string, 0, listed)
	for _, g := range groups {
		for _, e := range g.topics {
			if _, ok := seen[e]; !ok {
				seen[e] = struct{}{}
				list = append(list, e.name)
			}
		}
	}
	return list
}

// systemTopics returns the names of all clusters and brokers, each once, which clients take for reserved topics, and
// the address of one broker if there is any.
func (t *routeTable) systemTopics() protocol.TopicList {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := protocol.TopicList{TopicList: make([]string, 0, len(t.clusters)+len(t.groups))}
	list.TopicList = slices.AppendSeq(list.TopicList, maps.Keys(t.clusters))
	list.TopicList = slices.AppendSeq(list.TopicList, maps.Keys(t.groups))
	slices.Sort(list.TopicList)
	list.TopicList = slices.Compact(list.TopicList)
	for _, g := range t.groups {
		addr := g.members[0].addr
		list.BrokerAddr = &addr
		break
	}
	return list
}
