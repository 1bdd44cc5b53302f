package protocol

import (
	"bytes"
	"strconv"
)

// reference resolves an object {"$ref":"$.path"}, which fastjson 1 writes for an object that occurs a second time in one
// body. It is called after the opening brace. If there is such an object, it moves to the value it stands for and
// returns the position after the reference; else it moves nowhere.
//
// Each resolution looks the path up from the start of the text. What that and the value cost is counted against refs, so
// that references to references cannot multiply.
func (r *jsonReader) reference() (back int, ok bool) {
	rest := bytes.TrimLeft(r.data[r.pos:], " \t\r\n\f")
	if !bytes.HasPrefix(rest, []byte(`"$ref"`)) && !bytes.HasPrefix(rest, []byte(`'$ref'`)) {
		return 0, false
	}
	start := r.pos
	var o jsonObject
	r.textKey(&o)
	if c := r.skipBlanks(); r.err == nil && c != '"' && c != '\'' {
		r.pos = start // a member that happens to have this name
		return 0, false
	}
	path, _ := r.text()
	path = bytes.Clone(path)
	if r.err == nil && (!bytes.HasPrefix(path, []byte("$")) || r.skipCommas() != '}') {
		r.pos = start
		return 0, false
	}
	if r.err != nil {
		return 0, false
	}
	back = r.pos + 1
	target := newJSONReader(r.data)
	if !target.begin() || !target.follow(path) {
		r.refs -= target.pos
		r.fail("$ref to nothing")
		return 0, false
	}
	at := target.pos
	target.skipValue()
	if r.refs -= target.pos; r.refs < 0 {
		r.fail("too many $ref")
		return 0, false
	}
	r.pos = at
	return back, true
}

// follow moves from the outermost value to the one at path: $, then any number of .name, [index] and ['name'].
func (r *jsonReader) follow(path []byte) bool {
	path = path[1:]
	for len(path) > 0 && r.err == nil {
		var step []byte
		if path[0] == '.' {
			step, path = cutName(path[1:])
		} else if end := bytes.IndexByte(path, ']'); path[0] == '[' && end > 0 {
			step, path = path[1:end], path[end+1:]
			if n := len(step); n >= 2 && (step[0] == '\'' || step[0] == '"') && step[n-1] == step[0] {
				step = step[1 : n-1]
			}
		} else {
			return false
		}
		if !r.descend(step) {
			return false
		}
	}
	r.skipBlanks()
	return r.err == nil
}

// cutName splits path after the name it begins with, in which a backslash makes the next byte ordinary.
func cutName(path []byte) (name, rest []byte) {
	i := 0
	for ; i < len(path) && path[i] != '.' && path[i] != '['; i++ {
		if path[i] == '\\' && i+1 < len(path) {
			i++
		}
		name = append(name, path[i])
	}
	return name, path[i:]
}

// descend moves to the value of the first member called step, or to the element with this index.
func (r *jsonReader) descend(step []byte) bool {
	switch r.skipBlanks() {
	case '{':
		r.pos++
		if !r.enter() {
			return false
		}
		var o jsonObject
		for {
			key, ok := r.anyKey(&o)
			if !ok {
				return false
			}
			if bytes.Equal(key, step) {
				return true
			}
			r.skipValue()
		}
	case '[':
		index, err := strconv.Atoi(string(step))
		if err != nil || index < 0 {
			return false
		}
		r.pos++
		if !r.enter() {
			return false
		}
		var a jsonArray
		for i := 0; r.element(&a); i++ {
			if i == index {
				return true
			}
			r.skipValue()
		}
	}
	return false
}
