package subset

import "reflect"

// containsMap compares maps: labels, annotations, data and resource lists are merged by key, selectors are one value.
func containsMap(desired, found reflect.Value, m merging) bool {
	if desired.Len() > found.Len() || (m.atomic && desired.Len() != found.Len()) {
		return false
	}
	if w, ok := reflect.TypeAssert[map[string]string](desired); ok {
		return containsStrings(w, found.Interface().(map[string]string))
	}
	for it := desired.MapRange(); it.Next(); {
		f := found.MapIndex(it.Key())
		if !f.IsValid() || !containsSet(it.Value(), f, m.inside(merging{})) {
			return false
		}
	}
	return true
}

// containsStrings is containsMap without reflection for the most common map.
func containsStrings(desired, found map[string]string) bool {
	for k, w := range desired {
		if f, ok := found[k]; !ok || f != w {
			return false
		}
	}
	return true
}
