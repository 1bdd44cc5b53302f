package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/mq-server/mq/cmd/admin"
)

const adminName = "admin"

const adminText = `Commands, options and text output are those of RocketMQ's mqadmin, and the servers may be of RocketMQ 4.x, 5.x or mq's own.
A command that fails anywhere says so in one line on stderr and exits with 1.`

// adminCommand is "mq admin": what mqadmin does.
func adminCommand() *cli.Command {
	return &cli.Command{
		Name:        adminName,
		Usage:       "look at and change NameServers and brokers, as mqadmin does",
		UsageText:   "mq admin COMMAND [-n LIST] [OPTION]...\nmq admin help COMMAND",
		Description: adminText,
		Subcommands: []*cli.Command{
			adminClusterList(),
			adminTopicList(), adminTopicRoute(), adminTopicClusterList(), adminUpdateTopic(), adminDeleteTopic(), adminAllocateMQ(),
			adminUpdateSubGroup(), adminDeleteSubGroup(),
			adminBrokerStatus(), adminGetBrokerConfig(), adminUpdateBrokerConfig(),
			adminGetNamesrvConfig(), adminUpdateNamesrvConfig(), adminUpdateKvConfig(), adminDeleteKvConfig(), adminWipeWritePerm(), adminAddWritePerm(),
			adminProducerConnection(), adminConsumerConnection(),
		},
		Action: listCommands,
	}
}

// adminArgs gives the words after "mq admin" the form that the library takes: the name of a command in its own spelling,
// whatever its case, and options as mqadmin accepts them.
func adminArgs(app *cli.App, words []string) []string {
	if len(words) == 0 {
		return words
	}
	for _, c := range app.Command(adminName).Subcommands {
		if strings.EqualFold(c.Name, words[0]) {
			options, rest := tolerantOptions(append(c.Flags, cli.HelpFlag), words[1:])
			return append(append([]string{c.Name}, options...), rest...)
		}
	}
	return words
}

// adminCall is the work of a command whose options have been read.
type adminCall func(ctx context.Context, client *admin.Client) (admin.Result, error)

// newAdmin makes a command. prepare reads its options and returns its work, which is not done if an option is wrong.
func newAdmin(name, usage string, flags []cli.Flag, prepare func(o *adminOptions) adminCall) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage,
		Flags: append(flags,
			&cli.StringFlag{Name: "namesrvAddr", Aliases: []string{"n"}, EnvVars: []string{"NAMESRV_ADDR"}, Usage: "`LIST` of NameServers, host:port;host:port"},
			&cli.DurationFlag{Name: "timeout", Value: admin.DefaultTimeout, Usage: "how long to wait for an answer"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as one line of JSON"},
		),
		Action: func(c *cli.Context) error { return runAdmin(c, prepare) },
	}
}

func runAdmin(c *cli.Context, prepare func(o *adminOptions) adminCall) error {
	o := &adminOptions{c: c}
	call := prepare(o)
	timeout := c.Duration("timeout")
	switch {
	case o.err != nil:
		return fmt.Errorf("%w (see %s --help)", o.err, c.Command.HelpName)
	case timeout <= 0:
		return fmt.Errorf("--timeout: %s is no time to wait", timeout)
	}
	codec, err := serializeType(os.Getenv(serializeTypeVariable))
	if err != nil {
		return err
	}
	client, err := admin.New(admin.Config{NameServers: c.String("namesrvAddr"), Timeout: timeout, Codec: codec})
	if err != nil {
		return fmt.Errorf("-n: %w", err)
	}
	defer client.Close()
	for {
		result, err := call(c.Context, client)
		if c.Context.Err() != nil {
			if o.interval > 0 {
				return nil // as wished: there is no other end
			}
			return errors.New("interrupted")
		}
		if printErr := printAdmin(c.App.Writer, result, c.Bool("json")); printErr != nil || o.interval == 0 {
			return cmp.Or(printErr, err)
		}
		if err != nil {
			fmt.Fprintf(c.App.ErrWriter, "mq: %s\n", oneLine(err))
		}
		select {
		case <-c.Context.Done():
			return nil
		case <-time.After(o.interval):
		}
	}
}

