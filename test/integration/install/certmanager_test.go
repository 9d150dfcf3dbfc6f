package install

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/gomod"
	"github.com/armature-dev/armature/test/testcluster"
)

// testCertManager lets cert-manager itself, with its own CRDs, make the certificate of a webhook and tell the API server of it.
func testCertManager(t *testing.T) {
	t.Parallel()
	c := newRelease(t, "armature-cert-manager")
	c.certManagerCRDs()
	path, err := certManagerPath()
	require.NoError(t, err)
	binary.StartProgram(t, path, "-kubeconfig", testcluster.Kubeconfig(t), "-namespace", c.home)
	c.installChart(thisChart(t), append(alone(c.home, "jobflow"), "--set", "webhook.enabled=true", "--set", "webhook.certificate.source=cert-manager")...)
	_, port, err := net.SplitHostPort(binary.FreeAddress(t))
	require.NoError(t, err)
	c.leadToThisHost(port)
	mounted := t.TempDir()
	eventually(t, "cert-manager makes the Secret", func() bool {
		return c.client.Get(t.Context(), client.ObjectKey{Namespace: c.home, Name: c.release + "-webhook"}, &corev1.Secret{}) == nil
	})
	first := c.certificate(nil)                           // no pod starts before its Secret is there
	for _, name := range []string{"tls.key", "tls.crt"} { // as the kubelet does
		require.NoError(t, os.WriteFile(filepath.Join(mounted, name), first[name], 0o600))
	}
	manager := c.manager("--webhook-port="+port, "--webhook-cert-dir="+mounted)

	cycle := objectOf(t, "JobFlow", c.home, "cycle", theCycle(t).spec)
	refused := func() bool {
		err = c.client.Create(t.Context(), cycle.DeepCopy(), client.DryRunAll)
		return err != nil
	}
	eventually(t, "the API server asks the webhook", refused)
	require.ErrorContains(t, err, "the dependencies form a cycle")
	eventually(t, "the cainjector has told whom to trust", func() bool {
		return bytes.Equal(c.hooks().Webhooks[0].ClientConfig.CABundle, first["ca.crt"])
	})
	noneForbidden(t, manager)
}

// certManagerCRDs installs the CRDs of cert-manager's module, until the test ends.
func (c *cluster) certManagerCRDs() {
	c.t.Helper()
	dir, err := gomod.Dir(filepath.Join(binary.Root(c.t), "tools/certmanager"), "github.com/cert-manager/cert-manager")
	require.NoError(c.t, err)
	files, err := filepath.Glob(filepath.Join(dir, "deploy/crds/cert-manager.io_*.yaml"))
	require.NoError(c.t, err)
	require.Len(c.t, files, 4)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(c.t, err)
		crd := &unstructured.Unstructured{}
		require.NoError(c.t, yaml.Unmarshal(text, &crd.Object))
		require.NoError(c.t, c.client.Create(c.t.Context(), crd))
		c.t.Cleanup(func() { require.NoError(c.t, c.client.Delete(context.Background(), crd)) })
	}
	certificates := &unstructured.UnstructuredList{}
	certificates.SetAPIVersion("cert-manager.io/v1")
	certificates.SetKind("CertificateList")
	eventually(c.t, "Certificates are served", func() bool { return c.client.List(c.t.Context(), certificates) == nil })
}
