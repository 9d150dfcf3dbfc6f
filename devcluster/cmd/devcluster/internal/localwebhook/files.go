package localwebhook

import (
	"fmt"
	"net"
	"net/url"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/pki"
)

// ParseURL returns the URL of a webhook server. It has the scheme https, a port, and no path: the configurations have paths.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" || u.Port() == "" || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("%q: accepted are https, a host and a port, such as https://localhost:9443", text)
	}
	return u, nil
}

// Prepare writes what the server at the URL serves with: tls.crt, tls.key, and ca.crt, which has signed it.
func Prepare(serverURL string, dir clusterdir.Dir) error {
	server, err := ParseURL(serverURL)
	if err != nil {
		return err
	}
	authority, err := pki.LoadOrCreate("devcluster-webhooks", dir.Webhook("ca.crt"), dir.PKI("webhook-ca.key"))
	if err != nil {
		return err
	}
	request := pki.Request{CommonName: "webhook", DNSNames: []string{"localhost"}, IPs: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}}
	if ip := net.ParseIP(server.Hostname()); ip != nil {
		request.IPs = append(request.IPs, ip)
	} else {
		request.DNSNames = append(request.DNSNames, server.Hostname())
	}
	return authority.Issue(request, dir.Webhook("tls.crt"), dir.Webhook("tls.key"))
}
