package daemonjob

import (
	"github.com/armature-dev/armature/operators/internal/refusal"
	"github.com/armature-dev/armature/operators/internal/runpolicy"
)

// findRefused finds a node, the first by name, whose Job has no pod because the API server refuses it.
func (s *survey) findRefused(refused *refusal.Refusals) {
	for _, r := range s.running {
		why := refused.Why(r.job)
		if why != "" && (s.refused == nil || r.node < s.refused.node) {
			s.refused = &obstacle{r.node, why}
		}
	}
	s.again = runpolicy.Soonest(s.again, refused.Again())
}
