package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/readiness"
	"github.com/armature-dev/armature/store"
)

// NotReady is a child that is applied as wanted and has not become what it should.
type NotReady struct {
	Key store.Key
	// Phase is the child's, empty if it has none.
	Phase string
	// Failed is true if the child won't become ready before someone changes something.
	Failed bool
	// Why is one line of a few hundred bytes at most, such as "1 of 3 replicas updated".
	Why string
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
//   - PersistentVolumeClaim: bound. Service: has a cluster IP, and an address if it is a LoadBalancer.
//     PodDisruptionBudget: observed. CustomResourceDefinition: established.
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
// the child as read from the cluster, of the Go type that was wanted, and must not change it; why says in a few words
// what is waited for. It is only asked about a child that is applied as wanted and isn't being deleted. A function that
// is nil is the default.
func ReadyWhen(ready func(child client.Object) (ready bool, why string)) ChildOption {
	return readyWhen(ready)
}

type readyWhen func(client.Object) (bool, string)

func (f readyWhen) applyToChild(c *Child) { c.readyWhen = f }

// judge notes a child that isn't ready, if that is asked for. A child that could not be applied is told of as an error.
func (p *pass) judge(w *write) {
	child := w.desired.child
	if !p.await && child.phase == "" && child.readyWhen == nil && child.health == nil {
		return
	}
	if status, ok := w.readiness(); ok && status.State != readiness.Ready {
		p.result.NotReady = append(p.result.NotReady, NotReady{
			Key: w.desired.key, Phase: child.phase, Failed: status.State == readiness.Failed, Why: status.Why,
		})
	}
}

// readiness says how far a child is that is as wanted; false if it isn't.
func (w *write) readiness() (readiness.Status, bool) {
	obj := w.stored
	if obj == nil && w.verdict == verdictNothing {
		obj = w.found
	}
	if obj == nil {
		return readiness.Status{}, false
	}
	return w.desired.child.examined(w.ownReadiness(obj), obj), true
}

func (w *write) ownReadiness(obj client.Object) readiness.Status {
	if w.desired.child.readyWhen == nil || obj.GetDeletionTimestamp() != nil {
		return readiness.Of(obj)
	}
	if ready, why := w.desired.child.readyWhen(obj); !ready {
		return readiness.Status{State: readiness.InProgress, Why: shorten(why, maxWhy)}
	}
	return readiness.Status{}
}

// maxWhy bounds what a ReadyWhen says, in bytes.
const maxWhy = 256
