package protocol

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

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

var (
	consumeTypeNames      = []string{"CONSUME_ACTIVELY", "CONSUME_PASSIVELY", "CONSUME_POP"}
	messageModelNames     = []string{"BROADCASTING", "CLUSTERING", "LITE_SELECTIVE"}
	consumeFromWhereNames = []string{
		"CONSUME_FROM_LAST_OFFSET", "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST", "CONSUME_FROM_MIN_OFFSET",
		"CONSUME_FROM_MAX_OFFSET", "CONSUME_FROM_FIRST_OFFSET", "CONSUME_FROM_TIMESTAMP",
	}

	heartbeatNames    = newJSONNames("clientID", "consumerDataSet", "heartbeatFingerprint", "producerDataSet", "withoutSub")
	producerDataNames = newJSONNames("groupName")
	consumerDataNames = newJSONNames("consumeFromWhere", "consumeType", "groupName", "messageModel", "subscriptionDataSet",
		"unitMode")
	subscriptionNames = newJSONNames("classFilterMode", "codeSet", "expressionType", "subString", "subVersion", "tagsSet",
		"topic")
	checkClientNames        = newJSONNames("clientId", "group", "namespace", "subscriptionData")
	consumerListNames       = newJSONNames("consumerIdList")
	connectionNames         = newJSONNames("clientAddr", "clientId", "language", "version")
	consumerConnectionNames = newJSONNames("connectionSet", "consumeFromWhere", "consumeType", "messageModel", "subscriptionTable")
	producerConnectionNames = newJSONNames("connectionSet")
	producerInfoNames       = newJSONNames("clientId", "language", "lastUpdateTimestamp", "remoteIP", "version")
	producerTableNames      = newJSONNames("data")
	querySubscriptionNames  = newJSONNames("group", "subscriptionData", "topic")
)

// String returns the name on the wire, or null.
func (t ConsumeType) String() string { return enumName(consumeTypeNames, uint8(t)) }

// String returns the name on the wire, or null.
func (m MessageModel) String() string { return enumName(messageModelNames, uint8(m)) }

// String returns the name on the wire, or null.
func (c ConsumeFromWhere) String() string { return enumName(consumeFromWhereNames, uint8(c)) }

func enumName(names []string, n uint8) string {
	if n == 0 || int(n) > len(names) {
		return "null"
	}
	return names[n-1]
}

// AppendJSON appends the heartbeat as release 5.5.0 does.
func (h *HeartbeatData) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.string("clientID", h.ClientID)
	writeList(&w, "consumerDataSet", h.ConsumerDataSet)
	w.int("heartbeatFingerprint", h.HeartbeatFingerprint)
	writeList(&w, "producerDataSet", h.ProducerDataSet)
	w.bool("withoutSub", h.WithoutSub)
	return w.end()
}

// DecodeHeartbeatData reads a heartbeat. A group of either kind without name and a subscription without topic are errors,
// so that nothing is registered by halves. now is the time in milliseconds since 1970, for a subscription without
// subVersion. A body that holds nothing gives ErrNullBody.
func DecodeHeartbeatData(data []byte, now int64) (HeartbeatData, error) {
	var h HeartbeatData
	err := decodeBody("HeartbeatData", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, heartbeatNames); ok && r.member(&o); {
			switch o.name {
			case "clientID":
				r.string(&h.ClientID)
			case "consumerDataSet":
				h.ConsumerDataSet = readObjectList(r, func(c *ConsumerData) { r.consumerData(c, now) })
			case "heartbeatFingerprint":
				r.int32(&h.HeartbeatFingerprint)
			case "producerDataSet":
				h.ProducerDataSet = readObjectList(r, r.producerData)
			case "withoutSub":
				r.bool(&h.WithoutSub)
			}
		}
	})
	if err != nil {
		return HeartbeatData{}, err
	}
	return h, nil
}

// AppendJSON appends the producer group.
func (p *ProducerData) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.string("groupName", p.GroupName)
	return w.end()
}

func (r *jsonReader) producerData(p *ProducerData) {
	var o jsonObject
	named := false
	for ok := r.requiredObject(&o, producerDataNames, "a producer group"); ok && r.member(&o); {
		named = r.required(&p.GroupName)
	}
	if !named {
		r.fail("a producer group has no groupName")
	}
}

// AppendJSON appends the consumer group.
func (c *ConsumerData) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.enum("consumeFromWhere", consumeFromWhereNames, uint8(c.ConsumeFromWhere))
	w.enum("consumeType", consumeTypeNames, uint8(c.ConsumeType))
	w.string("groupName", c.GroupName)
	w.enum("messageModel", messageModelNames, uint8(c.MessageModel))
	writeList(&w, "subscriptionDataSet", c.SubscriptionDataSet)
	w.bool("unitMode", c.UnitMode)
	return w.end()
}

