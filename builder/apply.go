package builder

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/subset"
	"github.com/armature-dev/armature/builder/internal/toolarge"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// action is what that a child needs.
type action int

const (
	actionNone action = iota // it is up to date
	actionWait               // something is in the way that will go by itself
	actionCreate
	actionApply
	actionBackOff // another writer keeps changing it, and it is left as it is for a while
)

// write is one child on its way: the desired object, the observed one of its name, the action, and its outcome.
type write struct {
	desired  *desired
	observed client.Object // as it is now, after the writes that went before
	initial  client.Object // as it was observed by the pass, before anything was written: what others did to it
	action   action
	adopts   bool // observed has no controller, and becomes the owner's

	corrects bool // the write restores the last applied fields

	kept      bool          // observed can't be changed into the desired object, and is left as it is
	left      []fieldsLeft  // what stays in it of others
	operation string        // empty if nothing changed
	stored    client.Object // as the server returned it

	drifted   bool                   // nothing else is desired than what was applied last, and no former manager is named
	refitted  bool                   // it was changed already before it was applied
	corrected []fieldmanager.Removal // what others had set and was removed
	untried   error                  // why it isn't known what a new object would be
}

// newWrite returns the write of d, for which nothing is decided yet.
func (d *desired) newWrite(observed client.Object) *write {
	w := d.write
	if d.write = nil; w == nil {
		w = &write{}
	}
	*w = write{desired: d, observed: observed, initial: observed, action: actionCreate}
	return w
}

// slot is a preallocated pair of a desired object and its write, so that an unchanged child allocates nothing.
type slot struct {
	desired desired
	write   write
}

// allocate makes what n children need, at once: one by one this is a good part of what a pass costs.
func (p *pass) allocate(n int) []slot {
	p.slots = make([]slot, n)
	p.desired.Grow(n)
	return p.slots
}

// applyTogether applies children that are in no phase. It reports whether that is done, so that pruning may begin.
func (p *pass) applyTogether(ctx context.Context, children []Child) (done bool, err error) {
	outcomes, err := p.apply(ctx, children)
	p.recordAll(outcomes)
	return err == nil, err
}

// apply brings children to their desired state, and returns what became of each: one that couldn't be compared is empty.
// Every child is tried; the errors are joined.
func (p *pass) apply(ctx context.Context, children []Child) (outcomes []slot, err error) {
	var errs []error
	var writes []*write
	outcomes = p.allocate(len(children))
	for _, child := range children {
		w, err := p.decide(ctx, child)
		switch {
		case err != nil:
			errs = append(errs, err)
		case w.action == actionCreate || w.action == actionApply:
			writes = append(writes, w)
		}
	}
	return outcomes, errors.Join(append(errs, p.writeAll(ctx, writes))...)
}

// writeAll does what was decided, in parallel.
func (p *pass) writeAll(ctx context.Context, writes []*write) error {
	if len(writes) == 0 {
		return nil
	}
	if err := p.confirmOwner(ctx, writes); err != nil {
		return err
	}
	var failing batch.Kinds
	var errs []error
	try := func(w *write) error {
		return failing.Try(w.desired.key, func() error {
			err := w.run(ctx, p)
			if err != nil {
				err = w.explain(p, err)
			}
			return err
		})
	}
	tries, others := kinds.Probes(p.engine.kinds, writes, func(w *write) schema.GroupVersionKind { return w.desired.kind.GVK })
	for _, w := range tries {
		err := try(w)
		if err == nil {
			p.engine.kinds.NotePresent(w.desired.kind.GVK)
		}
		errs = append(errs, err)
	}
	errs = append(errs, batch.Each(len(others), p.engine.parallelism, func(i int) error { return try(others[i]) }))
	return errors.Join(errs...)
}

// decide says which action a child needs: its desired object, the observed one of that name, and what differs.
func (p *pass) decide(ctx context.Context, child Child) (*write, error) {
	d, err := p.desire(child)
	if err != nil {
		return nil, err
	}
	observed, err := p.find(ctx, d)
	if err != nil {
		return nil, err
	}
	return p.compare(d, observed)
}

