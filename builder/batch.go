package builder

import (
	"errors"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// firstBatch is how many writes a pass starts with, to learn how they fare.
const firstBatch = 8

// inBatches calls do for 0 to n-1, at most limit at a time: a few first, then the rest. Once a call has failed in a way
// that is likely to hit the others as well (a full quota, a server in trouble) no further ones are started, so that a
// thousand children don't make a thousand failing requests. A failure of one object alone (invalid, not ours, a
// conflict) stops nothing.
func inBatches(n, limit int, do func(i int) error) error {
	errs := make([]error, n)
	var stopped atomic.Bool
	try := func(i int) {
		if errs[i] = do(i); errs[i] != nil && !isOfOneObject(errs[i]) {
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

func isOfOneObject(err error) bool {
	return IsTerminal(err) || errors.Is(err, ErrNotOwned) || apierrors.IsConflict(err)
}
