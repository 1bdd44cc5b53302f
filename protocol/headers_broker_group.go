package protocol

// GetAllSubscriptionGroupRequestHeader is the header of GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201): one page of the table, ordered
// by name. Without any field, as before 5.0, everything is asked for.
//
// Source: spec/broker.md §6.5, spec/ha.md §3.2.
type GetAllSubscriptionGroupRequestHeader struct {
	GroupSeq    Opt[int32]  // index of the first group of the page
	DataVersion Opt[string] // JSON of the version that the page before had; "" for the first page
	MaxGroupNum Opt[int32]  // length of the page
}

// Decode reads h from ext; it does not fail. A malformed number counts as absent.
func (h *GetAllSubscriptionGroupRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.GroupSeq = r.MaybeInt32("groupSeq")
	h.DataVersion = r.OptString("dataVersion")
	h.MaxGroupNum = r.MaybeInt32("maxGroupNum")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetAllSubscriptionGroupRequestHeader) AppendExt(ext Ext) Ext {
	ext = appendOptInt32(ext, "groupSeq", h.GroupSeq)
	ext = appendOptString(ext, "dataVersion", h.DataVersion)
	return present(appendOptInt32(ext, "maxGroupNum", h.MaxGroupNum))
}

// GetAllSubscriptionGroupResponseHeader answers GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201).
//
// Source: spec/ha.md §3.2.
type GetAllSubscriptionGroupResponseHeader struct {
	TotalGroupNum Opt[int32] // groups in the whole table; absent before 5.0, whose page is the whole table
}

// Decode reads h from ext; it does not fail.
func (h *GetAllSubscriptionGroupResponseHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.TotalGroupNum = r.MaybeInt32("totalGroupNum")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetAllSubscriptionGroupResponseHeader) AppendExt(ext Ext) Ext {
	return present(appendOptInt32(ext, "totalGroupNum", h.TotalGroupNum))
}

// DeleteSubscriptionGroupRequestHeader is the header of DELETE_SUBSCRIPTIONGROUP (207). The group is required.
//
// Source: spec/broker.md §6.5, §9.
type DeleteSubscriptionGroupRequestHeader struct {
	GroupName string
	// CleanOffset says that the group's offsets go as well. The field is called cleanOffset since 5.0 and
	// removeOffset before; either is read and both are written, so that brokers of any release understand.
	CleanOffset bool
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *DeleteSubscriptionGroupRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.GroupName = r.String("groupName")
	h.CleanOffset = r.Bool("cleanOffset", false) || r.Bool("removeOffset", false)
	return r.Err()
}

// AppendExt appends h to ext.
func (h *DeleteSubscriptionGroupRequestHeader) AppendExt(ext Ext) Ext {
	ext = append(ext, Field{"groupName", h.GroupName})
	return appendBool(appendBool(ext, "cleanOffset", h.CleanOffset), "removeOffset", h.CleanOffset)
}

// GetSubscriptionGroupConfigRequestHeader is the header of GET_SUBSCRIPTIONGROUP_CONFIG (352). The group is required.
//
// Source: spec/broker.md §6.5.
type GetSubscriptionGroupConfigRequestHeader struct {
	Group string
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *GetSubscriptionGroupConfigRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Group = r.String("group")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetSubscriptionGroupConfigRequestHeader) AppendExt(ext Ext) Ext {
	return append(ext, Field{"group", h.Group})
}

// UpdateGroupForbiddenRequestHeader is the header of UPDATE_AND_GET_GROUP_FORBIDDEN (353). Group and topic are required.
//
// Source: spec/broker.md §5.7.
type UpdateGroupForbiddenRequestHeader struct {
	Group    string
	Topic    string
	Readable Opt[bool] // absent: only ask
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *UpdateGroupForbiddenRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Group = r.String("group")
	h.Topic = r.String("topic")
	h.Readable = r.OptBool("readable")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *UpdateGroupForbiddenRequestHeader) AppendExt(ext Ext) Ext {
	return appendOptBool(append(ext, Field{"group", h.Group}, Field{"topic", h.Topic}), "readable", h.Readable)
}

// QueryTopicsByConsumerRequestHeader is the header of QUERY_TOPICS_BY_CONSUMER (343). The group is required.
//
// Source: spec/broker.md §6.5.
type QueryTopicsByConsumerRequestHeader struct {
	Group string
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *QueryTopicsByConsumerRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Group = r.String("group")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *QueryTopicsByConsumerRequestHeader) AppendExt(ext Ext) Ext {
	return append(ext, Field{"group", h.Group})
}

// QuerySubscriptionByConsumerRequestHeader is the header of QUERY_SUBSCRIPTION_BY_CONSUMER (345). The group is required.
//
// Source: spec/broker.md §6.5.
type QuerySubscriptionByConsumerRequestHeader struct {
	Group string
	Topic Opt[string]
}

// Decode reads h from ext.
//
// Errors: *FieldError.
func (h *QuerySubscriptionByConsumerRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Group = r.String("group")
	h.Topic = r.OptString("topic")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *QuerySubscriptionByConsumerRequestHeader) AppendExt(ext Ext) Ext {
	return appendOptString(append(ext, Field{"group", h.Group}), "topic", h.Topic)
}
