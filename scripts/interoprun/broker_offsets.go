package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Checks of consumer offsets: clients and tools commit and read them at mq's broker, Java's brokers take its file and give
// theirs, kills cost nothing that is on disk, and Java's slaves copy them.

// brokerOffsets runs all of them at a time, since most of it is waiting: of the 5.5.0 slave alone for a minute.
func (s *suite) brokerOffsets() {
	defer s.endAll()
	var all []func()
	part := func(name string, run func(*seat), settings ...string) *seat { // ports are found one after the other
		namesrv := s.newWorld(name + "-namesrv")
		b := s.newSeat(name, settings...)
		b.namesrv = namesrv
		all = append(all, func() {
			if s.check(name+": mq namesrv starts", namesrv.startMQ) {
				run(b)
			}
		})
		return b
	}
	slaves := []*seat{s.newSeat("offsets-slave-4", "brokerRole=SLAVE", "brokerId=1"), s.newSeat("offsets-slave-5", "brokerRole=SLAVE", "brokerId=2")}
	part("offsets-master", func(b *seat) { b.hasSlaves(slaves) }, "bindAddress=127.0.0.2")
	acting := s.newSeat("offsets-acting-slave", "brokerRole=SLAVE", "brokerId=1", "enableSlaveActingMaster=true")
	part("offsets-acting", func(b *seat) { b.isActedFor(acting) }, "enableSlaveActingMaster=true").namesrv.set("supportActingMaster=true")
	for _, line := range lines {
		for name, turns := range map[string][]string{"java": {line, "mq", line}, "mq": {"mq", line, "mq"}} {
			part("offsets-"+name+"-first-"+line[:1], func(b *seat) { b.passOffsets(turns) },
				"flushConsumerOffsetInterval=1000", "consumerOffsetUpdateVersionStep=2")
		}
	}
	java := s.newSeat("offsets-same-java")
	part("offsets-same", func(b *seat) { b.sameOffsets(java) })
	part("offsets-killed", (*seat).loseNoOffsets)
	part("offsets", (*seat).offsetsOfClients)

	var running sync.WaitGroup
	for _, run := range all {
		running.Go(run)
	}
	running.Wait()
}

// offsets are entries of the body of 43, as caller.table gives them: the offsets of a group in a topic, by queue.
func (c *caller) offsets() (map[string]string, error) { return c.table(43, "offsetTable") }

func offsetsKey(topic, group string) string { return "offsetTable " + topic + "@" + group }

// commit commits one offset (15).
func (c *caller) commit(group, topic string, queue int, offset int64) error {
	_, err := c.must(15, map[string]string{
		"consumerGroup": group, "topic": topic, "queueId": strconv.Itoa(queue), "commitOffset": strconv.FormatInt(offset, 10),
	}, nil)
	return err
}

// offset asks for one offset (14); -1: there is none.
func (c *caller) offset(group, topic string, queue int) (int64, error) {
	h, _, err := c.call(14, 513, map[string]string{"consumerGroup": group, "topic": topic, "queueId": strconv.Itoa(queue)}, nil)
	switch {
	case err != nil:
		return 0, err
	case h.Code == 22:
		return -1, nil
	case h.Code != 0:
		return 0, fmt.Errorf("code 14 is answered %d %s", h.Code, h.Remark)
	}
	return strconv.ParseInt(h.ExtFields["offset"], 10, 64)
}

// stands wants these offsets of a group, written as peers' programs write them.
func (c *caller) stands(group, topic, want string) error {
	var at []string
	for queue := range len(strings.Fields(want)) {
		offset, err := c.offset(group, topic, queue)
		if err != nil {
			return err
		}
		at = append(at, fmt.Sprintf("%d:%d", queue, offset))
	}
	if got := strings.Join(at, " "); got != want {
		return fmt.Errorf("%s in %s: %s, want %s", group, topic, got, want)
	}
	return nil
}

