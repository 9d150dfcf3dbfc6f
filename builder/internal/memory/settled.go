package memory

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// Settled has the stored form of applied children, if it doesn't contain the desired fields: a custom resource's schema prunes a
// field, or the schema or a webhook changes the form of a value. Another apply of the same object to the same stored object would
// change nothing, so the builder makes no request until one of them changes. Settled ignores the status, the resource version and the
// managed fields, because they change all the time. It also ignores the generation, because the content has the same information and
// not all kinds have one.
type Settled struct{ as *Recent[types.UID, settledAs] }

type settledAs struct {
	desired string // digest
	content string // digest
	at      time.Time
}

// settledFor limits how long the API server's answer is valid: a change of a schema, a webhook or a policy isn't visible in the
// object. After this time, the next change of the object, even of its status, makes the builder apply it once more.
const settledFor = time.Hour

// Note records the stored form of a child whose desired object has the digest.
func (s *Settled) Note(stored client.Object, of schema.GroupVersionKind, digest string, now time.Time) {
	if content, ok := contentOf(stored, of); ok {
		s.as.Add(stored.GetUID(), settledAs{digest, content, now})
	}
}

// Forget forgets a child.
func (s *Settled) Forget(child types.UID) { s.as.Remove(child) }

// Has reports whether a child has the recorded stored form of the desired object.
func (s *Settled) Has(observed client.Object, of schema.GroupVersionKind, digest string, now time.Time) bool {
	as, ok := s.as.Get(observed.GetUID())
	if !ok {
		return false
	}
	if as.desired != digest || now.Sub(as.at) >= settledFor {
		return false
	}
	content, ok := contentOf(observed, of)
	return ok && content == as.content
}

// Len returns the number of recorded children.
func (s *Settled) Len() int { return s.as.Len() }

// contentOf returns a digest of an object without its status and the fields that only the API server writes.
func contentOf(obj client.Object, of schema.GroupVersionKind) (string, bool) {
	fields, err := payload.Of(obj, of)
	if err != nil {
		return "", false
	}
	digest, err := payload.Digest(fields)
	return digest, err == nil
}
