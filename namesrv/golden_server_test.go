package namesrv_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/namesrv"
)

// goldenServer is a NameServer with a directory of its own.
type goldenServer interface {
	addr() string
	file(name string) string // path of one of its files: kvConfig, conf
	restart() error          // ends it and starts it again on the same files
	terminate()              // asks it to end and does not wait
	stop() error
}

// goldenCommand is a shell command that starts another NameServer to play the transcripts against, the recorded one for
// instance: {conf} is its properties file and {work} its directory. Java's own answers count then, also those at fault.
const goldenCommand = "GOLDEN_START"

func againstOriginal() bool { return os.Getenv(goldenCommand) != "" }

// startGolden prepares a directory as a scenario wants it and starts a server there.
func startGolden(dir string, sc *scenario) (goldenServer, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	files := goldenFiles(dir)
	text := fmt.Sprintf("listenPort=%d\nkvConfigPath=%s\n%s", port, files.file("kvConfig"), sc.Properties)
	if err := os.WriteFile(files.file("conf"), []byte(text), 0o644); err != nil {
		return nil, err
	}
	for name, content := range sc.Files {
		if err := os.WriteFile(files.file(name), []byte(content), 0o644); err != nil {
			return nil, err
		}
	}
	if command := os.Getenv(goldenCommand); command != "" {
		s := &commandServer{goldenFiles: files, command: command, port: port}
		return s, s.start()
	}
	s := &ownServer{goldenFiles: files}
	return s, s.start()
}

// goldenFiles is the directory of a server.
type goldenFiles string

func (dir goldenFiles) file(name string) string {
	return filepath.Join(string(dir), map[string]string{"kvConfig": "kvConfig.json", "conf": "namesrv.properties"}[name])
}

// ownServer is mq's NameServer in this process. It listens on any port, whatever its configuration says.
type ownServer struct {
	goldenFiles
	listener net.Listener
	cancel   context.CancelFunc
	done     chan error
}

func (s *ownServer) start() error {
	log, err := os.OpenFile(filepath.Join(string(s.goldenFiles), "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	logger := zerolog.New(log)
	config, err := conf.Load(conf.Sources{File: s.file("conf"), Environ: []string{"HOME=" + string(s.goldenFiles), "ROCKETMQ_HOME=" + string(s.goldenFiles)}, Log: logger})
	if err != nil {
		log.Close()
		return err
	}
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		log.Close()
		return err
	}
	server, err := namesrv.New(namesrv.Options{Listener: s.listener, Config: config, Log: logger})
	if err != nil {
		s.listener.Close()
		log.Close()
		return err
	}
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(context.Background())
	s.done = make(chan error, 1)
	go func() {
		s.done <- server.Run(ctx)
		log.Close()
	}()
	return nil
}

func (s *ownServer) addr() string { return s.listener.Addr().String() }

func (s *ownServer) terminate() { s.cancel() }

func (s *ownServer) stop() error {
	s.cancel()
	return <-s.done
}

func (s *ownServer) restart() error {
	if err := s.stop(); err != nil {
		return err
	}
	return s.start()
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// refusesToStart judges a start that must fail.
func refusesToStart(s goldenServer, err error, want []string) []string {
	if err == nil {
		_ = s.stop()
		return []string{"the server starts, although it must not"}
	}
	var out []string
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			out = append(out, fmt.Sprintf("the start fails without naming %q: %v", text, err))
		}
	}
	return out
}

// commandServer is a NameServer in a process of its own.
type commandServer struct {
	goldenFiles
	command string
	port    int
	cmd     *exec.Cmd
	exited  chan struct{}
}

func (s *commandServer) addr() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// start runs the command in a process group of its own and waits until the server answers.
func (s *commandServer) start() error {
	log, err := os.OpenFile(filepath.Join(string(s.goldenFiles), "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	s.cmd = exec.Command("sh", "-c", strings.NewReplacer("{conf}", s.file("conf"), "{work}", string(s.goldenFiles)).Replace(s.command))
	s.cmd.Dir = string(s.goldenFiles)
	out := struct{ io.Writer }{log} // no file: Wait returns when the last writer is gone, not when the shell is
	s.cmd.Stdout, s.cmd.Stderr = out, out
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		log.Close()
		return err
	}
	s.exited = make(chan struct{})
	go func() {
		_ = s.cmd.Wait()
		log.Close()
		close(s.exited)
	}()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		select {
		case <-s.exited:
			text, _ := os.ReadFile(filepath.Join(string(s.goldenFiles), "log"))
			return fmt.Errorf("the server ended: %s", text)
		default:
		}
		if s.answers() {
			return nil
		}
	}
	_ = s.stop()
	return errors.New("the server does not answer")
}

// answers asks for the clusters on a connection of its own.
func (s *commandServer) answers() bool {
	c, err := net.Dial("tcp", s.addr())
	if err != nil {
		return false
	}
	w := newWire()
	w.conn = c
	w.read(c, true)
	defer w.close()
	ask := jsonFrame(`{"code":106,"flag":0,"language":"JAVA","opaque":1,"serializeTypeCurrentRPC":"JSON","version":513}`, "")
	if w.write(ask, nil) != nil {
		return false
	}
	f, _ := w.next(5 * time.Second)
	return f != nil
}

func (s *commandServer) terminate() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGTERM) }

// stop has no patience: nothing looks at what the server leaves.
func (s *commandServer) stop() error {
	s.end(200 * time.Millisecond)
	return nil
}

func (s *commandServer) end(grace time.Duration) {
	s.terminate()
	select {
	case <-s.exited:
	case <-time.After(grace):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.exited
	}
}

func (s *commandServer) restart() error {
	s.end(20 * time.Second)
	return s.start()
}
