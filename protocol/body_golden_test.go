package protocol

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// goldenBody is one body out of the recorded transcripts of Java brokers and NameServers.
type goldenBody struct {
	From       string  `json:"from"` // transcript and step
	Note       string  `json:"note"`
	Version    Version `json:"version"`
	Compressed bool    `json:"compressed"`
	BodyCRC32  int32   `json:"bodyCrc32"`
	Code       int32   `json:"code"`     // of the request that has Body, or that Body answers
	Response   bool    `json:"response"` // Body answers a broker's request
	Body       string  `json:"body"`
	Base64     []byte  `json:"base64"`
	Refused    bool    `json:"refused"` // the answer was code 1, or should have been
}

func (g *goldenBody) bytes() []byte {
	if g.Base64 != nil {
		return g.Base64
	}
	return []byte(g.Body)
}

func (g *goldenBody) name() string { return g.From + " " + g.Note }

func (g *goldenBody) options() RegisterBodyOptions {
	return RegisterBodyOptions{Version: g.Version, Compressed: g.Compressed, Now: testNow}
}

const testNow = int64(1750000000000)

func readGolden(t testing.TB, file string) []goldenBody {
	f, err := os.Open("testdata/" + file)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var all []goldenBody
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var g goldenBody
		require.NoError(t, json.Unmarshal(lines.Bytes(), &g))
		all = append(all, g)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, all)
	return all
}

// sortedJSON is text with the members of all objects and the elements of all lists in order: Java's maps have none.
// Numeric names are put in quotes.
func sortedJSON(t testing.TB, text []byte) string {
	r := newJSONReader(text)
	quoted := r.appendValue(nil)
	r.end()
	require.NoError(t, r.err)
	var sort func(v json.RawMessage) string
	sort = func(v json.RawMessage) string {
		var parts []string
		switch v[0] {
		case '{':
			var m map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(v, &m))
			for k, e := range m {
				parts = append(parts, k+":"+sort(e))
			}
			slices.Sort(parts)
			return "{" + strings.Join(parts, ",") + "}"
		case '[':
			var l []json.RawMessage
			require.NoError(t, json.Unmarshal(v, &l))
			for _, e := range l {
				parts = append(parts, sort(e))
			}
			slices.Sort(parts)
			return "[" + strings.Join(parts, ",") + "]"
		}
		return string(v)
	}
	return sort(quoted)
}

// Registrations as the Java NameServer took or refused them. Outcomes that the transcripts call a fault are what the
// right answer is.
func TestGoldenRegisterBodies(t *testing.T) {
	for _, g := range readGolden(t, "register-bodies.jsonl") {
		t.Run(g.name(), func(t *testing.T) {
			b, err := DecodeRegisterBrokerBody(g.bytes(), g.options())
			if g.Refused {
				require.Error(t, err)
				require.ErrorContains(t, err, "RegisterBrokerBody: ")
				require.Zero(t, b)
				return
			}
			require.NoError(t, err)
			requireRegisterRoundTrip(t, &b)
		})
	}
}

// What Java brokers really send. 5.5.0's JSON is written again as it came, but for the order of maps.
func TestGoldenBrokerRegistrations(t *testing.T) {
	forms := map[string]int{}
	for _, g := range readGolden(t, "broker-registrations.jsonl") {
		t.Run(g.From, func(t *testing.T) {
			body := g.bytes()
			require.Equal(t, g.BodyCRC32, BodyCRC32(body))
			b, err := DecodeRegisterBrokerBody(body, g.options())
			require.NoError(t, err)
			require.NotNil(t, b.FilterServerList)
			require.NotNil(t, b.DataVersion)
			for _, topic := range b.Topics {
				require.Equal(t, topic.MapKey, topic.TopicName)
				require.NotZero(t, topic.ReadQueueNums)
			}
			requireRegisterRoundTrip(t, &b)
			switch {
			case g.Base64 != nil:
				forms["compressed"]++
				require.Equal(t, body[0], byte(0x78))
			case g.Version >= Version5_0_0:
				forms["5.5.0"]++
				again := b.AppendJSON(nil, FormDefault)
				require.Equal(t, sortedJSON(t, body), sortedJSON(t, again))
				require.Len(t, again, len(body))
			default:
				forms["4.9.7"]++
			}
		})
	}
	require.Len(t, forms, 3)
}

