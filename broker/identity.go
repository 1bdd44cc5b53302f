package broker

import (
	"path/filepath"

	"github.com/mq-server/mq/conf"
)

// identity is who and where the broker is. It is fixed at the start: none of its keys is live.
type identity struct {
	cluster string
	name    string
	id      int64  // 0 is the master
	addr    string // where clients find it, and what NameServers know it by: brokerIP1:listenPort
	haAddr  string // where slaves find it: brokerIP2:haListenPort
}

func newIdentity(c *conf.Config) identity {
	return identity{
		cluster: c.Broker.BrokerClusterName, name: c.Broker.BrokerName, id: c.Broker.BrokerID,
		addr: c.Addr(), haAddr: c.HAAddr(),
	}
}

func (i *identity) isMaster() bool { return i.id == 0 }

// member is what the broker registers as.
func (i *identity) member() brokerMember {
	return brokerMember{Cluster: i.cluster, Name: i.name, ID: i.id, Addr: i.addr, HAAddr: i.haAddr}
}

// configDir is the folder of topics.json and its kin. Source: spec/broker.md §0.4.
func configDir(c *conf.Config) string { return filepath.Join(c.Store.StorePathRootDir, "config") }
