package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
)

const volcano = `
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: volcano}
spec:
  flows:
  - name: fetch
  - name: train
    dependsOn: {targets: [fetch]}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: fetch}
spec:
  tasks:
  - replicas: 2
    template: {spec: {restartPolicy: Never, containers: [{name: main, image: "busybox:1.28", command: ["true"]}]}}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: train}
spec:
  tasks:
  - replicas: 1
    template: {spec: {restartPolicy: Never, containers: [{name: main, image: "busybox:1.28", command: ["true"]}]}}
`

const argo = `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: argo}
spec:
  entrypoint: dag
  arguments: {parameters: [{name: code, value: "3"}]}
  templates:
  - name: dag
    dag:
      tasks:
      - {name: a, template: exit, arguments: {parameters: [{name: code, value: "0"}]}}
      - {name: b, template: exit, dependencies: [a], continueOn: {failed: true}, arguments: {parameters: [{name: code, value: "{{workflow.parameters.code}}"}]}}
      - {name: c, template: exit, depends: b, withItems: [0, "0"], arguments: {parameters: [{name: code, value: "{{item}}"}]}}
      - {name: d, template: exit, depends: b.Succeeded, arguments: {parameters: [{name: code, value: "0"}]}}
  - name: exit
    inputs: {parameters: [{name: code}]}
    script: {image: "busybox:1.28", command: [sh], source: "exit {{inputs.parameters.code}}"}
`

const torch = `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: torch}
spec:
  pytorchReplicaSpecs:
    Master: {template: {spec: {containers: [{name: pytorch, image: "busybox:1.28", command: [sh, -c, 'test "$MASTER_ADDR:$MASTER_PORT $RANK of $WORLD_SIZE" = "torch-master-0.torch:23456 0 of 2"']}]}}}
    Worker: {template: {spec: {containers: [{name: pytorch, image: "busybox:1.28", command: [sh, -c, 'test $RANK = 1']}]}}}
`

// TestConvert: what is made of others' manifests is admitted, and runs as theirs would.
func TestConvert(t *testing.T) {
	p := newPlace(t)
	for name, manifest := range map[string]string{"volcano": volcano, "argo": argo, "torch": torch} {
		file := filepath.Join(t.TempDir(), name+".yaml")
		require.NoError(t, os.WriteFile(file, []byte(manifest), 0o600))
		out, errs, code := binary.Run(t, "convert", "-f", file, "-o", "json")
		if name == "argo" {
			assert.Equal(t, 2, code, errs)
			assert.Contains(t, errs, "Failed, also if the failure was handled")
		} else {
			assert.Zero(t, code, errs)
			assert.Empty(t, errs, "all is carried over")
		}
		p.apply(out)
	}
	p.wait("volcano", "succeeded", func(flow *v1alpha1.JobFlow) bool { return flow.Status.State == v1alpha1.StateSucceed })
	p.wait("argo", "ended", func(flow *v1alpha1.JobFlow) bool { return flow.Status.CompletionTime != nil })
	flow := &v1alpha1.JobFlow{}
	require.NoError(t, p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: "argo"}, flow))
	assert.Equal(t, []v1alpha1.Indexes{"0-3", "1", "3"}, []v1alpha1.Indexes{flow.Status.Finished, flow.Status.Failed, flow.Status.Skipped})

	job := &v1alpha1.ReplicaJob{}
	p.Eventually("torch to succeed", func() bool {
		err := p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: "torch"}, job)
		return err == nil && meta.IsStatusConditionTrue(job.Status.Conditions, v1alpha1.ConditionSucceeded)
	})
}

// apply creates the objects of a List in JSON.
func (p *place) apply(text string) {
	p.T.Helper()
	list := &unstructured.UnstructuredList{}
	require.NoError(p.T, list.UnmarshalJSON([]byte(text)))
	for i := range list.Items {
		p.create(&list.Items[i])
	}
}
