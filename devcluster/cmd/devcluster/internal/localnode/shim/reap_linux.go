package shim

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const prSetChildSubreaper = 36

func becomeSubreaper() {
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0)
}

// sessionAttr also makes the command die with a shim that was itself killed.
func sessionAttr(tty bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: tty, Pdeathsig: syscall.SIGKILL}
}

// waitFor waits for the command and, as its subreaper, for orphans on the way.
func waitFor(pid int) syscall.WaitStatus {
	var ws syscall.WaitStatus
	for {
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		if got == pid || (err != nil && err != syscall.EINTR) {
			return ws
		}
	}
}

// killOrphans kills what the command left. Every killed process hands its own
// children over to this subreaper, so this ends when there are none. It does not
// block in the wait: the kernel's list may miss a child while others exit.
func killOrphans() {
	var ws syscall.WaitStatus
	for {
		for _, pid := range children() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		got, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if err != nil && err != syscall.EINTR {
			return
		}
		if got == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

func children() []int {
	var pids []int
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		list, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		for field := range strings.FieldsSeq(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
