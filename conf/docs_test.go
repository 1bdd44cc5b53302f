package conf

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the tables of docs/configuration.md")

const docsFile = "../docs/configuration.md"

// TestDocumentation compares the tables of docs/configuration.md with the tables of keys.
func TestDocumentation(t *testing.T) {
	data, err := os.ReadFile(docsFile)
	require.NoError(t, err)
	text := string(data)
	for name, tables := range map[string]string{
		"namesrv": documentation(Keys(), GroupNamesrv, GroupServer, GroupClient, GroupTLS),
		"broker":  documentation(BrokerKeys(), GroupBroker, GroupStore),
	} {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->\n"
		before, rest, ok := strings.Cut(text, begin)
		require.True(t, ok)
		_, after, ok := strings.Cut(rest, end)
		require.True(t, ok)
		text = before + begin + tables + end + after
	}
	if *update {
		require.NoError(t, os.WriteFile(docsFile, []byte(text), 0o644))
		return
	}
	require.Equal(t, text, string(data), "run go test ./conf -run TestDocumentation -update")
}

func documentation(keys []Key, groups ...Group) string {
	var b strings.Builder
	for _, group := range groups {
		fmt.Fprintf(&b, "\n### %s\n\n| Key | Type | Default | Changed | Meaning |\n|---|---|---|---|---|\n", group)
		var others []string
		for _, k := range keys {
			switch {
			case k.Group != group:
			case k.NoEffect && k.About == "":
				others = append(others, "`"+k.Name+"`")
			default:
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Name, typeOf(k), defaultOf(k), changed(k), k.About)
			}
		}
		if others != nil {
			fmt.Fprintf(&b, "\nNo effect: %s.\n", strings.Join(others, ", "))
		}
	}
	b.WriteString("\n")
	return b.String()
}

func typeOf(k Key) string {
	kind := k.Type()
	switch {
	case len(k.Allowed) == 1 && k.Allowed[0] == "":
		kind = "empty"
	case k.Allowed != nil:
		kind = "`" + strings.Join(k.Allowed, "`, `") + "`"
	case kind == "int" && (k.Min != math.MinInt32 || k.Max != math.MaxInt32), kind == "long" && k.Min != math.MinInt64:
		if k.Min != math.MinInt32 {
			kind += fmt.Sprintf(" ≥ %d", k.Min)
		}
		if k.Max < math.MaxInt32 {
			kind += fmt.Sprintf(", ≤ %d", k.Max)
		}
	}
	return kind
}

// computedDefaults are those that depend on the number N of processors.
var computedDefaults = map[string]string{
	"clientCallbackExecutorThreads": "processors", "sendMessageThreadPoolNums": "N, at most 4", "pullMessageThreadPoolNums": "16+2N",
	"litePullMessageThreadPoolNums": "16+2N", "processReplyMessageThreadPoolNums": "16+2N", "queryMessageThreadPoolNums": "8+N",
	"heartbeatThreadPoolNums": "N, at most 32", "endTransactionThreadPoolNums": "8+2N, at least 4N for N ≤ 4",
}

func defaultOf(k Key) string {
	switch {
	case computedDefaults[k.Name] != "":
		return computedDefaults[k.Name]
	case k.Unset || k.Default == "":
		return "–"
	default:
		return "`" + k.Default + "`"
	}
}

func changed(k Key) string {
	switch {
	case k.NoEffect:
		return "no effect"
	case k.Live:
		return "**at once**"
	default:
		return "at start"
	}
}

// TestSamples loads the sample files: as they are, and with the settings that they show as comments. The latter are
// the defaults, apart from paths and what has none.
func TestSamples(t *testing.T) {
	for name, schema := range map[string]*schema{"namesrv.properties": namesrvSchema, "broker.conf": brokerSchema} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		props, err := ParseProperties(string(data))
		require.NoError(t, err)
		require.Empty(t, props)
		var shown []string
		for line := range strings.Lines(string(data)) {
			if text, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(text, " ") {
				shown = append(shown, text)
			}
		}
		s, err := schema.load(Sources{File: write(t, strings.Join(shown, "")), Environ: []string{"HOME=" + t.TempDir()}})
		require.NoError(t, err)
		require.Empty(t, s.notes)
		require.Greater(t, len(shown), 10)
		for _, text := range shown {
			key, value, _ := strings.Cut(strings.TrimSpace(text), "=")
			k := schema.byName[key]
			require.NotNil(t, k, key)
			if !strings.Contains(key, "Path") && !k.Unset {
				require.Equal(t, k.Default, value, key)
			}
		}
	}
}
