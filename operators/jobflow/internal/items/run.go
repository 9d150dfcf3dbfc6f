package items

import (
	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// overhead is the size of a run in a status, in bytes of JSON, without the indexes of items.
const overhead = 129

// Run is the states of the items of one list.
type Run struct {
	Digest  string         // of the list
	States  []record.State // of the items, by index
	Started bool           // items have Jobs of the present retry, or get them in this pass
}

// NewRun returns a run of a list whose items are all pending.
func NewRun(list List) *Run {
	return &Run{Digest: list.Digest, States: make([]record.State, len(list.Values))}
}

// Read returns the run that a status records. A retry runs failed items again.
func Read(s *v1alpha1.ItemsStatus, isRetry bool) *Run {
	r := &Run{Digest: s.Digest, States: make([]record.State, min(max(int(s.Total), 0), graph.MaxItems))}
	for item := range s.Succeeded.Below(len(r.States)) {
		r.States[item] = record.Succeeded
	}
	if isRetry {
		return r
	}
	for item := range s.Failed.Below(len(r.States)) {
		r.States[item] = record.Failed
		r.Started = true
	}
	return r
}

// Observe sets the state of an item that has a Job of the present retry, unless the end of the item is recorded.
func (r *Run) Observe(item int, state record.State) {
	r.Started = true
	if !r.States[item].HasEnded() {
		r.States[item] = state
	}
}

// Status returns the run as the status of a node records it.
func (r *Run) Status(node string) v1alpha1.ItemsStatus {
	return v1alpha1.ItemsStatus{
		Name: node, Digest: r.Digest, Total: int32(len(r.States)), Succeeded: r.Indexes(record.Succeeded), Failed: r.Indexes(record.Failed),
	}
}

// Indexes returns the indexes of the items in a state.
func (r *Run) Indexes(s record.State) v1alpha1.Indexes {
	return v1alpha1.IndexesOf(len(r.States), func(item int) bool { return r.States[item] == s })
}

// Count returns the number of items in a state.
func (r *Run) Count(s record.State) int {
	n := 0
	for _, is := range r.States {
		if is == s {
			n++
		}
	}
	return n
}

// Size returns the size in a status of what [Run.Status] has returned, in bytes of JSON.
func Size(s v1alpha1.ItemsStatus) int { return overhead + len(s.Succeeded) + len(s.Failed) }

// MaxSize returns the size in a status that a run can come to, in bytes of JSON: each item that ends adds at most an index and a comma.
func (r *Run) MaxSize() int {
	unended := r.Count(record.Pending) + r.Count(record.Running)
	return Size(r.Status("")) + len("999,")*unended
}
