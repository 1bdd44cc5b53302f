package protocol

import "strconv"

// RequestCode says what a request asks for. The list is the union of the NameServer's, the broker's, the
// client's and the controller's codes of releases 4.9 and 5.5.0.
//
// Source: spec/remoting.md §5.1, spec/namesrv.md §4.1, spec/broker.md §6, spec/ha.md, spec/since-2025-09.md §7.1.
type RequestCode int32

// Request codes, by the original's name.
const (
	ReqSendMessage                          RequestCode = 10     // SEND_MESSAGE
	ReqPullMessage                          RequestCode = 11     // PULL_MESSAGE
	ReqQueryMessage                         RequestCode = 12     // QUERY_MESSAGE
	ReqQueryBrokerOffset                    RequestCode = 13     // QUERY_BROKER_OFFSET
	ReqQueryConsumerOffset                  RequestCode = 14     // QUERY_CONSUMER_OFFSET
	ReqUpdateConsumerOffset                 RequestCode = 15     // UPDATE_CONSUMER_OFFSET
	ReqUpdateAndCreateTopic                 RequestCode = 17     // UPDATE_AND_CREATE_TOPIC
	ReqUpdateAndCreateTopicList             RequestCode = 18     // UPDATE_AND_CREATE_TOPIC_LIST
	ReqGetAllTopicConfig                    RequestCode = 21     // GET_ALL_TOPIC_CONFIG
	ReqGetTopicConfigList                   RequestCode = 22     // GET_TOPIC_CONFIG_LIST
	ReqGetTopicNameList                     RequestCode = 23     // GET_TOPIC_NAME_LIST
	ReqUpdateBrokerConfig                   RequestCode = 25     // UPDATE_BROKER_CONFIG
	ReqGetBrokerConfig                      RequestCode = 26     // GET_BROKER_CONFIG
	ReqTriggerDeleteFiles                   RequestCode = 27     // TRIGGER_DELETE_FILES
	ReqGetBrokerRuntimeInfo                 RequestCode = 28     // GET_BROKER_RUNTIME_INFO
	ReqSearchOffsetByTimestamp              RequestCode = 29     // SEARCH_OFFSET_BY_TIMESTAMP
	ReqGetMaxOffset                         RequestCode = 30     // GET_MAX_OFFSET
	ReqGetMinOffset                         RequestCode = 31     // GET_MIN_OFFSET
	ReqGetEarliestMsgStoreTime              RequestCode = 32     // GET_EARLIEST_MSG_STORETIME
	ReqViewMessageByID                      RequestCode = 33     // VIEW_MESSAGE_BY_ID
	ReqHeartBeat                            RequestCode = 34     // HEART_BEAT
	ReqUnregisterClient                     RequestCode = 35     // UNREGISTER_CLIENT
	ReqConsumerSendMsgBack                  RequestCode = 36     // CONSUMER_SEND_MSG_BACK
	ReqEndTransaction                       RequestCode = 37     // END_TRANSACTION
	ReqGetConsumerListByGroup               RequestCode = 38     // GET_CONSUMER_LIST_BY_GROUP
	ReqCheckTransactionState                RequestCode = 39     // CHECK_TRANSACTION_STATE
	ReqNotifyConsumerIDsChanged             RequestCode = 40     // NOTIFY_CONSUMER_IDS_CHANGED
	ReqLockBatchMQ                          RequestCode = 41     // LOCK_BATCH_MQ
	ReqUnlockBatchMQ                        RequestCode = 42     // UNLOCK_BATCH_MQ
	ReqGetAllConsumerOffset                 RequestCode = 43     // GET_ALL_CONSUMER_OFFSET
	ReqGetAllDelayOffset                    RequestCode = 45     // GET_ALL_DELAY_OFFSET
	ReqCheckClientConfig                    RequestCode = 46     // CHECK_CLIENT_CONFIG
	ReqGetClientConfig                      RequestCode = 47     // GET_CLIENT_CONFIG
	ReqUpdateAndCreateACLConfig             RequestCode = 50     // UPDATE_AND_CREATE_ACL_CONFIG
	ReqDeleteACLConfig                      RequestCode = 51     // DELETE_ACL_CONFIG
	ReqGetBrokerClusterACLInfo              RequestCode = 52     // GET_BROKER_CLUSTER_ACL_INFO
	ReqUpdateGlobalWhiteAddrsConfig         RequestCode = 53     // UPDATE_GLOBAL_WHITE_ADDRS_CONFIG
	ReqGetBrokerClusterACLConfig            RequestCode = 54     // GET_BROKER_CLUSTER_ACL_CONFIG
	ReqGetTimerCheckPoint                   RequestCode = 60     // GET_TIMER_CHECK_POINT
	ReqGetTimerMetrics                      RequestCode = 61     // GET_TIMER_METRICS
	ReqPutKVConfig                          RequestCode = 100    // PUT_KV_CONFIG
	ReqGetKVConfig                          RequestCode = 101    // GET_KV_CONFIG
	ReqDeleteKVConfig                       RequestCode = 102    // DELETE_KV_CONFIG
	ReqRegisterBroker                       RequestCode = 103    // REGISTER_BROKER
	ReqUnregisterBroker                     RequestCode = 104    // UNREGISTER_BROKER
	ReqGetRouteInfoByTopic                  RequestCode = 105    // GET_ROUTEINFO_BY_TOPIC
	ReqGetBrokerClusterInfo                 RequestCode = 106    // GET_BROKER_CLUSTER_INFO
	ReqUpdateAndCreateSubscriptionGroup     RequestCode = 200    // UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
	ReqGetAllSubscriptionGroupConfig        RequestCode = 201    // GET_ALL_SUBSCRIPTIONGROUP_CONFIG
	ReqGetTopicStatsInfo                    RequestCode = 202    // GET_TOPIC_STATS_INFO
	ReqGetConsumerConnectionList            RequestCode = 203    // GET_CONSUMER_CONNECTION_LIST
	ReqGetProducerConnectionList            RequestCode = 204    // GET_PRODUCER_CONNECTION_LIST
	ReqWipeWritePermOfBroker                RequestCode = 205    // WIPE_WRITE_PERM_OF_BROKER
	ReqGetAllTopicListFromNameServer        RequestCode = 206    // GET_ALL_TOPIC_LIST_FROM_NAMESERVER
	ReqDeleteSubscriptionGroup              RequestCode = 207    // DELETE_SUBSCRIPTIONGROUP
	ReqGetConsumeStats                      RequestCode = 208    // GET_CONSUME_STATS
	ReqSuspendConsumer                      RequestCode = 209    // SUSPEND_CONSUMER
	ReqResumeConsumer                       RequestCode = 210    // RESUME_CONSUMER
	ReqResetConsumerOffsetInConsumer        RequestCode = 211    // RESET_CONSUMER_OFFSET_IN_CONSUMER
	ReqResetConsumerOffsetInBroker          RequestCode = 212    // RESET_CONSUMER_OFFSET_IN_BROKER
	ReqAdjustConsumerThreadPool             RequestCode = 213    // ADJUST_CONSUMER_THREAD_POOL
	ReqWhoConsumeTheMessage                 RequestCode = 214    // WHO_CONSUME_THE_MESSAGE
	ReqDeleteTopicInBroker                  RequestCode = 215    // DELETE_TOPIC_IN_BROKER
	ReqDeleteTopicInNamesrv                 RequestCode = 216    // DELETE_TOPIC_IN_NAMESRV
	ReqRegisterTopicInNamesrv               RequestCode = 217    // REGISTER_TOPIC_IN_NAMESRV
	ReqGetKVListByNamespace                 RequestCode = 219    // GET_KVLIST_BY_NAMESPACE
	ReqResetConsumerClientOffset            RequestCode = 220    // RESET_CONSUMER_CLIENT_OFFSET
	ReqGetConsumerStatusFromClient          RequestCode = 221    // GET_CONSUMER_STATUS_FROM_CLIENT
	ReqInvokeBrokerToResetOffset            RequestCode = 222    // INVOKE_BROKER_TO_RESET_OFFSET
	ReqInvokeBrokerToGetConsumerStatus      RequestCode = 223    // INVOKE_BROKER_TO_GET_CONSUMER_STATUS
	ReqGetTopicsByCluster                   RequestCode = 224    // GET_TOPICS_BY_CLUSTER
	ReqUpdateAndCreateSubscriptionGroupList RequestCode = 225    // UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST
	ReqQueryTopicConsumeByWho               RequestCode = 300    // QUERY_TOPIC_CONSUME_BY_WHO
	ReqRegisterFilterServer                 RequestCode = 301    // REGISTER_FILTER_SERVER
	ReqRegisterMessageFilterClass           RequestCode = 302    // REGISTER_MESSAGE_FILTER_CLASS
	ReqQueryConsumeTimeSpan                 RequestCode = 303    // QUERY_CONSUME_TIME_SPAN
	ReqGetSystemTopicListFromNS             RequestCode = 304    // GET_SYSTEM_TOPIC_LIST_FROM_NS
	ReqGetSystemTopicListFromBroker         RequestCode = 305    // GET_SYSTEM_TOPIC_LIST_FROM_BROKER
	ReqCleanExpiredConsumeQueue             RequestCode = 306    // CLEAN_EXPIRED_CONSUMEQUEUE
	ReqGetConsumerRunningInfo               RequestCode = 307    // GET_CONSUMER_RUNNING_INFO
	ReqQueryCorrectionOffset                RequestCode = 308    // QUERY_CORRECTION_OFFSET
	ReqConsumeMessageDirectly               RequestCode = 309    // CONSUME_MESSAGE_DIRECTLY
	ReqSendMessageV2                        RequestCode = 310    // SEND_MESSAGE_V2
	ReqGetUnitTopicList                     RequestCode = 311    // GET_UNIT_TOPIC_LIST
	ReqGetHasUnitSubTopicList               RequestCode = 312    // GET_HAS_UNIT_SUB_TOPIC_LIST
	ReqGetHasUnitSubUnUnitTopicList         RequestCode = 313    // GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST
	ReqCloneGroupOffset                     RequestCode = 314    // CLONE_GROUP_OFFSET
	ReqViewBrokerStatsData                  RequestCode = 315    // VIEW_BROKER_STATS_DATA
	ReqCleanUnusedTopic                     RequestCode = 316    // CLEAN_UNUSED_TOPIC
	ReqGetBrokerConsumeStats                RequestCode = 317    // GET_BROKER_CONSUME_STATS
	ReqUpdateNamesrvConfig                  RequestCode = 318    // UPDATE_NAMESRV_CONFIG
	ReqGetNamesrvConfig                     RequestCode = 319    // GET_NAMESRV_CONFIG
	ReqSendBatchMessage                     RequestCode = 320    // SEND_BATCH_MESSAGE
	ReqQueryConsumeQueue                    RequestCode = 321    // QUERY_CONSUME_QUEUE
	ReqQueryDataVersion                     RequestCode = 322    // QUERY_DATA_VERSION
	ReqResumeCheckHalfMessage               RequestCode = 323    // RESUME_CHECK_HALF_MESSAGE
	ReqSendReplyMessage                     RequestCode = 324    // SEND_REPLY_MESSAGE
	ReqSendReplyMessageV2                   RequestCode = 325    // SEND_REPLY_MESSAGE_V2
	ReqPushReplyMessageToClient             RequestCode = 326    // PUSH_REPLY_MESSAGE_TO_CLIENT
	ReqAddWritePermOfBroker                 RequestCode = 327    // ADD_WRITE_PERM_OF_BROKER
	ReqGetAllProducerInfo                   RequestCode = 328    // GET_ALL_PRODUCER_INFO
	ReqDeleteExpiredCommitLog               RequestCode = 329    // DELETE_EXPIRED_COMMITLOG
	ReqQueryTopicsByConsumer                RequestCode = 343    // QUERY_TOPICS_BY_CONSUMER
	ReqQuerySubscriptionByConsumer          RequestCode = 345    // QUERY_SUBSCRIPTION_BY_CONSUMER
	ReqGetTopicConfig                       RequestCode = 351    // GET_TOPIC_CONFIG
	ReqGetSubscriptionGroupConfig           RequestCode = 352    // GET_SUBSCRIPTIONGROUP_CONFIG
	ReqUpdateAndGetGroupForbidden           RequestCode = 353    // UPDATE_AND_GET_GROUP_FORBIDDEN
	ReqCheckRocksDBCQWriteProgress          RequestCode = 354    // CHECK_ROCKSDB_CQ_WRITE_PROGRESS
	ReqExportRocksDBConfigToJSON            RequestCode = 355    // EXPORT_ROCKSDB_CONFIG_TO_JSON
	ReqLitePullMessage                      RequestCode = 361    // LITE_PULL_MESSAGE
	ReqRecallMessage                        RequestCode = 370    // RECALL_MESSAGE
	ReqQueryAssignment                      RequestCode = 400    // QUERY_ASSIGNMENT
	ReqSetMessageRequestMode                RequestCode = 401    // SET_MESSAGE_REQUEST_MODE
	ReqGetAllMessageRequestMode             RequestCode = 402    // GET_ALL_MESSAGE_REQUEST_MODE
	ReqUpdateAndCreateStaticTopic           RequestCode = 513    // UPDATE_AND_CREATE_STATIC_TOPIC
	ReqGetBrokerMemberGroup                 RequestCode = 901    // GET_BROKER_MEMBER_GROUP
	ReqAddBroker                            RequestCode = 902    // ADD_BROKER
	ReqRemoveBroker                         RequestCode = 903    // REMOVE_BROKER
	ReqBrokerHeartbeat                      RequestCode = 904    // BROKER_HEARTBEAT
	ReqNotifyMinBrokerIDChange              RequestCode = 905    // NOTIFY_MIN_BROKER_ID_CHANGE
	ReqExchangeBrokerHAInfo                 RequestCode = 906    // EXCHANGE_BROKER_HA_INFO
	ReqGetBrokerHAStatus                    RequestCode = 907    // GET_BROKER_HA_STATUS
	ReqResetMasterFlushOffset               RequestCode = 908    // RESET_MASTER_FLUSH_OFFSET
	ReqControllerAlterSyncStateSet          RequestCode = 1001   // CONTROLLER_ALTER_SYNC_STATE_SET
	ReqControllerElectMaster                RequestCode = 1002   // CONTROLLER_ELECT_MASTER
	ReqControllerRegisterBroker             RequestCode = 1003   // CONTROLLER_REGISTER_BROKER
	ReqControllerGetReplicaInfo             RequestCode = 1004   // CONTROLLER_GET_REPLICA_INFO
	ReqControllerGetMetadataInfo            RequestCode = 1005   // CONTROLLER_GET_METADATA_INFO
	ReqControllerGetSyncStateData           RequestCode = 1006   // CONTROLLER_GET_SYNC_STATE_DATA
	ReqGetBrokerEpochCache                  RequestCode = 1007   // GET_BROKER_EPOCH_CACHE
	ReqNotifyBrokerRoleChanged              RequestCode = 1008   // NOTIFY_BROKER_ROLE_CHANGED
	ReqUpdateControllerConfig               RequestCode = 1009   // UPDATE_CONTROLLER_CONFIG
	ReqGetControllerConfig                  RequestCode = 1010   // GET_CONTROLLER_CONFIG
	ReqCleanBrokerData                      RequestCode = 1011   // CLEAN_BROKER_DATA
	ReqControllerGetNextBrokerID            RequestCode = 1012   // CONTROLLER_GET_NEXT_BROKER_ID
	ReqControllerApplyBrokerID              RequestCode = 1013   // CONTROLLER_APPLY_BROKER_ID
	ReqBrokerCloseChannelRequest            RequestCode = 1014   // BROKER_CLOSE_CHANNEL_REQUEST
	ReqCheckNotActiveBrokerRequest          RequestCode = 1015   // CHECK_NOT_ACTIVE_BROKER_REQUEST
	ReqGetBrokerLiveInfoRequest             RequestCode = 1016   // GET_BROKER_LIVE_INFO_REQUEST
	ReqGetSyncStateDataRequest              RequestCode = 1017   // GET_SYNC_STATE_DATA_REQUEST
	ReqRaftBrokerHeartBeatEventRequest      RequestCode = 1018   // RAFT_BROKER_HEART_BEAT_EVENT_REQUEST
	ReqUpdateColdDataFlowCtrConfig          RequestCode = 2001   // UPDATE_COLD_DATA_FLOW_CTR_CONFIG
	ReqRemoveColdDataFlowCtrConfig          RequestCode = 2002   // REMOVE_COLD_DATA_FLOW_CTR_CONFIG
	ReqGetColdDataFlowCtrInfo               RequestCode = 2003   // GET_COLD_DATA_FLOW_CTR_INFO
	ReqSetCommitLogReadMode                 RequestCode = 2004   // SET_COMMITLOG_READ_MODE
	ReqAuthCreateUser                       RequestCode = 3001   // AUTH_CREATE_USER
	ReqAuthUpdateUser                       RequestCode = 3002   // AUTH_UPDATE_USER
	ReqAuthDeleteUser                       RequestCode = 3003   // AUTH_DELETE_USER
	ReqAuthGetUser                          RequestCode = 3004   // AUTH_GET_USER
	ReqAuthListUser                         RequestCode = 3005   // AUTH_LIST_USER
	ReqAuthCreateACL                        RequestCode = 3006   // AUTH_CREATE_ACL
	ReqAuthUpdateACL                        RequestCode = 3007   // AUTH_UPDATE_ACL
	ReqAuthDeleteACL                        RequestCode = 3008   // AUTH_DELETE_ACL
	ReqAuthGetACL                           RequestCode = 3009   // AUTH_GET_ACL
	ReqAuthListACL                          RequestCode = 3010   // AUTH_LIST_ACL
	ReqSwitchTimerEngine                    RequestCode = 5001   // SWITCH_TIMER_ENGINE
	ReqPopMessage                           RequestCode = 200050 // POP_MESSAGE
	ReqAckMessage                           RequestCode = 200051 // ACK_MESSAGE
	ReqPeekMessage                          RequestCode = 200052 // PEEK_MESSAGE
	ReqChangeMessageInvisibleTime           RequestCode = 200053 // CHANGE_MESSAGE_INVISIBLETIME
	ReqNotification                         RequestCode = 200054 // NOTIFICATION
	ReqPollingInfo                          RequestCode = 200055 // POLLING_INFO
	ReqPopRollback                          RequestCode = 200056 // POP_ROLLBACK
	ReqPopLiteMessage                       RequestCode = 200070 // POP_LITE_MESSAGE
	ReqLiteSubscriptionCtl                  RequestCode = 200071 // LITE_SUBSCRIPTION_CTL
	ReqAckLiteMessage                       RequestCode = 200072 // ACK_LITE_MESSAGE
	ReqNotifyUnsubscribeLite                RequestCode = 200073 // NOTIFY_UNSUBSCRIBE_LITE
	ReqGetBrokerLiteInfo                    RequestCode = 200074 // GET_BROKER_LITE_INFO
	ReqGetParentTopicInfo                   RequestCode = 200075 // GET_PARENT_TOPIC_INFO
	ReqGetLiteTopicInfo                     RequestCode = 200076 // GET_LITE_TOPIC_INFO
	ReqGetLiteClientInfo                    RequestCode = 200077 // GET_LITE_CLIENT_INFO
	ReqGetLiteGroupInfo                     RequestCode = 200078 // GET_LITE_GROUP_INFO
	ReqTriggerLiteDispatch                  RequestCode = 200079 // TRIGGER_LITE_DISPATCH
	ReqBatchAckMessage                      RequestCode = 200151 // BATCH_ACK_MESSAGE
)

