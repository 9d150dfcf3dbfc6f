package builder

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/subset"
)

// verdict is what has to be done about a wanted object.
type verdict int

const (
	verdictNothing verdict = iota // it is as wanted
	verdictWait                   // something is in the way that will go by itself
	verdictCreate
	verdictApply
	verdictContested // another writer keeps changing it, and it is left as it is for a while
)

// write is a wanted object, what was found under its name, and what is done about it.
type write struct {
	desired *desired
	found   client.Object // as it is now, after the writes that went before
	seen    client.Object // as it was found by the pass, before anything was written: what others did to it
	verdict verdict
	adopts  bool // found is no one's, and is to be the owner's

	corrects bool // what was written before is put back

	kept   bool          // found can't be changed into what is wanted, and is left as it is
	left   []fieldsLeft  // what stays in it of others
	did    Operation     // empty if nothing changed
	stored client.Object // as the server returned it

	drifted   bool                   // nothing else is desired than what was applied last, and no former manager is named
	refitted  bool                   // it was changed already before it was applied
	corrected []fieldmanager.Removal // what others had set and was removed
	untried   error                  // why it isn't known what a new object would be
}

// run does what the verdict says, and revises it if the server knows better. It is called in parallel with others.
func (w *write) run(ctx context.Context, p *pass) error {
	switch w.verdict {
	case verdictCreate:
		return w.create(ctx, p)
	case verdictApply:
		if w.desired.child.once {
			return w.takeAsItIs(ctx, p)
		}
		return w.apply(ctx, p)
	default:
		return nil
	}
}

// create posts the object. Unlike an apply, a create can't take over an object that the cache hasn't shown yet:
// it answers AlreadyExists. It is also the cheaper of the two. Names are deterministic, so there is never a twin.
func (w *write) create(ctx context.Context, p *pass) error {
	d := w.desired
	obj := d.object // the reply is decoded into it; after that there is nothing to compare it with
	if err := d.showFields(p); err != nil {
		return err
	}
	if !p.engine.dry {
		if err := p.engine.memory.refused.answer(d, p.engine.now()); err != nil {
			return &Error{Key: d.key, Operation: "create", Err: err, object: d.object}
		}
	}
	err := p.engine.client.Create(ctx, obj, client.FieldOwner(p.engine.name))
	switch {
	case err == nil:
		p.engine.remember(obj, d)
		if d.kind.untyped { // of others nothing is left to compare the answer with
			p.engine.settle(obj, d)
		}
		w.did, w.stored = OperationCreated, obj
		return nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		w.verdict = verdictWait // the owner goes with its namespace
		return nil
	case apierrors.IsAlreadyExists(err):
		return w.meet(ctx, p)
	default:
		if !p.engine.dry {
			p.engine.memory.refused.note(d, err, p.engine.now())
		}
		return &Error{Key: d.key, Operation: "create", Err: err, object: d.object}
	}
}

// meet deals with an object that the cache didn't show: one made in an earlier life of this controller and not seen
// yet, one that the cache filters out, or a stranger's. The API server is asked, so that it is known which.
func (w *write) meet(ctx context.Context, p *pass) error {
	found, err := p.engine.read(ctx, p.engine.live, w.desired.kind, w.desired.key)
	if err != nil {
		return err
	}
	w.verdict = verdictWait // should it be gone again, the next pass makes it
	if found == nil {
		return nil
	}
	seen, err := p.compare(w.desired, found)
	if err != nil {
		return err
	}
	*w = *seen
	return w.run(ctx, p)
}

