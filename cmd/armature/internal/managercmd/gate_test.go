package managercmd

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// reviewer answers reviews: it knows the tokens prometheus and guest, of which only the first may get /metrics.
type reviewer struct {
	clients *fake.Clientset
	asked   int
	down    bool
}

func newReviewer() *reviewer {
	s := &reviewer{clients: fake.NewClientset()}
	s.clients.PrependReactor("create", "tokenreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		s.asked++
		if s.down {
			return true, nil, errors.New("down")
		}
		review := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview)
		token := review.Spec.Token
		review.Status.Authenticated = token == "prometheus" || token == "guest"
		review.Status.User.Username = token
		return true, review, nil
	})
	s.clients.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		path := review.Spec.NonResourceAttributes
		review.Status.Allowed = review.Spec.User == "prometheus" && path.Path == "/metrics" && path.Verb == "get"
		return true, review, nil
	})
	return s
}

func get(handler http.Handler, path, authorization string) int {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Code
}

func TestGate(t *testing.T) {
	s := newReviewer()
	now := time.Now()
	g := newGate(s.clients)
	g.now = func() time.Time { return now }
	handler := g.guard(logr.Discard(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))

	assert.Equal(t, http.StatusUnauthorized, get(handler, "/metrics", ""))
	assert.Equal(t, http.StatusUnauthorized, get(handler, "/metrics", "Basic prometheus"))
	assert.Zero(t, s.asked, "without a token there is nothing to ask")
	assert.Equal(t, http.StatusUnauthorized, get(handler, "/metrics", "Bearer made-up"))
	assert.Equal(t, http.StatusForbidden, get(handler, "/metrics", "Bearer guest"))
	assert.Equal(t, http.StatusForbidden, get(handler, "/other", "Bearer prometheus"))

	s.asked = 0
	assert.Equal(t, http.StatusOK, get(handler, "/metrics", "Bearer prometheus"))
	assert.Equal(t, http.StatusOK, get(handler, "/metrics", "Bearer prometheus"))
	assert.Equal(t, 1, s.asked, "the answer is remembered")

	now = now.Add(rememberFor)
	s.down = true
	assert.Equal(t, http.StatusServiceUnavailable, get(handler, "/metrics", "Bearer prometheus"), "for a time only")
}

func TestGateRemembersOnlySoMuch(t *testing.T) {
	g := newGate(newReviewer().clients)
	for i := range 3 * rememberAtMost {
		g.remember([32]byte{byte(i), byte(i >> 8)}, http.StatusOK)
	}
	assert.LessOrEqual(t, len(g.known), rememberAtMost)
}
