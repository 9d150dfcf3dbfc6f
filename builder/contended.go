package builder

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/subset"
)

// contendedField is a field that another writer has changed.
type contendedField struct {
	path string // as Ignore takes it
	by   string // empty: no field manager claims it
	self bool   // by is another process of this controller's own name
}

// digestPath is that of the builder's annotation. Whoever claims it with another value is this controller's like.
var digestPath = fieldpath.MakePathOrDie("metadata", "annotations", AnnotationDigest)

func pathsOf(fields []contendedField) []string {
	var all []string
	for _, f := range fields {
		all = append(all, f.path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// contendedFields returns the fields in which the object differed from the desired one before the pass wrote anything, and
// which field managers claim them. An apply takes its fields from all others, so that whoever claims one with another value has
// written it since. What someone has removed is claimed by no one. This is for people to read, and to tell the same
// difference from another one: nothing is written by it.
func (w *write) contendedFields(us string) []contendedField {
	found, err := storedFields(w.seen)
	if err != nil {
		return nil
	}
	var all []contendedField
	for _, entry := range w.seen.GetManagedFields() {
		set, err := fieldsOf(entry)
		if err != nil || entry.Subresource == "status" {
			continue
		}
		self := entry.Manager == us
		if self && (w.desired.isDigestOf(w.seen) || !set.Has(digestPath)) {
			continue // our own record of what we wrote
		}
		set.Leaves().Iterate(func(path fieldpath.Path) {
			desired, isDesired := valueAt(w.desired.fields, path)
			observed, exists := valueAt(found, path)
			// What it has created has the API server's defaults among its fields; what it has applied is its own.
			isExtra := self && !isDesired && exists && entry.Operation == metav1.ManagedFieldsOperationApply
			differs := isDesired && !subset.Untyped(desired, observed) || isExtra
			if name := pathName(path); differs && !isBookkeeping(name) {
				all = append(all, contendedField{path: name, by: managerName(entry), self: self})
			}
		})
	}
	for _, c := range w.corrected {
		all = append(all, c.contended)
	}
	if len(all) > 0 {
		return all
	}
	unclaimedDifferences(nil, w.desired.fields, found, func(path fieldpath.Path) {
		if name := pathName(path); !isBookkeeping(name) {
			all = append(all, contendedField{path: name})
		}
	})
	if len(all) == 0 { // nothing but the record of what is desired
		all = append(all, contendedField{path: "metadata.annotations[" + AnnotationDigest + "]"})
	}
	return all
}

// contendedMarks returns which of what the builder puts back of a child with CreateOnly others have changed.
func (w *write) contendedMarks(us string) []contendedField {
	var all []contendedField
	mark := func(path fieldpath.Path) {
		field := contendedField{path: pathName(path)}
		if entry := lastEntryOf(w.seen, path, us); entry != nil {
			field.by = managerName(*entry)
		}
		all = append(all, field)
	}
	if w.desired.lacksMark(w.seen) {
		mark(fieldpath.MakePathOrDie("metadata", "labels", LabelManagedBy))
	}
	if w.adopts {
		mark(fieldpath.MakePathOrDie("metadata", "ownerReferences"))
	}
	return all
}

// isBookkeeping reports whether a field is the builder's own, or only the server's.
func isBookkeeping(path string) bool {
	switch path {
	case "metadata.uid", "metadata.name", "metadata.namespace", "metadata.resourceVersion", "apiVersion", "kind",
		"metadata.annotations[" + AnnotationDigest + "]":
		return true
	}
	return false
}

// managerName says who a record of fields is of: "kube-controller-manager (Update of scale)".
func managerName(entry metav1.ManagedFieldsEntry) string {
	how := string(entry.Operation)
	if entry.Subresource != "" {
		how += " of " + entry.Subresource
	}
	return entry.Manager + " (" + how + ")"
}

// valueAt returns what is at a path of an object as decoded from JSON.
func valueAt(value any, path fieldpath.Path) (any, bool) {
	for _, step := range path {
		switch {
		case step.FieldName != nil:
			fields, ok := value.(map[string]any)
			if !ok {
				return nil, false
			}
			if value, ok = fields[*step.FieldName]; !ok {
				return nil, false
			}
		case step.Key != nil:
			list, _ := value.([]any)
			i := slices.IndexFunc(list, func(element any) bool { return hasKey(element, step) })
			if i < 0 {
				return nil, false
			}
			value = list[i]
		case step.Value != nil:
			list, _ := value.([]any)
			want := fmt.Sprint((*step.Value).Unstructured())
			i := slices.IndexFunc(list, func(element any) bool { return fmt.Sprint(element) == want })
			if i < 0 {
				return nil, false
			}
			value = list[i]
		default:
			list, _ := value.([]any)
			if step.Index == nil || *step.Index >= len(list) {
				return nil, false
			}
			value = list[*step.Index]
		}
	}
	return value, true
}

// hasKey reports whether an element of a list is the one that a path chooses. A part of the key that it lacks has been
// left to the server's defaults.
func hasKey(element any, step fieldpath.PathElement) bool {
	fields, ok := element.(map[string]any)
	if !ok {
		return false
	}
	equal := 0
	for _, part := range *step.Key {
		value, ok := fields[part.Name]
		if !ok {
			continue
		}
		if fmt.Sprint(value) != fmt.Sprint(part.Value.Unstructured()) {
			return false
		}
		equal++
	}
	return equal > 0
}

// pathName renders a path as Ignore takes it: spec.template.spec.containers[name=web].image. Of lists whose elements have
// no key it names the list.
func pathName(path fieldpath.Path) string {
	var text strings.Builder
	for _, step := range path {
		switch {
		case step.FieldName != nil && text.Len() > 0 && strings.ContainsAny(*step.FieldName, "./[]= \t\n"):
			text.WriteString("[" + *step.FieldName + "]")
		case step.FieldName != nil:
			if text.Len() > 0 {
				text.WriteString(".")
			}
			text.WriteString(*step.FieldName)
		case step.Key != nil:
			var parts []string
			for _, part := range *step.Key {
				parts = append(parts, part.Name+"="+fmt.Sprint(part.Value.Unstructured()))
			}
			text.WriteString("[" + strings.Join(parts, ",") + "]")
		default:
			return text.String()
		}
	}
	return text.String()
}

// unclaimedDifferences calls yield for each field in which an object differs from the desired one.
func unclaimedDifferences(path fieldpath.Path, desired, observed any, yield func(fieldpath.Path)) {
	if subset.Untyped(desired, observed) {
		return
	}
	wants, isMap := desired.(map[string]any)
	has, both := observed.(map[string]any)
	if !isMap || !both && observed != nil {
		yield(path)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(wants)) {
		unclaimedDifferences(append(path[:len(path):len(path)], fieldpath.PathElement{FieldName: &name}), wants[name], has[name], yield)
	}
}
