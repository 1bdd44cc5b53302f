package admin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mq-server/mq/protocol"
)

// TopicList is the outcome of topicList.
type TopicList struct {
	Topics []string `json:"topicList"`
}

// TopicList lists all topics that the NameServer knows, cluster and broker names among them.
func (c *Client) TopicList(ctx context.Context) (*TopicList, error) {
	resp, err := c.lookUp(ctx, protocol.ReqGetAllTopicListFromNameServer, nil)
	if err != nil {
		return nil, err
	}
	list, err := protocol.DecodeTopicList(resp.Body)
	if err != nil {
		return nil, bodyError("the NameServer", err)
	}
	slices.Sort(list.TopicList)
	return &TopicList{append([]string{}, slices.Compact(list.TopicList)...)}, nil
}

// AppendText appends a line per topic.
func (l *TopicList) AppendText(b *bytes.Buffer) { appendLines(b, l.Topics) }

func appendLines(b *bytes.Buffer, lines []string) {
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
}

// TopicsByCluster is the outcome of topicList -c.
type TopicsByCluster struct {
	Topics []ClusterTopic `json:"topics"`
}

// ClusterTopic is a topic in one cluster with the groups that consume it there.
type ClusterTopic struct {
	Cluster string   `json:"cluster"` // empty if the topic was gone when its route was asked for
	Topic   string   `json:"topic"`
	Groups  []string `json:"consumerGroups"`

	err error
}

const (
	retryPrefix = "%RETRY%"
	dlqPrefix   = "%DLQ%"
)

// TopicsByCluster lists all topics but those for retries and dead letters, with their clusters and groups.
func (c *Client) TopicsByCluster(ctx context.Context) (*TopicsByCluster, error) {
	list, err := c.TopicList(ctx)
	if err != nil {
		return nil, err
	}
	topics := slices.DeleteFunc(list.Topics, func(t string) bool {
		return strings.HasPrefix(t, retryPrefix) || strings.HasPrefix(t, dlqPrefix)
	})
	result := &TopicsByCluster{Topics: []ClusterTopic{}}
	var f failures
	for _, rows := range forEach(topics, func(topic string) []ClusterTopic { return c.clusterTopics(ctx, topic) }) {
		for _, row := range rows {
			f.add(row.err)
		}
		result.Topics = append(result.Topics, rows...)
	}
	return result, f.err()
}

// clusterTopics asks for the groups of a topic in each of its clusters.
func (c *Client) clusterTopics(ctx context.Context, topic string) []ClusterTopic {
	route, err := c.route(ctx, topic)
	if answered(err, protocol.RespTopicNotExist) {
		err = nil
	}
	if err != nil || len(route.BrokerDatas) == 0 {
		return []ClusterTopic{{Topic: topic, Groups: []string{}, err: err}}
	}
	var rows []ClusterTopic
	for _, cluster := range clustersOf(route) {
		row := ClusterTopic{Cluster: cluster, Topic: topic}
		row.Groups, row.err = c.groupsOf(ctx, topic, cluster, route)
		rows = append(rows, row)
	}
	return rows
}

// groupsOf asks the first broker of a cluster that answers which groups consume a topic (QUERY_TOPIC_CONSUME_BY_WHO, 300).
func (c *Client) groupsOf(ctx context.Context, topic, cluster string, route protocol.TopicRouteData) ([]string, error) {
	var f failures
	for _, broker := range byBrokerName(route.BrokerDatas) {
		addr := anyOf(broker)
		if broker.Cluster != cluster || addr == "" {
			continue
		}
		resp, err := c.call(ctx, addr, protocol.ReqQueryTopicConsumeByWho, &protocol.QueryTopicConsumeByWhoRequestHeader{Topic: topic}, nil)
		if err != nil {
			f.add(err)
			continue
		}
		list, err := protocol.DecodeGroupList(resp.Body)
		slices.Sort(list.GroupList)
		return append([]string{}, list.GroupList...), bodyError(addr, err)
	}
	return []string{}, f.err()
}

// clustersOf returns the clusters of a route, sorted.
func clustersOf(route protocol.TopicRouteData) []string {
	clusters := []string{}
	for _, broker := range route.BrokerDatas {
		clusters = append(clusters, broker.Cluster)
	}
	slices.Sort(clusters)
	return slices.Compact(clusters)
}

// AppendText appends a line per topic, cluster and group below a heading.
func (t *TopicsByCluster) AppendText(b *bytes.Buffer) {
	fmt.Fprintf(b, "%-20s  %-48s  %-48s\n", "#Cluster Name", "#Topic", "#Consumer Group")
	for _, row := range t.Topics {
		groups := row.Groups
		if len(groups) == 0 {
			groups = []string{""}
		}
		for _, group := range groups {
			fmt.Fprintf(b, "%-20s  %-64s  %-64s\n", row.Cluster, row.Topic, group)
		}
	}
}

// TopicRoute is the outcome of topicRoute.
type TopicRoute struct {
	Route protocol.TopicRouteData

	table bool
}

// TopicRoute asks for the route of a topic. With table its text is a table instead of JSON.
func (c *Client) TopicRoute(ctx context.Context, topic string, table bool) (*TopicRoute, error) {
	route, err := c.route(ctx, topic)
	if err != nil {
		return nil, err
	}
	return &TopicRoute{route, table}, nil
}

// MarshalJSON returns the route as NameServers send it to clients of today.
func (r *TopicRoute) MarshalJSON() ([]byte, error) {
	return r.Route.AppendJSON(nil, protocol.FormStrict), nil
}

var _ json.Marshaler = (*TopicRoute)(nil)

