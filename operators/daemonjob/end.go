package daemonjob

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/hostlist"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/internal/runpolicy"
)

// terminating is the plan of a job that is being deleted: its Jobs go with it.
func terminating(job *v1alpha1.DaemonJob, was v1alpha1.DaemonJobStatus, now metav1.Time) builder.Plan[*v1alpha1.DaemonJob] {
	was.State = v1alpha1.StateTerminating
	setCondition(&was, job, now, events.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTerminating, "the DaemonJob is being deleted")
	return planOf(job, was)
}

// over is the plan of a job that has ended: nothing is started any more, what still runs is stopped, and some time after
// the end the job goes.
func over(job *v1alpha1.DaemonJob, was v1alpha1.DaemonJobStatus, jobs []*batchv1.Job, now metav1.Time) builder.Plan[*v1alpha1.DaemonJob] {
	for i := range was.Conditions {
		was.Conditions[i].ObservedGeneration = job.Generation
	}
	runpolicy.Conclude(&was.Conditions, job.Generation, now)
	plan := planOf(job, was)
	if job.Status.ObservedGeneration != job.Generation {
		plan.Events = append(plan.Events, changeIgnored(job))
	}
	plan.Delete = unended(jobs, hostlist.Parse(was.SucceededNodes))
	expiry := runpolicy.Expiry(was.CompletionTime, job.Spec.TTLSecondsAfterFinished, now.Time)
	plan.DeleteOwner, plan.RequeueAfter = expiry.Due, expiry.Left
	return plan
}

// unended returns the Jobs that haven't ended and aren't about to go. That of a node that has succeeded may be without
// its condition yet.
func unended(jobs []*batchv1.Job, succeeded hostlist.List) []client.Object {
	var objs []client.Object
	for _, run := range jobs {
		if succeeded.Has(run.Annotations[AnnotationNode]) {
			continue
		}
		if run.DeletionTimestamp == nil && outcome.Of(run).Phase == outcome.Running {
			objs = append(objs, run)
		}
	}
	return objs
}