// printAdmin prints a result if there is one.
func printAdmin(w io.Writer, result admin.Result, asJSON bool) error {
	if result == nil {
		return nil
	}
	var out bytes.Buffer
	if asJSON {
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(result); err != nil {
			return err
		}
	} else {
		result.AppendText(&out)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// outcome makes a result of what a method of the client returns: none of a nil pointer.
func outcome[T any, P interface {
	*T
	admin.Result
}](result P, err error) (admin.Result, error) {
	if result == nil {
		return nil, err
	}
	return result, err
}

// adminOptions reads the options of a command. As in mqadmin, blanks around values do not count.
type adminOptions struct {
	c        *cli.Context
	interval time.Duration // the command is repeated with this pause; 0: done once
	err      error         // the first that is wrong
}

func (o *adminOptions) fail(name, format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("--%s: %s", name, fmt.Sprintf(format, args...))
	}
}

// text returns a value, "" without.
func (o *adminOptions) text(name string) string { return strings.TrimSpace(o.c.String(name)) }

// need returns a value that must be there.
func (o *adminOptions) need(name string) string {
	value := o.text(name)
	if value == "" {
		o.fail(name, "a value is required")
	}
	return value
}

// boolean returns a value that is true or false, in any case.
func (o *adminOptions) boolean(name string, unset bool) bool {
	value := o.text(name)
	switch {
	case !o.c.IsSet(name):
		return unset
	case strings.EqualFold(value, "true"):
		return true
	case !strings.EqualFold(value, "false"):
		o.fail(name, "%q is neither true nor false", value)
	}
	return false
}

// integer returns a whole number of at most bits.
func (o *adminOptions) integer(name string, bits int, unset int64) int64 {
	if !o.c.IsSet(name) {
		return unset
	}
	value := o.text(name)
	n, err := strconv.ParseInt(value, 10, bits)
	if err != nil {
		o.fail(name, "%q is no number of %d bits", value, bits)
	}
	return n
}

func (o *adminOptions) int32(name string, unset int32) int32 {
	return int32(o.integer(name, 32, int64(unset)))
}

// target returns -b or -c.
func (o *adminOptions) target() admin.Target {
	t := admin.Target{Broker: o.text("brokerAddr"), Cluster: o.text("clusterName")}
	if o.err == nil && (t.Broker == "") == (t.Cluster == "") {
		o.err = admin.ErrTarget
	}
	return t
}

// option is a flag with a value and a short name, which may be "".
func option(name, short, usage string) cli.Flag {
	f := &cli.StringFlag{Name: name, Usage: usage}
	if short != "" {
		f.Aliases = []string{short}
	}
	return f
}

func targetOptions() []cli.Flag {
	return []cli.Flag{
		option("brokerAddr", "b", "at the broker with this `HOST:PORT`"),
		option("clusterName", "c", "at the brokers of this `CLUSTER`"),
	}
}

func adminClusterList() *cli.Command {
	return newAdmin("clusterList", "list brokers with their load", []cli.Flag{
		option("clusterName", "c", "only this `CLUSTER`"),
		&cli.BoolFlag{Name: "moreStats", Aliases: []string{"m"}, Usage: "messages of yesterday and today instead"},
		option("interval", "i", "print it again every so many `SECONDS`"),
	}, func(o *adminOptions) adminCall {
		cluster, more := o.text("clusterName"), o.c.Bool("moreStats")
		if o.c.IsSet("interval") {
			seconds := o.int32("interval", 0)
			if o.err == nil && seconds <= 0 {
				o.fail("interval", "%d is no time to wait", seconds)
			}
			o.interval = time.Duration(seconds) * time.Second
		}
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.ClusterList(ctx, cluster, more))
		}
	})
}

