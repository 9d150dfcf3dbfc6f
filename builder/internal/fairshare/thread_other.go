//go:build !linux

package fairshare

import "time"

// ofThread returns false: the CPU time of a thread isn't known.
func ofThread() (time.Duration, bool) { return 0, false }
