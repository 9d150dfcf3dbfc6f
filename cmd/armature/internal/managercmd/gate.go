package managercmd

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

const (
	// rememberFor is how long an answer of the API server holds. Prometheus comes more often.
	rememberFor = time.Minute
	// rememberAtMost bounds the answers on users that are remembered: readers of metrics are few.
	rememberAtMost = 100
	// refusedFor is how long it holds that a token is nobody's, as in the API server itself.
	refusedFor = 10 * time.Second
	// refusedAtMost bounds the tokens of nobody that are remembered: anyone can make up more.
	refusedAtMost = 1000

	// askPerSecond bounds how many tokens that weren't anyone's before are asked about, and askAtOnce how many at a time;
	// from one address it is a tenth of that. No token that was someone's waits for those that are made up.
	askPerSecond, askAtOnce = 20, 50
)

// gate lets requests through whose bearer token the API server knows, and whose user it lets get the path. It asks with
// a TokenReview and a SubjectAccessReview, as the filter of controller-runtime does; that one needs the libraries of a
// whole API server.
type gate struct {
	clients kubernetes.Interface
	clock   clock.PassiveClock

	known   *lru.Cache // reviews of known tokens; an expired one is requested again, and its token counts as known
	refused *lru.Cache // the times at which tokens were found to be unknown
	asking  flowcontrol.PassiveRateLimiter
	askers  *lru.Cache // limits, by address
}

// review is the API server's response about a token, valid until a time.
type review struct {
	status int
	until  time.Time
}

func newGate(clients kubernetes.Interface, now clock.PassiveClock) *gate {
	return &gate{
		clients: clients, clock: now,
		known: lru.New(rememberAtMost), refused: lru.New(refusedAtMost),
		asking: flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(askPerSecond, askAtOnce, now), askers: lru.New(refusedAtMost),
	}
}

// guard returns a handler that passes on what is let through: 401 is for those who aren't known, 403 for those who may
// not, 429 for unknown ones beyond what may be asked about, 503 for all while the API server can't be asked.
func (g *gate) guard(logger logr.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || token == "" {
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		status, err := g.ask(r.Context(), addressOf(r), token, r.URL.Path)
		if err != nil {
			logger.Error(err, "cannot check whether the client may read this")
			http.Error(w, "the API server can't be asked", http.StatusServiceUnavailable)
			return
		}
		if status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		if status != http.StatusOK {
			http.Error(w, http.StatusText(status), status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ask returns the status for a token and a path: 200, 401, 403 or 429.
func (g *gate) ask(ctx context.Context, address, token, path string) (int, error) {
	key := sha256.Sum256([]byte(path + "\n" + token)) // tokens are not kept
	switch before, ok := g.known.Get(key); {
	case ok && g.clock.Now().Before(before.(review).until):
		return before.(review).status, nil
	case ok: // it was someone's
	case g.isRefused(key):
		return http.StatusUnauthorized, nil
	case !g.mayAsk(address):
		return http.StatusTooManyRequests, nil
	}
	review, err := g.clients.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("review a token: %w", err)
	}
	if !review.Status.Authenticated {
		g.known.Remove(key)
		g.refused.Add(key, g.clock.Now())
		return http.StatusUnauthorized, nil
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

func (g *gate) isRefused(key [sha256.Size]byte) bool {
	at, ok := g.refused.Get(key)
	return ok && g.clock.Now().Before(at.(time.Time).Add(refusedFor))
}

// mayAsk reports whether a token that is unknown may be asked about. Who sends many from one address uses up their own share.
func (g *gate) mayAsk(address string) bool {
	share, ok := g.askers.Get(address)
	if !ok {
		share = flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(askPerSecond/10, askAtOnce/10, g.clock)
		g.askers.Add(address, share)
	}
	return share.(flowcontrol.PassiveRateLimiter).TryAccept() && g.asking.TryAccept()
}

func (g *gate) remember(key [sha256.Size]byte, status int) int {
	g.known.Add(key, review{status, g.clock.Now().Add(rememberFor)})
	return status
}

// addressOf returns where a request comes from, without the port.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func extraOf(extra map[string]authenticationv1.ExtraValue) map[string]authorizationv1.ExtraValue {
	same := make(map[string]authorizationv1.ExtraValue, len(extra))
	for k, v := range extra {
		same[k] = authorizationv1.ExtraValue(v)
	}
	return same
}
