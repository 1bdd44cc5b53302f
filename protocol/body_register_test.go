package protocol

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/stretchr/testify/require"
)

func mustDecodeRegister(t *testing.T, body string, o RegisterBodyOptions) RegisterBrokerBody {
	t.Helper()
	b, err := DecodeRegisterBrokerBody([]byte(body), o)
	require.NoError(t, err)
	return b
}

func topicNames(b RegisterBrokerBody) (names []string) {
	for _, t := range b.Topics {
		names = append(names, t.TopicName)
	}
	return names
}

// deflate compresses a body made of parts: strings get their length in front, ints are counts.
func deflate(t testing.TB, parts ...any) []byte {
	var plain []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			plain = binary.BigEndian.AppendUint32(plain, uint32(p))
		case string:
			plain = binary.BigEndian.AppendUint32(plain, uint32(len(p)))
			plain = append(plain, p...)
		}
	}
	return deflateRaw(t, plain)
}

func deflateRaw(t testing.TB, plain []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, err := w.Write(plain)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

const versionJSON = `{"counter":1,"stateVersion":0,"timestamp":1700000000000}`

// N7: parts that are null or missing are refused, or empty; nothing in between.
func TestN7RegisterBodyWithNullParts(t *testing.T) {
	for _, version := range []Version{0, Version3_0_11, CurrentVersion} {
		o := RegisterBodyOptions{Version: version, Now: testNow}
		for _, body := range []string{
			`null`,
			`{"topicConfigSerializeWrapper":null}`,
			`{"topicConfigSerializeWrapper":{"topicConfigTable":null}}`,
			`{"topicConfigSerializeWrapper":{"topicConfigTable":{"a":null}}}`,
			`{"topicConfigSerializeWrapper":{"topicConfigTable":{"a":{"topicName":null}}}}`,
			`{"topicConfigSerializeWrapper":{"topicConfigTable":{"a":{"perm":6}}}}`,
			`{"topicConfigSerializeWrapper":{"topicConfigTable":{"a":{"topicName":"a"}}}`,
			`{"topicConfigSerializeWrapper":{"topicQueueMappingInfoMap":{"a":null}}}`,
			`{"topicConfigSerializeWrapper":{"topicQueueMappingInfoMap":{"a":{"bname":null}}}}`,
			`{"topicConfigTable":null}`,
			`topics`,
		} {
			b, err := DecodeRegisterBrokerBody([]byte(body), o)
			require.Error(t, err, body)
			require.Zero(t, b, body)
		}
		b := mustDecodeRegister(t, ``, o)
		require.Equal(t, &DataVersion{}, b.DataVersion)
		require.Empty(t, b.Topics)
		require.Equal(t, version < Version3_0_11, b.FilterServerList == nil)
		b = mustDecodeRegister(t, `{}`, o)
		require.Equal(t, &DataVersion{Timestamp: testNow}, b.DataVersion)
		require.Empty(t, b.Topics)
		b = mustDecodeRegister(t, `{"topicConfigSerializeWrapper":{"dataVersion":null,"topicConfigTable":{"a":{"topicName":"a"}}}}`, o)
		require.Nil(t, b.DataVersion)
		require.Equal(t, []string{"a"}, topicNames(b))
	}
}

// N12: bare numeric names, negative ones too, are read; text in strings stays as it is.
func TestN12RegisterBodyWithBareNumericKeys(t *testing.T) {
	b := mustDecodeRegister(t, `{"topicConfigSerializeWrapper":{"topicConfigTable":{"s":{"topicName":"s","attributes":{"a":"{0:\"x\"}"}},
		"t":{"topicName":"t"}},"topicQueueMappingDetailMap":{"s":{"hostedQueues":{0:[{"gen":0}],-1:[]}}},
		"topicQueueMappingInfoMap":{"s":{"bname":"b","topic":"s","currIdMap":{0:0,1:-1,-2:3}}}}}`, RegisterBodyOptions{Version: CurrentVersion})
	require.Equal(t, []string{"s", "t"}, topicNames(b))
	require.Equal(t, map[string]string{"a": `{0:"x"}`}, b.Topics[0].Attributes)
	require.Equal(t, []NamedQueueMapping{{"s", TopicQueueMappingInfo{Topic: "s", Bname: "b", Scope: GlobalScope,
		CurrIDMap: []QueueIDMapping{{-2, 3}, {0, 0}, {1, -1}}}}}, b.Mappings)
}

// N15: the shape of the body counts, not the version in the header.
func TestN15RegisterBodyShapeWhateverTheVersion(t *testing.T) {
	const wrapper = `{"dataVersion":` + versionJSON + `,"topicConfigTable":{"a":{"topicName":"a"},"b":{"topicName":"b"}}}`
	lines := []any{versionJSON, 2, "a 4 4 6 SINGLE_TAG", "b 4 4 6 MULTI_TAG", "[]"}
	for _, c := range []struct {
		name       string
		body       string
		version    Version
		compressed bool
		filters    []string
	}{
		{"new shape, version 0", `{"topicConfigSerializeWrapper":` + wrapper + `}`, 0, false, nil},
		{"new shape with filter servers, version 0", `{"filterServerList":["f"],"topicConfigSerializeWrapper":` + wrapper + `}`, 0, false, []string{"f"}},
		{"new shape, new version", `{"topicConfigSerializeWrapper":` + wrapper + `}`, CurrentVersion, false, []string{}},
		{"old shape, old version", wrapper, 30, false, nil},
		{"old shape, new version", wrapper, CurrentVersion, false, nil},
		{"old shape inside a wrapper too", `{"topicConfigTable":{},"topicConfigSerializeWrapper":` + wrapper + `,"dataVersion":null}`, CurrentVersion, false, []string{}},
		{"compressed without mappings", string(deflate(t, lines...)), Version4_9_3, true, []string{}},
		{"compressed with mappings", string(deflate(t, append(lines, 0)...)), Version5_0_0, true, []string{}},
		{"compressed, flagged as plain", string(deflate(t, append(lines, 0)...)), CurrentVersion, false, []string{}},
		{"compressed, old version", string(deflate(t, lines...)), 0, true, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := mustDecodeRegister(t, c.body, RegisterBodyOptions{Version: c.version, Compressed: c.compressed})
			require.Equal(t, []string{"a", "b"}, topicNames(b))
			require.Equal(t, &DataVersion{Counter: 1, Timestamp: 1700000000000}, b.DataVersion)
			require.Equal(t, c.filters, b.FilterServerList)
		})
	}
}

