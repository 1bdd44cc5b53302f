package protocol

// NoHeader is the header of requests and responses whose extFields mean nothing, such as 206 or 319.
type NoHeader struct{}

// Decode accepts and ignores any extFields.
func (h *NoHeader) Decode(Ext) error { return nil }

// AppendExt returns ext unchanged: the command goes without extFields unless it has some already.
func (h *NoHeader) AppendExt(ext Ext) Ext { return ext }
