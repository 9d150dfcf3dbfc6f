package convert

import (
	"maps"
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
	// start is when it starts.
	start start
	// needs are the nodes whose outputs it has, which it depends on, also behind a gate.
	needs []string
	// blocked is what keeps it from running.
	blocked []blocked
	// top: it isn't within another.
	top bool
	// last: it is in finally, where nothing depends on anything.
	last bool
	// each: it has a forEach, and the item is a variable.
	each bool
	// around are the templates that it is in, to find those that contain themselves.
	around []string
	// task is what uses it, if something does, and others are those that have ended before it.
	task   field
	others scope
}

// unfold makes nodes of a template. It returns those after which it has ended, the condition on which it has succeeded, and the
// node that has its output, if there is one.
func (f *argoFlow) unfold(p place) (ends []string, done condition, node string) {
	name := asText(p.template.get("name").value)
	p.around = append(slices.Clone(p.around), name)
	f.used[name] = true
	if p.template.get("daemon").isTrue() {
		f.block(&p, p.template.get("daemon"), "a daemon goes on while others run, and is stopped in the end; a Job has to end by itself")
	}
	isContainer := p.template.get("container").has() || p.template.get("script").has()
	nested := p.template.get("dag").has() || p.template.get("steps").has()
	if p.task.has() && !isContainer {
		for _, each := range []string{"withItems", "withParam", "withSequence"} {
			if items := p.task.get(each); each == "withItems" && items.isEmptyList() {
				items.take() // Argo runs the task once then
			} else if items.has() {
				f.block(&p, items, "a forEach runs one Job an item, not a DAG or steps")
			}
		}
	}
	if !p.template.has() || slices.Contains(p.around[:len(p.around)-1], name) || !isContainer && !nested {
		return f.pause(p)
	}
	f.defaults(p)
	if isContainer {
		return f.node(p)
	}
	f.target(&p)
	if !f.gate(&p) {
		return nil, constant(true), ""
	}
	if p.template.get("dag").has() {
		ends, done = f.unfoldDAG(p)
	} else {
		ends, done = f.unfoldSteps(p)
	}
	return ends, done, ""
}

// pause makes a node that waits, for a step without a counterpart.
func (f *argoFlow) pause(p place) ([]string, condition, string) {
	switch t := p.template; {
	case !t.has(): // noted where its name is
	case t.get("suspend").has():
		name := f.uniqueName(slug(p.prefix))
		p.prefix = name
		t.get("suspend").take()
		f.root.source.note(t.get("suspend").path, "a flow can't be suspended by itself: the node %s waits until there is "+
			"a JobTemplate %s-gate, which is then run: create one to approve", name, name)
		node := map[string]any{"name": name, "jobTemplateRef": name + "-gate"}
		for _, b := range p.blocked { // it is a gate itself
			b.at.drop("%s; see to it before you create the JobTemplate %s-gate", b.why, name)
		}
		p.start.write(node, f.allowed)
		f.nodes = append(f.nodes, node)
		return []string{name}, succeeded(name), ""
	case slices.Contains(p.around[:len(p.around)-1], asText(t.get("name").value)):
		f.block(&p, p.task.get("template"), "the template contains itself")
	default:
		f.block(&p, t, "it is no container, script, DAG, steps or suspend")
	}
	f.gate(&p)
	return p.start.after, p.start.when, ""
}

// within is a task's place in that of its DAG or steps.
func (f *argoFlow) within(p place, task field, begin start, others scope) place {
	name := task.get("name").text()
	inner := place{prefix: name, outer: p.params, start: begin, around: p.around, last: p.last, task: task, others: others}
	if !p.top {
		inner.prefix = p.prefix + "-" + name
	}
	inner.params = f.parameters(task.get("arguments"), p.params, others)
	switch template := task.get("template"); {
	case task.get("inline").has():
		inner.template = task.get("inline")
	case template.has():
		inner.template = f.templates[substitute(template.text(), p.params)]
		if !inner.template.has() {
			f.block(&inner, template, "there is no template of this name; a WorkflowTemplate's isn't looked for")
		}
	default:
		f.block(&inner, task.get("templateRef"), "templates of other objects aren't looked for: put it into this workflow")
	}
	return inner
}

