package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const cluster = "DefaultCluster"

// world is a NameServer with the brokers and clients of one run. Names and topics are the same in all worlds.
type world struct {
	s       *suite
	name    string
	dir     string
	addr    string   // of the NameServer
	env     []string // of Java programs, besides
	conf    string   // its properties file
	server  *process
	brokers map[string]*process // by line
	ports   map[string]int      // of the brokers, by line
	relays  map[string]*relay   // between a broker and the NameServer, by line; none: directly
	clients []*testClient
}

// testClient is a client program and the topic it uses.
type testClient struct {
	name, topic string
	*process
}

func (s *suite) newWorld(name string) *world {
	w := &world{s: s, name: name, dir: s.subdir(name), brokers: map[string]*process{}, ports: map[string]int{}, relays: map[string]*relay{}}
	port := freePorts(1)
	w.addr = "127.0.0.1:" + strconv.Itoa(port)
	w.conf = filepath.Join(w.dir, "namesrv.properties")
	text := fmt.Sprintf("listenPort=%d\nkvConfigPath=%s\norderMessageEnable=true\nmyOwnKey=kept\n", port, filepath.Join(w.dir, "kvConfig.json"))
	if err := os.WriteFile(w.conf, []byte(text), 0o644); err != nil {
		panic(err) // a fresh temporary directory
	}
	return w
}

// set adds settings to the properties of the NameServer, before it starts.
func (w *world) set(settings ...string) {
	text, err := os.ReadFile(w.conf)
	if err == nil {
		err = os.WriteFile(w.conf, append(text, strings.Join(settings, "\n")+"\n"...), 0o644)
	}
	if err != nil {
		panic(err) // a fresh temporary directory
	}
}

// nextPort is where freePorts goes on: below the range that systems take ports for outgoing connections from, since what it
// finds is bound only seconds later.
var nextPort = 20000 + rand.IntN(1000)*10

// freePorts finds n free ports in a row and returns the first.
func freePorts(n int) int {
next:
	for {
		first := nextPort
		nextPort += n
		if nextPort > 32000 {
			nextPort = 20000
		}
		for p := first; p < first+n; p++ {
			l, err := net.Listen("tcp", ":"+strconv.Itoa(p))
			if err != nil {
				continue next
			}
			l.Close()
		}
		return first
	}
}

// brokerName is the name of the broker of a line: broker-4, broker-5.
func brokerName(line string) string { return "broker-" + line[:1] }

