package apply

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// Diff returns the fields that a dry-run write changes. The values in a Secret are masked. Of a new object these are the desired fields,
// and the labels and annotations that admission adds; the many defaults of other fields aren't listed.
func (w *Write) Diff() ([]delta.Change, error) {
	fields, err := w.fields()
	if isSecret(w.Desired.Key) {
		for i := range fields {
			fields[i] = hidden(fields[i])
		}
	}
	return fields, err
}

func (w *Write) fields() ([]delta.Change, error) {
	desired := shown(w.Desired.fields)
	if w.Operation != events.ReasonCreated && w.Operation != events.ReasonUpdated { // then nothing is stored yet
		return withServers(delta.Between(nil, desired), nil), nil
	}
	stored, err := payload.Stored(w.Stored)
	if err != nil {
		return nil, err
	}
	after := shown(stored)
	byServer := map[string]any{}
	for _, c := range delta.Between(desired, after) {
		byServer[c.Path] = c.New
	}
	if w.Operation == events.ReasonCreated {
		return withServers(delta.Between(nil, withMetadata(desired, after)), byServer), nil
	}
	observed, err := payload.Stored(w.Observed)
	if err != nil {
		return nil, err
	}
	return withServers(delta.Between(shown(observed), after), byServer), nil
}

// withServers returns changes with the values that the API server has set, by path; without those that it drops.
func withServers(changes []delta.Change, byServer map[string]any) []delta.Change {
	for i := range changes {
		if value, ok := byServer[changes[i].Path]; ok {
			changes[i].New, changes[i].ByServer = value, true
		}
	}
	return slices.DeleteFunc(changes, func(c delta.Change) bool { return c.Old == nil && c.New == nil })
}

// withMetadata returns the desired fields with the labels and annotations of the stored object.
func withMetadata(desired, stored map[string]any) map[string]any {
	u := (&unstructured.Unstructured{Object: desired}).DeepCopy()
	from := unstructured.Unstructured{Object: stored}
	u.SetLabels(from.GetLabels())
	u.SetAnnotations(from.GetAnnotations())
	return u.Object
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

// hidden returns a field of a Secret with masked values.
func hidden(f delta.Change) delta.Change {
	switch {
	case !holdsSecret(f.Path):
	case f.Old != nil && f.New != nil:
		f.Old, f.New = Mask+" (before)", Mask+" (after)"
	case f.Old != nil:
		f.Old = Mask
	case f.New != nil:
		f.New = Mask
	}
	return f
}
