package fluxjob

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// outcome is how a job ended.
type outcome struct {
	succeeded       bool
	reason, message string
	exitCode        *int32
	at              metav1.Time
}

// outcomeOf returns how a MiniCluster that is over ended.
func outcomeOf(c *v1alpha1.MiniCluster, now metav1.Time) outcome {
	o := outcome{at: now, exitCode: c.Status.ExitCode}
	if c.Status.CompletionTime != nil {
		o.at = *c.Status.CompletionTime
	}
	if failed := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionFailed); failed != nil && failed.Status == metav1.ConditionTrue {
		o.reason, o.message = failed.Reason, failed.Message
		return o
	}
	o.succeeded, o.reason, o.message = true, v1alpha1.ReasonSucceeded, "the command succeeded"
	return o
}

// end records how the job ended. Its share is given back once its pods are gone.
func (p *step) end(o outcome) {
	p.status.CompletionTime = o.at.DeepCopy()
	p.status.ExitCode = o.exitCode
	p.status.RequeueTime, p.status.Position = nil, nil
	if p.cluster != nil {
		p.status.MiniCluster, p.status.Restarts = p.cluster.Name, p.cluster.Status.Restarts
	}
	p.ended(o)
	p.leave()
	p.again(soon) // for what is to be done once this is written
}

// over is the step of a job that has ended: it gives its share back, and then goes what is to go.
func (p *step) over() {
	if p.job.Status.Admission != nil {
		p.stop() // one that never got anywhere, and so has no end of its own
	}
	p.leave()
	lifecycle.ConditionsOf(&p.status.Conditions, p.job.Generation, p.now).Conclude()
	if p.job.Status.ObservedGeneration != p.job.Generation && p.job.Status.ObservedGeneration != 0 {
		p.plan.Events = append(p.plan.Events, lifecycle.ChangeIgnored("job", p.job.Status.State,
			"only ttlSecondsAfterFinished and cleanupPolicy still have one; create a new FluxJob to run it"))
	}
	if p.job.Status.Admission != nil { // what follows is for a job that holds nothing
		if p.status.Admission == nil {
			p.again(soon)
		}
		return
	}
	if p.job.Spec.CleanupPolicy == v1alpha1.CleanupMiniCluster && p.cluster != nil && p.cluster.DeletionTimestamp == nil {
		p.plan.Delete = append(p.plan.Delete, p.cluster)
	}
	ttl := lifecycle.Expiry(p.job.Status.CompletionTime, p.job.Spec.TTLSecondsAfterFinished, p.now.Time)
	p.plan.DeleteOwner = ttl.Due
	p.again(ttl.Left)
}

// leave gives the share of a job that has ended back, if its pods are gone.
func (p *step) leave() {
	if p.podsGone() {
		p.status.Admission = nil
	}
}

// terminate is the step of a job that is being deleted: its MiniCluster goes with it.
func (p *step) terminate() {
	p.status.State = v1alpha1.FluxJobTerminating
	p.set(v1alpha1.ConditionJobRequested, false, v1alpha1.ReasonTerminating, "the FluxJob is being deleted")
	p.set(events.ConditionReady, false, v1alpha1.ReasonTerminating, "the FluxJob is being deleted")
	p.status.Position = nil
}
