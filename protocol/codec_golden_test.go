package protocol

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// goldenFrame is a line of testdata/golden-frames.jsonl: a request that was sent to a Java NameServer, and
// what that took it for.
type goldenFrame struct {
	From    string        // directory, scenario and step of the transcript
	Note    string        // what it is about
	Header  string        // of a JSON frame; in 5.5.0 standard JSON
	Body    string        // bodies that are beside the point are cut to "x"
	Frame   string        // in place of Header and Body: the frame in hexadecimal
	Refused bool          // the connection was closed
	Want    *goldenHeader // what a header that is not standard JSON says
}

type goldenHeader struct {
	Code, Flag, Opaque, Version int32
	Language, Remark            *string
	ExtFields                   map[string]string
}

func TestGoldenFrames(t *testing.T) {
	file, err := os.Open("testdata/golden-frames.jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var g goldenFrame
		require.NoError(t, json.Unmarshal(lines.Bytes(), &g))
		t.Run(g.From, func(t *testing.T) { checkGoldenFrame(t, g) })
	}
	require.NoError(t, lines.Err())
}

func checkGoldenFrame(t *testing.T, g goldenFrame) {
	frame := jsonFrame(g.Header, g.Body)
	if g.Frame != "" {
		frame = unhex(t, g.Frame)
	}
	got, err := decodeFrame(frame)
	if g.Refused {
		require.Error(t, err, g.Note)
		return
	}
	require.NoError(t, err, g.Note)

	want := g.Want
	if want == nil && g.Header != "" {
		want = new(goldenHeader)
		require.NoError(t, json.Unmarshal([]byte(g.Header), want))
	}
	if want == nil {
		return
	}
	require.Equal(t, want.Code, got.Code)
	require.Equal(t, want.Opaque, got.Opaque)
	require.Equal(t, want.Flag, got.Flag)
	if want.Version != 0 {
		require.EqualValues(t, want.Version, got.Version)
	}
	if want.Language != nil {
		require.Equal(t, languageNamed(*want.Language), got.Language)
	}
	if want.Remark != nil {
		require.Equal(t, *want.Remark, got.Remark)
	}
	fields := map[string]string{}
	for _, f := range got.Ext {
		fields[f.Key] = f.Value
	}
	for k, v := range want.ExtFields {
		if got.Codec == CodecBinary && (k == "" || v == "") {
			delete(want.ExtFields, k) // the transcripts show null as ""
		}
	}
	if len(want.ExtFields)+len(fields) > 0 {
		require.Equal(t, want.ExtFields, fields)
	}

	again, err := AppendFrame(nil, &got)
	require.NoError(t, err)
	if bytes.Contains(frame, []byte(`"serializeTypeCurrentRPC":"JSON","version"`)) && got.Language != LanguageUnknown &&
		!strings.Contains(g.Note, "lower case") {
		require.Equal(t, string(frame), string(again), "Java's own form")
		return
	}
	back, err := decodeFrame(again)
	require.NoError(t, err)
	require.Equal(t, got, back, hex.EncodeToString(again))
}
