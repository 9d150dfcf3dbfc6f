package builder

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/builder/internal/subset"
)

// difference is a field in which an object isn't as it is wanted.
type difference struct {
	path          string
	wanted, found any
	known         bool // whether the values are, and may be told
}

// String says what is there, which would be accepted, and what is wanted.
func (d difference) String() string {
	if !d.known {
		return d.path
	}
	return fmt.Sprintf("%s (is %s, wanted %s)", d.path, told(d.found), told(d.wanted))
}

// told renders a value, if it is a short one.
func told(value any) string {
	const most = 64
	switch value.(type) {
	case nil:
		return "unset"
	case map[string]any, []any:
		return "another"
	}
	return shorten(fmt.Sprintf("%q", fmt.Sprint(value)), most)
}

// refusedDifferences returns the fields that the API server refuses to change. It names some of them itself, others
// only by what they are in ("spec": all but some); these are found by a comparison. This is for people to read: nothing
// is decided by it.
func (w *write) refusedDifferences(refused error) []difference {
	const most = 4
	wanted := w.desired.fields
	found, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.found)
	if err != nil {
		found = nil
	}
	secret := w.desired.key.Group == "" && w.desired.key.Kind == "Secret"
	var all []difference
	for _, cause := range causesOf(refused) {
		var diffs []difference
		if field, wantedIn, ok := at(wanted, cause.Field); ok && found != nil {
			_, foundIn, _ := at(found, cause.Field)
			diffs = differences(field, wantedIn, foundIn)
			diffs = slices.DeleteFunc(diffs, func(d difference) bool { // "fields other than 'replicas', 'template' ..."
				name, _, _ := strings.Cut(strings.TrimPrefix(d.path, field+"."), ".")
				return d.path != field && strings.Contains(cause.Message, "'"+name+"'")
			})
		}
		if len(diffs) == 0 || len(diffs) > most {
			diffs = []difference{{path: cause.Field}}
		}
		for _, d := range diffs {
			d.known = d.known && !secret
			if !slices.ContainsFunc(all, func(o difference) bool { return o.path == d.path }) {
				all = append(all, d)
			}
		}
	}
	return all
}

// at returns the value at a field path of the API server, as far as it leads through maps, and the path to there.
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

// differences lists the fields in which found isn't as wanted.
func differences(path string, wanted, found any) []difference {
	if subset.Untyped(wanted, found) {
		return nil
	}
	w, isMap := wanted.(map[string]any)
	f, both := found.(map[string]any)
	if !isMap || !both {
		return []difference{{path: path, wanted: wanted, found: found, known: true}}
	}
	var all []difference
	for _, name := range slices.Sorted(maps.Keys(w)) {
		all = append(all, differences(path+"."+name, w[name], f[name])...)
	}
	if len(all) == 0 { // a selector with more terms
		return []difference{{path: path, wanted: wanted, found: found, known: true}}
	}
	return all
}
