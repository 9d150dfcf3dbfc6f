package apply

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// Action is the action that a child needs.
type Action int

const (
	// None means that the child is up to date, or stays as it is.
	None Action = iota
	// Wait says that the child can't be written yet, because an object of its name, or its namespace, is being deleted.
	Wait
	// Create means that no object of that name exists.
	Create
	// Apply means that the object differs.
	Apply
	// BackOff means that another writer keeps changing the child, so that the builder doesn't write it for a while.
	BackOff
)

// Write is the work on one child: the desired object, the observed one of its name, the action, and its outcome.
type Write struct {
	// Desired is the desired object.
	Desired *Desired
	// Observed is the present object, including this write's earlier requests; nil if it doesn't exist.
	Observed client.Object
	// Action is the action that the child needs. The answer to a write may revise it.
	Action Action

	// Operation is the operation that was done, as a reason of package events; empty without a change.
	Operation string
	// Stored is the object as the API server returned it, or the one that was deleted to be recreated.
	Stored client.Object
	// KeptImmutable is true if Observed has a changed immutable field, and stays as it is.
	KeptImmutable bool
	// FieldsLeft are fields of other managers that stay in the object.
	FieldsLeft []FieldsLeft
	// Corrected are fields of other managers that the builder removed.
	Corrected []fieldmanager.Removal
	// Untried is the error because of which the builder doesn't know the new object; nil if it does.
	Untried error

	initial  client.Object // the observed object before any write of the pass: it shows other writers' changes
	adopts   bool          // Observed has no controller, and becomes the owner's
	corrects bool          // the write restores the last applied fields
	drifted  bool          // the desired object equals the last applied one, and no former manager has fields in the object
	refitted bool          // an earlier request of this write changed the object
}

// WriteAll makes writes in parallel. After a failure that others would share, such as a missing permission for their kind, it omits
// these: see package batch. Of a kind that the cluster didn't know, it first tries one write, the probe. It makes no write if the owner is
// gone.
func (c *Cluster) WriteAll(ctx context.Context, writes []*Write) error {
	if err := c.confirmOwner(ctx, writes); err != nil {
		return err
	}
	var failing batch.Kinds
	var errs []error
	try := func(w *Write) error {
		return failing.Try(w.Desired.Key, func() error {
			err := w.Run(ctx, c)
			if err != nil {
				err = w.explain(c, err)
			}
			return err
		})
	}
	probes, others := kinds.Probes(c.Kinds, writes, func(w *Write) schema.GroupVersionKind { return w.Desired.Kind.GVK })
	for _, w := range probes {
		err := try(w)
		if err == nil {
			c.Kinds.NotePresent(w.Desired.Kind.GVK)
		}
		errs = append(errs, err)
	}
	errs = append(errs, batch.Each(len(others), c.Parallelism, func(i int) error { return try(others[i]) }))
	return errors.Join(errs...)
}

// The cache may show an owner that is deleted. Each kind has its own watch. After an outage of the API server the watches recover
// separately, up to half a minute apart. A pass may then observe that the garbage collector has deleted the children, and not yet that
// the owner is deleted. It would recreate the children, repeatedly, and a workload that a user has deleted would run again.
//
// Before creating children, a pass therefore re-reads the owner from the API server, if some children have disappeared since the last
// pass, or if the builder can't know that. Other passes, and the first pass of a new owner, make no such request. Builder.Create is about
// one child, and usually makes it.

// ErrOwnerGone ends a pass over an owner that is deleted or terminating. The owner's next pass begins when the cache shows that.
var ErrOwnerGone = errors.New("the owner is gone")

// confirmOwner returns ErrOwnerGone if the pass is about to create children for a deleted owner.
func (c *Cluster) confirmOwner(ctx context.Context, writes []*Write) error {
	if c.ownerGone {
		return ErrOwnerGone
	}
	if c.ownerConfirmed || c.DryRun || !c.ReadsLive || !c.ownerMayBeGone(writes) {
		return nil
	}
	k, err := c.Kinds.Of(c.Owner)
	if err != nil {
		return err
	}
	found, err := c.ReadLive(ctx, k, c.OwnerKey)
	if err != nil {
		return err
	}
	if found == nil || found.GetUID() != c.Owner.GetUID() || found.GetDeletionTimestamp() != nil {
		c.ownerGone = true
		return ErrOwnerGone
	}
	c.ownerConfirmed = true
	return nil
}

