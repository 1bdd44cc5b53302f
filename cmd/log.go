package cmd

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/urfave/cli/v2"
)

var (
	logLevels  = []string{"trace", "debug", "info", "warn", "error", "disabled"}
	logFormats = []string{"console", "json"}
)

const (
	logLevelVariable  = "MQ_LOG_LEVEL"
	logFormatVariable = "MQ_LOG_FORMAT"
)

func logFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "log-level", Value: "info", EnvVars: []string{logLevelVariable}, Usage: "least `LEVEL` to log: trace, debug, info, warn, error, disabled"},
		&cli.StringFlag{Name: "log-format", Value: "console", EnvVars: []string{logFormatVariable}, Usage: "`FORMAT` of the log: console or json"},
	}
}

// newLogger makes the logger that the flags ask for. It writes to stderr.
func newLogger(c *cli.Context, stderr io.Writer) (zerolog.Logger, error) {
	level, err := zerolog.ParseLevel(c.String("log-level"))
	if err != nil || c.String("log-level") == "" {
		return zerolog.Nop(), fmt.Errorf("--log-level %q: want one of %v", c.String("log-level"), logLevels)
	}
	switch format := c.String("log-format"); format {
	case "json":
	case "console":
		file, isFile := stderr.(*os.File)
		stderr = zerolog.ConsoleWriter{Out: stderr, TimeFormat: "2006-01-02 15:04:05.000", NoColor: !isFile || !isTerminal(file)}
	default:
		return zerolog.Nop(), fmt.Errorf("--log-format %q: want one of %v", format, logFormats)
	}
	zerolog.TimeFieldFormat = time.RFC3339Nano
	return zerolog.New(stderr).Level(level).With().Timestamp().Logger(), nil
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
