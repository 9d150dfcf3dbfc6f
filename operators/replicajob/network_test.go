package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

func servicesOf(plan builder.Plan[*v1alpha1.ReplicaJob]) map[string]*corev1.Service {
	found := map[string]*corev1.Service{}
	for _, child := range plan.Children {
		if s, ok := child.Object().(*corev1.Service); ok {
			found[s.Name] = s
		}
	}
	return found
}

func TestServices(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Chief", 1), replicas("Worker", 2, func(s *v1alpha1.ReplicaSpec) {
		s.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "main", ContainerPort: 2222}, {ContainerPort: 53, Protocol: "UDP"}}
	})))
	c.settle()
	require.Len(t, servicesOf(c.plan), 1)
	s := servicesOf(c.plan)["demo"]
	assert.Equal(t, corev1.ServiceSpec{ClusterIP: "None", PublishNotReadyAddresses: true, Selector: selectorOf("replicajob", "demo")}, s.Spec)

	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.Network.ServicePerReplica = true })
	c.settle()
	found := servicesOf(c.plan)
	require.Len(t, found, 4)
	assert.Empty(t, found["demo-chief-0"].Spec.Ports)
	worker := found["demo-worker-1"]
	assert.Equal(t, []corev1.ServicePort{
		{Name: "main", Port: 2222, TargetPort: intstr.FromInt32(2222)},
		{Name: "port-1", Protocol: "UDP", Port: 53, TargetPort: intstr.FromInt32(53)},
	}, worker.Spec.Ports)
	assert.True(t, worker.Spec.PublishNotReadyAddresses)
	for key, value := range worker.Spec.Selector {
		assert.Equal(t, value, c.pods["demo-worker-1"].Labels[key])
	}
	assert.Equal(t, "1", worker.Spec.Selector[LabelIndex])

	c.edit(func(j *v1alpha1.ReplicaJob) { replicas("Worker", 1)(j) })
	c.settle()
	assert.Len(t, servicesOf(c.plan), 3, "a replica that goes takes its Service along")
	assert.Contains(t, c.plan.Prune, &corev1.Service{})
}

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
