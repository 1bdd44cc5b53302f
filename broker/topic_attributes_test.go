package broker

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rules and texts of spec/broker.md §3.1, and TopicConfigManagerTest, SubscriptionGroupManagerTest of the original.
func TestAlterAttributes(t *testing.T) {
	current := map[string]string{"message.type": "FIFO", "queue.type": "SimpleCQ"}
	tests := []struct {
		rule    string
		known   map[string]attribute
		current map[string]string // nil: a new topic
		text    string
		want    map[string]string
		err     string
	}{
		{rule: "no text: none", text: ""},
		{rule: "no text: those that are there", current: current, text: "", want: current},
		{rule: "bare keys are kept", text: "+message.type=NORMAL,+queue.type=BatchCQ,+cleanup.policy=COMPACTION",
			want: map[string]string{"message.type": "NORMAL", "queue.type": "BatchCQ", "cleanup.policy": "COMPACTION"}},
		{rule: "change", current: current, text: "+message.type=DELAY", want: map[string]string{"message.type": "DELAY", "queue.type": "SimpleCQ"}},
		{rule: "remove", current: current, text: "-message.type", want: map[string]string{"queue.type": "SimpleCQ"}},
		{rule: "remove the last", current: map[string]string{"message.type": "FIFO"}, text: "-message.type", want: nil},
		{rule: "add and remove", current: current, text: "-message.type,+lite.topic.expiration=10",
			want: map[string]string{"queue.type": "SimpleCQ", "lite.topic.expiration": "10"}},
		{rule: "commas at the end", text: "+message.type=LITE,,", want: map[string]string{"message.type": "LITE"}},
		{rule: "types of 5.5.0", text: "+message.type=PRIORITY", want: map[string]string{"message.type": "PRIORITY"}},
		{rule: "lowest expiration", text: "+lite.topic.expiration=-1", want: map[string]string{"lite.topic.expiration": "-1"}},
		{rule: "highest expiration", text: "+lite.topic.expiration=43200", want: map[string]string{"lite.topic.expiration": "43200"}},

		{rule: "= without +", text: "message.type=FIFO", err: "add/alter attribute format is wrong: message.type"},
		{rule: "= with -", text: "-message.type=FIFO", err: "add/alter attribute format is wrong: -message.type"},
		{rule: "no value", text: "+message.type=", err: "add/alter attribute format is wrong: +message.type"},
		{rule: "no = without -", text: "message.type", err: "delete attribute format is wrong: message.type"},
		{rule: "no = with +", text: "+message.type", err: "delete attribute format is wrong: +message.type"},
		{rule: "empty item", text: ",+message.type=FIFO", err: "delete attribute format is wrong: "},
		{rule: "signed key twice", text: "+message.type=FIFO,+message.type=NORMAL", err: "key duplication: +message.type"},
		{rule: "two signs", text: "++message.type=FIFO", err: "kv string format wrong."},
		{rule: "sign inside", text: "+message-type=FIFO", err: "kv string format wrong."},
		{rule: "only a sign", current: current, text: "-", err: "kv string format wrong."},
		{rule: "only a sign and a value", text: "+=x", err: "kv string format wrong."},
		{rule: "both signs", current: current, text: "+message.type=DELAY,-message.type", err: "alter duplication key. key: message.type"},
		{rule: "new: remove", text: "-message.type", err: "only add attribute is supported while creating topic. key: message.type"},
		{rule: "remove what is not there", current: current, text: "-cleanup.policy", err: "attempt to delete a nonexistent key: cleanup.policy"},
		{rule: "unknown key, new", text: "+queue.length=1", err: "unsupported key: queue.length"},
		{rule: "unknown key, existing", current: current, text: "+queue.length=1", err: "unsupported key: queue.length"},
		{rule: "key in another case", text: "+Message.Type=FIFO", err: "unsupported key: Message.Type"},
		{rule: "unchangeable: change", current: current, text: "+queue.type=BatchCQ", err: "attempt to update an unchangeable attribute. key: queue.type"},
		{rule: "unchangeable: same value", current: current, text: "+queue.type=SimpleCQ", err: "attempt to update an unchangeable attribute. key: queue.type"},
		{rule: "unchangeable: add", current: current, text: "+cleanup.policy=DELETE", err: "attempt to update an unchangeable attribute. key: cleanup.policy"},
		{rule: "unchangeable: remove", current: current, text: "-queue.type", err: "attempt to update an unchangeable attribute. key: queue.type"},
		{rule: "bad queue type", text: "+queue.type=batchcq", err: "value is not in set: [SimpleCQ, BatchCQ]"},
		{rule: "bad policy", text: "+cleanup.policy=KEEP", err: "value is not in set: [DELETE, COMPACTION]"},
		{rule: "bad message type", text: "+message.type=fifo",
			err: "value is not in set: [UNSPECIFIED, MIXED, TRANSACTION, PRIORITY, FIFO, DELAY, LITE, NORMAL]"},
		{rule: "all after the first =", text: "+message.type=FIFO=x",
			err: "value is not in set: [UNSPECIFIED, MIXED, TRANSACTION, PRIORITY, FIFO, DELAY, LITE, NORMAL]"},
		{rule: "below the range", text: "+lite.topic.expiration=-2", err: "value is not in range(-1, 43200)"},
		{rule: "above the range", text: "+lite.topic.expiration=43201", err: "value is not in range(-1, 43200)"},
		{rule: "no number", text: "+lite.topic.expiration=1h", err: `For input string: "1h"`},
		{rule: "tiered store only", text: "+reserve.time=1000", err: "Update topic reserveTime not supported"},
		{rule: "a bad one at the end", text: "+message.type=FIFO,+queue.type=BatchCQ,+cleanup.policy=NONE", err: "value is not in set: [DELETE, COMPACTION]"},

		{rule: "groups", known: groupAttributes, text: "+priority.factor=0,+lite.bind.topic=T,+lite.sub.model=Exclusive," +
			"+lite.sub.reset.offset.exclusive=TRUE,+lite.sub.client.quota=-1,+lite.sub.client.max.event.cnt=10,+lite.sub.wildcard=*",
			want: map[string]string{"priority.factor": "0", "lite.bind.topic": "T", "lite.sub.model": "Exclusive", "lite.sub.reset.offset.exclusive": "TRUE",
				"lite.sub.client.quota": "-1", "lite.sub.client.max.event.cnt": "10", "lite.sub.wildcard": "*"}},
		{rule: "groups: change", known: groupAttributes, current: map[string]string{"priority.factor": "1"}, text: "+priority.factor=100",
			want: map[string]string{"priority.factor": "100"}},
		{rule: "groups: unknown", known: groupAttributes, text: "+message.type=FIFO", err: "unsupported key: message.type"},
		{rule: "groups: range", known: groupAttributes, text: "+priority.factor=101", err: "value is not in range(0, 100)"},
		{rule: "groups: quota", known: groupAttributes, text: "+lite.sub.client.quota=-2", err: "value is not in range(-1, 9223372036854775807)"},
		{rule: "groups: set", known: groupAttributes, text: "+lite.sub.model=shared", err: "value is not in set: [Shared, Exclusive]"},
		{rule: "groups: boolean", known: groupAttributes, text: "+lite.sub.reset.offset.unsubscribe=yes", err: "boolean attribute format is wrong."},

		{rule: "original's test: added with sign, kept bare", known: map[string]attribute{"test": {verify: isBoolean}}, text: "+test=true",
			want: map[string]string{"test": "true"}},
		{rule: "original's test: unchangeable stays", known: map[string]attribute{"test": {verify: isBoolean}}, current: map[string]string{"test": "true"},
			text: "-test", err: "attempt to update an unchangeable attribute. key: test"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			known := test.known
			if known == nil {
				known = topicAttributes
			}
			before := maps.Clone(test.current)
			var got map[string]string
			changes, err := parseAttributes(test.text)
			if err == nil {
				got, err = alterAttributes(known, test.current, changes, test.current == nil)
			}
			require.Equal(t, before, test.current, "what is there is never changed")
			if test.err != "" {
				require.EqualError(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

// In a list the modification is a map, so that a key may have no sign at all.
func TestAlterAttributesWithoutSign(t *testing.T) {
	for _, test := range []struct {
		key     string
		created bool
		err     string
	}{
		{"message.type", true, "only add attribute is supported while creating topic. key: message.type"},
		{"message.type", false, "wrong format key: message.type"},
		{"", true, "kv string format wrong."},
		{"+", false, "kv string format wrong."},
	} {
		changes := attributeChanges(map[string]string{test.key: "FIFO"})
		_, err := alterAttributes(topicAttributes, nil, changes, test.created)
		require.EqualError(t, err, test.err)
	}
}