// apply sends what is wanted by server-side apply. With the UID in it, the server refuses if the object has been
// replaced by another of its name.
func (w *write) apply(ctx context.Context, p *pass) error {
	w.drifted = !w.wantsOther() && !p.engine.hasFormer(w.found, w.desired)
	obj, err := w.refresh(ctx, p)
	var refit *refit
	if err == nil && obj == nil {
		obj, refit, err = w.send(ctx, p)
	}
	if err == nil && w.wantsOther() && !p.engine.dry && !w.desired.kind.untyped && !p.engine.contains(w.desired, obj) {
		// An apply that removes fields loses structs without a field, such as securityContext: {}. A second one has them.
		w.refitted = w.refitted || obj.GetResourceVersion() != w.found.GetResourceVersion()
		w.found = obj
		obj, refit, err = w.send(ctx, p)
	}
	if apistatus.IsRefused(err) {
		return w.meetInvalid(ctx, p, err, refit)
	}
	if err != nil {
		return &Error{Key: w.desired.key, Operation: "apply", Err: err, object: w.desired.object}
	}
	w.noteLeft(ctx, p, obj)
	if p.engine.dry {
		return w.rehearsed(ctx, p, obj)
	}
	p.engine.remember(obj, w.desired)
	p.engine.settle(obj, w.desired)
	if obj.GetResourceVersion() == w.found.GetResourceVersion() && !w.refitted {
		w.verdict = verdictNothing // the server found nothing to change
		return nil
	}
	w.did, w.stored = OperationUpdated, obj
	if w.adopts {
		w.did = OperationAdopted
	}
	return nil
}

// send applies what is desired, without what is in the way.
func (w *write) send(ctx context.Context, p *pass) (client.Object, *refit, error) {
	obj, err := w.patch(ctx, p)
	if !apistatus.IsRefused(err) || apistatus.IsReplaced(err) {
		return obj, nil, err
	}
	return w.fit(ctx, p, err)
}

func (w *write) patch(ctx context.Context, p *pass) (client.Object, error) {
	d, e := w.desired, p.engine
	if w.takesOver(e) && !e.dry {
		if err := w.takeOverFields(ctx, p); err != nil {
			return nil, err
		}
	}
	d.fields["metadata"].(map[string]any)["uid"] = string(w.found.GetUID())
	if w.adopts {
		onlyAsSeen(d.fields, w.found)
	}
	body, err := json.Marshal(d.fields)
	if err != nil {
		return nil, err
	}
	obj, err := e.kinds.empty(d.kind)
	if err != nil {
		return nil, err
	}
	obj.SetNamespace(d.key.Namespace)
	obj.SetName(d.key.Name)
	// Patch and not Apply: the reply is decoded into the type that the cache holds, for which reads then wait.
	return obj, e.client.Patch(ctx, obj, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(e.name), client.ForceOwnership)
}

// wantsOther reports whether something else is wanted than was written last. If not, there is drift.
func (w *write) wantsOther() bool { return !w.desired.isDigestOf(w.found) }

// isDigestOf reports whether an object says that it is the desired one.
func (d *desired) isDigestOf(obj client.Object) bool {
	return obj.GetAnnotations()[AnnotationDigest] == d.digest
}

// takesOver reports whether managed fields of the object may have to become the engine's first.
func (w *write) takesOver(e *Engine) bool {
	// An orphan with this program's default field manager may be another program's.
	w.desired.neverWritten = !w.adopts && !e.hasWritten(w.found)
	return w.wantsOther() || w.adopts || e.hasFormer(w.found, w.desired)
}

// isAsWanted reports whether an object needs no write: the server has said so of this very version, or nothing else
// is wanted than last time and all of it is still there.
func (p *pass) isAsWanted(d *desired, found client.Object) (bool, error) {
	if p.engine.remembers(found, d) {
		return true, nil
	}
	if err := d.stamp(p); err != nil {
		return false, err
	}
	if found.GetAnnotations()[AnnotationDigest] != d.digest || p.engine.hasFormer(found, d) {
		return false, nil
	}
	if !p.engine.contains(d, found) && !p.engine.isSettled(found, d) {
		return false, nil
	}
	p.engine.remember(found, d)
	return true, nil
}

// contains reports whether all that is desired is in an object that was found.
func (e *Engine) contains(d *desired, found client.Object) bool {
	u, ok := found.(runtime.Unstructured)
	if !ok {
		return subset.Typed(d.compared, found)
	}
	content := d.withoutIgnored(u.UnstructuredContent())
	if like := e.kinds.builtin(d.kind.gvk); like != nil {
		return subset.Guided(d.fields, content, like)
	}
	return subset.Untyped(d.fields, content)
}