// create makes topics of four queues and groups.
func (c *caller) create(topics, groups []string) error {
	for _, t := range topics {
		if _, err := c.must(17, newTopic(t, 4), nil); err != nil {
			return err
		}
	}
	for _, g := range groups {
		if _, err := c.must(200, nil, newGroup(g, 16)); err != nil {
			return err
		}
	}
	return nil
}

// dialed runs f on a connection to the broker.
func (b *seat) dialed(f func(*caller) error) error {
	c, err := dial(b.addr)
	if err != nil {
		return err
	}
	defer c.close()
	return f(c)
}

// offsetsAre wants these offsets in the broker, and no others.
func (b *seat) offsetsAre(want map[string]string) error {
	return b.dialed(func(c *caller) error {
		have, err := c.offsets()
		if err != nil {
			return err
		}
		if err := lacking(have, want); err != nil {
			return err
		}
		return lacking(want, have)
	})
}

// passOffsets lets brokers work in one folder in turn: each has what the one before it had, by 43 and 14, and changes it.
func (b *seat) passOffsets(turns []string) {
	s, name := b.s, filepath.Base(b.dir)
	topics := []string{"Orders", "Odd%Topic-1_x", "Third|Topic"}
	groups := []string{"Group0", "Group1", "%Odd_Group-2"}
	var before map[string]string
	for i, broker := range turns {
		title := fmt.Sprintf("%s: %s", name, broker)
		if !s.check(title+" starts on the folder", func() error {
			if broker == "mq" {
				return b.start(b.namesrv.addr)
			}
			return b.startJava(broker, b.namesrv.addr)
		}) {
			return
		}
		isOld := broker[0] == '4' || i > 0 && turns[i-1][0] == '4' // 4.9 knows no data version of offsets
		if i > 0 && !s.check(title+" has the offsets of "+turns[i-1]+", by 43 and by 14", func() error {
			return b.hasPassed(before, isOld)
		}) {
			return
		}
		if !s.check(title+" takes commits", func() error {
			return b.dialed(func(c *caller) (err error) {
				if err := c.create(topics, groups); err != nil {
					return err
				}
				for g, group := range groups {
					for t, topic := range topics {
						for queue := i; queue < 4+i; queue++ { // queues of the one before, one of its own
							if err := c.commit(group, topic, queue, int64(1000*i+100*g+10*t+queue)); err != nil {
								return err
							}
						}
					}
				}
				if err := c.commit("Group0", "Orders", 9, math.MaxInt64-int64(i)); err != nil {
					return err
				}
				if broker[0] == '4' { // it takes offsets of anything
					if err := errors.Join(c.commit("Nobody", "Orders", 0, 77), c.commit("Group0", "Nowhere", 1, 78)); err != nil {
						return err
					}
				}
				before, err = c.offsets()
				return err
			})
		}) {
			return
		}
		if i == len(turns)-1 {
			b.kill()
			return
		}
		if broker == "mq" {
			b.stop(3 * time.Second) // writes the file
			continue
		}
		// A clean end takes Java half a minute.
		if !s.check(title+" writes its file", func() error { return within(40*time.Second, func() error { return b.fileHas(before) }) }) {
			return
		}
		b.kill()
	}
}

// hasPassed wants the offsets of the broker before, by 43 and 14.
func (b *seat) hasPassed(want map[string]string, isOld bool) error {
	return b.dialed(func(c *caller) error {
		have, err := c.offsets()
		if err != nil {
			return err
		}
		want := maps.Clone(want)
		if isOld {
			delete(have, "dataVersion")
			delete(want, "dataVersion")
		}
		if err := errors.Join(lacking(have, want), lacking(want, have)); err != nil {
			return err
		}
		asked := 0
		for key, text := range want {
			topicAtGroup, ok := strings.CutPrefix(key, "offsetTable ")
			if !ok {
				continue
			}
			topic, group, _ := strings.Cut(topicAtGroup, "@")
			var queues map[int]int64
			if err := json.Unmarshal([]byte(text), &queues); err != nil {
				return err
			}
			for queue, offset := range queues {
				got, err := c.offset(group, topic, queue)
				if err == nil && got != offset {
					err = fmt.Errorf("%s queue %d: %d, want %d", topicAtGroup, queue, got, offset)
				}
				if err != nil {
					return err
				}
				asked++
			}
		}
		if asked < 30 {
			return fmt.Errorf("only %d offsets", asked)
		}
		return nil
	})
}

