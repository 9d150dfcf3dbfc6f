package convert

import (
	"fmt"
	"slices"
	"strings"
)

// place is where a template is used.
type place struct {
	// prefix is the name of the task, with those around it.
	prefix   string
	template field
	// params are the values of parameters, by their names in the template: inputs.parameters.x.
	params map[string]string
	// outer are those where it is used: the task's own fields are about them.
	outer map[string]string
	// after are nodes that must have ended, and when is the condition if it isn't that all have succeeded.
	after []string
	when  string
	// top: it isn't within another.
	top bool
	// around are the templates that it is in, to find those that contain themselves.
	around []string
	// task is what uses it, if something does.
	task field
}

// unfold makes nodes of a template, and returns those after which it has ended.
func (f *argoFlow) unfold(p place) []string {
	name := asText(p.template.get("name").value)
	if slices.Contains(p.around, name) {
		f.root.source.note(p.template.path, "not carried over: the template contains itself")
		return p.after
	}
	p.around = append(slices.Clone(p.around), name)
	f.used[name] = true
	f.defaults(p)
	switch {
	case p.template.get("dag").has():
		return f.unfoldDAG(p)
	case p.template.get("steps").has():
		return f.unfoldSteps(p)
	case p.template.get("container").has(), p.template.get("script").has():
		return []string{f.node(p)}
	}
	p.template.drop("it is no container, script, DAG or steps; what depends on it waits for what it waited for")
	return p.after
}

// within is a task's place in that of its DAG or steps.
func (f *argoFlow) within(p place, task field) (place, bool) {
	name := task.get("name").text()
	inner := place{prefix: name, params: f.arguments(p, task), outer: p.params, after: p.after, when: p.when, around: p.around, task: task}
	if !p.top {
		inner.prefix = p.prefix + "-" + name
	}
	switch template := task.get("template"); {
	case task.get("inline").has():
		inner.template = task.get("inline")
	case template.has():
		inner.template = f.templates[template.text()]
		if !inner.template.has() {
			template.drop("there is no template of this name; a WorkflowTemplate's isn't looked for")
			return inner, false
		}
	default:
		task.get("templateRef").drop("templates of other objects aren't looked for: put it into this workflow")
		return inner, false
	}
	return inner, true
}

// arguments returns the values that a template's parameters have where a task uses it.
func (f *argoFlow) arguments(p place, task field) map[string]string {
	params := map[string]string{}
	for name, value := range f.params {
		params[name] = value
	}
	for _, parameter := range task.get("arguments", "parameters").items() {
		params["inputs.parameters."+parameter.get("name").text()] = substitute(valueText(parameter.get("value").take()), p.params)
	}
	return params
}

func (f *argoFlow) unfoldSteps(p place) []string {
	for _, group := range p.template.get("steps").items() {
		var ends []string
		var terms []string
		special := false
		for _, step := range group.items() {
			inner, ok := f.within(p, step)
			if !ok {
				continue
			}
			f.condition(&inner, step)
			those := f.unfold(inner)
			ends = append(ends, those...)
			goesOn := step.get("continueOn", "failed").isTrue()
			for _, end := range those {
				term, plain := afterwards(end, goesOn, step.get("when").has())
				terms, special = append(terms, term), special || !plain
			}
			f.onFailure = f.onFailure || goesOn
		}
		if len(ends) > 0 {
			p.after, p.when = ends, ""
			if special {
				p.when = strings.Join(terms, " && ")
			}
		}
	}
	return p.after
}

// afterwards is the condition on which what comes after a node starts. Plain: it is that the node has succeeded.
func afterwards(node string, continueOnFailure, conditional bool) (term string, plain bool) {
	any := []string{outcome(node, "succeeded")}
	if continueOnFailure {
		any = append(any, outcome(node, "failed"))
	}
	if conditional {
		any = append(any, outcome(node, "skipped"))
	}
	if len(any) == 1 {
		return any[0], true
	}
	return "(" + strings.Join(any, " || ") + ")", false
}

func (f *argoFlow) unfoldDAG(p place) []string {
	tasks := map[string]field{}
	var order []string
	for _, task := range p.template.get("dag", "tasks").items() {
		name := asText(task.get("name").value)
		tasks[name] = task
		order = append(order, name)
	}
	p.template.get("dag", "failFast").take()
	ends := map[string][]string{}
	isDependency := map[string]bool{}
	doing := map[string]bool{}
	var do func(name string) []string
	do = func(name string) []string {
		task, ok := tasks[name]
		if done, was := ends[name]; was {
			return done
		}
		if !ok || doing[name] { // an unknown one, or a cycle: for lint to find
			return []string{name}
		}
		doing[name] = true
		inner, fits := f.within(p, task)
		on := f.dependencies(task)
		var all []string
		for _, d := range on.names {
			isDependency[d] = true
			all = append(all, do(d)...)
		}
		if len(all) > 0 {
			inner.after, inner.when = all, f.render(on, ends, tasks)
		}
		if fits {
			f.condition(&inner, task)
			ends[name] = f.unfold(inner)
		} else {
			ends[name] = inner.after
		}
		return ends[name]
	}
	var last []string
	for _, name := range order {
		do(name)
	}
	for _, name := range order {
		if !isDependency[name] {
			last = append(last, ends[name]...)
		}
	}
	return last
}

// condition carries a task's when over, as far as it is about the outputs of others.
func (f *argoFlow) condition(p *place, task field) {
	when := task.get("when")
	if !when.has() {
		return
	}
	text := substitute(asText(when.value), p.outer)
	found := outputComparison.FindStringSubmatch(text)
	if found == nil || !slices.Contains(p.after, f.nodeOf(found[2])) {
		when.drop("it can't be told in terms of jobs.<name>; the task runs whenever what it depends on has succeeded")
		return
	}
	when.take()
	f.root.source.note(when.path, "the output of %s is what it writes to /dev/termination-log, not what it prints", found[2])
	term := fmt.Sprintf("%s %s %q", outcome(f.nodeOf(found[2]), "output"), found[3], strings.Trim(found[4], `"' `))
	if p.when == "" {
		var all []string
		for _, node := range p.after {
			all = append(all, outcome(node, "succeeded"))
		}
		p.when = strings.Join(all, " && ")
	} else {
		p.when = "(" + p.when + ")"
	}
	p.when += " && " + term
}
