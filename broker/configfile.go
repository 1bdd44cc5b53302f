package broker

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/conf"
	"github.com/mq-server/mq/protocol"
)

// configFile keeps a state S in one JSON file of the folder config/ and its twin .bak.
//
// Readers get immutable states from load and never wait. Changes are functions on a draft D of the next state. They
// wait for each other: whoever finds nobody writing makes one draft out of all changes that wait at that moment, writes
// the file once, and only then publishes the new state and lets go those that asked for it. So what was answered with
// success is on disk, what could not be written has not happened, and no state that is half of a change is ever seen
// or stored. Source: spec/broker.md §3.9.
type configFile[S, D any] struct {
	path      string
	log       zerolog.Logger
	write     func(data []byte) error // replaces the file durably and keeps the previous one as .bak
	begin     func(*S) D              // starts a draft
	finish    func(D) *S              // the state that the draft has become; the one it began with if nothing has changed
	encode    func(*S) []byte
	committed func(D) // told after the state is published, one draft at a time; must neither wait nor change the file

	state atomic.Pointer[S] // replaced by the writer only

	mu     sync.Mutex         // never held while anything else is called
	queue  []*configChange[D] // guarded by mu
	busy   bool               // somebody is the writer; guarded by mu
	unsure bool               // the file may not hold the state; owned by the writer
}

// configChange is a change that waits for the writer, or to become the writer.
type configChange[D any] struct {
	apply func(D) error
	err   error         // set before wake is closed
	done  bool          // set before wake is closed: err is the outcome. Else the one that wakes up is the writer now
	wake  chan struct{} // closed once
}

// openConfigFile reads the file at path with decode, or its backup, and gives f the state that loaded makes of it, after
// writing that if loaded says so. The logger that loaded gets names the file. f has everything but path, write and state.
func openConfigFile[S, D, F any](
	f *configFile[S, D], path string, decode func([]byte) (F, error),
	loaded func(storedFile[F], zerolog.Logger) (state *S, write bool),
) error {
	stored, err := readConfigFile(path, decode, f.log)
	if err != nil {
		return err
	}
	f.path = stored.path
	f.write = func(data []byte) error { return conf.ReplaceFile(f.path, data) }
	state, write := loaded(stored, f.log.With().Str("file", f.path).Logger())
	if write {
		if err := f.save(state); err != nil {
			return err
		}
	}
	f.state.Store(state)
	return nil
}

// load returns the current state, which never changes.
func (f *configFile[S, D]) load() *S { return f.state.Load() }

// commit makes a change and returns after it is on disk. apply gets the draft with the changes before it; it changes all
// that it wants or, on an error, nothing. It may be called on any goroutine and must not wait. Any error means that
// nothing has changed.
func (f *configFile[S, D]) commit(apply func(D) error) error {
	c := &configChange[D]{apply: apply, wake: make(chan struct{})}
	f.mu.Lock()
	f.queue = append(f.queue, c)
	if f.busy {
		f.mu.Unlock()
		if <-c.wake; c.done {
			return c.err
		}
		f.mu.Lock()
	}
	f.busy = true
	group := f.queue
	f.queue = nil
	f.mu.Unlock()

	defer func() { // also if a change panics: the others must not wait for ever
		f.mu.Lock()
		var next *configChange[D]
		if f.busy = len(f.queue) > 0; f.busy {
			next = f.queue[0]
		}
		f.mu.Unlock()
		for _, other := range group {
			if other != c {
				other.done = true
				close(other.wake)
			}
		}
		if next != nil {
			close(next.wake)
		}
	}()
	f.commitGroup(group)
	return c.err
}

var errUnfinished = errors.New("the change was given up")

// commitGroup makes a group of changes with one write, all of them or none but those that failed by themselves.
func (f *configFile[S, D]) commitGroup(group []*configChange[D]) {
	for _, c := range group {
		c.err = errUnfinished
	}
	before := f.load()
	draft := f.begin(before)
	errs := make([]error, len(group))
	for i, c := range group {
		errs[i] = c.apply(draft)
	}
	state := f.finish(draft)
	if state != before || f.unsure {
		if err := f.save(state); err != nil {
			for i := range errs {
				if errs[i] == nil { // also those that found nothing to do: what they found has not happened
					errs[i] = err
				}
			}
		} else {
			f.state.Store(state)
			f.committed(draft)
		}
	}
	for i, c := range group {
		c.err = errs[i]
	}
}

// save writes the file.
func (f *configFile[S, D]) save(state *S) error {
	err := f.write(f.encode(state))
	if errors.Is(err, conf.ErrBackup) {
		f.log.Warn().Err(err).Str("file", f.path).Msg("file is written, but its previous content could not be kept")
		err = nil
	}
	f.unsure = err != nil // then either content may be there: write it again even if the next change changes nothing
	if err != nil {
		f.log.Error().Err(err).Str("file", f.path).Msg("file could not be written")
		return fmt.Errorf("%s could not be written: %w", filepath.Base(f.path), err)
	}
	return nil
}

