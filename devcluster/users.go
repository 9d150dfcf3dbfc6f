package devcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
)

// AddUser returns a connection as a user with this name and these groups, by a client certificate of the cluster. Roles and bindings say
// what the user may do. It returns an error for a cluster that the environment names, whose authority isn't known.
func (c *Cluster) AddUser(name string, groups ...string) (*rest.Config, error) {
	if c.dir == "" {
		return nil, fmt.Errorf("add user %s: the cluster of %s=%s has an authority of its own: use impersonation instead",
			name, kubeconfigEnv, c.kubeconfig)
	}
	authority, err := tls.LoadX509KeyPair(filepath.Join(c.dir, "pki", "ca.crt"), filepath.Join(c.dir, "pki", "ca.key"))
	if err != nil {
		return nil, fmt.Errorf("add user %s: %w", name, err)
	}
	certificate, key, err := clientCertificate(authority, pkix.Name{CommonName: name, Organization: groups})
	if err != nil {
		return nil, fmt.Errorf("add user %s: %w", name, err)
	}
	config := rest.AnonymousClientConfig(c.config)
	config.QPS = c.config.QPS
	config.CertData, config.KeyData = certificate, key
	return config, nil
}

// clientCertificate returns a certificate and its key, as PEM.
func clientCertificate(authority tls.Certificate, subject pkix.Name) (certificate, key []byte, err error) {
	issuer, err := x509.ParseCertificate(authority.Certificate[0])
	if err != nil {
		return nil, nil, err
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: subject, NotBefore: now.Add(-5 * time.Minute), NotAfter: now.AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, issuer, private.Public(), authority.PrivateKey)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), err
}
