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
	// outputOf is the output of another task.
	outputOf = regexp.MustCompile(`\{\{\s*(?:tasks|steps)\.([A-Za-z0-9_-]+)\.outputs\.(result|parameters\.[A-Za-z0-9_-]+)\s*\}\}`)
	// sequenceFormat is a format of one number.
	sequenceFormat = regexp.MustCompile(`^[^%]*%[0-9]*[dxX][^%]*$`)
	notInEnv       = regexp.MustCompile(`[^A-Z0-9]+`)
)

// items makes a forEach of a task's items. The item is in the environment, so that {{item}} becomes $(ITEM).
func (f *argoFlow) items(p *place, node map[string]any) {
	if list := p.task.get("withItems"); list.has() {
		items := []any{}
		for _, item := range list.items() {
			switch item.value.(type) {
			case map[string]any, []any:
				f.block(p, list, "an item is a text; this one is an object or a list")
				return
			}
			items = append(items, substitute(valueText(item.value), p.outer))
		}
		list.take()
		node["forEach"] = map[string]any{"items": items}
	}
	f.paramItems(p, node)
	f.sequence(p, node)
}

// paramItems makes a forEach of withParam: a JSON list that is known, or the output of a task before.
func (f *argoFlow) paramItems(p *place, node map[string]any) {
	param := p.task.get("withParam")
	if !param.has() {
		return
	}
	text := substitute(asText(param.value), p.outer)
	text = f.refer(text, p.others, param)
	if found := outputMark.FindStringSubmatch(text); found != nil && found[0] == strings.TrimSpace(text) {
		param.take()
		node["forEach"] = map[string]any{"fromOutput": found[1]}
		return
	}
	var list []any
	if json.Unmarshal([]byte(text), &list) != nil || len(list) > mostItems {
		f.block(p, param, "want a JSON list of at most %d items, or the output of a task that this one depends on", mostItems)
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
			f.block(p, param, "%v", err)
			return
		}
		items = append(items, string(encoded))
	}
	param.take()
	node["forEach"] = map[string]any{"items": items}
}

// sequence makes a forEach of the numbers of withSequence, if they are known.
func (f *argoFlow) sequence(p *place, node map[string]any) {
	s := p.task.get("withSequence")
	if !s.has() {
		return
	}
	number := func(name string) (int, bool) {
		n, err := strconv.Atoi(substitute(valueText(s.get(name).value), p.outer))
		return n, err == nil
	}
	start, known := number("start")
	known = known || !s.get("start").has() // 0 if it isn't there
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
	if !known || !hasEnd || !sequenceFormat.MatchString(format) || (end-start)*step >= mostItems {
		f.block(p, s, "want numbers that are known, of which there are at most %d", mostItems)
		return
	}
	items := []any{}
	for n := start; (end-n)*step >= 0; n += step {
		items = append(items, fmt.Sprintf(format, n))
	}
	for _, name := range []string{"start", "end", "count", "format"} { // reports other fields
		s.get(name).take()
	}
	node["forEach"] = map[string]any{"items": items}
}

// outputMark stands for the output of a node in a text.
var outputMark = regexp.MustCompile(`\{\{\s*node ([a-z0-9-]+) output\s*\}\}`)

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

// inputs passes outputs of nodes before on that are in the Job: as variables of its containers.
func (f *argoFlow) inputs(p *place, node, job map[string]any) {
	var inputs []any
	used := map[string]string{}
	mapTexts(job, func(text string) string {
		return outputMark.ReplaceAllStringFunc(text, func(found string) string {
			from := outputMark.FindStringSubmatch(found)[1]
			if used[from] == "" {
				used[from] = strings.Trim(notInEnv.ReplaceAllString(strings.ToUpper(from), "_"), "_") + "_OUTPUT"
			}
			return "$(" + used[from] + ")"
		})
	})
	names := slices.Sorted(maps.Keys(used))
	for _, from := range names {
		inputs = append(inputs, map[string]any{"env": used[from], "from": from})
	}
	if each, ok := node["forEach"].(map[string]any); ok && each["fromOutput"] != nil {
		names = append(names, each["fromOutput"].(string))
	}
	for _, from := range names {
		if !slices.Contains(p.start.after, from) {
			p.start.after = append(p.start.after, from)
		}
	}
	if len(inputs) > 0 {
		node["inputs"] = inputs
	}
}

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
