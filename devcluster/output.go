package devcluster

import (
	"io"
	"sync"
)

// maxOutput bounds how much of the end of devcluster's output an error has, in bytes.
const maxOutput = 16 << 10

// output passes on what devcluster writes to its two streams, and keeps the end of it for errors. Each stream is read by a goroutine of
// its own.
type output struct {
	mu  sync.Mutex
	to  io.Writer
	end []byte
}

// Write implements io.Writer. It returns no error, because a writer of the test that fails must not end the cluster.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end = append(o.end, p...)
	if beyond := len(o.end) - maxOutput; beyond > 0 {
		o.end = append(o.end[:0], o.end[beyond:]...)
	}
	_, _ = o.to.Write(p)
	return len(p), nil
}

// String returns the end of the output.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.end)
}
