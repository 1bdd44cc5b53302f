package protocol

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCodeNames(t *testing.T) {
	for code, name := range map[RequestCode]string{
		10: "SEND_MESSAGE", 103: "REGISTER_BROKER", 105: "GET_ROUTEINFO_BY_TOPIC", 206: "GET_ALL_TOPIC_LIST_FROM_NAMESERVER",
		219: "GET_KVLIST_BY_NAMESPACE", 327: "ADD_WRITE_PERM_OF_BROKER", 904: "BROKER_HEARTBEAT", 1012: "CONTROLLER_GET_NEXT_BROKER_ID",
		5001: "SWITCH_TIMER_ENGINE", 200050: "POP_MESSAGE", 200079: "TRIGGER_LITE_DISPATCH", 200151: "BATCH_ACK_MESSAGE",
		9999: "9999", -1: "-1", 0: "0",
	} {
		require.Equal(t, name, code.String())
	}
	for code, name := range map[ResponseCode]string{
		0: "SUCCESS", 1: "SYSTEM_ERROR", 17: "TOPIC_NOT_EXIST", 202: "TRANSACTION_STATE_UNKNOW", 1500: "GO_AWAY", -1006: "RPC_TIME_OUT",
		2018: "LITE_SUBSCRIPTION_QUOTA_EXCEEDED", 5: "5", -1: "-1",
	} {
		require.Equal(t, name, code.String())
	}
}

func TestCodeNamesAreUnique(t *testing.T) {
	name := regexp.MustCompile(`^[A-Z][A-Z0-9_]+$`)
	seen := map[string]bool{}
	for code, text := range requestNames {
		require.Regexp(t, name, text)
		require.False(t, seen[text], "%d", code)
		seen[text] = true
	}
	seen = map[string]bool{}
	for code, text := range responseNames {
		require.Regexp(t, name, text)
		require.False(t, seen[text], "%d", code)
		seen[text] = true
	}
}

func TestLanguageNames(t *testing.T) {
	require.Equal(t, "GO", LanguageGo.String())
	require.Equal(t, "NODE_JS", LanguageNodeJS.String())
	require.Equal(t, "255", LanguageUnknown.String())
	for i, text := range languageNames {
		require.Equal(t, Language(i), languageNamed(text))
		require.Equal(t, Language(i), languageOf(byte(i)))
	}
	require.Equal(t, LanguageNodeJS, languageNamed("node_js"))
	require.Equal(t, LanguageUnknown, languageNamed("COBOL"))
	require.Equal(t, LanguageUnknown, languageOf(14))
}
