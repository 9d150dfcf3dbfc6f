package queue

import (
	"cmp"
	"slices"
)

// place is what a job's order depends on, but for ties, close together in memory: sorting is most of the work.
type place struct {
	priority int32
	index    int32
	seconds  int64
	nanos    int32
}

func placeOf(j *Job, index int) place {
	return place{priority: j.Priority, index: int32(index), seconds: j.Since.Unix(), nanos: int32(j.Since.Nanosecond())}
}

// sorted returns the indexes of the jobs at some places, in the order of [Job.Compare].
func (rd *round) sorted(places []place) []int {
	slices.SortFunc(places, func(a, b place) int {
		switch {
		case a.priority != b.priority:
			return cmp.Compare(b.priority, a.priority)
		case a.seconds != b.seconds:
			return cmp.Compare(a.seconds, b.seconds)
		case a.nanos != b.nanos:
			return cmp.Compare(a.nanos, b.nanos)
		default:
			return rd.Jobs[a.index].ID.compare(rd.Jobs[b.index].ID)
		}
	})
	jobs := make([]int, len(places))
	for n, at := range places {
		jobs[n] = int(at.index)
	}
	return jobs
}
