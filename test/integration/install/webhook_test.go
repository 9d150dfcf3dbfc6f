package install

import (
	"encoding/base64"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/testcluster"
)

// Who refuses a case first.
const (
	nobody    = ""
	bySchema  = "the CRD's schema and CEL rules"
	byWebhook = "the webhook, or else the plan"
)

const pod = `{template: {spec: {restartPolicy: Never, containers: [{name: main, image: none, command: ["true"]}]}}}`

// cases are specs by kind, and who refuses them.
var cases = map[string][]struct{ name, spec, refused string }{
	"JobFlow": {
		{"sound", `{suspend: true, flows: [{name: a, jobTemplate: ` + pod + `}]}`, nobody},
		{"a template that may come later", `{flows: [{name: a, jobTemplateRef: later}]}`, nobody},
		{"no name", `{flows: [{jobTemplate: ` + pod + `}]}`, bySchema},
		{"a cycle", `{flows: [{name: a, dependencies: [b], jobTemplate: ` + pod + `}, {name: b, dependencies: [a], jobTemplate: ` + pod + `}]}`, byWebhook},
		{"a when that doesn't compile", `{flows: [{name: a, jobTemplate: ` + pod + `}, {name: b, dependencies: [a], when: "nodes.a.", jobTemplate: ` + pod + `}]}`, byWebhook},
	},
	"DaemonJob": {
		{"sound", `{suspend: true, template: {spec: {containers: [{name: main, image: none}]}}}`, nobody},
		{"no template", `{}`, bySchema},
		{"a selector that can't be", `{template: {spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [x]}]}]}}}, containers: [{name: main, image: none}]}}}`, byWebhook},
	},
	"ReplicaJob": {
		{"sound", `{runPolicy: {suspend: true}, replicaSpecs: {Worker: {template: {spec: {containers: [{name: main, image: none}]}}}}}`, nobody},
		{"no replicas", `{replicaSpecs: {}}`, bySchema},
		{"names that differ in case only", `{replicaSpecs: {Worker: {template: {spec: {containers: [{name: main, image: none}]}}}, worker: {template: {spec: {containers: [{name: main, image: none}]}}}}}`, bySchema},
		{"a pattern that is none", `{failurePolicy: {rules: [{action: Ignore, onMessage: "("}]}, replicaSpecs: {Worker: {template: {spec: {containers: [{name: main, image: none}]}}}}}`, byWebhook},
	},
	"MiniCluster": {
		{"sound", `{suspend: true, size: 1, flux: {disable: true}, containers: [{image: none, command: "true"}]}`, nobody},
		{"no containers", `{size: 1, containers: []}`, bySchema},
		{"a label that can't be", `{size: 1, jobLabels: {"a b": c}, containers: [{image: none}]}`, byWebhook},
	},
}

// TestAdmission holds three judges against each other: the API server by the CRD, the webhook, and the operator.
func TestAdmission(t *testing.T) {
	c := newCluster(t)
	c.removeCRDs()
	namespace := testcluster.Namespace(t)
	certs := t.TempDir()
	cert, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(certs, "tls.crt"), cert, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(certs, "tls.key"), key, 0o600))
	_, port, err := net.SplitHostPort(freeAddress(t))
	require.NoError(t, err)
	c.installChart(thisChart(t), "--set", "webhook.enabled=true", "--set", "webhook.failurePolicy=Fail", "--set", "webhook.certificate.certManager=false",
		"--set", "webhook.certificate.secret=none", "--set", "webhook.certificate.caBundle="+base64.StdEncoding.EncodeToString(cert))
	c.manager("--webhook-port="+port, "--webhook-cert-dir="+certs)

	hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	require.NoError(t, c.client.Get(t.Context(), client.ObjectKey{Name: release}, hooks))
	require.Len(t, hooks.Webhooks, 6)
	installedHooks := hooks.DeepCopy()
	hooks.Webhooks = nil
	require.NoError(t, c.client.Update(t.Context(), hooks)) // at first, there is none

	conditions := map[string]string{}
	for kind, specs := range cases {
		for i, s := range specs {
			name := strings.ToLower(kind) + strconv.Itoa(i)
			err := c.client.Create(t.Context(), objectOf(t, kind, namespace, name, s.spec))
			if s.refused == bySchema {
				assert.True(t, apierrors.IsInvalid(err), "%s: %s: %v", kind, s.name, err)
				continue
			}
			if !assert.NoError(t, err, "%s: %s", kind, s.name) {
				continue
			}
			reason, message := c.judged(kind, namespace, name)
			assert.Equal(t, s.refused == byWebhook, reason == v1alpha1.ReasonInvalidSpec, "%s: %s: %s %s", kind, s.name, reason, message)
			conditions[name] = message
		}
	}

	// The webhook, of this host: in a cluster it is a Service.
	for i := range installedHooks.Webhooks {
		config := &installedHooks.Webhooks[i].ClientConfig
		config.URL, config.Service = ptr.To("https://127.0.0.1:"+port+*config.Service.Path), nil
	}
	hooks.Webhooks = installedHooks.Webhooks
	require.NoError(t, c.client.Update(t.Context(), hooks))
	bad := objectOf(t, "JobFlow", namespace, "probe", cases["JobFlow"][3].spec)
	eventually(t, "the API server asks the webhook", func() bool {
		return c.client.Create(t.Context(), bad.DeepCopy(), client.DryRunAll) != nil
	})
	for kind, specs := range cases {
		for i, s := range specs {
			if s.refused == bySchema {
				continue
			}
			err := c.client.Create(t.Context(), objectOf(t, kind, namespace, "new-"+strconv.Itoa(i), s.spec), client.DryRunAll)
			if s.refused == nobody {
				assert.NoError(t, err, "%s: %s", kind, s.name)
				continue
			}
			assert.ErrorContains(t, err, conditions[strings.ToLower(kind)+strconv.Itoa(i)], "%s: %s: the condition's words", kind, s.name)
		}
	}
	// One that was let in before can still be labelled and deleted, and mended.
	there := objectOf(t, "JobFlow", namespace, "jobflow3", "{}")
	require.NoError(t, c.client.Patch(t.Context(), there, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))))
	require.Error(t, c.client.Patch(t.Context(), there, client.RawPatch("application/json-patch+json", []byte(`[{"op":"replace","path":"/spec/flows/0/name","value":"c"}]`))))
	require.NoError(t, c.client.Delete(t.Context(), there))
}

func objectOf(t *testing.T, kind, namespace, name, spec string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte("spec: "+spec), &obj.Object))
	obj.SetAPIVersion(v1alpha1.GroupVersion.String())
	obj.SetKind(kind)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}

// judged waits until the operator has looked at an object, and returns what its condition Stalled says: nothing, if it
// isn't True.
func (c *cluster) judged(kind, namespace, name string) (reason, message string) {
	c.t.Helper()
	obj := objectOf(c.t, kind, namespace, name, "{}")
	c.wait(obj, kind+" "+name+" is judged", func() bool {
		all, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
		reason, message = "", ""
		for _, one := range all {
			condition, _ := one.(map[string]any)
			if condition["type"] == "Stalled" && condition["status"] == "True" {
				reason, message = condition["reason"].(string), condition["message"].(string)
			}
		}
		return len(all) > 0
	})
	return reason, message
}
