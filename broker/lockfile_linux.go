package broker

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks the first byte of f, as Java does: a record lock, but one that belongs to f and not to the process.
func tryLock(f *os.File) error {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: unix.SEEK_SET, Start: 0, Len: 1}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errLocked
	}
	return err
}
