package conf

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Group is the part of the configuration that a key belongs to, by the original's class names.
type Group string

// The groups, in the order in which they are printed.
const (
	GroupNamesrv Group = "NamesrvConfig"
	GroupBroker  Group = "BrokerConfig"
	GroupStore   Group = "MessageStoreConfig"
	GroupServer  Group = "NettyServerConfig"
	GroupClient  Group = "NettyClientConfig"
	GroupTLS     Group = "TLS"
)

// Key describes one configuration key: everything that loading, printing, updating and the documentation
// need to know about it.
type Key struct {
	Name      string
	Group     Group
	Default   string   // as text; meaningless if Unset
	Unset     bool     // there is no value by default
	Computed  bool     // the default depends on the machine or on other keys: it is shown, but updates do not keep it
	Live      bool     // an update works at once; otherwise it waits for the next start
	NoEffect  bool     // accepted, kept and shown because the original has it; means nothing here
	Secret    bool     // never shown
	Important bool     // printed by -m
	Min, Max  int64    // bounds of a number
	Allowed   []string // the values that there are, where they are few
	About     string

	// field returns a pointer to the field: *string, *bool, *int, *int64, *float64 or *time.Duration. That of a key
	// which nothing reads points to a variable of its own.
	field   func(*Config) any
	unit    time.Duration // of a time.Duration: what the number counts
	kind    stringKind    // of a string without Allowed
	anyCase bool          // Allowed is compared without case
}

// stringKind is what a string must look like.
type stringKind uint8

const (
	anyText  stringKind = iota
	someText            // not empty
	address             // names a host
	servers             // a list of host:port
)

// namesrvTable is the NameServer's configuration.
var namesrvTable = newTable(slices.Concat(namesrvKeys, serverKeys("9876"), clientKeys, tlsKeys))

