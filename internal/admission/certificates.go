package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// SelfManaged is a certificate that managers make for themselves, by an authority of their own, and renew before it
// expires. They keep both in a Secret, which the kubelet brings to the directory, and tell the API server of the authority in
// the configuration of the webhook. The Secret and the configuration must exist; their contents are the managers' care.
type SelfManaged struct {
	// Namespace of the Secret and of the Service.
	Namespace string
	// Name of the ValidatingWebhookConfiguration. The Secret and the Service have it with "-webhook" appended.
	Name string
	// Dir is where the Secret is mounted.
	Dir string

	ready   chan struct{} // closed once the certificate is in the directory, and the API server trusts it
	watcher atomic.Pointer[certwatcher.CertWatcher]
}

var errNoCertificate = errors.New("the webhook's certificate isn't there yet: a new one takes the kubelet up to two minutes")

// Keep lets a manager keep the certificate, whether it leads or stands by.
func (s *SelfManaged) Keep(mgr ctrl.Manager) error {
	s.ready = make(chan struct{})
	names := map[string]string{"secrets": s.Name + "-webhook", "validatingwebhookconfigurations": s.Name}
	narrow, err := newNarrowManager(mgr, names)
	if err != nil {
		return err
	}
	host := fmt.Sprintf("%s-webhook.%s.svc", s.Name, s.Namespace)
	err = rotator.AddRotator(narrow, &rotator.CertRotator{
		SecretKey:      types.NamespacedName{Namespace: s.Namespace, Name: names["secrets"]},
		CertDir:        s.Dir,
		CAName:         s.Name + "-webhook",
		CAOrganization: "armature",
		DNSName:        host,
		IsReady:        s.ready,
		Webhooks:       []rotator.WebhookInfo{{Name: s.Name, Type: rotator.Validating}},
		FieldOwner:     "armature-certificates",
	})
	if err != nil {
		return fmt.Errorf("keep the webhook's certificate: %w", err)
	}
	return mgr.Add(serving{s})
}

// TLS lets a server take the certificate once it is there.
func (s *SelfManaged) TLS(config *tls.Config) {
	config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if watcher := s.watcher.Load(); watcher != nil {
			return watcher.GetCertificate(hello)
		}
		return nil, errNoCertificate
	}
}

// Check says whether the certificate is there: a check of readiness.
func (s *SelfManaged) Check(*http.Request) error {
	if s.watcher.Load() == nil {
		return errNoCertificate
	}
	return nil
}

// serving reads the certificate once it is there, and again when it changes.
type serving struct{ *SelfManaged }

var _ manager.LeaderElectionRunnable = serving{}

// NeedLeaderElection is false: whoever stands by answers, too.
func (serving) NeedLeaderElection() bool { return false }

// Start runs until ctx ends.
func (s serving) Start(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.ready:
	}
	watcher, err := certwatcher.New(filepath.Join(s.Dir, "tls.crt"), filepath.Join(s.Dir, "tls.key"))
	if err != nil {
		return fmt.Errorf("read the webhook's certificate: %w", err)
	}
	s.watcher.Store(watcher)
	return watcher.Start(ctx)
}
