package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// mostItems is how many items a forEach can have.
	mostItems = 1000
	// mostOfCondition is the maximum number of characters that a condition needs to name the nodes of a task's items. The condition of
	// a dependent can name them several times, and may have 4096.
	mostOfCondition = 1000
)

var (
	// sequenceFormat is a format of one number.
	sequenceFormat = regexp.MustCompile(`^[^%]*%[0-9]*[dxX][^%]*$`)
	// inItem is what Kubernetes replaces in an item.
	inItem = regexp.MustCompile(`\$[$(]`)
)

// items makes a forEach of a task's items.
func (f *argoFlow) items(p *place, node map[string]any) {
	if list := p.task.get("withItems"); list.isEmptyList() {
		list.take() // Argo runs the task once then
	} else if list.has() {
		if _, ok := list.value.([]any); !ok {
			f.block(p, list, "want a list of items")
			return
		}
		items := []any{}
		for _, item := range list.items() {
			text, ok := item.scalar()
			if !ok {
				f.block(p, list, "an item is a text; this one is an object, a list or null")
				return
			}
			text = substitute(text, p.outer)
			f.unfilled(field{item.source, item.path, text}, p)
			items = append(items, text)
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
	if found := outputPlaceholder.FindStringSubmatch(text); found != nil && found[0] == strings.TrimSpace(text) {
		param.take()
		node["forEach"] = map[string]any{"fromOutput": found[1]}
		return
	}
	items, err := itemsOf(text)
	if err != nil || parameter.MatchString(text) || len(items) > mostItems {
		f.block(p, param, "want a JSON list of at most %d items, or the output of a task that this one depends on", mostItems)
		return
	}
	param.take()
	node["forEach"] = map[string]any{"items": items}
}

// itemsOf returns the items of a JSON list: texts as they are, others as JSON, numbers with all their digits.
func itemsOf(text string) ([]any, error) {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	items := []any{}
	for _, encoded := range list {
		decoder := json.NewDecoder(bytes.NewReader(encoded))
		decoder.UseNumber()
		var item any
		if err := decoder.Decode(&item); err != nil {
			return nil, err
		}
		switch item.(type) {
		case nil:
			return nil, errors.New("an item is null")
		case string:
			items = append(items, item)
			continue
		}
		compact, err := json.Marshal(item)
		if err != nil {
			return nil, err
		}
		items = append(items, string(compact))
	}
	return items, nil
}

// sequence makes a forEach of the numbers of withSequence, if they are known.
func (f *argoFlow) sequence(p *place, node map[string]any) {
	s := p.task.get("withSequence")
	if !s.has() {
		return
	}
	number := func(name string) (int64, bool) { // of 62 bits, so that no sum or difference overflows
		n, err := strconv.ParseInt(substitute(valueText(s.get(name).value), p.outer), 10, 62)
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
		format = substitute(asText(s.get("format").value), p.outer)
	}
	step := int64(1)
	if end < start && !s.get("count").has() { // Argo counts down then
		step = -1
	}
	if !known || !hasEnd || !sequenceFormat.MatchString(format) || parameter.MatchString(format) || (end-start)*step >= mostItems {
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

// hasItems reports whether a task is run once for each item.
func hasItems(task field) bool {
	items := task.get("withItems")
	return items.has() && !items.isEmptyList() || task.get("withParam").has() || task.get("withSequence").has()
}

// isEmptyList reports whether the value is a list without items.
func (f field) isEmptyList() bool {
	list, ok := f.value.([]any)
	return ok && len(list) == 0
}

// nodesOf makes the nodes of a place: one, or one for each item.
//
// The item of a forEach is in a variable of the containers. If it is needed where Kubernetes replaces no variables, each item that is known
// has a node of its own, up to a number: a forEach is shorter, and what depends on it has shorter conditions. An item with a reference to
// a variable has one, too, since Kubernetes replaces it there as in Argo, but not in the value of a variable.
func (f *argoFlow) nodesOf(p *place, at field) []map[string]any {
	node := map[string]any{}
	if p.task.has() {
		f.items(p, node)
	}
	each, _ := node["forEach"].(map[string]any)
	items, _ := each["items"].([]any)
	p.each = each != nil
	reference := slices.ContainsFunc(items, func(item any) bool { return inItem.MatchString(item.(string)) })
	length := len(items) * len(" && "+outcome(slug(p.prefix)+"-00", "succeeded"))
	if len(items) == 0 || length > mostOfCondition || !f.itemRemains(p) && !reference {
		node["name"] = f.nameFor(p.prefix, at.path)
		f.job(p, node)
		return []map[string]any{node}
	}
	p.each = false
	params, nodes := p.params, []map[string]any{}
	for i, item := range items {
		is := map[string]string{"item": item.(string)}
		p.params = maps.Clone(is)
		for key, value := range params {
			p.params[key] = substitute(value, is)
		}
		node := map[string]any{"name": f.uniqueName(fmt.Sprintf("%s-%d", slug(p.prefix), i))}
		f.job(p, node)
		nodes = append(nodes, node)
	}
	f.root.source.rename(at.path, "each item of the task %s has a node, %s to %s", p.prefix, nodes[0]["name"], nodes[len(nodes)-1]["name"])
	return nodes
}

// itemRemains reports whether the item is needed where Kubernetes replaces no variables, or in a variable that a container sets itself.
func (f *argoFlow) itemRemains(p *place) bool {
	t := p.template
	for _, c := range slices.Concat([]field{t.get("container"), t.get("script")}, t.get("initContainers").items(), t.get("sidecars").items()) {
		if container, ok := fill(runtime.DeepCopyJSONValue(c.value), p.params).(map[string]any); ok {
			rest, own := p.remaining(container)
			if len(own) > 0 || itemPlaceholder.MatchString(fmt.Sprint(rest)) {
				return true
			}
		}
	}
	for _, name := range slices.Concat(podFields, podLists, []string{"metadata", "retryStrategy", "timeout"}) {
		if itemPlaceholder.MatchString(fmt.Sprint(fill(runtime.DeepCopyJSONValue(t.get(name).value), p.params))) {
			return true
		}
	}
	return false
}
