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
	// refusedFor is how long the builder creates no object that is equal to a refused one. It doubles while the answer stays the same.
	refusedFor = time.Minute
	// maxRefusedFor is the maximum of this time.
	maxRefusedFor = 16 * time.Minute
)

// Refused has the objects that the API server called invalid, so that thousands of owners that share a template learn it from one
// request. Two objects are equal if they differ only in names, labels, owners, and annotations other than those of Kubernetes. Equal
// objects share an answer only if it concerns only fields outside of metadata, because it is then the same for each of them. An answer
// ends after maxRefusedFor at the latest, and its users try again when it ends.
//
// Refused never has the answers of admission webhooks and policies, or about quotas and permissions, because they aren't about an
// object.
type Refused struct {
	answers *Recent[refusedKey, *invalidAnswer]
	mu      sync.Mutex                    // of changes of last
	last    *Recent[store.Key, time.Time] // the end of the last answer about a kind in a namespace, by a key without a name
}

type refusedKey struct {
	in     store.Key
	digest string
}

// invalidAnswer is the API server's answer about an object. As an error it is the same answer about an equal one.
type invalidAnswer struct {
	*apierrors.StatusError
	until time.Time
	held  time.Duration // how long it is valid
}

func (r *invalidAnswer) Unwrap() error { return r.StatusError }

// kindIn returns the key of an object's kind in its namespace.
func kindIn(key store.Key) store.Key {
	key.Name = ""
	return key
}

// Answer returns the API server's answer about an equal object; nil if there is none. Obj has the kind and name of key.
func (r *Refused) Answer(key store.Key, obj client.Object, version string, now time.Time) error {
	in := kindIn(key)
	if end, _ := r.last.Get(in); !now.Before(end) {
		return nil
	}
	digest, err := equalDigest(obj, key.GroupKind().WithVersion(version))
	if err != nil {
		return nil // the create returns the error
	}
	known, ok := r.answers.Get(refusedKey{in, digest})
	if !ok || !now.Before(known.until) {
		return nil
	}
	return known.about(key.Name)
}

// Note records the API server's answer about an object, if it is valid for equal ones.
func (r *Refused) Note(key store.Key, obj client.Object, version string, err error, now time.Time) {
	status := (*apierrors.StatusError)(nil)
	if !apistatus.IsRefused(err) || !errors.As(err, &status) || !isAboutPayload(status.ErrStatus.Details) || dependsOnOthers(key.GroupKind()) {
		return
	}
	digest, err := equalDigest(obj, key.GroupKind().WithVersion(version))
	if err != nil {
		return
	}
	in := kindIn(key)
	equal, held := refusedKey{in, digest}, refusedFor
	if before, ok := r.answers.Get(equal); ok {
		if now.Before(before.until) {
			return // a concurrent request's answer
		}
		if now.Sub(before.until) < before.held {
			held = min(2*before.held, maxRefusedFor)
		}
	}
	until := now.Add(held)
	r.answers.Add(equal, &invalidAnswer{StatusError: status, until: until, held: held})
	r.mu.Lock()
	defer r.mu.Unlock()
	if end, _ := r.last.Get(in); until.After(end) {
		r.last.Add(in, until)
	}
}

// about returns the answer with the name of another object.
func (r *invalidAnswer) about(name string) *invalidAnswer {
	status := r.ErrStatus
	details := *status.Details
	status.Message = strings.Replace(status.Message, strconv.Quote(details.Name), strconv.Quote(name), 1)
	details.Name, details.UID = name, ""
	status.Details = &details
	return &invalidAnswer{StatusError: &apierrors.StatusError{ErrStatus: status}, until: r.until, held: r.held}
}

// dependsOnIdentity matches fields whose validity may depend on names or labels: metadata, the fields that the API server derives from
// it, such as the labels of a Job's template with the Job's name, and selectors of them.
var dependsOnIdentity = regexp.MustCompile(`(?i)metadata|label|annotation|selector`)

// isAboutPayload reports whether the API server refused only fields that don't depend on metadata.
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

// dependsOnOthers reports whether an object of a kind may be invalid because of other objects: a Service's address or port is invalid
// while another Service has it, and valid after that one's deletion.
func dependsOnOthers(kind schema.GroupKind) bool { return kind == schema.GroupKind{Kind: "Service"} }

// RefusedUntil returns when to try again after errors that contain answers about equal objects; zero if there are none.
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

// equalDigest returns the same digest for equal objects.
func equalDigest(obj client.Object, of schema.GroupVersionKind) (string, error) {
	fields, err := payload.Of(obj, of)
	if err != nil {
		return "", err
	}
	return payload.Digest(withoutIdentity(fields).(map[string]any))
}

// withoutIdentity returns a copy of a value without the metadata that distinguishes equal objects, in its own metadata and in that of
// its templates.
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
