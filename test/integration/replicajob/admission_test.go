package replicajob

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/webhook"
)

func TestAdmission(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	worker := "Worker: {template: " + sh("true") + "}"
	tests := map[string]struct{ name, spec, refused string }{
		"as little as possible":         {"a", `{replicaSpecs: {` + worker + `}}`, ""},
		"no types":                      {"a", `{replicaSpecs: {}}`, "at least 1"},
		"no types at all":               {"a", `{}`, "replicaSpecs"},
		"0 replicas":                    {"a", `{replicaSpecs: {Worker: {replicas: 0, template: ` + sh("true") + `}}}`, ""},
		"no template":                   {"a", `{replicaSpecs: {Worker: {template: {}}}}`, "template.spec.containers: Required value"},
		"no containers":                 {"a", `{replicaSpecs: {Worker: {template: {spec: {containers: []}}}}}`, "at least one container is needed"},
		"negative replicas":             {"a", `{replicaSpecs: {Worker: {replicas: -1, template: ` + sh("true") + `}}}`, "greater than or equal to 0"},
		"a type's name":                 {"a", `{replicaSpecs: {"my type": {template: ` + sh("true") + `}}}`, "a type's name has letters"},
		"a long type's name":            {"a", `{replicaSpecs: {` + strings.Repeat("a", 41) + `: {template: ` + sh("true") + `}}}`, "at most 40 characters"},
		"types that differ in case":     {"a", `{replicaSpecs: {` + worker + `, worker: {template: ` + sh("true") + `}}}`, "differ in more than case"},
		"a name that no Service has":    {"a.b", `{replicaSpecs: {` + worker + `}}`, "metadata.name must be a DNS label"},
		"a name that starts with a 1":   {"1a", `{replicaSpecs: {` + worker + `}}`, "metadata.name must be a DNS label"},
		"a name of 54 characters":       {strings.Repeat("a", 54), `{replicaSpecs: {` + worker + `}}`, ""},
		"a name of 55 characters":       {strings.Repeat("a", 55), `{replicaSpecs: {` + worker + `}}`, "at most 63 characters"},
		"indexes take their place, too": {strings.Repeat("a", 54), `{replicaSpecs: {Worker: {replicas: 11, template: ` + sh("true") + `}}}`, "at most 63 characters"},
		"a restart policy":              {"a", `{replicaSpecs: {Worker: {restartPolicy: Sometimes, template: ` + sh("true") + `}}}`, "Unsupported value"},
		"a dependency":                  {"a", `{replicaSpecs: {` + worker + `, Launcher: {template: ` + sh("true") + `, dependsOn: [{type: Worker}]}}}`, ""},
		"an unknown dependency":         {"a", `{replicaSpecs: {Worker: {template: ` + sh("true") + `, dependsOn: [{type: PS}]}}}`, "dependsOn must name other types"},
		"a dependency on itself":        {"a", `{replicaSpecs: {Worker: {template: ` + sh("true") + `, dependsOn: [{type: Worker}]}}}`, "dependsOn must name other types"},
		"success of types":              {"a", `{successPolicy: {rule: All, replicaTypes: [Worker]}, replicaSpecs: {` + worker + `}}`, ""},
		"success of no types":           {"a", `{successPolicy: {rule: Any}, replicaSpecs: {` + worker + `}}`, "replicaTypes goes with the rules All and Any"},
		"all workers of none":           {"a", `{successPolicy: {rule: AllWorkers}, replicaSpecs: {PS: {template: ` + sh("true") + `}}}`, "AllWorkers needs a type Worker"},
		"types without a rule":          {"a", `{successPolicy: {replicaTypes: [Worker]}, replicaSpecs: {` + worker + `}}`, "replicaTypes goes with the rules All and Any"},
		"success of unknown types":      {"a", `{successPolicy: {rule: All, replicaTypes: [PS]}, replicaSpecs: {` + worker + `}}`, "successPolicy.replicaTypes must name types"},
		"a rule":                        {"a", `{failurePolicy: {rules: [{action: Ignore, replicaTypes: [Worker], onExitCodes: {values: [3]}}]}, replicaSpecs: {` + worker + `}}`, ""},
		"a rule of unknown types":       {"a", `{failurePolicy: {rules: [{action: Ignore, replicaTypes: [PS]}]}, replicaSpecs: {` + worker + `}}`, "failurePolicy.rules: replicaTypes must name types"},
		"a rule for exit code 0":        {"a", `{failurePolicy: {rules: [{action: Ignore, onExitCodes: {values: [0]}}]}, replicaSpecs: {` + worker + `}}`, "greater than or equal to 1"},
		"an unknown action":             {"a", `{failurePolicy: {rules: [{action: Dance}]}, replicaSpecs: {` + worker + `}}`, "Unsupported value"},
		"a negative limit":              {"a", `{runPolicy: {backoffLimit: -1}, replicaSpecs: {` + worker + `}}`, "greater than or equal to 0"},
		"a clean policy":                {"a", `{runPolicy: {cleanPodPolicy: Some}, replicaSpecs: {` + worker + `}}`, "Unsupported value"},
		"a provider":                    {"a", `{runPolicy: {schedulingPolicy: {provider: Magic}}, replicaSpecs: {` + worker + `}}`, "Unsupported value"},
	}
	for name, tt := range tests {
		err := p.Client.Create(t.Context(), p.job(tt.name, tt.spec), client.DryRunAll)
		if tt.refused == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, tt.refused, name)
		}
	}

	p.create("default", `{runPolicy: {suspend: true}, replicaSpecs: {`+worker+`}}`)
	assert.EqualValues(t, 1, *p.get("default").Spec.ReplicaSpecs["Worker"].Replicas, "written down: the subresource scale is refused without it")
	p.MustKubectl("get", "--raw", "/apis/api.practice.com/v1alpha1/namespaces/"+p.Namespace+"/replicajobs/default/scale")

	p.create("managed", `{runPolicy: {managedBy: someone}, replicaSpecs: {`+worker+`}}`)
	before := p.get("managed")
	for _, managedBy := range []*string{nil, new("another")} {
		after := before.DeepCopy()
		after.Spec.RunPolicy.ManagedBy = managedBy
		require.ErrorContains(t, p.Client.Patch(t.Context(), after, client.MergeFrom(before), client.DryRunAll), "managedBy can't be changed")
	}
	p.change("managed", func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.BackoffLimit = ptr.To[int32](1) })
}

