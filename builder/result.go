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
	//	                         again, and until then Result.Waiting lists it; see OnImmutable
	//	events.ReasonDeleted     the object was no longer desired
	Reason string
	// Fields are the fields that would differ. Only Diff sets them. For a new or recreated object they are the desired fields,
	// without the API server's defaults; for a deleted object they are empty. They omit the status, the fields that only the server
	// writes, and the digest: an updated object without fields differs only in its managed fields.
	Fields []FieldDiff

	// Drift reports whether the change only restores what the last apply had set, because another writer changed it. Only Diff sets it.
	Drift bool

	object client.Object      // as the server returned it, for events
	left   []apply.FieldsLeft // fields that stay in it and aren't desired
}

// ChildStatus is the state of a child that isn't up to date and ready.
type ChildStatus struct {
	// Key identifies the child.
	Key store.Key
	// Phase is the child's phase, empty if it has none.
	Phase string
	// Failed reports whether the child can't become ready until someone changes something.
	Failed bool
	// Message is one line of at most a few hundred bytes, such as "1 of 3 replicas updated".
	Message string

	advice string // what someone must do about it; Message has it, too
}

// String returns the child and the message: "Deployment.apps default/web: 1 of 3 replicas updated".
func (s ChildStatus) String() string { return s.Key.String() + ": " + s.Message }

// Result is what a pass did, or what [Builder.Diff] says that a pass would do. The Builder keeps no reference to it.
type Result struct {
	// Changes are the written objects, ordered by operation (created, adopted, updated, recreating, deleted) and key.
	Changes []Change
	// Unchanged counts the objects that were up to date, and those that [Keep] leaves unchanged.
	Unchanged int
	// Waiting lists the children that the builder could not write because an object of the same name is terminating, which the builder
	// may have deleted to recreate it. It is ordered by key.
	Waiting []store.Key
	// NotReady lists the applied children that aren't ready, ordered by key. It includes only children whose readiness the pass checks:
	// see [Builder.AwaitReady], [ReadyWhen] and Plan.Report.
	NotReady []ChildStatus
	// Paused lists the children whose change waits until earlier phases are ready, ordered by key.
	Paused []store.Key
	// RolloutFailure is the child that stops a roll-out: it has failed, or isn't ready in time (see [rollout.Options]). Default: nil,
	// none. No child stops a first install without an order.
	RolloutFailure *ChildStatus
	// Rollout is the state of the phases; nil without phases, or if the pass failed before it could evaluate them.
	Rollout *rollout.Status
	// Contested lists the owner's children that another writer changes again and again, ordered by key. The builder restores them with an
	// exponential backoff from 1 second to 5 minutes, until the other writer stops for a while. Other children aren't affected. The
	// message names the differing fields in the form that [Ignore] takes, the field managers that changed them, the number of
	// restorations in a row (3, 10, 30, 100, ... or more), and the action to take.
	Contested []ChildStatus
	// RequeueAfter is the delay until the next pass if no event comes. Default: 0, never. It is set while an object is Waiting or
	// Contested, or while a roll-out has a deadline. Return it in a reconcile.Result.
	RequeueAfter time.Duration

	planWaitsFor []string      // Plan.WaitingFor
	kept         []Change      // children found to be immutable in this pass
	begun, ended []ChildStatus // contests to report as begun and as ended
}
