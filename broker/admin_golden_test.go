package broker_test

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

// adminStep is a line of testdata/admin.
type adminStep struct {
	Scenario, Conn    string
	Step              int
	Code              protocol.RequestCode
	Request, Response string
}

func readAdminSteps(t *testing.T) (scenarios [][]adminStep) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "admin", "frames.jsonl.gz"))
	require.NoError(t, err)
	defer file.Close()
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	for d := json.NewDecoder(z); d.More(); {
		var s adminStep
		require.NoError(t, d.Decode(&s))
		if last := len(scenarios) - 1; last < 0 || scenarios[last][0].Scenario != s.Scenario {
			scenarios = append(scenarios, nil)
		}
		scenarios[len(scenarios)-1] = append(scenarios[len(scenarios)-1], s)
	}
	return scenarios
}

func frame(t *testing.T, text string) *protocol.Command {
	t.Helper()
	data, err := hex.DecodeString(text)
	require.NoError(t, err)
	cmd, err := protocol.DecodeCommand(data[4:])
	require.NoError(t, err)
	return &cmd
}

// adminMasks are what differs from run to run.
var adminMasks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`("(?:clientAddr|remoteIP)":"/?127\.0\.0\.1):\d+"`), `$1:0"`},
	{regexp.MustCompile(`"lastUpdateTimestamp":\d+`), `"lastUpdateTimestamp":0`},
}

// adminBetter are the answers that are right where the original's are not, or are 5.5.0's where 4.9.7 had another one.
var adminBetter = map[string]struct {
	code   protocol.ResponseCode
	remark string
}{
	"admin-5.5.0/131": {code: protocol.RespSuccess}, // the topic was deleted, but the answer spoke of a timer
	"admin-4.9.7/34":  {protocol.RespInvalidParameter, "The topic[SELF_TEST_TOPIC] is conflict with system topic."},
	"admin-4.9.7/126": {protocol.RespNoPermission, "Can not update config in black list."},
}

// What mqadmin and clients were answered by Java brokers, asked again. There are no groups that are known by their offsets here.
func TestGoldenAdmin(t *testing.T) {
	for _, steps := range readAdminSteps(t) {
		t.Run(steps[0].Scenario, func(t *testing.T) {
			b := startBroker(t)
			b.Admin().must(protocol.ReqUpdateAndCreateTopic, topicFields("ClientTasks", "readQueueNums", "2", "writeQueueNums", "2"), "")
			conns := map[string]*client{}
			for _, step := range steps {
				conn := conns[step.Conn]
				if conn == nil {
					conn = b.dial()
					conns[step.Conn] = conn
				}
				request, want := frame(t, step.Request), frame(t, step.Response)
				conn.write(request)
				if step.Code == protocol.ReqGetConsumerRunningInfo {
					relay(t, conns["c2"], request, want)
				}
				got := conn.answer(request.Opaque)
				compareAdmin(t, step, want, got)
			}
		})
	}
}

// relay answers, as the consumer, what the broker passes on.
func relay(t *testing.T, consumer *client, request, answer *protocol.Command) {
	t.Helper()
	forwarded := consumer.request()
	for forwarded.Code == int32(protocol.ReqNotifyConsumerIDsChanged) {
		forwarded = consumer.request()
	}
	require.Equal(t, request.Code, forwarded.Code)
	require.ElementsMatch(t, request.Ext, forwarded.Ext)
	consumer.write(&protocol.Command{
		Code: answer.Code, Opaque: forwarded.Opaque, Flag: protocol.FlagResponse, Remark: answer.Remark, HasRemark: answer.HasRemark,
		Body: answer.Body,
	})
}

func compareAdmin(t *testing.T, step adminStep, want, got *protocol.Command) {
	t.Helper()
	name := fmt.Sprintf("step %d %v", step.Step, step.Code)
	if better, ok := adminBetter[step.Scenario+"/"+strconv.Itoa(step.Step)]; ok {
		require.Equal(t, int32(better.code), got.Code, name)
		require.Equal(t, better.remark, got.Remark, name)
		return
	}
	require.Equal(t, want.Code, got.Code, "%s: %s", name, got.Remark)
	require.Equal(t, want.Remark, got.Remark, name)
	require.Equal(t, want.HasRemark, got.HasRemark, name)
	wantExt := want.Ext
	if step.Code == protocol.ReqHeartBeat && len(wantExt) == 0 { // 4.9.7 has no heartbeat V2
		wantExt = ext("IS_SUPPORT_HEART_BEAT_V2", "true", "IS_SUB_CHANGE", "true")
	}
	require.ElementsMatch(t, wantExt, got.Ext, name)
	require.Equal(t, want.Ext == nil && step.Code != protocol.ReqHeartBeat, got.Ext == nil, name)
	if len(want.Body) == 0 {
		require.Empty(t, got.Body, name)
		return
	}
	if step.Code == protocol.ReqGetConsumerRunningInfo { // not strict JSON, passed on as it is
		require.Equal(t, string(want.Body), string(got.Body))
		return
	}
	wantBody, gotBody := adminBody(t, want.Body), adminBody(t, got.Body)
	switch step.Code {
	case protocol.ReqGetBrokerRuntimeInfo:
		for key := range wantBody["table"].(map[string]any) {
			if !strings.HasPrefix(key, "scheduleMessageOffset_") && !strings.HasPrefix(key, "commitLogDiskRatio_") {
				require.Contains(t, gotBody["table"], key, name)
			}
		}
	case protocol.ReqQueryTopicConsumeByWho:
		require.Equal(t, map[string]any{"groupList": []any{"GID_client_online"}}, gotBody, name)
	default:
		require.Equal(t, wantBody, gotBody, name)
	}
}

// adminBody is a body with masks, and without the order of lists that have none.
func adminBody(t *testing.T, body []byte) map[string]any {
	t.Helper()
	text := string(body)
	for _, m := range adminMasks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	sortLists(v)
	return v
}

func sortLists(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			sortLists(member)
		}
	case []any:
		for _, element := range v {
			sortLists(element)
		}
		slices.SortFunc(v, func(a, b any) int {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			return strings.Compare(string(x), string(y))
		})
	}
}
