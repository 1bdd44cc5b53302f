package conf

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "folder", "f")
	require.NoError(t, ReplaceFile(path, []byte("one")))
	require.Equal(t, "one", read(t, path))
	require.NoFileExists(t, path+".bak")

	require.NoError(t, os.Chmod(path, 0o666))
	require.NoError(t, ReplaceFile(path, []byte("two")))
	require.NoError(t, ReplaceFile(path, []byte("three")))
	require.Equal(t, "three", read(t, path))
	require.Equal(t, "two", read(t, path+".bak"))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o666), info.Mode().Perm())

	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 2, "no temporary file is left")
}

func TestReplaceFileBehindSymlink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, []byte("one"), 0o600))
	require.NoError(t, os.Symlink(target, link))
	require.NoError(t, ReplaceFile(link, []byte("two")))
	require.Equal(t, "two", read(t, target))
	require.Equal(t, "one", read(t, target+".bak"))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink)
}

func TestReplaceFileNotAFile(t *testing.T) {
	dir := t.TempDir()
	require.ErrorContains(t, ReplaceFile(dir, nil), "not a regular file")

	path := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(path, []byte("one"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(path+".bak", "full"), 0o700))
	require.ErrorIs(t, ReplaceFile(path, []byte("two")), ErrBackup)
	require.Equal(t, "two", read(t, path))
}

// faulty fails from its nth operation on, as if the process had died there. A write that fails
// leaves half of its data.
type faulty struct {
	files
	left    int
	noLinks bool
}

var errCrash = errors.New("crash")

func (f *faulty) step() error {
	if f.left == 0 {
		return errCrash
	}
	f.left--
	return nil
}

func (f *faulty) MkdirAll(dir string) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.files.MkdirAll(dir)
}

func (f *faulty) Create(path string, mode fs.FileMode) (syncFile, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	file, err := f.files.Create(path, mode)
	return &faultyFile{file, f}, err
}

func (f *faulty) Rename(from, to string) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.files.Rename(from, to)
}

func (f *faulty) Link(from, to string) error {
	if err := f.step(); err != nil {
		return err
	}
	if f.noLinks {
		return errors.ErrUnsupported
	}
	return f.files.Link(from, to)
}

func (f *faulty) Remove(path string) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.files.Remove(path)
}

func (f *faulty) SyncDir(dir string) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.files.SyncDir(dir)
}

type faultyFile struct {
	syncFile
	fs *faulty
}

func (f *faultyFile) Write(data []byte) (int, error) {
	if err := f.fs.step(); err != nil {
		n, _ := f.syncFile.Write(data[:len(data)/2])
		return n, err
	}
	return f.syncFile.Write(data)
}

func (f *faultyFile) Sync() error {
	if err := f.fs.step(); err != nil {
		return err
	}
	return f.syncFile.Sync()
}

func (f *faultyFile) Close() error {
	return errors.Join(f.syncFile.Close(), f.fs.step())
}

// TestReplaceFileCrash dies before every single step of a replacement: the file is the old or the new one, the
// backup an older or the old one, and the next replacement works.
func TestReplaceFileCrash(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		done := false
		for steps := 0; !done; steps++ {
			require.Less(t, steps, 100)
			path := filepath.Join(t.TempDir(), "f")
			require.NoError(t, ReplaceFile(path, []byte("older")))
			require.NoError(t, ReplaceFile(path, []byte("old")))

			crashing := &faulty{files: osFiles{}, left: steps, noLinks: noLinks}
			err := replaceFile(crashing, path, []byte("the new content"))
			done = err == nil && crashing.left > 0
			if err == nil {
				require.Equal(t, "the new content", read(t, path))
				require.Equal(t, "old", read(t, path+".bak"))
			} else {
				require.Contains(t, []string{"old", "the new content"}, read(t, path))
				require.Contains(t, []string{"older", "old"}, read(t, path+".bak"))
			}

			before := read(t, path)
			require.NoError(t, ReplaceFile(path, []byte("newest")), "after a crash at step %d", steps)
			require.Equal(t, "newest", read(t, path))
			require.Equal(t, before, read(t, path+".bak"))
		}
	}
}
