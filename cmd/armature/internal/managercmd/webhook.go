package managercmd

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/armature-dev/armature/internal/admission"
)

// webhookCertificate returns the certificate that the manager is to keep; nil if there is none.
func webhookCertificate(o options) (*admission.SelfManaged, error) {
	if !o.webhook || o.webhookCertificates != certificatesSelfManaged {
		return nil, nil
	}
	namespace, err := ownNamespace(o)
	if err != nil {
		return nil, err
	}
	return &admission.SelfManaged{Namespace: namespace, Name: o.webhookName, Dir: o.webhookCertDir}, nil
}

// webhookServer returns the server, which starts when something is registered with it.
func webhookServer(o options, certificate *admission.SelfManaged) webhook.Server {
	if certificate == nil {
		return admission.Server(o.webhookPort, o.webhookCertDir, o.webhookClients().TLS)
	}
	return admission.Server(o.webhookPort, o.webhookCertDir, o.webhookClients().TLS, certificate.TLS)
}

// webhookClients says who may send reviews.
func (o options) webhookClients() admission.Clients {
	return admission.Clients{CAFile: o.webhookClientCA}
}

// addWebhook lets the manager serve the webhook. It is ready when it can be asked.
func addWebhook(mgr ctrl.Manager, certificate *admission.SelfManaged, from admission.Clients) error {
	if err := from.Check(); err != nil {
		return fmt.Errorf("--webhook-client-ca: %w", err)
	}
	admission.Register(mgr.GetWebhookServer(), mgr.GetScheme(), from)
	if err := mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	if certificate == nil {
		return nil
	}
	if err := mgr.AddReadyzCheck("webhook-certificate", certificate.Check); err != nil {
		return err
	}
	return certificate.Keep(mgr)
}
