package apply

import (
	"context"
	"encoding/json"
	"math"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/immutable"
	"github.com/armature-dev/armature/builder/internal/merge"
	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/internal/wellknown"
)

// A server-side apply changes only the fields that it names. Fields of other managers or of no manager stay, and so do values that the
// API server derived from a changed field. So the API server may refuse an apply because of a remaining field, or an apply may leave a
// field that a new object wouldn't have: the rollingUpdate of a strategy that is now Recreate, the policyTypes of a NetworkPolicy that
// had no egress rules, a port that another writer changed. Then one JSON patch precedes the apply. It makes the change and removes the
// obstructing fields, in one step that the API server accepts or refuses as a whole, for one version of the object. For another
// desired state it also replaces the digest: after a crash the apply must still be made, whatever is desired then.

// maxRefits limits how often a refused patch is amended without a reduction of the faults: twenty renumbered ports are twenty faults, and
// each attempt removes one. The API server refuses each of them without a trace.
const maxRefits = 12

// refit is a change of an object that an apply alone can't make.
type refit struct {
	objects merge.Objects
	merged  merge.Result
	amended *merge.Amended
	trial   trial
}

// newRefit compares the desired object with the observed one, and with a new object if one is given. With release, the values that the
// API server chose at the creation stay, because they could not be removed.
func (w *Write) newRefit(c *Cluster, fresh client.Object, release bool) (*refit, error) {
	live, err := payload.Stored(w.Observed)
	if err != nil {
		return nil, err
	}
	managed, err := c.fieldManager(w.Desired).Managed(w.Observed.GetManagedFields())
	if err != nil {
		return nil, err
	}
	o := merge.Objects{
		Live: live, Desired: w.withoutDigest(), Ignored: w.Desired.ignored, Ours: managed.Ours, Others: managed.Others,
		Drift: !w.isDesiredChanged() && !w.adopts, Release: release,
		// The number of replicas belongs to an autoscaler or a person, even if no manager owns it.
		Fixed: fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas")).Union(managed.Subresources),
		Plain: merge.IsPlain,
	}
	if fresh != nil {
		if o.Fresh, err = payload.Stored(fresh); err != nil {
			return nil, err
		}
		o.Unique = immutable.Unique(w.Desired.Key, fresh)
	}
	r := &refit{objects: o, merged: merge.Run(o)}
	r.amended = merge.Amend(o, r.merged)
	return r, nil
}

// withoutDigest returns the desired object for the comparison with the observed one: without the fields that only an apply has.
func (w *Write) withoutDigest() map[string]any {
	fields := runtime.DeepCopyJSON(w.Desired.fields)
	delete(fields, "apiVersion")
	delete(fields, "kind")
	meta, _ := fields["metadata"].(map[string]any)
	delete(meta, "uid")
	delete(meta, "resourceVersion")
	if annotations, ok := meta["annotations"].(map[string]any); ok {
		if old, ok := w.Observed.GetAnnotations()[wellknown.AnnotationDigest]; ok {
			annotations[wellknown.AnnotationDigest] = old
		} else {
			delete(annotations, wellknown.AnnotationDigest)
		}
		if len(annotations) == 0 {
			delete(meta, "annotations")
		}
	}
	return fields
}

// refresh updates the values that the API server derived from changed fields, before the change is applied. It costs a dry run. It
// runs only if a field was added or removed, or the choice between alternatives changed, in an object with values of no manager.
//
// In a dry run it returns the API server's result, because a dry run stores nothing that a later apply could use.
func (w *Write) refresh(ctx context.Context, c *Cluster) (client.Object, error) {
	if !w.isDesiredChanged() || w.adopts || !c.fieldManager(w.Desired).HasApplied(w.Observed.GetManagedFields()) {
		return nil, nil // nothing has changed, or the engine still manages the server's choice, and the apply removes it
	}
	r, err := w.newRefit(c, nil, false)
	if err != nil || !r.merged.MayDerive {
		return nil, err
	}
	tried := w.try(ctx, c)
	if isLasting(tried.err) {
		w.Untried = tried.err // the apply returns the error of an invalid object; an exceeded quota doesn't prevent an apply
		return nil, nil
	}
	if tried.err != nil {
		return nil, tried.err // after the apply no later pass would check this
	}
	if r, err = w.newRefit(c, tried.object, false); err != nil || !r.merged.Stale {
		return nil, err
	}
	obj, err := w.sendRefit(ctx, c, r)
	if apistatus.MayObstruct(err) {
		return nil, nil
	}
	if err == nil {
		w.fitted(c, r, obj)
	}
	if !c.DryRun {
		obj = nil
	}
	return obj, err
}

// isLasting reports whether a trial failed for a lasting reason: a missing permission, an exceeded quota, a policy or webhook that
// denies it or doesn't support dry runs, an invalid object, or an object of the name of the trial.
func isLasting(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsAlreadyExists(err) ||
		apistatus.IsDenied(err)
}

