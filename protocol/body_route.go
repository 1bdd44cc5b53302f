package protocol

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
