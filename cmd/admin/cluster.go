package admin

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mq-server/mq/protocol"
)

// ClusterList is the outcome of clusterList.
type ClusterList struct {
	Brokers []BrokerLoad `json:"brokers"`

	moreStats bool
}

// BrokerLoad is one broker of a cluster with its load. The figures are those of GET_BROKER_RUNTIME_INFO (28), and zero
// where the broker does not give them or could not be asked; Error then says why.
type BrokerLoad struct {
	Cluster    string `json:"cluster"`
	BrokerName string `json:"brokerName"`
	BrokerID   int64  `json:"brokerId"`
	Addr       string `json:"brokerAddr"`
	Version    string `json:"version"`
	Active     bool   `json:"brokerActive"` // since 5.0

	InTPS  float64 `json:"inTps"`  // messages a second that came in during the last 10 s
	OutTPS float64 `json:"outTps"` // messages a second that went out

	SendQueue QueueLoad `json:"sendThreadPoolQueue"`
	PullQueue QueueLoad `json:"pullThreadPoolQueue"`
	AckQueue  QueueLoad `json:"ackThreadPoolQueue"` // since 5.0

	TimerReadBehind   int64   `json:"timerReadBehind"`   // seconds
	TimerOffsetBehind int64   `json:"timerOffsetBehind"` // messages
	TimerCongestNum   int64   `json:"timerCongestNum"`   // messages
	TimerEnqueueTPS   float64 `json:"timerEnqueueTps"`
	TimerDequeueTPS   float64 `json:"timerDequeueTps"`

	PageCacheLock string  `json:"pageCacheLockTimeMills"` // milliseconds
	Hours         float64 `json:"hours"`                  // age of the oldest message; 0 if there is none
	DiskRatio     float64 `json:"commitLogDiskRatio"`     // used part of the disk, 0 to 1

	InYesterday  int64 `json:"inTotalYesterday"` // messages
	OutYesterday int64 `json:"outTotalYesterday"`
	InToday      int64 `json:"inTotalToday"`
	OutToday     int64 `json:"outTotalToday"`

	Error string `json:"error,omitempty"`

	err error
}

// QueueLoad is how many requests wait in a queue of a broker and for how long the first of them, in milliseconds: N where
// the broker has no such queue, empty where it could not be asked.
type QueueLoad struct {
	Size string `json:"size"`
	Wait string `json:"headWaitTimeMills"`
}

// ClusterList lists the brokers of a cluster, "" for all clusters, with their load. With moreStats its text has the
// messages of yesterday and today instead.
func (c *Client) ClusterList(ctx context.Context, cluster string, moreStats bool) (*ClusterList, error) {
	info, err := c.clusterInfo(ctx)
	if err != nil {
		return nil, err
	}
	clusters := slices.Clone(info.ClusterAddrTable)
	if cluster != "" {
		clusters = slices.DeleteFunc(clusters, func(known protocol.ClusterBrokers) bool { return known.Cluster != cluster })
		if len(clusters) == 0 {
			return nil, fmt.Errorf("the NameServer knows no cluster %q", cluster)
		}
	}
	slices.SortFunc(clusters, func(a, b protocol.ClusterBrokers) int { return cmp.Compare(a.Cluster, b.Cluster) })
	var brokers []BrokerLoad
	for _, cluster := range clusters {
		for _, name := range slices.Sorted(slices.Values(cluster.BrokerNames)) {
			group, _ := brokerData(info, name)
			for _, a := range group.BrokerAddrs {
				brokers = append(brokers, BrokerLoad{Cluster: cluster.Cluster, BrokerName: name, BrokerID: a.ID, Addr: a.Addr})
			}
		}
	}
	list := &ClusterList{Brokers: forEach(brokers, func(b BrokerLoad) BrokerLoad {
		table, err := c.runtimeInfo(ctx, b.Addr)
		if err != nil {
			b.Error, b.err = err.Error(), err
			return b
		}
		b.read(table, time.Now())
		return b
	}), moreStats: moreStats}
	var f failures
	for _, b := range list.Brokers {
		f.add(b.err)
	}
	return list, f.err()
}

// runtimeInfo is GET_BROKER_RUNTIME_INFO (28).
func (c *Client) runtimeInfo(ctx context.Context, addr string) (map[string]string, error) {
	resp, err := c.call(ctx, addr, protocol.ReqGetBrokerRuntimeInfo, nil, nil)
	if err != nil {
		return nil, err
	}
	table, err := protocol.DecodeKVTable(resp.Body)
	return table.Table, bodyError(addr, err)
}

