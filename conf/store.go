package conf

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
)

// What Update answers with, besides *ValueError and errors of the file. The texts are those of the original
// (spec/namesrv.md §11.1).
var (
	ErrParse     = errors.New("string2Properties error")
	ErrBlackList = errors.New("Can not update config in black list.") //nolint:staticcheck // the text is frozen
)

// Mask stands for the value of a secret wherever configuration is shown.
const Mask = "******"

// Store holds the configuration of a running NameServer: what handlers read, what GET_NAMESRV_CONFIG shows and
// what UPDATE_NAMESRV_CONFIG changes. It is safe for concurrent use; reading never waits.
type Store struct {
	log       zerolog.Logger
	path      string          // where updates go
	notes     []note          // for LogNotes
	forbidden map[string]bool // canonical names in lower case; fixed at the start
	state     atomic.Pointer[state]

	// mu lets one update happen at a time, its file included: the next one builds on what is kept.
	// No reader takes it.
	mu     sync.Mutex
	base   map[string]string // what is kept in the file; guarded by mu
	over   map[string]string // what wins over it for this run; guarded by mu
	pinned map[string]string // who puts keys into over at each start; guarded by mu
}

// state is the configuration between two updates.
type state struct {
	config Config
	values map[string]string // every key that has a value
	text   string            // the answer to GET_NAMESRV_CONFIG
}

func newStore(path string, base, over map[string]string, l *loader) *Store {
	s := &Store{
		log: l.src.Log, path: path, notes: l.notes,
		base: base, over: over, pinned: l.pinned,
	}
	s.state.Store(newState(base, over))
	s.forbidden = map[string]bool{}
	listed := strings.Split(s.state.Load().config.Namesrv.ConfigBlackList, ";")
	for _, key := range append(listed, keyConfigBlackList, keyConfigStorePath, keyKVConfigPath, keyRocketmqHome) {
		if key = strings.ToLower(canonical(key)); key != "" {
			s.forbidden[key] = true
		}
	}
	return s
}

func newState(base, over map[string]string) *state {
	st := &state{values: maps.Clone(base)}
	maps.Copy(st.values, over)
	st.text = shownText(st.values, base)
	for i := range keys {
		k := &keys[i]
		text, ok := st.values[k.Name]
		if !ok && k.Unset {
			continue
		}
		if !ok {
			text = k.Default
		}
		value, _ := k.normalize(text) // checked before it got here
		st.values[k.Name] = value
		k.set(&st.config, value)
	}
	if _, ok := st.values[keyUseTLS]; !ok { // spec/remoting.md §7.7
		_, said := st.values[keyTLSEnable]
		st.config.Client.UseTLS = st.config.TLS.Enable || !said && st.config.TLS.ServerMode == "enforcing"
		st.values[keyUseTLS] = strconv.FormatBool(st.config.Client.UseTLS)
	}
	st.values[keyTLSEnable] = strconv.FormatBool(st.config.TLS.Enable)
	return st
}

// Snapshot returns the configuration as it is now. It must not be changed. Only keys that Keys marks as live
// mean something after the start; the others show what the next start may use.
func (s *Store) Snapshot() *Config { return &s.state.Load().config }

// Namesrv is the NameServer's part of Snapshot.
func (s *Store) Namesrv() *NamesrvConfig { return &s.Snapshot().Namesrv }

// Server is the listening side's part of Snapshot.
func (s *Store) Server() *NettyServerConfig { return &s.Snapshot().Server }

// Text is the configuration as GET_NAMESRV_CONFIG (319) shows it: lines "key=value", sorted, with the keys of
// NamesrvConfig and NettyServerConfig that have a value and all others that the file has. Nothing is escaped but
// line breaks, secrets are masked.
func (s *Store) Text() string { return s.state.Load().text }