// ownerMayBeGone reports whether the children to create may have existed before.
func (c *Cluster) ownerMayBeGone(writes []*Write) bool {
	if !slices.ContainsFunc(writes, isCreation) {
		return false
	}
	had, known := c.Memory.Counts.Get(c.Owner.GetUID())
	if !known {
		return c.hasWrittenToOwner()
	}
	return slices.ContainsFunc(writes, c.isKnown) || c.Present() < had
}

func isCreation(w *Write) bool { return w.Action == Create }

// isKnown reports whether a write creates a child that existed before.
func (c *Cluster) isKnown(w *Write) bool {
	return isCreation(w) && c.Memory.Observed.Contains(memory.Child{Owner: c.Owner.GetUID(), Key: w.Desired.Key})
}

// hasWrittenToOwner reports whether this operator has written to the owner, in an earlier process or under another leader.
func (c *Cluster) hasWrittenToOwner() bool {
	for _, entry := range c.Owner.GetManagedFields() {
		if entry.Manager == c.Name {
			return true
		}
	}
	return false
}

// Run makes the request that the action needs, and revises the action by the API server's answer. It is called in parallel with others.
func (w *Write) Run(ctx context.Context, c *Cluster) error {
	err := w.run(ctx, c)
	w.note(c)
	return err
}

func (w *Write) run(ctx context.Context, c *Cluster) error {
	switch w.Action {
	case Create:
		return w.create(ctx, c)
	case Apply:
		if w.Desired.Child.CreateOnly {
			return w.takeAsItIs(ctx, c)
		}
		return w.apply(ctx, c)
	default:
		return nil
	}
}

// create posts the object. Unlike an apply, a create can't take over an object that the cache doesn't show yet: the API server answers
// AlreadyExists. A create is also cheaper. Names are deterministic, so there is never a duplicate.
func (w *Write) create(ctx context.Context, c *Cluster) error {
	d := w.Desired
	obj := d.object // the reply is decoded into it, and replaces the desired object
	if c.DryRun {
		if err := d.showFields(); err != nil {
			return err
		}
	} else { // the API server may have called an equal object of another owner invalid
		if err := c.Memory.Refused.Answer(d.Key, d.object, d.Kind.GVK.Version, c.Now()); err != nil {
			return w.failed("create", err)
		}
	}
	err := c.Client.Create(ctx, obj, client.FieldOwner(c.Name))
	switch {
	case err == nil:
		c.remember(obj, d)
		if d.Kind.Untyped { // of a typed object only the reply is left, and nothing to compare it with
			c.settle(obj, d)
		}
		w.Operation, w.Stored = events.ReasonCreated, obj
		return nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		w.Action = Wait // the owner goes with its namespace
		return nil
	case apierrors.IsAlreadyExists(err):
		return w.resolve(ctx, c)
	default:
		if !c.DryRun {
			c.Memory.Refused.Note(d.Key, d.object, d.Kind.GVK.Version, err, c.Now())
		}
		return w.failed("create", err)
	}
}

// resolve handles an object that the cache didn't show. An earlier process created it, the cache filters it out, or the owner doesn't
// own it. resolve reads the object from the API server to find out.
func (w *Write) resolve(ctx context.Context, c *Cluster) error {
	observed, err := c.ReadLive(ctx, w.Desired.Kind, w.Desired.Key)
	if err != nil {
		return err
	}
	w.Action = Wait // if it is deleted meanwhile, the next pass creates it
	if observed == nil {
		return nil
	}
	next, err := c.Compare(w.Desired, observed)
	if err != nil {
		return err
	}
	*w = *next
	return w.run(ctx, c)
}

// apply sends the desired object by server-side apply. It includes the UID, so that the server refuses the write if another object has
// replaced the observed one.
func (w *Write) apply(ctx context.Context, c *Cluster) error {
	w.drifted = !w.isDesiredChanged() && !c.hasFormer(w.Observed, w.Desired)
	obj, err := w.refresh(ctx, c) // obj: only in a dry run
	var refit *refit
	if err == nil && obj == nil {
		obj, refit, err = w.send(ctx, c)
	}
	if err == nil && w.isDesiredChanged() && !c.DryRun && c.hasLost(w.Desired, obj) {
		// An apply that removes fields loses structs without a field, such as securityContext: {}. A second apply restores them.
		w.refitted = w.refitted || obj.GetResourceVersion() != w.Observed.GetResourceVersion()
		w.Observed = obj
		obj, refit, err = w.send(ctx, c)
	}
	if apistatus.IsRefused(err) && !apistatus.IsReplaced(err) {
		return w.meetInvalid(ctx, c, err, refit)
	}
	if err != nil {
		return w.failed("apply", err)
	}
	w.noteLeft(ctx, c, obj)
	if c.DryRun {
		return w.recordDryRun(ctx, c, obj)
	}
	c.remember(obj, w.Desired)
	c.settle(obj, w.Desired)
	if obj.GetResourceVersion() == w.Observed.GetResourceVersion() && !w.refitted {
		w.Action = None // the server found no difference
		return nil
	}
	w.Operation, w.Stored = events.ReasonUpdated, obj
	if w.adopts {
		w.Operation = events.ReasonAdopted
	}
	return nil
}

