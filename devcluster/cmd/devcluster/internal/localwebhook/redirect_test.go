package localwebhook

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/pki"
)

// webhookServer serves with a certificate of an authority, whose CA is in dir.
func webhookServer(t *testing.T, dir clusterdir.Dir) *httptest.Server {
	t.Helper()
	require.NoError(t, dir.Create())
	require.NoError(t, Prepare("https://localhost:9443", dir))
	pair, err := tls.LoadX509KeyPair(dir.Webhook("tls.crt"), dir.Webhook("tls.key"))
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) }))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func newDir(t *testing.T) clusterdir.Dir {
	t.Helper()
	dir, err := clusterdir.New(t.TempDir())
	require.NoError(t, err)
	return dir
}

// redirectTo redirects to a server, with the authority of dir.
func redirectTo(t *testing.T, server string, dir clusterdir.Dir) *Redirect {
	t.Helper()
	authority, err := pki.LoadOrCreate("devcluster-webhooks", dir.Webhook("ca.crt"), dir.PKI("webhook-ca.key"))
	require.NoError(t, err)
	target, err := url.Parse(server)
	require.NoError(t, err)
	redirect, err := newRedirect(target, authority)
	require.NoError(t, err)
	t.Cleanup(func() { _ = redirect.bridge.Close() })
	return redirect
}

func TestServiceIsTheServerWithOurCertificate(t *testing.T) {
	dir := newDir(t)
	server := webhookServer(t, dir)
	redirect := redirectTo(t, server.URL, dir)
	at, err := redirect.ResolveEndpoint("operator-system", "webhook-service", 443)
	require.NoError(t, err)
	assert.NotEqual(t, server.URL, at.String(), "by the bridge")

	trusted := x509.NewCertPool()
	trusted.AddCert(redirect.authority.Cert)
	client := http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: "webhook-service.operator-system.svc"},
	}}
	response, err := client.Get(at.String() + "/validate")
	require.NoError(t, err)
	said, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, "/validate", string(said))
}

// Such an operator has put its own authority into the configuration.
func TestServerWithAnotherCertificateIsCalledItself(t *testing.T) {
	server := webhookServer(t, newDir(t))
	ours := newDir(t)
	require.NoError(t, ours.Create())
	at, err := redirectTo(t, server.URL, ours).ResolveEndpoint("operator-system", "webhook-service", 443)
	require.NoError(t, err)
	assert.Equal(t, server.URL, at.String())
}

func TestServerThatIsNotThereIsCalledItself(t *testing.T) {
	dir := newDir(t)
	server := webhookServer(t, dir)
	redirect := redirectTo(t, server.URL, dir)
	server.Close()
	at, err := redirect.ResolveEndpoint("operator-system", "webhook-service", 443)
	require.NoError(t, err)
	assert.Equal(t, server.URL, at.String(), "so that the error names its address")
}

func TestURLsOfWebhooks(t *testing.T) {
	for _, text := range []string{"http://localhost:9443", "https://localhost", "https://localhost:9443/path", "localhost:9443", "https://:9443"} {
		_, err := ParseURL(text)
		assert.ErrorContains(t, err, "https", text)
	}
	_, err := ParseURL("https://127.0.0.1:9443")
	assert.NoError(t, err)
}
