package convert

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// patchedJobs returns the Jobs of a flow whose patch changes its template, by their names; nil if there is no such patch.
func patchedJobs(flow field, template field, names []string) map[string]map[string]any {
	patch := flow.get("patch", "jobSpec")
	if len(patch.keys()) == 0 {
		flow.get("patch").take()
		return nil
	}
	if !template.has() {
		flow.get("patch").drop("its JobTemplate is in none of the files: give them together, so that there is a jobTemplate as it is patched")
		return nil
	}
	flow.source.note(patch.path, "the flow has a jobTemplate of its own, as it is patched: it no longer follows the JobTemplate")
	of := template.source.doc
	whole, _ := runtime.DeepCopyJSONValue(of.Object.Object).(map[string]any)
	whole["spec"] = patched(whole["spec"], patch.take())
	doc := &manifest.Document{}
	*doc = *of
	doc.Object = of.Object.DeepCopy()
	doc.Object.Object = whole
	src := newSource(doc)
	root := src.root()
	for _, name := range []string{"apiVersion", "kind", "status", "metadata"} {
		root.get(name).take()
	}
	volcanoPolicies(root.get("spec"))
	jobs := map[string]map[string]any{}
	for i, task := range root.get("spec", "tasks").items() {
		if i == len(names) {
			flow.source.note(patch.get("tasks").path, "the tasks that it adds aren't carried over: add them to the JobTemplate")
			break
		}
		jobs[names[i]] = volcanoJob(root.get("spec"), task)
	}
	src.rest()
	for _, name := range patch.keys() { // the template's own document reports its fields
		for _, n := range src.notes {
			if n.Path == "spec."+name {
				flow.source.note(patch.get(name).path, "%s", n.Text)
			}
		}
	}
	return jobs
}

// patched returns a value with another put over it: objects by their fields, tasks by their names, all else as a whole.
func patched(value, with any) any {
	switch with := with.(type) {
	case map[string]any:
		object, ok := value.(map[string]any)
		if !ok {
			return with
		}
		for _, name := range sortedKeys(with) {
			object[name] = patched(object[name], with[name])
		}
		return object
	case []any:
		list, _ := value.([]any)
		named := func(v any) any { of, _ := v.(map[string]any); return of["name"] }
		for _, item := range with {
			i := slices.IndexFunc(list, func(v any) bool { return named(v) != nil && named(v) == named(item) })
			if named(item) == nil {
				return with
			}
			if i < 0 {
				list = append(list, item)
				continue
			}
			list[i] = patched(list[i], item)
		}
		return list
	default:
		return with
	}
}
