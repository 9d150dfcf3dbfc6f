package fairshare

import (
	"time"

	"golang.org/x/sys/unix"
)

// ofThread returns the CPU time that the thread has used, and false if it isn't known.
func ofThread() (time.Duration, bool) {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		return 0, false
	}
	return time.Duration(used.Nano()), true
}
