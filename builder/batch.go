package builder

import (
	"errors"
	"sync"
	"sync/atomic"
)

// firstBatch is how many writes a pass starts with, to learn how they fare.
const firstBatch = 8

// inBatches calls do for 0 to n-1, at most limit at a time: a few first, then the rest. Once a call has failed in a way
// that is likely to hit all others as well (a server in trouble) no further ones are started, so that a thousand
// children don't make a thousand failing requests.
func inBatches(n, limit int, do func(i int) error) error {
	errs := make([]error, n)
	var stopped atomic.Bool
	try := func(i int) {
		if errs[i] = do(i); errs[i] != nil && reachOf(errs[i]) == reachesAll {
			stopped.Store(true)
		}
	}
	next := min(firstBatch, limit, n)
	var wg sync.WaitGroup
	for i := range next {
		wg.Go(func() { try(i) })
	}
	wg.Wait()

	var taken atomic.Int64
	taken.Store(int64(next))
	for range min(limit, n-next) {
		wg.Go(func() {
			for !stopped.Load() {
				i := int(taken.Add(1)) - 1
				if i >= n {
					return
				}
				try(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
