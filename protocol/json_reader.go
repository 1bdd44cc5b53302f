package protocol

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth limits how deep objects and lists may be nested, members that nobody reads included. The deepest body of
// the protocol has 7 levels; fastjson 1 stops at 512.
const maxJSONDepth = 512

// JSONError says where a text stops being JSON that we read, or where a value does not fit its member.
type JSONError struct {
	Offset int // bytes from the start of the text
	Reason string
}

func (e *JSONError) Error() string { return fmt.Sprintf("JSON at offset %d: %s", e.Offset, e.Reason) }

// jsonReader reads the JSON that RocketMQ peers write, known members straight into the caller's values, without a tree
// in between. It accepts all that fastjson 1 or release 5.5.0 accepts (spec/since-2025-09.md §1.4 and §1.6):
//
//   - names bare, in single quotes, in another case, with '_' or '-' inserted; bare numbers as names in maps with
//     numeric keys
//   - comments, a byte order mark, missing and spare commas, ';' as a comma
//   - numbers as text, with sign, fraction, exponent or suffix, booleans as numbers and the reverse; null and "" leave
//     the value that the member had
//   - one object where a list is wanted, a list of one object where an object is wanted, "" as an empty object or list
//   - {"$ref":"$.path"} for objects and lists
//
// The first failure is kept in err and ends every loop, so callers check once, at the end. Byte slices it hands out
// are valid until its next call only; strings never alias data.
type jsonReader struct {
	data  []byte
	pos   int
	depth int
	refs  int    // bytes that may still be read because of a $ref
	buf   []byte // text of the last string with escapes or invalid UTF-8
	sized bool   // a table as large as data may become has been allocated, once
	// orders makes names of constants that there are not, and null in maps, an error. Elsewhere the former are null and the latter
	// is left out: what a newer version tells is to be read, but what is asked for is not to be replaced by something else.
	orders bool
	// skipped, if set, is told the name of each member that a class does not have. It must not keep its argument.
	skipped func(name []byte)
	err     error
}

// newJSONReader returns a reader at the start of data.
func newJSONReader(data []byte) *jsonReader {
	// A body that is all references to its largest part costs some times its own length, never the square of it.
	return &jsonReader{data: data, refs: 8*len(data) + 1<<10}
}

// decodeJSON reads one object, which must be all that data holds, by calling read with a reader in front of it. Errors
// are ErrNullBody for a text that holds nothing, and *JSONError.
func decodeJSON(data []byte, read func(*jsonReader)) error {
	r := newJSONReader(data)
	if r.begin() {
		read(r)
		r.end()
	}
	return r.err
}

// fail keeps the first error.
func (r *jsonReader) fail(reason string) {
	if r.err == nil {
		r.err = &JSONError{Offset: r.pos, Reason: reason}
	}
}

// failUnexpected fails because data ends or goes on with something unexpected.
func (r *jsonReader) failUnexpected() {
	if r.pos >= len(r.data) {
		r.fail("unexpected end")
		return
	}
	r.fail("unexpected " + strconv.QuoteToASCII(string(r.data[r.pos:r.pos+1])))
}

// begin moves to the object that data has to hold.
func (r *jsonReader) begin() bool {
	if bytes.HasPrefix(r.data, []byte("\uFEFF")) {
		r.pos = len("\uFEFF")
	}
	r.skipOuterBlanks()
	if r.err != nil {
		return false
	}
	start := r.pos
	switch {
	case r.pos == len(r.data):
		r.err = ErrNullBody
		return false
	case r.data[r.pos] == '{':
		return true
	case r.data[r.pos] == '[':
		r.pos++
		if r.skipCommas() == ']' {
			r.pos++
			if r.end(); r.err == nil {
				r.err = ErrNullBody
			}
			return false
		}
	case string(r.token()) == "null":
		if r.end(); r.err == nil {
			r.err = ErrNullBody
		}
		return false
	}
	if r.err == nil {
		r.pos = start
		r.fail("not an object")
	}
	return false
}

