package treecmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// most is how many of a kind are shown below one object one by one.
const most = 20

// shown is a branch, or a line for many.
type shown struct {
	branch branch
	folded string
}

// fold shows what is below an object: of a kind of which there are many, the failed ones, and the others as counts by state.
func fold(owned []branch, all bool) []shown {
	count := map[string]int{}
	for i := range owned {
		count[owned[i].Kind]++
	}
	var list []shown
	states := map[string]map[string]int{}
	for i := range owned {
		o := owned[i]
		if all || count[o.Kind] <= most || (o.health == bad && shownOf(list, o.Kind) < most) {
			list = append(list, shown{branch: o})
			continue
		}
		if states[o.Kind] == nil {
			states[o.Kind] = map[string]int{}
		}
		states[o.Kind][cmp.Or(o.State, "no state")]++
	}
	for _, kind := range slices.Sorted(maps.Keys(states)) {
		list = append(list, shown{folded: folded(kind, states[kind], shownOf(list, kind) > 0)})
	}
	return list
}

func shownOf(list []shown, kind string) int {
	n := 0
	for i := range list {
		if list[i].branch.Kind == kind {
			n++
		}
	}
	return n
}

// folded summarises many objects of a kind: "112 Jobs: 100 Complete, 12 Failed".
func folded(kind string, states map[string]int, isRest bool) string {
	names := slices.SortedFunc(maps.Keys(states), func(a, b string) int {
		return cmp.Or(cmp.Compare(states[b], states[a]), cmp.Compare(a, b))
	})
	total := 0
	var parts []string
	for _, state := range names {
		total += states[state]
		parts = append(parts, fmt.Sprintf("%d %s", states[state], state))
	}
	what := fmt.Sprintf("%d %ss", total, kind)
	if isRest {
		what = fmt.Sprintf("%d other %ss", total, kind)
	}
	return what + ": " + strings.Join(parts, "; ")
}
