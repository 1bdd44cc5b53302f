//go:build !unix

package remoting

import "errors"

const rawReads = false

func readNow(uintptr, []byte) (int, bool, error) { return 0, false, errors.ErrUnsupported }

func readyNow(uintptr, []byte) bool { return true }
