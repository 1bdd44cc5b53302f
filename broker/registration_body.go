package broker

import (
	"maps"
	"sync"
	"time"

	"github.com/mq-server/mq/protocol"
)

// A registration whose body would be larger than maxRegisterBody is sent in slices of about sliceBody bytes, so that
// frames stay below protocol.MaxFrame and no NameServer is busy with one for long.
const (
	maxRegisterBody = protocol.MaxFrame - 64<<10
	sliceBody       = 4 << 20
)

// registrationTable is the topics at one version, and the bodies that register them: built once, for all NameServers.
type registrationTable struct {
	topics  []*protocol.TopicConfig // ascending by name
	version protocol.DataVersion

	mu     sync.Mutex
	bodies map[bodyForm][]registrationBody // that have been asked for; guarded by mu
}

// bodyForm is what the bodies of a registration depend on besides the topics.
type bodyForm struct {
	permission int32            // brokerPermission
	compressed protocol.Version // in the compressed form of that version; 0: as JSON
	perSlice   int              // topics in a slice; 0: as many as go into a frame
}

// bodyForm returns the form for a NameServer of a version. As long as that is unknown, 0, it is taken for a new one.
func (s *registrarSettings) bodyForm(namesrv protocol.Version) bodyForm {
	f := bodyForm{permission: s.Permission}
	if s.Compressed {
		f.compressed = protocol.CurrentVersion
		if 0 < namesrv && namesrv < protocol.Version5_0_0 {
			f.compressed = protocol.Version4_9_4 // 4.9 refuses the form of 5.0
		}
	}
	if s.Split {
		f.perSlice = max(2, s.SplitSize)
	}
	return f
}

// registrationBody is the body of one REGISTER_BROKER. It never changes.
type registrationBody struct {
	data       []byte
	crc        int32
	compressed bool
}

// full returns the bodies of a registration of all topics, in the order in which they are to be sent.
func (t *registrationTable) full(f bodyForm) []registrationBody {
	t.mu.Lock()
	defer t.mu.Unlock()
	bodies, built := t.bodies[f]
	if !built {
		if t.bodies == nil {
			t.bodies = make(map[bodyForm][]registrationBody)
		}
		bodies = t.build(f)
		t.bodies[f] = bodies
	}
	return bodies
}

// inSlices tells whether a registration takes more than one frame although the settings do not ask for that.
func (t *registrationTable) inSlices(f bodyForm) bool {
	return f.perSlice == 0 && sizeOf(t.topics) > maxRegisterBody
}

// build makes the bodies of a registration.
//
// The original gives all slices the same data version, so that a NameServer that knows an earlier one takes the first
// slice only, and one that got some of them believes that it has all. Here all slices but the last have timestamps
// that no version of the table has: every slice is taken, and the version is reached with the last one.
func (t *registrationTable) build(f bodyForm) []registrationBody {
	per := f.perSlice
	if per == 0 {
		per = max(1, len(t.topics))
		if size := sizeOf(t.topics); size > maxRegisterBody {
			per = max(2, per/(size/sliceBody+1)) // topics differ less in size than the two limits do
		}
	}
	slices := sliceTopics(t.topics, per)
	bodies := make([]registrationBody, len(slices))
	for i, topics := range slices {
		version := t.version
		version.Timestamp -= int64(len(slices) - 1 - i)
		bodies[i] = encodeRegistration(topics, version, f, maskAll)
	}
	return bodies
}

// sliceTopics cuts topics into slices of per, which is at least 2 or the number of topics. None but the only one has
// less than two topics: a NameServer refuses one that a broker begins with (spec/namesrv.md §5.5).
func sliceTopics(topics []*protocol.TopicConfig, per int) [][]*protocol.TopicConfig {
	var slices [][]*protocol.TopicConfig
	for len(topics) > per {
		n := per
		if len(topics) == n+1 {
			n-- // leave two
		}
		if n < 2 { // three are left, two by two
			break
		}
		slices, topics = append(slices, topics[:n]), topics[n:]
	}
	return append(slices, topics)
}

