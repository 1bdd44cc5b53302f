package remoting

import (
	"context"
	"strconv"
	"sync"

	"github.com/mq-server/mq/protocol"
)

// Remarks of answers that handlers have no part in (spec/remoting.md §5.2). Clients and tools match on them.
const (
	remarkOverload = "[OVERLOAD]system busy, start flow control for a while"
	remarkGoAway   = "please go away"
)

// remarkNotSupported is the remark of code 3. The leading blank is the original's.
func remarkNotSupported(code int32) string {
	return " request type " + strconv.Itoa(int(code)) + " not supported"
}

// Unsupported is a handler that answers code 3, which is also what a server without a Default answers to a code that its
// table lacks. The difference shows while the server drains: with Unsupported as its Default, newer peers are told to go
// away whatever they ask, as by the original's servers with a default processor (spec/remoting.md §5.2, §5.6); without a
// Default, they are told so for the codes of the table only.
func Unsupported(_ context.Context, _ *Peer, cmd *protocol.Command) (*Response, error) {
	return nil, &Error{Code: protocol.RespRequestCodeNotSupported, Remark: remarkNotSupported(cmd.Code)}
}

// maxRemark bounds, in bytes, a remark that is made from an error.
const maxRemark = 1024

// Request is a request whose header has been decoded into H. It, the Command and its Body are used again once the
// handler has returned: what is to be kept is copied. Strings may be kept, as may Peer.
type Request[H any] struct {
	Header  H
	Command *protocol.Command
	Peer    *Peer
}

// Response is a handler's answer. One Response and its Body may be shared by any number of requests at a time:
// the server changes neither, and reads them after the handler has returned.
type Response struct {
	Code      protocol.ResponseCode
	Remark    string
	HasRemark bool                   // tells an empty remark from none
	Header    protocol.HeaderEncoder // nil: no extFields
	Body      []byte
}

// success is the answer without content.
var success = &Response{Code: protocol.RespSuccess}

// Success returns the answer with code 0 and nothing else.
func Success() *Response { return success }

// Body returns an answer with code 0 and body b, which must not change any more.
func Body(b []byte) *Response { return &Response{Code: protocol.RespSuccess, Body: b} }

// Handler answers one request. nil, nil means that nothing is written now: the answer of a held request is sent
// later with Peer.Respond. An error is turned into an answer as ServerConfig.Errors says. A oneway request gets
// no answer, whatever the handler returns. What cmd refers to is reused once the handler returns; strings may be kept.
//
// On an executor ctx ends when the peer's connection closes. Without one the handler is not to wait for anything,
// and ctx is the server's.
type Handler func(ctx context.Context, peer *Peer, cmd *protocol.Command) (*Response, error)

// Entry says how the requests of one code are handled.
type Entry struct {
	Handler Handler
	// Executor runs the handler. With nil it runs on its connection's own goroutine, in the order of the
	// requests, and nothing else of that connection is read meanwhile: for work that never waits.
	Executor *Executor
	// LargeAnswer is for requests on an executor whose answers may be very much larger than they are: a connection
	// has one such request in flight, and nothing beside it, until its answer is written. A peer that asks for many
	// and does not read costs one answer, and all peers cost Limits.LargeAnswers: the request waits for room in there,
	// or is answered SYSTEM_BUSY if it is above 16 KiB itself. What the handler leaves to Peer.Respond is not counted.
	LargeAnswer bool
	// Weight, if not nil, says what a request on an executor counts for in Limits.InFlightBytes if that is more than its
	// size: for requests that are more work than they look. The body is not to be kept.
	Weight func(*protocol.Command) int
}

// On returns the entry with executor x.
func (e Entry) On(x *Executor) Entry {
	e.Executor = x
	return e
}

// WithLargeAnswer returns the entry with LargeAnswer set.
func (e Entry) WithLargeAnswer() Entry {
	e.LargeAnswer = true
	return e
}

// Weighing returns the entry with Weight set.
func (e Entry) Weighing(weight func(*protocol.Command) int) Entry {
	e.Weight = weight
	return e
}

// Table maps request codes to their entries. Servers and clients copy it when they are made.
type Table map[protocol.RequestCode]Entry

// Handle makes an entry of a function that takes a decoded header. If the header does not decode, fn is not
// called and the error decides about the answer. A request without header is an Entry{Handler: f}.
func Handle[H any, PH interface {
	*H
	Decode(protocol.Ext) error
}](fn func(context.Context, *Request[H]) (*Response, error)) Entry {
	requests := sync.Pool{New: func() any { return new(Request[H]) }}
	return Entry{Handler: func(ctx context.Context, peer *Peer, cmd *protocol.Command) (*Response, error) {
		req := requests.Get().(*Request[H])
		req.Command, req.Peer = cmd, peer
		err := PH(&req.Header).Decode(cmd.Ext)
		var resp *Response
		if err == nil {
			resp, err = fn(ctx, req)
		}
		*req = Request[H]{}
		requests.Put(req)
		return resp, err
	}}
}

// ErrOverload is the answer of a full executor, for handlers with limits of their own.
var ErrOverload = &Error{Code: protocol.RespSystemBusy, Remark: remarkOverload}

// ErrorCode is a row of the table that turns errors into response codes: errors.Is against Err gives Code, and
// the error's text is the remark.
type ErrorCode struct {
	Err  error
	Code protocol.ResponseCode
}

// Error is an error with an exact answer.
type Error struct {
	Code   protocol.ResponseCode
	Remark string
}

func (e *Error) Error() string { return e.Remark }