// read takes what clusterList shows out of a broker's runtime info (spec/broker.md §7). What is missing or no number
// counts as 0.
func (b *BrokerLoad) read(table map[string]string, now time.Time) {
	integer := func(key string) int64 { n, _ := strconv.ParseInt(table[key], 10, 64); return n }
	float := func(text string) float64 {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) { // Java divides by 0, and JSON has no such numbers
			return 0
		}
		return f
	}
	first := func(key string) float64 { text, _, _ := strings.Cut(table[key], " "); return float(text) }
	queue := func(prefix string) QueueLoad {
		return QueueLoad{
			Size: cmp.Or(table[prefix+"ThreadPoolQueueSize"], "N"),
			Wait: cmp.Or(table[prefix+"ThreadPoolQueueHeadWaitTimeMills"], "N"),
		}
	}
	b.Version = table["brokerVersionDesc"]
	b.Active = strings.EqualFold(table["brokerActive"], "true")
	b.InTPS = first("putTps")
	b.OutTPS = first("getTransferredTps")
	if _, ok := table["getTransferredTps"]; !ok {
		b.OutTPS = first("getTransferedTps") // as 4.9 spells it
	}
	b.SendQueue, b.PullQueue, b.AckQueue = queue("send"), queue("pull"), queue("ack")
	b.TimerReadBehind, b.TimerOffsetBehind, b.TimerCongestNum = integer("timerReadBehind"), integer("timerOffsetBehind"), integer("timerCongestNum")
	b.TimerEnqueueTPS, b.TimerDequeueTPS = float(table["timerEnqueueTps"]), float(table["timerDequeueTps"])
	b.PageCacheLock = table["pageCacheLockTimeMills"]
	if earliest := integer("earliestMessageTimeStamp"); earliest > 0 {
		b.Hours = now.Sub(time.UnixMilli(earliest)).Hours()
	}
	b.DiskRatio = float(table["commitLogDiskRatio"])
	b.InYesterday = integer("msgPutTotalTodayMorning") - integer("msgPutTotalYesterdayMorning")
	b.OutYesterday = integer("msgGetTotalTodayMorning") - integer("msgGetTotalYesterdayMorning")
	b.InToday = integer("msgPutTotalTodayNow") - integer("msgPutTotalTodayMorning")
	b.OutToday = integer("msgGetTotalTodayNow") - integer("msgGetTotalTodayMorning")
}

// AppendText appends a line per broker below a heading.
func (l *ClusterList) AppendText(b *bytes.Buffer) {
	if l.moreStats {
		l.appendMoreStats(b)
		return
	}
	fmt.Fprintf(b, "%-22s  %-22s  %-4s  %-22s %-16s  %16s  %30s  %-22s  %-11s  %-12s  %-8s  %-10s\n",
		"#Cluster Name", "#Broker Name", "#BID", "#Addr", "#Version", "#InTPS(LOAD)", "#OutTPS(LOAD)", "#Timer(Progress)", "#PCWait(ms)", "#Hour",
		"#SPACE", "#ACTIVATED")
	for _, k := range l.Brokers {
		fmt.Fprintf(b, "%-22s  %-22s  %-4d  %-22s %-16s  %16s  %30s  %-22s  %11s  %-12s  %-8s  %10t\n",
			k.Cluster, k.BrokerName, k.BrokerID, k.Addr, cmp.Or(k.Version, "-"),
			fmt.Sprintf("%9.2f(%s,%sms)", k.InTPS, k.SendQueue.Size, k.SendQueue.Wait),
			fmt.Sprintf("%9.2f(%s,%sms|%s,%sms)", k.OutTPS, k.PullQueue.Size, k.PullQueue.Wait, k.AckQueue.Size, k.AckQueue.Wait),
			fmt.Sprintf("%d-%d(%.1fw, %.1f, %.1f)", k.TimerReadBehind, k.TimerOffsetBehind, float64(k.TimerCongestNum)/10_000, k.TimerEnqueueTPS, k.TimerDequeueTPS),
			cmp.Or(k.PageCacheLock, "-"), fmt.Sprintf("%2.2f", k.Hours), fmt.Sprintf("%.4f", k.DiskRatio), k.Active)
	}
}

func (l *ClusterList) appendMoreStats(b *bytes.Buffer) {
	fmt.Fprintf(b, "%-16s  %-32s %14s %14s %14s %14s\n",
		"#Cluster Name", "#Broker Name", "#InTotalYest", "#OutTotalYest", "#InTotalToday", "#OutTotalToday")
	for _, k := range l.Brokers {
		fmt.Fprintf(b, "%-16s  %-32s %14d %14d %14d %14d\n", k.Cluster, k.BrokerName, k.InYesterday, k.OutYesterday, k.InToday, k.OutToday)
	}
}
