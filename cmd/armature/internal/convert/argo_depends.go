package convert

import (
	"regexp"
	"slices"
	"strings"
)

// depends is what a task of a DAG waits for: the names, and the text of "depends" if there is one.
type depends struct {
	names []string
	text  string
}

var (
	inDepends        = regexp.MustCompile(`[A-Za-z0-9_-]+(?:\.[A-Za-z]+)?|&&|\|\||[!()]`)
	outputComparison = regexp.MustCompile(`^\s*"?'?(\{\{)(?:tasks|steps)\.([A-Za-z0-9_-]+)\.outputs\.result\}\}"?'?\s*(==|!=)\s*(.+?)\s*$`)
)

// outcomes are Argo's, in terms of when.
var outcomes = map[string]string{"Succeeded": "succeeded", "Failed": "failed", "Errored": "failed", "Skipped": "skipped", "Omitted": "skipped"}

// dependencies reads what a task waits for.
func (f *argoFlow) dependencies(task field) depends {
	d := depends{names: task.get("dependencies").strings()}
	expression := task.get("depends")
	if !expression.has() {
		return d
	}
	d.text = expression.text()
	for _, token := range inDepends.FindAllString(d.text, -1) {
		if strings.ContainsAny(token, "&|!()") {
			continue
		}
		name, how, _ := strings.Cut(token, ".")
		if !slices.Contains(d.names, name) {
			d.names = append(d.names, name)
		}
		if how != "" && outcomes[how] == "" {
			expression.drop("%s has no counterpart; the task starts when all of %s have succeeded", token, strings.Join(d.names, ", "))
			d.text = ""
			return d
		}
	}
	return d
}

// render returns the condition on which a task starts; empty if it is that all have succeeded.
func (f *argoFlow) render(d depends, ends map[string][]string, tasks map[string]field) string {
	var b strings.Builder
	special := false
	one := func(name, how string) {
		var terms []string
		for _, end := range ends[name] {
			if how == "" {
				goesOn := tasks[name].get("continueOn", "failed").isTrue()
				term, plain := afterwards(end, goesOn, tasks[name].get("when").has())
				terms, special = append(terms, term), special || !plain
				f.onFailure = f.onFailure || goesOn
				continue
			}
			special = special || outcomes[how] != "succeeded"
			f.onFailure = f.onFailure || outcomes[how] == "failed"
			terms = append(terms, outcome(end, outcomes[how]))
		}
		if len(terms) == 0 {
			terms = []string{"true"}
		}
		text := strings.Join(terms, " && ")
		if len(terms) > 1 {
			text = "(" + text + ")"
		}
		b.WriteString(text)
	}
	if d.text == "" {
		for i, name := range d.names {
			if i > 0 {
				b.WriteString(" && ")
			}
			one(name, "")
		}
	}
	for _, token := range inDepends.FindAllString(d.text, -1) {
		switch token {
		case "&&", "||":
			special = special || token == "||"
			b.WriteString(" " + token + " ")
		case "!", "(", ")":
			special = special || token == "!"
			b.WriteString(token)
		default:
			name, how, _ := strings.Cut(token, ".")
			one(name, how)
		}
	}
	if !special {
		return ""
	}
	return b.String()
}

// nodeOf returns the node that a task of this name is; of one that is several, or unknown, its own name.
func (f *argoFlow) nodeOf(task string) string {
	return strings.Trim(notInName.ReplaceAllString(strings.ToLower(task), "-"), "-")
}
