package broker

import (
	"maps"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/mq-server/mq/protocol"
)

// configTable is an immutable table of configurations by name.
type configTable[T any] struct {
	byName map[string]*T
	sorted []*T // ascending by name
	nameOf func(*T) string
}

// newConfigTable makes a table of list. Of several with one name the last one counts.
func newConfigTable[T any](list []*T, nameOf func(*T) string) *configTable[T] {
	t := &configTable[T]{byName: make(map[string]*T, len(list)), nameOf: nameOf}
	for _, c := range list {
		t.byName[nameOf(c)] = c
	}
	t.sorted = slices.SortedFunc(maps.Values(t.byName), t.compare)
	return t
}

func (t *configTable[T]) compare(a, b *T) int { return strings.Compare(t.nameOf(a), t.nameOf(b)) }

// with returns the table with changes made to it: by name, nil removes. It takes time for the whole table.
func (t *configTable[T]) with(changes map[string]*T) *configTable[T] {
	next := &configTable[T]{
		byName: maps.Clone(t.byName),
		sorted: make([]*T, 0, len(t.sorted)+len(changes)),
		nameOf: t.nameOf,
	}
	var put []*T
	for name, c := range changes {
		if c == nil {
			delete(next.byName, name)
			continue
		}
		next.byName[name] = c
		put = append(put, c)
	}
	slices.SortFunc(put, t.compare)
	for _, c := range t.sorted {
		name := t.nameOf(c)
		for len(put) > 0 && t.nameOf(put[0]) < name {
			next.sorted, put = append(next.sorted, put[0]), put[1:]
		}
		if _, touched := changes[name]; !touched {
			next.sorted = append(next.sorted, c)
		}
	}
	next.sorted = append(next.sorted, put...)
	return next
}

// configDraft collects changes to a table and its data version.
type configDraft[T any] struct {
	table   *configTable[T]
	changes map[string]*T // nil: removed
	size    int           // of the table with the changes made
	version protocol.DataVersion
	now     int64 // milliseconds since 1970
}

func newConfigDraft[T any](table *configTable[T], version protocol.DataVersion, now int64) configDraft[T] {
	return configDraft[T]{table: table, size: len(table.byName), version: version, now: now}
}

// clone returns a draft to which changes can be made without making them to d.
func (d *configDraft[T]) clone() configDraft[T] {
	c := *d
	c.changes = maps.Clone(d.changes)
	return c
}

// bump gives the draft a new version: once for every change.
func (d *configDraft[T]) bump() { d.version = bumped(d.version, d.now) }

func (d *configDraft[T]) get(name string) (*T, bool) {
	if c, touched := d.changes[name]; touched {
		return c, c != nil
	}
	c, ok := d.table.byName[name]
	return c, ok
}

func (d *configDraft[T]) put(c *T) { d.set(d.table.nameOf(c), c) }

func (d *configDraft[T]) remove(name string) { d.set(name, nil) }

func (d *configDraft[T]) set(name string, c *T) {
	if d.changes == nil {
		d.changes = make(map[string]*T)
	}
	if _, exists := d.get(name); exists {
		d.size--
	}
	if c != nil {
		d.size++
	}
	d.changes[name] = c
}

// finish returns the table with the changes made.
func (d *configDraft[T]) finish() *configTable[T] {
	if len(d.changes) == 0 {
		return d.table
	}
	return d.table.with(d.changes)
}

// sortOdd sorts entries that cannot be used by name.
func sortOdd(odd []protocol.OddEntry) {
	slices.SortFunc(odd, func(a, b protocol.OddEntry) int { return strings.Compare(a.Name, b.Name) })
}

// logOdd logs entries that cannot be used, with their names under key.
func logOdd(odd []protocol.OddEntry, log zerolog.Logger, key, message string) {
	const most = 100 // of a file full of them, some are enough
	for i, e := range odd {
		if i == most {
			log.Error().Int("more", len(odd)-most).Msg(message)
			return
		}
		log.Error().Str(key, brief(e.Name)).Str("entry", brief(e.JSON)).Err(e.Err).Msg(message)
	}
}

// warnUnknown logs the names of members that are in a file and that nobody knows.
func warnUnknown(names []string, log zerolog.Logger) {
	if len(names) > 0 {
		log.Warn().Strs("members", names).Msg("file has members of another release: they are lost when it is written")
	}
}

// withoutTouched returns the odd entries whose names are not in touched: one that was made anew or removed is odd no more.
func withoutTouched[V any](odd []protocol.OddEntry, touched map[string]V) []protocol.OddEntry {
	isTouched := func(e protocol.OddEntry) bool {
		_, ok := touched[e.Name]
		return ok
	}
	if !slices.ContainsFunc(odd, isTouched) {
		return odd
	}
	return slices.DeleteFunc(slices.Clone(odd), isTouched)
}

// isLeft tells whether name is among the odd entries and not in touched.
func isLeft[V any](odd []protocol.OddEntry, touched map[string]V, name string) bool {
	_, ok := touched[name]
	return !ok && slices.ContainsFunc(odd, func(e protocol.OddEntry) bool { return e.Name == name })
}
