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
	"github.com/armature-dev/armature/builder/internal/immutable"
	"github.com/armature-dev/armature/builder/internal/merge"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/internal/wellknown"
)

// A server-side apply changes what it names. What others own, or no one, stays, and what the API server derived from a
// field that has changed stays too. So an apply can be refused for what is left, or leave what a new object wouldn't have:
// the rollingUpdate of a strategy that is Recreate now, the policyTypes of a NetworkPolicy that had no egress rules, the
// port that someone made of ours. Then one JSON patch goes before the apply. It makes the change and removes what is in the
// way, in one step that the API server accepts or refuses as a whole. It says which version of the object it is for. For another
// desired state it takes the digest away: after a crash the apply is still to be made, whatever is desired then.

// maxRefits bounds the patches in one pass that are tried and lessen no faults: twenty ports that were renumbered are twenty faults, of
// which each patch removes one. Each one is refused by the API server without a trace.
const maxRefits = 12

// refit is a change of an object beyond what an apply can say.
type refit struct {
	objects merge.Objects
	merged  merge.Result
	amended *merge.Amended
	trial   trial
}

// newRefit compares the desired object with the observed one, and with a new object if one is given. With release, what the API
// server chose at the creation stays, since it could not be removed.
func (w *Write) newRefit(c *Cluster, fresh client.Object, release bool) (*refit, error) {
	live, err := payload.Stored(w.Observed)
	if err != nil {
		return nil, err
	}
	shares, err := c.fieldManager(w.Desired).Shares(w.Observed.GetManagedFields())
	if err != nil {
		return nil, err
	}
	o := merge.Objects{
		Live: live, Desired: w.withoutDigest(), Ignored: w.Desired.ignored, Ours: shares.Ours, Others: shares.Others,
		Drift: !w.isDesiredChanged() && !w.adopts, Release: release,
		// How many replicas there are is an autoscaler's or a person's affair, even if no one owns it.
		Fixed: fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas")).Union(shares.Subresources),
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

// withoutDigest returns the desired object as it is compared with the observed one: without what only an apply says.
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

// refresh makes values that the API server derived follow what they were derived from, before a change is applied. It
// costs a dry run, and is done only if a field came or went, or one of several alternatives was chosen, in an object that
// has values of no manager.
//
// In a dry run it returns what the API server made of it: that leaves no trace that an apply could build on.
func (w *Write) refresh(ctx context.Context, c *Cluster) (client.Object, error) {
	if !w.isDesiredChanged() || w.adopts || !c.fieldManager(w.Desired).HasApplied(w.Observed.GetManagedFields()) {
		return nil, nil // nothing has changed, or whatever the API server chose is ours still, and goes with the apply
	}
	r, err := w.newRefit(c, nil, false)
	if err != nil || !r.merged.MayDerive {
		return nil, err
	}
	tried := w.try(ctx, c)
	if isLasting(tried.err) {
		w.Untried = tried.err // the apply will say what is wrong, if it is wrong; a full quota is no reason not to apply
		return nil, nil
	}
	if tried.err != nil {
		return nil, tried.err // after an apply no one would look again
	}
	if r, err = w.newRefit(c, tried.object, false); err != nil || !r.merged.Stale {
		return nil, err
	}
	obj, err := w.sendRefit(ctx, c, r)
	if apistatus.IsRefused(err) {
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

// isLasting reports whether a trial failed for a reason that doesn't pass by itself: a missing permission, a full quota, a
// policy or webhook that denies it or doesn't support dry runs, or an object that is invalid.
func isLasting(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsAlreadyExists(err) ||
		apistatus.IsDenied(err)
}

// fit makes an apply acceptable that was refused as invalid. What is in the way, and isn't desired, goes. It returns the
// error of the last try if there is no way, or the given one; what was found out about a new object is kept.
func (w *Write) fit(ctx context.Context, c *Cluster, refused error) (client.Object, *refit, error) {
	var tried trial
	var fresh client.Object
	if w.isDesiredChanged() {
		if tried = w.try(ctx, c); tried.err != nil && !tried.isBarred() {
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
	fewest := math.MaxInt
	for left := maxRefits; left > 0; left-- {
		obj, err := w.sendRefit(ctx, c, r)
		if err == nil {
			w.fitted(c, r, obj)
			if c.DryRun {
				return obj, r, nil // a dry run leaves no trace that an apply could build on
			}
			obj, err = w.patch(ctx, c)
			return obj, r, err
		}
		if !apistatus.IsRefused(err) || apistatus.IsReplaced(err) {
			return nil, r, err
		}
		causes := apistatus.Causes(err)
		if len(causes) < fewest {
			fewest, left = len(causes), left+1
		}
		if !r.amend(causes) {
			break
		}
	}
	return nil, r, refused
}

// amend removes what is in the way by what the API server says.
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

// sendRefit sends the change of a refit, to this version of the object.
func (w *Write) sendRefit(ctx context.Context, c *Cluster, r *refit) (client.Object, error) {
	ops := merge.Patch(r.objects.Live, r.amended.Object)
	if len(ops) == 0 {
		return w.Observed, nil
	}
	if w.isDesiredChanged() && !c.DryRun {
		object, err := withoutApply(r.amended.Object)
		if err != nil {
			return nil, err
		}
		ops = merge.Patch(r.objects.Live, object)
	}
	version := merge.Operation{Op: "replace", Path: "/metadata/resourceVersion", Value: w.Observed.GetResourceVersion()}
	body, err := json.Marshal(append(ops, version))
	if err != nil {
		return nil, err
	}
	obj := w.Observed.DeepCopyObject().(client.Object) // the reply is decoded into it
	return obj, c.Client.Patch(ctx, obj, client.RawPatch(types.JSONPatchType, body), client.FieldOwner(c.Name))
}

// notApplied stands for the digest of an object that was changed by a refit and not applied yet, so that neither what was
// desired before nor what is desired now counts as applied, should the process die in between.
const notApplied = "not-applied"

func withoutApply(object map[string]any) (map[string]any, error) {
	object = runtime.DeepCopyJSON(object)
	return object, unstructured.SetNestedField(object, notApplied, "metadata", "annotations", wellknown.AnnotationDigest)
}

// fitted notes what a refit did: the observed object is another version now.
func (w *Write) fitted(c *Cluster, r *refit, obj client.Object) {
	w.Corrected = append(w.Corrected, c.fieldManager(w.Desired).Removals(w.Observed.GetManagedFields(), r.amended.Removed)...)
	w.Desired.released = r.amended.Released
	w.refitted = w.refitted || obj != w.Observed
	if !c.DryRun {
		w.Observed = obj
	}
}