// end fails if anything but blanks, comments and one comma is left.
func (r *jsonReader) end() {
	if r.err != nil {
		return
	}
	r.skipOuterBlanks()
	if r.pos < len(r.data) && r.data[r.pos] == ',' {
		r.pos++
		r.skipOuterBlanks()
	}
	if r.err == nil && r.pos < len(r.data) {
		r.fail("text after the value")
	}
}

// skipOuterBlanks skips what may stand around the value: also NUL.
func (r *jsonReader) skipOuterBlanks() {
	for r.skipBlanks(); r.pos < len(r.data) && r.data[r.pos] == 0; r.skipBlanks() {
		r.pos++
	}
}

// skipBlanks skips blanks and comments and returns the byte after them, without consuming it; 0 at the end.
func (r *jsonReader) skipBlanks() byte {
	for r.pos < len(r.data) {
		c := r.data[r.pos]
		if c > ' ' && c != '/' {
			return c
		}
		switch c {
		case ' ', '\t', '\n', '\r', '\f', '\v', '\b':
			r.pos++
		case '/':
			if !r.skipComment() {
				return 0
			}
		default:
			return c
		}
	}
	return 0
}

// skipComment skips a comment of either kind. One that begins with two slashes may end with the text.
func (r *jsonReader) skipComment() bool {
	rest := r.data[r.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			r.pos += i + 1
		} else {
			r.pos = len(r.data)
		}
		return true
	case bytes.HasPrefix(rest, []byte("/*")):
		if i := bytes.Index(rest[2:], []byte("*/")); i >= 0 {
			r.pos += 2 + i + 2
			return true
		}
		r.fail("comment without end")
	default:
		r.failUnexpected()
	}
	return false
}

// skipCommas skips blanks, comments and any number of separators, and returns the byte after them.
func (r *jsonReader) skipCommas() byte {
	for {
		c := r.skipBlanks()
		if c != ',' && c != ';' {
			return c
		}
		r.pos++
	}
}

// enter counts one more level.
func (r *jsonReader) enter() bool {
	if r.depth++; r.depth > maxJSONDepth {
		r.fail("nested too deep")
		return false
	}
	return true
}

// jsonNames are the member names of one class, in the order in which Java writes them.
type jsonNames struct {
	names  []string
	quoted []string // the names as Java writes them: in double quotes, with the colon
}

// newJSONNames returns the names of a class. There must be no more than 64.
func newJSONNames(names ...string) *jsonNames {
	n := &jsonNames{names: names}
	for _, s := range names {
		n.quoted = append(n.quoted, `"`+s+`":`)
	}
	return n
}

// find returns the index of the member called name, and whether it is called exactly so; -1 if there is none.
func (n *jsonNames) find(name []byte) (index int, exact bool) {
	for i, s := range n.names {
		if string(name) == s {
			return i, true
		}
	}
	for i, s := range n.names {
		if equalFolded(s, name) {
			return i, false
		}
	}
	return -1, false
}

