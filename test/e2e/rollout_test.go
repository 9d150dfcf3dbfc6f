//go:build e2e

package e2e

import (
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workload is what a Deployment and a StatefulSet have in common.
type workload struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct{ Replicas int32 }
	Status            appsv1.StatefulSetStatus
}

// isReady tells whether all of its pods are of its latest spec, and ready.
func (w *workload) isReady() bool {
	return w.Status.ObservedGeneration == w.Generation && w.Status.UpdatedReplicas == w.Spec.Replicas && w.Status.ReadyReplicas == w.Spec.Replicas
}

// requireRolledOutInOrder fails if the operator, after a version of anything, changed a workload before all those
// before it were changed and ready, or has not changed one at all.
func (s *space) requireRolledOutInOrder(after uint64, workloads []string) {
	s.Helper()
	latest, changed := map[string]workload{}, map[string]bool{}
	for _, w := range s.history() {
		var is workload
		object := w.key()
		if w.verb == "delete" || !w.decode(&is) {
			continue
		}
		was := latest[object]
		latest[object] = is
		if w.order <= after || !w.byOperator() || is.Generation == was.Generation {
			continue
		}
		for _, before := range workloads {
			if before == object {
				changed[object] = true
				break
			}
			at := latest[before]
			require.True(s, changed[before] && at.isReady(), "%s was changed when %s was %+v", object, before, at.Status)
		}
	}
	for _, object := range workloads {
		require.True(s, changed[object], "%s was not changed", object)
	}
}
