package broker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// errLocked says that another process holds the lock.
var errLocked = errors.New("another broker is at work in this folder")

// lockStore takes the lock of the folder storePathRootDir, whose file "lock" is locked and has the content that brokers in
// Java give it: two brokers of either kind never work on the same files. The lock ends when the file is closed or
// the process ends. Source: spec/store.md §2.
func lockStore(root string) (lock *os.File, err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("storePathRootDir: %w", err)
	}
	path := filepath.Join(root, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err = tryLock(f); err == nil {
		_, err = f.WriteAt([]byte("lock"), 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}
