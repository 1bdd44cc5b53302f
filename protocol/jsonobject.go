package protocol

import (
	"bytes"
	"strconv"
)

// MaxListElements limits the lists of objects and numbers in the bodies of clients and administration tools, such as the
// subscriptions of a heartbeat. Tables, which are maps, are limited by the size of their body only.
const MaxListElements = 1 << 18

// jsonWriter writes one object, member by member. Its caller gives the members in ascending order of name.
type jsonWriter struct {
	dst  []byte
	form JSONForm
	more bool // a member has been written
}

func beginObject(dst []byte, f JSONForm) jsonWriter {
	return jsonWriter{dst: append(dst, '{'), form: f}
}

// end closes the object and returns what has been written.
func (w *jsonWriter) end() []byte { return append(w.dst, '}') }

// name appends the name of the next member and returns the destination, for the value of a type that has no method here.
func (w *jsonWriter) name(name string) []byte {
	if w.more {
		w.dst = append(w.dst, ',')
	}
	w.more = true
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
	return w.dst
}

// key is name for the key of a map, which may be any text.
func (w *jsonWriter) key(key string) []byte {
	if w.more {
		w.dst = append(w.dst, ',')
	}
	w.more = true
	w.dst = append(appendJSONString(w.dst, key), ':')
	return w.dst
}

func (w *jsonWriter) string(name, s string) { w.dst = appendJSONString(w.name(name), s) }

// optString leaves null out.
func (w *jsonWriter) optString(name string, s *string) {
	if s != nil {
		w.string(name, *s)
	}
}

func (w *jsonWriter) int(name string, n int32) { w.dst = strconv.AppendInt(w.name(name), int64(n), 10) }

func (w *jsonWriter) long(name string, n int64) { w.dst = appendJSONLong(w.name(name), n, w.form) }

func (w *jsonWriter) bool(name string, b bool) { w.dst = strconv.AppendBool(w.name(name), b) }

func (w *jsonWriter) strings(name string, list []string) {
	w.dst = appendJSONStrings(w.name(name), list)
}

func (w *jsonWriter) stringMap(name string, m map[string]string) {
	w.dst = appendJSONMap(w.name(name), m)
}

func (w *jsonWriter) body(name string, b JSONBody) { w.dst = b.AppendJSON(w.name(name), w.form) }

// dataVersion leaves null out.
func (w *jsonWriter) dataVersion(name string, v *DataVersion) {
	if v != nil {
		w.body(name, v)
	}
}

// enum appends the name of constant number n, counted from 1; 0 is null and left out.
func (w *jsonWriter) enum(name string, names []string, n uint8) {
	if n > 0 && int(n) <= len(names) {
		w.string(name, names[n-1])
	}
}

func (w *jsonWriter) language(name string, l Language) {
	if int(l) < len(languageNames) {
		w.string(name, l.String())
	}
}

// writeList appends a member that is a list of objects; nil is an empty list.
func writeList[T any, P interface {
	*T
	JSONBody
}](w *jsonWriter, name string, list []T) {
	w.dst = append(w.name(name), '[')
	for i := range list {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = P(&list[i]).AppendJSON(w.dst, w.form)
	}
	w.dst = append(w.dst, ']')
}

// writeTable appends a member that is a map of strings to objects, in the order of the list.
func writeTable[T any, P interface {
	*T
	JSONBody
}](w *jsonWriter, name string, list []T, key func(*T) string) {
	w.dst = append(w.name(name), '{')
	for i := range list {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = appendJSONString(w.dst, key(&list[i]))
		w.dst = append(w.dst, ':')
		w.dst = P(&list[i]).AppendJSON(w.dst, w.form)
	}
	w.dst = append(w.dst, '}')
}

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

// language reads the name of a language; null and names nobody knows are LanguageUnknown.
func (r *jsonReader) language() Language {
	if i := r.enum(languageNames[:]); i >= 0 {
		return Language(i)
	}
	return LanguageUnknown
}

// version reads the number of a version.
func (r *jsonReader) version(v *Version) {
	n := int32(*v)
	r.int32(&n)
	*v = Version(n)
}

// queueKey moves to the value of the next entry of a map whose keys are message queues, and returns its key: a bare object,
// or a text that holds one.
func (r *jsonReader) queueKey(o *jsonObject) (mq MessageQueue, ok bool) {
	if r.err != nil {
		return MessageQueue{}, false
	}
	switch c := r.skipCommas(); c {
	case '}':
		r.leave(&o.outer)
		return MessageQueue{}, false
	case '{':
		r.messageQueue(&mq)
	case '"', '\'':
		nested := newJSONReader(bytes.Clone(r.quoted()))
		if nested.begin() {
			nested.messageQueue(&mq)
			nested.end()
		}
		if nested.err != nil {
			r.fail("a message queue was expected as name")
		}
	default:
		r.failUnexpected()
	}
	ok = r.colon()
	return mq, ok
}
