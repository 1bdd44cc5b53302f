package conf

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	keyNamesrvAddr        = "namesrvAddr"
	keyBrokerConfigPath   = "brokerConfigPath"
	keyBrokerName         = "brokerName"
	keyBrokerID           = "brokerId"
	keyBrokerIP1          = "brokerIP1"
	keyBrokerIP2          = "brokerIP2"
	keyBrokerRole         = "brokerRole"
	keyHAListenPort       = "haListenPort"
	keyStorePathRootDir   = "storePathRootDir"
	keyStorePathCommitLog = "storePathCommitLog"
	keyBindAddress        = "bindAddress"
)

// brokerTable is the broker's configuration.
var brokerTable = newTable(slices.Concat(
	inGroup(GroupBroker, brokerKeys, brokerNoEffect), inGroup(GroupStore, storeKeys, storeNoEffect),
	serverKeys("10911"), clientKeys, tlsKeys))

// BrokerKeys is what Keys is, of the broker's keys.
func BrokerKeys() []Key { return slices.Clone(brokerTable.keys) }

func inGroup(g Group, lists ...[]Key) []Key {
	keys := slices.Concat(lists...)
	for i := range keys {
		keys[i].Group = g
	}
	return keys
}

var cpus = runtime.NumCPU()

var brokerKeys = []Key{
	str("brokerClusterName", func(c *Config) *string { return &c.Broker.BrokerClusterName }).def("DefaultCluster").important().notEmpty().
		about("name of the cluster; also that of a system topic"),
	str(keyBrokerName, func(c *Config) *string { return &c.Broker.BrokerName }).unset().computed("").important().notEmpty().
		about("name that master and slaves share; also that of a system topic. Default: host name"),
	long(keyBrokerID, func(c *Config) *int64 { return &c.Broker.BrokerID }).def("0").important().
		about("0 for the master, above 0 for a slave. With a master's `brokerRole` always 0"),
	str(keyBrokerIP1, func(c *Config) *string { return &c.Broker.BrokerIP1 }).unset().computed("").important().addr().
		about("address that NameServers and clients are told. Default: that of `bindAddress` if that is one, else the one that is found"),
	str(keyBrokerIP2, func(c *Config) *string { return &c.Broker.BrokerIP2 }).unset().computed("").addr().
		about("address that slaves are told. Default as for `brokerIP1`"),
	str(keyBrokerConfigPath, func(c *Config) *string { return &c.Broker.BrokerConfigPath }).unset().
		about("where updates are kept. Default: the file of `-c`, without one `~/store/config/broker.properties`"),
	str(keyConfigBlackList, func(c *Config) *string { return &c.Broker.ConfigBlackList }).def("configBlackList;brokerConfigPath").
		about("keys that may not be updated at run time, separated by `;`. Those of the default, `rocketmqHome`, `filterServerNums` and `tls.*` never may"),

	// NameServers and registration.
	str(keyNamesrvAddr, func(c *Config) *string { return &c.Broker.NamesrvAddr }).unset().important().live().list().
		about("NameServers, `host:port;host:port`; default `NAMESRV_ADDR`"),
	boolean("fetchNamesrvAddrByAddressServer", func(c *Config) *bool { return &c.Broker.FetchNamesrvAddrByAddressServer }).important().
		about("without `namesrvAddr`, an HTTP address server is asked for it"),
	millisLong("fetchNamesrvAddrInterval", func(c *Config) *time.Duration { return &c.Broker.FetchNamesrvAddrInterval }).def("10000").from(1000).
		about("milliseconds between two such questions"),
	boolean("fetchNameSrvAddrByDnsLookup", anything[bool]).important().noEffect().
		about("names in `namesrvAddr` are resolved; here they always are, to all their addresses"),
	str("rmqAddressServerDomain", func(c *Config) *string { return &c.Broker.RmqAddressServerDomain }).unset().
		about("the address server, with or without a port; default `jmenv.tbsite.net`"),
	str("rmqAddressServerSubGroup", func(c *Config) *string { return &c.Broker.RmqAddressServerSubGroup }).unset().
		about("last part of its URL; default `nsaddr`"),
	millisInt("updateNameServerAddrPeriod", func(c *Config) *time.Duration { return &c.Broker.UpdateNameServerAddrPeriod }).def("120000").from(1000).
		about("milliseconds between two looks at what the names of NameServers resolve to"),
	millisInt("registerNameServerPeriod", func(c *Config) *time.Duration { return &c.Broker.RegisterNameServerPeriod }).def("30000").
		about("milliseconds between two registrations, at least 10000 and at most 60000"),
	millisInt("registerBrokerTimeoutMills", func(c *Config) *time.Duration { return &c.Broker.RegisterBrokerTimeout }).def("24000").live().from(1).
		about("milliseconds that a registration may take"),
	boolean("forceRegister", func(c *Config) *bool { return &c.Broker.ForceRegister }).def("true").live().
		about("register periodically without asking first whether anything has changed"),
	boolean("compressedRegister", func(c *Config) *bool { return &c.Broker.CompressedRegister }).live().
		about("registrations are compressed"),
	boolean("enableSingleTopicRegister", func(c *Config) *bool { return &c.Broker.EnableSingleTopicRegister }).live().
		about("new topics are registered with code 217 rather than a short 103. NameServers before 5.0 do not have it: they get the 103"),
	boolean("enableSplitRegistration", func(c *Config) *bool { return &c.Broker.EnableSplitRegistration }).live().
		about("registrations of many topics are sent in parts"),
	integer("splitRegistrationSize", func(c *Config) *int { return &c.Broker.SplitRegistrationSize }).def("800").live().from(1).
		about("topics in such a part"),
	boolean("enableSlaveActingMaster", func(c *Config) *bool { return &c.Broker.EnableSlaveActingMaster }).
		about("a slave may take the place of a lost master: heartbeats to the NameServers"),
	millisInt("brokerHeartbeatInterval", func(c *Config) *time.Duration { return &c.Broker.BrokerHeartbeatInterval }).def("1000").from(100).
		about("milliseconds between two of them"),
	integer("sendHeartbeatTimeoutMillis", anything[int]).def("1000").noEffect().from(1).
		about("milliseconds that one may take; here nothing waits for it"),
	millisLong("brokerNotActiveTimeoutMillis", func(c *Config) *time.Duration { return &c.Broker.BrokerNotActiveTimeout }).def("10000").live().
		about("milliseconds of silence after which NameServers are to take this broker for lost"),
	integer("syncBrokerMemberGroupPeriod", anything[int]).def("1000").noEffect().from(100).
		about("milliseconds between two looks at the other brokers of the same name; not here yet"),
	boolean("compatibleWithOldNameSrv", func(c *Config) *bool { return &c.Broker.CompatibleWithOldNameSrv }).def("true").live().
		about("heartbeats use requests that NameServers of 4.9 know"),
	integer("brokerPermission", func(c *Config) *int { return &c.Broker.BrokerPermission }).def("6").live().between(0, 7).
		about("what may be done here: 4 read, 2 write, 6 both"),

	// Topics and groups.
	integer("defaultTopicQueueNums", func(c *Config) *int { return &c.Broker.DefaultTopicQueueNums }).def("8").live().from(1).
		about("queues of TBW102, and the most that a topic created by sending gets"),
	boolean("autoCreateTopicEnable", func(c *Config) *bool { return &c.Broker.AutoCreateTopicEnable }).def("true").important().live().
		about("topics are created by sending to them"),
	boolean("clusterTopicEnable", func(c *Config) *bool { return &c.Broker.ClusterTopicEnable }).def("true").
		about("the cluster's name is a topic for everybody"),
	boolean("brokerTopicEnable", func(c *Config) *bool { return &c.Broker.BrokerTopicEnable }).def("true").
		about("the broker's name is a topic for everybody"),
	boolean("autoCreateSubscriptionGroup", func(c *Config) *bool { return &c.Broker.AutoCreateSubscriptionGroup }).def("true").important().live().
		about("groups are created by consuming"),
	boolean("enableCreateSysGroup", func(c *Config) *bool { return &c.Broker.EnableCreateSysGroup }).def("true").live().
		about("groups that begin with `CID_RMQ_SYS_` are created even if others are not"),
	boolean("traceTopicEnable", func(c *Config) *bool { return &c.Broker.TraceTopicEnable }).important().
		about("there is a topic for message traces"),
	str("msgTraceTopicName", func(c *Config) *string { return &c.Broker.MsgTraceTopicName }).def("RMQ_SYS_TRACE_TOPIC").important().notEmpty().
		about("its name"),
	boolean("traceOn", func(c *Config) *bool { return &c.Broker.TraceOn }).def("true").live().
		about("told to producers: traces are wanted"),
	str("regionId", func(c *Config) *string { return &c.Broker.RegionID }).def("DefaultRegion").live().
		about("told to producers"),
	boolean("validateSystemTopicWhenUpdateTopic", func(c *Config) *bool { return &c.Broker.ValidateSystemTopicWhenUpdateTopic }).def("true").live().
		about("system topics cannot be changed or deleted"),
	boolean("clearRetryTopicWhenDeleteTopic", func(c *Config) *bool { return &c.Broker.ClearRetryTopicWhenDeleteTopic }).def("true").live().
		about("deleting a topic deletes its pop retry topics"),
	boolean("enableMixedMessageType", func(c *Config) *bool { return &c.Broker.EnableMixedMessageType }).live().
		about("topics may have the type MIXED"),
	boolean("enableSplitMetadata", func(c *Config) *bool { return &c.Broker.EnableSplitMetadata }).def("true").live().
		about("lists of all topics (21) and groups (201) are given in parts to those who ask so"),
	integer("splitMetadataSize", func(c *Config) *int { return &c.Broker.SplitMetadataSize }).def("2000").live().from(1).
		about("topics or groups in such a part"),
	boolean("useStaticSubscription", func(c *Config) *bool { return &c.Broker.UseStaticSubscription }).live().
		about("groups may have fixed subscriptions"),

	// Clients.
	boolean("notifyConsumerIdsChangedEnable", func(c *Config) *bool { return &c.Broker.NotifyConsumerIDsChangedEnable }).def("true").live().
		about("consumers are told when members of their group come and go"),
	boolean("realTimeNotifyConsumerChange", func(c *Config) *bool { return &c.Broker.RealTimeNotifyConsumerChange }).def("true").live().
		about("at once, rather than every 15 s"),
	millisLong("channelExpiredTimeout", func(c *Config) *time.Duration { return &c.Broker.ChannelExpiredTimeout }).def("120000").live().from(1).
		about("milliseconds without a heartbeat after which a client is gone"),
	millisLong("subscriptionExpiredTimeout", func(c *Config) *time.Duration { return &c.Broker.SubscriptionExpiredTimeout }).def("600000").live().from(1).
		about("milliseconds that subscriptions of pull consumers are remembered"),
	boolean("rejectPullConsumerEnable", func(c *Config) *bool { return &c.Broker.RejectPullConsumerEnable }).live().
		about("pull consumers are not taken in"),
	boolean("enableRegisterProducer", func(c *Config) *bool { return &c.Broker.EnableRegisterProducer }).def("true").live().
		about("producers are known by their heartbeats even where transactions are rejected"),
	boolean("lockInStrictMode", anything[bool]).noEffect().
		about("queue locks need the consent of most brokers of this name; not here yet: each decides alone"),
	boolean("longPollingEnable", func(c *Config) *bool { return &c.Broker.LongPollingEnable }).def("true").live().
		about("pulls that find nothing wait"),
	millisLong("shortPollingTimeMills", func(c *Config) *time.Duration { return &c.Broker.ShortPollingTime }).def("1000").live().from(1).
		about("milliseconds that they wait otherwise"),
	boolean("slaveReadEnable", func(c *Config) *bool { return &c.Broker.SlaveReadEnable }).live().
		about("consumers that lag far behind are sent to a slave"),
	boolean("enablePropertyFilter", func(c *Config) *bool { return &c.Broker.EnablePropertyFilter }).live().
		about("subscriptions may be SQL92 expressions"),
	boolean("filterSupportRetry", func(c *Config) *bool { return &c.Broker.FilterSupportRetry }).live().
		about("they also apply to retries"),
	boolean("enableCalcFilterBitMap", func(c *Config) *bool { return &c.Broker.EnableCalcFilterBitMap }).
		about("they are evaluated when messages are stored"),
	integer("expectConsumerNumUseFilter", func(c *Config) *int { return &c.Broker.ExpectConsumerNumUseFilter }).def("32").from(1).
		about("consumers with such subscriptions, for the size of the bit map"),
	integer("maxErrorRateOfBloomFilter", func(c *Config) *int { return &c.Broker.MaxErrorRateOfBloomFilter }).def("20").between(1, 99).
		about("per cent of wrong hits in it"),
	millisLong("filterDataCleanTimeSpan", func(c *Config) *time.Duration { return &c.Broker.FilterDataCleanTimeSpan }).def("86400000").from(1).
		about("milliseconds that subscriptions of consumers that have left are kept"),
	boolean("disableConsumeIfConsumerReadSlowly", func(c *Config) *bool { return &c.Broker.DisableConsumeIfConsumerReadSlowly }).live().
		about("groups that lag far behind may not consume"),
	long("consumerFallbehindThreshold", func(c *Config) *int64 { return &c.Broker.ConsumerFallbehindThreshold }).def("17179869184").live().
		about("bytes that count as far behind"),
	boolean("useServerSideResetOffset", func(c *Config) *bool { return &c.Broker.UseServerSideResetOffset }).def("true").live().
		about("consumer offsets are reset here rather than by the consumers"),
	millisInt("flushConsumerOffsetInterval", func(c *Config) *time.Duration { return &c.Broker.FlushConsumerOffsetInterval }).def("5000").from(1).live().
		about("milliseconds between two writes of `consumerOffset.json`"),
	long("consumerOffsetUpdateVersionStep", func(c *Config) *int64 { return &c.Broker.ConsumerOffsetUpdateVersionStep }).def("500").from(1).live().
		about("changes after which the data version of consumer offsets goes up"),
	long("delayOffsetUpdateVersionStep", func(c *Config) *int64 { return &c.Broker.DelayOffsetUpdateVersionStep }).def("200").from(1).
		about("the same for delayed messages"),
	str("defaultMessageRequestMode", func(c *Config) *string { return &c.Broker.DefaultMessageRequestMode }).def("PULL").live().oneOf("PULL", "POP").
		about("how consumers get messages unless told otherwise"),
	integer("defaultPopShareQueueNum", func(c *Config) *int { return &c.Broker.DefaultPopShareQueueNum }).def("-1").live().
		about("consumers that share a queue in pop mode"),
	boolean("serverLoadBalancerEnable", func(c *Config) *bool { return &c.Broker.ServerLoadBalancerEnable }).def("true").live().
		about("queues of pop consumers are assigned here"),

	// Sending.
	boolean("rejectTransactionMessage", func(c *Config) *bool { return &c.Broker.RejectTransactionMessage }).important().live().
		about("transactional messages are refused"),
	long("startAcceptSendRequestTimeStamp", func(c *Config) *int64 { return &c.Broker.StartAcceptSendRequestTimeStamp }).def("0").live().
		about("messages before this time (Unix milliseconds) are refused"),
	boolean("storeReplyMessageEnable", func(c *Config) *bool { return &c.Broker.StoreReplyMessageEnable }).def("true").live().
		about("replies of the request-reply pattern are stored"),
	millisLong("transactionTimeOut", func(c *Config) *time.Duration { return &c.Broker.TransactionTimeOut }).def("6000").important().live().
		about("milliseconds before a transaction is asked about"),
	integer("transactionCheckMax", func(c *Config) *int { return &c.Broker.TransactionCheckMax }).def("15").important().live().
		about("how often it is asked about"),
	millisLong("transactionCheckInterval", func(c *Config) *time.Duration { return &c.Broker.TransactionCheckInterval }).def("30000").important().live().from(1).
		about("milliseconds between two rounds of asking"),
	boolean("recallMessageEnable", func(c *Config) *bool { return &c.Broker.RecallMessageEnable }).live().
		about("delayed messages can be recalled"),
	boolean("litePullMessageEnable", func(c *Config) *bool { return &c.Broker.LitePullMessageEnable }).def("true").live().
		about("lite pulls have limits of their own"),
	boolean("retrieveMessageFromPopRetryTopicV1", func(c *Config) *bool { return &c.Broker.RetrieveMessageFromPopRetryTopicV1 }).def("true").live().
		about("retries under the older names are delivered"),
	boolean("enableRetryTopicV2", func(c *Config) *bool { return &c.Broker.EnableRetryTopicV2 }).live().
		about("retries go to topics with the newer names"),
	integer("reviveQueueNum", func(c *Config) *int { return &c.Broker.ReviveQueueNum }).def("8").from(1).
		about("queues for what pop consumers have not acknowledged"),
	millisLong("forwardTimeout", func(c *Config) *time.Duration { return &c.Broker.ForwardTimeout }).def("3000").live().from(1).
		about("milliseconds that a request to another broker may take"),

	// Work limits.
	boolean("brokerFastFailureEnable", func(c *Config) *bool { return &c.Broker.BrokerFastFailureEnable }).def("true").live().
		about("requests that have waited too long are answered SYSTEM_BUSY"),
	millisLong("waitTimeMillsInSendQueue", func(c *Config) *time.Duration { return &c.Broker.WaitTimeInSendQueue }).def("200").live().from(1).
		about("milliseconds that count as too long for sending"),
	millisLong("waitTimeMillsInPullQueue", func(c *Config) *time.Duration { return &c.Broker.WaitTimeInPullQueue }).def("5000").live().from(1).
		about("milliseconds that count as too long for pulling"),
	millisLong("waitTimeMillsInLitePullQueue", func(c *Config) *time.Duration { return &c.Broker.WaitTimeInLitePullQueue }).def("5000").live().from(1).
		about("milliseconds that count as too long for lite pulling"),
	millisLong("waitTimeMillsInHeartbeatQueue", func(c *Config) *time.Duration { return &c.Broker.WaitTimeInHeartbeatQueue }).def("31000").live().from(1).
		about("milliseconds that count as too long for heartbeats"),
	millisLong("waitTimeMillsInTransactionQueue", func(c *Config) *time.Duration { return &c.Broker.WaitTimeInTransactionQueue }).def("3000").live().from(1).
		about("milliseconds that count as too long for the end of a transaction"),
	millisLong("waitTimeMillsInAckQueue", func(c *Config) *time.Duration { return &c.Broker.WaitTimeInAckQueue }).def("3000").live().from(1).
		about("milliseconds that count as too long for acknowledging"),
	millisLong("waitTimeMillsInAdminBrokerQueue", func(c *Config) *time.Duration { return &c.Broker.WaitTimeInAdminBrokerQueue }).def("5000").live().from(1).
		about("milliseconds that count as too long for administration"),
	integer("sendMessageThreadPoolNums", func(c *Config) *int { return &c.Broker.SendMessageThreadPoolNums }).computed(strconv.Itoa(min(cpus, 4))).from(1).
		about("requests for sending that are worked on at a time"),
	integer("sendThreadPoolQueueCapacity", func(c *Config) *int { return &c.Broker.SendThreadPoolQueueCapacity }).def("10000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),
	integer("pullMessageThreadPoolNums", func(c *Config) *int { return &c.Broker.PullMessageThreadPoolNums }).computed(strconv.Itoa(16 + 2*cpus)).from(1).
		about("requests for pulling that are worked on at a time"),
	integer("pullThreadPoolQueueCapacity", func(c *Config) *int { return &c.Broker.PullThreadPoolQueueCapacity }).def("100000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),
	integer("litePullMessageThreadPoolNums", func(c *Config) *int { return &c.Broker.LitePullMessageThreadPoolNums }).computed(strconv.Itoa(16 + 2*cpus)).from(1).
		about("requests for lite pulling that are worked on at a time"),
	integer("litePullThreadPoolQueueCapacity", func(c *Config) *int { return &c.Broker.LitePullThreadPoolQueueCapacity }).def("100000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),
	integer("ackMessageThreadPoolNums", func(c *Config) *int { return &c.Broker.AckMessageThreadPoolNums }).def("16").from(1).
		about("requests for acknowledging that are worked on at a time"),
	integer("ackThreadPoolQueueCapacity", func(c *Config) *int { return &c.Broker.AckThreadPoolQueueCapacity }).def("100000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),
	integer("processReplyMessageThreadPoolNums", func(c *Config) *int { return &c.Broker.ProcessReplyMessageThreadPoolNums }).computed(strconv.Itoa(16 + 2*cpus)).from(1).
		about("requests for replies that are worked on at a time"),
	integer("replyThreadPoolQueueCapacity", func(c *Config) *int { return &c.Broker.ReplyThreadPoolQueueCapacity }).def("10000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),
	integer("queryMessageThreadPoolNums", func(c *Config) *int { return &c.Broker.QueryMessageThreadPoolNums }).computed(strconv.Itoa(8 + cpus)).from(1).
		about("requests for queries that are worked on at a time"),
	integer("queryThreadPoolQueueCapacity", func(c *Config) *int { return &c.Broker.QueryThreadPoolQueueCapacity }).def("20000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),
	integer("adminBrokerThreadPoolNums", func(c *Config) *int { return &c.Broker.AdminBrokerThreadPoolNums }).def("16").from(1).
		about("requests for administration that are worked on at a time"),
	integer("adminBrokerThreadPoolQueueCapacity", func(c *Config) *int { return &c.Broker.AdminBrokerThreadPoolQueueCapacity }).def("10000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),
	integer("clientManageThreadPoolNums", func(c *Config) *int { return &c.Broker.ClientManageThreadPoolNums }).def("32").from(1).
		about("requests for leaving clients that are worked on at a time"),
	integer("clientManagerThreadPoolQueueCapacity", func(c *Config) *int { return &c.Broker.ClientManagerThreadPoolQueueCapacity }).def("1000000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),
	integer("heartbeatThreadPoolNums", func(c *Config) *int { return &c.Broker.HeartbeatThreadPoolNums }).computed(strconv.Itoa(min(32, cpus))).from(1).
		about("requests for heartbeats that are worked on at a time"),
	integer("heartbeatThreadPoolQueueCapacity", func(c *Config) *int { return &c.Broker.HeartbeatThreadPoolQueueCapacity }).def("50000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),
	integer("consumerManageThreadPoolNums", func(c *Config) *int { return &c.Broker.ConsumerManageThreadPoolNums }).def("32").from(1).
		about("requests for the members of consumer groups that are worked on at a time"),
	integer("consumerManagerThreadPoolQueueCapacity", func(c *Config) *int { return &c.Broker.ConsumerManagerThreadPoolQueueCapacity }).def("1000000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),
	integer("endTransactionThreadPoolNums", func(c *Config) *int { return &c.Broker.EndTransactionThreadPoolNums }).computed(strconv.Itoa(max(8+2*cpus, 4*min(cpus, 4)))).from(1).
		about("requests for the end of transactions that are worked on at a time"),
	integer("endTransactionPoolQueueCapacity", func(c *Config) *int { return &c.Broker.EndTransactionPoolQueueCapacity }).def("100000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),
	integer("loadBalanceProcessorThreadPoolNums", func(c *Config) *int { return &c.Broker.LoadBalanceProcessorThreadPoolNums }).def("32").from(1).
		about("requests for queue assignment that are worked on at a time"),
	integer("loadBalanceThreadPoolQueueCapacity", func(c *Config) *int { return &c.Broker.LoadBalanceThreadPoolQueueCapacity }).def("100000").from(1).
		about("how many such may wait; further ones are answered SYSTEM_BUSY"),

	// Modes that are not here.
	boolean("enableControllerMode", anything[bool]).oneOf("false").
		about("masters chosen by a controller"),
	boolean("aclEnable", anything[bool]).important().oneOf("false").
		about("access control of 4.9"),
	boolean("authenticationEnabled", anything[bool]).unset().oneOf("false").
		about("access control of 5.x: who is it"),
	boolean("authorizationEnabled", anything[bool]).unset().oneOf("false").
		about("access control of 5.x: may they do that"),
	str("messageStorePlugIn", anything[string]).def("").oneOf("").
		about("classes around the store, such as that of tiered storage"),
	str("configManagerVersion", anything[string]).def("v1").oneOf("v1").
		about("form of the files in `config`"),
}

var storeKeys = []Key{
	str(keyStorePathRootDir, func(c *Config) *string { return &c.Store.StorePathRootDir }).unset().computed("").important().notEmpty().
		about("folder of everything that is stored; default `~/store`"),
	str(keyStorePathCommitLog, func(c *Config) *string { return &c.Store.StorePathCommitLog }).unset().computed("").important().
		about("folder of the commit log; default `commitlog` in that folder"),
	str("readOnlyCommitLogStorePaths", func(c *Config) *string { return &c.Store.ReadOnlyCommitLogStorePaths }).unset().
		about("folders with further commit log files, only read"),
	str("storeType", anything[string]).def("default").important().oneOf("default").
		about("form of the consume queues"),
	integer("mappedFileSizeCommitLog", func(c *Config) *int { return &c.Store.MappedFileSizeCommitLog }).def("1073741824").from(1).
		about("bytes of a commit log file"),
	integer("mappedFileSizeConsumeQueue", func(c *Config) *int { return &c.Store.MappedFileSizeConsumeQueue }).def("6000000").from(20).
		about("bytes of a consume queue file, rounded up to a multiple of 20"),
	boolean("enableConsumeQueueExt", func(c *Config) *bool { return &c.Store.EnableConsumeQueueExt }).
		about("consume queues have an extension for SQL92 filters"),
	integer("mappedFileSizeConsumeQueueExt", func(c *Config) *int { return &c.Store.MappedFileSizeConsumeQueueExt }).def("50331648").from(1).
		about("bytes of a file of the extension"),
	integer("bitMapLengthConsumeQueueExt", func(c *Config) *int { return &c.Store.BitMapLengthConsumeQueueExt }).def("112").
		about("bits of a filter's result in it"),
	integer("mapperFileSizeBatchConsumeQueue", func(c *Config) *int { return &c.Store.MapperFileSizeBatchConsumeQueue }).def("13800000").from(46).
		about("bytes of a batch consume queue file"),
	str("flushDiskType", func(c *Config) *string { return &c.Store.FlushDiskType }).def("ASYNC_FLUSH").important().oneOf("SYNC_FLUSH", "ASYNC_FLUSH").
		about("whether sending waits until the message is on disk"),
	millisInt("flushIntervalCommitLog", func(c *Config) *time.Duration { return &c.Store.FlushIntervalCommitLog }).def("500").important().from(1).
		about("milliseconds between two flushes of the commit log"),
	integer("flushCommitLogLeastPages", func(c *Config) *int { return &c.Store.FlushCommitLogLeastPages }).def("4").live().
		about("pages that are worth one"),
	millisInt("flushCommitLogThoroughInterval", func(c *Config) *time.Duration { return &c.Store.FlushCommitLogThoroughInterval }).def("10000").live().from(1).
		about("milliseconds after which fewer pages are"),
	boolean("flushCommitLogTimed", func(c *Config) *bool { return &c.Store.FlushCommitLogTimed }).def("true").important().live().
		about("flush in this interval whatever happens"),
	millisInt("commitIntervalCommitLog", func(c *Config) *time.Duration { return &c.Store.CommitIntervalCommitLog }).def("200").important().from(1).
		about("the same for `transientStorePoolEnable`"),
	integer("commitCommitLogLeastPages", func(c *Config) *int { return &c.Store.CommitCommitLogLeastPages }).def("4").live().
		about("as `flushCommitLogLeastPages`"),
	millisInt("commitCommitLogThoroughInterval", func(c *Config) *time.Duration { return &c.Store.CommitCommitLogThoroughInterval }).def("200").live().from(1).
		about("as `flushCommitLogThoroughInterval`"),
	millisInt("flushIntervalConsumeQueue", func(c *Config) *time.Duration { return &c.Store.FlushIntervalConsumeQueue }).def("1000").from(1).
		about("milliseconds between two flushes of consume queues"),
	integer("flushConsumeQueueLeastPages", func(c *Config) *int { return &c.Store.FlushConsumeQueueLeastPages }).def("2").live().
		about("as `flushCommitLogLeastPages`"),
	millisInt("flushConsumeQueueThoroughInterval", func(c *Config) *time.Duration { return &c.Store.FlushConsumeQueueThoroughInterval }).def("60000").live().from(1).
		about("as `flushCommitLogThoroughInterval`"),
	millisInt("syncFlushTimeout", func(c *Config) *time.Duration { return &c.Store.SyncFlushTimeout }).def("5000").live().from(1).
		about("milliseconds that sending waits for the disk"),
	millisInt("putMessageTimeout", func(c *Config) *time.Duration { return &c.Store.PutMessageTimeout }).def("8000").live().from(1).
		about("milliseconds that sending waits in all"),
	str("deleteWhen", func(c *Config) *string { return &c.Store.DeleteWhen }).def("04").important().live().
		about("hours of the day, two digits, separated by `;`, when old files are deleted"),
	integer("fileReservedTime", func(c *Config) *int { return &c.Store.FileReservedTime }).def("72").important().live().
		about("hours that a file is kept"),
	integer("deleteFileBatchMax", func(c *Config) *int { return &c.Store.DeleteFileBatchMax }).def("10").important().live().from(1).
		about("files deleted in one go"),
	millisInt("deleteCommitLogFilesInterval", func(c *Config) *time.Duration { return &c.Store.DeleteCommitLogFilesInterval }).def("100").live().
		about("milliseconds between two deletions"),
	millisInt("deleteConsumeQueueFilesInterval", func(c *Config) *time.Duration { return &c.Store.DeleteConsumeQueueFilesInterval }).def("100").live().
		about("as `deleteCommitLogFilesInterval`"),
	millisInt("destroyMapedFileIntervalForcibly", func(c *Config) *time.Duration { return &c.Store.DestroyMapedFileIntervalForcibly }).def("120000").live().
		about("milliseconds after which a file that is in use is deleted all the same"),
	millisInt("redeleteHangedFileInterval", func(c *Config) *time.Duration { return &c.Store.RedeleteHangedFileInterval }).def("120000").live().
		about("milliseconds between two attempts to delete such a file"),
	millisInt("cleanResourceInterval", func(c *Config) *time.Duration { return &c.Store.CleanResourceInterval }).def("10000").from(1).
		about("milliseconds between two looks for old files"),
	integer("diskMaxUsedSpaceRatio", func(c *Config) *int { return &c.Store.DiskMaxUsedSpaceRatio }).def("75").live().between(0, 100).
		about("per cent of the disk from which on old files are deleted at any hour"),
	integer("diskSpaceWarningLevelRatio", func(c *Config) *int { return &c.Store.DiskSpaceWarningLevelRatio }).def("90").live().between(0, 100).
		about("per cent from which on nothing is stored"),
	integer("diskSpaceCleanForciblyRatio", func(c *Config) *int { return &c.Store.DiskSpaceCleanForciblyRatio }).def("85").live().between(0, 100).
		about("per cent from which on files are deleted before their time"),
	boolean("cleanFileForciblyEnable", func(c *Config) *bool { return &c.Store.CleanFileForciblyEnable }).def("true").important().live().
		about("whether they are"),
	integer("maxMessageSize", func(c *Config) *int { return &c.Store.MaxMessageSize }).def("4194304").live().from(1).
		about("bytes of a message's body"),
	boolean("checkCRCOnRecover", func(c *Config) *bool { return &c.Store.CheckCRCOnRecover }).def("true").
		about("bodies are checked after a crash"),
	integer("maxTransferBytesOnMessageInMemory", func(c *Config) *int { return &c.Store.MaxTransferBytesOnMessageInMemory }).def("262144").important().live().from(1).
		about("bytes in an answer to a pull"),
	integer("maxTransferCountOnMessageInMemory", func(c *Config) *int { return &c.Store.MaxTransferCountOnMessageInMemory }).def("32").important().live().from(1).
		about("messages in it"),
	integer("maxTransferBytesOnMessageInDisk", func(c *Config) *int { return &c.Store.MaxTransferBytesOnMessageInDisk }).def("65536").important().live().from(1).
		about("bytes in it, for messages that are no longer in memory"),
	integer("maxTransferCountOnMessageInDisk", func(c *Config) *int { return &c.Store.MaxTransferCountOnMessageInDisk }).def("8").important().live().from(1).
		about("messages in it, for those"),
	integer("accessMessageInMemoryMaxRatio", func(c *Config) *int { return &c.Store.AccessMessageInMemoryMaxRatio }).def("40").important().live().between(0, 100).
		about("per cent of the memory that holds messages"),
	integer("pullBatchMaxMessageCount", func(c *Config) *int { return &c.Store.PullBatchMaxMessageCount }).def("160").live().from(1).
		about("messages in an answer, whatever the pull asks for"),
	boolean("messageIndexEnable", func(c *Config) *bool { return &c.Store.MessageIndexEnable }).def("true").important().
		about("messages can be found by their keys"),
	integer("maxHashSlotNum", func(c *Config) *int { return &c.Store.MaxHashSlotNum }).def("5000000").from(1).
		about("hash slots of an index file"),
	integer("maxIndexNum", func(c *Config) *int { return &c.Store.MaxIndexNum }).def("20000000").from(2).
		about("entries of an index file"),
	boolean("messageIndexSafe", func(c *Config) *bool { return &c.Store.MessageIndexSafe }).live().important().
		about("after a crash the index is written anew from the last flush on"),
	integer("defaultQueryMaxNum", func(c *Config) *int { return &c.Store.DefaultQueryMaxNum }).def("32").live().from(1).
		about("messages that a query by unique key finds"),
	str(keyBrokerRole, func(c *Config) *string { return &c.Store.BrokerRole }).def("ASYNC_MASTER").important().oneOf("ASYNC_MASTER", "SYNC_MASTER", "SLAVE").
		about("what this broker is"),
	integer(keyHAListenPort, func(c *Config) *int { return &c.Store.HaListenPort }).unset().computed("").between(math.MinInt32, 65535).
		about("port for slaves; default `listenPort`+1"),
	str("haMasterAddress", func(c *Config) *string { return &c.Store.HaMasterAddress }).unset().important().
		about("where a slave finds its master; default: what the NameServer says"),
	millisInt("haSendHeartbeatInterval", func(c *Config) *time.Duration { return &c.Store.HaSendHeartbeatInterval }).def("5000").live().from(1).
		about("milliseconds without data after which a slave gives a sign of life"),
	millisInt("haHousekeepingInterval", func(c *Config) *time.Duration { return &c.Store.HaHousekeepingInterval }).def("20000").live().from(1).
		about("milliseconds of silence after which it connects anew"),
	integer("haTransferBatchSize", func(c *Config) *int { return &c.Store.HaTransferBatchSize }).def("32768").live().from(1).
		about("bytes in one piece"),
	integer("haMaxGapNotInSync", func(c *Config) *int { return &c.Store.HaMaxGapNotInSync }).def("268435456").live().
		about("bytes that a slave may be behind"),
	millisInt("slaveTimeout", func(c *Config) *time.Duration { return &c.Store.SlaveTimeout }).def("3000").live().from(1).
		about("milliseconds that a synchronous master waits for it"),
	integer("totalReplicas", func(c *Config) *int { return &c.Store.TotalReplicas }).def("1").important().live().from(1).
		about("brokers that are to have each message"),
	integer("inSyncReplicas", func(c *Config) *int { return &c.Store.InSyncReplicas }).def("1").important().live().from(1).
		about("brokers that have it when sending succeeds"),
	integer("minInSyncReplicas", func(c *Config) *int { return &c.Store.MinInSyncReplicas }).def("1").important().live().from(1).
		about("fewest such in hard times"),
	boolean("allAckInSyncStateSet", func(c *Config) *bool { return &c.Store.AllAckInSyncStateSet }).live().important().
		about("sending succeeds only when all brokers that keep up have the message"),
	str("messageDelayLevel", func(c *Config) *string { return &c.Store.MessageDelayLevel }).def("1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h").
		about("delays of the levels 1, 2, …"),
	millisLong("flushDelayOffsetInterval", func(c *Config) *time.Duration { return &c.Store.FlushDelayOffsetInterval }).def("10000").from(1).
		about("milliseconds between two writes of `delayOffset.json`"),
	boolean("timerWheelEnable", func(c *Config) *bool { return &c.Store.TimerWheelEnable }).def("true").
		about("any delay is possible"),
	seconds("timerMaxDelaySec", func(c *Config) *time.Duration { return &c.Store.TimerMaxDelay }).def("259200").live().from(1).
		about("longest delay in seconds"),
	millisInt("timerPrecisionMs", func(c *Config) *time.Duration { return &c.Store.TimerPrecision }).def("1000").from(1).
		about("precision of delays in milliseconds"),
	integer("disappearTimeAfterStart", anything[int]).def("-1").important().noEffect().
		about("milliseconds after the start until periodic registration begins; here it begins at once"),
	boolean("duplicationEnable", anything[bool]).noEffect().
		about("the store is a copy: nothing is registered at the start; here it is"),
	boolean("transientStorePoolEnable", func(c *Config) *bool { return &c.Store.TransientStorePoolEnable }).important().
		about("messages are written to memory first, and to the commit log in pieces"),
	millisLong("osPageCacheBusyTimeOutMills", func(c *Config) *time.Duration { return &c.Store.OsPageCacheBusyTimeOut }).def("1000").live().from(1).
		about("milliseconds of writing from which on sends are answered SYSTEM_BUSY"),
	boolean("enableLmq", func(c *Config) *bool { return &c.Store.EnableLmq }).
		about("light queues"),
	boolean("enableMultiDispatch", func(c *Config) *bool { return &c.Store.EnableMultiDispatch }).
		about("messages go to several light queues"),
	integer("maxLmqConsumeQueueNum", func(c *Config) *int { return &c.Store.MaxLmqConsumeQueueNum }).def("20000").live().
		about("light queues at most"),
	boolean("enableDLegerCommitLog", anything[bool]).oneOf("false").
		about("commit log replicated by DLedger"),
	boolean("enabledAppendPropCRC", func(c *Config) *bool { return &c.Store.EnabledAppendPropCRC }).
		about("properties have a check sum"),
	boolean("forceVerifyPropCRC", func(c *Config) *bool { return &c.Store.ForceVerifyPropCRC }).live().
		about("messages without that check sum are damaged"),
}

// brokerNoEffect are the keys of BrokerConfig that nothing reads: what they say is about Java's workings, or about
// abilities that are not here.
var brokerNoEffect = append([]Key{
	str(keyRocketmqHome, anything[string]).unset().noEffect(),
	boolean("recoverConcurrently", anything[bool]).important().noEffect(),
	integer("putMessageFutureThreadPoolNums", anything[int]).computed(strconv.Itoa(min(cpus, 4))).noEffect(),
	str("metricsGrpcExporterHeader", anything[string]).def("").secret().noEffect(),
	str("initAuthenticationUser", anything[string]).unset().secret().noEffect(),
	str("innerClientAuthenticationCredentials", anything[string]).unset().secret().noEffect(),
}, noEffectKeys(`
boolean accountStatsEnable true
boolean accountStatsPrintZeroValues true
boolean allowRecallWhenBrokerNotWriteable true
boolean appendAckAsync false
boolean appendCkAsync false
boolean asyncSendEnable true
boolean autoDeleteUnusedStats true
long broadcastOffsetExpireMaxSecond 300
long broadcastOffsetExpireSecond 120
int brokerElectionPriority 2147483647
long cgColdReadThreshold 3145728
long checkSyncStateSetPeriod 5000
int cleanOfflineBrokerInterval 30000
boolean coldCtrStrategyEnable false
int commercialBaseCount 1
int commercialSizePerMsg 4096
String controllerAddr
long controllerHeartBeatTimeoutMills 10000
boolean enableBroadcastOffsetStore true
boolean enableConnectionMetrics true
boolean enableDetailStat true
boolean enableFastChannelEventProcess false
boolean enableLagAndDlqMetrics true
boolean enableLiteEventMode true
boolean enableLitePopLog false
boolean enableLmqStats false
boolean enableMessageStoreMetrics true
boolean enableNetWorkFlowControl false
boolean enableNotifyAfterPopOrderLockRelease true
boolean enableNotifyBeforePopCalculateLag true
boolean enablePopBatchAck false
boolean enablePopBufferMerge false
boolean enablePopLog false
boolean enablePopMessageThreshold false
boolean enablePopMetrics true
boolean enableRemoteEscape false
boolean enableRemotingMetrics true
boolean enableRequestMetrics true
boolean enableSkipLongAwaitingAck false
boolean enableStatsMetrics true
boolean enableTransactionMetrics true
boolean estimateAccumulation true
boolean fetchControllerAddrByDnsLookup false
int flushConsumerOffsetHistoryInterval 60000
long globalColdReadThreshold 104857600
boolean highSpeedMode false
boolean initPopOffsetByCheckMsgInMem true
boolean isBrokerContainer false
boolean isInBrokerContainer false
boolean isolateLogEnable false
long liteEventCheckInterval 10000
long liteEventFullDispatchDelayTime 10000
long liteEventFullDispatchDelayTimeForWildcardGroup 10000
boolean liteLagCountMetricsEnable false
boolean liteLagLatencyCollectEnable false
boolean liteLagLatencyMetricsEnable false
int liteLagLatencyTopK 50
long liteSubscriptionCheckInterval 120000
long liteSubscriptionCheckTimeoutMills 180000
long liteTtlCheckInterval 120000
long loadBalancePollNameServerInterval 30000
int maxClientEventCount 100
long maxLiteSubscriptionCount 100000
int maxMessageFilterNumForNotification 64
long maxPopPollingSize 100000
int maxStatsIdleTimeInMinutes -1
long metricGrpcExporterIntervalInMills 60000
long metricGrpcExporterTimeOutInMills 3000
long metricLoggingExporterIntervalInMills 10000
int metricsExportBatchMaxDataPoints 1000
String metricsExporterType DISABLE
String metricsGrpcExporterTarget
boolean metricsInDelta false
String metricsLabel
int metricsOtelCardinalityLimit 50000
String metricsPromExporterHost
int metricsPromExporterPort 5557
long minLiteTTl 900000
boolean persistConsumerOffsetIncrementally false
int popCkMaxBufferSize 200000
int popCkOffsetMaxQueueSize 20000
int popCkStayBufferTime 10000
int popCkStayBufferTimeOut 3000
boolean popConsumerFSServiceInit true
boolean popConsumerKVServiceEnable false
boolean popConsumerKVServiceInit false
boolean popConsumerKVServiceLog false
int popFromRetryProbability 20
int popFromRetryProbabilityForPriority 0
long popInflightMessageThreshold 10000
long popLongPollingForceNotifyInterval 800
int popPollingMapExpireTimeSeconds 600
int popPollingMapSize 100000
int popPollingSize 1024
boolean popResponseReturnActualRetryTopic false
int popReviveConcurrency 32
int popReviveMaxAttemptTimes 16
int popReviveMaxReturnSizePerRead 16384
boolean popReviveSkipIfGroupAbsent true
boolean printChannelGroups false
int printChannelGroupsMinNum 5
boolean priorityOrderAsc true
int putThreadPoolQueueCapacity 10000
int recoverThreadPoolNums 32
long reviveAckWaitMs 180000
long reviveInterval 1000
long reviveMaxSlow 3
long reviveScanTime 10000
boolean skipPreOnline false
boolean skipWhenCKRePutReachMaxTimes false
long syncBrokerMetadataPeriod 5000
long syncControllerMetadataPeriod 10000
int transactionCheckRocksdbCoreThreads 2
int transactionCheckRocksdbMaxThreads 5
int transactionCheckRocksdbQueueCapacity 2000
long transactionMetricFlushInterval 10000
int transactionOpBatchInterval 3000
int transactionOpMsgMaxSize 4096
boolean transferMsgByHeap true
boolean useMessageFilterForNotification true
boolean usePIDColdCtrStrategy true
boolean useSeparateRetryQueue false
boolean useSingleRocksDBForAllConfigs false
`)...)

// storeNoEffect are the keys of MessageStoreConfig that nothing reads.
var storeNoEffect = append([]Key{
	str("storePathDLedgerCommitLog", anything[string]).unset().important().noEffect(),
	str("storePathEpochFile", anything[string]).unset().important().noEffect(),
	str("storePathBrokerIdentity", anything[string]).unset().important().noEffect(),
	str("dLegerGroup", anything[string]).unset().noEffect(),
	str("dLegerPeers", anything[string]).unset().noEffect(),
	str("dLegerSelfId", anything[string]).unset().noEffect(),
	str("preferredLeaderId", anything[string]).unset().noEffect(),
}, noEffectKeys(`
int accessMessageInMemoryHotRatio 26
boolean appendTopicForTimerDeleteKey false
boolean asyncLearner false
boolean autoMessageVersionOnTopicLen true
int batchDispatchRequestThreadPoolNums 16
String bottomMostCompressionTypeForConsumeQueueStore zstd
boolean checkCommitLogOffsetOnRecover false
long cleanRocksDBDirtyCQIntervalMin 60
long cleanSwapedMapInterval 300000
boolean coldDataFlowControlEnable false
boolean coldDataScanEnable false
String combineAssignOffsetCQType default
boolean combineCQEnableCheckSelf false
String combineCQLoadingCQTypes default;defaultRocksDB
int combineCQMaxExtraSearchCommitLogFiles 3
String combineCQPreferCQType default
boolean combineCQUseRocksdbForLmq false
long commitLogForceSwapMapInterval 43200000
int commitLogRecoverMaxNum 10
long commitLogSwapMapInterval 3600000
int commitLogSwapMapReserveFileNum 100
int compactionCqMappedFileSize 10485760
int compactionMappedFileSize 104857600
int compactionScheduleInternal 900000
int compactionThreadNum 6
int correctLogicMinOffsetForceInterval 300000
int correctLogicMinOffsetSleepInterval 1
boolean dataReadAheadEnable true
boolean debugLockEnable false
boolean diskFallRecorded true
int dispatchCqCacheNum 4096
int dispatchCqThreads 10
important boolean dispatchFromSenderThread false
boolean enableAcceleratedRecovery false
boolean enableAsyncReput true
important boolean enableAutoInSyncReplicas false
boolean enableBatchPush false
boolean enableBuildConsumeQueueConcurrently false
important boolean enableCleanExpiredOffset false
boolean enableCompaction true
boolean enableLmqQuota false
boolean enableLogConsumeQueueRepeatedlyBuildWhenRecover false
boolean enableRocksDBLog false
important boolean enableRunningFlagsInFlush false
boolean enableScheduleAsyncDeliver false
boolean enableScheduleMessageStats true
boolean fastFailIfNoBufferInStorePool false
int flushLeastPagesWhenWarmMapedFile 4096
important boolean haFlowControlEnable false
long haMaxTimeSlaveNotCatchup 15000
boolean indexFileReadEnable true
boolean indexFileWriteEnable true
boolean indexRocksDBEnable false
boolean iteratorWhenUseRocksdbConsumeQueue true
long logicQueueForceSwapMapInterval 43200000
long logicQueueSwapMapInterval 3600000
int logicQueueSwapMapReserveFileNum 20
double logicalDiskSpaceCleanForciblyThreshold 0.8
int mappedFileSizeTimerLog 104857600
boolean mappedFileSwapEnable true
int maxAsyncPutMessageRequests 5000
int maxBatchDeleteFilesNum 50
long maxChecksumRange 1073741824
int maxConsumeQueueScan 20000
int maxFilterMessageSize 16000
long maxHaTransferByteInSecond 104857600
int maxMsgsNumBatch 64
int maxOffsetMapSize 104857600
int maxRecoveryCommitlogFiles 30
int maxRocksDBIndexQueryDays 7
long maxSlaveResendLength 268435456
int maxTopicLength 127
long memTableFlushIntervalMs 3600000
boolean offsetCheckInSlave false
boolean putConsumeQueueDataByFileChannel true
int putMsgIndexHightWater 600000
boolean readUnCommitted false
boolean realTimePersistRocksDBConfig true
boolean recheckReputOffsetFromCq false
int replicasPerDiskPartition 1
boolean rocksdbCQDoubleWriteEnable false
String rocksdbCompressionType lz4
int rocksdbFlushWalFrequency 1024
long rocksdbWalFileRollingThreshold 1073741824
int sampleCountThreshold 5000
int sampleSteps 32
int scheduleAsyncDeliverMaxPendingLimit 2000
int scheduleAsyncDeliverMaxResendNum2Blocked 3
boolean searchBcqByCacheEnable true
int sharedByteBufferNum 16
int spinLockCollisionRetreatOptimalDegree 1000
long statRocksDBCQIntervalSec 10
boolean syncFromLastFile false
boolean syncMasterFlushOffsetWhenStartup false
String timerCheckMetricsWhen 05
int timerColdDataCheckIntervalMs 60000
int timerCongestNumEachSlot 2147483647
boolean timerEnableCheckMetrics true
boolean timerEnableDisruptor false
boolean timerEnableRetryUntilSuccess false
int timerFlushIntervalMs 1000
int timerGetMessageThreadNum 3
boolean timerInterceptDelayLevel false
int timerMetricSmallThreshold 1000000
int timerProgressLogIntervalMs 10000
int timerPutMessageThreadNum 3
boolean timerRecallToTimeWheelEnable true
boolean timerRecallToTimelineEnable true
int timerReputServiceCorePoolSize 6
int timerReputServiceMaxPoolSize 6
int timerReputServiceQueueCapacity 10000
boolean timerRocksDBEnable false
long timerRocksDBPrecisionMs 1000
int timerRocksDBRollIntervalHours 1
double timerRocksDBRollMaxTps 8000.0
int timerRocksDBRollRangeHours 2
boolean timerRocksDBStopScan false
double timerRocksDBTimeExpiredMaxTps 200000.0
int timerRollWindowSlot 172800
boolean timerSkipUnknownError false
boolean timerStopDequeue false
boolean timerStopEnqueue false
boolean timerWarmEnable false
boolean timerWheelSnapshotFlush false
int timerWheelSnapshotIntervalMs 10000
int topicQueueLockNum 32
boolean transRocksDBEnable false
boolean transWriteOriginTransHalfEnable true
int transientStorePoolSize 5
int travelCqFileNumWhenGetMessage 1
boolean useABSLock false
boolean useReentrantLockWhenPutMessage true
boolean useSeparateStorePathForRocksdbCQ false
important boolean wakeCommitWhenPutMessage true
important boolean wakeFlushWhenPutMessage false
boolean warmMapedFileEnable false
important boolean writeWithoutMmap false
`)...)

// anything stands for the field of a key that nothing reads.
func anything[T any](*Config) *T { return new(T) }

// noEffectKeys makes keys of lines "type name default", with "important" in front for those that -m prints.
func noEffectKeys(lines string) []Key {
	var keys []Key
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		row, important := strings.CutPrefix(strings.TrimSpace(line), "important ")
		kind, rest, _ := strings.Cut(row, " ")
		name, value, _ := strings.Cut(rest, " ")
		var k Key
		switch kind {
		case "boolean":
			k = boolean(name, anything[bool])
		case "int":
			k = integer(name, anything[int])
		case "long":
			k = long(name, anything[int64])
		case "double":
			k = double(name, anything[float64])
		case "String":
			k = str(name, anything[string])
		default:
			panic("configuration key " + name + " has no type")
		}
		k.Important = important
		keys = append(keys, k.def(value).noEffect())
	}
	return keys
}
