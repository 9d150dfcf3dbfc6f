package managercmd

import (
	"errors"
	"fmt"
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
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
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
	now := testingclock.NewFakePassiveClock(time.Now())
	g := newGate(s.clients, now)
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

	now.SetTime(now.Now().Add(rememberFor))
	s.down = true
	assert.Equal(t, http.StatusServiceUnavailable, get(handler, "/metrics", "Bearer prometheus"), "for a time only")
}

// A token of nobody is asked about once for a time, and only so many of them are.
func TestGateAsksSeldomAboutUnknownTokens(t *testing.T) {
	s := newReviewer()
	now := testingclock.NewFakePassiveClock(time.Now())
	handler := newGate(s.clients, now).guard(logr.Discard(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	assert.Equal(t, http.StatusOK, get(handler, "/metrics", "Bearer prometheus"))

	s.asked = 0
	for range 1000 {
		assert.Equal(t, http.StatusUnauthorized, get(handler, "/metrics", "Bearer made-up"))
	}
	assert.Equal(t, 1, s.asked, "it is remembered who isn't known")
	now.SetTime(now.Now().Add(refusedFor))
	assert.Equal(t, http.StatusUnauthorized, get(handler, "/metrics", "Bearer made-up"))
	assert.Equal(t, 2, s.asked, "for a time only")

	s.asked = 0
	statuses := map[int]int{}
	for i := range 1000 {
		statuses[get(handler, "/metrics", fmt.Sprintf("Bearer made-up-%d", i))]++
	}
	assert.Equal(t, map[int]int{http.StatusUnauthorized: s.asked, http.StatusTooManyRequests: 1000 - s.asked}, statuses)
	assert.LessOrEqual(t, s.asked, askAtOnce/10, "of one address")
	refused := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Authorization", "Bearer another")
	handler.ServeHTTP(refused, request)
	assert.Equal(t, http.StatusTooManyRequests, refused.Code)
	assert.Equal(t, "1", refused.Header().Get("Retry-After"))
	request.RemoteAddr = "192.0.2.77:1000"
	request.Header.Set("Authorization", "Bearer prometheus-again")
	fromElsewhere := httptest.NewRecorder()
	handler.ServeHTTP(fromElsewhere, request)
	assert.Equal(t, http.StatusUnauthorized, fromElsewhere.Code, "another address has its own share")

	s.asked = 0
	for address := range 1000 {
		request.RemoteAddr = fmt.Sprintf("[2001:db8::%x]:1000", address)
		request.Header.Set("Authorization", fmt.Sprintf("Bearer of-%d", address))
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
	assert.LessOrEqual(t, s.asked, askAtOnce, "of all addresses")

	s.asked = 0
	now.SetTime(now.Now().Add(rememberFor)) // the answer on Prometheus is old, and there is no share left
	for i := range 1000 {
		request.RemoteAddr = fmt.Sprintf("[2001:db8::%x]:1000", i)
		request.Header.Set("Authorization", fmt.Sprintf("Bearer more-%d", i))
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
	assert.Equal(t, http.StatusOK, get(handler, "/metrics", "Bearer prometheus"), "a token that was good doesn't wait for those that are made up")
}

func TestGateRemembersOnlySoMuch(t *testing.T) {
	g := newGate(newReviewer().clients, clock.RealClock{})
	for i := range 3 * refusedAtMost {
		key := [32]byte{byte(i), byte(i >> 8)}
		g.remember(key, http.StatusOK)
		g.refused.Add(key, time.Now())
		g.mayAsk(fmt.Sprint(i))
	}
	assert.LessOrEqual(t, g.known.Len(), rememberAtMost)
	assert.LessOrEqual(t, g.refused.Len(), refusedAtMost)
	assert.LessOrEqual(t, g.askers.Len(), refusedAtMost)
}
