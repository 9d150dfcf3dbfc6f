package minicluster

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/internal/refusal"
)

// observed has a cluster's Job, and the Job's pods.
type observed struct {
	job          *batchv1.Job
	pods         []*corev1.Pod
	leaders      []*corev1.Pod // the pods of rank 0, the latest first
	leftover     []*corev1.Pod // pods of the cluster that haven't ended and whose Job is gone
	refused      string        // why the API server refuses the pods; empty: it doesn't
	requeueAfter time.Duration // when to ask again whether it does; 0: never
}

// observe returns what the view has of a cluster.
func (p *pass) observe(view builder.View) *observed {
	o := &observed{leftover: p.leftover(view)}
	o.job, _ = builder.Lookup[*batchv1.Job](view, p.c.Name)
	if o.job == nil {
		return o
	}
	for _, pod := range builder.Owned[*corev1.Pod](view) {
		if !metav1.IsControlledBy(pod, o.job) {
			continue
		}
		o.pods = append(o.pods, pod)
		if outcome.Index(pod) == 0 {
			o.leaders = append(o.leaders, pod)
		}
	}
	slices.SortStableFunc(o.leaders, func(a, b *corev1.Pod) int {
		switch hasEnded := outcome.HasEnded(a); {
		case hasEnded == outcome.HasEnded(b):
			return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
		case hasEnded: // a live one is later than one that has ended
			return 1
		default:
			return -1
		}
	})
	refused := refusal.Of(view)
	o.refused, o.requeueAfter = refused.Reason(o.job), refused.RequeueAfter()
	return o
}

// leftover returns the pods that a deleted Job has left. Pods of an earlier MiniCluster of the same name aren't among them: the Service of
// this one doesn't select them.
func (p *pass) leftover(view builder.View) []*corev1.Pod {
	left := outcome.Leftover(builder.Watched[*corev1.Pod](view), builder.Owned[*batchv1.Job](view))
	return slices.DeleteFunc(left, func(pod *corev1.Pod) bool { return pod.Labels[LabelUID] != string(p.c.UID) })
}

// leader returns the latest pod of rank 0, or nil.
func (o *observed) leader() *corev1.Pod {
	if len(o.leaders) == 0 {
		return nil
	}
	return o.leaders[0]
}

// failedLeader returns the latest failed pod of rank 0 that a function selects, or nil.
func (o *observed) failedLeader(selects func(*corev1.Pod) bool) *corev1.Pod {
	for _, pod := range o.leaders {
		if pod.Status.Phase == corev1.PodFailed && selects(pod) {
			return pod
		}
	}
	return nil
}

// lagsBehindJob reports whether the cache shows the end of the Job and not yet that of its leader: the Job controller ends a Job only when
// each of its pods has ended, or is being deleted. Jobs and pods come from two watches.
func (o *observed) lagsBehindJob() bool {
	pod := o.leader()
	return outcome.Condition(o.job, batchv1.JobFailed) != nil && pod != nil && pod.DeletionTimestamp == nil && !outcome.HasEnded(pod)
}

func anyPod(*corev1.Pod) bool { return true }

// isLeaderLost reports whether the leader failed, or was replaced by another pod. Then everything is stopped.
func (o *observed) isLeaderLost(c *v1alpha1.MiniCluster) bool {
	known := c.Status.Leader
	if outcome.Condition(o.job, batchv1.JobSuccessCriteriaMet) != nil {
		return false
	}
	return o.failedLeader(anyPod) != nil || (known != nil && (o.leader() == nil || o.leader().UID != known.UID))
}

// leaderEnd returns when the leader's container ended, or was told to stop. It is nil if it runs, or its pod is gone.
func (o *observed) leaderEnd(c *v1alpha1.MiniCluster) *metav1.Time {
	for _, pod := range o.leaders {
		if known := c.Status.Leader; known != nil && known.UID != pod.UID {
			continue
		}
		state := outcome.Terminated(pod, workerName(c))
		if outcome.IsLost(pod) {
			at := outcome.LostAt(pod)
			if state != nil && state.FinishedAt.Before(&at) {
				at = state.FinishedAt
			}
			return &at
		}
		if state != nil {
			return &state.FinishedAt
		}
	}
	return nil
}

// failsByItself reports whether the Job fails without help.
func (o *observed) failsByItself(c *v1alpha1.MiniCluster) bool {
	if outcome.Condition(o.job, batchv1.JobFailureTarget) != nil {
		return true
	}
	pod := o.failedLeader(anyPod)
	return pod != nil && o.endedByItself(c, pod)
}

// endedByItself reports whether a pod failed with an exit code that fails the Job: that of its command, not of its being stopped.
func (o *observed) endedByItself(c *v1alpha1.MiniCluster, pod *corev1.Pod) bool {
	state := outcome.Terminated(pod, workerName(c))
	return state != nil && state.ExitCode != 0 && isFatal(o.job, state.ExitCode)
}

// isFatal reports whether a container that ends with an exit code fails a Job. A running Job keeps the policy of the version that created
// it.
func isFatal(job *batchv1.Job, code int32) bool {
	policy := job.Spec.PodFailurePolicy
	return policy != nil && slices.ContainsFunc(policy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
		return r.OnExitCodes != nil && !slices.Contains(r.OnExitCodes.Values, code)
	})
}

// isStill reports whether all pods have ended.
func (o *observed) isStill() bool {
	return !slices.ContainsFunc(o.pods, func(p *corev1.Pod) bool { return !outcome.HasEnded(p) })
}

// haveCertificate reports whether a pod may have the certificate: one that a node has, and that hasn't ended.
func (o *observed) haveCertificate() bool {
	return slices.ContainsFunc(o.pods, func(p *corev1.Pod) bool { return p.Spec.NodeName != "" && !outcome.HasEnded(p) })
}

// isStopped reports whether no pod of the Job runs any more, nor terminates.
func (o *observed) isStopped() bool {
	return o.isStill() && ptr.Deref(o.job.Status.Terminating, 0) == 0
}

// count returns how many pods of the cluster's ranks exist, and how many of them are ready.
func (o *observed) count(c *v1alpha1.MiniCluster) (existing, ready int32) {
	container := workerName(c)
	for _, pod := range o.pods {
		if outcome.HasEnded(pod) || pod.DeletionTimestamp != nil || outcome.Index(pod) < 0 || outcome.Index(pod) >= int(size(c)) {
			continue
		}
		existing++
		if isServing(pod, container) {
			ready++
		}
	}
	return existing, ready
}

// isServing reports whether the container that does the work is ready. The pod's readiness is no measure of it: sidecars
// come and go.
func isServing(pod *corev1.Pod, container string) bool {
	if s := outcome.ContainerStatus(pod, container); s != nil {
		return s.Ready
	}
	return outcome.PodReady(pod)
}

func isSuspended(job *batchv1.Job) bool { return ptr.Deref(job.Spec.Suspend, false) }