// do makes the nodes of a task, and returns its outcomes.
func (f *argoFlow) do(p place, task field, begin start, others scope) *outcomes {
	inner := f.within(p, task, begin, others)
	own := f.condition(&inner, task, others)
	begin = inner.start
	inner.start.when = and(begin.when, own)
	f.bound(&inner, task.get("depends").orElse(task.get("dependencies")).orElse(task.get("name")))
	ends, done, node := f.unfold(inner)
	several := inner.template.get("dag").has() || inner.template.get("steps").has()
	o := outcomesOf(!several, ends, begin, own, done)
	o.node = node
	goes := task.get("continueOn")
	o.goesOn = goes.get("failed").isTrue()
	if erred := goes.get("error"); erred.isTrue() && !o.goesOn {
		f.root.source.note(erred.path, "not carried over: a Job doesn't distinguish errors from failures, "+
			"and its dependents start after neither; continueOn.failed would start them after both")
	}
	if jobs := f.jobs(ends); o.goesOn && !several && len(jobs) > 0 {
		o.allowed = true
		for i, job := range jobs {
			job["allowFailure"], f.allowed[ends[i]] = true, true
		}
	}
	o.plain = own.always() && !o.goesOn
	f.atExit(inner, task, o)
	return o
}

// bound blocks a place that starts on a condition that is too long for a flow.
func (f *argoFlow) bound(p *place, at field) {
	if _, when := p.start.of(f.allowed); p.start.when.long || len(when) > longestWhen {
		f.block(p, at, "the condition on which it starts is longer than a flow can have")
		p.start.when = constant(true)
		f.onFailure = true // the condition may be a failure
	}
}

// jobs returns the nodes of a task whose template is a container, by their names. None: they aren't its own, such as a gate.
func (f *argoFlow) jobs(names []string) []map[string]any {
	var jobs []map[string]any
	for _, node := range f.nodes[max(0, len(f.nodes)-len(names)):] {
		if node := node.(map[string]any); node["jobTemplate"] != nil && node["name"] == names[len(jobs)] {
			jobs = append(jobs, node)
		}
	}
	if len(jobs) < len(names) {
		return nil
	}
	return jobs
}

// atExit runs a task's exit handler, whatever the outcome of the task.
func (f *argoFlow) atExit(p place, task field, o *outcomes) {
	handler, arguments := exitOf(task)
	switch {
	case !handler.has():
		return
	case p.last:
		handler.drop("what is in finally has no exit handlers")
		return
	}
	others := scope{asText(task.get("name").value): o}
	maps.Copy(others, p.others)
	exit := place{
		prefix: p.prefix + "-exit", template: f.templates[handler.text()], params: f.parameters(arguments, p.outer, others),
		start: start{o.nodes, or(o.succeeded, o.failed)}, around: p.around,
	}
	if !exit.template.has() {
		f.block(&exit, handler, "there is no template of this name")
	}
	if expression := task.get("hooks", "exit", "expression"); expression.has() {
		f.block(&exit, expression, "it isn't read")
	}
	f.handled(handler)
	f.bound(&exit, handler)
	f.unfold(exit)
}

// handled notes that something runs after a failure, so that the flow can't stop at the first, and that the flow fails all
// the same.
func (f *argoFlow) handled(at field) {
	f.onFailure = true
	f.root.source.note(at.path, "a JobFlow in which something failed is Failed, also if the failure was handled; the workflow can succeed")
}

func (f *argoFlow) unfoldSteps(p place) ([]string, condition) {
	others := scope{}
	begin, ends := p.start, p.start.after
	for _, group := range p.template.get("steps").items() {
		// Each step of a group knows those of the groups before only.
		these, names := scope{}, []string{}
		for _, step := range group.items() {
			name := asText(step.get("name").value)
			these[name], names = f.do(p, step, begin, others), append(names, name)
		}
		next := start{when: constant(true)}
		for _, name := range names {
			o := these[name]
			next.after, next.when = append(next.after, o.nodes...), and(next.when, o.ok())
			others[name] = o
			if o.goesOn && !o.allowed {
				f.handled(p.template.get("steps"))
			}
		}
		if len(names) > 0 {
			begin, ends = next, next.after
		}
	}
	return ends, begin.when
}

func (f *argoFlow) unfoldDAG(p place) ([]string, condition) {
	d := &dag{f: f, p: p, tasks: map[string]field{}, done: scope{}, doing: map[string]bool{}, before: map[string][]string{}}
	for _, task := range p.template.get("dag", "tasks").items() {
		name := asText(task.get("name").value)
		d.tasks[name] = task
		d.order = append(d.order, name)
	}
	d.targets()
	for _, name := range d.order {
		d.do(name)
	}
	d.failFast()
	return d.end()
}

// dag is a DAG while nodes are made of it.
type dag struct {
	f     *argoFlow
	p     place
	tasks map[string]field
	order []string
	done  scope
	doing map[string]bool
	// before are the names of all that come before a task.
	before map[string][]string
}

