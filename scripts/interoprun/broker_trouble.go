package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// brokerKilled kills the broker in the middle of changes, over and over: what was answered with success is there afterwards.
func (s *suite) brokerKilled() {
	defer s.endAll()
	const rounds = 10
	namesrv := s.newWorld("killed-namesrv")
	b := s.newSeat("killed")
	if !s.check("killed: mq namesrv starts", namesrv.startMQ) || !s.check("killed: mq broker starts", func() error { return b.start(namesrv.addr) }) {
		return
	}
	topics, groups := map[string]int{}, map[string]int{} // acknowledged: queues, retries
	ok := s.check(fmt.Sprintf("killed: topics and groups survive %d kills of the broker", rounds), func() error {
		for round := range rounds {
			b.createUntilKilled(round, topics, groups)
			text, err := os.ReadFile(filepath.Join(b.dir, "store", "config", "topics.json"))
			if err != nil || !json.Valid(quoteKeys(text)) {
				return fmt.Errorf("round %d: topics.json of %d bytes is not whole: %w", round, len(text), err)
			}
			if err := b.start(namesrv.addr); err != nil {
				return err
			}
			if err := b.hasAll(topics, groups); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		return nil
	})
	if ok {
		s.note("%d topics and %d groups were acknowledged", len(topics), len(groups))
	}
	s.check("killed: the NameServer knows all topics, too", func() error {
		return within(5*time.Second, func() error {
			list, err := topicsOf(namesrv.addr)
			if err != nil {
				return err
			}
			known := map[string]string{}
			for _, t := range list {
				known[t] = t
			}
			want := map[string]string{}
			for t := range topics {
				want[t] = t
			}
			return lacking(known, want)
		})
	})
}

// createUntilKilled lets four tools create topics and groups, kills the broker at some moment, and adds what was acknowledged.
func (b *seat) createUntilKilled(round int, topics, groups map[string]int) {
	var tools sync.WaitGroup
	var mu sync.Mutex
	for tool := range 4 {
		tools.Go(func() {
			c, err := dial(b.addr)
			if err != nil {
				return // it has been killed already
			}
			defer c.close()
			for i := 0; ; i++ {
				name, n := fmt.Sprintf("Round%d-%d-%d", round, tool, i), 1+rand.IntN(16)
				if _, err := c.must(17, newTopic(name, n), nil); err != nil {
					return
				}
				mu.Lock()
				topics[name] = n
				mu.Unlock()
				if _, err := c.must(200, nil, newGroup("Group"+name, n)); err != nil {
					return
				}
				mu.Lock()
				groups["Group"+name] = n
				mu.Unlock()
			}
		})
	}
	time.Sleep(100*time.Millisecond + rand.N(300*time.Millisecond))
	b.kill()
	tools.Wait()
}

// hasAll wants these topics and groups in the broker.
func (b *seat) hasAll(topics, groups map[string]int) error {
	haveTopics, haveGroups, err := b.kept()
	if err != nil {
		return err
	}
	for name, n := range topics {
		if want := fmt.Sprintf(`"readQueueNums":%d`, n); !strings.Contains(haveTopics["topicConfigTable "+name], want) {
			return fmt.Errorf("topic %s: %q, want %s", name, haveTopics["topicConfigTable "+name], want)
		}
	}
	for name, n := range groups {
		if want := fmt.Sprintf(`"retryMaxTimes":%d`, n); !strings.Contains(haveGroups["subscriptionGroupTable "+name], want) {
			return fmt.Errorf("group %s: %q, want %s", name, haveGroups["subscriptionGroupTable "+name], want)
		}
	}
	return nil
}

// brokerAndSilence has one healthy NameServer, one that accepts and never answers, and one that refuses connections.
func (s *suite) brokerAndSilence() {
	defer s.endAll()
	const watched = 65 * time.Second
	namesrv := s.newWorld("silence-namesrv")
	if !s.check("silence: mq namesrv starts", namesrv.startMQ) {
		return
	}
	blackhole, end := silent()
	defer end()
	others := fmt.Sprintf("%s;127.0.0.1:%d", blackhole, freePorts(1))

	// Two brokers: one that registers only, as by default, and one that sends heartbeats besides.
	type subject struct {
		*seat
		relay   *relay
		longest time.Duration // between signs of life
	}
	plain := subject{seat: s.newSeat("silence-plain"), relay: newRelay(namesrv.addr), longest: 31 * time.Second}
	beating := subject{seat: s.newSeat("silence-heartbeats", "brokerName=broker-b", "enableSlaveActingMaster=true"), relay: newRelay(namesrv.addr), longest: 3 * time.Second}
	begin := time.Now()
	for _, b := range []subject{plain, beating} {
		var took time.Duration
		if s.check(filepath.Base(b.dir)+": registered within 1 s of its start with the healthy of three NameServers", func() error {
			started := time.Now()
			if err := b.start(others + ";" + b.relay.addr); err != nil {
				return err
			}
			if err := within(3*time.Second, func() error { return knows(namesrv.addr, "TBW102", b.seat) }); err != nil {
				return err
			}
			if err := within(time.Second, func() error {
				if b.relay.succeeded(103) == 0 {
					return errors.New("the relay has seen no registration")
				}
				return nil
			}); err != nil {
				return err
			}
			took = b.relay.answered(begin, 103)[0].answered.Sub(started)
			if took > time.Second {
				return fmt.Errorf("it took %s", took)
			}
			return nil
		}) {
			s.note("%s after the start of the process", took.Round(time.Millisecond))
		} else {
			return
		}
	}

	var slowTopic, slowKnown, slowHeartbeat time.Duration
	if s.check("silence: topics and consumers' first heartbeats are answered at once meanwhile", func() error {
		c, err := dial(plain.addr)
		if err != nil {
			return err
		}
		defer c.close()
		// Not in the second half: changes are signs of life, too, and would hide late registrations.
		for i := 0; time.Since(begin) < watched/3; i++ {
			name := fmt.Sprintf("Meanwhile%d", i)
			asked := time.Now()
			if _, err := c.must(17, newTopic(name, 4), nil); err != nil {
				return err
			}
			slowTopic = max(slowTopic, time.Since(asked))
			if err := within(2*time.Second, func() error { return knows(namesrv.addr, name, plain.seat) }); err != nil {
				return err
			}
			slowKnown = max(slowKnown, time.Since(asked))
			took, err := plain.firstHeartbeat(name)
			if err != nil {
				return err
			}
			slowHeartbeat = max(slowHeartbeat, took)
			time.Sleep(250 * time.Millisecond)
		}
		if slowTopic > time.Second || slowHeartbeat > time.Second {
			return fmt.Errorf("the slowest topic took %s, the slowest heartbeat %s", slowTopic, slowHeartbeat)
		}
		return nil
	}) {
		s.note("at most: topic %s, known to the NameServer %s, heartbeat %s", slowTopic.Round(time.Millisecond), slowKnown.Round(time.Millisecond), slowHeartbeat.Round(time.Millisecond))
	}
	time.Sleep(time.Until(begin.Add(watched)))
	for _, b := range []subject{plain, beating} {
		var gap time.Duration
		var after time.Duration // where it begins
		if s.check(fmt.Sprintf("%s: signs of life on time for %s", filepath.Base(b.dir), watched), func() error {
			last := begin
			for _, at := range b.relay.signs() {
				if at.Sub(last) > gap {
					gap, after = at.Sub(last), last.Sub(begin)
				}
				last = at
			}
			gap = max(gap, time.Since(last))
			if gap > b.longest || b.relay.failed() > 0 {
				return fmt.Errorf("%s without, %d failed", gap, b.relay.failed())
			}
			return knows(namesrv.addr, "TBW102", b.seat)
		}) {
			s.note("%d registrations, %d signs of life, at most %s between two, %s after the start",
				b.relay.succeeded(103), len(b.relay.signs()), gap.Round(10*time.Millisecond), after.Round(10*time.Millisecond))
		}
	}
	for _, b := range []subject{plain, beating} {
		var took time.Duration
		if s.check(filepath.Base(b.dir)+": SIGTERM ends it within 1 s, and the healthy NameServer no longer has it", func() error {
			asked := time.Now()
			b.terminate()
			select {
			case <-b.exited:
			case <-time.After(time.Second):
				return errors.New("it still runs")
			}
			took = time.Since(asked)
			n := 0
			for end := time.Now().Add(5 * time.Second); n == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
				n = b.relay.succeeded(104) // it may be noted after it was passed on
			}
			if n != 1 {
				return fmt.Errorf("it has unregistered %d times", n)
			}
			if knows(namesrv.addr, "TBW102", b.seat) == nil {
				return errors.New("the NameServer still has it")
			}
			return nil
		}) {
			s.note("it took %s", took.Round(time.Millisecond))
		}
	}
}

