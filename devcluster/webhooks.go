package devcluster

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
)

// Webhooks is where the API server of a cluster with [WithWebhooks] calls webhooks. A webhook server of controller-runtime takes these
// values as they are:
//
//	hooks := cluster.Webhooks()
//	manager, err := ctrl.NewManager(cluster.Config(), ctrl.Options{
//		WebhookServer: webhook.NewServer(webhook.Options{Host: hooks.Host, Port: hooks.Port, CertDir: hooks.CertDir}),
//	})
//
// The objects that configure webhooks are those of a production cluster: a ValidatingWebhookConfiguration, a MutatingWebhookConfiguration
// or the conversion of a CustomResourceDefinition, whose clientConfig names a Service. The Service need not exist. The API server calls
// this address instead, with the path of the configuration. It trusts the certificate where the configuration has no caBundle. A
// configuration with a caBundle is called as well, if the server has a certificate of that authority.
type Webhooks struct {
	// Host is 127.0.0.1.
	Host string
	// Port was free when the cluster started.
	Port int
	// CertDir has tls.crt and tls.key for the server, and ca.crt, the authority.
	CertDir string
}

// newWebhooks picks a port. The cluster makes the certificates in its directory.
func newWebhooks(dir string) (*Webhooks, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a port for webhooks: %w", err)
	}
	address := listener.Addr().(*net.TCPAddr)
	return &Webhooks{Host: "127.0.0.1", Port: address.Port, CertDir: filepath.Join(dir, "webhook")}, listener.Close()
}

func (w *Webhooks) url() string {
	return "https://" + net.JoinHostPort(w.Host, strconv.Itoa(w.Port))
}

// Webhooks returns where the API server calls webhooks. It panics for a cluster that was started without [WithWebhooks].
func (c *Cluster) Webhooks() Webhooks {
	if c.webhooks == nil {
		panic("devcluster: this cluster was started without devcluster.WithWebhooks()")
	}
	return *c.webhooks
}
