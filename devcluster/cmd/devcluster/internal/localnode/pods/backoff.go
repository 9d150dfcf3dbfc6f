package pods

import "time"

// Restarts wait 1 s, 2 s, 4 s ... 60 s, a tenth of the kubelet's times: on a
// development machine a fixed container should not take minutes to come back. As
// with the kubelet the first restart does not wait, and a container that ran for
// twice the longest wait starts over.
const (
	firstBackoff = time.Second
	maxBackoff   = 60 * time.Second
)

// backoff is the time a container waits before its next restart.
type backoff struct{ current time.Duration }

// next returns how long to wait after an attempt that ran for the given time.
func (b *backoff) next(ran time.Duration) time.Duration {
	if ran >= 2*maxBackoff {
		b.current = 0
	}
	wait := b.current
	b.current = min(max(2*b.current, firstBackoff), maxBackoff)
	return wait
}
