package conf

import (
	"fmt"
	"slices"
	"time"
)

// schema is what tells a NameServer's configuration from a broker's. How sources are merged and updates made is the
// same for both.
type schema struct {
	*table
	server string  // what the original of this configuration is called
	kept   []Group // groups whose keys are always shown and kept; of the others, those are that the file has

	pathKey     string // the key that names the file where updates are kept
	defaultPath string // that file within the home folder
	// showsPath: with -c, updates always go to that file, whatever pathKey says, and pathKey shows where they go.
	// Otherwise pathKey wins over -c, and its file is read after that of -c.
	showsPath bool

	never  []string // further keys that updates may never touch
	strict bool     // updates of unknown keys are refused rather than dropped
	steady bool     // the Config keeps the values of the start for keys that are not live

	// defaultsOfMachine returns defaults that the table cannot have, once all layers are read.
	defaultsOfMachine func(*loader) (map[string]string, error)
	// complete derives values from others, in place. The error is a *ValueError for those that do not go together.
	complete func(values map[string]string) error
	// check looks at complete values for what does not work together, with a *ValueError; nil: nothing can.
	check func(values map[string]string) error
}

var namesrvSchema = &schema{
	table: namesrvTable, server: "NameServer", kept: []Group{GroupNamesrv, GroupServer},
	pathKey: keyConfigStorePath, defaultPath: "namesrv/namesrv.properties", showsPath: true,
	never:             []string{keyKVConfigPath},
	defaultsOfMachine: func(*loader) (map[string]string, error) { return nil, nil },
	complete:          func(map[string]string) error { return nil },
}

func (s *schema) isKept(k *Key) bool { return slices.Contains(s.kept, k.Group) }

// version is the DataVersion of a broker's configuration.
type version struct {
	timestamp int64 // when the last update was made, or the configuration loaded; Unix milliseconds
	counter   int64 // of updates since the start
}

// next is the version after one more update.
func (v version) next() version {
	return version{timestamp: max(v.timestamp, time.Now().UnixMilli()), counter: v.counter + 1}
}

// String is the JSON form of protocol.DataVersion. The state version of a configuration is always 0.
func (v version) String() string {
	return fmt.Sprintf(`{"counter":%d,"stateVersion":0,"timestamp":%d}`, v.counter, v.timestamp)
}
