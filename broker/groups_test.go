package broker

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/protocol"
)

type testGroups struct {
	*groupTable
	t        *testing.T
	dir      string
	settings groupSettings
}

func newTestGroups(t *testing.T) *testGroups {
	t.Helper()
	tg := &testGroups{t: t, dir: t.TempDir(), settings: groupSettings{AutoCreateSubscriptionGroup: true, EnableCreateSysGroup: true}}
	tg.open()
	return tg
}

func (tg *testGroups) open() {
	tg.t.Helper()
	opts := groupOptionsIn(tg.dir)
	opts.Settings = func() groupSettings { return tg.settings }
	var err error
	tg.groupTable, err = openGroups(opts)
	require.NoError(tg.t, err)
}

func (tg *testGroups) requireOnDisk() {
	tg.t.Helper()
	require.Equal(tg.t, string(tg.file.load().file()), readFile(tg.t, tg.file.path))
}

func (tg *testGroups) step(bumps int64, change func() error) {
	tg.t.Helper()
	_, _, before := tg.snapshot()
	require.NoError(tg.t, change())
	_, _, after := tg.snapshot()
	require.Equal(tg.t, bumps, after.Counter-before.Counter)
	tg.requireOnDisk()
}

func (tg *testGroups) refused(change func() error) error {
	tg.t.Helper()
	before := *tg.file.load()
	err := change()
	require.Error(tg.t, err)
	require.Equal(tg.t, before, *tg.file.load())
	tg.requireOnDisk()
	return err
}

func groupConfig(name string, change func(*protocol.SubscriptionGroupConfig)) protocol.SubscriptionGroupConfig {
	g := protocol.NewSubscriptionGroupConfig(name)
	if change != nil {
		change(&g)
	}
	return g
}

func TestSystemGroups(t *testing.T) {
	tg := newTestGroups(t)
	groups, forbidden, version := tg.snapshot()
	var names []string
	for _, g := range groups {
		names = append(names, g.GroupName)
		require.Equal(t, groupConfig(g.GroupName, nil), *g)
	}
	require.Equal(t, []string{"CID_ONS-HTTP-PROXY", "CID_ONSAPI_OWNER", "CID_ONSAPI_PERMISSION", "CID_ONSAPI_PULL", "CID_RMQ_SYS_TRANS",
		"FILTERSRV_CONSUMER", "SELF_TEST_C_GROUP", "TOOLS_CONSUMER"}, names)
	require.Empty(t, forbidden)
	require.Zero(t, version.Counter)
	tg.requireOnDisk()
	tg.open()
	_, _, again := tg.snapshot()
	require.Equal(t, version, again)
}

func TestFindGroup(t *testing.T) {
	tg := newTestGroups(t)
	found := func(name string) func() error {
		return func() error {
			g, err := tg.find(name)
			require.NotNil(t, g)
			require.Equal(t, groupConfig(name, nil), *g)
			return err
		}
	}
	missing := func(name string) func() error {
		return func() error {
			g, err := tg.find(name)
			require.Nil(t, g)
			return err
		}
	}
	tg.step(1, found("G"))
	tg.step(0, found("G"))
	for _, name := range []string{"", " ", "a.b", strings.Repeat("g", 121)} {
		tg.step(0, missing(name))
	}
	tg.settings.AutoCreateSubscriptionGroup = false
	tg.step(0, missing("H"))
	tg.step(1, found("CID_RMQ_SYS_X"))
	tg.settings.EnableCreateSysGroup = false
	tg.step(0, missing("CID_RMQ_SYS_Y"))
	tg.step(0, found("G"))
	_, ok := tg.get("H")
	require.False(t, ok, "get makes none")

	tg.open()
	tg.step(0, found("G"))

	tg.settings.AutoCreateSubscriptionGroup = true
	errDisk := errors.New("disk full")
	tg.file.write = func([]byte) error { return errDisk }
	err := tg.refused(func() error {
		g, err := tg.find("I")
		require.Nil(t, g)
		return err
	})
	require.ErrorIs(t, err, errDisk)
	require.ErrorContains(t, err, "subscriptionGroup.json could not be written")
}

