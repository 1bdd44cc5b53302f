package conf

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"
	"github.com/rs/zerolog"
)

// Sources are where the configuration comes from. Later ones win: defaults, ROCKETMQ_HOME and a broker's
// NAMESRV_ADDR, the file, the file of a broker's brokerConfigPath, the file named by tls.config.file, MQ_… variables,
// Set, NameServers.
type Sources struct {
	File        string   // the file of -c; "": updates of earlier runs are read from where they are kept, if that exists
	Set         []string // "key=value" from the command line
	NameServers string   // a broker's -n; "" if it is not there
	Environ     []string // as os.Environ gives it
	// NotKeys are MQ_… variables that mean something else than a configuration key.
	NotKeys []string
	Log     zerolog.Logger // what is odd but no mistake, and later updates

	// What a broker's name and addresses are by default; nil: this machine's.
	Hostname   func() (string, error)
	Interfaces func() ([]Interface, error)
	// LookUp finds the address at which somebody listens who listens at a host's name.
	LookUp func(host string) (netip.Addr, error)
}

// ValueError says which value is not what its key asks for. The value of a secret is left out.
type ValueError struct {
	Origin string // such as "namesrv.properties:3"; "" for an update at run time
	Key    string
	Value  string
	Want   string
}

func (e *ValueError) Error() string {
	where := e.Origin
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("%s%s: %s is not %s", where, e.Key, e.Value, e.Want)
}

func newValueError(origin string, k *Key, value string) *ValueError {
	const longest = 80 // bytes of a value in an error, more or less
	var item *ServerError
	if _, err := ParseServers(value); k.kind == servers && errors.As(err, &item) {
		value = item.Item
	}
	switch {
	case k.Secret:
		value = "the value"
	case len(value) > longest:
		value = strconv.Quote(strings.ToValidUTF8(value[:longest], "") + "…")
	default:
		value = strconv.Quote(value)
	}
	return &ValueError{Origin: origin, Key: k.Name, Value: value, Want: k.want()}
}

// layer is one source: texts by key, and where each was found.
type layer struct {
	values map[string]string
	origin func(key string) string
}

// check normalizes the values of the layer's known keys, in the order of the table.
func (l layer) check(s *schema) error {
	for i := range s.keys {
		k := &s.keys[i]
		text, ok := l.values[k.Name]
		if !ok || s.byName[k.Name] != k {
			continue
		}
		value, ok := k.normalize(text)
		if !ok {
			return newValueError(l.origin(k.Name), k, text)
		}
		if s.isKept(k) {
			l.values[k.Name] = value
		}
	}
	return nil
}

// keyDelim separates nothing: keys are flat, and tls.* ones have dots.
const keyDelim = "\x00"

func newKoanf() *koanf.Koanf {
	return koanf.NewWithConf(koanf.Conf{Delim: keyDelim, StrictMerge: true})
}

// add puts a layer on top of k.
func (l layer) add(k *koanf.Koanf) error {
	m := make(map[string]any, len(l.values))
	for key, value := range l.values {
		m[key] = value
	}
	return k.Load(confmap.Provider(m, ""), nil)
}

func texts(k *koanf.Koanf) map[string]string {
	m := map[string]string{}
	for key, value := range k.Raw() {
		m[key], _ = value.(string)
	}
	return m
}

// loader gathers the layers.
type loader struct {
	*schema
	src      Sources
	computed map[string]string // defaults that depend on the machine; everything else wins over them
	base     *koanf.Koanf      // what updates are kept together with: defaults, ROCKETMQ_HOME, the file
	over     *koanf.Koanf      // what wins over it, and is not kept: the tls.config.file, MQ_… variables, the command line
	notes    []note
	// pinned says for keys in over from where they will be set again at the next start.
	pinned map[string]string
	layers []layer // all that have an origin, in their order
}

// note is something odd about the configuration, to be logged once the server runs.
type note struct {
	level zerolog.Level
	text  string
	field string
	value []string
}

