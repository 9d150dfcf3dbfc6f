package scaling

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// credentials are what an endpoint is shown, and what it must show.
type credentials struct {
	token, username, password string
	tls                       *tls.Config
}

func (c credentials) authenticate(r *http.Request) {
	switch {
	case c.token != "":
		r.Header.Set("Authorization", "Bearer "+c.token)
	case c.username != "":
		r.SetBasicAuth(c.username, c.password)
	}
}

// credentialsOf reads the Secrets that an access names. Errors name the Secret and the key, never a value.
func credentialsOf(secrets *secretReader, a *v1beta1.HTTPAccess) (c credentials, err error) {
	if a.SecretRef != nil {
		secret, err := secrets.read(a.SecretRef.Name)
		if err != nil {
			return c, err
		}
		text := func(key string) string { return strings.TrimSpace(string(secret.Data[key])) }
		c.token, c.username, c.password = text("token"), text("username"), text("password")
		if c.token == "" && c.username == "" {
			return c, fmt.Errorf("the Secret %s has neither token nor username", secret.Name)
		}
		if strings.ContainsAny(c.token+c.username, "\r\n\x00") {
			return c, fmt.Errorf("the Secret %s: token or username has more than one line", secret.Name)
		}
	}
	if a.TLS == nil {
		return c, nil
	}
	c.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	if a.TLS.SecretRef != nil {
		trusted, err := secrets.trust(a.TLS.SecretRef.Name)
		if err != nil {
			return c, err
		}
		c.tls = trusted.Clone()
	}
	c.tls.ServerName = a.TLS.ServerName
	return c, nil
}

// trusted returns a configuration with the authorities and the client's certificate of a Secret.
func trusted(secret *corev1.Secret) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	authorities, cert, key := secret.Data["ca.crt"], secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]
	if len(authorities) == 0 && len(cert) == 0 {
		return nil, fmt.Errorf("the Secret %s has neither ca.crt nor tls.crt", secret.Name)
	}
	if len(authorities) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(authorities) {
			return nil, fmt.Errorf("the Secret %s: ca.crt has no certificate in PEM form", secret.Name)
		}
	}
	if len(cert) > 0 {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("the Secret %s: tls.crt and tls.key are no pair in PEM form", secret.Name)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// errInCluster is about the API server: the pass is tried again.
var errInCluster = errors.New("read from the API server")

// secretReader reads the Secrets of a namespace, and parses their certificates, each once: many sources may name one.
type secretReader struct {
	get func(name string) (*corev1.Secret, error)

	mu      sync.Mutex
	secrets map[string]func() (*corev1.Secret, error)
	trusted map[string]func() (*tls.Config, error)
}

func newSecretReader(ctx context.Context, live client.Reader, namespace string) *secretReader {
	return &secretReader{
		get:     func(name string) (*corev1.Secret, error) { return readSecret(ctx, live, namespace, name) },
		secrets: map[string]func() (*corev1.Secret, error){},
		trusted: map[string]func() (*tls.Config, error){},
	}
}

// read returns a Secret, which its callers share.
func (r *secretReader) read(name string) (*corev1.Secret, error) {
	return once(&r.mu, r.secrets, name, func() (*corev1.Secret, error) { return r.get(name) })
}

// trust returns the configuration of [trusted] for a Secret, which its callers share.
func (r *secretReader) trust(name string) (*tls.Config, error) {
	return once(&r.mu, r.trusted, name, func() (*tls.Config, error) {
		secret, err := r.read(name)
		if err != nil {
			return nil, err
		}
		return trusted(secret)
	})
}

// once calls a function once for each name, and returns its result.
func once[T any](mu *sync.Mutex, results map[string]func() (T, error), name string, call func() (T, error)) (T, error) {
	mu.Lock()
	result, ok := results[name]
	if !ok {
		result = sync.OnceValues(call)
		results[name] = result
	}
	mu.Unlock()
	return result()
}

func readSecret(ctx context.Context, live client.Reader, namespace, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("there is no Secret %s in the namespace", name)
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("the operator may not read the Secret %s", name)
	case err != nil:
		return nil, fmt.Errorf("%w: Secret %s: %w", errInCluster, name, err)
	}
	return secret, nil
}

// isTLS reports whether a handshake failed.
func isTLS(err error) bool {
	var verification *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	var alert tls.AlertError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &header) || errors.As(err, &alert) ||
		errors.As(err, &authority) || errors.As(err, &host)
}
