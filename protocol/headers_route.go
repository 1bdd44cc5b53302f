package protocol

// Fields that a peer may add to the header of any request for routes, and what they mean.
const (
	extAcceptStandardJSONOnly = "acceptStandardJsonOnly"
	extZoneMode               = "__ZONE_MODE"
	extZoneName               = "__ZONE_NAME"
)

// GetRouteInfoRequestHeader is the header of GET_ROUTEINFO_BY_TOPIC (105). A missing topic is not found;
// the original's remark then says "null".
//
// Source: spec/namesrv.md §4.4, §7.3.
type GetRouteInfoRequestHeader struct {
	Topic                  Opt[string]
	AcceptStandardJSONOnly bool // wants strict JSON, whatever its version
	ZoneMode               bool // wants the brokers of its zone only
	ZoneName               string
}

// Decode reads h from ext; it does not fail.
func (h *GetRouteInfoRequestHeader) Decode(ext Ext) error {
	*h = GetRouteInfoRequestHeader{}
	for i := range ext { // one pass: this is the hottest header of the NameServer
		switch value := ext[i].Value; ext[i].Key {
		case "topic":
			h.Topic = Some(value)
		case extAcceptStandardJSONOnly:
			h.AcceptStandardJSONOnly = parseBool(value)
		case extZoneMode:
			h.ZoneMode = parseBool(value)
		case extZoneName:
			h.ZoneName = value
		}
	}
	return nil
}

// AppendExt appends h to ext.
func (h *GetRouteInfoRequestHeader) AppendExt(ext Ext) Ext {
	ext = appendOptString(ext, "topic", h.Topic)
	if h.AcceptStandardJSONOnly {
		ext = appendBool(ext, extAcceptStandardJSONOnly, true)
	}
	if h.ZoneMode {
		ext = appendBool(ext, extZoneMode, true)
	}
	if h.ZoneName != "" {
		ext = append(ext, Field{extZoneName, h.ZoneName})
	}
	return present(ext)
}

// GetBrokerClusterInfoRequestHeader is the header of GET_BROKER_CLUSTER_INFO (106). The original reads
// none; a peer that needs strict JSON may say so here as in 105.
type GetBrokerClusterInfoRequestHeader struct {
	AcceptStandardJSONOnly bool
}

// Decode reads h from ext; it does not fail.
func (h *GetBrokerClusterInfoRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.AcceptStandardJSONOnly = r.Bool(extAcceptStandardJSONOnly, false)
	return r.Err()
}

// AppendExt appends h to ext; with nothing to say ext is returned as it is.
func (h *GetBrokerClusterInfoRequestHeader) AppendExt(ext Ext) Ext {
	if h.AcceptStandardJSONOnly {
		ext = appendBool(ext, extAcceptStandardJSONOnly, true)
	}
	return ext
}

// GetBrokerMemberGroupRequestHeader is the header of GET_BROKER_MEMBER_GROUP (901). A group without name
// has no members, and the answer echoes what was sent.
//
// Source: spec/namesrv.md §4.3.
type GetBrokerMemberGroupRequestHeader struct {
	ClusterName            Opt[string]
	BrokerName             Opt[string]
	AcceptStandardJSONOnly bool // as in 105; the original does not look at it
}

// Decode reads h from ext; it does not fail.
func (h *GetBrokerMemberGroupRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.ClusterName = r.OptString("clusterName")
	h.BrokerName = r.OptString("brokerName")
	h.AcceptStandardJSONOnly = r.Bool(extAcceptStandardJSONOnly, false)
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetBrokerMemberGroupRequestHeader) AppendExt(ext Ext) Ext {
	ext = appendOptString(ext, "clusterName", h.ClusterName)
	ext = appendOptString(ext, "brokerName", h.BrokerName)
	if h.AcceptStandardJSONOnly {
		ext = appendBool(ext, extAcceptStandardJSONOnly, true)
	}
	return present(ext)
}

// DeleteTopicFromNamesrvRequestHeader is the header of DELETE_TOPIC_IN_NAMESRV (216). The topic is
// required; without a cluster name, or with "", it goes in all clusters.
//
// Source: spec/namesrv.md §4.3.
type DeleteTopicFromNamesrvRequestHeader struct {
	Topic       string
	ClusterName string
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *DeleteTopicFromNamesrvRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Topic = r.String("topic")
	h.ClusterName = r.OptString("clusterName").Value
	return r.Err()
}

