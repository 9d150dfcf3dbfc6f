package inventory

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Kinds is a set of kinds. Nil is the empty set.
type Kinds = sets.Set[schema.GroupKind]

// ParseKinds returns the kinds in a text of FormatKinds. It ignores invalid entries.
func ParseKinds(text string) Kinds {
	if text == "" {
		return nil
	}
	known := Kinds{}
	for name := range strings.SplitSeq(text, ",") {
		if gk := schema.ParseGroupKind(strings.TrimSpace(name)); gk.Kind != "" {
			known.Insert(gk)
		}
	}
	return known
}

// FormatKinds writes kinds as ApplySets do: "ConfigMap,Deployment.apps".
func FormatKinds(kinds Kinds) string {
	var names []string
	for gk := range kinds {
		names = append(names, gk.String())
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// SortedKinds returns kinds in a fixed order.
func SortedKinds(kinds Kinds) []schema.GroupKind {
	return slices.SortedFunc(maps.Keys(kinds), func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
}
