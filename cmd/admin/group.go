package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mq-server/mq/protocol"
)

// UpdatedGroup is the outcome of updateSubGroup.
type UpdatedGroup struct {
	Config  protocol.SubscriptionGroupConfig
	Brokers []Outcome
}

// NewGroup returns what updateSubGroup makes of a group when no option is given.
func NewGroup(name string) protocol.SubscriptionGroupConfig {
	config := protocol.NewSubscriptionGroupConfig(name)
	config.ConsumeBroadcastEnable, config.ConsumeFromMinEnable = false, false
	return config
}

// ParseRetryPolicy reads a retry policy in JSON.
func ParseRetryPolicy(text string) (protocol.GroupRetryPolicy, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return protocol.GroupRetryPolicy{}, fmt.Errorf("retry policy %q is no JSON object", text)
	}
	// Brokers pass over what they do not know, or take it for the default.
	var known struct {
		Type                   string
		ExponentialRetryPolicy *struct{ Initial, Max, Multiplier int64 }
		CustomizedRetryPolicy  *struct{ Next []int64 }
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&known); err != nil {
		return protocol.GroupRetryPolicy{}, fmt.Errorf("retry policy: %w", err)
	}
	switch known.Type {
	case "", protocol.RetryExponential.String(), protocol.RetryCustomized.String():
	default:
		return protocol.GroupRetryPolicy{}, fmt.Errorf("retry policy: type %q is neither %s nor %s", known.Type, protocol.RetryExponential, protocol.RetryCustomized)
	}
	config, err := protocol.DecodeSubscriptionGroupConfig([]byte(`{"groupRetryPolicy":` + text + `}`))
	if err != nil {
		return protocol.GroupRetryPolicy{}, fmt.Errorf("retry policy: %w", err)
	}
	return config.GroupRetryPolicy, nil
}

// UpdateGroup creates a consumer group or replaces its configuration, at one broker or all masters of a cluster.
func (c *Client) UpdateGroup(ctx context.Context, at Target, config protocol.SubscriptionGroupConfig) (*UpdatedGroup, error) {
	if config.GroupName == "" {
		return nil, errors.New("the group is empty")
	}
	addrs, err := c.masters(ctx, at)
	if err != nil {
		return nil, err
	}
	outcomes, err := c.change(ctx, addrs, protocol.ReqUpdateAndCreateSubscriptionGroup, nil, config.AppendJSON(nil, protocol.FormDefault))
	return &UpdatedGroup{config, outcomes}, err
}

// MarshalJSON returns the configuration as brokers know it, and the outcomes.
func (u *UpdatedGroup) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Config  json.RawMessage `json:"subscriptionGroupConfig"`
		Brokers []Outcome       `json:"brokers"`
	}{u.Config.AppendJSON(nil, protocol.FormStrict), u.Brokers})
}

// AppendText appends a line per broker that has the group now, and the group's configuration.
func (u *UpdatedGroup) AppendText(b *bytes.Buffer) {
	done := succeeded(u.Brokers)
	for _, addr := range done {
		fmt.Fprintf(b, "create subscription group to %s success.\n", addr)
	}
	if done == nil {
		return
	}
	g := &u.Config
	fmt.Fprintf(b, "SubscriptionGroupConfig{groupName=%s, consumeEnable=%t, consumeFromMinEnable=%t, consumeBroadcastEnable=%t, consumeMessageOrderly=%t, "+
		"retryQueueNums=%d, retryMaxTimes=%d, groupRetryPolicy=%s, brokerId=%d, whichBrokerWhenConsumeSlowly=%d, notifyConsumerIdsChangedEnable=%t, "+
		"groupSysFlag=%d, consumeTimeoutMinute=%d, subscriptionDataSet=null, attributes=%s}\n",
		g.GroupName, g.ConsumeEnable, g.ConsumeFromMinEnable, g.ConsumeBroadcastEnable, g.ConsumeMessageOrderly,
		g.RetryQueueNums, g.RetryMaxTimes, retryPolicyText(g.GroupRetryPolicy), g.BrokerID, g.WhichBrokerWhenConsumeSlowly, g.NotifyConsumerIDsChangedEnable,
		g.GroupSysFlag, g.ConsumeTimeoutMinute, javaMap(g.Attributes))
}

// retryPolicyText writes a retry policy as Java does.
func retryPolicyText(p protocol.GroupRetryPolicy) string {
	exponential, customized := "null", "null"
	if e := p.ExponentialRetryPolicy; e != nil {
		exponential = fmt.Sprintf("ExponentialRetryPolicy{initial=%d, max=%d, multiplier=%d}", e.Initial, e.Max, e.Multiplier)
	}
	if steps := p.CustomizedRetryPolicy; steps != nil {
		customized = "CustomizedRetryPolicy{next=" + strings.ReplaceAll(fmt.Sprint(steps.Next), " ", ", ") + "}"
	}
	return fmt.Sprintf("GroupRetryPolicy{type=%s, exponentialRetryPolicy=%s, customizedRetryPolicy=%s}", p.Type, exponential, customized)
}

// DeletedGroup is the outcome of deleteSubGroup.
type DeletedGroup struct {
	Group   string    `json:"group"`
	Cluster string    `json:"cluster,omitempty"` // empty: one broker
	Brokers []Outcome `json:"brokers"`
	// Topics are the group's topics for retries and dead letters, which go with it when it is deleted from a cluster.
	Topics []*DeletedTopic `json:"topics,omitempty"`
}

// DeleteGroup removes a consumer group from one broker or from all masters of a cluster, with its offsets if asked, and
// from a cluster with its topics for retries and dead letters.
func (c *Client) DeleteGroup(ctx context.Context, at Target, group string, cleanOffset bool) (*DeletedGroup, error) {
	if group == "" {
		return nil, errors.New("the group is empty")
	}
	addrs, err := c.masters(ctx, at)
	if err != nil {
		return nil, err
	}
	d := &DeletedGroup{Group: group, Cluster: at.Cluster}
	header := &protocol.DeleteSubscriptionGroupRequestHeader{GroupName: group, CleanOffset: cleanOffset}
	var f failures
	d.Brokers, err = c.change(ctx, addrs, protocol.ReqDeleteSubscriptionGroup, header, nil)
	f.add(err)
	if at.Cluster == "" {
		return d, f.err()
	}
	for _, prefix := range []string{retryPrefix, dlqPrefix} {
		topic, err := c.deleteTopic(ctx, addrs, at.Cluster, prefix+group)
		d.Topics = append(d.Topics, topic)
		f.add(err)
	}
	return d, f.err()
}

// AppendText appends a line per broker that has the group no more.
func (d *DeletedGroup) AppendText(b *bytes.Buffer) {
	in := ""
	if d.Cluster != "" {
		in = " in cluster [" + d.Cluster + "]"
	}
	for _, addr := range succeeded(d.Brokers) {
		fmt.Fprintf(b, "delete subscription group [%s] from broker [%s]%s success.\n", d.Group, addr, in)
	}
}