// errDamaged is wrapped by errors of files whose content is damaged.
var errDamaged = errors.New("the file is damaged")

// storedFile is what readConfigFile found.
type storedFile[F any] struct {
	path    string // of the file itself, where it was behind a symbolic link
	content F
	found   bool // false: there is neither the file nor a backup, and content is zero
	// recovered tells that content is that of the backup, because the file was missing or damaged. A damaged one has been
	// moved out of the way, to path.damaged.
	recovered bool
	damaged   []byte // what was in the damaged file
}

// version returns the data version for the state that was made of what was stored with version v, and tells whether that
// state has to be written. changed says that it is not what was stored. now is in milliseconds since 1970.
func (s *storedFile[F]) version(v protocol.DataVersion, changed bool, now int64) (version protocol.DataVersion, write bool) {
	switch {
	case !s.found:
		return protocol.DataVersion{Timestamp: now}, true
	case s.recovered:
		return versionAfterRecovery(v, s.damaged, now), true
	case changed:
		return bumped(v, now), true
	}
	return v, false
}

// readConfigFile reads the file at path with decode, or its backup if it is missing or damaged: empty, with NUL bytes,
// cut off, or with text after its end. It is an error if there are files and none of them is good; the error names both.
// Nothing is ever taken for empty because it cannot be read. Sources: spec/broker.md §3.9, spec/field-reports.md N60.
func readConfigFile[F any](path string, decode func([]byte) (F, error), log zerolog.Logger) (storedFile[F], error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // where conf.ReplaceFile keeps the backup
	}
	stored := storedFile[F]{path: path}
	backup := path + ".bak"
	content, data, damage := decodeFile(path, decode)
	missing := errors.Is(damage, fs.ErrNotExist)
	switch {
	case damage == nil:
		stored.content, stored.found = content, true
		return stored, nil
	case !missing && !errors.Is(damage, errDamaged):
		return stored, damage // no permission, or a folder: nothing that a backup helps against
	}
	content, _, err := decodeFile(backup, decode)
	switch {
	case err == nil:
	case missing && errors.Is(err, fs.ErrNotExist):
		return stored, nil
	case missing:
		return stored, fmt.Errorf("%s is missing and its backup is no good: %w (put a good file in place, or remove the backup to begin without)", path, err)
	default:
		return stored, fmt.Errorf("%w, and there is no good backup: %w (put a good file in place, or remove both to begin without)", damage, err)
	}
	if !missing {
		if err := os.Rename(path, path+".damaged"); err != nil {
			return stored, err
		}
	}
	log.Error().Str("file", path).Str("backup", backup).AnErr("damage", damage).
		Msg("file is missing or damaged: went on with its backup")
	stored.content, stored.found, stored.recovered, stored.damaged = content, true, true, data
	return stored, nil
}

// decodeFile reads one file. Errors wrap fs.ErrNotExist or errDamaged, or come from reading.
func decodeFile[F any](path string, decode func([]byte) (F, error)) (content F, data []byte, err error) {
	if data, err = os.ReadFile(path); err != nil {
		return content, nil, err
	}
	if bytes.IndexByte(data, 0) >= 0 { // the dialect takes them for blanks, but a power cut leaves them behind
		return content, data, fmt.Errorf("%s: %w: it has NUL bytes", path, errDamaged)
	}
	if content, err = decode(data); err != nil {
		return content, data, fmt.Errorf("%s: %w: %w", path, errDamaged, err)
	}
	return content, data, nil
}

// counterText finds the counter of a data version in a file that cannot be read any more. It stands near the beginning.
var counterText = regexp.MustCompile(`"counter"\s*:\s*(\d{1,18})\b`)

// lostChanges is added to the counter of a backup whose damaged file does not tell its own: there may have been that many
// changes in the last write.
const lostChanges = 1 << 16

// versionAfterRecovery returns the data version for a state that was read from the backup of a damaged file. Its counter is
// higher than any that peers have seen, so that they take the older table for what it is: the newest one.
func versionAfterRecovery(backup protocol.DataVersion, damaged []byte, now int64) protocol.DataVersion {
	if m := counterText.FindSubmatch(damaged); m != nil {
		counter, _ := strconv.ParseInt(string(m[1]), 10, 64)
		backup.Counter = max(backup.Counter, counter)
	} else {
		backup.Counter += lostChanges
	}
	return bumped(backup, now)
}

// bumped returns the version after v: it differs from all versions before it. now is in milliseconds since 1970.
func bumped(v protocol.DataVersion, now int64) protocol.DataVersion {
	v.Counter++
	v.CounterNull = false
	v.Timestamp = now
	return v
}
