package delta

import "reflect"

// MergePatch returns the JSON merge patch (RFC 7396) from before to after, empty if nothing differs. It replaces lists as a whole. The
// patch shares values with after. Numbers keep their type: a change of an int64 above 2^53 by one is in the patch.
// jsonpatch.CreateMergePatch loses it, because it decodes all numbers as float64.
func MergePatch(before, after map[string]any) map[string]any {
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
		} else if inner := MergePatch(oldMap, newMap); len(inner) > 0 {
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
