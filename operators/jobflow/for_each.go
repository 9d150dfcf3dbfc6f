package jobflow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/items"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// noItems is the message of a node whose list is empty.
const noItems = "there are no items"

// restoreItems is the message of a node whose list was changed after its start.
const restoreItems = "has other forEach items than at its start: items that haven't started wait until you restore the list"

// itemKey is an item of a node.
type itemKey struct{ node, item int }

// observeItems sets the states of the items of nodes whose end isn't recorded, from the record and the items' Jobs.
func (p *pass) observeItems(o *observed) {
	p.items, p.itemSizes = map[int]*items.Run{}, map[int]itemsSize{}
	for i := range p.flow.Status.Items {
		s := &p.flow.Status.Items[i]
		node, ok := p.Index[s.Name]
		if !ok || p.States[node] == record.Succeeded || p.isRetryBegun() && !p.isFlow(int(node)) { // a retry runs all of finally again
			continue
		}
		p.items[int(node)] = items.Read(s, p.isRetryBegun())
	}
	for key, job := range o.itemJobs {
		if !p.States[key.node].HasRun() {
			p.States[key.node] = record.Running
		}
		state := p.stateOfItem(o, job)
		if state == record.Running {
			p.active++ // whatever the record says: the list of the Job may not be recorded
		}
		if r := p.items[key.node]; r != nil && key.item < len(r.States) { // otherwise forEach does it
			r.Observe(key.item, state)
		}
	}
}

// isRetryBegun reports whether the status doesn't record the present retry yet. Its items can have Jobs already: the process may have
// ended before it wrote the status.
func (p *pass) isRetryBegun() bool { return p.retry != p.flow.Status.Retry }

// stateOfItem returns the state of an item that has a Job.
func (p *pass) stateOfItem(o *observed, job *batchv1.Job) record.State {
	switch o.pods.Outcome(job, p.spec.EndOfJob).Phase {
	case outcome.Succeeded:
		return record.Succeeded
	case outcome.Failed:
		return record.Failed
	default:
		return record.Running
	}
}

// listOf returns the list of a node with forEach. A pass parses an output once, however many nodes run over it.
func (p *pass) listOf(i int) (items.List, error) {
	each := p.node(i).ForEach
	if each.FromOutput == "" {
		return items.ListOf(each.Items), nil
	}
	if list, ok := p.lists[each.FromOutput]; ok {
		return list, nil
	}
	output, err := p.output(int(p.Index[each.FromOutput]))
	if err != nil {
		return items.List{}, err
	}
	list, err := items.Parse(each.FromOutput, output)
	if err == nil {
		p.lists[each.FromOutput] = list
	}
	return list, err
}

// forEach starts as many items of a node as may be active, and ends the node when all items have ended.
func (p *pass) forEach(o *observed, d *decision, i int) {
	list, err := p.listOf(i)
	r := p.items[i]
	switch isStarted := r != nil && r.Started && !p.isRetryBegun(); {
	case err != nil:
		p.failForEach(i, "forEach: "+err.Error())
		return
	case isStarted && r.Digest != list.Digest:
		p.block(i, v1alpha1.ReasonEditRefused, restoreItems)
		p.endItems(i, r)
		return
	case (r == nil || r.Digest != list.Digest) && p.hasJobsOfOtherItems(o, i):
		p.block(i, v1alpha1.ReasonEditRefused, restoreItems)
		return
	case len(list.Values) == 0:
		p.end(i, record.Succeeded, finding{message: noItems})
		return
	}
	if r == nil || r.Digest != list.Digest {
		r = items.NewRun(list)
		for item := range list.Values {
			if job := o.itemJobs[itemKey{i, item}]; job != nil {
				r.Observe(item, p.stateOfItem(o, job))
			}
		}
	}
	if !r.Started && !p.fitsStatus(i, r) {
		p.findings[i] = finding{message: "waits until fewer items of other flows are under way"}
		return
	}
	p.items[i] = r
	p.startItems(o, d, i, r, list.Values)
	p.endItems(i, r)
}

// hasJobsOfOtherItems reports whether Jobs of a node's items were started for another list, which isn't recorded: the node was removed
// while they ran, or the manager crashed. Such a Job has the name of a present item.
func (p *pass) hasJobsOfOtherItems(o *observed, i int) bool {
	if p.States[i] != record.Running { // it has no Jobs
		return false
	}
	is := record.Digest(p.node(i))
	for item := range graph.MaxItems {
		job := o.itemJobs[itemKey{i, item}]
		if job == nil {
			continue
		}
		if was := job.Annotations[AnnotationStartedAs]; was != "" && slices.Contains(record.ChangedFields(was, is), "forEach") {
			return true
		}
	}
	return false
}

// failForEach fails a node, or lets it fail once the items that run have ended.
func (p *pass) failForEach(i int, why string) {
	if r := p.items[i]; r != nil && r.Count(record.Running) > 0 {
		p.findings[i] = finding{message: why + "; fails when the items that run have ended"}
		return
	}
	p.end(i, record.Failed, finding{message: why})
}

// fitsStatus reports whether the items of a node may start: whether the status has room for what their run can come to beside the items of
// other nodes. Those of one node always may.
func (p *pass) fitsStatus(i int, r *items.Run) bool {
	taken, isAlone := 0, true
	for j := range p.items {
		if j == i {
			continue
		}
		size := p.sizeOfItems(j)
		taken += size.bytes
		isAlone = isAlone && !size.grows
	}
	return isAlone || taken+r.MaxSize() <= limitsFor(p.Size()).items
}

