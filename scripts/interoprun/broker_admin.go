package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// statusScript are commands that show numbers of messages: they come before clients do.
var statusScript = [][]string{
	{"brokerStatus", "-n", "ALL", "-b", "BROKER"},
	{"brokerStatus", "-n", "ALL", "-c", "CLUSTER"},
}

// brokerScript are the commands that must print the same with either broker. ALL stands for the NameServers, CLUSTER, BROKER
// and DIR for what they say, MADE and GROUP for names of each line, PRODUCER, CONSUMER and TOPIC for those of a client of that line.
var brokerScript = [][]string{
	{"updateTopic", "-n", "ALL", "-b", "BROKER", "-t", "MADE", "-r", "3", "-w", "2", "-p", "4"},
	{"updateTopic", "-n", "ALL", "-b", "BROKER", "-t", "MADEordered", "-r", "4", "-w", "4", "-o", "true"},
	{"updateTopic", "-n", "ALL", "-b", "BROKER", "-t", "MADEunit", "-u", "true", "-s", "true"},
	{"updateTopic", "-n", "ALL", "-c", "CLUSTER", "-t", "MADE", "-r", "6", "-w", "5"},
	{"updateTopic", "-n", "ALL", "-b", "BROKER", "-t", "SELF_TEST_TOPIC"},
	{"updateTopic", "-n", "ALL", "-b", "BROKER", "-t", "no.such.name"},
	{"clusterList", "-n", "ALL"},
	{"topicList", "-n", "ALL"},
	{"topicList", "-n", "ALL", "-c"},
	{"topicRoute", "-n", "ALL", "-t", "MADE"},
	{"topicRoute", "-n", "ALL", "-t", "MADEordered"},
	{"topicRoute", "-n", "ALL", "-t", "MADEunit"},
	{"topicClusterList", "-n", "ALL", "-t", "MADE"},
	{"allocateMQ", "-n", "ALL", "-t", "MADE", "-i", "10.0.0.1,10.0.0.2,10.0.0.3"},
	{"updateSubGroup", "-n", "ALL", "-b", "BROKER", "-g", "GROUP", "-r", "5", "-q", "2"},
	{"updateSubGroup", "-n", "ALL", "-c", "CLUSTER", "-g", "GROUP", "-s", "false", "-m", "true", "-i", "3", "-w", "2"},
	{"getBrokerConfig", "-n", "ALL", "-b", "BROKER"},
	{"getBrokerConfig", "-n", "ALL", "-c", "CLUSTER"},
	{"updateBrokerConfig", "-n", "ALL", "-b", "BROKER", "-k", "brokerPermission", "-v", "4"},
	{"topicRoute", "-n", "ALL", "-t", "MADE"},
	{"updateBrokerConfig", "-n", "ALL", "-c", "CLUSTER", "-k", "brokerPermission", "-v", "6"},
	{"topicRoute", "-n", "ALL", "-t", "MADE"},
	{"updateBrokerConfig", "-n", "ALL", "-b", "BROKER", "-k", "flushConsumerOffsetInterval", "-v", "LINE001"},
	{"updateBrokerConfig", "-n", "ALL", "-b", "BROKER", "-k", "brokerConfigPath", "-v", "/tmp/elsewhere"},
	{"getBrokerConfig", "-n", "ALL", "-b", "BROKER"},
	{"producerConnection", "-n", "ALL", "-g", "PRODUCER", "-t", "TOPIC"},
	{"consumerConnection", "-n", "ALL", "-g", "CONSUMER"},
	{"producerConnection", "-n", "ALL", "-g", "GroupTopicGo-producer", "-t", "TopicGo"},
	{"consumerConnection", "-n", "ALL", "-g", "GroupTopicGo"},
	{"producerConnection", "-n", "ALL", "-g", "nobody", "-t", "TOPIC"},
	{"consumerConnection", "-n", "ALL", "-g", "nobody"},
	{"deleteSubGroup", "-n", "ALL", "-b", "BROKER", "-g", "GROUP"},
	{"deleteSubGroup", "-n", "ALL", "-c", "CLUSTER", "-g", "GROUP"},
	{"deleteTopic", "-n", "ALL", "-c", "CLUSTER", "-t", "MADE"},
	{"topicRoute", "-n", "ALL", "-t", "MADE"},
	{"topicList", "-n", "ALL"},
}

