package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/mq-server/mq/conf"
)

// The scripts give the words of the command line to "mq __complete" and offer what it prints; where it prints
// nothing, they offer files.
const completeCommand = "__complete"

var completionScripts = map[string]string{
	"bash": `_mq() {
    local line cur=${COMP_WORDS[COMP_CWORD]}
    [[ $cur == '=' ]] && cur=
    COMPREPLY=()
    while IFS= read -r line; do
        line=${line%%$'\t'*}
        [[ $line == "$cur"* ]] && COMPREPLY+=("$line")
    done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    return 0
}
complete -o default -F _mq mq
`,
	"zsh": `#compdef mq
_mq() {
    local line
    local -a names texts
    while IFS= read -r line; do
        names+=("${line%%$'\t'*}")
        texts+=("${line/$'\t'/  -- }")
    done < <("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    if (( ${#names} )); then
        compadd -S '' -l -d texts -a names
    else
        _files
    fi
}
if [[ $funcstack[1] == _mq ]]; then
    _mq "$@"
else
    compdef _mq mq
fi
`,
	"fish": `function __mq_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] __complete $words[2..] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c mq -f -a '(__mq_complete)'
`,
}

var completionSetup = map[string]string{
	"bash": `echo 'source <(mq completion bash)' >> ~/.bashrc`,
	"zsh":  `echo 'source <(mq completion zsh)' >> ~/.zshrc   # after compinit`,
	"fish": `mq completion fish > ~/.config/fish/completions/mq.fish`,
}

func completionCommand() *cli.Command {
	shells := make([]*cli.Command, 0, len(completionScripts))
	for _, shell := range []string{"bash", "zsh", "fish"} {
		shells = append(shells, &cli.Command{
			Name:        shell,
			Usage:       "for " + shell,
			Description: "To have it in every shell:\n  " + completionSetup[shell],
			Action: func(c *cli.Context) error {
				_, err := io.WriteString(c.App.Writer, completionScripts[shell])
				return err
			},
		})
	}
	return &cli.Command{
		Name:        "completion",
		Usage:       "print a script that lets the shell complete commands, options and keys",
		Description: "To have it in every shell:\n  " + completionSetup["bash"] + "\n  " + completionSetup["zsh"] + "\n  " + completionSetup["fish"],
		Subcommands: shells,
		Action: func(c *cli.Context) error {
			return fmt.Errorf("completion for which shell: bash, zsh or fish?")
		},
	}
}

// candidate is a word that may come next.
type candidate struct{ word, text string }

// printCompletions prints a line "word", a tab, "explanation" for each word that may complete the last of words, which may
// be empty.
func printCompletions(app *cli.App, words []string) {
	for _, c := range completions(app, words) {
		fmt.Fprintf(app.Writer, "%s\t%s\n", c.word, strings.ReplaceAll(c.text, "`", ""))
	}
}

func completions(app *cli.App, words []string) (found []candidate) {
	if len(words) == 0 {
		return nil
	}
	// bash makes three words of --flag=value; zsh and fish leave it one.
	last := len(words) - 1
	cur, prefix := words[last], ""
	before := words[:last]
	switch {
	case cur == "=":
		cur = ""
	case last > 0 && words[last-1] == "=":
		before = words[:last-1]
	case strings.HasPrefix(cur, "-") && strings.Contains(cur, "="):
		flag, value, _ := strings.Cut(cur, "=")
		before, cur, prefix = append(slices.Clone(before), flag), value, flag+"="
	}

	commands, flags := app.Commands, append(slices.Clone(app.Flags), cli.VersionFlag, cli.HelpFlag)
	var asked cli.Flag // the flag whose value comes next
	keys := conf.Keys
	for _, word := range before {
		if asked != nil {
			asked = nil
			continue
		}
		if strings.HasPrefix(word, "-") {
			if f := findFlag(flags, strings.TrimLeft(word, "-")); takesValue(f) {
				asked = f
			}
			continue
		}
		for _, c := range commands {
			if c.HasName(word) {
				commands, flags = c.Subcommands, append(slices.Clone(c.Flags), cli.HelpFlag)
				switch c.Name {
				case brokerName:
					keys = conf.BrokerKeys
				case standaloneName:
					keys = standaloneKeys
				}
				break
			}
		}
	}
	offer := func(word, text string) {
		if strings.HasPrefix(word, cur) {
			found = append(found, candidate{prefix + word, text})
		}
	}
	if asked != nil {
		flagValues(asked, keys, offer)
		return found
	}
	for _, c := range commands {
		if !c.Hidden {
			offer(c.Name, c.Usage)
		}
	}
	if len(commands) == 0 || strings.HasPrefix(cur, "-") {
		for _, f := range flags {
			name := f.Names()[0]
			for _, n := range f.Names() {
				if len(n) > len(name) {
					name = n
				}
			}
			text := ""
			if d, ok := f.(cli.DocGenerationFlag); ok {
				text = d.GetUsage()
			}
			offer("--"+name, text)
		}
	}
	return found
}

// flagValues offers the values that a flag may have, where they are few, and of --set the keys. There are none for
// files.
func flagValues(f cli.Flag, keys func() []conf.Key, offer func(word, text string)) {
	switch f.Names()[0] {
	case "log-level":
		for _, level := range logLevels {
			offer(level, "")
		}
	case "log-format":
		for _, format := range logFormats {
			offer(format, "")
		}
	case "set":
		seen := map[string]bool{}
		for _, k := range keys() {
			if !seen[k.Name] {
				offer(k.Name+"=", k.About)
			}
			seen[k.Name] = true
		}
	}
}
