package daemonjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// interruptedAfter is how long a pod has no node, or outlives its grace period, until it counts as unable to run: a scheduler and a
// kubelet need time, and clocks differ.
const interruptedAfter = time.Minute

// addRunning adds a node whose Job hasn't ended. With unavailableNodes Skip a node whose Job is interrupted counts as one without a Job.
// The Job stays while the DaemonJob runs, and continues when the node is available again.
func (p *pass) addRunning(o *observed, r run, node *corev1.Node) {
	reason := p.interruption(o, r, node)
	r.failing = p.announcedFailure(o, r.job)
	switch {
	case reason != "" && p.job.Spec.UnavailableNodes == v1alpha1.UnavailableSkip && r.failing != nil:
		o.addEnded(r, *r.failing)
		return
	case reason != "" && p.job.Spec.UnavailableNodes == v1alpha1.UnavailableSkip:
		o.blocked = append(o.blocked, blocker{r.node, reason})
		o.interruptedJobs++
		return
	case r.failing != nil && reason != "":
		o.failing = append(o.failing, blocker{r.node, r.failing.Reason + ", and it " + reason})
	case r.failing != nil:
		o.failing = append(o.failing, blocker{r.node, r.failing.Reason})
	case reason != "":
		o.interrupted = append(o.interrupted, blocker{r.node, reason})
	}
	o.running = append(o.running, r)
}

// interruption returns why a node can't continue its Job: what keeps the Job's pods off the node, if none of them can run there.
// Empty: one of them may run, or the job is suspended. The Job's own tolerations count, which a change of the spec doesn't change.
func (p *pass) interruption(o *observed, r run, node *corev1.Node) string {
	if p.job.Spec.Suspend {
		return ""
	}
	e := &eligibility{pod: &r.job.Spec.Template.Spec}
	reason := e.blocker(node)
	if reason == "" || !p.areInterrupted(o, o.pods[r.job.UID], e.blockedSince(node, p.now)) {
		return ""
	}
	return reason
}

// areInterrupted reports whether none of the pods of a node, which is unavailable since a time, can run: each one that hasn't ended has no
// node, or its grace period has passed without an answer from its kubelet. False if all have ended. A pod that isn't terminating runs,
// although its node may not be ready. A pod may have waited for room long before its node became unavailable, which may pass.
func (p *pass) areInterrupted(o *observed, pods []*corev1.Pod, blockedSince metav1.Time) bool {
	isAny, left := false, time.Duration(0)
	for _, pod := range pods {
		if outcome.HasEnded(pod) {
			continue
		}
		since := pod.CreationTimestamp
		switch {
		case pod.DeletionTimestamp != nil: // the end of its grace period
			since = *pod.DeletionTimestamp
		case pod.Spec.NodeName != "":
			return false
		case since.Before(&blockedSince):
			since = blockedSince
		}
		isAny, left = true, max(left, since.Add(interruptedAfter).Sub(p.now.Time))
	}
	o.requeueAfter = lifecycle.Soonest(o.requeueAfter, left)
	return isAny && left == 0
}

// announcedFailure returns the failure of a Job that is certain to fail once its pods have ended; nil if it isn't. A Job that someone
// deletes is created again, and so is one that started before the present retry.
func (p *pass) announcedFailure(o *observed, job *batchv1.Job) *outcome.Outcome {
	c := outcome.Condition(job, batchv1.JobFailureTarget)
	if c == nil || job.DeletionTimestamp != nil || startedUnder(job) < p.last.Retry || o.pods.Unended(job) == nil {
		return nil
	}
	return &outcome.Outcome{Phase: outcome.Failed, Reason: c.Reason, Message: c.Message, Ended: &c.LastTransitionTime}
}
