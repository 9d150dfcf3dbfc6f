package builder

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/internal/errorlist"
	"github.com/armature-dev/armature/store"
)

// Error is a failure about one object. errors.As finds it, also among several joined by a pass, and errors.Is and
// apierrors.IsConflict and its kin see through it.
type Error struct {
	// Key is the object that the error is about.
	Key store.Key
	// Operation is what was tried: "create", "apply", "adopt", "edit", "delete", "read".
	Operation string
	// Err is the cause.
	Err error

	object client.Object // for events; nil if it isn't at hand
	fields []string      // if more is known than the cause says
}

// Fields returns the paths of the fields that the API server found fault with (spec.replicas,
// spec.template.spec.containers[0].image), in its order, each once; nil if the error isn't about fields.
func (e *Error) Fields() []string {
	if e.fields != nil {
		return e.fields
	}
	var fields []string
	for _, cause := range apistatus.Causes(e.Err) {
		if !slices.Contains(fields, cause.Field) {
			fields = append(fields, cause.Field)
		}
	}
	return fields
}

// Error returns what was tried, the object and the cause: "create Deployment.apps default/web: ...".
func (e *Error) Error() string {
	return e.Operation + " " + e.Key.String() + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrNotOwned is the cause of an Error about an object that exists and belongs to someone else. It was left alone.
var ErrNotOwned = failure.ErrNotOwned

// ErrMisuse is the cause of errors in the calls of a Builder or in a Plan: an object without a name, the same object
// twice, a child in another namespace than its owner, a kind that the operator doesn't declare. A retry can't help.
var ErrMisuse = failure.ErrMisuse

// IsTerminal reports whether retrying err can't help until the owner's spec (or the program) changes:
// the API server called an object invalid or too large, a change isn't possible (ErrImmutable), the Builder was misused,
// or the record of a RunOnce child is damaged. Everything else may pass: a conflict, a timeout, a full quota (which is
// Forbidden), a permission that is granted later, a kind or namespace that is made later, an object in the way, an admission webhook or policy that denies
// today. Of several errors joined, all have to be terminal.
func IsTerminal(err error) bool { return failure.IsTerminal(err) }

// isConflict reports whether err is nothing but conflicts: someone else wrote first, and the next pass sees it.
func isConflict(err error) bool { return failure.IsConflict(err) }

// publicError returns an error of a step, or several joined, with each [failure.Error] as an *Error.
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
		return &Error{Key: f.Key, Operation: f.Operation, Err: f.Err, object: f.Object, fields: f.Fields}
	}
	return err
}

// notOwned returns the error about an observed object that is someone else's.
func notOwned(operation string, key store.Key, observed client.Object) error {
	return publicError(failure.NotOwned(operation, key, observed))
}

// summarize renders the errors of a pass in one bounded sentence.
func summarize(err error) string {
	const shown = 3
	all := kinds.OnePerKind(errorlist.Of(err))
	var parts []string
	for _, e := range all[:min(shown, len(all))] {
		parts = append(parts, text.Shorten(e.Error(), text.MaxSummary/(shown+1)))
	}
	if more := len(all) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}