// AppendExt appends h to ext.
func (h *DeleteTopicFromNamesrvRequestHeader) AppendExt(ext Ext) Ext {
	ext = append(ext, Field{"topic", h.Topic})
	if h.ClusterName != "" {
		ext = append(ext, Field{"clusterName", h.ClusterName})
	}
	return ext
}

// RegisterTopicRequestHeader is the header of REGISTER_TOPIC_IN_NAMESRV (217). The topic is required.
//
// Source: spec/namesrv.md §4.3.
type RegisterTopicRequestHeader struct {
	Topic string
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *RegisterTopicRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Topic = r.String("topic")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *RegisterTopicRequestHeader) AppendExt(ext Ext) Ext {
	return append(ext, Field{"topic", h.Topic})
}

// GetTopicsByClusterRequestHeader is the header of GET_TOPICS_BY_CLUSTER (224). A missing cluster has no
// topics.
//
// Source: spec/namesrv.md §4.3.
type GetTopicsByClusterRequestHeader struct {
	Cluster Opt[string]
}

// Decode reads h from ext; it does not fail.
func (h *GetTopicsByClusterRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Cluster = r.OptString("cluster")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetTopicsByClusterRequestHeader) AppendExt(ext Ext) Ext {
	return present(appendOptString(ext, "cluster", h.Cluster))
}

// WipeWritePermOfBrokerRequestHeader is the header of WIPE_WRITE_PERM_OF_BROKER (205). A missing name has
// no topics, so the count is 0.
//
// Source: spec/namesrv.md §4.3.
type WipeWritePermOfBrokerRequestHeader struct {
	BrokerName Opt[string]
}

// Decode reads h from ext; it does not fail.
func (h *WipeWritePermOfBrokerRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.BrokerName = r.OptString("brokerName")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *WipeWritePermOfBrokerRequestHeader) AppendExt(ext Ext) Ext {
	return present(appendOptString(ext, "brokerName", h.BrokerName))
}

// WipeWritePermOfBrokerResponseHeader answers WIPE_WRITE_PERM_OF_BROKER (205).
//
// Source: spec/namesrv.md §4.3.
type WipeWritePermOfBrokerResponseHeader struct {
	WipeTopicCount int32 // topics of the broker, wiped before or now
}

// Decode reads h from ext; absent counts as 0.
func (h *WipeWritePermOfBrokerResponseHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.WipeTopicCount = r.OptInt32("wipeTopicCount", 0)
	return r.Err()
}

// AppendExt appends h to ext.
func (h *WipeWritePermOfBrokerResponseHeader) AppendExt(ext Ext) Ext {
	return appendInt(ext, "wipeTopicCount", int64(h.WipeTopicCount))
}

// AddWritePermOfBrokerRequestHeader is the header of ADD_WRITE_PERM_OF_BROKER (327). A missing name has no
// topics, so the count is 0.
//
// Source: spec/namesrv.md §4.3.
type AddWritePermOfBrokerRequestHeader struct {
	BrokerName Opt[string]
}

// Decode reads h from ext; it does not fail.
func (h *AddWritePermOfBrokerRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.BrokerName = r.OptString("brokerName")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *AddWritePermOfBrokerRequestHeader) AppendExt(ext Ext) Ext {
	return present(appendOptString(ext, "brokerName", h.BrokerName))
}

// AddWritePermOfBrokerResponseHeader answers ADD_WRITE_PERM_OF_BROKER (327).
//
// Source: spec/namesrv.md §4.3.
type AddWritePermOfBrokerResponseHeader struct {
	AddTopicCount int32 // topics of the broker, writable before or now
}

// Decode reads h from ext; absent counts as 0.
func (h *AddWritePermOfBrokerResponseHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.AddTopicCount = r.OptInt32("addTopicCount", 0)
	return r.Err()
}

// AppendExt appends h to ext.
func (h *AddWritePermOfBrokerResponseHeader) AppendExt(ext Ext) Ext {
	return appendInt(ext, "addTopicCount", int64(h.AddTopicCount))
}
