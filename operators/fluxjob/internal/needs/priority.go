package needs

import (
	"math"

	corev1 "k8s.io/api/core/v1"
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
	all     bool // it selects all namespaces
	max     int32
}

// PrioritiesOf returns the priorities that jobs have in a setup. They are for one pass, in which labels don't change, and for
// one goroutine.
func PrioritiesOf(setup *v1alpha1.FluxSetup) *Priorities {
	p := &Priorities{normal: setup.Spec.Priority, known: map[string]int32{}}
	for i := range setup.Spec.PriorityLimits {
		l := &setup.Spec.PriorityLimits[i]
		p.limits = append(p.limits, limit{Selects(l.NamespaceSelector), l.NamespaceSelector == nil, l.Max})
	}
	return p
}

// Limit returns the highest priority that jobs of a namespace with the labels of [LabelsOf] may have. For an unknown namespace it is the
// lowest of the limits that may apply.
func (p *Priorities) Limit(namespace string, set map[string]string) int32 {
	if known, ok := p.known[namespace]; ok {
		return known
	}
	most := p.limitOf(set)
	p.known[namespace] = most
	return most
}

func (p *Priorities) limitOf(set map[string]string) int32 {
	lowest := int32(math.MaxInt32)
	for _, l := range p.limits {
		lowest = min(lowest, l.max)
		switch {
		case set == nil && l.all:
			return lowest
		case set != nil && l.selects(set):
			return l.max
		}
	}
	if set == nil {
		return min(lowest, p.normal)
	}
	return p.normal
}

// LabelsOf returns the labels of a namespace, nil if it is unknown. The labels of a known one are never nil.
func LabelsOf(ns *corev1.Namespace) map[string]string {
	switch {
	case ns == nil:
		return nil
	case ns.Labels == nil:
		return map[string]string{}
	default:
		return ns.Labels
	}
}

// Of returns a job's priority: its own or that of the setup, and at most the limit of its namespace, whose labels are given.
func (p *Priorities) Of(job *v1alpha1.FluxJob, set map[string]string) int32 {
	priority := p.normal
	if job.Spec.Priority != nil {
		priority = *job.Spec.Priority
	}
	return min(priority, p.Limit(job.Namespace, set))
}

// Selects returns a function that reports whether a selector selects a namespace, by the labels of [LabelsOf]. Nil selects all, an invalid
// one none. Only nil selects an unknown namespace: its labels may be any.
func Selects(selector *metav1.LabelSelector) func(set map[string]string) bool {
	if selector == nil {
		return func(map[string]string) bool { return true }
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil { // the spec is invalid
		return func(map[string]string) bool { return false }
	}
	return func(set map[string]string) bool { return set != nil && s.Matches(labels.Set(set)) }
}
