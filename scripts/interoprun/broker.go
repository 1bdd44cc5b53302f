package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The checks of mq's broker. It is compared with the Java broker of this line, under the same name and configuration.
const javaBroker = "5.5.0"

// brokerParts are the checks of the broker, which can be chosen alone.
var brokerParts = []struct {
	name string
	run  func(*suite)
}{
	{"broker-admin", (*suite).brokerAmongNamesrvs},
	{"broker-killed", (*suite).brokerKilled},
	{"broker-silence", (*suite).brokerAndSilence},
	{"broker-20k", (*suite).brokerTopics20k},
	{"broker-100k", (*suite).brokerTopics100k},
	{"broker-folders", (*suite).brokerTakesOver},
	{"broker-offsets", (*suite).brokerOffsets},
}

// seat is a place where a broker runs: configuration, folder and ports. Brokers of Java and mq may take it in turn.
type seat struct {
	s    *suite
	dir  string
	conf string
	port int
	addr string
	*process

	namesrv *world // where the seat has one of its own
}

// seatName is the brokerName of all seats.
const seatName = "broker-a"

// newSeat makes a seat with these settings besides those that every broker needs.
func (s *suite) newSeat(name string, settings ...string) *seat {
	b := &seat{s: s, dir: s.subdir(name), port: freePorts(4) + 2} // the port two below and the one above are taken, too
	b.addr = "127.0.0.1:" + strconv.Itoa(b.port)
	b.conf = filepath.Join(b.dir, "broker.conf")
	text := strings.Join(append([]string{
		"brokerClusterName=" + cluster, "brokerName=" + seatName, "brokerId=0", "brokerIP1=127.0.0.1", "brokerIP2=127.0.0.1",
		"listenPort=" + strconv.Itoa(b.port), "haListenPort=" + strconv.Itoa(b.port+1),
		"storePathRootDir=" + b.dir + "/store", "storePathCommitLog=" + b.dir + "/store/commitlog",
		"mappedFileSizeCommitLog=16777216", "mappedFileSizeConsumeQueue=60000",
	}, settings...), "\n") + "\n"
	if err := os.WriteFile(b.conf, []byte(text), 0o644); err != nil {
		panic(err) // a fresh temporary directory
	}
	return b
}

// start starts mq's broker and waits until it serves.
func (b *seat) start(namesrv string) (err error) {
	if b.process, err = b.s.start(filepath.Base(b.dir)+" mq", false, []string{"ROCKETMQ_HOME=" + filepath.Join(b.s.peers, javaBroker)}, b.s.mq, "broker", "-c", b.conf, "-n", namesrv); err != nil {
		return err
	}
	return b.serves(10 * time.Second)
}

// startJava starts the Java broker of a line and waits until it serves.
func (b *seat) startJava(line, namesrv string) (err error) {
	w := &world{s: b.s, name: filepath.Base(b.dir), dir: b.dir}
	if b.process, err = w.java("broker-"+line[:1], line, false, "org.apache.rocketmq.broker.BrokerStartup", "-c", b.conf, "-n", namesrv); err != nil {
		return err
	}
	return b.serves(60 * time.Second)
}

func (b *seat) serves(d time.Duration) error {
	return within(d, func() error {
		select {
		case <-b.exited:
			return &fatalError{fmt.Errorf("%s has ended", b.name)}
		default:
		}
		_, _, err := ask(b.addr, 28, 513, nil)
		return err
	})
}

// topicsFile puts n topics, named prefix and a number, into the folder of the broker.
func (b *seat) topicsFile(prefix string, n int) error {
	table := map[string]any{}
	for i := range n {
		name := numbered(prefix, i)
		table[name] = map[string]any{
			"attributes": map[string]string{}, "order": false, "perm": 6, "readQueueNums": 8, "topicFilterType": "SINGLE_TAG",
			"topicName": name, "topicSysFlag": 0, "writeQueueNums": 8,
		}
	}
	text, err := json.MarshalIndent(map[string]any{
		"dataVersion":      map[string]int64{"counter": int64(n), "stateVersion": 0, "timestamp": time.Now().UnixMilli()},
		"topicConfigTable": table,
	}, "", "\t")
	if err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "store", "config")
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "topics.json"), text, 0o644))
}

func numbered(prefix string, i int) string { return fmt.Sprintf("%s-%06d", prefix, i) }

// newTopic are the fields of a request for a topic, as mqadmin sends them.
func newTopic(name string, queues int) map[string]string {
	n := strconv.Itoa(queues)
	return map[string]string{
		"topic": name, "defaultTopic": "TBW102", "readQueueNums": n, "writeQueueNums": n, "perm": "6",
		"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
	}
}

