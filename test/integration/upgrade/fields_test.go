//go:build e2e

package upgrade

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

type runtimeObject = runtime.Object

var step = regexp.MustCompile(`[^.\[\]]+|\[[^\]]*\]`)

// at returns the value at a path of a preview, such as spec.ports[port=8050,protocol=TCP].name or data["a.b"]; nil if there is none.
func at(value any, path string) any {
	for _, s := range step.FindAllString(path, -1) {
		switch v := value.(type) {
		case map[string]any:
			value = v[strings.Trim(s, `[]"`)]
		case []any:
			value = nil
			for i, element := range v {
				if s == fmt.Sprintf("[%d]", i) || hasKeys(element, strings.Trim(s, "[]")) {
					value = element
				}
			}
		default:
			return nil
		}
	}
	return value
}

func hasKeys(element any, keys string) bool {
	fields, ok := element.(map[string]any)
	if !ok || !strings.Contains(keys, "=") {
		return false
	}
	for key := range strings.SplitSeq(keys, ",") {
		name, value, _ := strings.Cut(key, "=")
		if fmt.Sprint(fields[name]) != value {
			return false
		}
	}
	return true
}
