package namesrv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// runKV opens the store at path and runs it until the test ends or stop is called.
func runKV(t testing.TB, path string) (s *kvStore, stop func()) {
	t.Helper()
	s, err := openKVStore(path, zerolog.Nop())
	require.NoError(t, err)
	return s, startKV(t, s)
}

func startKV(t testing.TB, s *kvStore) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { _ = s.run(ctx) }()
	stop = func() {
		cancel()
		<-s.stopped
	}
	t.Cleanup(stop)
	return stop
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func contents(s *kvStore) map[string]string {
	all := map[string]string{}
	s.each(func(namespace, key, value string) { all[namespace+"/"+key] = value })
	return all
}

// What a file may hold at the start; spec/namesrv.md §8.3 and spec/field-reports.md N44.
func TestKVFileAtStart(t *testing.T) {
	const good = `{"configTable":{"N":{"k":"v"}}}`
	const older = `{"configTable":{"N":{"k":"older"}}}`
	none := map[string]string{}
	for _, tt := range []struct {
		name         string
		file, backup string // "-": there is none
		want         map[string]string
		aside        bool // the file is kept under another name, the backup takes its place
		fails        bool
	}{
		{"missing", "-", "-", none, false, false},
		{"missing beside a backup", "-", older, map[string]string{"N/k": "older"}, false, false},
		{"empty", "", "-", none, false, false},
		{"blanks", " \n", "-", none, false, false},
		{"null", "null", "-", none, false, false},
		{"a list", "[]", "-", none, false, false},
		{"no table", "{}", "-", nil, false, true},
		{"table is null", `{"configTable":null}`, older, map[string]string{"N/k": "older"}, true, false},
		{"good", good, older, map[string]string{"N/k": "v"}, false, false},
		{"other types, nulls", `{"configTable":{"N":{a:1,"b":null},"M":null},"x":[1]}`, "-", map[string]string{"N/a": "1"}, false, false},
		{"cut off", good[:20], older, map[string]string{"N/k": "older"}, true, false},
		{"cut off, no backup", good[:20], "-", nil, false, true},
		{"cut off, so is the backup", good[:20], older[:10], nil, false, true},
		{"cut off, backup empty", good[:20], "", nil, false, true},
		{"text after it", good + "x", older, map[string]string{"N/k": "older"}, true, false},
		{"zeros", "\x00\x00\x00\x00\x00\x00", older, map[string]string{"N/k": "older"}, true, false},
		{"zeros, no backup", "\x00\x00", "-", nil, false, true},
		{"empty beside a backup", "", older, map[string]string{"N/k": "older"}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kvConfig.json")
			if tt.file != "-" {
				writeFile(t, path, tt.file)
			}
			if tt.backup != "-" {
				writeFile(t, path+".bak", tt.backup)
			}
			s, err := openKVStore(path, zerolog.Nop())
			if tt.fails {
				require.ErrorContains(t, err, path)
				require.Equal(t, tt.file, readFile(t, path), "what cannot be read must stay")
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, contents(s))
			if !tt.aside {
				require.NoFileExists(t, path+".damaged")
				return
			}
			require.Equal(t, tt.file, readFile(t, path+".damaged"))
			require.Equal(t, tt.backup, readFile(t, path), "the backup takes the place of the damaged file")
			require.Equal(t, tt.backup, readFile(t, path+".bak"), "and stays")
		})
	}
}

func TestKVUnreadableFile(t *testing.T) {
	path := t.TempDir() // a directory
	_, err := openKVStore(path, zerolog.Nop())
	require.ErrorContains(t, err, path)
}

func TestKVPersists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "not", "there", "kvConfig.json")
	ctx := t.Context()
	s, stop := runKV(t, path)

	require.NoFileExists(t, path)
	require.NoError(t, s.remove(ctx, "N", "a"))
	require.Equal(t, `{"configTable":{}}`, readFile(t, path), "a delete of nothing makes the file")

	require.NoError(t, s.put(ctx, "N", "a", "1"))
	require.Equal(t, `{"configTable":{"N":{"a":"1"}}}`, readFile(t, path))
	require.Equal(t, `{"configTable":{}}`, readFile(t, path+".bak"))

	require.NoError(t, s.put(ctx, "E", "", ""))
	require.NoError(t, s.remove(ctx, "E", ""))
	require.Equal(t, `{"configTable":{"E":{},"N":{"a":"1"}}}`, readFile(t, path), "an empty namespace stays")
	stop()
	require.ErrorIs(t, s.put(ctx, "N", "b", "2"), ErrKVStopped)

	s, _ = runKV(t, path)
	value, ok := s.get("N", "a")
	require.True(t, ok)
	require.Equal(t, "1", value)
	n, ok := s.namespace("E")
	require.True(t, ok)
	require.Equal(t, `{"table":{}}`, string(n.body()))
}

