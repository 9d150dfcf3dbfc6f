package operator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	v1 "github.com/armature-dev/armature/examples/tfjob/api/v1"
	"github.com/armature-dev/armature/examples/tfjob/operator"
)

func spec(replicas int32) v1alpha1.ReplicaSpec {
	return v1alpha1.ReplicaSpec{Replicas: new(replicas), Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "sidecar"}, {
			Name: "tensorflow", Ports: []corev1.ContainerPort{{Name: "tensorflow", ContainerPort: 99}},
		}}},
	}}
}

func TestConfig(t *testing.T) {
	job := &v1.TFJob{}
	job.Namespace, job.Name = "default", "j"
	job.Spec.TFReplicaSpecs = map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{"Chief": spec(1), "PS": spec(2), "Worker": spec(1), "Evaluator": spec(1)}
	plan := operator.TFJobs.Plan(job, buildertest.NewView(time.Now()))
	require.NotNil(t, plan.Status)
	plan = operator.TFJobs.Plan(plan.Status, buildertest.NewView(time.Now()))
	config := map[string]string{}
	for _, child := range plan.Children {
		if pod, ok := child.Object().(*corev1.Pod); ok {
			config[pod.Name] = pod.Spec.Containers[1].Env[0].Value
		}
	}
	const cluster = `{"cluster":{"chief":["j-chief-0.j:99"],"ps":["j-ps-0.j:99","j-ps-1.j:99"],"worker":["j-worker-0.j:99"]},`
	assert.Equal(t, map[string]string{
		"j-chief-0":     cluster + `"task":{"type":"chief","index":0}}`,
		"j-ps-0":        cluster + `"task":{"type":"ps","index":0}}`,
		"j-ps-1":        cluster + `"task":{"type":"ps","index":1}}`,
		"j-worker-0":    cluster + `"task":{"type":"worker","index":0}}`,
		"j-evaluator-0": cluster + `"task":{"type":"evaluator","index":0}}`,
	}, config)
}

func TestReplicasByDefault(t *testing.T) {
	job := &v1.TFJob{}
	job.Name = "j"
	worker := spec(0)
	worker.Replicas = nil
	job.Spec.TFReplicaSpecs = map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{"Worker": worker, "PS": spec(0)}
	plan := operator.TFJobs.Plan(job, buildertest.NewView(time.Now()))
	assert.EqualValues(t, 1, plan.Status.Status.ReplicaStatuses["Worker"].Pending)
	assert.Zero(t, plan.Status.Status.ReplicaStatuses["PS"].Pending)
}
