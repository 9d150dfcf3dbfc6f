package diagnose

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// isAllowed reports whether an object is a failed Job of a node with allowFailure, which is not a problem of the flow.
func isAllowed(o, parent *Object) bool {
	if parent == nil || !parent.is("JobFlow") || o.job == nil || !HasFailed(o) {
		return false
	}
	for _, field := range []string{"flows", "finally"} {
		nodes, _, _ := unstructured.NestedSlice(parent.Object, "spec", field)
		for _, n := range nodes {
			node, _ := n.(map[string]any)
			if node["name"] == o.GetLabels()["api.practice.com/flow"] && node["allowFailure"] == true {
				return true
			}
		}
	}
	return false
}
