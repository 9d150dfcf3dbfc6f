package builder

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// Change is what a pass did to one object.
type Change struct {
	Key store.Key
	UID types.UID
	// Reason says what was done. It is the reason of the event about it:
	//
	//	events.ReasonCreated     the object did not exist
	//	events.ReasonAdopted     the object existed without a controller, and is the owner's now; see Adopt
	//	events.ReasonUpdated     the object differed from the desired one, and was applied
	//	events.ReasonRecreating  the object can't be changed into the desired one. It was deleted, and another pass creates it
	//	                         again; until then it is among those waited for. See OnImmutable
	//	events.ReasonDeleted     the object was no longer desired
	Reason string

	object client.Object // as the server returned it, for events
	left   []fieldsLeft  // what stays in it that isn't desired
}

// Result is what a pass did. It is data: the Builder keeps none of it.
type Result struct {
	// Changes are the objects written, ordered by operation (created, adopted, updated, recreating, deleted) and key.
	Changes []Change
	// Unchanged counts the objects that were already as wanted, and those that are left as they are by [Keep].
	Unchanged int
	// Waiting lists objects that could not be written because an earlier object of that name is still being deleted,
	// be it to create it anew, ordered by key.
	Waiting []store.Key
	// WaitingFor is what the plan says that it waits for: Plan.WaitingFor.
	WaitingFor []string
	// NotReady lists the children that are applied and not what they should become, ordered by key. Only children that
	// are looked at for it are in it: see [Builder.AwaitReady], [ReadyWhen] and Plan.Report.
	NotReady []NotReady
	// Paused lists children whose change waits until earlier phases are ready, ordered by key.
	Paused []store.Key
	// RolloutFailure is what stops a roll-out; nil if nothing has failed. A first install without an order isn't stopped.
	RolloutFailure *RolloutFailure
	// Rollout is how far the phases are; nil if there are none, or an error kept the pass from them.
	Rollout *Rollout
	// Contested lists the owner's children that another writer changes again and again, ordered by key.
	Contested []Contest
	// RequeueAfter is when to look again even if no event comes: 0 for never, else since something is Waiting or
	// Contested, or a roll-out's time runs.
	// Return it in a reconcile.Result.
	RequeueAfter time.Duration

	kept         []Change  // found in this pass not to be changeable
	begun, ended []Contest // that weren't reported before, and that are over
}

// Changed reports whether the pass wrote anything.
func (r Result) Changed() bool { return len(r.Changes) > 0 }
