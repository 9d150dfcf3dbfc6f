package builder

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/effect"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/prune"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// External effects: see package effects. The journal of an effect is a child, which a pass creates, changes and prunes like others. After
// that, performEffects takes the next step of each effect whose journal was observed in its present version. A pass of an operator without
// a performer calls nothing of this file.

var controllerRevisions = kinds.Kind{GVK: appsv1.SchemeGroupVersion.WithKind("ControllerRevision")}

func init() {
	effect.Option = func(d *effect.Desired) any { return asEffect(d) }
	effect.OwnsOption = func(p effect.Performer) any {
		return ownsOption(func(o *owns) { o.performers = append(o.performers, p) })
	}
}

// asEffect marks a child as the journal of an effect. The child is ready when the effect is done.
func asEffect(d *effect.Desired) ChildOption {
	return childOption(func(c *Child) {
		c.effect = d
		c.desired.ReadyWhen = func(obj client.Object) readiness.Status {
			j := effect.Read(obj)
			return readiness.Status{Ready: j.IsDone(), Message: j.Pending()}
		}
	})
}

// checkPerformers returns the errors of a kind that is declared with performers.
func (o *owns) checkPerformers() error {
	var errs []error
	if _, journals := o.like.(*appsv1.ControllerRevision); !journals || o.crossNamespace || len(o.names) > 0 {
		errs = append(errs, fmt.Errorf("%w: PerformedBy is an option of Owns(&appsv1.ControllerRevision{}) without ByName and CrossNamespace, "+
			"not of %T", ErrMisuse, o.like))
	}
	return errors.Join(append(errs, effect.CheckPerformers(o.performers))...)
}

// performers returns the performers that the operator declares; nil for none.
func (o *Operator[T]) performers() *effect.Performers {
	var all []effect.Performer
	for _, owned := range o.owned {
		all = append(all, owned.performers...)
	}
	return effect.NewPerformers(all)
}

// checkEffect returns the error of a child that is an effect. performers are those of the operator; nil: none.
func (c Child) checkEffect(performers *effect.Performers) error {
	hasOption := c.desired.Options != nil || c.desired.CreateOnly || c.desired.CrossNamespace || c.run != nil
	return c.effect.Check(performers, c.desired.Object.GetNamespace(), hasOption)
}

// guardEffects adds the finalizer to an owner that has an effect. The API server refuses it on a terminating owner, which needs none.
func (p *pass) guardEffects(ctx context.Context) error {
	desires := slices.ContainsFunc(p.children, func(c Child) bool { return c.effect != nil })
	if !desires || p.pruner.Inventory.Has(wellknown.FinalizerEffects) || p.engine.dry || p.owner.GetDeletionTimestamp() != nil {
		return nil
	}
	return p.pruner.WriteFinalizers(ctx, p.pruner.Inventory.FinalizersWith(wellknown.FinalizerEffects))
}

// deleteUndesiredEffects deletes the journals of effects that aren't desired. Their finalizer keeps them until the effects are undone.
func (p *pass) deleteUndesiredEffects(ctx context.Context) error {
	var stale []store.Key
	for key, obj := range p.observed.ByKey {
		if effect.Is(obj) && obj.GetDeletionTimestamp() == nil && metav1.IsControlledBy(obj, p.owner) && !p.cluster.DesiredKeys.Has(key) {
			stale = append(stale, key)
		}
	}
	slices.SortFunc(stale, store.Compare)
	return p.deleted(p.pruner.DeleteChildren(ctx, stale))
}

// performEffects takes the next step of each effect.
func (p *pass) performEffects(ctx context.Context) error {
	isTerminating := p.owner.GetDeletionTimestamp() != nil
	if isTerminating {
		p.children = nil // nothing is desired
	}
	if isTerminating || p.pruned {
		if err := p.deleteUndesiredEffects(ctx); err != nil {
			return err
		}
	}
	steps, err := p.effectSteps()
	if err != nil {
		return err
	}
	again, err := p.effectsHost().Perform(ctx, steps)
	if err != nil {
		return err
	}
	if again > 0 {
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, max(again, conflictDelay))
	}
	p.reportEffects(steps)
	if !effect.AllUndone(steps) {
		return nil
	}
	return p.unguardEffects(ctx)
}

