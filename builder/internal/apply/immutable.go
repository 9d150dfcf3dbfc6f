package apply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/immutable"
	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/text"
)

// meetInvalid handles a change that the API server refuses as invalid after all other attempts. The change is one of an immutable
// field only if the builder itself changes the refused field, if the API server would accept a new object, and if no ignored field is in
// the way. r is the refit that the API server has refused as well.
func (w *Write) meetInvalid(ctx context.Context, c *Cluster, refused error, r *refit) error {
	d, recreate := w.Desired, w.Desired.recreates()
	// Keep leaves an immutable field as it is, whichever writer has changed it.
	keeps := d.keepsImmutable() && immutable.MayBe(apistatus.Causes(refused))
	if drift := w.driftBehind(refused, r); drift != nil && !keeps {
		return w.failed("apply", drift)
	}
	tried := r.trial
	if !tried.made {
		tried = w.try(ctx, c)
	}
	err := tried.err
	if err == nil && len(d.ignored) > 0 {
		obstructed, err := w.areIgnoredInTheWay(ctx, c, tried.object)
		if obstructed {
			err = fmt.Errorf("a field that the child ignores is in the way (%s): %w", strings.Join(d.Child.Options.Ignored, ", "), refused)
		}
		if err != nil {
			return w.failed("apply", err)
		}
	}
	switch {
	case err == nil && keeps:
		w.Action, w.KeptImmutable = None, true
		c.rememberImmutable(w.Observed, d)
		return nil
	case err == nil && recreate != nil:
		return w.deleteToRecreate(ctx, c, cmp.Or(recreate.Dependents, metav1.DeletePropagationBackground))
	case err == nil:
		return w.immutableError(refused, r)
	case recreate == nil && !keeps && isLasting(err), failure.IsTerminal(err):
		return w.failed("apply", refused)
	default: // a later pass may find out
		return w.failed("apply", fmt.Errorf("whether it could be recreated isn't known, as a trial failed: %w (the change was refused: %s)",
			err, text.Shorten(refused.Error(), text.MaxSummary/8)))
	}
}

// trial is the new object of a desired one as the API server would store it, or the error with which it refuses it.
type trial struct {
	made   bool
	object client.Object
	err    error
}

// try creates the desired object under another name, in a dry run.
func (w *Write) try(ctx context.Context, c *Cluster) trial {
	obj := w.Desired.object.DeepCopyObject().(client.Object)
	obj.SetName(immutable.TrialName(w.Desired.Key.Name, w.Desired.Digest))
	obj, err := immutable.WithoutHeld(obj, w.Observed)
	if err == nil {
		err = c.Client.Create(ctx, obj, &client.CreateOptions{
			DryRun: []string{metav1.DryRunAll}, FieldManager: c.Name,
			DisableReadYourWritesConsistency: true, // a dry run writes nothing that a cache could show
		})
	}
	return trial{made: true, object: obj, err: err}
}

// deleteToRecreate deletes the object in its observed version. When it is gone, a later pass creates the new one.
func (w *Write) deleteToRecreate(ctx context.Context, c *Cluster, dependents metav1.DeletionPropagation) error {
	obj := w.Observed.DeepCopyObject().(client.Object) // the client may write to it
	w.Action = Wait
	err := c.Client.Delete(ctx, obj,
		client.Preconditions{UID: new(w.Observed.GetUID()), ResourceVersion: new(w.Observed.GetResourceVersion())},
		client.PropagationPolicy(dependents))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return &failure.Error{Key: w.Desired.Key, Operation: "delete", Err: err, Object: w.Observed}
	}
	w.Operation, w.Stored = events.ReasonRecreating, w.Observed
	return nil
}

// immutableError returns the error that names the immutable fields and the accepted values.
func (w *Write) immutableError(refused error, r *refit) error {
	var texts, fields []string
	for _, diff := range immutable.Differences(apistatus.Causes(refused), r.objects, r.merged.Differences, isSecret(w.Desired.Key)) {
		texts, fields = append(texts, diff.String()), append(fields, diff.Path)
	}
	about := &failure.Error{Key: w.Desired.Key, Operation: "apply", Object: w.Desired.object, Fields: fields}
	about.Err = fmt.Errorf("%w: %s; desire it as it is, or choose builder.RecreateImmutable or KeepImmutable: %w",
		failure.ErrImmutable, strings.Join(texts, ", "), refused)
	return about
}

// driftBehind returns the error about a refused change that another writer has made necessary, and nil if only the builder changes the
// refused fields. A change by another writer that nobody can revert, such as an enlarged claim, must never cause a deletion, whatever
// RecreateImmutable says.
func (w *Write) driftBehind(refused error, r *refit) error {
	if len(r.objects.Live) == 0 {
		return nil
	}
	differences := slices.Clone(r.merged.Differences)
	for i := range differences {
		differences[i].Theirs = differences[i].Theirs || w.isDriftAt(differences[i].Path, r.objects)
	}
	theirs, isOurs := immutable.ByOthers(apistatus.Causes(refused), r.objects, differences, w.isDesiredChanged())
	if isOurs {
		return nil
	}
	var texts []string
	for _, path := range theirs {
		text := paths.Text(path)
		if entry := fieldmanager.Setter(w.Observed.GetManagedFields(), path, ""); entry != nil {
			text += fmt.Sprintf(" (by the field manager %q)", entry.Manager)
		}
		texts = append(texts, text)
	}
	switch {
	case len(texts) == 0 && w.isDesiredChanged():
		theirs := "fields of other writers"
		if len(w.Desired.ignored) > 0 {
			theirs += fmt.Sprintf(" or ignored ones (%s)", strings.Join(w.Desired.Child.Options.Ignored, ", "))
		}
		return fmt.Errorf("%s are in the way, and nothing is deleted for it: %w", theirs, refused)
	case len(texts) == 0:
		texts = append(texts, "the object")
	}
	return fmt.Errorf("%s changed since the last apply, and the API server refuses to change it back; nothing is deleted for it: %w",
		strings.Join(texts, ", "), refused)
}
