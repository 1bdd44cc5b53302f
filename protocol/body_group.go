package protocol

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// SubscriptionGroupConfig is the configuration of a consumer group: the body of UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200),
// the answer to GET_SUBSCRIPTIONGROUP_CONFIG (352) and an entry of subscriptionGroup.json. NewSubscriptionGroupConfig makes
// one with the defaults. Source: spec/broker.md §5.7.
type SubscriptionGroupConfig struct {
	GroupName                      string
	ConsumeEnable                  bool
	ConsumeFromMinEnable           bool
	ConsumeBroadcastEnable         bool
	ConsumeMessageOrderly          bool // since 5.0
	RetryQueueNums                 int32
	RetryMaxTimes                  int32
	GroupRetryPolicy               GroupRetryPolicy // since 5.0
	BrokerID                       int64
	WhichBrokerWhenConsumeSlowly   int64
	NotifyConsumerIDsChangedEnable bool
	GroupSysFlag                   int32                    // since 5.0
	ConsumeTimeoutMinute           int32                    // minutes; since 5.0
	SubscriptionDataSet            []SimpleSubscriptionData // nil: null, left out when written; since 5.0
	// Attributes are the group's attributes; in a request their keys begin with + or -. Nil when there are none. Since 5.0.
	Attributes map[string]string
}

// SimpleSubscriptionData is a subscription that is part of a group's configuration.
type SimpleSubscriptionData struct {
	Topic          string
	ExpressionType string
	Expression     string
	Version        int64
}

// GroupRetryPolicyType selects a rule for the time between deliveries of a message.
type GroupRetryPolicyType uint8

// Rules for retries.
const (
	RetryCustomized  GroupRetryPolicyType = iota // CUSTOMIZED, the default; also for null and, in tables, unknown names
	RetryExponential                             // EXPONENTIAL
)

// GroupRetryPolicy says how long to wait before a message is delivered again. Its zero value is the default.
type GroupRetryPolicy struct {
	Type                   GroupRetryPolicyType
	ExponentialRetryPolicy *ExponentialRetryPolicy // nil: null, left out when written
	CustomizedRetryPolicy  *CustomizedRetryPolicy  // nil: null, left out when written; the steps are then those of delay levels
}

// ExponentialRetryPolicy waits Initial, then Multiplier times as long each time, up to Max.
type ExponentialRetryPolicy struct {
	Initial    int64 // milliseconds; default 5000
	Max        int64 // milliseconds; default 7200000
	Multiplier int64 // default 2
}

// CustomizedRetryPolicy waits as long as a list says.
type CustomizedRetryPolicy struct {
	Next []int64 // milliseconds; default 1 s, 5 s, 10 s, 30 s, 1 to 10 min, 20 min, 30 min, 1 h, 2 h
}

// SubscriptionGroupWrapper is the content of subscriptionGroup.json and the answer to GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201).
// Source: spec/broker.md §5.7.
type SubscriptionGroupWrapper struct {
	// SubscriptionGroupTable is a map by GroupName: the name that the map has for a group counts.
	SubscriptionGroupTable []SubscriptionGroupConfig
	// ForbiddenTable has a bit mask by group and topic; 1<<2 forbids reading. Before 5.0 there is none.
	ForbiddenTable map[string]map[string]int32
	DataVersion    *DataVersion // nil: null, left out when written
}

// SubscriptionGroupList is the body of UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST (225).
type SubscriptionGroupList struct {
	GroupConfigList []SubscriptionGroupConfig
}

// GroupList is the answer to QUERY_TOPIC_CONSUME_BY_WHO (300).
type GroupList struct {
	GroupList []string
}

// GroupForbidden is the answer to UPDATE_AND_GET_GROUP_FORBIDDEN (353).
type GroupForbidden struct {
	Topic    string
	Group    string
	Readable *bool // nil: null, left out when written
}

// Defaults of consumer groups (spec/broker.md §5.7).
const (
	defaultRetryQueueNums       = 1
	defaultRetryMaxTimes        = 16
	defaultConsumeTimeoutMinute = 15
	defaultRetryInitial         = 5000    // milliseconds
	defaultRetryMax             = 7200000 // milliseconds
	defaultRetryMultiplier      = 2
)

