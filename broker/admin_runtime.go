package broker

// GET_BROKER_RUNTIME_INFO (28), all versions: numbers about the broker as texts.
//
//   - It has the keys of 5.5.0, and those that only 4.9 has, so that tools of both lines find what they look for.
//   - Numbers about messages are those of an empty store until there is one.

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// runtimeInfo shows the state of the broker (28).
//
// Source: spec/broker.md §7.
func (s *Server) runtimeInfo(context.Context, *remoting.Peer, *protocol.Command) (*remoting.Response, error) {
	cfg := s.conf.Snapshot()
	table := map[string]string{
		"brokerVersionDesc":               protocol.CurrentVersion.String(),
		"brokerVersion":                   strconv.Itoa(int(protocol.CurrentVersion)),
		"brokerActive":                    strconv.FormatBool(s.identity.isMaster()),
		"bootTimestamp":                   strconv.FormatInt(s.started.UnixMilli(), 10),
		"runtime":                         runtimeText(s.now().Sub(s.started)),
		"startAcceptSendRequestTimeStamp": strconv.FormatInt(cfg.Broker.StartAcceptSendRequestTimeStamp, 10),
	}
	addEmptyStore(table)
	addWorkQueues(table, &cfg.Broker)
	addDisk(table, &cfg.Store)
	return jsonAnswer(&protocol.KVTable{Table: table}), nil
}

// runtimeText is how long the broker has run, as the original writes it.
func runtimeText(d time.Duration) string {
	seconds := int64(d / time.Second)
	return fmt.Sprintf("[ %d days, %d hours, %d minutes, %d seconds ]", seconds/86400, seconds/3600%24, seconds/60%60, seconds%60)
}

// emptyStore is what a broker without messages tells about them: value, then keys.
var emptyStore = map[string]string{
	"0": `putMessageFailedTimes putMessageSizeTotal putMessageEntireTimeMax getMessageEntireTimeMax
		dispatchMaxBuffer dispatchBehindBytes pageCacheLockTimeMills commitLogMaxOffset
		msgPutTotalYesterdayMorning msgPutTotalTodayMorning msgPutTotalTodayNow
		msgGetTotalYesterdayMorning msgGetTotalTodayMorning msgGetTotalTodayNow
		timerReadBehind timerOffsetBehind timerCongestNum`,
	"1":                         "putMessageTimesTotal", // not 0, as in the original
	"0.0":                       "putMessageAverageSize timerEnqueueTps timerDequeueTps",
	"0.00":                      "putLatency99 putLatency999",
	"-1":                        "commitLogMinOffset earliestMessageTimeStamp",
	"null":                      "putMessageDistributeTime",
	"0 B":                       "remainHowManyDataToFlush",
	strconv.Itoa(math.MaxInt32): "remainTransientStoreBufferNumbs",
	// Rates of the last 10, 60 and 600 seconds. The last key is 4.9's.
	"0.0 0.0 0.0": "putTps getFoundTps getMissTps getTotalTps getTransferredTps getTransferedTps",
}

func addEmptyStore(table map[string]string) {
	for value, keys := range emptyStore {
		for _, key := range strings.Fields(keys) {
			table[key] = value
		}
	}
}

// addWorkQueues adds the queues that the original tells about. They belong to requests that need a store.
func addWorkQueues(table map[string]string, b *conf.BrokerConfig) {
	for name, capacity := range map[string]int{
		"send": b.SendThreadPoolQueueCapacity, "pull": b.PullThreadPoolQueueCapacity,
		"litePull": b.LitePullThreadPoolQueueCapacity, "query": b.QueryThreadPoolQueueCapacity, "ack": b.AckThreadPoolQueueCapacity,
	} {
		table[name+"ThreadPoolQueueSize"] = "0"
		table[name+"ThreadPoolQueueHeadWaitTimeMills"] = "0"
		table[name+"ThreadPoolQueueCapacity"] = strconv.Itoa(capacity)
	}
	table["EndTransactionQueueSize"] = "0"
	table["EndTransactionThreadPoolQueueCapacity"] = strconv.Itoa(b.EndTransactionPoolQueueCapacity)
}

// addDisk adds how full the disks of the store are, as parts of 1.
func addDisk(table map[string]string, c *conf.MessageStoreConfig) {
	lowest := math.Inf(1)
	for i, path := range strings.Split(c.StorePathCommitLog, ",") {
		path = strings.TrimSpace(path)
		disk := diskOf(path)
		used := disk.used()
		table["commitLogDiskRatio_"+path] = ratioText(used)
		lowest = min(lowest, used)
		if i == 0 {
			table["commitLogDirCapacity"] = fmt.Sprintf("Total : %s, Free : %s.", sizeText(disk.total), sizeText(disk.free))
		}
	}
	table["commitLogDiskRatio"] = ratioText(lowest)
	table["consumeQueueDiskRatio"] = ratioText(diskOf(filepath.Join(c.StorePathRootDir, "consumequeue")).used())
}

// disk is the space of a file system, in bytes; all of it is 0 if that is unknown.
type disk struct {
	total, free uint64
	usable      uint64 // for this process: less than free where some is kept for the administrator
}

// used is the part of the disk that is in use, rounded up to hundredths; -1: unknown.
func (d disk) used() float64 {
	used := d.total - d.free
	entire := used + d.usable
	if entire == 0 {
		return -1
	}
	return math.Ceil(100*float64(used)/float64(entire)) / 100
}

// diskOf returns the file system that path is on, or would be.
func diskOf(path string) disk {
	for {
		if d, ok := statDisk(path); ok {
			return d
		}
		parent := filepath.Dir(path)
		if parent == path {
			return disk{}
		}
		path = parent
	}
}

// ratioText writes a number as Java writes doubles of this size.
func ratioText(ratio float64) string {
	text := strconv.FormatFloat(ratio, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// sizeText writes a number of bytes for people, in binary units.
func sizeText(bytes uint64) string {
	const units = "KMGTPE"
	if bytes < 1024 {
		return strconv.FormatUint(bytes, 10) + " B"
	}
	size, unit := float64(bytes)/1024, 0
	for size >= 1024 && unit < len(units)-1 {
		size, unit = size/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", size, units[unit])
}
