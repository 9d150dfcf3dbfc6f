package builder

import (
	"fmt"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/store"
)

// claimShows is the time after its creation in which a claim shows that it is being provisioned, if its class binds at once.
const claimShows = 10 * time.Second

// undecided returns how long the state of a claim without any sign stays undecided. The claim either waits for its first consumer, and
// the builder doesn't wait for it, or it is about to be provisioned, and the builder does.
func undecided(obj client.Object, now time.Time) time.Duration {
	claim, ok := obj.(*corev1.PersistentVolumeClaim)
	if !ok || claim.Status.Phase == corev1.ClaimBound {
		return 0
	}
	return max(0, claimShows-now.Sub(claim.CreationTimestamp.Time))
}

// ReadyWhen sets a function that decides whether the child is ready. The function receives the child as read from the cluster, with
// the Go type of the desired object, and must not change it. The builder calls it only for a child that is up to date and isn't
// terminating. The status Failed stops a roll-out. A child whose function panics isn't ready, and the log has the stack. Default, also for
// nil: the rules of package readiness.
//
// To extend the rules, call [readiness.Of] in the function. For example, a StatefulSet never reports a failure in its status; a plan
// that observes crashing pods can.
func ReadyWhen(ready func(child client.Object) readiness.Status) ChildOption {
	return childOption(func(c *Child) { c.desired.ReadyWhen = ready })
}

// evaluate records a child that isn't ready, if the pass checks readiness. For a child that could not be applied, the pass reports the
// error.
func (p *pass) evaluate(w *apply.Write) {
	child := w.Desired.Child
	if !p.await && child.Phase == "" && child.ReadyWhen == nil {
		return
	}
	obj := w.UpToDate()
	if obj == nil {
		return
	}
	state := p.readinessOf(child, w.Desired.Key, obj)
	if state.Ready && child.ReadyWhen == nil {
		if left := undecided(obj, p.engine.now()); left > 0 {
			state = readiness.Status{Message: "is not bound"}
			p.result.RequeueAfter = sooner(p.result.RequeueAfter, left)
		}
	}
	if !state.Ready {
		p.pend(ChildStatus{Key: w.Desired.Key, Phase: child.Phase, Reason: notReadyReason(state.Failed), Message: state.Message})
	}
}

// readinessOf returns the readiness of a child whose object is up to date. A child whose ReadyWhen panics isn't ready, and hasn't failed,
// because a failure would stop or roll back a roll-out.
func (p *pass) readinessOf(child *apply.Child, key store.Key, obj client.Object) (state readiness.Status) {
	if child.ReadyWhen == nil || obj.GetDeletionTimestamp() != nil {
		return readiness.Of(obj)
	}
	defer func() {
		if cause := recover(); cause != nil {
			state = readiness.Status{Message: text.Shorten(fmt.Sprintf("ReadyWhen panicked: %v; the log has the stack", cause), text.MaxMessage)}
			log.Log.Error(nil, "ReadyWhen must not panic", "owner", p.ownerKey, "child", key, "panic", cause, "stack", string(debug.Stack()))
		}
	}()
	state = child.ReadyWhen(obj)
	state.Ready = state.Ready && !state.Failed
	state.Message = text.Shorten(state.Message, text.MaxMessage)
	return state
}
