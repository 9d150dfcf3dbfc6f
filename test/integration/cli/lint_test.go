package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/test/integration/internal/binary"
)

// toLint are manifests, without apiVersion and name, and whose it is to refuse them.
var toLint = map[string]struct{ by, manifest string }{
	"well":                {"", "{kind: JobFlow, spec: {flows: [{name: a, jobTemplateRef: t}]}}"},
	"well-daemon":         {"", "{kind: DaemonJob, spec: {template: {spec: {containers: [{name: a, image: b}]}}}}"},
	"well-cluster":        {"", "{kind: MiniCluster, spec: {containers: [{image: a, command: b}]}}"},
	"well-template":       {"", "{kind: JobTemplate, spec: {jobTemplate: {template: {spec: {containers: [{name: a, image: b}]}}}}}"},
	"unknown":             {"server", "{kind: JobFlow, spec: {flow: [], flows: [{name: a, jobTemplateRef: t}]}}"},
	"unknown-deep":        {"server", "{kind: JobFlow, spec: {flows: [{name: a, jobTemplate: {template: {spec: {containers: [{name: a, imag: b}]}}}}]}}"},
	"unknown-meta":        {"server", "{kind: JobFlow, metadata: {lables: {a: b}}, spec: {flows: [{name: a, jobTemplateRef: t}]}}"},
	"wrong-type":          {"server", "{kind: JobFlow, spec: {parallelism: many, flows: [{name: a, jobTemplateRef: t}]}}"},
	"wrong-quantity":      {"server", "{kind: JobFlow, spec: {flows: [{name: a, jobTemplate: {template: {spec: {containers: [{name: a, resources: {limits: {cpu: much}}}]}}}}]}}"},
	"wrong-label":         {"server", "{kind: JobFlow, metadata: {labels: {a: -}}, spec: {flows: [{name: a, jobTemplateRef: t}]}}"},
	"label-type":          {"server", "{kind: JobFlow, metadata: {labels: {a: 1}}, spec: {flows: [{name: a, jobTemplateRef: t}]}}"},
	"required":            {"server", "{kind: JobFlow, spec: {}}"},
	"required-deep":       {"server", "{kind: DaemonJob, spec: {template: {spec: {containers: [{image: b}]}}}}"},
	"enum":                {"server", "{kind: JobFlow, spec: {endOfJob: Soon, flows: [{name: a, jobTemplateRef: t}]}}"},
	"pattern":             {"server", "{kind: JobFlow, spec: {flows: [{name: Bad_Name, jobTemplateRef: t}]}}"},
	"minimum":             {"server", "{kind: JobFlow, spec: {parallelism: 0, flows: [{name: a, jobTemplateRef: t}]}}"},
	"rule":                {"server", "{kind: JobFlow, spec: {flows: [{name: a}]}}"},
	"rule-finally":        {"server", "{kind: JobFlow, spec: {flows: [{name: a, jobTemplateRef: t}], finally: [{name: b, jobTemplateRef: t, dependencies: [a]}]}}"},
	"rule-cluster":        {"server", "{kind: MiniCluster, spec: {size: 0, containers: [{image: a}]}}"},
	"null":                {"server", "{kind: JobFlow, spec: {flows: null}}"},
	"null-item":           {"server", "{kind: JobFlow, spec: {flows: [{name: a, jobTemplateRef: t, dependencies: [null]}]}}"},
	"null-default":        {"", "{kind: JobFlow, spec: {endOfJob: null, flows: [{name: a, jobTemplateRef: t}]}}"},
	"plan-unknown":        {"plan", "{kind: JobFlow, spec: {flows: [{name: a, jobTemplateRef: t, dependencies: [b]}]}}"},
	"plan-cycle":          {"plan", "{kind: JobFlow, spec: {flows: [{name: a, jobTemplateRef: t, dependencies: [b]}, {name: b, jobTemplateRef: t, dependencies: [a]}]}}"},
	"plan-when":           {"plan", `{kind: JobFlow, spec: {flows: [{name: a, jobTemplateRef: t, when: "jobs.x.succeeded"}]}}`},
	"plan-several":        {"plan", "{kind: JobFlow, spec: {flows: [{name: a, jobTemplateRef: t, dependencies: [b, c]}, {name: a, jobTemplateRef: t}]}}"},
	"plan-daemon":         {"plan", "{kind: DaemonJob, spec: {excludeNodeList: 'a b', template: {spec: {containers: [{name: a, image: b}]}}}}"},
	"plan-replica":        {"plan", "{kind: ReplicaJob, spec: {replicaSpecs: {Worker: {template: {spec: {containers: [{name: Bad_Name, image: b}]}}}}}}"},
	"beside-interactive":  {"", "{kind: MiniCluster, spec: {interactive: true, containers: [{image: a, command: b}]}}"},
	"rule-replica-policy": {"server", "{kind: ReplicaJob, spec: {successPolicy: {rule: AllWorkers}, replicaSpecs: {Master: {template: {spec: {containers: [{name: a, image: b}]}}}}}}"},
}

