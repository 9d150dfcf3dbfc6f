package flowstate

import (
	"cmp"
	"iter"
	"slices"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// bounds are a set of indexes as the sorted bounds of its intervals: each first index, and each index after the last.
type bounds []int

// boundsOf returns the indexes below n. Intervals may overlap in the text.
func boundsOf(x v1alpha1.Indexes, n int) bounds {
	var all [][2]int
	for first, last := range x.Intervals(n) {
		all = append(all, [2]int{first, last + 1})
	}
	slices.SortFunc(all, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	var b bounds
	for _, next := range all {
		if end := len(b) - 1; end > 0 && next[0] <= b[end] {
			b[end] = max(b[end], next[1])
			continue
		}
		b = append(b, next[0], next[1])
	}
	return b
}

// has reports whether an index is in the set: whether an odd number of bounds is at or before it.
func (b bounds) has(i int) bool {
	n, _ := slices.BinarySearch(b, i+1)
	return n%2 == 1
}

// difference returns what is in one of two sets and not in the other: a bound that both have is none of the difference.
func difference(a, b bounds) bounds {
	all := slices.Concat(a, b)
	slices.Sort(all)
	var d bounds
	for _, bound := range all {
		if len(d) > 0 && d[len(d)-1] == bound {
			d = d[:len(d)-1]
			continue
		}
		d = append(d, bound)
	}
	return d
}

// intervals yields the first and the last index of each interval.
func (b bounds) intervals() iter.Seq2[int, int] {
	return func(yield func(first, last int) bool) {
		for i := 0; i+1 < len(b); i += 2 {
			if !yield(b[i], b[i+1]-1) {
				return
			}
		}
	}
}
