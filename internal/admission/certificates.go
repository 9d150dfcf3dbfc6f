package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// SelfManaged is a certificate that managers make for themselves, by an authority of their own, and renew before it
// expires. They keep both in a Secret, from which each takes what it serves with, and tell the API server of the authority in
// the configuration of the webhook. The Secret and the configuration must exist; their contents are the managers' care.
type SelfManaged struct {
	// Namespace of the Secret and of the Service.
	Namespace string
	// Name of the ValidatingWebhookConfiguration. The Secret and the Service have it with "-webhook" appended.
	Name string
	// Dir is where a manager notes the certificate that it has taken, without its key. It must be able to write there.
	Dir string

	trusted chan struct{} // closed once a certificate is served with that the API server trusts
	pair    atomic.Pointer[tls.Certificate]
	problem atomic.Pointer[string] // why the last one was not taken
}

const certificateFile = "tls.crt"

var (
	errNoCertificate = errors.New("the webhook's certificate isn't there yet")
	errNotTrusted    = errors.New("the API server doesn't trust the webhook's certificate yet")
)

// Keep lets a manager keep the certificate, whether it leads or stands by.
func (s *SelfManaged) Keep(mgr ctrl.Manager) error {
	s.trusted = make(chan struct{})
	names := map[string]string{"secrets": s.Name + "-webhook", "validatingwebhookconfigurations": s.Name}
	narrow, err := newNarrowManager(mgr, names)
	if err != nil {
		return err
	}
	host := fmt.Sprintf("%s-webhook.%s.svc", s.Name, s.Namespace)
	err = rotator.AddRotator(narrow, &rotator.CertRotator{
		SecretKey:      types.NamespacedName{Namespace: s.Namespace, Name: names["secrets"]},
		CertDir:        s.Dir,
		CertName:       certificateFile,
		CAName:         s.Name + "-webhook",
		CAOrganization: "armature",
		DNSName:        host,
		IsReady:        s.trusted,
		Webhooks:       []rotator.WebhookInfo{{Name: s.Name, Type: rotator.Validating}},
		FieldOwner:     "armature-certificates",
	})
	if err != nil {
		return fmt.Errorf("keep the webhook's certificate: %w", err)
	}
	return mgr.Add(serving{s, mgr})
}

// TLS lets a server take the certificate once it is there.
func (s *SelfManaged) TLS(config *tls.Config) {
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if pair := s.pair.Load(); pair != nil {
			return pair, nil
		}
		return nil, errNoCertificate
	}
}

// Check says whether the certificate is there, and trusted: a check of readiness.
func (s *SelfManaged) Check(*http.Request) error {
	if problem := s.problem.Load(); problem != nil {
		return errors.New(*problem)
	}
	if s.pair.Load() == nil {
		return errNoCertificate
	}
	select {
	case <-s.trusted:
		return nil
	default:
		return errNotTrusted
	}
}

// take serves with what the Secret has from now on. Without a certificate in it all stays as it is.
func (s *SelfManaged) take(secret *corev1.Secret) error {
	certificate := secret.Data[certificateFile]
	if len(certificate) == 0 {
		return nil
	}
	pair, err := tls.X509KeyPair(certificate, secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return fmt.Errorf("the webhook's certificate in the Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	s.pair.Store(&pair)
	// The rotator waits for the file: usually the kubelet mounts the Secret, which takes it up to two minutes.
	if err := os.WriteFile(filepath.Join(s.Dir, certificateFile), certificate, 0o600); err != nil {
		return fmt.Errorf("note the webhook's certificate, in a directory that must be the manager's to write: %w", err)
	}
	return nil
}

// serving takes the certificate once it is there, and again when it changes.
type serving struct {
	*SelfManaged
	mgr ctrl.Manager
}

var _ manager.LeaderElectionRunnable = serving{}

// NeedLeaderElection is false: whoever stands by answers, too.
func (serving) NeedLeaderElection() bool { return false }

// Start runs until ctx ends.
func (s serving) Start(ctx context.Context) error {
	secrets, err := cache.New(s.mgr.GetConfig(), cache.Options{
		HTTPClient: s.mgr.GetHTTPClient(), Scheme: s.mgr.GetScheme(), Mapper: s.mgr.GetRESTMapper(),
		ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {
			Namespaces: map[string]cache.Config{s.Namespace: {}},
			Field:      fields.OneTermEqualSelector("metadata.name", s.Name+"-webhook"),
		}},
	})
	if err != nil {
		return fmt.Errorf("watch the webhook's certificate: %w", err)
	}
	informer, err := secrets.GetInformer(ctx, &corev1.Secret{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch the webhook's certificate: %w", err)
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    s.seen,
		UpdateFunc: func(_, now any) { s.seen(now) },
	}); err != nil {
		return fmt.Errorf("watch the webhook's certificate: %w", err)
	}
	return secrets.Start(ctx)
}

func (s serving) seen(obj any) {
	secret, ok := obj.(*corev1.Secret)
	if !ok {
		return
	}
	s.problem.Store(nil)
	if err := s.take(secret); err != nil {
		s.problem.Store(new(err.Error()))
		s.mgr.GetLogger().Error(err, "the webhook's certificate was not taken")
	}
}
