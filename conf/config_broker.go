package conf

import "time"

// BrokerConfig has the broker's own items, by the names of the original (spec/broker.md §2.1). Items in milliseconds
// or seconds are durations here, and their names lack the unit. The key table in keys_broker.go says what each one
// means, and which may change while the broker runs.
type BrokerConfig struct {
	// Who it is.
	BrokerClusterName string
	BrokerName        string
	BrokerID          int64
	BrokerIP1         string
	BrokerIP2         string
	BrokerConfigPath  string
	ConfigBlackList   string

	// NameServers and registration.
	NamesrvAddr                     string
	FetchNamesrvAddrByAddressServer bool
	FetchNamesrvAddrInterval        time.Duration
	RmqAddressServerDomain          string
	RmqAddressServerSubGroup        string
	UpdateNameServerAddrPeriod      time.Duration
	RegisterNameServerPeriod        time.Duration
	RegisterBrokerTimeout           time.Duration
	ForceRegister                   bool
	CompressedRegister              bool
	EnableSingleTopicRegister       bool
	EnableSplitRegistration         bool
	SplitRegistrationSize           int
	EnableSlaveActingMaster         bool
	BrokerHeartbeatInterval         time.Duration
	BrokerNotActiveTimeout          time.Duration
	CompatibleWithOldNameSrv        bool
	BrokerPermission                int

	// Topics and groups.
	DefaultTopicQueueNums              int
	AutoCreateTopicEnable              bool
	ClusterTopicEnable                 bool
	BrokerTopicEnable                  bool
	AutoCreateSubscriptionGroup        bool
	EnableCreateSysGroup               bool
	TraceTopicEnable                   bool
	MsgTraceTopicName                  string
	TraceOn                            bool
	RegionID                           string
	ValidateSystemTopicWhenUpdateTopic bool
	ClearRetryTopicWhenDeleteTopic     bool
	EnableMixedMessageType             bool
	EnableSplitMetadata                bool
	SplitMetadataSize                  int
	UseStaticSubscription              bool

	// Clients.
	NotifyConsumerIDsChangedEnable     bool
	RealTimeNotifyConsumerChange       bool
	ChannelExpiredTimeout              time.Duration
	SubscriptionExpiredTimeout         time.Duration
	RejectPullConsumerEnable           bool
	EnableRegisterProducer             bool
	LongPollingEnable                  bool
	ShortPollingTime                   time.Duration
	SlaveReadEnable                    bool
	EnablePropertyFilter               bool
	FilterSupportRetry                 bool
	EnableCalcFilterBitMap             bool
	ExpectConsumerNumUseFilter         int
	MaxErrorRateOfBloomFilter          int
	FilterDataCleanTimeSpan            time.Duration
	DisableConsumeIfConsumerReadSlowly bool
	ConsumerFallbehindThreshold        int64
	UseServerSideResetOffset           bool
	FlushConsumerOffsetInterval        time.Duration
	ConsumerOffsetUpdateVersionStep    int64
	DelayOffsetUpdateVersionStep       int64
	DefaultMessageRequestMode          string
	DefaultPopShareQueueNum            int
	ServerLoadBalancerEnable           bool

	// Sending.
	RejectTransactionMessage           bool
	StartAcceptSendRequestTimeStamp    int64
	StoreReplyMessageEnable            bool
	TransactionTimeOut                 time.Duration
	TransactionCheckMax                int
	TransactionCheckInterval           time.Duration
	RecallMessageEnable                bool
	LitePullMessageEnable              bool
	RetrieveMessageFromPopRetryTopicV1 bool
	EnableRetryTopicV2                 bool
	ReviveQueueNum                     int
	ForwardTimeout                     time.Duration

	// Work limits.
	BrokerFastFailureEnable                bool
	WaitTimeInSendQueue                    time.Duration
	WaitTimeInPullQueue                    time.Duration
	WaitTimeInLitePullQueue                time.Duration
	WaitTimeInHeartbeatQueue               time.Duration
	WaitTimeInTransactionQueue             time.Duration
	WaitTimeInAckQueue                     time.Duration
	WaitTimeInAdminBrokerQueue             time.Duration
	SendMessageThreadPoolNums              int
	SendThreadPoolQueueCapacity            int
	PullMessageThreadPoolNums              int
	PullThreadPoolQueueCapacity            int
	LitePullMessageThreadPoolNums          int
	LitePullThreadPoolQueueCapacity        int
	AckMessageThreadPoolNums               int
	AckThreadPoolQueueCapacity             int
	ProcessReplyMessageThreadPoolNums      int
	ReplyThreadPoolQueueCapacity           int
	QueryMessageThreadPoolNums             int
	QueryThreadPoolQueueCapacity           int
	AdminBrokerThreadPoolNums              int
	AdminBrokerThreadPoolQueueCapacity     int
	ClientManageThreadPoolNums             int
	ClientManagerThreadPoolQueueCapacity   int
	HeartbeatThreadPoolNums                int
	HeartbeatThreadPoolQueueCapacity       int
	ConsumerManageThreadPoolNums           int
	ConsumerManagerThreadPoolQueueCapacity int
	EndTransactionThreadPoolNums           int
	EndTransactionPoolQueueCapacity        int
	LoadBalanceProcessorThreadPoolNums     int
	LoadBalanceThreadPoolQueueCapacity     int
}

