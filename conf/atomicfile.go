package conf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrBackup marks an error of ReplaceFile that came after the new content was safely in place: only
// keeping the previous content failed.
var ErrBackup = errors.New("the file is written, but its previous content could not be kept")

const (
	backupSuffix = ".bak" // the previous content
	tempSuffix   = ".tmp" // half written; means nothing
)

// ReplaceFile replaces the content of path so that a crash at any point leaves the old or the new content
// there, never a mixture, and so that the new content is durable once ReplaceFile has returned: temporary
// file, fsync, rename, fsync of the folder. The content before is kept as path+".bak"; at every moment at
// least one of the two files is whole.
//
// Missing folders are made. A symbolic link stays one: its target is replaced, and the backup lies beside
// the target. The mode of an existing file is kept, a new one gets 0644 (less the umask). Two calls for one
// path must not overlap. On an error path is as it was, unless errors.Is(err, ErrBackup) or the folder's
// fsync is what failed: then either content may be there after a crash.
func ReplaceFile(path string, data []byte) error {
	return replaceFile(osFiles{}, path, data)
}

// files are the operations that ReplaceFile is made of; tests let each of them fail.
type files interface {
	MkdirAll(dir string) error
	// Create fails where there is one. A mode of 0 stands for that of new files.
	Create(path string, mode fs.FileMode) (syncFile, error)
	Rename(from, to string) error
	Link(from, to string) error // fails where there is one
	Remove(path string) error
	SyncDir(dir string) error
}

type syncFile interface {
	io.WriteCloser
	Sync() error
}

func replaceFile(fsys files, path string, data []byte) error {
	path = resolve(path)
	dir, temp, oldTemp := filepath.Dir(path), path+tempSuffix, path+backupSuffix+tempSuffix
	if err := fsys.MkdirAll(dir); err != nil {
		return err
	}
	mode, exists := fs.FileMode(0), false
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("not a regular file")}
	case err == nil:
		mode, exists = info.Mode().Perm(), true
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := writeSynced(fsys, temp, data, mode); err != nil {
		return err
	}
	if exists {
		// The old content gets its second name now and becomes the backup only when the new content is in
		// place: were it the other way round, a damaged old file would take the place of a good backup.
		if err := link(fsys, path, oldTemp); err != nil {
			return errors.Join(err, fsys.Remove(temp))
		}
	}
	if err := fsys.Rename(temp, path); err != nil {
		return errors.Join(err, fsys.Remove(temp))
	}
	if err := fsys.SyncDir(dir); err != nil {
		return err
	}
	if exists {
		if err := fsys.Rename(oldTemp, path+backupSuffix); err != nil {
			return fmt.Errorf("%w: %w", ErrBackup, err)
		}
	}
	return nil
}

// writeSynced writes a new durable file, in place of a leftover of the same name.
func writeSynced(fsys files, path string, data []byte, mode fs.FileMode) (err error) {
	if err := fsys.Remove(path); err != nil {
		return err
	}
	f, err := fsys.Create(path, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return errors.Join(err, fsys.Remove(path))
	}
	return nil
}

// link gives from the second name to, in place of a leftover of that name; it copies where the file
// system has no hard links.
func link(fsys files, from, to string) error {
	if err := fsys.Remove(to); err != nil {
		return err
	}
	if fsys.Link(from, to) == nil {
		return nil
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeSynced(fsys, to, data, info.Mode().Perm())
}

// resolve follows symbolic links, so that a link is not replaced by a file.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// osFiles are the real files.
type osFiles struct{}

func (osFiles) MkdirAll(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := (osFiles{}).MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return osFiles{}.SyncDir(parent)
}

func (osFiles) Create(path string, mode fs.FileMode) (syncFile, error) {
	exact := mode != 0
	if !exact {
		mode = 0o644
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err == nil && exact {
		err = f.Chmod(mode) // whatever the umask
	}
	if err != nil {
		return nil, err // not f, which would be a nil inside an interface
	}
	return f, nil
}

func (osFiles) Rename(from, to string) error { return os.Rename(from, to) }
func (osFiles) Link(from, to string) error   { return os.Link(from, to) }

// Remove removes path; that there is none is no error.
func (osFiles) Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (osFiles) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	return err
}