// Clients make no more groups than there is room for, and the log says so once.
func TestTooManyGroups(t *testing.T) {
	tg := newTestGroups(t)
	var log bytes.Buffer
	tg.groupTable.log = zerolog.New(&log)
	tg.most = len(systemGroups) + 2
	find := func(names ...string) (made []string) {
		t.Helper()
		groups, err := tg.findAll(names)
		require.NoError(t, err)
		for i, g := range groups {
			if g != nil {
				require.Equal(t, names[i], g.GroupName)
				made = append(made, g.GroupName)
			}
		}
		return made
	}
	tg.step(2, func() error {
		require.Equal(t, []string{"A", "TOOLS_CONSUMER", "B", "A"}, find("A", "TOOLS_CONSUMER", "B", "C", "A", "D"))
		return nil
	})
	tg.step(0, func() error {
		require.Equal(t, []string{"A"}, find("E", "A"))
		return nil
	})
	require.Equal(t, 1, strings.Count(log.String(), "too many consumer groups"))
	tg.step(1, func() error { return tg.update(protocol.NewSubscriptionGroupConfig("ByTool")) })
	require.Empty(t, find("E"))
	for _, name := range []string{"A", "ByTool"} {
		require.NoError(t, tg.delete(name))
	}
	require.Equal(t, []string{"E"}, find("E"))
	require.Empty(t, find("F"))
	require.Equal(t, 2, strings.Count(log.String(), "too many consumer groups"))
}

func TestDraftSize(t *testing.T) {
	type thing struct{ name string }
	table := newConfigTable([]*thing{{"A"}, {"B"}}, func(x *thing) string { return x.name })
	d := newConfigDraft(table, protocol.DataVersion{}, 0)
	for _, change := range []struct {
		name   string
		change func()
	}{
		{"put what there is", func() { d.put(&thing{"A"}) }}, {"again", func() { d.put(&thing{"A"}) }},
		{"remove", func() { d.remove("A") }}, {"again", func() { d.remove("A") }}, {"remove another", func() { d.remove("B") }},
		{"put back", func() { d.put(&thing{"A"}) }}, {"put a new one", func() { d.put(&thing{"C"}) }},
		{"remove it", func() { d.remove("C") }}, {"remove what there is not", func() { d.remove("D") }},
	} {
		change.change()
		require.Len(t, d.finish().sorted, d.size, change.name)
	}
}

func TestUpdateGroups(t *testing.T) {
	tg := newTestGroups(t)
	g := groupConfig("G", func(g *protocol.SubscriptionGroupConfig) {
		g.RetryMaxTimes = 3
		g.ConsumeMessageOrderly = true
		g.GroupRetryPolicy = protocol.GroupRetryPolicy{Type: protocol.RetryExponential,
			ExponentialRetryPolicy: &protocol.ExponentialRetryPolicy{Initial: 1, Max: 2, Multiplier: 3}}
		g.SubscriptionDataSet = []protocol.SimpleSubscriptionData{{Topic: "T", ExpressionType: "TAG", Expression: "*", Version: 1}}
		g.Attributes = map[string]string{"+priority.factor": "50"}
	})
	tg.step(1, func() error { return tg.update(g) })
	want := g
	want.Attributes = map[string]string{"priority.factor": "50"}
	got, _ := tg.get("G")
	require.Equal(t, want, *got)
	tg.step(0, func() error { return tg.update(g) })
	g.Attributes = nil
	tg.step(0, func() error { return tg.update(g) })
	g.ConsumeEnable = false
	tg.step(1, func() error { return tg.update(g) })
	tg.open()
	want.ConsumeEnable = false
	got, _ = tg.get("G")
	require.Equal(t, want, *got)
	g.Attributes = map[string]string{"-priority.factor": ""}
	tg.step(1, func() error { return tg.update(g) })
	got, _ = tg.get("G")
	require.Empty(t, got.Attributes)

	writes := 0
	write := tg.file.write
	tg.file.write = func(data []byte) error { writes++; return write(data) }
	tg.step(0, func() error { return tg.updateList(nil) })
	require.Zero(t, writes)
	var list []protocol.SubscriptionGroupConfig
	for i := range 10 {
		list = append(list, groupConfig(fmt.Sprint("L", i), nil))
	}
	tg.step(10, func() error { return tg.updateList(list) })
	require.Equal(t, 1, writes)
	list[3].RetryQueueNums = 2
	tg.step(2, func() error { return tg.updateList(append(list, groupConfig("L10", nil))) })

	for _, bad := range []protocol.SubscriptionGroupConfig{
		groupConfig("", nil), groupConfig("a.b", nil), groupConfig(strings.Repeat("g", 121), nil),
		groupConfig("B", func(g *protocol.SubscriptionGroupConfig) { g.RetryQueueNums = -1 }),
		groupConfig("B", func(g *protocol.SubscriptionGroupConfig) { g.RetryQueueNums = 1 << 20 }),
		groupConfig("B", func(g *protocol.SubscriptionGroupConfig) { g.RetryMaxTimes = -1 }),
		groupConfig("B", func(g *protocol.SubscriptionGroupConfig) { g.Attributes = map[string]string{"priority.factor": "1"} }),
		groupConfig("B", func(g *protocol.SubscriptionGroupConfig) { g.Attributes = map[string]string{"+x": "1"} }),
		groupConfig("L0", func(g *protocol.SubscriptionGroupConfig) { g.Attributes = map[string]string{"-priority.factor": ""} }),
	} {
		_ = tg.refused(func() error { return tg.update(bad) })
		_ = tg.refused(func() error {
			return tg.updateList([]protocol.SubscriptionGroupConfig{groupConfig("New", nil), bad, groupConfig("New2", nil)})
		})
	}

	tg.step(1, func() error { return tg.disableConsume("L1") })
	tg.step(0, func() error { return tg.disableConsume("L1") })
	tg.step(0, func() error { return tg.disableConsume("Unknown") })
	tg.open()
	got, _ = tg.get("L1")
	require.False(t, got.ConsumeEnable, "it is stored, too")
}

