package jobflow

import (
	"maps"
	"slices"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/refusal"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// findRefused finds out which nodes run and have no pods, because the API server refuses them: of a node with items, the first.
func (p *pass) findRefused() {
	refused, why := refusal.Of(p.seen), map[int]string{}
	for i, job := range p.jobs {
		if job != nil && p.States[i] == record.Running {
			if words := refused.Why(job); words != "" {
				why[i] = words
			}
		}
	}
	first := map[int]int{}
	for key, job := range p.itemJobs {
		words := refused.Why(job)
		if item, ok := first[key.node]; words != "" && (!ok || key.item < item) {
			first[key.node], why[key.node] = key.item, words
		}
	}
	for _, i := range slices.Sorted(maps.Keys(why)) {
		p.obstacles = append(p.obstacles, obstacle{p.nameOf(i), v1alpha1.ReasonPodsRefused, "has no pods, since they are refused: " + why[i]})
	}
	p.wakeIn(refused.Again())
}