// brokerScriptOf is brokerScript for a line: 4.9 has no attributes.
func brokerScriptOf(line string) [][]string {
	if line[0] == '4' {
		return brokerScript
	}
	return slices.Concat([][]string{
		{"updateTopic", "-n", "ALL", "-b", "BROKER", "-t", "MADEfifo", "-a", "+message.type=FIFO"},
		{"updateTopic", "-n", "ALL", "-b", "BROKER", "-t", "MADEfifo", "-a", "+no.such.attribute=1"},
	}, brokerScript)
}

// readScript are the commands that each NameServer is asked with in turn: NS stands for it.
var readScript = [][]string{
	{"clusterList", "-n", "NS"},
	{"topicList", "-n", "NS"},
	{"topicList", "-n", "NS", "-c"},
	{"topicRoute", "-n", "NS", "-t", "Topic4"},
	{"topicRoute", "-n", "NS", "-t", "TopicGo"},
	{"topicClusterList", "-n", "NS", "-t", "Topic5"},
}

// stage is a broker with its NameServers and clients, to run the scripts on.
type stage struct {
	name     string
	s        *suite
	namesrvs []*world
	broker   *seat
	admins   map[string]*process // by line
	clients  map[string]*testClient
}

// brokerAmongNamesrvs compares mq's broker, which is registered with three NameServers at once, with Java's.
func (s *suite) brokerAmongNamesrvs() {
	defer s.endAll()
	java := &stage{name: "java broker", s: s, broker: s.newSeat("java-broker")}
	reference := s.newWorld("java-broker-namesrv")
	java.namesrvs = []*world{reference}
	if !s.check("java broker: the NameServer starts", reference.startJava) ||
		!s.check("java broker: it starts", func() error { return java.broker.startJava(javaBroker, reference.addr) }) {
		return
	}
	theirs := java.play()
	java.broker.kill()
	reference.server.kill()

	ours := &stage{name: "mq broker", s: s, broker: s.newSeat("mq-broker")}
	ours.namesrvs = s.threeNamesrvs("mq broker")
	if !s.check("mq broker: it starts", func() error { return ours.broker.start(addrsOf(ours.namesrvs)) }) {
		return
	}
	mine := ours.play()
	for _, line := range lines {
		for i, command := range slices.Concat(statusScript, brokerScriptOf(line)) {
			s.check(fmt.Sprintf("mqadmin %s %s: same output as with the Java broker", line, strings.Join(command, " ")), func() error {
				if i >= len(theirs.script[line]) || i >= len(mine.script[line]) {
					return errors.New("no output")
				}
				return sameBrokerText(theirs.script[line][i], mine.script[line][i])
			})
		}
		for i, command := range readScript {
			for _, w := range ours.namesrvs {
				s.check(fmt.Sprintf("mqadmin %s %s: %s shows the broker as the Java broker is shown", line, strings.Join(command, " "), w.name), func() error {
					return sameBrokerText(theirs.reads[line+reference.addr][i], mine.reads[line+w.addr][i])
				})
			}
		}
	}
	ours.codesOfTheStore()
	ours.clientsLeave()
	ours.namesrvsComeBack()
}

// outputs of mqadmin: of the script by line, of the reads by line and NameServer.
type outputs struct{ script, reads map[string][]string }

