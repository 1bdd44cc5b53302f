// Package remoting carries RocketMQ commands over TCP.
package remoting
