package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// brokerTopics20k has 20,000 topics and creates 200 more.
func (s *suite) brokerTopics20k() {
	defer s.endAll()
	const (
		topics, created = 20_000, 200
		during          = 10 * time.Second
		most            = 2 << 20 // bytes to a NameServer
	)
	b := s.newSeat("topics-20k")
	namesrvs := s.threeNamesrvs("20,000 topics")
	var relays []*relay
	var addrs []string
	for _, w := range namesrvs {
		r := newRelay(w.addr)
		relays, addrs = append(relays, r), append(addrs, r.addr)
	}
	begin := time.Now()
	if !s.check("20,000 topics: mq broker starts", func() error {
		return errors.Join(b.topicsFile("Topic", topics), b.start(strings.Join(addrs, ";")))
	}) || !s.check("20,000 topics: all NameServers know them", func() error {
		return within(15*time.Second, func() error {
			for _, w := range namesrvs {
				if err := knows(w.addr, numbered("Topic", topics-1), b); err != nil {
					return err
				}
			}
			return nil
		})
	}) {
		return
	}
	// The second registration of all topics, which is due after 10 s, falls into the 10 s of the changes.
	time.Sleep(time.Until(begin.Add(7 * time.Second)))

	begin = time.Now()
	cpu := b.cpu()
	var before []int64
	for _, r := range relays {
		before = append(before, r.bytes.Load())
	}
	asked := make([]time.Time, created)
	known := make([][]time.Duration, len(namesrvs)) // from the request to the NameServer's answer with the topic
	errs := make([]error, len(namesrvs)+1)
	var all sync.WaitGroup
	answered := make([]chan int, len(namesrvs)) // topics that were acknowledged
	for i, w := range namesrvs {
		answered[i] = make(chan int, created)
		all.Go(func() { known[i], errs[i] = b.follow(w.addr, answered[i], asked) })
	}
	var slowest time.Duration
	var sent []int64 // to each NameServer, in bytes
	all.Go(func() {
		errs[len(namesrvs)] = func() error {
			c, err := dial(b.addr)
			if err != nil {
				return err
			}
			defer c.close()
			for n := range created {
				time.Sleep(time.Until(begin.Add(during / created * time.Duration(n))))
				asked[n] = time.Now()
				if _, err := c.must(17, newTopic(numbered("New", n), 4), nil); err != nil {
					return err
				}
				slowest = max(slowest, time.Since(asked[n]))
				for _, a := range answered {
					a <- n
				}
			}
			return nil
		}()
		for _, a := range answered {
			close(a)
		}
		time.Sleep(time.Until(begin.Add(during)))
		for i, r := range relays {
			sent = append(sent, r.bytes.Load()-before[i])
		}
	})
	all.Wait()
	for i, w := range namesrvs {
		var last time.Duration
		for _, d := range known[i] {
			last = max(last, d)
		}
		s.check(fmt.Sprintf("20,000 topics: %s knows each of %d new ones within 2 s", w.name, created), func() error {
			if len(known[i]) < created || last > 2*time.Second {
				return fmt.Errorf("%d of them, the slowest in %s: %w", len(known[i]), last, errors.Join(errs[i], errs[len(namesrvs)]))
			}
			return nil
		})
		s.check(fmt.Sprintf("20,000 topics: less than 2 MB to %s in those 10 s", w.name), func() error {
			if sent[i] >= most {
				return fmt.Errorf("%d bytes", sent[i])
			}
			return nil
		})
		s.note("%d bytes in %d registrations, slowest topic known in %s", sent[i], len(relays[i].answered(begin, 103)), last.Round(time.Millisecond))
	}
	s.note("slowest answer to a new topic: %s; CPU of the broker since the first: %s", slowest.Round(time.Millisecond), b.cpu()-cpu)
}

// follow waits for each topic of new to be known to a NameServer and returns how long that took from when it was asked for.
func (b *seat) follow(namesrv string, created <-chan int, asked []time.Time) (known []time.Duration, err error) {
	c, err := dial(namesrv)
	if err != nil {
		return nil, err
	}
	defer c.close()
	for n := range created {
		if err := within(5*time.Second, func() error { return c.knows(numbered("New", n), b) }); err != nil {
			return known, err
		}
		known = append(known, time.Since(asked[n]))
	}
	return known, nil
}

