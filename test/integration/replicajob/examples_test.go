package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestExamples(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.manage()
	for _, name := range []string{"train", "mpi", "restart", "gang"} {
		p.Apply("../../../examples/replicajob/" + name + ".yaml")
	}
	p.waitState("train", v1alpha1.ReplicaJobSucceeded)
	assert.Equal(t, "Chief is rank 0 of 4", p.Logs("train-chief-0"))
	p.waitState("mpi", v1alpha1.ReplicaJobSucceeded)
	p.Eventually("all pods go", func() bool { return len(p.podList("mpi")) == 0 })
	job := p.waitState("restart", v1alpha1.ReplicaJobSucceeded)
	assert.EqualValues(t, 1, job.Status.Restarts)
	assert.Equal(t, "attempt 1", p.Logs("restart-worker-1"))
	p.waitState("gang", v1alpha1.ReplicaJobSucceeded)
	assert.Equal(t, "1 of 2", p.Logs("gang-worker-1"))
}
