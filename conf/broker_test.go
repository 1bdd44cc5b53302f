package conf

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// brokerSources are those of a broker on a machine called host-1, with one address.
func brokerSources(t *testing.T, text string, environ ...string) Sources {
	t.Helper()
	path := filepath.Join(t.TempDir(), "broker.conf")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return Sources{
		File: path, Environ: append(environ, "HOME=/h"),
		Hostname: func() (string, error) { return "host-1", nil },
		Interfaces: func() ([]Interface, error) {
			return []Interface{iface(1, "lo", "127.0.0.1", "::1"), iface(2, "eth0", "192.168.1.10", "fe80::1%eth0")}, nil
		},
		LookUp: noHost,
	}
}

// noHost finds no host, whatever its name.
func noHost(string) (netip.Addr, error) { return netip.Addr{}, errors.New("no such host") }

func loadBroker(t *testing.T, text string, environ ...string) (*BrokerStore, error) {
	t.Helper()
	return LoadBroker(brokerSources(t, text, environ...))
}

func mustLoadBroker(t *testing.T, text string, environ ...string) *BrokerStore {
	t.Helper()
	s, err := loadBroker(t, text, environ...)
	require.NoError(t, err)
	return s
}

// iface is an interface that is up; its name says what else it is.
func iface(index int, name string, addrs ...string) Interface {
	i := Interface{Name: name, Index: index, Flags: net.FlagUp, Bridge: strings.HasPrefix(name, "docker") || strings.HasPrefix(name, "br-")}
	switch {
	case strings.HasPrefix(name, "tun"):
		i.Flags |= net.FlagPointToPoint
	case strings.HasPrefix(name, "down"):
		i.Flags = 0
	}
	for _, a := range addrs {
		i.Addrs = append(i.Addrs, netip.MustParseAddr(a))
	}
	return i
}

func keyValues(t *testing.T, text string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		require.True(t, ok, line)
		require.NotContains(t, m, key)
		m[key] = value
	}
	return m
}

// TestTextLikeJavaBroker compares the answer to GET_BROKER_CONFIG with that of a Java broker 5.5.0 with the same file:
// same keys, same values, same order. Pools that follow the number of processors are compared on their own.
func TestTextLikeJavaBroker(t *testing.T) {
	recorded, err := os.ReadFile("testdata/broker-5.5.0-config.txt")
	require.NoError(t, err)
	s, err := LoadBroker(Sources{File: "testdata/broker-5.5.0.properties", Environ: []string{"HOME=/h"}})
	require.NoError(t, err)
	want, got := keyValues(t, string(recorded)), keyValues(t, s.Text())
	for key := range computedDefaults {
		delete(want, key)
		delete(got, key)
	}
	delete(want, "putMessageFutureThreadPoolNums")
	delete(got, "putMessageFutureThreadPoolNums")
	require.Equal(t, want, got)
	lines := strings.Split(strings.TrimSuffix(s.Text(), "\n"), "\n")
	require.True(t, slices.IsSortedFunc(lines, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	}))
	require.Empty(t, s.notes, "nothing is odd about that file")
}

// TestPoolsOfTwoProcessors has the pool sizes of that record, which was made with two processors.
func TestPoolsOfTwoProcessors(t *testing.T) {
	if cpus != 2 {
		t.Skip("this machine has not two processors")
	}
	recorded, err := os.ReadFile("testdata/broker-5.5.0-config.txt")
	require.NoError(t, err)
	want, got := keyValues(t, string(recorded)), keyValues(t, mustLoadBroker(t, "").Text())
	for key := range computedDefaults {
		require.Equal(t, want[key], got[key], key)
	}
}

func TestBrokerDefaults(t *testing.T) {
	s := mustLoadBroker(t, "")
	c := s.Snapshot()
	require.Equal(t, "host-1", c.Broker.BrokerName)
	require.Equal(t, "DefaultCluster", c.Broker.BrokerClusterName)
	require.Equal(t, "192.168.1.10:10911", c.Addr())
	require.Equal(t, "192.168.1.10:10912", c.HAAddr())
	require.Equal(t, 10909, c.FastPort())
	require.Equal(t, "/h/store", c.Store.StorePathRootDir)
	require.Equal(t, "/h/store/commitlog", c.Store.StorePathCommitLog)
	require.Empty(t, c.Broker.NameServers())
	require.Equal(t, 30*time.Second, c.Broker.RegisterPeriod())
	require.Equal(t, 24*time.Second, c.Broker.RegisterBrokerTimeout)
	require.Equal(t, 72*time.Hour, c.Store.TimerMaxDelay)
	domain, subgroup := c.Broker.AddressServer()
	require.Equal(t, "jmenv.tbsite.net/nsaddr", domain+"/"+subgroup)
	require.NotContains(t, s.Text(), "namesrvAddr=", "what is not set is not shown")
	require.Empty(t, s.notes)

	src := brokerSources(t, "")
	src.Hostname = func() (string, error) { return "", errors.New("none") }
	nameless, err := LoadBroker(src)
	require.NoError(t, err)
	require.Equal(t, "DEFAULT_BROKER", nameless.Broker().BrokerName)
	require.Len(t, nameless.notes, 1)

	for _, k := range BrokerKeys() {
		if !k.Unset {
			value, ok := k.normalize(k.Default)
			require.True(t, ok, k.Name)
			require.Equal(t, k.Default, value, k.Name)
		}
	}
	require.Len(t, brokerTable.byEnvName, len(brokerTable.byName), "two keys have the same variable")
}

