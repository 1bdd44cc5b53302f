package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a program of ours or the peers'. It is signalled by its own id.
type process struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	out    chan string // lines of the standard output, where lines are asked for
	exited chan struct{}
}

// start starts a program. Its output goes to a file, the standard output to p.out with talk.
func (s *suite) start(name string, talk bool, env []string, argv ...string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(s.dir, strings.ReplaceAll(name, " ", "-")+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{name: name, cmd: exec.Command(argv[0], argv[1:]...), exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Dir = s.dir
	p.cmd.Stdout, p.cmd.Stderr = log, log
	var stdout io.ReadCloser
	if talk {
		p.cmd.Stdout = nil
		if stdout, err = p.cmd.StdoutPipe(); err != nil {
			return nil, err
		}
		if p.stdin, err = p.cmd.StdinPipe(); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.interrupted {
		return nil, errors.New("interrupted")
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	var read sync.WaitGroup
	if talk {
		p.out = make(chan string, 100_000) // more than any program says between two questions
		read.Go(func() {
			defer close(p.out)
			lines := bufio.NewScanner(stdout)
			lines.Buffer(nil, 1<<24)
			for lines.Scan() {
				p.out <- lines.Text()
			}
		})
	}
	go func() {
		read.Wait()
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	s.running = append(s.running, p)
	return p, nil
}

// ask writes a line and reads lines up to the first that ends the answer.
func (p *process) ask(line string, last func(string) bool, d time.Duration) ([]string, error) {
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		return nil, err
	}
	var out []string
	for timeout := time.After(d); ; {
		select {
		case text, ok := <-p.out:
			if !ok {
				return out, fmt.Errorf("%s ended", p.name)
			}
			out = append(out, text)
			if last(text) {
				return out, nil
			}
		case <-timeout:
			return out, fmt.Errorf("%s: no answer to %q in %s", p.name, line, d)
		}
	}
}

// tell asks a client program and returns its answer, the line that begins with "= ".
func (p *process) tell(line string) (string, error) {
	out, err := p.ask(line, func(s string) bool { return strings.HasPrefix(s, "= ") }, 2*time.Minute)
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.Join(out, "\n"))
	}
	return strings.TrimPrefix(out[len(out)-1], "= "), nil
}

// say asks a client program and wants this answer.
func (p *process) say(line, want string) error {
	answer, err := p.tell(line)
	if err == nil && answer != want {
		err = fmt.Errorf("%s: %s: %s, want %s", p.name, line, answer, want)
	}
	return err
}

func (p *process) terminate() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// stop asks the process to end and ends it after the grace.
func (p *process) stop(grace time.Duration) {
	p.terminate()
	select {
	case <-p.exited:
	case <-time.After(grace):
		p.kill()
	}
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// endAll ends what is running, the last started first. Brokers have no time for a clean end: nothing looks at what they leave.
func (s *suite) endAll() {
	s.mu.Lock()
	all := s.running
	s.running = nil
	s.mu.Unlock()
	for _, p := range slices.Backward(all) {
		p.stop(time.Second)
	}
}
