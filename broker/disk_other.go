//go:build !(linux || darwin || freebsd)

package broker

// statDisk would return the file system that path is on.
func statDisk(string) (disk, bool) { return disk{}, false }
