package daemonjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/internal/refusal"
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
	case hasEndedBefore(job):
		return takeOver(job, was, now)
	case was.CompletionTime != nil:
		return over(job, was, jobs, now)
	}

	// What is there?
	template := render(job)
	rules, problems := rulesOf(job, &template.Spec.Template.Spec)
	pods := outcome.GroupByJob(builder.Owned[*corev1.Pod](seen), func(*metav1.OwnerReference) bool { return true })
	nodes := look(job, was, rules, builder.Watched[*corev1.Node](seen), jobs, podsOfJobs{pods, leftover(seen, jobs)})

	nodes.findRefused(refusal.Of(seen))

	// What follows from it?
	verdict := judge(job, was, nodes, problems, now)
	if verdict.ended() {
		nodes.stop()
	}
	status := statusOf(job, was, nodes, verdict, now)

	// What is to be done?
	plan := planOf(job, status)
	if verdict.starts {
		plan.Children = start(job, template, nodes)
	}
	plan.Edits = suspendOrResume(job, was, nodes.running, pods)
	plan.Delete = nodes.dismissed
	plan.Events = tell(job, status, nodes, verdict)
	plan.RequeueAfter = runpolicy.Soonest(nodes.again, nextTime(job, &status, now))
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
		children = append(children, builder.Want(onNode(template, job, node), builder.CreateOnly()))
	}
	return children
}

// nextTime is how long it takes until the deadline, or until the time of a job that has ended is up. 0: neither comes.
func nextTime(job *v1alpha1.DaemonJob, status *v1alpha1.DaemonJobStatus, now metav1.Time) time.Duration {
	if status.CompletionTime == nil {
		return runpolicy.Deadline(status.ActiveSince, job.Spec.ActiveDeadlineSeconds, now.Time).Left
	}
	expiry := runpolicy.Expiry(status.CompletionTime, job.Spec.TTLSecondsAfterFinished, now.Time)
	if expiry.Due {
		return recordingDelay // the end must be recorded first
	}
	return expiry.Left
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
