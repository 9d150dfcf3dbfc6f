package builder

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/store"
)

// Change is what a pass did to one object.
type Change struct {
	// Key identifies the object.
	Key store.Key
	// Reason is the kind of change. The event about the change has the same reason:
	//
	//	events.ReasonCreated     the object did not exist
	//	events.ReasonAdopted     the object existed without a controller; the owner controls it now; see Adopt
	//	events.ReasonUpdated     the object differed from the desired one, and the builder applied it
	//	events.ReasonRecreating  the object can't be changed into the desired one; the builder deleted it, a later pass creates it
	//	                         again, and until then it is pending; see RecreateImmutable
	//	events.ReasonDeleted     the object was no longer desired
	Reason string
	// Fields are the fields that would differ. Only Diff sets them. For a new or recreated object they are the desired fields,
	// without the API server's defaults; for a deleted object they are empty. They omit the status of a child, the fields that only the
	// server writes, and the digest: an updated child without fields differs only in its managed fields.
	Fields []FieldDiff

	// Drift reports whether the change only restores what the last apply had set, because another writer changed it. Only Diff sets it.
	Drift bool

	object client.Object      // as the server returned it, for events
	left   []apply.FieldsLeft // fields that stay in it and aren't desired
}

// Result is what a pass did, or what [Builder.Diff] says that a pass would do. The Builder keeps no reference to it.
type Result struct {
	// Changes are the written objects, ordered by operation (created, adopted, updated, recreating, deleted) and key. Only those of
	// [Operator.Diff] include the owner.
	Changes []Change
	// Unchanged counts the objects that were up to date, and those that [KeepImmutable] leaves unchanged.
	Unchanged int
	// Pending lists the children that aren't up to date and ready, ordered by key.
	Pending []ChildStatus
	// Rollout is the state of the phases; nil without phases, or if the pass failed before it could evaluate them.
	Rollout *rollout.Status
	// RequeueAfter is the delay until the next pass if no event comes. Default: 0, never. It is set while a child waits for a
	// deletion or is contested, or while a roll-out has a deadline. Return it in a reconcile.Result.
	RequeueAfter time.Duration

	paused       bool          // the owner is paused, and the pass did nothing
	undone       *undone       // of a paused owner that returns to its former state; nil: it doesn't
	turn         *turn         // in the roll-out of a new build; nil: none
	planWaitsFor []string      // Plan.WaitingFor
	kept         []Change      // children found to be immutable in this pass
	begun, ended []ChildStatus // contests to report as begun and as ended
}