func TestRegisterBodyRefusesNegativeVersion(t *testing.T) {
	_, err := DecodeRegisterBrokerBody([]byte(`{}`), RegisterBodyOptions{Version: -1})
	require.ErrorIs(t, err, ErrBodyVersion)
	require.EqualError(t, err, "RegisterBrokerBody: negative version: -1")
}

func TestRegisterBodyTopics(t *testing.T) {
	b := mustDecodeRegister(t, `{"topicConfigSerializeWrapper":{"topicConfigTable":{
		"KEY":{"topicName":"NAME"},"two":{"topicName":"two","perm":2},"":{"topicName":"nokey"},
		"all":{"attributes":{"+a":"b"},"order":true,"perm":-1,"readQueueNums":2147483647,"topicFilterType":"multi_tag","topicName":"all","topicSysFlag":3,"writeQueueNums":0},
		"odd":{"topicName":"odd","perm":null,"readQueueNums":"","writeQueueNums":"3.9","topicFilterType":1},
		"type":{"topicName":"type","topicFilterType":"XX"},
		"two":{"topicName":"two","perm":4}}}}`, RegisterBodyOptions{Version: CurrentVersion})
	require.Equal(t, []TopicConfig{
		{MapKey: "KEY", TopicName: "NAME", ReadQueueNums: 16, WriteQueueNums: 16, Perm: 6},
		{MapKey: "two", TopicName: "two", ReadQueueNums: 16, WriteQueueNums: 16, Perm: 4},
		{MapKey: "nokey", TopicName: "nokey", ReadQueueNums: 16, WriteQueueNums: 16, Perm: 6},
		{MapKey: "all", TopicName: "all", ReadQueueNums: 2147483647, Perm: -1, TopicSysFlag: 3, TopicFilterType: FilterMultiTag,
			Order: true, Attributes: map[string]string{"+a": "b"}},
		{MapKey: "odd", TopicName: "odd", ReadQueueNums: 16, WriteQueueNums: 3, Perm: 6, TopicFilterType: FilterMultiTag},
		{MapKey: "type", TopicName: "type", ReadQueueNums: 16, WriteQueueNums: 16, Perm: 6},
	}, b.Topics)
	_, err := DecodeRegisterBrokerBody([]byte(`{"topicConfigTable":{"a":{"topicName":"a","topicFilterType":2}}}`), RegisterBodyOptions{})
	require.ErrorContains(t, err, "not one of SINGLE_TAG, MULTI_TAG, nor the number of one")
}

