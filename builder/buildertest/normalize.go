package buildertest

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// RemoveCondition removes a condition from an object's status, for [Scenario.Normalize]: such as Suspended, which records that the object
// was suspended once. It does nothing if there is none.
func RemoveCondition(obj *unstructured.Unstructured, conditionType string) {
	conditions, found, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	if !found {
		return
	}
	conditions = slices.DeleteFunc(conditions, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == conditionType
	})
	_ = unstructured.SetNestedSlice(obj.Object, conditions, "status", "conditions") // it was a slice
}
