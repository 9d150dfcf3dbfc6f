package builder

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/edit"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/events"
)

// Edit changes an existing child, such as a Job's spec.suspend or a StatefulSet's replicas:
//
//	after := job.DeepCopy()
//	after.Spec.Suspend = ptr.To(true)
//	plan.Edits = append(plan.Edits, builder.Edit{Before: job, After: after})
//	plan.Edits = append(plan.Edits, builder.Edit{Before: set, Replicas: ptr.To[int32](3)})
//
// The builder sends the difference as one merge patch (lists as a whole) with the observed resource version. If the object has changed
// since, the patch fails with a conflict, and the next pass observes the change. If the object is deleted, the builder does nothing.
// Without a difference it makes no request. Don't edit a field that Children apply: the next pass would restore it.
type Edit struct {
	// Before is a child from the view. An object that the owner doesn't control is [ErrNotOwned], unless [Edit].Foreign is set.
	Before client.Object
	// After is a changed copy of Before. A difference in its status or its identity (name, namespace, UID, version) is [ErrMisuse].
	After client.Object
	// Replicas sets the number of replicas through the subresource scale, instead of After. The kind is Deployment, StatefulSet, or a
	// custom resource with that subresource. As with a HorizontalPodAutoscaler, other managers of the object keep managing it.
	Replicas *int32
	// Foreign allows an object that isn't a child, such as a PersistentVolumeClaim that a child's StatefulSet made, to be enlarged, or
	// another owner's StatefulSet, to be scaled. The plan must ensure that the owner's author may change the object. Default: false, only
	// children.
	Foreign bool
}

// editGiven makes the edits of a plan. If one of them is wrong, it makes none.
func (p *pass) editGiven(ctx context.Context, given []Edit) error {
	var edits []edit.Edit
	for _, g := range given {
		e, err := p.check(g)
		if err != nil {
			return err
		}
		if e.Differs() {
			edits = append(edits, e)
		}
	}
	stored, err := edit.SendAll(ctx, p.engine.client, p.engine.kinds, p.engine.name, p.engine.parallelism, edits)
	for i, e := range edits {
		if stored[i] == nil {
			continue
		}
		if e.Scales {
			p.observed.Wrote(e.Kind, e.Key)
			if p.engine.dry { // only the result of a dry run has it: in others the scaled object shows the change
				was, is := e.ReplicasChange()
				fields := []FieldDiff{{Path: "spec.replicas", Old: was, New: is}}
				p.result.Changes = append(p.result.Changes, Change{Key: e.Key, Reason: events.ReasonUpdated, Fields: fields})
			}
			continue
		}
		p.changed(events.ReasonUpdated, e.Kind, e.Key, stored[i])
		if p.observed.ByKey[e.Key] != nil {
			p.observed.ByKey[e.Key] = stored[i] // pruning deletes the stored version
		}
	}
	return err
}

// check checks an edit. An object that the owner must not edit is an error.
func (p *pass) check(g Edit) (edit.Edit, error) {
	k, err := p.engine.kinds.Of(g.Before)
	if err != nil {
		return edit.Edit{}, err
	}
	e, err := edit.New(k, g.Before, g.After, g.Replicas)
	switch {
	case err != nil || g.Foreign:
		return e, err
	case !p.observed.Owns(g.Before):
		return e, failure.NotOwned("edit", e.Key, g.Before)
	case p.observed.ByKey[e.Key] == nil:
		return e, fmt.Errorf("%w: %s to be edited isn't in the view; take it from there", ErrMisuse, e.Key)
	default:
		return e, nil
	}
}
