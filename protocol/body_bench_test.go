package protocol

import (
	"fmt"
	"testing"
)

// registration is the registration of a 5.x broker with n topics.
func registration(n int) *RegisterBrokerBody {
	b := &RegisterBrokerBody{
		FilterServerList:   []string{},
		DataVersion:        &DataVersion{Timestamp: 1700000000000, Counter: 7},
		MappingDataVersion: &DataVersion{Timestamp: 1700000000000},
		Mappings:           []NamedQueueMapping{},
	}
	for i := range n {
		name := fmt.Sprintf("orders-%05d", i)
		b.Topics = append(b.Topics, TopicConfig{
			MapKey: name, TopicName: name, ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6,
		})
	}
	return b
}

func BenchmarkDecodeRegisterBrokerBody10000(b *testing.B) {
	body := registration(10_000)
	now := RegisterBodyOptions{Version: CurrentVersion, Now: 1}
	compressed, err := body.AppendCompressed(nil, CurrentVersion)
	if err != nil {
		b.Fatal(err)
	}
	known := map[string]string{}
	for _, t := range body.Topics {
		known[t.TopicName] = t.TopicName
	}
	interning := now
	interning.Intern = func(name []byte) string { return known[string(name)] }
	for _, c := range []struct {
		name string
		data []byte
		opts RegisterBodyOptions
	}{
		{"json", body.AppendJSON(nil, FormDefault), now},
		{"json-interned", body.AppendJSON(nil, FormDefault), interning},
		{"compressed", compressed, now},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			for b.Loop() {
				got, err := DecodeRegisterBrokerBody(c.data, c.opts)
				if err != nil || len(got.Topics) != 10_000 {
					b.Fatal(len(got.Topics), err)
				}
			}
		})
	}
}

// routeSample is the route of a topic on two groups of two brokers.
func routeSample() *TopicRouteData {
	r := &TopicRouteData{}
	for _, name := range []string{"broker-a", "broker-b"} {
		r.BrokerDatas = append(r.BrokerDatas, BrokerData{
			Cluster: "DefaultCluster", BrokerName: name,
			BrokerAddrs: BrokerAddrs{{0, "10.0.0.1:10911"}, {1, "10.0.0.2:10911"}},
		})
		r.QueueDatas = append(r.QueueDatas, QueueData{BrokerName: name, ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6})
	}
	return r
}

func BenchmarkEncodeTopicRouteData(b *testing.B) {
	route := routeSample()
	dst := route.AppendJSON(nil, FormStrict)
	b.SetBytes(int64(len(dst)))
	b.ReportAllocs()
	for b.Loop() {
		dst = route.AppendJSON(dst[:0], FormStrict)
	}
}

func BenchmarkDecodeTopicRouteData(b *testing.B) {
	data := routeSample().AppendJSON(nil, FormStrict)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeTopicRouteData(data); err != nil {
			b.Fatal(err)
		}
	}
}
