package daemonjob

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/hostlist"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// planTerminating returns the plan of a job that is being deleted. Garbage collection deletes its Jobs.
func (p *pass) planTerminating() builder.Plan[*v1alpha1.DaemonJob] {
	status := p.last
	status.State = v1alpha1.StateTerminating
	p.conditions(&status).Terminate("DaemonJob")
	return p.withStatus(builder.Plan[*v1alpha1.DaemonJob]{}, status)
}

// planEnded returns the plan of a job whose end is recorded: it creates no Job, deletes those that still run, and deletes the DaemonJob
// once ttlSecondsAfterFinished have passed.
func (p *pass) planEnded(jobs []*batchv1.Job) builder.Plan[*v1alpha1.DaemonJob] {
	status := p.last
	p.conditions(&status).Conclude()
	var plan builder.Plan[*v1alpha1.DaemonJob]
	if p.job.Status.ObservedGeneration != p.job.Generation {
		next := "create a new DaemonJob to run it"
		if p.job.Status.State == v1alpha1.StateFailed {
			next = fmt.Sprintf("increase retry to %d to run the failed and unstarted nodes with the new spec", p.job.Status.Retry+1)
		}
		plan.Events = append(plan.Events, lifecycle.ChangeIgnored("job", p.job.Status.State, next))
	}
	plan.Delete = unended(jobs, hostlist.Parse(status.SucceededNodes))
	ttl := lifecycle.Expiry(status.CompletionTime, status.Conditions, p.job.Spec.TTLSecondsAfterFinished, p.now.Time)
	plan.DeleteOwner, plan.RequeueAfter = ttl.Due, ttl.Left
	return p.withStatus(plan, status)
}

// unended returns the Jobs that haven't ended and aren't being deleted. The Job of a node that has succeeded may not have its
// condition yet, and is left alone, as is a Job that is certain to fail: it starts no pods, and its failed ones have the logs.
func unended(jobs []*batchv1.Job, succeeded hostlist.List) []client.Object {
	var objs []client.Object
	for _, j := range jobs {
		if !succeeded.Has(j.Annotations[AnnotationNode]) && j.DeletionTimestamp == nil && outcome.Of(j).Phase == outcome.Running &&
			outcome.Condition(j, batchv1.JobFailureTarget) == nil {
			objs = append(objs, j)
		}
	}
	return objs
}

func endedUnderFormerOperator(s *v1alpha1.DaemonJobStatus) bool {
	return lifecycle.EndedUnderFormerOperator(s.State, s.ObservedGeneration, s.StartTime, s.CompletionTime, s.Conditions)
}

// planTakeover returns the plan that records the end of a job of the former operator, so that it doesn't run again. The nodes that it
// ran on are unknown.
func (p *pass) planTakeover() builder.Plan[*v1alpha1.DaemonJob] {
	const text = "the job had ended before this operator took it over; on which nodes isn't known"
	status := p.last
	status.StartTime, status.CompletionTime = p.job.CreationTimestamp.DeepCopy(), p.now.DeepCopy()
	kind, reason := v1alpha1.ConditionSucceeded, v1alpha1.ReasonSucceeded
	if status.State == v1alpha1.StateFailed {
		kind, reason = v1alpha1.ConditionFailed, v1alpha1.ReasonJobFailed
	}
	conditions := p.conditions(&status)
	conditions.Set(kind, true, reason, text)
	conditions.Conclude()
	return p.withStatus(builder.Plan[*v1alpha1.DaemonJob]{}, status)
}
