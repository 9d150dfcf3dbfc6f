package builder

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/readiness"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/store"
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
// rules of [Builder.AwaitReady]. It is for plans that decide by it or report it in their status, and for a [ReadyWhen] that
// adds to the rules. The object is not changed.
func ReadinessOf(obj client.Object) Readiness {
	s := readiness.Of(obj)
	return Readiness{Ready: s.State == readiness.Ready, Failed: s.State == readiness.Failed, Message: s.Why}
}

// status returns a readiness as the rules have it.
func (r Readiness) status() readiness.Status {
	s := readiness.Status{State: readiness.InProgress, Why: text.Shorten(r.Message, text.MaxMessage)}
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

// undecided returns how long it isn't known yet whether a claim without any sign waits for its first consumer, which
// isn't waited for, or is about to be provisioned, which is.
func undecided(obj client.Object, now time.Time) time.Duration {
	claim, ok := obj.(*corev1.PersistentVolumeClaim)
	if !ok || claim.Status.Phase == corev1.ClaimBound {
		return 0
	}
	return max(0, claimShows-now.Sub(claim.CreationTimestamp.Time))
}

// NotReady is a child that is applied and isn't ready yet.
type NotReady struct {
	Key store.Key
	// Phase is the child's, empty if it has none.
	Phase string
	// Failed is true if the child won't become ready before someone changes something.
	Failed bool
	// Message is one line of a few hundred bytes at most, such as "1 of 3 replicas updated".
	Message string

	advice string // what someone has to do about it, which is in Message, too
}

// AwaitReady looks at each child's readiness in this pass: those that aren't ready are in [Result.NotReady]. It costs
// no request, since it looks at the cache. Default: only children in a phase and those with [ReadyWhen] are looked at.
//
// A child is ready by these rules, which are those of kstatus (sigs.k8s.io/cli-utils) but where noted:
//
//   - Deployment, StatefulSet, DaemonSet, ReplicaSet: the newest spec is observed, and all pods are available and of the
//     newest template. A Deployment has failed at ProgressDeadlineExceeded. A StatefulSet is rolled out when its
//     currentRevision is its updateRevision, or its partition is reached; it never fails. With OnDelete, pods of an
//     older template aren't waited for.
//   - Job: complete (kstatus: started); failed when the Job has.
//   - Pod: ready, or succeeded; failed when it has failed (kstatus: ready) or is in CrashLoopBackOff.
//   - PersistentVolumeClaim: bound, or unused (kstatus: bound): it has a storage class, and nothing on it says that a volume
//     is looked for: no volume name, selected node or provisioner. So it is with a class that binds on first consumption, as
//     long as no pod uses the claim; a claim of any other class counts as unused for a moment only, for which the first 10
//     seconds of its life are waited. A claim of a class that no one provisions isn't told from an unused one: the pods that
//     use it say that they wait.
//   - Service: has a cluster IP, and an address if it is a LoadBalancer. PodDisruptionBudget: observed.
//     CustomResourceDefinition: established.
//   - Any other: status.observedGeneration, if set, is the generation, and of its conditions Stalled isn't True (else it
//     has failed), Reconciling isn't True, and Ready, if it has one, is True. A kind that says nothing of itself is
//     ready as soon as it exists.
//
// For the rest there is [ReadyWhen].
func (b *Builder) AwaitReady() *Builder {
	b.await = true
	return b
}

// ReadyWhen says by a function whether the child is ready, instead of the rules of [Builder.AwaitReady]. It is given
// the child as read from the cluster, of the Go type of the desired object, and must not change it. It is only asked about a
// child that is up to date and isn't being deleted. Failed halts a roll-out. A function that is nil is the default.
//
// To add to the rules, ask [ReadinessOf] for what they say: a StatefulSet never says that it has failed, but a plan that
// sees its pods crash can.
func ReadyWhen(ready func(child client.Object) Readiness) ChildOption {
	return readyWhen(ready)
}

type readyWhen func(client.Object) Readiness

func (f readyWhen) applyToChild(c *Child) { c.readyWhen = f }

// judge records a child that isn't ready, if that is asked for. A child that could not be applied is reported as an error.
func (p *pass) judge(w *write) {
	child := w.desired.child
	if !p.await && child.phase == "" && child.readyWhen == nil {
		return
	}
	state, ok := w.readiness()
	if !ok {
		return
	}
	if state.State == readiness.Ready && child.readyWhen == nil {
		if left := undecided(w.upToDateObject(), p.engine.now()); left > 0 {
			state = readiness.Status{State: readiness.InProgress, Why: "is not bound"}
			p.result.RequeueAfter = sooner(p.result.RequeueAfter, left)
		}
	}
	if state.State != readiness.Ready {
		p.result.NotReady = append(p.result.NotReady, NotReady{
			Key: w.desired.key, Phase: child.phase, Failed: state.State == readiness.Failed, Message: state.Why,
		})
	}
}

// readiness returns the readiness of a child that is up to date; false if it isn't up to date.
func (w *write) readiness() (readiness.Status, bool) {
	obj := w.upToDateObject()
	if obj == nil {
		return readiness.Status{}, false
	}
	if w.desired.child.readyWhen == nil || obj.GetDeletionTimestamp() != nil {
		return readiness.Of(obj), true
	}
	return w.desired.child.readyWhen(obj).status(), true
}

// upToDateObject returns a child that is up to date, nil if it isn't.
func (w *write) upToDateObject() client.Object {
	if w.stored == nil && w.action == actionNone {
		return w.observed
	}
	return w.stored
}
