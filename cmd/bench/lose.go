package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mq-server/mq/protocol"
)

// RunLose registers brokers, then closes the connection of one after the other and measures the time until the NameServer
// has forgotten it: until GET_BROKER_MEMBER_GROUP (901) names no address any more. A lost broker registers again before
// the next one is lost.
func RunLose(ctx context.Context, addr string, b Brokers, rounds int) (*Report, error) {
	b.kind = kindLose
	if err := b.check(); err != nil {
		return nil, err
	}
	if b.Count < 2 || rounds < 1 {
		return nil, errors.New("losing a broker takes two brokers and one round at least")
	}
	reg, err := b.registerAll(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer reg.leave()
	asker, err := dialCaller(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer asker.Close()

	r := &Report{Kind: b.kind.name, Addr: addr, Connections: b.Count, Depth: 1, hist: newHistogram(), Codes: map[int32]int64{},
		Setup: map[string]int64{"brokers": int64(b.Count), "topics": int64(b.Topics)}}
	start := time.Now()
	for round := range rounds {
		i := round % b.Count
		took, err := reg.lose(ctx, asker, i)
		if err != nil {
			return nil, err
		}
		if err := r.hist.RecordValue(int64(took)); err != nil {
			return nil, err
		}
		r.Answers++
		r.Codes[int32(protocol.RespSuccess)]++
		if err := reg.comeBack(ctx, addr, i); err != nil {
			return nil, err
		}
	}
	r.from, r.to = 1, int64(time.Since(start))+1
	r.finish()
	return r, nil
}

// lose closes broker i's connection and waits until asker no longer finds it.
func (r *registered) lose(ctx context.Context, asker *caller, i int) (time.Duration, error) {
	name := r.brokers.name(i)
	ask := newRequest(protocol.ReqGetBrokerMemberGroup, protocol.CurrentVersion, protocol.Ext{
		{Key: "clusterName", Value: benchCluster}, {Key: "brokerName", Value: name},
	}, nil)
	start := time.Now()
	r.callers[i].Close()
	for {
		answer, err := asker.call(ask, dialTimeout)
		if err := mustSucceed(answer, err); err != nil {
			return 0, err
		}
		if !strings.Contains(string(answer.Body), r.brokers.addr(i)) {
			return time.Since(start), nil
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if time.Since(start) > 30*time.Second {
			return 0, fmt.Errorf("broker %s is still there 30 s after its connection closed", name)
		}
	}
}

func (r *registered) comeBack(ctx context.Context, addr string, i int) error {
	cmd, err := r.brokers.register(i, 0)
	if err != nil {
		return err
	}
	c, err := dialCaller(ctx, addr)
	if err != nil {
		return err
	}
	r.callers[i] = c
	return mustSucceed(c.call(cmd, registerTimeout))
}