var namesrvKeys = []Key{
	str(keyRocketmqHome, func(c *Config) *string { return &c.Namesrv.RocketmqHome }).unset().
		about("installation directory of RocketMQ; default `ROCKETMQ_HOME`. Kept for tools that show it").noEffect(),
	str(keyKVConfigPath, func(c *Config) *string { return &c.Namesrv.KVConfigPath }).unset().notEmpty().
		about("file of the KV configuration; default `~/namesrv/kvConfig.json`"),
	str(keyConfigStorePath, func(c *Config) *string { return &c.Namesrv.ConfigStorePath }).unset().
		about("where updates are kept; default `~/namesrv/namesrv.properties`; with `-c` always that file"),
	str("productEnvName", func(c *Config) *string { return &c.Namesrv.ProductEnvName }).def("center").
		about("unit name of the production environment that cluster-test mode asks"),
	boolean("clusterTest", func(c *Config) *bool { return &c.Namesrv.ClusterTest }).
		about("cluster-test mode: the production environment is asked for topics that are unknown here"),
	boolean("orderMessageEnable", func(c *Config) *bool { return &c.Namesrv.OrderMessageEnable }).live().
		about("routes carry the order configuration of their topic"),
	boolean("returnOrderTopicConfigToBroker", func(c *Config) *bool { return &c.Namesrv.ReturnOrderTopicConfigToBroker }).def("true").live().
		about("the answer to a registration carries the order configuration"),
	integer("clientRequestThreadPoolNums", func(c *Config) *int { return &c.Namesrv.ClientRequestThreadPoolNums }).def("8").from(1).
		about("how many questions to the production environment are on their way at a time in cluster-test mode; all other route requests are answered at once"),
	integer("defaultThreadPoolNums", func(c *Config) *int { return &c.Namesrv.DefaultThreadPoolNums }).def("16").from(1).
		about("how many requests other than route requests are worked on at a time"),
	integer("clientRequestThreadPoolQueueCapacity", func(c *Config) *int { return &c.Namesrv.ClientRequestThreadPoolQueueCap }).def("50000").from(1).
		about("how many such questions may wait; further ones are answered \"system busy\""),
	integer("defaultThreadPoolQueueCapacity", func(c *Config) *int { return &c.Namesrv.DefaultThreadPoolQueueCap }).def("10000").from(1).
		about("how many other requests may wait; further ones are answered \"system busy\""),
	long("scanNotActiveBrokerInterval", func(c *Config) *int64 { return &c.Namesrv.ScanNotActiveBrokerInterval }).def("5000").from(1).
		about("milliseconds between two looks for silent brokers"),
	integer("unRegisterBrokerQueueCapacity", func(c *Config) *int { return &c.Namesrv.UnRegisterBrokerQueueCap }).def("3000").from(1).
		about("how many brokers may wait to be unregistered; here none does").noEffect(),
	boolean("supportActingMaster", func(c *Config) *bool { return &c.Namesrv.SupportActingMaster }).live().
		about("a slave takes the place of a lost master in routes, read-only"),
	boolean("enableAllTopicList", func(c *Config) *bool { return &c.Namesrv.EnableAllTopicList }).def("true").live().
		about("the list of all topics may be asked for"),
	boolean("enableTopicList", func(c *Config) *bool { return &c.Namesrv.EnableTopicList }).def("true").live().
		about("the lists of a cluster's and of unit topics may be asked for"),
	boolean("notifyMinBrokerIdChanged", func(c *Config) *bool { return &c.Namesrv.NotifyMinBrokerIDChanged }).live().
		about("brokers are told when the lowest broker id of their group changes"),
	boolean("enableControllerInNamesrv", func(c *Config) *bool { return &c.Namesrv.EnableControllerInNamesrv }).
		about("also start a controller; there is none here").noEffect(),
	boolean("needWaitForService", func(c *Config) *bool { return &c.Namesrv.NeedWaitForService }).live().
		about("no routes are given during the warm-up"),
	integer("waitSecondsForService", func(c *Config) *int { return &c.Namesrv.WaitSecondsForService }).def("45").live().
		about("seconds of warm-up, counted from the start"),
	boolean("deleteTopicWithBrokerRegistration", func(c *Config) *bool { return &c.Namesrv.DeleteTopicWithBrokerRegistration }).live().
		about("a registration removes the broker's topics that it lacks"),
	str(keyConfigBlackList, func(c *Config) *string { return &c.Namesrv.ConfigBlackList }).def("configBlackList;configStorePath;kvConfigPath").
		about("keys that may not be updated at run time, separated by `;`; those of the default and `rocketmqHome` never may"),
}

// serverKeys are the keys of the listening side. The servers differ in their port.
func serverKeys(port string) []Key {
	keys := slices.Clone(listenerKeys)
	keys[slices.IndexFunc(keys, func(k Key) bool { return k.Name == keyListenPort })].Default = port
	return keys
}

