// Package namesrv is the NameServer: brokers register themselves and their topics, clients ask where a topic
// lives. It takes the place of the Java NameServers of the 4.9 and 5.x lines.
//
// # State
//
// The route table (routeTable) is memory only: after a restart it is whole again once every broker has registered, by
// default every 30 s. What a broker registered lives as long as its connection, its signs of life and its own word;
// see leave.go. The KV configuration (kvStore) is a file, and what was acknowledged is in it. The settings belong to
// package conf.
//
// # Where to start reading
//
// New and Server.Run, then handlers: the table of all request codes. Each family of requests has a file
// (…_requests.go), whose handlers turn a typed header into a call of the route table or the KV store and its result
// into an answer; errorCodes turns errors into codes. tasks.go has what happens by itself, notify.go what is sent to
// brokers, production.go the cluster-test mode.
//
// # Concurrency
//
// Routes are answered on the goroutine of their connection, from ready bytes and without a lock. Changes of the route
// table run on an executor that leaves one processor free for them, long lists on another. The route table's writer and
// mu are taken in this order, its pendingMu beside no other lock; kvStore and notifier belong to one
// goroutine each and have no lock. No two of these parts call each other with a lock held. When Run's context ends
// routes are frozen, so that a server on its way out never tells of a topic without brokers.
//
// Beside the limits of remoting there are those of ready answers (answerCache), of answers for topics on very many
// brokers (routeTable.making), of registrations being decoded (registrationText), of notices that wait, and of
// questions to the production environment (maxQuestions). None of them is held while a client or broker is waited for.
//
// # Not here
//
// Frames, connections, TLS and limits (remoting), headers and bodies (protocol), loading and keeping settings (conf),
// a controller (enableControllerInNamesrv has no effect).
//
// # Known differences
//
// Answers are those of release 5.5.0, byte for byte; JSON is read as leniently as all releases together do. The faults
// of spec/namesrv.md §14 are not copied. What differs on purpose:
//
//   - A request that lacks a field it needs, or has a body of null parts, is answered code 1 and changes nothing.
//   - 104 is done when it is answered. The end of a connection ends all its brokers, and no newer registration.
//   - One broker name alive in two clusters: the second is refused, code 1.
//   - 322 says "changed" also to a broker that is registered under another name or id.
//   - A wiped write permission survives registrations, until 327 or the broker's departure.
//   - 205 and 327 leave a topic's other permissions alone; 901 has no remark; zones keep strict JSON; 106 and 901 are
//     in strict JSON for who asks for it with acceptStandardJsonOnly.
//   - KV changes and configuration updates are durable when answered, and refused if they cannot be.
//   - clusterTest changes nothing but the answer for unknown topics.
//   - While the server stops, a topic that is unknown is answered code 1, not 17.
package namesrv
