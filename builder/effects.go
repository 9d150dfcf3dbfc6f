package builder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/effect"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// External effects: see package effects. The journal of an effect is a child, which a pass creates, changes and prunes like others. After
// that, performEffects takes the next step of each effect whose journal was observed in its present version. A pass of an operator without
// a performer calls nothing of this file.

func init() {
	effect.Option = func(d *effect.Desired) any { return ofEffect{d} }
	effect.OwnsOption = func(p effect.Performer) any {
		return ownsOption(func(o *owns) { o.performers = append(o.performers, p) })
	}
}

// ofEffect marks a child as the journal of an effect. The child is ready when the effect is done.
type ofEffect struct{ *effect.Desired }

func (of ofEffect) applyToChild(c *Child) {
	c.effect = of.Desired
	c.desired.ReadyWhen = func(obj client.Object) readiness.Status {
		j := effect.Read(obj)
		return readiness.Status{Ready: j.IsDone(), Message: j.Pending()}
	}
}

// checkPerformers returns the errors of a kind that is declared with performers.
func (o *owns) checkPerformers() error {
	var errs []error
	if _, journals := o.like.(*appsv1.ControllerRevision); !journals || o.crossNamespace || len(o.names) > 0 {
		errs = append(errs, fmt.Errorf("%w: PerformedBy is an option of Owns(&appsv1.ControllerRevision{}) without ByName and CrossNamespace, "+
			"not of %T", ErrMisuse, o.like))
	}
	known := map[string]bool{}
	for _, p := range o.performers {
		switch {
		case p.Name == "":
			errs = append(errs, fmt.Errorf("%w: a performer has no name", ErrMisuse))
		case p.Do == nil:
			errs = append(errs, fmt.Errorf("%w: performer %q is nil", ErrMisuse, p.Name))
		case known[p.Name]:
			errs = append(errs, fmt.Errorf("%w: there are two performers %q", ErrMisuse, p.Name))
		case p.Every <= 0 || p.Timeout <= 0:
			errs = append(errs, fmt.Errorf("%w: performer %q observes every %s with a timeout of %s; both must be above 0",
				ErrMisuse, p.Name, p.Every, p.Timeout))
		}
		known[p.Name] = true
	}
	return errors.Join(errs...)
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
	d := c.effect
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: effect %s %q: %s", ErrMisuse, d.Performer, d.Key, fmt.Sprintf(format, args...))
	}
	switch {
	case d.Err != nil:
		return fmt.Errorf("%w: %w", ErrMisuse, d.Err)
	case c.desired.Object.GetNamespace() == "":
		return wrong("the owner has no namespace; only namespaced owners have effects")
	case d.Key == "":
		return wrong("Key is empty; it must name what is outside, such as \"database/orders\"")
	case !performers.Has(d.Performer):
		return wrong("the operator has no performer of this name; add Owns(&appsv1.ControllerRevision{}, effects.PerformedBy(%q, ...))",
			d.Performer)
	case c.desired.Options != nil, c.desired.CreateOnly, c.desired.CrossNamespace, c.run != nil:
		return wrong("has an option of children; of those only InPhase can be beside an effect")
	}
	return nil
}

// carryOutWithEffects follows the instructions of an operator that has performers. The owner gets its finalizer before its first effect has
// a journal. The journals are children, and effects are performed after them.
func (p *pass) carryOutWithEffects(ctx context.Context) error {
	if err := p.guardEffects(ctx); err != nil {
		return err
	}
	err := p.carryOut(ctx)
	if _, kept := errors.AsType[stateKept](err); kept || errors.Is(err, errOwnerGone) {
		return err
	}
	return errors.Join(err, p.performEffects(ctx))
}

// guardEffects adds the finalizer to an owner that has an effect. The API server refuses it on a terminating owner, which needs none.
func (p *pass) guardEffects(ctx context.Context) error {
	desires := slices.ContainsFunc(p.children, func(c Child) bool { return c.effect != nil })
	if !desires || p.isGuardedForEffects() || p.engine.dry || p.owner.GetDeletionTimestamp() != nil {
		return nil
	}
	return p.writeFinalizers(ctx, append(slices.Clone(p.inventory.Finalizers), wellknown.FinalizerEffects))
}

func (p *pass) isGuardedForEffects() bool {
	return slices.Contains(p.inventory.Finalizers, wellknown.FinalizerEffects)
}

// writeFinalizers changes the finalizers of the owner as they were read.
func (p *pass) writeFinalizers(ctx context.Context, finalizers []string) error {
	next, patch, err := p.inventory.WithFinalizers(finalizers)
	if err != nil {
		return err
	}
	return p.patchInventory(ctx, next, patch, "write the finalizers of")
}

