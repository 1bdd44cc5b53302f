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

const (
	docsFile = "../docs/configuration.md"
	begin    = "<!-- begin -->\n"
	end      = "<!-- end -->\n"
)

// TestDocumentation compares the tables of docs/configuration.md with the table of keys.
func TestDocumentation(t *testing.T) {
	data, err := os.ReadFile(docsFile)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(data), begin)
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	want := before + begin + documentation() + end + after
	if *update {
		require.NoError(t, os.WriteFile(docsFile, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(data), "run go test ./conf -run TestDocumentation -update")
}

func documentation() string {
	var b strings.Builder
	group := Group("")
	for _, k := range Keys() {
		if k.Group != group {
			group = k.Group
			fmt.Fprintf(&b, "\n### %s\n\n| Key | Type | Default | Changed | Meaning |\n|---|---|---|---|---|\n", group)
		}
		value := "–"
		switch {
		case k.Name == "clientCallbackExecutorThreads":
			value = "processors"
		case !k.Unset:
			value = "`" + k.Default + "`"
		}
		changed := "at start"
		switch {
		case k.NoEffect:
			changed = "no effect"
		case k.Live:
			changed = "**at once**"
		}
		kind := k.Type()
		switch {
		case k.Allowed != nil:
			kind = "`" + strings.Join(k.Allowed, "`, `") + "`"
		case kind == "int" && (k.Min != math.MinInt32 || k.Max != math.MaxInt32), kind == "long" && k.Min != math.MinInt64:
			kind += fmt.Sprintf(" ≥ %d", k.Min)
			if k.Max < math.MaxInt32 {
				kind += fmt.Sprintf(", ≤ %d", k.Max)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Name, kind, value, changed, k.About)
	}
	b.WriteString("\n")
	return b.String()
}

// TestSample loads the sample file: as it is, and with the settings that it shows as comments. The latter are the
// defaults, apart from paths.
func TestSample(t *testing.T) {
	data, err := os.ReadFile("namesrv.properties")
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
	s := mustLoad(t, strings.Join(shown, ""))
	require.Empty(t, s.notes)
	require.Greater(t, len(shown), 10)
	for _, text := range shown {
		key, value, _ := strings.Cut(strings.TrimSpace(text), "=")
		k := byName[key]
		require.NotNil(t, k, key)
		if !strings.HasSuffix(key, "Path") {
			require.Equal(t, k.Default, value, key)
		}
	}
}
