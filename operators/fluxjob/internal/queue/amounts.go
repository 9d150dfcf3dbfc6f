package queue

import "math"

// Unlimited is an amount without a bound: of a resource that a quota doesn't name, or a limit that isn't set.
const Unlimited = math.MaxInt64

// Amounts say how much there is of each resource, in an order that all amounts of a [State] share, in whole units: a
// count, bytes, thousandths of a core.
type Amounts []int64

// covers reports whether there is at least as much of everything.
func (a Amounts) covers(b Amounts) bool {
	for r := range a {
		if a[r] < b[r] {
			return false
		}
	}
	return true
}

// sum adds two amounts of which each may be unlimited, and b negative. A sum of many amounts may be too large for an int64: it is at most
// Unlimited then, and never wraps around to less than nothing.
func sum(a, b int64) int64 {
	if b > 0 && a > Unlimited-b {
		return Unlimited
	}
	return a + b
}