func (r *jsonReader) consumerData(c *ConsumerData, now int64) {
	var o jsonObject
	named := false
	for ok := r.requiredObject(&o, consumerDataNames, "a consumer group"); ok && r.member(&o); {
		switch o.name {
		case "consumeFromWhere":
			c.ConsumeFromWhere = ConsumeFromWhere(r.enum(consumeFromWhereNames) + 1)
		case "consumeType":
			c.ConsumeType = ConsumeType(r.enum(consumeTypeNames) + 1)
		case "groupName":
			named = r.required(&c.GroupName)
		case "messageModel":
			c.MessageModel = MessageModel(r.enum(messageModelNames) + 1)
		case "subscriptionDataSet":
			c.SubscriptionDataSet = readObjectList(r, func(s *SubscriptionData) { r.subscriptionData(s, now) })
		case "unitMode":
			r.bool(&c.UnitMode)
		}
	}
	if !named {
		r.fail("a consumer group has no groupName")
	}
}

// AppendJSON appends the subscription.
func (s *SubscriptionData) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.bool("classFilterMode", s.ClassFilterMode)
	w.dst = append(w.name("codeSet"), '[')
	for i, code := range s.CodeSet {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = strconv.AppendInt(w.dst, int64(code), 10)
	}
	w.dst = append(w.dst, ']')
	w.string("expressionType", s.ExpressionType)
	w.string("subString", s.SubString)
	w.long("subVersion", s.SubVersion)
	w.strings("tagsSet", s.TagsSet)
	w.string("topic", s.Topic)
	return w.end()
}

func (r *jsonReader) subscriptionData(s *SubscriptionData, now int64) {
	if !r.anySubscription(s, now) {
		r.fail("a subscription has no topic")
	}
}

// anySubscription is subscriptionData for one that need not have a topic. It reports whether it has.
func (r *jsonReader) anySubscription(s *SubscriptionData, now int64) (named bool) {
	*s = SubscriptionData{ExpressionType: "TAG", SubVersion: now}
	var o jsonObject
	for ok := r.requiredObject(&o, subscriptionNames, "a subscription"); ok && r.member(&o); {
		switch o.name {
		case "classFilterMode":
			r.bool(&s.ClassFilterMode)
		case "codeSet":
			s.CodeSet = r.int32List()
		case "expressionType":
			r.string(&s.ExpressionType)
		case "subString":
			r.string(&s.SubString)
		case "subVersion":
			r.int64(&s.SubVersion)
		case "tagsSet":
			s.TagsSet = r.stringList()
		case "topic":
			named = r.required(&s.Topic)
		}
	}
	return named
}

// optSubscriptionData reads a subscription that may be null.
func (r *jsonReader) optSubscriptionData() *SubscriptionData {
	if r.null() {
		return nil
	}
	s := &SubscriptionData{}
	r.subscriptionData(s, 0)
	return s
}

// AppendJSON appends the request.
func (c *CheckClientRequestBody) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.string("clientId", c.ClientID)
	w.string("group", c.Group)
	w.optString("namespace", c.Namespace)
	if c.SubscriptionData != nil {
		w.body("subscriptionData", c.SubscriptionData)
	}
	return w.end()
}

// DecodeCheckClientRequestBody reads the body of CHECK_CLIENT_CONFIG (46), whose subscription may lack a topic. A body that
// holds nothing gives ErrNullBody.
func DecodeCheckClientRequestBody(data []byte) (CheckClientRequestBody, error) {
	var c CheckClientRequestBody
	err := decodeBody("CheckClientRequestBody", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, checkClientNames); ok && r.member(&o); {
			switch o.name {
			case "clientId":
				r.string(&c.ClientID)
			case "group":
				r.string(&c.Group)
			case "namespace":
				c.Namespace = r.optString()
			case "subscriptionData":
				if !r.null() {
					c.SubscriptionData = &SubscriptionData{}
					r.anySubscription(c.SubscriptionData, 0)
				}
			}
		}
	})
	if err != nil {
		return CheckClientRequestBody{}, err
	}
	return c, nil
}

// AppendJSON appends the list in its order.
func (l *GetConsumerListByGroupResponseBody) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.strings("consumerIdList", l.ConsumerIDList)
	return w.end()
}

// DecodeGetConsumerListByGroupResponseBody reads the answer to GET_CONSUMER_LIST_BY_GROUP (38).
func DecodeGetConsumerListByGroupResponseBody(data []byte) (GetConsumerListByGroupResponseBody, error) {
	var l GetConsumerListByGroupResponseBody
	err := decodeBody("GetConsumerListByGroupResponseBody", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, consumerListNames); ok && r.member(&o); {
			l.ConsumerIDList = r.stringList()
		}
	})
	if err != nil {
		return GetConsumerListByGroupResponseBody{}, err
	}
	return l, nil
}

