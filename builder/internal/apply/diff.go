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

// Field is a field that a write would change.
type Field struct {
	Path     string
	Old, New any
	// ByServer is true if New isn't what the apply asked for: the API server's admission or defaults set it, or it writes it in another way.
	ByServer bool
}

// Diff returns the fields that a dry-run write changes. The values in a Secret are masked. Of a new object these are the desired fields,
// and the labels and annotations that admission adds; the many defaults of other fields aren't listed.
func (w *Write) Diff() ([]Field, error) {
	desired := shown(w.Desired.fields)
	before, after := map[string]any{}, desired
	if w.Operation == events.ReasonUpdated || w.Operation == events.ReasonCreated {
		stored, err := payload.Stored(w.Stored)
		if err != nil {
			return nil, err
		}
		after = shown(stored)
	}
	if w.Operation == events.ReasonUpdated {
		observed, err := payload.Stored(w.Observed)
		if err != nil {
			return nil, err
		}
		before = shown(observed)
	}
	asked, byServer := pathsOf(delta.Between(nil, desired)), pathsOf(delta.Between(desired, after))
	var fields []Field
	for _, c := range delta.Between(before, after) {
		if w.Operation == events.ReasonCreated && !asked[c.Path] && !isLabelOrAnnotation(c.Path) {
			continue
		}
		if isSecret(w.Desired.Key) && holdsSecret(c.Path) {
			c = hidden(c)
		}
		fields = append(fields, Field{Path: c.Path, Old: c.Old, New: c.New, ByServer: byServer[c.Path]})
	}
	return fields, nil
}

func pathsOf(changes []delta.Change) map[string]bool {
	paths := make(map[string]bool, len(changes))
	for _, c := range changes {
		paths[c.Path] = true
	}
	return paths
}

func isLabelOrAnnotation(path string) bool {
	return strings.HasPrefix(path, "metadata.labels") || strings.HasPrefix(path, "metadata.annotations")
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
