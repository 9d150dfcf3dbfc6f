package replicajob

import (
	"strconv"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// restarts returns how many restarts of the team's replicas there were that count: those recorded, and those that are
// news.
func (t *team) restarts() int32 {
	n := t.recorded.Restarts
	for i := range t.slots {
		s := &t.slots[i]
		n += s.seen - s.recorded - s.uncounted
	}
	return n
}

// restarts returns how many restarts of replicas there were that count against the backoffLimit.
func (r *roster) restarts() int32 {
	var n int32
	for _, t := range r.teams {
		n += t.restarts()
	}
	return n
}

// record counts the failures whose replicas are to be made again. The first pass that sees a failure writes the count,
// a later one deletes the pod: until then the pod's own label and the kubelet's count say the same, and from then on the
// status does. It reports whether there was anything to count.
func record(failures []failure) bool {
	news := false
	for i := range failures {
		f := &failures[i]
		if !f.restartsReplica() || f.isRecorded() {
			continue
		}
		news = true
		f.slot.seen = f.slot.before() + 1
		if f.action == v1alpha1.FailureIgnore {
			f.slot.uncounted = 1
		}
	}
	return news
}

// wantRestart returns the failures that ask for a restart that is to be counted and isn't yet.
func wantRestart(failures []failure) []*failure {
	var all []*failure
	for i := range failures {
		if f := &failures[i]; f.action == v1alpha1.FailureRestartReplica && !f.isRecorded() {
			all = append(all, f)
		}
	}
	return all
}

// restartsByIndex returns the restarts of each replica that had some, also of those that the job was scaled down by:
// their pods may still be there when it is scaled up again, and their restarts must not count once more.
func (t *team) restartsByIndex() map[string]int32 {
	var all map[string]int32
	for index, n := range t.recorded.ReplicaRestarts {
		if i, err := strconv.Atoi(index); err == nil && i >= len(t.slots) {
			if all == nil {
				all = map[string]int32{}
			}
			all[index] = n
		}
	}
	for i := range t.slots {
		if n := t.slots[i].seen; n > 0 {
			if all == nil {
				all = map[string]int32{}
			}
			all[strconv.Itoa(i)] = n
		}
	}
	return all
}
