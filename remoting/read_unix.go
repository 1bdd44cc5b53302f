//go:build unix

package remoting

import "syscall"

// readNow reads what the non-blocking descriptor fd has ready. wait tells that there is nothing yet; n = 0 without
// it and without an error is the end of the stream.
func readNow(fd uintptr, b []byte) (n int, wait bool, err error) {
	for {
		n, err = syscall.Read(int(fd), b)
		switch err {
		case nil:
			return n, false, nil
		case syscall.EAGAIN:
			return 0, true, nil
		case syscall.EINTR:
		default:
			return 0, false, err
		}
	}
}

// readyNow reports whether a read of the non-blocking descriptor fd would give bytes, the end of the stream or an
// error. It uses buf and takes nothing from the stream.
func readyNow(fd uintptr, buf []byte) bool {
	for {
		switch _, _, err := syscall.Recvfrom(int(fd), buf, syscall.MSG_PEEK); err {
		case syscall.EAGAIN:
			return false
		case syscall.EINTR:
		default:
			return true
		}
	}
}

// rawReads tells that readNow and readyNow work on this system.
const rawReads = true
