// Command goclient is the official Go client doing what the lines of its input say; each is answered with one line, which begins
// with "= " so that it is known among what the client logs:
//
//	start NAMESRV GROUP TOPIC   started       the consumer reads TOPIC from its beginning
//	send TOPIC N PREFIX         sent N        bodies PREFIX-0 … PREFIX-(N-1)
//	received N PREFIX SECONDS   received N    distinct bodies that begin with PREFIX, waiting at most so long
//	steady TOPIC PREFIX         steady        sends a message every 100 ms until "rest"
//	rest                        sent N failed M …  and the last error, if any
//	admin NAMESRV               ready         for the commands below
//	create TOPIC BROKERADDR     created       a topic of 4 queues, with the admin client
//	topics                      topics A B …  what the admin client lists, sorted
//	pull NAMESRV GROUP TOPIC    started       a pull consumer, for the commands below; offsets are written QUEUE:OFFSET, by queue
//	position                    0:1 1:-1 …    where it stands, or what the broker says; -1: it does not know
//	move 0:1 …                  moved         moves it, which commits that, one-way, for the queues that it has by then
//	end                         ended         shuts it down
//
// Anything that goes wrong is answered with a line "error …". It is a module of its own: mq itself does not need the client.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/admin"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

type client struct {
	producer rocketmq.Producer
	consumer rocketmq.PushConsumer
	admin    admin.Admin
	pull     rocketmq.PullConsumer
	topic    string // of pull

	mu       sync.Mutex
	received map[string]map[string]bool // prefix, then bodies; guarded by mu

	rest chan struct{} // closed to end the steady sender
	done chan string   // its summary
}

func main() {
	rlog.SetLogLevel("error")
	c := &client{received: map[string]map[string]bool{}}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		answer, err := c.run(strings.Fields(in.Text()))
		if err != nil {
			answer = "error " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Println("= " + answer)
	}
	if c.producer != nil {
		_ = c.consumer.Shutdown()
		_ = c.producer.Shutdown()
	}
}

func (c *client) run(words []string) (string, error) {
	if len(words) == 0 {
		return "", errors.New("empty line")
	}
	words = append(words, "", "", "") // a missing word is an empty one
	switch words[0] {
	case "admin":
		var err error
		c.admin, err = admin.NewAdmin(admin.WithResolver(primitive.NewPassthroughResolver([]string{words[1]})))
		return "ready", err
	case "start":
		return "started", c.start(words[1], words[2], words[3])
	case "send":
		n, err := strconv.Atoi(words[2])
		for i := 0; i < n && err == nil; i++ {
			err = c.send(words[1], fmt.Sprintf("%s-%d", words[3], i))
		}
		return "sent " + words[2], err
	case "received":
		n, err1 := strconv.Atoi(words[1])
		seconds, err2 := strconv.Atoi(words[3])
		return fmt.Sprintf("received %d", c.await(n, words[2], time.Duration(seconds)*time.Second)), errors.Join(err1, err2)
	case "steady":
		c.rest, c.done = make(chan struct{}), make(chan string)
		go c.sendSteadily(words[1], words[2])
		return "steady", nil
	case "rest":
		close(c.rest)
		return <-c.done, nil
	case "create":
		return "created", c.admin.CreateTopic(context.Background(), admin.WithTopicCreate(words[1]), admin.WithBrokerAddrCreate(words[2]),
			admin.WithReadQueueNums(4), admin.WithWriteQueueNums(4))
	case "topics":
		list, err := c.admin.FetchAllTopicList(context.Background())
		if err != nil {
			return "", err
		}
		slices.Sort(list.TopicList)
		return "topics " + strings.Join(list.TopicList, " "), nil
	case "pull":
		return "started", c.startPull(words[1], words[2], words[3])
	case "position":
		return c.position()
	case "move":
		return "moved", c.move(words[1:])
	case "end":
		return "ended", c.pull.Shutdown()
	}
	return "", fmt.Errorf("unknown command %s", words[0])
}

