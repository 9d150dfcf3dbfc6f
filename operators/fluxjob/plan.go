package fluxjob

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// Plan decides how a FluxJob continues, for a manager that watches the whole cluster. It is a [builder.PlanFunc].
func Plan(job *v1alpha1.FluxJob, view builder.View) builder.Plan[*v1alpha1.FluxJob] {
	return planFor(admission.Manager{})(job, view)
}

// planFor returns the plan of a manager.
func planFor(m admission.Manager) builder.PlanFunc[*v1alpha1.FluxJob] {
	return func(job *v1alpha1.FluxJob, view builder.View) builder.Plan[*v1alpha1.FluxJob] {
		p := &pass{manager: m, job: job, now: metav1.NewTime(view.Now).Rfc3339Copy()}
		return p.plan(view)
	}
}

// pass is the input of one call of Plan; its methods are the steps.
type pass struct {
	manager admission.Manager
	job     *v1alpha1.FluxJob // with the recorded status; steps must not change it
	now     metav1.Time       // to the second, as the API keeps it
}

// plan is the whole decision: from what is observed to what is done.
func (p *pass) plan(view builder.View) builder.Plan[*v1alpha1.FluxJob] {
	o := p.observe(view)
	switch {
	case p.job.DeletionTimestamp != nil:
		return p.planTerminating(o)
	case p.job.Status.CompletionTime != nil:
		return p.planEnded(o)
	}
	d := p.decide(o)
	status := p.status(o, d)
	plan := builder.Plan[*v1alpha1.FluxJob]{Events: p.events(o, d, status), RequeueAfter: d.requeueAfter()}
	p.changeMiniCluster(&plan, o, d)
	return p.withStatus(plan, status)
}

// withStatus adds a status to a plan, if it differs from the recorded one. A status that differs only in a position far back in the queue
// is written up to statusDelay later.
func (p *pass) withStatus(plan builder.Plan[*v1alpha1.FluxJob], s *v1alpha1.FluxJobStatus) builder.Plan[*v1alpha1.FluxJob] {
	s.ObservedGeneration = p.job.Generation
	s.Runs = 0 // the former name of Attempts
	change := func() *v1alpha1.FluxJob {
		changed := *p.job
		changed.Status = *s
		return &changed
	}
	return lifecycle.WithStatus(plan, &p.job.Status, s, change, statusDelay, func() bool {
		return len(plan.Events) == 0 && onlyPositionChanged(&p.job.Status, s)
	})
}

// requeueAfter returns the time until the next step that no event announces. 0: there is none.
func (d decision) requeueAfter() time.Duration {
	if d.records {
		return lifecycle.Soon
	}
	return positionDelay(d.position)
}

// conditions returns the conditions of a new status of the job.
func (p *pass) conditions(s *v1alpha1.FluxJobStatus) lifecycle.Conditions {
	return lifecycle.ConditionsOf(&s.Conditions, p.job.Generation, p.now)
}
