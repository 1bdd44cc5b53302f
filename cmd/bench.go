package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/mq-server/mq/cmd/bench"
	"github.com/mq-server/mq/protocol"
)

const benchText = `Works against any RocketMQ NameServer. Latencies are measured per answer from the moment its request was due or written;
errors are answers with another code than 0, lost requests and lost connections.`

// benchCommand is "mq bench": load for any RocketMQ NameServer.
func benchCommand() *cli.Command {
	return &cli.Command{
		Name:        "bench",
		Usage:       "load a RocketMQ NameServer and measure it",
		Description: benchText,
		Subcommands: []*cli.Command{benchRoute(), benchRegister(), benchLose(), benchEcho(), benchReady()},
		Action:      listCommands,
	}
}

func benchAddrFlag() cli.Flag {
	return &cli.StringFlag{Name: "addr", Aliases: []string{"n"}, Value: "127.0.0.1:9876", Usage: "`HOST:PORT` of the NameServer"}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print the result as one line of JSON; durations are nanoseconds"}
}

// loadFlags are the flags of all closed-loop runs but the number of connections.
func loadFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "depth", Value: 1, Usage: "requests in flight per connection"},
		&cli.DurationFlag{Name: "duration", Aliases: []string{"d"}, Value: 10 * time.Second, Usage: "measured time"},
		&cli.DurationFlag{Name: "warmup", Value: 2 * time.Second, Usage: "time before it that is not measured"},
		&cli.IntFlag{Name: "count", Usage: "requests per connection, instead of a duration"},
		&cli.Float64Flag{Name: "rate", Usage: "requests per second over all connections; 0: as fast as answers come"},
		&cli.DurationFlag{Name: "hold", Usage: "keep the connections open for this long after the result"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no progress line on stderr"},
		jsonFlag(),
	}
}

func brokerFlags(brokers, topics int) []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "brokers", Value: brokers, Usage: "brokers to register"},
		&cli.IntFlag{Name: "topics", Value: topics, Usage: "topics of each broker"},
		&cli.BoolFlag{Name: "own-topics", Usage: "each broker has topics of its own, instead of all having the same"},
		&cli.IntFlag{Name: "queues", Value: 8, Usage: "queues of each topic"},
		&cli.BoolFlag{Name: "compressed", Usage: "registrations as zlib streams"},
	}
}

func brokersOf(c *cli.Context) bench.Brokers {
	return bench.Brokers{
		Count: c.Int("brokers"), Topics: c.Int("topics"), OwnTopics: c.Bool("own-topics"), Queues: c.Int("queues"), Compressed: c.Bool("compressed"),
	}
}

func loadOf(c *cli.Context) bench.Load {
	l := bench.Load{
		Addr: c.String("addr"), Connections: c.Int("connections"), Depth: c.Int("depth"), Duration: c.Duration("duration"),
		WarmUp: c.Duration("warmup"), Rate: c.Float64("rate"), Count: c.Int("count"),
	}
	if !c.Bool("quiet") {
		l.Progress = progressLine(c.App.ErrWriter)
	}
	l.Hold = func(r *bench.Report) {
		hold := c.Duration("hold")
		if hold <= 0 {
			return
		}
		fmt.Fprintf(c.App.ErrWriter, "%d answers, %d errors; holding the connections for %s\n", r.Answers, r.Errors, hold)
		select {
		case <-c.Context.Done():
		case <-time.After(hold):
		}
	}
	return l
}

// progressLine writes one line that it overwrites on a terminal, and a line each second elsewhere.
func progressLine(w io.Writer) func(bench.Progress) {
	start, end := "", "\n"
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			start, end = "\r\x1b[K", ""
		}
	}
	return func(p bench.Progress) {
		phase := ""
		if p.WarmUp {
			phase = " (warming up)"
		}
		fmt.Fprintf(w, "%s%4.0fs  %9.0f/s  %d answers  %d errors%s%s", start, p.Elapsed.Seconds(), p.PerSec, p.Answers, p.Errors, phase, end)
	}
}

func printReport(c *cli.Context, r *bench.Report, err error) error {
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return r.WriteJSON(c.App.Writer)
	}
	if !c.Bool("quiet") {
		fmt.Fprintln(c.App.ErrWriter)
	}
	return r.WriteText(c.App.Writer)
}

func connectionsFlag() cli.Flag {
	return &cli.IntFlag{Name: "connections", Aliases: []string{"c"}, Value: 16, Usage: "connections"}
}