// deleteUndesiredEffects deletes the journals of effects that aren't desired. Their finalizer keeps them until the effects are undone.
func (p *pass) deleteUndesiredEffects(ctx context.Context) error {
	var stale []store.Key
	for key, obj := range p.observed {
		if effect.Is(obj) && obj.GetDeletionTimestamp() == nil && metav1.IsControlledBy(obj, p.owner) && !p.desiredKeys.Has(key) {
			stale = append(stale, key)
		}
	}
	slices.SortFunc(stale, store.Compare)
	return p.deleteAll(ctx, stale)
}

// performEffects takes the next step of each effect. Desired effects come first, from the lowest order to the highest: an effect waits
// until those of lower orders are done. Then come the undone ones, from the highest order to the lowest. A dry run reports the steps, and
// takes none.
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
	var unfinished *effectStep // the first of the steps of its kind that isn't done
	for i := range steps {
		s := &steps[i]
		if unfinished != nil && unfinished.undoes != s.undoes {
			unfinished = nil
		}
		if unfinished != nil && unfinished.order != s.order {
			s.pending = fmt.Sprintf("effect %s waits for effect %s", s, unfinished)
		} else if err := p.takeStep(ctx, s); err != nil {
			return err
		}
		if unfinished == nil && !s.done {
			unfinished = s
		}
	}
	p.reportEffects(steps)
	if slices.ContainsFunc(steps, func(s effectStep) bool { return s.desired != nil || !s.done }) {
		return nil
	}
	return p.unguardEffects(ctx)
}

// effectStep is the next step of one effect.
type effectStep struct {
	key             store.Key // of its journal
	performer, name string
	order           int64
	desired         *effect.Desired // nil: the plan doesn't desire it
	undoes          bool
	journal         *effect.Journal // nil: this pass has written it, and a later one takes the step

	done    bool
	pending string // what it waits for, empty if nothing
	failed  bool
}

// String names the effect.
func (s *effectStep) String() string { return fmt.Sprintf("%s %q", s.performer, s.name) }

// effectSteps returns the effects of the plan and those with a journal, in the order of their steps.
func (p *pass) effectSteps() ([]effectStep, error) {
	var steps []effectStep
	desired := map[store.Key]bool{}
	for i := range p.children {
		c := &p.children[i]
		if c.effect == nil {
			continue
		}
		_, key, err := p.cluster.KeyOf(&c.desired)
		if err != nil {
			return nil, publicError(err)
		}
		desired[key] = true
		s := effectStep{key: key, desired: c.effect, performer: c.effect.Performer, name: c.effect.Key, order: c.effect.Order}
		if obj := p.observed[key]; obj != nil && effect.Is(obj) {
			s.journal = effect.Read(obj)
		}
		steps = append(steps, s)
	}
	undone := func(obj client.Object, key store.Key, observed bool) {
		j := effect.Read(obj)
		s := effectStep{key: key, performer: j.Performer, name: j.Key, order: j.Order, undoes: true}
		if observed {
			s.journal = j
		}
		steps = append(steps, s)
	}
	for key, obj := range p.observed {
		if !desired[key] && obj.GetDeletionTimestamp() != nil && effect.Is(obj) {
			undone(obj, key, true)
		}
	}
	for _, change := range p.result.Changes {
		if change.Reason == events.ReasonDeleted && effect.Is(change.object) {
			undone(change.object, change.Key, false)
		}
		for i := range steps {
			if steps[i].key == change.Key {
				steps[i].journal = nil
			}
		}
	}
	slices.SortFunc(steps, func(a, b effectStep) int {
		switch {
		case a.undoes != b.undoes && b.undoes:
			return -1
		case a.undoes != b.undoes:
			return 1
		case a.undoes:
			return cmp.Or(cmp.Compare(b.order, a.order), store.Compare(b.key, a.key))
		default:
			return cmp.Or(cmp.Compare(a.order, b.order), store.Compare(a.key, b.key))
		}
	})
	return steps, nil
}

