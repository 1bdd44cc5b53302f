package bench

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/mq-server/mq/protocol"
)

// Ready is how long a server took from being started to its first answer.
type Ready struct {
	Addr  string        `json:"addr"`
	Nanos time.Duration `json:"readyNanos"`
}

// WaitReady starts command, measures the time until the NameServer at addr answers GET_BROKER_CLUSTER_INFO (106),
// and ends the command with SIGTERM. Its output goes to output.
func WaitReady(ctx context.Context, addr string, command []string, output io.Writer) (*Ready, error) {
	if len(command) == 0 {
		return nil, fmt.Errorf("a command to start the server is needed")
	}
	if c, err := dialCaller(ctx, addr); err == nil {
		c.Close()
		return nil, fmt.Errorf("there is a server at %s already", addr)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // ended by us: its status says nothing
	}()
	for {
		c, err := dialCaller(ctx, addr)
		if err == nil {
			_, err = c.call(newRequest(protocol.ReqGetBrokerClusterInfo, protocol.CurrentVersion, nil, nil), dialTimeout)
			c.Close()
		}
		if err == nil {
			return &Ready{Addr: addr, Nanos: time.Since(start)}, nil
		}
		if time.Since(start) > 30*time.Second {
			return nil, fmt.Errorf("%s does not answer after 30 s: %w", addr, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Microsecond):
		}
	}
}