func benchRoute() *cli.Command {
	flags := append([]cli.Flag{benchAddrFlag(), connectionsFlag()}, loadFlags()...)
	flags = append(flags, brokerFlags(2, 100)...)
	return &cli.Command{
		Name:        "route",
		Usage:       "ask for topic routes (GET_ROUTEINFO_BY_TOPIC, 105)",
		Description: "Registers brokers of cluster mq-bench, asks for their topics in turn, and unregisters them at the end.",
		Flags: append(flags,
			&cli.StringFlag{Name: "topic", Usage: "ask for this existing `TOPIC` only and register nothing"},
			&cli.IntFlag{Name: "version", Value: int(protocol.CurrentVersion), Usage: "version announced: from 401 on routes come as strict JSON, below in the legacy form"},
		),
		Action: func(c *cli.Context) error {
			r, err := bench.RunRoute(c.Context, bench.RouteOptions{
				Load: loadOf(c), Brokers: brokersOf(c), Topic: c.String("topic"), Version: protocol.Version(c.Int("version")),
			})
			return printReport(c, r, err)
		},
	}
}

func benchRegister() *cli.Command {
	flags := append([]cli.Flag{benchAddrFlag()}, loadFlags()...)
	flags = append(flags, brokerFlags(16, 10_000)...)
	return &cli.Command{
		Name:        "register",
		Usage:       "register brokers over and over (REGISTER_BROKER, 103)",
		Description: "Each broker of cluster mq-bench registers all its topics over a connection of its own.",
		Flags: append(flags,
			&cli.StringFlag{Name: "change", Value: string(bench.ChangeNothing), Usage: "what differs from one registration of a broker to its next: nothing, or the data `version`"},
		),
		Action: func(c *cli.Context) error {
			r, err := bench.RunRegister(c.Context, bench.RegisterOptions{
				Load: loadOf(c), Brokers: brokersOf(c), Change: bench.Change(c.String("change")),
			})
			return printReport(c, r, err)
		},
	}
}

func benchLose() *cli.Command {
	return &cli.Command{
		Name:        "lose",
		Usage:       "close brokers' connections and measure how long they stay known",
		Description: "Registers brokers of cluster mq-bench, then closes one connection after the other; a lost broker registers again.",
		Flags: append(append([]cli.Flag{benchAddrFlag()}, brokerFlags(300, 10_000)...),
			&cli.IntFlag{Name: "rounds", Value: 20, Usage: "brokers to lose"}, jsonFlag()),
		Action: func(c *cli.Context) error {
			r, err := bench.RunLose(c.Context, c.String("addr"), brokersOf(c), c.Int("rounds"))
			return printReport(c, r, err)
		},
	}
}

func benchEcho() *cli.Command {
	flags := append([]cli.Flag{
		&cli.StringFlag{Name: "addr", Usage: "`HOST:PORT` of a server started with --serve; none: one in this process"},
		&cli.StringFlag{Name: "serve", Usage: "only serve, at `HOST:PORT`, until a signal comes"},
		&cli.IntFlag{Name: "request-bytes", Value: 130, Usage: "size of a request frame"},
		&cli.IntFlag{Name: "response-bytes", Value: 500, Usage: "size of a response frame"},
		connectionsFlag(),
	}, loadFlags()...)
	return &cli.Command{
		Name:        "echo",
		Usage:       "load a bare TCP server with frames of the same sizes: the ceiling to compare with",
		Description: "The server answers each frame with one of a fixed size and looks at nothing. Take the sizes from a run of mq bench route.",
		Flags:       flags,
		Action: func(c *cli.Context) error {
			if at := c.String("serve"); at != "" {
				ln, err := net.Listen("tcp", at)
				if err != nil {
					return err
				}
				fmt.Fprintf(c.App.Writer, "echo ready, address %s\n", ln.Addr())
				return bench.Echo{Listener: ln, ResponseBytes: c.Int("response-bytes")}.Run(c.Context)
			}
			r, err := bench.RunEcho(c.Context, loadOf(c), c.Int("request-bytes"), c.Int("response-bytes"))
			return printReport(c, r, err)
		},
	}
}

func benchReady() *cli.Command {
	return &cli.Command{
		Name:      "ready",
		Usage:     "start a NameServer and measure the time to its first answer",
		ArgsUsage: "-- COMMAND [ARG...]",
		Flags:     []cli.Flag{benchAddrFlag(), jsonFlag()},
		Action: func(c *cli.Context) error {
			ready, err := bench.WaitReady(c.Context, c.String("addr"), c.Args().Slice(), c.App.ErrWriter)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return json.NewEncoder(c.App.Writer).Encode(ready)
			}
			_, err = fmt.Fprintf(c.App.Writer, "ready at %s after %s\n", ready.Addr, ready.Nanos.Round(10*time.Microsecond))
			return err
		},
	}
}
