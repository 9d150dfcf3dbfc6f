package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

func TestWorld(t *testing.T) {
	port := func(s *v1alpha1.ReplicaSpec) {
		s.Template.Spec.Containers = append(s.Template.Spec.Containers, corev1.Container{
			Name: "tf", Ports: []corev1.ContainerPort{{Name: "other", ContainerPort: 1}, {Name: "tf-port", ContainerPort: 99}},
		})
	}
	kind := ReplicaJobs
	kind.Container, kind.PortName, kind.Port = "tf", "tf-port", 2222
	job := makeJob(replicas("Worker", 2, port), replicas("Evaluator", 1), replicas("PS", 0), replicas("Master", 1), replicas("chief", 1))
	w := kind.passOf(job, buildertest.NewView(epoch)).world
	assert.Equal(t, []v1alpha1.ReplicaType{"chief", "Master", "Evaluator", "PS", "Worker"}, w.Types())
	assert.Equal(t, 5, w.Size())
	assert.Equal(t, Replica{"Worker", 1, 4}, w.Replica("Worker", 1))
	assert.True(t, w.Leads(w.Replica("chief", 0)))
	assert.False(t, w.Leads(w.Replica("Master", 0)), "one type leads")
	assert.False(t, w.Leads(w.Replica("Worker", 0)))
	assert.Equal(t, []string{"demo-worker-0.demo", "demo-worker-1.demo"}, w.Hosts("Worker"))
	assert.Equal(t, []string{"demo-worker-0.demo:99", "demo-worker-1.demo:99"}, w.Addresses("Worker"))
	assert.EqualValues(t, 2222, w.Port("Evaluator"))
	assert.True(t, w.Has("Worker"))
	assert.False(t, w.Has("PS"))
	assert.False(t, w.Has("worker"))
	rank0, _ := w.Coordinator()
	assert.Equal(t, Replica{"chief", 0, 0}, rank0)

	empty := kind.passOf(makeJob(replicas("Worker", 0)), buildertest.NewView(epoch)).world
	_, ok := empty.Coordinator()
	assert.False(t, ok)
	assert.EqualValues(t, 2222, empty.Port("nothing"))
}
