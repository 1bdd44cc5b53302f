package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/broker"
	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/namesrv"
	"github.com/mq-server/mq/remoting"
)

const standaloneName = "standalone"

const standaloneText = `Everything is kept under DIR, and found again by the next start:

  DIR/store/                            topics, consumer groups and their offsets
  DIR/store/config/broker.properties    the broker's configuration, if it has been updated
  DIR/namesrv/                          key-value configuration and namesrv.properties of the NameServer

These are the files that mq broker and mq namesrv have, and that their commands can go on with: DIR takes the place of the
home folder. --set and MQ_… variables configure the broker, but for addresses and ports; paths in variables do not count. A
port of 0 is any that is free; the line "mq standalone ready" tells which. One Ctrl-C or SIGTERM ends the broker first and
then the NameServer.`

// notInStandalone are keys that --set cannot set here, and why.
var notInStandalone = map[string]string{
	"listenPort": "use --broker-port", "bindAddress": "use --bind", "namesrvAddr": "the broker registers with the NameServer beside it",
}

// standaloneKeys are those that --set can set.
func standaloneKeys() []conf.Key {
	return slices.DeleteFunc(conf.BrokerKeys(), func(k conf.Key) bool { return notInStandalone[k.Name] != "" })
}

func standaloneCommand() *cli.Command {
	return &cli.Command{
		Name:        standaloneName,
		Usage:       "run a NameServer and a broker in one process, to try things out and to test against",
		UsageText:   "mq standalone [-d DIR] [--namesrv-port PORT] [--broker-port PORT] [--set KEY=VALUE]...",
		Description: standaloneText,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "dir", Aliases: []string{"d"}, Value: "mq-data", Usage: "`DIR` for all data; made if need be"},
			&cli.IntFlag{Name: "namesrv-port", Value: 9876, Usage: "`PORT` of the NameServer"},
			&cli.IntFlag{Name: "broker-port", Value: 10911, Usage: "`PORT` of the broker; the one for clients with vipChannelEnabled is lower by 2"},
			&cli.StringFlag{Name: "bind", Value: "0.0.0.0", Usage: "`ADDRESS` at which both listen"},
			&cli.StringSliceFlag{Name: "set", Usage: "`KEY=VALUE` to configure the broker; may be given several times"},
		}, logFlags()...),
		Action: runStandalone,
	}
}

