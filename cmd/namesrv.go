package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/rs/zerolog"
	"github.com/urfave/cli/v2"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/namesrv"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

const namesrvName = "namesrv"

const namesrvText = `Serves brokers, clients and mqadmin of RocketMQ 4.x and 5.x. FILE is the properties file of the Java NameServer.

Later wins: defaults, ROCKETMQ_HOME, FILE, the file of tls.config.file, MQ_… variables, --set. The variable of a key is
MQ_ and its name, with or without underscores: MQ_LISTEN_PORT for listenPort, MQ_TLS_SERVER_MODE for tls.server.mode.
-p shows what comes of it. ROCKETMQ_SERIALIZE_TYPE (JSON or ROCKETMQ) is the encoding of headers that are sent.

Without -c, updates at run time (mqadmin updateNamesrvConfig) are kept in ~/namesrv/namesrv.properties, which is
read at the next start.`

func namesrvCommand() *cli.Command {
	return &cli.Command{
		Name:        namesrvName,
		Usage:       "run a NameServer",
		UsageText:   "mq namesrv [-c FILE] [--set KEY=VALUE]...\nmq namesrv [-c FILE] -p",
		Description: namesrvText,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "configFile", Aliases: []string{"c"}, TakesFile: true, EnvVars: []string{configFileVariable}, Usage: "properties `FILE`"},
			&cli.BoolFlag{Name: "printConfigItem", Aliases: []string{"p"}, Usage: "print all configuration items and exit"},
			&cli.StringSliceFlag{Name: "set", Usage: "`KEY=VALUE` to configure; may be given several times"},
			&cli.StringFlag{Name: "namesrvAddr", Aliases: []string{"n"}, Usage: "accepted for the sake of old scripts; `LIST` has no effect"},
		}, logFlags()...),
		Action: runNamesrv,
	}
}

const configFileVariable = "MQ_CONFIG_FILE"

func runNamesrv(c *cli.Context) error {
	src, err := sources(c)
	if err != nil {
		return err
	}
	log := src.Log
	store, err := conf.Load(src)
	if err != nil {
		return err
	}
	if c.Bool("printConfigItem") {
		store.LogNotes()
		return store.Print(c.App.Writer)
	}
	codec, err := serializeType(os.Getenv(serializeTypeVariable))
	if err != nil {
		return err
	}
	production := namesrv.Production{}
	if store.Namesrv().ClusterTest {
		if production, err = namesrv.ProductionFromEnviron(os.Getenv); err != nil {
			return err
		}
	}
	ln, err := listen(c.Context, store.Server().BindAddress, store.Server().ListenPort)
	if err != nil {
		return err
	}
	defer ln.Close() // for a start that fails; a server closes it first
	port := ln.Addr().(*net.TCPAddr).Port
	if port != store.Server().ListenPort {
		store.SetListenPort(port)
	}
	tls, err := remoting.NewTLS(tlsOptions(store.Snapshot()), log)
	if err != nil {
		return err
	}
	server, err := namesrv.New(namesrv.Options{
		Listener: ln, Config: store, TLS: tls, Client: clientConfig(store.Snapshot(), tls, codec, log),
		Codec: codec, Log: log, Production: production,
	})
	if err != nil {
		return err
	}
	store.LogNotes()
	if file := c.String("configFile"); file != "" {
		fmt.Fprintf(c.App.Writer, "load config properties file OK, %s\n", file)
	}
	address := bootAddress(store.Server().BindAddress, ln.Addr().(*net.TCPAddr))
	fmt.Fprintf(c.App.Writer, "The Name Server boot success. serializeType=%s, address %s\n", codecNames[codec], address)
	log.Info().Str("version", Version).Int("pid", os.Getpid()).Str("address", address).Msg("NameServer runs")
	err = server.Run(c.Context)
	log.WithLevel(endLevel(err)).Err(err).Msg("NameServer has ended")
	return err
}

