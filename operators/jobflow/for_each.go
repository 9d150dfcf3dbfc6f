package jobflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// noItems is the message of a node whose list is empty.
const noItems = "there are no items"

// itemKey is an item of a node.
type itemKey struct{ node, item int }

// itemRun is how far a forEach is.
type itemRun struct {
	of      string         // which list of items it is
	states  []record.State // of the items
	started bool           // there are Jobs of this attempt
}

// size is how much room it takes in a status at most.
func (r *itemRun) size() int { return itemsSize(len(r.states)) }

func itemsSize(items int) int { return 129 + 4*items }

func (r *itemRun) count(s record.State) int {
	n := 0
	for _, is := range r.states {
		if is == s {
			n++
		}
	}
	return n
}

// observeItems finds out what has become of the items that haven't ended.
func (p *pass) observeItems() {
	p.items = map[int]*itemRun{}
	for i := range p.flow.Status.Items {
		s := &p.flow.Status.Items[i]
		node, ok := p.Index[s.Name]
		if !ok || p.States[node] == record.Succeeded {
			continue
		}
		r := &itemRun{of: s.Digest, states: make([]record.State, min(max(int(s.Total), 0), graph.MaxItems))}
		for item := range s.Succeeded.Below(len(r.states)) {
			r.states[item] = record.Succeeded
		}
		if p.retry == p.flow.Status.Retry {
			for item := range s.Failed.Below(len(r.states)) {
				r.states[item] = record.Failed
				r.started = true
			}
		}
		p.items[int(node)] = r
	}
	for key, job := range p.itemJobs {
		if !p.States[key.node].HasRun() {
			p.States[key.node] = record.Running
		}
		if r := p.items[key.node]; r != nil && key.item < len(r.states) { // else it is put on record by forEach
			p.observeItem(r, key.item, job)
		}
	}
}

// observeItem records what has become of an item, as far as its Job has come.
func (p *pass) observeItem(r *itemRun, item int, job *batchv1.Job) {
	r.started = true
	if r.states[item].HasEnded() {
		return
	}
	switch p.outcomeOf(job).Phase {
	case outcome.Running:
		r.states[item] = record.Running
		p.active++
	case outcome.Succeeded:
		r.states[item] = record.Succeeded
	case outcome.Failed:
		r.states[item] = record.Failed
	}
}

// itemList is what a forEach runs over.
type itemList struct {
	items []string
	of    string // tells it from other lists
	err   error
}

// listOf returns the list of a node that is to be started. An output is read once, however many nodes run over it.
func (p *pass) listOf(i int) itemList {
	each := p.node(i).ForEach
	if each.FromOutput == "" {
		return itemList{each.Items, hashOf(each.Items), nil}
	}
	if known, ok := p.lists[each.FromOutput]; ok {
		return known
	}
	items, err := p.read(each.FromOutput)
	if err != nil {
		return itemList{err: err}
	}
	p.lists[each.FromOutput] = itemList{items, hashOf(items), nil}
	return p.lists[each.FromOutput]
}

// read returns the output of a flow as a list.
func (p *pass) read(name string) ([]string, error) {
	output, err := p.output(int(p.Index[name]))
	if err != nil {
		return nil, err
	}
	return itemsIn(name, output)
}

// itemsIn returns the items of a flow's output, which is a JSON list.
func itemsIn(name, output string) ([]string, error) {
	var values []json.RawMessage
	if err := json.Unmarshal([]byte(output), &values); err != nil {
		return nil, fmt.Errorf("the output of flow %q is no JSON list: %w; it begins with %q", name, err, message.CutJSON(output, 40))
	}
	if values == nil {
		return nil, fmt.Errorf("the output of flow %q is no JSON list: it is null", name)
	}
	if len(values) > graph.MaxItems {
		return nil, fmt.Errorf("the output of flow %q has %d items, more than %d", name, len(values), graph.MaxItems)
	}
	items := make([]string, len(values))
	for n, raw := range values {
		if json.Unmarshal(raw, &items[n]) != nil || string(raw) == "null" { // no string: as JSON
			items[n] = string(raw)
		}
	}
	return items, nil
}