func TestDeleteGroup(t *testing.T) {
	tg := newTestGroups(t)
	require.NoError(t, tg.update(groupConfig("G", nil)))
	require.NoError(t, tg.setForbidden("G", "T", forbidRead, true))
	require.NoError(t, tg.setForbidden("Unknown", "T", forbidRead, true))
	tg.step(1, func() error { return tg.delete("G") })
	tg.step(0, func() error { return tg.delete("G") })
	tg.step(0, func() error { return tg.delete("NeverWas") })
	tg.step(1, func() error { return tg.delete("Unknown") }) // it had something forbidden
	for _, name := range []string{"G", "NeverWas"} {
		_, ok := tg.get(name)
		require.False(t, ok)
	}
	_, forbidden, _ := tg.snapshot()
	require.Empty(t, forbidden)
	tg.open()
	_, ok := tg.get("G")
	require.False(t, ok)
}

// ForbiddenTest of the original, without its fault: other topics keep their bits.
func TestForbidden(t *testing.T) {
	tg := newTestGroups(t)
	require.NoError(t, tg.setForbidden("G", "Other", forbidRead, true))
	for _, test := range []struct {
		bit   int
		on    bool
		bumps int64
		want  int32
	}{
		{0, true, 1, 1}, {1, true, 1, 3}, {2, true, 1, 7}, {2, true, 0, 7}, {1, false, 1, 5}, {1, false, 0, 5}, {0, false, 1, 4}, {2, false, 1, 0},
		{2, false, 0, 0}, {31, true, 1, -1 << 31}, {31, false, 1, 0},
	} {
		tg.step(test.bumps, func() error { return tg.setForbidden("G", "T", test.bit, test.on) })
		require.Equal(t, test.want, tg.forbidden("G", "T"))
		require.Equal(t, test.on, tg.isForbidden("G", "T", test.bit))
		require.True(t, tg.isForbidden("G", "Other", forbidRead))
		tg.open()
		require.Equal(t, test.want, tg.forbidden("G", "T"))
		require.True(t, tg.isForbidden("G", "Other", forbidRead))
	}
	tg.step(1, func() error { return tg.setForbidden("G", "Other", forbidRead, false) })
	_, forbidden, _ := tg.snapshot()
	require.Empty(t, forbidden)
	require.Contains(t, readFile(t, tg.file.path), "\t\"forbiddenTable\":{},\n")
	require.ErrorIs(t, tg.refused(func() error { return tg.setForbidden("G", "T", 32, true) }), errForbiddenBit)
	require.ErrorIs(t, tg.refused(func() error { return tg.setForbidden("G", "T", -1, true) }), errForbiddenBit)

	require.NoError(t, tg.setForbidden("G", "T", forbidRead, true))
	require.Contains(t, readFile(t, tg.file.path), "\t\"forbiddenTable\":{\n\t\t\"G\":{\n\t\t\t\"T\":4\n\t\t}\n\t},\n")
}

func TestGroupsAtOnce(t *testing.T) {
	tg := newTestGroups(t)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			name := fmt.Sprint("G", i%10)
			if _, err := tg.find(name); err != nil {
				t.Error(err)
			}
			if err := tg.setForbidden(name, fmt.Sprint("T", i), forbidRead, true); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	groups, forbidden, version := tg.snapshot()
	require.Len(t, groups, len(systemGroups)+10)
	require.Len(t, forbidden, 10)
	require.EqualValues(t, 60, version.Counter)
	tg.requireOnDisk()
}
