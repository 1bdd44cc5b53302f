package admin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mq-server/mq/protocol"
)

// Target says where a command for brokers goes: to one broker or to those of a cluster.
type Target struct {
	Broker  string // host:port
	Cluster string
}

// ErrTarget says that a target is neither or both.
var ErrTarget = errors.New("give either a broker (-b) or a cluster (-c)")

func (t Target) check() error {
	if (t.Broker == "") == (t.Cluster == "") {
		return ErrTarget
	}
	return nil
}

// clusterInfo is GET_BROKER_CLUSTER_INFO (106).
func (c *Client) clusterInfo(ctx context.Context) (protocol.ClusterInfo, error) {
	resp, err := c.lookUp(ctx, protocol.ReqGetBrokerClusterInfo, nil)
	if err != nil {
		return protocol.ClusterInfo{}, err
	}
	info, err := protocol.DecodeClusterInfo(resp.Body)
	return info, bodyError("the NameServer", err)
}

// route is GET_ROUTEINFO_BY_TOPIC (105).
func (c *Client) route(ctx context.Context, topic string) (protocol.TopicRouteData, error) {
	header := &protocol.GetRouteInfoRequestHeader{Topic: protocol.Some(topic), AcceptStandardJSONOnly: true}
	resp, err := c.lookUp(ctx, protocol.ReqGetRouteInfoByTopic, header)
	if err != nil {
		return protocol.TopicRouteData{}, err
	}
	route, err := protocol.DecodeTopicRouteData(resp.Body)
	return route, bodyError("the NameServer", err)
}

// brokersOf returns the broker groups of a cluster, by name.
//
// Errors: no such cluster; a broker name that the NameServer has from another cluster too, and whose addresses may be those.
func brokersOf(info protocol.ClusterInfo, cluster string) ([]protocol.BrokerData, error) {
	names, ok := brokerNames(info, cluster)
	if !ok {
		return nil, fmt.Errorf("the NameServer knows no cluster %q", cluster)
	}
	var brokers []protocol.BrokerData
	for _, name := range names {
		data, ok := brokerData(info, name)
		if !ok {
			continue
		}
		if data.Cluster != cluster {
			return nil, fmt.Errorf("broker name %q is in the clusters %q and %q: address its brokers one by one", name, cluster, data.Cluster)
		}
		brokers = append(brokers, data)
	}
	return brokers, nil
}

// brokerNames returns the broker names of a cluster, sorted.
func brokerNames(info protocol.ClusterInfo, cluster string) (names []string, ok bool) {
	for _, c := range info.ClusterAddrTable {
		if c.Cluster == cluster {
			return slices.Sorted(slices.Values(c.BrokerNames)), true
		}
	}
	return nil, false
}

func brokerData(info protocol.ClusterInfo, name string) (protocol.BrokerData, bool) {
	i := slices.IndexFunc(info.BrokerAddrTable, func(b protocol.BrokerData) bool { return b.BrokerName == name })
	if i < 0 {
		return protocol.BrokerData{}, false
	}
	return info.BrokerAddrTable[i], true
}

// masterOf returns the address of a group's master, "" if it has none.
func masterOf(b protocol.BrokerData) string {
	if len(b.BrokerAddrs) > 0 && b.BrokerAddrs[0].ID == 0 {
		return b.BrokerAddrs[0].Addr
	}
	return ""
}

// anyOf returns the address of a group's member with the lowest id, "" if it has none.
func anyOf(b protocol.BrokerData) string {
	if len(b.BrokerAddrs) > 0 {
		return b.BrokerAddrs[0].Addr
	}
	return ""
}

// masters returns the broker of a target, or the masters of its cluster by broker name.
//
// Errors: ErrTarget, those of brokersOf, and a cluster without master.
func (c *Client) masters(ctx context.Context, t Target) ([]string, error) {
	addrs, err := c.members(ctx, t, func(id int64) bool { return id == 0 })
	if err == nil && len(addrs) == 0 {
		return nil, fmt.Errorf("cluster %q has no master", t.Cluster)
	}
	return addrs, err
}

// all returns the broker of a target, or all brokers of its cluster by name and id.
//
// Errors: as masters, but a cluster without master is none.
func (c *Client) all(ctx context.Context, t Target) ([]string, error) {
	return c.members(ctx, t, func(int64) bool { return true })
}

// members returns the broker of a target, or the brokers of its cluster, by name and id, whose ids wanted asks for.
func (c *Client) members(ctx context.Context, t Target, wanted func(id int64) bool) ([]string, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if t.Broker != "" {
		return []string{t.Broker}, nil
	}
	info, err := c.clusterInfo(ctx)
	if err != nil {
		return nil, err
	}
	brokers, err := brokersOf(info, t.Cluster)
	if err != nil {
		return nil, err
	}
	var addrs []string
	for _, b := range brokers {
		for _, a := range b.BrokerAddrs {
			if wanted(a.ID) {
				addrs = append(addrs, a.Addr)
			}
		}
	}
	return addrs, nil
}

// appendTable appends a list of key and value pairs, sorted by key, with a prefix before each.
func appendTable(b *bytes.Buffer, prefix, format string, table map[string]string) {
	for _, key := range sortedKeys(table) {
		b.WriteString(prefix)
		fmt.Fprintf(b, format, key, table[key])
	}
}

func sortedKeys(m map[string]string) []string {
	return slices.Sorted(maps.Keys(m))
}

// byBrokerName returns broker groups sorted by name.
func byBrokerName(brokers []protocol.BrokerData) []protocol.BrokerData {
	return slices.SortedFunc(slices.Values(brokers), func(a, b protocol.BrokerData) int { return cmp.Compare(a.BrokerName, b.BrokerName) })
}

// javaMap writes a map as Java prints it, sorted by key.
func javaMap(m map[string]string) string {
	keys := sortedKeys(m)
	for i, key := range keys {
		keys[i] = key + "=" + m[key]
	}
	return "{" + strings.Join(keys, ", ") + "}"
}
