package convert

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// outcomes are the conditions on which a task has ended in one of Argo's phases, in terms of the nodes made of it.
type outcomes struct {
	// node is the task's node, if it is one that has an output.
	node string
	// nodes are those after which the task has ended.
	nodes []string
	// Exactly one of these holds once the nodes have ended. Skipped: its own "when" wasn't true. Omitted: those that it
	// depends on didn't let it start.
	succeeded, failed, skipped, omitted condition
	// goesOn: what depends on it starts after its failure, too.
	goesOn bool
	// allowed: its failure doesn't fail the flow. Of a DAG or steps that goes on, each node's does.
	allowed bool
	// bad is the condition on which the task makes its DAG fail, if nothing in the DAG depends on it. Argo takes over the
	// phase of what came before if the task itself didn't run.
	bad condition
	// plain: it starts when others have succeeded, and what depends on it does so when it has succeeded.
	plain bool
}

// outcomesOf are the outcomes of a task that is one node, or several that end with these. It has a start, and a condition of its own.
func outcomesOf(one bool, nodes []string, begin start, own, done condition) *outcomes {
	o := &outcomes{nodes: nodes, succeeded: done}
	if one && len(nodes) == 1 {
		skipped := condition{text: outcome(nodes[0], "skipped")}
		o.failed = condition{text: outcome(nodes[0], "failed")}
		o.skipped, o.omitted = constant(false), skipped
		if !own.always() {
			o.skipped, o.omitted = and(skipped, begin.when), and(skipped, not(begin.when))
		}
		return o
	}
	o.failed = and(begin.when, own, not(done))
	o.skipped, o.omitted = and(begin.when, not(own)), not(begin.when)
	return o
}

// ok is the condition on which what depends on the task starts, if it doesn't say more.
func (o *outcomes) ok() condition {
	if o.goesOn {
		return or(o.succeeded, o.failed, o.skipped)
	}
	return or(o.succeeded, o.skipped)
}

// scope is what a DAG or steps know of each other: the outcomes of tasks by name.
type scope map[string]*outcomes

// phase returns the condition on which a task is in a phase.
func (o *outcomes) phase(name string) (condition, bool) {
	switch name {
	case "Succeeded":
		return o.succeeded, true
	case "Failed", "Errored", "Error":
		return o.failed, true
	case "Skipped":
		return o.skipped, true
	case "Omitted":
		return o.omitted, true
	}
	return condition{}, false
}

var inCondition = regexp.MustCompile(`jobs(?:\.([a-z][a-z0-9]*)|\["([a-z0-9-]+)"\])\.[a-z]+`)

// nodesIn returns the nodes that a condition is about.
func nodesIn(c condition) []string {
	names := map[string]bool{}
	for _, found := range inCondition.FindAllStringSubmatch(c.text, -1) {
		names[found[1]+found[2]] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// succeeded is the condition that a node has succeeded.
func succeeded(node string) condition { return condition{text: outcome(node, "succeeded")} }

// start says when something starts: once nodes have ended, if the condition holds.
type start struct {
	after []string
	when  condition
}

// write puts it into a node. A condition that is the success of all is what a node has by itself, if no failure of them is allowed.
func (s start) write(node map[string]any, allowed map[string]bool) {
	after, when := s.of(allowed)
	if len(after) > 0 {
		node["dependencies"] = anys(after)
	}
	if when != "" {
		node["when"] = when
	}
}

// of returns the dependencies of a start, and its condition, empty if the dependencies say the same.
func (s start) of(allowed map[string]bool) (after []string, when string) {
	after = slices.Clone(s.after)
	for _, name := range nodesIn(s.when) {
		if !slices.Contains(after, name) {
			after = append(after, name)
		}
	}
	var all []condition
	for _, name := range after {
		all = append(all, succeeded(name))
	}
	goesOn := slices.ContainsFunc(after, func(name string) bool { return allowed[name] })
	terms := strings.Split(s.when.String(), " && ")
	if len(terms) == len(all) && sameTerms(terms, all) && !goesOn || len(after) == 0 && s.when.always() {
		return after, ""
	}
	return after, s.when.unwrapped()
}

func sameTerms(terms []string, all []condition) bool {
	for _, c := range all {
		if !slices.Contains(terms, c.text) {
			return false
		}
	}
	return true
}

// block has a place wait for something that never comes by itself: what can't be carried over must not run as if nothing
// was said. The reason is noted.
func (f *argoFlow) block(p *place, at field, format string, args ...any) {
	p.blocked = append(p.blocked, blocked{at, fmt.Sprintf(format, args...)})
}

// blocked is a field that keeps a place from running.
type blocked struct {
	at  field
	why string
}

// gate makes a node that waits for a JobTemplate that isn't there, before a place that is blocked. False: the place is in finally, where
// nothing waits for anything, and isn't run.
func (f *argoFlow) gate(p *place) bool {
	if len(p.blocked) == 0 {
		return true
	}
	if p.last {
		for _, b := range p.blocked {
			b.at.drop("%s; the exit handler isn't run", b.why)
		}
		return false
	}
	name := f.uniqueName(slug(p.prefix) + "-gate")
	for _, b := range p.blocked {
		b.at.drop("%s; %s waits for the node %s, which can't start: see to it, and take the node out", b.why, slug(p.prefix), name)
	}
	node := map[string]any{"name": name, "jobTemplateRef": name}
	p.start.write(node, f.allowed)
	f.nodes = append(f.nodes, node)
	p.start = start{[]string{name}, succeeded(name)}
	p.blocked = nil
	return true
}
