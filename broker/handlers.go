package broker

import (
	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// handlers is all that the broker can do, on the main port and on the fast one. A code that is not listed is answered 3,
// REQUEST_CODE_NOT_SUPPORTED; that includes all that need a message store, and those that the fast port never has (11, 361,
// 200050, 200052, 200054, 200055).
//
// Every request has a queue of its family, with the family's limits, but for 14 and 15: these take no time, and offsets are
// committed and asked for in the order in which a connection does so. What is passed on to clients is answered later and holds
// up nobody. Of the long lists a connection gets one at a time.
//
// Sources: spec/broker.md §6.1, §6.2.
func (s *Server) handlers() remoting.Table {
	c, work := s.clients, &s.work
	plain := func(h remoting.Handler) remoting.Entry { return remoting.Entry{Handler: h} } // without header
	return remoting.Table{
		// Clients
		protocol.ReqHeartBeat:              plain(c.heartbeat).On(work.heartbeat),                     // 34
		protocol.ReqUnregisterClient:       remoting.Handle(c.unregisterClient).On(work.clientManage), // 35
		protocol.ReqCheckClientConfig:      plain(c.checkClientConfig).On(work.clientManage),          // 46
		protocol.ReqGetConsumerListByGroup: remoting.Handle(c.consumerList).On(work.consumerManage),   // 38
		protocol.ReqUpdateConsumerOffset:   remoting.Handle(s.updateConsumerOffset),                   // 15
		protocol.ReqQueryConsumerOffset:    remoting.Handle(s.queryConsumerOffset),                    // 14
		protocol.ReqLockBatchMQ:            plain(c.lockQueues).On(work.admin),                        // 41
		protocol.ReqUnlockBatchMQ:          plain(c.unlockQueues).On(work.admin),                      // 42

		// Tools: topics
		protocol.ReqUpdateAndCreateTopic:         remoting.Handle(s.updateTopic).On(work.admin),                 // 17
		protocol.ReqUpdateAndCreateTopicList:     plain(s.updateTopicList).On(work.admin),                       // 18
		protocol.ReqDeleteTopicInBroker:          remoting.Handle(s.deleteTopic).On(work.admin),                 // 215
		protocol.ReqGetAllTopicConfig:            remoting.Handle(s.allTopics).On(work.admin).WithLargeAnswer(), // 21
		protocol.ReqGetTopicConfig:               remoting.Handle(s.topicConfig).On(work.admin),                 // 351
		protocol.ReqGetSystemTopicListFromBroker: plain(s.systemTopics).On(work.admin),                          // 305

		// Tools: consumer groups
		protocol.ReqUpdateAndCreateSubscriptionGroup:     plain(s.updateGroup).On(work.admin),                           // 200
		protocol.ReqUpdateAndCreateSubscriptionGroupList: plain(s.updateGroupList).On(work.admin),                       // 225
		protocol.ReqDeleteSubscriptionGroup:              remoting.Handle(s.deleteGroup).On(work.admin),                 // 207
		protocol.ReqGetAllSubscriptionGroupConfig:        remoting.Handle(s.allGroups).On(work.admin).WithLargeAnswer(), // 201
		protocol.ReqGetSubscriptionGroupConfig:           remoting.Handle(s.groupConfig).On(work.admin),                 // 352
		protocol.ReqUpdateAndGetGroupForbidden:           remoting.Handle(s.groupForbidden).On(work.admin),              // 353

		// Tools and replicas: consumer offsets
		protocol.ReqGetAllConsumerOffset: plain(s.allConsumerOffsets).On(work.admin).WithLargeAnswer(), // 43
		protocol.ReqCloneGroupOffset:     remoting.Handle(s.cloneGroupOffset).On(work.admin),           // 314

		// Tools: clients
		protocol.ReqGetConsumerConnectionList:       remoting.Handle(c.consumerConnections).On(work.admin).WithLargeAnswer(), // 203
		protocol.ReqGetProducerConnectionList:       remoting.Handle(c.producerConnections).On(work.admin).WithLargeAnswer(), // 204
		protocol.ReqGetAllProducerInfo:              plain(c.allProducers).On(work.admin).WithLargeAnswer(),                  // 328
		protocol.ReqQueryTopicConsumeByWho:          remoting.Handle(s.groupsOfTopic).On(work.admin).WithLargeAnswer(),       // 300
		protocol.ReqQueryTopicsByConsumer:           remoting.Handle(s.topicsOfGroup).On(work.admin).WithLargeAnswer(),       // 343
		protocol.ReqQuerySubscriptionByConsumer:     remoting.Handle(c.subscriptionOfGroup).On(work.admin),                   // 345
		protocol.ReqGetConsumerRunningInfo:          remoting.Handle(c.consumerRunningInfo).On(work.admin),                   // 307
		protocol.ReqConsumeMessageDirectly:          remoting.Handle(c.consumeMessageDirectly).On(work.admin),                // 309
		protocol.ReqInvokeBrokerToGetConsumerStatus: remoting.Handle(c.consumerStatus).On(work.admin),                        // 223

		// Tools: the broker itself
		protocol.ReqUpdateBrokerConfig:   plain(s.updateConfig).On(work.admin), // 25
		protocol.ReqGetBrokerConfig:      plain(s.getConfig).On(work.admin),    // 26
		protocol.ReqGetBrokerRuntimeInfo: plain(s.runtimeInfo).On(work.admin),  // 28
	}
}

// workQueues are where requests wait for their turn, one per family. A request that finds its queue full is answered 2,
// SYSTEM_BUSY.
type workQueues struct {
	heartbeat, clientManage, consumerManage, admin *remoting.Executor
}

// patientWorkers is the least number of workers for requests that wait for the disk: those that wait at a time share one
// write, so that a great many clients can start at once.
const patientWorkers = 64

func newWorkQueues(c *conf.BrokerConfig) workQueues {
	return workQueues{
		heartbeat:      remoting.NewExecutor("Heartbeat", max(c.HeartbeatThreadPoolNums, patientWorkers), c.HeartbeatThreadPoolQueueCapacity),
		clientManage:   remoting.NewExecutor("ClientManage", c.ClientManageThreadPoolNums, c.ClientManagerThreadPoolQueueCapacity),
		consumerManage: remoting.NewExecutor("ConsumerManage", c.ConsumerManageThreadPoolNums, c.ConsumerManagerThreadPoolQueueCapacity),
		admin:          remoting.NewExecutor("AdminBroker", c.AdminBrokerThreadPoolNums, c.AdminBrokerThreadPoolQueueCapacity),
	}
}

func (w *workQueues) all() []*remoting.Executor {
	return []*remoting.Executor{w.heartbeat, w.clientManage, w.consumerManage, w.admin}
}

// errorCodes turns errors into response codes; the first match wins. *remoting.Error brings its own, and all else is
// SYSTEM_ERROR (1): a missing field, a body that cannot be read, a bad attribute, a file that cannot be written.
var errorCodes = []remoting.ErrorCode{
	{Err: conf.ErrBlackList, Code: protocol.RespNoPermission}, // 16
}
