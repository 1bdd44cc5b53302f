//go:build darwin || freebsd

package broker

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks f against other brokers of ours.
func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
