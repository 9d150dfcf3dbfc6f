package family

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// flowLabel is the label of a flow's Jobs for the name that their node has in the JobFlow.
const flowLabel = "api.practice.com/flow"

// sort orders what an object owns: the Jobs of a JobFlow as its spec has their nodes, all else by age.
func (m *Member) sort() {
	if m.GroupVersionKind().GroupKind() != ours("JobFlow") {
		slices.SortFunc(m.Owned, byAge)
		return
	}
	place := map[string]int{}
	for _, list := range []string{"flows", "finally"} {
		nodes, _, _ := unstructured.NestedSlice(m.Object, "spec", list)
		for _, node := range nodes {
			if n, ok := node.(map[string]any); ok {
				name, _, _ := unstructured.NestedString(n, "name")
				place[name] = len(place)
			}
		}
	}
	at := func(job *Member) int {
		if i, ok := place[job.GetLabels()[flowLabel]]; ok {
			return i
		}
		return len(place) // it has been taken out of the spec
	}
	slices.SortFunc(m.Owned, func(a, b *Member) int { return cmp.Or(cmp.Compare(at(a), at(b)), byAge(a, b)) })
}

func byAge(a, b *Member) int {
	older := a.GetCreationTimestamp()
	return cmp.Or(older.Compare(b.GetCreationTimestamp().Time), cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.GetName(), b.GetName()))
}
