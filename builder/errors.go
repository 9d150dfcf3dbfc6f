package builder

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/internal/errorlist"
	"github.com/armature-dev/armature/store"
)

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
func summarize(err error) string { return text.List("", kinds.OnePerKind(errorlist.Of(err)), inOrder) }

// inOrder returns the text of an error with its fields in order. The API server lists wrong labels in the order of a map, another each
// time: as another text it would change the conditions, and be an event, in every pass.
func inOrder(err error) string {
	status := (*apierrors.StatusError)(nil)
	if !errors.As(err, &status) || status.ErrStatus.Details == nil {
		return err.Error()
	}
	var fields []string
	for _, cause := range status.ErrStatus.Details.Causes {
		if field := cause.Field + ": " + cause.Message; !slices.Contains(fields, field) { // the text has each once
			fields = append(fields, field)
		}
	}
	unordered := strings.Join(fields, ", ")
	slices.Sort(fields)
	return strings.Replace(err.Error(), unordered, strings.Join(fields, ", "), 1)
}