// java starts a Java program of a line. Tools and clients log nothing, servers their warnings to their console.
func (w *world) java(name, line string, talk bool, main string, args ...string) (*process, error) {
	home := filepath.Join(w.s.peers, line)
	flags, err := os.ReadFile(filepath.Join(w.s.peers, "jvm-flags"))
	if err != nil {
		return nil, err
	}
	logback := "rmq.logback.xml"
	if talk {
		logback = "rmq.tools.logback.xml"
	}
	argv := append([]string{"java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}, strings.Fields(string(flags))...)
	argv = append(argv, "-Duser.home="+w.s.subdir(w.name+"/home-"+name), "-Drmq.logback.configurationFile="+filepath.Join(home, "conf", logback),
		"-Dlogback.configurationFile="+filepath.Join(home, "conf", logback), "-cp", filepath.Join(home, "lib", "*")+":"+filepath.Join(home, "java"), main)
	return w.s.start(w.name+" "+name, talk, append([]string{"ROCKETMQ_HOME=" + home, "NAMESRV_ADDR="}, w.env...), append(argv, args...)...)
}

func (w *world) startJava() error { return w.startNamesrv(javaNamesrv) }

// startNamesrv starts the Java NameServer of a line.
func (w *world) startNamesrv(line string) (err error) {
	if w.server, err = w.java("namesrv", line, false, "org.apache.rocketmq.namesrv.NamesrvStartup", "-c", w.conf); err != nil {
		return err
	}
	return within(20*time.Second, w.answers)
}

func (w *world) startMQ() (err error) {
	if w.server, err = w.s.start(w.name+" mq", false, []string{"ROCKETMQ_HOME=" + filepath.Join(w.s.peers, javaNamesrv)}, w.s.mq, "namesrv", "-c", w.conf); err != nil {
		return err
	}
	return within(5*time.Second, w.answers)
}

func (w *world) answers() error {
	_, _, err := ask(w.addr, 106, 513, nil)
	return err
}

// startBroker starts the broker of a line on its own store, new or not.
func (w *world) startBroker(line, namesrv string) (err error) {
	name := brokerName(line)
	dir := w.s.subdir(w.name + "/" + name)
	if w.ports[line] == 0 {
		w.ports[line] = freePorts(4) + 2 // it also takes the port two below and the one above
	}
	text := strings.Join([]string{
		"brokerClusterName=" + cluster, "brokerName=" + name, "brokerId=0", "brokerIP1=127.0.0.1",
		"listenPort=" + strconv.Itoa(w.ports[line]),
		"storePathRootDir=" + dir + "/store", "storePathCommitLog=" + dir + "/store/commitlog",
		"mappedFileSizeCommitLog=16777216", "mappedFileSizeConsumeQueue=60000",
		"waitTimeMillsInSendQueue=10000", "osPageCacheBusyTimeOutMills=10000", // else a busy machine has it refuse messages
	}, "\n") + "\n"
	conf := filepath.Join(dir, "broker.conf")
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		return err
	}
	w.brokers[line], err = w.java(name, line, false, "org.apache.rocketmq.broker.BrokerStartup", "-c", conf, "-n", namesrv)
	return err
}

// routeHas says whether the route of a topic has the broker of a line, by the NameServer's own answer.
func (w *world) routeHas(topic, line string) (bool, error) {
	h, body, err := ask(w.addr, 105, 513, map[string]string{"topic": topic})
	if err != nil {
		return false, err
	}
	if h.Code != 0 && h.Code != 17 {
		return false, fmt.Errorf("route of %s: code %d %s", topic, h.Code, h.Remark)
	}
	return strings.Contains(body, `"brokerName":"`+brokerName(line)+`"`), nil
}

// hasRoute wants both brokers in the route of a topic.
func (w *world) hasRoute(topic string) error {
	for _, line := range lines {
		has, err := w.routeHas(topic, line)
		if err == nil && !has {
			err = fmt.Errorf("%s: no %s in the route of %s", w.name, brokerName(line), topic)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) hasBrokers() error { return w.hasRoute("TBW102") } // every broker has it

// brokersCome waits for both brokers, unless one of them ends.
func (w *world) brokersCome() error {
	return within(60*time.Second, func() error {
		for _, line := range lines {
			select {
			case <-w.brokers[line].exited:
				return &fatalError{fmt.Errorf("broker %s has ended", line)}
			default:
			}
		}
		return w.hasBrokers()
	})
}

func (w *world) isEmpty() error {
	_, body, err := ask(w.addr, 106, 513, nil)
	if err == nil && body != `{"brokerAddrTable":{},"clusterAddrTable":{}}` {
		err = fmt.Errorf("%s still has %s", w.name, body)
	}
	return err
}

// exercise starts both brokers, lets all clients send and consume and runs mqadmin of both lines. It returns mqadmin's outputs.
func (w *world) exercise(how string) map[string][]string {
	s := w.s
	for _, line := range lines {
		namesrv := w.addr
		if r := w.relays[line]; r != nil {
			namesrv = r.addr
		}
		s.check(strings.TrimSpace(w.name+": broker "+line+" starts "+how), func() error { return w.startBroker(line, namesrv) })
	}
	if !s.check(w.name+": both brokers are registered", w.brokersCome) {
		return nil
	}
	admins := map[string]*admin{}
	for _, line := range lines {
		admins[line] = &admin{w: w, line: line}
		s.check(w.name+": mqadmin "+line+" creates a topic", func() error { return admins[line].createTopic("Topic" + line[:1]) })
	}
	s.check(w.name+": the Go client's admin creates a topic", func() error { return w.goAdmin("TopicGo") })
	w.startClients()
	for _, c := range w.clients {
		s.check(w.name+": "+c.name+" sends and consumes", func() error { return c.roundTrip("first") })
	}
	outputs := map[string][]string{}
	for _, line := range lines {
		s.check(w.name+": mqadmin "+line+" runs all commands", func() (err error) {
			outputs[line], err = admins[line].runScript()
			return err
		})
	}
	return outputs
}

// goAdmin creates a topic on both brokers with the Go client and waits for its route.
func (w *world) goAdmin(topic string) error {
	p, err := w.s.start(w.name+" goadmin", true, nil, w.s.goclient)
	if err != nil {
		return err
	}
	defer p.stop(time.Second)
	if err := p.say("admin "+w.addr, "ready"); err != nil {
		return err
	}
	for _, line := range lines {
		if err := p.say(fmt.Sprintf("create %s 127.0.0.1:%d", topic, w.ports[line]), "created"); err != nil {
			return err
		}
	}
	if err := within(20*time.Second, func() error { return w.hasRoute(topic) }); err != nil {
		return err
	}
	list, err := p.tell("topics")
	if err == nil && !strings.Contains(list+" ", " "+topic+" ") {
		err = fmt.Errorf("the admin client lists %s", list)
	}
	return err
}

// startClients starts a client of each line and the Go client, each with a topic of its own.
func (w *world) startClients() {
	for _, line := range lines {
		w.s.check(w.name+": Java client "+line+" starts", func() error {
			p, err := w.java("client-"+line[:1], line, true, "Client")
			return w.addClient("Java client "+line, "Topic"+line[:1], p, err)
		})
	}
	w.s.check(w.name+": Go client starts", func() error {
		p, err := w.s.start(w.name+" goclient", true, nil, w.s.goclient)
		return w.addClient("Go client", "TopicGo", p, err)
	})
}

func (w *world) addClient(name, topic string, p *process, err error) error {
	if err != nil {
		return err
	}
	if err := p.say(fmt.Sprintf("start %s Group%s %s", w.addr, topic, topic), "started"); err != nil {
		return err
	}
	w.clients = append(w.clients, &testClient{name: name, topic: topic, process: p})
	return nil
}

// roundTrip sends to the client's topic and receives all of it.
func (c *testClient) roundTrip(prefix string) error {
	return firstError(
		func() error { return c.say(fmt.Sprintf("send %s 20 %s", c.topic, prefix), "sent 20") },
		func() error { return c.say(fmt.Sprintf("received 20 %s 60", prefix), "received 20") },
	)
}

// swap ends the Java NameServer and starts mq on its port and files, with brokers and clients running and sending.
func (w *world) swap() {
	s := w.s
	before, err := (&admin{w: w, line: javaNamesrv}).run(nil, "updateKvConfig\t-n\t"+w.addr+"\t-s\tKept\t-k\tk\t-v\tv", "getNamesrvConfig\t-n\t"+w.addr)
	s.check("swap: the Java NameServer has a KV entry and updated properties", func() error { return err })
	for _, c := range w.clients {
		s.check("swap: "+c.name+" begins to send steadily", func() error { return c.say("steady "+c.topic+" steady", "steady") })
	}
	s.check("swap: mq takes the Java NameServer's place with the same properties file", func() error {
		w.server.stop(20 * time.Second)
		return w.startMQ()
	})
	s.check("swap: both brokers register again by themselves", func() error { return w.brokersCome() })
	s.check("swap: a topic made since then is known to all", func() error {
		if err := (&admin{w: w, line: javaNamesrv}).createTopic("TopicNew"); err != nil {
			return err
		}
		for _, c := range w.clients {
			if err := c.say("send TopicNew 5 new", "sent 5"); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range w.clients {
		s.check("swap: "+c.name+" has lost nothing", func() error {
			answer, err := c.tell("rest")
			if err != nil {
				return err
			}
			var sent, failed int
			if _, err := fmt.Sscanf(answer, "sent %d failed %d", &sent, &failed); err != nil {
				return err
			}
			if sent == 0 || failed > 0 {
				return errors.New(answer)
			}
			return c.say(fmt.Sprintf("received %d steady 60", sent), fmt.Sprintf("received %d", sent))
		})
	}
	s.check("swap: the KV entry is still there", func() error {
		h, _, err := ask(w.addr, 101, 513, map[string]string{"namespace": "Kept", "key": "k"})
		if err == nil && (h.Code != 0 || h.ExtFields["value"] != "v") {
			err = fmt.Errorf("code %d, %v", h.Code, h.ExtFields)
		}
		return err
	})
	s.check("swap: mqadmin getNamesrvConfig shows the same properties", func() error {
		after, err := (&admin{w: w, line: javaNamesrv}).run(nil, "getNamesrvConfig\t-n\t"+w.addr)
		if err != nil {
			return err
		}
		if len(before) != 2 {
			return errors.New("no output before the swap")
		}
		return sameText(before[1], after[0])
	})
}

// killAndRestart kills a broker: its routes go within two seconds. Started again, with these NameServers, they come back.
func (w *world) killAndRestart(line, namesrv string) {
	s := w.s
	topic := "Topic" + line[:1]
	s.check(w.name+": broker "+line+" is killed and its routes are gone within 2 s", func() error {
		w.brokers[line].kill()
		return within(2*time.Second, func() error {
			for _, t := range []string{topic, "TBW102"} {
				has, err := w.routeHas(t, line)
				if err == nil && has {
					err = fmt.Errorf("it is still in the route of %s", t)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	s.check(w.name+": broker "+line+" comes back with its topics", func() error {
		if err := w.startBroker(line, namesrv); err != nil {
			return err
		}
		return within(60*time.Second, func() error { return w.hasRoute(topic) })
	})
	for _, c := range w.clients {
		s.check(w.name+": "+c.name+" goes on after that", func() error { return c.roundTrip("after-" + line) })
	}
}

// compareAnswers asks two NameServers with the same brokers the same questions.
func (w *world) compareAnswers(other *world) {
	type question struct {
		name      string
		code, ver int
		ext       map[string]string
	}
	questions := []question{
		{"clusters", 106, 513, nil},
		{"all topics", 206, 513, nil},
		{"topics of the cluster", 224, 513, map[string]string{"cluster": cluster}},
		{"topics of no cluster", 224, 513, map[string]string{"cluster": "none"}},
		{"route of an unknown topic", 105, 513, map[string]string{"topic": "none"}},
		{"members of an unknown group", 901, 513, map[string]string{"clusterName": cluster, "brokerName": "none"}},
		{"system topics", 304, 513, nil},
		{"unit topics", 311, 513, nil},
	}
	for _, line := range lines {
		questions = append(questions, question{"members of " + brokerName(line), 901, 513, map[string]string{"clusterName": cluster, "brokerName": brokerName(line)}})
	}
	w.s.check("side by side: same topics", func() error {
		_, body, err := ask(w.addr, 206, 513, nil)
		if err != nil {
			return err
		}
		for _, t := range strings.FieldsFunc(body, func(r rune) bool { return strings.ContainsRune(`{}[]",:`, r) }) {
			questions = append(questions, question{"route of " + t, 105, 513, map[string]string{"topic": t}},
				question{"route for an old client of " + t, 105, 200, map[string]string{"topic": t}},
				question{"route in standard JSON of " + t, 105, 200, map[string]string{"topic": t, "acceptStandardJsonOnly": "true"}})
		}
		if len(questions) < 40 {
			return fmt.Errorf("only %d questions; topics: %s", len(questions), body)
		}
		return nil
	})
	for _, code := range []int{105, 106, 206, 224, 304, 311, 901} {
		n := 0
		for _, q := range questions {
			if q.code == code {
				n++
			}
		}
		w.s.check(fmt.Sprintf("side by side: same answers to %d questions of code %d", n, code), func() error {
			for _, q := range questions {
				if q.code != code {
					continue
				}
				// A registration may be under way: what differs for long differs.
				if err := within(15*time.Second, func() error { return sameAnswer(w.addr, other.addr, q.code, q.ver, q.ext) }); err != nil {
					return fmt.Errorf("%s: %w", q.name, err)
				}
			}
			return nil
		})
	}
}

// sameAnswer compares headers and bodies: bodies by value and in length, since only the order may differ.
func sameAnswer(mq, java string, code, version int, ext map[string]string) error {
	h1, b1, err1 := ask(mq, code, version, ext)
	h2, b2, err2 := ask(java, code, version, ext)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	h1.Language, h2.Language = "", ""
	if code == 901 {
		h2.Remark = "" // Java leaves "not set any response code" in a successful answer
	}
	if fmt.Sprint(h1) != fmt.Sprint(h2) {
		return fmt.Errorf("mq %v, Java %v", h1, h2)
	}
	if code == 304 { // the address of any broker
		b1, b2 = anyAddr(b1), anyAddr(b2)
	}
	v1, err1 := byValue(b1)
	v2, err2 := byValue(b2)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if v1 != v2 || len(b1) != len(b2) {
		return fmt.Errorf("bodies differ\nmq   %s\nJava %s", b1, b2)
	}
	return nil
}
