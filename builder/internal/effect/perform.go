package effect

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// Host is the part of the builder that the steps of one owner's effects use.
type Host struct {
	// Controller is the field manager of children.
	Controller string
	// Client writes journals.
	Client client.Client
	// Owner is the owner of the effects.
	Owner client.Object
	// Performers are those of the operator.
	Performers *Performers
	// DryRun reports whether steps are only reported, and not taken.
	DryRun bool
	// Now returns the current time.
	Now func() time.Time
	// Emit emits an event about the owner.
	Emit func(events.Event)
	// Wrote notes the write of a journal.
	Wrote func(store.Key)
}

// Perform takes the next step of each effect, in their order: an effect waits until those of lower orders are done. It sets what the
// steps wait for, and returns the time until the next step; 0: when something changes. The error is one of the API server's, a
// failure.Error; one of a performer is in its step.
func (h *Host) Perform(ctx context.Context, steps []Step) (again time.Duration, err error) {
	var unfinished *Step // the first of the steps of its kind that isn't done
	for i := range steps {
		s := &steps[i]
		if unfinished != nil && unfinished.undoes != s.undoes {
			unfinished = nil
		}
		if unfinished != nil && unfinished.order != s.order {
			s.Pending = fmt.Sprintf("effect %s waits for effect %s", s, unfinished)
		} else {
			if err := h.take(ctx, s); err != nil {
				return 0, err
			}
			if s.again > 0 && (again == 0 || s.again < again) {
				again = s.again
			}
		}
		if unfinished == nil && !s.done {
			unfinished = s
		}
	}
	return again, nil
}

// take takes the next step of one effect.
func (h *Host) take(ctx context.Context, s *Step) error {
	j := s.journal
	if j == nil {
		s.Pending = fmt.Sprintf("effect %s is to be performed", s)
		if s.undoes {
			s.Pending = fmt.Sprintf("effect %s is to be undone", s)
		}
		return nil
	}
	performer, missing := h.Performers.Of(j)
	now, observeIn := h.Now(), time.Duration(-1)
	if missing == nil {
		observeIn = h.Performers.ObserveIn(performer, j, now)
	}
	abandoned := h.Owner.GetAnnotations()[wellknown.AnnotationAbandonEffects] == "true"
	action, wait := j.Decide(s.desired != nil, abandoned, now, observeIn)
	s.done = !s.undoes && j.IsDone()
	if !s.done {
		s.Pending, s.Failed = j.Pending(), j.Failed() != ""
	} else if failure := h.Performers.ObservationError(j); failure != "" {
		s.Pending, s.Failed = fmt.Sprintf("effect %s can't be observed: %s", s, failure), true
	}
	switch {
	case action == None:
		s.again = wait
		return nil
	case h.DryRun:
		return nil
	case action == Release:
		return h.release(ctx, s, abandoned)
	case action == Renew:
		return h.renew(ctx, s)
	case missing != nil:
		s.Pending, s.Failed = fmt.Sprintf("%s: %s", j.Pending(), missing), true
		return nil
	case action == Observe:
		return h.observe(ctx, performer, s)
	default:
		return h.perform(ctx, performer, s)
	}
}

// perform does or undoes an effect. It records the attempt first: after a crash in it, the journal has the time of the next one, and a
// manager that has read an old journal fails with a conflict before it does anything.
func (h *Host) perform(ctx context.Context, performer *Performer, s *Step) error {
	before, begun := s.journal.Failed(), s.journal.Begun(h.Now())
	if err := h.writeState(ctx, s, begun); err != nil {
		return err
	}
	call := s.journal.Call(h.Owner, s.desired)
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
		state := begun.FailedWith(failure, h.Now())
		if err := h.writeState(ctx, s, state); err != nil {
			return err
		}
		s.done, s.Failed, s.Pending = false, true, s.journal.Pending()
		s.again = max(state.RetryAt.Sub(h.Now()), time.Nanosecond)
		if state.Error != before {
			h.emit(s, events.Warning(events.ReasonEffectFailed, fmt.Sprintf("effect %s: %s", s, state.Error)))
		}
		return nil
	case s.undoes:
		return h.release(ctx, s, false)
	}
	if err := h.writeState(ctx, s, begun.Succeeded(result)); err != nil {
		return err
	}
	h.Performers.Observed(performer, s.journal, h.Now(), nil)
	s.done, s.Failed, s.Pending = true, false, fmt.Sprintf("effect %s was performed, and the next pass has its result", s)
	h.emit(s, events.Normal(events.ReasonEffectPerformed, fmt.Sprintf("effect %s was performed", s)))
	return nil
}

