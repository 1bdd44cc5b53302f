package protocol

import "strings"

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

var (
	clusterInfoNames = newJSONNames("brokerAddrTable", "clusterAddrTable")
	topicListNames   = newJSONNames("brokerAddr", "topicList")
	memberGroupNames = newJSONNames("brokerAddrs", "brokerName", "cluster")
	memberGroupName  = newJSONNames("brokerMemberGroup")
)

// AppendJSON appends the tables, both ordered by name.
func (c *ClusterInfo) AppendJSON(dst []byte, f JSONForm) []byte {
	byName := func(a, b BrokerData) int { return strings.Compare(a.BrokerName, b.BrokerName) }
	byCluster := func(a, b ClusterBrokers) int { return strings.Compare(a.Cluster, b.Cluster) }
	w := beginObject(dst, f)
	writeTable(&w, "brokerAddrTable", sortedBy(c.BrokerAddrTable, byName), func(b *BrokerData) string { return b.BrokerName })
	clusters := beginObject(w.name("clusterAddrTable"), f)
	for _, cluster := range sortedBy(c.ClusterAddrTable, byCluster) {
		clusters.dst = appendJSONStrings(clusters.key(cluster.Cluster), cluster.BrokerNames)
	}
	w.dst = clusters.end()
	return w.end()
}

// DecodeClusterInfo reads the tables. The name that the table has for a group is taken for its BrokerName.
func DecodeClusterInfo(data []byte) (ClusterInfo, error) {
	var c ClusterInfo
	err := decodeBody("ClusterInfo", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, clusterInfoNames); ok && r.member(&o); {
			switch o.name {
			case "brokerAddrTable":
				c.BrokerAddrTable = readObjectMap(r, func(name string, b *BrokerData) {
					r.brokerData(b)
					b.BrokerName = name
				})
			case "clusterAddrTable":
				c.ClusterAddrTable = readObjectMap(r, func(name string, b *ClusterBrokers) {
					*b = ClusterBrokers{Cluster: name, BrokerNames: r.stringList()}
				})
			}
		}
	})
	if err != nil {
		return ClusterInfo{}, err
	}
	return c, nil
}

// AppendJSON appends the list in its order.
func (t *TopicList) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.optString("brokerAddr", t.BrokerAddr)
	w.strings("topicList", t.TopicList)
	return w.end()
}

// DecodeTopicList reads a list of topics or other names.
func DecodeTopicList(data []byte) (TopicList, error) {
	var t TopicList
	err := decodeBody("TopicList", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, topicListNames); ok && r.member(&o); {
			switch o.name {
			case "brokerAddr":
				t.BrokerAddr = r.optString()
			case "topicList":
				t.TopicList = r.stringList()
			}
		}
	})
	if err != nil {
		return TopicList{}, err
	}
	return t, nil
}

// AppendJSON appends the group.
func (g *BrokerMemberGroup) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	w.body("brokerAddrs", g.BrokerAddrs)
	w.optString("brokerName", g.BrokerName)
	w.optString("cluster", g.Cluster)
	return w.end()
}

// AppendJSON appends the answer.
func (g *GetBrokerMemberGroupResponseBody) AppendJSON(dst []byte, f JSONForm) []byte {
	w := beginObject(dst, f)
	if g.BrokerMemberGroup != nil {
		w.body("brokerMemberGroup", g.BrokerMemberGroup)
	}
	return w.end()
}

// DecodeGetBrokerMemberGroupResponseBody reads the answer to 901.
func DecodeGetBrokerMemberGroupResponseBody(data []byte) (GetBrokerMemberGroupResponseBody, error) {
	var g GetBrokerMemberGroupResponseBody
	err := decodeBody("GetBrokerMemberGroupResponseBody", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, memberGroupName); ok && r.member(&o); {
			g.BrokerMemberGroup = r.brokerMemberGroup()
		}
	})
	if err != nil {
		return GetBrokerMemberGroupResponseBody{}, err
	}
	return g, nil
}

func (r *jsonReader) brokerMemberGroup() *BrokerMemberGroup {
	var o jsonObject
	if !r.object(&o, memberGroupNames) {
		return nil
	}
	g := &BrokerMemberGroup{}
	for r.member(&o) {
		switch o.name {
		case "brokerAddrs":
			g.BrokerAddrs = r.brokerAddrs()
		case "brokerName":
			g.BrokerName = r.optString()
		case "cluster":
			g.Cluster = r.optString()
		}
	}
	return g
}
