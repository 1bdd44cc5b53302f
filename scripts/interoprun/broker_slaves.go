package main

import (
	"bytes"
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

// slaveCodes are what slaves ask their master for, by line and code, and how mq's broker answers: without a store it has no
// delayed messages (45), timers (60, 61) or request modes (402).
var slaveCodes = map[string]map[int]int{
	"4.9.7": {21: 0, 43: 0, 201: 0, 45: 3},
	"5.5.0": {21: 0, 43: 0, 201: 0, 45: 3, 402: 3, 60: 3, 61: 3},
}

// slavePage is how many topics, or groups, slaves of 5.5.0 ask for at a time.
const slavePage = 2000

// hasSlaves lets Java brokers of both lines be slaves of mq's: they copy topics, groups and offsets. The master listens at an
// address of its own, so that what slaves ask passes by, at the address that it registers.
func (b *seat) hasSlaves(slaves []*seat) {
	s := b.s
	registered := b.addr
	b.addr = "127.0.0.2:" + strconv.Itoa(b.port)
	var relays []*relay
	var groups, topics, offsets map[string]string
	if !s.check("offsets-master: mq broker starts, with topics, groups and offsets", func() (err error) {
		for _, port := range []int{b.port, b.port - 2} {
			p := strconv.Itoa(port)
			r, err := newRelayAt(net.JoinHostPort("127.0.0.1", p), net.JoinHostPort("127.0.0.2", p))
			if err != nil {
				return err
			}
			relays = append(relays, r)
		}
		if err := b.topicsFile("Numbered", slavePage+500); err != nil {
			return err
		}
		if err := b.start(b.namesrv.addr); err != nil {
			return err
		}
		if err := b.createAll("Copied", javaBroker); err != nil {
			return err
		}
		if err := b.dialed(func(c *caller) error {
			var list [][]byte
			for i := range slavePage + 300 {
				list = append(list, newGroup(numbered("Numbered", i), 3))
			}
			_, err := c.must(225, nil, fmt.Appendf(nil, `{"groupConfigList":[%s]}`, bytes.Join(list, []byte(","))))
			return err
		}); err != nil {
			return err
		}
		if topics, groups, err = b.kept(); err != nil {
			return err
		}
		if err := within(5*time.Second, func() error { return routeHasText(b.namesrv.addr, "CopiedPlain", registered) }); err != nil {
			return err
		}
		return b.dialed(func(c *caller) error {
			for queue := range 16 {
				for _, group := range []string{"CopiedGroup", "CopiedOdd", "CopiedNew"} {
					for _, topic := range []string{"CopiedWide", "CopiedPlain", "CopiedMany7"} {
						if err := c.commit(group, topic, queue, int64(1e10)+int64(queue)); err != nil {
							return err
						}
					}
				}
			}
			offsets, err = c.offsets()
			return err
		})
	}) {
		return
	}
	for i, line := range slices.Backward(lines) { // that of 5.5.0 is the one to be waited for
		if !s.check("offsets-master: a slave of "+line+" starts", func() error { return slaves[i].startJava(line, b.namesrv.addr) }) {
			return
		}
	}
	copied := func(slave *seat, line string) error {
		t, g, err := slave.kept()
		if err != nil {
			return err
		}
		wantTopics, wantGroups, wantOffsets := maps.Clone(topics), maps.Clone(groups), maps.Clone(offsets)
		maps.DeleteFunc(wantGroups, func(name, _ string) bool { return strings.HasPrefix(name, "forbiddenTable ") }) // no slave takes these
		if line[0] == '4' {
			if err := errors.Join(asOld(wantTopics), asOld(wantGroups)); err != nil {
				return err
			}
		}
		return slave.dialed(func(c *caller) error {
			o, err := c.offsets()
			if err != nil {
				return err
			}
			if line[0] == '4' {
				delete(wantOffsets, "dataVersion")
				delete(o, "dataVersion")
			}
			return firstError(
				func() error { return lacking(t, wantTopics) }, func() error { return lacking(wantTopics, t) },
				func() error { return lacking(g, wantGroups) }, func() error { return lacking(wantGroups, g) },
				func() error { return lacking(o, wantOffsets) }, func() error { return lacking(wantOffsets, o) },
			)
		})
	}
	s.check("offsets-master: the slave of 4.9.7 has the topics, groups and offsets", func() error {
		return within(40*time.Second, func() error { return copied(slaves[0], lines[0]) })
	})
	if !s.check("offsets-master: the slave of 4.9.7 follows changes", func() (err error) {
		err = b.dialed(func(c *caller) error {
			if _, err := c.must(215, map[string]string{"topic": "CopiedMany9"}, nil); err != nil {
				return err
			}
			if _, err := c.must(207, map[string]string{"groupName": "CopiedOdd"}, nil); err != nil {
				return err
			}
			if err := c.commit("CopiedGroup", "CopiedWide", 3, 5); err != nil { // back
				return err
			}
			offsets, err = c.offsets()
			return err
		})
		if err != nil {
			return err
		}
		if topics, groups, err = b.kept(); err != nil {
			return err
		}
		return within(40*time.Second, func() error { return copied(slaves[0], lines[0]) })
	}) {
		return
	}
	s.check("offsets-master: the slave of 5.5.0 has the topics, groups and offsets", func() error {
		return within(120*time.Second, func() error { return copied(slaves[1], lines[1]) })
	})
	for i, line := range lines {
		slave := slaves[i]
		var seen []string
		if s.check("offsets-master: the slave of "+line+" is answered all it asks, and runs on", func() error {
			version := map[string]int{"4.9.7": 407, "5.5.0": 513}[line]
			var wrong []error
			answers := map[int]int{} // times, by code
			for _, r := range relays {
				for _, call := range r.answered(time.Time{}) {
					if call.version != version {
						continue
					}
					answers[call.code]++
					if want, ok := slaveCodes[line][call.code]; !ok || call.result != want {
						wrong = append(wrong, fmt.Errorf("code %d was answered %d", call.code, call.result))
					}
				}
			}
			for _, code := range slices.Sorted(maps.Keys(answers)) {
				seen = append(seen, fmt.Sprintf("%d: %d times", code, answers[code]))
			}
			for _, code := range slices.Sorted(maps.Keys(slaveCodes[line])) {
				if answers[code] < least(line, code) {
					wrong = append(wrong, fmt.Errorf("code %d was asked %d times", code, answers[code]))
				}
			}
			_, _, err := ask(slave.addr, 28, 513, nil)
			return errors.Join(append(wrong, err)...)
		}) {
			log, _ := os.ReadFile(filepath.Join(s.dir, strings.ReplaceAll(slave.name, " ", "-")+".log"))
			s.note("it asked %s; it logged %d lines", strings.Join(seen, ", "), bytes.Count(log, []byte("\n")))
		}
	}
}

// isActedFor lets a Java slave of 5.5.0 take mq's place for reading while mq's broker is away.
func (b *seat) isActedFor(slave *seat) {
	s := b.s
	route := func(want string) error {
		return within(45*time.Second, func() error { return routeHasText(b.namesrv.addr, "TBW102", `"brokerAddrs":{`+want+`}`) })
	}
	both := fmt.Sprintf(`"0":%q,"1":%q`, b.addr, slave.addr)
	if !s.check("offsets-acting: a slave that may act for mq broker joins it", func() error {
		return firstError(
			func() error { return b.start(b.namesrv.addr) },
			func() error { return slave.startJava(lines[1], b.namesrv.addr) },
			func() error { return route(both) },
		)
	}) {
		return
	}
	s.check("offsets-acting: mq broker is killed, and the slave is master in the routes", func() error {
		b.kill()
		return route(fmt.Sprintf(`"0":%q`, slave.addr))
	})
	s.check("offsets-acting: mq broker is back, and the slave is slave again", func() error {
		return firstError(func() error { return b.start(b.namesrv.addr) }, func() error { return route(both) })
	})
}

// least is how many times a slave asks a code: of 5.5.0 there are two pages of topics and of groups.
func least(line string, code int) int {
	if line[0] != '4' && (code == 21 || code == 201) {
		return 2
	}
	return 1
}

// asOld takes from entries what 4.9 does not know.
func asOld(table map[string]string) error {
	for name, entry := range table {
		var members map[string]any
		if err := json.Unmarshal([]byte(entry), &members); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, member := range []string{
			"attributes", "consumeMessageOrderly", "consumeTimeoutMinute", "groupRetryPolicy", "groupSysFlag", "stateVersion", "subscriptionDataSet",
		} {
			delete(members, member)
		}
		text, err := json.Marshal(members)
		if err != nil {
			return err
		}
		if table[name], err = byValue(string(text)); err != nil {
			return err
		}
	}
	return nil
}

// routeHasText wants a text in the route of a topic.
func routeHasText(namesrv, topic, text string) error {
	_, body, err := ask(namesrv, 105, 513, map[string]string{"topic": topic})
	if err == nil && !strings.Contains(body, text) {
		err = fmt.Errorf("no %s in the route of %s: %s", text, topic, body)
	}
	return err
}
