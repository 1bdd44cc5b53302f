package protocol

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any text is read or refused. What is read has a text, which reads back equal.
func FuzzJSONReader(f *testing.F) {
	f.Add([]byte(`{'a':1,b:[{"$ref":"$.a"}],"c":{0:"x",{"q":1}:2},/*x*/"t":"\u0041\x41",}`))
	f.Add([]byte(`{"bool":0,"intNum":"1e2","list":["a" null],"map":{"k":"v"},"self":[{"$ref":"$.x"}],"x":{"text":1.50}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newJSONReader(data)
		text := r.appendValue(nil)
		r.end()
		if r.err == nil {
			require.LessOrEqual(t, len(text), 6*len(data))
			again := newJSONReader(text)
			require.Equal(t, string(text), string(again.appendValue(nil)))
			require.NoError(t, again.err)
		}
		s, err := decodeSample(string(data))
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.NotNil(t, s)
	})
}

func FuzzRegisterBrokerBody(f *testing.F) {
	for _, g := range readGolden(f, "register-bodies.jsonl") {
		f.Add(g.bytes(), int32(g.Version), g.Compressed)
	}
	for _, g := range readGolden(f, "broker-registrations.jsonl") {
		f.Add(g.bytes(), int32(g.Version), g.Compressed)
	}
	f.Fuzz(func(t *testing.T, data []byte, version int32, compressed bool) {
		opts := RegisterBodyOptions{Version: Version(version), Compressed: compressed, Now: testNow, MaxInflated: 1 << 20}
		b, err := DecodeRegisterBrokerBody(data, opts)
		if err != nil {
			require.Zero(t, b)
			return
		}
		requireRegisterRoundTrip(t, &b)

		// The same bytes inside a zlib stream, for they seldom are one.
		opts.Version, opts.Compressed = max(opts.Version, Version3_0_11), true
		b, err = DecodeRegisterBrokerBody(deflateRaw(t, data), opts)
		if err == nil {
			requireRegisterRoundTrip(t, &b)
		}
	})
}

func FuzzTopicRouteData(f *testing.F) {
	for _, g := range readGolden(f, "answers.jsonl") {
		f.Add([]byte(g.Body))
	}
	for _, g := range readGolden(f, "topic-registrations.jsonl") {
		f.Add([]byte(g.Body))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if route, err := DecodeTopicRouteData(data); err == nil {
			for _, form := range []JSONForm{FormDefault, FormStrict} {
				again, err := DecodeTopicRouteData(route.AppendJSON(nil, form))
				require.NoError(t, err)
				require.Equal(t, route.AppendJSON(nil, form), again.AppendJSON(nil, form))
			}
			require.True(t, json.Valid(route.AppendJSON(nil, FormStrict)))
		}
		if info, err := DecodeClusterInfo(data); err == nil {
			again, err := DecodeClusterInfo(info.AppendJSON(nil, FormDefault))
			require.NoError(t, err)
			require.Equal(t, info.AppendJSON(nil, FormStrict), again.AppendJSON(nil, FormStrict))
		}
	})
}

func FuzzKVConfig(f *testing.F) {
	f.Add([]byte(`{"configTable":{"ORDER_TOPIC_CONFIG":{"TopicA":"broker-a:4"},"N1":{},"N2":{"主":"题"}}}`))
	f.Add([]byte(`{'configTable':{'N':{a:1,"b":null,"e":{"f":[1]},}, "M":null},"other":[1]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		kv, err := DecodeKVConfigSerializeWrapper(data)
		if err != nil {
			return
		}
		text := kv.AppendJSON(nil, FormDefault)
		require.True(t, json.Valid(text))
		again, err := DecodeKVConfigSerializeWrapper(text)
		require.NoError(t, err)
		require.Equal(t, kv, again)
	})
}
