package builder

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/subset"
)

// outcome is what became of a write: an Operation, or one of these.
type outcome string

const (
	outcomeUnchanged outcome = "unchanged" // the server found nothing to change
	outcomeWaiting   outcome = "waiting"   // something is in the way that will go by itself
)

// write is a child that has to be created (found is nil) or applied.
type write struct {
	desired *desired
	found   client.Object

	outcome outcome
	stored  client.Object
}

func (w *write) run(ctx context.Context, p *pass) error {
	if w.found == nil {
		return w.create(ctx, p)
	}
	return w.apply(ctx, p)
}

// create posts the object. Unlike an apply, a create can't take over an object that the cache hasn't shown yet:
// it answers AlreadyExists. It is also the cheaper of the two. Names are deterministic, so there is never a twin.
func (w *write) create(ctx context.Context, p *pass) error {
	d := w.desired
	obj := d.object.DeepCopyObject().(client.Object)
	err := p.engine.client.Create(ctx, obj, client.FieldOwner(p.engine.name))
	switch {
	case err == nil:
		p.engine.remember(obj, d.digest)
		w.outcome, w.stored = outcome(OperationCreated), obj
		return nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		w.outcome = outcomeWaiting // the owner goes with its namespace
		return nil
	case !apierrors.IsAlreadyExists(err):
		return &Error{Key: d.key, Operation: "create", Err: err}
	}
	// Someone was faster: an earlier life of this controller, or a stranger. The cache may not have it yet.
	found, readErr := p.engine.read(ctx, d)
	if readErr != nil {
		return readErr
	}
	if found != nil && ownershipOf(found, p.owner, p.ownerKind) == foreign {
		return notOwned(d.key, found)
	}
	w.outcome = outcomeWaiting
	return nil
}

// apply sends what is wanted by server-side apply. With the UID in it, the server refuses if the object has been
// replaced by another of its name.
func (w *write) apply(ctx context.Context, p *pass) error {
	d, e := w.desired, p.engine
	if err := e.claimCreated(ctx, w.found); err != nil {
		return &Error{Key: d.key, Operation: "apply", Err: err}
	}
	d.fields["metadata"].(map[string]any)["uid"] = string(w.found.GetUID())
	body, err := json.Marshal(d.fields)
	if err != nil {
		return &Error{Key: d.key, Operation: "apply", Err: err}
	}
	obj := e.emptyLike(d)
	obj.SetNamespace(d.key.Namespace)
	obj.SetName(d.key.Name)
	// Patch and not Apply: the reply is decoded into the type that the cache holds, for which reads then wait.
	err = e.client.Patch(ctx, obj, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(e.name), client.ForceOwnership)
	if err != nil {
		return &Error{Key: d.key, Operation: "apply", Err: err}
	}
	e.remember(obj, d.digest)
	w.outcome, w.stored = outcome(OperationUpdated), obj
	if obj.GetResourceVersion() == w.found.GetResourceVersion() {
		w.outcome = outcomeUnchanged
	}
	return nil
}

// isAsWanted reports whether an object needs no write: the server has said so of this very version, or nothing else
// is wanted than last time and all of it is still there.
func (e *Engine) isAsWanted(d *desired, found client.Object) bool {
	if e.remembers(found, d.digest) {
		return true
	}
	if found.GetAnnotations()[AnnotationDigest] != d.digest || !isContained(d, found) {
		return false
	}
	e.remember(found, d.digest)
	return true
}

func isContained(d *desired, found client.Object) bool {
	if u, ok := found.(runtime.Unstructured); ok {
		return subset.Untyped(d.fields, u.UnstructuredContent())
	}
	return subset.Typed(d.object, found)
}
