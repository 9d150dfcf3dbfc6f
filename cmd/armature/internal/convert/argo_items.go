package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mostItems is how many items a forEach can have.
const mostItems = 1000

var (
	// outputOf is a text that is nothing but the output of another task.
	outputOf = regexp.MustCompile(`^\s*\{\{\s*(?:tasks|steps)\.([A-Za-z0-9_-]+)\.outputs\.(result|parameters\.[A-Za-z0-9_-]+)\s*\}\}\s*$`)
	// sequenceFormat is a format of one number.
	sequenceFormat = regexp.MustCompile(`^[^%]*%[0-9]*[dxX][^%]*$`)
	notInEnv       = regexp.MustCompile(`[^A-Z0-9]+`)
)

// items makes a forEach of a task's items. The item is in the environment, so that {{item}} becomes $(ITEM).
func (f *argoFlow) items(p place, node map[string]any) {
	if list := p.task.get("withItems"); list.has() {
		var items []any
		for _, item := range list.items() {
			if _, simple := item.value.(map[string]any); simple {
				list.drop("an item is a text; those that are objects aren't carried over")
				return
			}
			items = append(items, substitute(valueText(item.value), p.outer))
		}
		list.take()
		node["forEach"] = map[string]any{"items": items}
	}
	f.paramItems(p, node)
	f.sequence(p, node)
	p.task.get("continueOn", "error").take()
}

// paramItems makes a forEach of withParam: a JSON list that is known, or the output of a task before.
func (f *argoFlow) paramItems(p place, node map[string]any) {
	param := p.task.get("withParam")
	if !param.has() {
		return
	}
	text := substitute(asText(param.value), p.outer)
	if from, ok := f.outputBefore(p, text, param); ok {
		param.take()
		node["forEach"] = map[string]any{"fromOutput": from}
		return
	}
	var list []any
	if json.Unmarshal([]byte(text), &list) != nil || len(list) > mostItems {
		param.drop("want a JSON list of at most %d items, or the output of a task that this one depends on", mostItems)
		return
	}
	items := []any{}
	for _, item := range list {
		if s, ok := item.(string); ok {
			items = append(items, s)
			continue
		}
		encoded, err := json.Marshal(item)
		if err != nil {
			param.drop("%v", err)
			return
		}
		items = append(items, string(encoded))
	}
	param.take()
	node["forEach"] = map[string]any{"items": items}
}

// sequence makes a forEach of the numbers of withSequence, if they are known.
func (f *argoFlow) sequence(p place, node map[string]any) {
	s := p.task.get("withSequence")
	if !s.has() {
		return
	}
	number := func(name string) (int, bool) {
		n, err := strconv.Atoi(substitute(valueText(s.get(name).value), p.outer))
		return n, err == nil
	}
	start, _ := number("start") // 0 if it isn't there
	end, hasEnd := number("end")
	if count, hasCount := number("count"); hasCount {
		end, hasEnd = start+count-1, true
	}
	format := "%d"
	if s.get("format").has() {
		format = asText(s.get("format").value)
	}
	step := 1
	if end < start && !s.get("count").has() { // Argo counts down then
		step = -1
	}
	if !hasEnd || !sequenceFormat.MatchString(format) || (end-start)*step >= mostItems {
		s.drop("want numbers that are known, of which there are at most %d", mostItems)
		return
	}
	items := []any{}
	for n := start; (end-n)*step >= 0; n += step {
		items = append(items, fmt.Sprintf(format, n))
	}
	for _, name := range []string{"start", "end", "count", "format"} { // another field is told of
		s.get(name).take()
	}
	node["forEach"] = map[string]any{"items": items}
}

// inputs passes outputs of tasks before on that are values of parameters: as variables of the containers.
func (f *argoFlow) inputs(p place, node map[string]any) {
	var inputs []any
	for _, key := range slices.Sorted(maps.Keys(p.params)) {
		from, ok := f.outputBefore(p, p.params[key], p.task.get("arguments"))
		if !ok {
			continue
		}
		env := strings.Trim(notInEnv.ReplaceAllString(strings.ToUpper(from), "_"), "_") + "_OUTPUT"
		p.params[key] = "$(" + env + ")"
		if input := map[string]any{"env": env, "from": from}; !slices.ContainsFunc(inputs, func(i any) bool { return fmt.Sprint(i) == fmt.Sprint(input) }) {
			inputs = append(inputs, input)
		}
	}
	if len(inputs) > 0 {
		node["inputs"] = inputs
	}
}

// outputBefore returns the node whose output a text is, if it is one that this node depends on.
func (f *argoFlow) outputBefore(p place, text string, where field) (string, bool) {
	found := outputOf.FindStringSubmatch(text)
	if found == nil || !slices.Contains(p.after, f.nodeOf(found[1])) {
		return "", false
	}
	f.root.source.note(where.path, "the output of %s is what it writes to /dev/termination-log, not what it prints or has in a file", found[1])
	return f.nodeOf(found[1]), true
}
