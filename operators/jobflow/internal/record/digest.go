package record

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Digest returns the hashes of the fields that a node is started with, as "dependencies=0a1b2c3d,jobTemplate=...", without fields that
// aren't set. Jobs have it as an annotation.
func Digest(node *v1alpha1.Flow) string {
	var fields []string
	add := func(name string, value any, set bool) {
		if !set {
			return
		}
		text, err := json.Marshal(value)
		if err != nil {
			return // a spec that was read from JSON has no such value
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

// HashDigest returns the hash of a digest for a [NodeDigest]: 0 if the digest is empty, and only then.
func HashDigest(digest string) uint32 {
	if digest == "" {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(digest))
	return max(mix(h.Sum32()), 1)
}

// ChangedFields returns the names of the fields in which two digests differ.
func ChangedFields(before, after string) []string {
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

// HashName returns the hash of a node's name for a [NodeDigest].
func HashName(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return mix(h.Sum32())
}

// mix spreads a hash over all of its bits: FNV's first ones hardly differ between names that differ in their last letter.
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