// target blocks a DAG with a target that isn't there.
func (f *argoFlow) target(p *place) {
	names := map[string]bool{}
	for _, task := range p.template.get("dag", "tasks").items() {
		names[asText(task.get("name").value)] = true
	}
	target := p.template.get("dag", "target")
	text := substitute(asText(target.value), p.params)
	if parameter.MatchString(text) {
		f.unfilled(field{target.source, target.path, text}, p)
		return
	}
	for name := range strings.FieldsSeq(text) {
		if !names[name] {
			f.block(p, target, "there is no task %s", name)
		}
	}
}

// targets leaves out the tasks that the DAG's target doesn't need.
func (d *dag) targets() {
	target := d.p.template.get("dag", "target")
	text := substitute(target.text(), d.p.params)
	if !target.has() || parameter.MatchString(text) {
		return
	}
	needed := map[string]bool{}
	var need func(name string)
	need = func(name string) {
		if !needed[name] && d.tasks[name].has() {
			needed[name] = true
			for _, on := range d.f.dependencies(d.tasks[name]).names {
				need(on)
			}
		}
	}
	for name := range strings.FieldsSeq(text) {
		need(name)
	}
	d.order = slices.DeleteFunc(d.order, func(name string) bool {
		if !needed[name] {
			d.tasks[name].drop("the DAG's target doesn't need it")
		}
		return !needed[name]
	})
}

// do makes the nodes of a task, after those of all that it depends on.
func (d *dag) do(name string) *outcomes {
	task, ok := d.tasks[name]
	if o, was := d.done[name]; was {
		return o
	}
	if !ok || d.doing[name] { // an unknown one, or a cycle: for lint to find
		node := slug(name)
		return outcomesOf(true, []string{node}, start{when: constant(true)}, constant(true), succeeded(node))
	}
	d.doing[name] = true
	on := d.f.dependencies(task)
	begin, visible, bad := start{when: constant(true)}, scope{}, constant(false)
	for _, other := range on.names {
		o := d.do(other)
		begin.after = append(begin.after, o.nodes...)
		bad = or(bad, o.bad)
		d.before[name] = append(d.before[name], other)
		for _, earlier := range d.before[other] {
			if !slices.Contains(d.before[name], earlier) {
				d.before[name] = append(d.before[name], earlier)
			}
		}
	}
	for _, other := range d.before[name] {
		visible[other] = d.done[other]
		if visible[other] == nil {
			visible[other] = d.do(other)
		}
	}
	var plain bool
	begin.when, plain = on.render(d.f, visible)
	switch {
	case len(on.names) == 0:
		begin = d.p.start
	case !plain: // it may hold although the DAG itself hasn't started
		begin.when = and(d.p.start.when, begin.when)
	}
	begin.after = slices.Compact(begin.after)
	o := d.f.do(d.p, task, begin, visible)
	failed := o.failed
	if o.goesOn {
		failed = constant(false)
	}
	o.bad = or(failed, and(or(o.skipped, o.omitted), bad))
	o.plain = o.plain && plain
	d.done[name] = o
	return o
}

// end returns the nodes after which the DAG has ended, and the condition on which it has succeeded.
func (d *dag) end() (last []string, done condition) {
	isDependency, plain := map[string]bool{}, true
	for _, name := range d.order {
		for _, other := range d.before[name] {
			isDependency[other] = true
		}
		plain = plain && d.done[name].plain
	}
	done = d.p.start.when
	if plain {
		done = constant(true)
	}
	for _, name := range d.order {
		if isDependency[name] {
			continue
		}
		o := d.done[name]
		last = append(last, o.nodes...)
		if plain {
			done = and(done, o.succeeded)
		} else {
			done = and(done, not(o.bad))
		}
	}
	if len(d.order) == 0 {
		return d.p.start.after, d.p.start.when
	}
	return last, done
}

// failFast remembers a DAG that stops at the first failure, if a failure can come when others could still start.
func (d *dag) failFast() {
	setting := d.p.template.get("dag", "failFast")
	if setting.take() == false {
		d.f.goOn = append(d.f.goOn, setting)
		return
	}
	for _, x := range d.order {
		for _, y := range d.order {
			if x == y || slices.Contains(d.before[x], y) || slices.Contains(d.before[y], x) {
				continue
			}
			for _, on := range d.before[y] {
				if !slices.Contains(d.before[x], on) {
					d.f.stops = append(d.f.stops, d.p.template.get("dag"))
					return
				}
			}
		}
	}
}
