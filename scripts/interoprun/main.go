// Command interoprun runs mq's NameServer and broker with the official servers, clients and admin tools of both lines, and
// compares them with Java's. scripts/interop builds what it needs and starts it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// lines are the lines of official peers, each with a broker, a client and mqadmin.
var lines = []string{"4.9.7", "5.5.0"}

// javaNamesrv is the line of the Java NameServer that mq is compared with.
const javaNamesrv = "5.5.0"

// suite counts checks and knows where things are.
type suite struct {
	mq, goclient, peers, dir string

	mu          sync.Mutex
	passed      int        // guarded by mu
	failed      int        // guarded by mu
	running     []*process // what is to be ended, in the order of its start; guarded by mu
	interrupted bool       // nothing more is started; guarded by mu
}

func main() {
	var s suite
	flag.StringVar(&s.mq, "mq", "", "the mq binary")
	flag.StringVar(&s.goclient, "goclient", "", "the binary of scripts/interoprun/goclient")
	flag.StringVar(&s.peers, "peers", "", "where scripts/peers/install put the Java peers")
	only := flag.String("only", "", "a part: java (the Java NameServer alone, to see that the checks are right), swap (java, then mq in its place), mq, broker (mq's broker), or broker-admin, broker-killed, broker-silence, broker-20k, broker-100k, broker-folders, broker-offsets")
	keep := flag.Bool("keep", false, "leave the working directory")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if s.dir, err = os.MkdirTemp("", "interop"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.run(*only)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		fmt.Println("interrupted")
		s.mu.Lock()
		s.interrupted = true
		s.mu.Unlock()
		s.endAll()
		os.RemoveAll(s.dir)
		os.Exit(1)
	}
	if *keep {
		fmt.Println("logs:", s.dir)
	} else {
		os.RemoveAll(s.dir)
	}
	fmt.Printf("%d passed, %d failed, 0 skipped\n", s.passed, s.failed)
	if s.failed > 0 {
		os.Exit(1)
	}
}

func (s *suite) run(only string) {
	for _, part := range brokerParts {
		if only == "" || only == "broker" || only == part.name {
			part.run(s)
		}
	}
	if strings.HasPrefix(only, "broker") {
		return
	}
	var java, ours map[string][]string
	if only != "mq" {
		java = s.javaWorld(only != "java")
	}
	if only == "mq" || only == "" {
		ours = s.mqWorld()
	}
	if only != "" {
		return
	}
	for _, line := range lines {
		for i, command := range adminScript {
			s.check(fmt.Sprintf("mqadmin %s %s: same output as with the Java NameServer", line, strings.Join(command, " ")), func() error {
				if i >= len(java[line]) || i >= len(ours[line]) {
					return errors.New("no output")
				}
				return sameText(java[line][i], ours[line][i])
			})
		}
	}
}

// check runs one check and prints what came of it. Checks may run at a time.
func (s *suite) check(name string, f func() error) bool {
	start := time.Now()
	err := f()
	took := time.Since(start).Round(10 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failed++
		fmt.Printf("FAIL %s (%s)\n     %s\n", name, took, strings.ReplaceAll(err.Error(), "\n", "\n     "))
		return false
	}
	s.passed++
	fmt.Printf("ok   %s (%s)\n", name, took)
	return true
}

// fatalError is an error that waiting does not mend.
type fatalError struct{ error }

// within tries f until it succeeds, for at most d, and returns its last error.
func within(d time.Duration, f func() error) error {
	for end := time.Now().Add(d); ; time.Sleep(50 * time.Millisecond) {
		err := f()
		var fatal *fatalError
		if err == nil || time.Now().After(end) || errors.As(err, &fatal) {
			return err
		}
	}
}

// javaWorld is a cluster of both brokers with the Java NameServer: it gives the outputs to compare with. With swap, mq takes the
// place of that NameServer under the running brokers and clients.
func (s *suite) javaWorld(swap bool) map[string][]string {
	w := s.newWorld("java")
	defer s.endAll()
	if !s.check("java: the NameServer starts", w.startJava) {
		return nil
	}
	outputs := w.exercise("")
	if swap && outputs != nil {
		w.swap()
	}
	return outputs
}

// mqWorld is the same with mq from the beginning, then with brokers that die, then with a Java NameServer at its side.
func (s *suite) mqWorld() map[string][]string {
	w := s.newWorld("mq")
	defer s.endAll()
	if !s.check("mq: the NameServer starts", w.startMQ) {
		return nil
	}
	begin := time.Now()
	for _, line := range lines {
		w.relays[line] = newRelay(w.addr)
	}
	outputs := w.exercise("by relay")
	if outputs == nil {
		return nil
	}
	for _, line := range lines {
		relay := w.relays[line]
		s.check("mq: broker "+line+" keeps registering past 30 s, always with success", func() error {
			err := within(90*time.Second, func() error {
				if age := time.Since(begin); relay.succeeded(103) < 3 || age < 45*time.Second {
					return fmt.Errorf("%d registrations in %s", relay.succeeded(103), age)
				}
				return nil
			})
			if err == nil && relay.failed() > 0 {
				err = fmt.Errorf("%d requests were not answered with success", relay.failed())
			}
			return err
		})
	}

	beside := s.newWorld("beside")
	if !s.check("java: a second NameServer starts", beside.startJava) {
		return outputs
	}
	for _, line := range lines {
		w.killAndRestart(line, w.addr+";"+beside.addr)
	}
	s.check("side by side: both brokers are known to both", func() error {
		return within(60*time.Second, func() error { return firstError(w.hasBrokers, beside.hasBrokers) })
	})
	w.compareAnswers(beside)
	s.check("side by side: brokers that end tell both NameServers", func() error {
		for _, line := range lines {
			w.brokers[line].terminate()
		}
		return within(90*time.Second, func() error { return firstError(w.isEmpty, beside.isEmpty) })
	})
	return outputs
}

func firstError(fs ...func() error) error {
	for _, f := range fs {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// subdir makes a directory below the working directory.
func (s *suite) subdir(name string) string {
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		panic(err) // a fresh temporary directory
	}
	return dir
}
