package admission

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	certutil "k8s.io/client-go/util/cert"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return authority{certificate, key}
}

func (a authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

func (a authority) sign(t *testing.T, usage x509.ExtKeyUsage) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "apiserver"}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}, a.certificate, key.Public(), a.key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Only who has a client certificate of the authority may send a review; who only connects, as the check of readiness does, needs none.
func TestOnlyClientsOfTheAuthorityMaySendReviews(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	file := filepath.Join(t.TempDir(), "ca.crt")
	clients := Clients{CAFile: file}
	require.ErrorContains(t, clients.Check(), file)
	require.NoError(t, os.WriteFile(file, []byte("nothing"), 0o600))
	require.ErrorContains(t, clients.Check(), "has no certificate in PEM")
	require.NoError(t, os.WriteFile(file, ours.pem(), 0o600))
	require.NoError(t, clients.Check())

	server := httptest.NewUnstartedServer(clients.only(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	certificate, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(certificate, key)
	require.NoError(t, err)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	clients.TLS(server.TLS)
	server.StartTLS()
	defer server.Close()
	send := func(certificates ...tls.Certificate) (int, error) {
		trusted := x509.NewCertPool()
		trusted.AppendCertsFromPEM(certificate)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if len(certificates) == 0 {
				return &tls.Certificate{}, nil
			}
			return &certificates[0], nil // whatever authorities the server names
		}}}
		defer transport.CloseIdleConnections()
		answer, err := (&http.Client{Transport: transport}).Post(server.URL, "application/json", strings.NewReader("{}"))
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}

	status, err := send(ours.sign(t, x509.ExtKeyUsageClientAuth))
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, status)
	status, err = send()
	require.NoError(t, err, "a connection without a certificate is no error")
	assert.Equal(t, http.StatusUnauthorized, status)
	_, err = send(theirs.sign(t, x509.ExtKeyUsageClientAuth))
	require.Error(t, err, "another authority's")
	_, err = send(ours.sign(t, x509.ExtKeyUsageServerAuth))
	require.Error(t, err, "one that isn't for clients")

	require.NoError(t, os.WriteFile(file, theirs.pem(), 0o600))
	status, err = send(theirs.sign(t, x509.ExtKeyUsageClientAuth))
	require.NoError(t, err, "the authority was replaced")
	assert.Equal(t, http.StatusOK, status)
	_, err = send(ours.sign(t, x509.ExtKeyUsageClientAuth))
	require.Error(t, err)
}

func TestEveryoneMaySendReviewsIfNothingIsAsked(t *testing.T) {
	config := &tls.Config{}
	Clients{}.TLS(config)
	assert.Nil(t, config.GetConfigForClient)
	require.NoError(t, Clients{}.Check())
	answer := httptest.NewRecorder()
	Clients{}.only(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", nil))
	assert.Equal(t, http.StatusOK, answer.Code)
}
