package namesrv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
)

// orderTopicConfig is the namespace that holds the queues of ordered topics: key = topic, value =
// "brokerName:queues;brokerName:queues". Source: spec/namesrv.md §9.
const orderTopicConfig = "ORDER_TOPIC_CONFIG"

// ErrKVStopped refuses a change that came after the store had stopped.
var ErrKVStopped = errors.New("the KV configuration takes no more changes: the server stops")

// kvStore is the KV configuration: namespace, then key, then value, kept in one JSON file.
//
// Readers get immutable snapshots and never wait. Changes go to the one goroutine in run, which writes
// the file for all that wait at that moment (group commit) and only then shows and acknowledges them:
// what was acknowledged is on disk, what could not be written has not happened. Source: spec/namesrv.md §8.
type kvStore struct {
	path    string
	log     zerolog.Logger
	write   func(data []byte) error      // replaces the file durably and keeps the previous one as .bak
	state   atomic.Pointer[kvNamespaces] // replaced by run only
	ops     chan *kvOp                   // unbuffered: the senders that wait are the next group
	stopped chan struct{}                // closed when run has returned
	saved   bool                         // the file holds the state; owned by run
}

// kvNamespaces is one immutable state of the store, by namespace.
type kvNamespaces map[string]*kvNamespace

// kvNamespace is one immutable namespace. A namespace whose last key was deleted stays, empty.
type kvNamespace struct {
	table map[string]string
	body  func() []byte // the KVTable as JSON, made when first asked for
}

func newKVNamespace(table map[string]string) *kvNamespace {
	return &kvNamespace{table: table, body: sync.OnceValue(func() []byte {
		body := protocol.KVTable{Table: table}
		return body.AppendJSON(nil, protocol.FormDefault)
	})}
}

// kvOp is a change on its way to run.
type kvOp struct {
	namespace, key, value string
	remove                bool
	done                  chan error // capacity 1: run never waits for the one that asked
}

// openKVStore loads the file at path.
//
// A missing, empty or null file is an empty store. If the file is damaged, or missing or empty although it has a
// backup with content, the backup takes its place, with an error in the log, and a damaged one is kept as
// path.damaged. It is an error if neither can be read. Sources: spec/namesrv.md §8.3, spec/field-reports.md N44.
func openKVStore(path string, log zerolog.Logger) (*kvStore, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // where conf.ReplaceFile keeps the backup
	}
	s := &kvStore{
		path:    path,
		log:     log,
		write:   func(data []byte) error { return conf.ReplaceFile(path, data) },
		ops:     make(chan *kvOp),
		stopped: make(chan struct{}),
	}
	state, err := s.load()
	if err != nil {
		return nil, fmt.Errorf("KV configuration: %w", err)
	}
	s.state.Store(&state)
	return s, nil
}

// load reads the file, or its backup.
func (s *kvStore) load() (kvNamespaces, error) {
	state, text, damage := readKV(s.path)
	missing := errors.Is(damage, fs.ErrNotExist)
	switch {
	case damage == nil && text:
		s.saved = true
		return state, nil
	case damage != nil && !missing && !errors.Is(damage, errKVDamaged):
		return nil, damage // no permission, or a folder: nothing that a backup helps against
	}
	backup := s.path + ".bak"
	spare, text, err := readKV(backup)
	if err != nil || !text {
		if damage == nil || missing { // nothing was ever kept
			return kvNamespaces{}, nil
		}
		return nil, fmt.Errorf("%w, and there is no good backup %s", damage, backup)
	}
	if damage == nil {
		damage = errors.New("the file is empty, but its backup is not")
	}
	if !missing {
		if err := os.Rename(s.path, s.path+".damaged"); err != nil {
			return nil, err
		}
	}
	// There is no file to be made a backup of now, so the good one stays.
	if err := s.write(encodeKV(spare)); err != nil {
		return nil, err
	}
	s.saved = true
	s.log.Error().Str("file", s.path).Str("backup", backup).AnErr("damage", damage).
		Msg("KV configuration file is damaged: went on with its backup")
	return spare, nil
}

var errKVDamaged = errors.New("the file is damaged")

// readKV reads a file; text tells whether there is anything in it. Errors wrap fs.ErrNotExist or errKVDamaged, or
// come from reading.
func readKV(path string) (state kvNamespaces, text bool, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, false, err
	}
	if bytes.IndexByte(data, 0) >= 0 { // the dialect takes them for blanks, but a power cut leaves them behind
		return nil, true, fmt.Errorf("%s: %w: it has NUL bytes", path, errKVDamaged)
	}
	if state, err = decodeKV(data); err != nil {
		return nil, true, fmt.Errorf("%s: %w: %w", path, errKVDamaged, err)
	}
	return state, len(bytes.TrimSpace(data)) > 0, nil
}

