//go:build e2e

package e2e

import (
	"slices"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow"
)

// order looks at one flow's Jobs: which came before which.
type order struct {
	flow *v1alpha1.JobFlow
	runs []*jobRun
}

// checkOrder: no Job was made before all that its node depends on had ended, and none of finally before everything had.
func (s *soak) checkOrder(name string, flow *v1alpha1.JobFlow, runs []*jobRun) {
	s.Helper()
	o := order{flow: flow}
	for _, run := range runs {
		if run.owner == name && run.labels[jobflow.LabelFlow] != "" {
			o.runs = append(o.runs, run)
		}
	}
	for _, run := range o.runs {
		if run.made == 0 {
			continue
		}
		for _, d := range o.before(run.labels[jobflow.LabelFlow]) {
			ended, known := o.endOf(d, run.attempt())
			if !known || ended >= run.made {
				s.fail(name, "Job %s was made at %d, before %s had ended (%d)", run.name, run.made, d, ended)
			}
		}
	}
}

// before are the nodes that have to have ended before a node starts.
func (o *order) before(node string) (names []string) {
	for i := range o.flow.Spec.Flows {
		if n := &o.flow.Spec.Flows[i]; n.Name == node {
			return n.Dependencies
		}
	}
	for i := range o.flow.Spec.Flows { // it is in finally
		if n := &o.flow.Spec.Flows[i]; n.Name == "endless" {
			return nil // stopped: what runs is ended by the flow itself
		}
		names = append(names, o.flow.Spec.Flows[i].Name)
	}
	return names
}

// endOf is when a node had ended in an attempt: when all its Jobs had, of each item the last, or, if it was skipped, when
// all that it depends on had.
func (o *order) endOf(node string, attempt int) (ended uint64, known bool) {
	last := map[string]*jobRun{} // by item
	for _, run := range o.runs {
		item := run.labels[jobflow.LabelItem]
		if run.labels[jobflow.LabelFlow] != node || run.attempt() > attempt {
			continue
		}
		// Of Jobs of one name, made again by hand's doing, the first end counts.
		if l := last[item]; l == nil || run.attempt() > l.attempt() || run.name == l.name && run.ended != 0 && (l.ended == 0 || run.ended < l.ended) {
			last[item] = run
		}
	}
	if len(last) == 0 {
		for _, d := range o.before(node) {
			at, ok := o.endOf(d, attempt)
			if !ok {
				return 0, false
			}
			ended = max(ended, at)
		}
		return ended, true
	}
	for _, run := range last {
		if run.ended == 0 {
			return 0, false
		}
		if run.ending {
			ended = max(ended, run.ended)
		}
	}
	i := slices.IndexFunc(o.flow.Spec.Flows, func(n v1alpha1.Flow) bool { return n.Name == node })
	if each := o.flow.Spec.Flows[i].ForEach; each != nil && each.FromOutput == "" && len(last) != len(each.Items) {
		return ended, false
	}
	return ended, true
}
