// Package remoting carries RocketMQ commands over TCP: servers, clients, and what is between a socket and a handler.
//
// A [Server] answers requests through a [Table] that maps request codes to handlers; a [Client] calls servers and
// handles the requests that they send. What a code means is the business of the table's owner, what a frame looks
// like that of package protocol. Start reading at [Server.Run], Peer.serve and Peer.handleFrame.
//
// # A connection
//
// One goroutine per connection takes it through PROXY header and TLS (handshake), then reads frames into a pooled
// buffer which it holds only while there is something to read, runs the handlers that have no [Executor] in the
// order of the requests, and writes their answers together once no complete frame is left. Handlers on an executor
// add their answers to the connection's output, which a goroutine that lives as long as there is output writes.
//
//	core.go      what connections share; from a frame to its handler and from its answer to the output
//	conn.go      Peer: the reading loop, closing, idleness
//	input.go     frames out of bytes; large.go: large frames
//	output.go    answers into bytes, flushing, requests in flight
//	room.go      what large frames, and large answers, may take up over all connections
//	peer.go      what handlers may do with a Peer
//	sniff.go     the handshake; proxy.go, tls*.go: its parts
//
// The list of NameServers may come from an address server, which speaks HTTP: address_server.go.
//
// # Limits
//
// No peer can cost more than [Limits] says. A peer is not read from while it does not take its answers, or while its share
// of requests is on executors; nothing is dropped then, and nobody else waits for it. It gets one answer at a time of those
// that may be large ([Entry.LargeAnswer]), for which there must be room before it is made: a request takes that of the largest
// answer, and keeps what its own turns out to need until that is written. Large frames stay in their sockets until there is room
// for them. A request that waits for room for its answer holds nothing that others wait for. A connection
// ends after the idle time without a complete frame and without progress in writing, at the first byte that makes no frame,
// and when it holds up others (see [CloseReason]).
//
// What connections share, and how long a peer that sends slowly or does not read can keep it from others:
//
//	room for large frames      while others wait a quarter of Limits.LargeFrameTime without sending more of its frame, or
//	                           without taking the answers ahead of it; all of that time at most for a frame to arrive;
//	                           not at all once the frame is its handler's
//	room for large answers     while others wait a quarter of Limits.LargeFrameTime without taking more of its answer; all of
//	                           that time at most to take it; not at all before the answer is made, nor once it is written.
//	                           Those who wait have it in the order of arrival, so many such peers are one after another
//	workers and queues of      not at all: handlers do not wait for peers, nor answers for their being taken; what work a
//	  executors                peer has there is bounded by Limits.InFlight, InFlightBytes and Entry.Weight
//	Limits.Invokes             a call to it, until the caller's context ends
//	places for connections     the idle time; with an answer that it takes bit by bit (writeStep), as long as it likes
//
// What handlers begin and leave to [Peer.Respond] is theirs to bound: see [Quota] and [Peer.RespondWait].
//
// # Locks
//
// Server.mu, Client.mu, Peer.mu, Executor.mu, room.mu, logLimit.mu and Quota.mu never nest. None is held while reading,
// writing or calling a handler, hook or listener.
//
// # Differences from the original
//
// Follows RocketMQ 5.5.0 and 4.9. Inline handlers answer in order, where the original's order is arbitrary. A peer
// that does not read is no longer read, where the original buffers without bound (spec/namesrv.md §14, F32). A good
// frame ahead of a bad one is answered. Events are never dropped and come once per connection; connections that end
// before their handshake give none. Oneway requests are never answered, not even with code 3. The handshake
// decides at the first byte.
package remoting
