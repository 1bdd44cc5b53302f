package protocol

import "errors"

var errLater = errors.New("not yet")

func DecodeHeartbeatData(data []byte, now int64) (HeartbeatData, error) {
	return HeartbeatData{}, errLater
}

func (b *HeartbeatData) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeCheckClientRequestBody(data []byte, now int64) (CheckClientRequestBody, error) {
	return CheckClientRequestBody{}, errLater
}

func (b *CheckClientRequestBody) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeGetConsumerListByGroupResponseBody(data []byte) (GetConsumerListByGroupResponseBody, error) {
	return GetConsumerListByGroupResponseBody{}, errLater
}

func (b *GetConsumerListByGroupResponseBody) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeConsumerConnection(data []byte, now int64) (ConsumerConnection, error) {
	return ConsumerConnection{}, errLater
}

func (b *ConsumerConnection) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeProducerConnection(data []byte) (ProducerConnection, error) {
	return ProducerConnection{}, errLater
}

func (b *ProducerConnection) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeProducerTableInfo(data []byte) (ProducerTableInfo, error) {
	return ProducerTableInfo{}, errLater
}

func (b *ProducerTableInfo) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeQuerySubscriptionResponseBody(data []byte, now int64) (QuerySubscriptionResponseBody, error) {
	return QuerySubscriptionResponseBody{}, errLater
}

func (b *QuerySubscriptionResponseBody) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeLockBatchRequestBody(data []byte) (LockBatchRequestBody, error) {
	return LockBatchRequestBody{}, errLater
}

func (b *LockBatchRequestBody) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeLockBatchResponseBody(data []byte) (LockBatchResponseBody, error) {
	return LockBatchResponseBody{}, errLater
}

func (b *LockBatchResponseBody) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeResetOffsetBody(data []byte) (ResetOffsetBody, error) { return ResetOffsetBody{}, errLater }

func (b *ResetOffsetBody) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeGetConsumerStatusBody(data []byte) (GetConsumerStatusBody, error) {
	return GetConsumerStatusBody{}, errLater
}

func (b *GetConsumerStatusBody) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeSubscriptionGroupConfig(data []byte) (SubscriptionGroupConfig, error) {
	return SubscriptionGroupConfig{}, errLater
}

func (b *SubscriptionGroupConfig) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeSubscriptionGroupWrapper(data []byte, now int64) (SubscriptionGroupWrapper, error) {
	return SubscriptionGroupWrapper{}, errLater
}

func (b *SubscriptionGroupWrapper) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeSubscriptionGroupList(data []byte) (SubscriptionGroupList, error) {
	return SubscriptionGroupList{}, errLater
}

func (b *SubscriptionGroupList) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeGroupList(data []byte) (GroupList, error) { return GroupList{}, errLater }

func (b *GroupList) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeGroupForbidden(data []byte) (GroupForbidden, error) { return GroupForbidden{}, errLater }

func (b *GroupForbidden) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeCreateTopicListRequestBody(data []byte) (CreateTopicListRequestBody, error) {
	return CreateTopicListRequestBody{}, errLater
}

func (b *CreateTopicListRequestBody) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeTopicConfigAndMappingSerializeWrapper(data []byte, now int64) (TopicConfigAndMappingSerializeWrapper, error) {
	return TopicConfigAndMappingSerializeWrapper{}, errLater
}

func (b *TopicConfigAndMappingSerializeWrapper) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeTopicConfigAndQueueMapping(data []byte) (TopicConfigAndQueueMapping, error) {
	return TopicConfigAndQueueMapping{}, errLater
}

func (b *TopicConfigAndQueueMapping) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func DecodeTopicQueueMappingSerializeWrapper(data []byte, now int64) (TopicQueueMappingSerializeWrapper, error) {
	return TopicQueueMappingSerializeWrapper{}, errLater
}

func (b *TopicQueueMappingSerializeWrapper) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func (b *ResetOffsetBodyForC) AppendJSON(dst []byte, f JSONForm) []byte { return dst }

func (t ConsumeType) String() string { return "" }

func (t MessageModel) String() string { return "" }

func (t ConsumeFromWhere) String() string { return "" }

func (t GroupRetryPolicyType) String() string { return "" }

func NewSubscriptionGroupConfig(name string) SubscriptionGroupConfig {
	return SubscriptionGroupConfig{}
}
