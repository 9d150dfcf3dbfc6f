package diagnose

import (
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// paused: someone has stopped the operator's passes over an object by an annotation, and may have undone its last disruptive change.
func paused(s scene) *Finding {
	if !wellknown.IsPaused(s.GetAnnotations()) || s.hasEnded() {
		return nil
	}
	finding := blocked("PausedByAnnotation", "it is paused: its operator writes nothing while the annotation %s is \"true\"",
		wellknown.AnnotationPaused)
	if s.GetAnnotations()[wellknown.AnnotationUndo] != "" {
		switch c := s.condition(events.ConditionUndone); {
		case c == nil:
			finding = blocked("Undoing", "it is to return to the state before its last disruptive change, and its operator hasn't begun")
		case c.Status == "True":
			finding = blocked("Undone", "its last disruptive change is undone, and it is paused")
		default:
			finding = blocked(c.Reason, "its last disruptive change isn't undone: %s", c.Message)
		}
	}
	return finding.do("armature unpause %s%s", typed(s.Object), s.flagN())
}
