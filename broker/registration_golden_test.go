package broker

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// goldenStep is a line of testdata/registration.
type goldenStep struct {
	Scenario, Phase   string
	Step              int
	Properties        map[string]string
	Request, Response string
}

func decodeFrame(t *testing.T, text string) *protocol.Command {
	t.Helper()
	frame, err := hex.DecodeString(text)
	require.NoError(t, err)
	cmd, err := protocol.DecodeCommand(frame[4:])
	require.NoError(t, err)
	return &cmd
}

func readGoldenSteps(t *testing.T) map[string][]goldenStep {
	file, err := os.Open(filepath.Join("testdata", "registration", "frames-5.5.0.jsonl.gz"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	steps := map[string][]goldenStep{}
	for d := json.NewDecoder(z); d.More(); {
		var s goldenStep
		require.NoError(t, d.Decode(&s))
		steps[s.Scenario] = append(steps[s.Scenario], s)
	}
	return steps
}

// goldenSettings are the settings that the recorded broker had.
func goldenSettings(p map[string]string, addr string) (registrarSettings, brokerMember) {
	set := testSettings(addr)
	set.Period = time.Hour // rounds happen when the test asks for them
	on := func(key string, def bool) bool {
		if v, ok := p[key]; ok {
			return v == "true"
		}
		return def
	}
	set.ForceRegister = on("forceRegister", true)
	set.Compressed = on("compressedRegister", false)
	set.Split = on("enableSplitRegistration", false)
	set.SingleTopic = on("enableSingleTopicRegister", false)
	set.SlaveActingMaster = on("enableSlaveActingMaster", false)
	set.CompatibleWithOldNSrv = on("compatibleWithOldNameSrv", true)
	set.HeartbeatInterval = 50 * time.Millisecond
	number := func(key string, def int) int {
		if n, err := strconv.Atoi(p[key]); err == nil {
			return n
		}
		return def
	}
	set.SplitSize = number("splitRegistrationSize", 800)
	set.Permission = int32(number("brokerPermission", 6))
	return set, brokerMember{Cluster: "GoldenCluster", Name: "broker-a", ID: int64(number("brokerId", 0)),
		Addr: "127.0.0.1:" + p["listenPort"], HAAddr: "127.0.0.1:" + p["haListenPort"]}
}

// decodeBodies decodes what REGISTER_BROKER requests register.
func decodeBodies(t *testing.T, cmds ...*protocol.Command) protocol.RegisterBrokerBody {
	t.Helper()
	var all protocol.RegisterBrokerBody
	for _, cmd := range cmds {
		compressed, _ := cmd.Ext.Get("compressed")
		body, err := protocol.DecodeRegisterBrokerBody(cmd.Body, protocol.RegisterBodyOptions{
			Version: cmd.Version, Compressed: compressed == "true"})
		require.NoError(t, err)
		body.Topics = append(all.Topics, body.Topics...)
		all = body
	}
	slices.SortFunc(all.Topics, func(a, b protocol.TopicConfig) int { return strings.Compare(a.TopicName, b.TopicName) })
	return all
}

// The frames that 5.5.0 sent, sent by the registrar in the same situations.
func TestGoldenRegistrationFrames(t *testing.T) {
	for name, steps := range readGoldenSteps(t) {
		t.Run(name, func(t *testing.T) { playGolden(t, name, steps) })
	}
}

func playGolden(t *testing.T, name string, steps []goldenStep) {
	f := startNamesrv(t, "127.0.0.1:0", nil)
	set, member := goldenSettings(steps[0].Properties, f.addr)
	var unmasked []protocol.TopicConfig // what the topics were that brokerPermission masked
	if name == "broker-permission" {
		unmasked = decodeBodies(t, decodeFrame(t, steps[2].Request)).Topics
	}
	var r *testRegistrar
	topics := &fakeTopics{}
	for len(steps) > 0 {
		step, n := steps[0], 1
		if set.Split && r == nil {
			n = 5 // slices
		}
		var want []*protocol.Command
		for _, s := range steps[:n] {
			want = append(want, decodeFrame(t, s.Request))
		}
		steps = steps[n:]
		code := protocol.RequestCode(want[0].Code)
		if step.Response != "" {
			resp := decodeFrame(t, step.Response)
			if name == "compressed-register" { // that it was refused is the fault of compressed=false
				resp = success(protocol.Ext{})
			}
			f.setHandle(func(*protocol.Command) *protocol.Command { return resp })
		}
		before := f.count(code)
		switch code {
		case reqRegister:
			body := decodeBodies(t, want...)
			for i, masked := range body.Topics {
				for _, real := range unmasked {
					if real.TopicName == masked.TopicName {
						body.Topics[i] = real
					}
				}
			}
			permission, _ := goldenSettings(step.Properties, "")
			switch {
			case r == nil:
				topics.set(body)
				r = startRegistrar(t, set, topics, func(r *testRegistrar, _ *registrarConfig) { r.member = member })
			case len(body.Topics) == 1:
				topics.put(body.Topics...)
				topics.setVersion(*body.DataVersion)
				r.topicsChanged(nil)
			default:
				topics.set(body)
				r.change(func(s *registrarSettings) { s.Permission = permission.Permission })
				r.registerSoon(true)
			}
		case reqOneTopic:
			name, _ := want[0].Ext.Get("topic")
			topics.put(plainTopic(name, 6))
			r.topicsChanged(nil)
		case reqQuery:
			version, err := protocol.DecodeDataVersion(want[0].Body, 0)
			require.NoError(t, err)
			topics.setVersion(version)
			if !want[0].IsOneway() {
				r.registerSoon(false)
			}
		case reqUnregister:
			r.stop()
			r.unregisterAll(context.Background())
		}
		soon(t, func() bool { return f.count(code) >= before+n }, step.Phase)
		var got []*protocol.Command
		for _, g := range f.requests(code)[before : before+n] {
			got = append(got, &g.cmd)
		}
		compareGolden(t, step.Phase, want, got)
	}
	require.Equal(t, 1, f.accepted)
}

// set makes the table what a registration said.
func (f *fakeTopics) set(body protocol.RegisterBrokerBody) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.topics = nil
	for _, topic := range body.Topics {
		topic.MapKey = ""
		f.topics = append(f.topics, &topic)
	}
	f.version = *body.DataVersion
}

func (f *fakeTopics) setVersion(v protocol.DataVersion) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version = v
}