// itemsSize is the size in the status that a node's items can come to.
type itemsSize struct {
	bytes int
	grows bool // items have started, and haven't all ended

	run     *items.Run // what the size was computed for
	state   record.State
	started bool
}

// sizeOfItems returns the size of a node's items. It computes it only once for each state, because many nodes may wait for room.
func (p *pass) sizeOfItems(i int) itemsSize {
	r := p.items[i]
	size := p.itemSizes[i]
	if size.run == r && size.state == p.States[i] && size.started == r.Started {
		return size
	}
	size = itemsSize{run: r, state: p.States[i], started: r.Started}
	if s, ok := p.itemsOf(i); ok {
		size.bytes, size.grows = items.Size(s), r.Started && !size.state.HasEnded()
	}
	if size.grows {
		size.bytes = r.MaxSize()
	}
	p.itemSizes[i] = size
	return size
}

// itemsOf returns the items of a node for the status; false if they aren't needed any more. Of a node that has ended, only those that
// succeeded are: a retry doesn't run them again.
func (p *pass) itemsOf(i int) (s v1alpha1.ItemsStatus, ok bool) {
	state := p.States[i]
	if state == record.Succeeded || state == record.Pending && p.node(i).ForEach == nil {
		return s, false
	}
	s = p.items[i].Status(p.Names[i])
	if state.HasEnded() {
		s.Failed = ""
		return s, s.Succeeded != ""
	}
	return s, true
}

// startItems starts as many items as may be active, in their order.
func (p *pass) startItems(o *observed, d *decision, i int, r *items.Run, values []string) {
	template, ok := p.template(i)
	if !ok {
		return
	}
	free := len(values)
	if most := p.node(i).ForEach.MaxParallel; most != nil {
		free = int(*most) - r.Count(record.Running)
	}
	for item := range values {
		if r.States[item] != record.Pending || free <= 0 || p.waitsForPods(o, i, item) || !p.mayStart(d) {
			continue
		}
		job, err := p.render(i, template, &itemEnv{item, values[item]})
		if err != nil {
			p.failForEach(i, err.Error())
			return
		}
		d.start = append(d.start, builder.Want(job, builder.CreateOnly()))
		r.Started = true
		p.active++
		free--
	}
}

// endItems ends a node when all of its items have ended; before that it sets the message that counts them.
func (p *pass) endItems(i int, r *items.Run) {
	if p.States[i].HasEnded() {
		return
	}
	done, bad := r.Count(record.Succeeded), r.Count(record.Failed)
	if p.States[i] == record.Pending && done+bad > 0 {
		p.States[i] = record.Running
	}
	switch {
	case done+bad < len(r.States):
		if p.findings[i].message == "" {
			p.findings[i] = finding{message: p.progressOfItems(i)}
		}
	case bad == 0:
		p.end(i, record.Succeeded, finding{message: p.progressOfItems(i)})
	default:
		indexes := strings.ReplaceAll(string(r.Indexes(record.Failed)), ",", ", ")
		text := fmt.Sprintf("%d of %d items succeeded; failed: %s", done, len(r.States), indexes)
		p.end(i, record.Failed, finding{message: text})
	}
}

// recordedItems returns the items that the status records: those of nodes that run or will, and of other nodes as far as there is room.
func (p *pass) recordedItems(o *observed) []v1alpha1.ItemsStatus {
	left := limitsFor(p.Size()).items
	for i := range p.items {
		if !p.States[i].HasEnded() {
			left -= p.sizeOfItems(i).bytes
		}
	}
	var all []v1alpha1.ItemsStatus
	for _, i := range slices.Sorted(maps.Keys(p.items)) {
		s, ok := p.itemsOf(i)
		if !ok {
			continue
		}
		if p.States[i].HasEnded() {
			if items.Size(s) > left {
				continue
			}
			left -= items.Size(s)
		}
		all = append(all, s)
	}
	for _, s := range p.itemsOfRemoved(o) {
		if size := items.Size(s); size <= left {
			all = append(all, s)
			left -= size
		}
	}
	return all
}

// itemsOfRemoved returns the items of nodes that were removed from the spec while these ran, as far as the status has them: if the node is
// put back, those that have ended don't run again. A retry forgets removed nodes.
func (p *pass) itemsOfRemoved(o *observed) []v1alpha1.ItemsStatus {
	var all []v1alpha1.ItemsStatus
	for i := range p.flow.Status.Items {
		s := &p.flow.Status.Items[i]
		if _, ok := p.Index[s.Name]; ok || p.isRetryBegun() {
			continue
		}
		r := items.Read(s, false)
		if n := o.removedItems[s.Name]; n != nil {
			for _, job := range n.jobs {
				if item := itemOf(job); item < len(r.States) && !r.States[item].HasEnded() {
					r.States[item] = p.stateOfItem(o, job)
				}
			}
		}
		if r.Count(record.Succeeded)+r.Count(record.Failed)+r.Count(record.Running) > 0 {
			all = append(all, r.Status(s.Name))
		}
	}
	return all
}

// sortedItemJobs returns the keys of itemJobs in their order.
func (p *pass) sortedItemJobs(o *observed) []itemKey {
	return slices.SortedFunc(maps.Keys(o.itemJobs), func(a, b itemKey) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.item, b.item))
	})
}