// Print writes every item with the value that it has, as -p does: lines "key=value" in the order of Keys, secrets
// masked, nothing behind the = of what has no value.
func (s *Store) Print(w io.Writer) error {
	values := s.state.Load().values
	var b strings.Builder
	for i := range keys {
		writeShown(&b, keys[i].Name, values[keys[i].Name])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// LogNotes writes what Load found odd to the log, once.
func (s *Store) LogNotes() {
	s.mu.Lock()
	notes := s.notes
	s.notes = nil
	s.mu.Unlock()
	for _, n := range notes {
		s.log.WithLevel(n.level).Strs(n.field, n.value).Msg(n.text)
	}
}

// SetListenPort tells the port that listenPort=0 came to, for Text and Snapshot. What is kept stays 0.
func (s *Store) SetListenPort(port int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over[keyListenPort] = strconv.Itoa(port)
	s.state.Store(newState(s.base, s.over))
}

// Update changes the configuration as UPDATE_NAMESRV_CONFIG (318) asks: body is a properties text in UTF-8. It is
// parsed first, judged second, and then applied whole or not at all; when Update returns nil, all of it is in
// force (live keys) or will be after the next start, and is durable.
//
// Unknown keys are dropped, unless they come from the file. Errors, with nothing changed: ErrParse; ErrBlackList
// for keys that are forbidden, however written; *ValueError; others when the file cannot be written.
// Sources: spec/namesrv.md §11.1, §14 F17 and F19.
func (s *Store) Update(body []byte) error {
	text := string([]rune(string(body))) // each byte that is not UTF-8 becomes U+FFFD
	props, err := ParseProperties(strings.TrimPrefix(text, utf8BOM))
	if err != nil {
		return ErrParse
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range props {
		if s.isForbidden(p.Key) {
			return ErrBlackList
		}
	}
	changed := map[string]string{}
	for _, p := range props {
		if value, ok, err := s.judge(p); err != nil {
			return err
		} else if ok {
			changed[p.Key] = value
		}
	}
	if len(changed) == 0 {
		return nil
	}
	base, over := maps.Clone(s.base), maps.Clone(s.over)
	maps.Copy(base, changed)
	for key := range changed {
		delete(over, key)
	}
	err = ReplaceFile(s.path, keptText(base))
	if errors.Is(err, ErrBackup) {
		s.log.Warn().Err(err).Str("file", s.path).Msg("configuration file has no backup")
	} else if err != nil {
		return fmt.Errorf("configuration cannot be kept: %w", err)
	}
	s.base, s.over = base, over
	s.state.Store(newState(base, over))
	s.logUpdate(changed)
	return nil
}

// judge returns the value to keep for a property of an update; ok is false if it is to be dropped.
func (s *Store) judge(p Property) (value string, ok bool, err error) {
	k := byName[p.Key]
	if _, known := s.base[p.Key]; !known && (k == nil || k.Group == GroupClient || k.Group == GroupTLS) {
		return "", false, nil
	}
	if p.Value == Mask && isSecret(p.Key, s.base[p.Key]) {
		return "", false, nil // somebody sends back what was shown
	}
	if k == nil { // one of the file's own
		if strings.ContainsAny(p.Value, "\r\n\x00") {
			k := Key{Name: p.Key, Secret: isSecret(p.Key, p.Value), field: func(c *Config) any { return new(string) }}
			return "", false, newValueError("", &k, p.Value)
		}
		return p.Value, true, nil
	}
	value, ok = k.normalize(p.Value)
	if !ok {
		return "", false, newValueError("", k, p.Value)
	}
	return value, true, nil
}

// isForbidden reports whether an update may not touch key. The original compares exactly; a key in another case
// is unknown to both, and dropped. Beyond it, blanks around a key or its setter's name do not hide it, and
// neither are TLS settings changed by anonymous requests.
func (s *Store) isForbidden(key string) bool {
	name := canonical(key)
	_, known := s.base[name]
	_, given := s.base[key]
	if strings.HasPrefix(strings.ToLower(name), tlsPrefix) {
		return known || given
	}
	lower := strings.ToLower(name)
	return s.forbidden[lower] && (known || given || byName[name] != nil || !byLowerName[lower])
}

// byLowerName has the known keys in lower case.
var byLowerName = func() map[string]bool {
	m := make(map[string]bool, len(byName))
	for name := range byName {
		m[strings.ToLower(name)] = true
	}
	return m
}()

// canonical undoes the ways of writing a key that do not name another one: blanks around it, and the name of
// its setter in the original, setXyz for xyz.
func canonical(key string) string {
	key = strings.TrimSpace(key)
	if rest, ok := strings.CutPrefix(key, "set"); ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
		return strings.ToLower(rest[:1]) + rest[1:]
	}
	return key
}

func (s *Store) logUpdate(changed map[string]string) {
	names := slices.Sorted(maps.Keys(changed))
	var waiting []string
	for _, name := range names {
		if k := byName[name]; k != nil && !k.Live && !k.NoEffect {
			waiting = append(waiting, name)
		}
		if by, ok := s.pinned[name]; ok {
			s.log.Warn().Str("key", name).Str("by", by).Msg("configuration update holds until the next start, which sets the key otherwise")
		}
	}
	event := s.log.Info().Strs("keys", names).Str("file", s.path)
	if waiting != nil {
		event = event.Strs("atNextStart", waiting)
	}
	event.Msg("configuration updated")
}

// shownText has the keys of base with the values that they have.
func shownText(values, base map[string]string) string {
	names := slices.Collect(maps.Keys(base))
	for name := range values {
		if k := byName[name]; k != nil && (k.Group == GroupNamesrv || k.Group == GroupServer) && !contains(base, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		writeShown(&b, name, values[name])
	}
	return b.String()
}

func contains(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}

// keptText is the properties file for base.
func keptText(base map[string]string) []byte {
	var text []byte
	for _, name := range slices.Sorted(maps.Keys(base)) {
		text = AppendProperty(text, name, base[name])
	}
	return text
}

var lineBreaks = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// writeShown writes one line. A key or value with line breaks must not look like several.
func writeShown(b *strings.Builder, key, value string) {
	if isSecret(key, value) {
		value = Mask
	}
	b.WriteString(lineBreaks.Replace(key))
	b.WriteByte('=')
	b.WriteString(lineBreaks.Replace(value))
	b.WriteByte('\n')
}

// isSecret reports whether the value of key is not to be shown. Keys that are not ours go by their names.
func isSecret(key, value string) bool {
	k := byName[key]
	if value == "" || k != nil && (!k.Secret || value == k.Default && !k.Unset) {
		return false
	}
	if k != nil {
		return true
	}
	name := envName(key)
	return slices.ContainsFunc([]string{"password", "passwd", "secret", "credential", "token", "privatekey", "accesskey"},
		func(word string) bool { return strings.Contains(name, word) })
}
