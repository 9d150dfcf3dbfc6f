package builder

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// settledAs is what the API server made of a child that was applied, where that doesn't contain what is desired: a field
// that a custom resource's schema prunes, a value that it or a webhook writes in another form. Applying the same once more
// to the same would change nothing, so that no request is made before one of them is another. The status, the resource
// version and the record of managed fields change all the time, and decide nothing; the generation says nothing that the
// content doesn't, and not all kinds have one.
type settledAs struct {
	desired string // digest
	content string // digest
	at      time.Time
}

// settledFor bounds how long the API server's answer is believed: a schema, a webhook or a policy may change, of which the
// object shows nothing. Then the next change of the object, be it of its status, has it applied once more.
const settledFor = time.Hour

// settle notes what the API server made of a child, if it isn't what is desired.
func (e *Engine) settle(stored client.Object, d *desired) {
	if e.dry || stored.GetUID() == "" {
		return
	}
	if e.contains(d, stored) {
		e.memory.settled.Remove(stored.GetUID())
		return
	}
	if content, ok := contentOf(stored, d); ok {
		e.memory.settled.Add(stored.GetUID(), settledAs{d.digest, content, e.now()})
	}
}

// isSettled reports whether a child is what the API server made of just what is desired.
func (e *Engine) isSettled(found client.Object, d *desired) bool {
	as, ok := e.memory.settled.Get(found.GetUID())
	if !ok {
		return false
	}
	if as.desired != d.digest || e.now().Sub(as.at) >= settledFor {
		return false
	}
	content, ok := contentOf(found, d)
	return ok && content == as.content
}

// contentOf returns a digest of an object without its status and what the API server alone writes.
func contentOf(obj client.Object, d *desired) (string, bool) {
	fields, err := payload.Of(obj, d.kind.gvk)
	if err != nil {
		return "", false
	}
	digest, err := payload.Digest(fields)
	return digest, err == nil
}
