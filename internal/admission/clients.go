package admission

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
)

// Clients says who may send reviews: those with a client certificate of an authority in a file. The zero value lets everyone.
type Clients struct {
	// CAFile has the authorities' certificates, as PEM. It is read at each handshake, so that authorities can be replaced.
	CAFile string
}

// Check returns an error if the file can't be read, or has no certificate.
func (c Clients) Check() error {
	if c.CAFile == "" {
		return nil
	}
	_, err := c.authorities()
	return err
}

// TLS lets a server verify the certificates of its clients. A client without one is refused when it sends a review: a check of
// readiness needs none.
func (c Clients) TLS(config *tls.Config) {
	if c.CAFile == "" {
		return
	}
	config.SessionTicketsDisabled = true // a session of a former authority isn't resumed
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		authorities, err := c.authorities()
		if err != nil {
			return nil, err
		}
		verifying := config.Clone()
		verifying.GetConfigForClient = nil
		verifying.ClientCAs, verifying.ClientAuth = authorities, tls.VerifyClientCertIfGiven
		return verifying, nil
	}
}

// only returns a handler that refuses whom TLS hasn't verified, before anything is read of the request.
func (c Clients) only(next http.Handler) http.Handler {
	if c.CAFile == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
			w.Header().Set("Connection", "close")
			http.Error(w, "a client certificate is needed, of an authority that --webhook-client-ca names", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (c Clients) authorities() (*x509.CertPool, error) {
	text, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("the authorities of the webhook's clients: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("the authorities of the webhook's clients: %s has no certificate in PEM", c.CAFile)
	}
	return pool, nil
}
