package protocol

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/klauspost/compress/zlib"
)

// RegisterBrokerBody is what a broker tells with REGISTER_BROKER (103). Source: spec/namesrv.md §4.2.
type RegisterBrokerBody struct {
	// FilterServerList holds the addresses of the broker's filter servers. Nil (JSON null, or a body of a broker before
	// 3.0.11) leaves those known so far as they are; empty and not nil clears them.
	FilterServerList []string
	// Topics is topicConfigTable in wire order, one entry per MapKey (the last one in the body). Two entries may still
	// name the same topic; the later one counts.
	Topics []TopicConfig
	// DataVersion is nil if it was null. It is then stored as "none", which equals no version.
	DataVersion *DataVersion
	// MappingDataVersion is nil if it was null or absent. No peer looks at it.
	MappingDataVersion *DataVersion
	// Mappings is topicQueueMappingInfoMap in wire order; empty for brokers before 5.0.
	Mappings []NamedQueueMapping
}

// RegisterBodyOptions say how a registration body is to be read.
type RegisterBodyOptions struct {
	// Version is the version in the request's header. From Version5_0_0 on a compressed body has a section of queue
	// mappings; below Version3_0_11 Compressed is not looked at. A negative one is refused.
	Version Version
	// Compressed is the header field of this name. A body that begins like a zlib stream is inflated in any case.
	Compressed bool
	// Now is the time in milliseconds since 1970, for a data version without timestamp.
	Now int64
	// MaxInflated limits the size in bytes of an inflated body; 0 means DefaultMaxInflated.
	MaxInflated int
	// Intern gives the string for the bytes of a topic name, for example one that is in use already. It must not keep
	// its argument. Nil makes a new string.
	Intern func(name []byte) string
}

// DefaultMaxInflated is the limit for inflated registration bodies in bytes. It is that of a frame, which as JSON holds
// only a third of the topics.
const DefaultMaxInflated = 16 << 20

var (
	// ErrInflatedTooLarge is wrapped by errors of compressed bodies beyond RegisterBodyOptions.MaxInflated.
	ErrInflatedTooLarge = errors.New("inflated body is too large")
	// ErrBodyVersion is wrapped by errors of registration bodies whose header has a negative version.
	ErrBodyVersion = errors.New("negative version")

	errSection = errors.New("a length or count is out of range")
)

var (
	registerBodyNames = newJSONNames("filterServerList", "topicConfigSerializeWrapper",
		// The rest are the members of the wrapper, for bodies that have no other.
		"dataVersion", "mappingDataVersion", "topicConfigTable", "topicQueueMappingInfoMap")
	registerWrapperNames = newJSONNames("dataVersion", "mappingDataVersion", "topicConfigTable",
		"topicQueueMappingInfoMap")
)

// DecodeRegisterBrokerBody reads the body of REGISTER_BROKER (103) in any of its forms: JSON of brokers since 3.0.11, the
// topic table alone of those before, and compressed. Which of the JSON forms it is, is seen from the members and not
// from the version, because some peers leave their version at 0.
//
// Data version and topic names are as in the original when parts are missing: no body is an empty registration with
// data version (0, 0, 0); an absent data version is (0, Now, 0), one that is null is nil. A wrapper, topic table or topic
// that is null and a topic without name are errors, so that nothing is registered by halves. A body that holds nothing,
// such as null, is an error that wraps ErrNullBody. The result aliases nothing of body.
func DecodeRegisterBrokerBody(body []byte, o RegisterBodyOptions) (RegisterBrokerBody, error) {
	b, err := o.decode(body)
	if err != nil {
		return RegisterBrokerBody{}, &BodyError{Body: "RegisterBrokerBody", Err: err}
	}
	return b, nil
}

func (o *RegisterBodyOptions) decode(body []byte) (RegisterBrokerBody, error) {
	old := o.Version < Version3_0_11
	switch {
	case o.Version < 0:
		return RegisterBrokerBody{}, fmt.Errorf("%w: %d", ErrBodyVersion, o.Version)
	case len(body) == 0:
		b := RegisterBrokerBody{DataVersion: &DataVersion{}}
		if !old {
			b.FilterServerList = []string{}
		}
		return b, nil
	case o.isCompressed(body):
		return o.inflate(body)
	}
	return o.decodeJSON(body, old)
}

