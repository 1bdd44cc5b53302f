package protocol

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTopicsFile(t *testing.T) {
	f, err := DecodeTopicsFile([]byte(`{"dataVersion":{"counter":3,"stateVersion":1,"timestamp":5},"future":{"a":1},"topicConfigTable":{
		"B":{"topicName":"B","perm":4,"later":1}, "A":{"$ref":"$.topicConfigTable.B"}, "Bad":{"perm":[1,2], "x":null}, "Null":null,
		"Twice":7, "Twice":{"perm":2}, "Gone":{}, "Gone":"x", "Nowhere":{"$ref":"$.nothing"}}}`), testNow)
	require.NoError(t, err)
	require.Equal(t, DataVersion{StateVersion: 1, Timestamp: 5, Counter: 3}, f.DataVersion)
	require.Equal(t, []string{"future", "later"}, f.Unknown)
	topic := func(name string, perm int32) *TopicConfig {
		return &TopicConfig{MapKey: name, TopicName: name, ReadQueueNums: 16, WriteQueueNums: 16, Perm: perm}
	}
	require.Equal(t, []*TopicConfig{topic("B", 4), topic("A", 4), topic("Twice", 2)}, f.Topics)
	var odd []string
	for _, e := range f.Odd {
		require.Error(t, e.Err)
		odd = append(odd, e.Name+" "+e.JSON)
	}
	require.Equal(t, []string{`Bad {"perm":[1,2]}`, "Null null", `Gone "x"`, `Nowhere {"$ref":"$.nothing"}`}, odd)
}

func TestFilesRefused(t *testing.T) {
	for _, test := range []struct {
		text string
		err  error // nil: any
	}{
		{"", ErrNullBody}, {"null", ErrNullBody}, {"[]", ErrNullBody}, {"{}", ErrNoTable}, {`{"topicConfigTable":null,"subscriptionGroupTable":null}`, ErrNoTable},
		{`{"topicConfigTable":{"A":{}`, nil}, {`{"topicConfigTable":{},"subscriptionGroupTable":{}}}`, nil},
		{`{"topicConfigTable":{"A":{"perm":"x","unfinished`, nil}, {`{"topicConfigTable":{"A":{"perm":#}},"subscriptionGroupTable":{"A":{"brokerId":#}}}`, nil},
	} {
		f, err := DecodeTopicsFile([]byte(test.text), testNow)
		require.Error(t, err, test.text)
		require.Zero(t, f)
		g, errGroups := DecodeGroupsFile([]byte(test.text), testNow)
		require.Error(t, errGroups, test.text)
		require.Zero(t, g)
		if test.err != nil {
			require.ErrorIs(t, err, test.err)
			require.ErrorIs(t, errGroups, test.err)
		}
	}
}

// Entries that refer to nothing are looked up one by one, but not without end.
func TestFileOfReferences(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"topicConfigTable":{"T":{}`)
	for i := range 100_000 {
		fmt.Fprintf(&b, `,"%d":{"$ref":"$.topicConfigTable.nothing"}`, i)
	}
	b.WriteString(`}}`)
	_, err := DecodeTopicsFile([]byte(b.String()), testNow)
	require.ErrorContains(t, err, "$ref")
}

func TestGroupsFile(t *testing.T) {
	const text = `{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":5},"forbiddenTable":{"Bad":{"T":"x"},"G":{"S":1,"T":4}},` +
		`"subscriptionGroupTable":{"G":%s,"H":null}}`
	config := NewSubscriptionGroupConfig("G")
	config.GroupRetryPolicy.CustomizedRetryPolicy = &CustomizedRetryPolicy{Next: []int64{1000, 5000}}
	want := fmt.Sprintf(text, config.AppendJSON(nil, FormDefault))
	f, err := DecodeGroupsFile([]byte(want), testNow)
	require.NoError(t, err)
	require.Equal(t, []*SubscriptionGroupConfig{&config}, f.Groups)
	require.Equal(t, map[string]map[string]int32{"G": {"S": 1, "T": 4}}, f.Forbidden)
	require.Len(t, f.OddForbidden, 1)
	require.Len(t, f.OddGroups, 1)
	require.Equal(t, want, string(f.AppendJSON(nil, FormDefault)))
	require.Contains(t, string(AppendPretty(nil, &f)), "\t\t\t\t\t\"next\":[1000,5000]\n")
}