// brokerTopics100k has 100,000 topics, more than one frame holds, with the NameServers of mq and of Java.
func (s *suite) brokerTopics100k() {
	defer s.endAll()
	const topics = 100_000
	const period = 30 * time.Second // registerNameServerPeriod
	b := s.newSeat("topics-100k")
	ours, java := s.newWorld("100k-namesrv-mq"), s.newWorld("100k-namesrv-5")
	if !s.check("100,000 topics: mq namesrv starts", ours.startMQ) || !s.check("100,000 topics: the Java NameServer 5.5.0 starts", java.startJava) {
		return
	}
	namesrvs := []*world{ours, java}
	relays := []*relay{newRelay(ours.addr), newRelay(java.addr)}
	samples := []string{numbered("Topic", 0), numbered("Topic", topics/2), numbered("Topic", topics-1), "TBW102"}
	knowAll := func() error {
		for _, w := range namesrvs {
			c, err := dial(w.addr)
			if err != nil {
				return err
			}
			defer c.close()
			for _, topic := range samples {
				if err := c.knows(topic, b); err != nil {
					return fmt.Errorf("%s: %w", w.name, err)
				}
			}
		}
		return nil
	}
	var begin time.Time
	if !s.check("100,000 topics: mq broker registers them in slices", func() error {
		if err := b.topicsFile("Topic", topics); err != nil {
			return err
		}
		begin = time.Now()
		if err := b.start(relays[0].addr + ";" + relays[1].addr); err != nil {
			return err
		}
		if err := within(30*time.Second, knowAll); err != nil {
			return err
		}
		for _, w := range namesrvs {
			list, err := topicsOf(w.addr)
			if err != nil {
				return err
			}
			if len(list) < topics {
				return fmt.Errorf("%s knows %d topics", w.name, len(list))
			}
		}
		return nil
	}) {
		return
	}
	s.note("known %s after the start of the process; CPU until then %s", time.Since(begin).Round(10*time.Millisecond), b.cpu())
	for i, r := range relays {
		var sizes []string
		for _, c := range r.answered(begin, 103) {
			sizes = append(sizes, fmt.Sprintf("%d", c.size))
		}
		s.note("%s: slices of %s bytes", namesrvs[i].name, strings.Join(sizes, ", "))
	}
	// The second registration comes after 10 s, the next ones after a period each.
	time.Sleep(time.Until(begin.Add(15 * time.Second)))
	s.check("100,000 topics: they stay registered over two periods", func() error {
		for round := range 2 {
			mark, cpu := time.Now(), b.cpu()
			before := relays[0].bytes.Load()
			for time.Since(mark) < period {
				if err := knowAll(); err != nil {
					return err
				}
				time.Sleep(500 * time.Millisecond)
			}
			var codes []string
			for _, c := range relays[0].answered(mark) {
				codes = append(codes, strconv.Itoa(c.code))
			}
			s.note("period %d: CPU of the broker %s, to mq namesrv %d bytes in requests %s", round+1, b.cpu()-cpu, relays[0].bytes.Load()-before, strings.Join(codes, " "))
		}
		for _, r := range relays {
			if r.failed() > 0 {
				return fmt.Errorf("%d requests failed", r.failed())
			}
		}
		return nil
	})
	var took, full time.Duration
	if s.check("100,000 topics: one more is known to both within 2 s", func() error {
		c, err := dial(b.addr)
		if err != nil {
			return err
		}
		defer c.close()
		asked := time.Now()
		if _, err := c.must(17, newTopic("OneMore", 4), nil); err != nil {
			return err
		}
		took = time.Since(asked)
		samples = []string{"OneMore"}
		err = within(2*time.Second, knowAll)
		full = time.Since(asked)
		return err
	}) {
		s.note("answered in %s, known in %s", took.Round(time.Millisecond), full.Round(time.Millisecond))
	}
	s.check("100,000 topics: SIGTERM ends the broker within 3 s", func() error {
		b.terminate()
		select {
		case <-b.exited:
			return nil
		case <-time.After(3 * time.Second):
			return errors.New("it still runs")
		}
	})
}

// cpu is the processor time that a process has used, 0 where the system does not tell.
func (p *process) cpu() time.Duration {
	const tick = 10 * time.Millisecond // USER_HZ is 100 wherever Go runs
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil || runtime.GOOS != "linux" {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if errors.Join(err1, err2) != nil {
		return 0
	}
	return time.Duration(user+system) * tick
}