var listenerKeys = []Key{
	str("bindAddress", func(c *Config) *string { return &c.Server.BindAddress }).def("0.0.0.0").addr().in(GroupServer).
		about("address to listen at: IPv4, IPv6 (with or without brackets) or host name; `0.0.0.0` and `::` are all addresses of both kinds"),
	integer(keyListenPort, func(c *Config) *int { return &c.Server.ListenPort }).between(0, 65535).important().in(GroupServer).
		about("port to listen at; 0 takes any free one"),
	integer("serverWorkerThreads", func(c *Config) *int { return &c.Server.ServerWorkerThreads }).def("8").in(GroupServer).
		about("Netty threads").noEffect(),
	integer("serverCallbackExecutorThreads", func(c *Config) *int { return &c.Server.ServerCallbackExecutorThreads }).def("0").in(GroupServer).
		about("Netty threads").noEffect(),
	integer("serverSelectorThreads", func(c *Config) *int { return &c.Server.ServerSelectorThreads }).def("3").in(GroupServer).
		about("Netty threads").noEffect(),
	integer("serverOnewaySemaphoreValue", func(c *Config) *int { return &c.Server.ServerOnewaySemaphoreValue }).def("256").in(GroupServer).
		about("limit of one-way requests that the server sends").noEffect(),
	integer("serverAsyncSemaphoreValue", func(c *Config) *int { return &c.Server.ServerAsyncSemaphoreValue }).def("64").in(GroupServer).
		about("limit of asynchronous requests that the server sends").noEffect(),
	integer("serverChannelMaxIdleTimeSeconds", func(c *Config) *int { return &c.Server.ServerChannelMaxIdleTimeSeconds }).def("120").from(0).live().in(GroupServer).
		about("seconds without traffic after which a connection is closed; 0 for never"),
	integer("serverSocketSndBufSize", func(c *Config) *int { return &c.Server.ServerSocketSndBufSize }).def("0").from(0).in(GroupServer).
		about("`SO_SNDBUF` in bytes; 0 leaves it to the system"),
	integer("serverSocketRcvBufSize", func(c *Config) *int { return &c.Server.ServerSocketRcvBufSize }).def("0").from(0).in(GroupServer).
		about("`SO_RCVBUF` in bytes; 0 leaves it to the system"),
	integer("writeBufferHighWaterMark", func(c *Config) *int { return &c.Server.WriteBufferHighWaterMark }).def("0").from(0).in(GroupServer).
		about("Netty's limit of unwritten bytes of a connection; here that limit is fixed").noEffect(),
	integer("writeBufferLowWaterMark", func(c *Config) *int { return &c.Server.WriteBufferLowWaterMark }).def("0").from(0).in(GroupServer).
		about("Netty's lower limit of unwritten bytes").noEffect(),
	integer("serverSocketBacklog", func(c *Config) *int { return &c.Server.ServerSocketBacklog }).def("1024").in(GroupServer).
		about("connections waiting to be accepted; the system's limit counts").noEffect(),
	boolean("serverNettyWorkerGroupEnable", func(c *Config) *bool { return &c.Server.ServerNettyWorkerGroupEnable }).def("true").in(GroupServer).
		about("Netty's choice of threads").noEffect(),
	boolean("serverPooledByteBufAllocatorEnable", func(c *Config) *bool { return &c.Server.ServerPooledByteBufAllocatorEnable }).def("true").in(GroupServer).
		about("Netty's memory pooling").noEffect(),
	boolean("enableShutdownGracefully", func(c *Config) *bool { return &c.Server.EnableShutdownGracefully }).live().in(GroupServer).
		about("at the end, peers newer than 5.3.1 are sent away (GO_AWAY) before connections are closed"),
	integer("shutdownWaitTimeSeconds", func(c *Config) *int { return &c.Server.ShutdownWaitTimeSeconds }).def("30").from(0).live().in(GroupServer).
		about("seconds that this lasts"),
	boolean("useEpollNativeSelector", func(c *Config) *bool { return &c.Server.UseEpollNativeSelector }).in(GroupServer).
		about("Netty's transport").noEffect(),
}

