package broker

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The strings of a request's header share one allocation, which may have megabytes: what is kept of it is copied.
func TestNothingKeepsARequestAlive(t *testing.T) {
	header := "Topic,Group,+message.type=FIFO" + strings.Repeat(" ", 1<<20)
	part := func(s string) string {
		at := strings.Index(header, s)
		return header[at : at+len(s)]
	}
	kept := func(names ...string) {
		t.Helper()
		from := uintptr(unsafe.Pointer(unsafe.StringData(header)))
		for _, name := range names {
			at := uintptr(unsafe.Pointer(unsafe.StringData(name)))
			require.False(t, at >= from && at < from+uintptr(len(header)), name)
		}
	}

	tt := newTestTopics(t)
	require.NoError(t, tt.update(*newTopic(part("Topic"), 4, 6, 0, false), part("+message.type=FIFO")))
	topics, _ := tt.snapshot()
	for _, topic := range topics {
		kept(topic.TopicName, topic.MapKey)
		for key, value := range topic.Attributes {
			kept(key, value)
		}
	}
	for name := range tt.file.load().topics.byName {
		kept(name)
	}

	gt := newTestGroups(t)
	require.NoError(t, gt.setForbidden(part("Group"), part("Topic"), forbidRead, true))
	_, err := gt.find(part("Group"))
	require.NoError(t, err)
	groups, forbidden, _ := gt.snapshot()
	for _, group := range groups {
		kept(group.GroupName)
	}
	for group, topics := range forbidden {
		kept(group)
		for topic := range topics {
			kept(topic)
		}
	}

	offsets := openTestOffsets(t, t.TempDir())
	offsets.put(t, part("Topic"), part("Group"), 0, 1)
	require.NoError(t, offsets.clone(part("Group"), part("+message"), []string{part("Topic")}))
	for topic, groups := range offsets.byTopic {
		kept(topic)
		for group, g := range groups {
			kept(group, g.key)
		}
	}
	for group, topics := range offsets.byGroup {
		kept(group)
		for topic := range topics {
			kept(topic)
		}
	}
}

// What is forbidden is kept for names only that a group and a topic may have.
func TestForbiddenNames(t *testing.T) {
	gt := newTestGroups(t)
	for _, row := range []struct{ group, topic string }{
		{"", "T"}, {"G", ""}, {"a b", "T"}, {"G", "a b"}, {strings.Repeat("g", 121), "T"}, {"G", strings.Repeat("t", 256)},
	} {
		require.Error(t, gt.setForbidden(row.group, row.topic, forbidRead, true))
		require.NoError(t, gt.setForbidden(row.group, row.topic, forbidRead, false), "nothing is there")
	}
	_, forbidden, _ := gt.snapshot()
	require.Empty(t, forbidden)
}

// A client that takes another id while its arrival is reported does not change the report.
func TestArrivalIsACopy(t *testing.T) {
	m := newConsumerManager(new(clientClock).elapsed)
	c := testClient("first")
	changes := beatIn(m, c, newBeat("first").consumer("G", "T"))
	c.id = "second"
	beatIn(m, c, newBeat("second").consumer("G", "T"))
	require.Equal(t, "first", changes[0].joined.id)
}
