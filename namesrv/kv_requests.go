package namesrv

import (
	"context"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// Requests for the KV configuration; both lines of releases have all of them.
//
//	100 PUT_KV_CONFIG            sets a value; answered when it is on disk
//	101 GET_KV_CONFIG            22 when there is none
//	102 DELETE_KV_CONFIG         succeeds also where there is nothing; answered when that is on disk
//	219 GET_KVLIST_BY_NAMESPACE  22 when there is no such namespace, {"table":{}} when it is empty
//
// Source: spec/namesrv.md §4.3, §8; spec/field-reports.md N43, N45.

// notFound starts the remarks of code 22.
const notFound = "No config item, Namespace: "

// putKVConfig sets a value. Namespace, key and value may be empty but not missing.
func (s *Server) putKVConfig(ctx context.Context, req *remoting.Request[protocol.PutKVConfigRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	if err := s.kv.put(ctx, h.Namespace, h.Key, h.Value); err != nil {
		return nil, err
	}
	return remoting.Success(), nil
}

// getKVConfig answers with a value in the header, or with code 22 and an empty header.
func (s *Server) getKVConfig(_ context.Context, req *remoting.Request[protocol.GetKVConfigRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	if h.Namespace.Present && h.Key.Present {
		if value, ok := s.kv.get(h.Namespace.Value, h.Key.Value); ok {
			return &remoting.Response{Header: &protocol.GetKVConfigResponseHeader{Value: protocol.Some(value)}}, nil
		}
	}
	return &remoting.Response{
		Code:   protocol.RespQueryNotFound,
		Remark: notFound + h.Namespace.Or(null) + " Key: " + h.Key.Or(null),
		Header: &protocol.GetKVConfigResponseHeader{},
	}, nil
}

// deleteKVConfig deletes a key. An entry without namespace or key does not exist.
func (s *Server) deleteKVConfig(ctx context.Context, req *remoting.Request[protocol.DeleteKVConfigRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	if h.Namespace.Present && h.Key.Present {
		if err := s.kv.remove(ctx, h.Namespace.Value, h.Key.Value); err != nil {
			return nil, err
		}
	}
	return remoting.Success(), nil
}

// getKVListByNamespace answers with a whole namespace as KVTable.
func (s *Server) getKVListByNamespace(_ context.Context, req *remoting.Request[protocol.GetKVListByNamespaceRequestHeader]) (*remoting.Response, error) {
	if name := req.Header.Namespace; name.Present {
		if n, ok := s.kv.namespace(name.Value); ok {
			return remoting.Body(n.body()), nil
		}
	}
	return &remoting.Response{Code: protocol.RespQueryNotFound, Remark: notFound + req.Header.Namespace.Or(null)}, nil
}
