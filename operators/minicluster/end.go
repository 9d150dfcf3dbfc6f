package minicluster

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// retry records that a start came to nothing, and that the cluster is to be started again, if it may. Only once that is
// recorded is the Job of before deleted: whatever happens in between, each start is counted once.
func (w *planning) retry(f failure) {
	if !w.mayRestart(f) {
		w.fail(f)
		return
	}
	w.status.Restarts = w.c.Status.Restarts + 1
	w.status.Leader, w.status.FailedWorker = nil, nil
	w.status.LastFailure = f.message
	w.status.StartSize = size(w.c)
	w.describe()
	w.tell(events.Warning(v1alpha1.ReasonRestarting, fmt.Sprintf("%s; starts again, %d of %d times",
		f.message, w.status.Restarts, ptr.Deref(w.c.Spec.BackoffLimit, 0))))
	w.again(soon)
}

// succeed records that the work is done.
func (w *planning) succeed() {
	message := "the leader ended with exit code 0"
	if pod := w.scene.leader(); pod != nil {
		if state := ending(pod, workerName(w.c)); state != nil {
			message += because(state.Message)
		}
	}
	w.end(v1alpha1.MiniClusterStateSucceeded)
	w.status.ExitCode = ptr.To[int32](0)
	w.set(v1alpha1.ConditionSucceeded, true, v1alpha1.ReasonSucceeded, message)
	w.set(events.ConditionReady, true, v1alpha1.ReasonSucceeded, message)
	w.tell(events.Normal(v1alpha1.ReasonSucceeded, message))
}

// fail records that the cluster has failed for good.
func (w *planning) fail(f failure) {
	w.end(v1alpha1.MiniClusterStateFailed)
	w.status.ExitCode = f.code
	w.status.LastFailure = f.message
	message := f.message
	if n := w.status.Restarts; n > 0 {
		message += fmt.Sprintf(" (after %d restarts)", n)
	}
	w.set(v1alpha1.ConditionFailed, true, f.reason, message)
	w.stall(f.reason, message)
	w.tell(events.Warning(f.reason, message))
}

// end records that the cluster has ended.
func (w *planning) end(state v1alpha1.MiniClusterState) {
	w.status.State = state
	w.status.CompletionTime = w.scene.now.DeepCopy()
	if job := w.scene.job; job != nil {
		if ended := outcome.Of(job).Ended; ended != nil {
			w.status.CompletionTime = ended.DeepCopy()
		}
		if w.status.StartTime == nil {
			start := startOf(job, w.scene.now)
			w.status.StartTime = &start
		}
	}
	w.status.Size, w.status.ReadyPods = w.scene.count(w.c)
	w.unstall()
	for _, kind := range []string{v1alpha1.MiniClusterPodsReady, v1alpha1.MiniClusterBrokerReady, v1alpha1.MiniClusterRunning} {
		w.set(kind, false, v1alpha1.ReasonFinished, "the cluster has ended")
	}
	w.again(soon)
}

// afterwards is what there is to do for a cluster that has ended: nothing runs any more.
func (w *planning) afterwards() {
	for i := range w.status.Conditions {
		w.status.Conditions[i].ObservedGeneration = w.c.Generation
	}
	lifecycle.ConditionsOf(&w.status.Conditions, w.c.Generation, w.scene.now).Conclude()
	w.status.Size, w.status.ReadyPods = w.scene.count(w.c)
	w.plan.Prune = []client.Object{&appsv1.Deployment{}} // the services
	if w.c.Spec.Cleanup {
		w.plan.Prune = append(w.plan.Prune, &corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Service{})
		if job := w.scene.job; job != nil && job.DeletionTimestamp == nil {
			w.plan.Delete = []client.Object{job}
		}
	}
	if w.c.Status.ObservedGeneration != w.c.Generation {
		w.tell(events.Warning(v1alpha1.ReasonChangeIgnored, fmt.Sprintf(
			"the cluster has ended (%s); of a change of its spec, only cleanup and ttlSecondsAfterFinished have an effect", w.c.Status.State)))
	}
	ttl := lifecycle.Expiry(w.c.Status.CompletionTime, w.c.Spec.TTLSecondsAfterFinished, w.seen.Now)
	w.plan.DeleteOwner = ttl.Due
	w.again(ttl.Left)
}

// terminate is what there is to do for a cluster that is being deleted: all it has goes with it.
func (w *planning) terminate() {
	w.status.State = v1alpha1.MiniClusterStateTerminating
	w.set(events.ConditionReady, false, v1alpha1.ReasonTerminating, "the MiniCluster is being deleted")
}

// refuse is what there is to do for a spec that can't be carried out: nothing is made of it. What was started before goes
// on as it was started, until it ends, is suspended, or its deadline comes; it isn't started again.
func (w *planning) refuse(problems field.ErrorList) {
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Error())
	}
	told := message.Shorten(strings.Join(texts, "; "))
	if w.c.Status.StartTime == nil {
		w.withhold(told)
	} else if w.proceed(); w.status.CompletionTime != nil {
		return
	}
	w.stall(v1alpha1.ReasonInvalidSpec, told)
	if before := w.was(events.ConditionReady); before.Reason != v1alpha1.ReasonInvalidSpec || before.Message != told ||
		before.ObservedGeneration != w.c.Generation {
		w.tell(events.Warning(v1alpha1.ReasonInvalidSpec, told))
	}
}

// withhold is what there is to do for an invalid spec of which nothing runs.
func (w *planning) withhold(why string) {
	state := v1alpha1.MiniClusterStatePending
	if w.c.Spec.Suspend {
		state = v1alpha1.MiniClusterStateSuspended
	}
	w.rest(state, v1alpha1.ReasonInvalidSpec, why)
	job := w.scene.job
	if job != nil && isSuspended(job) && job.DeletionTimestamp == nil && w.isStopped() { // or Kueue would start what was desired before
		w.plan.Delete = []client.Object{job}
	}
}

// scaled tells that the size changes.
func (w *planning) scaled(before, after int32) {
	w.tell(events.Normal(v1alpha1.ReasonScaled, fmt.Sprintf("from %s to %d", countPods(before), after)))
}
