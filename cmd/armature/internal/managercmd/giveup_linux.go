package managercmd

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// giveUpAfter has the kernel drop a connection, and what it was to send, when nobody acknowledges that for so long: see
// TCP_USER_TIMEOUT in tcp(7).
func giveUpAfter(limit time.Duration) func(network, address string, conn syscall.RawConn) error {
	return func(_, _ string, conn syscall.RawConn) error {
		var failed error
		if err := conn.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds()))
		}); err != nil {
			return err
		}
		return failed
	}
}
