package broker

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// attribute is what a topic or group may have set besides its members.
type attribute struct {
	changeable bool // also after the topic or group has been made
	verify     func(value string) error
}

// attributeMessageType says what kind of messages a topic is for.
const attributeMessageType = "message.type"

// messageTypeMixed is the value of attributeMessageType that needs enableMixedMessageType.
const messageTypeMixed = "MIXED"

// topicAttributes are the attributes of topics. Source: spec/broker.md §3.1, spec/since-2025-09.md §4.1.
var topicAttributes = map[string]attribute{
	"queue.type":     {verify: oneOf("SimpleCQ", "BatchCQ")},
	"cleanup.policy": {verify: oneOf("DELETE", "COMPACTION")},
	// In the order in which the original lists them.
	attributeMessageType: {changeable: true,
		verify: oneOf("UNSPECIFIED", messageTypeMixed, "TRANSACTION", "PRIORITY", "FIFO", "DELAY", "LITE", "NORMAL")},
	"lite.topic.expiration": {changeable: true, verify: between(-1, 43200)}, // minutes
	"reserve.time": {changeable: true, verify: func(string) error { // for the tiered store
		return errors.New("Update topic reserveTime not supported")
	}},
}

// groupAttributes are the attributes of groups. Source: spec/since-2025-09.md §7.3.
var groupAttributes = map[string]attribute{
	"priority.factor":                   {changeable: true, verify: between(0, 100)},
	"lite.bind.topic":                   {changeable: true, verify: anyText},
	"lite.sub.model":                    {changeable: true, verify: oneOf("Shared", "Exclusive")},
	"lite.sub.reset.offset.exclusive":   {changeable: true, verify: isBoolean},
	"lite.sub.reset.offset.unsubscribe": {changeable: true, verify: isBoolean},
	"lite.sub.client.quota":             {changeable: true, verify: between(-1, maxJavaLong)},
	"lite.sub.client.max.event.cnt":     {changeable: true, verify: between(10, maxJavaLong)},
	"lite.sub.wildcard":                 {changeable: true, verify: anyText},
}

const maxJavaLong = 1<<63 - 1

func anyText(string) error { return nil }

func oneOf(values ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(values, value) {
			return fmt.Errorf("value is not in set: [%s]", strings.Join(values, ", "))
		}
		return nil
	}
}

func between(low, high int64) func(string) error {
	return func(value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrSyntax), errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("For input string: %q", value)
		case n < low || n > high:
			return fmt.Errorf("value is not in range(%d, %d)", low, high)
		}
		return nil
	}
}

func isBoolean(value string) error {
	if !strings.EqualFold(value, "true") && !strings.EqualFold(value, "false") {
		return errors.New("boolean attribute format is wrong.")
	}
	return nil
}

// attributeChange is one item of a modification: key has its sign.
type attributeChange struct{ key, value string }

// parseAttributes reads the text of a modification: a list of +key=value (add or change) and -key (remove), with commas
// between them. Its errors have the original's texts. Source: spec/broker.md §3.1.
func parseAttributes(text string) ([]attributeChange, error) {
	var changes []attributeChange
	if text == "" {
		return nil, nil
	}
	for item := range strings.SplitSeq(strings.TrimRight(text, ","), ",") {
		key, value, isSet := strings.Cut(item, "=")
		switch {
		case isSet && (!strings.Contains(key, "+") || value == ""):
			return nil, fmt.Errorf("add/alter attribute format is wrong: %s", key)
		case !isSet && !strings.Contains(key, "-"):
			return nil, fmt.Errorf("delete attribute format is wrong: %s", key)
		case slices.ContainsFunc(changes, func(c attributeChange) bool { return c.key == key }):
			return nil, fmt.Errorf("key duplication: %s", key)
		}
		changes = append(changes, attributeChange{key, value})
	}
	return changes, nil
}

// attributeChanges makes a modification of a map whose keys have their signs, in the order of keys.
func attributeChanges(signed map[string]string) []attributeChange {
	var changes []attributeChange
	for _, key := range slices.Sorted(maps.Keys(signed)) {
		changes = append(changes, attributeChange{key, signed[key]})
	}
	return changes
}

// alterAttributes returns what the modification makes of current, which it does not change: bare keys, nil if there are
// none. created says that the topic or group is new. Its errors have the original's texts. Source: spec/broker.md §3.1.
func alterAttributes(known map[string]attribute, current map[string]string, changes []attributeChange, created bool) (map[string]string, error) {
	if len(changes) == 0 {
		return current, nil
	}
	seen := make(map[string]bool, len(changes))
	for _, c := range changes { // all of the form first, then all of the meaning, as in the original
		key := bareKey(c.key)
		switch {
		case key == "" || strings.ContainsAny(key, "+-"):
			return nil, errors.New("kv string format wrong.")
		case seen[key]:
			return nil, fmt.Errorf("alter duplication key. key: %s", key)
		case created && c.key[0] != '+':
			return nil, fmt.Errorf("only add attribute is supported while creating topic. key: %s", key)
		case c.key[0] == '-':
			if _, there := current[key]; !there {
				return nil, fmt.Errorf("attempt to delete a nonexistent key: %s", key)
			}
		case c.key[0] != '+':
			return nil, fmt.Errorf("wrong format key: %s", key)
		}
		seen[key] = true
	}
	altered := maps.Clone(current)
	if altered == nil {
		altered = make(map[string]string, len(changes))
	}
	for _, c := range changes {
		key := bareKey(c.key)
		a, ok := known[key]
		switch {
		case !ok:
			return nil, fmt.Errorf("unsupported key: %s", key)
		case !created && !a.changeable:
			return nil, fmt.Errorf("attempt to update an unchangeable attribute. key: %s", key)
		case c.key[0] == '-':
			delete(altered, key)
			continue
		}
		if err := a.verify(c.value); err != nil {
			return nil, err
		}
		altered[strings.Clone(key)] = strings.Clone(c.value) // of the request nothing else is kept
	}
	if len(altered) == 0 {
		return nil, nil
	}
	return altered, nil
}

// bareKey returns key without its sign, or as it is if it has none.
func bareKey(key string) string {
	if key != "" && (key[0] == '+' || key[0] == '-') {
		return key[1:]
	}
	return key
}
