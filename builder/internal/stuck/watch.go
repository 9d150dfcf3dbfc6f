package stuck

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
)

// firstList is how long a StatefulSet's status stays the same until its pods are listed, if it doesn't count abandoned ones.
const firstList = 30 * time.Second

// Watch decides when to list the pods of a waiting StatefulSet: a live request, which a healthy roll-out doesn't need. While a status
// stays the same, the pods are listed each time that period has doubled. It is safe for concurrent use.
type Watch struct {
	sets *lru.Cache[types.UID, stillness]
}

// NewWatch returns a Watch of at most size StatefulSets.
func NewWatch(size int) *Watch {
	sets, err := lru.New[types.UID, stillness](size)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &Watch{sets}
}

// stillness is since when a StatefulSet's status has been the same, and when its pods are due.
type stillness struct {
	status      progress
	since, next time.Time
}

// progress is the part of a StatefulSet's status that changes during a roll-out.
type progress struct {
	generation                        int64
	replicas, ready, current, updated int32
	currentRevision, updateRevision   string
}

// IsDue reports whether to list the pods of a StatefulSet now, and the delay until the next check.
func (w *Watch) IsDue(set *appsv1.StatefulSet, now time.Time) (due bool, wait time.Duration) {
	s := &set.Status
	status := progress{set.Generation, s.Replicas, s.ReadyReplicas, s.CurrentReplicas, s.UpdatedReplicas, s.CurrentRevision, s.UpdateRevision}
	still, ok := w.sets.Get(set.UID)
	if !ok || still.status != status {
		still = stillness{status: status, since: now, next: now.Add(firstList)}
	}
	if due = !now.Before(still.next); due {
		still.next = now.Add(now.Sub(still.since))
	}
	w.sets.Add(set.UID, still)
	return due, still.next.Sub(now)
}

// Again makes the pods of a StatefulSet due in the next pass, too, because some of them block it.
func (w *Watch) Again(set *appsv1.StatefulSet, now time.Time) {
	if still, ok := w.sets.Get(set.UID); ok {
		still.next = now
		w.sets.Add(set.UID, still)
	}
}