func (o *RegisterBodyOptions) isCompressed(body []byte) bool {
	return o.Compressed && o.Version >= Version3_0_11 || isZlib(body)
}

func (o *RegisterBodyOptions) maxInflated() int {
	if o.MaxInflated == 0 {
		return DefaultMaxInflated
	}
	return o.MaxInflated
}

// TextSize is how many bytes of text a body may turn out to have: its own, or for a compressed one as many as it can be
// inflated to within the limit. The memory that decoding it takes is a few times that.
func (o *RegisterBodyOptions) TextSize(body []byte) int {
	const bestRatio = 1032 // of deflate
	if !o.isCompressed(body) {
		return len(body)
	}
	return min(bestRatio*len(body), o.maxInflated())
}

// isZlib tells whether body begins with the header of a zlib stream (RFC 1950) as brokers write it: window of 32 KiB and
// a checksum. No JSON begins so.
func isZlib(body []byte) bool {
	return len(body) >= 2 && body[0] == 0x78 && binary.BigEndian.Uint16(body)%31 == 0
}

// decodeJSON reads the JSON forms. old is set for a version that knows no filter servers.
func (o *RegisterBodyOptions) decodeJSON(body []byte, old bool) (RegisterBrokerBody, error) {
	b := RegisterBrokerBody{DataVersion: &DataVersion{Timestamp: o.Now}}
	wrapper, table, filters := false, false, false
	err := decodeJSON(body, func(r *jsonReader) {
		var obj jsonObject
		for ok := r.object(&obj, registerBodyNames); ok && r.member(&obj); {
			switch obj.name {
			case "filterServerList":
				filters = true
				b.FilterServerList = r.stringList()
			case "topicConfigSerializeWrapper":
				wrapper = true
				o.wrapper(r, &b)
			default:
				if wrapper {
					r.skipValue()
					continue
				}
				table = table || obj.name == "topicConfigTable"
				o.wrapperMember(r, obj.name, &b)
			}
		}
	})
	if err != nil {
		return RegisterBrokerBody{}, err
	}
	if !filters && !old && (wrapper || !table) {
		b.FilterServerList = []string{}
	}
	return b, nil
}

// wrapper reads topicConfigSerializeWrapper.
func (o *RegisterBodyOptions) wrapper(r *jsonReader, b *RegisterBrokerBody) {
	*b = RegisterBrokerBody{FilterServerList: b.FilterServerList, DataVersion: &DataVersion{Timestamp: o.Now}}
	var obj jsonObject
	if !r.object(&obj, registerWrapperNames) {
		r.fail("topicConfigSerializeWrapper is null")
		return
	}
	for r.member(&obj) {
		o.wrapperMember(r, obj.name, b)
	}
}

func (o *RegisterBodyOptions) wrapperMember(r *jsonReader, name string, b *RegisterBrokerBody) {
	switch name {
	case "dataVersion":
		b.DataVersion = r.dataVersion(o.Now)
	case "mappingDataVersion":
		b.MappingDataVersion = r.dataVersion(o.Now)
	case "topicConfigTable":
		b.Topics = r.topicTable(o.Intern)
	case "topicQueueMappingInfoMap":
		b.Mappings = r.mappings()
	}
}

// AppendJSON appends the body as a 5.x broker sends it. Members that are nil are left out.
func (b *RegisterBrokerBody) AppendJSON(dst []byte, f JSONForm) []byte {
	dst = append(dst, '{')
	if b.FilterServerList != nil {
		dst = append(dst, `"filterServerList":`...)
		dst = appendJSONStrings(dst, b.FilterServerList)
		dst = append(dst, ',')
	}
	dst = append(dst, `"topicConfigSerializeWrapper":{`...)
	if b.DataVersion != nil {
		dst = append(dst, `"dataVersion":`...)
		dst = b.DataVersion.AppendJSON(dst, f)
		dst = append(dst, ',')
	}
	if b.MappingDataVersion != nil {
		dst = append(dst, `"mappingDataVersion":`...)
		dst = b.MappingDataVersion.AppendJSON(dst, f)
		dst = append(dst, ',')
	}
	dst = append(dst, `"topicConfigTable":`...)
	dst = appendTopicTable(dst, b.Topics, f)
	dst = append(dst, `,"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":`...)
	dst = appendMappings(dst, b.Mappings, f)
	return append(dst, '}', '}')
}