// AppendJSON appends the client.
func (c *Connection) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.string("clientAddr", c.ClientAddr)
	w.string("clientId", c.ClientID)
	w.language("language", c.Language)
	w.int("version", int32(c.Version))
	return w.end()
}

func (r *jsonReader) connection(c *Connection) {
	c.Language = LanguageUnknown
	var o jsonObject
	for ok := r.requiredObject(&o, connectionNames, "a connection"); ok && r.member(&o); {
		switch o.name {
		case "clientAddr":
			r.string(&c.ClientAddr)
		case "clientId":
			r.string(&c.ClientID)
		case "language":
			c.Language = r.language()
		case "version":
			r.version(&c.Version)
		}
	}
}

// AppendJSON appends the consumers of a group, subscriptions ordered by topic.
func (c *ConsumerConnection) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	writeList(&w, "connectionSet", c.ConnectionSet)
	w.enum("consumeFromWhere", consumeFromWhereNames, uint8(c.ConsumeFromWhere))
	w.enum("consumeType", consumeTypeNames, uint8(c.ConsumeType))
	w.enum("messageModel", messageModelNames, uint8(c.MessageModel))
	byTopic := func(a, b SubscriptionData) int { return strings.Compare(a.Topic, b.Topic) }
	writeTable(&w, "subscriptionTable", sortedBy(c.SubscriptionTable, byTopic), func(s *SubscriptionData) string { return s.Topic })
	return w.end()
}

// DecodeConsumerConnection reads the answer to GET_CONSUMER_CONNECTION_LIST (203).
func DecodeConsumerConnection(data []byte) (ConsumerConnection, error) {
	var c ConsumerConnection
	err := decodeBody("ConsumerConnection", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, consumerConnectionNames); ok && r.member(&o); {
			switch o.name {
			case "connectionSet":
				c.ConnectionSet = readObjectList(r, r.connection)
			case "consumeFromWhere":
				c.ConsumeFromWhere = ConsumeFromWhere(r.enum(consumeFromWhereNames) + 1)
			case "consumeType":
				c.ConsumeType = ConsumeType(r.enum(consumeTypeNames) + 1)
			case "messageModel":
				c.MessageModel = MessageModel(r.enum(messageModelNames) + 1)
			case "subscriptionTable":
				c.SubscriptionTable = readObjectMap(r, func(topic string, s *SubscriptionData) {
					r.subscriptionData(s, 0)
					s.Topic = topic
				})
			}
		}
	})
	if err != nil {
		return ConsumerConnection{}, err
	}
	return c, nil
}

// AppendJSON appends the producers of a group.
func (p *ProducerConnection) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	writeList(&w, "connectionSet", p.ConnectionSet)
	return w.end()
}

// DecodeProducerConnection reads the answer to GET_PRODUCER_CONNECTION_LIST (204).
func DecodeProducerConnection(data []byte) (ProducerConnection, error) {
	var p ProducerConnection
	err := decodeBody("ProducerConnection", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, producerConnectionNames); ok && r.member(&o); {
			p.ConnectionSet = readObjectList(r, r.connection)
		}
	})
	if err != nil {
		return ProducerConnection{}, err
	}
	return p, nil
}

// AppendJSON appends the producer.
func (p *ProducerInfo) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.string("clientId", p.ClientID)
	w.language("language", p.Language)
	w.long("lastUpdateTimestamp", p.LastUpdateTimestamp)
	w.string("remoteIP", p.RemoteIP)
	w.int("version", int32(p.Version))
	return w.end()
}

func (r *jsonReader) producerInfo(p *ProducerInfo) {
	p.Language = LanguageUnknown
	var o jsonObject
	for ok := r.requiredObject(&o, producerInfoNames, "a producer"); ok && r.member(&o); {
		switch o.name {
		case "clientId":
			r.string(&p.ClientID)
		case "language":
			p.Language = r.language()
		case "lastUpdateTimestamp":
			r.int64(&p.LastUpdateTimestamp)
		case "remoteIP":
			r.string(&p.RemoteIP)
		case "version":
			r.version(&p.Version)
		}
	}
}

// AppendJSON appends the table, ordered by group.
func (t *ProducerTableInfo) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	groups := beginObject(w.name("data"), f)
	for _, group := range slices.Sorted(maps.Keys(t.Data)) {
		writeProducers(&groups, group, t.Data[group])
	}
	w.dst = groups.end()
	return w.end()
}