func TestRolesPortsAndPaths(t *testing.T) {
	for _, row := range []struct {
		rule, text string
		check      func(t *testing.T, c *Config)
	}{
		{"a master's id is 0", "brokerId=3\nbrokerRole=SYNC_MASTER", func(t *testing.T, c *Config) { require.Zero(t, c.Broker.BrokerID) }},
		{"a slave keeps its id", "brokerId=3\nbrokerRole=SLAVE", func(t *testing.T, c *Config) { require.EqualValues(t, 3, c.Broker.BrokerID) }},
		{"the ports follow listenPort", "listenPort=20911", func(t *testing.T, c *Config) {
			require.Equal(t, 20912, c.Store.HaListenPort)
			require.Equal(t, 20909, c.FastPort())
		}},
		{"the file's haListenPort counts", "haListenPort=30000", func(t *testing.T, c *Config) { require.Equal(t, 30000, c.Store.HaListenPort) }},
		{"haListenPort 0 is none", "haListenPort=0", func(t *testing.T, c *Config) { require.Equal(t, 10912, c.Store.HaListenPort) }},
		{"there is no port -1", "listenPort=1", func(t *testing.T, c *Config) { require.Zero(t, c.FastPort()) }},
		{"there is no port 65536", "listenPort=65535", func(t *testing.T, c *Config) { require.Equal(t, 65534, c.Store.HaListenPort) }},
		{"the commit log follows the root", "storePathRootDir=/data", func(t *testing.T, c *Config) { require.Equal(t, "/data/commitlog", c.Store.StorePathCommitLog) }},
		{"registration at least every minute", "registerNameServerPeriod=70000", func(t *testing.T, c *Config) { require.Equal(t, time.Minute, c.Broker.RegisterPeriod()) }},
		{"registration at most every 10 s", "registerNameServerPeriod=-1", func(t *testing.T, c *Config) { require.Equal(t, 10*time.Second, c.Broker.RegisterPeriod()) }},
		{"a long number is a long time", "channelExpiredTimeout=9223372036854775807", func(t *testing.T, c *Config) {
			require.Greater(t, c.Broker.ChannelExpiredTimeout, 200*365*24*time.Hour)
		}},
	} {
		t.Run(row.rule, func(t *testing.T) { row.check(t, mustLoadBroker(t, row.text).Snapshot()) })
	}
	s := mustLoadBroker(t, "listenPort=0")
	require.Zero(t, s.Snapshot().FastPort())
	s.SetListenPort(4321)
	require.Equal(t, "192.168.1.10:4321", s.Snapshot().Addr())
	require.Equal(t, "192.168.1.10:4322", s.Snapshot().HAAddr())
	require.Equal(t, "4321", line(t, s.Text(), "listenPort"))

	var log bytes.Buffer
	src := brokerSources(t, "brokerId=3")
	src.Log = zerolog.New(&log)
	s, err := LoadBroker(src)
	require.NoError(t, err)
	s.LogNotes()
	require.Contains(t, log.String(), "broker.conf:1: brokerId")
}

