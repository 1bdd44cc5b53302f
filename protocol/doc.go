// Package protocol is the vocabulary of RocketMQ's remoting protocol: command frames, request and response
// codes, versions, headers and bodies.
//
// It holds pure data and pure functions: no sockets, goroutines, clocks, logs or configuration.
package protocol
