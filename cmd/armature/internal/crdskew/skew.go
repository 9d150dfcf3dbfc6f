// Package crdskew finds the CRDs that are older than a program needs.
//
// There is no number to compare: what counts is whether the API server would keep what the program writes. A CRD is older
// than another if it lacks a version, a subresource, a field or a value of an enumeration that the other one has.
package crdskew

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Missing returns what a CRD lacks of another: names such as "v1alpha1 spec.flows[].when", sorted. Of a field that is
// missing those below it aren't named. Versions that aren't served don't count.
func Missing(have, want *unstructured.Unstructured) []string {
	served := map[string]map[string]any{}
	for _, v := range versions(have) {
		served[name(v)] = v
	}
	var missing []string
	for _, v := range versions(want) {
		has, ok := served[name(v)]
		if !ok {
			missing = append(missing, "version "+name(v))
			continue
		}
		for subresource := range child(v, "subresources") {
			if _, ok := child(has, "subresources")[subresource]; !ok {
				missing = append(missing, name(v)+" subresource "+subresource)
			}
		}
		for _, path := range missingBelow("", schemaOf(has), schemaOf(v)) {
			missing = append(missing, name(v)+" "+path)
		}
	}
	slices.Sort(missing)
	return missing
}

// Summary names the first few of many.
func Summary(missing []string) string {
	const few = 3
	if len(missing) <= few {
		return strings.Join(missing, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(missing[:few], ", "), len(missing)-few)
}

// versions returns the versions that are served.
func versions(crd *unstructured.Unstructured) []map[string]any {
	all, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var served []map[string]any
	for _, v := range all {
		if version, ok := v.(map[string]any); ok && version["served"] == true {
			served = append(served, version)
		}
	}
	return served
}

func name(version map[string]any) string {
	s, _ := version["name"].(string)
	return s
}

func schemaOf(version map[string]any) map[string]any {
	return child(child(version, "schema"), "openAPIV3Schema")
}

func child(m map[string]any, key string) map[string]any {
	c, _ := m[key].(map[string]any)
	return c
}

// missingBelow compares two schemas of the value at a path.
func missingBelow(path string, have, want map[string]any) []string {
	const keepsAll = "x-kubernetes-preserve-unknown-fields"
	if have[keepsAll] == true {
		return nil
	}
	if want[keepsAll] == true {
		return []string{strings.TrimPrefix(path+".*", ".")}
	}
	missing := missingValues(path, have, want)
	has := child(have, "properties")
	for field, schema := range child(want, "properties") {
		at := strings.TrimPrefix(path+"."+field, ".")
		hasField, ok := has[field].(map[string]any)
		if !ok {
			missing = append(missing, at)
			continue
		}
		missing = append(missing, missingBelow(at, hasField, schema.(map[string]any))...)
	}
	for key, suffix := range map[string]string{"items": "[]", "additionalProperties": "[*]"} {
		below := child(want, key)
		if below == nil {
			continue
		}
		hasBelow := child(have, key)
		if hasBelow == nil {
			missing = append(missing, path+suffix)
			continue
		}
		missing = append(missing, missingBelow(path+suffix, hasBelow, below)...)
	}
	return missing
}

// missingValues returns the values of an enumeration that would be refused.
func missingValues(path string, have, want map[string]any) []string {
	allowed, limited := have["enum"].([]any)
	if !limited {
		return nil
	}
	values, _ := want["enum"].([]any)
	var missing []string
	for _, v := range values {
		if !slices.Contains(allowed, v) {
			missing = append(missing, fmt.Sprintf("%s=%v", path, v))
		}
	}
	return missing
}