// TestLint: what the command says of a manifest without a cluster is what the API server and the operators say of it.
func TestLint(t *testing.T) {
	p := newPlaceAlone(t)
	var text strings.Builder
	objects := map[string]*unstructured.Unstructured{}
	for name, tt := range toLint {
		u := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(tt.manifest), &u.Object), name)
		u.SetAPIVersion(v1alpha1.GroupVersion.String())
		require.NoError(t, unstructured.SetNestedField(u.Object, name, "metadata", "name"))
		require.NoError(t, unstructured.SetNestedField(u.Object, p.Namespace, "metadata", "namespace"))
		document, err := yaml.Marshal(u.Object)
		require.NoError(t, err)
		fmt.Fprintf(&text, "---\n%s", document)
		objects[name] = u
	}
	file := filepath.Join(t.TempDir(), "all.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	out, errs, code := binary.Run(t, "lint", "-f", file, "-o", "json")
	require.Equal(t, 1, code, errs)
	var report struct {
		Checked  int
		Findings []struct{ Name, Path, Message string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, len(toLint), report.Checked)
	lines := map[string][]string{}
	for _, f := range report.Findings {
		lines[f.Name] = append(lines[f.Name], f.Path+": "+f.Message)
	}

	strict := client.WithFieldValidation(p.Client, "Strict")
	for name, tt := range toLint {
		t.Run(name, func(t *testing.T) {
			found := strings.Join(lines[name], "\n")
			err := strict.Create(t.Context(), objects[name].DeepCopy(), client.DryRunAll)
			if tt.by == "server" {
				require.Error(t, err, "the server admits it; lint: %s", found)
				require.NotEmpty(t, found, "lint admits it; the server: %v", err)
				for _, cause := range causesOf(err) {
					assert.Contains(t, found, cause, "the server: %v", err)
				}
				return
			}
			require.NoError(t, err)
			if tt.by == "" {
				require.Empty(t, found)
				return
			}
			require.NotEmpty(t, found)
			require.NoError(t, strict.Create(t.Context(), objects[name]))
			told := p.invalid(objects[name])
			for _, line := range lines[name] {
				path, message, _ := strings.Cut(line, ": ")
				if _, rest, ok := strings.Cut(message, `": `); ok && strings.HasPrefix(message, "flow ") {
					message = rest
				}
				assert.Contains(t, told, path+": "+message)
			}
		})
	}
}

// causesOf returns the fields that the API server names, each with what it says of it.
func causesOf(err error) []string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var causes []string
	for _, cause := range status.Status().Details.Causes {
		if strings.Contains(cause.Message, "some validation rules were not checked") {
			continue // the server's own note on the rest
		}
		causes = append(causes, cause.Field+": "+cause.Message)
	}
	return causes
}

// invalid waits until an operator calls an object invalid, and returns what it says.
func (p *place) invalid(obj *unstructured.Unstructured) string {
	p.T.Helper()
	var told string
	p.Eventually(obj.GetKind()+" "+obj.GetName()+" to be invalid", func() bool {
		now := obj.DeepCopy()
		if p.Client.Get(p.T.Context(), client.ObjectKeyFromObject(obj), now) != nil {
			return false
		}
		var typed struct{ Status v1alpha1.JobFlowStatus }
		text, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": nested(now.Object, "status", "conditions")}})
		if err != nil || json.Unmarshal(text, &typed) != nil {
			return false
		}
		stalled := meta.FindStatusCondition(typed.Status.Conditions, events.ConditionStalled)
		if stalled == nil || stalled.Reason != v1alpha1.ReasonInvalidSpec {
			return false
		}
		told = stalled.Message
		return true
	})
	return told
}

func nested(obj map[string]any, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(obj, path...)
	return value
}