func (l *loader) warn(text, field string, value ...string) {
	l.notes = append(l.notes, note{zerolog.WarnLevel, text, field, value})
}

// Load reads and checks the configuration of a NameServer. An error is one line: it names the file or variable, the
// line, the key, the value and what is allowed. What is odd but no mistake (unknown keys) is kept for LogNotes.
func Load(src Sources) (*Store, error) { return namesrvSchema.load(src) }

func (s *schema) load(src Sources) (*Store, error) {
	l := &loader{schema: s, src: src, base: newKoanf(), over: newKoanf(), pinned: map[string]string{}}
	if err := l.defaults().add(l.base); err != nil {
		return nil, err
	}
	if err := l.base.Load(env.Provider("", env.Opt{TransformFunc: rocketmqHome, EnvironFunc: l.environ}), nil); err != nil {
		return nil, err
	}
	variables, err := l.variables()
	if err != nil {
		return nil, err
	}
	flags, err := l.flags()
	if err != nil {
		return nil, err
	}
	var files []layer
	if src.File != "" {
		file, err := l.file(src.File, false)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	path := l.updatesPath(append(slices.Clone(files), variables, flags))
	if !sameFile(path, src.File) {
		updates, err := l.file(path, true)
		if err != nil {
			return nil, err
		}
		files = append(files, updates)
	}
	if s.showsPath { // whatever the file says
		files[len(files)-1].values[s.pathKey] = path
		delete(variables.values, s.pathKey)
		delete(flags.values, s.pathKey)
	}
	tlsPath := ""
	for _, layer := range append(slices.Clone(files), variables, flags) {
		tlsPath = last(tlsPath, layer.values[keyTLSConfigFile])
	}
	tls, err := l.tlsFile(strings.TrimSpace(tlsPath))
	if err != nil {
		return nil, err
	}
	for _, layer := range files {
		if err := layer.add(l.base); err != nil {
			return nil, err
		}
	}
	for _, layer := range []layer{tls, variables, flags} {
		if err := layer.add(l.over); err != nil {
			return nil, err
		}
	}
	l.layers = append(files, tls, variables, flags)
	computed, err := s.defaultsOfMachine(l)
	if err != nil {
		return nil, err
	}
	maps.Copy(l.computed, computed)
	l.noteNoEffect()
	return newStore(path, l)
}

// updatesPath is where updates are kept.
func (l *loader) updatesPath(layers []layer) string {
	named := ""
	for _, layer := range layers {
		named = last(named, layer.values[l.pathKey])
	}
	if l.showsPath {
		return last(filepath.Join(l.home(), l.defaultPath), named, l.src.File)
	}
	return last(filepath.Join(l.home(), l.defaultPath), l.src.File, named)
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// value returns what the layers, or else the table, say about a key; "" if they say nothing.
func (l *loader) value(key string) string {
	for _, layer := range slices.Backward(l.layers) {
		if value, ok := layer.values[key]; ok {
			return value
		}
	}
	if k := l.byName[key]; !k.Unset {
		return k.Default
	}
	return ""
}

// originOf says where the value of key comes from; "" for a default.
func (l *loader) originOf(key string) string {
	for _, layer := range slices.Backward(l.layers) {
		if contains(layer.values, key) {
			return layer.origin(key)
		}
	}
	return ""
}

// last returns the last value that is not empty.
func last(values ...string) string {
	for _, v := range slices.Backward(values) {
		if v != "" {
			return v
		}
	}
	return ""
}

func (l *loader) environ() []string { return l.src.Environ }

// getenv returns the value of a variable, the last one if there are several.
func (l *loader) getenv(name string) (value string) {
	for _, v := range l.src.Environ {
		if text, ok := strings.CutPrefix(v, name+"="); ok {
			value = text
		}
	}
	return value
}

// home is the user's home folder. Without one, what would be there is in the working directory.
func (l *loader) home() string {
	home := l.getenv("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	return home
}

// defaults has those that updates keep: what belongs to TLS, and with a NameServer to its client, is shown and kept
// only if the file has it.
func (l *loader) defaults() layer {
	values := map[string]string{}
	l.computed = map[string]string{}
	for i := range l.keys {
		switch k := &l.keys[i]; {
		case !l.isKept(k):
		case k.Computed && !k.Unset:
			l.computed[k.Name] = k.Default
		case !k.Unset:
			values[k.Name] = k.Default
		}
	}
	if l.showsPath {
		values[keyKVConfigPath] = filepath.Join(l.home(), "namesrv", "kvConfig.json")
		values[l.pathKey] = filepath.Join(l.home(), l.defaultPath)
	}
	return layer{values: values}
}

// rocketmqHome takes ROCKETMQ_HOME out of the environment. An empty one counts as set.
func rocketmqHome(name, value string) (string, any) {
	if name == "ROCKETMQ_HOME" {
		return keyRocketmqHome, value
	}
	return "", nil
}

const envPrefix = "MQ_"

// envName brings keys and variables to a form in which they are compared: MQ_LISTEN_PORT, MQ_LISTENPORT and
// listenPort are the same, and so are MQ_TLS_SERVER_KEY_PATH and tls.server.keyPath.
func envName(s string) string { return strings.ToLower(separators.Replace(s)) }

var separators = strings.NewReplacer("_", "", ".", "") // one for all: each start asks for every key

// variables reads the MQ_… variables. Empty ones count as not set.
func (l *loader) variables() (layer, error) {
	var unknown []string
	from := map[string]string{} // key to variable
	k := newKoanf()
	err := k.Load(env.Provider("", env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return slices.Sorted(slices.Values(l.src.Environ)) }, // of two that mean the same, the last counts
		TransformFunc: func(variable, value string) (string, any) {
			if value == "" || slices.Contains(l.src.NotKeys, variable) {
				return "", nil
			}
			key, ok := l.byEnvName[envName(strings.TrimPrefix(variable, envPrefix))]
			if !ok {
				unknown = append(unknown, variable)
				return "", nil
			}
			from[key] = variable
			return key, value
		},
	}), nil)
	if err != nil {
		return layer{}, err
	}
	if unknown != nil {
		l.warn("environment variables that name no configuration key are ignored", "variables", unknown...)
	}
	result := layer{values: texts(k), origin: func(key string) string { return "environment variable " + from[key] }}
	for key, variable := range from {
		l.pinned[key] = variable
	}
	return result, result.check(l.schema)
}

// flags reads what the command line sets. Unlike elsewhere an unknown key is an error: somebody is watching.
func (l *loader) flags() (layer, error) {
	result := layer{values: map[string]string{}, origin: func(key string) string { return l.pinned[key] }}
	for _, text := range l.src.Set {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return layer{}, fmt.Errorf("--set %q: want key=value", beforeValue(text))
		}
		key = strings.TrimSpace(key)
		if l.byName[key] == nil {
			return layer{}, fmt.Errorf("--set %s: there is no such configuration key", strconv.Quote(key))
		}
		result.values[key] = value
		l.pinned[key] = "--set"
	}
	if l.src.NameServers != "" {
		result.values[keyNamesrvAddr] = l.src.NameServers
		l.pinned[keyNamesrvAddr] = "-n"
	}
	err := result.check(l.schema)
	if err == nil && l.src.NameServers != "" && result.values[keyNamesrvAddr] == "" { // it was not given for nothing
		err = newValueError("-n", l.byName[keyNamesrvAddr], l.src.NameServers)
	}
	return result, err
}