// AppendCompressed appends the body as a compressed registration of a broker of the given version:
//
//	zlib( L DataVersion | n | n × (L topic) | L filter servers | [ m | m × (L mapping) ] )
//
// L, n and m are int32, big-endian. A topic is the text "name readQueueNums writeQueueNums perm topicFilterType", from
// Version5_0_0 on with a sixth part, its attributes as JSON; since then, too, mappings are sent. The form has no place
// for Order and TopicSysFlag. It fails for topic names with a blank.
func (b *RegisterBrokerBody) AppendCompressed(dst []byte, version Version) ([]byte, error) {
	plain, err := b.appendSections(nil, version)
	if err == nil {
		out := bytes.NewBuffer(dst)
		w, _ := zlib.NewWriterLevel(out, zlib.BestCompression) // what brokers use
		_, err = w.Write(plain)
		if err = errors.Join(err, w.Close()); err == nil {
			return out.Bytes(), nil
		}
	}
	return dst, &BodyError{Body: "RegisterBrokerBody", Err: err}
}

// appendSections appends what AppendCompressed compresses.
func (b *RegisterBrokerBody) appendSections(dst []byte, version Version) ([]byte, error) {
	var text []byte
	section := func() {
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(text)))
		dst = append(dst, text...)
		text = text[:0]
	}
	if b.DataVersion != nil {
		text = b.DataVersion.AppendJSON(text, FormDefault)
	}
	section()
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(b.Topics)))
	for i := range b.Topics {
		t := &b.Topics[i]
		if bytes.IndexByte([]byte(t.TopicName), ' ') >= 0 {
			return nil, fmt.Errorf("topic %q: a name with a blank cannot be sent compressed", t.TopicName)
		}
		text = t.appendText(text, version)
		section()
	}
	if b.FilterServerList == nil {
		text = append(text, "null"...)
	} else {
		text = appendJSONStrings(text, b.FilterServerList)
	}
	section()
	if version < Version5_0_0 {
		return dst, nil
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(b.Mappings)))
	for i := range b.Mappings {
		text = b.Mappings[i].Info.AppendJSON(text, FormDefault)
		section()
	}
	return dst, nil
}

// appendText appends the line for one topic.
func (t *TopicConfig) appendText(dst []byte, version Version) []byte {
	dst = append(dst, t.TopicName...)
	for _, n := range [...]int32{t.ReadQueueNums, t.WriteQueueNums, t.Perm} {
		dst = append(dst, ' ')
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	dst = append(dst, ' ')
	dst = append(dst, t.TopicFilterType.String()...)
	if version >= Version5_0_0 {
		dst = append(dst, ' ')
		dst = appendJSONMap(dst, t.Attributes)
	}
	return dst
}

// readText reads the line for one topic. Attributes that cannot be read are dropped.
func (t *TopicConfig) readText(line []byte, intern func([]byte) string) error {
	var part [5][]byte
	rest := line
	for i := range part {
		var more bool
		part[i], rest, more = bytes.Cut(rest, []byte(" "))
		if !more && i < len(part)-1 {
			return errors.New("a topic has fewer than 5 parts")
		}
	}
	*t = TopicConfig{}
	for i, n := range [...]*int32{&t.ReadQueueNums, &t.WriteQueueNums, &t.Perm} {
		v, err := strconv.ParseInt(string(part[1+i]), 10, 32)
		if err != nil {
			return errors.New("a topic with a bad number")
		}
		*n = int32(v)
	}
	switch string(part[4]) {
	case FilterSingleTag.String():
	case FilterMultiTag.String():
		t.TopicFilterType = FilterMultiTag
	default:
		return errors.New("a topic with an unknown topicFilterType")
	}
	name := part[0]
	if !utf8.Valid(name) {
		name = bytes.ToValidUTF8(name, []byte("\uFFFD"))
	}
	t.TopicName = intern(name)
	t.MapKey = t.TopicName
	if len(rest) > 2 { // not {}
		var attributes map[string]string
		if decodeJSON(rest, func(r *jsonReader) { attributes = r.stringMap() }) == nil {
			t.Attributes = attributes
		}
	}
	return nil
}

// inflate reads the compressed form. Bytes after the last section are ignored.
func (o *RegisterBodyOptions) inflate(body []byte) (RegisterBrokerBody, error) {
	z, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		return RegisterBrokerBody{}, err
	}
	defer func() { _ = z.Close() }() // fails only if reading did
	s := sectionReader{r: bufio.NewReaderSize(z, 8<<10), left: o.maxInflated()}
	b := o.sections(&s)
	if s.err != nil {
		return RegisterBrokerBody{}, s.err
	}
	return b, nil
}

