package builder

import (
	"context"
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/effect"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/internal/view"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

// PlanFunc is the decision of an operator: it takes an owner and the observed state, and returns the desired objects and status.
//
// It must be pure: no client, no clock (use [View.Now]), no goroutine, no log. It must change neither the owner nor any object of the
// view, because the cache shares them. To change an observed object, deep-copy it first. For the same input it returns the same plan.
// A child must not contain [View.Now], which is another in each pass: the builder would write the child in each pass. The builder
// also calls the function for a terminating owner, whose children it doesn't create.
//
// An invalid plan is [ErrMisuse], with the reason [events.ReasonInvalidPlan], and the builder applies no child of it. A plan is invalid
// if the function panics or reads a kind that the operator doesn't declare, or if the plan has a child of a kind that the operator
// doesn't own, a child without a name, in another namespace, or twice, an invalid option of a child, a status that isn't a copy of the
// owner's, a negative time, or a condition or an event that the API server would refuse.
//
// The builder calls the function a second time in every pass of a test, and in one of 64 passes of a manager, with a later View.Now. If a
// child differs, two more calls show why: the plan is invalid if the child differs for the same arguments, or each second, except one with
// [CreateOnly] or [Ignore], because the builder would write it in each pass. In a manager only children that exist count, so that what a
// plan makes up for a new child, and then reads from the view, is no error there. In a test the status, the events, WaitingFor and
// DeleteOwner must also be the same for the same arguments.
type PlanFunc[T client.Object] func(owner T, observed View) Plan[T]

// Plan is the decision of a [PlanFunc]. The zero value changes nothing.
//
// The builder carries it out in this order: it applies the children, makes the edits and deletions, prunes stale objects,
// writes the status, emits the events, and deletes the owner. After a failure it edits, deletes and prunes nothing more, except for
// [Edit].Foreign, but still writes the status. So the status must report the observed state, not the state after the pass. A crash
// may end a pass at any point. The next call observes what was done until then, so each plan must be correct by itself.
type Plan[T client.Object] struct {
	// Children are the desired objects. An unchanged child costs no request. Default: nil, none.
	Children []Child
	// Prune names kinds to prune, as empty objects such as &corev1.ConfigMap{}. The builder deletes the objects of these kinds that the
	// owner controls and that aren't in Children. Default: nil, none.
	Prune []client.Object
	// PruneAll prunes all kinds that the owner ever had children of, so that Prune isn't needed. See [Builder.PruneAll]. Default: false.
	PruneAll bool
	// Edits change single fields or the replicas of existing children, after the builder has applied all Children. Use them for children
	// that the builder leaves unchanged otherwise (see [CreateOnly] and [Ignore]). If one edit is invalid, the builder makes none.
	// Default: nil, none.
	Edits []Edit
	// Delete lists children, taken from the view, to delete together with their dependents (background propagation). If the owner doesn't
	// own one of them, the builder deletes none. One that is gone meanwhile counts as deleted; one without a UID is [ErrMisuse]. Default:
	// nil, none.
	Delete []client.Object
	// Rollout sets how the builder rolls out changes of the children that are [InPhase]. With phases the operator must own
	// &appsv1.ControllerRevision{}. With Report the conditions have the state of a roll-out; a plan that reports it itself reads
	// [View.Rollout]. With CompletedRevision, Finish must keep [Result].Rollout.From in the owner's status. Default: no phases.
	Rollout rollout.Options
	// Status is a copy of the owner with the desired status. Default: nil, which leaves the status unchanged. The builder reads only its
	// status. A shallow copy is enough if the copy has its own status, because the cache shares the owner's:
	//
	//	after := *owner
	//	owner.Status.DeepCopyInto(&after.Status)
	//
	// The builder writes the status once a pass, and only if it differs. If a child can't be applied and the owner is [Conditioned], the
	// builder overrides the condition Ready with False, and Stalled with True if no retry can help. The reason is
	// [events.ReasonApplyFailed], [events.ReasonNotOwned] or [events.ReasonInvalidPlan]. These reasons, [events.ReasonObservationFailed] and
	// [events.ReasonQuarantined] are reserved for the builder: when it has applied all children, it removes conditions that still have them.
	Status T
	// StatusCanWait lets the builder delay a changed status until this time after its last write of the owner's status, but by at least a
	// quarter of this time. The builder then writes frequent changes as one, and a status write doesn't delay the next decision. Set it
	// while only counts have changed. The builder drops the plan's events together with a delayed status; it requests the pass that
	// writes the status, and that plan must return the events again. It writes a failure in the conditions at once. The time of the last
	// write is in memory, so the first write of a process is never delayed. Default: 0, no delay.
	StatusCanWait time.Duration
	// Report makes the builder set the standard conditions Ready, Progressing and Stalled in the status, as [Engine.ReportStatus] does,
	// from the result of the pass and the readiness of each child. The plan must then leave them alone, and the owner must be [Conditioned].
	// Default: false; the builder writes the plan's conditions.
	Report bool
	// WaitingFor lists what the plan waits for, each in a few words: "Secret shop/tls". Unless something has failed, the conditions are
	// then Ready=False and Progressing=True with the reason Waiting and the message "waiting for Secret shop/tls", and the builder emits
	// an event when the wait begins or changes. The end of the wait must cause a pass: the operator Watches the object, or the plan sets
	// RequeueAfter. It needs Report. Default: nil, no wait.
	WaitingFor []string
	// Finish completes the status from the result of the pass, such as the state of a roll-out. It receives a shallow copy of Status (of
	// the owner if Status is nil) with its own conditions, already set. It may set fields of the status; it must replace what they point
	// to and not change it, because the cache shares it. It must be pure, like the plan. Without Report the conditions are the plan's,
	// and the builder calls Finish only after a pass without an error, because after an error the conditions report the error. The owner
	// must be [Conditioned]. Default: nil. The JSON form of a plan, as a test may compare it, omits Finish.
	Finish func(after T, res Result) `json:"-"`
	// Events are emitted after the status write, so that an event and its transition appear together. If the write fails or is delayed,
	// the builder drops them, and the next plan must return them again. Default: nil, none.
	Events []events.Event
	// DeleteOwner deletes the owner and its dependents (background propagation). Use it for an owner that has ended and whose time to
	// live is over. The builder does this last, after the status and the events, which it then doesn't delay, and only after a pass
	// without an error. If the owner has changed since it was observed, the deletion is a conflict, and the next pass decides again. The
	// operator needs the permission to delete owners. A terminating owner stays as it is. Default: false.
	DeleteOwner bool
	// RequeueAfter requests another pass after this time, even if nothing changes. Less than 50 milliseconds counts as 50; beside an error
	// that no retry helps, the pass is then delayed with backoff, up to a minute. Default: 0, which waits for a change. A negative time is
	// [ErrMisuse], because a due action would never run, unless the plan deletes the owner.
	RequeueAfter time.Duration
}

// Edit changes an existing child, such as a Job's spec.suspend or a StatefulSet's replicas:
//
//	after := job.DeepCopy()
//	after.Spec.Suspend = ptr.To(true)
//	plan.Edits = append(plan.Edits, builder.Edit{Before: job, After: after})
//	plan.Edits = append(plan.Edits, builder.Edit{Before: set, Replicas: ptr.To[int32](3)})
//
// The builder sends the difference as one merge patch (lists as a whole) with the observed resource version. If the object has changed
// since, the patch fails with a conflict, and the next pass observes the change. If the object is deleted, the builder does nothing.
// Without a difference it makes no request. Don't edit a field that Children apply: the next pass would restore it.
type Edit struct {
	// Before is a child from the view. An object that the owner doesn't control is [ErrNotOwned], unless [Edit].Foreign is set.
	Before client.Object
	// After is a changed copy of Before. A difference in its status or its identity (name, namespace, UID, version) is [ErrMisuse]. An edit
	// has either After or Replicas; both or neither is [ErrMisuse].
	After client.Object
	// Replicas sets the number of replicas through the subresource scale, instead of After. The kind is Deployment, StatefulSet, or a
	// custom resource with that subresource. As with a HorizontalPodAutoscaler, other managers of the object keep managing it.
	Replicas *int32
	// Foreign allows an object that isn't a child, such as a PersistentVolumeClaim that a child's StatefulSet made, to be enlarged, or
	// another owner's StatefulSet, to be scaled. The plan must ensure that the owner's author may change the object. As such an edit
	// doesn't depend on children, the builder also makes it if a child can't be applied, unless that is [ErrNotOwned]. That is best effort:
	// the pass doesn't check children of phases that it doesn't reach. Default: false, only children.
	Foreign bool
}

// check reports errors of a plan that don't depend on the state of the cluster. The application of a child reports an error in that
// child.
func (plan *Plan[T]) check(d *plancheck.Declared, effects *effect.Performers, owner T) error {
	var effectErrs []error
	childrenErr := d.CheckChildren(len(plan.Children), func(i int) plancheck.Child {
		if plan.Children[i].effect != nil {
			effectErrs = append(effectErrs, plan.Children[i].checkEffect(effects))
		}
		return checkedChild(&plan.Children[i])
	})
	known, conditioned := any(owner).(Conditioned)
	others := plancheck.Plan{
		Prune: plan.Prune, Phases: plan.Rollout.Phases, InstallInOrder: plan.Rollout.InstallInOrder,
		AlertAfter: plan.Rollout.AlertAfter, RollbackAfter: plan.Rollout.RollbackAfter, Status: plan.Status,
		StatusCanWait: plan.StatusCanWait, Report: plan.Report, WaitingFor: plan.WaitingFor, HasFinish: plan.Finish != nil,
		Events: plan.Events, DeleteOwner: plan.DeleteOwner, RequeueAfter: plan.RequeueAfter,
	}
	if conditioned && !kinds.IsNil(plan.Status) {
		others.Conditions, others.Known = *any(plan.Status).(Conditioned).Conditions(), *known.Conditions()
	}
	return errors.Join(childrenErr, errors.Join(effectErrs...), others.Check(d, owner, conditioned))
}

// checkRepeated calls the plan again, with the same arguments and with later times, and returns an error if a child has another value
// each time. Each write of such a child would cause the next pass; in a manager, where some passes are checked, the error ends that
// circle. There it is about existing children only: what a plan makes up for a new one, and then reads from the view, harms no one. In
// tests it is also about what the plan reports.
func (r *reconciler[T]) checkRepeated(ctx context.Context, owner T, view View, plan Plan[T]) error {
	checked := func(p Plan[T]) []plancheck.Child {
		if r.guard.Copies {
			return p.checked()
		}
		return plancheck.Existing(owner, p.checked(), view.observed.Children())
	}
	call := func(after time.Duration) (again Plan[T], ok bool) {
		view := view
		view.Now = view.Now.Add(after)
		again, err := callPlan(ctx, r.plan, owner, view)
		return again, err == nil && ctx.Err() == nil
	}
	var later *Plan[T] // of the first call
	err := plancheck.CheckRepeated(owner, checked(plan), func(after time.Duration) ([]plancheck.Child, bool) {
		again, ok := call(after)
		if later == nil && ok {
			later = &again
		}
		return checked(again), ok
	})
	if err != nil || !r.guard.Copies || later == nil || plan.reported().Difference(later.reported()) == "" {
		return err
	}
	if again, ok := call(0); ok { // the time may make a difference, another call may not
		return plan.reported().CheckSame(again.reported())
	}
	return nil
}

// reported returns what a plan reports: it is the same for the same arguments.
func (plan *Plan[T]) reported() plancheck.Reported {
	return plancheck.Reported{Status: plan.Status, WaitingFor: plan.WaitingFor, Events: plan.Events, DeleteOwner: plan.DeleteOwner}
}

// checked returns the parts of the children that show errors of the plan.
func (plan *Plan[T]) checked() []plancheck.Child {
	children := make([]plancheck.Child, len(plan.Children))
	for i := range plan.Children {
		children[i] = checkedChild(&plan.Children[i])
	}
	return children
}

func checkedChild(c *Child) plancheck.Child {
	d := &c.desired
	return plancheck.Child{
		Object: d.Object, CrossNamespace: d.CrossNamespace, Retained: d.Retained(),
		Initial: d.CreateOnly || d.Options != nil && len(d.Options.Ignored) > 0,
	}
}

// Conditioned is an owner that has standard conditions in its status. The builder reports failures in them; other conditions belong to
// the plan.
type Conditioned interface {
	client.Object
	// Conditions returns a pointer to the status's conditions.
	Conditions() *[]metav1.Condition
}

// View is the observed state for a plan: the owner's children and the objects that these control (see [Owned]), the objects that the
// operator Watches (see [Watched] and [Lookup]), and the state of something outside the cluster (see the function [External]). The
// cache shares all of its objects, so a plan must not change them. The zero value is empty. Tests make views with package buildertest.
type View struct {
	// Now is the time of this pass, in UTC, so that a plan that reads its hour or day is the same on each machine.
	Now time.Time

	observed view.Observed

	ctx context.Context // of the pass; nil: it never ends
}

// Context returns the context of the pass. A plan that may take long returns any value when the context ends: the builder discards it,
// and so must other callers. A plan must not use the context otherwise; its result doesn't depend on it.
func (v View) Context() context.Context {
	if v.ctx == nil {
		return context.Background()
	}
	return v.ctx
}

// WithContext returns the view with a context. Use it to call a plan directly.
func (v View) WithContext(ctx context.Context) View {
	v.ctx = ctx
	return v
}

func init() {
	view.Edit = func(v any, edit func(*view.Observed)) any {
		edited := v.(View)
		edit(&edited.observed)
		return edited
	}
}

// Owned returns the children of one kind that the owner controls, including terminating ones, ordered by namespace and name. The
// operator must own the kind; otherwise the pass fails with [ErrMisuse], which has the line to add. If the kind is among the
// [Dependents] of another kind, Owned returns the objects that the owner's children control; if it is both, it returns all of them
// together. The caller may change the slice, but not its objects.
//
//	for _, job := range builder.Owned[*batchv1.Job](observed) { ... }
func Owned[C client.Object](v View) []C { return view.Owned[C](v.observed) }

// Watched returns the watched objects of one kind that concern the owner, including terminating ones, ordered by namespace and name:
// those that its spec names ([ReferencedBy]), those that name it ([Referencing]), or all ([ObservedByAll]). Without such a watch the pass
// fails with [ErrMisuse], which has the line to add. W may also be an interface; Watched then returns the objects of all watched kinds
// that implement it. The caller may change the slice, but not its objects.
//
//	for _, node := range builder.Watched[*corev1.Node](observed) { ... }
func Watched[W client.Object](v View) []W { return view.Watched[W](v.observed) }

// Lookup returns the object of one kind and name, including a terminating one, and whether it exists. For an owned kind it returns the
// child: use it instead of [Owned] in a plan whose children have fixed names. For a kind that is only watched it returns the watched
// object, such as the Secret that the spec names. If several namespaces have such an object, it returns the one in the namespace with
// the first name. If the kind is neither owned nor watched, the pass fails with [ErrMisuse]. The cache shares the object: read only.
//
//	if job, ok := builder.Lookup[*batchv1.Job](observed, owner.Name+"-migrate"); ok { ... }
func Lookup[C client.Object](v View, name string) (C, bool) { return view.Lookup[C](v.observed, name) }

// External returns the result of the function of [Operator.External]; false if that was nil. If the result is of another type, or the
// operator has no such function, the pass fails with [ErrMisuse].
func External[S any](v View) (S, bool) { return view.External[S](v.observed) }

// Rollout returns the state of the roll-out of the owner's phased children after the last pass. It returns false before the first
// completed revision. The operator must own &appsv1.ControllerRevision{}. Phase is known only if AlertAfter or RollbackAfter is set,
// and may be out of date; RollsBackAt is not known. Plan.Finish receives the state after the plan's own pass.
func (v View) Rollout() (rollout.Status, bool) {
	return revision.StatusOf(Owned[*appsv1.ControllerRevision](v))
}
