package namesrv_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// judge compares what came of a step with the recording and reports the differences.
func (p *player) judge(st *step, ob *observed) {
	differ := func(format string, args ...any) {
		note := fmt.Sprintf("step %d %s %s", st.N, st.Action, st.Note)
		if st.Better != "" {
			note += " [" + st.Fault + ": " + st.Better + "]"
		}
		p.report = append(p.report, strings.TrimSpace(note)+": "+fmt.Sprintf(format, args...))
	}
	if st.Outcome != ob.outcome {
		differ("outcome %q, want %q", ob.outcome, st.Outcome)
	}
	if st.Response != nil && ob.frame != nil {
		p.judgeFrame(st, st.Response, p.incoming(ob.frame), differ)
	}
	if st.Action == "expect" && len(st.Frames) != len(ob.frames) {
		differ("%d notifications, want %d", len(ob.frames), len(st.Frames))
	} else {
		for i, f := range ob.frames {
			p.judgeFrame(st, st.Frames[i], p.incoming(f), differ)
		}
	}
	if st.Content != nil {
		equal(st, "file", *st.Content, masked(st.Mask, inText, ob.content), differ)
	}
	if st.Until != nil && st.Until.Unmet != ob.unmet {
		differ("the until condition came true: %t", !ob.unmet)
	}
	for _, f := range ob.stray {
		differ("a frame nothing waits for: %.200q", f.raw)
	}
}

// judgeFrame compares header and body. A request with a binary header may be answered with one where Java uses JSON; the
// fields count then.
func (p *player) judgeFrame(st *step, want, got *frame, differ func(string, ...any)) {
	h := got.readHeader()
	for _, text := range st.remark {
		if !strings.Contains(h.Remark, text) {
			differ("remark %q lacks %q", h.Remark, text)
		}
	}
	switch {
	case want.codec == got.codec:
		equal(st, "header", headerText(st, want.Header), headerText(st, masked(st.Mask, inHeader, got.Header)), differ)
	case st.Request != nil && st.Request.codec == got.codec:
		equal(st, "header fields", fieldText(st, want.readHeader()), fieldText(st, h), differ)
	default:
		differ("header codec %d, want %d", got.codec, want.codec)
	}
	equal(st, "body", want.Body, masked(st.Mask, inText, got.Body), differ)
}

var (
	languageMember = regexp.MustCompile(`"language":"[^"]*"`)
	versionMember  = regexp.MustCompile(`"version":-?\d+\}$`)
	remarkMember   = regexp.MustCompile(`"remark":"(?:[^"\\]|\\.)+"`)
)

// headerText is a header without the sender's language and version, and without a remark that is judged by its parts.
func headerText(st *step, h string) string {
	h = languageMember.ReplaceAllLiteralString(h, `"language":""`)
	h = versionMember.ReplaceAllLiteralString(h, `"version":0}`)
	if st.remark != nil {
		h = remarkMember.ReplaceAllLiteralString(h, `"remark":"*"`)
	}
	return h
}

// fieldText shows what a header says, whatever its codec. The binary form has no empty texts and maps: they count as absent.
func fieldText(st *step, h header) string {
	if h.Remark != "" && (slices.Contains(st.Mask, "remark") || st.remark != nil) {
		h.Remark = "*"
	}
	var ext []string
	for _, k := range slices.Sorted(maps.Keys(h.ExtFields)) {
		ext = append(ext, fmt.Sprintf("%q=%q", k, h.ExtFields[k]))
	}
	return fmt.Sprintf("code=%d opaque=%d flag=%d remark=%q ext=%v", h.Code, h.Opaque, h.Flag, h.Remark, ext)
}

const (
	inHeader = true
	inText   = false
)

// The recording has the masks' placeholders already; what comes is masked before comparing.
var masks = []struct {
	name   string
	header bool // in the header, else in bodies and files
	what   *regexp.Regexp
	by     string
}{
	{"remark", inHeader, remarkMember, `"remark":"{{EXCEPTION}}"`},
	{"opaque", inHeader, regexp.MustCompile(`"opaque":-?\d+`), `"opaque":{{OPAQUE}}`},
	{"timestamp", inText, regexp.MustCompile(`"timestamp":\d+`), `"timestamp":{{TIMESTAMP}}`},
	{"paths", inText, regexp.MustCompile(`(?m)^(rocketmqHome|kvConfigPath|configStorePath)=.*$`), `$1={{PATH}}`},
	{"listenPort", inText, regexp.MustCompile(`(?m)^listenPort=\d+$`), `listenPort={{PORT}}`},
	{"brokerAddr", inText, regexp.MustCompile(`"brokerAddr":"[^"]*"`), `"brokerAddr":"{{ANY_BROKER_ADDR}}"`},
}

func masked(names []string, header bool, s string) string {
	for _, m := range masks {
		if m.header == header && slices.Contains(names, m.name) {
			s = m.what.ReplaceAllString(s, m.by)
		}
	}
	return s
}

// equal compares two texts, by value where the order is that of a hash table.
func equal(st *step, what, want, got string, differ func(string, ...any)) {
	if st.Unordered {
		want, got = sortedText(want), sortedText(got)
	}
	if want == got {
		return
	}
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	around := func(s string) string { return s[max(0, at-80):min(len(s), at+160)] }
	differ("%s differs at byte %d\n\twant %q\n\tgot  %q", what, at, around(want), around(got))
}

// sortedText brings a text into an order of its own: the members and elements of JSON, in the spelling they have, else the lines.
func sortedText(s string) string {
	p := dialect{s: s}
	if s, err := p.value(); err == nil && p.i == len(p.s) && s != "" && strings.ContainsRune("{[", rune(s[0])) {
		return s
	}
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// dialect reads the JSON of Java peers, where a member's name may be bare, and writes it with everything sorted.
type dialect struct {
	s string
	i int
}

var errDialect = errors.New("not JSON")

var dialectScalar = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|\{\{[A-Z_]+\}\}|[^\s,:{}\[\]"]+)`)

func (p *dialect) skip(c byte) bool {
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *dialect) scalar() (string, error) {
	m := dialectScalar.FindString(p.s[p.i:])
	p.i += len(m)
	if m == "" {
		return "", errDialect
	}
	return m, nil
}

func (p *dialect) value() (string, error) {
	switch rest := p.s[p.i:]; {
	case strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, "{{"):
		return p.list('}', func() (string, error) {
			name, err := p.scalar()
			if err != nil || !p.skip(':') {
				return "", errDialect
			}
			v, err := p.value()
			return name + ":" + v, err
		})
	case strings.HasPrefix(rest, "["):
		return p.list(']', p.value)
	}
	return p.scalar()
}

// list reads items up to the closing bracket.
func (p *dialect) list(end byte, item func() (string, error)) (string, error) {
	begin := p.s[p.i]
	p.i++
	var items []string
	for !p.skip(end) {
		if len(items) > 0 && !p.skip(',') {
			return "", errDialect
		}
		s, err := item()
		if err != nil {
			return "", err
		}
		items = append(items, s)
	}
	slices.Sort(items)
	return string(begin) + strings.Join(items, ",") + string(end), nil
}