// observe compares the desired state with the state outside, and performs the effect again if they differ.
func (h *Host) observe(ctx context.Context, performer *Performer, s *Step) error {
	upToDate, failure := performer.CallObserve(ctx, s.journal.Call(h.Owner, s.desired))
	if err := ctx.Err(); err != nil {
		return err
	}
	if failure == nil && !upToDate {
		h.emit(s, events.Warning(events.ReasonEffectDrifted,
			fmt.Sprintf("effect %s is performed again: its state outside of the cluster has changed", s)))
		return h.perform(ctx, performer, s)
	}
	h.Performers.Observed(performer, s.journal, h.Now(), failure)
	s.Failed, s.Pending = false, ""
	if failure != nil {
		s.Failed, s.Pending = true, fmt.Sprintf("effect %s can't be observed: %s", s, h.Performers.ObservationError(s.journal))
	}
	s.again = h.Performers.ObserveIn(performer, s.journal, h.Now())
	return nil
}

// emit emits an event about one effect. Without the related journal, client-go would merge it with that about another effect.
func (h *Host) emit(s *Step, ev events.Event) { h.Emit(ev.About(s.journal.Object)) }

// release lets the API server delete a journal.
func (h *Host) release(ctx context.Context, s *Step, abandoned bool) error {
	patch, err := s.journal.ReleasePatch()
	if err == nil {
		_, err = h.patch(ctx, s, patch)
	}
	if err != nil {
		return err
	}
	h.Performers.Forget(s.journal)
	s.done, s.Failed, s.Pending = true, false, ""
	switch {
	case s.desired != nil:
	case abandoned:
		h.emit(s, events.Warning(events.ReasonEffectAbandoned,
			fmt.Sprintf("effect %s was not undone, because of the annotation %s", s, wellknown.AnnotationAbandonEffects)))
	case s.journal.Spec.Retain:
		h.emit(s, events.Normal(events.ReasonEffectRetained, fmt.Sprintf("effect %s is no longer desired, and stays", s)))
	default:
		h.emit(s, events.Normal(events.ReasonEffectUndone, fmt.Sprintf("effect %s was undone", s)))
	}
	return nil
}

// renew lets the journal of a desired effect go, which someone has deleted, so that the next pass creates it again, and performs
// the effect again. If the API server would not create it, because the namespace is terminating, the journal stays: the owner will be
// deleted, too, and the effect undone.
func (h *Host) renew(ctx context.Context, s *Step) error {
	err := h.Client.Create(ctx, s.journal.Successor(), client.DryRunAll, client.FieldOwner(h.Controller),
		client.DisableReadYourWritesConsistency)
	if err != nil {
		return &failure.Error{Key: s.Key, Operation: "create", Err: err, Object: s.journal.Object}
	}
	if err := h.release(ctx, s, false); err != nil {
		return err
	}
	s.done, s.Pending = false, fmt.Sprintf("effect %s is to be performed again: its journal was deleted", s)
	return nil
}

// writeState records the state of a performance in the journal, in the version that was read.
func (h *Host) writeState(ctx context.Context, s *Step, state State) error {
	patch, err := s.journal.StatePatch(state)
	if err != nil {
		return err
	}
	stored, err := h.patch(ctx, s, patch)
	if err != nil {
		return err
	}
	s.journal = Read(stored)
	return nil
}

// patch writes to a journal. The field manager isn't that of children, so that an apply doesn't remove what it writes.
func (h *Host) patch(ctx context.Context, s *Step, patch []byte) (*appsv1.ControllerRevision, error) {
	object := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: s.Key.Namespace, Name: s.Key.Name}}
	err := h.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(h.Controller+"-effects"))
	if err != nil {
		return nil, &failure.Error{Key: s.Key, Operation: "write", Err: err, Object: s.journal.Object}
	}
	h.Wrote(s.Key)
	return object, nil
}