var clientKeys = []Key{
	integer("clientWorkerThreads", func(c *Config) *int { return &c.Client.ClientWorkerThreads }).def("4").in(GroupClient).
		about("Netty threads").noEffect(),
	integer("clientCallbackExecutorThreads", func(c *Config) *int { return &c.Client.ClientCallbackExecutorThreads }).computed(strconv.Itoa(runtime.NumCPU())).in(GroupClient).
		about("Netty threads; default: number of processors").noEffect(),
	integer("clientOnewaySemaphoreValue", func(c *Config) *int { return &c.Client.ClientOnewaySemaphoreValue }).def("65535").in(GroupClient).
		about("limit of one-way requests under way").noEffect(),
	integer("clientAsyncSemaphoreValue", func(c *Config) *int { return &c.Client.ClientAsyncSemaphoreValue }).def("65535").in(GroupClient).
		about("limit of asynchronous requests under way").noEffect(),
	integer("connectTimeoutMillis", func(c *Config) *int { return &c.Client.ConnectTimeoutMillis }).def("3000").from(1).in(GroupClient).
		about("milliseconds that connecting to another server may take"),
	long("channelNotActiveInterval", func(c *Config) *int64 { return &c.Client.ChannelNotActiveInterval }).def("60000").in(GroupClient).
		about("not used by the original either").noEffect(),
	boolean("isScanAvailableNameSrv", func(c *Config) *bool { return &c.Client.IsScanAvailableNameSrv }).def("true").in(GroupClient).
		about("looking after several NameServers; a NameServer has none, and a broker always does").noEffect(),
	integer("clientChannelMaxIdleTimeSeconds", func(c *Config) *int { return &c.Client.ClientChannelMaxIdleTimeSeconds }).def("120").from(0).in(GroupClient).
		about("seconds without traffic after which a connection to another server is closed; 0 for never"),
	integer("clientSocketSndBufSize", func(c *Config) *int { return &c.Client.ClientSocketSndBufSize }).def("0").from(0).in(GroupClient).
		about("`SO_SNDBUF` in bytes; 0 leaves it to the system"),
	integer("clientSocketRcvBufSize", func(c *Config) *int { return &c.Client.ClientSocketRcvBufSize }).def("0").from(0).in(GroupClient).
		about("`SO_RCVBUF` in bytes; 0 leaves it to the system"),
	boolean("clientPooledByteBufAllocatorEnable", func(c *Config) *bool { return &c.Client.ClientPooledByteBufAllocatorEnable }).in(GroupClient).
		about("Netty's memory pooling").noEffect(),
	boolean("clientCloseSocketIfTimeout", func(c *Config) *bool { return &c.Client.ClientCloseSocketIfTimeout }).def("true").in(GroupClient).
		about("a connection on which a call timed out is closed"),
	boolean(keyUseTLS, func(c *Config) *bool { return &c.Client.UseTLS }).unset().in(GroupClient).
		about("connections to other servers use TLS; default: `tls.enable` if set, else true if `tls.server.mode` is `enforcing`"),
	str("socksProxyConfig", func(c *Config) *string { return &c.Client.SocksProxyConfig }).def("{}").secret().in(GroupClient).
		about("SOCKS proxies, with their passwords").noEffect(),
	integer("writeBufferHighWaterMark", func(c *Config) *int { return &c.Client.WriteBufferHighWaterMark }).def("0").from(0).in(GroupClient).
		about("same key as that of the server").noEffect(),
	integer("writeBufferLowWaterMark", func(c *Config) *int { return &c.Client.WriteBufferLowWaterMark }).def("0").from(0).in(GroupClient).
		about("same key as that of the server").noEffect(),
	boolean("disableCallbackExecutor", func(c *Config) *bool { return &c.Client.DisableCallbackExecutor }).in(GroupClient).
		about("Netty's choice of threads").noEffect(),
	boolean("disableNettyWorkerGroup", func(c *Config) *bool { return &c.Client.DisableNettyWorkerGroup }).in(GroupClient).
		about("Netty's choice of threads").noEffect(),
	long("maxReconnectIntervalTimeSeconds", func(c *Config) *int64 { return &c.Client.MaxReconnectIntervalTimeSeconds }).def("60").in(GroupClient).
		about("not used by the original either").noEffect(),
	boolean("enableReconnectForGoAway", func(c *Config) *bool { return &c.Client.EnableReconnectForGoAway }).def("true").in(GroupClient).
		about("a request answered with GO_AWAY is sent again on a new connection"),
}

const (
	keyConfigStorePath = "configStorePath"
	keyKVConfigPath    = "kvConfigPath"
	keyRocketmqHome    = "rocketmqHome"
	keyConfigBlackList = "configBlackList"
	keyListenPort      = "listenPort"
	keyUseTLS          = "useTLS"
	keyTLSMode         = "tls.server.mode"
	keyTLSEnable       = "tls.enable"
	keyTLSConfigFile   = "tls.config.file"
	tlsPrefix          = "tls."
)

