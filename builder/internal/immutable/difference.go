package immutable

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/merge"
	"github.com/armature-dev/armature/builder/internal/subset"
)

// Difference is a field in which an object differs from the desired one.
type Difference struct {
	Path           string
	desired, found any
	known          bool // whether the values are known, and not secret
}

// String formats the field as "path (is found, desired value)", or as the path alone if its values are unknown or secret.
func (d Difference) String() string {
	if !d.known {
		return d.Path
	}
	return fmt.Sprintf("%s (is %s, desired %s)", d.Path, shown(d.found), shown(d.desired))
}

// shown renders a short value.
func shown(value any) string {
	const limit = 64
	const mark = "…"
	switch value.(type) {
	case nil:
		return "unset"
	case map[string]any, []any:
		return "another"
	}
	text := fmt.Sprintf("%q", fmt.Sprint(value))
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(mark)], "") + mark
}

// Differences returns the fields that the API server refuses to change, each once. The API server names some of them, and for others
// only the parent ("spec": all but some); a comparison finds these. It omits the values of a secret object. found may be nil. The
// result is for people to read: no decision depends on it.
func Differences(causes []metav1.StatusCause, desired, found map[string]any, secret bool) []Difference {
	const limit = 4
	var all []Difference
	for _, cause := range causes {
		var diffs []Difference
		path := cause.Field
		if isWhole(cause) {
			path = "the object"
			diffs = wholeDifferences(desired, found)
		} else if field, desiredIn, ok := at(desired, cause.Field); ok && found != nil {
			_, foundIn, _ := at(found, cause.Field)
			diffs = differences(field, desiredIn, foundIn)
			diffs = slices.DeleteFunc(diffs, func(d Difference) bool { // "fields other than 'replicas', 'template' ..."
				name, _, _ := strings.Cut(strings.TrimPrefix(d.Path, field+"."), ".")
				return d.Path != field && strings.Contains(cause.Message, "'"+name+"'")
			})
		}
		if len(diffs) == 0 || len(diffs) > limit {
			diffs = []Difference{{Path: path}}
		}
		for _, d := range diffs {
			d.known = d.known && !secret
			if !slices.ContainsFunc(all, func(o Difference) bool { return o.Path == d.Path }) {
				all = append(all, d)
			}
		}
	}
	return all
}

// isWhole reports whether the API server refused the object as a whole, as a rule at the root of a custom resource's schema does.
func isWhole(cause metav1.StatusCause) bool { return len(merge.NamesOf(cause.Field)) == 0 }

// wholeDifferences lists the fields in which an object differs from the desired one, except the metadata, of which such a rule knows
// only the name.
func wholeDifferences(desired, found map[string]any) []Difference {
	var all []Difference
	for _, name := range slices.Sorted(maps.Keys(desired)) {
		if found != nil && !slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			all = append(all, differences(name, desired[name], found[name])...)
		}
	}
	return all
}

// at returns the value at a field path of the API server, as far as the path leads through maps, and that part of the path.
func at(fields map[string]any, path string) (reached string, value any, ok bool) {
	value = fields
	for name := range strings.SplitSeq(path, ".") {
		in, isMap := value.(map[string]any)
		if !isMap {
			return reached, value, true
		}
		name, _, inList := strings.Cut(name, "[")
		value, ok = in[name]
		reached = strings.TrimPrefix(reached+"."+name, ".")
		if !ok {
			return reached, nil, false
		}
		if inList {
			break
		}
	}
	return reached, value, true
}

// differences lists the fields in which found differs from desired.
func differences(path string, desired, found any) []Difference {
	if subset.Untyped(desired, found) {
		return nil
	}
	d, isMap := desired.(map[string]any)
	f, both := found.(map[string]any)
	if !isMap || !both {
		return []Difference{{Path: path, desired: desired, found: found, known: true}}
	}
	var all []Difference
	for _, name := range slices.Sorted(maps.Keys(d)) {
		all = append(all, differences(path+"."+name, d[name], f[name])...)
	}
	if len(all) == 0 { // a selector with more terms
		return []Difference{{Path: path, desired: desired, found: found, known: true}}
	}
	return all
}
