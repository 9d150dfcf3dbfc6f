package daemonjob

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/internal/runpolicy"
)

// Plan says which nodes should get their Job now, and what the status is. It is a [builder.PlanFunc].
//
// Only Jobs to be created are among the plan's children. Those that exist are left as they are.
func Plan(job *v1alpha1.DaemonJob, seen builder.View) builder.Plan[*v1alpha1.DaemonJob] {
	now := metav1.NewTime(seen.Now).Rfc3339Copy() // as precise as the API server keeps it
	jobs := builder.Owned[*batchv1.Job](seen)
	was := recorded(job)
	switch {
	case !runpolicy.IsOurs(job.Spec.ManagedBy):
		return builder.Plan[*v1alpha1.DaemonJob]{}
	case job.DeletionTimestamp != nil:
		return terminating(job, was, now)
	case was.CompletionTime != nil:
		return over(job, was, jobs, now)
	}

	template := render(job)
	rules, problems := rulesOf(job, &template.Spec.Template.Spec)
	nodes := look(job, was, rules, builder.All[*corev1.Node](seen), jobs)
	verdict := judge(job, was, nodes, problems, now)

	var stopped []client.Object
	if verdict.ended() {
		stopped = nodes.stop()
	}
	status := statusOf(job, was, nodes, verdict, now)
	plan := planOf(job, status)
	if verdict.starts {
		plan.Children = start(job, template, nodes)
	}
	plan.Edits = suspendOrResume(job, was, nodes.running)
	plan.Delete = append(stopped, nodes.dismissed...)
	plan.Events = tell(job, status, nodes, verdict)
	plan.RequeueAfter = runpolicy.Soonest(verdict.again, nodes.again)
	return plan
}

// start returns the Jobs of the nodes whose turn it is.
func start(job *v1alpha1.DaemonJob, template *batchv1.Job, nodes *survey) []builder.Child {
	free := nodes.desired()
	if limit := job.Spec.Parallelism; limit != nil {
		free = scale(limit, nodes.desired()) - nodes.active()
	}
	var children []builder.Child
	for _, node := range nodes.pending[:max(0, min(free, len(nodes.pending)))] {
		children = append(children, builder.Want(onNode(template, job, node), builder.CreateOnce()))
	}
	return children
}

// terminating is the plan of a job that is being deleted: its Jobs go with it.
func terminating(job *v1alpha1.DaemonJob, was v1alpha1.DaemonJobStatus, now metav1.Time) builder.Plan[*v1alpha1.DaemonJob] {
	was.State = v1alpha1.StateTerminating
	setCondition(&was, job, now, builder.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTerminating, "the DaemonJob is being deleted")
	return planOf(job, was)
}

// over is the plan of a job that has ended: nothing is started any more, and what still runs is stopped. What was seen
// as running when it ended is deleted; this is for what was missed then.
func over(job *v1alpha1.DaemonJob, was v1alpha1.DaemonJobStatus, jobs []*batchv1.Job, now metav1.Time) builder.Plan[*v1alpha1.DaemonJob] {
	for i := range was.Conditions {
		was.Conditions[i].ObservedGeneration = job.Generation
	}
	plan := planOf(job, was)
	if job.Status.ObservedGeneration != job.Generation {
		plan.Events = append(plan.Events, changeIgnored(job))
	}
	plan.Delete = unended(jobs)
	expiry := runpolicy.Expiry(was.CompletionTime, job.Spec.TTLSecondsAfterFinished, now.Time)
	plan.DeleteOwner, plan.RequeueAfter = expiry.Due, expiry.Left
	return plan
}

// unended returns the Jobs that haven't ended and aren't about to go.
func unended(jobs []*batchv1.Job) []client.Object {
	var objs []client.Object
	for _, run := range jobs {
		if run.DeletionTimestamp == nil && outcome.Of(run).Phase == outcome.Running {
			objs = append(objs, run)
		}
	}
	return objs
}

// planOf returns a plan with a status, if it is news. What people wait for is written at once, counts a moment later.
func planOf(job *v1alpha1.DaemonJob, status v1alpha1.DaemonJobStatus) builder.Plan[*v1alpha1.DaemonJob] {
	status.ObservedGeneration = job.Generation
	if equality.Semantic.DeepEqual(status, job.Status) {
		return builder.Plan[*v1alpha1.DaemonJob]{}
	}
	changed := *job
	changed.Status = status
	plan := builder.Plan[*v1alpha1.DaemonJob]{Status: &changed}
	if !isTransition(&job.Status, &status) {
		plan.StatusCanWait = statusDelay
	}
	return plan
}
