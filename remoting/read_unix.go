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

// rawReads tells that readNow works on this system.
const rawReads = true
