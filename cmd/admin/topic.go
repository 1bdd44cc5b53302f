package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mq-server/mq/protocol"
)

// orderNamespace has the order configuration of each topic, such as broker-a:4;broker-b:4 (spec/namesrv.md §9).
const orderNamespace = "ORDER_TOPIC_CONFIG"

// defaultTopic is what mqadmin sends as the topic to inherit from. No broker looks at it.
const defaultTopic = "TBW102"

// UpdatedTopic is the outcome of updateTopic.
type UpdatedTopic struct {
	Topic          string `json:"topic"`
	ReadQueueNums  int32  `json:"readQueueNums"`
	WriteQueueNums int32  `json:"writeQueueNums"`
	Perm           int32  `json:"perm"`
	TopicSysFlag   int32  `json:"topicSysFlag"`
	Order          bool   `json:"order"`
	Attributes     string `json:"attributes,omitempty"`

	Brokers []Outcome `json:"brokers"`
	// OrderConf is the order configuration that was added, OrderConfAt what became of it at each NameServer; for
	// topics with Order only.
	OrderConf   string    `json:"orderConf,omitempty"`
	OrderConfAt []Outcome `json:"nameServers,omitempty"`

	cluster bool
}

// UpdateTopic creates a topic or changes it, at one broker or all masters of a cluster. With Order it also sets the
// topic's order configuration in the NameServers: to all brokers of the cluster, or with the one broker added. Brokers
// and OrderConf of t are set here.
func (c *Client) UpdateTopic(ctx context.Context, at Target, t UpdatedTopic) (*UpdatedTopic, error) {
	if t.Topic == "" {
		return nil, errors.New("the topic is empty")
	}
	if t.Perm < 0 || t.Perm > 7 {
		return nil, fmt.Errorf("permission %d is none of 0 to 7 (2: write, 4: read, 6: both)", t.Perm)
	}
	if t.ReadQueueNums < 0 || t.WriteQueueNums < 0 {
		return nil, fmt.Errorf("%d read queues and %d write queues: less than none", t.ReadQueueNums, t.WriteQueueNums)
	}
	if _, err := ParseAttributes(t.Attributes); err != nil {
		return nil, err
	}
	addrs, err := c.masters(ctx, at)
	if err != nil {
		return nil, err
	}
	header := &protocol.CreateTopicRequestHeader{
		Topic: t.Topic, DefaultTopic: defaultTopic, ReadQueueNums: t.ReadQueueNums, WriteQueueNums: t.WriteQueueNums,
		Perm: t.Perm, TopicSysFlag: protocol.Some(t.TopicSysFlag), Order: t.Order,
	}
	if t.Attributes != "" {
		header.Attributes = protocol.Some(t.Attributes)
	}
	t.cluster = at.Cluster != ""
	if t.Brokers, err = c.change(ctx, addrs, protocol.ReqUpdateAndCreateTopic, header, nil); err != nil || !t.Order {
		return &t, err
	}
	return &t, c.setOrder(ctx, at, &t)
}

// setOrder sets the order configuration of a topic.
func (c *Client) setOrder(ctx context.Context, at Target, t *UpdatedTopic) error {
	info, err := c.clusterInfo(ctx)
	if err != nil {
		return err
	}
	queues := ":" + strconv.Itoa(int(t.WriteQueueNums))
	if t.cluster {
		names, _ := brokerNames(info, at.Cluster)
		for i := range names {
			names[i] += queues
		}
		t.OrderConf = strings.Join(names, ";")
		t.OrderConfAt, err = c.putKV(ctx, orderNamespace, t.Topic, t.OrderConf)
		return err
	}
	name, ok := brokerNameOf(info, at.Broker)
	if !ok {
		return fmt.Errorf("the NameServer knows no broker at %s, so it got no order configuration", at.Broker)
	}
	before, err := c.getKV(ctx, orderNamespace, t.Topic)
	if err != nil {
		return err
	}
	t.OrderConf = name + queues
	t.OrderConfAt, err = c.putKV(ctx, orderNamespace, t.Topic, addOrder(before, name, t.OrderConf))
	return err
}

// addOrder puts the item of one broker into an order configuration, in the place of the one it has.
func addOrder(conf, brokerName, item string) string {
	items := slices.DeleteFunc(strings.Split(conf, ";"), func(s string) bool { return strings.TrimSpace(s) == "" })
	i := slices.IndexFunc(items, func(s string) bool { name, _, _ := strings.Cut(s, ":"); return name == brokerName })
	if i < 0 {
		items = append(items, item)
	} else {
		items[i] = item
	}
	return strings.Join(items, ";")
}

