package memory

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/internal/errorlist"
	"github.com/armature-dev/armature/store"
)

const (
	// refusedFor is how long no object is created whose equal the API server called invalid. It doubles as long as the
	// answer stays the same,
	refusedFor = time.Minute
	// maxRefusedFor at most.
	maxRefusedFor = 16 * time.Minute
	// maxRefusedKinds bounds in how many namespaces and kinds there can be answers before those that have ended are dropped.
	maxRefusedKinds = 1 << 10
)

// Refused remembers what the API server called invalid, so that thousands of owners that share a template learn it from
// one request. Two objects are equal here if they differ in nothing but names, labels, owners, and annotations that aren't
// Kubernetes' own. An answer is shared only if all of it is about fields outside of metadata: then it is the same for each
// of them. It doesn't outlive maxRefusedFor, and whoever was given it looks again when it ends.
//
// Admission webhooks and policies, quotas and permissions aren't answers about an object, and are never remembered.
type Refused struct {
	mu      sync.Mutex
	answers *Recent[refusedKey, *invalidAnswer]
	last    map[kindIn]time.Time // when the last answer about a kind in a namespace ends
}

type refusedKey struct {
	in     kindIn
	digest string
}

// invalidAnswer is the API server's answer about an object. As an error it is the same answer about an equal one.
type invalidAnswer struct {
	*apierrors.StatusError
	until time.Time
	held  time.Duration // how long it holds
}

func (r *invalidAnswer) Unwrap() error { return r.StatusError }

// kindIn is a kind in a namespace.
type kindIn struct {
	kind      schema.GroupKind
	namespace string
}

// Answer returns what the API server said of an equal object; nil if it has to be asked. Obj has the kind and name of key.
func (r *Refused) Answer(key store.Key, obj client.Object, version string, now time.Time) error {
	in := kindIn{key.GroupKind(), key.Namespace}
	r.mu.Lock()
	some := now.Before(r.last[in])
	r.mu.Unlock()
	if !some {
		return nil
	}
	digest, err := equalDigest(obj, key.GroupKind().WithVersion(version))
	if err != nil {
		return nil // the create says what is wrong
	}
	known, ok := r.answers.Get(refusedKey{in, digest})
	if !ok || !now.Before(known.until) {
		return nil
	}
	return known.about(key.Name)
}

// Note remembers the API server's answer about an object, if it holds for equal ones.
func (r *Refused) Note(key store.Key, obj client.Object, version string, err error, now time.Time) {
	status := (*apierrors.StatusError)(nil)
	if !apistatus.IsRefused(err) || !errors.As(err, &status) || !isAboutPayload(status.ErrStatus.Details) || dependsOnOthers(key.GroupKind()) {
		return
	}
	digest, err := equalDigest(obj, key.GroupKind().WithVersion(version))
	if err != nil {
		return
	}
	in := kindIn{key.GroupKind(), key.Namespace}
	equal, held := refusedKey{in, digest}, refusedFor
	if before, ok := r.answers.Get(equal); ok {
		if now.Before(before.until) {
			return // it was under way beside the first one
		}
		if now.Sub(before.until) < before.held {
			held = min(2*before.held, maxRefusedFor)
		}
	}
	until := now.Add(held)
	r.answers.Add(equal, &invalidAnswer{StatusError: status, until: until, held: held})
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) >= maxRefusedKinds {
		for of, end := range r.last {
			if !now.Before(end) {
				delete(r.last, of)
			}
		}
	}
	if until.After(r.last[in]) {
		r.last[in] = until
	}
}

// about is the answer with the name of another object.
func (r *invalidAnswer) about(name string) *invalidAnswer {
	status := r.ErrStatus
	details := *status.Details
	status.Message = strings.Replace(status.Message, strconv.Quote(details.Name), strconv.Quote(name), 1)
	details.Name, details.UID = name, ""
	status.Details = &details
	return &invalidAnswer{StatusError: &apierrors.StatusError{ErrStatus: status}, until: r.until, held: r.held}
}

// dependsOnIdentity matches fields whose verdict may depend on names or labels: metadata, and those that the API server fills
// from it, such as the labels of a Job's template, which have the Job's name, and what selects them.
var dependsOnIdentity = regexp.MustCompile(`(?i)metadata|label|annotation|selector`)

// isAboutPayload reports whether all that the API server found fault with are fields that don't depend on metadata.
func isAboutPayload(details *metav1.StatusDetails) bool {
	if details == nil || len(details.Causes) == 0 {
		return false
	}
	for _, cause := range details.Causes {
		if cause.Field == "" || cause.Field == "<nil>" || dependsOnIdentity.MatchString(cause.Field) {
			return false
		}
	}
	return true
}

// dependsOnOthers reports whether an object of a kind may be invalid for what other objects have: a Service's address or port is
// invalid while another one has it, and valid as soon as that is deleted.
func dependsOnOthers(kind schema.GroupKind) bool { return kind == schema.GroupKind{Kind: "Service"} }

// RefusedUntil returns when to look again after errors among which are answers about equal objects; zero if there are none.
func RefusedUntil(err error) time.Time {
	var first time.Time
	for _, leaf := range errorlist.Of(err) {
		known := (*invalidAnswer)(nil)
		if errors.As(leaf, &known) && (first.IsZero() || known.until.Before(first)) {
			first = known.until
		}
	}
	return first
}

// equalDigest is the same for objects of which the API server thinks the same.
func equalDigest(obj client.Object, of schema.GroupVersionKind) (string, error) {
	fields, err := payload.Of(obj, of)
	if err != nil {
		return "", err
	}
	return payload.Digest(withoutIdentity(fields).(map[string]any))
}

// withoutIdentity returns a copy of a value without what tells an object from its equals, in its own metadata and in that
// of templates in it.
func withoutIdentity(v any) any {
	switch x := v.(type) {
	case map[string]any:
		same := make(map[string]any, len(x))
		for name, value := range x {
			if meta, ok := value.(map[string]any); ok && name == "metadata" {
				same[name] = kubernetesAnnotations(meta)
				continue
			}
			same[name] = withoutIdentity(value)
		}
		return same
	case []any:
		same := make([]any, len(x))
		for i, value := range x {
			same[i] = withoutIdentity(value)
		}
		return same
	default:
		return v
	}
}

// kubernetesAnnotations returns the annotations that the API server reads when it validates an object.
func kubernetesAnnotations(meta map[string]any) map[string]any {
	same := map[string]any{}
	annotations, _ := meta["annotations"].(map[string]any)
	for name, value := range annotations {
		domain, _, _ := strings.Cut(name, "/")
		for _, theirs := range []string{"kubernetes.io", "k8s.io"} {
			if domain == theirs || strings.HasSuffix(domain, "."+theirs) {
				same[name] = value
			}
		}
	}
	return same
}
