package admin

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
)

// BrokerStatus is the outcome of brokerStatus.
type BrokerStatus struct {
	Brokers []ServerTable `json:"brokers"`

	cluster bool
}

// ServerTable is what one server says about itself.
type ServerTable struct {
	Addr  string            `json:"addr"`
	Table map[string]string `json:"table,omitempty"`
	Error string            `json:"error,omitempty"`

	master string // address of its master, or noMaster; itself if it is one, empty if that is not known
	err    error
}

// BrokerStatus asks one broker or all of a cluster for its runtime info.
func (c *Client) BrokerStatus(ctx context.Context, at Target) (*BrokerStatus, error) {
	addrs, err := c.all(ctx, at)
	if err != nil {
		return nil, err
	}
	targets := make([]ServerTable, len(addrs))
	for i, addr := range addrs {
		targets[i].Addr = addr
	}
	tables, err := readTables(targets, func(addr string) (map[string]string, error) { return c.runtimeInfo(ctx, addr) })
	return &BrokerStatus{tables, at.Cluster != ""}, err
}

// readTables fills the tables in.
func readTables(targets []ServerTable, read func(addr string) (map[string]string, error)) ([]ServerTable, error) {
	tables := forEach(targets, func(t ServerTable) ServerTable {
		if t.Table, t.err = read(t.Addr); t.err != nil {
			t.Error = t.err.Error()
		}
		return t
	})
	var f failures
	for _, t := range tables {
		f.add(t.err)
	}
	return tables, f.err()
}

// AppendText appends a line per item, which begins with the broker's address if they are those of a cluster.
func (s *BrokerStatus) AppendText(b *bytes.Buffer) {
	for _, broker := range s.Brokers {
		prefix := ""
		if s.cluster {
			prefix = fmt.Sprintf("%-24s ", broker.Addr)
		}
		appendTable(b, prefix, "%-32s: %s\n", broker.Table)
	}
}

// noMaster stands in getBrokerConfig for the master of slaves that have none.
const noMaster = "NO_MASTER"

// BrokerConfigs is the outcome of getBrokerConfig.
type BrokerConfigs struct {
	Brokers []ServerTable `json:"brokers"`
}

// BrokerConfigs asks one broker or all of a cluster for its configuration.
func (c *Client) BrokerConfigs(ctx context.Context, at Target) (*BrokerConfigs, error) {
	if err := at.check(); err != nil {
		return nil, err
	}
	targets := []ServerTable{{Addr: at.Broker}}
	if at.Cluster != "" {
		info, err := c.clusterInfo(ctx)
		if err != nil {
			return nil, err
		}
		groups, err := brokersOf(info, at.Cluster)
		if err != nil {
			return nil, err
		}
		targets = targets[:0]
		for _, group := range groups {
			master := masterOf(group)
			if master == "" {
				master = noMaster
			}
			for _, a := range group.BrokerAddrs {
				targets = append(targets, ServerTable{Addr: a.Addr, master: master})
			}
		}
	}
	tables, err := readTables(targets, func(addr string) (map[string]string, error) {
		return c.readConfig(ctx, addr, protocol.ReqGetBrokerConfig)
	})
	return &BrokerConfigs{tables}, err
}

// readConfig asks a server for its configuration: GET_BROKER_CONFIG (26) or GET_NAMESRV_CONFIG (319). Servers write an
// item a line without escaping anything (spec/namesrv.md §11.2), so it is read like that, and not as a properties file.
func (c *Client) readConfig(ctx context.Context, addr string, code protocol.RequestCode) (map[string]string, error) {
	resp, err := c.call(ctx, addr, code, nil, nil)
	if err != nil {
		return nil, err
	}
	table := map[string]string{}
	for line := range strings.Lines(conf.DecodeText(resp.Body)) {
		if key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok {
			table[key] = value
		}
	}
	return table, nil
}

// configFormat is a line of a configuration, sic.
const configFormat = "%-50s=  %s\n"

// AppendText appends a heading per broker, and below it the configuration, sorted by key.
func (l *BrokerConfigs) AppendText(b *bytes.Buffer) {
	orphans := false // below the heading of slaves without a master
	for _, broker := range l.Brokers {
		if broker.master == noMaster && !orphans {
			fmt.Fprintf(b, "============Master: %s============\n", noMaster)
		}
		orphans = broker.master == noMaster
		if broker.err != nil {
			continue
		}
		switch broker.master {
		case "":
			fmt.Fprintf(b, "============%s============\n", broker.Addr)
		case broker.Addr:
			fmt.Fprintf(b, "============Master: %s============\n", broker.Addr)
		default:
			fmt.Fprintf(b, "============My Master: %s=====Slave: %s============\n", broker.master, broker.Addr)
		}
		appendTable(b, "", configFormat, broker.Table)
		b.WriteByte('\n')
	}
}

// UpdatedConfig is the outcome of updateBrokerConfig and updateNamesrvConfig.
type UpdatedConfig struct {
	Key     string    `json:"key"`
	Value   string    `json:"value"`
	Servers []Outcome `json:"servers"`

	nameServers bool
}

// UpdateBrokerConfig changes an item of the configuration of one broker, of the masters of a cluster, or with slaves of all
// its brokers.
func (c *Client) UpdateBrokerConfig(ctx context.Context, at Target, slaves bool, key, value string) (*UpdatedConfig, error) {
	where := c.masters
	if slaves {
		where = c.all
	}
	addrs, err := where(ctx, at)
	if err != nil {
		return nil, err
	}
	outcomes, err := c.change(ctx, addrs, protocol.ReqUpdateBrokerConfig, nil, conf.AppendProperty(nil, key, value))
	return &UpdatedConfig{Key: key, Value: value, Servers: outcomes}, err
}
