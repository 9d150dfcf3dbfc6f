package convert

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// What is known only during the run is a variable of the containers: the item of a forEach, the flow's status in finally, and outputs. In
// texts it is a placeholder, until all else is filled in: {{item}} and {{workflow.status}} as in Argo, and {{node x output}}.
var (
	placeholder = regexp.MustCompile(`\{\{\s*=?\s*(?:(item)|(workflow\.status)|node ([a-z0-9-]+) output)\s*\}\}`)
	// outputPlaceholder stands for the output of a node.
	outputPlaceholder = regexp.MustCompile(`\{\{\s*node ([a-z0-9-]+) output\s*\}\}`)
	itemPlaceholder   = regexp.MustCompile(`\{\{\s*=?\s*item\s*\}\}`)
	// outputOf is the output of another task.
	outputOf = regexp.MustCompile(`\{\{\s*(?:tasks|steps)\.([A-Za-z0-9_-]+)\.outputs\.(result|parameters\.[A-Za-z0-9_-]+)\s*\}\}`)
	notInEnv = regexp.MustCompile(`[^A-Z0-9]+`)
)

// workflowStatus is the parameter that exit handlers have.
const workflowStatus = "workflow.status"

// Variables that the operator sets.
const (
	itemVariable   = "ITEM"
	statusVariable = "FLOW_STATUS"
)

// refer puts the nodes in the place of the tasks whose outputs a text has, if they come before.
func (f *argoFlow) refer(text string, others scope, where field) string {
	return outputOf.ReplaceAllStringFunc(text, func(found string) string {
		task := outputOf.FindStringSubmatch(found)[1]
		o := others[task]
		if o == nil || o.node == "" {
			return found
		}
		f.root.source.note(where.path, "the output of %s is what it writes to /dev/termination-log, not what it prints or has in a file", task)
		return "{{node " + o.node + " output}}"
	})
}

// variable returns the variable that a placeholder stands for in a place: empty if it is no placeholder, or has no value there.
func (p *place) variable(found string) string {
	switch m := placeholder.FindStringSubmatch(found); {
	case m == nil:
	case m[1] != "" && p.each:
		return itemVariable
	case m[2] != "" && p.last:
		return statusVariable
	case m[3] != "":
		name := strings.Trim(notInEnv.ReplaceAllString(strings.ToUpper(m[3]), "_"), "_") + "_OUTPUT"
		if name[0] >= '0' && name[0] <= '9' {
			name = "_" + name // Kubernetes refuses a digit at the beginning
		}
		return name
	}
	return ""
}

// why says why a reference is left where it is.
func (p *place) why(found string) string {
	if p.variable(found) == "" {
		return found + " has no value here"
	}
	if m := outputPlaceholder.FindStringSubmatch(found); m != nil {
		found = "the output of " + m[1]
	}
	return found + " is known only during the run, in a variable, which Kubernetes replaces only in command, args, env and subPathExpr"
}

// whereReplaced changes the texts of a container in which Kubernetes replaces variables, and a script's source, which becomes one of them.
func whereReplaced(container map[string]any, change func(string) string) {
	for _, name := range []string{"command", "args"} {
		mapTexts(container[name], change)
	}
	in := func(object map[string]any, name string) {
		if text, ok := object[name].(string); ok {
			object[name] = change(text)
		}
	}
	in(container, "source")
	for _, of := range [][2]string{{"env", "value"}, {"volumeMounts", "subPathExpr"}} {
		items, _ := container[of[0]].([]any)
		for _, item := range items {
			if object, ok := item.(map[string]any); ok {
				in(object, of[1])
			}
		}
	}
}

// remaining returns a container without the placeholders that can be variables, and the operator's variables that it needs but sets itself.
func (p *place) remaining(container map[string]any) (rest map[string]any, own []string) {
	rest = runtime.DeepCopyJSON(container)
	sets := variablesOf(container)
	whereReplaced(rest, func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(found string) string {
			switch name := p.variable(found); {
			case name == "":
				return found
			case (name == itemVariable || name == statusVariable) && sets[name] && !slices.Contains(own, name):
				own = append(own, name)
			}
			return ""
		})
	})
	return rest, own
}

