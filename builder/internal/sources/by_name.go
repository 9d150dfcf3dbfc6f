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

// byNameFor is how long a child that was read by name counts as unchanged while the owner's spec stays the same.
const byNameFor = time.Minute

// ByName reads the children of kinds that are neither listed nor watched, under names that derive from the owner. It reads each child
// once a minute, and after an event that may have changed it. In between it remembers the child. A forgotten child costs one read. It
// is safe for concurrent use.
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
	object     client.Object // nil: the owner has no child of this name
	generation int64         // the owner's
	at         time.Time
}

// NewByName returns a ByName of kinds that reads from the API server.
func NewByName(live Reader, now func() time.Time, named ...NamedKind) *ByName {
	return &ByName{live: live, now: now, kinds: named, known: memory.NewRecent[memory.Child, knownChild]()}
}

// Kinds returns the kinds.
func (n *ByName) Kinds() []NamedKind { return n.kinds }

// Observe adds the children that the owner has under the names. It returns the time until a remembered child must be read again; 0 if it
// has read all of them.
func (n *ByName) Observe(ctx context.Context, children *Children) (again time.Duration, err error) {
	owner := children.Owner
	for _, k := range n.kinds {
		names, err := namesOf(k.Names, owner)
		if err != nil {
			return 0, err
		}
		for _, name := range names {
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
				children.ByKey[key] = found
			}
		}
	}
	for _, k := range n.kinds {
		children.note(k.Kind)
	}
	return again, nil
}

// observe returns one child, nil if it doesn't exist. If it didn't read the child, it returns how long the child still counts as
// unchanged.
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
	if err != nil && !apierrors.IsNotFound(err) { // also for a missing kind
		return nil, 0, fmt.Errorf("read %s: %w", key, err)
	}
	if found != nil && !metav1.IsControlledBy(found, owner) {
		found = nil
	}
	n.known.Remove(at)
	if found == nil || found.GetDeletionTimestamp() == nil { // no event reports the end of a deletion
		n.known.Add(at, knownChild{found, owner.GetGeneration(), now})
	}
	return found, 0, nil
}

// Learn drops stale children after a pass that failed or that wrote children. It reports whether the pass wrote children of these
// kinds: another pass must follow then, because no watch causes one.
func (n *ByName) Learn(owner client.Object, wrote func(schema.GroupKind) bool, failed bool) (again bool) {
	for _, k := range n.kinds {
		again = again || wrote(k.Kind.GVK.GroupKind())
	}
	if !again && !failed {
		return false
	}
	for _, k := range n.kinds {
		names, _ := namesOf(k.Names, owner) // Observe returns the error
		for _, name := range names {
			n.known.Remove(memory.Child{Owner: owner.GetUID(), Key: store.KeyOf(k.Kind.GVK, owner.GetNamespace(), name)})
		}
	}
	return again
}
