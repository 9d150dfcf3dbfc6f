package buildertest

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// dropAllocated removes the values of a Service that the server has chosen, because they depend on earlier choices: its addresses and
// node ports, except those that a client requested.
func dropAllocated(u *unstructured.Unstructured) {
	if u.GetKind() != "Service" || u.GetAPIVersion() != "v1" {
		return
	}
	asked := func(field string) bool {
		for _, entry := range u.GetManagedFields() {
			raw, err := json.Marshal(entry.FieldsV1)
			if err != nil || strings.Contains(string(raw), `"f:`+field+`"`) {
				return true
			}
		}
		return false
	}
	spec, _ := u.Object["spec"].(map[string]any)
	if ip, _ := spec["clusterIP"].(string); ip != "" && ip != "None" && !asked("clusterIP") {
		spec["clusterIP"] = "(allocated)"
		delete(spec, "clusterIPs")
	}
	if spec["healthCheckNodePort"] != nil && !asked("healthCheckNodePort") {
		spec["healthCheckNodePort"] = "(allocated)"
	}
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		if port, _ := p.(map[string]any); port["nodePort"] != nil && !asked("nodePort") {
			port["nodePort"] = "(allocated)"
		}
	}
}
