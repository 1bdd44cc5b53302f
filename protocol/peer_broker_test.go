package protocol

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The row RegisterBrokerBodyTest of spec/broker.md §10: 10,000 topics survive a compressed registration for a reader of 5.0.0.
func TestRegisterBrokerBody(t *testing.T) {
	want := RegisterBrokerBody{DataVersion: &DataVersion{Timestamp: 2, Counter: 3}, FilterServerList: []string{}}
	for i := range 10_000 {
		name := fmt.Sprintf("topic-%d", i)
		want.Topics = append(want.Topics, TopicConfig{
			MapKey: name, TopicName: name, ReadQueueNums: int32(i), WriteQueueNums: 8, Perm: 6, Attributes: map[string]string{"k": name},
		})
	}
	packed, err := want.AppendCompressed(nil, Version5_0_0)
	require.NoError(t, err)
	got := mustDecodeRegister(t, string(packed), RegisterBodyOptions{Version: Version5_0_0, Compressed: true})
	require.Equal(t, want.Topics, got.Topics)
	require.Equal(t, want.DataVersion, got.DataVersion)
}

// The row TopicConfigTest of spec/broker.md §10: the text that a compressed registration has for a topic, with attributes and
// without.
func TestTopicConfigAsText(t *testing.T) {
	for text, attributes := range map[string]map[string]string{
		`topic 8 8 6 SINGLE_TAG {"message.type":"FIFO"}`: {"message.type": "FIFO"},
		`topic 8 8 6 SINGLE_TAG`:                         nil,
	} {
		b := mustDecodeRegister(t, string(deflate(t, versionJSON, 1, text, "[]", 0)), RegisterBodyOptions{Version: CurrentVersion})
		require.Equal(t, []TopicConfig{{
			MapKey: "topic", TopicName: "topic", ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6, Attributes: attributes,
		}}, b.Topics)
		again, err := b.AppendCompressed(nil, CurrentVersion)
		require.NoError(t, err)
		require.Equal(t, b.Topics, mustDecodeRegister(t, string(again), RegisterBodyOptions{Version: CurrentVersion}).Topics)
	}
}

// The row DataVersionTest of spec/broker.md §10.
func TestDataVersionEquality(t *testing.T) {
	versions := map[string]string{
		"a counter":       `{"counter":1,"stateVersion":0,"timestamp":1}`,
		"another counter": `{"counter":2,"stateVersion":0,"timestamp":1}`,
		"no counter":      `{"counter":null,"stateVersion":0,"timestamp":1}`,
		"another time":    `{"counter":1,"stateVersion":0,"timestamp":2}`,
		"another state":   `{"counter":1,"stateVersion":1,"timestamp":1}`,
	}
	read := func(name string) DataVersion {
		v, err := DecodeDataVersion([]byte(versions[name]), 0)
		require.NoError(t, err)
		return v
	}
	for name := range versions {
		v := read(name)
		require.NotEmpty(t, v.AppendJSON(nil, FormDefault))
		for other := range versions {
			require.Equal(t, name == other, v == read(other), "%s and %s", name, other)
		}
	}
}

// A customized policy that names no steps has those of the original's class.
func TestRetryPolicyWithoutSteps(t *testing.T) {
	for _, policy := range []string{`{}`, `{"next":null}`} {
		c, err := DecodeSubscriptionGroupConfig([]byte(`{"groupName":"G","groupRetryPolicy":{"customizedRetryPolicy":` + policy + `}}`))
		require.NoError(t, err)
		steps := c.GroupRetryPolicy.CustomizedRetryPolicy.Next
		require.Len(t, steps, 18)
		require.Equal(t, []int64{1000, 5000, 7200000}, []int64{steps[0], steps[1], steps[17]})
	}
}

// A reference is one however it is indented.
func TestIndentedReference(t *testing.T) {
	f, err := DecodeTopicsFile([]byte(`{"topicConfigTable":{"A":{"perm":4},"B":{
		"$ref" : "$.topicConfigTable.A" }}}`), 1, nil)
	require.NoError(t, err)
	require.Len(t, f.Topics, 2)
	require.EqualValues(t, 4, f.Topics[1].Perm)
}