func adminTopicList() *cli.Command {
	return newAdmin("topicList", "list topics", []cli.Flag{
		&cli.BoolFlag{Name: "clusterModel", Aliases: []string{"c"}, Usage: "with clusters and consumer groups"},
	}, func(o *adminOptions) adminCall {
		byCluster := o.c.Bool("clusterModel")
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			if byCluster {
				return outcome(client.TopicsByCluster(ctx))
			}
			return outcome(client.TopicList(ctx))
		}
	})
}

func topicOption() cli.Flag { return option("topic", "t", "`TOPIC`") }

func adminTopicRoute() *cli.Command {
	return newAdmin("topicRoute", "show where a topic lives", []cli.Flag{
		topicOption(),
		&cli.BoolFlag{Name: "list", Aliases: []string{"l"}, Usage: "as a table"},
	}, func(o *adminOptions) adminCall {
		topic, table := o.need("topic"), o.c.Bool("list")
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.TopicRoute(ctx, topic, table))
		}
	})
}

func adminTopicClusterList() *cli.Command {
	return newAdmin("topicClusterList", "list the clusters of a topic", []cli.Flag{topicOption()}, func(o *adminOptions) adminCall {
		topic := o.need("topic")
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.TopicClusterList(ctx, topic))
		}
	})
}

func adminUpdateTopic() *cli.Command {
	return newAdmin("updateTopic", "create a topic or change it", append(targetOptions(),
		topicOption(),
		option("readQueueNums", "r", "`NUMBER` of queues to read (default: 8)"),
		option("writeQueueNums", "w", "`NUMBER` of queues to write (default: 8)"),
		option("perm", "p", "permission `BITS`, 2: write, 4: read (default: 6)"),
		option("order", "o", "`true` for an ordered topic, whose order configuration is set in the NameServers then"),
		option("unit", "u", "`true` for a unit topic"),
		option("hasUnitSub", "s", "`true` if it has unit subscriptions"),
		option("attributes", "a", "`CHANGES` of attributes: +name=value to set, -name to remove, separated by commas"),
	), func(o *adminOptions) adminCall {
		at := o.target()
		topic := admin.UpdatedTopic{
			Topic:          o.need("topic"),
			ReadQueueNums:  o.int32("readQueueNums", 8),
			WriteQueueNums: o.int32("writeQueueNums", 8),
			Perm:           o.int32("perm", 6),
			Order:          o.boolean("order", false),
			Attributes:     o.text("attributes"),
		}
		if o.boolean("unit", false) {
			topic.TopicSysFlag |= 1
		}
		if o.boolean("hasUnitSub", false) {
			topic.TopicSysFlag |= 2
		}
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.UpdateTopic(ctx, at, topic))
		}
	})
}

func adminDeleteTopic() *cli.Command {
	return newAdmin("deleteTopic", "delete a topic from a cluster", []cli.Flag{
		topicOption(), option("clusterName", "c", "`CLUSTER` to delete it from"),
	}, func(o *adminOptions) adminCall {
		topic, cluster := o.need("topic"), o.need("clusterName")
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.DeleteTopic(ctx, cluster, topic))
		}
	})
}

func adminAllocateMQ() *cli.Command {
	return newAdmin("allocateMQ", "show how consumers would share the queues of a topic", []cli.Flag{
		topicOption(), option("ipList", "i", "the consumers, `NAME,NAME…`, in the order of their ids"),
	}, func(o *adminOptions) adminCall {
		topic, consumers := o.need("topic"), strings.Split(o.need("ipList"), ",")
		for i := range consumers {
			consumers[i] = strings.TrimSpace(consumers[i])
		}
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.AllocateMQ(ctx, topic, consumers))
		}
	})
}

func groupOption() cli.Flag { return option("groupName", "g", "consumer `GROUP`") }

