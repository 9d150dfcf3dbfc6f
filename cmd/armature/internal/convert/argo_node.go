package convert

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// node makes a node of a container or script, and returns its name.
func (f *argoFlow) node(p place) string {
	at := p.template.path
	if p.task.has() {
		at = p.task.path
	}
	name := f.nameFor(p.prefix, at)
	node := map[string]any{"name": name}
	if len(p.after) > 0 {
		node["dependencies"] = anys(p.after)
	}
	if p.when != "" {
		node["when"] = p.when
	}
	if p.task.has() {
		f.items(p, node)
	}
	f.inputs(p, node)
	node["jobTemplate"] = f.job(p)
	f.nodes = append(f.nodes, node)
	return name
}

// defaults gives the parameters of a template the values that it has for those that a task doesn't give.
func (f *argoFlow) defaults(p place) {
	for _, parameter := range p.template.get("inputs", "parameters").items() {
		key := "inputs.parameters." + parameter.get("name").text()
		value, otherwise := parameter.get("value").take(), parameter.get("default").take()
		if value == nil {
			value = otherwise
		}
		if _, given := p.params[key]; !given && value != nil {
			p.params[key] = valueText(value)
		}
	}
}

// job makes a Job's spec of a template that is a container.
func (f *argoFlow) job(p place) map[string]any {
	t := p.template
	pod := map[string]any{}
	container := f.container(p)
	container["name"] = "main"
	containers := []any{container}
	for _, sidecar := range t.get("sidecars").items() {
		containers = append(containers, f.filled(sidecar, p))
	}
	pod["containers"] = containers
	if init := t.get("initContainers"); init.has() {
		var all []any
		for _, c := range init.items() {
			all = append(all, f.filled(c, p))
		}
		pod["initContainers"] = all
	}
	f.pod(p, pod)
	template := map[string]any{"spec": pod}
	if metadata := t.get("metadata").object(); len(metadata) > 0 {
		template["metadata"] = metadata
	}
	job := map[string]any{"template": template}
	if limit := t.get("retryStrategy", "limit"); limit.has() {
		var n int64
		if _, err := fmt.Sscan(valueText(limit.value), &n); err == nil {
			limit.take()
			job["backoffLimit"] = n
		}
	}
	return job
}

// podFields are those of a template, or of the whole workflow, that are a pod's own.
var podFields = []string{"activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "hostAliases",
	"hostNetwork", "imagePullSecrets", "nodeSelector", "priorityClassName", "schedulerName", "securityContext", "serviceAccountName", "tolerations"}

// pod fills in what a template says of the pod, or else the workflow.
func (f *argoFlow) pod(p place, pod map[string]any) {
	for _, name := range podFields {
		p.template.get(name).move(pod, name)
		if name == "activeDeadlineSeconds" { // the workflow's is about the workflow
			continue
		}
		if _, ok := pod[name]; !ok {
			f.spec.get(name).move(pod, name)
		}
	}
	if name := f.spec.get("podPriorityClassName"); pod["priorityClassName"] == nil {
		name.move(pod, "priorityClassName")
	}
	var volumes []any
	for _, from := range []field{p.template.get("volumes"), f.spec.get("volumes")} {
		list, _ := from.take().([]any)
		volumes = append(volumes, list...)
	}
	if len(volumes) > 0 {
		pod["volumes"] = volumes
	}
}

// container makes the main container, also of a script.
func (f *argoFlow) container(p place) map[string]any {
	if c := p.template.get("container"); c.has() {
		return f.filled(c, p)
	}
	script := p.template.get("script")
	container := f.filled(script, p)
	source, _ := container["source"].(string)
	delete(container, "source")
	command, _ := container["command"].([]any)
	if len(command) == 0 {
		f.root.source.note(script.path, "it has no command: the script is run by sh")
		command = []any{"sh"}
	}
	shell := path.Base(asText(command[0]))
	if !takesScripts.MatchString(shell) {
		f.root.source.note(script.get("command").path, "it is taken to run a script that follows -c, as sh and python do")
	}
	container["command"] = append(command, "-c", source)
	return container
}

var (
	takesScripts = regexp.MustCompile(`^(sh|bash|ash|dash|zsh|python[0-9.]*)$`)
	parameter    = regexp.MustCompile(`\{\{\s*=?\s*([^{}]+?)\s*\}\}`)
	itemToEnv    = strings.NewReplacer("{{item}}", "$(ITEM)")
)

// filled takes a container and fills the parameters in. Those that have no value here are noted, and stay as they are.
func (f *argoFlow) filled(c field, p place) map[string]any {
	object := fill(c.take(), p.params).(map[string]any)
	f.unfilled(field{c.source, c.path, object})
	return object
}

func (f *argoFlow) unfilled(c field) {
	if text, ok := c.value.(string); ok {
		for _, found := range parameter.FindAllStringSubmatch(text, -1) {
			f.root.source.note(c.path, "%s has no value here, and stays as it is: outputs are passed by inputs, as variables", found[0])
		}
	}
	for _, child := range c.children() {
		f.unfilled(child)
	}
}

// fill replaces the parameters in all texts of a value.
func fill(value any, params map[string]string) any {
	switch v := value.(type) {
	case string:
		return substitute(v, params)
	case []any:
		for i := range v {
			v[i] = fill(v[i], params)
		}
	case map[string]any:
		for key := range v {
			v[key] = fill(v[key], params)
		}
	}
	return value
}

// substitute replaces the parameters that have a value.
func substitute(text string, params map[string]string) string {
	text = itemToEnv.Replace(text)
	return parameter.ReplaceAllStringFunc(text, func(found string) string {
		name := parameter.FindStringSubmatch(found)[1]
		if value, ok := params[name]; ok {
			return value
		}
		return found
	})
}