// firstHeartbeat brings a new consumer of a new group online and returns how long the answer took.
func (b *seat) firstHeartbeat(topic string) (time.Duration, error) {
	c, err := dial(b.addr)
	if err != nil {
		return 0, err
	}
	defer c.close()
	asked := time.Now()
	_, err = c.must(34, nil, fmt.Appendf(nil, `{"clientID":"127.0.0.1@%s","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET",`+
		`"consumeType":"CONSUME_PASSIVELY","groupName":"Group%s","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,`+
		`"codeSet":[],"expressionType":"TAG","subString":"*","subVersion":1,"tagsSet":[],"topic":%q}],"unitMode":false}],"producerDataSet":[]}`,
		topic, topic, topic))
	return time.Since(asked), err
}

// signs are the times of what keeps a broker alive at the NameServer: answered registrations and questions, and heartbeats.
func (r *relay) signs() []time.Time {
	var at []time.Time
	for _, c := range r.answered(time.Time{}, 103, 322, 904) {
		if c.result == 0 {
			at = append(at, c.answered)
		}
	}
	return at
}

// brokerTakesOver gives the folders of Java brokers to mq's and takes them back.
func (s *suite) brokerTakesOver() {
	for _, line := range lines {
		s.takesOver(line)
	}
}

func (s *suite) takesOver(line string) {
	defer s.endAll()
	name := "takes over " + line
	namesrv := s.newWorld("takes-over-namesrv-" + line[:1])
	b := s.newSeat("takes-over-" + line[:1])
	if !s.check(name+": mq namesrv starts", namesrv.startMQ) ||
		!s.check(name+": the Java broker starts", func() error { return b.startJava(line, namesrv.addr) }) {
		return
	}
	var topics, groups map[string]string
	s.check(name+": topics and groups are created", func() (err error) {
		if err := b.createAll("Java", line); err != nil {
			return err
		}
		topics, groups, err = b.kept()
		return err
	})
	b.stop(3 * time.Second) // both lines have written their files with each change

	if !s.check(name+": mq broker starts on its folder and configuration file", func() error { return b.start(namesrv.addr) }) {
		return
	}
	s.check(name+": mq broker has the same topics and groups", func() error {
		t, g, err := b.kept()
		if line[0] == '4' { // system topics and groups of 5.5 join them, with a new version
			withoutNew(t)
			withoutNew(g)
			delete(topics, "dataVersion")
			delete(groups, "dataVersion")
		}
		return errors.Join(err, lacking(t, topics), lacking(g, groups))
	})
	s.check(name+": the NameServer has all of them again", func() error {
		return within(5*time.Second, func() error { return knows(namesrv.addr, "JavaPlain", b) })
	})
	s.check(name+": mq broker creates and changes topics and groups", func() (err error) {
		if err := errors.Join(b.createAll("Mq", javaBroker), b.createAll("Java", javaBroker)); err != nil {
			return err
		}
		topics, groups, err = b.kept()
		return err
	})
	b.stop(3 * time.Second)
	if !s.check(name+": the Java broker "+javaBroker+" starts on the folder", func() error { return b.startJava(javaBroker, namesrv.addr) }) {
		return
	}
	s.check(name+": the Java broker has the topics and groups of mq's", func() error {
		t, g, err := b.kept()
		return errors.Join(err, lacking(t, topics), lacking(g, groups), lacking(topics, t), lacking(groups, g))
	})
	b.kill() // a clean end takes Java half a minute
}