func (o *RegisterBodyOptions) sections(s *sectionReader) RegisterBrokerBody {
	intern := o.Intern
	if intern == nil {
		intern = func(b []byte) string { return string(b) }
	}
	var b RegisterBrokerBody
	s.json(func(r *jsonReader) { b.DataVersion = r.dataVersion(o.Now) })
	n := s.count()
	b.Topics = make([]TopicConfig, 0, min(n, 1024)) // grows with the topics that are really there
	for range n {
		line := s.next()
		if s.err != nil {
			return b
		}
		var t TopicConfig
		if s.err = t.readText(line, intern); s.err != nil {
			return b
		}
		b.Topics = append(b.Topics, t)
	}
	b.Topics = lastOfKey(b.Topics)
	b.FilterServerList = readFilterServers(s.next())
	if o.Version < Version5_0_0 {
		return b
	}
	index := map[string]int{}
	for range s.count() {
		var m TopicQueueMappingInfo
		named := false
		s.json(func(r *jsonReader) {
			named = true
			r.queueMapping(&m)
		})
		if s.err == nil && (!named || m.Topic == "") {
			s.err = errors.New("a queue mapping has no topic")
		}
		if s.err != nil {
			return b
		}
		if i, ok := index[m.Topic]; ok {
			b.Mappings[i].Info = m
			continue
		}
		index[m.Topic] = len(b.Mappings)
		b.Mappings = append(b.Mappings, NamedQueueMapping{Key: m.Topic, Info: m})
	}
	return b
}

// readFilterServers reads the list of filter servers in a compressed body. One that cannot be read is empty.
func readFilterServers(text []byte) []string {
	var list []string
	r := newJSONReader(text)
	if list = r.stringList(); r.err == nil {
		r.end()
	}
	if r.err != nil {
		return []string{}
	}
	return list
}

// sectionReader reads the sections of an inflated body and keeps the first error.
type sectionReader struct {
	r    *bufio.Reader
	left int    // bytes that may still be inflated
	buf  []byte // last text that did not fit into r
	err  error
}

// count reads a number that is no less than 0.
func (s *sectionReader) count() int {
	if s.err != nil {
		return 0
	}
	if s.left -= 4; s.left < 0 {
		s.err = ErrInflatedTooLarge
		return 0
	}
	b, err := s.r.Peek(4)
	if err != nil {
		s.fail(err)
		return 0
	}
	n := int32(binary.BigEndian.Uint32(b))
	_, _ = s.r.Discard(4)
	if n < 0 {
		s.err = errSection
		return 0
	}
	return int(n)
}

// next reads a text and the length before it. The text is valid until the next call.
func (s *sectionReader) next() []byte {
	n := s.count()
	if s.err != nil {
		return nil
	}
	if s.left -= n; s.left < 0 {
		s.err = ErrInflatedTooLarge
		return nil
	}
	if n <= s.r.Size() {
		b, err := s.r.Peek(n)
		if err != nil {
			s.fail(err)
			return nil
		}
		_, _ = s.r.Discard(n)
		return b
	}
	// The length is what a peer says: take memory only for what has come.
	w := bytes.NewBuffer(s.buf[:0])
	if _, err := io.CopyN(w, s.r, int64(n)); err != nil {
		s.fail(err)
		return nil
	}
	s.buf = w.Bytes()
	return s.buf
}

// json reads a text that is an object, or null, for which it does not call read.
func (s *sectionReader) json(read func(*jsonReader)) {
	text := s.next()
	if s.err != nil {
		return
	}
	if err := decodeJSON(text, read); err != nil && !errors.Is(err, ErrNullBody) {
		s.err = err
	}
}

func (s *sectionReader) fail(err error) {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	s.err = err
}

// BodyCRC32 is the checksum brokers send in the header field bodyCrc32 of REGISTER_BROKER (103): the IEEE CRC-32 of the
// body as transmitted, without its top bit. The checksum of an absent body is 0, and a field of 0 asks for no check.
// Source: spec/namesrv.md §4.2.
func BodyCRC32(body []byte) int32 {
	return int32(crc32.ChecksumIEEE(body) & 0x7FFFFFFF)
}
