package builder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/errorlist"
	"github.com/armature-dev/armature/internal/text"
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

	object     client.Object      // as the server returned it, for events
	fieldsLeft []apply.FieldsLeft // fields that stay in it and aren't desired
	write      *apply.Write       // of a dry run, until the fields are added
}

// FieldDiff is a field that a write would change. The values of a Secret's data are hidden: they read "***".
type FieldDiff struct {
	// Path is the field's path: spec.template.spec.containers[name=web].image, data["tls.crt"].
	Path string
	// Old and New are the field's values as decoded from JSON; nil if the field isn't set.
	Old, New any
	// ByServer is true if New isn't what the program asked for: the API server's admission or defaults set it, or it writes the value in
	// another way. Of a new object only the fields that the program sets are listed, with labels and annotations that admission adds.
	ByServer bool
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

	paused        bool           // the owner is paused, and the pass did nothing
	undone        *former.Undone // of a paused owner that returns to its former state; nil: it doesn't
	turn          *turns.Turn    // in the roll-out of a new build; nil: none
	planWaitsFor  []string       // Plan.WaitingFor
	keptImmutable []Change       // children that stay as they are, found in this pass
	begun, ended  []ChildStatus  // contests to report as begun and as ended
}

// ChildStatus is the state of a child that isn't up to date and ready.
type ChildStatus struct {
	// Key identifies the child.
	Key store.Key
	// Phase is the child's phase, empty if it has none.
	Phase string
	// Reason is why the child is pending. A child may be in [Result].Pending more than once, with different reasons:
	//
	//	events.ReasonWaiting           the builder could not write it, because an object of the same name is terminating, which the
	//	                               builder may have deleted to recreate it
	//	events.ReasonChildrenNotReady  it is applied and isn't ready. Without Plan.Report, an operator's pass checks the readiness
	//	                               only of children that have ReadyWhen or are in a phase
	//	events.ReasonChildFailed       it can't become ready until someone changes something
	//	events.ReasonRollingOut        its change is paused until earlier phases are ready
	//	events.ReasonRolloutHalted     it stops a roll-out: it has failed, or isn't ready in time (see package rollout). No child
	//	                               stops a first install without an order
	//	events.ReasonWaitingForTurn    the owner, which Key identifies here, waits for its turn: see package release. Only Diff reports it
	//	events.ReasonEffectPending     it is the journal of an external effect that is to be performed or undone: see package effects
	//	events.ReasonEffectFailed      as before, and the performer has returned an error; the builder tries again
	//	events.ReasonContested         another writer changes it repeatedly. The builder restores it with an exponential
	//	                               backoff from 1 second to 5 minutes, until the other writer stops for a while. The message
	//	                               names the differing fields in the form that Ignore takes, the field managers that changed
	//	                               them, the number of restorations in a row (3, 10, 30, 100, ... or more), and the action to take
	Reason string
	// Message is one line of at most a few hundred bytes, such as "1 of 3 replicas updated".
	Message string

	advice string // what someone must do about it; Message has it, too
}

// String returns the child and the message: "Deployment.apps default/web: 1 of 3 replicas updated".
func (s ChildStatus) String() string { return s.Key.String() + ": " + s.Message }

// keyOfStatus returns the key of a pending child, as a message names it.
func keyOfStatus(s ChildStatus) string { return s.Key.String() }

// messageOfStatus returns the message of a pending effect, which names it.
func messageOfStatus(s ChildStatus) string { return s.Message }

// pending returns the children that are pending for one of some reasons.
func (r Result) pending(reasons ...string) []ChildStatus {
	var found []ChildStatus
	for _, s := range r.Pending {
		if slices.Contains(reasons, s.Reason) {
			found = append(found, s)
		}
	}
	return found
}

// notReady returns the children that aren't ready, failed or not.
func (r Result) notReady() []ChildStatus {
	return r.pending(events.ReasonChildrenNotReady, events.ReasonChildFailed)
}

// waiting returns the children that wait for a deletion.
func (r Result) waiting() []ChildStatus { return r.pending(events.ReasonWaiting) }

// contested returns the children that another writer changes repeatedly.
func (r Result) contested() []ChildStatus { return r.pending(events.ReasonContested) }

// rolloutFailure returns the child that stops a roll-out; nil if none does.
func (r Result) rolloutFailure() *ChildStatus {
	for i := range r.Pending {
		if r.Pending[i].Reason == events.ReasonRolloutHalted {
			return &r.Pending[i]
		}
	}
	return nil
}

// completedRevision returns the completed revision; empty if the pass failed before it knew it.
func (r Result) completedRevision() string {
	if r.Rollout == nil {
		return ""
	}
	return r.Rollout.From
}

// advice returns what someone must do before a rollback can complete. Default: empty, nothing.
func (r Result) advice() string {
	for _, n := range r.Pending {
		if n.advice != "" {
			return "; " + n.Key.String() + ": " + n.advice
		}
	}
	return ""
}

// waitingMessage returns the message of a plan that waits.
func (r Result) waitingMessage() string {
	return text.List("waiting for ", r.planWaitsFor, func(what string) string { return what })
}

// notReadyReason returns the reason of a child that isn't ready.
func notReadyReason(failed bool) string {
	if failed {
		return events.ReasonChildFailed
	}
	return events.ReasonChildrenNotReady
}

