package managercmd

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// rememberFor is how long an answer of the API server holds. Prometheus comes more often.
	rememberFor = time.Minute
	// rememberAtMost bounds the answers that are remembered: readers of metrics are few.
	rememberAtMost = 100
)

// gate lets requests through whose bearer token the API server knows, and whose user it lets get the path. It asks with
// a TokenReview and a SubjectAccessReview, as the filter of controller-runtime does; that one needs the libraries of a
// whole API server.
type gate struct {
	clients kubernetes.Interface
	now     func() time.Time

	mu    sync.Mutex
	known map[[sha256.Size]byte]verdict
}

// verdict is the API server's answer, until a time.
type verdict struct {
	status int
	until  time.Time
}

func newGate(clients kubernetes.Interface) *gate {
	return &gate{clients: clients, now: time.Now, known: map[[sha256.Size]byte]verdict{}}
}

// guard returns a handler that passes on what is let through: 401 is for those who aren't known, 403 for those who may
// not, 503 for all while the API server can't be asked.
func (g *gate) guard(logger logr.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || token == "" {
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		status, err := g.ask(r.Context(), token, r.URL.Path)
		if err != nil {
			logger.Error(err, "cannot tell who may read this")
			http.Error(w, "the API server can't be asked", http.StatusServiceUnavailable)
			return
		}
		if status != http.StatusOK {
			http.Error(w, http.StatusText(status), status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ask returns the status for a token and a path: 200, 401 or 403.
func (g *gate) ask(ctx context.Context, token, path string) (int, error) {
	key := sha256.Sum256([]byte(path + "\n" + token)) // tokens are not kept
	if v, ok := g.recall(key); ok {
		return v, nil
	}
	review, err := g.clients.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("review a token: %w", err)
	}
	if !review.Status.Authenticated {
		return http.StatusUnauthorized, nil // not remembered: anyone can make up tokens
	}
	user := review.Status.User
	access, err := g.clients.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extraOf(user.Extra),
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("review the access of %s: %w", user.Username, err)
	}
	if !access.Status.Allowed {
		return g.remember(key, http.StatusForbidden), nil
	}
	return g.remember(key, http.StatusOK), nil
}

func (g *gate) recall(key [sha256.Size]byte) (int, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, ok := g.known[key]
	return v.status, ok && g.now().Before(v.until)
}

func (g *gate) remember(key [sha256.Size]byte, status int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) >= rememberAtMost {
		clear(g.known)
	}
	g.known[key] = verdict{status, g.now().Add(rememberFor)}
	return status
}

func extraOf(extra map[string]authenticationv1.ExtraValue) map[string]authorizationv1.ExtraValue {
	same := make(map[string]authorizationv1.ExtraValue, len(extra))
	for k, v := range extra {
		same[k] = authorizationv1.ExtraValue(v)
	}
	return same
}
