package controlcmd

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestActions(t *testing.T) {
	for name, tt := range map[string]struct {
		verb, object string
		patch        string
		err          string
	}{
		"suspend a flow":              {"suspend", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow}", `{"spec":{"suspend":true}}`, ""},
		"suspend a replica job":       {"suspend", "{apiVersion: api.practice.com/v1alpha1, kind: ReplicaJob, spec: {replicaSpecs: {}}}", `{"spec":{"runPolicy":{"suspend":true}}}`, ""},
		"pause anything":              {"pause", "{apiVersion: example.com/v1, kind: Thing}", `{"metadata":{"annotations":{"armature.dev/paused":"true"}}}`, ""},
		"pause what is paused":        {"pause", "{apiVersion: example.com/v1, kind: Thing, metadata: {annotations: {armature.dev/paused: 'true'}}}", "", ""},
		"pause what is being deleted": {"pause", "{apiVersion: example.com/v1, kind: Thing, metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}}", "", "it is being deleted"},
		"pause a template":            {"pause", "{apiVersion: api.practice.com/v1alpha1, kind: JobTemplate}", "", "no operator works on a JobTemplate"},
		"pause someone's JobTemplate": {"pause", "{apiVersion: flow.example.com/v1, kind: JobTemplate}", `{"metadata":{"annotations":{"armature.dev/paused":"true"}}}`, ""},
		"pause a flow's Job": {
			"pause", "{apiVersion: batch/v1, kind: Job, metadata: {ownerReferences: [{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, name: nightly, uid: u, controller: true}]}}",
			"", "the controller of a Job is part of Kubernetes and ignores a pause; pause JobFlow/nightly, which owns it",
		},
		"pause a Deployment's pod": {
			"pause", "{apiVersion: v1, kind: Pod, metadata: {ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]}}",
			"", "the controller of a Pod is part of Kubernetes and ignores a pause; accepted is a kind whose operator is written with Armature",
		},
		"pause a Deployment": {
			"pause", "{apiVersion: apps/v1, kind: Deployment}", "",
			"the controller of a Deployment is part of Kubernetes and ignores a pause; accepted is a kind whose operator is written with Armature",
		},
		"pause a node's pod": {
			"pause", "{apiVersion: v1, kind: Pod, metadata: {ownerReferences: [{apiVersion: v1, kind: Node, name: node-1, uid: u, controller: true}]}}",
			"", "the controller of a Pod is part of Kubernetes and ignores a pause; accepted is a kind whose operator is written with Armature",
		},
		"pause a ConfigMap": {"pause", "{apiVersion: v1, kind: ConfigMap}", "",
			"a ConfigMap is a kind of Kubernetes, which ignores a pause; accepted is a kind whose operator"},
		"pause a CRD": {"pause", "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}", "",
			"a CustomResourceDefinition is a kind of Kubernetes"},
		"pause a flow's ConfigMap": {
			"pause", "{apiVersion: v1, kind: ConfigMap, metadata: {ownerReferences: [{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, name: nightly, uid: u, controller: true}]}}",
			"", "a ConfigMap is a kind of Kubernetes, which ignores a pause; pause JobFlow/nightly, which owns it",
		},
		"unpause a Job":                                    {"unpause", "{apiVersion: batch/v1, kind: Job, metadata: {annotations: {armature.dev/paused: 'true'}}}", `{"metadata":{"annotations":{"armature.dev/paused":null}}}`, ""},
		"unpause":                                          {"unpause", "{apiVersion: example.com/v1, kind: Thing, metadata: {annotations: {armature.dev/paused: 'true', a: b}}}", `{"metadata":{"annotations":{"armature.dev/paused":null}}}`, ""},
		"unpause what was undone":                          {"unpause", "{apiVersion: example.com/v1, kind: Thing, metadata: {annotations: {armature.dev/paused: 'true', armature.dev/undo: t-1}}}", `{"metadata":{"annotations":{"armature.dev/paused":null,"armature.dev/undo":null}}}`, ""},
		"unpause what is being deleted":                    {"unpause", "{apiVersion: example.com/v1, kind: Thing, metadata: {deletionTimestamp: '2026-01-01T00:00:00Z', annotations: {armature.dev/paused: 'true'}}}", "", "it is being deleted"},
		"undo":                                             {"undo", "{apiVersion: example.com/v1, kind: Thing, status: {conditions: [{type: Undoable, status: 'True', message: t-1}]}}", `{"metadata":{"annotations":{"armature.dev/paused":"true","armature.dev/undo":"t-1"}}}`, ""},
		"undo nothing":                                     {"undo", "{apiVersion: example.com/v1, kind: Thing}", "", "nothing to undo"},
		"undo again":                                       {"undo", "{apiVersion: example.com/v1, kind: Thing, metadata: {annotations: {armature.dev/paused: 'true', armature.dev/undo: t-1}}, status: {conditions: [{type: Undoable, status: 'True', message: t-1}]}}", "", ""},
		"unpause what isn't paused":                        {"unpause", "{apiVersion: example.com/v1, kind: Thing}", "", ""},
		"suspend what is suspended":                        {"suspend", "{apiVersion: api.practice.com/v1alpha1, kind: FluxJob, spec: {suspend: true}}", "", ""},
		"resume what isn't suspended":                      {"resume", "{apiVersion: api.practice.com/v1alpha1, kind: FluxJob, spec: {}}", "", ""},
		"terminate twice":                                  {"terminate", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, spec: {terminate: true}, status: {state: Running}}", "", ""},
		"suspend a DaemonJob that ended":                   {"suspend", "{apiVersion: api.practice.com/v1alpha1, kind: DaemonJob, status: {state: Succeed, completionTime: x}}", "", "it has ended already: its state is Succeed"},
		"suspend what is to be retried":                    {"suspend", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, spec: {retry: 1}, status: {state: Failed, completionTime: x}}", `{"spec":{"suspend":true}}`, ""},
		"suspend what is being deleted":                    {"suspend", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}}", "", "it is being deleted"},
		"resume what is being deleted":                     {"resume", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {suspend: true}}", "", "it is being deleted"},
		"resume what isn't suspended and is being deleted": {"resume", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}}", "", "it is being deleted"},
		"retry what is being deleted":                      {"retry", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}, status: {state: Failed}}", "", "it is being deleted"},
		"terminate what is invalid":                        {"terminate", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, status: {state: Failed}}", "", "it has not started: its state is Failed, because its spec is invalid"},
		"retry what is invalid":                            {"retry", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, status: {state: Failed}}", "", "it has not started, because its spec is invalid: correct the spec, and it starts"},
		"retry a DaemonJob out of time":                    {"retry", "{apiVersion: api.practice.com/v1alpha1, kind: DaemonJob, status: {state: Failed, startTime: x, failed: 0}}", `{"spec":{"retry":1}}`, ""},
		"resume":                                           {"resume", "{apiVersion: api.practice.com/v1alpha1, kind: MiniCluster, spec: {suspend: true}}", `{"spec":{"suspend":false}}`, ""},
		"suspend a template":                               {"suspend", "{apiVersion: api.practice.com/v1alpha1, kind: JobTemplate}", "", "a JobTemplate can't be suspended; supported kinds: DaemonJob, FluxJob, JobFlow, MiniCluster, ReplicaJob"},
		"suspend someone's JobFlow":                        {"suspend", "{apiVersion: flow.example.com/v1, kind: JobFlow}", "", "a JobFlow can't be suspended"},
		"terminate":                                        {"terminate", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, status: {state: Running}}", `{"spec":{"terminate":true}}`, ""},
		"terminate what hasn't been seen":                  {"terminate", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow}", `{"spec":{"terminate":true}}`, ""},
		"terminate what has ended":                         {"terminate", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, status: {state: Succeed, completionTime: x}}", "", "it has ended already: its state is Succeed"},
		"terminate a DaemonJob":                            {"terminate", "{apiVersion: api.practice.com/v1alpha1, kind: DaemonJob}", "", "a DaemonJob can't be terminated; supported kinds: JobFlow"},
		"retry":                                            {"retry", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, spec: {retry: 2}, status: {state: Failed, startTime: x, retry: 2}}", `{"spec":{"retry":3}}`, ""},
		"retry what was terminated":                        {"retry", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, spec: {terminate: true}, status: {state: Failed, startTime: x}}", `{"spec":{"retry":1,"terminate":false}}`, ""},
		"retry what runs":                                  {"retry", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, status: {state: Running}}", "", "it has no failed nodes: its state is Running"},
		"retry before the operator saw it":                 {"retry", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow}", "", "it has no failed nodes: its state is Pending"},
		"retry twice":                                      {"retry", "{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, spec: {retry: 1}, status: {state: Failed, startTime: x}}", "", "an earlier retry hasn't started yet: spec.retry is 1, status.retry is 0"},
		"retry a DaemonJob that has paused":                {"retry", "{apiVersion: api.practice.com/v1alpha1, kind: DaemonJob, status: {state: Running, failed: 2}}", `{"spec":{"retry":1}}`, ""},
		"retry a DaemonJob that is well":                   {"retry", "{apiVersion: api.practice.com/v1alpha1, kind: DaemonJob, status: {state: Running, failed: 0}}", "", "it has no failed nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			before := &unstructured.Unstructured{}
			data, err := yaml.YAMLToJSON([]byte(tt.object))
			require.NoError(t, err)
			require.NoError(t, before.UnmarshalJSON(data))
			patch, err := actionOf(t, tt.verb).change(before)
			if tt.err != "" {
				assert.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			if tt.patch == "" {
				assert.Nil(t, patch, "there is nothing to ask for")
				return
			}
			assert.JSONEq(t, tt.patch, string(patch))
		})
	}
}

func actionOf(t *testing.T, verb string) action {
	t.Helper()
	for _, a := range actions {
		if a.verb == verb {
			return a
		}
	}
	t.Fatalf("no action %s", verb)
	return action{}
}