func runStandalone(c *cli.Context) error {
	log, err := newLogger(c, c.App.ErrWriter)
	if err != nil {
		return err
	}
	for _, flag := range []string{"namesrv-port", "broker-port"} {
		if port := c.Int(flag); port < 0 || port > 65535 {
			return fmt.Errorf("--%s: %d is not a port", flag, port)
		}
	}
	if c.String("dir") == "" {
		return errors.New("--dir: the name of a folder is missing")
	}
	dir, err := filepath.Abs(c.String("dir"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	codec, err := serializeType(os.Getenv(serializeTypeVariable))
	if err != nil {
		return err
	}
	for _, item := range c.StringSlice("set") {
		key, _, _ := strings.Cut(item, "=")
		if reason, ok := notInStandalone[strings.TrimSpace(key)]; ok {
			return fmt.Errorf("--set %s: %s", strings.TrimSpace(key), reason)
		}
	}
	bind := "bindAddress=" + c.String("bind")
	own, inherited := standaloneEnviron(os.Environ(), dir)

	// The NameServer comes first: the broker is told its address.
	namesrvStore, err := conf.Load(conf.Sources{
		Set: []string{bind, "listenPort=" + strconv.Itoa(c.Int("namesrv-port"))}, Environ: own, Log: log,
	})
	var value *conf.ValueError
	if errors.As(err, &value) && value.Key == "bindAddress" {
		return fmt.Errorf("--bind: %s is not %s", value.Value, value.Want)
	}
	if err != nil {
		return err
	}
	namesrvLn, err := listen(c.Context, namesrvStore.Server().BindAddress, namesrvStore.Server().ListenPort)
	if err != nil {
		return err
	}
	defer namesrvLn.Close() // for a start that fails; a server closes it first
	namesrvPort := namesrvLn.Addr().(*net.TCPAddr).Port
	namesrvStore.SetListenPort(namesrvPort)

	brokerStore, err := conf.LoadBroker(conf.Sources{
		Set:         append(c.StringSlice("set"), bind, "listenPort="+strconv.Itoa(c.Int("broker-port"))),
		NameServers: fromHere(namesrvLn.Addr().(*net.TCPAddr)),
		Environ:     append(own, inherited...), NotKeys: []string{configFileVariable, logLevelVariable, logFormatVariable}, Log: log,
	})
	if err != nil {
		return err
	}
	mainLn, fastLn, err := listenBroker(c.Context, brokerStore)
	if err != nil {
		return err
	}
	defer mainLn.Close()
	defer fastLn.Close()

	namesrvTLS, err := remoting.NewTLS(tlsOptions(namesrvStore.Snapshot()), log)
	if err != nil {
		return err
	}
	brokerTLS, err := remoting.NewTLS(tlsOptions(brokerStore.Snapshot()), log)
	if err != nil {
		return err
	}
	namesrvLog, brokerLog := log.With().Str("server", namesrvName).Logger(), log.With().Str("server", brokerName).Logger()
	namesrvServer, err := namesrv.New(namesrv.Options{
		Listener: namesrvLn, Config: namesrvStore, TLS: namesrvTLS,
		Client: clientConfig(namesrvStore.Snapshot(), namesrvTLS, codec, namesrvLog), Codec: codec, Log: namesrvLog,
	})
	if err != nil {
		return err
	}
	brokerServer, err := broker.New(broker.Options{
		Main: mainLn, Fast: fastLn, Config: brokerStore, TLS: brokerTLS,
		Client: clientConfig(brokerStore.Snapshot(), brokerTLS, codec, brokerLog), Codec: codec, Log: brokerLog,
		ZoneName: os.Getenv(zoneVariable), ZoneMode: os.Getenv(zoneModeVariable),
	})
	if err != nil {
		return err
	}
	namesrvStore.LogNotes()
	brokerStore.LogNotes()
	log.Info().Str("version", Version).Int("pid", os.Getpid()).Str("dir", dir).Msg("standalone runs")

	config := brokerStore.Snapshot()
	ready := fmt.Sprintf("mq standalone ready: NameServer %s, broker %s, data in %s\n",
		conf.HostPort(reachable(c.String("bind"), config.Broker.BrokerIP1), namesrvPort), config.Addr(), dir)
	err = runBoth(c.Context, namesrvServer, brokerServer, func() { fmt.Fprint(c.App.Writer, ready) })
	log.WithLevel(endLevel(err)).Err(err).Msg("standalone has ended")
	return err
}

// runBoth runs a NameServer and a broker until ctx ends or one fails, and calls ready once the one knows the other. The
// broker ends first, so that it can take its leave.
func runBoth(ctx context.Context, n *namesrv.Server, b *broker.Server, ready func()) error {
	g, all := errgroup.WithContext(ctx)
	namesrvCtx, stopNamesrv := context.WithCancel(context.WithoutCancel(ctx))
	defer stopNamesrv()
	g.Go(func() error { return n.Run(namesrvCtx) })
	g.Go(func() error {
		defer stopNamesrv()
		return b.Run(all)
	})
	g.Go(func() error {
		select {
		case <-b.Registered():
			ready()
		case <-all.Done():
		}
		return nil
	})
	return g.Wait()
}

// standaloneEnviron splits the environment for servers whose home is dir: what is for both, and what configures the broker.
// Neither has what would lead out of dir: who has the folders of another broker in the environment does not mean them here.
func standaloneEnviron(environ []string, dir string) (both, broker []string) {
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		key := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		switch {
		case slices.Contains([]string{"HOME", "NAMESRV_ADDR", "ROCKETMQ_HOME"}, name):
		case strings.HasPrefix(name, "MQ_") && strings.Contains(key, "path") && !strings.HasPrefix(key, "mqtls"):
		case strings.HasPrefix(name, "MQ_"):
			broker = append(broker, variable)
		default:
			both = append(both, variable)
		}
	}
	return append(both, "HOME="+dir), broker
}

// fromHere is where this process reaches a listener at addr.
func fromHere(addr *net.TCPAddr) string {
	if addr.IP.IsUnspecified() {
		return conf.HostPort("127.0.0.1", addr.Port)
	}
	return addr.String()
}

// reachable is host, or instead if that is a wildcard.
func reachable(host, instead string) string {
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && ip.IsUnspecified() {
		return instead
	}
	return host
}
