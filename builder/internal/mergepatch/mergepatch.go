package mergepatch

import (
	"reflect"
)

// Between returns the patch from before to after, empty if nothing differs. It replaces lists as a whole. The patch shares values with
// after.
func Between(before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for name, old := range before {
		value, ok := after[name]
		if !ok {
			patch[name] = nil
			continue
		}
		oldMap, _ := old.(map[string]any)
		newMap, _ := value.(map[string]any)
		if oldMap == nil || newMap == nil {
			if !reflect.DeepEqual(old, value) {
				patch[name] = value
			}
		} else if inner := Between(oldMap, newMap); len(inner) > 0 {
			patch[name] = inner
		}
	}
	for name, value := range after {
		if _, ok := before[name]; !ok {
			patch[name] = value
		}
	}
	return patch
}
