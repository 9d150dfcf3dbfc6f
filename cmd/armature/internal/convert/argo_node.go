package convert

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// node makes a node of a container or script, or one for each item. It returns their names, the condition on which all have succeeded, and
// the node that has the output, if there is one.
func (f *argoFlow) node(p place) ([]string, condition, string) {
	at := p.template
	if p.task.has() {
		at = p.task
	}
	nodes := f.nodesOf(&p, at)
	if !f.gate(&p) {
		return nil, constant(true), ""
	}
	for _, from := range p.needs {
		if !slices.Contains(p.start.after, from) {
			p.start.after = slices.Concat(p.start.after, []string{from})
		}
	}
	var names []string
	done := constant(true)
	for _, node := range nodes {
		p.start.write(node, f.allowed)
		f.nodes = append(f.nodes, node)
		names = append(names, node["name"].(string))
		done = and(done, succeeded(names[len(names)-1]))
	}
	if hasItems(p.task) {
		return names, done, ""
	}
	return names, done, names[0]
}

// job makes the Job of a node of a template that is a container.
func (f *argoFlow) job(p *place, node map[string]any) {
	t := p.template
	container := f.container(p)
	container["name"] = "main"
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
	pod := map[string]any{"containers": []any{container}}
	if len(init) > 0 {
		pod["initContainers"] = init
	}
	f.pod(p, pod)
	f.variables(p, node, append(init, container))
	template := map[string]any{"spec": pod}
	if metadata := f.metadata(p); len(metadata) > 0 {
		template["metadata"] = metadata
	}
	job := map[string]any{"template": template}
	if limit := t.get("retryStrategy", "limit"); limit.has() {
		n, err := strconv.ParseInt(substitute(valueText(limit.value), p.params), 10, 32)
		if err == nil {
			limit.take()
			job["backoffLimit"] = n
		} else {
			limit.drop("want a whole number")
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
	node["jobTemplate"] = job
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

// container makes the main container, also of a script.
func (f *argoFlow) container(p *place) map[string]any {
	if c := p.template.get("container"); c.has() {
		return f.filled(c, p)
	}
	return f.script(p)
}

// filled takes a container and fills the parameters in. Those that have no value here block the place, and so does what is no container.
func (f *argoFlow) filled(c field, p *place) map[string]any {
	object, ok := fill(c.take(), p.params).(map[string]any)
	if !ok {
		f.block(p, c, "want a container; it is %s", valueText(c.value))
		return map[string]any{}
	}
	rest, own := p.remaining(object)
	f.unfilled(field{c.source, c.path, rest}, p)
	for _, name := range own {
		f.block(p, c.get("env"), "the container sets %s itself, so that it doesn't get the operator's value", name)
	}
	return object
}