// effectSteps returns the steps of the plan's effects, and of those with a journal. During a rollback an effect that only the failed
// revision has isn't desired.
func (p *pass) effectSteps() ([]effect.Step, error) {
	desired := map[store.Key]*effect.Desired{}
	for i := range p.children {
		c := &p.children[i]
		if c.effect == nil {
			continue
		}
		_, key, err := p.cluster.KeyOf(&c.desired)
		if err != nil {
			return nil, err
		}
		if p.rollsBack && !p.cluster.DesiredKeys.Has(key) {
			continue
		}
		desired[key] = c.effect
	}
	written := make([]effect.Written, len(p.result.Changes))
	for i, change := range p.result.Changes {
		written[i].Key = change.Key
		if change.Reason == events.ReasonDeleted {
			written[i].Deleted = change.object
		}
	}
	return effect.Steps(desired, p.observed.ByKey, written), nil
}

// effectsHost returns the engine's part that package effect uses.
func (p *pass) effectsHost() *effect.Host {
	return &effect.Host{
		Controller: p.engine.name, Client: p.engine.client, Owner: p.owner, Performers: p.effects, DryRun: p.engine.dry, Now: p.engine.now,
		Emit:  func(ev events.Event) { p.engine.emit(p.owner, ev) },
		Wrote: func(journal store.Key) { p.observed.Wrote(controllerRevisions, journal) },
	}
}

// reportEffects adds the effects that aren't done to the pending children, in place of the readiness of their journals.
func (p *pass) reportEffects(steps []effect.Step) {
	ofEffect := map[store.Key]bool{}
	for i := range steps {
		ofEffect[steps[i].Key] = true
	}
	p.result.Pending = slices.DeleteFunc(p.result.Pending, func(s ChildStatus) bool {
		return ofEffect[s.Key] && s.Phase == "" && s.Reason == events.ReasonChildrenNotReady
	})
	for _, s := range steps {
		if s.Pending == "" {
			continue
		}
		reason := events.ReasonEffectPending
		if s.Failed {
			reason = events.ReasonEffectFailed
		}
		p.pend(ChildStatus{Key: s.Key, Reason: reason, Message: s.Pending})
	}
}

// unguardEffects removes the finalizer from an owner that has no effect any more, also none that a rollback has kept. It looks for
// journals past the cache, which may not show those of an earlier process yet.
func (p *pass) unguardEffects(ctx context.Context) error {
	isEnd := p.owner.GetDeletionTimestamp() != nil || p.pruned
	if !isEnd || !p.pruner.Inventory.Has(wellknown.FinalizerEffects) || p.engine.dry {
		return nil
	}
	for _, obj := range p.observed.ByKey {
		if effect.Is(obj) && obj.GetDeletionTimestamp() == nil && metav1.IsControlledBy(obj, p.owner) {
			return nil
		}
	}
	found, err := prune.ListMetadata(ctx, p.engine.client, p.engine.live, controllerRevisions.GVK.GroupKind(),
		client.InNamespace(p.owner.GetNamespace()))
	if err != nil {
		return fmt.Errorf("look for journals of the effects of %s: %w", p.ownerKey, err)
	}
	for i := range found {
		if metav1.IsControlledBy(&found[i], p.owner) && effect.IsMarked(&found[i]) {
			p.result.RequeueAfter = sooner(p.result.RequeueAfter, conflictDelay)
			return nil
		}
	}
	err = p.pruner.WriteFinalizers(ctx, p.pruner.Inventory.FinalizersWithout(wellknown.FinalizerEffects))
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
