package fairshare

import (
	"runtime"
	"time"
)

// CPUTime calls a function, and returns the CPU time that it used. On other systems than Linux it returns the wall-clock time.
// That says little of a short function in a process with a CPU limit: the kernel stops such a process for tens of milliseconds, whatever
// runs at that moment.
func CPUTime(f func()) time.Duration {
	runtime.LockOSThread() // the goroutine is alone on the thread
	defer runtime.UnlockOSThread()
	begun := time.Now()
	before, isKnown := ofThread()
	f()
	if after, ok := ofThread(); ok && isKnown {
		return after - before
	}
	return time.Since(begun)
}
