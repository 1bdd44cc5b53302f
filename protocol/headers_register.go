package protocol

// RegisterBrokerRequestHeader is the header of REGISTER_BROKER (103). Name, address, cluster and id are
// required.
//
// Source: spec/namesrv.md §4.2.
type RegisterBrokerRequestHeader struct {
	BrokerName             string
	BrokerAddr             string // host:port
	ClusterName            string
	BrokerID               int64       // 0 is the master
	HAServerAddr           Opt[string] // host:port; brokers always send it, but the original takes them without
	HeartbeatTimeoutMillis Opt[int64]  // silence after which the broker counts as dead; absent: 120 s
	EnableActingMaster     Opt[bool]   // absent: a broker older than 5.0
	Compressed             bool        // the body is a zlib stream
	BodyCRC32              int32       // of the body as sent, without the sign bit; 0: not to be checked
	ZoneName               Opt[string] // __ZONE_NAME
}

// Decode reads h from ext. A malformed optional number counts as absent, as in the original.
//
// Errors: *FieldError.
func (h *RegisterBrokerRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.BrokerName = r.String("brokerName")
	h.BrokerAddr = r.String("brokerAddr")
	h.ClusterName = r.String("clusterName")
	h.BrokerID = r.Int64("brokerId")
	h.HAServerAddr = r.OptString("haServerAddr")
	h.HeartbeatTimeoutMillis = r.MaybeInt64("heartbeatTimeoutMillis")
	h.EnableActingMaster = r.OptBool("enableActingMaster")
	h.Compressed = r.Bool("compressed", false)
	h.BodyCRC32 = r.OptInt32("bodyCrc32", 0)
	h.ZoneName = r.OptString("__ZONE_NAME")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *RegisterBrokerRequestHeader) AppendExt(ext Ext) Ext {
	ext = append(ext,
		Field{"brokerName", h.BrokerName},
		Field{"brokerAddr", h.BrokerAddr},
		Field{"clusterName", h.ClusterName},
	)
	ext = appendInt(ext, "brokerId", h.BrokerID)
	ext = appendOptString(ext, "haServerAddr", h.HAServerAddr)
	ext = appendOptInt64(ext, "heartbeatTimeoutMillis", h.HeartbeatTimeoutMillis)
	ext = appendOptBool(ext, "enableActingMaster", h.EnableActingMaster)
	ext = appendBool(ext, "compressed", h.Compressed)
	ext = appendInt(ext, "bodyCrc32", int64(h.BodyCRC32))
	return appendOptString(ext, "__ZONE_NAME", h.ZoneName)
}

// RegisterBrokerResponseHeader answers REGISTER_BROKER (103). A slave whose master is alive learns where
// that is; NameServers may leave out either field.
//
// Source: spec/namesrv.md §4.2.
type RegisterBrokerResponseHeader struct {
	HAServerAddr Opt[string] // host:port of the master's replication service
	MasterAddr   Opt[string] // host:port
}

// Decode reads h from ext; it does not fail.
func (h *RegisterBrokerResponseHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.HAServerAddr = r.OptString("haServerAddr")
	h.MasterAddr = r.OptString("masterAddr")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *RegisterBrokerResponseHeader) AppendExt(ext Ext) Ext {
	ext = appendOptString(ext, "haServerAddr", h.HAServerAddr)
	ext = appendOptString(ext, "masterAddr", h.MasterAddr)
	return present(ext)
}

// UnRegisterBrokerRequestHeader is the header of UNREGISTER_BROKER (104). All fields are required.
//
// Source: spec/namesrv.md §4.1, §4.3.
type UnRegisterBrokerRequestHeader struct {
	BrokerName  string
	BrokerAddr  string
	ClusterName string
	BrokerID    int64
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *UnRegisterBrokerRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.BrokerName = r.String("brokerName")
	h.BrokerAddr = r.String("brokerAddr")
	h.ClusterName = r.String("clusterName")
	h.BrokerID = r.Int64("brokerId")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *UnRegisterBrokerRequestHeader) AppendExt(ext Ext) Ext {
	ext = append(ext,
		Field{"brokerName", h.BrokerName},
		Field{"brokerAddr", h.BrokerAddr},
		Field{"clusterName", h.ClusterName},
	)
	return appendInt(ext, "brokerId", h.BrokerID)
}

// QueryDataVersionRequestHeader is the header of QUERY_DATA_VERSION (322). The original annotates all four
// fields as required, but uses and misses only address and cluster.
//
// Source: spec/namesrv.md §4.3.
type QueryDataVersionRequestHeader struct {
	BrokerAddr  string
	ClusterName string
	BrokerName  Opt[string]
	BrokerID    Opt[int64]
}

