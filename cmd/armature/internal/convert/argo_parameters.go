package convert

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// parameter is a reference in a text to what Argo fills in: a parameter, most of the time. An expression, which begins with =, ends at the
// first }}, as in Argo, whatever is between. Other braces, as in a script, are none.
var parameter = regexp.MustCompile(`(?s)\{\{\s*(=.*?|[^{}]+?)\s*\}\}`)

// scalar takes the text of a parameter's value. False: it has none that is known, as Argo takes no value from an object or a list.
func (f field) scalar() (string, bool) {
	switch f.value.(type) {
	case nil, map[string]any, []any:
		return "", false
	}
	return valueText(f.take()), true
}

// valueText renders a value as Argo does.
func valueText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// parameters returns the values that a template's parameters have with these arguments, in which the outer parameters are filled in.
//
// An argument whose value isn't known refers to itself, so that it blocks what uses it. The template's default isn't taken: Argo refuses
// an argument without a value, and one with valueFrom has another.
func (f *argoFlow) parameters(arguments field, outer map[string]string, others scope) map[string]string {
	params := maps.Clone(f.params)
	for _, argument := range arguments.get("parameters").items() {
		key := "inputs.parameters." + argument.get("name").text()
		value, known := argument.get("value").scalar()
		if !known {
			params[key] = "{{" + key + "}}"
			continue
		}
		params[key] = f.refer(substitute(value, outer), others, argument.get("value"))
	}
	return params
}

// defaults gives the parameters of a template the values that it has for those that a task doesn't give. One with valueFrom has none that
// is known.
func (f *argoFlow) defaults(p place) {
	for _, input := range p.template.get("inputs", "parameters").items() {
		key := "inputs.parameters." + input.get("name").text()
		value, known := input.get("value").scalar()
		if otherwise, has := input.get("default").scalar(); !known {
			value, known = otherwise, has
		}
		if _, given := p.params[key]; !given && known && !input.get("valueFrom").has() {
			p.params[key] = substitute(value, f.params)
		}
	}
}

// part takes a part of a template or of the workflow, and fills the parameters in. Those that have no value here block the place.
func (f *argoFlow) part(from field, p *place) any {
	value := fill(from.take(), p.params)
	f.unfilled(field{from.source, from.path, value}, p)
	return value
}

// unfilled blocks the place for each reference that is left in the texts and keys of a value.
func (f *argoFlow) unfilled(at field, p *place) {
	if text, ok := at.value.(string); ok {
		for _, found := range parameter.FindAllString(text, -1) {
			f.block(p, at, "%s", p.why(found))
		}
	}
	for _, child := range at.items() {
		f.unfilled(child, p)
	}
	for _, key := range at.keys() {
		child := at.get(key)
		f.unfilled(field{at.source, child.path, key}, p)
		f.unfilled(child, p)
	}
}

// fill replaces the parameters in all texts and keys of a value.
func fill(value any, params map[string]string) any {
	switch v := value.(type) {
	case string:
		return substitute(v, params)
	case []any:
		for i := range v {
			v[i] = fill(v[i], params)
		}
	case map[string]any:
		filled := make(map[string]any, len(v))
		for _, key := range sortedKeys(v) {
			filled[substitute(key, params)] = fill(v[key], params)
		}
		return filled
	}
	return value
}

// substitute replaces the parameters that have a value.
func substitute(text string, params map[string]string) string {
	return parameter.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.TrimSpace(strings.TrimPrefix(parameter.FindStringSubmatch(found)[1], "="))
		if value, ok := params[name]; ok {
			return value
		}
		return found
	})
}
