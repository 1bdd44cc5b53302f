package conf

import (
	"math"
	"time"
)

// Config is the configuration of a server at one moment. It is never changed once it is out.
type Config struct {
	Namesrv NamesrvConfig      // of a NameServer
	Broker  BrokerConfig       // of a broker
	Store   MessageStoreConfig // of a broker
	Server  NettyServerConfig
	Client  NettyClientConfig
	TLS     TLSConfig
}

// NamesrvConfig has the NameServer's own items, by the names of the original (spec/namesrv.md §1.3).
// The key table in keys.go says which may change while the server runs.
type NamesrvConfig struct {
	RocketmqHome                      string // "" also when it is not set at all
	KVConfigPath                      string
	ConfigStorePath                   string // where updates are kept: the file given with -c
	ProductEnvName                    string
	ClusterTest                       bool
	OrderMessageEnable                bool
	ReturnOrderTopicConfigToBroker    bool
	ClientRequestThreadPoolNums       int
	DefaultThreadPoolNums             int
	ClientRequestThreadPoolQueueCap   int
	DefaultThreadPoolQueueCap         int
	ScanNotActiveBrokerInterval       int64 // milliseconds, at least 1
	UnRegisterBrokerQueueCap          int
	SupportActingMaster               bool
	EnableAllTopicList                bool
	EnableTopicList                   bool
	NotifyMinBrokerIDChanged          bool
	EnableControllerInNamesrv         bool
	NeedWaitForService                bool
	WaitSecondsForService             int // seconds
	DeleteTopicWithBrokerRegistration bool
	ConfigBlackList                   string // keys separated by ';'
}

// ScanInterval is scanNotActiveBrokerInterval.
func (c *NamesrvConfig) ScanInterval() time.Duration { return millis(c.ScanNotActiveBrokerInterval) }

// WaitForService is waitSecondsForService: how long the warm-up lasts if needWaitForService is set. There is
// none if it is not above 0.
func (c *NamesrvConfig) WaitForService() time.Duration {
	return time.Duration(c.WaitSecondsForService) * time.Second
}

// NettyServerConfig has the items of the listening side (spec/namesrv.md §1.4).
type NettyServerConfig struct {
	BindAddress                        string // IP address or host name, without brackets
	ListenPort                         int    // 0: any free port
	ServerWorkerThreads                int
	ServerCallbackExecutorThreads      int
	ServerSelectorThreads              int
	ServerOnewaySemaphoreValue         int
	ServerAsyncSemaphoreValue          int
	ServerChannelMaxIdleTimeSeconds    int // 0: never
	ServerSocketSndBufSize             int // bytes; 0: the system's choice
	ServerSocketRcvBufSize             int // bytes; 0: the system's choice
	WriteBufferHighWaterMark           int // bytes; 0: our choice
	WriteBufferLowWaterMark            int // bytes; 0: our choice
	ServerSocketBacklog                int
	ServerNettyWorkerGroupEnable       bool
	ServerPooledByteBufAllocatorEnable bool
	EnableShutdownGracefully           bool
	ShutdownWaitTimeSeconds            int // seconds
	UseEpollNativeSelector             bool
}

// Idle is how long a connection may be silent before it is closed; 0: for ever.
func (c *NettyServerConfig) Idle() time.Duration {
	return time.Duration(c.ServerChannelMaxIdleTimeSeconds) * time.Second
}

// Drain is how long the server says GO_AWAY before it stops; 0 unless enableShutdownGracefully is set.
func (c *NettyServerConfig) Drain() time.Duration {
	if !c.EnableShutdownGracefully {
		return 0
	}
	return time.Duration(c.ShutdownWaitTimeSeconds) * time.Second
}

// NettyClientConfig has the items of the calling side (spec/remoting.md §8.2).
type NettyClientConfig struct {
	ClientWorkerThreads                int
	ClientCallbackExecutorThreads      int
	ClientOnewaySemaphoreValue         int
	ClientAsyncSemaphoreValue          int
	ConnectTimeoutMillis               int // milliseconds
	ChannelNotActiveInterval           int64
	IsScanAvailableNameSrv             bool
	ClientChannelMaxIdleTimeSeconds    int // 0: never
	ClientSocketSndBufSize             int // bytes; 0: the system's choice
	ClientSocketRcvBufSize             int // bytes; 0: the system's choice
	ClientPooledByteBufAllocatorEnable bool
	ClientCloseSocketIfTimeout         bool
	UseTLS                             bool // follows tls.enable, else tls.server.mode, where it is not set
	SocksProxyConfig                   string
	WriteBufferHighWaterMark           int // bytes; 0: our choice
	WriteBufferLowWaterMark            int // bytes; 0: our choice
	DisableCallbackExecutor            bool
	DisableNettyWorkerGroup            bool
	MaxReconnectIntervalTimeSeconds    int64
	EnableReconnectForGoAway           bool
}

// ConnectTimeout is connectTimeoutMillis.
func (c *NettyClientConfig) ConnectTimeout() time.Duration {
	return millis(int64(c.ConnectTimeoutMillis))
}

// Idle is how long a connection of ours may be silent before it is closed; 0: for ever.
func (c *NettyClientConfig) Idle() time.Duration {
	return time.Duration(c.ClientChannelMaxIdleTimeSeconds) * time.Second
}

// TLSConfig has the tls.* items (spec/remoting.md §7.7, spec/since-2025-09.md §2). Paths and passwords
// are "" where they are not set.
type TLSConfig struct {
	ServerMode           string // disabled, permissive or enforcing
	Enable               bool   // outgoing connections use TLS
	ConfigFile           string
	TestMode             bool
	Ciphers              string // comma list of Java's names; "": the library's choice
	Protocols            string // comma list of Java's names; "": the library's choice
	ServerNeedClientAuth string // none, optional or require
	ServerKeyPath        string
	ServerKeyPassword    string
	ServerCertPath       string
	ServerAuthClient     bool
	ServerTrustCertPath  string
	ClientKeyPath        string
	ClientKeyPassword    string
	ClientCertPath       string
	ClientAuthServer     bool
	ClientTrustCertPath  string
}

// millis turns milliseconds into a duration, the longest one where they do not fit (292 years).
func millis(n int64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}
