package delta

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
)

// Change is a field that two objects differ in.
type Change struct {
	// Path is the field's path: spec.template.spec.containers[name=web].image, data["tls.crt"].
	Path string
	// Old and New are the field's values as decoded from JSON; nil if the field isn't set.
	Old, New any
	// ByServer is true if New isn't what an apply asked for: the API server's admission or defaults set it, or it writes it in another
	// way. Only package apply sets it.
	ByServer bool
}

// Between returns the differences between two objects, ordered by path. It lists a value that only one object has down to its leaves.
// It pairs the elements of lists of objects by a key that identifies them, if there is one; a list of plain values is one field.
func Between(before, after map[string]any) []Change {
	var c changes
	c.maps("", before, after)
	return c
}

type changes []Change

func (c *changes) values(path string, before, after any) {
	oldMap, oldIsMap := before.(map[string]any)
	newMap, newIsMap := after.(map[string]any)
	oldList, oldIsList := before.([]any)
	newList, newIsList := after.([]any)
	switch {
	case (oldIsMap || before == nil) && (newIsMap || after == nil) && len(oldMap)+len(newMap) > 0:
		c.maps(path, oldMap, newMap)
	case (oldIsList || before == nil) && (newIsList || after == nil) && ofMaps(oldList, newList):
		c.lists(path, oldList, newList)
	case !reflect.DeepEqual(before, after):
		*c = append(*c, Change{Path: path, Old: before, New: after})
	}
}

func (c *changes) maps(path string, before, after map[string]any) {
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c.values(Join(path, name), before[name], after[name])
	}
}

func (c *changes) lists(path string, before, after []any) {
	key := keyOf(before, after)
	if key == "" {
		for i := range max(len(before), len(after)) {
			c.values(fmt.Sprintf("%s[%d]", path, i), at(before, i), at(after, i))
		}
		return
	}
	find := func(list []any, value any) any {
		for _, element := range list {
			if element.(map[string]any)[key] == value {
				return element
			}
		}
		return nil
	}
	for _, element := range before {
		value := element.(map[string]any)[key]
		c.values(fmt.Sprintf("%s[%s=%v]", path, key, value), element, find(after, value))
	}
	for _, element := range after {
		if value := element.(map[string]any)[key]; find(before, value) == nil {
			c.values(fmt.Sprintf("%s[%s=%v]", path, key, value), nil, element)
		}
	}
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// ofMaps reports whether lists have elements, all of them objects.
func ofMaps(lists ...[]any) bool {
	n := 0
	for _, list := range lists {
		for _, element := range list {
			if _, ok := element.(map[string]any); !ok {
				return false
			}
			n++
		}
	}
	return n > 0
}

// keys are the fields that identify elements of Kubernetes' lists, the most specific first.
var keys = []string{"name", "mountPath", "devicePath", "containerPort", "port", "key", "type", "uid", "ip", "topologyKey"}

// keyOf returns the first key that each element has and whose values are unique in each list.
func keyOf(lists ...[]any) string {
	for _, key := range keys {
		if isKey(key, lists) {
			return key
		}
	}
	return ""
}

func isKey(key string, lists [][]any) bool {
	for _, list := range lists {
		seen := map[any]bool{}
		for _, element := range list {
			value := element.(map[string]any)[key]
			if value == nil || !reflect.TypeOf(value).Comparable() || seen[value] {
				return false
			}
			seen[value] = true
		}
	}
	return true
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Join appends a field to a path as people read it.
func Join(path, name string) string {
	switch {
	case !plain.MatchString(name):
		return fmt.Sprintf("%s[%q]", path, name)
	case path == "":
		return name
	default:
		return path + "." + name
	}
}
