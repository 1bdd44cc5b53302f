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
	"time"

	"github.com/rs/zerolog"
)

// What Update answers with, besides *ValueError and errors of the file. The texts are those of the original
// (spec/namesrv.md §11.1).
var (
	ErrParse     = errors.New("string2Properties error")
	ErrBlackList = errors.New("Can not update config in black list.") //nolint:staticcheck // the text is frozen
	// ErrNoKeys is a broker's only.
	ErrNoKeys = errors.New("there is no configuration key in the body")
)

// Mask stands for the value of a secret wherever configuration is shown.
const Mask = "******"

// Store holds the configuration of a running NameServer, or the part of a broker's that is the same (BrokerStore):
// what handlers read, what GET_NAMESRV_CONFIG shows and what UPDATE_NAMESRV_CONFIG changes. It is safe for concurrent
// use; reading never waits.
type Store struct {
	*schema
	log       zerolog.Logger
	path      string            // where updates go
	notes     []note            // for LogNotes
	forbidden map[string]bool   // canonical names in lower case; fixed at the start
	computed  map[string]string // defaults that depend on the machine; fixed at the start
	state     atomic.Pointer[state]

	// mu lets one update happen at a time, its file included: the next one builds on what is kept.
	// No reader takes it.
	mu      sync.Mutex
	base    map[string]string // what is kept in the file; guarded by mu
	over    map[string]string // what wins over it for this run; guarded by mu
	pinned  map[string]string // who puts keys into over at each start; guarded by mu
	started map[string]string // the values of the start, for the keys that keep them; guarded by mu
}

// state is the configuration between two updates.
type state struct {
	config  Config
	values  map[string]string // every key that has a value
	text    string            // the answer to GET_NAMESRV_CONFIG or GET_BROKER_CONFIG
	version version
}

func newStore(path string, l *loader) (*Store, error) {
	s := &Store{
		schema: l.schema, log: l.src.Log, path: path, notes: l.notes, computed: l.computed,
		base: texts(l.base), over: texts(l.over), pinned: l.pinned,
	}
	first, err := s.newState(s.base, s.over)
	if err == nil && s.check != nil {
		err = s.check(first.values)
	}
	if err != nil {
		var value *ValueError
		if errors.As(err, &value) {
			value.Origin = l.originOf(value.Key)
		}
		return nil, err
	}
	first.version.timestamp = time.Now().UnixMilli()
	s.state.Store(first)
	if s.steady {
		s.started = first.values
	}
	s.forbidden = map[string]bool{}
	listed := strings.Split(first.values[keyConfigBlackList], ";")
	for _, key := range slices.Concat(listed, s.never, []string{keyConfigBlackList, keyRocketmqHome, s.pathKey}) {
		if key = strings.ToLower(canonical(key)); key != "" {
			s.forbidden[key] = true
		}
	}
	return s, nil
}

// newState makes a state of what is kept and what wins over it. The error is a *ValueError for values that do not go
// together.
func (s *Store) newState(base, over map[string]string) (*state, error) {
	st := &state{values: maps.Clone(s.computed)}
	maps.Copy(st.values, base)
	maps.Copy(st.values, over)
	raw := maps.Clone(st.values)
	for i := range s.keys {
		k := &s.keys[i]
		text, ok := st.values[k.Name]
		if !ok && k.Unset {
			continue
		}
		if !ok {
			text = k.Default
		}
		st.values[k.Name], _ = k.normalize(text) // checked before it got here
	}
	st.values[keyTLSEnable] = last("false", st.values[keyTLSEnable])
	if _, ok := st.values[keyUseTLS]; !ok { // spec/remoting.md §7.7
		said := contains(raw, keyTLSEnable)
		st.values[keyUseTLS] = strconv.FormatBool(st.values[keyTLSEnable] == "true" || !said && st.values[keyTLSMode] == "enforcing")
	}
	if err := s.complete(st.values); err != nil {
		return nil, err
	}
	for i := range s.keys {
		k := &s.keys[i]
		values := st.values
		if s.started != nil && !k.Live {
			values = s.started
		}
		if value, ok := values[k.Name]; ok {
			k.set(&st.config, value)
		}
	}
	st.text = s.shownText(st.values, raw, base)
	return st, nil
}

// Snapshot returns the configuration as it is now. It must not be changed. Of a NameServer's, only keys that Keys
// marks as live mean something after the start; the others show what the next start may use. A broker's has what is
// in force: keys that are not live keep the values of the start.
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
	return s.print(w, func(*Key) bool { return true })
}

