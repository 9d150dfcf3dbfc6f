package builder

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/builder/readiness"
)

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

// AwaitReady looks at each child's readiness in this pass: those that aren't ready are in [Result.NotReady]. It costs
// no request, since it looks at the cache. Default: only children in a phase and those with [ReadyWhen] are looked at.
//
// A child is ready by the rules of package readiness. A PersistentVolumeClaim of a class that binds at once counts as unused for a
// moment only, for which the first 10 seconds of its life are waited. For other rules there is [ReadyWhen].
func (b *Builder) AwaitReady() *Builder {
	b.await = true
	return b
}

// ReadyWhen says by a function whether the child is ready, instead of the rules of package readiness. It is given
// the child as read from the cluster, of the Go type of the desired object, and must not change it. It is only asked about a
// child that is up to date and isn't being deleted. Failed halts a roll-out. A function that is nil is the default.
//
// To add to the rules, ask [readiness.Of] for what they say: a StatefulSet never says that it has failed, but a plan that
// sees its pods crash can.
func ReadyWhen(ready func(child client.Object) readiness.Status) ChildOption {
	return readyWhen(ready)
}

type readyWhen func(client.Object) readiness.Status

func (f readyWhen) applyToChild(c *Child) { c.desired.ReadyWhen = f }

// evaluate records a child that isn't ready, if that is asked for. A child that could not be applied is reported as an error.
func (p *pass) evaluate(w *apply.Write) {
	child := w.Desired.Child
	if !p.await && child.Phase == "" && child.ReadyWhen == nil {
		return
	}
	obj := w.UpToDate()
	if obj == nil {
		return
	}
	state := readinessOf(child, obj)
	if state.Ready && child.ReadyWhen == nil {
		if left := undecided(obj, p.engine.now()); left > 0 {
			state = readiness.Status{Message: "is not bound"}
			p.result.RequeueAfter = sooner(p.result.RequeueAfter, left)
		}
	}
	if !state.Ready {
		p.result.NotReady = append(p.result.NotReady, ChildStatus{
			Key: w.Desired.Key, Phase: child.Phase, Failed: state.Failed, Message: state.Message,
		})
	}
}

// readinessOf returns the readiness of a child whose object is up to date.
func readinessOf(child *apply.Child, obj client.Object) readiness.Status {
	if child.ReadyWhen == nil || obj.GetDeletionTimestamp() != nil {
		return readiness.Of(obj)
	}
	state := child.ReadyWhen(obj)
	state.Ready = state.Ready && !state.Failed
	state.Message = text.Shorten(state.Message, text.MaxMessage)
	return state
}
