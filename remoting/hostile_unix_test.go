//go:build unix

package remoting

import "syscall"

// raiseFileLimit raises the soft limit of open files to the hard one and returns it.
func raiseFileLimit() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	l.Cur = l.Max
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	}
	return l.Cur
}
