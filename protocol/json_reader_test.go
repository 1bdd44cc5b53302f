package protocol

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var sampleNames = newJSONNames("bool", "intNum", "list", "longNum", "map", "self", "text")

// sample has a member of each kind, with defaults.
type sample struct {
	Bool bool
	Int  int32
	Long int64
	Text string
	List []string
	Map  map[string]string
	Self *sample
}

func readSample(r *jsonReader) *sample {
	s := &sample{Bool: true, Int: 6, Long: 7, Text: "-"}
	var o jsonObject
	if !r.object(&o, sampleNames) {
		return nil
	}
	for r.member(&o) {
		switch o.name {
		case "bool":
			r.bool(&s.Bool)
		case "intNum":
			r.int32(&s.Int)
		case "list":
			s.List = r.stringList()
		case "longNum":
			r.int64(&s.Long)
		case "map":
			s.Map = r.stringMap()
		case "self":
			s.Self = readSample(r)
		case "text":
			r.string(&s.Text)
		}
	}
	return s
}

func decodeSample(text string) (*sample, error) {
	var s *sample
	err := decodeJSON([]byte(text), func(r *jsonReader) { s = readSample(r) })
	return s, err
}

func TestJSONReaderAccepts(t *testing.T) {
	def := sample{Bool: true, Int: 6, Long: 7, Text: "-"}
	with := func(change func(*sample)) sample {
		s := def
		change(&s)
		return s
	}
	integer := func(n int32) sample { return with(func(s *sample) { s.Int = n }) }
	long := func(n int64) sample { return with(func(s *sample) { s.Long = n }) }
	text := func(v string) sample { return with(func(s *sample) { s.Text = v }) }
	boolean := func(v bool) sample { return with(func(s *sample) { s.Bool = v }) }
	list := func(v ...string) sample { return with(func(s *sample) { s.List = v }) }
	entries := func(kv ...string) sample {
		return with(func(s *sample) {
			for i := 0; i < len(kv); i += 2 {
				if s.Map == nil {
					s.Map = map[string]string{}
				}
				s.Map[kv[i]] = kv[i+1]
			}
		})
	}
	for _, c := range []struct {
		rule, in string
		want     sample
	}{
		{"all members", `{"bool":false,"intNum":1,"list":["a"],"longNum":2,"map":{"k":"v"},"text":"t"}`,
			sample{Int: 1, Long: 2, Text: "t", List: []string{"a"}, Map: map[string]string{"k": "v"}}},
		{"no members", `{}`, def},
		{"blanks around", " \t\r\n\f\v\b\x00{ } \x00\n", def},
		{"byte order mark", "\uFEFF{}", def},
		{"one comma after the value", `{},`, def},
		{"bare names", `{intNum:1}`, integer(1)},
		{"names in single quotes", `{'intNum':1}`, integer(1)},
		{"strings in single quotes", `{'text':'a"b'}`, text(`a"b`)},
		{"names in another case", `{"INTNUM":1}`, integer(1)},
		{"names with _ and -", `{"_int_num-":1}`, integer(1)},
		{"escaped names", `{"int\u004Eum":1}`, integer(1)},
		{"a name that is alike does not replace", `{"intNum":1,"IntNum":2}`, integer(1)},
		{"the right name replaces one that is alike", `{"IntNum":2,"intNum":1}`, integer(1)},
		{"the last one of a name counts", `{"intNum":1,"text":"a","intNum":2,"text":"b"}`,
			with(func(s *sample) { s.Int, s.Text = 2, "b" })},
		{"comments anywhere", "/*1*/{//2\n/*3*/\"intNum\"/*4*/:/*5*/1/*6*/,//7\n}//8", integer(1)},
		{"spare commas", `{,,"intNum":1,,"list":[,"a",,"b",],}`, with(func(s *sample) { s.Int, s.List = 1, []string{"a", "b"} })},
		{"semicolons", `{"intNum":1;"longNum":2;}`, with(func(s *sample) { s.Int, s.Long = 1, 2 })},
		{"missing commas", `{"intNum":1 "list":["a" "b"]"text":"t"}`,
			with(func(s *sample) { s.Int, s.List, s.Text = 1, []string{"a", "b"}, "t" })},
		{"spare members", `{"x":{"a":[1,{"b":null}],3:true,{"q":1}:2},"y":NaN,"z":'\x41',"intNum":1,"u":undefined}`, integer(1)},

		{"int as text", `{"intNum":"7"}`, integer(7)},
		{"int with plus", `{"intNum":+5}`, integer(5)},
		{"int with zeros", `{"intNum":007}`, integer(7)},
		{"int with exponent", `{"intNum":1e2}`, integer(100)},
		{"int with exponent as text", `{"intNum":"1.06E2"}`, integer(106)},
		{"int with fraction", `{"intNum":105.7}`, integer(105)},
		{"int with negative fraction", `{"intNum":"-105.7"}`, integer(-105)},
		{"int true", `{"intNum":true}`, integer(1)},
		{"int true as text", `{"intNum":"true"}`, integer(1)},
		{"int with suffix", `{"intNum":7L}`, integer(7)},
		{"int null", `{"intNum":null}`, integer(6)},
		{"int empty", `{"intNum":""}`, integer(6)},
		{"int null as text", `{"intNum":"null"}`, integer(6)},
		{"int NaN", `{"intNum":NaN}`, integer(0)},
		{"int undefined", `{"intNum":undefined}`, integer(0)},
		{"int in a list", `{"intNum":[7]}`, integer(7)},
		{"int as empty object", `{"intNum":{}}`, integer(0)},
		{"smallest int", `{"intNum":-2147483648}`, integer(math.MinInt32)},
		{"largest int", `{"intNum":2147483647 }`, integer(math.MaxInt32)},
		{"smallest long", `{"longNum":-9223372036854775808}`, long(math.MinInt64)},
		{"largest long", `{"longNum":"9223372036854775807"}`, long(math.MaxInt64)},
		{"long with fraction is exact", `{"longNum":9007199254740993.9}`, long(9007199254740993)},

		{"bool 0", `{"bool":0}`, boolean(false)},
		{"bool 1", `{"bool":"1"}`, boolean(true)},
		{"bool 2", `{"bool":2}`, boolean(false)},
		{"bool N", `{"bool":"N"}`, boolean(false)},
		{"bool FALSE", `{"bool":"FALSE"}`, boolean(false)},
		{"bool null", `{"bool":null}`, boolean(true)},
		{"bool empty", `{"bool":""}`, boolean(true)},

		{"text of a number", `{"text":1.50}`, text("1.50")},
		{"text of a boolean", `{"text":true}`, text("true")},
		{"text of an object", `{"text":{"a":[1, 2],'b':null,c:"x\u000by"}}`, text(`{"a":[1,2],"c":"x\u000by"}`)},
		{"text of a list", `{"text":[ null , {} ]}`, text(`[null,{}]`)},
		{"text null", `{"text":null}`, text("-")},
		{"text empty", `{"text":""}`, text("")},
		{"text with raw control characters", "{\"text\":\"a\x01\n\"}", text("a\x01\n")},
		{"escapes", `{"text":"\b\t\n\f\r\v\F\"\'\\\/\x41\0\7\u4E2d\ud83d\uDE00\@\#\.\_"}`,
			text("\b\t\n\f\r\v\f\"'\\/A\x00\x07中😀@#._")},
		{"half a surrogate pair", `{"text":"\ud83dx"}`, text("?x")},
		{"bytes that are no UTF-8", "{\"text\":\"a\xc3\x28\xc0\x80b\"}", text("a\uFFFD(\uFFFD\uFFFDb")},
		{"bytes that are no UTF-8 after an escape", "{\"text\":\"\\n\xc3\x28\"}", text("\n\uFFFD(")},

		{"list null", `{"list":null}`, list()},
		{"list empty text", `{"list":""}`, list()},
		{"list empty", `{"list":[]}`, with(func(s *sample) { s.List = []string{} })},
		{"one text for a list", `{"list":"a"}`, list("a")},
		{"null and numbers in a list", `{"list":["",null,"x/y",5]}`, list("", NullElement, "x/y", "5")},

		{"map null", `{"map":null}`, def},
		{"map empty text", `{"map":""}`, def},
		{"map in a list", `{"map":[{"a":"b"}]}`, entries("a", "b")},
		{"last entry counts", `{"map":{"a":"b","a":"c"}}`, entries("a", "c")},
		{"null entries are none", `{"map":{"a":null,"b":"x","b":null,"c":1}}`, entries("c", "1")},
		{"only null entries are no map", `{"map":{"a":"x","a":null}}`, def},
		{"entry called $ref", `{"map":{"$ref":"$.map"}}`, entries("$ref", "$.map")},
		{"entry called @type", `{"map":{"@type":"x"}}`, entries("@type", "x")},
		{"bare entry null", `{"map":{null:"x"}}`, entries("null", "x")},

		{"object in a list", `{"self":[{"intNum":1},]}`, with(func(s *sample) { s.Self = new(integer(1)) })},
		{"object null", `{"self":null}`, def},
		{"object empty text", `{"self":""}`, def},
		{"$ref to an object", `{"x":{"y z":[0,{"intNum":1}]},"self":{"$ref":"$.x.y\\ z[1]"},"text":"t"}`,
			with(func(s *sample) { s.Self, s.Text = new(integer(1)), "t" })},
		{"$ref with quoted step", `{"x":{"3":{"intNum":1}},"self":{'$ref':"$['x'][3]"}}`,
			with(func(s *sample) { s.Self = new(integer(1)) })},
		{"$ref to a list", `{"x":["a","b"],"list":{"$ref":"$.x"},"text":"t"}`,
			with(func(s *sample) { s.List, s.Text = []string{"a", "b"}, "t" })},
		{"$ref that is none", `{"self":{"$ref":1,"intNum":2}}`, with(func(s *sample) { s.Self = new(integer(2)) })},
		{"$ref among others", `{"self":{"$ref":"$","intNum":2}}`, with(func(s *sample) { s.Self = new(integer(2)) })},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, err := decodeSample(c.in)
			require.NoError(t, err, c.in)
			require.Equal(t, c.want, *got)
		})
	}
}

