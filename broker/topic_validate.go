package broker

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// Limits of names, in characters. Source: spec/broker.md §3.5.
const (
	maxTopicLength      = 127
	maxRetryTopicLength = 255 // of topics that begin with %RETRY% or %DLQ%
	maxGroupLength      = 120
)

// maxQueueNums limits the queues of a topic, and of a group's retry topic. The original takes any number, and then hangs
// on requests that list them; an answer with this many still fits into a frame.
const maxQueueNums = 1 << 16

// Bits of TopicConfig.Perm.
const (
	permInherit = 1
	permWrite   = 2
	permRead    = 4
	maxPerm     = permRead | permWrite | permInherit
)

const namePattern = "^[%|a-zA-Z0-9_-]+$"

// validateTopicName returns the answer INVALID_PARAMETER (29) for a name that no topic may have.
func validateTopicName(topic string) error {
	switch {
	case isBlank(topic):
		return invalidParameter("The specified topic is blank.")
	case !hasNameCharacters(topic):
		return invalidParameter("The specified topic: %s, contains illegal characters, allowing only %s", topic, namePattern)
	case strings.HasPrefix(topic, retryTopicPrefix) || strings.HasPrefix(topic, dlqTopicPrefix):
		if len(topic) > maxRetryTopicLength {
			return invalidParameter("The specified topic is DLQ or Retry topic: %s, and it's longer than topic max length: %d",
				topic, maxRetryTopicLength)
		}
	case len(topic) > maxTopicLength:
		return invalidParameter("The specified topic: %s, is longer than topic max length: %d", topic, maxTopicLength)
	}
	return nil
}

// validateOwnTopicName is validateTopicName for topics that the broker makes by itself: their names may have characters that
// no client may choose, because retry topics of pop consumers have a '+' and 4.9 took groups of any name. Registrations
// cannot do with blanks.
func validateOwnTopicName(topic string) error {
	switch {
	case isBlank(topic):
		return invalidParameter("The specified topic is blank.")
	case strings.ContainsFunc(topic, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return invalidParameter("The specified topic: %s, contains illegal characters, allowing only %s", topic, namePattern)
	case len(topic) > maxRetryTopicLength:
		return invalidParameter("The specified topic: %s, is longer than topic max length: %d", topic, maxRetryTopicLength)
	}
	return nil
}

// validateGroupName returns the answer INVALID_PARAMETER (29) for a name that no group may have.
func validateGroupName(group string) error {
	switch {
	case isBlank(group):
		return invalidParameter("The specified group is blank.")
	case !hasNameCharacters(group):
		return invalidParameter("The specified group: %s, contains illegal characters, allowing only %s", group, namePattern)
	case len(group) > maxGroupLength:
		return invalidParameter("The specified group: %s, is longer than group max length: %d", group, maxGroupLength)
	}
	return nil
}

// validateTopicConfig returns the answer INVALID_PARAMETER (29) for numbers that no topic may have. The original takes
// them all.
func validateTopicConfig(c *protocol.TopicConfig) error {
	switch {
	case c.Perm < 0 || c.Perm > maxPerm:
		return invalidParameter("The perm of topic[%s] is %d, allowing only 0 to %d", c.TopicName, c.Perm, maxPerm)
	case c.ReadQueueNums < 0 || c.ReadQueueNums > maxQueueNums:
		return invalidParameter("The readQueueNums of topic[%s] is %d, allowing only 0 to %d", c.TopicName, c.ReadQueueNums, maxQueueNums)
	case c.WriteQueueNums < 0 || c.WriteQueueNums > maxQueueNums:
		return invalidParameter("The writeQueueNums of topic[%s] is %d, allowing only 0 to %d", c.TopicName, c.WriteQueueNums, maxQueueNums)
	}
	return nil
}

// validateGroupConfig returns the answer INVALID_PARAMETER (29) for numbers that no group may have. The original takes
// them all.
func validateGroupConfig(g *protocol.SubscriptionGroupConfig) error {
	switch {
	case g.RetryQueueNums < 0 || g.RetryQueueNums > maxQueueNums:
		return invalidParameter("The retryQueueNums of group[%s] is %d, allowing only 0 to %d", g.GroupName, g.RetryQueueNums, maxQueueNums)
	case g.RetryMaxTimes < 0:
		return invalidParameter("The retryMaxTimes of group[%s] is %d, allowing only 0 and above", g.GroupName, g.RetryMaxTimes)
	}
	return nil
}

// isBlank tells whether there is nothing in s but white space.
func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

func hasNameCharacters(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '%', c == '|', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

func invalidParameter(format string, args ...any) error {
	return &remoting.Error{Code: protocol.RespInvalidParameter, Remark: fmt.Sprintf(format, args...)}
}
