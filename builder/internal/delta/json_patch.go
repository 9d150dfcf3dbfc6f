package delta

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Operation is one of a JSON patch (RFC 6902).
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// JSONPatch returns the operations from one object to another, in small steps. It doesn't touch equal values, or values that a client's
// older Go types don't know. It replaces a list of another length.
func JSONPatch(before, after map[string]any) []Operation { return jsonPatch("", before, after) }

func jsonPatch(at string, before, after any) []Operation {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	was, wasMap := before.(map[string]any)
	is, isMap := after.(map[string]any)
	if wasMap && isMap {
		return jsonPatchMap(at, was, is)
	}
	wasList, _ := before.([]any)
	isList, _ := after.([]any)
	if wasList == nil || len(wasList) != len(isList) {
		return []Operation{{"replace", at, after}}
	}
	var all []Operation
	for i := range wasList {
		all = append(all, jsonPatch(at+"/"+strconv.Itoa(i), wasList[i], isList[i])...)
	}
	return all
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")

func jsonPatchMap(at string, before, after map[string]any) []Operation {
	var all []Operation
	for _, name := range slices.Sorted(maps.Keys(before)) {
		to := at + "/" + pointer.Replace(name)
		if now, ok := after[name]; ok {
			all = append(all, jsonPatch(to, before[name], now)...)
		} else if before[name] != nil {
			all = append(all, Operation{Op: "remove", Path: to})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[name]; !ok {
			all = append(all, Operation{"add", at + "/" + pointer.Replace(name), after[name]})
		}
	}
	return all
}
