package protocol

import "errors"

// ErrNamespaceOrKeyNull refuses a KV entry without namespace or key; the text is the original's remark.
var ErrNamespaceOrKeyNull = errors.New("namespace or key is null")

// PutKVConfigRequestHeader is the header of PUT_KV_CONFIG (100). All fields are required; "" is a value.
//
// Source: spec/namesrv.md §4.1, §4.3.
type PutKVConfigRequestHeader struct {
	Namespace string
	Key       string
	Value     string
}

// Decode reads h from ext.
//
// Errors: ErrNamespaceOrKeyNull, *FieldError.
func (h *PutKVConfigRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	namespace, key := r.OptString("namespace"), r.OptString("key")
	if !namespace.Present || !key.Present {
		return ErrNamespaceOrKeyNull
	}
	h.Namespace, h.Key = namespace.Value, key.Value
	h.Value = r.String("value")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *PutKVConfigRequestHeader) AppendExt(ext Ext) Ext {
	return append(ext, Field{"namespace", h.Namespace}, Field{"key", h.Key}, Field{"value", h.Value})
}

// GetKVConfigRequestHeader is the header of GET_KV_CONFIG (101). The original looks for nothing, and finds
// nothing, when a field is missing; its remark then says "null".
//
// Source: spec/namesrv.md §4.1, §4.3.
type GetKVConfigRequestHeader struct {
	Namespace Opt[string]
	Key       Opt[string]
}

// Decode reads h from ext; it does not fail.
func (h *GetKVConfigRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Namespace = r.OptString("namespace")
	h.Key = r.OptString("key")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetKVConfigRequestHeader) AppendExt(ext Ext) Ext {
	ext = appendOptString(ext, "namespace", h.Namespace)
	ext = appendOptString(ext, "key", h.Key)
	return present(ext)
}

// GetKVConfigResponseHeader answers GET_KV_CONFIG (101); without a value when there is no such entry.
//
// Source: spec/namesrv.md §4.1.
type GetKVConfigResponseHeader struct {
	Value Opt[string]
}

// Decode reads h from ext; it does not fail.
func (h *GetKVConfigResponseHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Value = r.OptString("value")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetKVConfigResponseHeader) AppendExt(ext Ext) Ext {
	return present(appendOptString(ext, "value", h.Value))
}

// DeleteKVConfigRequestHeader is the header of DELETE_KV_CONFIG (102). An entry without namespace or key
// does not exist, and deleting what does not exist succeeds.
//
// Source: spec/namesrv.md §4.1, §4.3.
type DeleteKVConfigRequestHeader struct {
	Namespace Opt[string]
	Key       Opt[string]
}

// Decode reads h from ext; it does not fail.
func (h *DeleteKVConfigRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Namespace = r.OptString("namespace")
	h.Key = r.OptString("key")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *DeleteKVConfigRequestHeader) AppendExt(ext Ext) Ext {
	ext = appendOptString(ext, "namespace", h.Namespace)
	ext = appendOptString(ext, "key", h.Key)
	return present(ext)
}

// GetKVListByNamespaceRequestHeader is the header of GET_KVLIST_BY_NAMESPACE (219). A missing namespace is
// not found; the original's remark then says "null".
//
// Source: spec/namesrv.md §4.1, §4.3.
type GetKVListByNamespaceRequestHeader struct {
	Namespace Opt[string]
}

// Decode reads h from ext; it does not fail.
func (h *GetKVListByNamespaceRequestHeader) Decode(ext Ext) error {
	r := ReadExt(ext)
	h.Namespace = r.OptString("namespace")
	return r.Err()
}

// AppendExt appends h to ext.
func (h *GetKVListByNamespaceRequestHeader) AppendExt(ext Ext) Ext {
	return present(appendOptString(ext, "namespace", h.Namespace))
}
