package scaling

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// paper is what a controller has written anywhere: its log and its events.
type paper struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *paper) write(texts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(&p.text, texts)
}

func (p *paper) logger() logr.Logger {
	return funcr.New(func(prefix, args string) { p.write(prefix, args) }, funcr.Options{Verbosity: 10})
}

// onPaper is a stage whose controller's events and log are kept.
func onPaper(t *testing.T, objs ...client.Object) (*stage, *paper) {
	s, p := perform(t, objs...), &paper{}
	c := theController()
	operator := c.Operator(nil, s.ours, s.ours.Live()).Plan(func(o *TownScaling, seen builder.View) builder.Plan[*TownScaling] {
		plan := c.Plan(o, seen)
		for _, e := range plan.Events {
			p.write(e.Reason, e.Note)
		}
		return plan
	})
	var err error
	s.reconciler, err = buildertest.NewReconciler(operator, s.ours, s.ours.Now)
	require.NoError(t, err)
	return s, p
}

// TestTheSecretIsNowhere: whatever an endpoint answers to who shows it a Secret, nothing of the Secret is in a status, in
// an event, in another object, or in the log.
func TestTheSecretIsNowhere(t *testing.T) {
	reply := func(f func(w http.ResponseWriter, shown string)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			f(w, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		}
	}
	answers := map[string]http.HandlerFunc{
		"it is repeated": reply(func(w http.ResponseWriter, shown string) { fmt.Fprint(w, shown) }),
		"it is a redirect": reply(func(w http.ResponseWriter, shown string) {
			w.Header().Set("Location", "http://"+shown+".example.com/"+shown)
			w.WriteHeader(http.StatusFound)
		}),
		"it is a bad place": reply(func(w http.ResponseWriter, shown string) {
			w.Header().Set("Location", "://"+shown+"%zz")
			w.WriteHeader(http.StatusFound)
		}),
		"it is an error": reply(func(w http.ResponseWriter, shown string) { http.Error(w, shown, http.StatusForbidden) }),
		"it is a header": reply(func(w http.ResponseWriter, shown string) { w.Header().Set("X-Shown", strings.Repeat(shown, 1<<14)) }),
		"it is no HTTP": reply(func(w http.ResponseWriter, shown string) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				fmt.Fprint(conn, shown+"\r\n\r\n")
				conn.Close()
			}
		}),
		"it is a status": reply(func(w http.ResponseWriter, shown string) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				fmt.Fprintf(conn, "HTTP/1.1 %s %s\r\nContent-Length: %s\r\n\r\n", shown, shown, shown)
				conn.Close()
			}
		}),
	}
	secrets := map[string]map[string]string{"token": {"token": theSecret}, "password": {"username": "u", "password": theSecret}}
	for name, answer := range answers {
		for kind, data := range secrets {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				entry := byURL("storage", served(t, answer))
				entry.Spec.Source.External.SecretRef = &v1beta1.SecretName{Name: "auth"}
				grow := growing(entry.Spec.Source.External.URL)
				grow.Storage[0].Source = entry.Spec.Source
				grow.Spec = entry.Spec
				s, paper := onPaper(t, aScaling(grow), aSet("storage", 1), aClass("fast", true), aClaim("data-kv-storage-0", "1Gi", "fast"), secret("auth", data))
				ctx := ctrl.LoggerInto(t.Context(), paper.logger())
				for range 3 {
					_, err := s.reconciler.Reconcile(ctx, request)
					require.NoError(t, err)
					s.server.Clock().Step(time.Hour)
				}
				assert.Equal(t, ReasonSourceFailed, s.ready().Reason, s.ready().Message)
				assert.NotEmpty(t, paper.text.String(), "the event that the source has failed")
				require.NoError(t, s.world.Delete(t.Context(), secret("auth", nil)))
				objects, err := s.server.EndState()
				require.NoError(t, err)
				everything := strings.Join(objects, "\n") + paper.text.String() + s.server.Ledger().String()
				assert.Contains(t, everything, "SourceFailed")
				for _, form := range []string{theSecret, base64.StdEncoding.EncodeToString([]byte(theSecret)), base64.StdEncoding.EncodeToString([]byte("u:" + theSecret))} {
					assert.NotContains(t, everything, form)
				}
			})
		}
	}
}

// A Secret that can't be read for a while is tried again; what is said of that has its name only.
func TestASecretThatCannotBeRead(t *testing.T) {
	entry := byURL("storage", newSource(t, "100").url)
	entry.Spec.Source.External.SecretRef = &v1beta1.SecretName{Name: "auth"}
	s, paper := onPaper(t, aScaling(entry), aSet("storage", 1), secret("auth", map[string]string{"token": theSecret}))
	s.ours.Fail(buildertest.Fault{Kind: schema.GroupKind{Kind: "Secret"}, Error: buildertest.Timeout, Times: 1})
	_, err := s.reconciler.Reconcile(ctrl.LoggerInto(t.Context(), paper.logger()), request)
	require.ErrorContains(t, err, "read from the API server: Secret auth")
	assert.NotContains(t, err.Error()+paper.text.String(), theSecret)
	assert.Len(t, s.passes(0), 1, "the pass is tried again")
}

// Sources with one Secret cost one request.
func TestASecretIsReadOnceInAPass(t *testing.T) {
	var entries []v1beta1.NodeScaling
	src := newSource(t, "50")
	for _, node := range []string{"storage", "gate", "control"} {
		entry := byURL(node, src.url)
		entry.Spec.Source.External.SecretRef = &v1beta1.SecretName{Name: "auth"}
		entries = append(entries, entry)
	}
	s := perform(t, aScaling(entries...), secret("auth", map[string]string{"token": theSecret}))
	s.pass()
	assert.EqualValues(t, 3, src.asked.Load())
	secrets := schema.GroupKind{Kind: "Secret"}
	assert.Equal(t, 1, s.ours.Ledger().Count(buildertest.VerbGet, secrets))
	s.server.Clock().Step(15 * time.Second)
	s.pass()
	assert.Equal(t, 1, s.ours.Ledger().Count(buildertest.VerbGet, secrets), "the next pass reads it again")
}