// Decode reads h from ext. A malformed broker id counts as absent.
//
// Errors: *FieldError.
func (h *QueryDataVersionRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.BrokerAddr = r.String("brokerAddr")
	h.ClusterName = r.String("clusterName")
	h.BrokerName = r.OptString("brokerName")
	h.BrokerID = r.MaybeInt64("brokerId")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *QueryDataVersionRequestHeader) AppendExt(ext Ext) Ext {
	ext = appendOptString(ext, "brokerName", h.BrokerName)
	ext = append(ext, Field{"brokerAddr", h.BrokerAddr}, Field{"clusterName", h.ClusterName})
	return appendOptInt64(ext, "brokerId", h.BrokerID)
}

// QueryDataVersionResponseHeader answers QUERY_DATA_VERSION (322).
//
// Source: spec/namesrv.md §4.3.
type QueryDataVersionResponseHeader struct {
	Changed bool // the NameServer does not know the version it was asked about
}

// Decode reads h from ext; it does not fail. Without an answer the broker had better register.
func (h *QueryDataVersionResponseHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Changed = r.Bool("changed", true)
	return r.Err()
}

// AppendExt appends h to ext.
func (h *QueryDataVersionResponseHeader) AppendExt(ext Ext) Ext {
	return appendBool(ext, "changed", h.Changed)
}

// BrokerHeartbeatRequestHeader is the header of BROKER_HEARTBEAT (904). Address and cluster are required;
// a NameServer looks at nothing else, the rest is meant for controllers.
//
// Source: spec/namesrv.md §4.1, §4.3.
type BrokerHeartbeatRequestHeader struct {
	ClusterName           string
	BrokerAddr            string
	BrokerName            Opt[string]
	BrokerID              Opt[int64]
	Epoch                 Opt[int32]
	MaxOffset             Opt[int64] // bytes of the CommitLog
	ConfirmOffset         Opt[int64] // bytes of the CommitLog
	HeartbeatTimeoutMills Opt[int64] // wire name heartbeatTimeoutMills (sic)
	ElectionPriority      Opt[int32]
}

// Decode reads h from ext. A malformed optional number counts as absent.
//
// Errors: *FieldError.
func (h *BrokerHeartbeatRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.ClusterName = r.String("clusterName")
	h.BrokerAddr = r.String("brokerAddr")
	h.BrokerName = r.OptString("brokerName")
	h.BrokerID = r.MaybeInt64("brokerId")
	h.Epoch = r.MaybeInt32("epoch")
	h.MaxOffset = r.MaybeInt64("maxOffset")
	h.ConfirmOffset = r.MaybeInt64("confirmOffset")
	h.HeartbeatTimeoutMills = r.MaybeInt64("heartbeatTimeoutMills")
	h.ElectionPriority = r.MaybeInt32("electionPriority")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *BrokerHeartbeatRequestHeader) AppendExt(ext Ext) Ext {
	ext = append(ext, Field{"clusterName", h.ClusterName}, Field{"brokerAddr", h.BrokerAddr})
	ext = appendOptString(ext, "brokerName", h.BrokerName)
	ext = appendOptInt64(ext, "brokerId", h.BrokerID)
	ext = appendOptInt32(ext, "epoch", h.Epoch)
	ext = appendOptInt64(ext, "maxOffset", h.MaxOffset)
	ext = appendOptInt64(ext, "confirmOffset", h.ConfirmOffset)
	ext = appendOptInt64(ext, "heartbeatTimeoutMills", h.HeartbeatTimeoutMills)
	return appendOptInt32(ext, "electionPriority", h.ElectionPriority)
}

// NotifyMinBrokerIDChangeRequestHeader is the header of NOTIFY_MIN_BROKER_ID_CHANGE (905), which the
// NameServer sends to brokers. No field is required.
//
// Source: spec/namesrv.md §5.3.
type NotifyMinBrokerIDChangeRequestHeader struct {
	MinBrokerID       Opt[int64]
	BrokerName        Opt[string]
	MinBrokerAddr     Opt[string]
	OfflineBrokerAddr Opt[string] // who left
	HABrokerAddr      Opt[string] // replication service of the new lowest id
}

// Decode reads h from ext; it does not fail.
func (h *NotifyMinBrokerIDChangeRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.MinBrokerID = r.MaybeInt64("minBrokerId")
	h.BrokerName = r.OptString("brokerName")
	h.MinBrokerAddr = r.OptString("minBrokerAddr")
	h.OfflineBrokerAddr = r.OptString("offlineBrokerAddr")
	h.HABrokerAddr = r.OptString("haBrokerAddr")
	return r.Err()
}

// AppendExt appends h to ext, in the order in which the original's frames have the fields.
func (h *NotifyMinBrokerIDChangeRequestHeader) AppendExt(ext Ext) Ext {
	ext = appendOptString(ext, "brokerName", h.BrokerName)
	ext = appendOptString(ext, "offlineBrokerAddr", h.OfflineBrokerAddr)
	ext = appendOptString(ext, "haBrokerAddr", h.HABrokerAddr)
	ext = appendOptString(ext, "minBrokerAddr", h.MinBrokerAddr)
	ext = appendOptInt64(ext, "minBrokerId", h.MinBrokerID)
	return present(ext)
}