// compareGolden compares requests of one code. Of several, slices of one registration, the topics are compared as a whole.
func compareGolden(t *testing.T, phase string, want, got []*protocol.Command) {
	t.Helper()
	for i, g := range got {
		w := want[i]
		require.Equal(t, protocol.LanguageGo, g.Language, phase)
		require.Equal(t, []any{w.Code, w.Version, w.Flag, w.Remark, w.HasRemark, w.Codec},
			[]any{g.Code, g.Version, g.Flag, g.Remark, g.HasRemark, g.Codec}, phase)
		fields := map[string]string{}
		for _, field := range w.Ext {
			fields[field.Key] = field.Value
		}
		if w.Code == int32(reqRegister) {
			fields["bodyCrc32"] = strconv.Itoa(int(protocol.BodyCRC32(g.Body)))
			if isCompressed(w.Body) {
				fields["compressed"] = "true" // the fault of 5.5.0
			}
		}
		for _, field := range g.Ext {
			require.Equal(t, fields[field.Key], field.Value, "%s: %s", phase, field.Key)
			delete(fields, field.Key)
		}
		require.Empty(t, fields, phase)
		if w.Code != int32(reqRegister) {
			require.Equal(t, string(w.Body), string(g.Body), phase)
		}
	}
	if want[0].Code != int32(reqRegister) {
		return
	}
	for _, w := range want {
		if isCompressed(w.Body) {
			w.Ext = append(w.Ext, protocol.Field{Key: "compressed", Value: "true"})
		}
	}
	wantBody, gotBody := decodeBodies(t, want...), decodeBodies(t, got...)
	if len(got) > 1 {
		for _, g := range got {
			require.NotEqual(t, 1, len(decodeBodies(t, g).Topics), "slices of one topic are refused where they come first")
		}
		require.Equal(t, wantBody.Topics, gotBody.Topics)
		require.Equal(t, wantBody.DataVersion, gotBody.DataVersion)
		return
	}
	if gotBody.MappingDataVersion != nil {
		require.InDelta(t, time.Now().UnixMilli(), gotBody.MappingDataVersion.Timestamp, 60_000)
		wantBody.MappingDataVersion.Timestamp = gotBody.MappingDataVersion.Timestamp
	}
	bytes := wantBody.AppendJSON(nil, protocol.FormDefault)
	if isCompressed(want[0].Body) {
		var err error
		bytes, err = wantBody.AppendCompressed(nil, protocol.CurrentVersion)
		require.NoError(t, err)
	}
	require.Equal(t, string(bytes), string(got[0].Body), phase)
}

func isCompressed(body []byte) bool { return len(body) > 0 && body[0] == 0x78 }