// sources are those of a server's configuration.
func sources(c *cli.Context) (conf.Sources, error) {
	log, err := newLogger(c, c.App.ErrWriter)
	if err != nil {
		return conf.Sources{}, err
	}
	if c.IsSet("configFile") && c.String("configFile") == "" {
		return conf.Sources{}, errors.New("-c: the name of a file is missing")
	}
	return conf.Sources{
		File: c.String("configFile"), Set: c.StringSlice("set"), Environ: os.Environ(),
		NotKeys: []string{configFileVariable, logLevelVariable, logFormatVariable}, Log: log,
	}, nil
}

func endLevel(err error) zerolog.Level {
	if err != nil {
		return zerolog.ErrorLevel
	}
	return zerolog.InfoLevel
}

const serializeTypeVariable = "ROCKETMQ_SERIALIZE_TYPE"

var codecNames = map[protocol.Codec]string{protocol.CodecJSON: "JSON", protocol.CodecBinary: "ROCKETMQ"}

// serializeType reads the value of ROCKETMQ_SERIALIZE_TYPE, the header encoding of all that is sent.
func serializeType(name string) (protocol.Codec, error) {
	if name == "" {
		return protocol.CodecJSON, nil
	}
	for codec, n := range codecNames {
		if n == name {
			return codec, nil
		}
	}
	return 0, fmt.Errorf("%s: %q is neither JSON nor ROCKETMQ", serializeTypeVariable, name)
}

// listen binds to host, an IP address or a name. Both wildcards, 0.0.0.0 and ::, take IPv4 and IPv6 connections, as
// they do in Java.
func listen(ctx context.Context, host string, port int) (net.Listener, error) {
	address := net.JoinHostPort(host, strconv.Itoa(port))
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		return ln, nil
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return nil, fmt.Errorf("cannot listen at %s: bindAddress cannot be resolved: %s", address, dns.Err)
	}
	var sys *os.SyscallError
	if errors.As(err, &sys) {
		err = sys.Err
	}
	return nil, fmt.Errorf("cannot listen at %s: %w", address, err)
}

// bootAddress is the address that the start tells: the real one, but a wildcard as it is configured.
func bootAddress(host string, addr *net.TCPAddr) string {
	if addr.IP.IsUnspecified() {
		return net.JoinHostPort(host, strconv.Itoa(addr.Port))
	}
	return addr.String()
}

func tlsOptions(c *conf.Config) remoting.TLSOptions {
	t := &c.TLS
	return remoting.TLSOptions{
		Mode: t.ServerMode, TestMode: t.TestMode, NeedClientAuth: t.ServerNeedClientAuth,
		KeyPath: t.ServerKeyPath, KeyPassword: t.ServerKeyPassword, CertPath: t.ServerCertPath,
		AuthClient: t.ServerAuthClient, TrustCertPath: t.ServerTrustCertPath,
		ClientEnable: c.Client.UseTLS, ClientKeyPath: t.ClientKeyPath, ClientKeyPassword: t.ClientKeyPassword,
		ClientCertPath: t.ClientCertPath, ClientAuthServer: t.ClientAuthServer, ClientTrustCertPath: t.ClientTrustCertPath,
		Ciphers: t.Ciphers, Protocols: t.Protocols,
	}
}

// clientConfig is how a server makes connections of its own.
func clientConfig(c *conf.Config, tls *remoting.TLS, codec protocol.Codec, log zerolog.Logger) remoting.ClientConfig {
	config := remoting.ClientConfig{
		Log: log, TLS: tls.ClientConfig(), Codec: codec,
		ConnectTimeout: c.Client.ConnectTimeout(), Idle: c.Client.Idle(),
		KeepOnTimeout: !c.Client.ClientCloseSocketIfTimeout, NoGoAwayRetry: !c.Client.EnableReconnectForGoAway,
		SendBuffer: c.Client.ClientSocketSndBufSize, ReceiveBuffer: c.Client.ClientSocketRcvBufSize,
	}
	if config.Idle == 0 {
		config.Idle = -1 // never
	}
	return config
}