// sizeOf estimates from above how many bytes topics take in a body that is not compressed.
func sizeOf(topics []*protocol.TopicConfig) int {
	const fixed = 180 // of a topic, with numbers of ten digits
	size := 512
	for _, t := range topics {
		size += fixed + 2*len(t.TopicName)
		for k, v := range t.Attributes {
			size += 6 + len(k) + len(v)
		}
	}
	return size
}

// changes returns the topics of t that known does not have, or has otherwise. Topics that have gone are not among
// them: no request tells NameServers about these but a registration of all topics.
func (t *registrationTable) changes(known *registrationTable) []*protocol.TopicConfig {
	if t == known {
		return nil
	}
	var changed []*protocol.TopicConfig
	old := known.topics
	for _, topic := range t.topics {
		for len(old) > 0 && old[0].TopicName < topic.TopicName {
			old = old[1:]
		}
		if len(old) == 0 || old[0] != topic && !sameTopic(old[0], topic) {
			changed = append(changed, topic)
		}
	}
	return changed
}

func sameTopic(a, b *protocol.TopicConfig) bool {
	return a.TopicName == b.TopicName && a.ReadQueueNums == b.ReadQueueNums && a.WriteQueueNums == b.WriteQueueNums &&
		a.Perm == b.Perm && a.TopicSysFlag == b.TopicSysFlag && a.TopicFilterType == b.TopicFilterType &&
		a.Order == b.Order && maps.Equal(a.Attributes, b.Attributes)
}

// encodeRegistration makes the body that registers topics at version. mask is applied if the broker may not be both
// read and written.
func encodeRegistration(topics []*protocol.TopicConfig, version protocol.DataVersion, f bodyForm,
	mask func(*protocol.TopicConfig, int32) protocol.TopicConfig) registrationBody {
	b := protocol.RegisterBrokerBody{
		FilterServerList:   []string{},
		Topics:             make([]protocol.TopicConfig, len(topics)),
		DataVersion:        &version,
		MappingDataVersion: &protocol.DataVersion{Timestamp: time.Now().UnixMilli()},
	}
	for i, t := range topics {
		if f.permission&permReadWrite == permReadWrite {
			b.Topics[i] = *t
		} else {
			b.Topics[i] = mask(t, f.permission)
		}
	}
	if f.compressed != 0 {
		if data, err := b.AppendCompressed(nil, f.compressed); err == nil {
			return registrationBody{data: data, crc: protocol.BodyCRC32(data), compressed: true}
		} // a name with a blank has no compressed form
	}
	data := b.AppendJSON(make([]byte, 0, sizeOf(topics)), protocol.FormDefault)
	return registrationBody{data: data, crc: protocol.BodyCRC32(data)}
}

// permReadWrite are the bits of a permission for reading and writing.
const permReadWrite = permRead | permWrite

// maskAll is what the broker registers of a topic with all others while brokerPermission is not read and write: names,
// numbers of queues, and the permissions that both allow. Source: spec/broker.md §4.4.
func maskAll(t *protocol.TopicConfig, permission int32) protocol.TopicConfig {
	return protocol.TopicConfig{
		TopicName: t.TopicName, ReadQueueNums: t.ReadQueueNums, WriteQueueNums: t.WriteQueueNums,
		Perm: t.Perm & permission,
	}
}

// maskChanged is maskAll for a topic that has changed: its flag stays.
func maskChanged(t *protocol.TopicConfig, permission int32) protocol.TopicConfig {
	masked := maskAll(t, permission)
	masked.TopicSysFlag = t.TopicSysFlag
	return masked
}

// encodeTopicRoute makes the body of REGISTER_TOPIC_IN_NAMESRV.
func encodeTopicRoute(brokerName string, t *protocol.TopicConfig, permission int32) []byte {
	route := protocol.TopicRouteData{QueueDatas: []protocol.QueueData{{
		BrokerName: brokerName, ReadQueueNums: t.ReadQueueNums, WriteQueueNums: t.WriteQueueNums,
		Perm: t.Perm & permission, TopicSysFlag: t.TopicSysFlag,
	}}}
	if permission&permReadWrite == permReadWrite {
		route.QueueDatas[0].Perm = t.Perm
	}
	return route.AppendJSON(nil, protocol.FormDefault)
}
