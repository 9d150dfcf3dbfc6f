package search

import "slices"

// Shrink returns the failure with the fewest names that same accepts: it leaves out names of the trace, as many at a time as it can, and
// lets the system run on by itself after them. The trace of the result has what happened by itself too.
func Shrink[S any](system System[S], failure *Failure, limit int, same func(*Failure) bool) (*Failure, error) {
	best := failure
	names := failure.Trace
	try := func(given []string) (bool, error) {
		found, err := Follow(system, given, limit, true)
		if err != nil || found == nil || !same(found) {
			return false, err
		}
		best, names = found, given
		return true, nil
	}
	for size := max(len(names)/2, 1); ; size /= 2 {
		for at := 0; at < len(names); {
			less := slices.Delete(slices.Clone(names), at, min(at+size, len(names)))
			ok, err := try(less)
			if err != nil {
				return nil, err
			}
			if !ok {
				at += size
			}
		}
		if size <= 1 {
			break
		}
	}
	return best, nil
}
