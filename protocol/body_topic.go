package protocol

// TopicFilterType says how many tags a message may carry. It travels by name and nothing looks at it.
type TopicFilterType uint8

const (
	FilterSingleTag TopicFilterType = iota // SINGLE_TAG, the default
	FilterMultiTag                         // MULTI_TAG
	FilterNone                             // null, or a name Java does not know; left out when written
)

// Defaults of TopicConfig for members that are absent, null or "" (spec/namesrv.md §3, spec/since-2025-09.md §1.6).
const (
	defaultTopicQueueNums = 16
	defaultTopicPerm      = 6 // read and write
)

// TopicConfig is one topic as a broker registers and stores it.
type TopicConfig struct {
	// MapKey is the name the entry has in topicConfigTable. The topic is TopicName, whatever MapKey is; the two differ
	// only in bodies made by hand. When written, an empty MapKey stands for TopicName.
	MapKey          string
	TopicName       string
	ReadQueueNums   int32
	WriteQueueNums  int32
	Perm            int32 // bits: 1 inherit, 2 write, 4 read, 8 priority
	TopicSysFlag    int32 // bits: 1 unit, 2 unit-sub
	TopicFilterType TopicFilterType
	Order           bool
	Attributes      map[string]string // nil when there are none
}

// DataVersion tells two states of a broker's topic table apart. Versions are compared for being equal (==), never for
// being newer; only StateVersion orders masters.
type DataVersion struct {
	StateVersion int64
	Timestamp    int64 // milliseconds since 1970 on the broker's clock
	Counter      int64
	// CounterNull is set when the counter was null in JSON, which Java keeps apart from 0 and leaves out when it writes.
	CounterNull bool
}

// TopicQueueMappingInfo maps the logical queues of a static topic to the physical queues of one broker.
type TopicQueueMappingInfo struct {
	Topic       string
	Bname       string // hosting broker's name
	Scope       string // default "__global__"
	TotalQueues int32
	Epoch       int64
	Dirty       bool
	CurrIDMap   []QueueIDMapping // ascending by LogicID
}

// QueueIDMapping is one entry of TopicQueueMappingInfo.CurrIDMap.
type QueueIDMapping struct {
	LogicID    int32
	PhysicalID int32
}

// NamedQueueMapping is one entry of a map to TopicQueueMappingInfo: by topic in a registration, by broker name in a route.
type NamedQueueMapping struct {
	Key  string
	Info TopicQueueMappingInfo
}

// TopicConfigSerializeWrapper is a broker's topic table: the registration body of brokers before 3.0.11, and the content
// of topics.json.
type TopicConfigSerializeWrapper struct {
	TopicConfigTable []TopicConfig // in wire order, one per MapKey
	DataVersion      *DataVersion  // nil: null
}
