package queue

import (
	"cmp"
	"slices"
)

// sortKey is what a job's order depends on, except for ties, close together in memory: sorting is most of the work.
type sortKey struct {
	priority int32
	index    int32
	seconds  int64
	nanos    int32
}

func sortKeyOf(j *Job, index int) sortKey {
	return sortKey{priority: j.Priority, index: int32(index), seconds: j.Since.Unix(), nanos: int32(j.Since.Nanosecond())}
}

// sorted returns the indexes of the jobs with these keys, in the order of [Job.Compare].
func (rd *round) sorted(keys []sortKey) []int {
	slices.SortFunc(keys, func(a, b sortKey) int {
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
	jobs := make([]int, len(keys))
	for n, key := range keys {
		jobs[n] = int(key.index)
	}
	return jobs
}