var (
	retryPolicyTypeNames = []string{"EXPONENTIAL", "CUSTOMIZED"} // by Java's ordinals, of which ours are not to be one

	groupConfigNames = newJSONNames("attributes", "brokerId", "consumeBroadcastEnable", "consumeEnable", "consumeFromMinEnable",
		"consumeMessageOrderly", "consumeTimeoutMinute", "groupName", "groupRetryPolicy", "groupSysFlag",
		"notifyConsumerIdsChangedEnable", "retryMaxTimes", "retryQueueNums", "subscriptionDataSet", "whichBrokerWhenConsumeSlowly")
	simpleSubscriptionNames = newJSONNames("expression", "expressionType", "topic", "version")
	retryPolicyNames        = newJSONNames("customizedRetryPolicy", "exponentialRetryPolicy", "type")
	exponentialPolicyNames  = newJSONNames("initial", "max", "multiplier")
	customizedPolicyNames   = newJSONNames("next")
	groupWrapperNames       = newJSONNames("dataVersion", "forbiddenTable", "subscriptionGroupTable")
	groupConfigListNames    = newJSONNames("groupConfigList")
	groupListNames          = newJSONNames("groupList")
	groupForbiddenNames     = newJSONNames("group", "readable", "topic")
)

// NewSubscriptionGroupConfig returns the configuration that a group has when nobody says anything else.
func NewSubscriptionGroupConfig(name string) SubscriptionGroupConfig {
	return SubscriptionGroupConfig{
		GroupName:                      name,
		ConsumeEnable:                  true,
		ConsumeFromMinEnable:           true,
		ConsumeBroadcastEnable:         true,
		RetryQueueNums:                 defaultRetryQueueNums,
		RetryMaxTimes:                  defaultRetryMaxTimes,
		WhichBrokerWhenConsumeSlowly:   1,
		NotifyConsumerIDsChangedEnable: true,
		ConsumeTimeoutMinute:           defaultConsumeTimeoutMinute,
	}
}

// AppendJSON appends the configuration as release 5.5.0 does.
func (c *SubscriptionGroupConfig) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.stringMap("attributes", c.Attributes)
	w.long("brokerId", c.BrokerID)
	w.bool("consumeBroadcastEnable", c.ConsumeBroadcastEnable)
	w.bool("consumeEnable", c.ConsumeEnable)
	w.bool("consumeFromMinEnable", c.ConsumeFromMinEnable)
	w.bool("consumeMessageOrderly", c.ConsumeMessageOrderly)
	w.int("consumeTimeoutMinute", c.ConsumeTimeoutMinute)
	w.string("groupName", c.GroupName)
	w.body("groupRetryPolicy", &c.GroupRetryPolicy)
	w.int("groupSysFlag", c.GroupSysFlag)
	w.bool("notifyConsumerIdsChangedEnable", c.NotifyConsumerIDsChangedEnable)
	w.int("retryMaxTimes", c.RetryMaxTimes)
	w.int("retryQueueNums", c.RetryQueueNums)
	if c.SubscriptionDataSet != nil {
		writeList(&w, "subscriptionDataSet", c.SubscriptionDataSet)
	}
	w.long("whichBrokerWhenConsumeSlowly", c.WhichBrokerWhenConsumeSlowly)
	return w.end()
}

// DecodeSubscriptionGroupConfig reads a configuration. Members that are absent, null or "" have their defaults; whether
// the name is good is for the broker to say; a type of retry policy that there is not is an error. A body that holds
// nothing gives ErrNullBody.
func DecodeSubscriptionGroupConfig(data []byte) (SubscriptionGroupConfig, error) {
	var c SubscriptionGroupConfig
	err := decodeBody("SubscriptionGroupConfig", data, func(r *jsonReader) {
		r.orders = true
		r.groupConfig(&c)
	})
	if err != nil {
		return SubscriptionGroupConfig{}, err
	}
	return c, nil
}

func (r *jsonReader) groupConfig(c *SubscriptionGroupConfig) {
	*c = NewSubscriptionGroupConfig("")
	var o jsonObject
	for ok := r.requiredObject(&o, groupConfigNames, "a group"); ok && r.member(&o); {
		switch o.name {
		case "attributes":
			c.Attributes = r.stringMap()
		case "brokerId":
			r.int64(&c.BrokerID)
		case "consumeBroadcastEnable":
			r.bool(&c.ConsumeBroadcastEnable)
		case "consumeEnable":
			r.bool(&c.ConsumeEnable)
		case "consumeFromMinEnable":
			r.bool(&c.ConsumeFromMinEnable)
		case "consumeMessageOrderly":
			r.bool(&c.ConsumeMessageOrderly)
		case "consumeTimeoutMinute":
			r.int32(&c.ConsumeTimeoutMinute)
		case "groupName":
			r.string(&c.GroupName)
		case "groupRetryPolicy":
			c.GroupRetryPolicy = r.retryPolicy()
		case "groupSysFlag":
			r.int32(&c.GroupSysFlag)
		case "notifyConsumerIdsChangedEnable":
			r.bool(&c.NotifyConsumerIDsChangedEnable)
		case "retryMaxTimes":
			r.int32(&c.RetryMaxTimes)
		case "retryQueueNums":
			r.int32(&c.RetryQueueNums)
		case "subscriptionDataSet":
			c.SubscriptionDataSet = readObjectList(r, r.simpleSubscription)
		case "whichBrokerWhenConsumeSlowly":
			r.int64(&c.WhichBrokerWhenConsumeSlowly)
		}
	}
}

