package builder

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/declared"
	"github.com/armature-dev/armature/builder/internal/kinds"
)

// declaration returns the operator's description for package rbac, which derives the operator's role from it.
func (o *Operator[T]) declaration() declared.Operator {
	d := declared.Operator{Name: o.name, Owner: newOwner[T](), Plan: o.planned, Undo: o.former != nil, Effects: o.performers() != nil}
	for _, owned := range o.owned {
		d.Owns = append(d.Owns, declared.Owned{
			Kind: owned.like, CrossNamespace: owned.crossNamespace, ByName: owned.names != nil, Dependents: owned.dependents,
		})
	}
	for _, w := range o.watches {
		d.Watches = append(d.Watches, w.like)
	}
	return d
}

// planned calls the plan for an owner without children.
func (o *Operator[T]) planned(owner client.Object) (declared.Plan, error) {
	got, err := o.planFor(owner, View{Now: o.engine.now()})
	if err != nil {
		return declared.Plan{}, fmt.Errorf("%T %s: %w", owner, client.ObjectKeyFromObject(owner), err)
	}
	plan := got.(Plan[T])
	_, conditioned := owner.(Conditioned)
	d := declared.Plan{
		Prune: plan.Prune, PruneAll: plan.PruneAll, DeleteOwner: plan.DeleteOwner, Phases: len(plan.Rollout.Phases) > 0,
		Reports: conditioned || !kinds.IsNil(plan.Status),
	}
	for _, c := range plan.Children {
		options := c.desired.Options
		d.Children = append(d.Children, declared.Child{
			Object:     c.desired.Object,
			CreateOnly: (c.desired.CreateOnly || c.run != nil) && (options == nil || !options.AdoptOrphan),
			Recreate:   options != nil && options.Recreate != nil,
		})
	}
	return d, nil
}
