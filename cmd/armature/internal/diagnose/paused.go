package diagnose

import "github.com/armature-dev/armature/internal/wellknown"

// paused: someone has stopped the operator's passes over an object by an annotation.
func paused(s scene) *Finding {
	if s.GetAnnotations()[wellknown.AnnotationPaused] != "true" || s.hasEnded() {
		return nil
	}
	return blocked("PausedByAnnotation", "it is paused: its operator writes nothing while the annotation %s is \"true\"",
		wellknown.AnnotationPaused).
		do("armature unpause %s%s", typed(s.Object), s.flagN())
}