func adminUpdateSubGroup() *cli.Command {
	return newAdmin("updateSubGroup", "create a consumer group or replace its configuration", append(targetOptions(),
		groupOption(),
		option("consumeEnable", "s", "may consume, `true` or false (default: true)"),
		option("consumeFromMinEnable", "m", "may begin at the oldest message (default: false)"),
		option("consumeBroadcastEnable", "d", "may consume in broadcasting mode (default: false)"),
		option("consumeMessageOrderly", "o", "consumes in order (default: false)"),
		option("retryQueueNums", "q", "`NUMBER` of queues for retries (default: 1)"),
		option("retryMaxTimes", "r", "`NUMBER` of retries (default: 16)"),
		option("groupRetryPolicy", "p", "pauses between retries, as `JSON`"),
		option("brokerId", "i", "`ID` of the broker to consume from (default: 0)"),
		option("whichBrokerWhenConsumeSlowly", "w", "`ID` of the broker for slow consumers (default: 1)"),
		option("notifyConsumerIdsChanged", "a", "tell consumers who joins and leaves (default: true)"),
		option("attributes", "", "`CHANGES` of attributes: +name=value to set, -name to remove, separated by commas"),
	), func(o *adminOptions) adminCall {
		at := o.target()
		g := admin.NewGroup(o.need("groupName"))
		g.ConsumeEnable = o.boolean("consumeEnable", g.ConsumeEnable)
		g.ConsumeFromMinEnable = o.boolean("consumeFromMinEnable", g.ConsumeFromMinEnable)
		g.ConsumeBroadcastEnable = o.boolean("consumeBroadcastEnable", g.ConsumeBroadcastEnable)
		g.ConsumeMessageOrderly = o.boolean("consumeMessageOrderly", g.ConsumeMessageOrderly)
		g.RetryQueueNums = o.int32("retryQueueNums", g.RetryQueueNums)
		g.RetryMaxTimes = o.int32("retryMaxTimes", g.RetryMaxTimes)
		g.BrokerID = o.integer("brokerId", 64, g.BrokerID)
		g.WhichBrokerWhenConsumeSlowly = o.integer("whichBrokerWhenConsumeSlowly", 64, g.WhichBrokerWhenConsumeSlowly)
		g.NotifyConsumerIDsChangedEnable = o.boolean("notifyConsumerIdsChanged", g.NotifyConsumerIDsChangedEnable)
		var err error
		if o.c.IsSet("groupRetryPolicy") {
			if g.GroupRetryPolicy, err = admin.ParseRetryPolicy(o.text("groupRetryPolicy")); err != nil {
				o.fail("groupRetryPolicy", "%v", err)
			}
		}
		if o.c.IsSet("attributes") {
			if g.Attributes, err = admin.ParseAttributes(o.text("attributes")); err != nil {
				o.fail("attributes", "%v", err)
			}
		}
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.UpdateGroup(ctx, at, g))
		}
	})
}

func adminDeleteSubGroup() *cli.Command {
	return newAdmin("deleteSubGroup", "delete a consumer group", append(targetOptions(),
		groupOption(), option("removeOffset", "r", "`true` to delete its offsets as well"),
	), func(o *adminOptions) adminCall {
		at, group, offsets := o.target(), o.need("groupName"), o.boolean("removeOffset", false)
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.DeleteGroup(ctx, at, group, offsets))
		}
	})
}

func adminBrokerStatus() *cli.Command {
	return newAdmin("brokerStatus", "show the runtime figures of brokers", targetOptions(), func(o *adminOptions) adminCall {
		at := o.target()
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.BrokerStatus(ctx, at))
		}
	})
}

func adminGetBrokerConfig() *cli.Command {
	return newAdmin("getBrokerConfig", "show the configuration of brokers", targetOptions(), func(o *adminOptions) adminCall {
		at := o.target()
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.BrokerConfigs(ctx, at))
		}
	})
}

