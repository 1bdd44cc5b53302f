// Package bench loads RocketMQ NameServers over TCP and measures how they answer.
//
// A run has three parts: a frameSource that knows what to send, one driver per connection that keeps a fixed
// number of requests in flight (closed loop) or sends at a fixed rate, and a Report with latency percentiles.
// The drivers write a whole batch with one system call and stamp each request just before that call, so a
// latency covers everything between the write and the moment the answer has been read.
//
// The package speaks the protocol of any NameServer, Java's too: it only relies on answers carrying the opaque
// of their request. RunEcho measures a bare TCP server that answers frames of the same sizes without looking at
// them: the ceiling that a NameServer written in Go can reach on the same machine.
//
// Entry points: RunRoute, RunRegister, RunEcho, ServeEcho, WaitReady. Nothing here is used by the servers.
package bench
