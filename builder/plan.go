package builder

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/events"
)

// PlanFunc is the whole of an operator: it takes an owner and the observed state, and returns the desired objects and status.
//
// It must be pure: no client, no clock (use [View.Now]), no goroutine, no log, and it must change neither the owner nor
// anything it gets from the view, which are shared with the cache. To change an observed object, deep-copy it first.
// Called twice with the same input it returns the same plan.
//
// A plan that is wrong by itself is [ErrMisuse], with the reason [events.ReasonInvalidPlan], and nothing of it is carried
// out: it panics, asks its view for a kind that the operator doesn't declare, has a child of a kind that isn't among what
// the operator Owns, a status that isn't a copy of the owner's, a time below zero, or an event that no API server takes.
type PlanFunc[T client.Object] func(owner T, observed View) Plan[T]

// Plan is what a PlanFunc decided. The zero value changes nothing.
//
// It is carried out in this order: children are applied, explicit edits and then deletions are made, stale objects are
// pruned, the status is written, events are emitted, the owner is deleted. After a failure nothing more is edited,
// deleted or pruned, but the status is written all the same, so it must report what was observed, not what is about to be. A
// plan may be cut short anywhere by a crash; the next call sees what was done until then, so each plan must be right by itself.
type Plan[T client.Object] struct {
	// Children are the desired objects. Unchanged ones cost nothing.
	Children []Child
	// Prune names kinds (empty objects, such as &corev1.ConfigMap{}) of which the owner has nothing but what is in
	// Children: other objects of these kinds that the owner controls are deleted. Nil prunes nothing.
	Prune []client.Object
	// PruneAll prunes all kinds that the owner ever had children of; Prune needs not be set. See [Builder.PruneAll].
	PruneAll bool
	// Edits are changes of single fields of children that exist, once all Children are applied: for those that are left
	// as they are otherwise (see [CreateOnly] and [Ignore]). If one is refused as it is, none is made.
	Edits []Edit
	// Scales set the replicas of objects that exist, through their subresource scale.
	Scales []Scale
	// Delete lists children, taken from the view, to be deleted together with what they own (background propagation).
	// If one of them isn't controlled by the owner none is deleted.
	Delete []client.Object
	// Rollout says how changes of the children that are [InPhase] are rolled out. With phases the operator must have
	// &appsv1.ControllerRevision{} among what it Owns. Report puts the state of a roll-out into the conditions; a plan that reports it
	// itself asks [View.Rollout]. With CompletedRevision, Finish keeps [Result].Rollout.From in the owner's status. Default: no phases.
	Rollout RolloutOptions
	// Status is a copy of the owner with the status it should have. Nil leaves the status as it is. Only its status is
	// read, so that a shallow copy will do, if its status is its own and not the owner's, which is shared with the cache:
	//
	//	after := *owner
	//	owner.Status.DeepCopyInto(&after.Status)
	//
	// It is written once a pass, and only when it differs. When a child can't be applied, the condition Ready of an owner that has
	// conditions (see [Conditioned]) is overridden to be False, and Stalled to be True if no retry can help, with a
	// reason of [events.ReasonApplyFailed], [events.ReasonNotOwned] or [events.ReasonInvalidPlan]. These reasons are the builder's: once all could
	// be applied, it removes conditions that still have them.
	Status T
	// StatusCanWait lets a changed status be put off until this time after the last write of this owner's status, and in
	// any case for a quarter of it, so that changes that come fast are written as one, and what has to be done about the
	// next isn't held up by a write: set it while nothing but counts have changed. Events of the plan wait
	// with the status: they are dropped, and the pass that writes it must ask for them again. That pass comes by itself.
	// A failure that the builder reports in the conditions is written at once. The time of the last write is in memory:
	// the first write of a process is made at once. Default: 0, which never puts off.
	StatusCanWait time.Duration
	// Report has the standard conditions Ready, Progressing and Stalled set in the status by [Result.SetConditions], from
	// what the pass did and from whether each child is ready; the plan then leaves them alone. The owner must be
	// [Conditioned]. Default: the plan's conditions are written as they are.
	Report bool
	// WaitingFor says what the plan waits for before it goes on, each in a few words: "Secret shop/tls". The conditions are
	// then Ready=False and Progressing=True with the reason Waiting and the message "waiting for Secret shop/tls", unless
	// something has failed, and an event tells of it when that begins or changes. What is waited for must cause a pass by
	// itself: the operator Watches it, or the plan sets RequeueAfter. It needs Report. Nil: it waits for nothing.
	WaitingFor []string
	// Finish completes the status by what the pass came to, which is only known then: how far a roll-out is. It is given a
	// shallow copy of Status (of the owner, if that is nil) of which the conditions are set and its own, and may set fields
	// of its status; what they point to is shared with the cache, to be replaced rather than changed. It must be pure, as
	// the plan is. Without Report the conditions are the plan's own, and Finish is called after a pass without an error
	// only: else they say what went wrong. The owner must be [Conditioned]. Nil: there is nothing to complete. A plan
	// written as JSON, to be compared in a test, is without it.
	Finish func(after T, res Result) `json:"-"`
	// Events are emitted once the status has been written, so that an event and the transition it tells of go together.
	// If the status can't be written, or is put off, they are dropped; the plan will ask for them again.
	Events []events.Event
	// DeleteOwner deletes the owner itself, and with it what it owns (background propagation): for one that has ended and
	// is to go after a time. It is done last, once the status and the events are written, which then can't wait, and only
	// if nothing failed. If someone has changed the owner since it was seen, that is a conflict, and the next pass decides
	// anew. The operator needs the permission to delete owners. An owner that is being deleted is left alone.
	DeleteOwner bool
	// RequeueAfter asks for another pass after this time, even if nothing changes. 0 waits for a change. Less is ErrMisuse,
	// for what was due would never be done, unless the plan deletes the owner.
	RequeueAfter time.Duration
}

// check reports what is wrong in a plan whatever the state of the cluster. What is wrong with a single child is found when it is
// applied.
func (plan *Plan[T]) check(d *plancheck.Declared, owner T) error {
	childrenErr := d.CheckChildren(len(plan.Children), func(i int) plancheck.Child {
		c := &plan.Children[i].desired
		return plancheck.Child{Object: c.Object, CrossNamespace: c.CrossNamespace, Retained: c.Retained()}
	})
	_, conditioned := any(owner).(Conditioned)
	others := plancheck.Plan{
		Prune: plan.Prune, Phases: plan.Rollout.Phases, InstallInOrder: plan.Rollout.InstallInOrder,
		AlertAfter: plan.Rollout.AlertAfter, RollbackAfter: plan.Rollout.RollbackAfter, Status: plan.Status,
		StatusCanWait: plan.StatusCanWait, Report: plan.Report, WaitingFor: plan.WaitingFor, HasFinish: plan.Finish != nil,
		Events: plan.Events, DeleteOwner: plan.DeleteOwner, RequeueAfter: plan.RequeueAfter,
	}
	return errors.Join(childrenErr, others.Check(d, owner, conditioned))
}

// Conditioned is an owner that has standard conditions in its status.
// The loop reports through it what it could not do; operators' own conditions are their plans' business.
type Conditioned interface {
	client.Object
	// Conditions returns the place of the conditions in the status.
	Conditions() *[]metav1.Condition
}