// beforeValue is what text has in front of what may be a value, and a secret, behind another separator than =.
func beforeValue(text string) string {
	if i := strings.IndexFunc(text, func(r rune) bool { return r == ':' || r <= ' ' }); i >= 0 {
		return text[:i] + "…"
	}
	return text
}

// file reads the properties file at path; if it is optional it need not exist.
func (l *loader) file(path string, optional bool) (layer, error) {
	result := layer{values: map[string]string{}}
	props, err := l.readFile(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return result, nil
	}
	if err != nil {
		return layer{}, err
	}
	if optional {
		l.notes = append(l.notes, note{zerolog.InfoLevel, "updates of earlier runs are in force", "file", []string{path}})
	}
	var unknown []string
	for _, p := range props {
		result.values[p.Key] = p.Value
		if l.byName[p.Key] == nil {
			unknown = append(unknown, fmt.Sprintf("%s:%d: %s", path, p.Line, p.Key))
		}
	}
	if unknown != nil {
		l.warn("unknown configuration keys have no effect", "keys", unknown...)
	}
	result.origin = originIn(path, props)
	return result, result.check(l.schema)
}

// tlsFile reads the file of tls.config.file. Where that is not set, the default one need not be readable.
func (l *loader) tlsFile(path string) (layer, error) {
	result := layer{values: map[string]string{}}
	optional := path == ""
	if optional {
		path = defaultTLSConfigFile
	}
	props, err := l.readFile(path)
	if optional && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
		return result, nil
	}
	if err != nil {
		return layer{}, err
	}
	var ignored []string
	for _, p := range props {
		k := l.byName[p.Key]
		if k == nil || k.Group != GroupTLS || p.Key == keyTLSMode || p.Key == keyTLSEnable || p.Key == keyTLSConfigFile {
			ignored = append(ignored, fmt.Sprintf("%s:%d: %s", path, p.Line, p.Key))
			continue
		}
		result.values[p.Key] = p.Value
	}
	if ignored != nil {
		l.warn("keys that have no place in the file of tls.config.file are ignored", "keys", ignored...)
	}
	result.origin = originIn(path, props)
	return result, result.check(l.schema)
}

