package convert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func replicaJobOf(t *testing.T, kind, spec string) (*v1alpha1.ReplicaJob, string) {
	result, notes := converted(t, "f", []byte("apiVersion: kubeflow.org/v1\nkind: "+kind+"\nmetadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: "+spec))
	isWell(t, result)
	job := &v1alpha1.ReplicaJob{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(result), job))
	return job, strings.Join(notes, "\n")
}

// TestSuccessWithoutLeader: where all workers had to succeed, worker 0 doesn't decide.
func TestSuccessWithoutLeader(t *testing.T) {
	for kind, specs := range map[string]string{"PyTorchJob": "pytorchReplicaSpecs", "JAXJob": "jaxReplicaSpecs", "PaddleJob": "paddleReplicaSpecs"} {
		job, notes := replicaJobOf(t, kind, "{"+specs+": {Worker: {template: {spec: {containers: [{name: c, image: i}]}}}}}")
		require.NotNil(t, job.Spec.SuccessPolicy, kind)
		assert.Equal(t, v1alpha1.SuccessAllWorkers, job.Spec.SuccessPolicy.Rule)
		assert.Contains(t, notes, "Kueue doesn't know the kind ReplicaJob")
	}
}

// TestTorchrun: what torchrun reads is there, with the port and the processes that the job says.
func TestTorchrun(t *testing.T) {
	job, notes := replicaJobOf(t, "PyTorchJob", `{nprocPerNode: "4", pytorchReplicaSpecs: {Master: {template: {spec: {containers: [{name: pytorch, image: i, ports: [{name: pytorchjob-port, containerPort: 29500}]}]}}}, Worker: {replicas: 2, template: {spec: {containers: [{name: pytorch, image: i}]}}}}}`)
	env := map[string]string{}
	for _, v := range job.Spec.ReplicaSpecs["Worker"].Template.Spec.Containers[0].Env {
		env[v.Name] = v.Value
	}
	assert.Equal(t, map[string]string{"MASTER_ADDR": "$(COORDINATOR)", "MASTER_PORT": "29500", "PET_MASTER_ADDR": "$(COORDINATOR)", "PET_MASTER_PORT": "29500",
		"PET_NNODES": "3", "PET_NODE_RANK": "$(RANK)", "PET_NPROC_PER_NODE": "4", "PYTHONUNBUFFERED": "1", "WORLD_SIZE": "12"}, env)
	assert.Contains(t, notes, "change it when you change replicas")
}

// TestMPIBackoffLimit: the limit was that of the launcher. A note says that it counts the restarts of workers, too, if they have any.
func TestMPIBackoffLimit(t *testing.T) {
	const counts = "runPolicy.backoffLimit counts the restarts of all replicas, up to %s; there it was the limit of the launcher alone"
	for name, tt := range map[string]struct{ version, policy, worker, limit string }{
		"implied":       {"v2beta1", "{}", "OnFailure", "6"},
		"given":         {"v2beta1", "{backoffLimit: 3}", "OnFailure", "3"},
		"never again":   {"v2beta1", "{}", "Never", ""},
		"v1 counts all": {"v1", "{backoffLimit: 3}", "OnFailure", ""},
	} {
		_, notes := converted(t, "f", []byte("{apiVersion: kubeflow.org/"+tt.version+", kind: MPIJob, metadata: {name: j}, spec: {runPolicy: "+tt.policy+
			", mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [{name: mpi, image: i}]}}}, Worker: {restartPolicy: "+tt.worker+
			", template: {spec: {containers: [{name: mpi, image: i}]}}}}}}"))
		if text := strings.Join(notes, "\n"); tt.limit == "" {
			assert.NotContains(t, text, "backoffLimit", name)
		} else {
			assert.Contains(t, text, fmt.Sprintf(counts, tt.limit), name)
		}
	}
}

// TestMPIWorkers: workers without a command wait for the launcher, and are cleaned up as the job says.
func TestMPIWorkers(t *testing.T) {
	job, _ := replicaJobOf(t, "MPIJob", `{cleanPodPolicy: Running, mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [{name: mpi, image: i}]}}}, Worker: {template: {spec: {containers: [{name: mpi, image: i}]}}}}}`)
	assert.Equal(t, []string{"sleep"}, job.Spec.ReplicaSpecs["Worker"].Template.Spec.Containers[0].Command)
	assert.Empty(t, job.Spec.ReplicaSpecs["Launcher"].Template.Spec.Containers[0].Command)
	assert.Equal(t, v1alpha1.CleanPodRunning, job.Spec.RunPolicy.CleanPodPolicy)
}

// TestReplicaTypesInAnyCase: the training operator's defaults write the types of replicas in their own case.
func TestReplicaTypesInAnyCase(t *testing.T) {
	const template = "template: {spec: {containers: [{name: pytorch, image: i, ports: [{name: pytorchjob-port, containerPort: 29500}]}]}}"
	job, notes := replicaJobOf(t, "PyTorchJob", "{pytorchReplicaSpecs: {master: {"+template+"}, WORKER: {replicas: 2, "+template+"}}}")
	assert.Contains(t, notes, "spec.pytorchReplicaSpecs.master: the type of replicas is called Master")
	want, _ := replicaJobOf(t, "PyTorchJob", "{pytorchReplicaSpecs: {Master: {"+template+"}, Worker: {replicas: 2, "+template+"}}}")
	assert.Equal(t, want, job)
	job, notes = replicaJobOf(t, "TFJob", "{tfReplicaSpecs: {ps: {"+template+"}, chief: {"+template+"}, Worker: {"+template+"}}}")
	assert.Contains(t, job.Spec.ReplicaSpecs, v1alpha1.ReplicaType("PS"))
	assert.Contains(t, job.Spec.ReplicaSpecs, v1alpha1.ReplicaType("Chief"))
	assert.NotContains(t, notes, "is called Worker")
}
