// Command mq is a NameServer and a broker for Apache RocketMQ clusters, and the tools around them. See "mq --help".
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mq-server/mq/cmd"
)

func main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup, which has servers outlive their terminal
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop) // the first signal asks for an orderly end, a second one kills
	os.Exit(cmd.Run(ctx, os.Args, os.Stdout, os.Stderr))
}
