package sources

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/store"
)

// byNameFor is how long a child that was read by name is taken for unchanged while the owner's spec stays the same.
const byNameFor = time.Minute

// ByName reads the children of kinds that are neither listed nor watched, under names that follow from the owner. It reads each once a
// minute, and after what may have changed it; in between it remembers them. What it has forgotten costs one read. It is safe for
// concurrent use.
type ByName struct {
	live  Reader
	now   func() time.Time
	kinds []NamedKind
	known *memory.Recent[memory.Child, knownChild]
}

// NamedKind is a kind of children that are read by name. Names returns the names in the owner's namespace; empty ones are ignored.
type NamedKind struct {
	Kind  kinds.Kind
	Names func(owner client.Object) []string
}

// knownChild is a child as it was read.
type knownChild struct {
	object     client.Object // nil: the owner has none of this name
	generation int64         // the owner's
	at         time.Time
}

// NewByName returns a ByName of kinds that asks the API server.
func NewByName(live Reader, now func() time.Time, named ...NamedKind) *ByName {
	return &ByName{live: live, now: now, kinds: named, known: memory.NewRecent[memory.Child, knownChild]()}
}

// Kinds returns the kinds.
func (n *ByName) Kinds() []NamedKind { return n.kinds }

// Observe calls add with each child that an owner has under the names. It returns after which time a remembered child is to be read
// again; 0 if all were read.
func (n *ByName) Observe(ctx context.Context, owner client.Object, add func(store.Key, client.Object)) (again time.Duration, err error) {
	for _, k := range n.kinds {
		for _, name := range k.Names(owner) {
			if name == "" {
				continue
			}
			key := store.KeyOf(k.Kind.GVK, owner.GetNamespace(), name)
			found, left, err := n.observe(ctx, k.Kind, owner, key)
			if err != nil {
				return 0, err
			}
			if left > 0 && (again == 0 || left < again) {
				again = left
			}
			if found != nil {
				add(key, found)
			}
		}
	}
	return again, nil
}

// observe returns one child, nil if there is none, and how long it is still taken for unchanged if it wasn't read.
func (n *ByName) observe(
	ctx context.Context, k kinds.Kind, owner client.Object, key store.Key,
) (found client.Object, left time.Duration, err error) {
	at := memory.Child{Owner: owner.GetUID(), Key: key}
	known, ok := n.known.Get(at)
	now := n.now()
	left = byNameFor - now.Sub(known.at)
	if ok && left > 0 && left <= byNameFor && known.generation == owner.GetGeneration() {
		return known.object, left, nil
	}
	found, err = n.live.Get(ctx, k, key)
	if err != nil && !apierrors.IsNotFound(err) { // not even its kind is there
		return nil, 0, fmt.Errorf("read %s: %w", key, err)
	}
	if found != nil && !metav1.IsControlledBy(found, owner) {
		found = nil
	}
	n.known.Remove(at)
	if found == nil || found.GetDeletionTimestamp() == nil { // of a deletion nothing tells when it is done
		n.known.Add(at, knownChild{found, owner.GetGeneration(), now})
	}
	return found, 0, nil
}

// Learn forgets what is stale after a pass that failed or that wrote children, and reports whether it wrote children of these kinds: a
// pass must follow then, since no watch causes one.
func (n *ByName) Learn(owner client.Object, wrote func(schema.GroupKind) bool, failed bool) (again bool) {
	for _, k := range n.kinds {
		again = again || wrote(k.Kind.GVK.GroupKind())
	}
	if !again && !failed {
		return false
	}
	for _, k := range n.kinds {
		for _, name := range k.Names(owner) {
			n.known.Remove(memory.Child{Owner: owner.GetUID(), Key: store.KeyOf(k.Kind.GVK, owner.GetNamespace(), name)})
		}
	}
	return again
}