// AppendJSON appends the subscription.
func (s *SimpleSubscriptionData) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.string("expression", s.Expression)
	w.string("expressionType", s.ExpressionType)
	w.string("topic", s.Topic)
	w.long("version", s.Version)
	return w.end()
}

func (r *jsonReader) simpleSubscription(s *SimpleSubscriptionData) {
	var o jsonObject
	for ok := r.requiredObject(&o, simpleSubscriptionNames, "a subscription"); ok && r.member(&o); {
		switch o.name {
		case "expression":
			r.string(&s.Expression)
		case "expressionType":
			r.string(&s.ExpressionType)
		case "topic":
			r.string(&s.Topic)
		case "version":
			r.int64(&s.Version)
		}
	}
}

// String returns the name on the wire.
func (t GroupRetryPolicyType) String() string {
	if t == RetryExponential {
		return retryPolicyTypeNames[0]
	}
	return retryPolicyTypeNames[1]
}

// AppendJSON appends the policy.
func (p *GroupRetryPolicy) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	if c := p.CustomizedRetryPolicy; c != nil {
		steps := beginObject(w.name("customizedRetryPolicy"), f)
		steps.dst = appendJSONLongs(steps.name("next"), c.Next, f)
		w.dst = steps.end()
	}
	if e := p.ExponentialRetryPolicy; e != nil {
		growth := beginObject(w.name("exponentialRetryPolicy"), f)
		growth.long("initial", e.Initial)
		growth.long("max", e.Max)
		growth.long("multiplier", e.Multiplier)
		w.dst = growth.end()
	}
	w.string("type", p.Type.String())
	return w.end()
}

func (r *jsonReader) retryPolicy() GroupRetryPolicy {
	var p GroupRetryPolicy
	var o jsonObject
	for ok := r.object(&o, retryPolicyNames); ok && r.member(&o); {
		switch o.name {
		case "customizedRetryPolicy":
			p.CustomizedRetryPolicy = r.customizedPolicy()
		case "exponentialRetryPolicy":
			p.ExponentialRetryPolicy = r.exponentialPolicy()
		case "type":
			p.Type = RetryCustomized
			if r.enum(retryPolicyTypeNames) == 0 {
				p.Type = RetryExponential
			}
		}
	}
	return p
}

func (r *jsonReader) exponentialPolicy() *ExponentialRetryPolicy {
	var o jsonObject
	if !r.object(&o, exponentialPolicyNames) {
		return nil
	}
	e := &ExponentialRetryPolicy{Initial: defaultRetryInitial, Max: defaultRetryMax, Multiplier: defaultRetryMultiplier}
	for r.member(&o) {
		switch o.name {
		case "initial":
			r.int64(&e.Initial)
		case "max":
			r.int64(&e.Max)
		case "multiplier":
			r.int64(&e.Multiplier)
		}
	}
	return e
}

func (r *jsonReader) customizedPolicy() *CustomizedRetryPolicy {
	var o jsonObject
	if !r.object(&o, customizedPolicyNames) {
		return nil
	}
	c := &CustomizedRetryPolicy{}
	for r.member(&o) {
		c.Next = readObjectList(r, func(n *int64) { *n = r.offset() })
	}
	if c.Next == nil {
		c.Next = defaultRetrySteps()
	}
	return c
}

// defaultRetrySteps are the steps of a policy that does not name any, in milliseconds.
func defaultRetrySteps() []int64 {
	steps := []int64{1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200}
	for i := range steps {
		steps[i] *= 1000
	}
	return steps
}

// AppendJSON appends the table, ordered by group.
func (t *SubscriptionGroupWrapper) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.dataVersion("dataVersion", t.DataVersion)
	groups := beginObject(w.name("forbiddenTable"), f)
	for _, group := range slices.Sorted(maps.Keys(t.ForbiddenTable)) {
		topics := beginObject(groups.key(group), f)
		for _, topic := range slices.Sorted(maps.Keys(t.ForbiddenTable[group])) {
			topics.dst = strconv.AppendInt(topics.key(topic), int64(t.ForbiddenTable[group][topic]), 10)
		}
		groups.dst = topics.end()
	}
	w.dst = groups.end()
	byName := func(a, b SubscriptionGroupConfig) int { return strings.Compare(a.GroupName, b.GroupName) }
	writeTable(&w, "subscriptionGroupTable", sortedBy(t.SubscriptionGroupTable, byName),
		func(c *SubscriptionGroupConfig) string { return c.GroupName })
	return w.end()
}

