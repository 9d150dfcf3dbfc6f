package jobflow

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// stopDelay is how soon to look again when something has been put on record that the next step needs to be there.
const stopDelay = 10 * time.Millisecond

// stop ends the flow before its time, if it is to be terminated or its deadline has passed: what is active has failed,
// what hasn't been started is skipped. It is put on record first. Only then are the Jobs deleted: a crash in between
// must not make them appear as never started.
func (p *pass) stop(status *v1alpha1.JobFlowStatus) {
	if !p.stopped {
		reason, message := p.reasonToStop(status.ActiveSince)
		if reason == "" || p.haveEnded(p.States) {
			return
		}
		p.stopped = true
		p.conditions(status).Set(v1alpha1.ConditionStopped, metav1.ConditionTrue, reason, message)
		p.wakeIn(stopDelay)
	}
	message := p.conditions(status).Find(v1alpha1.ConditionStopped).Message
	for i, s := range p.States {
		switch {
		case s.HasEnded():
		case !p.isFlow(i):
			if len(p.Problems) > 0 {
				p.end(i, record.Skipped, news{message: "not started: the spec is invalid"})
			}
		case s == record.Running:
			n := p.news[i]
			n.ended, n.message = &p.now, "stopped: "+message
			if i < p.Size() {
				n.job = p.jobs[i]
			}
			p.end(i, record.Failed, n)
		default:
			p.end(i, record.Skipped, news{message: "not started: " + message})
		}
	}
}

// reasonToStop says whether the flow is to be stopped, and has it looked at again when that time comes.
func (p *pass) reasonToStop(activeSince *metav1.Time) (reason, message string) {
	if p.spec.Terminate {
		return v1alpha1.ReasonTerminated, "spec.terminate is true"
	}
	deadline := lifecycle.Deadline(activeSince, p.spec.ActiveDeadlineSeconds, p.seen.Now)
	if deadline.Due {
		return v1alpha1.ReasonDeadlineExceeded, fmt.Sprintf("the flow was active for longer than %d s (spec.activeDeadlineSeconds)", *p.spec.ActiveDeadlineSeconds)
	}
	p.wakeIn(deadline.Left)
	return "", ""
}

// wasStopped reports whether it is on record that the flow was stopped.
func (p *pass) wasStopped() bool {
	return meta.IsStatusConditionTrue(p.flow.Status.Conditions, v1alpha1.ConditionStopped) && p.retry == p.flow.Status.Retry
}

// stopping returns the active Jobs of a flow that was stopped, to be deleted.
func (p *pass) stopping() []client.Object {
	if !p.wasStopped() {
		return nil
	}
	var jobs []client.Object
	p.eachActiveFlowJob(func(job *batchv1.Job) {
		if job.DeletionTimestamp == nil {
			jobs = append(jobs, job)
		}
	})
	return jobs
}

// eachActiveFlowJob visits the Jobs of this attempt that haven't ended, but for those of nodes in finally.
func (p *pass) eachActiveFlowJob(visit func(*batchv1.Job)) {
	p.eachActiveJob(func(job *batchv1.Job, node int) {
		if p.isFlow(node) {
			visit(job)
		}
	})
}

// eachActiveJob visits the Jobs of this attempt that haven't ended, each with its node. A Job that has succeeded by its
// pods' account has ended.
func (p *pass) eachActiveJob(visit func(job *batchv1.Job, node int)) {
	for i, job := range p.jobs {
		if job != nil && p.States[i] != record.Succeeded && outcome.Of(job).Phase == outcome.Running {
			visit(job, i)
		}
	}
	for _, key := range p.sortedItemJobs() {
		r, job := p.items[key.node], p.itemJobs[key]
		if (r == nil || key.item >= len(r.states) || r.states[key.item] != record.Succeeded) && outcome.Of(job).Phase == outcome.Running {
			visit(job, key.node)
		}
	}
	for _, d := range p.departed {
		if p.outcomeOf(d.job).Phase == outcome.Running {
			visit(d.job, p.Size())
		}
	}
}

// haveEnded reports whether all but what is in finally has ended, by these states.
func (p *pass) haveEnded(states []record.State) bool {
	for i, s := range states {
		if p.isFlow(i) && !s.HasEnded() {
			return false
		}
	}
	return len(states) == len(p.States)
}