const routeFormat = "%-45s %-32v %-50s %-10v %-11v %-5v\n"

// AppendText appends the route as mqadmin does: JSON with bare numbers as keys, or a table.
func (r *TopicRoute) AppendText(b *bytes.Buffer) {
	if !r.table {
		b.Write(protocol.AppendPretty(nil, &r.Route))
		b.WriteByte('\n')
		return
	}
	queues := map[string]protocol.QueueData{}
	for _, q := range r.Route.QueueDatas {
		queues[q.BrokerName] = q
	}
	var reads, writes int32
	fmt.Fprintf(b, routeFormat, "#ClusterName", "#BrokerName", "#BrokerAddrs", "#ReadQueue", "#WriteQueue", "#Perm")
	for _, broker := range byBrokerName(r.Route.BrokerDatas) {
		q := queues[broker.BrokerName]
		reads += q.ReadQueueNums
		writes += q.WriteQueueNums
		addrs := make([]string, len(broker.BrokerAddrs))
		for i, a := range broker.BrokerAddrs {
			addrs[i] = fmt.Sprintf("%d=%s", a.ID, a.Addr)
		}
		fmt.Fprintf(b, routeFormat, broker.Cluster, broker.BrokerName, "{"+strings.Join(addrs, ", ")+"}", q.ReadQueueNums, q.WriteQueueNums, q.Perm)
	}
	b.WriteString(strings.Repeat("-", 158) + "\n")
	fmt.Fprintf(b, routeFormat, "Total:", len(queues), "", reads, writes, "")
}

// TopicClusterList is the outcome of topicClusterList.
type TopicClusterList struct {
	Clusters []string `json:"clusters"`
}

// TopicClusterList asks for the clusters of a topic.
func (c *Client) TopicClusterList(ctx context.Context, topic string) (*TopicClusterList, error) {
	route, err := c.route(ctx, topic)
	if err != nil {
		return nil, err
	}
	return &TopicClusterList{clustersOf(route)}, nil
}

// AppendText appends a line per cluster.
func (l *TopicClusterList) AppendText(b *bytes.Buffer) { appendLines(b, l.Clusters) }

// Allocation is the outcome of allocateMQ.
type Allocation struct {
	Result map[string][]AllocatedQueue `json:"result"` // by consumer
}

// AllocatedQueue is a queue that a consumer gets.
type AllocatedQueue struct {
	BrokerName string `json:"brokerName"`
	QueueID    int32  `json:"queueId"`
	Topic      string `json:"topic"`
}

// AllocateMQ says which queues of a topic each of some consumers would get, by the averaging strategy that clients
// have by default: the queues sorted as consumers sort them, in runs of equal length, the first ones longer by one if
// they do not divide. A consumer is any name; all of them must differ.
func (c *Client) AllocateMQ(ctx context.Context, topic string, consumers []string) (*Allocation, error) {
	result := map[string][]AllocatedQueue{}
	for _, name := range consumers {
		if _, twice := result[name]; twice || name == "" {
			return nil, fmt.Errorf("consumer %q is empty or given twice", name)
		}
		result[name] = []AllocatedQueue{}
	}
	if len(consumers) == 0 {
		return nil, fmt.Errorf("no consumer is given")
	}
	route, err := c.route(ctx, topic)
	if err != nil {
		return nil, err
	}
	queues, err := readableQueues(topic, route)
	if err != nil {
		return nil, err
	}
	each, more := len(queues)/len(consumers), len(queues)%len(consumers)
	for i, name := range consumers {
		n := each
		if i < more {
			n++
		}
		result[name] = append(result[name], queues[:n]...)
		queues = queues[n:]
	}
	return &Allocation{result}, nil
}

const permRead = 4

// logicalPrefix begins the broker name of a static topic's queues; the scope follows (spec/namesrv.md §4.4).
const logicalPrefix = "__syslo__"

// mostQueues is how many queues a topic may have for allocateMQ, which lists them. Servers take any number for one.
const mostQueues = 1 << 20

// readableQueues returns the queues of a topic that consumers share out, by broker name and id.
func readableQueues(topic string, route protocol.TopicRouteData) ([]AllocatedQueue, error) {
	var queues []AllocatedQueue
	totals := map[string]int32{} // of a static topic, by the name that stands for its brokers
	for _, m := range route.TopicQueueMappingByBroker {
		name := logicalPrefix + m.Info.Scope
		if m.Info.Scope == protocol.GlobalScope {
			name = logicalPrefix + "global__"
		}
		totals[name] = max(totals[name], m.Info.TotalQueues)
	}
	if len(totals) == 0 {
		for _, q := range route.QueueDatas {
			if q.Perm&permRead != 0 {
				totals[q.BrokerName] = q.ReadQueueNums
			}
		}
	}
	sum := int64(0)
	for _, n := range totals {
		sum += max(int64(n), 0)
	}
	if sum > mostQueues {
		return nil, fmt.Errorf("topic %q has %d queues, more than the %d that can be listed", topic, sum, mostQueues)
	}
	for name, n := range totals {
		for id := range n {
			queues = append(queues, AllocatedQueue{name, id, topic})
		}
	}
	slices.SortFunc(queues, func(a, b AllocatedQueue) int {
		return cmp.Or(cmp.Compare(a.BrokerName, b.BrokerName), cmp.Compare(a.QueueID, b.QueueID))
	})
	return queues, nil
}

// AppendText appends the allocation as JSON on one line.
func (a *Allocation) AppendText(b *bytes.Buffer) {
	out := json.NewEncoder(b)
	out.SetEscapeHTML(false)
	_ = out.Encode(a) // strings and numbers into a buffer
}
