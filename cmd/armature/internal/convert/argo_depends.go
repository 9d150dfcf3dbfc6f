package convert

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// depends is what a task of a DAG waits for: the names, and the text of "depends" if there is one.
type depends struct {
	task  field
	names []string
	text  string
}

// dependsToken is a token of a "depends".
var dependsToken = regexp.MustCompile(`^\s*([A-Za-z0-9_-]+(?:\.[A-Za-z]+)?|&&|\|\||[!()])`)

// dependencies reads what a task waits for.
func (f *argoFlow) dependencies(task field) depends {
	d := depends{task: task, names: task.get("dependencies").strings()}
	d.text = task.get("depends").text()
	tokens, _ := tokensOf(d.text, dependsToken)
	for _, token := range tokens {
		if strings.ContainsAny(token, "&|!()") {
			continue
		}
		if name, _, _ := strings.Cut(token, "."); !slices.Contains(d.names, name) {
			d.names = append(d.names, name)
		}
	}
	return d
}

// parse makes a condition of a "depends", of which one returns those of the tasks.
func (d depends) parse(one func(name, how string) condition) (condition, error) {
	tokens, err := tokensOf(d.text, dependsToken)
	if err != nil {
		return condition{}, err
	}
	return (&whenParser{tokens: tokens, operands: func(token string) (condition, error) {
		name, how, cut := strings.Cut(token, ".")
		if strings.ContainsAny(token, "&|!()") {
			return condition{}, fmt.Errorf("%q isn't understood", token)
		}
		if _, ok := (&outcomes{}).phase(how); cut && !ok {
			return condition{}, fmt.Errorf("%s has no counterpart", token)
		}
		return one(name, how), nil
	}}).parse()
}

// unreadable says what of a "depends" has no counterpart.
func (d depends) unreadable() error {
	if d.text == "" {
		return nil
	}
	_, err := d.parse(func(string, string) condition { return constant(true) })
	return err
}

// render returns the condition on which a task starts, and whether it is that all have succeeded.
func (d depends) render(f *argoFlow, visible scope) (c condition, plain bool) {
	plain = true
	one := func(name, how string) condition {
		o := visible[name]
		if how == "" {
			plain = plain && o.plain
			if o.goesOn && !o.allowed {
				f.handled(d.task.get("continueOn").orElse(d.task))
			}
			return o.ok()
		}
		c, _ := o.phase(how)
		plain = plain && how == "Succeeded"
		return c
	}
	c = constant(true)
	if d.text == "" {
		for _, name := range d.names {
			c = and(c, one(name, ""))
		}
		return c, plain
	}
	if d.unreadable() != nil {
		for _, name := range d.names {
			c = and(c, visible[name].succeeded)
		}
		return c, true
	}
	c, _ = d.parse(one)
	if strings.ContainsAny(d.text, "|!") {
		plain = false
	}
	if strings.Contains(c.text, ".failed") || strings.ContainsAny(d.text, "|!") {
		f.handled(d.task.get("depends"))
	}
	return c, plain
}

// orElse returns the field if it is there, and another if not.
func (f field) orElse(other field) field {
	if f.has() {
		return f
	}
	return other
}

// condition converts a task's "when". One that the flow can't express blocks the task.
func (f *argoFlow) condition(p *place, task field, others scope) condition {
	if err := f.dependencies(task).unreadable(); err != nil {
		f.block(p, task.get("depends"), "%v", err)
	}
	if depends := task.get("depends"); depends.has() && depends.value != asText(depends.value) {
		f.block(p, depends, "want a text")
	}
	if dependencies := task.get("dependencies"); dependencies.has() && !dependencies.areTexts() {
		f.block(p, dependencies, "want a list of names")
	}
	when := task.get("when")
	if !when.has() {
		return constant(true)
	}
	own, err := parseWhen(substitute(valueText(when.value), p.outer), func(task, what, value string) (condition, error) {
		if what == workflowStatus {
			return stateIs(p.last, value)
		}
		o := others[task]
		if o == nil {
			return condition{}, fmt.Errorf("%s doesn't come before", task)
		}
		if what == "status" {
			if c, ok := o.phase(value); ok {
				if strings.Contains(c.text, ".failed") {
					f.handled(when)
				}
				return c, nil
			}
			return constant(false), nil
		}
		if o.node == "" {
			return condition{}, fmt.Errorf("%s has no output, being several Jobs", task)
		}
		f.root.source.note(when.path, "the output of %s is what it writes to /dev/termination-log, not what it prints", task)
		return condition{text: fmt.Sprintf("%s == %q", outcome(o.node, "output"), value)}, nil
	})
	if err != nil {
		f.block(p, when, "it can't be expressed in terms of jobs.<name>: %v", err)
		return constant(true)
	}
	when.take()
	return own
}

// stateIs is the condition that the flow has ended in one of Argo's phases, which finally can be about.
func stateIs(last bool, phase string) (condition, error) {
	state, ok := map[string]string{"Succeeded": "Succeed", "Failed": "Failed", "Error": "Failed"}[phase]
	switch {
	case !last:
		return condition{}, fmt.Errorf("%s is known in the exit handler only", workflowStatus)
	case !ok:
		return constant(false), nil
	}
	return condition{text: fmt.Sprintf("state == %q", state)}, nil
}
