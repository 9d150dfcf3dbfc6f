package v1alpha1

import (
	"iter"
	"strconv"
	"strings"
)

// Indexes is a set of indexes, counted from 0, as intervals: "0-41,43". This is how a Job's completedIndexes are
// written, too. Empty is none.
type Indexes string

// IndexesOf returns the indexes below n of which in says true.
func IndexesOf(n int, in func(i int) bool) Indexes {
	var b strings.Builder
	for i := 0; i < n; i++ {
		if !in(i) {
			continue
		}
		last := i
		for last+1 < n && in(last+1) {
			last++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(i))
		if last > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(last))
		}
		i = last
	}
	return Indexes(b.String())
}

// Below returns the indexes that are less than n, in the order they are written. What isn't an interval is left out.
func (x Indexes) Below(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for first, last := range x.Intervals(n) {
			for i := first; i <= last; i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// Intervals returns the first and the last index of each interval, as far as they are less than n, in the order they are written. What
// isn't an interval is left out.
func (x Indexes) Intervals(n int) iter.Seq2[int, int] {
	return func(yield func(first, last int) bool) {
		for interval := range strings.SplitSeq(string(x), ",") {
			from, to, isRange := strings.Cut(interval, "-")
			first, err := strconv.Atoi(from)
			if err != nil {
				continue
			}
			last := first
			if isRange {
				if last, err = strconv.Atoi(to); err != nil {
					continue
				}
			}
			if last = min(last, n-1); first <= last && !yield(first, last) {
				return
			}
		}
	}
}
