package needs

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Priorities says which priorities jobs have in a setup.
type Priorities struct {
	normal int32
	limits []limit
	known  map[string]int32 // the limits of namespaces that were asked for
}

// limit is one of a setup's limits.
type limit struct {
	selects func(map[string]string) bool
	max     int32
}

// PrioritiesOf returns the priorities that jobs have in a setup. They are for one pass, in which labels don't change, and for
// one goroutine.
func PrioritiesOf(setup *v1alpha1.FluxSetup) *Priorities {
	p := &Priorities{normal: setup.Spec.Priority, known: map[string]int32{}}
	for i := range setup.Spec.PriorityLimits {
		l := &setup.Spec.PriorityLimits[i]
		p.limits = append(p.limits, limit{Selects(l.NamespaceSelector), l.Max})
	}
	return p
}

// Limit returns the highest priority that jobs of a namespace with some labels may have. A namespace that isn't known has no
// labels.
func (p *Priorities) Limit(namespace string, set map[string]string) int32 {
	if known, ok := p.known[namespace]; ok {
		return known
	}
	most := p.normal
	for _, l := range p.limits {
		if l.selects(set) {
			most = l.max
			break
		}
	}
	p.known[namespace] = most
	return most
}

// Of returns a job's priority: its own or that of the setup, and at most the limit of its namespace, whose labels are given.
func (p *Priorities) Of(job *v1alpha1.FluxJob, set map[string]string) int32 {
	priority := p.normal
	if job.Spec.Priority != nil {
		priority = *job.Spec.Priority
	}
	return min(priority, p.Limit(job.Namespace, set))
}

// Selects returns a function that reports whether a selector selects a namespace, by its labels. Nil selects all, an invalid one none.
func Selects(selector *metav1.LabelSelector) func(set map[string]string) bool {
	if selector == nil {
		return func(map[string]string) bool { return true }
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil { // the spec is invalid
		return func(map[string]string) bool { return false }
	}
	return func(set map[string]string) bool { return s.Matches(labels.Set(set)) }
}