func TestJSONReaderRefuses(t *testing.T) {
	for _, c := range []struct {
		rule, in string
		offset   int
	}{
		{"text after the value", `{} x`, 3},
		{"two commas after the value", `{},,`, 3},
		{"second object", `{}{}`, 2},
		{"cut short", `{"intNum":`, 10},
		{"cut short in a name", `{"intN`, 6},
		{"cut short in a text", `{"text":"a\n`, 12},
		{"cut short in a list", `{"list":["a",`, 13},
		{"cut short in a comment", `{/*`, 1},
		{"half a comment", `{/ }`, 1},
		{"no JSON", `hello`, 0},
		{"a string", `"x"`, 0},
		{"a number", `5`, 0},
		{"a list of one object", `[{}]`, 0},
		{"no colon", `{"intNum" 1}`, 10},
		{"hash comment", `{# }`, 1},
		{"bare number as name", `{5:1}`, 1},
		{"bare number as name of an entry", `{"map":{5:"x"}}`, 8},
		{"bare word as value", `{"x":hello}`, 5},
		{"NUL inside", "{\"intNum\":1\x00}", 11},
		{"int out of range", `{"intNum":2147483648}`, 20},
		{"int out of range as text", `{"intNum":"-2147483649"}`, 23},
		{"long out of range", `{"longNum":9223372036854775808}`, 11},
		{"number out of any range", `{"longNum":1e400}`, 11},
		{"int of letters", `{"intNum":"abc"}`, 10},
		{"hexadecimal int", `{"intNum":0x10}`, 10},
		{"int with blanks", `{"intNum":" 7 "}`, 10},
		{"int of two numbers", `{"intNum":[1,2]}`, 13},
		{"int an object", `{"intNum":{"a":1}}`, 11},
		{"bool of letters", `{"bool":"x"}`, 8},
		{"unknown escape", `{"text":"\q"}`, 9},
		{"bad hexadecimal digits", `{"text":"\u00G0"}`, 9},
		{"byte that UTF-8 never has", "{\"text\":\"\xff\"}", 11},
		{"UTF-8 cut short", "{\"text\":\"a\xe4\xb8\"}", 13},
		{"object a number", `{"self":5}`, 8},
		{"object a list", `{"self":[]}`, 9},
		{"object a list of two", `{"self":[{},{}]}`, 12},
		{"map a list", `{"map":[]}`, 8},
		{"list a number", `{"list":5}`, 8},
		{"$ref to nothing", `{"self":{"$ref":"$.x"}}`, 21},
		{"$ref to a number", `{"intNum":1,"self":{"$ref":"$.intNum"}}`, 10},
		{"$ref to itself", `{"self":{"$ref":"$.self"}}`, 0},
		{"$ref into itself", `{"self":{"$ref":"$"}}`, 0},
		{"too deep", `{"x":` + strings.Repeat("[", maxJSONDepth) + strings.Repeat("]", maxJSONDepth) + `}`, 5 + maxJSONDepth},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := decodeSample(c.in)
			var at *JSONError
			require.ErrorAs(t, err, &at, c.in)
			if c.offset > 0 || !strings.Contains(c.in, "$ref") {
				require.Equal(t, c.offset, at.Offset, at.Reason)
			}
			require.Equal(t, fmt.Sprintf("JSON at offset %d: %s", at.Offset, at.Reason), err.Error())
		})
	}
}

