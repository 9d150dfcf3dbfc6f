package jobflow

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// stop ends the flow before its time if it is to be terminated or its deadline has passed: nodes that run have failed, and those that
// haven't started are skipped. A later pass deletes the Jobs, once the status records that: after a crash between a deletion and the
// record, the nodes would look as if they had never started.
func (p *pass) stop(o *observed, d *decision) {
	if d.stopped {
		d.stopMessage = lifecycle.Condition(p.last.Conditions, v1alpha1.ConditionStopped).Message
	} else {
		reason, text := p.reasonToStop(o)
		if reason == "" || p.haveEnded(p.States) {
			return
		}
		d.stopped, d.stopReason, d.stopMessage = true, reason, text
		p.requeueIn(lifecycle.Shortly)
	}
	for i, s := range p.States {
		switch {
		case s.HasEnded():
		case !p.isFlow(i):
			if !p.isValid() {
				p.end(i, record.Skipped, finding{message: "not started: the spec is invalid"})
			}
		case s == record.Running:
			f := p.findings[i]
			f.ended, f.message = &p.now, "stopped: "+d.stopMessage
			if i < p.Size() {
				f.job = o.jobs[i]
			}
			p.end(i, record.Failed, f)
		default:
			p.end(i, record.Skipped, finding{message: "not started: " + d.stopMessage})
		}
	}
}

// reasonToStop returns why the flow is stopped; an empty reason if it isn't.
func (p *pass) reasonToStop(o *observed) (reason, text string) {
	if p.spec.Terminate {
		return v1alpha1.ReasonTerminated, "spec.terminate is true"
	}
	deadline := lifecycle.Deadline(p.activeSince(o), p.spec.ActiveDeadlineSeconds, p.now.Time)
	if deadline.Due {
		return v1alpha1.ReasonDeadlineExceeded,
			fmt.Sprintf("the flow was active for longer than %d s (spec.activeDeadlineSeconds)", *p.spec.ActiveDeadlineSeconds)
	}
	p.requeueIn(deadline.Left)
	return "", ""
}

// wasStopped reports whether the status records that the flow was stopped, in the present retry.
func (p *pass) wasStopped() bool {
	return meta.IsStatusConditionTrue(p.last.Conditions, v1alpha1.ConditionStopped)
}

// stoppedJobs returns the active Jobs of a flow whose stop is recorded, to be deleted.
func (p *pass) stoppedJobs(o *observed) []client.Object {
	if !p.wasStopped() {
		return nil
	}
	var jobs []client.Object
	p.eachActiveFlowJob(o, func(job *batchv1.Job) {
		if job.DeletionTimestamp == nil {
			jobs = append(jobs, job)
		}
	})
	return jobs
}

// eachActiveFlowJob visits the Jobs of this retry that haven't ended, without those of nodes in finally.
func (p *pass) eachActiveFlowJob(o *observed, visit func(*batchv1.Job)) {
	p.eachActiveJob(o, func(job *batchv1.Job, node int) {
		if p.isFlow(node) {
			visit(job)
		}
	})
}

// eachActiveJob visits the Jobs of this retry that haven't ended, each with its node. A Job whose pods have succeeded has ended.
func (p *pass) eachActiveJob(o *observed, visit func(job *batchv1.Job, node int)) {
	for i, job := range o.jobs {
		if job != nil && p.States[i] != record.Succeeded && outcome.Of(job).Phase == outcome.Running {
			visit(job, i)
		}
	}
	for _, key := range p.sortedItemJobs(o) {
		r, job := p.items[key.node], o.itemJobs[key]
		if (r == nil || key.item >= len(r.States) || r.States[key.item] != record.Succeeded) && outcome.Of(job).Phase == outcome.Running {
			visit(job, key.node)
		}
	}
	for _, n := range o.removed {
		for _, job := range p.activeJobs(o, n) {
			visit(job, p.Size())
		}
	}
}

// haveEnded reports whether all nodes but those in finally have ended, by these states.
func (p *pass) haveEnded(states []record.State) bool {
	for i, s := range states {
		if p.isFlow(i) && !s.HasEnded() {
			return false
		}
	}
	return len(states) == len(p.States)
}
