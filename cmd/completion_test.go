package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompletions(t *testing.T) {
	app := newApp(nil, nil)
	for _, row := range []struct {
		line string // words, the last one to be completed
		want []string
	}{
		{"n", []string{"namesrv"}},
		{"b", []string{"broker", "bench"}},
		{"broker --print", []string{"--printConfigItem", "--printImportantConfig"}},
		{"broker --set brokerI", []string{"brokerId=", "brokerIP1=", "brokerIP2="}},
		{"standalone --set listen", nil},
		{"standalone --set brokerN", []string{"brokerName=", "brokerNotActiveTimeoutMillis="}},
		{"completion ", []string{"bash", "zsh", "fish"}},
		{"namesrv --c", []string{"--configFile"}},
		{"namesrv --log-level d", []string{"debug", "disabled"}},
		{"namesrv --log-level=d", []string{"--log-level=debug", "--log-level=disabled"}},
		{"namesrv --log-format = j", []string{"json"}},
		{"namesrv --set listen", []string{"listenPort="}},
		{"namesrv --set listenPort=1 -p --set tls.config", []string{"tls.config.file="}},
		{"namesrv -c ", nil},
		{"namesrv -c file --print", []string{"--printConfigItem"}},
		{"namesrv --nothing", nil},
	} {
		var got []string
		for _, c := range completions(app, strings.Split(row.line, " ")) {
			got = append(got, c.word)
		}
		require.Equal(t, row.want, got, row.line)
	}
}

// inShell gives a line of shell text to a shell that can run the program.
func inShell(t *testing.T, shell, script string) string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("there is no %s here", shell)
	}
	c := exec.CommandContext(t.Context(), path, "-c", script)
	c.Dir = t.TempDir()
	c.Env = []string{"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH"), "HOME=" + c.Dir, "TERM=dumb"}
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

func TestBashCompletion(t *testing.T) {
	for words, want := range map[string]string{
		"mq na":                           "namesrv",
		"mq namesrv --print":              "--printConfigItem",
		"mq namesrv --log-level wa":       "warn",
		"mq namesrv --set tls.server.mod": "tls.server.mode=",
		"mq completion fi":                "fish",
		"mq namesrv -c ''":                "",
	} {
		got := inShell(t, "bash", `source <(mq completion bash); compopt() { :; }
			COMP_WORDS=(`+words+`); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mq; echo "${COMPREPLY[@]}"`)
		require.Equal(t, want, got, words)
	}
	require.Contains(t, inShell(t, "bash", "source <(mq completion bash); complete -p mq"), "-F _mq mq")
}

func TestFishCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"mq na":                          "namesrv\trun a NameServer",
		"mq namesrv --log-format j":      "json",
		"mq namesrv --set waitSecondsFo": "waitSecondsForService=\tseconds of warm-up, counted from the start",
	} {
		require.Equal(t, want, inShell(t, "fish", "mq completion fish | source; complete -C '"+line+"'"), line)
	}
}

func TestZshCompletion(t *testing.T) {
	got := inShell(t, "zsh", `autoload -Uz compinit && compinit -u -D; source <(mq completion zsh); echo ${_comps[mq]}
		compadd() { print -r -- ${names} }; _files() { print files }
		words=(mq namesrv --log-level d); CURRENT=4; _mq; words=(mq namesrv -c ''); CURRENT=4; _mq`)
	require.Equal(t, "_mq\ndebug disabled\nfiles", got)
}
