package bench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/protocol"
)

// Brokers describes the brokers a run makes a NameServer believe in. Their addresses lie in 127.0.0.0/8 and nobody
// listens there: a NameServer never connects to a broker that has no slave.
type Brokers struct {
	Count      int
	kind       kind // keeps the brokers and topics of runs apart that go on at the same time
	Topics     int  // topics of each broker
	OwnTopics  bool // each broker has topics of its own, instead of all having the same
	Queues     int  // read and write queues of each topic
	Compressed bool // registration bodies as zlib streams
}

const (
	registerTimeout = 60 * time.Second
	benchCluster    = "mq-bench"
)

func (b Brokers) check() error {
	switch {
	case b.Count < 1 || b.Count > 10_000:
		return fmt.Errorf("brokers: %d is not in 1..10000", b.Count)
	case b.Topics < 2 || b.Topics > 500_000:
		return fmt.Errorf("topics: %d is not in 2..500000 (a NameServer refuses a broker's first registration with one topic)", b.Topics)
	case b.Queues < 1:
		return fmt.Errorf("queues: %d is below 1", b.Queues)
	}
	return nil
}

// kind is a kind of run, by its name and by the second byte of its brokers' addresses.
type kind struct {
	name string
	net  int
}

var (
	kindRoute    = kind{"route", 40}
	kindRegister = kind{"register", 80}
	kindLose     = kind{"lose", 120}
)

func (b Brokers) name(i int) string { return fmt.Sprintf("mq-bench-%s-%04d", b.kind.name, i) }

func (b Brokers) host(i int) string { return fmt.Sprintf("127.%d.%d.1", b.kind.net+i/250, i%250) }

func (b Brokers) addr(i int) string { return b.host(i) + ":10911" }

func (b Brokers) topic(broker, i int) string {
	if b.OwnTopics {
		return fmt.Sprintf("%s-%04d-topic-%06d", b.kind.name, broker, i)
	}
	return fmt.Sprintf("%s-topic-%06d", b.kind.name, i)
}

func (b Brokers) identity(i int) protocol.Ext {
	return protocol.Ext{
		{Key: "brokerName", Value: b.name(i)},
		{Key: "brokerAddr", Value: b.addr(i)},
		{Key: "clusterName", Value: benchCluster},
		{Key: "brokerId", Value: "0"},
	}
}

// versionCounter is the counter of the data versions: nine digits, so that every body of a broker has one size.
const versionCounter = 100_000_000

// register makes the full registration of broker i; round makes its data version differ from other rounds.
func (b Brokers) register(i, round int) (*protocol.Command, error) {
	body := protocol.RegisterBrokerBody{
		FilterServerList:   []string{},
		DataVersion:        &protocol.DataVersion{Timestamp: 1_700_000_000_000, Counter: int64(versionCounter + round)},
		MappingDataVersion: &protocol.DataVersion{Timestamp: 1_700_000_000_000},
		Topics:             make([]protocol.TopicConfig, b.Topics),
	}
	for t := range body.Topics {
		body.Topics[t] = protocol.TopicConfig{
			TopicName: b.topic(i, t), ReadQueueNums: int32(b.Queues), WriteQueueNums: int32(b.Queues), Perm: 6,
		}
	}
	var data []byte
	if b.Compressed {
		var err error
		if data, err = body.AppendCompressed(nil, protocol.CurrentVersion); err != nil {
			return nil, err
		}
	} else {
		data = body.AppendJSON(nil, protocol.FormDefault)
	}
	ext := append(b.identity(i),
		protocol.Field{Key: "haServerAddr", Value: b.host(i) + ":10912"},
		protocol.Field{Key: "enableActingMaster", Value: "false"},
		protocol.Field{Key: "compressed", Value: strconv.FormatBool(b.Compressed)},
		protocol.Field{Key: "bodyCrc32", Value: strconv.Itoa(int(protocol.BodyCRC32(data)))},
	)
	return newRequest(protocol.ReqRegisterBroker, protocol.CurrentVersion, ext, data), nil
}

// registered holds the connections of registered brokers: a NameServer forgets a broker whose connection closes.
type registered struct {
	brokers Brokers
	callers []*caller
}

// registerAll registers every broker once, each over a connection of its own.
func (b Brokers) registerAll(ctx context.Context, addr string) (*registered, error) {
	r := &registered{brokers: b, callers: make([]*caller, b.Count)}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for i := range b.Count {
		g.Go(func() error {
			cmd, err := b.register(i, 0)
			if err != nil {
				return err
			}
			c, err := dialCaller(ctx, addr)
			if err != nil {
				return err
			}
			r.callers[i] = c
			if err := mustSucceed(c.call(cmd, registerTimeout)); err != nil {
				return fmt.Errorf("register broker %s: %w", b.name(i), err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		r.leave()
		return nil, err
	}
	return r, nil
}

// leave unregisters the brokers and closes their connections. Failures do not matter: closing is enough.
func (r *registered) leave() {
	for i, c := range r.callers {
		if c == nil {
			continue
		}
		_, _ = c.call(newRequest(protocol.ReqUnregisterBroker, protocol.CurrentVersion, r.brokers.identity(i), nil), time.Second)
		c.Close()
	}
}

// keepAlive re-registers nothing and only keeps the connections from being idle, until ctx ends: it sends a heartbeat
// for each broker every period.
func (r *registered) keepAlive(ctx context.Context, period time.Duration) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			for i, c := range r.callers {
				cmd := newRequest(protocol.ReqBrokerHeartbeat, protocol.CurrentVersion, r.brokers.identity(i), nil)
				if _, err := c.call(cmd, time.Second); err != nil {
					return // the run itself will say so
				}
			}
		}
	}
}
