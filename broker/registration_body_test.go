package broker

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mq-server/mq/protocol"
)

// Slices are the topics in order, and none has one topic unless there is only one.
func TestSliceTopics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		topics := newFakeTopics(rapid.IntRange(0, 60).Draw(t, "topics")).topics
		per := rapid.IntRange(2, 20).Draw(t, "per")
		var joined []*protocol.TopicConfig
		slices := sliceTopics(topics, per)
		for i, s := range slices {
			require.LessOrEqual(t, len(s), per+1)
			if len(topics) > 1 {
				require.Greater(t, len(s), 1)
			}
			if i < len(slices)-2 {
				require.Len(t, s, per)
			}
			joined = append(joined, s...)
		}
		require.Len(t, joined, len(topics))
		for i := range topics {
			require.Same(t, topics[i], joined[i])
		}
	})
}

// The estimate of a body's size is never too low, also for names that JSON escapes and numbers with many digits.
func TestSizeOf(t *testing.T) {
	topics := newFakeTopics(50).topics
	topics = append(topics, &protocol.TopicConfig{TopicName: "%RETRY%x", ReadQueueNums: 2147483647, WriteQueueNums: 2147483647,
		Perm: 7, TopicSysFlag: 3, Order: true, TopicFilterType: protocol.FilterMultiTag,
		Attributes: map[string]string{"message.type": "FIFO", "queue.type": "BatchCQ"}})
	body := encodeRegistration(topics, protocol.DataVersion{Timestamp: 1 << 62, Counter: 1 << 62}, bodyForm{permission: 6}, maskAll)
	require.LessOrEqual(t, len(body.data), sizeOf(topics))
	require.Greater(t, len(body.data), sizeOf(topics)*3/4)
}

// Bodies are built once per version and form.
func TestBodiesAreShared(t *testing.T) {
	topics := newFakeTopics(100)
	r := newTestRegistrar(testSettings(""), topics)
	form := bodyForm{permission: 6}
	first := r.current().full(form)
	require.Same(t, &first[0].data[0], &r.current().full(form)[0].data[0])
	require.NotSame(t, &first[0].data[0], &r.current().full(bodyForm{permission: 4})[0].data[0])
	topics.put(plainTopic("another", 4))
	require.NotSame(t, &first[0].data[0], &r.current().full(form)[0].data[0])
}

// What a heartbeat costs while nothing changes: 20,000 topics, and 100,000 which are asked about only.
func BenchmarkUnchangedBody(b *testing.B) {
	for _, n := range []int{20_000, 100_000} {
		b.Run(map[int]string{20_000: "20000", 100_000: "100000"}[n], func(b *testing.B) {
			r := newTestRegistrar(testSettings(""), newFakeTopics(n))
			r.current().full(bodyForm{permission: 6})
			b.ReportAllocs()
			for b.Loop() {
				t := r.current()
				if !t.inSlices(bodyForm{permission: 6}) {
					t.full(bodyForm{permission: 6})
				}
			}
		})
	}
}
