package admin

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mq-server/mq/protocol"
)

// Connection is a client as brokers see it.
type Connection struct {
	ClientID string `json:"clientId"`
	Addr     string `json:"clientAddr"`
	Language string `json:"language"`
	Version  string `json:"version"`
}

// connections are those of a group at several brokers. A client is connected to each of them: it counts once, with the
// connections it has to the first broker that knows it.
type connections struct {
	list  []Connection
	known map[string]bool
}

func (c *connections) add(set []protocol.Connection) {
	if c.known == nil {
		c.known = map[string]bool{}
	}
	var found []Connection
	for _, conn := range set {
		if !c.known[conn.ClientID] {
			found = append(found, Connection{conn.ClientID, conn.ClientAddr, conn.Language.String(), conn.Version.String()})
		}
	}
	for _, conn := range found {
		c.known[conn.ClientID] = true
	}
	c.list = append(c.list, found...)
}

// sorted returns the connections by client id.
func (c *connections) sorted() []Connection {
	slices.SortStableFunc(c.list, func(a, b Connection) int { return strings.Compare(a.ClientID, b.ClientID) })
	return c.list
}

// atBrokers asks the brokers of a topic, one member of each group, and returns their answers. Brokers that do not know
// the group, as isUnknown says of their errors, are left out.
func (c *Client) atBrokers(ctx context.Context, topic string, code protocol.RequestCode, header protocol.HeaderEncoder, isUnknown func(error) bool) ([]brokerAnswer, error) {
	route, err := c.route(ctx, topic)
	if err != nil {
		return nil, err
	}
	var addrs []string
	for _, broker := range byBrokerName(route.BrokerDatas) {
		if addr := anyOf(broker); addr != "" {
			addrs = append(addrs, addr)
		}
	}
	var answers []brokerAnswer
	var f failures
	for _, a := range forEach(addrs, func(addr string) brokerAnswer {
		resp, err := c.call(ctx, addr, code, header, nil)
		if err != nil {
			return brokerAnswer{addr: addr, err: err}
		}
		return brokerAnswer{addr: addr, body: resp.Body}
	}) {
		switch {
		case a.err == nil:
			answers = append(answers, a)
		case !isUnknown(a.err):
			f.add(a.err)
		}
	}
	return answers, f.err()
}

// brokerAnswer is the answer of one broker of several.
type brokerAnswer struct {
	addr string
	body []byte
	err  error // there is no body
}

// ProducerConnection is the outcome of producerConnection.
type ProducerConnection struct {
	Connections []Connection `json:"connections"`
}

// ProducerConnection asks the brokers of a topic for the producers of a group (GET_PRODUCER_CONNECTION_LIST, 204).
func (c *Client) ProducerConnection(ctx context.Context, group, topic string) (*ProducerConnection, error) {
	unknown := func(err error) bool { // the answer is SYSTEM_ERROR, spec/broker.md §6.5
		return answered(err, protocol.RespSystemError) && strings.Contains(err.Error(), "not exist")
	}
	answers, err := c.atBrokers(ctx, topic, protocol.ReqGetProducerConnectionList, &protocol.GetProducerConnectionListRequestHeader{ProducerGroup: group}, unknown)
	var f failures
	f.add(err)
	var all connections
	for _, a := range answers {
		pc, err := protocol.DecodeProducerConnection(a.body)
		f.add(bodyError(a.addr, err))
		all.add(pc.ConnectionSet)
	}
	if len(all.list) == 0 && len(f) == 0 {
		return nil, fmt.Errorf("no producer of group %q is online at a broker of topic %q", group, topic)
	}
	return &ProducerConnection{append([]Connection{}, all.sorted()...)}, f.err()
}

// AppendText appends a numbered line per producer.
func (p *ProducerConnection) AppendText(b *bytes.Buffer) {
	for i, conn := range p.Connections {
		fmt.Fprintf(b, "%04d  %-32s %-22s %-8s %s\n", i+1, conn.ClientID, conn.Addr, conn.Language, conn.Version)
	}
}

