package localnode

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// allowFor is how long an answer of the API server is used again.
const allowFor = time.Minute

// authorizer asks the API server, as kubelets do, whether a client may use the
// node's API. A certificate of the cluster's authority says only who the client
// is: without this question every user with a certificate could run commands in
// all pods.
type authorizer struct {
	client kubernetes.Interface
	node   string

	mu      sync.Mutex
	allowed map[string]time.Time // until when, by user and verb
}

func newAuthorizer(client kubernetes.Interface, node string) *authorizer {
	return &authorizer{client: client, node: node, allowed: map[string]time.Time{}}
}

func (a *authorizer) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
			http.Error(w, "a client certificate of the cluster's authority is required", http.StatusUnauthorized)
			return
		}
		if err := a.check(r.Context(), r.TLS.VerifiedChains[0][0], verb(r.Method)); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *authorizer) check(ctx context.Context, cert *x509.Certificate, verb string) error {
	user, groups := cert.Subject.CommonName, cert.Subject.Organization
	key := fmt.Sprintf("%q %q %s", user, groups, verb)
	a.mu.Lock()
	until := a.allowed[key]
	a.mu.Unlock()
	if time.Now().Before(until) {
		return nil
	}
	review, err := a.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user, Groups: append(slices.Clip(groups), "system:authenticated"),
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: verb, Version: "v1", Resource: "nodes", Subresource: "proxy", Name: a.node,
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("node %s could not ask whether user %q may %s nodes/proxy: %w", a.node, user, verb, err)
	}
	if !review.Status.Allowed {
		return fmt.Errorf("user %q may not %s nodes/proxy of node %s", user, verb, a.node)
	}
	a.mu.Lock()
	a.allowed[key] = time.Now().Add(allowFor)
	a.mu.Unlock()
	return nil
}

// verb is what a method is called in authorization, for requests on one object.
func verb(method string) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	return "get"
}