// find returns the object of d's name, whether the owner's or not; nil if there is none.
func (p *pass) find(ctx context.Context, d *desired) (client.Object, error) {
	if p.engine.isIndexed(d.kind) {
		if err := p.observe(ctx, d.kind); err != nil {
			return nil, err
		}
	}
	if observed := p.observed[d.key]; observed != nil && kinds.IsUntyped(observed) == d.kind.Untyped {
		return observed, nil
	}
	observed, err := p.engine.readKnown(ctx, p.engine.client, d.kind, d.key)
	if observed != nil {
		p.rememberObserved(d.key)
	}
	return observed, p.engine.kinds.NoteMissing(d.kind.GVK, err)
}

// compare says which action an object needs, given the observed one of its name. All decisions about a child are made here;
// only the API server's answer to a write may revise them.
func (p *pass) compare(d *desired, observed client.Object) (*write, error) {
	w := d.newWrite(observed)
	if observed == nil {
		err := d.stamp(p)
		if err == nil {
			p.holdCreation(w)
		}
		return w, err
	}
	switch p.ownershipOf(d, observed) {
	case inventory.NotOwned:
		if d.child.crossNamespace {
			return nil, d.refuse(observed)
		}
		return p.decideNotOwned(w)
	case inventory.Terminating:
		w.action = actionWait
		return w, nil
	case inventory.Owned:
		if d.child.once {
			return p.compareOnce(w), nil
		}
	}
	upToDate, err := p.isUpToDate(d, observed)
	switch {
	case err != nil:
		return w, err
	case upToDate:
		w.action = actionNone
	default:
		w.action = actionApply
		p.holdContested(w)
	}
	return w, nil
}

// ownershipOf says what an object is to the owner, if it has the name of d.
func (p *pass) ownershipOf(d *desired, observed client.Object) inventory.Ownership {
	switch {
	case d.child.retained() && metav1.GetControllerOfNoCopy(observed) == nil:
		return p.marks.OwnershipOfRetained(observed, d.child.former())
	case d.child.crossNamespace:
		return p.marks.OwnershipCrossNamespace(observed, d.child.former())
	default:
		return inventory.OwnershipOf(observed, p.owner, p.ownerKind)
	}
}

// isUpToDate reports whether an object needs no write: the server has said so of this very version, or the desired object
// has the digest of the last one and all of it is still there.
func (p *pass) isUpToDate(d *desired, observed client.Object) (bool, error) {
	if d.keepsImmutable() {
		if left, err := p.isLeftImmutable(d, observed); left || err != nil {
			return left, err
		}
	}
	if p.engine.remembers(observed, d) {
		return true, nil
	}
	if err := d.stamp(p); err != nil {
		return false, err
	}
	if !d.isDigestOf(observed) || p.engine.hasFormer(observed, d) {
		return false, nil
	}
	if !p.engine.contains(d, observed) && !p.engine.isSettled(observed, d) {
		return false, nil
	}
	p.engine.remember(observed, d)
	return true, nil
}

// remember records that a child is up to date. The server has said so: by its answer to a write, or by a comparison.
func (e *Engine) remember(child client.Object, d *desired) {
	if d.hashed && !e.dry {
		e.memory.UpToDate.Add(child.GetUID(), memory.Version{ResourceVersion: child.GetResourceVersion(), Hash: d.hash})
	}
}

// remembers reports whether this very version of a child is known to be up to date with this very object.
func (e *Engine) remembers(child client.Object, d *desired) bool {
	return d.hashed && e.memory.UpToDate.Has(child.GetUID(), memory.Version{ResourceVersion: child.GetResourceVersion(), Hash: d.hash})
}

// rememberImmutable notes that an object can't be changed into the desired one and stays as it is, so that no further request is made.
func (e *Engine) rememberImmutable(found client.Object, d *desired) {
	e.memory.Immutable.Add(found.GetUID(), memory.Immutable{Hash: d.hash, Digest: d.digest})
}

