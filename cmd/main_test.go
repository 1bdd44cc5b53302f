package cmd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the program, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "mq")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "mq")
	build := exec.CommandContext(context.Background(), "go", "build", "-ldflags", "-X github.com/mq-server/mq/cmd.Version=1.2.3", "-o", binary, "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Printf("%v\n%s", err, out)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}