func brokerNameOf(info protocol.ClusterInfo, addr string) (string, bool) {
	for _, group := range info.BrokerAddrTable {
		for _, a := range group.BrokerAddrs {
			if a.Addr == addr {
				return group.BrokerName, true
			}
		}
	}
	return "", false
}

// ParseAttributes reads changes of attributes such as +a=b,+c=d,-e. The keys keep their sign.
func ParseAttributes(text string) (map[string]string, error) {
	attributes := map[string]string{}
	if text == "" {
		return attributes, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		key, value, isSet := strings.Cut(item, "=")
		switch {
		case isSet && (len(key) < 2 || key[0] != '+' || value == ""):
			return nil, fmt.Errorf("attribute %q: to set one write +name=value", item)
		case !isSet && (len(key) < 2 || key[0] != '-'):
			return nil, fmt.Errorf("attribute %q: to remove one write -name", item)
		}
		if _, twice := attributes[key]; twice {
			return nil, fmt.Errorf("attribute %q is given twice", key)
		}
		attributes[key] = value
	}
	return attributes, nil
}

// AppendText appends a line per broker that has the topic now, and the topic's configuration.
func (t *UpdatedTopic) AppendText(b *bytes.Buffer) {
	done := succeeded(t.Brokers)
	order := ""
	if t.OrderConf != "" && failed(t.OrderConfAt) == nil {
		place := "broker"
		if t.cluster {
			place = "cluster"
		}
		order = fmt.Sprintf("set %s orderConf. isOrder=true, orderConf=[%s]\n", place, t.OrderConf)
	}
	if !t.cluster {
		b.WriteString(order)
	}
	for _, addr := range done {
		fmt.Fprintf(b, "create topic to %s success.\n", addr)
	}
	if t.cluster {
		b.WriteString(order)
	}
	if done == nil {
		return
	}
	attributes, _ := ParseAttributes(t.Attributes) // was checked
	fmt.Fprintf(b, "TopicConfig [topicName=%s, readQueueNums=%d, writeQueueNums=%d, perm=%s, topicFilterType=%s, topicSysFlag=%d, order=%t, attributes=%s]\n",
		t.Topic, t.ReadQueueNums, t.WriteQueueNums, permText(t.Perm), protocol.FilterSingleTag, t.TopicSysFlag, t.Order, javaMap(attributes))
}

// permText writes a permission as Java does.
func permText(perm int32) string {
	text := []byte("---")
	for i, bit := range []int32{permRead, 2, 1} {
		if perm&bit != 0 {
			text[i] = "RWX"[i]
		}
	}
	return string(text)
}

// DeletedTopic is the outcome of deleteTopic.
type DeletedTopic struct {
	Topic       string    `json:"topic"`
	Cluster     string    `json:"cluster"`
	Brokers     []Outcome `json:"brokers"`
	NameServers []Outcome `json:"nameServers"` // empty if a broker failed: they were not asked then
}

// DeleteTopic removes a topic from all masters of a cluster and then, for that cluster, from all NameServers.
func (c *Client) DeleteTopic(ctx context.Context, cluster, topic string) (*DeletedTopic, error) {
	if topic == "" {
		return nil, errors.New("the topic is empty")
	}
	addrs, err := c.masters(ctx, Target{Cluster: cluster})
	if err != nil {
		return nil, err
	}
	return c.deleteTopic(ctx, addrs, cluster, topic)
}

func (c *Client) deleteTopic(ctx context.Context, addrs []string, cluster, topic string) (*DeletedTopic, error) {
	var err error
	d := &DeletedTopic{Topic: topic, Cluster: cluster, NameServers: []Outcome{}}
	d.Brokers, err = c.change(ctx, addrs, protocol.ReqDeleteTopicInBroker, &protocol.DeleteTopicRequestHeader{Topic: topic}, nil)
	if err != nil {
		return d, err
	}
	header := &protocol.DeleteTopicFromNamesrvRequestHeader{Topic: topic, ClusterName: cluster}
	d.NameServers, err = c.changeNameServers(ctx, protocol.ReqDeleteTopicInNamesrv, header, nil)
	return d, err
}

// AppendText appends a line for the cluster and one for the NameServers.
func (d *DeletedTopic) AppendText(b *bytes.Buffer) {
	if failed(d.Brokers) == nil {
		fmt.Fprintf(b, "delete topic [%s] from cluster [%s] success.\n", d.Topic, d.Cluster)
		if failed(d.NameServers) == nil {
			fmt.Fprintf(b, "delete topic [%s] from NameServer success.\n", d.Topic)
		}
	}
}
