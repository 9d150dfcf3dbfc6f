package phases

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/internal/stuck"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// Plan is the desired state of one owner's phases.
type Plan struct {
	rollout.Options

	// Children are the desired children, each in a phase.
	Children []Child
	// Hash is the hash of the children, which is in the name of their revision; see revision.Hash and Identity.
	Hash string
	// Kinds are the kinds that the owner can have children of, besides those of Children. A rollback doesn't restore other kinds.
	Kinds []schema.GroupKind
	// Blocked is an error about the children outside phases. It pauses all phases.
	Blocked error
	// ShowAll makes a dry run show the changes of all phases, whether the earlier ones are ready or not. The pass then records no
	// roll-out. It still shows a rollback that is recorded.
	ShowAll bool
	// Waits reports, with ShowAll, that the owner waits for its turn in the roll-out of a new build. The target may then be of that build,
	// so that what is left of its changes is shown. Otherwise a target that has begun is a user's change, which waits for nothing: the mark of
	// a turn is stored before its first write.
	Waits bool
}

// Child is a desired child.
type Child struct {
	Index int // its place in Plan.Children
	Key   store.Key
	Phase string
	Run   *JobRun // nil: not a RunOnce child
}

func runsOnce(c Child) bool { return c.Run != nil }

// Host is the part of the engine that a pass uses.
type Host struct {
	// Objects has the owner and its revisions. Its client also writes the TTL of Jobs.
	revision.Objects
	// Stuck records the StatefulSets that wait; nil if Live can't read past the cache.
	Stuck *stuck.Watch
	// DryRun is true if all writes are dry runs.
	DryRun bool
	// Now returns the current time.
	Now func() time.Time
	// Emit emits an event about the owner.
	Emit func(events.Event)
	// Describe returns the key of the object of an error, empty if the error is about none, and a summary of the error.
	Describe func(error) (store.Key, string)
}

// Cluster compares, applies and deletes objects of the owner. Its errors name the object.
type Cluster interface {
	// Compare compares a desired child with its object. With before, it compares the child of a revision with the object, and takes the
	// options from the desired child, which may be nil. Object and the digests are valid beside an error.
	Compare(ctx context.Context, child *Child, before *revision.Child) (Comparison, error)
	// Apply makes the writes of comparisons, those of ConfigMaps and Secrets first. The outcome is valid beside an error.
	Apply(ctx context.Context, comparisons []Comparison) (Outcome, error)
	// Snapshot returns the desired children as they are sent, without RunOnce children.
	Snapshot() ([]revision.Child, error)
	// Owned returns the owner's objects of the kind of like, from the cache.
	Owned(ctx context.Context, like client.Object) ([]client.Object, error)
	// Delete deletes an object, only in its observed version. It returns false if the object doesn't exist.
	Delete(ctx context.Context, key store.Key, observed client.Object) (deleted bool, err error)
}

// Comparison is the difference between an object and its desired state.
type Comparison struct {
	// Number is the builder's number of the comparison.
	Number int
	Key    store.Key
	// Object is the observed object; nil if there is none.
	Object client.Object
	// Creates and Changes select the write. Neither: no write is needed, or it isn't possible yet.
	Creates, Changes bool
	// Desired is the digest of the desired object. It is known if a write is needed, or if before is given.
	Desired string
	// Observed is the digest of the last apply of the object; empty if it has none.
	Observed string
}

// Writes reports whether a write is needed.
func (c Comparison) Writes() bool { return c.Creates || c.Changes }

// Outcome is the result for some children.
type Outcome struct {
	NotReady []ChildStatus
	Waiting  []store.Key // children that wait until an earlier object of their name is deleted
	Written  []store.Key
}

// ChildStatus is the state of a child that isn't ready.
type ChildStatus struct {
	Key     store.Key
	Phase   string
	Failed  bool // it can't become ready until someone changes something
	Message string
	Advice  string // what someone must do about it; Message has it, too
}

// String returns phase, child and message: "phase broker: Deployment.apps default/web: ProgressDeadlineExceeded".
func (s ChildStatus) String() string {
	return "phase " + s.Phase + ": " + s.Key.String() + ": " + s.Message
}

// Result is the result of a pass.
type Result struct {
	// Done is true if all children are up to date and ready, so that stale objects may be pruned.
	Done bool
	// Status is the state of the roll-out; nil if the pass failed before it was known.
	Status *rollout.Status
	// Failure is the child that stops the roll-out; nil if none does.
	Failure *ChildStatus
	// NotReady are the children that aren't ready.
	NotReady []ChildStatus
	// Paused are the children whose change waits for earlier phases.
	Paused []store.Key
	// Unchanged counts the children that needed no write and were not applied: Jobs that have run.
	Unchanged int
	// Restored are the children of the last completed revision, which are desired during a rollback instead of those of the plan. Nil:
	// this pass didn't roll back.
	Restored []store.Key
	// Retained are other objects that must not be pruned: Jobs that run, or that must not run again.
	Retained []store.Key
	// RequeueAfter is the delay until the next pass; 0 waits for an event.
	RequeueAfter time.Duration

	waiting []store.Key // see Outcome
}

func (r *Result) add(o Outcome) {
	r.NotReady = append(r.NotReady, o.NotReady...)
	r.waiting = append(r.waiting, o.Waiting...)
}

// requeueAfter schedules the next pass after a delay, unless it is scheduled earlier; 0 is never.
func (r *Result) requeueAfter(delay time.Duration) {
	if delay > 0 && (r.RequeueAfter == 0 || delay < r.RequeueAfter) {
		r.RequeueAfter = delay
	}
}