// play lets clients connect and runs the scripts.
func (g *stage) play() outputs {
	s, out := g.s, outputs{map[string][]string{}, map[string][]string{}}
	g.admins, g.clients = map[string]*process{}, map[string]*testClient{}
	s.check(g.name+": all NameServers know it", func() error { return g.known("TBW102", 15*time.Second) })
	for _, line := range lines {
		w := &world{s: s, name: filepath.Base(g.broker.dir), dir: g.broker.dir}
		s.check(g.name+": mqadmin "+line+" creates a topic, known to all within 2 s", func() (err error) {
			if g.admins[line], err = (&admin{w: w, line: line}).open(); err != nil {
				return err
			}
			if _, err := g.admins[line].command(tabbed("updateTopic", "-n", addrsOf(g.namesrvs), "-b", g.broker.addr, "-t", "Topic"+line[:1])); err != nil {
				return err
			}
			return g.known("Topic"+line[:1], 2*time.Second)
		})
	}
	s.check(g.name+": the Go client's admin creates a topic, known to all within 2 s", func() error {
		p, err := s.start(filepath.Base(g.broker.dir)+" goadmin", true, nil, s.goclient)
		if err != nil {
			return err
		}
		defer p.stop(time.Second)
		return firstError(
			func() error { return p.say("admin "+g.namesrvs[0].addr, "ready") },
			func() error { return p.say("create TopicGo "+g.broker.addr, "created") },
			func() error { return g.known("TopicGo", 2*time.Second) },
		)
	})
	for _, line := range lines {
		s.check(g.name+": mqadmin "+line+" asks for the status", func() (err error) {
			out.script[line], err = g.runScript(line, statusScript)
			return err
		})
	}
	g.connectClients()
	for _, line := range lines {
		s.check(g.name+": mqadmin "+line+" runs all commands", func() error {
			texts, err := g.runScript(line, brokerScriptOf(line))
			out.script[line] = append(out.script[line], texts...)
			return err
		})
		s.check(g.name+": a topic that it has deleted is known to no NameServer", func() error {
			for _, w := range g.namesrvs {
				h, _, err := ask(w.addr, 105, 513, map[string]string{"topic": "Made" + line[:1]})
				if err == nil && h.Code != 17 {
					err = fmt.Errorf("%s answers %d %s", w.name, h.Code, h.Remark)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, line := range lines {
		for _, w := range g.namesrvs {
			out.reads[line+w.addr] = make([]string, len(readScript))
			s.check(fmt.Sprintf("%s: mqadmin %s asks %s", g.name, line, w.name), func() error {
				for i, command := range readScript {
					text, err := g.admins[line].command(strings.ReplaceAll(tabbed(command...), "\tNS", "\t"+w.addr))
					if err != nil {
						return err
					}
					out.reads[line+w.addr][i] = g.mask(text)
				}
				return nil
			})
		}
	}
	return out
}

func tabbed(words ...string) string { return strings.Join(words, "\t") }

// known wants a topic at the broker in every NameServer within d, at any time: they are asked at once.
func (g *stage) known(topic string, d time.Duration) error {
	return within(d, func() error {
		for _, w := range g.namesrvs {
			if err := knows(w.addr, topic, g.broker); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
		return nil
	})
}

// connectClients starts a client of each line and the Go client, each with a topic of its own. With mq they cannot read
// or write before there is a store, but that does not keep them from being there.
func (g *stage) connectClients() {
	w := &world{s: g.s, name: filepath.Base(g.broker.dir), dir: g.broker.dir, addr: g.namesrvs[0].addr}
	for _, line := range lines {
		g.s.check(g.name+": Java client "+line+" connects", func() error {
			p, err := w.java("client-"+line[:1], line, true, "Client")
			return w.addClient("Java client "+line, "Topic"+line[:1], p, err)
		})
	}
	g.s.check(g.name+": Go client connects", func() error {
		p, err := g.s.start(w.name+" goclient", true, nil, g.s.goclient)
		return w.addClient("Go client", "TopicGo", p, err)
	})
	for _, c := range w.clients {
		g.clients[c.topic] = c
		_, _ = c.tell("send " + c.topic + " 1 first") // producers of 5.5 are silent until they have a topic, however that ends
		g.s.check(g.name+": "+c.name+" is listed as producer and consumer", func() error {
			return within(40*time.Second, func() error { return g.online(c, true) })
		})
	}
}

// online wants a client listed or, where it has left, not.
func (g *stage) online(c *testClient, want bool) error {
	for _, q := range []struct {
		what, field, group string
		code               int
	}{{"producer", "producerGroup", "Group" + c.topic + "-producer", 204}, {"consumer", "consumerGroup", "Group" + c.topic, 203}} {
		h, body, err := ask(g.broker.addr, q.code, 513, map[string]string{q.field: q.group})
		if err != nil {
			return err
		}
		if listed := h.Code == 0 && strings.Contains(body, `"clientId"`); listed != want {
			return fmt.Errorf("%s %s: listed=%t, answer %d %s %s", q.what, q.group, listed, h.Code, h.Remark, body)
		}
	}
	return nil
}

// runScript runs commands. Where one changes what NameServers are told it waits until they know.
func (g *stage) runScript(line string, script [][]string) ([]string, error) {
	made := "Made" + line[:1]
	words := strings.NewReplacer("ALL", addrsOf(g.namesrvs), "CLUSTER", cluster, "BROKER", g.broker.addr, "MADE", made, "DIR", g.broker.dir,
		"GROUP", "Group-"+line[:1], "PRODUCER", "GroupTopic"+line[:1]+"-producer", "CONSUMER", "GroupTopic"+line[:1], "TOPIC", "Topic"+line[:1],
		"LINE", line[:1])
	var texts []string
	var all strings.Builder // for whoever looks into the kept directory
	for _, command := range script {
		replaced := []string{command[0]}
		for _, word := range command[1:] {
			if word == "SELF_TEST_TOPIC" {
				replaced = append(replaced, word)
			} else {
				replaced = append(replaced, words.Replace(word))
			}
		}
		begin := time.Now()
		out, err := g.admins[line].command(tabbed(replaced...))
		if err != nil {
			return texts, err
		}
		texts = append(texts, g.mask(out))
		fmt.Fprintf(&all, "$ %s   (%s)\n%s\n\n", strings.Join(replaced, " "), time.Since(begin).Round(time.Millisecond), strings.Join(out, "\n"))
		switch {
		case command[0] == "updateTopic" && command[6] == "MADE":
			err = g.route(made, `"readQueueNums":`+command[8])
		case slices.Contains(command, "brokerPermission"):
			err = g.route(made, `"perm":`+command[8])
		}
		if err != nil {
			return texts, fmt.Errorf("%s: %w; mqadmin said: %s", strings.Join(command, " "), err, texts[len(texts)-1])
		}
	}
	log, err := os.OpenFile(filepath.Join(g.broker.dir, "mqadmin-"+line+".txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = log.WriteString(all.String())
		err = errors.Join(err, log.Close())
	}
	return texts, err
}

// route wants a text in the route of a topic in all NameServers.
func (g *stage) route(topic, text string) error {
	return within(5*time.Second, func() error {
		for _, w := range g.namesrvs {
			_, body, err := ask(w.addr, 105, 513, map[string]string{"topic": topic})
			if err == nil && !strings.Contains(body, text) {
				err = fmt.Errorf("%s: no %s in %s", w.name, text, body)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

var (
	clientID   = regexp.MustCompile(`\S+@\d+\S*`)
	listenAddr = regexp.MustCompile(`127\.0\.0\.1:\d+`)

	// moving are the lines of brokerStatus whose values depend on the moment, and those of 4.9, which mq has besides.
	moving   = regexp.MustCompile(`\b(bootTimestamp|runtime|commitLogDirCapacity|getMessageEntireTimeMax|putMessageDistributeTime|timer\w+|\w+Tps|\w+DiskRatio\S*) :.*`)
	helpText = regexp.MustCompile(`^(See|For more information,) .*https?://`) // differs with the line of the NameServer that was asked
	of49     = regexp.MustCompile(`\b(brokerVersion|getTransferedTps) : `)
)

// mask is mask with what only outputs about brokers have.
func (g *stage) mask(out []string) string {
	names := map[string]string{g.broker.addr: "BROKER"}
	list := addrsOf(g.namesrvs)
	var text []string
	for _, s := range out {
		s = strings.ReplaceAll(strings.ReplaceAll(s, list, "NAMESERVERS"), g.broker.dir, "DIR")
		for _, w := range g.namesrvs {
			s = strings.ReplaceAll(s, w.addr, "NAMESERVER")
		}
		text = append(text, clientID.ReplaceAllString(s, "CLIENT"))
	}
	masked := listenAddr.ReplaceAllString(mask(text, names), "127.0.0.1:PORT")
	text = nil
	for s := range strings.Lines(masked) {
		s = moving.ReplaceAllString(strings.TrimSuffix(s, "\n"), "$1 : *")
		s = strings.ReplaceAll(s, "haListenPort = "+strconv.Itoa(g.broker.port+1), "haListenPort = PORT")
		if !of49.MatchString(s) && !helpText.MatchString(s) {
			text = append(text, s)
		}
	}
	slices.Sort(text)
	return strings.Join(text, "\n")
}

// sameBrokerText is sameText for outputs, which are never empty. Where mqadmin 4.9.7 fails with a Java broker of 5.5.0, which
// lacks a member that it reads, it shows mq's.
func sameBrokerText(java, mq string) error {
	if java == "" || mq == "" {
		return errors.New("no output")
	}
	if strings.Contains(java, `because "getTransferedTps" is null`) {
		if row := cluster + " " + seatName + " 0 ADDR-OF-BROKER V5_5_0"; !slices.Contains(strings.Split(mq, "\n"), row) {
			return fmt.Errorf("no %q in\n%s", row, mq)
		}
		return nil
	}
	return sameText(java, mq)
}

// storeCodes are requests that need a message store.
var storeCodes = []int{
	10, 310, 320, 36, 11, 361, 12, 33, 37, 29, 30, 31, 32, 45, 60, 61, 202, 208, 222, 303, 308, 315, 317, 321, 323, 324, 325, 400,
	401, 402, 200050, 200051, 200053, 200054, 200055, 200151,
}

// codesOfTheStore wants a clean answer to what needs the store that is to come.
func (g *stage) codesOfTheStore() {
	g.s.check(fmt.Sprintf("mq broker: %d codes that need a store are answered 3, on one connection", len(storeCodes)), func() error {
		c, err := dial(g.broker.addr)
		if err != nil {
			return err
		}
		defer c.close()
		ext := map[string]string{"topic": "Topic4", "queueId": "0", "consumerGroup": "GroupTopic4", "index": "0", "count": "1"}
		for _, code := range storeCodes {
			h, _, err := c.call(code, 513, ext, nil)
			if err != nil {
				return fmt.Errorf("code %d: %w", code, err)
			}
			if want := fmt.Sprintf(" request type %d not supported", code); h.Code != 3 || h.Remark != want {
				return fmt.Errorf("code %d is answered %d %q", code, h.Code, h.Remark)
			}
		}
		_, err = c.must(28, nil, nil)
		return err
	})
	for _, line := range lines {
		for _, command := range [][]string{
			{"queryCq", "-n", "ALL", "-t", "Topic4", "-q", "0", "-i", "0", "-b", g.broker.addr},
			{"topicStatus", "-n", "ALL", "-t", "Topic4"},
		} {
			g.s.check(fmt.Sprintf("mq broker: mqadmin %s %s says code 3", line, command[0]), func() error {
				out, err := g.admins[line].command(strings.ReplaceAll(tabbed(command...), "ALL", addrsOf(g.namesrvs)))
				if err == nil && !strings.Contains(strings.Join(out, "\n"), "CODE: 3 ") {
					err = errors.New(strings.Join(out, "\n"))
				}
				return err
			})
		}
	}
}

// clientsLeave looks at heartbeats, and lets one client go as it should, one by losing its connection.
func (g *stage) clientsLeave() {
	seen := map[string]int64{}
	lastHeartbeats := func() (map[string]int64, error) {
		_, body, err := ask(g.broker.addr, 328, 513, nil)
		if err != nil {
			return nil, err
		}
		var table struct {
			Data map[string][]struct{ LastUpdateTimestamp int64 }
		}
		if err := json.Unmarshal([]byte(body), &table); err != nil {
			return nil, err
		}
		last := map[string]int64{}
		for topic := range g.clients {
			for _, c := range table.Data["Group"+topic+"-producer"] {
				last[topic] = max(last[topic], c.LastUpdateTimestamp)
			}
		}
		return last, nil
	}
	g.s.check("mq broker: all clients keep sending heartbeats", func() error {
		var err error
		if seen, err = lastHeartbeats(); err != nil {
			return err
		}
		if len(seen) != 3 {
			return fmt.Errorf("heartbeats of %v", seen)
		}
		return within(40*time.Second, func() error {
			last, err := lastHeartbeats()
			for topic, at := range seen {
				if err == nil && last[topic] <= at {
					err = fmt.Errorf("none of %s since %s", topic, time.UnixMilli(at).Format(time.TimeOnly))
				}
			}
			return err
		})
	})
	for _, leave := range []struct {
		how, topic string
		end        func(*process)
	}{
		{"shuts down", "Topic4", func(p *process) { p.stdin.Close(); <-p.exited }},
		{"shuts down", "TopicGo", func(p *process) { p.stdin.Close(); <-p.exited }},
		{"is killed", "Topic5", (*process).kill},
	} {
		if c := g.clients[leave.topic]; c != nil {
			g.s.check("mq broker: "+c.name+" "+leave.how+" and is gone within 1 s", func() error {
				leave.end(c.process)
				return within(time.Second, func() error { return g.online(c, false) })
			})
		}
	}
}

// namesrvsComeBack kills each NameServer. Back on its port it knows all topics within one period of registration, and the
// others have not lost one meanwhile.
func (g *stage) namesrvsComeBack() {
	before, err := topicsOf(g.namesrvs[0].addr)
	g.s.check("mq broker: the first NameServer lists topics", func() error { return err })
	for i, w := range g.namesrvs {
		var took time.Duration
		ok := g.s.check("mq broker: "+w.name+" is killed, comes back and knows all topics within 30 s", func() error {
			w.server.kill()
			other := g.namesrvs[(i+1)%len(g.namesrvs)]
			if err := knows(other.addr, "TopicGo", g.broker); err != nil {
				return err
			}
			start := w.startMQ
			if i < len(lines) {
				start = func() error { return w.startNamesrv(lines[i]) }
			}
			if err := start(); err != nil {
				return err
			}
			begin := time.Now()
			defer func() { took = time.Since(begin) }()
			return within(30*time.Second, func() error {
				after, err := topicsOf(w.addr)
				if err == nil && !slices.Equal(before, after) {
					err = fmt.Errorf("%d topics of %d", len(after), len(before))
				}
				return errors.Join(err, knows(w.addr, "TopicGo", g.broker))
			})
		})
		if ok {
			g.s.note("filled %s after it served again", took.Round(10*time.Millisecond))
		}
	}
	var took time.Duration
	if g.s.check("mq broker: SIGTERM ends it within 3 s, and no NameServer has it", func() error {
		begin := time.Now()
		g.broker.terminate()
		select {
		case <-g.broker.exited:
		case <-time.After(3 * time.Second):
			return errors.New("it still runs")
		}
		took = time.Since(begin)
		for _, w := range g.namesrvs {
			if err := within(time.Second, w.isEmpty); err != nil {
				return err
			}
		}
		return nil
	}) {
		g.s.note("it took %s", took.Round(time.Millisecond))
	}
}