// ResponseCode is the outcome of a request.
//
// Source: spec/remoting.md §5.9, spec/since-2025-09.md §2.
type ResponseCode int32

// Response codes, by the original's name. 4.9 gives 209 to 211 other meanings, all about its old ACL.
const (
	RespRPCTimeOut                           ResponseCode = -1006 // RPC_TIME_OUT
	RespRPCSendToChannelFailed               ResponseCode = -1004 // RPC_SEND_TO_CHANNEL_FAILED
	RespRPCAddrIsNull                        ResponseCode = -1002 // RPC_ADDR_IS_NULL
	RespRPCUnknown                           ResponseCode = -1000 // RPC_UNKNOWN
	RespSuccess                              ResponseCode = 0     // SUCCESS
	RespSystemError                          ResponseCode = 1     // SYSTEM_ERROR
	RespSystemBusy                           ResponseCode = 2     // SYSTEM_BUSY
	RespRequestCodeNotSupported              ResponseCode = 3     // REQUEST_CODE_NOT_SUPPORTED
	RespTransactionFailed                    ResponseCode = 4     // TRANSACTION_FAILED
	RespFlushDiskTimeout                     ResponseCode = 10    // FLUSH_DISK_TIMEOUT
	RespSlaveNotAvailable                    ResponseCode = 11    // SLAVE_NOT_AVAILABLE
	RespFlushSlaveTimeout                    ResponseCode = 12    // FLUSH_SLAVE_TIMEOUT
	RespMessageIllegal                       ResponseCode = 13    // MESSAGE_ILLEGAL
	RespServiceNotAvailable                  ResponseCode = 14    // SERVICE_NOT_AVAILABLE
	RespVersionNotSupported                  ResponseCode = 15    // VERSION_NOT_SUPPORTED
	RespNoPermission                         ResponseCode = 16    // NO_PERMISSION
	RespTopicNotExist                        ResponseCode = 17    // TOPIC_NOT_EXIST
	RespTopicExistAlready                    ResponseCode = 18    // TOPIC_EXIST_ALREADY
	RespPullNotFound                         ResponseCode = 19    // PULL_NOT_FOUND
	RespPullRetryImmediately                 ResponseCode = 20    // PULL_RETRY_IMMEDIATELY
	RespPullOffsetMoved                      ResponseCode = 21    // PULL_OFFSET_MOVED
	RespQueryNotFound                        ResponseCode = 22    // QUERY_NOT_FOUND
	RespSubscriptionParseFailed              ResponseCode = 23    // SUBSCRIPTION_PARSE_FAILED
	RespSubscriptionNotExist                 ResponseCode = 24    // SUBSCRIPTION_NOT_EXIST
	RespSubscriptionNotLatest                ResponseCode = 25    // SUBSCRIPTION_NOT_LATEST
	RespSubscriptionGroupNotExist            ResponseCode = 26    // SUBSCRIPTION_GROUP_NOT_EXIST
	RespFilterDataNotExist                   ResponseCode = 27    // FILTER_DATA_NOT_EXIST
	RespFilterDataNotLatest                  ResponseCode = 28    // FILTER_DATA_NOT_LATEST
	RespInvalidParameter                     ResponseCode = 29    // INVALID_PARAMETER
	RespTransactionShouldCommit              ResponseCode = 200   // TRANSACTION_SHOULD_COMMIT
	RespTransactionShouldRollback            ResponseCode = 201   // TRANSACTION_SHOULD_ROLLBACK
	RespTransactionStateUnknow               ResponseCode = 202   // TRANSACTION_STATE_UNKNOW (sic)
	RespTransactionStateGroupWrong           ResponseCode = 203   // TRANSACTION_STATE_GROUP_WRONG
	RespNoBuyerID                            ResponseCode = 204   // NO_BUYER_ID
	RespNotInCurrentUnit                     ResponseCode = 205   // NOT_IN_CURRENT_UNIT
	RespConsumerNotOnline                    ResponseCode = 206   // CONSUMER_NOT_ONLINE
	RespConsumeMsgTimeout                    ResponseCode = 207   // CONSUME_MSG_TIMEOUT
	RespNoMessage                            ResponseCode = 208   // NO_MESSAGE
	RespPollingFull                          ResponseCode = 209   // POLLING_FULL
	RespPollingTimeout                       ResponseCode = 210   // POLLING_TIMEOUT
	RespBrokerNotExist                       ResponseCode = 211   // BROKER_NOT_EXIST
	RespBrokerDispatchNotComplete            ResponseCode = 212   // BROKER_DISPATCH_NOT_COMPLETE
	RespBroadcastConsumption                 ResponseCode = 213   // BROADCAST_CONSUMPTION
	RespFlowControl                          ResponseCode = 215   // FLOW_CONTROL
	RespNotLeaderForQueue                    ResponseCode = 501   // NOT_LEADER_FOR_QUEUE
	RespIllegalOperation                     ResponseCode = 604   // ILLEGAL_OPERATION
	RespGoAway                               ResponseCode = 1500  // GO_AWAY
	RespControllerFencedMasterEpoch          ResponseCode = 2000  // CONTROLLER_FENCED_MASTER_EPOCH
	RespControllerFencedSyncStateSetEpoch    ResponseCode = 2001  // CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH
	RespControllerInvalidMaster              ResponseCode = 2002  // CONTROLLER_INVALID_MASTER
	RespControllerInvalidReplicas            ResponseCode = 2003  // CONTROLLER_INVALID_REPLICAS
	RespControllerMasterNotAvailable         ResponseCode = 2004  // CONTROLLER_MASTER_NOT_AVAILABLE
	RespControllerInvalidRequest             ResponseCode = 2005  // CONTROLLER_INVALID_REQUEST
	RespControllerBrokerNotAlive             ResponseCode = 2006  // CONTROLLER_BROKER_NOT_ALIVE
	RespControllerNotLeader                  ResponseCode = 2007  // CONTROLLER_NOT_LEADER
	RespControllerBrokerMetadataNotExist     ResponseCode = 2008  // CONTROLLER_BROKER_METADATA_NOT_EXIST
	RespControllerInvalidCleanBrokerMetadata ResponseCode = 2009  // CONTROLLER_INVALID_CLEAN_BROKER_METADATA
	RespControllerBrokerNeedToBeRegistered   ResponseCode = 2010  // CONTROLLER_BROKER_NEED_TO_BE_REGISTERED
	RespControllerMasterStillExist           ResponseCode = 2011  // CONTROLLER_MASTER_STILL_EXIST
	RespControllerElectMasterFailed          ResponseCode = 2012  // CONTROLLER_ELECT_MASTER_FAILED
	RespControllerAlterSyncStateSetFailed    ResponseCode = 2013  // CONTROLLER_ALTER_SYNC_STATE_SET_FAILED
	RespControllerBrokerIDInvalid            ResponseCode = 2014  // CONTROLLER_BROKER_ID_INVALID
	RespControllerJRaftInternalError         ResponseCode = 2015  // CONTROLLER_JRAFT_INTERNAL_ERROR
	RespControllerBrokerLiveInfoNotExists    ResponseCode = 2016  // CONTROLLER_BROKER_LIVE_INFO_NOT_EXISTS
	RespLMQQuotaExceeded                     ResponseCode = 2017  // LMQ_QUOTA_EXCEEDED
	RespLiteSubscriptionQuotaExceeded        ResponseCode = 2018  // LITE_SUBSCRIPTION_QUOTA_EXCEEDED
	RespUserNotExist                         ResponseCode = 3001  // USER_NOT_EXIST
	RespPolicyNotExist                       ResponseCode = 3002  // POLICY_NOT_EXIST
)

