package install

import (
	"bytes"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/test/integration/internal/binary"
)

// testSelfManagedCertificates lets a manager make the certificate of its webhook and tell the API server of it; then takes the
// certificate away, and it makes another.
func testSelfManagedCertificates(t *testing.T, noted *verbs) {
	t.Parallel()
	c := newRelease(t, "armature-certificates")
	c.verbs = noted
	c.installChart(thisChart(t), append(alone(c.home, "jobflow"), "--set", "webhook.enabled=true")...)
	_, port, err := net.SplitHostPort(binary.FreeAddress(t))
	require.NoError(t, err)
	c.leadToThisHost(port)
	manager := c.manager("--webhook-port="+port, "--webhook-cert-dir="+t.TempDir())

	first := c.certificate(nil)
	sound := objectOf(t, "JobFlow", c.home, "sound", cases["JobFlow"][0].spec)
	cycle := objectOf(t, "JobFlow", c.home, "cycle", theCycle(t).spec)
	eventually(t, "the API server asks the webhook", func() bool {
		err = c.client.Create(t.Context(), cycle.DeepCopy(), client.DryRunAll)
		return err != nil
	})
	require.ErrorContains(t, err, "the dependencies form a cycle")
	require.NoError(t, c.client.Create(t.Context(), sound, client.DryRunAll))
	assert.Equal(t, first["ca.crt"], c.hooks().Webhooks[0].ClientConfig.CABundle)

	require.NoError(t, c.client.Patch(t.Context(), c.secret(), client.RawPatch("application/merge-patch+json", []byte(`{"data":null}`))))
	second := c.certificate(first)
	eventually(t, "the API server is told", func() bool {
		return bytes.Equal(c.hooks().Webhooks[0].ClientConfig.CABundle, second["ca.crt"])
	})
	eventually(t, "the webhook has the new one", func() bool {
		return c.client.Create(t.Context(), cycle.DeepCopy(), client.DryRunAll) != nil
	})
	noneForbidden(t, manager)

	// An upgrade leaves what the chart has nothing to say of.
	c.helm(append([]string{"upgrade", c.release, thisChart(t), "--set", "replicas=0", "--set", "webhook.enabled=true"}, alone(c.home, "jobflow")...)...)
	assert.Equal(t, second, c.secret().Data)
}

// leadToThisHost lets the release's webhook be asked where the manager is, as a process of this host: by the same name, which
// the certificate is for.
func (c *cluster) leadToThisHost(port string) {
	c.t.Helper()
	service := &corev1.Service{}
	require.NoError(c.t, c.client.Get(c.t.Context(), client.ObjectKey{Namespace: c.home, Name: c.release + "-webhook"}, service))
	service.Spec.Type, service.Spec.ExternalName, service.Spec.ClusterIP, service.Spec.ClusterIPs = corev1.ServiceTypeExternalName, "localhost", "", nil
	require.NoError(c.t, c.client.Update(c.t.Context(), service))
	number, err := strconv.ParseInt(port, 10, 32)
	require.NoError(c.t, err)
	require.NoError(c.t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		hooks := c.hooks()
		for _, hook := range hooks.Webhooks {
			if hook.Name == "jobflows.api.practice.com" {
				hook.ClientConfig.Service.Port = new(int32(number))
				hooks.Webhooks = []admissionregistrationv1.ValidatingWebhook{hook} // those of other kinds are for other tests
			}
		}
		return c.client.Update(c.t.Context(), hooks)
	}))
}

func (c *cluster) hooks() *admissionregistrationv1.ValidatingWebhookConfiguration {
	c.t.Helper()
	hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	require.NoError(c.t, c.client.Get(c.t.Context(), client.ObjectKey{Name: c.release}, hooks))
	return hooks
}

func (c *cluster) secret() *corev1.Secret {
	c.t.Helper()
	secret := &corev1.Secret{}
	require.NoError(c.t, c.client.Get(c.t.Context(), client.ObjectKey{Namespace: c.home, Name: c.release + "-webhook"}, secret))
	return secret
}

// certificate is what the Secret has, once that is something else than before.
func (c *cluster) certificate(before map[string][]byte) (data map[string][]byte) {
	c.t.Helper()
	eventually(c.t, "there is a certificate", func() bool {
		data = c.secret().Data
		return len(data["tls.crt"]) > 0 && !bytes.Equal(data["ca.crt"], before["ca.crt"])
	})
	return data
}
