package protocol

import (
	"cmp"
	"strconv"
	"strings"
)

// BrokerAddr is one member of a broker group. ID 0 is the master.
type BrokerAddr struct {
	ID   int64
	Addr string
}

// BrokerAddrs are the members of a broker group, ascending by ID. It is written as a map, {0:"10.0.0.1:10911"}, and
// never as null, because the Go client cannot read that.
type BrokerAddrs []BrokerAddr

// QueueData says how many queues of a topic one broker group has.
type QueueData struct {
	BrokerName     string
	ReadQueueNums  int32
	WriteQueueNums int32
	Perm           int32 // bits: 1 inherit, 2 write, 4 read, 8 priority
	TopicSysFlag   int32 // bits: 1 unit, 2 unit-sub; also read under its old name, topicSynFlag
}

// BrokerData is a broker group: master and slaves of one broker name.
type BrokerData struct {
	Cluster            string
	BrokerName         string
	BrokerAddrs        BrokerAddrs
	ZoneName           *string // nil: null, left out when written
	EnableActingMaster bool
}

// FilterServers are the filter servers of the broker at BrokerAddr.
type FilterServers struct {
	BrokerAddr string
	Servers    []string
}

// TopicRouteData is where a topic lives: the answer to GET_ROUTEINFO_BY_TOPIC (105), and the request body of
// REGISTER_TOPIC_IN_NAMESRV (217), of which only QueueDatas counts.
type TopicRouteData struct {
	OrderTopicConf            *string // nil: null, left out when written
	QueueDatas                []QueueData
	BrokerDatas               []BrokerData
	FilterServerTable         []FilterServers     // a map by BrokerAddr
	TopicQueueMappingByBroker []NamedQueueMapping // a map by broker name; nil: null, left out when written
}

var (
	routeNames = newJSONNames("brokerDatas", "filterServerTable", "orderTopicConf", "queueDatas",
		"topicQueueMappingByBroker")
	queueDataNames = newJSONNames("brokerName", "perm", "readQueueNums", "topicSysFlag", "writeQueueNums",
		"topicSynFlag") // the last one is the flag's name before 4.9.0
	brokerDataNames = newJSONNames("brokerAddrs", "brokerName", "cluster", "enableActingMaster", "zoneName")
)

// AppendJSON appends the addresses as a map from id to address, ascending by id.
func (b BrokerAddrs) AppendJSON(dst []byte, f JSONForm) []byte {
	dst = append(dst, '{')
	for i, a := range sortedBy(b, compareBrokerID) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONIntKey(dst, a.ID, f)
		dst = appendJSONString(dst, a.Addr)
	}
	return append(dst, '}')
}

func compareBrokerID(a, b BrokerAddr) int { return cmp.Compare(a.ID, b.ID) }

// brokerAddrs reads a map from id to address, without addresses that are null. It is nil if it has no entries.
func (r *jsonReader) brokerAddrs() BrokerAddrs {
	var addrs BrokerAddrs
	var o jsonObject
	for more := r.object(&o, nil); more; {
		id, ok := r.intKey(&o)
		if !ok {
			break
		}
		if text, ok := r.text(); ok {
			addrs = append(addrs, BrokerAddr{ID: id, Addr: string(text)})
		}
	}
	return sortLast(addrs, compareBrokerID)
}

