package protocol

// ClusterInfo is the answer to GET_BROKER_CLUSTER_INFO (106).
type ClusterInfo struct {
	BrokerAddrTable  []BrokerData     // a map by BrokerName
	ClusterAddrTable []ClusterBrokers // a map by Cluster
}

// ClusterBrokers are the broker names of one cluster.
type ClusterBrokers struct {
	Cluster     string
	BrokerNames []string
}

// TopicList is the answer to 206, 224, 304, 311, 312 and 313.
type TopicList struct {
	TopicList  []string
	BrokerAddr *string // nil: null, left out when written; set in the answer to 304 only
}

// BrokerMemberGroup lists the members of one broker group. A nil name is one the request did not give.
type BrokerMemberGroup struct {
	Cluster     *string
	BrokerName  *string
	BrokerAddrs BrokerAddrs
}

// GetBrokerMemberGroupResponseBody is the answer to GET_BROKER_MEMBER_GROUP (901).
type GetBrokerMemberGroupResponseBody struct {
	BrokerMemberGroup *BrokerMemberGroup // nil: null, left out when written
}