// takeStep takes the next step of one effect. The error is one of the API server's; one of the performer is in the step.
func (p *pass) takeStep(ctx context.Context, s *effectStep) error {
	j := s.journal
	if j == nil {
		s.pending = fmt.Sprintf("effect %s is to be performed", s)
		if s.undoes {
			s.pending = fmt.Sprintf("effect %s is to be undone", s)
		}
		return nil
	}
	performer, missing := p.effects.Of(j)
	now, observeIn := p.engine.now(), time.Duration(-1)
	if missing == nil {
		observeIn = p.effects.ObserveIn(performer, j, now)
	}
	abandoned := p.owner.GetAnnotations()[wellknown.AnnotationAbandonEffects] == "true"
	action, wait := j.Decide(s.desired != nil, abandoned, now, observeIn)
	s.done = !s.undoes && j.IsDone()
	if !s.done {
		s.pending, s.failed = j.Pending(), j.Failed() != ""
	} else if failure := p.effects.ObservationError(j); failure != "" {
		s.pending, s.failed = fmt.Sprintf("effect %s can't be observed: %s", s, failure), true
	}
	switch {
	case action == effect.None:
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, wait)
		return nil
	case p.engine.dry:
		return nil
	case action == effect.Release:
		return p.releaseEffect(ctx, s, abandoned)
	case action == effect.Renew:
		return p.renewJournal(ctx, s)
	case missing != nil:
		s.pending, s.failed = fmt.Sprintf("%s: %s", j.Pending(), missing), true
		return nil
	case action == effect.Observe:
		return p.observeEffect(ctx, performer, s)
	default:
		return p.perform(ctx, performer, s)
	}
}

// perform does or undoes an effect. It records the attempt first: after a crash in it, the journal has the time of the next one, and a
// manager that has read an old journal fails with a conflict before it does anything.
func (p *pass) perform(ctx context.Context, performer *effect.Performer, s *effectStep) error {
	before, begun := s.journal.Failed(), s.journal.Begun(p.engine.now())
	if err := p.writeEffectState(ctx, s, begun); err != nil {
		return err
	}
	call := s.journal.Call(p.owner, s.desired)
	var result []byte
	var failure error
	if s.undoes {
		failure = performer.CallUndo(ctx, call)
	} else {
		result, failure = performer.CallDo(ctx, call)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	switch {
	case failure != nil:
		state := begun.FailedWith(failure, p.engine.now())
		if err := p.writeEffectState(ctx, s, state); err != nil {
			return err
		}
		s.done, s.failed, s.pending = false, true, s.journal.Pending()
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, max(state.RetryAt.Sub(p.engine.now()), conflictDelay))
		if state.Error != before {
			p.engine.emit(p.owner, events.Warning(events.ReasonEffectFailed, fmt.Sprintf("effect %s: %s", s, state.Error)))
		}
		return nil
	case s.undoes:
		return p.releaseEffect(ctx, s, false)
	}
	if err := p.writeEffectState(ctx, s, begun.Succeeded(result)); err != nil {
		return err
	}
	p.effects.Observed(performer, s.journal, p.engine.now(), nil)
	s.done, s.failed, s.pending = true, false, fmt.Sprintf("effect %s was performed, and the next pass has its result", s)
	p.engine.emit(p.owner, events.Normal(events.ReasonEffectPerformed, fmt.Sprintf("effect %s was performed", s)))
	return nil
}

// observeEffect compares the desired state with the state outside, and performs the effect again if they differ.
func (p *pass) observeEffect(ctx context.Context, performer *effect.Performer, s *effectStep) error {
	upToDate, failure := performer.CallObserve(ctx, s.journal.Call(p.owner, s.desired))
	if err := ctx.Err(); err != nil {
		return err
	}
	if failure == nil && !upToDate {
		p.engine.emit(p.owner, events.Warning(events.ReasonEffectDrifted,
			fmt.Sprintf("effect %s is performed again: its state outside of the cluster has changed", s)))
		return p.perform(ctx, performer, s)
	}
	p.effects.Observed(performer, s.journal, p.engine.now(), failure)
	s.failed, s.pending = false, ""
	if failure != nil {
		s.failed, s.pending = true, fmt.Sprintf("effect %s can't be observed: %s", s, p.effects.ObservationError(s.journal))
	}
	p.result.RequeueAfter = sooner(p.result.RequeueAfter, p.effects.ObserveIn(performer, s.journal, p.engine.now()))
	return nil
}

// releaseEffect lets the API server delete a journal.
func (p *pass) releaseEffect(ctx context.Context, s *effectStep, abandoned bool) error {
	patch, err := s.journal.ReleasePatch()
	if err == nil {
		_, err = p.patchJournal(ctx, s, patch)
	}
	if err != nil {
		return err
	}
	p.effects.Forget(s.journal)
	s.done, s.failed, s.pending = true, false, ""
	switch {
	case s.desired != nil:
	case abandoned:
		p.engine.emit(p.owner, events.Warning(events.ReasonEffectAbandoned,
			fmt.Sprintf("effect %s was not undone, because of the annotation %s", s, wellknown.AnnotationAbandonEffects)))
	case s.journal.Spec.Retain:
		p.engine.emit(p.owner, events.Normal(events.ReasonEffectRetained, fmt.Sprintf("effect %s is no longer desired, and stays", s)))
	default:
		p.engine.emit(p.owner, events.Normal(events.ReasonEffectUndone, fmt.Sprintf("effect %s was undone", s)))
	}
	return nil
}