// fileHas wants these offsets in consumerOffset.json.
func (b *seat) fileHas(want map[string]string) error {
	text, err := os.ReadFile(filepath.Join(b.dir, "store", "config", "consumerOffset.json"))
	if err != nil {
		return err
	}
	var file struct{ OffsetTable map[string]json.RawMessage }
	if err := json.Unmarshal(quoteKeys(text), &file); err != nil {
		return err
	}
	have := map[string]string{"dataVersion": want["dataVersion"]}
	for key, entry := range file.OffsetTable {
		if have["offsetTable "+key], err = byValue(string(entry)); err != nil {
			return err
		}
	}
	return lacking(have, want)
}

// sameOffsets sends the same random requests to mq's broker and a Java broker: they give the same answers and come to have the
// same offsets.
func (b *seat) sameOffsets(java *seat) {
	s := b.s
	const rounds, perRound = 40, 100
	if !s.check("offsets-same: mq broker and the Java broker start", func() error {
		return errors.Join(b.start(b.namesrv.addr), java.startJava(javaBroker, b.namesrv.addr))
	}) {
		return
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	codes := map[int]int{} // times, by code of the answer
	if s.check(fmt.Sprintf("offsets-same: same answers to %d random requests, same offsets after every %d", rounds*perRound, perRound), func() error {
		return b.dialed(func(mq *caller) error {
			return java.dialed(func(other *caller) error {
				for range rounds {
					for range perRound {
						code, err := sameRandomAnswer(random, mq, other)
						if err != nil {
							return fmt.Errorf("seed %d: %w", seed, err)
						}
						codes[code]++
					}
					mine, err1 := mq.offsets()
					theirs, err2 := other.offsets()
					delete(mine, "dataVersion") // has the time of the start
					delete(theirs, "dataVersion")
					if err := errors.Join(err1, err2, lacking(mine, theirs), lacking(theirs, mine)); err != nil {
						return fmt.Errorf("seed %d: 43: %w", seed, err)
					}
				}
				return nil
			})
		})
	}) {
		s.note("answers by code: %v", codes)
	}
}

// sameRandomAnswer sends a random request to both and compares the answers, of which it returns the code.
func sameRandomAnswer(random *rand.Rand, mq, java *caller) (int, error) {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	group := func() string { return pick("GroupA", "GroupB", "GroupC", "Group-%d", "Unknown") }
	topic := func() string { return pick("TopicA", "TopicB", "TopicC", "%RETRY%GroupA", "TBW102", "Nowhere") }
	number := func() string { return strconv.Itoa(random.IntN(20) - 2) }
	var ext map[string]string
	var body []byte
	code := []int{15, 15, 15, 15, 15, 15, 14, 14, 14, 14, 300, 343, 314, 17, 200, 207, 215}[random.IntN(17)]
	switch code {
	case 15:
		ext = map[string]string{"consumerGroup": group(), "topic": topic(), "queueId": number(), "commitOffset": number()}
	case 14:
		ext = map[string]string{"consumerGroup": group(), "topic": topic(), "queueId": number()}
		if random.IntN(3) == 0 {
			ext["setZeroIfNotFound"] = pick("true", "false")
		}
	case 300:
		ext = map[string]string{"topic": topic()}
	case 343:
		ext = map[string]string{"group": group()}
	case 314:
		ext = map[string]string{"srcGroup": group(), "destGroup": group(), "topic": topic(), "offline": pick("true", "false")}
	case 17:
		ext = newTopic(pick("TopicA", "TopicB", "TopicC", "%RETRY%GroupA"), 4)
	case 200:
		body = newGroup(pick("GroupA", "GroupB", "GroupC", "Group-%d"), 16)
	case 207:
		if random.IntN(4) > 0 { // else few groups have offsets
			code, body = 200, newGroup("GroupA", 16)
			break
		}
		ext = map[string]string{"groupName": group(), "cleanOffset": "true"} // without, Java 5.5.0 makes the group anew
	case 215:
		if random.IntN(4) > 0 {
			code, ext = 17, newTopic("TopicA", 4)
			break
		}
		ext = map[string]string{"topic": pick("TopicA", "TopicB", "TopicC", "%RETRY%GroupA", "Nowhere")}
	}
	if code == 15 || code == 14 {
		switch random.IntN(30) {
		case 0:
			delete(ext, pick("queueId", "commitOffset"))
		case 1:
			ext["queueId"] = pick("", "x", "2147483648", "-0", "+1", "1.0", " 1")
		case 2:
			ext["commitOffset"] = pick("", "x", "9223372036854775808", "9223372036854775807", "-9223372036854775808", "+7", "1e3")
		case 3:
			ext["consumerGroup"] = pick("", " ", "a@b")
		case 4:
			ext["topic"] = pick("", "  ", "a@b")
		}
	}
	h1, b1, err1 := mq.call(code, 513, ext, body)
	h2, b2, err2 := java.call(code, 513, ext, body)
	v1, err3 := byValue(anyAddr(string(b1)))
	v2, err4 := byValue(anyAddr(string(b2)))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return 0, fmt.Errorf("%d %v %s: %w", code, ext, body, err)
	}
	if h2.Code == 1 { // remarks are those of exceptions
		h1.Remark, h2.Remark = "", ""
	}
	h1.Opaque, h1.Language, h2.Opaque, h2.Language = 0, "", 0, ""
	if fmt.Sprint(h1) != fmt.Sprint(h2) || v1 != v2 {
		return 0, fmt.Errorf("%d %v %s\nmq   %v %s\nJava %v %s", code, ext, body, h1, b1, h2, b2)
	}
	return h1.Code, nil
}