func TestJSONReaderNullBodies(t *testing.T) {
	for _, in := range []string{"", "  \n", "null", " null ", "[]", "[ , ]", "/* nothing */", "\uFEFF"} {
		_, err := decodeSample(in)
		require.ErrorIs(t, err, ErrNullBody, "%q", in)
	}
	for _, in := range []string{"null null", "[] x", "[1]", "nul"} {
		_, err := decodeSample(in)
		require.Error(t, err, in)
		require.NotErrorIs(t, err, ErrNullBody, "%q", in)
	}
}

func TestJSONReaderDeepestText(t *testing.T) {
	in := `{"x":` + strings.Repeat("[", maxJSONDepth-1) + strings.Repeat("]", maxJSONDepth-1) + `}`
	_, err := decodeSample(in)
	require.NoError(t, err)
}

// A reference costs what is read through it: a body of nothing but references to its largest part ends with an error
// and not in hours.
func TestJSONReaderLimitsReferences(t *testing.T) {
	big := `"x":{"list":[` + strings.Repeat(`"a",`, 20_000) + `]}`
	_, err := decodeSample(`{` + big + strings.Repeat(`,"self":{"$ref":"$.x"}`, 5) + `}`)
	require.NoError(t, err)
	_, err = decodeSample(`{` + big + strings.Repeat(`,"self":{"$ref":"$.x"}`, 20_000) + `}`)
	require.ErrorContains(t, err, "too many $ref")
}

