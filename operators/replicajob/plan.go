package replicajob

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

const (
	// statusDelay is how long a status that differs only in counts may wait to be written: a thousand pods that come and go
	// cost a few writes.
	statusDelay = 5 * time.Second
	// batch is how many pods one pass creates or deletes at most, so that a large job doesn't keep others waiting.
	batch = 1000
)

// Plan decides which pods, Services and pod groups a job has now, and what its status is. It is a [builder.PlanFunc].
// Kubeflow called it ReconcileJobs.
//
// Invariant: the plan deletes a pod only after an earlier pass has recorded its end. So a crash between two writes loses
// no restart, and no outcome.
func (k Kind[T]) Plan(obj T, view builder.View) builder.Plan[T] {
	p := k.passOf(obj, view)
	if !lifecycle.IsOurs(p.spec.RunPolicy.ManagedBy) {
		return builder.Plan[T]{}
	}
	var a actions
	if obj.GetDeletionTimestamp() != nil {
		a = p.planTerminating()
	} else {
		a = p.plan(view)
	}
	plan := builder.Plan[T]{
		Children: a.children, Delete: a.delete, Edits: a.edits, Prune: a.prune, DeleteOwner: a.deleteOwner,
		Events: a.events, RequeueAfter: a.requeueAfter,
	}
	if len(a.children) > 0 {
		plan.Finish = func(after T, res builder.Result) { p.setWaiting(after.Conditions(), res.Pending) }
	}
	change := func() T {
		changed := obj.DeepCopyObject().(T)
		*k.Status(changed) = *a.status
		return changed
	}
	return lifecycle.WithStatus(plan, p.last, a.status, change, statusDelay, func() bool {
		return !a.records && a.status.State == p.last.State && a.status.TotalRestarts == p.last.TotalRestarts &&
			!lifecycle.IsTransition(p.last.Conditions, a.status.Conditions)
	})
}

// pass is one pass over a job of any kind.
type pass struct {
	operator   string
	namespace  string
	name       string
	generation int64
	spec       v1alpha1.ReplicaJobSpec
	last       *v1alpha1.ReplicaJobStatus // the recorded status; steps must not change it
	now        metav1.Time                // to the second, as the API keeps it

	leaders    []v1alpha1.ReplicaType
	container  string
	schedulers []v1alpha1.GangProvider // nil: it isn't known what the cluster has
	world      *World
	configure  func(me Replica, pod *corev1.PodTemplateSpec)
}

// passOf returns a pass over a job of the kind.
func (k Kind[T]) passOf(obj T, view builder.View) *pass {
	p := &pass{
		operator: k.Name, namespace: obj.GetNamespace(), name: obj.GetName(), generation: obj.GetGeneration(),
		spec: k.Spec(obj), last: k.Status(obj), now: metav1.NewTime(view.Now).Rfc3339Copy(),
		leaders: k.Leaders, container: k.Container, schedulers: k.Schedulers,
	}
	if has, ok := builder.External[[]v1alpha1.GangProvider](view); ok {
		p.schedulers = has
	}
	if p.leaders == nil {
		p.leaders = defaultLeaders
	}
	p.world = newWorld(p, k.PortName, k.Port)
	p.configure = func(me Replica, pod *corev1.PodTemplateSpec) {
		if k.ClusterSpec != nil {
			k.ClusterSpec(obj, p.world, me, pod)
		}
	}
	return p
}

// plan is the whole decision: from what is observed to what is done.
func (p *pass) plan(view builder.View) actions {
	o := p.observe(view)
	if p.last.CompletionTime != nil {
		return p.planEnded(o)
	}
	d := p.decide(o)
	status := p.status(o, d)
	a := actions{status: status, events: p.events(d, status), records: d.records, requeueAfter: p.requeueAfter(d)}
	switch d.action {
	case actionSuspend:
		if !d.records {
			if a.deletePods(o.pods()); len(a.delete) == 0 { // no deletion follows an edit that the API server refuses
				a.edits = release(o.released)
			}
			a.prune = p.prunable()
		}
	case actionAwaitPods:
		a.deletePods(o.pods())
	case actionNone, actionEvaluate:
		a.edits = recordRules(d.evaluating)
	case actionRun, actionAwaitRestart:
		failed, left := p.toRecreate(d.restarting)
		a.requeueAfter = lifecycle.Soonest(a.requeueAfter, left)
		// Invariant: a plan that deletes pods has no children and no edits, because the builder deletes nothing after one that is refused.
		if a.deletePods(slices.Concat(o.surplus, o.old, o.collected, failed)); len(a.delete) > 0 {
			return a
		}
		a.edits, a.prune = release(o.released), p.prunable()
		gang, admitted := p.gang(o, view)
		a.children = append(p.services(o), gang...)
		if admitted && d.action == actionRun && !p.isBlocked(o) {
			a.createPods(p.missingPods(o))
		}
	}
	return a
}

// actions is the plan of a job of any kind.
type actions struct {
	status       *v1alpha1.ReplicaJobStatus
	records      bool // the next pass acts on what this status records
	children     []builder.Child
	delete       []client.Object
	edits        []builder.Edit
	prune        []client.Object
	deleteOwner  bool
	events       []events.Event
	requeueAfter time.Duration
}

// createPods creates pods: at most a batch of them, and the rest in the next pass.
func (a *actions) createPods(pods []*corev1.Pod) {
	if len(pods) > batch {
		pods, a.requeueAfter = pods[:batch], lifecycle.Soon
	}
	for _, pod := range pods {
		a.children = append(a.children, desiredPod(pod))
	}
}

// deletePods deletes those of some pods that aren't terminating: at most a batch of them, and the rest in the next pass.
func (a *actions) deletePods(pods []*corev1.Pod) {
	for _, pod := range pods {
		switch {
		case pod.DeletionTimestamp != nil:
		case len(a.delete) == batch:
			a.requeueAfter = lifecycle.Soon
			return
		default:
			a.delete = append(a.delete, pod)
		}
	}
}

// requeueAfter returns the time until the next step that no event announces. 0: there is none.
func (p *pass) requeueAfter(d decision) time.Duration {
	if d.records {
		return lifecycle.Soon
	}
	if len(d.evaluating) > 0 {
		return lifecycle.Shortly
	}
	after := lifecycle.Soonest(d.wait, p.deadline().Left)
	if d.problem != nil && d.problem.reason == v1alpha1.ReasonNoGangScheduler {
		after = lifecycle.Soonest(after, askAgain)
	}
	return after
}

// deadline returns the timer of runPolicy.activeDeadlineSeconds.
func (p *pass) deadline() lifecycle.Timer {
	return lifecycle.Deadline(p.last.StartTime, p.spec.RunPolicy.ActiveDeadlineSeconds, p.now.Time)
}
