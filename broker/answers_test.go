package broker_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// answerStep is a line of testdata/answers-5.5.0.jsonl: a request, with good, missing, malformed or extreme values, and what a
// fresh broker of 5.5.0 answered to it in its turn. Where ours is to answer something else, the line says what, and why.
type answerStep struct {
	Rule, Conn  string
	Close       bool // instead of a request: the end of the connection
	Code        protocol.RequestCode
	ExtFields   [][]string // name and value; name alone: null
	NoExtFields bool
	Body        string
	Binary      bool // the header is in codec ROCKETMQ
	Oneway      bool
	Version     protocol.Version // 0: 5.5.0's
	Language    string           // "": JAVA

	Java, Ours *stepAnswer
	Why        string // "other words": ours has the same code and a remark of its own
}

// stepAnswer is an answer as far as it is the same in each run.
type stepAnswer struct {
	Code      int32             `json:"code"`
	Remark    *string           `json:"remark,omitempty"`
	ExtFields map[string]string `json:"extFields,omitempty"`
	HasExt    bool              `json:"hasExt,omitempty"`
	Body      string            `json:"body,omitempty"`
}

// frame is the request on the wire.
func (s *answerStep) frame(t *testing.T, opaque int32) []byte {
	t.Helper()
	version, language := s.Version, s.Language
	if version == 0 {
		version = protocol.Version5_5_0
	}
	if language == "" {
		language = "JAVA"
	}
	var flag int32
	if s.Oneway {
		flag = protocol.FlagOneway
	}
	if s.Binary {
		cmd := protocol.Command{
			Code: int32(s.Code), Version: version, Opaque: opaque, Flag: flag, Body: []byte(s.Body), Codec: protocol.CodecBinary,
		}
		for _, f := range s.ExtFields {
			cmd.Ext = append(cmd.Ext, protocol.Field{Key: f[0], Value: f[1]})
		}
		frame, err := protocol.AppendFrame(nil, &cmd)
		require.NoError(t, err)
		return frame
	}
	header := map[string]any{"code": s.Code, "flag": flag, "language": language, "opaque": opaque, "version": version}
	if !s.NoExtFields {
		fields := map[string]any{}
		for _, f := range s.ExtFields {
			if fields[f[0]] = nil; len(f) == 2 {
				fields[f[0]] = f[1]
			}
		}
		header["extFields"] = fields
	}
	h, err := json.Marshal(header)
	require.NoError(t, err)
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(h)+len(s.Body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(h)))
	return append(append(frame, h...), s.Body...)
}

// repeatable tells whether a request may be sent again until what went before, one-way or the end of a connection, is in
// effect.
func (s *answerStep) repeatable() bool {
	return slices.Contains([]protocol.RequestCode{21, 38, 41, 201, 203, 204, 328, 345, 351}, s.Code)
}

// The masks of what differs from run to run, as in the recording.
var (
	stepAddr    = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	stepTime    = regexp.MustCompile(`\b1[6-9]\d{11}\b`)
	stepCounter = regexp.MustCompile(`"counter":[1-9]\d*`)
	stepLong    = regexp.MustCompile(`(a{5}|b{5}|g{5})[abg]+`)
	stepMasked  = regexp.MustCompile(`([:\[,])(TS|N)\b`)
)

func maskStep(text, addr string) string {
	text = stepCounter.ReplaceAllString(text, `"counter":N`)
	text = stepLong.ReplaceAllString(text, "$1~")
	text = strings.ReplaceAll(text, addr, "MAIN")
	return stepTime.ReplaceAllString(stepAddr.ReplaceAllString(text, "ADDR"), "TS")
}

// stepAnswerOf is an answer in the form of the recording: masked, and in an order of its own, since Java's is that of hash tables.
func stepAnswerOf(t *testing.T, cmd *protocol.Command, addr string) stepAnswer {
	t.Helper()
	a := stepAnswer{Code: cmd.Code, HasExt: cmd.Ext != nil, Body: maskStep(string(cmd.Body), addr)}
	if cmd.HasRemark || cmd.Remark != "" {
		remark := maskStep(cmd.Remark, addr)
		a.Remark = &remark
	}
	for _, f := range cmd.Ext {
		if a.ExtFields == nil {
			a.ExtFields = map[string]string{}
		}
		a.ExtFields[f.Key] = maskStep(f.Value, addr)
	}
	if a.Body != "" {
		d := json.NewDecoder(bytes.NewReader(stepMasked.ReplaceAll([]byte(a.Body), []byte(`$1"$2"`))))
		d.UseNumber()
		var v any
		require.NoError(t, d.Decode(&v), a.Body)
		a.Body = inOrder(v)
	}
	return a
}

func inOrder(v any) string {
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			parts = append(parts, fmt.Sprintf("%q:%s", k, inOrder(x)))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		for _, x := range v {
			parts = append(parts, inOrder(x))
		}
		slices.Sort(parts)
		return "[" + strings.Join(parts, ",") + "]"
	}
	text, _ := json.Marshal(v) // strings, numbers and the like
	return string(text)
}

// The same requests to a fresh broker of ours are answered as a fresh one of 5.5.0 has answered them, but where the record says
// how ours is to differ.
func TestAnswersOfJava(t *testing.T) {
	b := startBroker(t, "brokerClusterName=DefaultCluster")
	data, err := os.ReadFile("testdata/answers-5.5.0.jsonl")
	require.NoError(t, err)
	conns := map[string]*client{}
	defer func() {
		for _, c := range conns {
			c.close()
		}
	}()
	opaque := int32(1000)
	for n, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var s answerStep
		require.NoError(t, json.Unmarshal(line, &s))
		c := conns[s.Conn]
		if c == nil {
			addr := b.Addr
			if strings.Contains(s.Conn, " fast") {
				addr = b.FastAddr
			}
			c = dial(t, addr)
			conns[s.Conn] = c
		}
		if s.Close {
			c.close()
			delete(conns, s.Conn)
			continue
		}
		want := s.Java
		if s.Ours != nil {
			want = s.Ours
		}
		check := func() error {
			opaque++
			_, err := c.conn.Write(s.frame(t, opaque))
			require.NoError(t, err)
			if s.Oneway {
				return nil
			}
			got := stepAnswerOf(t, c.answer(opaque), b.Addr)
			if s.Why == "other words" && got.Remark != nil && *got.Remark != "" {
				got.Remark = nil
			}
			wantText, err := json.Marshal(want)
			require.NoError(t, err)
			gotText, err := json.Marshal(got)
			require.NoError(t, err)
			if string(wantText) != string(gotText) {
				return fmt.Errorf("line %d: %s: %d %v %.200s\nwant %s\ngot  %s", n+1, s.Rule, s.Code, s.ExtFields, s.Body, wantText, gotText)
			}
			return nil
		}
		if s.repeatable() {
			eventually(t, check)
		} else {
			require.NoError(t, check())
		}
	}
}
