package conf

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func latin1(s string) string {
	runes := make([]rune, 0, len(s))
	for _, b := range []byte(s) {
		runes = append(runes, rune(b))
	}
	return string(runes)
}

// TestPropertiesLikeJava compares with what java.util.Properties made of some hundred texts.
func TestPropertiesLikeJava(t *testing.T) {
	f, err := os.Open("testdata/properties-java17.txt")
	require.NoError(t, err)
	defer f.Close()
	texts := 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		texts++
		var fields []string // the text, then keys and values; "error" stays unquoted
		for rest := line; rest != ""; {
			rest = strings.TrimPrefix(rest, " ")
			if rest == "error" {
				fields, rest = append(fields, rest), ""
				continue
			}
			quoted, err := strconv.QuotedPrefix(rest)
			require.NoError(t, err, line)
			field, err := strconv.Unquote(quoted)
			require.NoError(t, err, line)
			fields, rest = append(fields, field), rest[len(quoted):]
		}
		props, err := ParseProperties(latin1(fields[0]))
		if strings.HasSuffix(line, " error") {
			var syntax *SyntaxError
			require.ErrorAs(t, err, &syntax, line)
			continue
		}
		require.NoError(t, err, line)
		slices.SortFunc(props, func(a, b Property) int { return strings.Compare(a.Key, b.Key) })
		got := []string{}
		for _, p := range props {
			got = append(got, p.Key, p.Value)
		}
		require.Equal(t, fields[1:], got, "%q", fields[0])
	}
	require.NoError(t, lines.Err())
	require.Greater(t, texts, 200)
}

func TestPropertiesLines(t *testing.T) {
	props, err := ParseProperties("# first\r\na=1\\\r\n  2\r\n\n!\rb : 3\rc\na=4\n")
	require.NoError(t, err)
	require.Equal(t, []Property{
		{Key: "a", Value: "4", Line: 8, Shadowed: 2},
		{Key: "b", Value: "3", Line: 6},
		{Key: "c", Value: "", Line: 7},
	}, props)

	_, err = ParseProperties("a=1\n# \\u00zz\n\nb=\\\n\\u00zz\n")
	var syntax *SyntaxError
	require.ErrorAs(t, err, &syntax)
	require.Equal(t, 4, syntax.Line)
}

func TestDecodeText(t *testing.T) {
	for name, row := range map[string]struct{ data, want string }{
		"ASCII":                         {"a=b", "a=b"},
		"UTF-8":                         {"a=é中", "a=é中"},
		"UTF-8 with a byte order mark":  {"\xef\xbb\xbfa=é", "a=é"},
		"ISO-8859-1":                    {"a=\xe9", "a=é"},
		"ISO-8859-1, like a mark alone": {"a=\xef\xbb", "a=ï»"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, row.want, DecodeText([]byte(row.data))) })
	}
}

func TestAppendProperty(t *testing.T) {
	for _, row := range []struct{ key, value, want string }{
		{"productEnvName", `a\b`, `productEnvName=a\\b`},
		{"k", "x\nkvConfigPath=/elsewhere", `k=x\nkvConfigPath=/elsewhere`},
		{"k", "  two", `k=\  two`},
		{"k", "two  ", `k=two  `},
		{"k", "中é\U0001f600", `k=\u4E2D\u00E9\uD83D\uDE00`},
		{"a b:c=#!d", "", `a\ b\:c\=\#\!d=`},
		{"", "", "="},
	} {
		require.Equal(t, row.want+"\n", string(AppendProperty(nil, row.key, row.value)))
	}
}

// readsBack checks that what is written for key and value is read back equal, in either encoding.
func readsBack(t require.TestingT, key, value string) {
	line := AppendProperty([]byte("#\n"), key, value)
	for _, text := range []string{DecodeText(line), latin1(string(line))} {
		props, err := ParseProperties(text)
		require.NoError(t, err)
		require.Equal(t, []Property{{Key: key, Value: value, Line: 2}}, props)
	}
}

func TestPropertiesReadBack(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune(" \t\f\r\n\\=:#!uaé中\U0001f600\x00\x7f")), 0, 12, -1))
	rapid.Check(t, func(t *rapid.T) {
		readsBack(t, text.Draw(t, "key"), text.Draw(t, "value"))
	})
}

func FuzzProperties(f *testing.F) {
	for _, seed := range []string{
		"", "a=b", " a : b ", "a\\\n  b", "\\", "\\\r\n", "# \\u00zz\nx=\\u4e2d\\n", "a=\\ud83d\\ude00\\ud83d", "\xef\xbb\xbfa=\xe9", "a\xff=b",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		props, err := ParseProperties(DecodeText(data))
		if err != nil {
			return
		}
		var written []byte
		for _, p := range props {
			readsBack(t, p.Key, p.Value)
			written = AppendProperty(written, p.Key, p.Value)
		}
		again, err := ParseProperties(DecodeText(written))
		require.NoError(t, err)
		require.Len(t, again, len(props))
		for i, p := range again {
			require.Equal(t, props[i].Key, p.Key)
			require.Equal(t, props[i].Value, p.Value)
			require.Equal(t, i+1, p.Line)
		}
	})
}
