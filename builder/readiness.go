package builder

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/readiness"
)

// Readiness says whether an object has become what its spec asks for. The zero value says: not yet.
type Readiness struct {
	// Ready is true if it has. A Job is ready once it is complete.
	Ready bool
	// Failed is true if it won't, before someone changes something: a Job has failed, a Deployment has exceeded its deadline.
	// What is neither ready nor failed is on its way. It is never true beside Ready.
	Failed bool
	// Message says in one line why it isn't ready, such as "1 of 3 replicas updated", or what is odd about one that is.
	Message string
}

// ReadinessOf says whether an object, as read from a cluster, is ready, and if not whether it has failed and why, by the
// rules of [Builder.AwaitReady]. It is for plans that decide by it or tell of it in their status, and for a [ReadyWhen] that
// adds to the rules. The object is not changed.
func ReadinessOf(obj client.Object) Readiness {
	s := readiness.Of(obj)
	return Readiness{Ready: s.State == readiness.Ready, Failed: s.State == readiness.Failed, Message: s.Why}
}

// status returns a readiness as the rules have it.
func (r Readiness) status() readiness.Status {
	s := readiness.Status{State: readiness.InProgress, Why: shorten(r.Message, maxWhy)}
	switch {
	case r.Failed:
		s.State = readiness.Failed
	case r.Ready:
		s.State = readiness.Ready
	}
	return s
}

// claimShows is how long after its creation a claim is expected to show that it is being provisioned, if its class binds
// it at once.
const claimShows = 10 * time.Second

// undecided returns how long it can't be told yet whether a claim that shows nothing waits for its first consumer, which
// isn't waited for, or is about to be provisioned, which is.
func undecided(obj client.Object, now time.Time) time.Duration {
	claim, ok := obj.(*corev1.PersistentVolumeClaim)
	if !ok || claim.Status.Phase == corev1.ClaimBound {
		return 0
	}
	return max(0, claimShows-now.Sub(claim.CreationTimestamp.Time))
}