// AppendJSON appends the queues of one broker group.
func (q *QueueData) AppendJSON(dst []byte, _ JSONForm) []byte {
	dst = append(dst, `{"brokerName":`...)
	dst = appendJSONString(dst, q.BrokerName)
	dst = append(dst, `,"perm":`...)
	dst = strconv.AppendInt(dst, int64(q.Perm), 10)
	dst = append(dst, `,"readQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(q.ReadQueueNums), 10)
	dst = append(dst, `,"topicSysFlag":`...)
	dst = strconv.AppendInt(dst, int64(q.TopicSysFlag), 10)
	dst = append(dst, `,"writeQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(q.WriteQueueNums), 10)
	return append(dst, '}')
}

// queueData reads the queues of one broker group, which must have a name.
func (r *jsonReader) queueData(q *QueueData) {
	var o jsonObject
	if !r.object(&o, queueDataNames) {
		r.fail("an entry of queueDatas is null")
		return
	}
	named, newFlag := false, false
	for r.member(&o) {
		switch o.name {
		case "brokerName":
			if b, ok := r.text(); ok {
				q.BrokerName, named = string(b), true
			}
		case "perm":
			r.int32(&q.Perm)
		case "readQueueNums":
			r.int32(&q.ReadQueueNums)
		case "topicSysFlag":
			newFlag = true
			r.int32(&q.TopicSysFlag)
		case "topicSynFlag":
			if newFlag {
				r.skipValue()
			} else {
				r.int32(&q.TopicSysFlag)
			}
		case "writeQueueNums":
			r.int32(&q.WriteQueueNums)
		}
	}
	if !named {
		r.fail("the field brokerName is missing")
	}
}

// AppendJSON appends one broker group.
func (b *BrokerData) AppendJSON(dst []byte, f JSONForm) []byte {
	dst = append(dst, `{"brokerAddrs":`...)
	dst = b.BrokerAddrs.AppendJSON(dst, f)
	dst = append(dst, `,"brokerName":`...)
	dst = appendJSONString(dst, b.BrokerName)
	dst = append(dst, `,"cluster":`...)
	dst = appendJSONString(dst, b.Cluster)
	dst = append(dst, `,"enableActingMaster":`...)
	dst = strconv.AppendBool(dst, b.EnableActingMaster)
	if b.ZoneName != nil {
		dst = append(dst, `,"zoneName":`...)
		dst = appendJSONString(dst, *b.ZoneName)
	}
	return append(dst, '}')
}

// brokerData reads one broker group.
func (r *jsonReader) brokerData(b *BrokerData) {
	var o jsonObject
	if !r.object(&o, brokerDataNames) {
		r.fail("a broker group is null")
		return
	}
	for r.member(&o) {
		switch o.name {
		case "brokerAddrs":
			b.BrokerAddrs = r.brokerAddrs()
		case "brokerName":
			r.string(&b.BrokerName)
		case "cluster":
			r.string(&b.Cluster)
		case "enableActingMaster":
			r.bool(&b.EnableActingMaster)
		case "zoneName":
			b.ZoneName = r.optString()
		}
	}
}

// AppendJSON appends the route. The maps are ordered by key in both forms, the lists are as they are.
func (t *TopicRouteData) AppendJSON(dst []byte, f JSONForm) []byte {
	dst = append(dst, `{"brokerDatas":[`...)
	for i := range t.BrokerDatas {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = t.BrokerDatas[i].AppendJSON(dst, f)
	}
	dst = append(dst, `],"filterServerTable":{`...)
	for i, s := range sortedBy(t.FilterServerTable, compareFilterServers) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, s.BrokerAddr)
		dst = append(dst, ':')
		dst = appendJSONStrings(dst, s.Servers)
	}
	dst = append(dst, '}')
	if t.OrderTopicConf != nil {
		dst = append(dst, `,"orderTopicConf":`...)
		dst = appendJSONString(dst, *t.OrderTopicConf)
	}
	dst = append(dst, `,"queueDatas":[`...)
	for i := range t.QueueDatas {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = t.QueueDatas[i].AppendJSON(dst, f)
	}
	dst = append(dst, ']')
	if t.TopicQueueMappingByBroker != nil {
		dst = append(dst, `,"topicQueueMappingByBroker":`...)
		dst = appendMappings(dst, sortedBy(t.TopicQueueMappingByBroker, compareMappings), f)
	}
	return append(dst, '}')
}

func compareFilterServers(a, b FilterServers) int { return strings.Compare(a.BrokerAddr, b.BrokerAddr) }

// DecodeTopicRouteData reads a route. Entries of queueDatas that are null or do not name their broker are errors. A body
// that holds nothing gives ErrNullBody.
func DecodeTopicRouteData(data []byte) (TopicRouteData, error) {
	var t TopicRouteData
	err := decodeBody("TopicRouteData", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, routeNames); ok && r.member(&o); {
			switch o.name {
			case "brokerDatas":
				t.BrokerDatas = nil
				var a jsonArray
				for ok := r.array(&a); ok && r.element(&a); {
					t.BrokerDatas = append(t.BrokerDatas, BrokerData{})
					r.brokerData(&t.BrokerDatas[len(t.BrokerDatas)-1])
				}
			case "filterServerTable":
				t.FilterServerTable = r.filterServerTable()
			case "orderTopicConf":
				t.OrderTopicConf = r.optString()
			case "queueDatas":
				t.QueueDatas = nil
				var a jsonArray
				for ok := r.array(&a); ok && r.element(&a); {
					t.QueueDatas = append(t.QueueDatas, QueueData{})
					r.queueData(&t.QueueDatas[len(t.QueueDatas)-1])
				}
			case "topicQueueMappingByBroker":
				t.TopicQueueMappingByBroker = r.mappings()
			}
		}
	})
	if err != nil {
		return TopicRouteData{}, err
	}
	return t, nil
}

// filterServerTable reads a map from broker address to filter servers, without entries that are null.
func (r *jsonReader) filterServerTable() []FilterServers {
	var table []FilterServers
	var o jsonObject
	for more := r.object(&o, nil); more; {
		b, ok := r.textKey(&o)
		if !ok {
			break
		}
		s := FilterServers{BrokerAddr: string(b)}
		if s.Servers = r.stringList(); s.Servers != nil {
			table = append(table, s)
		}
	}
	return sortLast(table, compareFilterServers)
}
