// Package broker is the broker: topics, consumer groups, clients, and the registration of all of it with the NameServers.
//
// There is no message store yet: requests that need one are answered code 3, REQUEST_CODE_NOT_SUPPORTED.
//
// Start reading at New, Server.Run and Server.handlers, which is all that the broker can do.
//
//	server.go, tasks.go    parts and their lifetimes; what is done over and over
//	lockfile*.go           one broker at a time works on the files
//	identity.go            who and where the broker is
//	handlers.go            one table of all requests, for both ports
//	admin_*.go             requests about topics, groups, configuration and the state of the broker
//	topics.go, groups.go, offsets.go   what is kept in config/: topics.json, subscriptionGroup.json, consumerOffset.json (configfile.go)
//	consumer_offset.go     requests about consumer offsets
//	client_*.go, heartbeat.go, consumers.go, producers.go, locks.go, notify_consumers.go   clients that are online
//	registration*.go, namesrv_*.go   NameServers: each has a worker of its own, and nobody waits for one
//
// # State
//
// Topics and groups outlive the process: a change is answered with success only after it is on disk, and is made whole or not
// at all. Consumer offsets are written every few seconds and at the end, and at once when some are removed or copied. Clients
// and queue locks are memory only; clients bring them back with their next heartbeats. The configuration is conf.BrokerStore's.
//
// A change of topics goes: topicTable writes the file, publishes the new table, and tells the registrar, which never waits.
// What NameServers answer comes back through Server.registered.
//
// # Locks
//
// configFile.mu, consumerManager.mu, producerManager.mu, lockManager.mu, consumerNotices.mu, registrar.mu,
// registrationTable.mu, namesrvWorker.mu and offsetTable.versionMu never nest. groupOffsets.mu is taken with offsetTable.mu or
// alone, and nothing within it. None is held while waiting for the disk, the network or a callback, except that
// offsetTable.mu is held while commit asks whether it may.
//
// # Limits
//
// What peers can make the broker keep is bounded, by constants: maxClientBytes, maxLockBytes, maxOffsetBytes, maxMadeGroups,
// maxMadeTopics, maxQueueNums, maxRelayBytes. Tools may make as many groups and topics as they like. What a peer could have
// logged with each request is logged once (edge) or some times a second (Server.few).
//
// # Differences from the original
//
// Follows RocketMQ 5.5.0 and 4.9. A request is checked as a whole before anything of it is applied, success means that
// the change is on disk, and nobody waits for a silent NameServer; the comments of the handlers tell what that changes.
package broker
