//go:build linux || darwin || freebsd

package broker

import "golang.org/x/sys/unix"

// statDisk returns the file system that path is on, if path exists.
func statDisk(path string) (disk, bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return disk{}, false
	}
	block := uint64(st.Bsize)
	return disk{total: uint64(st.Blocks) * block, free: uint64(st.Bfree) * block, usable: uint64(st.Bavail) * block}, true
}
