package fluxjob

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/fluxjob/needs"
	"github.com/armature-dev/armature/operators/internal/message"
)

// soon is for a second pass after a status that must be written before anything else is done.
const soon = time.Millisecond

// Plan says what a FluxJob's next step is, of a manager that sees the whole cluster. It is a [builder.PlanFunc].
func Plan(job *v1alpha1.FluxJob, seen builder.View) builder.Plan[*v1alpha1.FluxJob] {
	return planFor(admission.Manager{})(job, seen)
}

// planFor returns the plan of a manager.
func planFor(m admission.Manager) builder.PlanFunc[*v1alpha1.FluxJob] {
	return func(job *v1alpha1.FluxJob, seen builder.View) builder.Plan[*v1alpha1.FluxJob] {
		return newStep(m, job, seen).next()
	}
}

func newStep(m admission.Manager, job *v1alpha1.FluxJob, seen builder.View) *step {
	p := &step{situation: look(job, seen), manager: m, status: job.Status.DeepCopy()}
	p.status.ObservedGeneration = job.Generation
	p.status.Runs = 0 // the former name of Attempts
	return p
}

// next is the step itself.
func (p *step) next() builder.Plan[*v1alpha1.FluxJob] {
	if p.job.DeletionTimestamp == nil && p.job.Status.CompletionTime == nil {
		p.rank()
	}
	switch problems := needs.Problems(p.job); {
	case p.job.DeletionTimestamp != nil:
		p.terminate()
	case p.job.Status.CompletionTime != nil:
		p.over()
	case p.job.Status.Admission != nil:
		p.run(len(problems) > 0)
	default:
		p.request(problems)
	}
	return p.finish()
}

// step is one pass: what is seen, and what comes of it.
type step struct {
	*situation
	manager admission.Manager
	status  *v1alpha1.FluxJobStatus
	says    map[string]metav1.Condition // what the conditions are to be
	plan    builder.Plan[*v1alpha1.FluxJob]
}

// request is the step of a job that holds nothing: it asks for a share, and accepts the one that it is given.
func (p *step) request(problems field.ErrorList) {
	p.status.Queue = cmp.Or(needs.Kueue(p.job), needs.Queue(p.job))
	p.status.Size = needs.Size(p.job, p.queue)
	p.stop() // what an earlier run left must not run again by itself
	switch before := p.job.Status.Queue; {
	case before != "" && before != p.status.Queue:
		p.move()
	case len(problems) > 0:
		p.decline(nil)
		p.invalid(message.List(problems, (*field.Error).Error))
	case p.job.Spec.Suspend:
		p.decline(nil)
		p.suspended()
	case needs.Refused(p.job):
		p.decline(nil)
		p.invalid(p.job.Status.LastEviction.Message)
	case needs.Kueue(p.job) != "":
		p.acceptFromKueue()
	default:
		p.accept()
	}
}

// run is the step of a job that holds a share. Nothing is made of an invalid spec; what runs goes on.
func (p *step) run(invalid bool) {
	p.noteEviction(invalid)
	switch {
	case p.cluster != nil && isOver(p.cluster):
		p.end(outcomeOf(p.cluster, p.now))
	case p.status.Admission.Evicted != nil:
		p.giveBack()
	case p.wasDeleted():
		p.end(outcome{reason: v1alpha1.ReasonMiniClusterDeleted, at: p.now, message: "the MiniCluster was deleted before its end was recorded, " +
			"so the command may have run to its end or not; it isn't run again"})
	default:
		p.work()
	}
}

// finish returns the plan, with the status if it is news.
func (p *step) finish() builder.Plan[*v1alpha1.FluxJob] {
	p.setConditions()
	if equality.Semantic.DeepEqual(p.status, &p.job.Status) {
		return p.plan
	}
	after := *p.job
	after.Status = *p.status
	p.plan.Status = &after
	p.plan.Events = append(append(p.plan.Events, p.told()...), p.limited()...)
	if len(p.plan.Events) == 0 && p.onlyPlaceChanged() {
		p.plan.StatusCanWait = placeDelay
	}
	return p.plan
}

// again asks for another pass after this time at the latest.
func (p *step) again(after time.Duration) {
	if after > 0 && (p.plan.RequeueAfter == 0 || after < p.plan.RequeueAfter) {
		p.plan.RequeueAfter = after
	}
}