// RegisterPeriod is registerNameServerPeriod within its limits, 10 s and 60 s.
func (c *BrokerConfig) RegisterPeriod() time.Duration {
	return min(max(c.RegisterNameServerPeriod, 10*time.Second), time.Minute)
}

// NameServers is the list in namesrvAddr: host:port each, no duplicates.
func (c *BrokerConfig) NameServers() []string {
	list, _ := ParseServers(c.NamesrvAddr) // checked before it got here
	return list
}

// AddressServer is where the list of NameServers comes from with fetchNamesrvAddrByAddressServer: a host, maybe with a
// port, and the last part of the URL's path.
func (c *BrokerConfig) AddressServer() (domain, subgroup string) {
	return last("jmenv.tbsite.net", c.RmqAddressServerDomain), last("nsaddr", c.RmqAddressServerSubGroup)
}

// MessageStoreConfig has the items of the message store, by the names of the original (spec/broker.md §2.2).
type MessageStoreConfig struct {
	StorePathRootDir                  string
	StorePathCommitLog                string
	ReadOnlyCommitLogStorePaths       string
	MappedFileSizeCommitLog           int
	MappedFileSizeConsumeQueue        int
	EnableConsumeQueueExt             bool
	MappedFileSizeConsumeQueueExt     int
	BitMapLengthConsumeQueueExt       int
	MapperFileSizeBatchConsumeQueue   int
	FlushDiskType                     string
	FlushIntervalCommitLog            time.Duration
	FlushCommitLogLeastPages          int
	FlushCommitLogThoroughInterval    time.Duration
	FlushCommitLogTimed               bool
	CommitIntervalCommitLog           time.Duration
	CommitCommitLogLeastPages         int
	CommitCommitLogThoroughInterval   time.Duration
	FlushIntervalConsumeQueue         time.Duration
	FlushConsumeQueueLeastPages       int
	FlushConsumeQueueThoroughInterval time.Duration
	SyncFlushTimeout                  time.Duration
	PutMessageTimeout                 time.Duration
	DeleteWhen                        string
	FileReservedTime                  int
	DeleteFileBatchMax                int
	DeleteCommitLogFilesInterval      time.Duration
	DeleteConsumeQueueFilesInterval   time.Duration
	DestroyMapedFileIntervalForcibly  time.Duration
	RedeleteHangedFileInterval        time.Duration
	CleanResourceInterval             time.Duration
	DiskMaxUsedSpaceRatio             int
	DiskSpaceWarningLevelRatio        int
	DiskSpaceCleanForciblyRatio       int
	CleanFileForciblyEnable           bool
	MaxMessageSize                    int
	CheckCRCOnRecover                 bool
	MaxTransferBytesOnMessageInMemory int
	MaxTransferCountOnMessageInMemory int
	MaxTransferBytesOnMessageInDisk   int
	MaxTransferCountOnMessageInDisk   int
	AccessMessageInMemoryMaxRatio     int
	PullBatchMaxMessageCount          int
	MessageIndexEnable                bool
	MaxHashSlotNum                    int
	MaxIndexNum                       int
	MessageIndexSafe                  bool
	DefaultQueryMaxNum                int
	BrokerRole                        string
	HaListenPort                      int
	HaMasterAddress                   string
	HaSendHeartbeatInterval           time.Duration
	HaHousekeepingInterval            time.Duration
	HaTransferBatchSize               int
	HaMaxGapNotInSync                 int
	SlaveTimeout                      time.Duration
	TotalReplicas                     int
	InSyncReplicas                    int
	MinInSyncReplicas                 int
	AllAckInSyncStateSet              bool
	MessageDelayLevel                 string
	FlushDelayOffsetInterval          time.Duration
	TimerWheelEnable                  bool
	TimerMaxDelay                     time.Duration
	TimerPrecision                    time.Duration
	TransientStorePoolEnable          bool
	OsPageCacheBusyTimeOut            time.Duration
	EnableLmq                         bool
	EnableMultiDispatch               bool
	MaxLmqConsumeQueueNum             int
	EnabledAppendPropCRC              bool
	ForceVerifyPropCRC                bool
}

// The values of BrokerRole.
const (
	AsyncMaster = "ASYNC_MASTER"
	SyncMaster  = "SYNC_MASTER"
	Slave       = "SLAVE"
)
