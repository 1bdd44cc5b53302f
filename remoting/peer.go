package remoting

import (
	"context"
	"errors"

	"github.com/mq-server/mq/protocol"
)

// Errors of calls to a peer.
var (
	// ErrClosed: the connection, or the client, is closed. The request may or may not have been handled.
	ErrClosed = errors.New("connection closed")
	// ErrBusy: as many calls or bytes as Limits allow wait already. The request was not sent.
	ErrBusy = errors.New("too many requests in flight")
)

// ID is unique among the connections of one server or client.
func (p *Peer) ID() uint64 { return p.id }

// RemoteAddr is the peer's "host:port": the source a PROXY protocol header named, else the socket's.
func (p *Peer) RemoteAddr() string { return p.remote }

// Attr returns an attribute of the connection, such as proxy_protocol_addr (spec/remoting.md §7.5).
func (p *Peer) Attr(key string) (value string, ok bool) {
	value, ok = p.attrs[key]
	return value, ok
}

// Context ends when the connection closes.
func (p *Peer) Context() context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life == nil {
		ctx, end := context.WithCancel(p.core.base)
		p.life = &lifetime{ctx, end}
		if p.reason != 0 {
			end()
		}
	}
	return p.life.ctx
}

// Closed reports whether the connection has been closed.
//
// Who keeps something for a peer until Listener.Closed removes it must not add it after that call. So they add it under a
// lock that their Listener.Closed takes as well, and ask Closed under that lock: if it says false, the call is still to come.
func (p *Peer) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reason != 0
}

// Close closes the connection, with reason CloseLocal. Calls after the first do nothing.
func (p *Peer) Close() { p.close(CloseLocal, nil) }

// Retire makes the Client call the peer's address over a new connection from now on, as if this one were closed. This one
// stays open for the answers that are under way, until somebody closes it or it has been idle for too long. For a peer of a
// Server it does nothing.
func (p *Peer) Retire() { p.retired.Store(true) }

// Writable reports whether the peer takes what is sent to it: less than half of what may wait to be written does.
func (p *Peer) Writable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reason == 0 && p.out.pending() < p.core.limits.Output/2
}

// Oneway sends cmd as a oneway request; Opaque, Flag, Language, Version and Codec are chosen for it. It returns
// once cmd is in the output buffer and never waits for the peer. cmd.Body must not change any more.
//
// Errors: ErrClosed, ErrBusy, protocol.ErrFrameTooLarge.
func (p *Peer) Oneway(_ context.Context, cmd *protocol.Command) error {
	return p.request(noWait, cmd, p.core.opaque.Add(1), protocol.FlagOneway, nil)
}

// Invoke sends cmd as Oneway does, but waits for room to send it and for the answer until ctx ends. It must not be
// called on the peer's own goroutine, that is by a handler without executor. ErrBusy means that ctx ended before
// cmd was sent.
//
// Errors: as Oneway, and ctx's.
func (p *Peer) Invoke(ctx context.Context, cmd *protocol.Command) (*protocol.Command, error) {
	if err := p.core.invokes.Acquire(ctx, 1); err != nil {
		return nil, ErrBusy
	}
	defer p.core.invokes.Release(1)
	opaque := p.core.opaque.Add(1)
	answer := make(chan *protocol.Command, 1) // its one value is sent by whoever removes it from calls
	if err := p.request(ctx, cmd, opaque, 0, answer); err != nil {
		return nil, err
	}
	select {
	case resp, ok := <-answer:
		if !ok {
			return nil, ErrClosed
		}
		return resp, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	delete(p.calls, opaque)
	p.mu.Unlock()
	select {
	case resp, ok := <-answer: // it came at the same moment
		if ok {
			return resp, nil
		}
	default:
	}
	return nil, ctx.Err()
}

// noWait is a context that has ended already.
var noWait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// request sends a request, after waiting for room until ctx ends. answer, if not nil, gets the response, or is closed
// with the connection.
func (p *Peer) request(ctx context.Context, cmd *protocol.Command, opaque, flag int32, answer chan *protocol.Command) error {
	sent := *cmd
	sent.Opaque, sent.Flag = opaque, flag
	sent.Language, sent.Version, sent.Codec = protocol.LanguageGo, protocol.CurrentVersion, p.core.codec
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.waitForRoom(ctx, len(sent.Body)); err != nil {
		return err
	}
	if err := p.out.append(&sent, sent.Body); err != nil {
		return err
	}
	if answer != nil {
		if p.calls == nil {
			p.calls = make(map[int32]chan *protocol.Command)
		}
		p.calls[opaque] = answer
	}
	p.flushSoon()
	return nil
}

// waitForRoom waits until n more bytes may be added to the output, or ctx ends. Callers hold mu.
func (p *Peer) waitForRoom(ctx context.Context, n int) error {
	full := func() bool { return p.out.pending() > 0 && p.out.pending()+n > p.core.limits.Output && p.reason == 0 }
	if full() && ctx.Err() == nil {
		defer context.AfterFunc(ctx, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.wake()
		})()
		for full() && ctx.Err() == nil {
			p.wait()
		}
	}
	switch {
	case p.reason != 0:
		return ErrClosed
	case full():
		return ErrBusy
	}
	return nil
}

// deliver gives a copy of a response to the call that waits for it, if there is one.
func (p *Peer) deliver(resp *protocol.Command) {
	p.mu.Lock()
	answer, ok := p.calls[resp.Opaque]
	delete(p.calls, resp.Opaque)
	p.mu.Unlock()
	if !ok {
		p.core.log.Debug().Str("remoteAddr", p.remote).Int32("opaque", resp.Opaque).Msg("response without a request")
		return
	}
	answer <- detach(resp, false)
}

// Respond answers a held request, one whose handler returned nil, nil, by its opaque. It never waits for the peer.
//
// Errors: ErrClosed.
func (p *Peer) Respond(opaque int32, resp *Response) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason != 0 {
		return ErrClosed
	}
	p.respond(opaque, resp)
	return nil
}

// RespondWait is Respond for answers that may be large: it waits until the peer has taken earlier ones, or ctx ends.
//
// Errors: ErrClosed; ErrBusy, nothing was sent then.
func (p *Peer) RespondWait(ctx context.Context, opaque int32, resp *Response) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.waitForRoom(ctx, len(resp.Body)); err != nil {
		return err
	}
	p.respond(opaque, resp)
	return nil
}

// respond adds an answer to the output. Callers hold mu.
func (p *Peer) respond(opaque int32, resp *Response) {
	appendResponse(&p.out.batch, p.core.codec, opaque, resp)
	p.flushSoon()
}
