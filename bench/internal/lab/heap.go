package lab

import (
	"context"
	"runtime"
	"time"
)

// WatchHeap looks at this process's heap until the function that it returns is called, which returns the largest.
func WatchHeap(ctx context.Context) func() uint64 {
	ctx, cancel := context.WithCancel(ctx)
	largest := make(chan uint64)
	go func() {
		var most uint64
		var stats runtime.MemStats
		for ctx.Err() == nil {
			runtime.ReadMemStats(&stats)
			most = max(most, stats.HeapInuse)
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
		largest <- most
	}()
	return func() uint64 { cancel(); return <-largest }
}