func (s *Store) print(w io.Writer, asked func(*Key) bool) error {
	values := s.state.Load().values
	var b strings.Builder
	for i := range s.keys {
		if k := &s.keys[i]; asked(k) {
			s.writeShown(&b, k.Name, values[k.Name])
		}
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
	over := maps.Clone(s.over)
	over[keyListenPort] = strconv.Itoa(port)
	s.started = nil // this is still the start
	next, err := s.newState(s.base, over)
	if err != nil {
		panic(err) // a port does not contradict anything
	}
	if s.steady {
		s.started = next.values
	}
	next.version = s.state.Load().version
	s.over = over
	s.state.Store(next)
}

// Update changes the configuration as UPDATE_NAMESRV_CONFIG (318) asks: body is a properties text in UTF-8. It is
// parsed first, judged second, and then applied whole or not at all; when Update returns nil, all of it is in
// force (live keys) or will be after the next start, and is durable.
//
// Unknown keys are dropped, unless they come from the file. Errors, with nothing changed: ErrParse; ErrBlackList
// for keys that are forbidden, however written; *ValueError; others when the file cannot be written.
// Sources: spec/namesrv.md §11.1, §14 F17 and F19.
func (s *Store) Update(body []byte) error {
	_, err := s.update(body)
	return err
}

// update is Update. It returns the keys whose values are other ones now, sorted.
func (s *Store) update(body []byte) (changed []string, err error) {
	text := string([]rune(string(body))) // each byte that is not UTF-8 becomes U+FFFD
	props, err := ParseProperties(strings.TrimPrefix(text, utf8BOM))
	if err != nil {
		return nil, ErrParse
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range props {
		if s.isForbidden(p.Key) {
			return nil, ErrBlackList
		}
	}
	given := map[string]string{}
	for _, p := range props {
		if value, ok, err := s.judge(p); err != nil {
			return nil, err
		} else if ok {
			given[p.Key] = value
		}
	}
	if len(props) == 0 && s.strict {
		return nil, ErrNoKeys
	}
	if len(given) == 0 {
		return nil, nil
	}
	base, over := maps.Clone(s.base), maps.Clone(s.over)
	maps.Copy(base, given)
	for key := range given {
		delete(over, key)
	}
	before := s.state.Load()
	next, err := s.newState(base, over)
	if err == nil && s.check != nil {
		err = s.check(next.values)
	}
	if err != nil {
		return nil, err
	}
	if id, ok := given[keyBrokerID]; ok && id != next.values[keyBrokerID] { // it would be kept, but never be in force
		return nil, &ValueError{Key: keyBrokerID, Value: strconv.Quote(id), Want: "0, as a master's must be"}
	}
	next.version = before.version.next()
	err = ReplaceFile(s.path, keptText(base))
	if errors.Is(err, ErrBackup) {
		s.log.Warn().Err(err).Str("file", s.path).Msg("configuration file has no backup")
	} else if err != nil {
		return nil, fmt.Errorf("configuration cannot be kept: %w", err)
	}
	s.base, s.over = base, over
	s.state.Store(next)
	s.logUpdate(given)
	for key, value := range next.values {
		if old, ok := before.values[key]; !ok || old != value {
			changed = append(changed, key)
		}
	}
	slices.Sort(changed)
	return changed, nil
}

// judge returns the value to keep for a property of an update; ok is false if it is to be dropped.
func (s *Store) judge(p Property) (value string, ok bool, err error) {
	k := s.byName[p.Key]
	if !contains(s.base, p.Key) && (k == nil || !s.isKept(k)) {
		if s.strict {
			return "", false, fmt.Errorf("%s: there is no such configuration key", strconv.Quote(p.Key))
		}
		return "", false, nil
	}
	if p.Value == Mask && s.isSecret(p.Key, s.base[p.Key]) {
		return "", false, nil // somebody sends back what was shown
	}
	if k == nil { // one of the file's own
		if strings.ContainsAny(p.Value, "\r\n\x00") {
			k := Key{Name: p.Key, Secret: s.isSecret(p.Key, p.Value), field: func(c *Config) any { return new(string) }}
			return "", false, newValueError("", &k, p.Value)
		}
		return p.Value, true, nil
	}
	value, ok = k.normalize(p.Value)
	if !ok || k.kind == servers && value == "" { // a list that is empty by mistake would cost all its servers
		return "", false, newValueError("", k, p.Value)
	}
	return value, true, nil
}

// isForbidden reports whether an update may not touch key. The original compares exactly; a key in another case
// is unknown to a NameServer, and dropped, but a broker refuses it, too. Beyond it, blanks around a key or its
// setter's name do not hide it, and neither are TLS settings changed by anonymous requests.
func (s *Store) isForbidden(key string) bool {
	name := canonical(key)
	lower := strings.ToLower(name)
	if s.strict {
		return s.forbidden[lower] || strings.HasPrefix(lower, tlsPrefix)
	}
	known, given := contains(s.base, name), contains(s.base, key)
	if strings.HasPrefix(lower, tlsPrefix) {
		return known || given
	}
	return s.forbidden[lower] && (known || given || s.byName[name] != nil || !s.byLower[lower])
}

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
		if k := s.byName[name]; k != nil && !k.Live && !k.NoEffect {
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

// shownText has the keys that are always shown and those of base, with the values that they have: of the latter raw
// ones, as they were written.
func (s *Store) shownText(values, raw, base map[string]string) string {
	names := slices.Collect(maps.Keys(base))
	for name := range values {
		if k := s.byName[name]; k != nil && s.isKept(k) && !contains(base, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		value := values[name]
		if k := s.byName[name]; k == nil || !s.isKept(k) {
			value = raw[name]
		}
		s.writeShown(&b, name, value)
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
func (s *Store) writeShown(b *strings.Builder, key, value string) {
	if s.isSecret(key, value) {
		value = Mask
	}
	b.WriteString(lineBreaks.Replace(key))
	b.WriteByte('=')
	b.WriteString(lineBreaks.Replace(value))
	b.WriteByte('\n')
}

// isSecret reports whether the value of key is not to be shown. Keys that are not ours go by their names.
func (s *schema) isSecret(key, value string) bool {
	k := s.byName[key]
	if value == "" || k != nil && (!k.Secret || value == k.Default && !k.Unset) {
		return false
	}
	if k != nil {
		return true
	}
	name := strings.ReplaceAll(envName(key), "-", "")
	return slices.ContainsFunc([]string{"password", "passwd", "pwd", "passphrase", "passcode", "secret", "credential", "token", "privatekey", "accesskey", "apikey"},
		func(word string) bool { return strings.Contains(name, word) })
}