// String renders the changes, one line for each object and for each value that [Builder.Diff] found. It is empty without changes. An
// object is created (+), changed (~), deleted to be recreated (-/+), deleted (-), or waits for a terminating object (?). Fields that
// another field manager keeps in an object have the mark (!). For example:
//
//	~ Deployment.apps default/web
//	-     spec.replicas: 2
//	+     spec.replicas: 3
//	- Secret default/old
func (r Result) String() string {
	var text strings.Builder
	for _, c := range r.Changes {
		fmt.Fprintf(&text, "%s %s\n", signs[c.Reason], c.Key)
		for _, f := range c.Fields {
			line(&text, "-", f.Path, f.Old, "")
			line(&text, "+", f.Path, f.New, byServer[f.ByServer])
		}
		for _, left := range c.fieldsLeft {
			fmt.Fprintf(&text, "!     %s\n", left)
		}
	}
	for _, child := range r.waiting() {
		fmt.Fprintf(&text, "? %s waits\n", child.Key)
	}
	return text.String()
}

var signs = map[string]string{
	events.ReasonCreated: "+", events.ReasonAdopted: "~", events.ReasonUpdated: "~", events.ReasonRecreating: "-/+",
	events.ReasonDeleted: "-",
}

// byServer is the remark to a new value.
var byServer = map[bool]string{true: " (by the API server)"}

func line(text *strings.Builder, sign, path string, value any, remark string) {
	if value == nil {
		return
	}
	fmt.Fprintf(text, "%s     %s: %s%s\n", sign, path, rendered(value), remark)
}

// rendered returns a value as JSON on one line, so that a string differs from a number.
func rendered(value any) string {
	if masked, ok := value.(string); ok && strings.HasPrefix(masked, apply.Mask) {
		return masked
	}
	return text.JSON(value)
}

// Error is a failure about one object. errors.As finds it, also among the joined errors of a pass. errors.Is, apierrors.IsConflict and
// the like find its cause.
type Error struct {
	// Key identifies the object.
	Key store.Key
	// Operation is the operation that failed: "create", "apply", "adopt", "edit", "scale", "delete", "read", "write", "write status of",
	// "write the inventory of", "write the finalizers of".
	Operation string

	cause  error
	object client.Object // for events; nil if not known
	fields []string      // if more fields are known than the cause names
}

// Fields returns the paths of the fields that the API server refused (spec.replicas, spec.template.spec.containers[0].image), in its
// order and without duplicates. It is nil if the error isn't about fields.
func (e *Error) Fields() []string {
	if e.fields != nil {
		return e.fields
	}
	var fields []string
	for _, cause := range apistatus.Causes(e.cause) {
		if !slices.Contains(fields, cause.Field) {
			fields = append(fields, cause.Field)
		}
	}
	return fields
}

// Error returns the operation, the object and the cause: "create Deployment.apps default/web: ...".
func (e *Error) Error() string {
	if e.cause == nil { // made by a test
		return e.Operation + " " + e.Key.String()
	}
	return e.Operation + " " + e.Key.String() + ": " + e.cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// ErrNotOwned is the cause of an [Error] about an existing object that the owner doesn't control. The builder left it unchanged.
var ErrNotOwned = failure.ErrNotOwned

// ErrMisuse is the cause of errors in the calls of a [Builder] or in a [Plan]: an object without a name, a duplicate object, a child
// in another namespace than its owner, a kind that the operator doesn't declare. The builder applies no child, and a retry can't help.
var ErrMisuse = failure.ErrMisuse

// IsTerminal reports whether a retry of err can't succeed until the owner's spec or the program changes. Terminal are: an object that
// the API server calls invalid or too large, an apply of a field that the kind's schema lacks, an impossible change (ErrImmutable), a
// misuse of the Builder, and a damaged record of a RunOnce child. All other errors are transient: a conflict, a timeout, an exceeded quota
// (which is Forbidden), a missing permission, kind or namespace, an object that another owner controls, an admission webhook or policy that
// denies the request. Joined errors are terminal if all of them are.
func IsTerminal(err error) bool { return failure.IsTerminal(err) }

// isConflict reports whether err consists only of conflicts: another writer was first, and the next pass observes its write.
func isConflict(err error) bool { return failure.IsConflict(err) }

// isStop reports whether err consists only of calls that ended because the manager stops.
func isStop(err error) bool {
	return !slices.ContainsFunc(errorlist.Of(err), func(leaf error) bool { return !errors.Is(leaf, context.Canceled) })
}

// publicError returns the error of a pass, or several joined, with each [failure.Error] of a step as an *Error. It stands where a pass
// ends, because the callers of this package test for *Error.
func publicError(err error) error {
	if _, isList := err.(interface{ Unwrap() []error }); !isList {
		return publicLeaf(err)
	}
	list := errorlist.Of(err)
	for i, leaf := range list {
		list[i] = publicLeaf(leaf)
	}
	if len(list) == 1 { // err itself, if it has several causes
		return list[0]
	}
	return errors.Join(list...)
}

func publicLeaf(err error) error {
	if f, ok := err.(*failure.Error); ok { //nolint:errorlint // no step wraps one
		return &Error{Key: f.Key, Operation: f.Operation, cause: f.Err, object: f.Object, fields: f.Fields}
	}
	return err
}

// summarize returns the errors of a pass as one sentence of limited length.
func summarize(err error) string {
	return text.List("", kinds.OnePerKind(errorlist.Of(err)), apistatus.InOrder)
}
