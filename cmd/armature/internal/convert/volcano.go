package convert

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// templatesIn finds Volcano's JobTemplates: a JobFlow needs to know how many tasks each has.
func templatesIn(docs []*manifest.Document) references[field] {
	all := references[field]{}
	for _, doc := range docs {
		if gvk := doc.Object.GroupVersionKind(); gvk.Group == "flow.volcano.sh" && gvk.Kind == "JobTemplate" {
			all.add(doc.Object.GetNamespace(), doc.Object.GetName(), newSource(doc).root())
		}
	}
	return all
}

// volcanoFlow makes a JobFlow of Volcano's. Each of its flows runs the JobTemplate of its own name, as one Job for each task.
func volcanoFlow(root field, all references[field]) map[string]any {
	object, spec := newObject("JobFlow", root)
	templates := map[string]field{}
	jobs := map[string][]string{} // by Volcano's flow
	for _, flow := range root.get("spec", "flows").items() {
		name := flow.get("name").text()
		template, ok := all.find(root.source.doc.Object.GetNamespace(), name)
		if !ok {
			flow.source.note(flow.get("name").path, "the JobTemplate %q is in none of the files: it is taken to have one task; convert it too", name)
		}
		templates[name], jobs[name] = template, taskNames(name, template)
	}
	var flows []any
	for _, flow := range root.get("spec", "flows").items() {
		name, _ := flow.get("name").value.(string)
		dependencies, when := volcanoDependencies(flow, jobs)
		own := patchedJobs(flow, templates[name], jobs[name])
		for _, job := range jobs[name] {
			node := map[string]any{"name": job, "jobTemplateRef": job}
			if spec, ok := own[job]; ok {
				node = map[string]any{"name": job, "jobTemplate": spec}
			}
			if len(dependencies) > 0 {
				node["dependencies"] = anys(dependencies)
			}
			if when != "" {
				node["when"] = when
			}
			flows = append(flows, node)
		}
	}
	spec["flows"] = flows
	switch policy := root.get("spec", "jobRetainPolicy"); policy.text() {
	case "delete": // Volcano deletes the Jobs of flows that have succeeded
		policy.source.note(policy.path, "the Jobs that failed are kept, also those of a flow that goes on after them; "+
			"of a flow that failed, those that succeeded are deleted")
		spec["jobRetention"] = "Failed"
	case "retain", "":
	default:
		policy.drop("want retain or delete, found %v", policy.value)
	}
	return object
}

// taskNames returns what the Jobs of a JobTemplate's tasks are called: like the template if there is only one.
func taskNames(name string, template field) []string {
	var names []string
	tasks := template.get("spec", "tasks").items()
	for i, task := range tasks {
		if len(tasks) == 1 {
			break
		}
		of, _ := task.get("name").value.(string)
		if of == "" {
			of = fmt.Sprint(i)
		}
		names = append(names, name+"-"+of)
	}
	if len(names) == 0 {
		return []string{name}
	}
	return names
}

// volcanoDependencies returns what a flow waits for, and on what condition it then starts if that isn't the success of all.
func volcanoDependencies(flow field, jobs map[string][]string) (names []string, when string) {
	on := flow.get("dependsOn")
	for _, target := range on.get("targets").strings() {
		names = append(names, known(jobs, target)...)
	}
	var terms []string
	special := false
	for _, name := range names {
		terms = append(terms, outcome(name, "succeeded"))
	}
	for _, target := range on.get("targetsWithStatus").items() {
		targets, phase := known(jobs, target.get("name").text()), target.get("phase")
		names = append(names, targets...)
		how := "succeeded"
		switch phase.text() {
		case "", "Completed":
		case "Failed", "Aborted", "Terminated":
			how, special = "failed", true
		default:
			phase.drop("a flow can wait for success (Completed) or failure (Failed) of others; it waits for success")
		}
		terms = append(terms, together(targets, how))
	}
	on.get("probe").drop("a flow starts when those before it have ended; it can't wait for a port or for pods that run")
	slices.Sort(names)
	names = slices.Compact(names)
	if special {
		when = strings.Join(terms, " && ")
	}
	return names, when
}

// together is the condition that a flow of several Jobs has succeeded: that all have; or failed: that one has.
func together(jobs []string, how string) string {
	var terms []string
	for _, name := range jobs {
		terms = append(terms, outcome(name, how))
	}
	if how == "failed" && len(terms) > 1 {
		return "(" + strings.Join(terms, " || ") + ")"
	}
	return strings.Join(terms, " && ")
}

// known returns the Jobs of a flow; of one that isn't there the name, so that lint finds it.
func known(jobs map[string][]string, flow string) []string {
	if of, ok := jobs[flow]; ok {
		return of
	}
	return []string{flow}
}

var identifier = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// outcome is a term of when: jobs.a.succeeded.
func outcome(name, how string) string {
	if !identifier.MatchString(name) {
		return fmt.Sprintf("jobs[%q].%s", name, how)
	}
	return fmt.Sprintf("jobs.%s.%s", name, how)
}

func anys(names []string) []any {
	var all []any
	for _, name := range names {
		all = append(all, name)
	}
	return all
}