// What the API server lets through is told by condition and event, once, and starts nothing.
func TestBadInputIsTold(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	webhook.Spare(t, p.Namespace)
	p.manage()
	p.create("cycle", `{replicaSpecs: {A: {template: `+sh("true")+`, dependsOn: [{type: B}]}, B: {template: `+sh("true")+`, dependsOn: [{type: A}]}}}`)
	p.create("pattern", `{failurePolicy: {rules: [{action: Fail, onMessage: "("}]}, replicaSpecs: {Worker: {template: `+sh("true")+`}}}`)
	p.create("labels", `{replicaSpecs: {Worker: {template: {metadata: {labels: {a b: c}}, spec: {containers: [{name: c, image: none}]}}}}}`)
	for name, want := range map[string]string{
		"cycle": "A -> B -> A", "pattern": "spec.failurePolicy.rules[0].onMessage: Invalid value",
		"labels": `spec.replicaSpecs[Worker].template.metadata.labels: Invalid value: "a b"`,
	} {
		job := p.wait(name, name+" is refused", func(j *v1alpha1.ReplicaJob) bool { return reason(j, "Stalled") == "InvalidSpec" })
		for _, c := range job.Status.Conditions {
			assert.Contains(t, c.Message, want)
		}
		p.Eventually("its event", func() bool { return len(p.events(name)) > 0 })
		assert.Equal(t, []string{"InvalidSpec"}, p.events(name))
		assert.Empty(t, p.podList(name))
		assert.True(t, p.isGone(name, &corev1.Service{}), "nothing is half made")
	}
	p.change("cycle", func(j *v1alpha1.ReplicaJob) {
		b := j.Spec.ReplicaSpecs["B"]
		b.DependsOn = nil
		j.Spec.ReplicaSpecs["B"] = b
	})
	p.waitState("cycle", v1alpha1.ReplicaJobSucceeded)
}
