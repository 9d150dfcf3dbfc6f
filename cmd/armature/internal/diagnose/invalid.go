package diagnose

import "github.com/armature-dev/armature/api/v1alpha1"

// invalidSpec: the operator can't carry out the spec. Its message names the field.
func invalidSpec(s scene) *Finding {
	ready := s.isFalse("Ready")
	if !s.isOurs() || ready == nil || ready.Reason != v1alpha1.ReasonInvalidSpec {
		return nil
	}
	return blocked("InvalidSpec", "its spec can't be carried out: %s", ready.Message).
		do("correct the field that is named: kubectl edit %s%s", typed(s.Object), s.flagN())
}
