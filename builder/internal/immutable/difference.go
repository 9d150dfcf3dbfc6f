package immutable

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/merge"
	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/subset"
	"github.com/armature-dev/armature/internal/text"
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
	return fmt.Sprintf("%s (is %s, desired %s)", d.Path, shown(d.found, d.desired), shown(d.desired, d.found))
}

// shown renders a short value beside another one.
func shown(value, beside any) string {
	const limit = 64
	switch value.(type) {
	case nil:
		return "unset"
	case map[string]any, []any:
		if beside == nil {
			return "set"
		}
		return "another"
	}
	return text.Shorten(fmt.Sprintf("%q", fmt.Sprint(value)), limit)
}

// Differences returns the fields that the API server refuses to change, each once: those of all differences that are in a field that it
// names. Some causes name only a parent ("spec: all but some"), or no field of the kind; if no difference is in that, or too many are, it
// returns the name in the cause. It omits the values of a secret object. The result is for people to read: no decision depends on it.
func Differences(causes []metav1.StatusCause, o merge.Objects, all []merge.Difference, secret bool) []Difference {
	const limit = 4
	var refused []Difference
	for _, cause := range causes {
		var diffs []Difference
		faults := faultsIn([]metav1.StatusCause{cause}, all)
		if within := slices.DeleteFunc(slices.Clone(faults), func(d merge.Difference) bool {
			return !startsWith(merge.Names(d.Path), merge.NamesOf(cause.Field))
		}); len(within) > 0 {
			faults = within // an element that is added or removed isn't one whose field the cause names
		}
		for _, d := range faults {
			desired, _ := paths.At(o.Desired, d.Path)
			found, _ := paths.At(o.Live, d.Path)
			diffs = append(diffs, differences(paths.Text(d.Path), desired, found)...)
		}
		switch {
		case len(diffs) > 0 && len(diffs) <= limit:
		case isWhole(cause):
			diffs = []Difference{{Path: "the object"}}
		default:
			diffs = []Difference{{Path: cause.Field}}
		}
		for _, d := range diffs {
			d.known = d.known && !secret
			if !slices.ContainsFunc(refused, func(o Difference) bool { return o.Path == d.Path }) {
				refused = append(refused, d)
			}
		}
	}
	return refused
}

// isWhole reports whether the API server refused the object as a whole, as a rule at the root of a custom resource's schema does.
func isWhole(cause metav1.StatusCause) bool { return len(merge.NamesOf(cause.Field)) == 0 }

// differences lists the fields in which found differs from desired. A nil desired value is to be removed.
func differences(path string, desired, found any) []Difference {
	if desired != nil && subset.Untyped(desired, found) {
		return nil
	}
	d, isMap := desired.(map[string]any)
	f, both := found.(map[string]any)
	var all []Difference
	if isMap && both {
		for _, name := range slices.Sorted(maps.Keys(d)) {
			all = append(all, differences(path+"."+name, d[name], f[name])...)
		}
	}
	if len(all) == 0 { // no maps, or a selector with more terms
		return []Difference{{Path: path, desired: desired, found: found, known: true}}
	}
	return all
}