// String returns the original's name, such as "GET_ROUTEINFO_BY_TOPIC", or the number of an unknown code.
func (c RequestCode) String() string {
	if name, ok := requestNames[c]; ok {
		return name
	}
	return strconv.Itoa(int(c))
}

// String returns the original's name, such as "TOPIC_NOT_EXIST", or the number of an unknown code.
func (c ResponseCode) String() string {
	if name, ok := responseNames[c]; ok {
		return name
	}
	return strconv.Itoa(int(c))
}

var requestNames = map[RequestCode]string{
	ReqSendMessage:                          "SEND_MESSAGE",
	ReqPullMessage:                          "PULL_MESSAGE",
	ReqQueryMessage:                         "QUERY_MESSAGE",
	ReqQueryBrokerOffset:                    "QUERY_BROKER_OFFSET",
	ReqQueryConsumerOffset:                  "QUERY_CONSUMER_OFFSET",
	ReqUpdateConsumerOffset:                 "UPDATE_CONSUMER_OFFSET",
	ReqUpdateAndCreateTopic:                 "UPDATE_AND_CREATE_TOPIC",
	ReqUpdateAndCreateTopicList:             "UPDATE_AND_CREATE_TOPIC_LIST",
	ReqGetAllTopicConfig:                    "GET_ALL_TOPIC_CONFIG",
	ReqGetTopicConfigList:                   "GET_TOPIC_CONFIG_LIST",
	ReqGetTopicNameList:                     "GET_TOPIC_NAME_LIST",
	ReqUpdateBrokerConfig:                   "UPDATE_BROKER_CONFIG",
	ReqGetBrokerConfig:                      "GET_BROKER_CONFIG",
	ReqTriggerDeleteFiles:                   "TRIGGER_DELETE_FILES",
	ReqGetBrokerRuntimeInfo:                 "GET_BROKER_RUNTIME_INFO",
	ReqSearchOffsetByTimestamp:              "SEARCH_OFFSET_BY_TIMESTAMP",
	ReqGetMaxOffset:                         "GET_MAX_OFFSET",
	ReqGetMinOffset:                         "GET_MIN_OFFSET",
	ReqGetEarliestMsgStoreTime:              "GET_EARLIEST_MSG_STORETIME",
	ReqViewMessageByID:                      "VIEW_MESSAGE_BY_ID",
	ReqHeartBeat:                            "HEART_BEAT",
	ReqUnregisterClient:                     "UNREGISTER_CLIENT",
	ReqConsumerSendMsgBack:                  "CONSUMER_SEND_MSG_BACK",
	ReqEndTransaction:                       "END_TRANSACTION",
	ReqGetConsumerListByGroup:               "GET_CONSUMER_LIST_BY_GROUP",
	ReqCheckTransactionState:                "CHECK_TRANSACTION_STATE",
	ReqNotifyConsumerIDsChanged:             "NOTIFY_CONSUMER_IDS_CHANGED",
	ReqLockBatchMQ:                          "LOCK_BATCH_MQ",
	ReqUnlockBatchMQ:                        "UNLOCK_BATCH_MQ",
	ReqGetAllConsumerOffset:                 "GET_ALL_CONSUMER_OFFSET",
	ReqGetAllDelayOffset:                    "GET_ALL_DELAY_OFFSET",
	ReqCheckClientConfig:                    "CHECK_CLIENT_CONFIG",
	ReqGetClientConfig:                      "GET_CLIENT_CONFIG",
	ReqUpdateAndCreateACLConfig:             "UPDATE_AND_CREATE_ACL_CONFIG",
	ReqDeleteACLConfig:                      "DELETE_ACL_CONFIG",
	ReqGetBrokerClusterACLInfo:              "GET_BROKER_CLUSTER_ACL_INFO",
	ReqUpdateGlobalWhiteAddrsConfig:         "UPDATE_GLOBAL_WHITE_ADDRS_CONFIG",
	ReqGetBrokerClusterACLConfig:            "GET_BROKER_CLUSTER_ACL_CONFIG",
	ReqGetTimerCheckPoint:                   "GET_TIMER_CHECK_POINT",
	ReqGetTimerMetrics:                      "GET_TIMER_METRICS",
	ReqPutKVConfig:                          "PUT_KV_CONFIG",
	ReqGetKVConfig:                          "GET_KV_CONFIG",
	ReqDeleteKVConfig:                       "DELETE_KV_CONFIG",
	ReqRegisterBroker:                       "REGISTER_BROKER",
	ReqUnregisterBroker:                     "UNREGISTER_BROKER",
	ReqGetRouteInfoByTopic:                  "GET_ROUTEINFO_BY_TOPIC",
	ReqGetBrokerClusterInfo:                 "GET_BROKER_CLUSTER_INFO",
	ReqUpdateAndCreateSubscriptionGroup:     "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP",
	ReqGetAllSubscriptionGroupConfig:        "GET_ALL_SUBSCRIPTIONGROUP_CONFIG",
	ReqGetTopicStatsInfo:                    "GET_TOPIC_STATS_INFO",
	ReqGetConsumerConnectionList:            "GET_CONSUMER_CONNECTION_LIST",
	ReqGetProducerConnectionList:            "GET_PRODUCER_CONNECTION_LIST",
	ReqWipeWritePermOfBroker:                "WIPE_WRITE_PERM_OF_BROKER",
	ReqGetAllTopicListFromNameServer:        "GET_ALL_TOPIC_LIST_FROM_NAMESERVER",
	ReqDeleteSubscriptionGroup:              "DELETE_SUBSCRIPTIONGROUP",
	ReqGetConsumeStats:                      "GET_CONSUME_STATS",
	ReqSuspendConsumer:                      "SUSPEND_CONSUMER",
	ReqResumeConsumer:                       "RESUME_CONSUMER",
	ReqResetConsumerOffsetInConsumer:        "RESET_CONSUMER_OFFSET_IN_CONSUMER",
	ReqResetConsumerOffsetInBroker:          "RESET_CONSUMER_OFFSET_IN_BROKER",
	ReqAdjustConsumerThreadPool:             "ADJUST_CONSUMER_THREAD_POOL",
	ReqWhoConsumeTheMessage:                 "WHO_CONSUME_THE_MESSAGE",
	ReqDeleteTopicInBroker:                  "DELETE_TOPIC_IN_BROKER",
	ReqDeleteTopicInNamesrv:                 "DELETE_TOPIC_IN_NAMESRV",
	ReqRegisterTopicInNamesrv:               "REGISTER_TOPIC_IN_NAMESRV",
	ReqGetKVListByNamespace:                 "GET_KVLIST_BY_NAMESPACE",
	ReqResetConsumerClientOffset:            "RESET_CONSUMER_CLIENT_OFFSET",
	ReqGetConsumerStatusFromClient:          "GET_CONSUMER_STATUS_FROM_CLIENT",
	ReqInvokeBrokerToResetOffset:            "INVOKE_BROKER_TO_RESET_OFFSET",
	ReqInvokeBrokerToGetConsumerStatus:      "INVOKE_BROKER_TO_GET_CONSUMER_STATUS",
	ReqGetTopicsByCluster:                   "GET_TOPICS_BY_CLUSTER",
	ReqUpdateAndCreateSubscriptionGroupList: "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST",
	ReqQueryTopicConsumeByWho:               "QUERY_TOPIC_CONSUME_BY_WHO",
	ReqRegisterFilterServer:                 "REGISTER_FILTER_SERVER",
	ReqRegisterMessageFilterClass:           "REGISTER_MESSAGE_FILTER_CLASS",
	ReqQueryConsumeTimeSpan:                 "QUERY_CONSUME_TIME_SPAN",
	ReqGetSystemTopicListFromNS:             "GET_SYSTEM_TOPIC_LIST_FROM_NS",
	ReqGetSystemTopicListFromBroker:         "GET_SYSTEM_TOPIC_LIST_FROM_BROKER",
	ReqCleanExpiredConsumeQueue:             "CLEAN_EXPIRED_CONSUMEQUEUE",
	ReqGetConsumerRunningInfo:               "GET_CONSUMER_RUNNING_INFO",
	ReqQueryCorrectionOffset:                "QUERY_CORRECTION_OFFSET",
	ReqConsumeMessageDirectly:               "CONSUME_MESSAGE_DIRECTLY",
	ReqSendMessageV2:                        "SEND_MESSAGE_V2",
	ReqGetUnitTopicList:                     "GET_UNIT_TOPIC_LIST",
	ReqGetHasUnitSubTopicList:               "GET_HAS_UNIT_SUB_TOPIC_LIST",
	ReqGetHasUnitSubUnUnitTopicList:         "GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST",
	ReqCloneGroupOffset:                     "CLONE_GROUP_OFFSET",
	ReqViewBrokerStatsData:                  "VIEW_BROKER_STATS_DATA",
	ReqCleanUnusedTopic:                     "CLEAN_UNUSED_TOPIC",
	ReqGetBrokerConsumeStats:                "GET_BROKER_CONSUME_STATS",
	ReqUpdateNamesrvConfig:                  "UPDATE_NAMESRV_CONFIG",
	ReqGetNamesrvConfig:                     "GET_NAMESRV_CONFIG",
	ReqSendBatchMessage:                     "SEND_BATCH_MESSAGE",
	ReqQueryConsumeQueue:                    "QUERY_CONSUME_QUEUE",
	ReqQueryDataVersion:                     "QUERY_DATA_VERSION",
	ReqResumeCheckHalfMessage:               "RESUME_CHECK_HALF_MESSAGE",
	ReqSendReplyMessage:                     "SEND_REPLY_MESSAGE",
	ReqSendReplyMessageV2:                   "SEND_REPLY_MESSAGE_V2",
	ReqPushReplyMessageToClient:             "PUSH_REPLY_MESSAGE_TO_CLIENT",
	ReqAddWritePermOfBroker:                 "ADD_WRITE_PERM_OF_BROKER",
	ReqGetAllProducerInfo:                   "GET_ALL_PRODUCER_INFO",
	ReqDeleteExpiredCommitLog:               "DELETE_EXPIRED_COMMITLOG",
	ReqQueryTopicsByConsumer:                "QUERY_TOPICS_BY_CONSUMER",
	ReqQuerySubscriptionByConsumer:          "QUERY_SUBSCRIPTION_BY_CONSUMER",
	ReqGetTopicConfig:                       "GET_TOPIC_CONFIG",
	ReqGetSubscriptionGroupConfig:           "GET_SUBSCRIPTIONGROUP_CONFIG",
	ReqUpdateAndGetGroupForbidden:           "UPDATE_AND_GET_GROUP_FORBIDDEN",
	ReqCheckRocksDBCQWriteProgress:          "CHECK_ROCKSDB_CQ_WRITE_PROGRESS",
	ReqExportRocksDBConfigToJSON:            "EXPORT_ROCKSDB_CONFIG_TO_JSON",
	ReqLitePullMessage:                      "LITE_PULL_MESSAGE",
	ReqRecallMessage:                        "RECALL_MESSAGE",
	ReqQueryAssignment:                      "QUERY_ASSIGNMENT",
	ReqSetMessageRequestMode:                "SET_MESSAGE_REQUEST_MODE",
	ReqGetAllMessageRequestMode:             "GET_ALL_MESSAGE_REQUEST_MODE",
	ReqUpdateAndCreateStaticTopic:           "UPDATE_AND_CREATE_STATIC_TOPIC",
	ReqGetBrokerMemberGroup:                 "GET_BROKER_MEMBER_GROUP",
	ReqAddBroker:                            "ADD_BROKER",
	ReqRemoveBroker:                         "REMOVE_BROKER",
	ReqBrokerHeartbeat:                      "BROKER_HEARTBEAT",
	ReqNotifyMinBrokerIDChange:              "NOTIFY_MIN_BROKER_ID_CHANGE",
	ReqExchangeBrokerHAInfo:                 "EXCHANGE_BROKER_HA_INFO",
	ReqGetBrokerHAStatus:                    "GET_BROKER_HA_STATUS",
	ReqResetMasterFlushOffset:               "RESET_MASTER_FLUSH_OFFSET",
	ReqControllerAlterSyncStateSet:          "CONTROLLER_ALTER_SYNC_STATE_SET",
	ReqControllerElectMaster:                "CONTROLLER_ELECT_MASTER",
	ReqControllerRegisterBroker:             "CONTROLLER_REGISTER_BROKER",
	ReqControllerGetReplicaInfo:             "CONTROLLER_GET_REPLICA_INFO",
	ReqControllerGetMetadataInfo:            "CONTROLLER_GET_METADATA_INFO",
	ReqControllerGetSyncStateData:           "CONTROLLER_GET_SYNC_STATE_DATA",
	ReqGetBrokerEpochCache:                  "GET_BROKER_EPOCH_CACHE",
	ReqNotifyBrokerRoleChanged:              "NOTIFY_BROKER_ROLE_CHANGED",
	ReqUpdateControllerConfig:               "UPDATE_CONTROLLER_CONFIG",
	ReqGetControllerConfig:                  "GET_CONTROLLER_CONFIG",
	ReqCleanBrokerData:                      "CLEAN_BROKER_DATA",
	ReqControllerGetNextBrokerID:            "CONTROLLER_GET_NEXT_BROKER_ID",
	ReqControllerApplyBrokerID:              "CONTROLLER_APPLY_BROKER_ID",
	ReqBrokerCloseChannelRequest:            "BROKER_CLOSE_CHANNEL_REQUEST",
	ReqCheckNotActiveBrokerRequest:          "CHECK_NOT_ACTIVE_BROKER_REQUEST",
	ReqGetBrokerLiveInfoRequest:             "GET_BROKER_LIVE_INFO_REQUEST",
	ReqGetSyncStateDataRequest:              "GET_SYNC_STATE_DATA_REQUEST",
	ReqRaftBrokerHeartBeatEventRequest:      "RAFT_BROKER_HEART_BEAT_EVENT_REQUEST",
	ReqUpdateColdDataFlowCtrConfig:          "UPDATE_COLD_DATA_FLOW_CTR_CONFIG",
	ReqRemoveColdDataFlowCtrConfig:          "REMOVE_COLD_DATA_FLOW_CTR_CONFIG",
	ReqGetColdDataFlowCtrInfo:               "GET_COLD_DATA_FLOW_CTR_INFO",
	ReqSetCommitLogReadMode:                 "SET_COMMITLOG_READ_MODE",
	ReqAuthCreateUser:                       "AUTH_CREATE_USER",
	ReqAuthUpdateUser:                       "AUTH_UPDATE_USER",
	ReqAuthDeleteUser:                       "AUTH_DELETE_USER",
	ReqAuthGetUser:                          "AUTH_GET_USER",
	ReqAuthListUser:                         "AUTH_LIST_USER",
	ReqAuthCreateACL:                        "AUTH_CREATE_ACL",
	ReqAuthUpdateACL:                        "AUTH_UPDATE_ACL",
	ReqAuthDeleteACL:                        "AUTH_DELETE_ACL",
	ReqAuthGetACL:                           "AUTH_GET_ACL",
	ReqAuthListACL:                          "AUTH_LIST_ACL",
	ReqSwitchTimerEngine:                    "SWITCH_TIMER_ENGINE",
	ReqPopMessage:                           "POP_MESSAGE",
	ReqAckMessage:                           "ACK_MESSAGE",
	ReqPeekMessage:                          "PEEK_MESSAGE",
	ReqChangeMessageInvisibleTime:           "CHANGE_MESSAGE_INVISIBLETIME",
	ReqNotification:                         "NOTIFICATION",
	ReqPollingInfo:                          "POLLING_INFO",
	ReqPopRollback:                          "POP_ROLLBACK",
	ReqPopLiteMessage:                       "POP_LITE_MESSAGE",
	ReqLiteSubscriptionCtl:                  "LITE_SUBSCRIPTION_CTL",
	ReqAckLiteMessage:                       "ACK_LITE_MESSAGE",
	ReqNotifyUnsubscribeLite:                "NOTIFY_UNSUBSCRIBE_LITE",
	ReqGetBrokerLiteInfo:                    "GET_BROKER_LITE_INFO",
	ReqGetParentTopicInfo:                   "GET_PARENT_TOPIC_INFO",
	ReqGetLiteTopicInfo:                     "GET_LITE_TOPIC_INFO",
	ReqGetLiteClientInfo:                    "GET_LITE_CLIENT_INFO",
	ReqGetLiteGroupInfo:                     "GET_LITE_GROUP_INFO",
	ReqTriggerLiteDispatch:                  "TRIGGER_LITE_DISPATCH",
	ReqBatchAckMessage:                      "BATCH_ACK_MESSAGE",
}

