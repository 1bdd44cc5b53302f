package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Version is that of this program; set with -ldflags "-X github.com/mq-server/mq/cmd.Version=…".
var Version = "dev"

// Run does what the command line args (with the program's name first) ask for, until it is done or ctx ends, and
// returns the exit status: 0, or 1 after one line on stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	app := newApp(stdout, stderr)
	if len(args) > 1 && args[1] == completeCommand {
		printCompletions(app, args[2:])
		return 0
	}
	if len(args) > 1 {
		args = append(args[:1:1], helpLast(app.Commands, args[1:])...)
	}
	err := app.RunContext(ctx, tolerant(app, args))
	if err == nil {
		return 0
	}
	status := 1
	var coder cli.ExitCoder
	if errors.As(err, &coder) {
		status = coder.ExitCode()
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(stderr, "mq: %s\n", oneLine(err))
	}
	return status
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:    "mq",
		Usage:   "a NameServer and a broker for Apache RocketMQ, and their tools",
		Version: Version,
		Description: "Takes the place of the Java NameServer and broker of RocketMQ 4.x and 5.x: same protocol, same configuration files.\n" +
			"Try:  mq standalone\n" +
			"and:  mq admin clusterList -n 127.0.0.1:9876",
		Commands:                  []*cli.Command{namesrvCommand(), brokerCommand(), standaloneCommand(), adminCommand(), benchCommand(), completionCommand()},
		Writer:                    stdout,
		ErrWriter:                 stderr,
		DisableSliceFlagSeparator: true, // values have commas
		ExitErrHandler:            func(*cli.Context, error) {},
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" {
				return fmt.Errorf("there is no command %q (see mq --help)", name)
			}
			return cli.ShowAppHelp(c)
		},
		HideHelpCommand: true,
	}
	cli.VersionPrinter = func(c *cli.Context) {
		fmt.Fprintf(c.App.Writer, "mq %s (as RocketMQ 5.5.0) %s %s/%s\n", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}
	app.OnUsageError = usageError
	allCommands(app.Commands, func(c *cli.Command) {
		c.OnUsageError = usageError
		c.HideHelpCommand = true
		if c.Subcommands == nil && c.ArgsUsage == "" {
			c.Before = noWords
		}
	})
	return app
}

// usageError makes one line of a mistake in the command line.
func usageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		text = "unrecognized option: " + name
	}
	return fmt.Errorf("%s (see %s --help)", text, c.Command.HelpName)
}

// listCommands is what a command with subcommands does without one.
func listCommands(c *cli.Context) error {
	if name := c.Args().First(); name != "" {
		return fmt.Errorf("there is no command %q (see %s --help)", name, c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

// noWords refuses words that are no options. The library takes the options behind them for words as well.
func noWords(c *cli.Context) error {
	if c.Args().Present() {
		return fmt.Errorf("unexpected %q (see %s --help)", c.Args().First(), c.Command.HelpName)
	}
	return nil
}

func allCommands(commands []*cli.Command, visit func(*cli.Command)) {
	for _, c := range commands {
		visit(c)
		allCommands(c.Subcommands, visit)
	}
}

// helpLast turns "help" in the place of a command into "--help" at the end: of "mq help broker" it makes "mq broker --help".
func helpLast(commands []*cli.Command, words []string) []string {
	for i, word := range words {
		if word == "help" {
			return append(slices.Concat(words[:i], words[i+1:]), "--help")
		}
		known := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		if known < 0 || commands[known].Subcommands == nil {
			break
		}
		commands = commands[known].Subcommands
	}
	return words
}

// tolerant rewrites the options that the programs of RocketMQ accept and the library does not. mqnamesrv and mqbroker
// ignore other words, so these are left out here (spec/namesrv.md §1.1, spec/broker.md §1.1).
func tolerant(app *cli.App, args []string) []string {
	if len(args) < 2 {
		return args
	}
	switch args[1] {
	case namesrvName, brokerName:
		options, _ := tolerantOptions(append(app.Command(args[1]).Flags, cli.HelpFlag), args[2:])
		return append(args[:2:2], options...)
	case adminName:
		return append(args[:2:2], adminArgs(app, args[2:])...)
	}
	return args
}

// tolerantOptions finds the options among words, up to "--", and rewrites -cFILE as -c FILE, -pm as -p -m, and unambiguous
// beginnings of long names. The rest are "--" and what follows, and words that are no options.
func tolerantOptions(flags []cli.Flag, words []string) (options, rest []string) {
	for ; len(words) > 0 && words[0] != "--"; words = words[1:] {
		arg := words[0]
		flag := (cli.Flag)(nil)
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case !strings.HasPrefix(arg, "-") || name == "":
			rest = append(rest, arg)
			continue
		case findFlag(flags, name) != nil:
			flag = findFlag(flags, name)
		case strings.HasPrefix(arg, "--"):
			if long := uniqueFlag(flags, name); long != "" {
				arg = "--" + long + strings.TrimPrefix(arg, "--"+name)
				flag = findFlag(flags, long)
			}
		default:
			if letters, value, ok := bundle(flags, arg[1:]); ok {
				options = append(options, letters[:len(letters)-1]...)
				arg, flag = letters[len(letters)-1], findFlag(flags, letters[len(letters)-1][1:])
				if value != "" {
					options = append(options, arg)
					arg, hasValue = value, true
				}
			}
		}
		options = append(options, arg)
		if takesValue(flag) && !hasValue && len(words) > 1 {
			options = append(options, words[1])
			words = words[1:]
		}
	}
	return options, append(rest, words...)
}

func findFlag(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	return nil
}

// bundle takes short options that are written as one apart, such as pm, cFILE or pcFILE. Only the last may have a value.
func bundle(flags []cli.Flag, text string) (options []string, value string, ok bool) {
	for i, letter := range text {
		name := string(letter)
		flag := findFlag(flags, name)
		if flag == nil {
			return nil, "", false
		}
		options = append(options, "-"+name)
		if takesValue(flag) {
			return options, text[i+len(name):], true
		}
	}
	return options, "", true
}

// uniqueFlag returns the long name that begins like this, "" if there is none or more than one.
func uniqueFlag(flags []cli.Flag, beginning string) string {
	found := ""
	for _, f := range flags {
		for _, n := range f.Names() {
			if len(n) > 1 && strings.HasPrefix(n, beginning) {
				if found != "" {
					return ""
				}
				found = n
			}
		}
	}
	return found
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}
