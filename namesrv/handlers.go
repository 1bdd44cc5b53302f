package namesrv

import (
	"errors"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// handlers is all that the server can do. A code that is not listed is answered 3, REQUEST_CODE_NOT_SUPPORTED.
//
// What takes no time worth mentioning runs at once, on its connection's goroutine and in order: routes above all.
// Changes of the route table share one executor whose size leaves a processor to the routes; what builds long lists,
// and what waits for the disk, has another each. Of the lists a connection gets one at a time.
//
// Source: spec/namesrv.md §4.1.
func (s *Server) handlers() remoting.Table {
	route := s.routeInfo
	if s.production != nil {
		route = s.routeInfoOrProduction
	}
	return remoting.Table{
		// Clients
		protocol.ReqGetRouteInfoByTopic: remoting.Handle(route), // 105

		// Brokers
		protocol.ReqRegisterBroker:         remoting.Handle(s.registerBroker).On(s.changes).Weighing(registrationWeight), // 103
		protocol.ReqUnregisterBroker:       remoting.Handle(s.unregisterBroker).On(s.changes),                            // 104
		protocol.ReqRegisterTopicInNamesrv: remoting.Handle(s.registerTopic).On(s.changes),                               // 217
		protocol.ReqQueryDataVersion:       remoting.Handle(s.queryDataVersion),                                          // 322
		protocol.ReqBrokerHeartbeat:        remoting.Handle(s.brokerHeartbeat),                                           // 904
		protocol.ReqGetBrokerMemberGroup:   remoting.Handle(s.brokerMemberGroup),                                         // 901

		// Tools: topics and brokers
		protocol.ReqGetBrokerClusterInfo:          remoting.Handle(s.clusterInfo).On(s.lists).WithLargeAnswer(),                             // 106
		protocol.ReqWipeWritePermOfBroker:         remoting.Handle(s.wipeWritePerm).On(s.changes),                                           // 205
		protocol.ReqAddWritePermOfBroker:          remoting.Handle(s.addWritePerm).On(s.changes),                                            // 327
		protocol.ReqDeleteTopicInNamesrv:          remoting.Handle(s.deleteTopic).On(s.changes),                                             // 216
		protocol.ReqGetAllTopicListFromNameServer: remoting.Handle(s.allTopics).On(s.lists).WithLargeAnswer(),                               // 206
		protocol.ReqGetTopicsByCluster:            remoting.Handle(s.topicsByCluster).On(s.lists).WithLargeAnswer(),                         // 224
		protocol.ReqGetSystemTopicListFromNS:      remoting.Handle(s.systemTopics).On(s.lists).WithLargeAnswer(),                            // 304
		protocol.ReqGetUnitTopicList:              remoting.Handle(s.unitTopics(sysFlagUnit, 0)).On(s.lists).WithLargeAnswer(),              // 311
		protocol.ReqGetHasUnitSubTopicList:        remoting.Handle(s.unitTopics(sysFlagUnitSub, 0)).On(s.lists).WithLargeAnswer(),           // 312
		protocol.ReqGetHasUnitSubUnUnitTopicList:  remoting.Handle(s.unitTopics(sysFlagUnitSub, sysFlagUnit)).On(s.lists).WithLargeAnswer(), // 313

		// Tools: KV configuration
		protocol.ReqPutKVConfig:          remoting.Handle(s.putKVConfig).On(s.disk),    // 100
		protocol.ReqGetKVConfig:          remoting.Handle(s.getKVConfig),               // 101
		protocol.ReqDeleteKVConfig:       remoting.Handle(s.deleteKVConfig).On(s.disk), // 102
		protocol.ReqGetKVListByNamespace: remoting.Handle(s.getKVListByNamespace),      // 219

		// Tools: the server's own configuration
		protocol.ReqUpdateNamesrvConfig: remoting.Handle(s.updateConfig).On(s.disk), // 318
		protocol.ReqGetNamesrvConfig:    remoting.Handle(s.getConfig),               // 319
	}
}

// null is what remarks have in the place of a name that the request lacks.
const null = "null"

// Errors of requests. Their texts are remarks that clients and tools know.
var (
	// ErrNotReady: the warm-up is not over, or the server is on its way out.
	ErrNotReady = errors.New("name server not ready")
	// ErrDisabled: the list is switched off by enableTopicList or enableAllTopicList.
	ErrDisabled = errors.New("disable")
)

// errTopicNotExist is the whole answer for a topic that no broker serves, however long its name.
func errTopicNotExist(topic protocol.Opt[string]) *remoting.Error {
	return &remoting.Error{
		Code: protocol.RespTopicNotExist, // 17
		Remark: "No topic route info in name server for the topic: " + topic.Or(null) +
			"\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.",
	}
}

// errorCodes turns errors into response codes; the first match wins. *remoting.Error brings its own, and all else is
// SYSTEM_ERROR (1): a missing field, a body that cannot be read, ErrNotReady, ErrDisabled, a refused registration, a
// file that cannot be written.
var errorCodes = []remoting.ErrorCode{
	{Err: conf.ErrBlackList, Code: protocol.RespNoPermission}, // 16
}
