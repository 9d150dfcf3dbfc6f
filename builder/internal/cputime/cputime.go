package cputime

import (
	"runtime"
	"time"
)

// Of calls a function, and returns the CPU time that it used. On other systems than Linux it returns the wall-clock time.
func Of(f func()) time.Duration {
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
