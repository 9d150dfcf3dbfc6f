package immutable

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/merge"
	"github.com/armature-dev/armature/builder/internal/paths"
)

// ByOthers returns the fields that other writers have changed and that the API server refuses to change back. isOurs is true if only
// the builder changes the refused fields, and the refusal may be about a change. With withDesired, for a new desired state, package merge
// decides which differences are another writer's; without it all are, because the builder restores what it had applied.
func ByOthers(
	causes []metav1.StatusCause, o merge.Objects, all []merge.Difference, withDesired bool,
) (theirs []fieldpath.Path, isOurs bool) {
	theirs = sealedByOthers(causes, o)
	for _, d := range faultsIn(causes, all) {
		if d.Theirs || !withDesired {
			theirs = append(theirs, d.Path)
		}
	}
	return theirs, withDesired && len(theirs) == 0 && MayBe(causes)
}

// MayBe reports whether a refusal may say that a field can't be changed. A name that isn't found and a value that is there twice are
// about the object as it would be. A new object would be valid, so fields of other writers are behind those. A value of a wrong type is
// what an apply leaves of a map that it empties, and hides the rules of the schema.
func MayBe(causes []metav1.StatusCause) bool {
	return !apistatus.AreAboutTypes(causes) && slices.ContainsFunc(causes, func(cause metav1.StatusCause) bool {
		return cause.Type != metav1.CauseTypeFieldValueNotFound && cause.Type != metav1.CauseTypeFieldValueDuplicate
	})
}

// faultsIn returns the differences that the API server refused. A difference that its message calls changeable is among them only if
// there is no other one: then the change has a condition, such as that tolerations may only be added.
func faultsIn(causes []metav1.StatusCause, all []merge.Difference) []merge.Difference {
	all = slices.DeleteFunc(slices.Clone(all), func(d merge.Difference) bool { return !isFaultIn(causes, d.Path) })
	fixed := slices.DeleteFunc(slices.Clone(all), func(d merge.Difference) bool { return isChangeable(causes, d.Path) })
	if len(fixed) == 0 {
		return all
	}
	return fixed
}

// sealedByOthers returns the fields by which other writers have made an object immutable: undesired fields beside a refused one that
// the API server gives as the reason, such as `immutable` of a Secret. It omits fields that the builder itself has set.
func sealedByOthers(causes []metav1.StatusCause, o merge.Objects) []fieldpath.Path {
	var all []fieldpath.Path
	for _, cause := range causes {
		names := merge.NamesOf(cause.Field)
		var around fieldpath.Path
		for _, name := range names[:max(0, len(names)-1)] {
			around = append(around, fieldpath.PathElement{FieldName: &name})
		}
		live, _ := paths.At(o.Live, around)
		fields, _ := live.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			path := append(slices.Clone(around), fieldpath.PathElement{FieldName: &name})
			_, isDesired := paths.At(o.Desired, path)
			if !isDesired && o.Others.Has(path) && slices.Contains(quotedIn(cause.Message), name) && !slices.ContainsFunc(all, path.Equals) {
				all = append(all, path)
			}
		}
	}
	return all
}

// isFaultIn reports whether a field is a refused one, or a child or a parent of one.
func isFaultIn(causes []metav1.StatusCause, path fieldpath.Path) bool {
	names := merge.Names(path)
	return slices.ContainsFunc(causes, func(c metav1.StatusCause) bool {
		if isWhole(c) {
			return len(names) > 0 && names[0] != "metadata"
		}
		fault := merge.NamesOf(c.Field)
		n := min(len(fault), len(names))
		return slices.Equal(fault[:n], names[:n])
	})
}

// quoted matches the fields that the API server names in a message: "updates to statefulset spec for fields other than 'replicas',
// 'template' are forbidden", "may not change fields other than `spec.tolerations`".
var quoted = regexp.MustCompile("['`]([^'`\\s]+)['`]")

func quotedIn(message string) []string {
	var all []string
	for _, match := range quoted.FindAllStringSubmatch(message, -1) {
		all = append(all, match[1])
	}
	return all
}

// isChangeable reports whether the API server only says, of the fields around one, that other fields can't be changed.
func isChangeable(causes []metav1.StatusCause, path fieldpath.Path) bool {
	names := merge.Names(path)
	found := false
	for _, cause := range causes {
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
