package namesrv

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The list against a sorted slice: it grows to several runs and shrinks to none.
func TestQueueListModel(t *testing.T) {
	groups := make([]*brokerGroup, 4*runLength)
	for i := range groups {
		groups[i] = &brokerGroup{name: fmt.Sprintf("b%05d", i)}
	}
	rapid.Check(t, func(t *rapid.T) {
		var list queueList
		model := []string{}
		check := func() {
			t.Helper()
			got := []string{}
			for q := range list.all() {
				got = append(got, q.group.name)
			}
			require.Equal(t, model, got)
			require.Equal(t, len(model), list.len())
			require.Equal(t, len(model) == 0, list.empty())
			if len(model) > 0 {
				require.Equal(t, model[0], list.first().group.name)
			}
			if list.runs == nil {
				require.LessOrEqual(t, len(list.few), runLength)
				return
			}
			require.Empty(t, list.few)
			require.Greater(t, len(*list.runs), 1)
			for _, run := range *list.runs {
				require.NotEmpty(t, run)
				require.LessOrEqual(t, len(run), runLength)
			}
		}
		set := func(i int, want bool) {
			g := groups[i%len(groups)]
			at, ok := list.find(g.name)
			m, inModel := slices.BinarySearch(model, g.name)
			require.Equal(t, inModel, ok)
			switch {
			case ok:
				require.Same(t, g, list.entry(at).group)
				require.Same(t, g, list.get(g).group)
				if !want {
					list.delete(at)
					model = slices.Delete(model, m, m+1)
				}
			case want:
				list.insert(at, queueEntry{group: g})
				model = slices.Insert(model, m, g.name)
			}
		}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			want := rapid.Bool().Draw(t, "insert")
			from, count := rapid.IntRange(0, len(groups)).Draw(t, "from"), rapid.IntRange(0, len(groups)).Draw(t, "count")
			stride := rapid.SampledFrom([]int{1, 3, 1021, len(groups) - 1}).Draw(t, "stride") // none divides the number
			for n := range count {
				set(from+n*stride, want)
			}
			check()
		}
		for _, name := range slices.Clone(model) {
			at, ok := list.find(name)
			require.True(t, ok)
			list.delete(at)
			model = model[1:]
			if len(model)%runLength == 0 {
				check()
			}
		}
		check()
	})
}
