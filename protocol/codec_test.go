package protocol

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// v479 is the version in the vectors of spec/remoting.md §11.
const v479 Version = 479

// unhex decodes hexadecimal digits with blanks between them.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	require.NoError(t, err)
	return b
}

// jsonFrame returns a frame with a JSON header and a body, prefix included.
func jsonFrame(header, body string) []byte {
	return rawFrame(CodecJSON, header, body)
}

func rawFrame(codec Codec, header, body string) []byte {
	total, size := len(header)+len(body)+4, len(header)
	frame := []byte{byte(total >> 24), byte(total >> 16), byte(total >> 8), byte(total)}
	frame = append(frame, byte(codec), byte(size>>16), byte(size>>8), byte(size))
	return append(append(frame, header...), body...)
}

// decodeFrame decodes a whole frame, prefix included, as a connection's reader does.
func decodeFrame(frame []byte) (Command, error) {
	if len(frame) < 4 {
		return Command{}, ErrFrameTooShort
	}
	n, err := FrameLength(frame[:4], MaxFrame)
	if err != nil {
		return Command{}, err
	}
	if n > len(frame)-4 {
		return Command{}, ErrFrameTooShort
	}
	return DecodeCommand(frame[4 : 4+n])
}

// The vectors of spec/remoting.md §11, by their numbers there.
func TestFrameVectors(t *testing.T) {
	routeRequest := Command{Code: int32(ReqGetRouteInfoByTopic), Version: v479, Ext: Ext{{"topic", "TBW102"}}}
	heartbeat := Command{Code: int32(ReqHeartBeat), Version: v479, Opaque: 7, Flag: FlagOneway, Body: []byte("{}")}
	binary := func(c Command) Command { c.Codec = CodecBinary; return c }
	remark := func(s string, c Command) Command { c.Remark, c.HasRemark = s, true; return c }

	for _, tc := range []struct {
		name    string
		command Command
		frame   []byte
	}{
		{
			"1 route request in JSON", routeRequest,
			append(unhex(t, "00000084 00000080"), `{"code":105,"extFields":{"topic":"TBW102"},"flag":0,"language":"JAVA","opaque":0,`+
				`"serializeTypeCurrentRPC":"JSON","version":479}`...),
		},
		{
			"2 route request in binary", binary(routeRequest),
			unhex(t, "0000002a 01000026 0069 00 01df 00000000 00000000 00000000 00000011 0005 746f706963 00000006 544257313032"),
		},
		{
			"3 one-way heartbeat in binary", binary(heartbeat),
			unhex(t, "0000001b 01000015 0022 00 01df 00000007 00000002 00000000 00000000 7b7d"),
		},
		{
			"4 one-way heartbeat in JSON", heartbeat,
			append(unhex(t, "00000066 00000060"), `{"code":34,"flag":2,"language":"JAVA","opaque":7,"serializeTypeCurrentRPC":"JSON","version":479}{}`...),
		},
		{
			"5 success without header or remark", Command{Flag: FlagResponse, Opaque: 5, Version: v479},
			append(unhex(t, "00000063 0000005f"), `{"code":0,"flag":1,"language":"JAVA","opaque":5,"serializeTypeCurrentRPC":"JSON","version":479}`...),
		},
		{
			"6 send response in binary",
			binary(Command{Flag: FlagResponse, Opaque: 5, Version: v479, Ext: Ext{{"msgId", "AC"}, {"queueId", "1"}, {"queueOffset", "42"}}}),
			unhex(t, `00000047 01000043 0000 00 01df 00000005 00000001 00000000 0000002e 0005 6d73674964 00000002 4143
				0007 71756575654964 00000001 31 000b 71756575654f6666736574 00000002 3432`),
		},
		{
			"7 negative code", binary(remark("x", Command{Code: int32(RespRPCUnknown), Flag: FlagResponse, Opaque: 1, Version: v479})),
			unhex(t, "0000001a 01000016 fc18 00 01df 00000001 00000001 00000001 78 00000000"),
		},
		{
			"8 remark beyond ASCII, negative opaque",
			binary(remark("\u4E2D\U0001F600", Command{Code: 1, Flag: FlagResponse, Opaque: -2, Version: v479})),
			unhex(t, "00000020 0100001c 0001 00 01df fffffffe 00000001 00000007 e4b8adf09f9880 00000000"),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			frame, err := AppendFrame(nil, &tc.command)
			require.NoError(t, err)
			require.Equal(t, hex.EncodeToString(tc.frame), hex.EncodeToString(frame))

			got, err := decodeFrame(tc.frame)
			require.NoError(t, err)
			require.Equal(t, tc.command, got)
		})
	}
}

