// Package admin asks NameServers and brokers, of RocketMQ 4.x, 5.x and our own, what "mq admin" shows, and tells them
// what it changes.
//
// A [Client] has a method per command of mqadmin. Each returns a [Result], which writes itself as mqadmin's table text
// and, by its exported fields, as JSON. Client.call sends one request; client.go has what all commands share, targets.go
// turns a cluster's name into its brokers, and the other files have the commands by family.
//
// Where a command concerns several servers, all of them are asked at the same time, what one of them refuses is not
// withheld from the others, and the order of the output is that of names. A method then returns both the result
// and an error that names each server that failed.
//
// What every NameServer knows is asked of the first one that answers; what changes a NameServer goes to each of the list.
//
// Differences from mqadmin of 5.5.0, all on purpose, are in docs/admin.md.
package admin
