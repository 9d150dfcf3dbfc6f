package pki

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
)

// ServiceIP is the cluster IP of the Service kubernetes: the first of the service range.
const ServiceIP = "10.96.0.1"

var (
	loopback = net.IPv4(127, 0, 0, 1)
	local    = Request{DNSNames: []string{"localhost"}, IPs: []net.IP{loopback}}
)

// Ensure makes every certificate and key that the cluster's components read from files. The API server is also known
// by these addresses.
func Ensure(dir clusterdir.Dir, addresses ...string) error {
	kubernetes, err := LoadOrCreate("devcluster", dir.PKI("ca.crt"), dir.PKI("ca.key"))
	if err != nil {
		return err
	}
	// etcd has an authority of its own: whoever owns a Kubernetes client certificate must not reach etcd.
	etcd, err := LoadOrCreate("devcluster-etcd", dir.PKI("etcd/ca.crt"), dir.PKI("etcd/ca.key"))
	if err != nil {
		return err
	}
	// And the aggregation layer has one, of which the API server presents a certificate to extension servers.
	frontProxy, err := LoadOrCreate("devcluster-front-proxy", dir.PKI("front-proxy-ca.crt"), dir.PKI("front-proxy-ca.key"))
	if err != nil {
		return err
	}
	apiserver := Request{
		CommonName: "kube-apiserver",
		DNSNames: []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local"},
		IPs: []net.IP{loopback, net.ParseIP(ServiceIP)},
	}
	for _, address := range addresses {
		apiserver.IPs = append(apiserver.IPs, net.ParseIP(address))
	}
	for _, c := range []struct {
		by   *Authority
		name string
		use  Request
	}{
		{etcd, "etcd/server", local},
		{etcd, "etcd/client", Request{CommonName: "kube-apiserver"}},
		{frontProxy, "front-proxy-client", Request{CommonName: "front-proxy-client"}},
		{kubernetes, "apiserver", apiserver},
		{kubernetes, "apiserver-kubelet-client", Request{CommonName: KubeletClient}},
		{kubernetes, "controller-manager", local},
		{kubernetes, "scheduler", local},
		{kubernetes, "user-admin", Request{CommonName: "devcluster-admin", Organizations: []string{"system:masters"}}},
		{kubernetes, "user-controller-manager", Request{CommonName: "system:kube-controller-manager"}},
		{kubernetes, "user-scheduler", Request{CommonName: "system:kube-scheduler"}},
		{kubernetes, "user-local-nodes", Request{CommonName: "devcluster:local-nodes", Organizations: []string{NodesGroup}}},
		{kubernetes, "user-kube-proxy", Request{CommonName: "system:kube-proxy"}},
		{kubernetes, "user-coredns", Request{CommonName: CoreDNSUser}},
		{kubernetes, "user-fake-nodes", Request{CommonName: "devcluster:fake-nodes", Organizations: []string{NodesGroup}}},
	} {
		if err := c.by.Issue(c.use, dir.PKI(c.name+".crt"), dir.PKI(c.name+".key")); err != nil {
			return err
		}
	}
	return ensureServiceAccountKey(dir.PKI("sa.pub"), dir.PKI("sa.key"))
}

// EnsureNode makes the certificates of a node that runs containers: it is a client called user-node-<name>, and serves as
// node-<name> at its address.
func EnsureNode(dir clusterdir.Dir, name, address string) error {
	kubernetes, err := LoadOrCreate("devcluster", dir.PKI("ca.crt"), dir.PKI("ca.key"))
	if err != nil {
		return err
	}
	user := Request{CommonName: "system:node:" + name, Organizations: []string{"system:nodes"}}
	if err := kubernetes.Issue(user, dir.PKI("user-node-"+name+".crt"), dir.PKI("user-node-"+name+".key")); err != nil {
		return err
	}
	serving := Request{CommonName: "system:node:" + name, DNSNames: []string{name}, IPs: []net.IP{net.ParseIP(address)}}
	return kubernetes.Issue(serving, dir.PKI("node-"+name+".crt"), dir.PKI("node-"+name+".key"))
}

// Identities that are no part of Kubernetes' own roles; the supervisor grants them their rights.
const (
	// NodesGroup is the group of the processes that run nodes.
	NodesGroup = "devcluster:nodes"
	// CoreDNSUser is CoreDNS, which reads Services and their endpoints.
	CoreDNSUser = "devcluster:coredns"
	// KubeletClient is the API server when it talks to nodes: for logs, exec and port-forward.
	KubeletClient = "kube-apiserver-kubelet-client"
)

// ensureServiceAccountKey keeps the key across starts, because tokens signed by it live in the cluster.
func ensureServiceAccountKey(pubFile, keyFile string) error {
	if _, err := os.Stat(pubFile); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	key, err := newKey(keyFile)
	if err != nil {
		return fmt.Errorf("service account key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("service account key: %w", err)
	}
	return os.WriteFile(pubFile, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o644)
}
