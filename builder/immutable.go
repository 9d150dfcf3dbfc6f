package builder

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/immutable"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/events"
)

// ImmutablePolicy says what to do about an object that can't be changed into the desired one: another template of a Job, another selector
// of a Deployment, other volumeClaimTemplates of a StatefulSet. It is [Keep] or [Recreate]; nil is the default: the object stays as it is,
// with the error [ErrImmutable], which is terminal.
type ImmutablePolicy interface{ applyTo(*keeping) }

// Keep leaves the object as it is, all of it, until something else is desired. The builder emits one event and makes no further request.
// After a restart of the process it makes two more requests, and emits the event again.
type Keep struct{}

func (Keep) applyTo(how *keeping) { how.KeepImmutable = true }

// Recreate deletes the object, in the very state that was observed, and creates a new one as soon as it is gone; until then it is among
// [Result.Waiting]. What it contains (a volume's data) is lost. This needs the permission to delete, and a quota with room for a trial,
// which is never stored.
type Recreate struct {
	// Dependents says what becomes of the object's dependents: the pods of a StatefulSet, the ReplicaSets of a Deployment.
	// DeletePropagationOrphan leaves them running, and a new object of the same selector adopts them. DeletePropagationForeground
	// deletes them first: the new object is created once all of them are gone. Default: DeletePropagationBackground, which deletes
	// them afterwards: the old and the new ones exist side by side for a while. Any other value is ErrMisuse.
	Dependents metav1.DeletionPropagation
}

func (r Recreate) applyTo(how *keeping) { how.Recreate = &r }

// OnImmutable says what to do when the API server won't change an existing child into the desired one.
//
// That the API server calls a change invalid is no proof: the desired object may be invalid altogether. So a dry run creates the desired
// object under another name (of a Service, without the addresses and node ports that the existing one holds). Only if that is accepted is
// the change one of an immutable field, and is the policy followed; else the error is reported as it is, and nothing is ever deleted. A
// dry run can't see whether another Service has a fixed cluster IP: one that is recreated with it isn't created until it is free.
//
// Which fields are immutable is up to the API server: see "kubectl explain" and, for custom resources, rules such as
// self == oldSelf.
func OnImmutable(policy ImmutablePolicy) ChildOption { return onImmutable{policy} }

type onImmutable struct{ policy ImmutablePolicy }

func (o onImmutable) applyToChild(c *Child) {
	how := c.change()
	how.KeepImmutable, how.Recreate = false, nil
	if o.policy != nil {
		o.policy.applyTo(how)
	}
}

// ErrImmutable is the cause of an Error about a child that exists and can't be changed into the desired one, which the API server would
// accept as a new object. See OnImmutable.
var ErrImmutable = failure.ErrImmutable

// keepsImmutable reports whether a child that can't be changed stays as it is.
func (d *desired) keepsImmutable() bool { return d.child.how != nil && d.child.how.KeepImmutable }

// recreates returns how a child that can't be changed is recreated, nil if it isn't.
func (d *desired) recreates() *Recreate {
	if d.child.how == nil {
		return nil
	}
	return d.child.how.Recreate
}

// checkPolicy refuses a policy that isn't one.
func (d *desired) checkPolicy() error {
	recreate := d.recreates()
	if recreate == nil {
		return nil
	}
	switch recreate.Dependents {
	case "", metav1.DeletePropagationOrphan, metav1.DeletePropagationForeground, metav1.DeletePropagationBackground:
		return nil
	default:
		return fmt.Errorf("%w: OnImmutable(Recreate{Dependents: %q}) of %s; want Orphan, Foreground or Background",
			ErrMisuse, recreate.Dependents, d.key)
	}
}

// meetInvalid deals with a change that was refused as invalid, whatever was tried. It is one of an immutable field only if
// the builder itself changes what the API server refuses to change, and if a new object would be accepted.
func (w *write) meetInvalid(ctx context.Context, p *pass, refused error, r *refit) error {
	d, recreate := w.desired, w.desired.recreates()
	// Keep leaves all of it as it is, whoever has changed it.
	if drift := w.driftBehind(refused, r); drift != nil && !d.keepsImmutable() {
		return &Error{Key: d.key, Operation: "apply", Err: drift, object: d.object}
	}
	var tried trial
	if r != nil {
		tried = r.trial
	}
	if !tried.made {
		tried = w.try(ctx, p)
	}
	err := tried.err
	switch {
	case err == nil && d.keepsImmutable():
		w.action, w.kept = actionNone, true
		p.engine.rememberImmutable(w.observed, d)
		return nil
	case err == nil && recreate != nil:
		return w.deleteToRecreate(ctx, p, cmp.Or(recreate.Dependents, metav1.DeletePropagationBackground))
	case err == nil:
		return w.immutableError(refused)
	case recreate == nil && !d.keepsImmutable() && isLasting(err), failure.IsTerminal(err):
		return &Error{Key: d.key, Operation: "apply", Err: refused, object: d.object}
	default: // it may be known another time
		err = fmt.Errorf("whether it could be recreated isn't known, as a trial failed: %w (the change was refused: %s)",
			err, text.Shorten(refused.Error(), text.MaxSummary/8))
		return &Error{Key: d.key, Operation: "apply", Err: err, object: d.object}
	}
}