const defaultTLSConfigFile = "/etc/rocketmq/tls.properties"

var tlsKeys = []Key{
	str(keyTLSMode, func(c *Config) *string { return &c.TLS.ServerMode }).def("permissive").oneOf("disabled", "permissive", "enforcing").in(GroupTLS).
		about("plain connections only, both kinds on one port, or TLS only"),
	boolean(keyTLSEnable, func(c *Config) *bool { return &c.TLS.Enable }).unset().in(GroupTLS).
		about("connections to other servers use TLS, unless `useTLS` says otherwise; default false"),
	str(keyTLSConfigFile, func(c *Config) *string { return &c.TLS.ConfigFile }).def(defaultTLSConfigFile).in(GroupTLS).
		about("file with further `tls.*` keys; it wins over the configuration file, except for `tls.server.mode`, `tls.enable` and this key. The default is read if it is there, another must be"),
	boolean("tls.test.mode.enable", func(c *Config) *bool { return &c.TLS.TestMode }).def("true").in(GroupTLS).
		about("a self-signed certificate made at the start, nobody is verified, the files below are not read"),
	str("tls.ciphers", func(c *Config) *string { return &c.TLS.Ciphers }).unset().in(GroupTLS).
		about("comma list of cipher suites; absent: a safe choice"),
	str("tls.protocols", func(c *Config) *string { return &c.TLS.Protocols }).unset().in(GroupTLS).
		about("comma list such as `TLSv1.2,TLSv1.3`; absent: these two"),
	str("tls.server.need.client.auth", func(c *Config) *string { return &c.TLS.ServerNeedClientAuth }).def("none").oneOf("none", "optional", "require").ignoreCase().in(GroupTLS).
		about("whether clients need a certificate"),
	str("tls.server.keyPath", func(c *Config) *string { return &c.TLS.ServerKeyPath }).unset().in(GroupTLS).
		about("PEM private key"),
	str("tls.server.keyPassword", func(c *Config) *string { return &c.TLS.ServerKeyPassword }).unset().secret().in(GroupTLS).
		about("its password"),
	str("tls.server.certPath", func(c *Config) *string { return &c.TLS.ServerCertPath }).unset().in(GroupTLS).
		about("PEM certificate chain"),
	boolean("tls.server.authClient", func(c *Config) *bool { return &c.TLS.ServerAuthClient }).in(GroupTLS).
		about("verify the certificates of clients; otherwise any will do"),
	str("tls.server.trustCertPath", func(c *Config) *string { return &c.TLS.ServerTrustCertPath }).unset().in(GroupTLS).
		about("PEM authorities for that"),
	str("tls.client.keyPath", func(c *Config) *string { return &c.TLS.ClientKeyPath }).unset().in(GroupTLS).
		about("PEM private key for connections to other servers"),
	str("tls.client.keyPassword", func(c *Config) *string { return &c.TLS.ClientKeyPassword }).unset().secret().in(GroupTLS).
		about("its password"),
	str("tls.client.certPath", func(c *Config) *string { return &c.TLS.ClientCertPath }).unset().in(GroupTLS).
		about("PEM certificate chain for connections to other servers"),
	boolean("tls.client.authServer", func(c *Config) *bool { return &c.TLS.ClientAuthServer }).in(GroupTLS).
		about("verify the certificates of other servers"),
	str("tls.client.trustCertPath", func(c *Config) *string { return &c.TLS.ClientTrustCertPath }).unset().in(GroupTLS).
		about("PEM authorities for that"),
}

// The builders of the table's rows.

func str(name string, field func(*Config) *string) Key {
	return Key{Name: name, Group: GroupNamesrv, field: func(c *Config) any { return field(c) }}
}

