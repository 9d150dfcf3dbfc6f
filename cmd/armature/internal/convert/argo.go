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
	// onFailure: something is to run after a failure, so that the flow can't stop at the first.
	onFailure bool
}

// argoWorkflow makes a JobFlow of a Workflow: its entry point is a DAG, steps or a container, and each task becomes a Job. DAGs
// and steps within others are unfolded.
func argoWorkflow(root field) ([]map[string]any, error) {
	object, spec := newObject("JobFlow", root)
	f := &argoFlow{root: root, spec: root.get("spec"), templates: map[string]field{}, params: map[string]string{},
		names: map[string]bool{}, used: map[string]bool{}}
	for _, t := range f.spec.get("templates").items() {
		f.templates[t.get("name").text()] = t
	}
	for _, p := range f.spec.get("arguments", "parameters").items() {
		f.params["workflow.parameters."+p.get("name").text()] = valueText(p.get("value").take())
	}
	if name := asText(root.get("metadata", "name").value); name != "" {
		f.params["workflow.name"] = name
	}
	entry := f.spec.get("entrypoint")
	start, ok := f.templates[entry.text()]
	if !ok {
		return nil, fmt.Errorf("spec.entrypoint: there is no template %q among spec.templates", asText(entry.value))
	}
	f.unfold(place{prefix: asText(entry.value), template: start, params: f.params, top: true})
	spec["flows"] = f.nodes
	if onExit := f.spec.get("onExit"); onExit.has() {
		f.finally(spec, onExit)
	}
	if start.get("dag").has() && !f.onFailure {
		if failFast := start.get("dag", "failFast"); failFast.take() != false {
			spec["failFast"] = true
		}
	}
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

// finally runs the exit handler, which can be one container.
func (f *argoFlow) finally(spec map[string]any, onExit field) {
	template, ok := f.templates[onExit.text()]
	if !ok || !(template.get("container").has() || template.get("script").has()) {
		onExit.drop("finally can run containers, not a DAG or steps")
		return
	}
	flows := f.nodes
	f.nodes = nil
	f.unfold(place{prefix: asText(onExit.value), template: template, params: f.params, top: true})
	spec["finally"] = f.nodes
	f.nodes = flows
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// nameFor makes a node's name of a task's: a DNS label that no other has.
func (f *argoFlow) nameFor(task string, at string) string {
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(task), "-"), "-")
	if name == "" {
		name = "task"
	}
	name = strings.TrimRight(name[:min(len(name), 58)], "-")
	base := name
	for n := 2; f.names[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	f.names[name] = true
	if name != task {
		f.root.source.note(at, "the task %s is the node %s of the flow", task, name)
	}
	return name
}

// valueText renders a parameter's value.
func valueText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return fmt.Sprint(value)
}