// Answers of the 5.5.0 NameServer, read and written again byte for byte. Where Java's order is that of a hash table, maps
// are compared without order.
func TestGoldenAnswers(t *testing.T) {
	decode := map[int32]func([]byte) (JSONBody, error){
		103: func(d []byte) (JSONBody, error) { b, err := DecodeKVTable(d); return &b, err },
		105: func(d []byte) (JSONBody, error) { b, err := DecodeTopicRouteData(d); return &b, err },
		106: func(d []byte) (JSONBody, error) { b, err := DecodeClusterInfo(d); return &b, err },
		322: func(d []byte) (JSONBody, error) { b, err := DecodeDataVersion(d, testNow); return &b, err },
		901: func(d []byte) (JSONBody, error) { b, err := DecodeGetBrokerMemberGroupResponseBody(d); return &b, err },
	}
	decode[219] = decode[103]
	for _, code := range []int32{206, 224, 304, 311, 312} {
		decode[code] = func(d []byte) (JSONBody, error) { b, err := DecodeTopicList(d); return &b, err }
	}
	strict := 0
	for _, g := range readGolden(t, "answers.jsonl") {
		t.Run(g.From, func(t *testing.T) {
			require.Contains(t, decode, g.Code)
			body, err := decode[g.Code]([]byte(g.Body))
			require.NoError(t, err)
			form := FormDefault
			if g.Code == 105 && json.Valid([]byte(g.Body)) {
				form = FormStrict
				strict++
			}
			again := body.AppendJSON(nil, form)
			if g.From == "namesrv/lenient-reading/body-data-version.json#24" {
				// A counter that was null is left out, and 0 for who reads that.
				require.Equal(t, `{"counter":0,`+g.Body[1:], string(again))
				return
			}
			if sortedJSON(t, []byte(g.Body)) != sortedJSON(t, again) || len(g.Body) != len(again) {
				require.Equal(t, g.Body, string(again))
			}
		})
	}
	require.NotZero(t, strict)
}

func TestGoldenTopicRegistrations(t *testing.T) {
	for _, g := range readGolden(t, "topic-registrations.jsonl") {
		if g.Note == "no topic" || g.Note == "no ext fields" {
			continue // faults of the header
		}
		t.Run(g.name(), func(t *testing.T) {
			route, err := DecodeTopicRouteData(g.bytes())
			switch {
			case g.Refused:
				require.Error(t, err)
				require.NotErrorIs(t, err, ErrNullBody)
			case g.Body == "" || g.Body == "null" || g.Body == "[]":
				require.ErrorIs(t, err, ErrNullBody)
			default:
				require.NoError(t, err)
				again, err := DecodeTopicRouteData(route.AppendJSON(nil, FormStrict))
				require.NoError(t, err)
				require.Equal(t, route, again)
			}
		})
	}
}

// requireRegisterRoundTrip checks that b is read back as it was written, in both forms.
func requireRegisterRoundTrip(t testing.TB, b *RegisterBrokerBody) {
	t.Helper()
	want := *b
	opts := RegisterBodyOptions{Version: CurrentVersion, Now: testNow}
	want.DataVersion = &DataVersion{Timestamp: testNow} // null members are left out
	if b.DataVersion != nil {
		*want.DataVersion = *b.DataVersion
		want.DataVersion.CounterNull = false
	}
	if b.MappingDataVersion != nil {
		want.MappingDataVersion = new(*b.MappingDataVersion)
		want.MappingDataVersion.CounterNull = false
	}
	if want.Mappings == nil {
		want.Mappings = []NamedQueueMapping{}
	}
	if want.FilterServerList == nil {
		want.FilterServerList = []string{}
	}
	if want.Topics == nil {
		want.Topics = []TopicConfig{}
	}
	bareKeys := slices.ContainsFunc(b.Mappings, func(m NamedQueueMapping) bool { return len(m.Info.CurrIDMap) > 0 })
	for _, form := range []JSONForm{FormDefault, FormStrict} {
		text := b.AppendJSON(nil, form)
		got, err := DecodeRegisterBrokerBody(text, opts)
		require.NoError(t, err)
		if got.Topics == nil {
			got.Topics = []TopicConfig{}
		}
		require.Equal(t, want, got)
		require.Equal(t, form == FormStrict || !bareKeys, json.Valid(text))
	}

	packed, err := b.AppendCompressed([]byte("x"), CurrentVersion)
	for _, topic := range b.Topics {
		if strings.Contains(topic.TopicName, " ") {
			require.Error(t, err)
			require.Equal(t, "x", string(packed))
			return
		}
	}
	require.NoError(t, err)
	require.Equal(t, byte('x'), packed[0])
	opts.Compressed = true
	got, err := DecodeRegisterBrokerBody(packed[1:], opts)
	for _, m := range b.Mappings {
		if m.Info.Topic == "" {
			require.Error(t, err)
			return
		}
	}
	require.NoError(t, err)
	if b.DataVersion == nil {
		require.Nil(t, got.DataVersion)
	} else {
		require.Equal(t, want.DataVersion, got.DataVersion)
	}
	require.Equal(t, b.FilterServerList, got.FilterServerList)
	sent := map[string]TopicConfig{}
	for _, topic := range b.Topics {
		topic.MapKey = topic.TopicName
		topic.Order, topic.TopicSysFlag = false, 0
		sent[topic.TopicName] = topic
	}
	received := map[string]TopicConfig{}
	for _, topic := range got.Topics {
		received[topic.TopicName] = topic
	}
	require.Equal(t, sent, received)
}
