package install

import (
	"encoding/base64"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/testcluster"
)

// testAdmission runs what a release for one namespace may do, that it leaves the others alone, and then holds three judges
// against each other: the API server by the CRD, the webhook, and the operator.
func testAdmission(t *testing.T) {
	t.Parallel()
	c := newRelease(t, "armature-admission")
	namespace, others := testcluster.Namespace(t), testcluster.Namespace(t)
	certs := t.TempDir()
	cert, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(certs, "tls.crt"), cert, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(certs, "tls.key"), key, 0o600))
	_, port, err := net.SplitHostPort(binary.FreeAddress(t))
	require.NoError(t, err)
	c.installChart(thisChart(t), "--set", "crds.install=false", "--set", "watchNamespaces={"+namespace+"}",
		"--set", "selector=!"+v1alpha1.LabelShard, // FluxSetups are in no namespace: those of other tests have the label
		"--set", "webhook.enabled=true", "--set", "webhook.failurePolicy=Fail", "--set", "webhook.certificate.source=given",
		"--set", "webhook.certificate.secret=none", "--set", "webhook.certificate.caBundle="+base64.StdEncoding.EncodeToString(cert))

	hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	require.NoError(t, c.client.Get(t.Context(), client.ObjectKey{Name: c.release}, hooks))
	require.Len(t, hooks.Webhooks, len(cases), "each kind has cases")
	installedHooks := hooks.DeepCopy()
	hooks.Webhooks = nil
	require.NoError(t, c.client.Update(t.Context(), hooks)) // at first, there is none

	manager := c.manager("--webhook-port="+port, "--webhook-cert-dir="+certs)
	theirs := c.flow(others, "flow", "true")
	c.allKinds(namespace)
	c.waitSucceeded(c.flow(namespace, "flow", "true"))
	c.wait(theirs, "another namespace's flow is left alone", func() bool { return theirs.Status.State == "" })

	open := objectOf(t, "FluxSetup", "", openQueue, "{}")
	require.NoError(t, c.client.Create(t.Context(), open))
	conditions := map[string]string{}
	for kind, specs := range cases {
		for i, s := range specs {
			name := nameOf(kind, i)
			err := c.client.Create(t.Context(), objectOf(t, kind, namespace, name, s.spec))
			if s.refused == bySchema {
				assert.True(t, apierrors.IsInvalid(err), "%s: %s: %v", kind, s.name, err)
			} else {
				assert.NoError(t, err, "%s: %s", kind, s.name)
			}
		}
	}
	for kind, specs := range cases {
		for i, s := range specs {
			if s.refused != bySchema {
				conditions[nameOf(kind, i)] = c.judged(kind, namespace, nameOf(kind, i), s)
			}
		}
	}

	// The webhook, of this host: in a cluster it is a Service.
	for i := range installedHooks.Webhooks {
		config := &installedHooks.Webhooks[i].ClientConfig
		config.URL, config.Service = new("https://127.0.0.1:"+port+*config.Service.Path), nil
	}
	hooks.Webhooks = installedHooks.Webhooks
	require.NoError(t, c.client.Update(t.Context(), hooks))
	bad := objectOf(t, "JobFlow", namespace, "probe", theCycle(t).spec)
	eventually(t, "the API server asks the webhook", func() bool {
		return c.client.Create(t.Context(), bad.DeepCopy(), client.DryRunAll) != nil
	})
	for kind, specs := range cases {
		for i, s := range specs {
			if s.refused == bySchema {
				continue
			}
			err := c.client.Create(t.Context(), objectOf(t, kind, namespace, "new-"+nameOf(kind, i), s.spec), client.DryRunAll)
			if s.refused == nobody {
				assert.NoError(t, err, "%s: %s", kind, s.name)
				continue
			}
			assert.ErrorContains(t, err, conditions[nameOf(kind, i)], "%s: %s: the condition's words", kind, s.name)
		}
	}
	// One that was let in before can still be labelled and deleted, and mended.
	there := objectOf(t, "JobFlow", namespace, nameOf("JobFlow", theCycle(t).at), "{}")
	require.NoError(t, c.client.Patch(t.Context(), there, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))))
	require.Error(t, c.client.Patch(t.Context(), there, client.RawPatch("application/json-patch+json", []byte(`[{"op":"replace","path":"/spec/flows/0/name","value":"c"}]`))))
	require.NoError(t, c.client.Delete(t.Context(), there))
	noneForbidden(t, manager)
}

// nameOf is what the object of a case is called.
func nameOf(kind string, i int) string { return strings.ToLower(kind) + "-" + strconv.Itoa(i) }

// theCycle returns the spec of a flow that goes round in a circle, and which case it is.
func theCycle(t *testing.T) (found struct {
	spec string
	at   int
}) {
	t.Helper()
	found.at = slices.IndexFunc(cases["JobFlow"], func(k kase) bool { return k.name == "a cycle" })
	require.GreaterOrEqual(t, found.at, 0)
	found.spec = cases["JobFlow"][found.at].spec
	return found
}

func objectOf(t *testing.T, kind, namespace, name, spec string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte("spec: "+spec), &obj.Object))
	obj.SetAPIVersion(v1alpha1.GroupVersion.String())
	obj.SetKind(kind)
	if kind != "FluxSetup" {
		obj.SetNamespace(namespace)
	}
	obj.SetName(name)
	return obj
}

// judged waits until the operator has judged an object as the case says, and returns what its condition Ready says.
func (c *cluster) judged(kind, namespace, name string, as kase) (message string) {
	c.t.Helper()
	obj := objectOf(c.t, kind, namespace, name, "{}")
	c.wait(obj, kind+": "+as.name+": refused by "+as.refused, func() bool {
		all, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
		for _, one := range all {
			condition, _ := one.(map[string]any)
			if condition["type"] == "Ready" {
				message = condition["message"].(string)
				return (condition["reason"] == v1alpha1.ReasonInvalidSpec) == (as.refused == byWebhook)
			}
		}
		return false
	})
	return message
}