func (c *client) start(namesrv, group, topic string) error {
	resolver := primitive.NewPassthroughResolver([]string{namesrv})
	var err error
	c.consumer, err = rocketmq.NewPushConsumer(consumer.WithNsResolver(resolver), consumer.WithGroupName(group),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset))
	if err != nil {
		return err
	}
	if err := c.consumer.Subscribe(topic, consumer.MessageSelector{}, c.consume); err != nil {
		return err
	}
	if err := c.consumer.Start(); err != nil {
		return err
	}
	c.producer, err = rocketmq.NewProducer(producer.WithNsResolver(resolver), producer.WithGroupName(group+"-producer"),
		producer.WithSendMsgTimeout(10*time.Second))
	if err != nil {
		return err
	}
	return c.producer.Start()
}

func (c *client) startPull(namesrv, group, topic string) (err error) {
	c.pull, err = rocketmq.NewPullConsumer(consumer.WithNsResolver(primitive.NewPassthroughResolver([]string{namesrv})),
		consumer.WithGroupName(group), consumer.WithInstance(group), consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset))
	if err != nil {
		return err
	}
	c.topic = topic
	if err := c.pull.Subscribe(topic, consumer.MessageSelector{}); err != nil {
		return err
	}
	return c.pull.Start()
}

// queues returns the queues of the pull consumer's topic by number.
func (c *client) queues() ([]*primitive.MessageQueue, error) {
	list, err := c.pull.GetTopicRouteInfo(c.topic)
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *primitive.MessageQueue) int { return a.QueueId - b.QueueId })
	return list, nil
}

func (c *client) position() (string, error) {
	list, err := c.queues()
	var at []string
	for _, q := range list {
		offset, err := c.pull.CurrentOffset(q)
		if err != nil {
			return "", err
		}
		at = append(at, fmt.Sprintf("%d:%d", q.QueueId, offset))
	}
	return strings.Join(at, " "), err
}

func (c *client) move(to []string) error {
	list, err := c.queues()
	if err != nil {
		return err
	}
	for _, text := range to {
		if text == "" {
			continue
		}
		var id int
		var offset int64
		if _, err := fmt.Sscanf(text, "%d:%d", &id, &offset); err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(q *primitive.MessageQueue) bool { return q.QueueId == id })
		if i < 0 {
			return fmt.Errorf("no queue %d", id)
		}
		if err := c.pull.UpdateOffset(list[i], offset); err != nil {
			return err
		}
	}
	return c.pull.PersistOffset(context.Background(), c.topic)
}

func (c *client) consume(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range messages {
		body := string(m.Body)
		prefix := body[:max(0, strings.LastIndexByte(body, '-'))]
		if c.received[prefix] == nil {
			c.received[prefix] = map[string]bool{}
		}
		c.received[prefix][body] = true
	}
	return consumer.ConsumeSuccess, nil
}

func (c *client) send(topic, body string) error {
	r, err := c.producer.SendSync(context.Background(), primitive.NewMessage(topic, []byte(body)))
	if err != nil {
		return err
	}
	if r.Status != primitive.SendOK {
		return fmt.Errorf("send status %d", r.Status)
	}
	return nil
}

func (c *client) sendSteadily(topic, prefix string) {
	var sent, failed int
	last := ""
	for i := 0; ; i++ {
		if err := c.send(topic, fmt.Sprintf("%s-%d", prefix, i)); err != nil {
			failed++
			last = " " + err.Error()
		} else {
			sent++
		}
		select {
		case <-c.rest:
			c.done <- fmt.Sprintf("sent %d failed %d%s", sent, failed, last)
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (c *client) await(n int, prefix string, d time.Duration) int {
	for end := time.Now().Add(d); ; time.Sleep(20 * time.Millisecond) {
		c.mu.Lock()
		got := len(c.received[prefix])
		c.mu.Unlock()
		if got >= n || time.Now().After(end) {
			return got
		}
	}
}