// loseNoOffsets ends mq's broker in several ways and looks at what is left.
func (b *seat) loseNoOffsets() {
	s := b.s
	topics := []string{"Topic0", "Topic1", "Topic2", "Topic3"}
	groups := []string{"Group0", "Group1", "Group2"}
	var before map[string]string
	begins := func() error { return b.start(b.namesrv.addr) }
	read := func() error {
		return b.dialed(func(c *caller) (err error) {
			before, err = c.offsets()
			return err
		})
	}
	if !s.check("offsets-killed: mq broker takes commits", func() error {
		if err := begins(); err != nil {
			return err
		}
		return b.dialed(func(c *caller) error {
			if err := c.create(topics, groups); err != nil {
				return err
			}
			for g, group := range groups {
				for t, topic := range topics {
					for queue := range 4 {
						if err := c.commit(group, topic, queue, int64(1e12)+int64(100*g+10*t+queue)); err != nil {
							return err
						}
					}
				}
			}
			return read()
		})
	}) {
		return
	}
	s.check("offsets-killed: kill -9 16 s later costs none of them", func() error {
		time.Sleep(16 * time.Second)
		b.kill()
		return firstError(begins, func() error { return b.offsetsAre(before) })
	})
	s.check("offsets-killed: kill -9 at once costs nothing of what was copied or removed", func() error {
		err := b.dialed(func(c *caller) error {
			if _, err := c.must(314, map[string]string{"srcGroup": "Group0", "destGroup": "Group9", "topic": "Topic1", "offline": "true"}, nil); err != nil {
				return err
			}
			if _, err := c.must(207, map[string]string{"groupName": "Group1", "cleanOffset": "true"}, nil); err != nil {
				return err
			}
			if _, err := c.must(215, map[string]string{"topic": "Topic2"}, nil); err != nil {
				return err
			}
			return read()
		})
		b.kill()
		if err := errors.Join(err, begins()); err != nil {
			return err
		}
		for key := range before {
			if strings.Contains(key, "@Group1") || strings.Contains(key, "Topic2@") {
				return fmt.Errorf("there still was %s", key)
			}
		}
		if before[offsetsKey("Topic1", "Group9")] == "" {
			return errors.New("nothing was copied")
		}
		return b.offsetsAre(before)
	})
	var acknowledged [4]int64
	if s.check("offsets-killed: SIGTERM among commits costs none that was answered", func() error {
		var consumers sync.WaitGroup
		for queue := range acknowledged {
			consumers.Go(func() {
				_ = b.dialed(func(c *caller) error { // until the broker is gone
					for next := int64(1); ; next++ {
						if err := c.commit("Group2", "Topic0", queue, next); err != nil {
							return err
						}
						acknowledged[queue] = next
					}
				})
			})
		}
		time.Sleep(300 * time.Millisecond)
		b.terminate()
		select {
		case <-b.exited:
		case <-time.After(5 * time.Second):
			return errors.New("it still runs")
		}
		consumers.Wait()
		if err := begins(); err != nil {
			return err
		}
		return b.dialed(func(c *caller) error {
			for queue, n := range acknowledged {
				at, err := c.offset("Group2", "Topic0", queue)
				if err == nil && (n == 0 || at != n && at != n+1) { // one was perhaps not answered
					err = fmt.Errorf("queue %d: %d, answered %d", queue, at, n)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}) {
		s.note("commits answered per queue: %v", acknowledged)
	}
}

// offsetsOfClients lets the clients of both lines and the Go client commit and read, with groups in common and of their own,
// and mqadmin of both lines.
func (b *seat) offsetsOfClients() {
	s := b.s
	const topic, group = "Orders", "Passed"
	if !s.check("offsets: mq broker starts", func() error {
		return firstError(
			func() error { return b.start(b.namesrv.addr) },
			func() error {
				return b.dialed(func(c *caller) error { return c.create([]string{topic, "Dropped"}, []string{group}) })
			},
			func() error { return within(5*time.Second, func() error { return knows(b.namesrv.addr, topic, b) }) },
		)
	}) {
		return
	}
	w := &world{s: s, name: "offsets", dir: b.dir}
	clients, admins := map[string]*process{}, map[string]*process{}
	for _, line := range lines {
		if line[0] != '4' {
			w.env = []string{"ROCKETMQ_SERIALIZE_TYPE=ROCKETMQ"} // one line speaks JSON, the other the binary codec
		}
		if !s.check("offsets: the programs of "+line+" start", func() (err error) {
			if clients[line], err = w.java("client-"+line[:1], line, true, "Offsets"); err != nil {
				return err
			}
			admins[line], err = (&admin{w: w, line: line}).open()
			return err
		}) {
			return
		}
	}
	if !s.check("offsets: the program of the Go client starts", func() (err error) {
		clients["Go"], err = s.start("offsets goclient", true, nil, s.goclient)
		return err
	}) {
		return
	}
	stands := func(group, want string) error {
		return within(5*time.Second, func() error {
			return b.dialed(func(c *caller) error { return c.stands(group, topic, want) })
		})
	}

	// One group, one client after the other.
	at := "0:10 1:11 2:12 3:13"
	s.check("offsets: a group has offsets", func() error {
		return b.dialed(func(c *caller) error {
			for queue := range 4 {
				if err := c.commit(group, topic, queue, int64(10+queue)); err != nil {
					return err
				}
			}
			return nil
		})
	})
	for i, client := range []string{"4.9.7", "5.5.0", "Go", "4.9.7", "Go", "5.5.0"} {
		p, start, position := clients[client], "push", "position 4 30"
		if client == "Go" {
			start, position = "pull", "position"
		}
		if i >= 3 && client == "Go" {
			continue // its client cannot be started twice
		}
		s.check(fmt.Sprintf("offsets: client %s goes on where the one before it stood, moves and ends", client), func() error {
			if err := p.say(fmt.Sprintf("%s %s %s %s", start, b.namesrv.addr, group, topic), "started"); err != nil {
				return err
			}
			if err := p.say(position, at); err != nil {
				return err
			}
			base := int64(1000) << (8 * i)
			at = fmt.Sprintf("0:%d 1:%d 2:%d 3:%d", base, base+1, base+2, base+3)
			return firstError(
				func() error {
					return within(20*time.Second, func() error { // the Go client commits for queues that it has been given
						if err := p.say("move "+at, "moved"); err != nil {
							return err
						}
						return stands(group, at)
					})
				},
				func() error { return p.say("end", "ended") },
				func() error { return stands(group, at) },
			)
		})
	}

	for _, line := range lines {
		b.ownOffsets(line, clients[line], topic, stands)
		b.adminOffsets(line, clients[line], admins[line], topic, stands)
	}
}

// ownOffsets lets a Java client work with groups that are new.
func (b *seat) ownOffsets(line string, p *process, topic string, stands func(group, want string) error) {
	s, title := b.s, "offsets: Java client "+line
	begin := func(kind, group string) func() error {
		command := fmt.Sprintf("%s %s %s %s", kind, b.namesrv.addr, group, topic)
		if kind == "lite" {
			command += " 4"
		}
		return func() error { return p.say(command, "started") }
	}
	say := func(line, want string) func() error { return func() error { return p.say(line, want) } }
	const none, at = "0:-1 1:-1 2:-1 3:-1", "0:5 1:-1 2:7 3:-1"
	push, lite := "Push"+line[:1], "Lite"+line[:1]
	s.check(title+": a push consumer of a new group finds no offset and begins at 0", func() error {
		return firstError(begin("push", push), say("position 4 30", none), say("stored 4", none))
	})
	s.check(title+": a commit that waits for its answer", func() error {
		return firstError(say("commit 0:5 2:7", "committed"), say("stored 4", at), func() error { return stands(push, at) })
	})
	s.check(title+": a commit of a group that is gone is refused", func() error {
		err := b.dialed(func(c *caller) error {
			_, err := c.must(207, map[string]string{"groupName": push, "cleanOffset": "true"}, nil)
			return err
		})
		if err != nil {
			return err
		}
		answer, err := p.tell("commit 0:6")
		if want := "CODE: 26 DESC: Group " + push + " not exist!"; err == nil && !strings.Contains(blanks.ReplaceAllString(answer, " "), want) {
			err = fmt.Errorf("%s, want %s", answer, want)
		}
		return errors.Join(err, p.say("end", "ended"))
	})
	s.check(title+": a lite pull consumer commits, and its successor has that", func() error {
		return firstError(
			begin("lite", lite),
			say("position 4 30", none),
			func() error {
				return within(20*time.Second, func() error { // it commits for queues that it has begun to pull
					return firstError(say("move 0:5 2:7", "moved"), func() error { return stands(lite, at) })
				})
			},
			say("end", "ended"),
			begin("lite", lite),
			say("position 4 30", at),
			say("end", "ended"),
		)
	})
}

// adminOffsets lets the admin client and mqadmin of a line work with offsets.
func (b *seat) adminOffsets(line string, p, tool *process, topic string, stands func(group, want string) error) {
	s, title := b.s, "offsets: admin client "+line
	set, cloned := "Set"+line[:1], "Cloned"+line[:1]
	s.check(title+" sets, copies and lists", func() error {
		topics := "topics " + topic
		if line[0] == '4' {
			topics = "error java.lang.IllegalStateException: unknown"
		}
		return firstError(
			func() error {
				return b.dialed(func(c *caller) error { return c.create([]string{"%RETRY%" + set}, []string{set, cloned}) })
			},
			func() error { // tools find a group's brokers by that topic
				return within(5*time.Second, func() error { return knows(b.namesrv.addr, "%RETRY%"+set, b) })
			},
			func() error { return p.say("admin "+b.namesrv.addr, "ready") },
			func() error {
				return p.say(fmt.Sprintf("set %s %s %s 0:40 1:41 3:9000000000", b.addr, set, topic), "set")
			},
			func() error { return p.say(fmt.Sprintf("clone %s %s %s true", set, cloned, topic), "cloned") },
			func() error { return stands(set, "0:40 1:41 2:-1 3:9000000000") },
			func() error { return stands(cloned, "0:40 1:41 2:-1 3:9000000000") },
			func() error { return p.say("topics "+set, topics) },
			func() error {
				answer, err := p.tell("groups " + topic)
				for _, g := range []string{"Passed", set, cloned} {
					if err == nil && !slices.Contains(strings.Fields(answer), g) {
						err = fmt.Errorf("no %s in %s", g, answer)
					}
				}
				return err
			},
		)
	})

	title = "offsets: mqadmin " + line
	run := func(words ...string) (string, error) {
		out, err := tool.command(tabbed(words...))
		return strings.Join(out, "\n"), err
	}
	says := func(want *strings.Replacer, text string, words ...string) func() error {
		return func() error {
			out, err := run(words...)
			if text := want.Replace(text); err == nil && !strings.Contains(blanks.ReplaceAllString(out, " "), text) {
				err = fmt.Errorf("%s: no %q in %s", words[0], text, out)
			}
			return err
		}
	}
	names := strings.NewReplacer("CLUSTER", cluster, "TOPIC", topic, "SET", set)
	namesrv := b.namesrv.addr
	s.check(title+" topicList -c shows who has offsets", says(names, "CLUSTER TOPIC SET", "topicList", "-n", namesrv, "-c"))
	s.check(title+" cloneGroupOffset, which asks for figures of the store, says code 3",
		says(names, "CODE: 3 ", "cloneGroupOffset", "-n", namesrv, "-s", set, "-d", cloned, "-t", topic))
	if line[0] != '4' {
		s.check(title+" resetOffsetByTime of one queue sets the offset, and says code 3 to what needs the store", func() error {
			return firstError(
				says(names, "CODE: 3 ", "resetOffsetByTime", "-n", namesrv, "-b", b.addr, "-g", cloned, "-t", topic, "-q", "1", "-o", "4321", "-s", "-1"),
				func() error { return stands(cloned, "0:40 1:4321 2:-1 3:9000000000") },
			)
		})
	}
	has := func(topic, group string, want bool) func() error {
		return func() error {
			return b.dialed(func(c *caller) error {
				have, err := c.offsets()
				if got := have[offsetsKey(topic, group)] != ""; err == nil && got != want {
					err = fmt.Errorf("offsets of %s in %s: %t", group, topic, got)
				}
				return err
			})
		}
	}
	s.check(title+" deleteSubGroup leaves the offsets, deleteSubGroup -r takes them", func() error {
		return firstError(
			has(topic, set, true), has(topic, cloned, true),
			says(names, "delete subscription group [SET] from broker", "deleteSubGroup", "-n", namesrv, "-b", b.addr, "-g", set),
			has(topic, set, true),
			says(strings.NewReplacer("SET", cloned), "delete subscription group [SET] from broker", "deleteSubGroup", "-n", namesrv, "-b", b.addr, "-g", cloned, "-r", "true"),
			has(topic, cloned, false), has(topic, set, true),
		)
	})
	s.check(title+" deleteTopic takes the offsets of all groups in it", func() error {
		return firstError(
			func() error {
				return b.dialed(func(c *caller) error {
					return firstError(
						func() error { return c.create([]string{"Dropped"}, []string{set}) },
						func() error { return c.commit("Passed", "Dropped", 0, 3) },
						func() error { return c.commit(set, "Dropped", 1, 4) },
					)
				})
			},
			func() error { return within(5*time.Second, func() error { return knows(namesrv, "Dropped", b) }) },
			has("Dropped", "Passed", true), has("Dropped", set, true),
			says(names, "delete topic [Dropped] from cluster [CLUSTER] success.", "deleteTopic", "-n", namesrv, "-c", cluster, "-t", "Dropped"),
			has("Dropped", "Passed", false), has("Dropped", set, false), has(topic, "Passed", true),
		)
	})
}
