package localwebhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"k8s.io/klog/v2"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/pki"
)

// connectTimeout is for a server on this machine.
const connectTimeout = 5 * time.Second

// Redirect finds the server of any Service at one URL. It implements the API server's ServiceResolver.
type Redirect struct {
	server    *url.URL
	authority *pki.Authority
	bridge    net.Listener
	toServer  *tls.Config
}

func newRedirect(server *url.URL, authority *pki.Authority) (*Redirect, error) {
	trusted := x509.NewCertPool()
	trusted.AddCert(authority.Cert)
	r := &Redirect{
		server: server, authority: authority, toServer: &tls.Config{RootCAs: trusted, ServerName: server.Hostname()},
	}
	bridge, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: r.certificate})
	if err != nil {
		return nil, fmt.Errorf("bridge to the webhook server %s: %w", server, err)
	}
	r.bridge = bridge
	go r.serve()
	return r, nil
}

// ResolveEndpoint returns the bridge where the server has the certificate that devcluster made, else the server itself, also if nothing
// listens there: the error of the connection then says so. The API server asks before each connection.
func (r *Redirect) ResolveEndpoint(string, string, int32) (*url.URL, error) {
	conn, err := r.dial(context.Background())
	if err != nil {
		return r.server, nil
	}
	_ = conn.Close()
	return &url.URL{Scheme: "https", Host: r.bridge.Addr().String()}, nil
}

// dial connects to the server, if its certificate is devcluster's.
func (r *Redirect) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	dialer := tls.Dialer{Config: r.toServer}
	return dialer.DialContext(ctx, "tcp", r.server.Host)
}

// certificate is one of the Service that the API server names: service.namespace.svc.
func (r *Redirect) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return r.authority.Certificate(pki.Request{CommonName: "webhook", DNSNames: []string{hello.ServerName}})
}

// serve passes on connections until the process ends.
func (r *Redirect) serve() {
	for {
		conn, err := r.bridge.Accept()
		if err != nil {
			klog.Errorf("The bridge to the webhook server %s has ended: %v", r.server, err)
			return
		}
		go r.pass(conn)
	}
}

// pass copies both directions of a connection, until one side closes.
func (r *Redirect) pass(client net.Conn) {
	defer client.Close()
	server, err := r.dial(context.Background())
	if err != nil {
		klog.Errorf("Connect to the webhook server %s: %v", r.server, err)
		return
	}
	defer server.Close()
	ended := make(chan struct{}, 2)
	for _, direction := range [][2]net.Conn{{server, client}, {client, server}} {
		go func() {
			_, _ = io.Copy(direction[0], direction[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}