var responseNames = map[ResponseCode]string{
	RespRPCTimeOut:                           "RPC_TIME_OUT",
	RespRPCSendToChannelFailed:               "RPC_SEND_TO_CHANNEL_FAILED",
	RespRPCAddrIsNull:                        "RPC_ADDR_IS_NULL",
	RespRPCUnknown:                           "RPC_UNKNOWN",
	RespSuccess:                              "SUCCESS",
	RespSystemError:                          "SYSTEM_ERROR",
	RespSystemBusy:                           "SYSTEM_BUSY",
	RespRequestCodeNotSupported:              "REQUEST_CODE_NOT_SUPPORTED",
	RespTransactionFailed:                    "TRANSACTION_FAILED",
	RespFlushDiskTimeout:                     "FLUSH_DISK_TIMEOUT",
	RespSlaveNotAvailable:                    "SLAVE_NOT_AVAILABLE",
	RespFlushSlaveTimeout:                    "FLUSH_SLAVE_TIMEOUT",
	RespMessageIllegal:                       "MESSAGE_ILLEGAL",
	RespServiceNotAvailable:                  "SERVICE_NOT_AVAILABLE",
	RespVersionNotSupported:                  "VERSION_NOT_SUPPORTED",
	RespNoPermission:                         "NO_PERMISSION",
	RespTopicNotExist:                        "TOPIC_NOT_EXIST",
	RespTopicExistAlready:                    "TOPIC_EXIST_ALREADY",
	RespPullNotFound:                         "PULL_NOT_FOUND",
	RespPullRetryImmediately:                 "PULL_RETRY_IMMEDIATELY",
	RespPullOffsetMoved:                      "PULL_OFFSET_MOVED",
	RespQueryNotFound:                        "QUERY_NOT_FOUND",
	RespSubscriptionParseFailed:              "SUBSCRIPTION_PARSE_FAILED",
	RespSubscriptionNotExist:                 "SUBSCRIPTION_NOT_EXIST",
	RespSubscriptionNotLatest:                "SUBSCRIPTION_NOT_LATEST",
	RespSubscriptionGroupNotExist:            "SUBSCRIPTION_GROUP_NOT_EXIST",
	RespFilterDataNotExist:                   "FILTER_DATA_NOT_EXIST",
	RespFilterDataNotLatest:                  "FILTER_DATA_NOT_LATEST",
	RespInvalidParameter:                     "INVALID_PARAMETER",
	RespTransactionShouldCommit:              "TRANSACTION_SHOULD_COMMIT",
	RespTransactionShouldRollback:            "TRANSACTION_SHOULD_ROLLBACK",
	RespTransactionStateUnknow:               "TRANSACTION_STATE_UNKNOW",
	RespTransactionStateGroupWrong:           "TRANSACTION_STATE_GROUP_WRONG",
	RespNoBuyerID:                            "NO_BUYER_ID",
	RespNotInCurrentUnit:                     "NOT_IN_CURRENT_UNIT",
	RespConsumerNotOnline:                    "CONSUMER_NOT_ONLINE",
	RespConsumeMsgTimeout:                    "CONSUME_MSG_TIMEOUT",
	RespNoMessage:                            "NO_MESSAGE",
	RespPollingFull:                          "POLLING_FULL",
	RespPollingTimeout:                       "POLLING_TIMEOUT",
	RespBrokerNotExist:                       "BROKER_NOT_EXIST",
	RespBrokerDispatchNotComplete:            "BROKER_DISPATCH_NOT_COMPLETE",
	RespBroadcastConsumption:                 "BROADCAST_CONSUMPTION",
	RespFlowControl:                          "FLOW_CONTROL",
	RespNotLeaderForQueue:                    "NOT_LEADER_FOR_QUEUE",
	RespIllegalOperation:                     "ILLEGAL_OPERATION",
	RespGoAway:                               "GO_AWAY",
	RespControllerFencedMasterEpoch:          "CONTROLLER_FENCED_MASTER_EPOCH",
	RespControllerFencedSyncStateSetEpoch:    "CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH",
	RespControllerInvalidMaster:              "CONTROLLER_INVALID_MASTER",
	RespControllerInvalidReplicas:            "CONTROLLER_INVALID_REPLICAS",
	RespControllerMasterNotAvailable:         "CONTROLLER_MASTER_NOT_AVAILABLE",
	RespControllerInvalidRequest:             "CONTROLLER_INVALID_REQUEST",
	RespControllerBrokerNotAlive:             "CONTROLLER_BROKER_NOT_ALIVE",
	RespControllerNotLeader:                  "CONTROLLER_NOT_LEADER",
	RespControllerBrokerMetadataNotExist:     "CONTROLLER_BROKER_METADATA_NOT_EXIST",
	RespControllerInvalidCleanBrokerMetadata: "CONTROLLER_INVALID_CLEAN_BROKER_METADATA",
	RespControllerBrokerNeedToBeRegistered:   "CONTROLLER_BROKER_NEED_TO_BE_REGISTERED",
	RespControllerMasterStillExist:           "CONTROLLER_MASTER_STILL_EXIST",
	RespControllerElectMasterFailed:          "CONTROLLER_ELECT_MASTER_FAILED",
	RespControllerAlterSyncStateSetFailed:    "CONTROLLER_ALTER_SYNC_STATE_SET_FAILED",
	RespControllerBrokerIDInvalid:            "CONTROLLER_BROKER_ID_INVALID",
	RespControllerJRaftInternalError:         "CONTROLLER_JRAFT_INTERNAL_ERROR",
	RespControllerBrokerLiveInfoNotExists:    "CONTROLLER_BROKER_LIVE_INFO_NOT_EXISTS",
	RespLMQQuotaExceeded:                     "LMQ_QUOTA_EXCEEDED",
	RespLiteSubscriptionQuotaExceeded:        "LITE_SUBSCRIPTION_QUOTA_EXCEEDED",
	RespUserNotExist:                         "USER_NOT_EXIST",
	RespPolicyNotExist:                       "POLICY_NOT_EXIST",
}