func TestN47_BrokerMistakesStopTheStart(t *testing.T) {
	for _, row := range []struct{ rule, text, want string }{
		{"a number with a letter", "\nlistenPort=10x911", `:2: listenPort: "10x911" is not a whole number from 0 to 65535`},
		{"a long", "brokerRole=SLAVE\nbrokerId=1e3", `:2: brokerId: "1e3" is not a whole number from`},
		{"a boolean that is none", "autoCreateTopicEnable=1", `:1: autoCreateTopicEnable: "1" is not true or false`},
		{"a boolean that nothing reads", "transferMsgByHeap=yes", `:1: transferMsgByHeap: "yes" is not true or false`},
		{"a double that nothing reads", "timerRocksDBRollMaxTps=NaN", `:1: timerRocksDBRollMaxTps: "NaN" is not a number`},
		{"an unknown role", "brokerRole=async_master", `:1: brokerRole: "async_master" is not one of ASYNC_MASTER, SYNC_MASTER, SLAVE`},
		{"a slave without an id", "#\nbrokerRole=SLAVE", `brokerId: "0" is not above 0, as a slave's must be`},
		{"a slave with id 0", "brokerRole=SLAVE\nbrokerId=-1", `:2: brokerId: "-1" is not above 0, as a slave's must be`},
		{"one port for two", "listenPort=10911\nhaListenPort=10911", `:2: haListenPort: "10911" is not another port than listenPort and listenPort-2`},
		{"one port for two, that of VIP clients", "haListenPort=10909", `:1: haListenPort: "10909" is not another port than listenPort and listenPort-2`},
		{"a permission that is none", "brokerPermission=8", `:1: brokerPermission: "8" is not a whole number from 0 to 7`},
		{"no name", "brokerName= ", `:1: brokerName: "" is not text without line breaks, and not empty`},
		{"no folder", "storePathRootDir= ", `:1: storePathRootDir: "" is not text without line breaks, and not empty`},
		{"an int that nothing reads", "maxStatsIdleTimeInMinutes=2147483648", `:1: maxStatsIdleTimeInMinutes: "2147483648" is not a whole number from -2147483648 to 2147483647`},
		{"no address", "brokerIP1=", `:1: brokerIP1: "" is not an IP address or a host name`},
		{"an address with a port", "brokerIP1=10.0.0.1:10911", `:1: brokerIP1: "10.0.0.1:10911" is not an IP address or a host name`},
		{"an address that nobody can reach", "brokerIP2=0.0.0.0", `:1: brokerIP2: "0.0.0.0" is not an address that others can reach`},
		{"a controller", "enableControllerMode=true", `:1: enableControllerMode: "true" is not available here, only false is`},
		{"DLedger", "enableDLegerCommitLog=true", `:1: enableDLegerCommitLog: "true" is not available here, only false is`},
		{"access control", "aclEnable=true", `:1: aclEnable: "true" is not available here, only false is`},
		{"access control of 5.x", "authenticationEnabled=true", `:1: authenticationEnabled: "true" is not available here, only false is`},
		{"access control of 5.x, in capitals", "authorizationEnabled=TRUE", `:1: authorizationEnabled: "TRUE" is not available here, only false is`},
		{"RocksDB for topics and groups", "configManagerVersion=v2", `:1: configManagerVersion: "v2" is not available here, only v1 is`},
		{"tiered storage", "messageStorePlugIn=org.apache.rocketmq.tieredstore.TieredMessageStore",
			`:1: messageStorePlugIn: "org.apache.rocketmq.tieredstore.TieredMessageStore" is not available here, only an empty value is`},
		{"RocksDB", "storeType=defaultRocksDB", `:1: storeType: "defaultRocksDB" is not available here, only default is`},
	} {
		t.Run(row.rule, func(t *testing.T) {
			_, err := loadBroker(t, row.text)
			require.ErrorContains(t, err, row.want)
			require.NotContains(t, err.Error(), "\n")
			if strings.HasPrefix(row.want, ":") {
				require.ErrorContains(t, err, "broker.conf"+row.want)
			}
		})
	}
	_, err := loadBroker(t, "", "NAMESRV_ADDR=127.0.0.1")
	require.EqualError(t, err, `environment variable NAMESRV_ADDR: namesrvAddr: "127.0.0.1" is not host:port; several are separated by ';'`)
}

func TestN47_BrokerValuesAreReadAsMeant(t *testing.T) {
	s := mustLoadBroker(t, "listenPort = 19876 \nautoCreateTopicEnable=false \nbrokerName: b \nlogicalDiskSpaceCleanForciblyThreshold=0.50\nmyKey= as is \n")
	require.Equal(t, 19876, s.Server().ListenPort)
	require.False(t, s.Broker().AutoCreateTopicEnable)
	require.Equal(t, "b", s.Broker().BrokerName)
	require.Equal(t, "0.5", line(t, s.Text(), "logicalDiskSpaceCleanForciblyThreshold"))
	require.Equal(t, "as is ", line(t, s.Text(), "myKey"))
}

