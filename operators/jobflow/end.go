package jobflow

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// planTerminating returns the plan of a flow that is being deleted. Garbage collection deletes its Jobs.
func planTerminating(flow *v1alpha1.JobFlow, view builder.View) builder.Plan[*v1alpha1.JobFlow] {
	p := &pass{flow: flow, now: metav1.NewTime(view.Now).Rfc3339Copy()}
	status := copyOf(&flow.Status)
	status.State = v1alpha1.StateTerminating
	p.conditions(status).Terminate("JobFlow")
	return p.withStatus(builder.Plan[*v1alpha1.JobFlow]{}, status)
}

// planEnded returns the plan of a flow whose end is recorded: it creates no Job, deletes those that aren't retained, and deletes the
// JobFlow once ttlSecondsAfterFinished have passed.
func (p *pass) planEnded() builder.Plan[*v1alpha1.JobFlow] {
	status := copyOf(&p.last)
	expiry := lifecycle.Expiry(status.CompletionTime, status.Conditions, p.spec.TTLSecondsAfterFinished, p.now.Time)
	if expiry.Due {
		return builder.Plan[*v1alpha1.JobFlow]{DeleteOwner: true}
	}
	p.conditions(status).Conclude()
	p.requeueIn(expiry.Left)
	o := p.findJobs()
	isEdited := p.flow.Status.ObservedGeneration != p.flow.Generation
	if isEdited { // the record has the indexes of the edited spec
		p.skipUnended()
		p.Record.Write(status)
	}
	var plan builder.Plan[*v1alpha1.JobFlow]
	if plan.Delete = p.unretainedJobs(o); plan.Delete == nil {
		plan.Delete = p.expiredJobs(o)
	}
	plan.RequeueAfter = p.requeueAfter
	if isEdited {
		plan.Events = []events.Event{p.changeIgnored()}
	}
	return p.withStatus(plan, status)
}

// skipUnended records the nodes that haven't run as skipped. An edit makes the operator decide again on skipped nodes, but a flow that has
// ended starts none.
func (p *pass) skipUnended() {
	for i, s := range p.States {
		if !s.HasEnded() {
			p.States[i] = record.Skipped
		}
	}
}

func endedUnderFormerOperator(s *v1alpha1.JobFlowStatus) bool {
	return lifecycle.EndedUnderFormerOperator(s.State, s.ObservedGeneration, s.StartTime, s.CompletionTime, s.Conditions)
}

// planTakeover returns the plan that records the end of a flow of the former operator, so that none of it runs again. Jobs that still
// exist determine how their nodes have ended. In a failed flow, a node without a Job was never started if another one is known to have
// failed.
func (p *pass) planTakeover() builder.Plan[*v1alpha1.JobFlow] {
	o := p.observe()
	as, why := record.Succeeded, "it had ended before this operator took the flow over, and its Job is gone"
	switch {
	case p.flow.Status.State == v1alpha1.StateSucceed:
	case p.failure >= 0:
		as, why = record.Skipped, "it had not been started when this operator took the failed flow over"
	default:
		as, why = record.Failed, "the flow had failed before this operator took it over, and its Jobs are gone"
	}
	for i := range p.States {
		if !p.States[i].HasEnded() && o.jobs[i] == nil {
			p.end(i, as, finding{message: why})
		}
	}
	p.urgent = true
	return p.plan(o, &decision{})
}

// unretainedJobs returns the Jobs that spec.jobRetention doesn't keep once the flow has ended. A Job whose pods have succeeded is kept
// until it has its condition.
func (p *pass) unretainedJobs(o *observed) []client.Object {
	if p.spec.JobRetention == "" || p.spec.JobRetention == v1alpha1.RetainAll {
		return nil
	}
	var jobs []client.Object
	p.eachJob(o, func(job *batchv1.Job, _ func() bool) {
		o := outcome.Of(job)
		keep := o.Phase == outcome.Running || (o.Phase == outcome.Failed && p.spec.JobRetention == v1alpha1.RetainFailed)
		if !keep && job.DeletionTimestamp == nil {
			jobs = append(jobs, job)
		}
	})
	return jobs
}

// expiredJobs returns the Jobs whose template's ttlSecondsAfterFinished has passed, and whose end was recorded before this pass. The Jobs
// themselves don't have the field: Kubernetes could delete them before their end is recorded, and the node would run a second time.
func (p *pass) expiredJobs(o *observed) []client.Object {
	var jobs []client.Object
	check := func(job *batchv1.Job, isRecorded func() bool) {
		ttl, ok := ttlOf(job)
		if !ok || job.DeletionTimestamp != nil {
			return
		}
		o := outcome.Of(job)
		if o.Phase == outcome.Running {
			return
		}
		expiry := lifecycle.Expiry(o.Ended, nil, &ttl, p.now.Time)
		switch {
		case expiry.Due && isRecorded():
			jobs = append(jobs, job)
		case expiry.Due:
			p.requeueIn(lifecycle.Later)
		default:
			p.requeueIn(expiry.Left)
		}
	}
	p.eachJob(o, check)
	return jobs
}

// isItemRecorded reports whether an item's end was recorded before this pass.
func (p *pass) isItemRecorded(key itemKey) bool {
	if p.recorded.States[key.node].HasEnded() {
		return true
	}
	for _, s := range p.flow.Status.Items {
		if s.Name != p.Names[key.node] {
			continue
		}
		for _, ended := range []v1alpha1.Indexes{s.Succeeded, s.Failed} {
			for item := range ended.Below(graph.MaxItems) {
				if item == key.item {
					return p.retry == p.flow.Status.Retry
				}
			}
		}
	}
	return false
}

// ttlOf returns how many seconds a Job is kept after its end; false: it is kept.
func ttlOf(job *batchv1.Job) (int32, bool) {
	text := job.Annotations[AnnotationTTL]
	if text == "" {
		return 0, false
	}
	seconds, err := strconv.ParseInt(text, 10, 32)
	if err != nil || seconds < 0 {
		return 0, false
	}
	return int32(seconds), true
}

// eachJob visits all of the flow's Jobs, each with a function that reports whether its end was recorded before this pass.
func (p *pass) eachJob(o *observed, visit func(job *batchv1.Job, isRecorded func() bool)) {
	for i, job := range o.jobs {
		if job != nil {
			visit(job, func() bool { return p.recorded.States[i].HasEnded() })
		}
	}
	for _, key := range p.sortedItemJobs(o) {
		visit(o.itemJobs[key], func() bool { return p.isItemRecorded(key) })
	}
	for _, job := range o.former {
		visit(job, func() bool { return true })
	}
	for _, n := range o.removed {
		for _, job := range n.jobs {
			visit(job, func() bool { return p.isRemovedRecorded(n) })
		}
	}
}
