package failure

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/internal/errorlist"
)

// IsTerminal reports whether a retry can't help until the owner's spec or the program changes. Joined errors are terminal if all of
// them are. builder.IsTerminal lists the causes.
func IsTerminal(err error) bool { return areAll(err, isTerminal) }

// IsConflict reports whether an error consists only of conflicts: another writer was first, and the next pass observes its write. An
// admission webhook or policy that denies with the code of a conflict is none: it denies the next pass, too.
func IsConflict(err error) bool {
	return areAll(err, func(err error) bool {
		return (apierrors.IsConflict(err) || apistatus.IsReplaced(err)) && !apistatus.IsDenied(err)
	})
}

// areAll reports whether err contains errors, and is returns true for each.
func areAll(err error, is func(error) bool) bool {
	all := errorlist.Of(err)
	for _, leaf := range all {
		if !is(leaf) {
			return false
		}
	}
	return len(all) > 0
}

func isTerminal(err error) bool {
	switch {
	case errors.Is(err, ErrMisuse), errors.Is(err, ErrDamagedRecord):
		return true
	case apistatus.IsDenied(err), apistatus.IsReplaced(err):
		return false
	case apistatus.IsTooLarge(err): // etcd's refusal is an internal error
		return true
	default:
		return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) ||
			apistatus.IsUntypable(err)
	}
}