func TestN55_ListsOfNameServers(t *testing.T) {
	for _, row := range []struct{ rule, text, want string }{
		{"blanks and an empty item at the end", "127.0.0.1:9876; 127.0.0.1:9877 ;", "127.0.0.1:9876;127.0.0.1:9877"},
		{"empty items", ";;a:1; ;b:2", "a:1;b:2"},
		{"duplicates", "127.0.0.1:9876;127.0.0.1:9876; 127.0.0.1:09876", "127.0.0.1:9876"},
		{"names are the same in any case", "NS1:9876;ns1:9876;ns1:9877", "NS1:9876;ns1:9877"},
		{"IPv6 in brackets", "[::1]:9876;[0:0::1]:9876;[fe80::1%eth0]:9876", "[::1]:9876;[fe80::1%eth0]:9876"},
		{"nothing", " ; ", ""},
	} {
		t.Run(row.rule, func(t *testing.T) {
			list, err := ParseServers(row.text)
			require.NoError(t, err)
			require.Equal(t, row.want, strings.Join(list, ";"))
			s := mustLoadBroker(t, "namesrvAddr="+row.text)
			require.Equal(t, row.want, line(t, s.Text(), "namesrvAddr"))
			require.Equal(t, list, s.Broker().NameServers())
		})
	}
	for _, row := range []struct{ rule, text, item string }{
		{"a comma", "127.0.0.1:9876,127.0.0.1:9877", "127.0.0.1:9876,127.0.0.1:9877"},
		{"no port", "127.0.0.1", "127.0.0.1"},
		{"an empty port", "127.0.0.1:", "127.0.0.1:"},
		{"a scheme", "http://127.0.0.1:9876", "http://127.0.0.1:9876"},
		{"no host", ":9876", ":9876"},
		{"port 0", "a:0", "a:0"},
		{"a port too high", "a:65536", "a:65536"},
		{"a signed port", "a:+1", "a:+1"},
		{"IPv6 without brackets", "::1:9876", "::1:9876"},
		{"IPv4 in brackets", "[127.0.0.1]:9876", "[127.0.0.1]:9876"},
		{"a blank for a separator", "a:1 b:2", "a:1 b:2"},
		{"an IPv4 address gone wrong", "10.0.0:9876", "10.0.0:9876"},
		{"the wrong one is named", "a:1; b ;c:1", "b"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			_, err := ParseServers(row.text)
			require.Equal(t, &ServerError{Item: row.item}, err)
			_, err = loadBroker(t, "namesrvAddr="+row.text)
			require.ErrorContains(t, err, `broker.conf:1: namesrvAddr: "`+row.item+`" is not host:port; several are separated by ';'`)
		})
	}
}

func TestNameServersComeFrom(t *testing.T) {
	src := brokerSources(t, "", "NAMESRV_ADDR=env:1 ;")
	load := func() string {
		s, err := LoadBroker(src)
		require.NoError(t, err)
		return s.Broker().NamesrvAddr
	}
	require.Equal(t, "env:1", load())
	require.NoError(t, os.WriteFile(src.File, []byte("namesrvAddr=file:1\n"), 0o600))
	require.Equal(t, "file:1", load())
	src.Environ = append(src.Environ, "MQ_NAMESRV_ADDR=variable:1")
	require.Equal(t, "variable:1", load())
	src.Set = []string{"namesrvAddr=set:1"}
	require.Equal(t, "set:1", load())
	src.NameServers = "flag:1"
	require.Equal(t, "flag:1", load())
	src.NameServers = "flag"
	_, err := LoadBroker(src)
	require.EqualError(t, err, `-n: namesrvAddr: "flag" is not host:port; several are separated by ';'`)
}

func TestN58_Brackets(t *testing.T) {
	for host, want := range map[string]string{
		"::1": "[::1]:10911", "[::1]": "[::1]:10911", "fe80::1%eth0": "[fe80::1]:10911", "[fd00::0:2]": "[fd00::2]:10911",
		"10.0.0.1": "10.0.0.1:10911", "broker.example.com": "broker.example.com:10911", "::ffff:10.0.0.1": "[::ffff:10.0.0.1]:10911",
	} {
		require.Equal(t, want, HostPort(host, 10911))
		require.Equal(t, want, mustLoadBroker(t, "brokerIP1="+host).Snapshot().Addr(), host)
	}
	require.Equal(t, "[::1]:10912", mustLoadBroker(t, "brokerIP2=::1").Snapshot().HAAddr())

	src := brokerSources(t, "")
	src.Interfaces = func() ([]Interface, error) { return []Interface{iface(2, "eth0", "fd00::2", "fe80::2%eth0")}, nil }
	s, err := LoadBroker(src)
	require.NoError(t, err)
	require.Equal(t, "[fd00::2]", line(t, s.Text(), "brokerIP1"))
	require.Equal(t, "[fd00::2]:10911", s.Snapshot().Addr())
}