// isLeftImmutable reports whether an object is known to be left as it is, since just this is desired.
func (p *pass) isLeftImmutable(d *desired, found client.Object) (bool, error) {
	as, ok := p.engine.memory.Immutable.Get(found.GetUID())
	if !ok {
		return false, nil
	}
	if d.hashed && as.Hash == d.hash {
		return true, nil
	}
	err := d.stamp(p)
	return err == nil && as.Digest == d.digest, err
}

// settle notes what the API server made of a child, if it isn't what is desired.
func (e *Engine) settle(stored client.Object, d *desired) {
	switch {
	case e.dry || stored.GetUID() == "":
	case e.contains(d, stored):
		e.memory.Settled.Forget(stored.GetUID())
	default:
		e.memory.Settled.Note(stored, d.kind.GVK, d.digest, e.now())
	}
}

// isSettled reports whether a child is what the API server made of just what is desired.
func (e *Engine) isSettled(found client.Object, d *desired) bool {
	return e.memory.Settled.Has(found, d.kind.GVK, d.digest, e.now())
}

// contains reports whether all that is desired is in an object that was observed.
func (e *Engine) contains(d *desired, observed client.Object) bool {
	u, ok := observed.(runtime.Unstructured)
	if !ok {
		isCustom := !payload.IsKubernetes(reflect.TypeOf(observed).Elem())
		return subset.Typed(d.compared, observed) && !(isCustom && e.hasMoreInOne(d, observed))
	}
	content := d.withoutIgnored(u.UnstructuredContent())
	if like := e.kinds.Builtin(d.kind.GVK); like != nil {
		return subset.Guided(d.fields, content, like)
	}
	return subset.Untyped(d.fields, content) && !e.hasMoreInOne(d, observed)
}

// hasMoreInOne reports whether others have added to a map of a custom resource that is one value to the API server. That it is one is
// only known from who owns it.
func (e *Engine) hasMoreInOne(d *desired, observed client.Object) bool {
	whole := e.fieldManager(d).SetWhole(observed.GetManagedFields(), d.fields)
	if len(whole) == 0 {
		return false
	}
	found, err := payload.Stored(observed)
	if err != nil {
		return false
	}
	found = d.withoutIgnored(found)
	return slices.ContainsFunc(whole, func(path fieldpath.Path) bool {
		desired, _ := paths.At(d.fields, path)
		live, _ := paths.At(found, path)
		return !subset.Untyped(live, desired)
	})
}

