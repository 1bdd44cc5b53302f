package namesrv

import (
	"iter"
	"slices"
	"strings"
)

// runLength is how many queueEntries lie side by side at most, so that adding or taking one moves no more than that.
const runLength = 512

// queueList holds a topic's queueEntries in the order of broker names. Those of nearly every topic are few and lie in
// one piece. A topic on very many brokers has them in runs: then coming and going costs each of its brokers the same
// however many there are.
//
// Pointers to its entries are good until the next insert or delete.
type queueList struct {
	few  []queueEntry    // all, unless there are runs
	runs *[][]queueEntry // nil, or two at least, none empty
}

// place is where an entry is in a queueList, or would have to be.
type place struct{ run, at int }

// run returns a run by its number.
func (l *queueList) run(n int) *[]queueEntry {
	if l.runs == nil {
		return &l.few
	}
	return &(*l.runs)[n]
}

// find returns the place of a group's entry, or where it would have to be.
func (l *queueList) find(brokerName string) (p place, ok bool) {
	if l.runs != nil {
		p.run, ok = slices.BinarySearchFunc(*l.runs, brokerName, func(run []queueEntry, name string) int {
			return strings.Compare(run[0].group.name, name)
		})
		if !ok {
			p.run = max(0, p.run-1) // the last one that begins before the name
		}
	}
	p.at, ok = slices.BinarySearchFunc(*l.run(p.run), brokerName, func(q queueEntry, name string) int {
		return strings.Compare(q.group.name, name)
	})
	return p, ok
}

// entry returns the entry at a place.
func (l *queueList) entry(p place) *queueEntry { return &(*l.run(p.run))[p.at] }

// get returns the entry of a group, which must be there.
func (l *queueList) get(g *brokerGroup) *queueEntry {
	p, _ := l.find(g.name)
	return l.entry(p)
}

// insert adds an entry at the place that find gave for it.
func (l *queueList) insert(p place, q queueEntry) {
	run := l.run(p.run)
	if len(*run) < runLength {
		*run = slices.Insert(*run, p.at, q)
		return
	}
	const half = runLength / 2
	lower, upper := slices.Clone((*run)[:half]), slices.Clone((*run)[half:])
	if p.at <= half {
		lower = slices.Insert(lower, p.at, q)
	} else {
		upper = slices.Insert(upper, p.at-half, q)
	}
	if l.runs == nil {
		l.few, l.runs = nil, &[][]queueEntry{lower, upper}
		return
	}
	*l.runs = slices.Replace(*l.runs, p.run, p.run+1, lower, upper)
}

// delete removes the entry at a place.
func (l *queueList) delete(p place) {
	run := l.run(p.run)
	*run = slices.Delete(*run, p.at, p.at+1)
	if l.runs == nil || len(*run) > 0 {
		return
	}
	*l.runs = slices.Delete(*l.runs, p.run, p.run+1)
	if len(*l.runs) == 1 {
		l.few, l.runs = (*l.runs)[0], nil
	}
}

// empty tells whether there is no entry.
func (l *queueList) empty() bool { return l.runs == nil && len(l.few) == 0 }

// len is the number of entries.
func (l *queueList) len() int {
	n := len(l.few)
	if l.runs != nil {
		for _, run := range *l.runs {
			n += len(run)
		}
	}
	return n
}

// first returns the entry of the lowest broker name; there must be one.
func (l *queueList) first() *queueEntry { return l.entry(place{}) }

// all goes through the entries in order.
func (l *queueList) all() iter.Seq[*queueEntry] {
	return func(yield func(*queueEntry) bool) {
		for i := range l.few {
			if !yield(&l.few[i]) {
				return
			}
		}
		if l.runs == nil {
			return
		}
		for _, run := range *l.runs {
			for i := range run {
				if !yield(&run[i]) {
					return
				}
			}
		}
	}
}