func boolean(name string, field func(*Config) *bool) Key {
	return Key{Name: name, Group: GroupNamesrv, Default: "false", field: func(c *Config) any { return field(c) }}
}

func integer(name string, field func(*Config) *int) Key {
	return Key{Name: name, Group: GroupNamesrv, Min: math.MinInt32, Max: math.MaxInt32, field: func(c *Config) any { return field(c) }}
}

func long(name string, field func(*Config) *int64) Key {
	return Key{Name: name, Group: GroupNamesrv, Min: math.MinInt64, Max: math.MaxInt64, field: func(c *Config) any { return field(c) }}
}

func double(name string, field func(*Config) *float64) Key {
	return Key{Name: name, Group: GroupNamesrv, field: func(c *Config) any { return field(c) }}
}

// The number of the next three counts milliseconds or seconds.

func millisInt(name string, field func(*Config) *time.Duration) Key {
	return Key{Name: name, Group: GroupNamesrv, Min: math.MinInt32, Max: math.MaxInt32, unit: time.Millisecond, field: func(c *Config) any { return field(c) }}
}

func millisLong(name string, field func(*Config) *time.Duration) Key {
	return Key{Name: name, Group: GroupNamesrv, Min: math.MinInt64, Max: math.MaxInt64, unit: time.Millisecond, field: func(c *Config) any { return field(c) }}
}

func seconds(name string, field func(*Config) *time.Duration) Key {
	return Key{Name: name, Group: GroupNamesrv, Min: math.MinInt32, Max: math.MaxInt32, unit: time.Second, field: func(c *Config) any { return field(c) }}
}

func (k Key) in(g Group) Key                { k.Group = g; return k }
func (k Key) def(text string) Key           { k.Default = text; return k }
func (k Key) unset() Key                    { k.Unset = true; return k }
func (k Key) computed(text string) Key      { k.Default, k.Computed = text, true; return k }
func (k Key) live() Key                     { k.Live = true; return k }
func (k Key) noEffect() Key                 { k.NoEffect = true; return k }
func (k Key) important() Key                { k.Important = true; return k }
func (k Key) notEmpty() Key                 { k.kind = someText; return k }
func (k Key) list() Key                     { k.kind = servers; return k }
func (k Key) secret() Key                   { k.Secret = true; return k }
func (k Key) addr() Key                     { k.kind = address; return k }
func (k Key) ignoreCase() Key               { k.anyCase = true; return k }
func (k Key) from(least int64) Key          { k.Min = least; return k }
func (k Key) between(least, most int64) Key { k.Min, k.Max = least, most; return k }
func (k Key) oneOf(values ...string) Key    { k.Allowed = values; return k }
func (k Key) about(text string) Key         { k.About = text; return k }

// Keys returns the table of the NameServer's keys, in the order in which -p prints them. A key that configures both
// sides (writeBufferHighWaterMark and its twin) has two rows.
func Keys() []Key { return slices.Clone(namesrvTable.keys) }

// table has the keys of one server.
type table struct {
	keys      []Key           // in the order in which they are printed
	byName    map[string]*Key // one row for each key: of a pair it is the one of the server
	byLower   map[string]bool // the names in lower case
	byEnvName map[string]string
}

func newTable(keys []Key) *table {
	t := &table{keys: keys, byName: map[string]*Key{}, byLower: map[string]bool{}, byEnvName: map[string]string{}}
	for i := range keys {
		name := keys[i].Name
		if t.byName[name] == nil {
			t.byName[name] = &keys[i]
		}
		t.byLower[strings.ToLower(name)] = true
		t.byEnvName[envName(name)] = name
	}
	return t
}

// Type returns the key's type as the documentation names it.
func (k *Key) Type() string {
	switch k.field(new(Config)).(type) {
	case *bool:
		return "boolean"
	case *int, *int64, *time.Duration:
		if k.Max > math.MaxInt32 {
			return "long"
		}
		return "int"
	case *float64:
		return "double"
	default:
		return "String"
	}
}

