package memory

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// Settled has what the API server made of children that were applied, where that doesn't contain what is desired: a field that a custom
// resource's schema prunes, a value that it or a webhook writes in another form. Applying the same once more to the same would change
// nothing, so that no request is made before one of them is another. The status, the resource version and the record of managed fields
// change all the time, and decide nothing; the generation says nothing that the content doesn't, and not all kinds have one.
type Settled struct{ as *Recent[types.UID, settledAs] }

type settledAs struct {
	desired string // digest
	content string // digest
	at      time.Time
}

// settledFor bounds how long the API server's answer is believed: a schema, a webhook or a policy may change, of which the
// object shows nothing. Then the next change of the object, be it of its status, has it applied once more.
const settledFor = time.Hour

// Note notes what the API server made of a child of which the object with that digest is desired.
func (s *Settled) Note(stored client.Object, of schema.GroupVersionKind, digest string, now time.Time) {
	if content, ok := contentOf(stored, of); ok {
		s.as.Add(stored.GetUID(), settledAs{digest, content, now})
	}
}

// Forget forgets a child.
func (s *Settled) Forget(child types.UID) { s.as.Remove(child) }

// Has reports whether a child is what the API server made of just what is desired.
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

// Len returns how many children are noted.
func (s *Settled) Len() int { return s.as.Len() }

// contentOf returns a digest of an object without its status and what the API server alone writes.
func contentOf(obj client.Object, of schema.GroupVersionKind) (string, bool) {
	fields, err := payload.Of(obj, of)
	if err != nil {
		return "", false
	}
	digest, err := payload.Digest(fields)
	return digest, err == nil
}
