package install

import (
	"context"
	"strings"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// oneOfEach has an object of each kind, with what it refers to. NAME is part of the name of each, and QUEUE is the FluxSetup's.
const oneOfEach = `
{kind: FluxSetup, metadata: {name: QUEUE}, spec: {quota: {miniClusters: 2}}}
---
{kind: JobTemplate, metadata: {name: template-NAME}, spec: {jobTemplate: {template: {spec: {restartPolicy: Never, nodeSelector: {devcluster.armature.dev/local: "true"}, containers: [{name: main, image: none, command: ["true"]}]}}}}}
---
{kind: JobFlow, metadata: {name: flow-NAME}, spec: {flows: [{name: only, jobTemplateRef: template-NAME}]}}
---
{kind: DaemonJob, metadata: {name: daemon-NAME}, spec: {template: {spec: {nodeSelector: {devcluster.armature.dev/local: "true"}, containers: [{name: main, image: none, command: ["true"]}]}}}}
---
{kind: ReplicaJob, metadata: {name: replica-NAME}, spec: {replicaSpecs: {Worker: {template: {spec: {containers: [{name: main, image: none, command: ["true"]}]}}}}}}
---
{kind: FluxJob, metadata: {name: flux-NAME}, spec: {queue: QUEUE, miniCluster: {size: 1, flux: {disable: true}, containers: [{image: none, command: "true"}]}}}
---
{kind: MiniCluster, metadata: {name: mini-NAME}, spec: {size: 1, flux: {disable: true}, containers: [{image: none, command: "true"}]}}
`

// allKinds runs one object of each kind to its end.
func (c *cluster) allKinds(namespace string) {
	c.t.Helper()
	c.succeed(c.createKinds(namespace, "x", nil))
}

// createKinds creates an object of each kind, with these labels but for the JobTemplate, which is for all, and returns those that
// run something.
func (c *cluster) createKinds(namespace, name string, labels map[string]string) (running []*unstructured.Unstructured) {
	c.t.Helper()
	text := strings.NewReplacer("QUEUE", namespace+"-"+name, "NAME", name).Replace(oneOfEach)
	for part := range strings.SplitSeq(text, "\n---\n") {
		obj := &unstructured.Unstructured{}
		require.NoError(c.t, yaml.Unmarshal([]byte(part), &obj.Object))
		obj.SetAPIVersion(v1alpha1.GroupVersion.String())
		switch obj.GetKind() {
		case "FluxSetup":
			c.t.Cleanup(func() { require.NoError(c.t, client.IgnoreNotFound(c.client.Delete(context.Background(), obj))) })
			obj.SetLabels(labels)
		case "JobTemplate":
			obj.SetNamespace(namespace)
		default:
			obj.SetNamespace(namespace)
			obj.SetLabels(labels)
			running = append(running, obj)
		}
		if obj.GetKind() == "FluxSetup" { // of the webhook of another release, which all are for, it may not yet be known where it is
			eventually(c.t, "the queue is accepted", func() bool { return c.client.Create(c.t.Context(), obj) == nil })
		} else {
			require.NoError(c.t, c.client.Create(c.t.Context(), obj), part)
		}
	}
	return running
}

// succeed waits until objects have succeeded.
func (c *cluster) succeed(objects []*unstructured.Unstructured) {
	c.t.Helper()
	for _, obj := range objects {
		c.wait(obj, obj.GetKind()+" "+obj.GetName()+" succeeds", func() bool { return conditionOf(obj, v1alpha1.ConditionSucceeded)["status"] == "True" })
	}
}

// conditionOf returns a condition of an object; nil if it has none such.
func conditionOf(obj *unstructured.Unstructured, kind string) map[string]any {
	all, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, one := range all {
		if condition, _ := one.(map[string]any); condition["type"] == kind {
			return condition
		}
	}
	return nil
}
