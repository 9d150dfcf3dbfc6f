package minicluster

import (
	"math"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/origin"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// Exit codes of a pod that say nothing about the work: of a worker that can't continue (see start.sh), of a container that the runtime
// couldn't start, of one that was killed, of one that was told to stop, and of one that containerd finds dead after a reboot of the
// node. All others are the leader's own, and fail the Job at once, whether or not this operator observes it.
const (
	exitWorker     = 75
	exitStartError = 128
	exitKilled     = 137
	exitStopped    = 143
	exitUnknown    = 255
)

// ambiguousExits are these exit codes. Invariant: start.sh doesn't end the leader with one of them, unless the pod is told to stop.
var ambiguousExits = []int32{exitWorker, exitStartError, exitKilled, exitStopped, exitUnknown}

// exitReplaced is the exit code that start.sh ends the leader with instead. See endOfLeader.
const exitReplaced = 1

// render makes the Job: one pod for each rank.
//
// The leader is index 0. That it succeeds is the Job's success, and the rest is stopped. That it fails by itself is the
// Job's failure. Lost workers are replaced without end. Only a leader that was lost is left to the operator: it lowers
// backoffLimit, so that the Job fails and stops the rest (see change_job.go).
func render(c *v1alpha1.MiniCluster, now time.Time) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   c.Namespace,
			Name:        c.Name,
			Labels:      allJobLabels(c),
			Annotations: map[string]string{},
		},
		Spec: batchv1.JobSpec{
			Completions:    new(size(c)),
			Parallelism:    new(size(c)),
			CompletionMode: ptr.To(batchv1.IndexedCompletion),
			BackoffLimit:   ptr.To[int32](math.MaxInt32),
			SuccessPolicy: &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{
				{SucceededIndexes: new("0"), SucceededCount: ptr.To[int32](1)},
			}},
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					ContainerName: new(workerName(c)),
					Operator:      batchv1.PodFailurePolicyOnExitCodesOpNotIn,
					Values:        slices.Clone(ambiguousExits),
				},
			}}},
			Template: podTemplate(c),
		},
	}
	if c.Spec.Suspend || isQueued(c) {
		job.Spec.Suspend = new(true)
	}
	job.Annotations[annotationTemplate] = origin.Digest(&job.Spec.Template)
	job.Annotations[annotationQueue] = queueOf(c)
	if c.Spec.DeadlineSeconds != nil {
		job.Annotations[annotationSpent] = strconv.FormatInt(spent(c, now), 10)
		job.Spec.ActiveDeadlineSeconds = deadline(c, job)
	}
	return job
}

// allJobLabels are the Job's labels: its own, and those of the spec.
func allJobLabels(c *v1alpha1.MiniCluster) map[string]string {
	return podtemplate.Merge(jobLabels(c), c.Spec.JobLabels)
}

// jobLabels are the Job's own labels.
func jobLabels(c *v1alpha1.MiniCluster) map[string]string {
	own := labels(c)
	own[wellknown.LabelManagedBy] = wellknown.ManagedBy
	own[LabelAttempt] = itoa(c.Status.Restarts)
	for _, name := range queueLabels {
		if value := c.Labels[name]; value != "" {
			own[name] = value
		}
	}
	return own
}

// queueLabels are the labels of a Job that Kueue reads.
var queueLabels = []string{v1alpha1.LabelKueueQueue, v1alpha1.LabelKueuePriority}

// queueOf is the queue and the priority that a Job is created for: <queue>/<priority>, both of which may be empty.
func queueOf(c *v1alpha1.MiniCluster) string {
	all := allJobLabels(c)
	return all[v1alpha1.LabelKueueQueue] + "/" + all[v1alpha1.LabelKueuePriority]
}

// spent is how many seconds of the deadline have passed before a Job is made.
func spent(c *v1alpha1.MiniCluster, now time.Time) int64 {
	if c.Status.StartTime == nil {
		return 0
	}
	return max(int64(now.Sub(c.Status.StartTime.Time)/time.Second), 0)
}

// deadline is the activeDeadlineSeconds of a Job: what is left of the cluster's own. Nil is none.
func deadline(c *v1alpha1.MiniCluster, job *batchv1.Job) *int64 {
	if c.Spec.DeadlineSeconds == nil {
		return nil
	}
	spent, err := strconv.ParseInt(job.Annotations[annotationSpent], 10, 64)
	if err != nil {
		spent = 0 // made without a deadline; it runs from this Job's start then
	}
	return new(max(min(*c.Spec.DeadlineSeconds, lifecycle.MaxSeconds)-spent, 1)) // the Job controller overflows, too
}

// attempt is how often the cluster had been started again before a Job was made.
func attempt(job *batchv1.Job) int32 { return origin.Number(job.Labels, LabelAttempt) }
