package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestCycles(t *testing.T) {
	for want, j := range map[string]*v1alpha1.ReplicaJob{
		"":                 makeJob(replicas("A", 1, after("B", "Ready"), after("C", "Ready")), replicas("B", 1, after("C", "Ready")), replicas("C", 1)),
		"A -> B -> A":      makeJob(replicas("A", 1, after("B", "Ready")), replicas("B", 1, after("A", "Ready"))),
		"B -> C -> D -> B": makeJob(replicas("A", 1, after("B", "Ready")), replicas("B", 1, after("C", "Ready")), replicas("C", 1, after("D", "Ready")), replicas("D", 1, after("B", "Ready"))),
	} {
		c := newCluster(t, j)
		c.settle()
		if want == "" {
			assert.Len(t, c.pods, 1)
			continue
		}
		assert.Empty(t, c.pods)
		assert.Contains(t, c.condition("Stalled").Message, want)
		assert.Contains(t, c.condition("Stalled").Message, "the dependencies form a cycle")
	}
}
