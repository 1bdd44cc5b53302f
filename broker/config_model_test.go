package broker

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mq-server/mq/protocol"
)

// TestDataVersionModel compares the topic table with a plain map and a counter, after random changes, restarts and failed
// writes. Its rules are those of spec/broker.md §3.3, of which one is tightened: what changes nothing is no new version.
func TestDataVersionModel(t *testing.T) {
	root := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(root, fmt.Sprint(runs))
		settings := goldenTopicSettings
		var failing bool
		var table *topicTable
		open := func() {
			opts := topicOptionsIn(dir)
			opts.Settings = func() topicSettings { return settings }
			var err error
			table, err = openTopics(opts)
			require.NoError(t, err)
			path := table.file.path
			table.file.write = func(data []byte) error { // without the waiting for the disk
				if failing {
					return os.ErrPermission
				}
				return os.WriteFile(path, data, 0o600)
			}
		}
		open()
		model := map[string]protocol.TopicConfig{}
		for _, topic := range table.file.load().topics.sorted {
			model[topic.TopicName] = *topic
		}
		counter := table.file.load().version.Counter
		tables := map[protocol.DataVersion]string{}

		// change runs op. apply is what it does to the model if it succeeds, and returns the number of new versions.
		change := func(op func() error, apply func(m map[string]protocol.TopicConfig) int64) {
			failing = rapid.IntRange(0, 9).Draw(t, "disk") == 0
			next := maps.Clone(model)
			bumps := apply(next)
			err := op()
			switch {
			case bumps < 0:
				require.Error(t, err)
			case failing && bumps > 0:
				require.ErrorIs(t, err, os.ErrPermission)
			case failing && err != nil: // there was nothing to do, but an earlier write had failed
				require.ErrorIs(t, err, os.ErrPermission)
			default:
				require.NoError(t, err)
				model = next
				counter += bumps
			}
			failing = false
		}
		name := rapid.SampledFrom([]string{"A", "B", "C", "%RETRY%G", "%RETRY%G_A", "TBW102", "broker-a", "bad name"})
		queues := rapid.Int32Range(-1, 3)
		perm := rapid.SampledFrom([]int32{6, 4, 7, 8})
		put := func(m map[string]protocol.TopicConfig, topic protocol.TopicConfig) int64 {
			topic.Attributes = m[topic.TopicName].Attributes
			if old, ok := m[topic.TopicName]; ok && equalTopics(&old, &topic) {
				return 0
			}
			m[topic.TopicName] = topic
			return 1
		}
		isBad := func(topic protocol.TopicConfig) bool {
			return topic.TopicName == "bad name" || table.isSystem(topic.TopicName) || topic.Perm > 7 || topic.WriteQueueNums < 0
		}
		t.Repeat(map[string]func(*rapid.T){
			"update": func(t *rapid.T) {
				topic := *newTopic(name.Draw(t, "name"), queues.Draw(t, "queues"), perm.Draw(t, "perm"), 0, false)
				text, attributes := "", map[string]string(nil)
				if rapid.Bool().Draw(t, "attributes") {
					text, attributes = "+message.type=FIFO", map[string]string{"message.type": "FIFO"}
				}
				change(func() error { return table.update(topic, text) }, func(m map[string]protocol.TopicConfig) int64 {
					if isBad(topic) {
						return -1
					}
					old, existed := m[topic.TopicName]
					_ = put(m, topic)
					if attributes != nil {
						changed := m[topic.TopicName]
						changed.Attributes = attributes
						m[topic.TopicName] = changed
					}
					now := m[topic.TopicName]
					if existed && equalTopics(&old, &now) {
						return 0
					}
					return 1
				})
			},
			"list": func(t *rapid.T) {
				var list []protocol.TopicConfig
				for range rapid.IntRange(0, 4).Draw(t, "n") {
					list = append(list, *newTopic(name.Draw(t, "name"), queues.Draw(t, "queues"), 6, 0, false))
				}
				change(func() error { return table.updateList(list) }, func(m map[string]protocol.TopicConfig) (bumps int64) {
					if slices.ContainsFunc(list, isBad) {
						return -1
					}
					for _, topic := range list {
						bumps += put(m, topic)
					}
					return bumps
				})
			},
			"delete": func(t *rapid.T) {
				topic := name.Draw(t, "name")
				change(func() error { _, err := table.delete(topic, popRetryTopics(topic, "G")); return err },
					func(m map[string]protocol.TopicConfig) (bumps int64) {
						if table.isSystem(topic) {
							return -1
						}
						for _, n := range []string{topic, "%RETRY%G_" + topic} {
							if _, ok := m[n]; ok {
								delete(m, n)
								bumps++
							}
						}
						return bumps
					})
			},
			"send": func(t *rapid.T) {
				topic, client := name.Draw(t, "name"), queues.Draw(t, "queues")
				model := rapid.SampledFrom([]string{"TBW102", "A", "nothing"}).Draw(t, "model")
				change(func() error { _, err := table.createOnSend(topic, model, client, false); return err },
					func(m map[string]protocol.TopicConfig) (bumps int64) {
						if _, ok := m[topic]; ok {
							return 0
						}
						if topic == "bad name" {
							return -1
						}
						from, ok := m[model]
						if ok && model == "TBW102" && !settings.AutoCreateTopicEnable && from.Perm == 7 {
							from.Perm = 6
							m[model] = from
							bumps++
						}
						switch {
						case ok && from.Perm&permInherit != 0:
							return bumps + put(m, *newTopic(topic, max(0, min(client, from.WriteQueueNums)), from.Perm&^permInherit, 0, false))
						case topic[0] == '%':
							return bumps + put(m, *newTopic(topic, 1, 6, 0, false))
						}
						return bumps
					})
			},
			"heartbeat": func(t *rapid.T) {
				order := rapid.Bool().Draw(t, "order")
				change(func() error { _, err := table.ensureRetryTopic("G", 1, false, order); return err },
					func(m map[string]protocol.TopicConfig) int64 {
						topic, ok := m["%RETRY%G"]
						if !ok {
							topic = *newTopic("%RETRY%G", 1, 6, 0, order)
						}
						topic.Order = order
						return put(m, topic)
					})
			},
			"order": func(t *rapid.T) {
				names := rapid.SliceOfN(name, 0, 3).Draw(t, "names")
				listed := map[string]string{}
				for _, n := range names {
					listed[n] = "broker-a:8"
				}
				change(func() error { return table.setOrder(listed) }, func(m map[string]protocol.TopicConfig) (bumps int64) {
					for n := range listed {
						if topic, ok := m[n]; ok && !topic.Order {
							topic.Order = true
							m[n] = topic
							bumps = 1
						}
					}
					return bumps
				})
			},
			"bump": func(*rapid.T) {
				change(table.bump, func(map[string]protocol.TopicConfig) int64 { return 1 })
			},
			"autoCreate": func(t *rapid.T) {
				settings.AutoCreateTopicEnable = rapid.Bool().Draw(t, "enabled")
			},
			"restart": func(*rapid.T) {
				open()
				for _, topic := range systemTopics(settings) {
					if _, ok := model[topic.TopicName]; !ok {
						t.Fatalf("%s had gone", topic.TopicName)
					}
				}
			},
			"": func(t *rapid.T) {
				topics, version := table.snapshot()
				require.Equal(t, counter, version.Counter)
				require.True(t, slices.IsSortedFunc(topics, table.file.load().topics.compare))
				require.Len(t, topics, len(model))
				for _, topic := range topics {
					want := model[topic.TopicName]
					require.True(t, equalTopics(&want, topic), "%+v is not %+v", topic, want)
					got, ok := table.get(topic.TopicName)
					require.True(t, ok)
					require.Same(t, topic, got)
				}
				text := tableText(topics)
				if known, ok := tables[version]; ok {
					require.Equal(t, known, text, "equal versions mean equal tables")
				}
				tables[version] = text
			},
		})
	})
}
