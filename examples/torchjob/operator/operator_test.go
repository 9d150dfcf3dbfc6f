package operator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	v1 "github.com/armature-dev/armature/examples/torchjob/api/v1"
	"github.com/armature-dev/armature/examples/torchjob/operator"
)

// environments returns the variables of each pod of a new job, by the pod's name.
func environments(t *testing.T, job *v1.TorchJob) map[string]map[string]string {
	job.Namespace, job.Name = "default", "j"
	plan := operator.TorchJobs.Plan(job, buildertest.NewView(time.Now()))
	require.NotNil(t, plan.Status)
	plan = operator.TorchJobs.Plan(plan.Status, buildertest.NewView(time.Now()))
	all := map[string]map[string]string{}
	for _, child := range plan.Children {
		if pod, ok := child.Object().(*corev1.Pod); ok {
			all[pod.Name] = map[string]string{}
			for _, v := range pod.Spec.Containers[0].Env {
				all[pod.Name][v.Name] = v.Value
			}
		}
	}
	return all
}

func spec(replicas int32, ports ...corev1.ContainerPort) v1alpha1.ReplicaSpec {
	return v1alpha1.ReplicaSpec{Replicas: new(replicas), Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "torch", Ports: ports}}},
	}}
}

func TestEachRankKnowsTheMaster(t *testing.T) {
	job := &v1.TorchJob{ObjectMeta: metav1.ObjectMeta{}}
	job.Spec.TorchReplicaSpecs = map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{"Master": spec(1), "Worker": spec(2)}
	got := environments(t, job)
	assert.Len(t, got, 3)
	assert.Equal(t, map[string]string{"MASTER_ADDR": "j-master-0.j", "MASTER_PORT": "23456", "WORLD_SIZE": "3", "RANK": "0"}, got["j-master-0"])
	assert.Equal(t, map[string]string{"MASTER_ADDR": "j-master-0.j", "MASTER_PORT": "23456", "WORLD_SIZE": "3", "RANK": "2"}, got["j-worker-1"])
}

func TestWithoutAMasterWorker0Leads(t *testing.T) {
	job := &v1.TorchJob{}
	job.Spec.TorchReplicaSpecs = map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{
		"Worker": spec(2, corev1.ContainerPort{Name: "torch", ContainerPort: 29500}),
	}
	got := environments(t, job)
	assert.Equal(t, map[string]string{"MASTER_ADDR": "j-worker-0.j", "MASTER_PORT": "29500", "WORLD_SIZE": "2", "RANK": "1"}, got["j-worker-1"])
}

func TestAnElasticJobSaysHowManyThereMayBe(t *testing.T) {
	job := &v1.TorchJob{}
	job.Spec.ElasticPolicy = &v1.ElasticPolicy{MinReplicas: 1, MaxReplicas: 5}
	job.Spec.TorchReplicaSpecs = map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{"Master": spec(1), "Worker": spec(2)}
	got := environments(t, job)["j-worker-0"]
	assert.Equal(t, "2:6", got["PET_NNODES"])
	assert.Equal(t, "j-master-0.j:23456", got["PET_RDZV_ENDPOINT"])
}
