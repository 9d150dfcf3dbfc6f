package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

const (
	caLife   = 10 * 365 * 24 * time.Hour
	leafLife = 365 * 24 * time.Hour
	// skew is how far a certificate reaches into the past, for clocks set back.
	skew = 5 * time.Minute
)

// Authority signs certificates.
type Authority struct {
	Cert *x509.Certificate
	key  crypto.Signer
}

// LoadOrCreate reads the authority from certFile and keyFile, or makes one and writes it there.
func LoadOrCreate(commonName, certFile, keyFile string) (*Authority, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if errors.Is(err, os.ErrNotExist) {
		return create(commonName, certFile, keyFile)
	}
	if err != nil {
		return nil, fmt.Errorf("certificate authority %s: %w", certFile, err)
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("certificate authority %s: key %s can't sign", certFile, keyFile)
	}
	return &Authority{Cert: pair.Leaf, key: signer}, nil
}

func create(commonName, certFile, keyFile string) (*Authority, error) {
	key, err := newKey(keyFile)
	if err != nil {
		return nil, err
	}
	template := newTemplate(pkix.Name{CommonName: commonName}, caLife)
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("create certificate authority %s: %w", certFile, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Authority{Cert: cert, key: key}, writePEM(certFile, "CERTIFICATE", der, 0o644)
}

// Request is what a certificate is for: a client (CommonName is the user, Organizations its groups), or a
// server when it has addresses.
type Request struct {
	CommonName    string
	Organizations []string
	DNSNames      []string
	IPs           []net.IP
}

// Issue signs a certificate and writes it and its key.
func (a *Authority) Issue(r Request, certFile, keyFile string) error {
	key, err := newKey(keyFile)
	if err != nil {
		return err
	}
	der, err := a.sign(r, key)
	if err != nil {
		return fmt.Errorf("issue certificate %s: %w", certFile, err)
	}
	return writePEM(certFile, "CERTIFICATE", der, 0o644)
}

// Certificate signs a certificate that stays in memory.
func (a *Authority) Certificate(r Request) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := a.sign(r, key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// sign returns the certificate of the key, in DER.
func (a *Authority) sign(r Request, key crypto.Signer) ([]byte, error) {
	template := newTemplate(pkix.Name{CommonName: r.CommonName, Organization: r.Organizations}, leafLife)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(r.DNSNames)+len(r.IPs) > 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	template.DNSNames, template.IPAddresses = r.DNSNames, r.IPs
	return x509.CreateCertificate(rand.Reader, template, a.Cert, key.Public(), a.key)
}

func newTemplate(subject pkix.Name, life time.Duration) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	now := time.Now()
	return &x509.Certificate{SerialNumber: serial, Subject: subject, NotBefore: now.Add(-skew), NotAfter: now.Add(life)}
}

// newKey uses an elliptic curve because it takes no time; an RSA key takes a tenth of a second and more.
func newKey(file string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, writePEM(file, "EC PRIVATE KEY", der, 0o600)
}

func writePEM(file, kind string, der []byte, mode os.FileMode) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode)
}
