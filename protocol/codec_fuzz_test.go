package protocol

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// goldenSeeds calls add with every golden frame.
func goldenSeeds(f *testing.F, add func(frame []byte)) {
	file, err := os.Open("testdata/golden-frames.jsonl")
	require.NoError(f, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var g goldenFrame
		require.NoError(f, json.Unmarshal(lines.Bytes(), &g))
		if g.Frame != "" {
			add(unhex(f, g.Frame))
		} else {
			add(jsonFrame(g.Header, g.Body))
		}
	}
	require.NoError(f, lines.Err())
}

// requireRoundTrip checks that c, decoded from size bytes, is in proportion to them and survives being encoded.
func requireRoundTrip(t *testing.T, c Command, size int) {
	t.Helper()
	require.LessOrEqual(t, len(c.Ext), MaxExtFields)
	text := len(c.Remark)
	for _, f := range c.Ext {
		text += len(f.Key) + len(f.Value)
	}
	require.LessOrEqual(t, text, 8*size+2048)

	again, err := AppendFrame(nil, &c)
	require.NoError(t, err)
	back, err := decodeFrame(again)
	require.NoError(t, err, string(again))
	require.Equal(t, c, back, string(again))
}

func FuzzDecodeFrame(f *testing.F) {
	goldenSeeds(f, func(frame []byte) { f.Add(frame) })
	f.Fuzz(func(t *testing.T, frame []byte) {
		if c, err := decodeFrame(frame); err == nil {
			requireRoundTrip(t, c, len(frame))
		}
	})
}

// FuzzJSONHeader also holds the fast path to the lenient one: what it takes means the same to both.
func FuzzJSONHeader(f *testing.F) {
	goldenSeeds(f, func(frame []byte) {
		if len(frame) > 8 && frame[4] == 0 {
			f.Add(string(frame[8:]))
		}
	})
	f.Add(`{"extFields":{"$ref":"$.extFields"},"remark":"\ud800"}`)
	f.Add(`{"code":-2147483648,"flag":00,"opaque":-0,"version":2147483647,"language":"Go","remark":null}`)
	f.Fuzz(func(t *testing.T, header string) {
		var c Command
		err := c.decodeJSON([]byte(header), nil)
		if err == nil {
			requireRoundTrip(t, c, len(header))
		}
		var fast, lenient Command
		if utf8.ValidString(header) && fast.decodeJSONFast(header, nil) {
			require.NoError(t, lenient.decodeJSONLenient([]byte(header), nil))
			require.Equal(t, lenient, fast)
		}
	})
}

func FuzzBinaryHeader(f *testing.F) {
	goldenSeeds(f, func(frame []byte) {
		if len(frame) > 8 && frame[4] == 1 {
			f.Add(frame[8:], []byte("body"))
		}
	})
	f.Fuzz(func(t *testing.T, header, body []byte) {
		if len(header)+len(body) > MaxFrame-8 {
			return
		}
		c, err := decodeFrame(rawFrame(CodecBinary, string(header), string(body)))
		if err == nil {
			require.Len(t, c.Body, len(body))
			requireRoundTrip(t, c, len(header)+len(body))
		}
	})
}