// A change that could not be written has not happened, and the next one writes again.
func TestKVFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kvConfig.json")
	s, err := openKVStore(path, zerolog.Nop())
	require.NoError(t, err)
	full := errors.New("no space left on device")
	write, fail := s.write, true
	s.write = func(data []byte) error {
		if fail {
			return full
		}
		return write(data)
	}
	startKV(t, s)

	require.ErrorIs(t, s.put(t.Context(), "N", "k", "v"), full)
	require.Empty(t, contents(s))
	_, ok := s.namespace("N")
	require.False(t, ok)

	fail = false
	require.NoError(t, s.put(t.Context(), "N", "k", "v"))
	require.Equal(t, map[string]string{"N/k": "v"}, contents(s))
	fail = true
	require.NoError(t, s.put(t.Context(), "N", "k", "v"), "nothing changes, nothing is written")
	require.NoError(t, s.remove(t.Context(), "N", "absent"))
	require.Error(t, s.remove(t.Context(), "N", "k"))
	require.Equal(t, map[string]string{"N/k": "v"}, contents(s))
}

// All that wait while the file is written go into the next write together.
func TestKVGroupCommit(t *testing.T) {
	const putters, rounds = 32, 20
	s, err := openKVStore(filepath.Join(t.TempDir(), "kvConfig.json"), zerolog.Nop())
	require.NoError(t, err)
	write, writes := s.write, 0
	s.write = func(data []byte) error { writes++; return write(data) } // run is the only caller
	stop := startKV(t, s)

	var wg sync.WaitGroup
	for i := range putters {
		wg.Go(func() {
			for j := range rounds {
				key := fmt.Sprintf("%d-%d", i, j)
				if err := s.put(t.Context(), "N", key, key); err != nil {
					t.Error(err)
				}
				if value, ok := s.get("N", key); !ok || value != key {
					t.Errorf("%s is acknowledged but cannot be read", key)
				}
			}
		})
	}
	wg.Wait()
	stop()
	require.Len(t, contents(s), putters*rounds)
	require.Less(t, writes, putters*rounds/4)
}

func TestKVGivesUpWithContext(t *testing.T) {
	s, err := openKVStore(filepath.Join(t.TempDir(), "kvConfig.json"), zerolog.Nop())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.put(ctx, "N", "k", "v"), context.Canceled) // nobody runs the store
}

// The store against a plain map, with a restart now and then.
func TestKVModel(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(dir, strconv.Itoa(n))
		s, stop := runKV(t, path)
		defer func() { stop() }()
		model := map[string]map[string]string{}
		name := rapid.SampledFrom([]string{"", "a", "b", "中\"\n"})
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				namespace, key, value := name.Draw(rt, "namespace"), name.Draw(rt, "key"), name.Draw(rt, "value")
				require.NoError(rt, s.put(t.Context(), namespace, key, value))
				if model[namespace] == nil {
					model[namespace] = map[string]string{}
				}
				model[namespace][key] = value
			},
			"remove": func(rt *rapid.T) {
				namespace, key := name.Draw(rt, "namespace"), name.Draw(rt, "key")
				require.NoError(rt, s.remove(t.Context(), namespace, key))
				delete(model[namespace], key)
			},
			"restart": func(rt *rapid.T) {
				stop()
				s, stop = runKV(t, path)
			},
			"": func(rt *rapid.T) {
				state := map[string]map[string]string{}
				for namespace, n := range *s.state.Load() {
					state[namespace] = n.table
				}
				require.Equal(rt, model, state)
			},
		})
	})
}

// The strings of a request are parts of its header, of which a peer may make 16 MiB.
func TestKVKeepsNoHeader(t *testing.T) {
	s, _ := runKV(t, filepath.Join(t.TempDir(), "kv.json"))
	header := "namespace key value" + strings.Repeat("x", 1000)
	require.NoError(t, s.put(t.Context(), header[:9], header[10:13], header[14:19]))
	start := uintptr(unsafe.Pointer(unsafe.StringData(header)))
	for namespace, n := range *s.state.Load() {
		for key, value := range n.table {
			for _, kept := range []string{namespace, key, value} {
				at := uintptr(unsafe.Pointer(unsafe.StringData(kept)))
				require.False(t, start <= at && at < start+uintptr(len(header)), kept)
			}
		}
	}
	require.Equal(t, map[string]string{"namespace/key": "value"}, contents(s))
}
