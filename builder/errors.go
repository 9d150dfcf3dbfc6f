package builder

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/armature-dev/armature/store"
)

// Error is a failure about one object. errors.As finds it, also among several joined by a pass, and errors.Is and
// apierrors.IsConflict and its kin see through it.
type Error struct {
	// Key is the object that the error is about.
	Key store.Key
	// Operation is what was tried: "create", "apply", "delete", "read".
	Operation string
	// Err is the cause.
	Err error
}

func (e *Error) Error() string {
	return e.Operation + " " + e.Key.String() + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrNotOwned is the cause of an Error about an object that exists and belongs to someone else. It was left alone.
var ErrNotOwned = errors.New("exists and is not ours")

// ErrMisuse is the cause of errors in the calls of a Builder: an object without a name, the same object twice.
var ErrMisuse = errors.New("builder misused")

// IsTerminal reports whether retrying err can't help until the owner's spec (or the program) changes:
// the API server called an object invalid, or the Builder was misused. Everything else may pass: a conflict, a
// timeout, a full quota (which is Forbidden), a permission that is granted later, an object in the way.
func IsTerminal(err error) bool {
	terminal := false
	for _, leaf := range leaves(err) {
		if !errors.Is(leaf, ErrMisuse) && !apierrors.IsInvalid(leaf) && !apierrors.IsBadRequest(leaf) {
			return false
		}
		terminal = true
	}
	return terminal
}

// leaves returns the errors joined in err, or err alone.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, leaves(e)...)
		}
		return all
	}
	return []error{err}
}

// summarize renders the errors of a pass in one bounded sentence, for a condition's or an event's text.
func summarize(err error) string {
	const shown = 3
	all := leaves(err)
	var parts []string
	for i, e := range all {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-shown))
			break
		}
		parts = append(parts, e.Error())
	}
	return strings.Join(parts, "; ")
}