func TestRegisterBodyInterns(t *testing.T) {
	var asked []string
	o := RegisterBodyOptions{Version: CurrentVersion, Intern: func(name []byte) string {
		asked = append(asked, string(name))
		return "known"
	}}
	b := mustDecodeRegister(t, `{"topicConfigTable":{"known":{"topicName":"known"}}}`, o)
	require.Equal(t, []string{"known"}, asked) // once: the key serves for the name, too
	require.Equal(t, []string{"known"}, topicNames(b))
	asked = nil
	b = mustDecodeRegister(t, string(deflate(t, versionJSON, 1, "known 1 2 3 SINGLE_TAG", "[]", 0)), o)
	require.Equal(t, []string{"known"}, asked)
	require.Equal(t, []TopicConfig{{MapKey: "known", TopicName: "known", ReadQueueNums: 1, WriteQueueNums: 2, Perm: 3}}, b.Topics)
}

func TestCompressedBodyLines(t *testing.T) {
	b := mustDecodeRegister(t, string(deflate(t, "", 7,
		"a 1 2 3 SINGLE_TAG", "a 4 5 6 MULTI_TAG {}", `b +1 -2 3 SINGLE_TAG {"+k":"v w"}`, "c 1 1 1 SINGLE_TAG {x",
		"主题 1 1 1 SINGLE_TAG ", "\xff 1 1 1 SINGLE_TAG", " 1 1 1 SINGLE_TAG",
		"null", 2, `{"topic":"a","bname":"x"}`, `{"topic":"a","bname":"y"}`)), RegisterBodyOptions{Version: CurrentVersion})
	require.Equal(t, RegisterBrokerBody{
		Topics: []TopicConfig{
			{MapKey: "a", TopicName: "a", ReadQueueNums: 4, WriteQueueNums: 5, Perm: 6, TopicFilterType: FilterMultiTag},
			{MapKey: "b", TopicName: "b", ReadQueueNums: 1, WriteQueueNums: -2, Perm: 3, Attributes: map[string]string{"+k": "v w"}},
			{MapKey: "c", TopicName: "c", ReadQueueNums: 1, WriteQueueNums: 1, Perm: 1},
			{MapKey: "主题", TopicName: "主题", ReadQueueNums: 1, WriteQueueNums: 1, Perm: 1},
			{MapKey: "\uFFFD", TopicName: "\uFFFD", ReadQueueNums: 1, WriteQueueNums: 1, Perm: 1},
			{MapKey: "", TopicName: "", ReadQueueNums: 1, WriteQueueNums: 1, Perm: 1},
		},
		Mappings: []NamedQueueMapping{{"a", TopicQueueMappingInfo{Topic: "a", Bname: "y", Scope: GlobalScope}}},
	}, b)
}

