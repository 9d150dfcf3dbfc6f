package convert

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// node makes a node of a container or script.
func (f *argoFlow) node(p place) ([]string, condition, string) {
	at := p.template.path
	if p.task.has() {
		at = p.task.path
	}
	name := f.nameFor(p.prefix, at)
	node := map[string]any{"name": name}
	if p.task.has() {
		f.items(&p, node)
	}
	if node["forEach"] != nil {
		p.params["item"] = "$(ITEM)"
		for key, value := range p.params {
			p.params[key] = itemToEnv.ReplaceAllString(value, "$$(ITEM)")
		}
	}
	job := f.job(&p)
	if p.last {
		mapTexts(job, func(text string) string {
			if strings.Contains(text, "$(FLOW_STATUS)") {
				f.root.source.note(p.template.path, "the status is in FLOW_STATUS: Succeed or Failed, not Succeeded")
			}
			return text
		})
	}
	f.inputs(&p, node, job)
	if p.last && len(p.blocked) > 0 {
		for _, b := range p.blocked {
			b.at.drop("%s; the exit handler isn't run", b.why)
		}
		return nil, constant(true), ""
	}
	f.gate(&p)
	p.start.write(node, f.allowed)
	node["jobTemplate"] = job
	f.nodes = append(f.nodes, node)
	if node["forEach"] != nil {
		return []string{name}, succeeded(name), ""
	}
	return []string{name}, succeeded(name), name
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
func (f *argoFlow) job(p *place) map[string]any {
	t := p.template
	pod := map[string]any{}
	container := f.container(p)
	container["name"] = "main"
	pod["containers"] = []any{container}
	var init []any
	for _, c := range t.get("initContainers").items() {
		if made := f.beside(p, c, container); len(made) > 0 {
			init = append(init, made)
		}
	}
	for _, c := range t.get("sidecars").items() {
		// A pod ends when its containers have. What ends with them is an init container that is restarted.
		if sidecar := f.beside(p, c, container); len(sidecar) > 0 {
			sidecar["restartPolicy"] = "Always"
			init = append(init, sidecar)
		}
	}
	if len(init) > 0 {
		pod["initContainers"] = init
	}
	f.pod(*p, pod)
	template := map[string]any{"spec": pod}
	if metadata := t.get("metadata").object(); len(metadata) > 0 {
		template["metadata"] = fill(metadata, p.params)
	}
	job := map[string]any{"template": template}
	if limit := t.get("retryStrategy", "limit"); limit.has() {
		var n int64
		if _, err := fmt.Sscan(substitute(valueText(limit.value), p.params), &n); err == nil {
			limit.take()
			job["backoffLimit"] = n
		}
	}
	if timeout := t.get("timeout"); timeout.has() {
		if seconds, ok := wholeSeconds(substitute(valueText(timeout.value), p.params)); ok {
			timeout.take()
			job["activeDeadlineSeconds"] = seconds
		} else {
			timeout.drop("want a duration of at least a second, such as 10m")
		}
	}
	return job
}

// wholeSeconds reads a duration as Argo does, in which a number alone is seconds.
func wholeSeconds(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, n > 0
	}
	d, err := time.ParseDuration(text)
	return int64(math.Ceil(d.Seconds())), err == nil && d >= time.Second
}

// beside makes a container that is beside the main one.
func (f *argoFlow) beside(p *place, c field, main map[string]any) map[string]any {
	made := f.filled(c, p)
	if made["mirrorVolumeMounts"] == true {
		own, _ := made["volumeMounts"].([]any)
		mains, _ := main["volumeMounts"].([]any)
		made["volumeMounts"] = append(slices.Clone(own), mains...)
	}
	delete(made, "mirrorVolumeMounts")
	return made
}

// podFields are those of a template, or of the whole workflow, that are a pod's own.
var podFields = []string{
	"activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "hostAliases", "hostNetwork",
	"imagePullSecrets", "nodeSelector", "priorityClassName", "schedulerName", "securityContext", "serviceAccountName", "tolerations",
}

// pod fills in what a template says of the pod, or else the workflow.
func (f *argoFlow) pod(p place, pod map[string]any) {
	for _, name := range podFields {
		p.template.get(name).move(pod, name)
		if text, ok := pod[name].(string); ok {
			pod[name] = substitute(text, p.params)
			if n, err := strconv.ParseInt(asText(pod[name]), 10, 64); err == nil && name == "activeDeadlineSeconds" {
				pod[name] = n
			}
		}
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
func (f *argoFlow) container(p *place) map[string]any {
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
	itemToEnv    = regexp.MustCompile(`\{\{\s*item\s*\}\}`)
)

// filled takes a container and fills the parameters in. Those that have no value here block the place, and so does what is no container.
func (f *argoFlow) filled(c field, p *place) map[string]any {
	object, ok := fill(c.take(), p.params).(map[string]any)
	if !ok {
		f.block(p, c, "want a container; it is %s", valueText(c.value))
		return map[string]any{}
	}
	f.unfilled(field{c.source, c.path, object}, p)
	return object
}

func (f *argoFlow) unfilled(c field, p *place) {
	if text, ok := c.value.(string); ok {
		for _, found := range parameter.FindAllStringSubmatch(text, -1) {
			if !outputMark.MatchString(found[0]) {
				f.block(p, c, "%s has no value here", found[0])
			}
		}
	}
	for _, child := range c.children() {
		f.unfilled(child, p)
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
	return parameter.ReplaceAllStringFunc(text, func(found string) string {
		name := parameter.FindStringSubmatch(found)[1]
		if value, ok := params[name]; ok {
			return value
		}
		return found
	})
}
