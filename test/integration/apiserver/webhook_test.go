package apiserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/admission"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	good = `{suspend: true, flows: [{name: a, jobTemplate: {template: ` + template + `}}]}`
	bad  = `{flows: [{name: a, jobTemplateRef: t, dependencies: [a]}]}`
)

// An API server that is configured as docs/install.md says shows the webhook its client certificate, and is answered; one without is not.
func TestWebhookOfClientsWithACertificate(t *testing.T) {
	p := harness.Connect(t, "JobFlow", patience, "config/crd", v1alpha1.AddToScheme)
	dir := t.TempDir()
	serving, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	require.NoError(t, err)
	write(t, dir, "tls.crt", serving)
	write(t, dir, "tls.key", key)
	writeClientCertificate(t, dir)
	address := binary.FreeAddress(t)
	_, text, err := net.SplitHostPort(address)
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	clients := admission.Clients{CAFile: filepath.Join(dir, "client.crt")}
	require.NoError(t, clients.Check())
	server := admission.Server(port, dir, clients.TLS)
	admission.Register(server, p.Client.Scheme(), clients)
	go func() { _ = server.Start(context.WithoutCancel(t.Context())) }() // until the test binary ends
	p.Eventually("the webhook listens", func() bool { return server.StartedChecker()(nil) == nil })

	write(t, dir, "kubeconfig.yaml", fmt.Appendf(nil, `apiVersion: v1
kind: Config
users:
  - name: %s
    user: {client-certificate: %[2]s/client.crt, client-key: %[2]s/client.key}
`, address, dir))
	write(t, dir, "config.yaml", fmt.Appendf(nil, `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
  - name: ValidatingAdmissionWebhook
    configuration:
      apiVersion: apiserver.config.k8s.io/v1
      kind: WebhookAdmissionConfiguration
      kubeConfigFile: %s/kubeconfig.yaml
`, dir))
	config := testcluster.AnotherAPIServer(t, "--admission-control-config-file="+filepath.Join(dir, "config.yaml"))
	known, err := client.New(config, client.Options{Scheme: p.Client.Scheme()})
	require.NoError(t, err)

	url := "https://" + address + "/validate/jobflow"
	hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "clients"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "jobflow.api.practice.com", AdmissionReviewVersions: []string{"v1"},
			SideEffects:   ptr.To(admissionregistrationv1.SideEffectClassNone),
			FailurePolicy: ptr.To(admissionregistrationv1.Fail), TimeoutSeconds: ptr.To[int32](30),
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: serving},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": p.Namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{v1alpha1.GroupVersion.Group}, APIVersions: []string{"v1alpha1"}, Resources: []string{"jobflows"},
				},
			}},
		}},
	}
	require.NoError(t, p.Client.Create(t.Context(), hooks))
	t.Cleanup(func() { _ = p.Client.Delete(context.WithoutCancel(t.Context()), hooks) })

	var refusal error
	p.Eventually("the API server with the certificate asks the webhook", func() bool {
		refusal = known.Create(t.Context(), objectOf(t, "JobFlow", p.Namespace, "bad", bad), client.DryRunAll)
		return apierrors.IsInvalid(refusal)
	}, func() any { return refusal })
	assert.NoError(t, known.Create(t.Context(), objectOf(t, "JobFlow", p.Namespace, "good", good), client.DryRunAll))

	p.Eventually("the API server without a certificate is refused", func() bool {
		refusal = p.Client.Create(t.Context(), objectOf(t, "JobFlow", p.Namespace, "good", good), client.DryRunAll)
		return refusal != nil
	})
	assert.ErrorContains(t, refusal, "failed calling webhook")
	assert.ErrorContains(t, refusal, "the server has asked for the client to provide credentials", "which is a 401 in client-go's words")
}

// writeClientCertificate writes client.crt and client.key: a certificate for clients that is its own authority.
func writeClientCertificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kube-apiserver"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	write(t, dir, "client.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	write(t, dir, "client.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

func write(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
}
