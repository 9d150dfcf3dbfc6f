package builder

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	for _, cause := range causesOf(e.Err) {
		if !slices.Contains(fields, cause.Field) {
			fields = append(fields, cause.Field)
		}
	}
	return fields
}

// causesOf returns what the API server says of single fields.
func causesOf(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var causes []metav1.StatusCause
	for _, cause := range status.Status().Details.Causes {
		if cause.Field != "" {
			causes = append(causes, cause)
		}
	}
	return causes
}

func (e *Error) Error() string {
	return e.Operation + " " + e.Key.String() + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrNotOwned is the cause of an Error about an object that exists and belongs to someone else. It was left alone.
var ErrNotOwned = errors.New("exists and is not ours")

// ErrMisuse is the cause of errors in the calls of a Builder or in a Plan: an object without a name, the same object
// twice, a child in another namespace than its owner, a kind that the operator doesn't declare. A retry can't help.
var ErrMisuse = errors.New("builder misused")

// IsTerminal reports whether retrying err can't help until the owner's spec (or the program) changes:
// the API server called an object invalid or too large, a change isn't possible (ErrImmutable), the Builder was misused,
// or the record of a RunOnce child is damaged. Everything else may pass: a conflict, a timeout, a full quota (which is Forbidden), a permission that is
// granted later, a kind or namespace that is made later, an object in the way, an admission webhook or policy that denies
// today. Of several errors joined, all have to be terminal.
func IsTerminal(err error) bool {
	all := leaves(err)
	for _, leaf := range all {
		if !isTerminalLeaf(leaf) {
			return false
		}
	}
	return len(all) > 0
}

func isTerminalLeaf(err error) bool {
	switch {
	case errors.Is(err, ErrMisuse), errors.Is(err, errDamagedRecord):
		return true
	case isDenied(err), isReplaced(err):
		return false
	case isTooLarge(err): // etcd's refusal is an internal error
		return true
	default:
		return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
	}
}

// isDenied reports whether an admission webhook or policy refused a request. They choose the status code themselves,
// so that their texts are all there is to know them by.
func isDenied(err error) bool {
	message := messageOf(err)
	return strings.Contains(message, "denied the request") || strings.Contains(message, "denied request:")
}

// isWebhookBroken reports whether an admission webhook could not be asked: it is down, or too slow.
func isWebhookBroken(err error) bool {
	return strings.Contains(messageOf(err), "failed calling webhook")
}

// messageOf returns what the API server says in an error, empty if it is none of its.
func messageOf(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return ""
	}
	return status.Status().Message
}

// isConflict reports whether err is nothing but conflicts: someone else wrote first, and the next pass sees it.
func isConflict(err error) bool {
	all := leaves(err)
	for _, leaf := range all {
		if !apierrors.IsConflict(leaf) && !isReplaced(leaf) {
			return false
		}
	}
	return len(all) > 0
}

// isReplaced reports whether an apply met another object of its name than the one it was meant for: one that was
// deleted and made again. The API server calls the UID in such an apply invalid.
func isReplaced(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// joinedType is the type that errors.Join returns. Others that unwrap to several errors, such as those of fmt.Errorf,
// are one error with several causes.
var joinedType = reflect.TypeOf(errors.Join(errors.New("")))

// leaves returns the errors joined in err, however deep, or err alone.
func leaves(err error) []error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if reflect.TypeOf(inner) != joinedType {
			continue
		}
		var all []error
		for _, e := range inner.(interface{ Unwrap() []error }).Unwrap() {
			all = append(all, leaves(e)...)
		}
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// maxSummary bounds a summary, in bytes: it goes into conditions.
const maxSummary = 2048

// summarize renders the errors of a pass in one bounded sentence.
func summarize(err error) string {
	const shown = 3
	all := onePerKind(leaves(err))
	var parts []string
	for _, e := range all[:min(shown, len(all))] {
		parts = append(parts, shorten(e.Error(), maxSummary/(shown+1)))
	}
	if more := len(all) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// shorten cuts a text to at most limit bytes, between characters, and shows that it was cut.
func shorten(text string, limit int) string {
	const mark = "…"
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(mark)], "") + mark
}