// forEach starts as many items of a node as may be started, and ends the node when all of them have ended.
func (p *pass) forEach(i int) {
	list := p.listOf(i)
	if list.err != nil {
		p.end(i, record.Failed, finding{message: "forEach: " + list.err.Error()})
		return
	}
	items, of := list.items, list.of
	if len(items) == 0 {
		p.end(i, record.Succeeded, finding{message: noItems})
		return
	}
	r := p.items[i]
	switch {
	case r != nil && r.of == of:
	case r != nil && r.started:
		p.block(i, v1alpha1.ReasonEditRefused, "has other forEach items than at its start: items that haven't started wait until you restore the list")
		p.endItems(i, r)
		return
	case !p.fitsStatus(len(items)):
		p.findings[i] = finding{message: "waits until fewer items of other flows are under way"}
		return
	default:
		r = &itemRun{of: of, states: make([]record.State, len(items))}
		p.items[i] = r
		for item := range items {
			if job := p.itemJobs[itemKey{i, item}]; job != nil {
				p.observeItem(r, item, job)
			}
		}
	}
	p.startItems(i, r, items)
	p.endItems(i, r)
}

// hashOf tells a list of items from another.
func hashOf(items []string) string {
	h := fnv.New64a()
	for _, item := range items {
		fmt.Fprintf(h, "%d:%s", len(item), item)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// fitsStatus reports whether a forEach of so many items fits into the status, besides those under way.
func (p *pass) fitsStatus(items int) bool {
	taken := 0
	for i, r := range p.items {
		if !p.States[i].HasEnded() {
			taken += r.size()
		}
	}
	return taken == 0 || taken+itemsSize(items) <= limitsFor(p.Size()).items
}

// startItems starts as many items as may be active at a time, the first ones first.
func (p *pass) startItems(i int, r *itemRun, items []string) {
	template, ok := p.template(i)
	if !ok {
		return
	}
	free := len(items)
	if most := p.node(i).ForEach.MaxParallel; most != nil {
		free = int(*most) - r.count(record.Running)
	}
	for item := range items {
		if r.states[item] != record.Pending || free <= 0 || p.waitsForPods(i, item) || !p.mayStart() {
			continue
		}
		job, err := p.render(i, template, &itemEnv{item, items[item]})
		if err != nil {
			p.end(i, record.Failed, finding{message: err.Error()})
			return
		}
		p.start = append(p.start, builder.Want(job, builder.CreateOnly()))
		p.active++
		free--
	}
}

// endItems ends a node when all of its items have ended, and says how far they are.
func (p *pass) endItems(i int, r *itemRun) {
	if p.States[i].HasEnded() {
		return
	}
	done, bad := r.count(record.Succeeded), r.count(record.Failed)
	if p.States[i] == record.Pending && (done+bad > 0 || r.started) {
		p.States[i] = record.Running
	}
	message := fmt.Sprintf("%d of %d items succeeded", done, len(r.states))
	switch {
	case done+bad < len(r.states):
		if bad > 0 {
			message += fmt.Sprintf(", %d failed", bad)
		}
		if p.findings[i].message == "" {
			p.findings[i] = finding{message: message}
		}
	case bad == 0:
		p.end(i, record.Succeeded, finding{message: message})
	default:
		indexes := v1alpha1.IndexesOf(len(r.states), func(item int) bool { return r.states[item] == record.Failed })
		p.end(i, record.Failed, finding{message: fmt.Sprintf("%s; failed: %s", message, strings.ReplaceAll(string(indexes), ",", ", "))})
	}
}

// recordedItems returns the items as the status has them: of nodes under way, and of those that failed as far as there is
// room.
func (p *pass) recordedItems() []v1alpha1.ItemsStatus {
	var all []v1alpha1.ItemsStatus
	left := limitsFor(p.Size()).endedItems
	for _, i := range slices.Sorted(maps.Keys(p.items)) {
		r := p.items[i]
		in := func(s record.State) v1alpha1.Indexes {
			return v1alpha1.IndexesOf(len(r.states), func(item int) bool { return r.states[item] == s })
		}
		s := v1alpha1.ItemsStatus{Name: p.Names[i], Digest: r.of, Total: int32(len(r.states)), Succeeded: in(record.Succeeded), Failed: in(record.Failed)}
		switch {
		case p.States[i] == record.Succeeded, p.States[i] == record.Skipped, p.States[i] == record.Pending && p.node(i).ForEach == nil:
			continue
		case p.States[i] == record.Failed:
			if left -= 129 + len(s.Succeeded) + len(s.Failed); left < 0 {
				continue
			}
		}
		all = append(all, s)
	}
	return all
}

// sortedItemJobs returns the keys of the items' Jobs in their order.
func (p *pass) sortedItemJobs() []itemKey {
	return slices.SortedFunc(maps.Keys(p.itemJobs), func(a, b itemKey) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.item, b.item))
	})
}
