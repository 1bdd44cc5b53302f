package protocol

import (
	"bytes"
	"slices"
)

// MaxListElements limits the lists of objects and numbers in the bodies of clients and administration tools, such as the
// subscriptions of a heartbeat. Tables, which are maps, are limited by the size of their body only.
const MaxListElements = 1 << 18

// requiredObject is object for a value that must not be null; what is it called.
func (r *jsonReader) requiredObject(o *jsonObject, names *jsonNames, what string) bool {
	if r.object(o, names) {
		return true
	}
	r.fail(what + " is null")
	return false
}

// readObjectList reads a list of objects, or one object in its place. It is nil for null and "" only.
func readObjectList[T any](r *jsonReader, read func(*T)) []T {
	var a jsonArray
	if !r.array(&a) {
		return nil
	}
	list := []T{}
	for r.element(&a) {
		if len(list) == MaxListElements {
			r.fail("a list is too long")
			break
		}
		list = append(list, *new(T))
		read(&list[len(list)-1])
	}
	return list
}

// readObjectMap reads a map of strings to objects, which read gets with their keys. The last value of a key counts, in the place
// of the first. It is nil for null and "" only.
func readObjectMap[T any](r *jsonReader, read func(key string, v *T)) []T {
	var o jsonObject
	if !r.object(&o, nil) {
		return nil
	}
	list := []T{}
	index := map[string]int{}
	for {
		b, ok := r.textKey(&o)
		if !ok {
			return list
		}
		key := string(b)
		i, ok := index[key]
		if !ok {
			i = len(list)
			index[key] = i
			list = append(list, *new(T))
		}
		list[i] = *new(T)
		read(key, &list[i])
	}
}

// int32List reads a list of numbers. It is nil for null and "" only; elements that are null are left out.
func (r *jsonReader) int32List() []int32 {
	var a jsonArray
	if c := r.skipBlanks(); c == '-' || '0' <= c && c <= '9' { // one number where a list is wanted
		var n int32
		r.int32(&n)
		return []int32{n}
	}
	if !r.array(&a) {
		return nil
	}
	list := []int32{}
	for r.element(&a) {
		if r.null() {
			continue
		}
		if len(list) == MaxListElements {
			r.fail("a list is too long")
			break
		}
		var n int32
		r.int32(&n)
		list = append(list, n)
	}
	return list
}

// stringList reads a list of strings, or one string in its place. It is nil for null and "" only. An element that is null
// becomes NullElement.
func (r *jsonReader) stringList() []string {
	var a jsonArray
	if !r.array(&a) {
		return nil
	}
	list := []string{}
	for r.element(&a) {
		if b, ok := r.text(); ok {
			list = append(list, string(b))
		} else {
			list = append(list, NullElement)
		}
	}
	return list
}

// stringMap reads a map of strings, without the entries that are null: in orders they are errors. It is nil if it has no
// entries.
func (r *jsonReader) stringMap() map[string]string {
	if bytes.HasPrefix(r.data[r.pos:], []byte("{}")) { // nearly all topics
		r.pos += 2
		return nil
	}
	var m map[string]string
	var o jsonObject
	for more := r.textMap(&o); more; {
		b, ok := r.textKey(&o)
		if !ok {
			break
		}
		key := string(b)
		if b, ok = r.text(); ok {
			if m == nil {
				m = make(map[string]string)
			}
			m[key] = string(b)
		} else if r.orders {
			r.fail("a value is null")
		} else {
			delete(m, key)
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// sortLast sorts list, in place, and keeps the last of several elements that compare equal.
func sortLast[T any](list []T, cmp func(a, b T) int) []T {
	slices.SortStableFunc(list, cmp)
	kept := list[:0]
	for i, e := range list {
		if i+1 < len(list) && cmp(e, list[i+1]) == 0 {
			continue
		}
		kept = append(kept, e)
	}
	return kept
}
