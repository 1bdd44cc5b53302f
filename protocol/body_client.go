package protocol

// ConsumeType says how a consumer gets its messages. The zero value is null: absent, or a name nobody knows.
type ConsumeType uint8

// How consumers get messages.
const (
	ConsumeActively  ConsumeType = iota + 1 // CONSUME_ACTIVELY: the application pulls
	ConsumePassively                        // CONSUME_PASSIVELY: push, in name
	ConsumePop                              // CONSUME_POP, since 5.0
)

// MessageModel says who of a group gets a message. The zero value is null: absent, or a name nobody knows.
type MessageModel uint8

// Who of a group gets a message.
const (
	Broadcasting  MessageModel = iota + 1 // BROADCASTING: every consumer
	Clustering                            // CLUSTERING: one consumer
	LiteSelective                         // LITE_SELECTIVE, since 5.5.0
)

// ConsumeFromWhere says where a group begins with a queue in which it has no offset. Only its consumers act on it. The
// zero value is null: absent, or a name nobody knows, such as the Go client's UNKNOWN.
type ConsumeFromWhere uint8

// Where a group begins.
const (
	ConsumeFromLastOffset                        ConsumeFromWhere = iota + 1 // CONSUME_FROM_LAST_OFFSET
	ConsumeFromLastOffsetAndFromMinWhenBootFirst                             // CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST, deprecated
	ConsumeFromMinOffset                                                     // CONSUME_FROM_MIN_OFFSET, deprecated
	ConsumeFromMaxOffset                                                     // CONSUME_FROM_MAX_OFFSET, deprecated
	ConsumeFromFirstOffset                                                   // CONSUME_FROM_FIRST_OFFSET
	ConsumeFromTimestamp                                                     // CONSUME_FROM_TIMESTAMP
)

// HeartbeatData is the body of HEART_BEAT (34). Source: spec/broker.md §5.1.
type HeartbeatData struct {
	ClientID             string
	ProducerDataSet      []ProducerData
	ConsumerDataSet      []ConsumerData
	HeartbeatFingerprint int32 // hash of what the client consumes; 0: a client that knows no heartbeat V2
	WithoutSub           bool  // nothing has changed; the consumers come without subscriptions
}

// ProducerData is a producer group of a client.
type ProducerData struct {
	GroupName string
}

// ConsumerData is a consumer group of a client.
type ConsumerData struct {
	GroupName           string
	ConsumeType         ConsumeType
	MessageModel        MessageModel
	ConsumeFromWhere    ConsumeFromWhere
	SubscriptionDataSet []SubscriptionData
	UnitMode            bool
}

// SubscriptionData is what a consumer wants of a topic.
type SubscriptionData struct {
	ClassFilterMode bool
	Topic           string
	SubString       string   // the expression: tags separated by ||, *, or SQL
	TagsSet         []string // tags of SubString; empty for * and SQL
	CodeSet         []int32  // Java's hash codes of TagsSet; the Go client sends them as strings
	SubVersion      int64    // time of the last change; milliseconds since 1970 in Java, nanoseconds in Go
	ExpressionType  string   // TAG, the default, or SQL92
}

// CheckClientRequestBody is the body of CHECK_CLIENT_CONFIG (46). Source: spec/broker.md §5.2.
type CheckClientRequestBody struct {
	ClientID         string
	Group            string
	Namespace        *string           // nil: null, left out when written
	SubscriptionData *SubscriptionData // nil: null, left out when written
}

// GetConsumerListByGroupResponseBody is the answer to GET_CONSUMER_LIST_BY_GROUP (38): client ids.
type GetConsumerListByGroupResponseBody struct {
	ConsumerIDList []string
}

// Connection is a client of a group, as the administration sees it.
type Connection struct {
	ClientID   string
	ClientAddr string // ip:port
	Language   Language
	Version    Version
}

// ConsumerConnection is the answer to GET_CONSUMER_CONNECTION_LIST (203).
type ConsumerConnection struct {
	ConnectionSet     []Connection
	SubscriptionTable []SubscriptionData // a map by Topic
	ConsumeType       ConsumeType
	MessageModel      MessageModel
	ConsumeFromWhere  ConsumeFromWhere
}

// ProducerConnection is the answer to GET_PRODUCER_CONNECTION_LIST (204).
type ProducerConnection struct {
	ConnectionSet []Connection
}

// ProducerInfo is a producer of the table that GET_ALL_PRODUCER_INFO (328) gives.
type ProducerInfo struct {
	ClientID            string
	RemoteIP            string // with a slash and the port: /127.0.0.1:48466
	Language            Language
	Version             Version
	LastUpdateTimestamp int64 // of the last heartbeat, milliseconds since 1970
}

// ProducerTableInfo is the answer to GET_ALL_PRODUCER_INFO (328): producers by group.
type ProducerTableInfo struct {
	Data map[string][]ProducerInfo
}

// QuerySubscriptionResponseBody is the answer to QUERY_SUBSCRIPTION_BY_CONSUMER (345).
type QuerySubscriptionResponseBody struct {
	SubscriptionData *SubscriptionData // nil: null, left out when written: the group is offline or has not this topic
	Group            string
	Topic            *string // nil: null, left out when written
}
