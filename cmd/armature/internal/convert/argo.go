package convert

import (
	"fmt"
	"regexp"
	"strings"
)

// argoFlow is a JobFlow that is being made of a Workflow.
type argoFlow struct {
	root, spec field
	templates  map[string]field
	// params are the workflow's parameters, by their names in templates: workflow.parameters.x.
	params map[string]string
	// names are the nodes' names, to keep them apart; used are the templates that something was made of.
	names, used map[string]bool
	nodes       []any
	// allowed are the nodes whose failure is: what depends on one starts after its failure, too, unless it has a condition.
	allowed map[string]bool
	// onFailure: something is to run after a failure, so that the flow can't stop at the first.
	onFailure bool
	// stops are DAGs that stop at the first failure, goOn those that don't.
	stops, goOn []field
}

// atOnce is the start of what depends on nothing.
func atOnce() start { return start{when: constant(true)} }

// failFast stops the flow at the first failure, if all of the workflow's DAGs do, and nothing handles a failure.
func (f *argoFlow) failFast(spec map[string]any) {
	if len(f.stops) > 0 && len(f.goOn) == 0 && !f.onFailure {
		spec["failFast"] = true
		return
	}
	for _, dag := range f.stops {
		f.root.source.note(dag.path, "failFast isn't carried over, since it is the whole flow's, "+
			"and something else of it runs after a failure: what doesn't depend on what failed still starts")
	}
}

// argoWorkflow makes a JobFlow of a Workflow: its entry point is a DAG, steps or a container, and each task becomes a Job. DAGs
// and steps within others are unfolded.
func argoWorkflow(root field) ([]map[string]any, error) {
	object, spec := newObject("JobFlow", root)
	f := &argoFlow{root: root, spec: root.get("spec"), templates: map[string]field{}, params: map[string]string{},
		names: map[string]bool{}, used: map[string]bool{}, allowed: map[string]bool{}}
	for _, t := range f.spec.get("templates").items() {
		f.templates[t.get("name").text()] = t
	}
	for _, p := range f.spec.get("arguments", "parameters").items() {
		name := "workflow.parameters." + p.get("name").text()
		if value, known := p.get("value").scalar(); known {
			f.params[name] = value
		}
	}
	for _, name := range []string{"name", "namespace"} {
		if value := asText(root.get("metadata", name).value); value != "" {
			f.params["workflow."+name] = value
		}
	}
	entry := f.spec.get("entrypoint")
	start, ok := f.templates[entry.text()]
	if !ok {
		return nil, fmt.Errorf("spec.entrypoint: there is no template %q among spec.templates", asText(entry.value))
	}
	params := f.parameters(f.spec.get("arguments"), f.params, nil)
	f.unfold(place{prefix: asText(entry.value), template: start, params: params, start: atOnce(), top: true})
	spec["flows"] = f.nodes
	if onExit, arguments := exitOf(f.spec); onExit.has() {
		f.finally(spec, onExit, arguments)
	}
	f.failFast(spec)
	f.policies(spec)
	for name, template := range f.templates {
		if !f.used[name] {
			template.drop("nothing uses the template")
		}
	}
	if len(f.nodes) == 0 {
		return nil, fmt.Errorf("spec.templates: nothing of the workflow is a container that could be a Job")
	}
	return []map[string]any{object}, nil
}

// policies carries over what is about the whole workflow.
func (f *argoFlow) policies(spec map[string]any) {
	for _, name := range []string{"activeDeadlineSeconds", "parallelism", "suspend"} {
		f.spec.get(name).move(spec, name)
	}
	if shutdown := f.spec.get("shutdown"); shutdown.has() {
		shutdown.take()
		spec["terminate"] = true
		if asText(shutdown.value) == "Terminate" {
			f.spec.source.note(shutdown.path, "finally is run all the same")
		}
	}
	f.spec.get("ttlStrategy", "secondsAfterCompletion").move(spec, "ttlSecondsAfterFinished")
	f.spec.get("ttlStrategy").drop1("the time is the same after success and failure: ttlSecondsAfterFinished")
	switch strategy := f.spec.get("podGC", "strategy"); asText(strategy.value) {
	case "OnWorkflowCompletion":
		strategy.take()
		spec["jobRetention"] = "None"
	case "OnWorkflowSuccess":
		strategy.take()
		f.spec.source.note(strategy.path, "after a failure only the Jobs that failed are kept (jobRetention: Failed)")
		spec["jobRetention"] = "Failed"
	default:
		strategy.drop("jobRetention says which Jobs are kept once the flow has ended")
	}
	f.spec.get("volumeClaimTemplates").drop("a flow makes no PersistentVolumeClaims: make one, and name it in a volume")
}

// drop1 drops what is left of an object of which something was taken.
func (f field) drop1(why string) {
	for _, child := range f.children() {
		if !f.source.taken[child.path] {
			child.drop("%s", why)
		}
	}
}

// exitOf returns the name of the exit handler of a workflow or task, and its arguments: those of the workflow or task if it has none
// itself.
func exitOf(of field) (template, arguments field) {
	template, arguments = of.get("onExit"), of.get("arguments")
	if hook := of.get("hooks", "exit"); !template.has() {
		template, arguments = hook.get("template"), hook.get("arguments").orElse(arguments)
	}
	return template, arguments
}

// finally runs the exit handler: containers that depend on nothing.
func (f *argoFlow) finally(spec map[string]any, onExit, arguments field) {
	template, ok := f.templates[onExit.text()]
	tasks := template.get("dag", "tasks").items()
	if groups := template.get("steps").items(); len(groups) == 1 {
		tasks = groups[0].items()
	}
	for _, task := range tasks {
		ok = ok && !task.get("dependencies").has() && !task.get("depends").has() && f.isContainer(task.get("template"))
	}
	if !ok || len(tasks) == 0 && !f.isContainer(onExit) {
		onExit.drop("finally runs containers side by side: the exit handler isn't one, and isn't run")
		return
	}
	flows := f.nodes
	f.nodes = nil
	f.unfold(place{
		prefix: asText(onExit.value), template: template, params: f.parameters(arguments, f.params, nil), start: atOnce(), top: true, last: true,
	})
	if len(f.nodes) > 0 {
		spec["finally"] = f.nodes
	}
	f.nodes = flows
}

// isContainer reports whether a field names a template that is a container or script.
func (f *argoFlow) isContainer(name field) bool {
	template, ok := f.templates[asText(name.value)]
	return ok && (template.get("container").has() || template.get("script").has())
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// slug makes a name of a text: a DNS label that is short enough for a suffix.
func slug(text string) string {
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(text), "-"), "-")
	if name == "" {
		name = "task"
	}
	return strings.TrimRight(name[:min(len(name), 55)], "-")
}

// uniqueName returns a name that no node has.
func (f *argoFlow) uniqueName(base string) string {
	name := base
	for n := 2; f.names[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	f.names[name] = true
	return name
}

// nameFor makes a node's name of a task's: a DNS label that no other has.
func (f *argoFlow) nameFor(task string, at string) string {
	name := f.uniqueName(slug(task))
	if name != task {
		f.root.source.rename(at, "the task %s is the node %s of the flow", task, name)
	}
	return name
}