// decodeKV reads the text of the file. No text at all and null are an empty state.
func decodeKV(data []byte) (kvNamespaces, error) {
	wrapper, err := protocol.DecodeKVConfigSerializeWrapper(data)
	if err != nil && !errors.Is(err, protocol.ErrNullBody) {
		return nil, err
	}
	state := make(kvNamespaces, len(wrapper.ConfigTable))
	for namespace, table := range wrapper.ConfigTable {
		if table != nil { // a namespace that is null is none
			state[namespace] = newKVNamespace(table)
		}
	}
	return state, nil
}

func encodeKV(state kvNamespaces) []byte {
	wrapper := protocol.KVConfigSerializeWrapper{ConfigTable: make(map[string]map[string]string, len(state))}
	for namespace, n := range state {
		wrapper.ConfigTable[namespace] = n.table
	}
	return wrapper.AppendJSON(nil, protocol.FormDefault)
}

// get returns the value of a key.
func (s *kvStore) get(namespace, key string) (string, bool) {
	n, ok := s.namespace(namespace)
	if !ok {
		return "", false
	}
	value, ok := n.table[key]
	return value, ok
}

// namespace returns a namespace as it is now; it never changes afterwards.
func (s *kvStore) namespace(name string) (*kvNamespace, bool) {
	n, ok := (*s.state.Load())[name]
	return n, ok
}

// put sets a value and returns when that is on disk. It keeps copies: the strings of a request are parts of its header,
// which may be large.
func (s *kvStore) put(ctx context.Context, namespace, key, value string) error {
	return s.commit(ctx, &kvOp{namespace: strings.Clone(namespace), key: strings.Clone(key), value: strings.Clone(value)})
}

// remove deletes a key, if there is one, and returns when that is on disk. The namespace stays.
func (s *kvStore) remove(ctx context.Context, namespace, key string) error {
	return s.commit(ctx, &kvOp{namespace: namespace, key: key, remove: true})
}

// commit hands op to run and waits for it. An error means that nothing has changed.
func (s *kvStore) commit(ctx context.Context, op *kvOp) error {
	op.done = make(chan error, 1)
	select {
	case s.ops <- op:
		return <-op.done
	case <-s.stopped:
		return ErrKVStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run makes the changes until ctx ends.
func (s *kvStore) run(ctx context.Context) error {
	defer close(s.stopped)
	var group []*kvOp // reused
	for {
		select {
		case op := <-s.ops:
			group = append(group[:0], op)
		case <-ctx.Done():
			return nil
		}
		for waiting := true; waiting; {
			select {
			case op := <-s.ops:
				group = append(group, op)
			default:
				waiting = false
			}
		}
		err := s.apply(group)
		for _, op := range group {
			op.done <- err
		}
	}
}

// apply makes a group of changes with one write, all of them or none.
func (s *kvStore) apply(group []*kvOp) error {
	old := *s.state.Load()
	state := maps.Clone(old)
	touched := map[string]map[string]string{} // the namespaces that this group has copied
	for _, op := range group {
		table := touched[op.namespace]
		if table == nil {
			n := old[op.namespace]
			switch {
			case n != nil:
				table = n.table
			case op.remove:
				continue // a delete makes no namespace
			}
		}
		value, there := table[op.key]
		if op.remove && !there || !op.remove && there && value == op.value {
			continue // nothing to do
		}
		if touched[op.namespace] == nil {
			if table = maps.Clone(table); table == nil {
				table = map[string]string{}
			}
			touched[op.namespace] = table
		}
		if op.remove {
			delete(table, op.key)
		} else {
			table[op.key] = op.value
		}
	}
	if len(touched) == 0 && s.saved {
		return nil
	}
	for namespace, table := range touched {
		state[namespace] = newKVNamespace(table)
	}
	err := s.write(encodeKV(state))
	if errors.Is(err, conf.ErrBackup) {
		s.log.Warn().Err(err).Str("file", s.path).Msg("KV configuration is written, but the previous one could not be kept")
		err = nil
	}
	if err != nil {
		s.saved = false // the file may hold either state: write it again even if the next change changes nothing
		s.log.Error().Err(err).Str("file", s.path).Msg("KV configuration could not be written: change refused")
		return fmt.Errorf("KV configuration could not be written: %w", err)
	}
	s.saved = true
	s.state.Store(&state)
	return nil
}

// each calls item for every item, in no defined order, and returns the number of namespaces.
func (s *kvStore) each(item func(namespace, key, value string)) (size int) {
	state := *s.state.Load()
	for namespace, n := range state {
		for key, value := range n.table {
			item(namespace, key, value)
		}
	}
	return len(state)
}
