package admin

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
)

// NamesrvConfigs is the outcome of getNamesrvConfig.
type NamesrvConfigs struct {
	NameServers []ServerTable `json:"nameServers"`
}

// NamesrvConfigs asks every NameServer for its configuration.
func (c *Client) NamesrvConfigs(ctx context.Context) (*NamesrvConfigs, error) {
	if len(c.nameServers) == 0 {
		return nil, errNoNameServer
	}
	targets := make([]ServerTable, len(c.nameServers))
	for i, addr := range c.nameServers {
		targets[i].Addr = addr
	}
	tables, err := readTables(targets, func(addr string) (map[string]string, error) {
		return c.readConfig(ctx, addr, protocol.ReqGetNamesrvConfig)
	})
	return &NamesrvConfigs{tables}, err
}

// AppendText appends a heading per NameServer, and below it the configuration, sorted by key.
func (l *NamesrvConfigs) AppendText(b *bytes.Buffer) {
	for _, t := range l.NameServers {
		if t.err == nil {
			fmt.Fprintf(b, "============%s============\n", t.Addr)
			appendTable(b, "", configFormat, t.Table)
		}
	}
}

// UpdateNamesrvConfig changes an item of the configuration of every NameServer.
func (c *Client) UpdateNamesrvConfig(ctx context.Context, key, value string) (*UpdatedConfig, error) {
	outcomes, err := c.changeNameServers(ctx, protocol.ReqUpdateNamesrvConfig, nil, conf.AppendProperty(nil, key, value))
	return &UpdatedConfig{Key: key, Value: value, Servers: outcomes, nameServers: true}, err
}

// AppendText appends a line per broker that has the value now, or one with all such NameServers and one with the item.
func (u *UpdatedConfig) AppendText(b *bytes.Buffer) {
	done := succeeded(u.Servers)
	if !u.nameServers {
		for _, addr := range done {
			fmt.Fprintf(b, "update broker config success, %s\n", addr)
		}
	} else if done != nil {
		fmt.Fprintf(b, "update name server config success![%s]\n%s : %s\n", strings.Join(done, ", "), u.Key, u.Value)
	}
}

// KVChange is the outcome of updateKvConfig and deleteKvConfig.
type KVChange struct {
	Namespace   string    `json:"namespace"`
	Key         string    `json:"key"`
	Value       *string   `json:"value,omitempty"` // nil: deleted
	NameServers []Outcome `json:"nameServers"`
}

// UpdateKV sets a value in every NameServer.
func (c *Client) UpdateKV(ctx context.Context, namespace, key, value string) (*KVChange, error) {
	outcomes, err := c.putKV(ctx, namespace, key, value)
	return &KVChange{namespace, key, &value, outcomes}, err
}

// DeleteKV removes a value from every NameServer. It succeeds if there was none.
func (c *Client) DeleteKV(ctx context.Context, namespace, key string) (*KVChange, error) {
	header := &protocol.DeleteKVConfigRequestHeader{Namespace: protocol.Some(namespace), Key: protocol.Some(key)}
	outcomes, err := c.changeNameServers(ctx, protocol.ReqDeleteKVConfig, header, nil)
	return &KVChange{namespace, key, nil, outcomes}, err
}

func (c *Client) putKV(ctx context.Context, namespace, key, value string) ([]Outcome, error) {
	return c.changeNameServers(ctx, protocol.ReqPutKVConfig, &protocol.PutKVConfigRequestHeader{Namespace: namespace, Key: key, Value: value}, nil)
}

// getKV returns a value, "" if there is none.
func (c *Client) getKV(ctx context.Context, namespace, key string) (string, error) {
	resp, err := c.lookUp(ctx, protocol.ReqGetKVConfig, &protocol.GetKVConfigRequestHeader{Namespace: protocol.Some(namespace), Key: protocol.Some(key)})
	if answered(err, protocol.RespQueryNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var header protocol.GetKVConfigResponseHeader
	err = header.Decode(resp.Ext)
	return header.Value.Or(""), bodyError("the NameServer", err)
}

// AppendText appends one line if all NameServers have the change.
func (k *KVChange) AppendText(b *bytes.Buffer) {
	switch {
	case failed(k.NameServers) != nil:
	case k.Value != nil:
		b.WriteString("create or update kv config to namespace success.\n")
	default:
		b.WriteString("delete kv config from namespace success.\n")
	}
}

// WritePerm is the outcome of wipeWritePerm and addWritePerm.
type WritePerm struct {
	BrokerName  string        `json:"brokerName"`
	NameServers []PermOutcome `json:"nameServers"`

	verb string // wipe or add
}

// PermOutcome is what became of a change of a broker's write permission at one NameServer.
type PermOutcome struct {
	Outcome
	TopicCount int32 `json:"topicCount"` // topics of the broker, changed now or before
}

// WipeWritePerm takes the write permission from all topics of a broker, in every NameServer.
func (c *Client) WipeWritePerm(ctx context.Context, brokerName string) (*WritePerm, error) {
	return c.writePerm(ctx, "wipe", brokerName, protocol.ReqWipeWritePermOfBroker,
		&protocol.WipeWritePermOfBrokerRequestHeader{BrokerName: protocol.Some(brokerName)},
		func(ext protocol.Ext) (int32, error) {
			var h protocol.WipeWritePermOfBrokerResponseHeader
			err := h.Decode(ext)
			return h.WipeTopicCount, err
		})
}

// AddWritePerm gives read and write permission to all topics of a broker, in every NameServer.
func (c *Client) AddWritePerm(ctx context.Context, brokerName string) (*WritePerm, error) {
	return c.writePerm(ctx, "add", brokerName, protocol.ReqAddWritePermOfBroker,
		&protocol.AddWritePermOfBrokerRequestHeader{BrokerName: protocol.Some(brokerName)},
		func(ext protocol.Ext) (int32, error) {
			var h protocol.AddWritePermOfBrokerResponseHeader
			err := h.Decode(ext)
			return h.AddTopicCount, err
		})
}

func (c *Client) writePerm(ctx context.Context, verb, brokerName string, code protocol.RequestCode, header protocol.HeaderEncoder, count func(protocol.Ext) (int32, error)) (*WritePerm, error) {
	if len(c.nameServers) == 0 {
		return nil, errNoNameServer
	}
	outcomes := forEach(c.nameServers, func(addr string) PermOutcome {
		var n int32
		resp, err := c.call(ctx, addr, code, header, nil)
		if err == nil {
			n, err = count(resp.Ext)
			err = bodyError(addr, err)
		}
		return PermOutcome{newOutcome(addr, err), n}
	})
	var f failures
	for _, o := range outcomes {
		f.add(o.err)
	}
	return &WritePerm{brokerName, outcomes, verb}, f.err()
}

// AppendText appends a line per NameServer.
func (w *WritePerm) AppendText(b *bytes.Buffer) {
	for _, o := range w.NameServers {
		fmt.Fprintf(b, "%s write perm of broker[%s] in name server[%s] ", w.verb, w.BrokerName, o.Addr)
		if o.err != nil {
			b.WriteString("Failed\n")
			continue
		}
		fmt.Fprintf(b, "OK, %d\n", o.TopicCount)
	}
}
