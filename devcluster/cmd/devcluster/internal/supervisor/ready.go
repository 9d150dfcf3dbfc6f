package supervisor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
)

const (
	pollEvery = 50 * time.Millisecond
	// To list thousands of nodes takes a while; to do it all the time slows down what one waits for.
	pollManyEvery = 500 * time.Millisecond
	manyNodes     = 200
	tryTimeout    = 5 * time.Second
)

// until calls check again and again until it returns nil. When ctx ends first, the error tells why, and what check said last.
func until(ctx context.Context, what string, every time.Duration, check func(context.Context) error) error {
	var last error
	for {
		try, cancel := context.WithTimeout(ctx, tryTimeout)
		err := check(try)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			cause := context.Cause(ctx)
			if failed := (*componentError)(nil); errors.As(cause, &failed) {
				return cause
			}
			if last == nil {
				return fmt.Errorf("%s: %w", what, cause)
			}
			return fmt.Errorf("%s: %w; last answer: %w", what, cause, last)
		case <-time.After(every):
		}
	}
}

// waitReady returns when everything that `up` promises is true.
func (s *Supervisor) waitReady(ctx context.Context) error {
	client, err := s.healthClient()
	if err != nil {
		return err
	}
	for _, name := range []string{component.ControllerManager, component.Scheduler} {
		isHealthy := func(ctx context.Context) error { return healthy(ctx, client, s.url(name)+"/healthz") }
		if err := until(ctx, name, pollEvery, isHealthy); err != nil {
			return err
		}
	}
	if s.settings.Containers {
		isHealthy := func(ctx context.Context) error { return healthy(ctx, client, coreDNSReady) }
		if err := until(ctx, component.CoreDNS, pollEvery, isHealthy); err != nil {
			return err
		}
	}
	if err := until(ctx, "service account default/default", pollEvery, s.defaultAccountReady); err != nil {
		return err
	}
	every := pollEvery
	if s.settings.FakeNodes > manyNodes {
		every = pollManyEvery
	}
	return until(ctx, "nodes", every, s.nodesReady)
}

func (s *Supervisor) apiServerReady(ctx context.Context) error {
	return s.admin.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

func (s *Supervisor) defaultAccountReady(ctx context.Context) error {
	_, err := s.admin.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err
}

// healthClient trusts the cluster's CA, and nothing else: the components serve with certificates of it.
func (s *Supervisor) healthClient() (*http.Client, error) {
	pem, err := os.ReadFile(s.dir.PKI("ca.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}, nil
}

func healthy(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1024))
	return fmt.Errorf("%s: %s: %s", url, resp.Status, body)
}