// A text longer than the read buffer, and one that claims to be.
func TestCompressedBodyLongTexts(t *testing.T) {
	name := strings.Repeat("n", 100_000)
	b := mustDecodeRegister(t, string(deflate(t, versionJSON, 2, name+" 1 2 3 SINGLE_TAG", "b 1 2 3 SINGLE_TAG", "[]", 0)),
		RegisterBodyOptions{Version: CurrentVersion})
	require.Equal(t, []string{name, "b"}, topicNames(b))

	for _, plain := range [][]byte{
		{0x00, 0xF0, 0, 0},                // 15 MiB that do not come
		{0x00, 0xF0, 0, 0, 'a', 'b'},      // all but two bytes
		{0, 0, 0, 0, 0x7F, 255, 255, 255}, // 2^31-1 topics
	} {
		body := deflateRaw(t, plain)
		before := allocated()
		_, err := DecodeRegisterBrokerBody(body, RegisterBodyOptions{Version: CurrentVersion})
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Less(t, allocated()-before, uint64(1<<20))
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestCompressedBodyInflatedLimit(t *testing.T) {
	parts := []any{versionJSON, 1000}
	for i := range 1000 {
		parts = append(parts, fmt.Sprintf("topic-%d 1 1 6 SINGLE_TAG", i))
	}
	body := deflate(t, append(parts, "[]", 0)...)
	size := 0
	for _, p := range append(parts, "[]", 0) {
		size += 4
		if s, ok := p.(string); ok {
			size += len(s)
		}
	}
	o := RegisterBodyOptions{Version: CurrentVersion, MaxInflated: size}
	require.Len(t, mustDecodeRegister(t, string(body), o).Topics, 1000)
	o.MaxInflated--
	_, err := DecodeRegisterBrokerBody(body, o)
	require.ErrorIs(t, err, ErrInflatedTooLarge)

	// 64 KiB that inflate to 64 MiB of topics stop at the default limit, long before.
	line := "\x00\x00\x00\x13a 1 1 1 SINGLE_TAG "
	bomb := deflateRaw(t, append([]byte("\x00\x00\x00\x00\x7f\xff\xff\xff"), strings.Repeat(line, 64<<20/len(line))...))
	_, err = DecodeRegisterBrokerBody(bomb, RegisterBodyOptions{Version: CurrentVersion})
	require.ErrorIs(t, err, ErrInflatedTooLarge)
}

func TestAppendCompressed(t *testing.T) {
	b := RegisterBrokerBody{
		DataVersion: &DataVersion{StateVersion: 1, Timestamp: 2, Counter: 3},
		Topics: []TopicConfig{
			{TopicName: "a", ReadQueueNums: 4, WriteQueueNums: 5, Perm: 6, Attributes: map[string]string{"k": "v"}},
			{TopicName: "b", TopicFilterType: FilterMultiTag},
		},
		FilterServerList: []string{"f"},
		Mappings:         []NamedQueueMapping{{"a", TopicQueueMappingInfo{Topic: "a", Bname: "x", CurrIDMap: []QueueIDMapping{{0, 1}}}}},
	}
	text := func(s string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s }
	for version, want := range map[Version]string{
		Version4_9_4: text(`{"counter":3,"stateVersion":1,"timestamp":2}`) +
			"\x00\x00\x00\x02" + text(`a 4 5 6 SINGLE_TAG`) + text(`b 0 0 0 MULTI_TAG`) + text(`["f"]`),
		Version5_0_0: text(`{"counter":3,"stateVersion":1,"timestamp":2}`) +
			"\x00\x00\x00\x02" + text(`a 4 5 6 SINGLE_TAG {"k":"v"}`) + text(`b 0 0 0 MULTI_TAG {}`) + text(`["f"]`) +
			"\x00\x00\x00\x01" + text(`{"bname":"x","currIdMap":{0:1},"dirty":false,"epoch":0,"scope":"","topic":"a","totalQueues":0}`),
	} {
		packed, err := b.AppendCompressed(nil, version)
		require.NoError(t, err)
		require.Equal(t, []byte{0x78, 0xDA}, packed[:2]) // level 9, as brokers send it
		z, err := zlib.NewReader(bytes.NewReader(packed))
		require.NoError(t, err)
		plain, err := io.ReadAll(z)
		require.NoError(t, err)
		require.Equal(t, want, string(plain))
		got := mustDecodeRegister(t, string(packed), RegisterBodyOptions{Version: version, Compressed: true})
		require.Equal(t, []string{"a", "b"}, topicNames(got))
	}
	b.Topics[0].TopicName = "a b"
	_, err := b.AppendCompressed(nil, CurrentVersion)
	require.ErrorContains(t, err, "a name with a blank")
}

func TestBodyCRC32(t *testing.T) {
	require.Equal(t, int32(0), BodyCRC32(nil))
	require.Equal(t, int32(0x4BF43926), BodyCRC32([]byte("123456789"))) // 0xCBF43926 without its top bit
}

func TestRegisterBodyTextSize(t *testing.T) {
	body := RegisterBrokerBody{Topics: []TopicConfig{{TopicName: "T"}}, DataVersion: &DataVersion{}}
	small, err := body.AppendCompressed(nil, Version5_5_0)
	require.NoError(t, err)
	require.Less(t, len(small), 100)
	for _, tt := range []struct {
		rule string
		body []byte
		o    RegisterBodyOptions
		want int
	}{
		{"none", nil, RegisterBodyOptions{Version: Version5_5_0}, 0},
		{"JSON", []byte(`{}`), RegisterBodyOptions{Version: Version5_5_0}, 2},
		{"as compressed as can be", small, RegisterBodyOptions{Version: Version5_5_0, Compressed: true}, 1032 * len(small)},
		{"compressed without saying so", small, RegisterBodyOptions{}, 1032 * len(small)},
		{"up to the limit", small, RegisterBodyOptions{Version: Version5_5_0, MaxInflated: 1000}, 1000},
		{"up to the usual limit", append(small, make([]byte, 50_000)...), RegisterBodyOptions{Version: Version5_5_0}, DefaultMaxInflated},
	} {
		require.Equal(t, tt.want, tt.o.TextSize(tt.body), tt.rule)
	}
	zeros := new(bytes.Buffer) // no stream inflates to more
	w, err := zlib.NewWriterLevel(zeros, zlib.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.GreaterOrEqual(t, (&RegisterBodyOptions{}).TextSize(zeros.Bytes()), 1<<20)
}