// DecodeSubscriptionGroupWrapper reads the content of subscriptionGroup.json or the answer to 201. A group that is null is an
// error. now is the time in milliseconds since 1970, for a data version that is absent or has no timestamp. The answer of
// a broker before 5.0 gives a ForbiddenTable that is nil.
func DecodeSubscriptionGroupWrapper(data []byte, now int64) (SubscriptionGroupWrapper, error) {
	t := SubscriptionGroupWrapper{DataVersion: &DataVersion{Timestamp: now}}
	err := decodeBody("SubscriptionGroupWrapper", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, groupWrapperNames); ok && r.member(&o); {
			switch o.name {
			case "dataVersion":
				t.DataVersion = r.dataVersion(now)
			case "forbiddenTable":
				t.ForbiddenTable = r.forbiddenTable()
			case "subscriptionGroupTable":
				t.SubscriptionGroupTable = readObjectMap(r, func(name string, c *SubscriptionGroupConfig) {
					r.groupConfig(c)
					c.GroupName = name
				})
			}
		}
	})
	if err != nil {
		return SubscriptionGroupWrapper{}, err
	}
	return t, nil
}

// forbiddenTable reads a map from group and topic to a number, without what is null. It is nil for null only.
func (r *jsonReader) forbiddenTable() map[string]map[string]int32 {
	var groups jsonObject
	if !r.object(&groups, nil) {
		return nil
	}
	table := map[string]map[string]int32{}
	for {
		b, ok := r.textKey(&groups)
		if !ok {
			return table
		}
		group := string(b)
		delete(table, group)
		var topics jsonObject
		for more := r.object(&topics, nil); more; {
			b, ok := r.textKey(&topics)
			if !ok {
				break
			}
			topic := string(b)
			if r.null() {
				delete(table[group], topic)
				continue
			}
			var mask int32
			r.int32(&mask)
			if table[group] == nil {
				table[group] = map[string]int32{}
			}
			table[group][topic] = mask
		}
	}
}

// AppendJSON appends the list in its order.
func (l *SubscriptionGroupList) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	writeList(&w, "groupConfigList", l.GroupConfigList)
	return w.end()
}

// DecodeSubscriptionGroupList reads the body of 225, with configurations as DecodeSubscriptionGroupConfig reads them. A body
// that holds nothing gives ErrNullBody.
func DecodeSubscriptionGroupList(data []byte) (SubscriptionGroupList, error) {
	var l SubscriptionGroupList
	err := decodeBody("SubscriptionGroupList", data, func(r *jsonReader) {
		r.orders = true
		var o jsonObject
		for ok := r.object(&o, groupConfigListNames); ok && r.member(&o); {
			l.GroupConfigList = readObjectList(r, r.groupConfig)
		}
	})
	if err != nil {
		return SubscriptionGroupList{}, err
	}
	return l, nil
}

// AppendJSON appends the list in its order.
func (l *GroupList) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.strings("groupList", l.GroupList)
	return w.end()
}

// DecodeGroupList reads the answer to 300.
func DecodeGroupList(data []byte) (GroupList, error) {
	var l GroupList
	err := decodeBody("GroupList", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, groupListNames); ok && r.member(&o); {
			l.GroupList = r.stringList()
		}
	})
	if err != nil {
		return GroupList{}, err
	}
	return l, nil
}

// AppendJSON appends the answer.
func (g *GroupForbidden) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.string("group", g.Group)
	if g.Readable != nil {
		w.bool("readable", *g.Readable)
	}
	w.string("topic", g.Topic)
	return w.end()
}

// DecodeGroupForbidden reads the answer to 353.
func DecodeGroupForbidden(data []byte) (GroupForbidden, error) {
	var g GroupForbidden
	err := decodeBody("GroupForbidden", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, groupForbiddenNames); ok && r.member(&o); {
			switch o.name {
			case "group":
				r.string(&g.Group)
			case "readable":
				if r.null() {
					g.Readable = nil
					continue
				}
				g.Readable = new(bool)
				r.bool(g.Readable)
			case "topic":
				r.string(&g.Topic)
			}
		}
	})
	if err != nil {
		return GroupForbidden{}, err
	}
	return g, nil
}