// equalFolded tells whether name is s but for the case of ASCII letters and any number of '_' and '-'.
func equalFolded(s string, name []byte) bool {
	i := 0
	for _, c := range name {
		if c == '_' || c == '-' {
			continue
		}
		if i == len(s) || lower(c) != lower(s[i]) {
			return false
		}
		i++
	}
	return i == len(s)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// jsonObject is the state of reading one object. Its loop is
//
//	var o jsonObject
//	for ok := r.object(&o, names); ok && r.member(&o); {
//		switch o.name { case "perm": r.int32(&t.Perm) … }
//	}
//
// for a class, and the same with nil for names and textKey or intKey in place of member for a map.
type jsonObject struct {
	name  string // of the member in front of whose value the reader is
	names *jsonNames
	next  int    // index of the name that Java would write next
	seen  uint64 // bit i: member i has been there
	outer jsonOuter
}

// jsonOuter says what has to be done after an object or list.
type jsonOuter struct {
	back    int  // position after the $ref that led here; 0: none did
	wrapped bool // it is the only element of a list
}

// object enters the object in front of the reader. It returns false for null and "", which are consumed, and for
// anything that is no object, which is an error.
func (r *jsonReader) object(o *jsonObject, names *jsonNames) bool {
	return r.enterObject(o, names, true)
}

// textMap is object for a map of strings, which may have an entry called "$ref" like any other.
func (r *jsonReader) textMap(o *jsonObject) bool { return r.enterObject(o, nil, false) }

func (r *jsonReader) enterObject(o *jsonObject, names *jsonNames, refs bool) bool {
	*o = jsonObject{names: names}
	if r.err != nil {
		return false
	}
	c := r.skipBlanks()
	if c == '[' {
		if !r.enter() {
			return false
		}
		r.pos++
		o.outer.wrapped = true
		c = r.skipCommas()
	}
	if c == '{' {
		r.pos++
		for refs { // a reference may lead to another one
			back, ok := r.reference()
			if !ok {
				break
			}
			if o.outer.back == 0 {
				o.outer.back = back
			}
			if r.skipBlanks() != '{' {
				r.fail("$ref to something that is no object")
				return false
			}
			r.pos++
		}
		return r.err == nil && r.enter()
	}
	if !o.outer.wrapped && r.null() {
		return false
	}
	r.fail("an object was expected")
	return false
}

// leave consumes the closing bracket and what belongs to the object or list around it.
func (r *jsonReader) leave(o *jsonOuter) {
	r.pos++
	r.depth--
	if o.back > 0 {
		r.pos = o.back
	}
	if o.wrapped {
		if r.skipCommas() != ']' {
			r.fail("a list of one object was expected")
			return
		}
		r.pos++
		r.depth--
	}
}

// member moves to the value of the next member that the class has, and skips others. It returns false after the last.
// Of several members with one name all are returned, so that the last one counts; a name that is only alike is taken if
// the member has not been there.
func (r *jsonReader) member(o *jsonObject) bool {
	for r.err == nil {
		// What Java writes: the next name of the class, after a comma.
		p := r.pos
		if p < len(r.data) && r.data[p] == ',' {
			p++
		}
		if o.next < len(o.names.quoted) {
			if q := o.names.quoted[o.next]; len(r.data)-p >= len(q) && string(r.data[p:p+len(q)]) == q {
				r.pos = p + len(q)
				o.take(o.next)
				return true
			}
		}
		name, ok := r.textKey(o)
		if !ok {
			return false
		}
		i, exact := o.names.find(name)
		if i < 0 || !exact && o.seen&(1<<i) != 0 {
			if r.skipped != nil {
				r.skipped(name)
			}
			r.skipValue()
			continue
		}
		o.take(i)
		return true
	}
	return false
}

func (o *jsonObject) take(i int) {
	o.name = o.names.names[i]
	o.seen |= 1 << i
	o.next = i + 1
}

// textKey moves to the value of the next entry of a map with string keys, and returns its key.
func (r *jsonReader) textKey(o *jsonObject) (key []byte, ok bool) {
	if r.err != nil {
		return nil, false
	}
	switch c := r.skipCommas(); {
	case c == '}':
		r.leave(&o.outer)
		return nil, false
	case c == '"' || c == '\'':
		key = r.quoted()
	case isNameByte(c) && !isDigit(c) && c != '-':
		key = r.bareName()
	default:
		r.failUnexpected()
	}
	return key, r.colon()
}

// intKey moves to the value of the next entry of a map with numeric keys, and returns its key.
func (r *jsonReader) intKey(o *jsonObject) (key int64, ok bool) {
	if r.err != nil {
		return 0, false
	}
	var text []byte
	switch c := r.skipCommas(); c {
	case '}':
		r.leave(&o.outer)
		return 0, false
	case '"', '\'':
		text = r.quoted()
	default:
		text = r.token()
	}
	if r.err == nil {
		if key, ok = parseJSONInt(text); !ok {
			r.fail("a number was expected as name")
		}
	}
	return key, r.colon()
}

// anyKey moves to the value of the next entry of any object, whatever its keys. key is nil for keys that are objects.
func (r *jsonReader) anyKey(o *jsonObject) (key []byte, ok bool) {
	if r.err != nil {
		return nil, false
	}
	switch c := r.skipCommas(); c {
	case '}':
		r.leave(&o.outer)
		return nil, false
	case '"', '\'':
		key = r.quoted()
	case '{', '[':
		r.skipValue()
	default:
		key = r.token()
	}
	return key, r.colon()
}

// colon consumes the colon after a name.
func (r *jsonReader) colon() bool {
	if r.err != nil {
		return false
	}
	if r.skipBlanks() != ':' {
		r.fail("a colon was expected")
		return false
	}
	r.pos++
	return true
}

// jsonArray is the state of reading one list. Its loop is
//
//	var a jsonArray
//	for ok := r.array(&a); ok && r.element(&a); { … }
type jsonArray struct {
	single bool // one value in the place of the list
	done   bool // after that value
	outer  jsonOuter
}

// array enters the list in front of the reader, or the object or text in its place. It returns false for null and "",
// which are consumed, and for numbers and booleans, which are errors.
func (r *jsonReader) array(a *jsonArray) bool {
	*a = jsonArray{}
	if r.err != nil {
		return false
	}
	start := 0
	switch r.skipBlanks() {
	case '[':
	case '{':
		start = r.pos
		r.pos++
		back, ok := r.reference()
		if r.err != nil {
			return false
		}
		if ok && r.skipBlanks() == '[' {
			a.outer.back = back
			break
		}
		r.pos = start
		a.single = true
		return true
	case '"', '\'':
		if r.null() {
			return false
		}
		a.single = true
		return true
	default:
		if !r.null() {
			r.fail("a list was expected")
		}
		return false
	}
	r.pos++
	return r.enter()
}

// element moves to the next element and returns false after the last.
func (r *jsonReader) element(a *jsonArray) bool {
	switch {
	case r.err != nil || a.done:
		return false
	case a.single:
		a.done = true
		return true
	}
	switch r.skipCommas() {
	case ']':
		r.leave(&a.outer)
		return false
	case 0:
		r.failUnexpected()
		return false
	}
	return true
}

// null consumes null, "" and the word undefined, and returns false for everything else, which it leaves.
func (r *jsonReader) null() bool {
	if r.err != nil {
		return false
	}
	start := r.pos
	switch c := r.skipBlanks(); c {
	case '"', '\'':
		if r.pos+1 < len(r.data) && r.data[r.pos+1] == c {
			r.pos += 2
			return true
		}
	case 'n', 'u':
		if t := r.token(); string(t) == "null" || string(t) == "undefined" {
			return true
		}
	}
	if r.err == nil {
		r.pos = start
	}
	return false
}

// int32 reads a number into v. Null and "" leave v as it is.
func (r *jsonReader) int32(v *int32) {
	n := int64(*v)
	r.int64(&n)
	if n != int64(int32(n)) {
		r.fail("a number out of range")
		return
	}
	*v = int32(n)
}

// int64 reads a number into v. Null and "" leave v as it is.
func (r *jsonReader) int64(v *int64) {
	if r.err != nil {
		return
	}
	// What Java writes: digits and a comma or bracket.
	p, neg := r.pos, false
	if p < len(r.data) && r.data[p] == '-' {
		neg = true
		p++
	}
	first, n := p, int64(0)
	for p < len(r.data) && isDigit(r.data[p]) && p-first < 18 {
		n = n*10 + int64(r.data[p]-'0')
		p++
	}
	if p > first && p < len(r.data) && (r.data[p] == ',' || r.data[p] == '}') {
		if neg {
			n = -n
		}
		*v, r.pos = n, p
		return
	}
	r.oddInt64(v)
}

// oddInt64 is int64 for all the other ways to write a number.
func (r *jsonReader) oddInt64(v *int64) {
	start := r.pos
	var text []byte
	switch c := r.skipBlanks(); c {
	case '"', '\'':
		if text = r.quoted(); len(text) == 0 || string(text) == "null" {
			return
		}
	case '[': // a list of one number
		if !r.enter() {
			return
		}
		r.pos++
		r.skipCommas()
		r.int64(v)
		if r.err == nil && r.skipCommas() != ']' {
			r.fail("a number was expected")
		}
		r.pos++
		r.depth--
		return
	case '{': // an empty object is 0
		r.pos++
		if r.skipCommas() != '}' {
			r.fail("a number was expected")
			return
		}
		r.pos++
		*v = 0
		return
	default:
		switch text = r.token(); string(text) {
		case "null":
			return
		case "NaN", "undefined":
			*v = 0
			return
		}
	}
	if r.err != nil {
		return
	}
	n, ok := parseJSONInt(text)
	if !ok {
		r.pos = start
		r.fail("a number was expected")
		return
	}
	*v = n
}

// parseJSONInt reads an integer out of the text of a scalar, as Java's casts do: fractions are cut off, true is 1, and
// a suffix that gives the type is ignored.
func parseJSONInt(text []byte) (int64, bool) {
	switch len(text) {
	case 0:
		return 0, false
	case 4:
		if bytes.EqualFold(text, []byte("true")) {
			return 1, true
		}
	case 5:
		if bytes.EqualFold(text, []byte("false")) {
			return 0, true
		}
	}
	switch text[len(text)-1] {
	case 'L', 'l', 'S', 's', 'B', 'b', 'F', 'f', 'D', 'd':
		text = text[:len(text)-1]
	}
	if !isNumberText(text) {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, true
	}
	if i := bytes.IndexByte(text, '.'); i > 0 && !bytes.ContainsAny(text, "eE") {
		n, err := strconv.ParseInt(string(text[:i]), 10, 64)
		return n, err == nil
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil || x < math.MinInt64 || x >= math.MaxInt64 {
		return 0, false
	}
	return int64(x), true
}

// isNumberText tells whether text is a decimal number, with or without sign, fraction and exponent.
func isNumberText(text []byte) bool {
	i := 0
	digits := func() int {
		start := i
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		return i - start
	}
	sign := func() {
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
	}
	sign()
	n := digits()
	if i < len(text) && text[i] == '.' {
		i++
		n += digits()
	}
	if n == 0 {
		return false
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		sign()
		if digits() == 0 {
			return false
		}
	}
	return i == len(text)
}

// bool reads a boolean into v. Null and "" leave v as it is.
func (r *jsonReader) bool(v *bool) {
	if r.err != nil {
		return
	}
	start := r.pos
	var text []byte
	quoted := false
	switch c := r.skipBlanks(); c {
	case '"', '\'':
		text = r.quoted()
		quoted = true
	default:
		text = r.token()
	}
	if r.err != nil {
		return
	}
	switch {
	case bytes.EqualFold(text, []byte("true")), quoted && (string(text) == "Y" || string(text) == "T"):
		*v = true
	case bytes.EqualFold(text, []byte("false")), quoted && (string(text) == "N" || string(text) == "F"):
		*v = false
	case bytes.EqualFold(text, []byte("null")), quoted && len(text) == 0:
	default:
		n, ok := parseJSONInt(text)
		if !ok {
			r.pos = start
			r.fail("a boolean was expected")
			return
		}
		*v = n == 1
	}
}

// text reads a string, or the text of any other value. ok is false for null.
func (r *jsonReader) text() (text []byte, ok bool) {
	if r.err != nil {
		return nil, false
	}
	switch c := r.skipBlanks(); c {
	case '"', '\'':
		text = r.quoted()
	case '{', '[':
		text = r.appendValue(make([]byte, 0, 64))
	default:
		start := r.pos
		if text = r.token(); string(text) == "null" || string(text) == "undefined" {
			return nil, false
		}
		if !isScalar(text) {
			r.pos = start
			r.failUnexpected()
		}
	}
	return text, r.err == nil
}

// string reads a string into v, which null leaves as it is.
func (r *jsonReader) string(v *string) {
	if b, ok := r.text(); ok {
		*v = string(b)
	}
}

// optString reads a string that may be null.
func (r *jsonReader) optString() *string {
	b, ok := r.text()
	if !ok {
		return nil
	}
	s := string(b)
	return &s
}

// required reads a string into v and returns whether it is there: not null.
func (r *jsonReader) required(v *string) bool {
	b, ok := r.text()
	if ok {
		*v = string(b)
	}
	return ok
}

// enum reads a constant given by its name in any letter case, or by its number, and returns that number;
// -1 for null and for a name that is not in names, which is an error if r.orders is set. A number beyond the list
// always is one.
//
// Source: spec/remoting.md §2.3, §9.2.
func (r *jsonReader) enum(names []string) int {
	if r.err != nil {
		return -1
	}
	c, start := r.skipBlanks(), r.pos
	if c == '"' || c == '\'' {
		name := r.quoted()
		i := slices.IndexFunc(names, func(s string) bool { return s == string(name) })
		if i < 0 {
			i = slices.IndexFunc(names, func(s string) bool { return strings.EqualFold(s, string(name)) })
		}
		if i < 0 && r.orders && len(name) > 0 {
			r.pos = start
			r.fail("not one of " + strings.Join(names, ", "))
		}
		return i
	}
	text := r.token()
	if r.err != nil || string(text) == "null" || string(text) == "undefined" {
		return -1
	}
	n, ok := parseJSONInt(text)
	if !ok || n < 0 || n >= int64(len(names)) {
		r.pos = start
		r.fail("not one of " + strings.Join(names, ", ") + ", nor the number of one")
		return -1
	}
	return int(n)
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

// skipValue reads over any value.
func (r *jsonReader) skipValue() { r.walk(nil) }

// appendValue appends the text of any value as Java writes it when a string is wanted: without blanks, with plain
// names, without entries that are null.
func (r *jsonReader) appendValue(dst []byte) []byte {
	r.walk(&dst)
	return dst
}

// walk reads any value, and appends it to dst if that is not nil. It recurses no deeper than maxJSONDepth.
func (r *jsonReader) walk(dst *[]byte) {
	if r.err != nil {
		return
	}
	switch c := r.skipBlanks(); c {
	case '"', '\'':
		if text := r.quoted(); dst != nil {
			*dst = appendJSONString(*dst, string(text))
		}
	case '{':
		r.walkObject(dst)
	case '[':
		r.walkArray(dst)
	default:
		start := r.pos
		text := r.token()
		if !isScalar(text) {
			r.pos = start
			r.failUnexpected()
			return
		}
		if dst != nil {
			*dst = append(*dst, text...)
		}
	}
}

func (r *jsonReader) walkObject(dst *[]byte) {
	r.pos++
	if !r.enter() {
		return
	}
	var o jsonObject
	if dst == nil {
		for {
			if _, ok := r.anyKey(&o); !ok {
				return
			}
			r.walk(nil)
		}
	}
	*dst = append(*dst, '{')
	empty := true
	for {
		key, ok := r.anyKey(&o)
		if !ok {
			break
		}
		before := len(*dst)
		if !empty {
			*dst = append(*dst, ',')
		}
		*dst = appendJSONString(*dst, string(key))
		*dst = append(*dst, ':')
		if r.nullWord() {
			*dst = (*dst)[:before]
			continue
		}
		empty = false
		r.walk(dst)
	}
	*dst = append(*dst, '}')
}

func (r *jsonReader) walkArray(dst *[]byte) {
	r.pos++
	if !r.enter() {
		return
	}
	var a jsonArray
	if dst == nil {
		for r.element(&a) {
			r.walk(nil)
		}
		return
	}
	*dst = append(*dst, '[')
	for first := true; r.element(&a); first = false {
		if !first {
			*dst = append(*dst, ',')
		}
		r.walk(dst)
	}
	*dst = append(*dst, ']')
}

// nullWord consumes null, but not "".
func (r *jsonReader) nullWord() bool {
	c := r.skipBlanks()
	return (c == 'n' || c == 'u') && r.null()
}

// isScalar tells whether the text of a token is a value.
func isScalar(text []byte) bool {
	switch string(text) {
	case "null", "undefined", "NaN":
		return true
	}
	_, ok := parseJSONInt(text)
	return ok || isNumberText(text)
}

// token reads a number or word: everything up to a blank or a byte that has a meaning of its own.
func (r *jsonReader) token() []byte {
	start := r.pos
	for r.pos < len(r.data) && isTokenByte(r.data[r.pos]) {
		r.pos++
	}
	if r.pos == start {
		r.failUnexpected()
	}
	return r.data[start:r.pos]
}

// bareName reads a name without quotes.
func (r *jsonReader) bareName() []byte {
	start := r.pos
	for r.pos < len(r.data) && isNameByte(r.data[r.pos]) {
		r.pos++
	}
	return r.validUTF8(r.data[start:r.pos])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isTokenByte(c byte) bool { return isNameByte(c) || c == '+' || c == '.' }

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_' || c == '-' || c == '$' || c >= utf8.RuneSelf
}

// quoted reads the string in whose opening quote the reader is. The result aliases data or buf.
func (r *jsonReader) quoted() []byte {
	quote := r.data[r.pos]
	start := r.pos + 1
	high := byte(0)
	for i := start; i < len(r.data); i++ {
		c := r.data[i]
		if c == quote {
			r.pos = i + 1
			if high >= utf8.RuneSelf {
				return r.validUTF8(r.data[start:i])
			}
			return r.data[start:i]
		}
		if c == '\\' {
			return r.escaped(start, i, quote)
		}
		high |= c
	}
	r.pos = len(r.data)
	r.fail("string without end")
	return nil
}

// escaped goes on with a string that begins at start and has its first escape at i.
func (r *jsonReader) escaped(start, i int, quote byte) []byte {
	buf := append(r.buf[:0], r.data[start:i]...)
	for i < len(r.data) {
		c := r.data[i]
		i++
		switch c {
		case quote:
			r.pos = i
			r.buf = buf
			return r.validUTF8(buf)
		case '\\':
			var n int
			buf, n = appendUnescaped(buf, r.data[i:])
			if n == 0 {
				r.pos = i - 1
				r.fail("bad escape")
				return nil
			}
			i += n
		default:
			buf = append(buf, c)
		}
	}
	r.pos = len(r.data)
	r.fail("string without end")
	return nil
}

// appendUnescaped appends the character for the escape that begins in s, after its backslash, and returns how many bytes
// of s belong to it; 0 if it is none.
func appendUnescaped(dst, s []byte) ([]byte, int) {
	if len(s) == 0 {
		return dst, 0
	}
	switch c := s[0]; c {
	case 'b':
		return append(dst, '\b'), 1
	case 't':
		return append(dst, '\t'), 1
	case 'n':
		return append(dst, '\n'), 1
	case 'v':
		return append(dst, '\v'), 1
	case 'f', 'F':
		return append(dst, '\f'), 1
	case 'r':
		return append(dst, '\r'), 1
	case '"', '\'', '\\', '/', '@', '#', '.', '_':
		return append(dst, c), 1
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return append(dst, c-'0'), 1
	case 'x':
		if n, ok := parseHex(s[1:], 2); ok {
			return utf8.AppendRune(dst, n), 3
		}
	case 'u':
		n, ok := parseHex(s[1:], 4)
		if !ok {
			return dst, 0
		}
		if !utf16.IsSurrogate(n) {
			return utf8.AppendRune(dst, n), 5
		}
		if len(s) > 6 && s[5] == '\\' && s[6] == 'u' {
			if low, ok := parseHex(s[7:], 4); ok {
				if full := utf16.DecodeRune(n, low); full != utf8.RuneError {
					return utf8.AppendRune(dst, full), 11
				}
			}
		}
		return append(dst, '?'), 5 // what Java makes of a lone surrogate as soon as it writes it
	}
	return dst, 0
}

// parseHex reads exactly n hexadecimal digits.
func parseHex(s []byte, n int) (rune, bool) {
	if len(s) < n {
		return 0, false
	}
	var v rune
	for _, c := range s[:n] {
		switch {
		case isDigit(c):
			v = v<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			v = v<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			v = v<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

// validUTF8 returns s with U+FFFD for each byte that is no UTF-8. Bytes that never occur in UTF-8 and a sequence that is
// cut off by the end of the string are errors, as in 5.5.0.
func (r *jsonReader) validUTF8(s []byte) []byte {
	if utf8.Valid(s) {
		return s
	}
	out := make([]byte, 0, len(s)+2*utf8.UTFMax)
	for len(s) > 0 {
		c, n := utf8.DecodeRune(s)
		if c == utf8.RuneError && n == 1 && (s[0] >= 0xF8 || !utf8.FullRune(s)) {
			r.fail("invalid UTF-8")
			return nil
		}
		out = utf8.AppendRune(out, c)
		s = s[n:]
	}
	r.buf = out
	return out
}
