package builder

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/store"
)

// Change is what a pass did to one object.
type Change struct {
	// Key is the object.
	Key store.Key
	// Reason says what was done. It is the reason of the event about it:
	//
	//	events.ReasonCreated     the object did not exist
	//	events.ReasonAdopted     the object existed without a controller, and is the owner's now; see Adopt
	//	events.ReasonUpdated     the object differed from the desired one, and was applied
	//	events.ReasonRecreating  the object can't be changed into the desired one. It was deleted, and another pass creates it
	//	                         again; until then it is among those waited for. See OnImmutable
	//	events.ReasonDeleted     the object was no longer desired
	Reason string
	// Fields are those that would differ. Only [Builder.Diff] sets them. Of a new object, or one to be recreated, they are the desired
	// fields, without the API server's defaults; of an object to be deleted there are none. Left out are the status, what only the
	// server writes, and the digest: an object to be updated without fields differs in nothing but the record of their managers.
	Fields []FieldDiff

	object client.Object      // as the server returned it, for events
	left   []apply.FieldsLeft // what stays in it that isn't desired
}

// ChildStatus says about one child why it isn't as it should be.
type ChildStatus struct {
	// Key is the child.
	Key store.Key
	// Phase is the child's, empty if it has none.
	Phase string
	// Failed is true if the child won't become ready before someone changes something.
	Failed bool
	// Message is one line of a few hundred bytes at most, such as "1 of 3 replicas updated".
	Message string

	advice string // what someone has to do about it, which is in Message, too
}

// String returns the child and the message: "Deployment.apps default/web: 1 of 3 replicas updated".
func (s ChildStatus) String() string { return s.Key.String() + ": " + s.Message }

// Result is what a pass did, or what [Builder.Diff] says that it would do. It is data: the Builder keeps none of it.
type Result struct {
	// Changes are the objects written, ordered by operation (created, adopted, updated, recreating, deleted) and key.
	Changes []Change
	// Unchanged counts the objects that were up to date, and those that are left as they are by [Keep].
	Unchanged int
	// Waiting lists objects that could not be written because an earlier object of that name is still being deleted,
	// be it to recreate it, ordered by key.
	Waiting []store.Key
	// NotReady lists the children that are applied and not what they should become, ordered by key. Only children that
	// are looked at for it are in it: see [Builder.AwaitReady], [ReadyWhen] and Plan.Report.
	NotReady []ChildStatus
	// Paused lists children whose change waits until earlier phases are ready, ordered by key.
	Paused []store.Key
	// RolloutFailure is the child that stops a roll-out: it has failed, or isn't ready in time (see [RolloutOptions]). Nil: none does. A
	// first install without an order isn't stopped.
	RolloutFailure *ChildStatus
	// Rollout is how far the phases are; nil if there are none, or an error kept the pass from them.
	Rollout *Rollout
	// Contested lists the owner's children that another writer changes again and again, ordered by key. The builder restores them with an
	// exponential backoff from 1 second to 5 minutes, until the other writer stops for a while; other children aren't affected. The
	// message says which fields differ, as [Ignore] takes them, which field managers changed them, how often they were restored in a
	// row (3, 10, 30, 100, ... or more), and what to do.
	Contested []ChildStatus
	// RequeueAfter is when to look again even if no event comes: 0 for never, else since something is Waiting or
	// Contested, or a roll-out's time runs.
	// Return it in a reconcile.Result.
	RequeueAfter time.Duration

	planWaitsFor []string      // Plan.WaitingFor
	kept         []Change      // found in this pass not to be changeable
	begun, ended []ChildStatus // that weren't reported before, and that are over
}

// Changed reports whether the pass wrote anything.
func (r Result) Changed() bool { return len(r.Changes) > 0 }