// variablesOf returns the names of the variables that a container sets itself, which the operator's don't replace.
func variablesOf(container map[string]any) map[string]bool {
	sets := map[string]bool{}
	list, _ := container["env"].([]any)
	for _, item := range list {
		if variable, ok := item.(map[string]any); ok {
			sets[asText(variable["name"])] = true
		}
	}
	return sets
}

// variables puts variables in the place of the placeholders in a Job, and passes on to it the outputs that it needs.
func (f *argoFlow) variables(p *place, node map[string]any, containers []any) {
	sets, outputs := map[string]bool{}, map[string]string{}
	for _, c := range containers {
		maps.Copy(sets, variablesOf(c.(map[string]any)))
	}
	nameOf := func(found string) string {
		name, m := p.variable(found), outputPlaceholder.FindStringSubmatch(found)
		switch {
		case name == statusVariable:
			f.root.source.note(p.template.path, "the status is in FLOW_STATUS: Succeed or Failed, not Succeeded")
		case m != nil && outputs[m[1]] != "":
			name = outputs[m[1]]
		case m != nil:
			for base, n := name, 2; sets[name]; n++ {
				name = fmt.Sprintf("%s_%d", base, n)
			}
			outputs[m[1]], sets[name] = name, true
		}
		return name
	}
	for _, c := range containers {
		whereReplaced(c.(map[string]any), func(text string) string { return withVariables(text, nameOf) })
	}
	names := slices.Sorted(maps.Keys(outputs))
	var inputs []any
	for _, from := range names {
		inputs = append(inputs, map[string]any{"env": outputs[from], "from": from})
	}
	if each, ok := node["forEach"].(map[string]any); ok && each["fromOutput"] != nil {
		names = append(names, each["fromOutput"].(string))
	}
	p.needs = append(p.needs, names...)
	if len(inputs) > 0 {
		node["inputs"] = inputs
	}
}

// withVariables puts variables in the place of a text's placeholders. A placeholder without a variable stays.
//
// Kubernetes makes of the result what it makes of Argo's text, which has the values. It reads a text from left to right, makes $ of $$, and
// replaces what is between $( and the next ) if that is a variable. So a $ before a placeholder is escaped, and so is each $ from $( to )
// if a placeholder is between, as in a shell's $(cat {{item}}). Only an empty value isn't as in Argo where it joins a $ with a $, a ( or a
// name after it: no text is right for both an empty value and another one.
func withVariables(text string, variable func(placeholder string) string) string {
	placeholders := slices.DeleteFunc(placeholder.FindAllStringIndex(text, -1), func(m []int) bool { return variable(text[m[0]:m[1]]) == "" })
	var b strings.Builder
	i, escape := 0, 0 // up to escape, each $ is escaped
	for len(placeholders) > 0 {
		next := placeholders[0][0]
		switch {
		case i == next:
			b.WriteString("$(" + variable(text[i:placeholders[0][1]]) + ")")
			i, placeholders = placeholders[0][1], placeholders[1:]
		case text[i] != '$':
			b.WriteByte(text[i])
			i++
		case i < escape:
			b.WriteString("$$")
			i++
		case i+1 == next:
			escape = next
		case text[i+1] == '$':
			b.WriteString("$$")
			i += 2
		case text[i+1] == '(':
			inner := strings.IndexByte(text[i:], ')')
			switch {
			case inner < 0: // Kubernetes leaves a $( that isn't closed
				escape = i + 1
			case i+inner > next:
				escape = i + inner
			default:
				b.WriteString(text[i : i+inner+1])
				i += inner + 1
			}
		default:
			b.WriteByte('$')
			i++
		}
	}
	end := max(i, escape)
	return b.String() + escaped(text[i:end]) + text[end:]
}

// escaped returns a text in which Kubernetes replaces nothing.
func escaped(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// mapTexts replaces all texts in a value.
func mapTexts(value any, change func(string) string) any {
	switch v := value.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = mapTexts(v[i], change)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			v[key] = mapTexts(v[key], change)
		}
	}
	return value
}