func TestN59_AddressDetection(t *testing.T) {
	lo := iface(1, "lo", "127.0.0.1", "::1")
	for _, row := range []struct {
		rule string
		in   []Interface
		want string // "": none
	}{
		{"a bridge is none", []Interface{lo, iface(2, "docker0", "172.17.0.1"), iface(3, "eth0", "10.0.0.5")}, "10.0.0.5"},
		{"whatever its place", []Interface{lo, iface(2, "eth0", "10.0.0.5"), iface(3, "docker0", "172.17.0.1"), iface(4, "br-1f2", "172.18.0.1")}, "10.0.0.5"},
		{"public before private", []Interface{lo, iface(2, "eth0", "10.0.0.5"), iface(3, "eth1", "203.0.113.9")}, "203.0.113.9"},
		{"of private ones the first of the system's list", []Interface{lo, iface(3, "eth1", "10.3.0.1"), iface(2, "eth0", "192.168.0.1", "10.1.0.2")}, "192.168.0.1"},
		{"of public ones the last", []Interface{lo, iface(2, "eth0", "203.0.113.1"), iface(3, "eth1", "203.0.113.2", "203.0.113.3")}, "203.0.113.3"},
		{"the limits of 172.16/12", []Interface{iface(2, "eth0", "172.31.0.1"), iface(3, "eth1", "172.32.0.1")}, "172.32.0.1"},
		{"no point-to-point links", []Interface{lo, iface(2, "tun0", "10.8.0.1"), iface(3, "eth0", "10.0.0.5")}, "10.0.0.5"},
		{"no sub-interfaces", []Interface{lo, iface(2, "eth0", "10.0.0.5"), iface(2, "eth0:1", "203.0.113.9")}, "10.0.0.5"},
		{"nothing that is down", []Interface{lo, iface(2, "down0", "203.0.113.9"), iface(3, "eth0", "10.0.0.5")}, "10.0.0.5"},
		{"IPv4 before IPv6", []Interface{iface(2, "eth0", "2001:db8::1", "10.0.0.5")}, "10.0.0.5"},
		{"public IPv6 before local", []Interface{iface(2, "eth0", "fd00::1", "2001:db8::1", "fec0::1", "fe80::1%eth0")}, "2001:db8::1"},
		{"local IPv6", []Interface{iface(2, "eth0", "fe80::1%eth0", "fec0::1")}, "fec0::1"},
		{"private before link-local", []Interface{iface(2, "eth0", "169.254.1.1"), iface(3, "eth1", "10.0.0.5")}, "10.0.0.5"},
		{"link-local is better than nothing", []Interface{lo, iface(2, "eth0", "fe80::1%eth0")}, "fe80::1"},
		{"only loopback", []Interface{lo}, ""},
		{"nothing", nil, ""},
	} {
		t.Run(row.rule, func(t *testing.T) {
			got, ok := DetectAddress(row.in)
			require.Equal(t, row.want != "", ok)
			if ok {
				require.Equal(t, row.want, got.String())
			}
		})
	}
	_, err := Interfaces()
	require.NoError(t, err)
}

func TestN59_WhatIsAdvertised(t *testing.T) {
	for _, row := range []struct{ rule, text, addr, ha string }{
		{"what is found", "", "192.168.1.10:10911", "192.168.1.10:10912"},
		{"brokerIP1 wins", "brokerIP1=10.9.9.9", "10.9.9.9:10911", "192.168.1.10:10912"},
		{"brokerIP2 wins", "brokerIP2=10.9.9.9", "192.168.1.10:10911", "10.9.9.9:10912"},
		{"the only address listened at", "bindAddress=127.0.0.1", "127.0.0.1:10911", "127.0.0.1:10912"},
		{"the only address listened at, IPv6", "bindAddress=[::1]", "[::1]:10911", "[::1]:10912"},
		{"all addresses", "bindAddress=::", "192.168.1.10:10911", "192.168.1.10:10912"},
		{"the host listened at", "bindAddress=inside.example", "10.7.7.7:10911", "10.7.7.7:10912"},
		{"the host listened at, IPv6", "bindAddress=inside6.example", "[fd00::7]:10911", "[fd00::7]:10912"},
		{"a host that there is not, which listening will find out", "bindAddress=missing.example", "192.168.1.10:10911", "192.168.1.10:10912"},
	} {
		src := brokerSources(t, row.text)
		src.LookUp = func(host string) (netip.Addr, error) {
			addr, ok := map[string]string{"inside.example": "10.7.7.7", "inside6.example": "fd00::7"}[host]
			if !ok {
				return noHost(host)
			}
			return netip.MustParseAddr(addr), nil
		}
		s, err := LoadBroker(src)
		require.NoError(t, err, row.rule)
		require.Equal(t, row.addr, s.Snapshot().Addr(), row.rule)
		require.Equal(t, row.ha, s.Snapshot().HAAddr(), row.rule)
		require.Empty(t, s.notes, row.rule)
	}
	var log bytes.Buffer
	for _, interfaces := range []func() ([]Interface, error){
		func() ([]Interface, error) { return []Interface{iface(1, "lo", "127.0.0.1")}, nil },
		func() ([]Interface, error) { return nil, errors.New("not allowed") },
	} {
		log.Reset()
		src := brokerSources(t, "")
		src.Interfaces, src.Log = interfaces, zerolog.New(&log)
		s, err := LoadBroker(src)
		require.NoError(t, err)
		require.Equal(t, "127.0.0.1:10911", s.Snapshot().Addr())
		s.LogNotes()
		require.Contains(t, log.String(), `{"level":"warn"`)
		require.Contains(t, log.String(), "127.0.0.1")
	}
}

