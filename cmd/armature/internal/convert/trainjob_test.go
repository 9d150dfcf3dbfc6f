package convert

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// A TrainJob without its runtime isn't guessed at, and a runtime without a job isn't dropped in silence.
func TestTrainJobNeedsItsRuntime(t *testing.T) {
	docs, err := manifest.Parse("f", []byte("apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: j}\nspec: {runtimeRef: {name: r}}"))
	require.NoError(t, err)
	_, err = Documents(docs, "")
	assert.ErrorContains(t, err, "spec.runtimeRef: ClusterTrainingRuntime/r is in none of the files")
	docs, err = manifest.Parse("f", []byte("apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainingRuntime\nmetadata: {name: r}\nspec: {template: {}}"))
	require.NoError(t, err)
	result, err := Documents(docs, "")
	require.NoError(t, err)
	require.Len(t, result.Notes, 1)
	assert.Contains(t, result.Notes[0].Text, "no TrainJob among the files names it")
}

// TestToldAsByTrainer: whatever a TrainJob and its runtime say of the nodes, they see what they saw.
func TestToldAsByTrainer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := func(what string) any {
			if rapid.Bool().Draw(t, what) {
				return nil
			}
			return rapid.IntRange(1, 4).Draw(t, what)
		}
		set := func(object map[string]any, name string, value any) {
			if value != nil {
				object[name] = value
			}
		}
		nodes, processes, theirNodes, theirProcesses := number("numNodes"), number("numProcPerNode"), number("runtime's numNodes"), number("runtime's numProcPerNode")
		trainer, policy, torch := map[string]any{}, map[string]any{}, map[string]any{}
		set(trainer, "numNodes", nodes)
		set(trainer, "numProcPerNode", processes)
		set(policy, "numNodes", theirNodes)
		set(torch, "numProcPerNode", theirProcesses)
		isTorch := rapid.Bool().Draw(t, "torch")
		if isTorch {
			policy["torch"] = torch
		}
		byResources := "auto"
		switch rapid.IntRange(0, 2).Draw(t, "resources") {
		case 1:
			trainer["resourcesPerNode"], byResources = map[string]any{"limits": map[string]any{"cpu": "2500m"}}, "3"
		case 2:
			trainer["resourcesPerNode"] = map[string]any{"requests": map[string]any{"cpu": "2", "nvidia.com/gpu": "1"}}
		}
		command := rapid.Bool().Draw(t, "a command")
		if command {
			trainer["command"] = []any{"mine"}
			trainer["env"] = []any{map[string]any{"name": "A", "value": "mine"}}
		}
		container := map[string]any{"name": "node", "image": "theirs", "command": []any{"theirs"}, "env": []any{map[string]any{"name": "A", "value": "theirs"}, map[string]any{"name": "B", "value": "theirs"}}}
		job, err := yaml.Marshal(map[string]any{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": map[string]any{"name": "j"},
			"spec": map[string]any{"runtimeRef": map[string]any{"name": "r"}, "trainer": trainer}})
		require.NoError(t, err)
		runtime, err := yaml.Marshal(map[string]any{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime", "metadata": map[string]any{"name": "r"},
			"spec": map[string]any{"mlPolicy": policy, "template": map[string]any{"spec": map[string]any{"replicatedJobs": []any{map[string]any{"name": "node", "template": map[string]any{
				"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{container}}}}}}}}}}})
		require.NoError(t, err)
		result, _ := converted(t, "f", []byte(string(job)+"---\n"+string(runtime)))
		isWell(t, result)
		made := &v1alpha1.ReplicaJob{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(result), made))
		_, pods := podsOf(t, made)

		first := func(values ...any) string {
			for _, v := range values {
				if v != nil {
					return valueText(v)
				}
			}
			return ""
		}
		count := first(nodes, theirNodes, 1)
		require.Equal(t, count, valueText(len(pods)))
		for name, pod := range pods {
			c := pod.Spec.Containers[0]
			index := strings.TrimPrefix(name, "j-node-")
			want := map[string]string{"A": "theirs", "B": "theirs", "JOB_COMPLETION_INDEX": index}
			require.Equal(t, []string{map[bool]string{true: "mine", false: "theirs"}[command]}, c.Command)
			if command {
				want["A"] = "mine"
			}
			if isTorch {
				want["PET_NNODES"], want["PET_NODE_RANK"], want["PET_MASTER_PORT"], want["PET_MASTER_ADDR"] = count, index, "29500", "j-node-0.j"
				want["PET_NPROC_PER_NODE"] = first(processes, theirProcesses, byResources)
			}
			got := environment(c.Env)
			for variable, value := range want {
				require.Equal(t, value, got[variable], variable)
			}
			_, has := got["PET_NNODES"]
			require.Equal(t, isTorch, has)
		}
	})
}
