package namesrv_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/protocol"
)

// killRounds is how often TestN44KilledWhileWriting kills the server; more of them with this variable.
const killRounds = "MQ_KILL_ROUNDS"

// kvWriter changes one namespace and knows what may be in it.
type kvWriter struct {
	namespace string
	random    *rand.Rand
	sure      map[string]string // after the last change that was acknowledged
	maybe     map[string]string // after the change under way; nil if there is none
	changes   int
}

// write makes changes until the connection ends.
func (w *kvWriter) write(c *client) error {
	for {
		key := strconv.Itoa(w.random.IntN(20))
		w.maybe = maps.Clone(w.sure)
		code, fields := protocol.ReqPutKVConfig, ext("namespace", w.namespace, "key", key)
		if w.random.IntN(4) == 0 {
			code = protocol.ReqDeleteKVConfig
			delete(w.maybe, key)
		} else {
			value := fmt.Sprint(w.changes, " ", strings.Repeat("x", w.random.IntN(100)))
			fields = append(fields, protocol.Field{Key: "value", Value: value})
			w.maybe[key] = value
		}
		answer, err := c.try(code, fields, "")
		if err != nil {
			return nil // the server is dead, and what became of the change is open
		}
		if answer.Code != 0 {
			return fmt.Errorf("%d %s", answer.Code, answer.Remark)
		}
		w.sure, w.maybe = w.maybe, nil
		w.changes++
	}
}

// check compares with what the server has.
func (w *kvWriter) check(c *client) error {
	answer, err := c.try(protocol.ReqGetKVListByNamespace, ext("namespace", w.namespace), "")
	if err != nil {
		return err
	}
	var list struct{ Table map[string]string }
	if answer.Code == 0 {
		if err := json.Unmarshal(answer.Body, &list); err != nil {
			return err
		}
	}
	if got := list.Table; !maps.Equal(got, w.sure) && (w.maybe == nil || !maps.Equal(got, w.maybe)) {
		return fmt.Errorf("%s has %v; acknowledged is %v, under way was %v", w.namespace, got, w.sure, w.maybe)
	}
	w.sure, w.maybe = list.Table, nil
	if w.sure == nil {
		w.sure = map[string]string{}
	}
	return nil
}

var bootLine = regexp.MustCompile(`boot success.*address (\S+)`)

// startBinary starts the real program and waits for its port.
func startBinary(t *testing.T, binary, configFile string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(binary, "namesrv", "-c", configFile)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := bootLine.FindStringSubmatch(lines.Text()); m != nil {
			return cmd, m[1]
		}
	}
	t.Fatalf("no boot line: %v, %v", lines.Err(), cmd.Wait())
	return nil, ""
}

// Whatever moment the process is killed at, nothing that was acknowledged is lost, and it starts again.
func TestN44KilledWhileWriting(t *testing.T) {
	t.Parallel()
	rounds := 5
	if text := os.Getenv(killRounds); text != "" {
		var err error
		rounds, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "mq")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/mq-server/mq").CombinedOutput()
	require.NoError(t, err, "%s", out)
	configFile := filepath.Join(dir, "namesrv.properties")
	require.NoError(t, os.WriteFile(configFile, []byte("bindAddress=127.0.0.1\nlistenPort=0\nkvConfigPath="+filepath.Join(dir, "kvConfig.json")+"\n"), 0o644))

	random := rand.New(rand.NewPCG(44, 0))
	var writers []*kvWriter
	for i := range 4 {
		writers = append(writers, &kvWriter{
			namespace: fmt.Sprint("N", i), random: rand.New(rand.NewPCG(44, uint64(i))), sure: map[string]string{},
		})
	}
	for range rounds {
		cmd, addr := startBinary(t, binary, configFile)
		var g errgroup.Group
		for _, w := range writers {
			conn, err := net.Dial("tcp", addr)
			require.NoError(t, err)
			c := newClient(t, conn)
			require.NoError(t, w.check(c))
			g.Go(func() error {
				defer c.close()
				return w.write(c)
			})
		}
		time.Sleep(time.Duration(50+random.IntN(150)) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		require.NoError(t, g.Wait())
		require.Error(t, cmd.Wait()) // killed
	}
	changes := 0
	for _, w := range writers {
		changes += w.changes
	}
	t.Logf("%d changes acknowledged in %d rounds", changes, rounds)
	require.Greater(t, changes, rounds)
	cmd, addr := startBinary(t, binary, configFile)
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	c := newClient(t, conn)
	defer c.close()
	for _, w := range writers {
		require.NoError(t, w.check(c))
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait())
}