func TestBrokerUpdate(t *testing.T) {
	src := brokerSources(t, "myOwnKey=kept\nbrokerPermission=6\nlistenPort=0\n", "ROCKETMQ_HOME=/opt/rmq")
	s, err := LoadBroker(src)
	require.NoError(t, err)
	s.SetListenPort(4321)
	before := s.Snapshot()
	version := func() (v struct{ Counter, StateVersion, Timestamp int64 }) {
		require.NoError(t, json.Unmarshal([]byte(s.Version()), &v))
		require.InDelta(t, time.Now().UnixMilli(), v.Timestamp, 60_000)
		return v
	}
	require.EqualValues(t, 0, version().Counter)

	changed, err := s.Update([]byte("brokerPermission=4\nnamesrvAddr= a:1; b:2 ;\nmyOwnKey=other\nregionId=DefaultRegion\nwaitTimeMillsInSendQueue=300\nbrokerName=c\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"brokerName", "brokerPermission", "myOwnKey", "namesrvAddr", "waitTimeMillsInSendQueue"}, changed)
	require.Equal(t, 6, before.Broker.BrokerPermission, "a snapshot does not change")
	require.Equal(t, 4, s.Broker().BrokerPermission)
	require.Equal(t, []string{"a:1", "b:2"}, s.Broker().NameServers())
	require.Equal(t, 300*time.Millisecond, s.Broker().WaitTimeInSendQueue)
	require.Equal(t, "host-1", s.Broker().BrokerName, "it is not live")
	require.Equal(t, "c", line(t, s.Text(), "brokerName"))
	require.EqualValues(t, 1, version().Counter)

	kept := read(t, src.File)
	for _, key := range []string{"brokerIP1", "brokerIP2", "haListenPort", "storePathCommitLog", "sendMessageThreadPoolNums", "useTLS"} {
		require.NotContains(t, kept, "\n"+key+"=", "what depends on the machine or follows from other keys is not kept")
	}
	require.Equal(t, "0", line(t, kept, "listenPort"))
	require.Equal(t, "a:1;b:2", line(t, kept, "namesrvAddr"))

	changed, err = s.Update([]byte("brokerPermission=4"))
	require.NoError(t, err)
	require.Empty(t, changed, "nothing is another value now")

	again, err := LoadBroker(src)
	require.NoError(t, err)
	require.Equal(t, "c", again.Broker().BrokerName)
	again.SetListenPort(4321)
	require.Equal(t, s.Text(), again.Text())
}

// TestBrokerUpdatesThatAreRefused: success is never the answer to what does not apply.
func TestBrokerUpdatesThatAreRefused(t *testing.T) {
	src := brokerSources(t, "myOwnKey=kept\nmySecret=hush\n")
	s, err := LoadBroker(src)
	require.NoError(t, err)
	text, version := s.Text(), s.Version()
	for _, row := range []struct{ rule, body, want string }{
		{"nothing", "", ErrNoKeys.Error()},
		{"comments", "# x\n", ErrNoKeys.Error()},
		{"a malformed escape", `regionId=\u00zz`, ErrParse.Error()},
		{"a bad number", "regionId=x\nbrokerPermission=x", `brokerPermission: "x" is not a whole number from 0 to 7`},
		{"a bad boolean", "traceOn=yes", `traceOn: "yes" is not true or false`},
		{"an unknown key", "regionid=x", `"regionid": there is no such configuration key`},
		{"an unknown key beside a good one", "regionId=x\nno such\\nkey=1", `"no": there is no such configuration key`},
		{"an empty list of NameServers", "namesrvAddr= ; ", `namesrvAddr: "; " is not host:port; several are separated by ';'`},
		{"a bad list of NameServers", "namesrvAddr=a:1,b:1", `namesrvAddr: "a:1,b:1" is not host:port; several are separated by ';'`},
		{"a slave without an id", "brokerRole=SLAVE", `brokerId: "0" is not above 0, as a slave's must be`},
		{"a master with an id, which would have no effect", "brokerId=3", `brokerId: "3" is not 0, as a master's must be`},
		{"one port for two", "haListenPort=10911", `haListenPort: "10911" is not another port than listenPort and listenPort-2`},
		{"no folder", "storePathRootDir=", `storePathRootDir: "" is not text without line breaks, and not empty`},
		{"a mode that is not here", "aclEnable=true", `aclEnable: "true" is not available here, only false is`},
		{"a line break", `regionId=a\nbrokerConfigPath=/x`, `regionId: "a\nbrokerConfigPath=/x" is not text without line breaks`},
		{"a line break in a key of the file's own", `myOwnKey=a\rb`, `myOwnKey: "a\rb" is not text without line breaks`},
		{"a line break in a secret", `mySecret=hus\nh`, `mySecret: the value is not text without line breaks`},
	} {
		changed, err := s.Update([]byte(row.body))
		require.EqualError(t, err, row.want, row.rule)
		require.Empty(t, changed, row.rule)
		require.Equal(t, text, s.Text(), row.rule)
		require.Equal(t, version, s.Version(), row.rule)
	}
	require.NoFileExists(t, src.File+".bak")
	changed, err := s.Update([]byte("mySecret=" + Mask))
	require.NoError(t, err, "what was shown may be sent back")
	require.Empty(t, changed)

	require.NoError(t, os.Mkdir(src.File+".tmp", 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(src.File+".tmp", "x"), nil, 0o600))
	_, err = s.Update([]byte("regionId=x"))
	require.ErrorContains(t, err, "configuration cannot be kept: ")
	require.Equal(t, text, s.Text())
	require.Equal(t, version, s.Version())
}

func TestN49_BrokerForbiddenKeys(t *testing.T) {
	src := brokerSources(t, "configBlackList=regionId; TraceOn;spareKey\nspareKey=1\ntls.server.mode=permissive\n")
	s, err := LoadBroker(src)
	require.NoError(t, err)
	before := s.Text()
	target := filepath.Join(t.TempDir(), "target")
	for _, key := range []string{
		"brokerConfigPath", "configBlackList", "rocketmqHome", "filterServerNums", "BrokerConfigPath", "BROKERCONFIGPATH", "setBrokerConfigPath",
		`broker\u0043onfigPath`, `broker\ConfigPath`, "broker\\\n  ConfigPath", ` brokerConfigPath`, `\ brokerConfigPath\t`, "RocketmqHome", "ConfigBlacklist",
		"regionId", "regionid", "traceOn", "spareKey", "tls.server.mode", "tls.server.keyPath", "TLS.server.mode", `\u0074ls.test.mode.enable`,
	} {
		for _, body := range []string{key + "=" + target, key + ":" + target, key + " " + target, "brokerPermission=4\n" + key + "=" + target, "brokerPermission=x\n" + key, "a=b\\\nc\n" + key} {
			_, err := s.Update([]byte(body))
			require.Equal(t, ErrBlackList, err, body)
			require.Equal(t, before, s.Text(), body)
		}
	}
	_, err = s.Update([]byte("brokerPermission=4"))
	require.NoError(t, err)
	require.NoFileExists(t, target)
	entries, err := os.ReadDir(filepath.Dir(src.File))
	require.NoError(t, err)
	require.Len(t, entries, 2, "the file and its backup")
}

func TestN50_BrokerSecretsAreMasked(t *testing.T) {
	s := mustLoadBroker(t, `innerClientAuthenticationCredentials={"accessKey":"hush","secretKey":"hush"}
initAuthenticationUser={"username":"hush","password":"hush"}
metricsGrpcExporterHeader=Authorization:hush
tls.server.keyPassword=hush
socksProxyConfig={"a":"hush"}
`)
	var out strings.Builder
	require.NoError(t, s.Print(&out))
	for _, shown := range []string{s.Text(), out.String()} {
		require.NotContains(t, shown, "hush")
		require.Equal(t, Mask, line(t, shown, "innerClientAuthenticationCredentials"))
	}
	require.Empty(t, line(t, mustLoadBroker(t, "").Text(), "metricsGrpcExporterHeader"))

	// Keys that are not ours go by their names.
	for _, key := range []string{
		"rocketmq.client.secretKey", "accessKey", "aclAccessKey", "smtpPassword", "DB_PASSWD", "keystorePwd", "key.passphrase", "my.passcode", "authToken",
		"user.credentials", "tls.private.key", "x-api-key", "api_key",
	} {
		require.Equal(t, Mask, line(t, mustLoadBroker(t, key+"=hush").Text(), key))
	}
	require.Equal(t, "hush", line(t, mustLoadBroker(t, "storePathKeys=hush").Text(), "storePathKeys"))

	// Nor are they in the errors of what should have been key=value.
	for _, set := range []string{"tls.server.keyPassword:hush", "tls.server.keyPassword hush"} {
		src := brokerSources(t, "")
		src.Set = []string{set}
		_, err := LoadBroker(src)
		require.EqualError(t, err, `--set "tls.server.keyPassword…": want key=value`)
	}
}

// TestWhereBrokerUpdatesGo: into the file of brokerConfigPath, else into that of -c, else under the home folder; and
// from there they come at the next start.
func TestWhereBrokerUpdatesGo(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	file, named := filepath.Join(dir, "b.conf"), filepath.Join(dir, "new", "updates.properties")
	const text = "brokerName=b\nregionId=r1\n"
	for _, row := range []struct {
		rule, text string
		file       string
		set        []string
		want       string
	}{
		{"no file", "", "", nil, filepath.Join(home, "store/config/broker.properties")},
		{"the file of -c", text, file, nil, file},
		{"brokerConfigPath", text + "brokerConfigPath=" + named, file, nil, named},
		{"brokerConfigPath on the command line", text, file, []string{"brokerConfigPath=" + named + "2"}, named + "2"},
		{"brokerConfigPath without a file", "", "", []string{"brokerConfigPath=" + named + "3"}, named + "3"},
		{"brokerConfigPath is the file of -c", text + "brokerConfigPath=" + file, file, nil, file},
	} {
		t.Run(row.rule, func(t *testing.T) {
			if row.file != "" {
				require.NoError(t, os.WriteFile(row.file, []byte(row.text), 0o600))
			}
			src := Sources{File: row.file, Set: row.set, Environ: []string{"HOME=" + home}, Interfaces: func() ([]Interface, error) { return nil, nil }}
			s, err := LoadBroker(src)
			require.NoError(t, err)
			_, err = s.Update([]byte("regionId=r2"))
			require.NoError(t, err)
			require.Equal(t, "r2", line(t, read(t, row.want), "regionId"))
			if row.file != "" && row.file != row.want {
				require.Equal(t, row.text, read(t, row.file))
			}
			again, err := LoadBroker(src)
			require.NoError(t, err)
			require.Equal(t, "r2", again.Broker().RegionID)
			require.Equal(t, s.Text(), again.Text())
		})
	}
}

// TestBrokerUpdateOfWhatTheCommandLineSays counts until the next start.
func TestBrokerUpdateOfWhatTheCommandLineSays(t *testing.T) {
	var log bytes.Buffer
	src := brokerSources(t, "")
	src.NameServers, src.Log = "a:1", zerolog.New(&log)
	s, err := LoadBroker(src)
	require.NoError(t, err)
	changed, err := s.Update([]byte("namesrvAddr=b:1"))
	require.NoError(t, err)
	require.Equal(t, []string{"namesrvAddr"}, changed)
	require.Equal(t, "b:1", s.Broker().NamesrvAddr)
	require.Contains(t, log.String(), `"level":"warn","key":"namesrvAddr","by":"-n"`)
}

func TestPrintBroker(t *testing.T) {
	s := mustLoadBroker(t, "brokerName=b\nlistenPort=1\nbrokerRole=SYNC_MASTER\nmyOwnKey=1\n")
	var all, important strings.Builder
	require.NoError(t, s.Print(&all))
	require.NoError(t, s.PrintImportant(&important))
	var names []string
	for _, k := range BrokerKeys() {
		names = append(names, k.Name)
	}
	var printed []string
	for l := range strings.Lines(all.String()) {
		name, _, _ := strings.Cut(l, "=")
		printed = append(printed, name)
	}
	require.Equal(t, names, printed)
	require.Contains(t, all.String(), "\nhaListenPort=2\n")
	got := keyValues(t, important.String())
	// Both lists of spec/broker.md §1.1, 5.x and 4.9; TestKeysLikeJavaBroker has the store's.
	require.Subset(t, slices.Collect(maps.Keys(got)), []string{
		"namesrvAddr", "listenPort", "brokerIP1", "recoverConcurrently", "autoCreateTopicEnable", "autoCreateSubscriptionGroup", "msgTraceTopicName",
		"traceTopicEnable", "rejectTransactionMessage", "fetchNameSrvAddrByDnsLookup", "fetchNamesrvAddrByAddressServer", "transactionTimeOut",
		"transactionCheckMax", "transactionCheckInterval", "aclEnable", "brokerName", "brokerClusterName", "brokerId",
	})
	require.Equal(t, "b", got["brokerName"])
	require.Equal(t, "1", got["listenPort"])
}

// javaField is a field of a configuration class of the Java broker.
type javaField struct {
	group       Group
	kind, value string
	important   bool
}

func javaFields(t *testing.T) map[string]javaField {
	t.Helper()
	data, err := os.ReadFile("testdata/broker-5.5.0-keys.txt")
	require.NoError(t, err)
	fields := map[string]javaField{}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.GreaterOrEqual(t, len(columns), 3, line)
		columns = append(columns, "", "") // trailing ones may be empty
		f := javaField{group: Group(columns[0]), kind: columns[2], value: columns[3], important: columns[4] == "important"}
		if _, twice := fields[columns[1]]; twice {
			f.important = f.important || fields[columns[1]].important // listenPort of the BrokerConfig and of the listener, which counts
		}
		fields[columns[1]] = f
	}
	return fields
}

// TestKeysLikeJavaBroker compares the table of keys with the fields of the Java broker's configuration: each key is
// there, in its group, with its type and default, and -m prints the same ones.
func TestKeysLikeJavaBroker(t *testing.T) {
	enums := []string{"BrokerRole", "FlushDiskType", "MessageRequestMode", "MetricsExporterType"}
	elsewhere := map[string]string{ // what Java sets after it has made the object
		"listenPort": "10911", "haListenPort": "", "bitMapLengthConsumeQueueExt": "112", "storePathCommitLog": "", "useTLS": "false",
	}
	keys := map[string]Key{}
	for _, k := range BrokerKeys() {
		if _, twice := keys[k.Name]; !twice {
			keys[k.Name] = k
		}
	}
	for name, java := range javaFields(t) {
		k, ok := keys[name]
		require.True(t, ok, name)
		require.Equal(t, java.group, k.Group, name)
		if slices.Contains(enums, java.kind) {
			java.kind = "String"
		}
		require.Equal(t, java.kind, k.Type(), name)
		require.Equal(t, java.important, k.Important, "%s: printed by -m", name)
		want, known := elsewhere[name]
		switch {
		case known:
			require.Equal(t, want, k.Default, name)
		case java.value == "null":
			require.True(t, k.Unset, name)
		case !k.Computed && computedDefaults[name] == "":
			require.False(t, k.Unset, name)
			require.Equal(t, java.value, k.Default, name)
		}
	}
}
