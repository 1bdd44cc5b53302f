package namesrv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// Cluster-test mode (clusterTest=true): a NameServer of a test environment that answers for topics it does
// not know with what the production environment knows. Everything else works as ever; that the 5.x line
// takes every request for a route request in this mode is a fault (F1) that is not followed.
//
// Source: spec/namesrv.md §4.6, spec/broker.md §4.1 (address server).

// Limits of asking the production environment.
const (
	maxQuestions      = 32               // under way for one connection, as many as it may have requests on executors
	longestTopic      = 255              // characters and bytes, of retry topics; longer ones do not exist anywhere
	productionTimeout = 3 * time.Second  // one question, all NameServers together; clients give up after as much
	addressPeriod     = 2 * time.Minute  // between two questions that were answered
	addressRetry      = 10 * time.Second // after one that was not
)

// forwardedBy is an extra field in the questions that we forward. A NameServer of ours that is itself in
// cluster-test mode does not pass them on, so that two of them cannot ask each other for ever.
const forwardedBy = "mqClusterTest"

// Production says where cluster-test mode finds the NameServers of the production environment. The zero
// value means: nowhere, so that unknown topics stay unknown.
type Production struct {
	// Addrs are NameServer addresses, host:port. With any, no address server is asked.
	Addrs []string
	// AddressServer is the host, or host:port, of an HTTP server that knows them; the port is 8080 if it
	// names none. It is asked for /rocketmq/<SubGroup>-<productEnvName>?nofix=1.
	AddressServer string
	// SubGroup is the last part of that path, by default "nsaddr".
	SubGroup string
}

// ProductionFromEnviron reads a Production as the original's admin client does, with variables in the place of Java's
// system properties: NAMESRV_ADDR, a list separated by ";"; else ROCKETMQ_NAMESRV_DOMAIN (rocketmq.namesrv.domain), by
// default jmenv.tbsite.net, and ROCKETMQ_NAMESRV_DOMAIN_SUBGROUP (rocketmq.namesrv.domain.subgroup). getenv is os.Getenv.
//
// Errors: NAMESRV_ADDR is no list of addresses.
func ProductionFromEnviron(getenv func(string) string) (Production, error) {
	addrs, err := conf.ParseServers(getenv("NAMESRV_ADDR"))
	if err != nil {
		return Production{}, fmt.Errorf("NAMESRV_ADDR: %w", err)
	}
	return Production{
		Addrs:         addrs,
		AddressServer: cmp.Or(getenv("ROCKETMQ_NAMESRV_DOMAIN"), "jmenv.tbsite.net"),
		SubGroup:      getenv("ROCKETMQ_NAMESRV_DOMAIN_SUBGROUP"),
	}, nil
}

// production asks the NameServers of the production environment.
type production struct {
	client *remoting.Client
	url    string // of the address server; empty: none
	self   string // our own address, never asked
	log    zerolog.Logger
	addrs  atomic.Pointer[[]string]
	next   atomic.Uint32   // which address is asked first
	asking *remoting.Quota // questions
}

func newProduction(p Production, unitName, self string, client *remoting.Client, log zerolog.Logger) *production {
	q := &production{client: client, self: self, log: log, asking: remoting.NewQuota(maxQuestions)}
	q.use(p.Addrs)
	if len(p.Addrs) == 0 && p.AddressServer != "" {
		q.url = remoting.AddressServerURL(p.AddressServer, cmp.Or(p.SubGroup, "nsaddr"), unitName)
	}
	return q
}

// use makes addrs, without our own, the list that is asked. An empty list leaves the last one in use.
func (q *production) use(addrs []string) {
	addrs = slices.DeleteFunc(slices.Clone(addrs), func(a string) bool { return a == "" || a == q.self })
	if old := q.addrs.Load(); len(addrs) == 0 && old != nil || old != nil && slices.Equal(*old, addrs) {
		return
	}
	q.addrs.Store(&addrs)
	if len(addrs) > 0 {
		q.log.Info().Strs("addrs", addrs).Msg("production NameServers")
	}
}

// run keeps the address list up to date until ctx ends.
func (q *production) run(ctx context.Context) error {
	if q.url == "" {
		return nil
	}
	failing := false
	for {
		wait := addressPeriod
		text, err := remoting.FetchServers(ctx, q.url)
		var addrs []string
		if err == nil {
			addrs, err = conf.ParseServers(text)
		}
		switch {
		case err == nil:
			q.use(addrs)
			failing = false
		case ctx.Err() == nil:
			wait = addressRetry
			if !failing { // once, not at every try
				q.log.Warn().Err(err).Str("url", q.url).Msg("address server does not tell the production NameServers")
			}
			failing = true
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

var errNotInProduction = errors.New("the production environment does not know the topic")

// route asks for a topic, one NameServer after another until one has it. It returns errNotInProduction if none
// has, for whatever reason: who asks cannot do anything about our production environment.
func (q *production) route(ctx context.Context, topic string) (protocol.TopicRouteData, error) {
	ctx, cancel := context.WithTimeout(ctx, productionTimeout)
	defer cancel()
	addrs := *q.addrs.Load()
	first := int(q.next.Load())
	for i := range addrs {
		at := (first + i) % len(addrs)
		route, err := q.ask(ctx, addrs[at], topic)
		if err == nil {
			return route, nil
		}
		if !errors.Is(err, errNotInProduction) {
			q.next.Store(uint32(at+1) % uint32(len(addrs))) // begin with another one next time
			q.log.Debug().Err(err).Str("addr", addrs[at]).Str("topic", topic).Msg("production NameServer does not answer")
		}
	}
	return protocol.TopicRouteData{}, errNotInProduction
}

func (q *production) ask(ctx context.Context, addr, topic string) (protocol.TopicRouteData, error) {
	answer, err := q.client.Invoke(ctx, addr, &protocol.Command{
		Code:     int32(protocol.ReqGetRouteInfoByTopic),
		Language: protocol.LanguageGo,
		Version:  protocol.CurrentVersion,
		Ext:      protocol.Ext{{Key: "topic", Value: topic}, {Key: forwardedBy, Value: "true"}},
	})
	switch {
	case err != nil:
		return protocol.TopicRouteData{}, err
	case answer.Code == int32(protocol.RespTopicNotExist):
		return protocol.TopicRouteData{}, errNotInProduction
	case answer.Code != int32(protocol.RespSuccess):
		return protocol.TopicRouteData{}, fmt.Errorf("code %d: %s", answer.Code, answer.Remark)
	}
	return protocol.DecodeTopicRouteData(answer.Body)
}
