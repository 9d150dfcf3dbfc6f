package phases

import (
	"fmt"
	"slices"
	"time"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/rollout"
)

// CheckOptions returns an error for options that contradict each other.
func CheckOptions(o rollout.Options) error {
	if o.AlertAfter < 0 || o.RollbackAfter < 0 {
		return fmt.Errorf("%w: AlertAfter is %s and RollbackAfter %s; a time must be positive, or 0 for none",
			failure.ErrMisuse, o.AlertAfter, o.RollbackAfter)
	}
	if o.AlertAfter > 0 && o.RollbackAfter > 0 {
		return fmt.Errorf("%w: AlertAfter is %s and RollbackAfter %s; set one of them", failure.ErrMisuse, o.AlertAfter, o.RollbackAfter)
	}
	for i, name := range o.Phases {
		if name == "" || slices.Contains(o.Phases[:i], name) {
			return fmt.Errorf("%w: phase %q is empty or named twice in %q", failure.ErrMisuse, name, o.Phases)
		}
	}
	return nil
}

// timeout returns how long a phase may take; 0 for no limit.
func timeout(o rollout.Options) time.Duration {
	if o.AlertAfter == 0 && o.RollbackAfter == 0 {
		return 0
	}
	return max(o.AlertAfter, o.RollbackAfter, time.Second)
}
