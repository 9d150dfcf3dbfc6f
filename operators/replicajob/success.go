package replicajob

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// jury are the replicas that decide on success.
type jury struct {
	teams    []*team
	onlyZero bool // of each type the index 0
	anyone   bool // one of them is enough
}

// jury returns who decides by the job's success rule.
func (j *job) jury(r *roster) jury {
	rule, types := v1alpha1.SuccessLeader, []v1alpha1.ReplicaType(nil)
	if p := j.spec.SuccessPolicy; p != nil {
		rule, types = p.Rule, p.ReplicaTypes
	}
	those := func(is func(*team) bool) []*team {
		return slices.DeleteFunc(slices.Clone(r.teams), func(t *team) bool { return !is(t) })
	}
	isWorker := func(t *team) bool { return sameType(t.name, v1alpha1.ReplicaWorker) }
	isNamed := func(t *team) bool { return slices.Contains(types, t.name) }
	switch workers := those(isWorker); {
	case rule == v1alpha1.SuccessAllWorkers:
		return jury{teams: workers}
	case rule == v1alpha1.SuccessAll:
		return jury{teams: those(isNamed)}
	case rule == v1alpha1.SuccessAny:
		return jury{teams: those(isNamed), anyone: true}
	case j.world.leader != "":
		return jury{teams: those(func(t *team) bool { return t.name == j.world.leader })}
	case len(workers) > 0:
		return jury{teams: workers, onlyZero: true}
	default:
		return jury{teams: r.teams}
	}
}

// hasSucceeded reports whether the job has, and when the last that it took did, as far as that is known.
func (y jury) hasSucceeded() (yes bool, at *metav1.Time) {
	done, all := 0, 0
	for _, t := range y.teams {
		for i := range t.slots {
			if y.onlyZero && i > 0 {
				break
			}
			all++
			if t.slots[i].state != succeeded {
				continue
			}
			done++
			end := ended(&t.slots[i])
			switch {
			case end == nil:
			case at == nil, y.anyone == end.Before(at): // any: the first of them; all: the last
				at = end
			}
		}
	}
	return done > 0 && (done == all || y.anyone), at
}

// ended returns when a replica's pod ended, or nil.
func ended(s *slot) *metav1.Time {
	if s.pod == nil {
		return nil
	}
	return outcome.PodEnded(s.pod)
}
