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
	dst = append(dst, `{"brokerAddrTable":{`...)
	for i, b := range sortedBy(c.BrokerAddrTable, byName) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, b.BrokerName)
		dst = append(dst, ':')
		dst = b.AppendJSON(dst, f)
	}
	dst = append(dst, `},"clusterAddrTable":{`...)
	for i, b := range sortedBy(c.ClusterAddrTable, byCluster) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, b.Cluster)
		dst = append(dst, ':')
		dst = appendJSONStrings(dst, b.BrokerNames)
	}
	return append(dst, '}', '}')
}

// DecodeClusterInfo reads the tables. The name that the table has for a group is taken for its BrokerName.
func DecodeClusterInfo(data []byte) (ClusterInfo, error) {
	var c ClusterInfo
	err := decodeBody("ClusterInfo", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, clusterInfoNames); ok && r.member(&o); {
			switch o.name {
			case "brokerAddrTable":
				c.BrokerAddrTable = r.brokerAddrTable()
			case "clusterAddrTable":
				c.ClusterAddrTable = r.clusterAddrTable()
			}
		}
	})
	if err != nil {
		return ClusterInfo{}, err
	}
	return c, nil
}

func (r *jsonReader) brokerAddrTable() []BrokerData {
	var table []BrokerData
	index := map[string]int{}
	var o jsonObject
	for more := r.object(&o, nil); more; {
		b, ok := r.textKey(&o)
		if !ok {
			break
		}
		name := string(b)
		i, ok := index[name]
		if !ok {
			i = len(table)
			index[name] = i
			table = append(table, BrokerData{})
		}
		table[i] = BrokerData{}
		r.brokerData(&table[i])
		table[i].BrokerName = name
	}
	return table
}

func (r *jsonReader) clusterAddrTable() []ClusterBrokers {
	var table []ClusterBrokers
	index := map[string]int{}
	var o jsonObject
	for more := r.object(&o, nil); more; {
		b, ok := r.textKey(&o)
		if !ok {
			break
		}
		name := string(b)
		i, ok := index[name]
		if !ok {
			i = len(table)
			index[name] = i
			table = append(table, ClusterBrokers{Cluster: name})
		}
		table[i].BrokerNames = r.stringList()
	}
	return table
}

// AppendJSON appends the list in its order.
func (t *TopicList) AppendJSON(dst []byte, _ JSONForm) []byte {
	dst = append(dst, '{')
	if t.BrokerAddr != nil {
		dst = append(dst, `"brokerAddr":`...)
		dst = appendJSONString(dst, *t.BrokerAddr)
		dst = append(dst, ',')
	}
	dst = append(dst, `"topicList":`...)
	dst = appendJSONStrings(dst, t.TopicList)
	return append(dst, '}')
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
	dst = append(dst, `{"brokerAddrs":`...)
	dst = g.BrokerAddrs.AppendJSON(dst, f)
	if g.BrokerName != nil {
		dst = append(dst, `,"brokerName":`...)
		dst = appendJSONString(dst, *g.BrokerName)
	}
	if g.Cluster != nil {
		dst = append(dst, `,"cluster":`...)
		dst = appendJSONString(dst, *g.Cluster)
	}
	return append(dst, '}')
}

// AppendJSON appends the answer.
func (g *GetBrokerMemberGroupResponseBody) AppendJSON(dst []byte, f JSONForm) []byte {
	dst = append(dst, '{')
	if g.BrokerMemberGroup != nil {
		dst = append(dst, `"brokerMemberGroup":`...)
		dst = g.BrokerMemberGroup.AppendJSON(dst, f)
	}
	return append(dst, '}')
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
