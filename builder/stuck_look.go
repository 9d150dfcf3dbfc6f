package builder

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// beforeLook is how long a StatefulSet's status stays the same until its pods are listed, if it doesn't tell of abandoned ones.
const beforeLook = 30 * time.Second

// stillness is since when a StatefulSet's status has been the same, and when its pods are to be listed.
type stillness struct {
	status      setProgress
	since, next time.Time
}

// setProgress is what of a StatefulSet's status changes as a roll-out goes on.
type setProgress struct {
	generation                        int64
	replicas, ready, current, updated int32
	currentRevision, updateRevision   string
}

// isLookDue reports whether the pods of a StatefulSet that waits are to be listed: a live request, which a roll-out that
// goes on doesn't need. While its status stays the same, they are listed as often as that time has doubled. It is in
// memory: a new process starts to wait again.
func (r *rollout) isLookDue(set *appsv1.StatefulSet) bool {
	if !r.engine.readsLive || r.engine.dry {
		return r.engine.dry
	}
	s, now := &set.Status, r.engine.now()
	status := setProgress{
		set.Generation, s.Replicas, s.ReadyReplicas, s.CurrentReplicas, s.UpdatedReplicas, s.CurrentRevision, s.UpdateRevision,
	}
	still, ok := r.engine.memory.stuck.Get(set.UID)
	if !ok || still.status != status {
		still = stillness{status: status, since: now, next: now.Add(beforeLook)}
	}
	due := !now.Before(still.next)
	if due {
		still.next = now.Add(now.Sub(still.since))
	}
	r.engine.memory.stuck.Add(set.UID, still)
	r.result.RequeueAfter = sooner(r.result.RequeueAfter, still.next.Sub(now))
	return due
}

// lookAgain has the pods of a StatefulSet listed in the next pass, too: some of them block it.
func (r *rollout) lookAgain(set *appsv1.StatefulSet) {
	if still, ok := r.engine.memory.stuck.Get(set.UID); ok && !r.engine.dry {
		still.next = r.engine.now()
		r.engine.memory.stuck.Add(set.UID, still)
	}
}
