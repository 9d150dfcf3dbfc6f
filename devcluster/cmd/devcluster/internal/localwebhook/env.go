package localwebhook

import (
	"crypto/x509"
	"fmt"
	"os"
	"runtime"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/pki"
)

// The flags of an API server are Kubernetes' own, so the supervisor says the rest in the environment.
const (
	urlEnv = "DEVCLUSTER_WEBHOOK_URL"
	dirEnv = "DEVCLUSTER_WEBHOOK_DIR"
	// trustEnv makes Go accept other authorities than the system's where a connection names none.
	trustEnv = "GODEBUG=x509usefallbackroots=1"
)

// Env is the environment of an API server that calls webhooks at the URL.
func Env(serverURL string, dir clusterdir.Dir) []string {
	return []string{urlEnv + "=" + serverURL, dirEnv + "=" + string(dir), trustEnv}
}

// FromEnv starts what the environment asks for, or returns nil. Configurations without a caBundle trust the authority of [Prepare] from
// then on in this process. It may be called once.
func FromEnv() (*Redirect, error) {
	text := os.Getenv(urlEnv)
	if text == "" {
		return nil, nil
	}
	server, err := ParseURL(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", urlEnv, err)
	}
	dir, err := clusterdir.New(os.Getenv(dirEnv))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dirEnv, err)
	}
	authority, err := pki.LoadOrCreate("devcluster-webhooks", dir.Webhook("ca.crt"), dir.PKI("webhook-ca.key"))
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil || runtime.GOOS == "darwin" {
		// macOS verifies by itself what its pool is asked for, and doesn't know the authority.
		roots = x509.NewCertPool()
	}
	roots.AddCert(authority.Cert)
	x509.SetFallbackRoots(roots)
	return newRedirect(server, authority)
}
