package broker

// Requests about consumer groups: UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200), UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST (225,
// 5.x), DELETE_SUBSCRIPTIONGROUP (207), GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201), GET_SUBSCRIPTIONGROUP_CONFIG (352, 5.x),
// UPDATE_AND_GET_GROUP_FORBIDDEN (353, 5.x).
//
//   - No body, or null, is an error; the original answers success to 200 then.
//   - 207 leaves no group behind; that of 5.5.0 makes it anew.
//   - Of 225 all groups are made, or none.

import (
	"context"
	"errors"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// errNoGroups refuses a list request that has no list.
var errNoGroups = errors.New("SubscriptionGroupList: groupConfigList is missing")

// updateGroup makes or changes a group (200).
//
// Source: spec/broker.md §5.7, §6.5.
func (s *Server) updateGroup(_ context.Context, peer *remoting.Peer, cmd *protocol.Command) (*remoting.Response, error) {
	group, err := protocol.DecodeSubscriptionGroupConfig(cmd.Body)
	if err != nil {
		return nil, err
	}
	if err := s.groups.update(group); err != nil {
		return nil, err
	}
	s.logChange(peer, "consumer group updated", "group", group.GroupName)
	return remoting.Success(), nil
}

// updateGroupList makes or changes groups (225).
//
// Source: spec/broker.md §5.7, §6.5.
func (s *Server) updateGroupList(_ context.Context, peer *remoting.Peer, cmd *protocol.Command) (*remoting.Response, error) {
	body, err := protocol.DecodeSubscriptionGroupList(cmd.Body)
	if err != nil {
		return nil, err
	}
	if body.GroupConfigList == nil {
		return nil, errNoGroups
	}
	if err := s.groups.updateList(body.GroupConfigList); err != nil {
		return nil, err
	}
	s.logChanges(peer, "consumer groups updated", "groups", len(body.GroupConfigList))
	return remoting.Success(), nil
}

// deleteGroup removes a group (207), and its offsets if that is asked for or the group consumes lite topics. A consumer that
// is online makes the group anew with its next heartbeat, if that is allowed.
//
// Source: spec/broker.md §6.5.
func (s *Server) deleteGroup(_ context.Context, req *remoting.Request[protocol.DeleteSubscriptionGroupRequestHeader]) (*remoting.Response, error) {
	name := req.Header.GroupName
	group, _ := s.groups.get(name)
	lite := group != nil && group.Attributes["lite.bind.topic"] != ""
	if err := s.groups.delete(name); err != nil {
		return nil, err
	}
	if req.Header.CleanOffset || lite { // nobody can commit offsets of the group any more
		if err := s.offsets.removeGroup(name); err != nil {
			return nil, err
		}
	}
	s.logChange(req.Peer, "consumer group deleted", "group", name)
	return remoting.Success(), nil
}

// allGroups lists groups (201): all, or a page. What is forbidden to groups is not paged.
//
// Source: spec/broker.md §6.5, spec/ha.md §3.2.
func (s *Server) allGroups(_ context.Context, req *remoting.Request[protocol.GetAllSubscriptionGroupRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	groups, forbidden, version := s.groups.snapshot()
	from, to := s.page(len(groups), version, h.GroupSeq, h.MaxGroupNum, h.DataVersion)
	body := protocol.SubscriptionGroupWrapper{
		SubscriptionGroupTable: deref(groups[from:to]), ForbiddenTable: forbidden, DataVersion: &version,
	}
	answer := jsonAnswer(&body)
	answer.Header = &protocol.GetAllSubscriptionGroupResponseHeader{TotalGroupNum: protocol.Some(int32(len(groups)))}
	return answer, nil
}

// groupConfig shows one group, which it makes if that is allowed (352).
//
// Source: spec/broker.md §6.5.
func (s *Server) groupConfig(_ context.Context, req *remoting.Request[protocol.GetSubscriptionGroupConfigRequestHeader]) (*remoting.Response, error) {
	group, err := s.groups.find(req.Header.Group)
	if err != nil {
		return nil, err
	}
	if group == nil {
		return nil, &remoting.Error{
			Code: protocol.RespSubscriptionGroupNotExist, Remark: "No group in this broker",
		}
	}
	return jsonAnswer(group), nil
}

// groupForbidden tells, and changes if asked to, whether a group may read a topic (353).
//
// Source: spec/broker.md §5.7.
func (s *Server) groupForbidden(_ context.Context, req *remoting.Request[protocol.UpdateGroupForbiddenRequestHeader]) (*remoting.Response, error) {
	h := &req.Header
	if h.Readable.Present {
		if err := s.groups.setForbidden(h.Group, h.Topic, forbidRead, !h.Readable.Value); err != nil {
			return nil, err
		}
		s.logChange(req.Peer, "forbidden topics of consumer group updated", "group", h.Group)
	}
	readable := !s.groups.isForbidden(h.Group, h.Topic, forbidRead)
	answer := jsonAnswer(&protocol.GroupForbidden{Group: h.Group, Topic: h.Topic, Readable: &readable})
	answer.HasRemark = true // an empty one, as in the original
	return answer, nil
}