// run does what the action says, and revises it if the server knows better. It is called in parallel with others.
func (w *write) run(ctx context.Context, p *pass) error {
	switch w.action {
	case actionCreate:
		return w.create(ctx, p)
	case actionApply:
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
	if p.engine.dry {
		if err := d.showFields(); err != nil {
			return err
		}
	} else {
		if err := p.engine.memory.Refused.Answer(d.key, d.object, d.kind.GVK.Version, p.engine.now()); err != nil {
			return &Error{Key: d.key, Operation: "create", Err: err, object: d.object}
		}
	}
	err := p.engine.client.Create(ctx, obj, client.FieldOwner(p.engine.name))
	switch {
	case err == nil:
		p.engine.remember(obj, d)
		if d.kind.Untyped { // of others nothing is left to compare the answer with
			p.engine.settle(obj, d)
		}
		w.operation, w.stored = events.ReasonCreated, obj
		return nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		w.action = actionWait // the owner goes with its namespace
		return nil
	case apierrors.IsAlreadyExists(err):
		return w.resolve(ctx, p)
	default:
		if !p.engine.dry {
			p.engine.memory.Refused.Note(d.key, d.object, d.kind.GVK.Version, err, p.engine.now())
		}
		return &Error{Key: d.key, Operation: "create", Err: err, object: d.object}
	}
}

// resolve handles an object that the cache didn't show: one that an earlier process created, one that the cache filters out, or one
// that isn't owned. It reads the object from the API server to tell which.
func (w *write) resolve(ctx context.Context, p *pass) error {
	observed, err := p.engine.read(ctx, p.engine.live, w.desired.kind, w.desired.key)
	if err != nil {
		return err
	}
	w.action = actionWait // if it is deleted meanwhile, the next pass creates it
	if observed == nil {
		return nil
	}
	next, err := p.compare(w.desired, observed)
	if err != nil {
		return err
	}
	*w = *next
	return w.run(ctx, p)
}

// apply sends the desired object by server-side apply. With the UID in it, the server refuses if the object has been
// replaced by another of its name.
func (w *write) apply(ctx context.Context, p *pass) error {
	w.drifted = !w.isDesiredChanged() && !p.engine.hasFormer(w.observed, w.desired)
	obj, err := w.refresh(ctx, p)
	var refit *refit
	if err == nil && obj == nil {
		obj, refit, err = w.send(ctx, p)
	}
	if err == nil && w.isDesiredChanged() && !p.engine.dry && !w.desired.kind.Untyped && !p.engine.contains(w.desired, obj) {
		// An apply that removes fields loses structs without a field, such as securityContext: {}. A second one has them.
		w.refitted = w.refitted || obj.GetResourceVersion() != w.observed.GetResourceVersion()
		w.observed = obj
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
		return w.recordDryRun(ctx, p, obj)
	}
	p.engine.remember(obj, w.desired)
	p.engine.settle(obj, w.desired)
	if obj.GetResourceVersion() == w.observed.GetResourceVersion() && !w.refitted {
		w.action = actionNone // the server observed nothing to change
		return nil
	}
	w.operation, w.stored = events.ReasonUpdated, obj
	if w.adopts {
		w.operation = events.ReasonAdopted
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
	d.fields["metadata"].(map[string]any)["uid"] = string(w.observed.GetUID())
	if w.adopts {
		onlyAsSeen(d.fields, w.observed)
	}
	body, err := json.Marshal(d.fields)
	if err != nil {
		return nil, err
	}
	obj, err := e.kinds.Empty(d.kind)
	if err != nil {
		return nil, err
	}
	obj.SetNamespace(d.key.Namespace)
	obj.SetName(d.key.Name)
	// Patch and not Apply: the reply is decoded into the type that the cache holds, for which reads then wait.
	return obj, e.client.Patch(ctx, obj, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(e.name), client.ForceOwnership)
}

// isDesiredChanged reports whether the desired object isn't the one that was written last. If it is, there is drift.
func (w *write) isDesiredChanged() bool { return !w.desired.isDigestOf(w.observed) }

// isDigestOf reports whether an object says that it is the desired one.
func (d *desired) isDigestOf(obj client.Object) bool {
	return obj.GetAnnotations()[wellknown.AnnotationDigest] == d.digest
}

// takesOver reports whether managed fields of the object may have to become the engine's first.
func (w *write) takesOver(e *Engine) bool {
	// An orphan with this program's default field manager may be another program's.
	w.desired.neverWritten = !w.adopts && !e.hasWritten(w.observed)
	return w.isDesiredChanged() || w.adopts || e.hasFormer(w.observed, w.desired)
}

// explain says more about a write that failed than the API server does: which field is too large, or that the cluster
// doesn't know the kind.
func (w *write) explain(p *pass, err error) error {
	d := w.desired
	if kinds.IsGone(err) {
		return p.engine.kinds.NoteMissing(d.kind.GVK, err)
	}
	about := (*Error)(nil)
	if !toolarge.Is(err) || !errors.As(err, &about) {
		return err
	}
	fields := d.fields
	if fields == nil {
		if fields, _ = payload.Stored(d.object); fields == nil { // what can't be rendered can't be looked at
			return err
		}
	}
	field, explained := toolarge.Explain(about.Err, d.key.Kind, fields)
	about.Err = explained
	if field != "" {
		about.fields = []string{field}
	}
	return err
}
