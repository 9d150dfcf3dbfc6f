package minicluster

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

const (
	// statusDelay is how long a status that differs only in counts may wait to be written: a thousand pods cost a few writes.
	statusDelay = time.Second
)

// Planner makes plans. Its certificates are the only thing that plans don't get from the owner and the view: they are
// random. That does no harm: one is made only while the cluster has no Secret, and what is made of it is created once,
// and never compared.
type Planner struct {
	// NewCertificate makes a certificate of a name. Required; see [NewCertificate].
	NewCertificate func(name string) []byte
}

// pass is one pass over a MiniCluster.
type pass struct {
	Planner
	c    *v1alpha1.MiniCluster
	view builder.View
	now  metav1.Time // to the second, as the API keeps it
}

// Plan decides what a cluster has now, and what its status is. It is a [builder.PlanFunc].
func (planner Planner) Plan(c *v1alpha1.MiniCluster, view builder.View) builder.Plan[*v1alpha1.MiniCluster] {
	if !lifecycle.IsOurs(c.Spec.ManagedBy) {
		return builder.Plan[*v1alpha1.MiniCluster]{}
	}
	p := &pass{Planner: planner, c: c, view: view, now: metav1.NewTime(view.Now).Rfc3339Copy()}
	o := p.observe(view)
	switch {
	case c.DeletionTimestamp != nil:
		return p.planTerminating()
	case c.Status.CompletionTime != nil:
		return p.planEnded(o)
	}
	d := p.decide(o)
	status := p.status(o, d)
	plan := builder.Plan[*v1alpha1.MiniCluster]{Events: p.events(o, d, status), RequeueAfter: p.requeueAfter(o, d, status)}
	if d.invalid == "" && !p.stops(o, d) {
		plan.Children = p.prepare(o)
		plan.Prune = []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Service{}, &appsv1.Deployment{}}
	} else if p.mustRest(o) { // also the services of an invalid spec: a FluxJob gives its share back once all pods have ended
		for _, services := range builder.Owned[*appsv1.Deployment](view) { // pruned, they would wait for a turn of a new build
			plan.Delete = append(plan.Delete, services)
		}
	}
	p.changeJob(&plan, o, d)
	return p.withStatus(plan, status)
}

// stops reports whether a plan stops pods. Invariant: such a plan has no children, because the builder changes and deletes nothing after a
// child that it can't apply.
func (p *pass) stops(o *observed, d decision) bool {
	switch d.action {
	case actionSuspend:
		return true
	case actionWithdraw:
		if o.job != nil {
			return true
		}
	case actionRun:
		if d.stopsLeader || d.givesUp != "" {
			return true
		}
	}
	return p.mustRest(o) && named[*appsv1.Deployment](p.view, servicesName(p.c)) != nil
}

// withStatus adds a status to a plan, if it differs from the recorded one.
func (p *pass) withStatus(plan builder.Plan[*v1alpha1.MiniCluster], s *v1alpha1.MiniClusterStatus) builder.Plan[*v1alpha1.MiniCluster] {
	last := &p.c.Status
	s.ObservedGeneration = p.c.Generation
	change := func() *v1alpha1.MiniCluster {
		changed := *p.c
		changed.Status = *s
		return &changed
	}
	return lifecycle.WithStatus(plan, last, s, change, statusDelay, func() bool {
		return s.State == last.State && len(plan.Events) == 0 && !lifecycle.IsTransition(last.Conditions, s.Conditions) &&
			hasSameMilestones(s, last)
	})
}

// hasSameMilestones reports whether two statuses agree on everything that the next pass must know.
func hasSameMilestones(a, b *v1alpha1.MiniClusterStatus) bool {
	return a.Restarts == b.Restarts && a.StartTime.Equal(b.StartTime) && a.CompletionTime.Equal(b.CompletionTime) &&
		(a.FailedWorker == nil) == (b.FailedWorker == nil) && a.ObservedGeneration == b.ObservedGeneration &&
		(a.Leader == nil) == (b.Leader == nil) && (a.Leader == nil || *a.Leader == *b.Leader)
}

// requeueAfter returns the time until the next step that no event announces. 0: there is none.
func (p *pass) requeueAfter(o *observed, d decision, s *v1alpha1.MiniClusterStatus) time.Duration {
	switch {
	case d.action == actionRestart || d.ends():
		return lifecycle.Soon
	case (d.action == actionWithdraw || d.action == actionAwaitResume) && o.job != nil && o.job.DeletionTimestamp == nil && !p.isAtRest():
		return lifecycle.Soon
	case (d.action == actionAwait || d.action == actionAwaitPods) && o.job == nil:
		return p.deadline().Left
	}
	_, left := p.awaited(s, o, p.isEnding(s, o, d))
	if s.State == v1alpha1.MiniClusterStateStarting {
		left = lifecycle.Soonest(left, o.requeueAfter)
	}
	return left
}

// deadline returns the timer of deadlineSeconds.
func (p *pass) deadline() lifecycle.Timer {
	return lifecycle.Deadline(p.c.Status.StartTime, p.c.Spec.DeadlineSeconds, p.now.Time)
}
