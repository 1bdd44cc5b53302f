package conf

import (
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// BrokerStore holds the configuration of a running broker: what its parts read, what GET_BROKER_CONFIG shows and
// what UPDATE_BROKER_CONFIG changes. Everything but what is here is as in Store.
type BrokerStore struct{ *Store }

var brokerSchema = &schema{
	table: brokerTable, server: "broker", kept: []Group{GroupBroker, GroupStore, GroupServer, GroupClient},
	pathKey: keyBrokerConfigPath, defaultPath: "store/config/broker.properties",
	never: []string{"filterServerNums"}, strict: true, steady: true,
	defaultsOfMachine: brokerDefaults, complete: completeBroker, check: checkPorts,
}

// LoadBroker reads and checks the configuration of a broker, as Load does for a NameServer. Updates of earlier runs
// count: they are in the file of -c, or in that of brokerConfigPath, which is read after it.
func LoadBroker(src Sources) (*BrokerStore, error) {
	s, err := brokerSchema.load(src)
	if err != nil {
		return nil, err
	}
	return &BrokerStore{s}, nil
}

// Broker is the broker's own part of Snapshot.
func (s *BrokerStore) Broker() *BrokerConfig { return &s.Snapshot().Broker }

// MessageStore is the message store's part of Snapshot.
func (s *BrokerStore) MessageStore() *MessageStoreConfig { return &s.Snapshot().Store }

// Version is the DataVersion of the configuration as JSON text, as the header of the answer to GET_BROKER_CONFIG (26)
// has it. Each update makes a new one.
func (s *BrokerStore) Version() string { return s.state.Load().version.String() }

// Update changes the configuration as UPDATE_BROKER_CONFIG (25) asks: body is a properties text in UTF-8. It is
// applied whole or not at all. When Update succeeds, what it says is durable, and in force (live keys) or will be
// after the next start; changed are the keys whose values are other ones than before, sorted.
//
// Errors, with nothing changed: ErrParse; ErrNoKeys; ErrBlackList for keys that are forbidden, however written;
// *ValueError for values that their keys do not have or that do not go together; others for keys that there are not,
// or when the file cannot be written.
//
// Source: spec/broker.md §6.5. Other than the original, which answers success to unknown keys and to values that
// do not apply.
func (s *BrokerStore) Update(body []byte) (changed []string, err error) { return s.update(body) }

// PrintImportant writes the items that are marked as important, as -m does.
func (s *BrokerStore) PrintImportant(w io.Writer) error {
	return s.print(w, func(k *Key) bool { return k.Important })
}

// Addr is the address at which clients find the broker, brokerIP1 with the port that it listens at.
func (c *Config) Addr() string { return HostPort(c.Broker.BrokerIP1, c.Server.ListenPort) }

// HAAddr is the address at which slaves find the broker, brokerIP2 with haListenPort.
func (c *Config) HAAddr() string { return HostPort(c.Broker.BrokerIP2, c.Store.HaListenPort) }

// FastPort is the port of the second listener, which clients with vipChannelEnabled use: listenPort-2, or 0 for
// any free port where there is no such.
func (c *Config) FastPort() int { return max(c.Server.ListenPort-2, 0) }

// brokerDefaults are the defaults of who and where the broker is (spec/broker.md §1.3).
func brokerDefaults(l *loader) (map[string]string, error) {
	values := map[string]string{keyStorePathRootDir: filepath.Join(l.home(), "store")}
	if l.value(keyBrokerName) == "" {
		values[keyBrokerName] = l.hostname()
	}
	if l.value(keyBrokerIP1) == "" || l.value(keyBrokerIP2) == "" {
		values[keyBrokerIP1] = l.address()
		values[keyBrokerIP2] = values[keyBrokerIP1]
	}
	if id := l.value(keyBrokerID); id != "0" && l.value(keyBrokerRole) != Slave {
		l.warn("a master's brokerId is 0, whatever else is configured", "key", l.originOf(keyBrokerID)+": "+keyBrokerID)
	}
	if text := l.getenv(variableNamesrvAddr); text != "" {
		k := l.byName[keyNamesrvAddr]
		list, ok := k.normalize(text)
		if !ok {
			return nil, newValueError("environment variable "+variableNamesrvAddr, k, text)
		}
		values[keyNamesrvAddr] = list
	}
	return values, nil
}

const variableNamesrvAddr = "NAMESRV_ADDR"

// address is the default of brokerIP1 and brokerIP2, an IPv6 address in brackets.
func (l *loader) address() string {
	if ip, ok := l.bindIP(); ok && !ip.IsUnspecified() {
		return bracketed(ip) // nowhere else is it reached
	}
	list := l.src.Interfaces
	if list == nil {
		list = Interfaces
	}
	interfaces, err := list()
	ip, ok := DetectAddress(interfaces)
	if err != nil || !ok {
		l.warn("this machine's address cannot be found, and others cannot reach the broker at 127.0.0.1: set it", "key", keyBrokerIP1)
		return "127.0.0.1"
	}
	return bracketed(ip)
}

// bindIP is bindAddress, or the address of the host that it names; ok is false if there is no such host.
func (l *loader) bindIP() (ip netip.Addr, ok bool) {
	host := strings.TrimSpace(l.value(keyBindAddress))
	if ip, err := netip.ParseAddr(withoutBrackets(host)); err == nil {
		return ip, true
	}
	lookUp := l.src.LookUp
	if lookUp == nil {
		lookUp = LookUp
	}
	ip, err := lookUp(host)
	return ip, err == nil
}

func bracketed(ip netip.Addr) string {
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		return "[" + ip.String() + "]"
	}
	return ip.String()
}

func (l *loader) hostname() string {
	get := l.src.Hostname
	if get == nil {
		get = os.Hostname
	}
	name, err := get()
	if err != nil || name == "" {
		l.warn("this machine's name cannot be found, DEFAULT_BROKER takes its place", "key", keyBrokerName)
		return "DEFAULT_BROKER"
	}
	return name
}

// completeBroker derives what follows from other values, and checks that they go together.
func completeBroker(values map[string]string) error {
	if values[keyBrokerRole] != Slave {
		values[keyBrokerID] = "0"
	} else if id, _ := strconv.ParseInt(values[keyBrokerID], 10, 64); id <= 0 {
		return wrong(keyBrokerID, values, "above 0, as a slave's must be")
	}
	for _, key := range []string{keyBrokerIP1, keyBrokerIP2} {
		if ip, err := netip.ParseAddr(withoutBrackets(values[key])); err == nil && ip.IsUnspecified() {
			return wrong(key, values, "an address that others can reach")
		}
	}
	if port, _ := strconv.Atoi(values[keyHAListenPort]); port <= 0 {
		port, _ = strconv.Atoi(values[keyListenPort])
		if port++; port > 65535 {
			port -= 2
		}
		values[keyHAListenPort] = strconv.Itoa(port)
	}
	if values[keyStorePathCommitLog] == "" {
		values[keyStorePathCommitLog] = filepath.Join(values[keyStorePathRootDir], "commitlog")
	}
	return nil
}

// checkPorts: each of the broker's three ports is one of its own.
func checkPorts(values map[string]string) error {
	port, _ := strconv.Atoi(values[keyListenPort])
	ha, _ := strconv.Atoi(values[keyHAListenPort])
	if ha == port || ha == port-2 { // a free port that is found (0) is another one
		return wrong(keyHAListenPort, values, "another port than listenPort and listenPort-2")
	}
	return nil
}

func wrong(key string, values map[string]string, want string) *ValueError {
	return &ValueError{Key: key, Value: strconv.Quote(values[key]), Want: want}
}
