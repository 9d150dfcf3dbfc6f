package diagnose

import (
	"fmt"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// invalidSpec: the spec is invalid. The message names the field.
func invalidSpec(s subject) *Finding {
	ready := s.isFalse("Ready")
	if !s.isOurs() || ready == nil || ready.Reason != v1alpha1.ReasonInvalidSpec {
		return nil
	}
	return blocked("InvalidSpec", "its spec is invalid: %s", ready.Message).
		do("correct the field that the message names: %s", s.toChange(fmt.Sprintf("kubectl edit %s%s", typed(s.Object), s.flagN()), "spec"))
}