func writeProducers(w *jsonWriter, group string, list []ProducerInfo) {
	w.key(group)
	w.dst = append(w.dst, '[')
	for i := range list {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = list[i].AppendJSON(w.dst, w.form)
	}
	w.dst = append(w.dst, ']')
}

// DecodeProducerTableInfo reads the answer to GET_ALL_PRODUCER_INFO (328).
func DecodeProducerTableInfo(data []byte) (ProducerTableInfo, error) {
	t := ProducerTableInfo{Data: map[string][]ProducerInfo{}}
	err := decodeBody("ProducerTableInfo", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, producerTableNames); ok && r.member(&o); {
			clear(t.Data)
			var groups jsonObject
			for more := r.object(&groups, nil); more; {
				b, ok := r.textKey(&groups)
				if !ok {
					break
				}
				t.Data[string(b)] = readObjectList(r, r.producerInfo)
			}
		}
	})
	if err != nil {
		return ProducerTableInfo{}, err
	}
	return t, nil
}

// AppendJSON appends the answer.
func (q *QuerySubscriptionResponseBody) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.string("group", q.Group)
	if q.SubscriptionData != nil {
		w.body("subscriptionData", q.SubscriptionData)
	}
	w.optString("topic", q.Topic)
	return w.end()
}

// DecodeQuerySubscriptionResponseBody reads the answer to QUERY_SUBSCRIPTION_BY_CONSUMER (345).
func DecodeQuerySubscriptionResponseBody(data []byte) (QuerySubscriptionResponseBody, error) {
	var q QuerySubscriptionResponseBody
	err := decodeBody("QuerySubscriptionResponseBody", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, querySubscriptionNames); ok && r.member(&o); {
			switch o.name {
			case "group":
				r.string(&q.Group)
			case "subscriptionData":
				q.SubscriptionData = r.optSubscriptionData()
			case "topic":
				q.Topic = r.optString()
			}
		}
	})
	if err != nil {
		return QuerySubscriptionResponseBody{}, err
	}
	return q, nil
}

// CMResult says what became of a message that a consumer was told to consume. The zero value is null: absent, or a name
// nobody knows.
type CMResult uint8

// What became of the message.
const (
	CMSuccess        CMResult = iota + 1 // CR_SUCCESS
	CMLater                              // CR_LATER
	CMRollback                           // CR_ROLLBACK
	CMCommit                             // CR_COMMIT
	CMThrowException                     // CR_THROW_EXCEPTION
	CMReturnNull                         // CR_RETURN_NULL
)

// ConsumeMessageDirectlyResult is the answer to CONSUME_MESSAGE_DIRECTLY (309). Brokers pass it on as it comes. Source:
// spec/messaging.md §8.8.
type ConsumeMessageDirectlyResult struct {
	Order          bool // the consumer is an orderly one
	AutoCommit     bool // default true
	ConsumeResult  CMResult
	Remark         *string // nil: null, left out when written
	SpentTimeMills int64   // wire name spentTimeMills (sic)
}

var (
	cmResultNames        = []string{"CR_SUCCESS", "CR_LATER", "CR_ROLLBACK", "CR_COMMIT", "CR_THROW_EXCEPTION", "CR_RETURN_NULL"}
	consumeDirectlyNames = newJSONNames("autoCommit", "consumeResult", "order", "remark", "spentTimeMills")
)

// String returns the name on the wire, or null.
func (c CMResult) String() string { return enumName(cmResultNames, uint8(c)) }

// AppendJSON appends the result as a Java consumer does.
func (c *ConsumeMessageDirectlyResult) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.bool("autoCommit", c.AutoCommit)
	w.enum("consumeResult", cmResultNames, uint8(c.ConsumeResult))
	w.bool("order", c.Order)
	w.optString("remark", c.Remark)
	w.long("spentTimeMills", c.SpentTimeMills)
	return w.end()
}

// DecodeConsumeMessageDirectlyResult reads the result of a Java consumer, or of a Go one, which sends the number of
// consumeResult.
func DecodeConsumeMessageDirectlyResult(data []byte) (ConsumeMessageDirectlyResult, error) {
	c := ConsumeMessageDirectlyResult{AutoCommit: true}
	err := decodeBody("ConsumeMessageDirectlyResult", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, consumeDirectlyNames); ok && r.member(&o); {
			switch o.name {
			case "autoCommit":
				r.bool(&c.AutoCommit)
			case "consumeResult":
				c.ConsumeResult = CMResult(r.enum(cmResultNames) + 1)
			case "order":
				r.bool(&c.Order)
			case "remark":
				c.Remark = r.optString()
			case "spentTimeMills":
				r.int64(&c.SpentTimeMills)
			}
		}
	})
	if err != nil {
		return ConsumeMessageDirectlyResult{}, err
	}
	return c, nil
}
