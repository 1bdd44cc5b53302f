package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/mq-server/mq/broker"
	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

const brokerName = "broker"

const brokerText = `Registers with the NameServers of LIST, of RocketMQ 4.x and 5.x or mq's own. FILE is the properties file of the Java broker.

Later wins: defaults, NAMESRV_ADDR and ROCKETMQ_HOME, FILE, the file of brokerConfigPath, the file of tls.config.file,
MQ_… variables, --set and -n. The variable of a key is MQ_ and its name, with or without underscores: MQ_BROKER_NAME for
brokerName. -p shows what comes of it, -m the important part. ROCKETMQ_SERIALIZE_TYPE (JSON or ROCKETMQ) is the encoding of
headers that are sent.

Updates at run time (mqadmin updateBrokerConfig) are kept in the file of brokerConfigPath, else in FILE, else in
~/store/config/broker.properties, which is read at the next start.`

func brokerCommand() *cli.Command {
	return &cli.Command{
		Name:        brokerName,
		Usage:       "run a broker",
		UsageText:   "mq broker [-c FILE] [-n LIST] [--set KEY=VALUE]...\nmq broker [-c FILE] [-n LIST] -p|-m",
		Description: brokerText,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "configFile", Aliases: []string{"c"}, TakesFile: true, EnvVars: []string{configFileVariable}, Usage: "properties `FILE`"},
			&cli.StringFlag{Name: "namesrvAddr", Aliases: []string{"n"}, Usage: "`LIST` of NameServers, host:port;host:port"},
			&cli.BoolFlag{Name: "printConfigItem", Aliases: []string{"p"}, Usage: "print all configuration items and exit"},
			&cli.BoolFlag{Name: "printImportantConfig", Aliases: []string{"m"}, Usage: "print the important configuration items and exit"},
			&cli.StringSliceFlag{Name: "set", Usage: "`KEY=VALUE` to configure; may be given several times"},
		}, logFlags()...),
		Action: runBroker,
	}
}

// Variables that say where the broker is; NameServers are told.
const (
	zoneVariable     = "ROCKETMQ_ZONE"
	zoneModeVariable = "ROCKETMQ_ZONE_MODE"
)

// badAddressStatus is the exit status of the Java broker, -3, for a list of NameServers that is none, and for a slave
// without an id of its own (spec/broker.md §1.3).
const badAddressStatus = 253

func runBroker(c *cli.Context) error {
	src, err := sources(c)
	if err != nil {
		return err
	}
	log := src.Log
	if src.NameServers = c.String("namesrvAddr"); src.NameServers == "" && c.IsSet("namesrvAddr") {
		return errors.New("-n: the list of NameServers is missing")
	}
	store, err := conf.LoadBroker(src)
	var value *conf.ValueError
	if errors.As(err, &value) && (value.Key == "namesrvAddr" || value.Key == "brokerId") {
		return cli.Exit(err, badAddressStatus)
	}
	if err != nil {
		return err
	}
	switch {
	case c.Bool("printConfigItem"):
		store.LogNotes()
		return store.Print(c.App.Writer)
	case c.Bool("printImportantConfig"):
		store.LogNotes()
		return store.PrintImportant(c.App.Writer)
	}
	codec, err := serializeType(os.Getenv(serializeTypeVariable))
	if err != nil {
		return err
	}
	mainLn, fastLn, err := listenBroker(c.Context, store)
	if err != nil {
		return err
	}
	defer mainLn.Close() // for a start that fails; a server closes them first
	defer fastLn.Close()
	tls, err := remoting.NewTLS(tlsOptions(store.Snapshot()), log)
	if err != nil {
		return err
	}
	server, err := broker.New(broker.Options{
		Main: mainLn, Fast: fastLn, Config: store, TLS: tls, Client: clientConfig(store.Snapshot(), tls, codec, log),
		Codec: codec, Log: log,
		ZoneName: os.Getenv(zoneVariable), ZoneMode: os.Getenv(zoneModeVariable),
	})
	if err != nil {
		return err
	}
	store.LogNotes()
	fmt.Fprintln(c.App.Writer, brokerBootLine(store.Snapshot(), codec))
	log.Info().Str("version", Version).Int("pid", os.Getpid()).Str("address", mainLn.Addr().String()).Str("fastAddress", fastLn.Addr().String()).Msg("broker runs")
	err = server.Run(c.Context)
	log.WithLevel(endLevel(err)).Err(err).Msg("broker has ended")
	return err
}

// listenBroker binds the broker's ports and tells store about the main one.
func listenBroker(ctx context.Context, store *conf.BrokerStore) (mainLn, fastLn net.Listener, err error) {
	config := store.Snapshot()
	if mainLn, err = listen(ctx, config.Server.BindAddress, config.Server.ListenPort); err != nil {
		return nil, nil, err
	}
	if fastLn, err = listen(ctx, config.Server.BindAddress, config.FastPort()); err != nil {
		mainLn.Close()
		return nil, nil, fmt.Errorf("port for clients with vipChannelEnabled, listenPort-2: %w", err)
	}
	if port := mainLn.Addr().(*net.TCPAddr).Port; port != config.Server.ListenPort {
		store.SetListenPort(port)
	}
	return mainLn, fastLn, nil
}

// brokerBootLine is the line on stdout that says that the broker serves (spec/broker.md §1.4). Scripts look for
// "boot success".
func brokerBootLine(c *conf.Config, codec protocol.Codec) string {
	line := fmt.Sprintf("The broker[%s, %s] boot success. serializeType=%s", c.Broker.BrokerName, c.Addr(), codecNames[codec])
	if c.Broker.NamesrvAddr != "" {
		line += " and name server is " + c.Broker.NamesrvAddr
	}
	return line
}