// trial is a new object of what is desired as the API server would make it, or why it wouldn't.
type trial struct {
	made   bool
	object client.Object
	err    error
}

// isBarred reports whether a trial says nothing about the object, and won't before something else is changed: the quota is full, a
// permission is missing, a policy or webhook denies it.
func (t trial) isBarred() bool {
	return isLasting(t.err) && !apistatus.IsRefused(t.err)
}

// try creates what is desired under a name of its own, in a dry run.
func (w *write) try(ctx context.Context, p *pass) trial {
	obj := w.desired.object.DeepCopyObject().(client.Object)
	obj.SetName(immutable.TrialName(w.desired.key.Name, w.desired.digest))
	obj, err := immutable.WithoutHeld(obj, w.observed)
	if err == nil {
		err = p.engine.client.Create(ctx, obj, &client.CreateOptions{
			DryRun: []string{metav1.DryRunAll}, FieldManager: p.engine.name,
			DisableReadYourWritesConsistency: true, // nothing is written that a cache could show
		})
	}
	return trial{made: true, object: obj, err: err}
}

// deleteToRecreate deletes the object in the state that it was seen in. Once it is gone, a pass makes the new one.
func (w *write) deleteToRecreate(ctx context.Context, p *pass, dependents metav1.DeletionPropagation) error {
	seen := w.observed.DeepCopyObject().(client.Object) // the client may write to it
	w.action = actionWait
	err := p.engine.client.Delete(ctx, seen,
		client.Preconditions{UID: ptr.To(w.observed.GetUID()), ResourceVersion: ptr.To(w.observed.GetResourceVersion())},
		client.PropagationPolicy(dependents))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return &Error{Key: w.desired.key, Operation: "delete", Err: err, object: w.observed}
	}
	w.operation, w.stored = events.ReasonRecreating, w.observed
	return nil
}

// immutableError says what can't be changed, and what would be accepted.
func (w *write) immutableError(refused error) *Error {
	diffs := w.refusedDifferences(refused)
	var texts, fields []string
	for _, diff := range diffs {
		texts, fields = append(texts, diff.String()), append(fields, diff.Path)
	}
	about := &Error{Key: w.desired.key, Operation: "apply", object: w.desired.object, fields: fields}
	about.Err = fmt.Errorf("%w: %s; desire it as it is, or say what to do by builder.OnImmutable: %w",
		ErrImmutable, strings.Join(texts, ", "), refused)
	return about
}

// refusedDifferences returns the fields that the API server refuses to change.
func (w *write) refusedDifferences(refused error) []immutable.Difference {
	found, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.observed)
	if err != nil {
		found = nil
	}
	return immutable.Differences(apistatus.Causes(refused), w.desired.fields, found, isSecret(w.desired.key))
}

// driftBehind returns the error about a refused change if others have made it necessary, and nil if only the builder itself changes what
// the API server refuses to change. What others have changed, and lets no one change back, such as a claim that was enlarged, is no reason
// to delete anything, whatever [OnImmutable] says.
func (w *write) driftBehind(refused error, r *refit) error {
	if r == nil || len(r.objects.Live) == 0 {
		return nil
	}
	theirs, isOurs := immutable.ByOthers(apistatus.Causes(refused), r.objects, r.merged.Differences, w.isDesiredChanged())
	if isOurs {
		return nil
	}
	var texts []string
	for _, path := range theirs {
		text := strings.TrimPrefix(path.String(), ".")
		if entry := fieldmanager.Setter(w.observed.GetManagedFields(), path, ""); entry != nil {
			text += fmt.Sprintf(" (by the field manager %q)", entry.Manager)
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		texts = append(texts, "the object")
	}
	return fmt.Errorf("%s changed since the last apply, and the API server refuses to change it back; nothing is deleted for it: %w",
		strings.Join(texts, ", "), refused)
}
