package jobflow

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// digest tells what a node was started as: hashes of its fields, as "dependencies=0a1b2c3d,jobTemplate=...". Fields that
// aren't set are left out. Jobs have it as an annotation.
func digest(node *v1alpha1.Flow) string {
	var fields []string
	add := func(name string, value any, set bool) {
		if !set {
			return
		}
		text, err := json.Marshal(value)
		if err != nil {
			return // there is no such value in a spec that was read from JSON
		}
		h := fnv.New32a()
		h.Write(text)
		fields = append(fields, fmt.Sprintf("%s=%08x", name, mix(h.Sum32())))
	}
	add("dependencies", node.Dependencies, len(node.Dependencies) > 0)
	add("when", node.When, node.When != "")
	add("inputs", node.Inputs, len(node.Inputs) > 0)
	if each := node.ForEach; each != nil { // maxParallel may be changed at any time
		add("forEach", [2]any{each.Items, each.FromOutput}, true)
	}
	add("jobTemplate", node.JobTemplate, node.JobTemplate != nil)
	add("jobTemplateRef", node.JobTemplateRef, node.JobTemplateRef != "")
	add("shareVolumeMounts", node.ShareVolumeMounts, len(node.ShareVolumeMounts) > 0)
	return strings.Join(fields, ",")
}

// specHash is a digest as marks have it. 0 is that of none.
func specHash(digest string) uint32 {
	if digest == "" {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(digest))
	return max(mix(h.Sum32()), 1)
}

// changedFields returns the names of the fields in which two digests differ.
func changedFields(before, after string) []string {
	was, is := strings.Split(before, ","), strings.Split(after, ",")
	var changed []string
	note := func(fields, others []string) {
		for _, f := range fields {
			name, _, _ := strings.Cut(f, "=")
			if name != "" && !slices.Contains(others, f) && !slices.Contains(changed, name) {
				changed = append(changed, name)
			}
		}
	}
	note(was, is)
	note(is, was)
	return changed
}
