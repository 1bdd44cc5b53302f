package protocol

// Stubs until the implementation follows.

import "errors"

var errStub = errors.New("not implemented")

func DecodeRegisterBrokerBody(body []byte, o RegisterBodyOptions) (RegisterBrokerBody, error) {
	return RegisterBrokerBody{}, errStub
}
func (b *RegisterBrokerBody) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

// AppendCompressed appends the compressed form; version decides on attributes and mappings.
func (b *RegisterBrokerBody) AppendCompressed(dst []byte, version Version) ([]byte, error) {
	return dst, errStub
}
func DecodeTopicConfigSerializeWrapper(data []byte, now int64) (TopicConfigSerializeWrapper, error) {
	return TopicConfigSerializeWrapper{}, errStub
}
func (w *TopicConfigSerializeWrapper) AppendJSON(dst []byte, f JSONForm) []byte { return dst }
func (t *TopicConfig) AppendJSON(dst []byte, f JSONForm) []byte                 { return dst }
func DecodeTopicRouteData(data []byte) (TopicRouteData, error)                  { return TopicRouteData{}, errStub }
func (t *TopicRouteData) AppendJSON(dst []byte, f JSONForm) []byte              { return dst }
func (q *QueueData) AppendJSON(dst []byte, f JSONForm) []byte                   { return dst }
func (b *BrokerData) AppendJSON(dst []byte, f JSONForm) []byte                  { return dst }
func (b BrokerAddrs) AppendJSON(dst []byte, f JSONForm) []byte                  { return dst }
func (m *TopicQueueMappingInfo) AppendJSON(dst []byte, f JSONForm) []byte       { return dst }
func DecodeDataVersion(data []byte, now int64) (DataVersion, error)             { return DataVersion{}, errStub }
func (v *DataVersion) AppendJSON(dst []byte, f JSONForm) []byte                 { return dst }
func DecodeClusterInfo(data []byte) (ClusterInfo, error)                        { return ClusterInfo{}, errStub }
func (c *ClusterInfo) AppendJSON(dst []byte, f JSONForm) []byte                 { return dst }
func DecodeTopicList(data []byte) (TopicList, error)                            { return TopicList{}, errStub }
func (t *TopicList) AppendJSON(dst []byte, f JSONForm) []byte                   { return dst }
func DecodeKVTable(data []byte) (KVTable, error)                                { return KVTable{}, errStub }
func (t *KVTable) AppendJSON(dst []byte, f JSONForm) []byte                     { return dst }

// DecodeKVConfigSerializeWrapper: empty content gives an empty table, not an error.
func DecodeKVConfigSerializeWrapper(data []byte) (KVConfigSerializeWrapper, error) {
	return KVConfigSerializeWrapper{}, errStub
}
func (w *KVConfigSerializeWrapper) AppendJSON(dst []byte, f JSONForm) []byte { return dst }
func DecodeGetBrokerMemberGroupResponseBody(data []byte) (GetBrokerMemberGroupResponseBody, error) {
	return GetBrokerMemberGroupResponseBody{}, errStub
}
func (g *GetBrokerMemberGroupResponseBody) AppendJSON(dst []byte, f JSONForm) []byte { return dst }
func (g *BrokerMemberGroup) AppendJSON(dst []byte, f JSONForm) []byte                { return dst }

// AppendPretty appends the pretty form used in files.
func AppendPretty(dst []byte, body JSONBody) []byte { return dst }
