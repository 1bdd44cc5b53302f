package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTopicsFile(t *testing.T) {
	f, err := DecodeTopicsFile([]byte(`{"dataVersion":{"counter":3,"stateVersion":1,"timestamp":5},"future":{"a":1},"topicConfigTable":{
		"B":{"topicName":"B","perm":4,"later":1}, "A":{"$ref":"$.topicConfigTable.B"}, "Bad":{"perm":[1,2], "x":null}, "Null":null,
		"Twice":7, "Twice":{"perm":2}, "Gone":{}, "Gone":"x", "Nowhere":{"$ref":"$.nothing"}}}`), testNow, nil)
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
	require.Equal(t, []string{`Bad {"perm":[1,2], "x":null}`, "Null null", `Gone "x"`, `Nowhere "{\"$ref\":\"$.nothing\"}"`}, odd)
}

// An entry that cannot be used is written as it was found, and is found so again. What would not be as odd in the file that
// is written is put in quotes.
func TestOddEntriesStayAsTheyAre(t *testing.T) {
	quoted := func(s string) string { return string(appendJSONString(nil, s)) }
	for _, test := range []struct{ name, found, kept string }{ // kept: empty if it is what was found
		{"null", "null", ""}, {"other words for it", "undefined", ""}, {"empty text", "''", ""}, {"number", "-1.5E3", ""},
		{"text", `'it is "so"'`, ""},
		{"number as a name of a member", `{0000:"0000"}`, ""}, {"number as a name, once more", `{"perm":4,0:{}}`, ""},
		{"member that is null", `{"perm":[1,2],"order":null}`, ""}, {"blanks", "{ \"perm\" :\t[ ]\r\n}", ""},
		{"comments", "{/* { */perm// \"\n:'rw'/**/}", ""}, {"separators", `{;,"perm":"rw";;}`, ""},
		{"escapes", `{"perm":"\u0000\x41\'\""}`, ""}, {"control characters", "{\"perm\":\"\x01\x02\x7f]\"}", ""},
		{"no UTF-8", "{\"perm\":\"\xC3!\"}", ""}, {"list of one", `[{"perm":"rw"}]`, ""}, {"list of two", `[{},{}]`, ""},
		{"as long as two bytes of a length", `{"perm":"` + strings.Repeat(`{`, 1000) + `"}`, ""},
		{"not usable", `{ "perm" : 77, "later" : [ ] }`, ""},
		{"NUL", "{\"perm\":\"\x00\"}", quoted("{\"perm\":\"\x00\"}")}, {"NUL in a text", "'\x00'", quoted("'\x00'")},
		{"reference to nothing", `{"$ref":"$.nothing"}`, quoted(`{"$ref":"$.nothing"}`)},
		{"reference to what is written", `{'$ref':'$.dataVersion'}`, quoted(`{'$ref':'$.dataVersion'}`)},
		{"reference to something that is not usable", `{"$ref":"$.x"}`, quoted(`{"$ref":"$.x"}`)},
		{"reference in a list", `[{"$ref":"$.dataVersion"}]`, quoted(`[{"$ref":"$.dataVersion"}]`)},
		{"text that looks like a reference", `'{"$ref":"$.dataVersion"}'`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			kept := cmp.Or(test.kept, test.found)
			topics := func(text []byte) TopicsFile {
				f, err := DecodeTopicsFile(text, testNow, func(c *TopicConfig) error {
					if c.Perm == 77 {
						return errors.New("not usable")
					}
					return nil
				})
				require.NoError(t, err)
				require.Len(t, f.Odd, 1)
				require.Error(t, f.Odd[0].Err)
				require.Equal(t, OddEntry{"Odd", kept, f.Odd[0].Err}, f.Odd[0])
				require.Len(t, f.Topics, 2)
				return f
			}
			f := topics([]byte(`{"x":{"perm":77},"topicConfigTable":{"A":{},"Odd": /* */ ` + test.found + ` /**/,"Z":{"perm":4}}}`))
			pretty := AppendPretty(nil, &f)
			require.Contains(t, string(pretty), "\n\t\t},\n\t\t\"Odd\":"+kept+",\n\t\t\"Z\":{\n\t\t\t\"attributes\":{},\n")
			for _, text := range [][]byte{pretty, f.AppendJSON(nil, FormDefault)} {
				again := topics(text)
				require.Equal(t, f.Topics, again.Topics)
				require.Equal(t, string(pretty), string(AppendPretty(nil, &again)))
			}
		})
	}
}

// The same in both tables of subscriptionGroup.json.
func TestOddGroupsStayAsTheyAre(t *testing.T) {
	const text = `{"subscriptionGroupTable":{"A":{},"Bad":{0:/* */1},"Far":{"groupRetryPolicy":{"$ref":"$.dataVersion"}, "brokerId":[1,2]},"Not":{ "brokerId":7 }},
		"forbiddenTable":{"G":{"T":4},"H":{0:1},"I": "x" }}`
	odd := func(entries []OddEntry) (list []string) {
		for _, e := range entries {
			require.Error(t, e.Err)
			list = append(list, e.Name+" "+e.JSON)
		}
		return list
	}
	data := []byte(text)
	for range 3 {
		f, err := DecodeGroupsFile(data, testNow, func(g *SubscriptionGroupConfig) error {
			if g.BrokerID == 7 {
				return errors.New("not usable")
			}
			return nil
		})
		require.NoError(t, err)
		require.Len(t, f.Groups, 1)
		require.Equal(t, []string{`Bad {0:/* */1}`, `Far "{\"groupRetryPolicy\":{\"$ref\":\"$.dataVersion\"}, \"brokerId\":[1,2]}"`,
			`Not { "brokerId":7 }`}, odd(f.OddGroups))
		require.Equal(t, map[string]map[string]int32{"G": {"T": 4}}, f.Forbidden)
		require.Equal(t, []string{`H {0:1}`, `I "x"`}, odd(f.OddForbidden))
		data = AppendPretty(nil, &f)
	}
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
		f, err := DecodeTopicsFile([]byte(test.text), testNow, nil)
		require.Error(t, err, test.text)
		require.Zero(t, f)
		g, errGroups := DecodeGroupsFile([]byte(test.text), testNow, nil)
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
	_, err := DecodeTopicsFile([]byte(b.String()), testNow, nil)
	require.ErrorContains(t, err, "$ref")
}

func TestGroupsFile(t *testing.T) {
	const text = `{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":5},"forbiddenTable":{"Bad":{"T":"x"},"G":{"S":1,"T":4}},` +
		`"subscriptionGroupTable":{"G":%s,"H":null}}`
	config := NewSubscriptionGroupConfig("G")
	config.GroupRetryPolicy.CustomizedRetryPolicy = &CustomizedRetryPolicy{Next: []int64{1000, 5000}}
	want := fmt.Sprintf(text, config.AppendJSON(nil, FormDefault))
	f, err := DecodeGroupsFile([]byte(want), testNow, nil)
	require.NoError(t, err)
	require.Equal(t, []*SubscriptionGroupConfig{&config}, f.Groups)
	require.Equal(t, map[string]map[string]int32{"G": {"S": 1, "T": 4}}, f.Forbidden)
	require.Len(t, f.OddForbidden, 1)
	require.Len(t, f.OddGroups, 1)
	require.Equal(t, want, string(f.AppendJSON(nil, FormDefault)))
	require.Contains(t, string(AppendPretty(nil, &f)), "\t\t\t\t\t\"next\":[1000,5000]\n")
}