// want says what a value must be.
func (k *Key) want() string {
	switch k.field(new(Config)).(type) {
	case *bool:
		if k.Allowed != nil {
			return "available here, only " + k.Allowed[0] + " is"
		}
		return "true or false"
	case *int, *int64, *time.Duration:
		return fmt.Sprintf("a whole number from %d to %d", k.Min, k.Max)
	case *float64:
		return "a number"
	}
	switch {
	case len(k.Allowed) == 1:
		return "available here, only " + cmp.Or(k.Allowed[0], "an empty value") + " is"
	case k.Allowed != nil:
		return "one of " + strings.Join(k.Allowed, ", ")
	case k.kind == address:
		return "an IP address or a host name"
	case k.kind == servers:
		return "host:port; several are separated by ';'"
	case k.kind == someText:
		return "text without line breaks, and not empty"
	default:
		return "text without line breaks"
	}
}

// normalize trims a value, checks it and returns it in the form in which it is shown and kept; ok is
// false if it is not what want says.
func (k *Key) normalize(text string) (value string, ok bool) {
	// What Java's String.trim takes away: everything up to the blank.
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	switch k.field(new(Config)).(type) {
	case *bool:
		value = strings.ToLower(text)
		return value, (value == "true" || value == "false") && (k.Allowed == nil || slices.Contains(k.Allowed, value))
	case *int, *int64, *time.Duration:
		n, err := strconv.ParseInt(text, 10, 64)
		return strconv.FormatInt(n, 10), err == nil && n >= k.Min && n <= k.Max
	case *float64:
		f, err := strconv.ParseFloat(text, 64)
		return formatDouble(f), err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	}
	switch {
	case k.Allowed != nil:
		if k.anyCase {
			text = strings.ToLower(text)
		}
		return text, slices.Contains(k.Allowed, text)
	case k.kind == address:
		return text, isHost(text)
	case k.kind == servers:
		list, err := ParseServers(text)
		return strings.Join(list, ";"), err == nil
	default:
		return text, !strings.ContainsAny(text, "\r\n\x00") && (k.kind != someText || text != "")
	}
}

// formatDouble writes f as Java's Double.toString does below 10,000,000: with at least one digit behind the point.
func formatDouble(f float64) string {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// set puts a normalized value into the key's field of c.
func (k *Key) set(c *Config, value string) {
	switch f := k.field(c).(type) {
	case *bool:
		*f = value == "true"
	case *int:
		*f, _ = strconv.Atoi(value)
	case *int64:
		*f, _ = strconv.ParseInt(value, 10, 64)
	case *float64:
		*f, _ = strconv.ParseFloat(value, 64)
	case *time.Duration:
		n, _ := strconv.ParseInt(value, 10, 64)
		*f = time.Duration(min(max(n, math.MinInt64/int64(k.unit)), math.MaxInt64/int64(k.unit))) * k.unit
	case *string:
		*f = value
		if k.kind == address {
			*f = withoutBrackets(value)
		}
	}
}

// withoutBrackets turns "[::1]" into "::1".
func withoutBrackets(s string) string {
	if inner, ok := strings.CutPrefix(s, "["); ok && strings.HasSuffix(inner, "]") {
		return strings.TrimSuffix(inner, "]")
	}
	return s
}

// isHost reports whether s can be the address to listen at: an IP address, or a name that could be that of
// a host. Whether there is such a host is not asked.
func isHost(s string) bool {
	inner := withoutBrackets(s)
	if ip, err := netip.ParseAddr(inner); err == nil {
		return inner == s || ip.Is6()
	}
	labels := strings.Split(strings.TrimSuffix(s, "."), ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return false
		}
		for _, c := range []byte(label) {
			if !(c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
				return false
			}
		}
	}
	// A last label of digits alone is an IPv4 address gone wrong.
	return strings.Trim(labels[len(labels)-1], "0123456789") != ""
}