// createAll creates topics and groups of several kinds.
func (b *seat) createAll(prefix, line string) error {
	c, err := dial(b.addr)
	if err != nil {
		return err
	}
	defer c.close()
	topic := func(suffix string, n int, changes map[string]string) {
		ext := newTopic(prefix+suffix, n)
		maps.Copy(ext, changes)
		if err == nil {
			_, err = c.must(17, ext, nil)
		}
	}
	topic("Plain", 4, nil)
	topic("Wide", 16, map[string]string{"writeQueueNums": "12"})
	topic("ReadOnly", 4, map[string]string{"perm": "4"})
	topic("Ordered", 3, map[string]string{"order": "true"})
	topic("Unit", 2, map[string]string{"topicSysFlag": "3"})
	for i := range 200 {
		topic(fmt.Sprintf("Many%d", i), 1+i%16, nil)
	}
	group := func(body []byte) {
		if err == nil {
			_, err = c.must(200, nil, body)
		}
	}
	group(newGroup(prefix+"Group", 16))
	group(fmt.Appendf(nil, `{"brokerId":1,"consumeBroadcastEnable":false,"consumeEnable":false,"consumeFromMinEnable":false,"groupName":"%sOdd",`+
		`"notifyConsumerIdsChangedEnable":false,"retryMaxTimes":3,"retryQueueNums":2,"whichBrokerWhenConsumeSlowly":2}`, prefix))
	if line[0] != '4' {
		topic("Fifo", 2, map[string]string{"attributes": "+message.type=FIFO"})
		group(fmt.Appendf(nil, `{"attributes":{"+priority.factor":"50"},"consumeMessageOrderly":true,"consumeTimeoutMinute":7,"groupName":"%sNew",`+
			`"groupRetryPolicy":{"exponentialRetryPolicy":{"initial":3000,"max":60000,"multiplier":3},"type":"EXPONENTIAL"},"groupSysFlag":1}`, prefix))
		if err == nil {
			_, err = c.must(353, map[string]string{"group": prefix + "Group", "topic": prefix + "Plain", "readable": "false"}, nil)
		}
	}
	return err
}

// newMembers are what 5.5.0 has added to topics and groups, with the values that say nothing.
var newMembers = strings.NewReplacer(`"attributes":{},`, "", `"consumeMessageOrderly":false,`, "", `"consumeTimeoutMinute":15,`, "",
	`"groupRetryPolicy":{"type":"CUSTOMIZED"},`, "", `"groupSysFlag":0,`, "", `"stateVersion":0,`, "")

// withoutNew makes entries what 4.9 would write.
func withoutNew(table map[string]string) {
	for name, entry := range table {
		table[name] = newMembers.Replace(entry)
	}
}