// fit makes a refused apply acceptable: it removes the obstructing fields that aren't desired. If that is impossible, it returns the
// error of the last attempt, or the given one. It keeps what it learned about a new object.
func (w *Write) fit(ctx context.Context, c *Cluster, refused error) (client.Object, *refit, error) {
	var tried trial
	var fresh client.Object
	if w.isDesiredChanged() {
		tried = w.try(ctx, c)
		// A trial that is barred by an exceeded quota, a missing permission, a policy or a webhook says nothing about the object.
		if isBarred := isLasting(tried.err) && !apistatus.IsRefused(tried.err); tried.err != nil && !isBarred {
			return nil, &refit{trial: tried}, refused
		}
		if tried.err == nil {
			fresh = tried.object
		}
	}
	r, err := w.newRefit(c, fresh, true)
	if err != nil {
		return nil, nil, err
	}
	r.trial = tried
	obj, err := w.sendAmended(ctx, c, r)
	switch {
	case isObstructed(err) && apistatus.AreAboutTypes(apistatus.Causes(refused)):
		return nil, r, err // the apply's refusal hides the rules of the schema
	case isObstructed(err):
		return nil, r, refused
	case err != nil:
		return nil, r, err
	}
	w.fitted(c, r, obj)
	// The defaults that the API server has added to the patch are the builder's as well.
	managed, err := c.fieldManager(w.Desired).Managed(w.Observed.GetManagedFields())
	if err != nil {
		return nil, r, err
	}
	w.Desired.released = w.Desired.released.Union(r.objects.Undesired(managed.Ours))
	if !c.DryRun { // a dry run stores nothing that an apply could use
		obj, err = w.patch(ctx, c)
	}
	return obj, r, err
}

// isObstructed reports whether the API server refused a change for which removing undesired fields may be the remedy.
func isObstructed(err error) bool { return apistatus.MayObstruct(err) && !apistatus.IsReplaced(err) }

// sendAmended sends a refit, and amends it at the faults that the API server names, until it is accepted or can't be amended any more.
func (w *Write) sendAmended(ctx context.Context, c *Cluster, r *refit) (client.Object, error) {
	fewest := math.MaxInt
	for left := maxRefits; ; left-- {
		obj, err := w.sendRefit(ctx, c, r)
		if !isObstructed(err) {
			return obj, err
		}
		causes := apistatus.Causes(err)
		if len(causes) < fewest {
			fewest, left = len(causes), left+1
		}
		if left <= 1 || !r.amend(causes) {
			return nil, err
		}
	}
}

// areIgnoredInTheWay reports whether the API server would make a refused change if it could remove the fields that the child ignores. Then
// these are in the way, and no field is immutable. It costs dry runs.
func (w *Write) areIgnoredInTheWay(ctx context.Context, c *Cluster, fresh client.Object) (bool, error) {
	without, desired, dry := *w, *w.Desired, *c
	desired.ignored, without.Desired, dry.DryRun = nil, &desired, true
	r, err := without.newRefit(&dry, fresh, true)
	if err != nil {
		return false, err
	}
	if len(delta.JSONPatch(r.objects.Live, r.amended.Object)) == 0 {
		return false, nil // there is nothing to remove
	}
	_, err = without.sendAmended(ctx, &dry, r)
	if isObstructed(err) {
		return false, nil
	}
	return err == nil, err
}

// amend removes the fields that the API server's causes name.
func (r *refit) amend(causes []metav1.StatusCause) bool {
	var faults []string
	for _, cause := range causes {
		faults = append(faults, cause.Field)
	}
	if r.amended.Direct(faults) {
		return true
	}
	for _, cause := range causes {
		if r.amended.Widen(cause.Field, cause.Message) {
			return true
		}
	}
	return false
}

// sendRefit sends the change of a refit, for this version of the object.
func (w *Write) sendRefit(ctx context.Context, c *Cluster, r *refit) (client.Object, error) {
	ops := delta.JSONPatch(r.objects.Live, r.amended.Object)
	if len(ops) == 0 {
		return w.Observed, nil
	}
	if w.isDesiredChanged() && !c.DryRun {
		object := runtime.DeepCopyJSON(r.amended.Object)
		if err := unstructured.SetNestedField(object, notApplied, "metadata", "annotations", wellknown.AnnotationDigest); err != nil {
			return nil, err
		}
		ops = delta.JSONPatch(r.objects.Live, object)
	}
	version := delta.Operation{Op: "replace", Path: "/metadata/resourceVersion", Value: w.Observed.GetResourceVersion()}
	body, err := json.Marshal(append(ops, version))
	if err != nil {
		return nil, err
	}
	obj := w.Observed.DeepCopyObject().(client.Object) // the reply is decoded into it
	opts := []client.PatchOption{client.FieldOwner(c.Name)}
	if c.DryRun {
		opts = append(opts, client.DryRunAll, client.DisableReadYourWritesConsistency) // no cache shows it
	}
	return obj, c.Client.Patch(ctx, obj, client.RawPatch(types.JSONPatchType, body), opts...)
}

// notApplied replaces the digest of an object that a refit has changed and that isn't applied yet. After a crash in between, neither
// the former nor the present desired state counts as applied.
const notApplied = "not-applied"

// fitted records the result of a refit: the observed object has a new version.
func (w *Write) fitted(c *Cluster, r *refit, obj client.Object) {
	w.Corrected = append(w.Corrected, c.fieldManager(w.Desired).Removals(w.Observed.GetManagedFields(), r.amended.Removed)...)
	if len(r.amended.Kept) > 0 {
		left := FieldsLeft{}
		for _, path := range r.amended.Kept {
			left.Fields = append(left.Fields, paths.Text(path))
		}
		w.FieldsLeft = append(w.FieldsLeft, left)
	}
	w.Desired.released = r.amended.Released
	w.refitted = w.refitted || obj != w.Observed
	if !c.DryRun {
		w.Observed = obj
	}
}
