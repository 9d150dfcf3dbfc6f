package lint

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// Finding is something that is wrong in a manifest.
type Finding struct {
	manifest.Place `json:",inline"`
	// Kind and Name are those of the object; Name is empty if it has none.
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	// Path is the field, as in spec.flows[2].dependencies[0]; empty if it is about the whole object.
	Path string `json:"path,omitempty"`
	// Message says what was found, and what would be accepted.
	Message string `json:"message"`
}

// String returns the finding as a line, that editors can jump from.
func (f Finding) String() string {
	object := f.Kind
	if f.Name != "" {
		object += "/" + f.Name
	}
	if f.Path == "" {
		return fmt.Sprintf("%s: %s: %s", f.Place, object, f.Message)
	}
	return fmt.Sprintf("%s: %s: %s: %s", f.Place, object, f.Path, f.Message)
}

// Knows reports whether a kind can be checked.
func Knows(gvk schema.GroupVersionKind) (bool, error) {
	all, err := known()
	if err != nil {
		return false, err
	}
	_, ok := all[gvk]
	return ok, nil
}

// Document returns what is wrong with a document of a known kind, from its top to its end. The document isn't changed.
func Document(doc *manifest.Document) ([]Finding, error) {
	all, err := known()
	if err != nil {
		return nil, err
	}
	compiled, ok := all[doc.Object.GroupVersionKind()]
	if !ok {
		return nil, fmt.Errorf("%s: %s is none of Armature's kinds", doc.At("kind"), doc.Object.GroupVersionKind())
	}
	k, err := compiled()
	if err != nil {
		return nil, err
	}
	name := doc.Object.GetName()
	if name == "" {
		name = doc.Object.GetGenerateName()
	}
	var findings []Finding
	add := func(place manifest.Place, path, message string) {
		findings = append(findings, Finding{place, doc.Object.GetKind(), name, path, message})
	}
	for _, field := range doc.Repeated {
		add(field.Place, field.Path, manifest.Twice)
	}
	for _, p := range k.problems(doc.Object) {
		add(doc.At(p.path), p.path, p.text)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return a.Compare(b.Place) })
	return slices.CompactFunc(findings, func(a, b Finding) bool { return a == b }), nil
}