func TestDecodeHeaderTolerance(t *testing.T) {
	for _, tc := range []struct{ name, header string }{
		{"12 text after the object", `{"code":1}xx`},
		{"13 opaque beyond int", `{"opaque":2147483648}`},
		{"13 language ordinal beyond the list", `{"language":99}`},
		{"language ordinal below 0", `{"language":-1}`},
		{"35 bare number as ext name", `{"extFields":{3:"4"}}`},
		{"nothing", ``},
		{"null", `null`},
		{"empty list", `[]`},
		{"list of a header", `[{"code":1}]`},
		{"blanks", " \t\r\n"},
		{"cut short", `{"code":1,"opaque`},
		{"cut behind a colon", `{"code":`},
		{"invalid UTF-8", "{\"remark\":\"\xff\xfe\"}"},
		{"cut UTF-8", "{\"remark\":\"\xe4\xb8\"}"},
		{"a number that is no UTF-8", "{\"opaque\":1\xc3\x28}"},
		{"no number", `{"code":"abc"}`},
		{"hexadecimal", `{"code":0x10}`},
		{"ext fields a list", `{"extFields":[]}`},
		{"ext fields a number", `{"extFields":5}`},
		{"nested too deep", `{"x":` + strings.Repeat("[", 100_000)},
		{"too many ext fields", `{"extFields":{` + strings.Repeat(`"a":"b",`, MaxExtFields) + `"a":"b"}}`},
	} {
		t.Run("refused/"+tc.name, func(t *testing.T) {
			_, err := decodeFrame(jsonFrame(tc.header, ""))
			require.ErrorIs(t, err, ErrFrameHeader)
		})
	}

	many := make(Ext, MaxExtFields)
	for i := range many {
		many[i] = Field{"a", "b"}
	}
	for _, tc := range []struct {
		name, header string
		want         Command
	}{
		{"12 single quotes, bare names, spare comma", `{'code':1,flag:0,'opaque':-3,}`, Command{Code: 1, Opaque: -3}},
		{"13 opaque as text", `{"opaque":"7"}`, Command{Opaque: 7}},
		{"13 unknown language", `{"language":"FOO"}`, Command{Language: LanguageUnknown}},
		{"language in lower case", `{"language":"go"}`, Command{Language: LanguageGo}},
		{"language as ordinal", `{"language":9}`, Command{Language: LanguageGo}},
		{"language null", `{"language":null}`, Command{Language: LanguageUnknown}},
		{"language empty", `{"language":""}`, Command{Language: LanguageUnknown}},
		{"14 empty ext value", `{"extFields":{"queueId":""}}`, Command{Ext: Ext{{"queueId", ""}}}},
		{"35 ext values of other types", `{"extFields":{"a":1,"b":true,"c":null}}`, Command{Ext: Ext{{"a", "1"}, {"b", "true"}}}},
		{"null takes a value away", `{"extFields":{"a":"1","b":"2","a":null}}`, Command{Ext: Ext{{"b", "2"}}}},
		{"a line", "{\"code\":1}\n", Command{Code: 1}},
		{
			"bytes that are no UTF-8", "{\"code\":105,\"extFields\":{\"topic\":\"a\xc3\x28\xc0\x80\"},\"remark\":\"\xed\xa0\x80\"}",
			Command{Code: 105, Ext: Ext{{"topic", "a\uFFFD(\uFFFD\uFFFD"}}, Remark: "\uFFFD\uFFFD\uFFFD", HasRemark: true},
		},
		{"no opaque", `{"code":106}`, Command{Code: 106}},
		{"null opaque", `{"code":106,"opaque":null}`, Command{Code: 106}},
		{"nothing but an object", `{}`, Command{}},
		{"remark null", `{"remark":null}`, Command{}},
		{"remark empty", `{"remark":""}`, Command{HasRemark: true}},
		{"ext fields null", `{"extFields":null}`, Command{}},
		{"ext fields empty", `{"extFields":{}}`, Command{Ext: Ext{}}},
		{"ext fields empty with a blank", `{"extFields":{ }}`, Command{Ext: Ext{}}},
		{"the smallest opaque", `{"opaque":-2147483648}`, Command{Opaque: math.MinInt32}},
		{"two codes: the last", `{"code":1,"code":2}`, Command{Code: 2}},
		{"two opaques: the last, also among odd ones", `{'opaque':1,"opaque":2}`, Command{Opaque: 2}},
		{"unknown members", `{"code":1,"foo":{"a":[1,2]},"body":"x"}`, Command{Code: 1}},
		{"serialize type that does not exist", `{"code":1,"serializeTypeCurrentRPC":"XML"}`, Command{Code: 1}},
		{"as many ext fields as may be", `{"extFields":{` + strings.Repeat(`"a":"b",`, MaxExtFields-1) + `"a":"b"}}`, Command{Ext: many}},
		{"extreme versions", `{"version":-1}`, Command{Version: -1}},
	} {
		t.Run("read/"+tc.name, func(t *testing.T) {
			got, err := decodeFrame(jsonFrame(tc.header, ""))
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestDecodeBinaryHeader(t *testing.T) {
	head := "0069 00 01df 00000001 00000000 "
	for _, tc := range []struct {
		name, header, body string
		want               Command
	}{
		{"13 unknown language", "0069 63 01df 00000001 00000000 00000000 00000000", "", Command{Language: LanguageUnknown}},
		{"14 empty value is absent", head + "00000000 00000007 0001 61 00000000", "", Command{}},
		{"empty value in place of another", head + "00000000 0000000f 0001 61 00000001 62 0001 61 00000000", "", Command{}},
		{"empty key is absent", head + "00000000 00000007 0000 00000001 61", "", Command{}},
		{"15 padding goes to the body", head + "00000000 00000000 504144", "hello", Command{Body: []byte("PADhe")}},
		{"negative ext length is none", head + "00000000 ffffffff", "", Command{}},
		{"invalid UTF-8", head + "00000002 c328 00000000", "", Command{Remark: "\uFFFD(", HasRemark: true}},
		{
			"duplicate keys", head + "00000000 00000010 0001 61 00000001 62 0001 61 00000001 63", "",
			Command{Ext: Ext{{"a", "b"}, {"a", "c"}}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.want.Code, tc.want.Version, tc.want.Opaque, tc.want.Codec = 105, v479, 1, CodecBinary
			got, err := decodeFrame(rawFrame(CodecBinary, string(unhex(t, tc.header)), tc.body))
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}

	for _, tc := range []struct{ name, header string }{
		{"20 bytes", head + "00000000 000000"},
		{"remark past the end", head + "00000001 00000000"},
		{"largest remark", head + "7fffffff 00000000"},
		{"negative remark", head + "ffffffff 00000000"},
		{"ext past the end", head + "00000000 00000001"},
		{"largest ext", head + "00000000 7fffffff"},
		{"key length cut", head + "00000000 00000001 00"},
		{"key past the end", head + "00000000 00000003 0002 61"},
		{"negative key", head + "00000000 00000007 ffff 61 00000000"},
		{"value length cut", head + "00000000 00000005 0001 61 0000"},
		{"value past the end", head + "00000000 00000007 0001 61 00000001"},
		{"negative value", head + "00000000 00000007 0001 61 ffffffff"},
		{"too many ext fields", head + "00000000 " + hex.EncodeToString([]byte{0, 0, 0x1c, 0x07}) + strings.Repeat("0001 61 00000000", MaxExtFields+1)},
	} {
		t.Run("refused/"+tc.name, func(t *testing.T) {
			_, err := decodeFrame(rawFrame(CodecBinary, string(unhex(t, tc.header)), ""))
			require.ErrorIs(t, err, ErrFrameHeader)
		})
	}
}

// 16-bit fields wrap, as they do in the original.
func TestBinaryTruncatesCodeAndVersion(t *testing.T) {
	frame, err := AppendFrame(nil, &Command{Code: 200050, Version: 70000, Codec: CodecBinary})
	require.NoError(t, err)
	got, err := decodeFrame(frame)
	require.NoError(t, err)
	require.EqualValues(t, 200050-3<<16, got.Code)
	require.EqualValues(t, 4464, got.Version)
}

func TestBinaryKeyTooLong(t *testing.T) {
	dst := []byte("before")
	c := Command{Codec: CodecBinary, Ext: Ext{{strings.Repeat("k", math.MaxInt16+1), "v"}}}
	got, err := AppendFrame(dst, &c)
	require.ErrorIs(t, err, ErrFrameHeader)
	require.Equal(t, "before", string(got))

	c.Ext[0].Key = c.Ext[0].Key[1:]
	got, err = AppendFrame(nil, &c)
	require.NoError(t, err)
	back, err := decodeFrame(got)
	require.NoError(t, err)
	require.Equal(t, c, back)
}

// Only quotes, backslashes and control characters are escaped (spec/since-2025-09.md §1.1).
func TestJSONHeaderEscapes(t *testing.T) {
	c := Command{
		Remark: "\v\u007F\u0085\u2028中/<", HasRemark: true,
		Ext: Ext{{`"k\`, "a\b\t\n\f\r\x00\x1f"}, {"", ""}},
	}
	frame, err := AppendFrame(nil, &c)
	require.NoError(t, err)
	require.Equal(t, `{"code":0,"extFields":{"\"k\\":"a\b\t\n\f\r\u0000\u001f","":""},"flag":0,"language":"JAVA","opaque":0,`+
		`"remark":"\u000b`+"\u007F\u0085\u2028"+`中/<","serializeTypeCurrentRPC":"JSON","version":0}`, string(frame[8:]))
	got, err := decodeFrame(frame)
	require.NoError(t, err)
	require.Equal(t, c, got)
}

func TestUnknownLanguageRoundTrip(t *testing.T) {
	for _, codec := range []Codec{CodecJSON, CodecBinary} {
		c := Command{Language: LanguageUnknown, Codec: codec}
		frame, err := AppendFrame(nil, &c)
		require.NoError(t, err)
		got, err := decodeFrame(frame)
		require.NoError(t, err)
		require.Equal(t, c, got)
	}
}

func TestDecodeReusesExt(t *testing.T) {
	two := jsonFrame(`{"extFields":{"a":"1","b":"2"}}`, "body")[4:]
	for _, second := range [][]byte{
		jsonFrame(`{"extFields":{"c":"3"}}`, "")[4:],
		jsonFrame(`{extFields:{'c':3}}`, "")[4:],
		rawFrame(CodecBinary, string(unhex(t, "0000 00 0000 00000000 00000000 00000000 00000008 0001 63 00000001 33")), "")[4:],
	} {
		var c Command
		require.NoError(t, c.Decode(two))
		first := &c.Ext[0]
		require.NoError(t, c.Decode(second))
		require.Equal(t, Ext{{"c", "3"}}, c.Ext)
		require.Same(t, first, &c.Ext[0])
		require.Nil(t, c.Body)
	}
	var c Command
	require.NoError(t, c.Decode(two))
	require.NoError(t, c.Decode(jsonFrame(`{}`, "")[4:]))
	require.Equal(t, Command{}, c)
}

// What is decoded stays as it is when the buffer that it came in is used again.
func TestDecodedStringsDoNotAliasFrame(t *testing.T) {
	for _, frame := range [][]byte{
		jsonFrame(`{"extFields":{"a":"b"},"remark":"r"}`, ""),
		jsonFrame(`{'extFields':{'a':'b'},'remark':'r'}`, ""),
		rawFrame(CodecBinary, string(unhex(t, "0000 00 0000 00000000 00000000 00000001 72 00000008 0001 61 00000001 62")), ""),
	} {
		c, err := decodeFrame(frame)
		require.NoError(t, err)
		clear(frame)
		require.Equal(t, Ext{{"a", "b"}}, c.Ext)
		require.Equal(t, "r", c.Remark)
	}
}