// renewJournal lets the journal of a desired effect go, which someone has deleted, so that the next pass creates it again, and performs
// the effect again. If the API server would not create it, because the namespace is terminating, the journal stays: the owner will be
// deleted, too, and the effect undone.
func (p *pass) renewJournal(ctx context.Context, s *effectStep) error {
	err := p.engine.client.Create(ctx, s.journal.Successor(), client.DryRunAll, client.FieldOwner(p.engine.name),
		client.DisableReadYourWritesConsistency)
	if err != nil {
		return &Error{Key: s.key, Operation: "create", cause: err, object: s.journal.Object}
	}
	if err := p.releaseEffect(ctx, s, false); err != nil {
		return err
	}
	s.done, s.pending = false, fmt.Sprintf("effect %s is to be performed again: its journal was deleted", s)
	return nil
}

// writeEffectState records the state of a performance in the journal, in the version that was read.
func (p *pass) writeEffectState(ctx context.Context, s *effectStep, state effect.State) error {
	patch, err := s.journal.StatePatch(state)
	if err != nil {
		return err
	}
	stored, err := p.patchJournal(ctx, s, patch)
	if err != nil {
		return err
	}
	s.journal = effect.Read(stored)
	return nil
}

// patchJournal writes to a journal. The field manager isn't that of children, so that an apply doesn't remove what it writes.
func (p *pass) patchJournal(ctx context.Context, s *effectStep, patch []byte) (*appsv1.ControllerRevision, error) {
	object := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.key.Name}}
	err := p.engine.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(p.engine.name+"-effects"))
	if err != nil {
		return nil, &Error{Key: s.key, Operation: "write", cause: err, object: s.journal.Object}
	}
	p.wrote(kinds.Kind{GVK: appsv1.SchemeGroupVersion.WithKind("ControllerRevision")}, s.key)
	return object, nil
}

// reportEffects adds the effects that aren't done to the pending children, in place of the readiness of their journals.
func (p *pass) reportEffects(steps []effectStep) {
	ofEffect := map[store.Key]bool{}
	for i := range steps {
		ofEffect[steps[i].key] = true
	}
	p.result.Pending = slices.DeleteFunc(p.result.Pending, func(s ChildStatus) bool {
		return ofEffect[s.Key] && s.Phase == "" && s.Reason == events.ReasonChildrenNotReady
	})
	for _, s := range steps {
		if s.pending == "" {
			continue
		}
		reason := events.ReasonEffectPending
		if s.failed {
			reason = events.ReasonEffectFailed
		}
		p.pend(ChildStatus{Key: s.key, Reason: reason, Message: s.pending})
	}
}

// unguardEffects removes the finalizer from an owner that has no effect any more. It looks for journals past the cache, which may not
// show those of an earlier process yet.
func (p *pass) unguardEffects(ctx context.Context) error {
	isEnd := p.owner.GetDeletionTimestamp() != nil || p.pruned
	if !isEnd || !p.isGuardedForEffects() || p.engine.dry {
		return nil
	}
	kind := formerKey(p.owner, "").GroupKind()
	found, err := p.engine.listMetadata(ctx, kind, client.InNamespace(p.owner.GetNamespace()))
	if err != nil {
		return fmt.Errorf("look for journals of the effects of %s: %w", p.ownerKey, err)
	}
	for i := range found {
		if metav1.IsControlledBy(&found[i], p.owner) && effect.IsMarked(&found[i]) {
			p.result.RequeueAfter = sooner(p.result.RequeueAfter, conflictDelay)
			return nil
		}
	}
	others := slices.DeleteFunc(slices.Clone(p.inventory.Finalizers), func(f string) bool { return f == wellknown.FinalizerEffects })
	err = p.writeFinalizers(ctx, others)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// withEffects returns a terminating owner whose conditions say which effects it waits for. The plan reports nothing then.
func withEffects[T client.Object](owner, after T, res Result, now time.Time) T {
	if owner.GetDeletionTimestamp() == nil || len(res.pending(events.ReasonEffectPending, events.ReasonEffectFailed)) == 0 {
		return after
	}
	if _, conditioned := any(after).(Conditioned); !conditioned {
		return after
	}
	after = withOwnConditions(after)
	res.outcome(nil).Set(any(after).(Conditioned).Conditions(), owner.GetGeneration(), now)
	return after
}