// ConsumerConnection is the outcome of consumerConnection.
type ConsumerConnection struct {
	Connections      []Connection   `json:"connections"`
	Subscriptions    []Subscription `json:"subscriptions"`
	ConsumeType      string         `json:"consumeType"`
	MessageModel     string         `json:"messageModel"`
	ConsumeFromWhere string         `json:"consumeFromWhere"`
}

// Subscription is what the consumers of a group want of a topic.
type Subscription struct {
	Topic          string `json:"topic"`
	SubString      string `json:"subString"`
	ExpressionType string `json:"expressionType"`
}

// ConsumerConnection asks a broker, or with an empty address the brokers of the group's retry topic, for the consumers of a
// group (GET_CONSUMER_CONNECTION_LIST, 203).
func (c *Client) ConsumerConnection(ctx context.Context, group, broker string) (*ConsumerConnection, error) {
	offline := fmt.Errorf("no consumer of group %q is online", group)
	unknown := func(err error) bool { return answered(err, protocol.RespConsumerNotOnline) }
	header := &protocol.GetConsumerConnectionListRequestHeader{ConsumerGroup: group}
	var answers []brokerAnswer
	var err error
	if broker == "" {
		answers, err = c.atBrokers(ctx, retryPrefix+group, protocol.ReqGetConsumerConnectionList, header, unknown)
		if answered(err, protocol.RespTopicNotExist) {
			return nil, fmt.Errorf("%w: %w", offline, err) // a consumer makes its brokers have that topic
		}
	} else {
		var resp *protocol.Command
		if resp, err = c.call(ctx, broker, protocol.ReqGetConsumerConnectionList, header, nil); err == nil {
			answers = []brokerAnswer{{addr: broker, body: resp.Body}}
		} else if unknown(err) {
			return nil, fmt.Errorf("%w: %w", offline, err)
		}
	}
	var f failures
	f.add(err)
	var all connections
	result := &ConsumerConnection{Subscriptions: []Subscription{}}
	for _, a := range answers {
		cc, err := protocol.DecodeConsumerConnection(a.body)
		f.add(bodyError(a.addr, err))
		if err != nil || len(cc.ConnectionSet) == 0 {
			continue
		}
		if len(all.list) == 0 {
			result.ConsumeType, result.MessageModel, result.ConsumeFromWhere = cc.ConsumeType.String(), cc.MessageModel.String(), cc.ConsumeFromWhere.String()
		}
		all.add(cc.ConnectionSet)
		for _, s := range cc.SubscriptionTable {
			if !slices.ContainsFunc(result.Subscriptions, func(known Subscription) bool { return known.Topic == s.Topic }) {
				result.Subscriptions = append(result.Subscriptions, Subscription{s.Topic, s.SubString, s.ExpressionType})
			}
		}
	}
	if len(all.list) == 0 {
		if len(f) == 0 {
			return nil, offline
		}
		return nil, f.err()
	}
	result.Connections = all.sorted()
	slices.SortFunc(result.Subscriptions, func(a, b Subscription) int { return strings.Compare(a.Topic, b.Topic) })
	return result, f.err()
}

// AppendText appends the consumers, then what they subscribe to, then how they consume.
func (c *ConsumerConnection) AppendText(b *bytes.Buffer) {
	fmt.Fprintf(b, "%-36s %-22s %-10s %s\n", "#ClientId", "#ClientAddr", "#Language", "#Version")
	for _, conn := range c.Connections {
		fmt.Fprintf(b, "%-36s %-22s %-10s %s\n", conn.ClientID, conn.Addr, conn.Language, conn.Version)
	}
	b.WriteString("\nBelow is subscription:\n")
	fmt.Fprintf(b, "%-20s %s\n", "#Topic", "#SubExpression")
	for _, s := range c.Subscriptions {
		fmt.Fprintf(b, "%-20s %s\n", s.Topic, s.SubString)
	}
	fmt.Fprintf(b, "\nConsumeType: %s\nMessageModel: %s\nConsumeFromWhere: %s\n", c.ConsumeType, c.MessageModel, c.ConsumeFromWhere)
}
