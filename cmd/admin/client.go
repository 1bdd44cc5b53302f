package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// DefaultTimeout is how long a request waits for its answer.
const DefaultTimeout = 5 * time.Second

// patience is after what silence of a NameServer the next one is asked as well.
const patience = 500 * time.Millisecond

// atOnce is to how many servers, or with how many requests, a command talks at a time.
const atOnce = 32

// errNoNameServer is returned by what needs a NameServer when the list is empty.
var errNoNameServer = errors.New("no NameServer is given: use -n HOST:PORT or set NAMESRV_ADDR")

// Config is what a Client needs.
type Config struct {
	NameServers string         // host:port;host:port; may be empty for requests to a broker
	Timeout     time.Duration  // of each request; 0: DefaultTimeout
	Codec       protocol.Codec // header encoding of requests
}

// Client sends the requests of admin commands. It is safe for concurrent use.
type Client struct {
	rpc         *remoting.Client
	nameServers []string
	timeout     time.Duration
}

// Result is the outcome of a command. Its JSON form is that of its exported fields.
type Result interface {
	// AppendText appends the outcome as mqadmin prints it.
	AppendText(b *bytes.Buffer)
}

// New returns a client, which connects when it is first asked something.
//
// Errors: *conf.ServerError for a list of NameServers that is none.
func New(cfg Config) (*Client, error) {
	servers, err := conf.ParseServers(cfg.NameServers)
	if err != nil {
		return nil, err
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	return &Client{
		rpc:         remoting.NewClient(remoting.ClientConfig{Codec: cfg.Codec, ConnectTimeout: cfg.Timeout}),
		nameServers: servers,
		timeout:     cfg.Timeout,
	}, nil
}

// Close closes the connections.
func (c *Client) Close() { c.rpc.Close() }

// AnswerError is an answer that is no success.
type AnswerError struct {
	Addr   string // who answered
	Code   protocol.ResponseCode
	Remark string
}

func (e *AnswerError) Error() string {
	text := fmt.Sprintf("%s answers %d (%s)", e.Addr, int32(e.Code), e.Code)
	if e.Remark != "" {
		text += ": " + e.Remark
	}
	return text
}

// answered says whether err is an answer with this code.
func answered(err error, code protocol.ResponseCode) bool {
	var answer *AnswerError
	return errors.As(err, &answer) && answer.Code == code
}

// call sends a request to addr and returns its answer. header may be nil.
//
// Errors: *AnswerError, and those of remoting.Client.Invoke.
func (c *Client) call(ctx context.Context, addr string, code protocol.RequestCode, header protocol.HeaderEncoder, body []byte) (*protocol.Command, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	cmd := &protocol.Command{Code: int32(code), Body: body}
	if header != nil {
		cmd.Ext = header.AppendExt(nil)
	}
	resp, err := c.rpc.Invoke(ctx, addr, cmd)
	if err != nil {
		return nil, err
	}
	if got := protocol.ResponseCode(resp.Code); got != protocol.RespSuccess {
		return nil, &AnswerError{addr, got, resp.Remark}
	}
	return resp, nil
}

// lookUp asks the NameServers one after the other and returns the first answer, be it a success or not. The next one is
// asked once the one before has failed or has been silent for a while.
//
// Errors: errNoNameServer, *AnswerError, or why none of them has answered.
func (c *Client) lookUp(ctx context.Context, code protocol.RequestCode, header protocol.HeaderEncoder) (*protocol.Command, error) {
	if len(c.nameServers) == 0 {
		return nil, errNoNameServer
	}
	type answer struct {
		resp *protocol.Command
		err  error
	}
	answers := make(chan answer, len(c.nameServers)) // room for all: nobody waits to be heard
	var asking sync.WaitGroup
	defer asking.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ask := func(addr string) {
		asking.Go(func() {
			resp, err := c.call(ctx, addr, code, header, nil)
			answers <- answer{resp, err}
		})
	}
	silence := time.NewTicker(patience)
	defer silence.Stop()
	var failed failures
	next := 0
	for waiting := 0; ; {
		if waiting == 0 {
			if next == len(c.nameServers) {
				return nil, failed.err()
			}
			ask(c.nameServers[next])
			next++
			waiting++
			silence.Reset(patience)
		}
		select {
		case a := <-answers:
			waiting--
			var refused *AnswerError
			if a.err == nil || errors.As(a.err, &refused) {
				return a.resp, a.err
			}
			failed = append(failed, a.err)
		case <-silence.C:
			if next < len(c.nameServers) {
				ask(c.nameServers[next])
				next++
				waiting++
			}
		}
	}
}

// failures are errors of a command at several servers.
type failures []error

// err returns nil if there are none, else one error that wraps them and puts them on one line.
func (f failures) err() error {
	switch len(f) {
	case 0:
		return nil
	case 1:
		return f[0]
	}
	return f
}

func (f failures) Error() string {
	texts := make([]string, len(f))
	for i, err := range f {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap lets errors.Is and errors.As see all of them.
func (f failures) Unwrap() []error { return f }

// add appends err unless it is nil.
func (f *failures) add(err error) {
	if err != nil {
		*f = append(*f, err)
	}
}

// forEach calls f with each item, for several at a time, and returns the outcomes in the order of items.
func forEach[S, T any](items []S, f func(S) T) []T {
	outcomes := make([]T, len(items))
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, item := range items {
		g.Go(func() error {
			outcomes[i] = f(item)
			return nil
		})
	}
	_ = g.Wait() // no call fails
	return outcomes
}

// Outcome is what became of a change at one server.
type Outcome struct {
	Addr  string `json:"addr"`
	Error string `json:"error,omitempty"` // empty: success

	err error
}

// change sends a request to each server.
//
// Errors: those of the servers that failed; the outcomes are complete in any case.
func (c *Client) change(ctx context.Context, addrs []string, code protocol.RequestCode, header protocol.HeaderEncoder, body []byte) ([]Outcome, error) {
	outcomes := forEach(addrs, func(addr string) Outcome {
		_, err := c.call(ctx, addr, code, header, body)
		return newOutcome(addr, err)
	})
	return outcomes, failed(outcomes)
}

func newOutcome(addr string, err error) Outcome {
	o := Outcome{Addr: addr, err: err}
	if err != nil {
		o.Error = err.Error()
	}
	return o
}

func failed(outcomes []Outcome) error {
	var f failures
	for _, o := range outcomes {
		f.add(o.err)
	}
	return f.err()
}

// changeNameServers sends a request to every NameServer.
func (c *Client) changeNameServers(ctx context.Context, code protocol.RequestCode, header protocol.HeaderEncoder, body []byte) ([]Outcome, error) {
	if len(c.nameServers) == 0 {
		return nil, errNoNameServer
	}
	return c.change(ctx, c.nameServers, code, header, body)
}

// bodyError names the server whose answer cannot be read.
func bodyError(addr string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("answer of %s: %w", addr, err)
}

// succeeded returns the addresses of the servers where a change succeeded.
func succeeded(outcomes []Outcome) []string {
	var addrs []string
	for _, o := range outcomes {
		if o.err == nil {
			addrs = append(addrs, o.Addr)
		}
	}
	return addrs
}