// Strings and results must not keep the frame they were read from.
func TestJSONReaderResultDoesNotAliasData(t *testing.T) {
	data := []byte(`{"text":"hello","list":["abc"],"map":{"key":"value"}}`)
	var s *sample
	require.NoError(t, decodeJSON(data, func(r *jsonReader) { s = readSample(r) }))
	for i := range data {
		data[i] = 'X'
	}
	require.Equal(t, "hello", s.Text)
	require.Equal(t, []string{"abc"}, s.List)
	require.Equal(t, map[string]string{"key": "value"}, s.Map)
}

// Maps with numeric keys take every spelling of a number.
func TestJSONReaderNumericKeys(t *testing.T) {
	read := func(text string) (addrs BrokerAddrs, err error) {
		err = decodeJSON([]byte(text), func(r *jsonReader) { addrs = r.brokerAddrs() })
		return addrs, err
	}
	for in, want := range map[string]BrokerAddrs{
		`{0:"a",1:"b"}`:              {{0, "a"}, {1, "b"}},
		`{"0":"a",'1':"b"}`:          {{0, "a"}, {1, "b"}},
		`{2:"c",-1:"z",+1:"b"}`:      {{-1, "z"}, {1, "b"}, {2, "c"}},
		`{007:"a",1.5:"b",1e2:"c"}`:  {{1, "b"}, {7, "a"}, {100, "c"}},
		`{true:"a" , 1 : "b"}`:       {{1, "b"}},
		`{0:"a",1:"b",0:"c",2:null}`: {{0, "c"}, {1, "b"}},
		`{9007199254740993:"a"}`:     {{9007199254740993, "a"}},
		`{}`:                         nil,
	} {
		got, err := read(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{`{x:"a"}`, `{"":"a"}`, `{"a":"b"}`, `{:"a"}`, `{99999999999999999999:"a"}`} {
		_, err := read(in)
		var at *JSONError
		require.True(t, errors.As(err, &at), in)
	}
}
