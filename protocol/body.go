package protocol

import "errors"

// ErrNullBody is wrapped by errors of bodies that hold nothing: no bytes, blanks, null or []. Such a body is
// an empty value for some requests, and a fault in others.
var ErrNullBody = errors.New("body is null")

// BodyError is the error of all functions that decode or encode a body.
type BodyError struct {
	Body string // class name in the original, such as RegisterBrokerBody
	Err  error
}

func (e *BodyError) Error() string { return e.Body + ": " + e.Err.Error() }

func (e *BodyError) Unwrap() error { return e.Err }

// decodeBody is decodeJSON with the error of a body.
func decodeBody(class string, data []byte, read func(*jsonReader)) error {
	if err := decodeJSON(data, read); err != nil {
		return &BodyError{Body: class, Err: err}
	}
	return nil
}

// DataVersion tells two states of a broker's topic table apart. Versions are compared for being equal (==), never for
// being newer; only StateVersion orders masters.
type DataVersion struct {
	StateVersion int64
	Timestamp    int64 // milliseconds since 1970 on the broker's clock
	Counter      int64
	// CounterNull is set when the counter was null in JSON, which Java keeps apart from 0 and leaves out when it writes.
	CounterNull bool
}

var dataVersionNames = newJSONNames("counter", "stateVersion", "timestamp")

// AppendJSON appends the version, also in FormStrict where its numbers are in quotes beyond ±(2^53-1).
func (v *DataVersion) AppendJSON(dst []byte, f JSONForm) []byte {
	dst = append(dst, '{')
	if !v.CounterNull {
		dst = append(dst, `"counter":`...)
		dst = appendJSONLong(dst, v.Counter, f)
		dst = append(dst, ',')
	}
	dst = append(dst, `"stateVersion":`...)
	dst = appendJSONLong(dst, v.StateVersion, f)
	dst = append(dst, `,"timestamp":`...)
	dst = appendJSONLong(dst, v.Timestamp, f)
	return append(dst, '}')
}

// dataVersion reads a version; nil is null. The timestamp is now, in milliseconds since 1970, if it says none.
func (r *jsonReader) dataVersion(now int64) *DataVersion {
	var o jsonObject
	if !r.object(&o, dataVersionNames) {
		return nil
	}
	v := &DataVersion{Timestamp: now}
	for r.member(&o) {
		switch o.name {
		case "counter":
			if v.CounterNull = r.null(); v.CounterNull {
				v.Counter = 0
			} else {
				r.int64(&v.Counter)
			}
		case "stateVersion":
			r.int64(&v.StateVersion)
		case "timestamp":
			r.int64(&v.Timestamp)
		}
	}
	return v
}

// DecodeDataVersion reads the body of QUERY_DATA_VERSION (322). now is the time in milliseconds since 1970, for a version
// without timestamp. A body that holds nothing gives ErrNullBody.
func DecodeDataVersion(data []byte, now int64) (DataVersion, error) {
	var v DataVersion
	err := decodeBody("DataVersion", data, func(r *jsonReader) {
		if p := r.dataVersion(now); p != nil {
			v = *p
		}
	})
	return v, err
}
