package protocol

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
	RetryCustomized  GroupRetryPolicyType = iota // CUSTOMIZED, the default; also for null and unknown names
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
	Next []int64 // milliseconds
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
