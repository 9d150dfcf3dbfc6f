package replicajob

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// successRule has the replicas that decide on success.
type successRule struct {
	groups   []*group
	onlyZero bool // only index 0 of each type
	anyone   bool // one of them is enough
}

// successRule returns the replicas that decide by the job's success policy.
func (p *pass) successRule(o *observed) successRule {
	rule, types := v1alpha1.SuccessLeader, []v1alpha1.ReplicaType(nil)
	if policy := p.spec.SuccessPolicy; policy != nil {
		rule, types = policy.Rule, policy.ReplicaTypes
	}
	those := func(is func(*group) bool) []*group {
		return slices.DeleteFunc(slices.Clone(o.groups), func(g *group) bool { return !is(g) })
	}
	isNamed := func(g *group) bool { return slices.Contains(types, g.name) }
	switch workers := those(func(g *group) bool { return sameType(g.name, v1alpha1.ReplicaWorker) }); {
	case rule == v1alpha1.SuccessAllWorkers:
		return successRule{groups: workers}
	case rule == v1alpha1.SuccessAll:
		return successRule{groups: those(isNamed)}
	case rule == v1alpha1.SuccessAny:
		return successRule{groups: those(isNamed), anyone: true}
	case p.world.leader != "":
		return successRule{groups: those(func(g *group) bool { return g.name == p.world.leader })}
	case len(workers) > 0:
		return successRule{groups: workers, onlyZero: true}
	default:
		return successRule{groups: o.groups}
	}
}

// isMet reports whether the job has succeeded, and when the replica that completed the rule ended, if that is known.
func (s successRule) isMet() (yes bool, at *metav1.Time) {
	done, all := 0, 0
	for _, g := range s.groups {
		for i := range g.replicas {
			if s.onlyZero && i > 0 {
				break
			}
			all++
			if g.replicas[i].state != succeeded {
				continue
			}
			done++
			end := g.replicas[i].ended()
			switch {
			case end == nil:
			case at == nil, s.anyone == end.Before(at): // any: the first of them; all: the last
				at = end
			}
		}
	}
	return done > 0 && (done == all || s.anyone), at
}

// message says which replicas have succeeded.
func (s successRule) message() string {
	switch {
	case s.onlyZero:
		return s.groups[0].replicas[0].String() + " succeeded"
	case s.anyone:
		for _, g := range s.groups {
			for i := range g.replicas {
				if g.replicas[i].state == succeeded {
					return g.replicas[i].String() + " succeeded"
				}
			}
		}
	}
	return "succeeded: " + message.Names(s.groups, func(g *group) string { return fmt.Sprintf("%d %s", len(g.replicas), g.name) })
}

// ended returns when the replica's pod ended, or nil.
func (r *replica) ended() *metav1.Time {
	if r.pod == nil {
		return nil
	}
	return outcome.PodEnded(r.pod)
}
