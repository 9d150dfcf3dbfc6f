package apply

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// Diff returns the fields that a dry-run write changes. The values in a Secret are masked.
func (w *Write) Diff() ([]delta.Change, error) {
	before := map[string]any{}
	after := w.Desired.fields
	if w.Operation == events.ReasonUpdated {
		var err error
		if before, err = payload.Stored(w.Observed); err != nil {
			return nil, err
		}
		if after, err = payload.Stored(w.Stored); err != nil {
			return nil, err
		}
	}
	var changes []delta.Change
	for _, c := range delta.Between(shown(before), shown(after)) {
		if isSecret(w.Desired.Key) && holdsSecret(c.Path) {
			c = hidden(c)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// IsDrift reports whether the write only restores what the last apply had set: the desired object is the same, another writer changed it.
func (w *Write) IsDrift() bool { return w.Operation == events.ReasonUpdated && w.drifted }

// shown removes from an object the fields that its key has, and the builder's own record.
func shown(fields map[string]any) map[string]any {
	if len(fields) == 0 {
		return fields
	}
	fields = (&unstructured.Unstructured{Object: fields}).DeepCopy().Object
	for _, path := range [][]string{
		{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "uid"}, {"metadata", "resourceVersion"},
		{"metadata", "annotations", wellknown.AnnotationDigest},
	} {
		unstructured.RemoveNestedField(fields, path...)
	}
	meta, _ := fields["metadata"].(map[string]any)
	if annotations, ok := meta["annotations"].(map[string]any); ok && len(annotations) == 0 {
		delete(meta, "annotations")
	}
	return fields
}

// Mask replaces a secret value.
const Mask = "***"

func isSecret(key store.Key) bool { return key.Group == "" && key.Kind == "Secret" }

// holdsSecret reports whether a field of a Secret must be masked. kubectl keeps copies of such fields in an annotation.
func holdsSecret(path string) bool {
	return strings.HasPrefix(path, "data") || strings.HasPrefix(path, "stringData") ||
		strings.Contains(path, corev1.LastAppliedConfigAnnotation)
}

// hidden returns a change with masked values.
func hidden(c delta.Change) delta.Change {
	if c.Old != nil && c.New != nil {
		return delta.Change{Path: c.Path, Old: Mask + " (before)", New: Mask + " (after)"}
	}
	if c.Old != nil {
		c.Old = Mask
	}
	if c.New != nil {
		c.New = Mask
	}
	return c
}
