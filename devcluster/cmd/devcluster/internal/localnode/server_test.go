package localnode

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

func issue(t *testing.T, template *x509.Certificate, by *authority) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := template, any(key)
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert: cert, key: key}
}

func testAuthority(t *testing.T) *authority {
	return issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
}

func clientFor(t *testing.T, ca *authority, user string) *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	config := &tls.Config{RootCAs: roots}
	if user != "" {
		cert := issue(t, &x509.Certificate{
			Subject: pkix.Name{CommonName: user}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}, ca)
		config.Certificates = []tls.Certificate{{Certificate: [][]byte{cert.cert.Raw}, PrivateKey: cert.key}}
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
}

// allowAPIServer is the authorization of a cluster where only that user may do anything.
func allowAPIServer(action clienttesting.Action) (bool, runtime.Object, error) {
	review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
	review.Status.Allowed = review.Spec.User == "apiserver" && review.Spec.ResourceAttributes.Subresource == "proxy"
	return true, review, nil
}

func TestServer(t *testing.T) {
	c := newCluster(t)
	c.create(makePod("p", "1", "echo one; echo two"))
	c.until("pod succeeds", func() bool { return c.phase("p") == corev1.PodSucceeded })

	ca := c.node.shared.authority
	get := func(user, path string) (int, string) {
		response, err := clientFor(t, ca, user).Get(fmt.Sprintf("https://%s%s", c.node.listener.Addr(), path))
		if err != nil {
			return 0, err.Error()
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(body)
	}
	for _, test := range []struct {
		user, path string
		code       int
		body       string
	}{
		{"apiserver", "/containerLogs/ns/p/main", 200, "one\ntwo\n"},
		{"apiserver", "/containerLogs/ns/p/main?tailLines=1", 200, "two\n"},
		{"apiserver", "/containerLogs/ns/p/main?tailLines=0", 200, ""},
		{"apiserver", "/containerLogs/ns/p/main?tailLines=x", 400, `tailLines: "x" is not a number`},
		{"apiserver", "/containerLogs/ns/p/main?previous=true", 400, "previous terminated container"},
		{"apiserver", "/containerLogs/ns/p/none", 404, `container "none" not found`},
		{"apiserver", "/containerLogs/ns/none/main", 404, `pod "none" is not on node "node-1"`},
		{"somebody", "/containerLogs/ns/p/main", 403, `user "somebody" may not get nodes/proxy`},
		{"", "/containerLogs/ns/p/main", 0, "certificate required"},
	} {
		code, body := get(test.user, test.path)
		if code != test.code || !strings.Contains(body, test.body) {
			t.Errorf("%s as %q: %d %q, want %d %q", test.path, test.user, code, body, test.code, test.body)
		}
	}
}