func itemOptions() []cli.Flag {
	return []cli.Flag{option("key", "k", "`KEY` of the item"), option("value", "v", "its new `VALUE`")}
}

// item returns the key and the value, which may be empty but must be given.
func (o *adminOptions) item() (key, value string) {
	key, value = o.need("key"), o.text("value")
	if !o.c.IsSet("value") {
		o.fail("value", "a value is required")
	}
	return key, value
}

func adminUpdateBrokerConfig() *cli.Command {
	return newAdmin("updateBrokerConfig", "change the configuration of brokers", append(append(targetOptions(), itemOptions()...),
		option("updateAllBroker", "a", "`true` for the slaves of the cluster as well"),
	), func(o *adminOptions) adminCall {
		at, slaves := o.target(), o.boolean("updateAllBroker", false)
		key, value := o.item()
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.UpdateBrokerConfig(ctx, at, slaves, key, value))
		}
	})
}

func adminGetNamesrvConfig() *cli.Command {
	return newAdmin("getNamesrvConfig", "show the configuration of NameServers", nil, func(*adminOptions) adminCall {
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.NamesrvConfigs(ctx))
		}
	})
}

func adminUpdateNamesrvConfig() *cli.Command {
	return newAdmin("updateNamesrvConfig", "change the configuration of NameServers", itemOptions(), func(o *adminOptions) adminCall {
		key, value := o.item()
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.UpdateNamesrvConfig(ctx, key, value))
		}
	})
}

func namespaceOption() cli.Flag { return option("namespace", "s", "`NAMESPACE` of the key") }

func adminUpdateKvConfig() *cli.Command {
	return newAdmin("updateKvConfig", "set a value in the NameServers", append(itemOptions(), namespaceOption()), func(o *adminOptions) adminCall {
		namespace := o.need("namespace")
		key, value := o.item()
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.UpdateKV(ctx, namespace, key, value))
		}
	})
}

func adminDeleteKvConfig() *cli.Command {
	return newAdmin("deleteKvConfig", "delete a value from the NameServers", []cli.Flag{
		namespaceOption(), option("key", "k", "`KEY` of the item"),
	}, func(o *adminOptions) adminCall {
		namespace, key := o.need("namespace"), o.need("key")
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.DeleteKV(ctx, namespace, key))
		}
	})
}

func brokerNameOption() []cli.Flag {
	return []cli.Flag{option("brokerName", "b", "`NAME` of the broker")}
}

func adminWipeWritePerm() *cli.Command {
	return newAdmin("wipeWritePerm", "let no client write to a broker: in every NameServer", brokerNameOption(), func(o *adminOptions) adminCall {
		name := o.need("brokerName")
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.WipeWritePerm(ctx, name))
		}
	})
}

func adminAddWritePerm() *cli.Command {
	return newAdmin("addWritePerm", "let clients write to a broker again: in every NameServer", brokerNameOption(), func(o *adminOptions) adminCall {
		name := o.need("brokerName")
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.AddWritePerm(ctx, name))
		}
	})
}

func adminProducerConnection() *cli.Command {
	return newAdmin("producerConnection", "list the producers of a group that are online", []cli.Flag{
		option("producerGroup", "g", "producer `GROUP`"), topicOption(),
	}, func(o *adminOptions) adminCall {
		group, topic := o.need("producerGroup"), o.need("topic")
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.ProducerConnection(ctx, group, topic))
		}
	})
}

func adminConsumerConnection() *cli.Command {
	return newAdmin("consumerConnection", "list the consumers of a group that are online", []cli.Flag{
		option("consumerGroup", "g", "consumer `GROUP`"), option("brokerAddr", "b", "ask only the broker with this `HOST:PORT`"),
	}, func(o *adminOptions) adminCall {
		group, broker := o.need("consumerGroup"), o.text("brokerAddr")
		return func(ctx context.Context, client *admin.Client) (admin.Result, error) {
			return outcome(client.ConsumerConnection(ctx, group, broker))
		}
	})
}
