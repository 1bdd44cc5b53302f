package protocol

import (
	"errors"
	"maps"
	"slices"
)

// KVTable is the answer to GET_KVLIST_BY_NAMESPACE (219), and the order topics in the answer to REGISTER_BROKER (103).
type KVTable struct {
	Table map[string]string
}

// KVConfigSerializeWrapper is the content of kvConfig.json: namespace, key, value.
type KVConfigSerializeWrapper struct {
	ConfigTable map[string]map[string]string
}

var (
	kvTableNames  = newJSONNames("table")
	kvConfigNames = newJSONNames("configTable")
)

// AppendJSON appends the table, ordered by key.
func (t *KVTable) AppendJSON(dst []byte, _ JSONForm) []byte {
	dst = append(dst, `{"table":`...)
	dst = appendJSONMap(dst, t.Table)
	return append(dst, '}')
}

// DecodeKVTable reads a table. Values of other types become their text, null values are left out.
func DecodeKVTable(data []byte) (KVTable, error) {
	var t KVTable
	err := decodeBody("KVTable", data, func(r *jsonReader) {
		var o jsonObject
		for ok := r.object(&o, kvTableNames); ok && r.member(&o); {
			t.Table = r.stringMap()
		}
	})
	if err != nil {
		return KVTable{}, err
	}
	return t, nil
}

// AppendJSON appends the content of kvConfig.json, ordered by namespace and key.
func (w *KVConfigSerializeWrapper) AppendJSON(dst []byte, _ JSONForm) []byte {
	dst = append(dst, `{"configTable":{`...)
	for i, ns := range slices.Sorted(maps.Keys(w.ConfigTable)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, ns)
		dst = append(dst, ':')
		dst = appendJSONMap(dst, w.ConfigTable[ns])
	}
	return append(dst, '}', '}')
}

// DecodeKVConfigSerializeWrapper reads the content of kvConfig.json. No content, blanks, null and [] give an empty table;
// an object without configTable is an error. Values of other types become their text; values and namespaces that are null
// are left out. Neither ConfigTable nor a table in it is nil. Source: spec/namesrv.md §8.3.
func DecodeKVConfigSerializeWrapper(data []byte) (KVConfigSerializeWrapper, error) {
	w := KVConfigSerializeWrapper{ConfigTable: map[string]map[string]string{}}
	err := decodeBody("KVConfigSerializeWrapper", data, func(r *jsonReader) {
		var o jsonObject
		found := false
		for ok := r.object(&o, kvConfigNames); ok && r.member(&o); {
			found = r.kvConfigTable(w.ConfigTable)
		}
		if !found {
			r.fail("configTable is missing")
		}
	})
	switch {
	case errors.Is(err, ErrNullBody):
		return w, nil
	case err != nil:
		return KVConfigSerializeWrapper{}, err
	}
	return w, nil
}

// kvConfigTable replaces the content of table by what it reads, and returns false for null.
func (r *jsonReader) kvConfigTable(table map[string]map[string]string) bool {
	clear(table)
	// No $ref here: a namespace may have a key of this name, and must be read as it was written.
	var o jsonObject
	if !r.textMap(&o) {
		return false
	}
	for {
		b, ok := r.textKey(&o)
		if !ok {
			return true
		}
		ns := string(b)
		if r.null() {
			delete(table, ns)
			continue
		}
		if table[ns] = r.stringMap(); table[ns] == nil {
			table[ns] = map[string]string{}
		}
	}
}
