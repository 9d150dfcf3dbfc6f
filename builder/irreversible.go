package builder

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/merge"
)

// driftBehind returns the error about a refused change if others have made it necessary, and nil if only the builder itself
// changes what the API server refuses to change. What others have changed, and lets no one change back, such as a claim
// that was enlarged, is no reason to delete anything, whatever [OnImmutable] says.
func (w *write) driftBehind(refused error, r *refit) error {
	if r == nil || len(r.objects.Live) == 0 {
		return nil
	}
	theirs := sealedByOthers(refused, r.objects)
	for _, d := range faultsIn(refused, r.merged.Differences) {
		if d.Theirs || !w.wantsOther() {
			theirs = append(theirs, d.Path)
		}
	}
	if w.wantsOther() && len(theirs) == 0 {
		return nil
	}
	var texts []string
	for _, path := range theirs {
		texts = append(texts, strings.TrimPrefix(path.String(), ".")+byManager(managerOf(w.found, path, "")))
	}
	if len(texts) == 0 {
		texts = append(texts, "the object")
	}
	return fmt.Errorf("%s changed since the last apply, and the API server refuses to change it back; nothing is deleted for it: %w",
		strings.Join(texts, ", "), refused)
}

// faultsIn returns the differences that the API server found fault with. Those that its message says can be changed are among
// them only if there are no others: then there is a condition to it, such as that tolerations may only be added.
func faultsIn(refused error, all []merge.Difference) []merge.Difference {
	all = slices.DeleteFunc(slices.Clone(all), func(d merge.Difference) bool { return !isFaultIn(refused, d.Path) })
	fixed := slices.DeleteFunc(slices.Clone(all), func(d merge.Difference) bool { return isChangeable(refused, d.Path) })
	if len(fixed) == 0 {
		return all
	}
	return fixed
}

// sealedByOthers returns the fields by which others have made an object immutable: those beside a field at fault that aren't
// desired, and that the API server gives as the reason, such as `immutable` of a Secret. One that the builder itself has set
// is none of them.
func sealedByOthers(refused error, o merge.Objects) []fieldpath.Path {
	var all []fieldpath.Path
	for _, cause := range causesOf(refused) {
		names := merge.NamesOf(cause.Field)
		var around fieldpath.Path
		for _, name := range names[:max(0, len(names)-1)] {
			around = append(around, fieldpath.PathElement{FieldName: &name})
		}
		live, _ := valueAt(o.Live, around)
		fields, _ := live.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			path := append(slices.Clone(around), fieldpath.PathElement{FieldName: &name})
			_, isDesired := valueAt(o.Desired, path)
			if !isDesired && o.Others.Has(path) && slices.Contains(quotedIn(cause.Message), name) && !slices.ContainsFunc(all, path.Equals) {
				all = append(all, path)
			}
		}
	}
	return all
}

func byManager(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (by the field manager %q)", name)
}

// isFaultIn reports whether a field is among those that the API server found fault with, in one of them, or around one.
func isFaultIn(refused error, path fieldpath.Path) bool {
	names := merge.Names(path)
	return slices.ContainsFunc(causesOf(refused), func(c metav1.StatusCause) bool {
		fault := merge.NamesOf(c.Field)
		n := min(len(fault), len(names))
		return slices.Equal(fault[:n], names[:n])
	})
}

// quoted finds the fields that the API server names in a message: "updates to statefulset spec for fields other than
// 'replicas', 'template' are forbidden", "may not change fields other than `spec.tolerations`".
var quoted = regexp.MustCompile("['`]([^'`\\s]+)['`]")

func quotedIn(message string) []string {
	var all []string
	for _, match := range quoted.FindAllStringSubmatch(message, -1) {
		all = append(all, match[1])
	}
	return all
}

// isChangeable reports whether all that the API server says of the fields around one is that others can't be changed.
func isChangeable(refused error, path fieldpath.Path) bool {
	names := merge.Names(path)
	found := false
	for _, cause := range causesOf(refused) {
		fault := merge.NamesOf(cause.Field)
		if !startsWith(names, fault) {
			continue
		}
		_, exceptions, _ := strings.Cut(cause.Message, "other than")
		if !slices.ContainsFunc(quotedIn(exceptions), func(field string) bool {
			named := slices.DeleteFunc(merge.NamesOf(field), func(s string) bool { return s == "*" })
			return len(named) > 0 && (startsWith(names, named) || startsWith(names[len(fault):], named))
		}) {
			return false
		}
		found = true
	}
	return found
}

func startsWith(names, first []string) bool {
	return len(names) >= len(first) && slices.Equal(names[:len(first)], first)
}