func originIn(path string, props []Property) func(key string) string {
	return func(key string) string {
		i := slices.IndexFunc(props, func(p Property) bool { return p.Key == key })
		return fmt.Sprintf("%s:%d", path, props[i].Line)
	}
}

// readFile reads a properties file, or its backup where it is damaged: no writer of properties leaves NUL
// bytes, but power losses do. Nothing is written here; the next update mends the file.
func (l *loader) readFile(path string) ([]Property, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	if damaged(data) {
		backup, err := os.ReadFile(path + backupSuffix)
		if err != nil || damaged(backup) {
			return nil, fmt.Errorf("%s: the file is damaged, it has NUL bytes, and there is no good %s", path, path+backupSuffix)
		}
		l.notes = append(l.notes, note{zerolog.ErrorLevel, "configuration file is damaged, it has NUL bytes: its backup is used", "file", []string{path}})
		data = backup
	}
	props, err := ParseProperties(DecodeText(data))
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		return nil, fmt.Errorf("%s:%d: %s", path, syntax.Line, syntax.Reason)
	}
	for _, p := range props {
		if p.Shadowed != 0 {
			l.warn("configuration key is there twice: the last one counts", "key", fmt.Sprintf("%s:%d: %s, before in line %d", path, p.Line, p.Key, p.Shadowed))
		}
	}
	return props, err
}

func damaged(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 }

// noteNoEffect names the keys that somebody has set although they mean nothing here.
func (l *loader) noteNoEffect() {
	set := texts(l.base)
	maps.Copy(set, texts(l.over))
	var names []string
	for i := range l.keys {
		k := &l.keys[i]
		if value, ok := set[k.Name]; ok && k.NoEffect && k.Name != keyRocketmqHome && l.byName[k.Name] == k {
			if value, ok = k.normalize(value); ok && value != k.Default {
				names = append(names, k.Name)
			}
		}
	}
	if names != nil {
		l.notes = append(l.notes, note{zerolog.InfoLevel, "configuration keys of the Java " + l.server + " that have no effect here", "keys", names})
	}
}
