package builder

import (
	"errors"
	"sync"
)

// firstBatch is how many writes a pass starts with. Later batches are twice as large as the one before, up to the limit.
const firstBatch = 8

// inBatches calls do for 0 to n-1, in parallel, in growing batches. After a batch with a failure that is likely to hit
// the others as well (a full quota, a server in trouble) it stops, so that a thousand children don't make a thousand
// failing requests. A failure of one object alone (invalid, not ours) stops nothing.
func inBatches(n, limit int, do func(i int) error) error {
	errs := make([]error, n)
	size := min(firstBatch, limit)
	for start := 0; start < n; {
		end := min(start+size, n)
		var wg sync.WaitGroup
		for i := start; i < end; i++ {
			wg.Go(func() { errs[i] = do(i) })
		}
		wg.Wait()
		for _, err := range errs[start:end] {
			if err != nil && !isOfOneObject(err) {
				return errors.Join(errs...)
			}
		}
		start, size = end, min(size*2, limit)
	}
	return errors.Join(errs...)
}

func isOfOneObject(err error) bool {
	return IsTerminal(err) || errors.Is(err, ErrNotOwned)
}
