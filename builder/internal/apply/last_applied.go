package apply

import (
	"fmt"
	"reflect"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/merge"
	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/internal/wellknown"
)

// digestSeparator separates the digest of an object from the digests of its fields in the annotation.
const digestSeparator = "."

// annotationOf returns the annotation that records the apply of an object: its digest. For a child that may be recreated it also has
// the digests of the fields, because no managed field shows that another writer has removed one. They would give away the values of a
// Secret that can be guessed, so a Secret has none.
func (d *Desired) annotationOf(fields map[string]any) (string, error) {
	if d.recreates() == nil || isSecret(d.Key) {
		return d.Digest, nil
	}
	digests, err := payload.FieldDigests(fields)
	if err != nil {
		return "", fmt.Errorf("%w: digests of the fields of %s: %w", failure.ErrMisuse, d.Key, err)
	}
	if digests == "" {
		return d.Digest, nil
	}
	return d.Digest + digestSeparator + digests, nil
}

// recordOf returns the digest of the last apply of an object, and the digests of the fields that it set, empty if they aren't known.
func recordOf(obj client.Object) (digest, fields string) {
	digest, fields, _ = strings.Cut(obj.GetAnnotations()[wellknown.AnnotationDigest], digestSeparator)
	return digest, fields
}

// isDriftAt reports whether another writer has changed a field in which the object differs from the desired one: the last apply set it
// to the desired value, and a new object would have another value than the existing one. A value that only the API server stores in
// another form is the same in both. Of a list, the whole must be as in the last apply. Of a map that the API server treats as one value,
// such as a selector, only the entries that differ count.
func (w *Write) isDriftAt(path fieldpath.Path, o merge.Objects) bool {
	if o.Fresh == nil {
		return false
	}
	fresh, _ := paths.At(o.Fresh, path)
	live, _ := paths.At(o.Live, path)
	if reflect.DeepEqual(fresh, live) {
		return false
	}
	var names []string
	for _, element := range path {
		if element.FieldName == nil {
			break
		}
		names = append(names, *element.FieldName)
	}
	desired, isDesired := paths.At(o.Desired, path[:len(names)])
	liveFields, isMap := live.(map[string]any)
	if fields, ok := desired.(map[string]any); ok && isMap {
		desired = delta.MergePatch(liveFields, fields)
	}
	_, digests := recordOf(w.initial)
	return isDesired && payload.HasFieldDigest(digests, names, desired)
}
