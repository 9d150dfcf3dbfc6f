package diagnose

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// paused: an annotation of the object stops its operator's writes, and may have undone its last disruptive change.
func paused(s subject) *Finding {
	if !wellknown.IsPaused(s.GetAnnotations()) || s.HasEnded() || IgnoresPause(s.GroupVersionKind().GroupKind()) {
		return nil
	}
	finding := blocked("PausedByAnnotation", "it is paused: its operator writes nothing while the annotation %s is \"true\"",
		wellknown.AnnotationPaused)
	if s.GetAnnotations()[wellknown.AnnotationUndo] != "" {
		switch c := s.condition(events.ConditionUndone); {
		case c == nil:
			finding = blocked("Undoing", "an undo of its last disruptive change is requested, and its operator hasn't started it")
		case c.Status == "True":
			finding = blocked("Undone", "its last disruptive change is undone, and it is paused")
		default:
			finding = blocked(c.Reason, "its last disruptive change isn't undone: %s", c.Message)
		}
	}
	return finding.do("armature unpause %s%s", typed(s.Object), s.flagN())
}

// IgnoresPause reports whether objects of a kind are pods, or workloads of Kubernetes. Its own controllers work on them, and don't obey the
// annotation of a pause.
func IgnoresPause(kind schema.GroupKind) bool {
	switch kind.Group {
	case "apps", "batch":
		return true
	default:
		return kind == schema.GroupKind{Kind: "Pod"} || kind == schema.GroupKind{Kind: "ReplicationController"}
	}
}