// newGroup is the body of a request for a group, as mqadmin sends it.
func newGroup(name string, retries int) []byte {
	return fmt.Appendf(nil, `{"brokerId":0,"consumeBroadcastEnable":true,"consumeEnable":true,"consumeFromMinEnable":true,"groupName":%q,`+
		`"notifyConsumerIdsChangedEnable":true,"retryMaxTimes":%d,"retryQueueNums":1,"whichBrokerWhenConsumeSlowly":1}`, name, retries)
}

// kept are the topics and groups that a broker tells of itself, with what is forbidden to groups, as caller.table gives them.
func (b *seat) kept() (topics, groups map[string]string, err error) {
	c, err := dial(b.addr)
	if err != nil {
		return nil, nil, err
	}
	defer c.close()
	topics, err = c.table(21, "topicConfigTable")
	if err == nil {
		groups, err = c.table(201, "subscriptionGroupTable", "forbiddenTable")
	}
	return topics, groups, err
}

// table asks for something that a broker keeps: it returns the entries of these members, by the names of member and entry, and
// the data version. byValue has brought each into one order.
func (c *caller) table(code int, members ...string) (map[string]string, error) {
	body, err := c.must(code, nil, nil)
	if err != nil {
		return nil, err
	}
	var wrapper map[string]json.RawMessage
	if err := json.Unmarshal(quoteKeys(body), &wrapper); err != nil {
		return nil, err
	}
	table := map[string]string{}
	if table["dataVersion"], err = byValue(string(wrapper["dataVersion"])); err != nil {
		return nil, err
	}
	for _, member := range members {
		var entries map[string]json.RawMessage
		if text := wrapper[member]; text != nil { // 4.9 has no forbiddenTable
			if err := json.Unmarshal(text, &entries); err != nil {
				return nil, err
			}
		}
		for name, entry := range entries {
			if table[member+" "+name], err = byValue(string(entry)); err != nil {
				return nil, err
			}
		}
	}
	return table, nil
}

// lacking shows what a table should have and has not, or has otherwise.
func lacking(table, want map[string]string) error {
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if table[name] != want[name] {
			missing = append(missing, fmt.Sprintf("%s: %s, want %s", name, table[name], want[name]))
		}
	}
	if n := len(missing); n > 0 {
		return fmt.Errorf("%d of %d are missing or different:\n%s", n, len(want), strings.Join(missing[:min(n, 5)], "\n"))
	}
	return nil
}

// topicsOf lists the topics that a NameServer knows.
func topicsOf(namesrv string) ([]string, error) {
	_, body, err := ask(namesrv, 206, 513, nil)
	if err != nil {
		return nil, err
	}
	var list struct{ TopicList []string }
	err = json.Unmarshal([]byte(body), &list)
	slices.Sort(list.TopicList)
	return list.TopicList, err
}

// knows wants a topic in a NameServer, at this broker.
func knows(namesrv, topic string, b *seat) error {
	c, err := dial(namesrv)
	if err != nil {
		return err
	}
	defer c.close()
	return c.knows(topic, b)
}

func (c *caller) knows(topic string, b *seat) error {
	body, err := c.must(105, map[string]string{"topic": topic}, nil)
	if err == nil && !strings.Contains(string(body), b.addr) {
		err = fmt.Errorf("%s is not at %s but in %s", topic, b.addr, body)
	}
	return err
}

// note prints a figure below the check that it belongs to.
func (s *suite) note(format string, args ...any) { fmt.Printf("     "+format+"\n", args...) }

// threeNamesrvs starts the Java NameServers of both lines and mq's.
func (s *suite) threeNamesrvs(name string) []*world {
	var all []*world
	for _, line := range lines {
		w := s.newWorld(name + "-namesrv-" + line[:1])
		all = append(all, w)
		s.check(name+": the Java NameServer "+line+" starts", func() error { return w.startNamesrv(line) })
	}
	w := s.newWorld(name + "-namesrv-mq")
	s.check(name+": mq namesrv starts", w.startMQ)
	return append(all, w)
}

// addrsOf is the list of NameServers for -n.
func addrsOf(worlds []*world) string {
	var addrs []string
	for _, w := range worlds {
		addrs = append(addrs, w.addr)
	}
	return strings.Join(addrs, ";")
}

// silent accepts connections, reads, and never answers. close ends it.
func silent() (addr string, closeAll func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // no port left on the loopback address
	}
	go func() {
		var held []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			held = append(held, c)
		}
		for _, c := range held {
			c.Close()
		}
	}()
	return l.Addr().String(), func() { l.Close() }
}
