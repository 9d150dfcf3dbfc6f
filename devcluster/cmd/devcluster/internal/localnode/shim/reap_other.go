//go:build !linux

package shim

import "syscall"

func becomeSubreaper() {}

func sessionAttr(tty bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: tty}
}

func waitFor(pid int) syscall.WaitStatus {
	var ws syscall.WaitStatus
	for {
		got, err := syscall.Wait4(pid, &ws, 0, nil)
		if got == pid || (err != nil && err != syscall.EINTR) {
			return ws
		}
	}
}

// killOrphans has nothing to do: without a subreaper a process that left the
// group cannot be found.
func killOrphans() {}