// send applies the desired object. If the API server refuses that because fields of others conflict with it, fit removes these first.
func (w *Write) send(ctx context.Context, c *Cluster) (client.Object, *refit, error) {
	w.noteWritten(c)
	obj, err := w.patch(ctx, c)
	if !isObstructed(err) {
		return obj, nil, err
	}
	return w.fit(ctx, c, err)
}

// patch sends the apply. Before it, fields of the builder's own POST and of former managers become those of its applies, if there are any.
func (w *Write) patch(ctx context.Context, c *Cluster) (client.Object, error) {
	d := w.Desired
	if w.takesOver(c) && !c.DryRun {
		if err := w.takeOverFields(ctx, c); err != nil {
			return nil, err
		}
	}
	meta := d.fields["metadata"].(map[string]any)
	meta["uid"] = string(w.Observed.GetUID())
	// The API server begins an update with the object of its cache, which may not show the last write yet, and begins again when the storage
	// refuses the old version. For a Service it has allocated the node ports by then, and doesn't release them: they count as taken for
	// minutes, and the update fails. An apply that names the version is told to begin again before it allocates. A dry run allocates nothing.
	isService := d.Kind.GVK == corev1.SchemeGroupVersion.WithKind("Service")
	if w.adopts || isService && !c.DryRun {
		meta["resourceVersion"] = w.Observed.GetResourceVersion() // the apply of another version fails with a conflict
	}
	body, err := json.Marshal(d.fields)
	if err != nil {
		return nil, err
	}
	delete(meta, "resourceVersion")
	obj, err := c.Kinds.Named(d.Kind, d.Key)
	if err != nil {
		return nil, err
	}
	// Patch and not Apply: the client decodes the reply into the type that the cache holds, so that reads wait for this write.
	return obj, c.Client.Patch(ctx, obj, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(c.Name), client.ForceOwnership)
}

// noteWritten notes whether the engine has written the object. In an object without a controller, the program's default field manager may
// be another program's.
func (w *Write) noteWritten(c *Cluster) {
	w.Desired.neverWritten = !w.adopts && !c.hasWritten(w.Observed)
}

// takesOver reports whether the engine may have to take over managed fields of the object first.
func (w *Write) takesOver(c *Cluster) bool {
	return w.isDesiredChanged() || w.adopts || c.hasFormer(w.Observed, w.Desired)
}

// explain adds to the error of a failed write: which field is too large, or that the cluster doesn't know the kind.
func (w *Write) explain(c *Cluster, err error) error {
	d := w.Desired
	if kinds.IsGone(err) {
		return c.Kinds.NoteMissing(d.Kind.GVK, err)
	}
	about := (*failure.Error)(nil)
	if !apistatus.IsTooLarge(err) || !errors.As(err, &about) {
		return err
	}
	fields := d.fields
	if fields == nil {
		if fields, _ = payload.Stored(d.object); fields == nil { // the object can't be rendered
			return err
		}
	}
	field, explained := apistatus.ExplainSize(about.Err, d.Key.Kind, fields)
	about.Err = explained
	if field != "" {
		about.Fields = []string{field}
	}
	return err
}

// failed returns an error about the child.
func (w *Write) failed(operation string, err error) error {
	return &failure.Error{Key: w.Desired.Key, Operation: operation, Err: err, Object: w.Desired.object}
}

// UpToDate returns the object of a child that is up to date, nil for another child.
func (w *Write) UpToDate() client.Object {
	switch {
	case w.Operation == events.ReasonRecreating: // it goes
		return nil
	case w.Stored == nil && w.Action == None:
		return w.Observed
	default:
		return w.Stored
	}
}

// ReadLive reads an object past the cache, nil if it doesn't exist.
func (c *Cluster) ReadLive(ctx context.Context, k kinds.Kind, key store.Key) (client.Object, error) {
	observed, err := sources.Reader{From: c.Live, Kinds: c.Kinds}.Get(ctx, k, key)
	if err != nil && !apierrors.IsNotFound(err) { // also for a missing kind
		return nil, &failure.Error{Key: key, Operation: "read", Err: err}
	}
	return observed, nil
}
