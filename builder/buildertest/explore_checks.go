package buildertest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// maxBusy is the number of passes in a row, with nothing else in between, that may change something.
const maxBusy = 25

// The properties that Explore checks. The error of a counterexample is one of them, or that of an invariant.
var (
	// ErrNoRest is the error of operators that never stop writing: the same states come again, a pass on its own result writes, or 25
	// passes in a row change something.
	ErrNoRest = errors.New("it doesn't come to rest")
	// ErrOtherEnd is the error of an end state that differs from the one without faults, in the first order.
	ErrOtherEnd = errors.New("the end state differs")
	// ErrStuck is the error of a pass that still fails when nothing changes any more.
	ErrStuck = errors.New("it comes to rest with an error")
	// ErrCreatedTwice is the error of an object that an operator created, deleted, and created again.
	ErrCreatedTwice = errors.New("an object was created twice")
	// ErrNotOwned is the error of a write to an object of others, or its deletion.
	ErrNotOwned = errors.New("an object that isn't the operator's was written")
	// ErrBackwards is the error of a final state that a pass has changed.
	ErrBackwards = errors.New("a final state was changed")
	// ErrPanic is the error of a pass that panics.
	ErrPanic = errors.New("a pass panics")
)

// checkPass checks what a pass did.
func (e *exploration) checkPass(before, after *exploredState, done *passed) error {
	if p, ok := errors.AsType[panicked](done.err); ok {
		return fmt.Errorf("%w: %v", ErrPanic, p.value)
	}
	if after.busy > maxBusy {
		return fmt.Errorf("%w: %d passes in a row changed something", ErrNoRest, after.busy)
	}
	for _, write := range done.writes {
		for _, call := range write.single() {
			if err := e.checkOwner(before, after, call); err != nil {
				return err
			}
		}
	}
	return e.checkChanges(before, after)
}

// checkOwner checks that an operator may write to the object of a single call.
func (e *exploration) checkOwner(before, after *exploredState, call Call) error {
	if !call.Changed || call.Created {
		return nil
	}
	if e.foreign[call.UID] {
		return fmt.Errorf("%w: %s", ErrNotOwned, call)
	}
	deletes := call.Verb == VerbDelete || call.Verb == VerbDeleteCollection
	if !deletes || after.made[call.object()] > 0 || before.made[call.object()] > 0 || e.given[call.UID] {
		return nil
	}
	for gvk, rows := range before.server.tables {
		obj := rows[keyOfCall(call)].at(before.server.version)
		if obj != nil && gvk.GroupKind() == call.Kind && !isOurs(obj, before.server.everyObject(), e.isOwner) {
			return fmt.Errorf("%w: %s", ErrNotOwned, call)
		}
	}
	return nil
}

// checkChanges checks the state after a pass, or a part of one.
func (e *exploration) checkChanges(before, after *exploredState) error {
	for _, name := range slices.Sorted(maps.Keys(after.made)) {
		if n := after.made[name]; n > max(1, e.made[name]) && !e.learning {
			return fmt.Errorf("%w: %s, %d times, and %d times without faults", ErrCreatedTwice, name, n, e.made[name])
		}
	}
	for _, ch := range after.server.log[len(before.server.log):] {
		if err := e.checkFinal(ch); err != nil {
			return err
		}
	}
	return e.checkInvariants(after)
}

// checkFinal checks that a change keeps the final state of an object whose spec has stayed the same.
func (e *exploration) checkFinal(ch change) error {
	if ch.before == nil || !e.isOwner(ch.object) || ch.object.GetDeletionTimestamp() != nil ||
		ch.before.GetUID() != ch.object.GetUID() || ch.before.GetGeneration() != ch.object.GetGeneration() {
		return nil
	}
	was, err := e.finalOf(ch.before)
	if err != nil || was == "" {
		return err
	}
	is, err := e.finalOf(ch.object)
	if err == nil && is != was {
		is := is
		if is == "" {
			is = "none"
		}
		return fmt.Errorf("%w: %s %s was %s, and now is %s", ErrBackwards, ch.gvk.Kind, keyOf(ch.object), was, is)
	}
	return err
}

func (e *exploration) finalOf(obj client.Object) (string, error) {
	content, err := asMap(obj)
	if err != nil {
		return "", err
	}
	return e.scenario.Final(&unstructured.Unstructured{Object: content}), nil
}

// FinalCondition is the default of Scenario.Final: the types Complete, Completed, Succeeded, Failed and Finished of conditions that are
// True, and of the present generation if they say so.
func FinalCondition(obj *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	var final []string
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		kind, _ := condition["type"].(string)
		observed, says := condition["observedGeneration"].(int64)
		if condition["status"] != "True" || (says && observed != obj.GetGeneration()) {
			continue
		}
		switch kind {
		case "Complete", "Completed", "Succeeded", "Failed", "Finished":
			final = append(final, kind)
		}
	}
	slices.Sort(final)
	return strings.Join(final, ", ")
}

func (e *exploration) checkInvariants(s *exploredState) error {
	if len(e.scenario.Invariants) == 0 {
		return nil
	}
	e.server.restore(s.server)
	for _, holds := range e.scenario.Invariants {
		c := e.server.Client("invariant")
		err := holds(e.ctx, c)
		e.see(c.ledger.Calls())
		if err != nil {
			return err
		}
	}
	return nil
}

// Rest checks a state in which nothing can happen any more.
func (e *exploration) Rest(s *exploredState) error {
	for i, q := range s.queues {
		for _, r := range e.processes[i].Requests {
			if err := q.errs[r]; err != nil && !e.scenario.Tolerate(err) {
				return fmt.Errorf("%w: the pass of %s: %w", ErrStuck, r, err)
			}
		}
	}
	for i, p := range e.processes {
		for _, r := range p.Requests {
			if err := e.checkQuiet(s, i, r); err != nil {
				return err
			}
		}
	}
	if e.learning {
		e.end = s.server
		return nil
	}
	// An order may be the first in which operators read a kind, so the two are of the kinds that are known now.
	want, err := e.endState(e.end)
	if err != nil {
		return err
	}
	got, err := e.endState(s.server)
	if err != nil {
		return err
	}
	if diff := endDifference(want, got); diff != "" {
		return fmt.Errorf("%w:\n%s", ErrOtherEnd, diff)
	}
	return nil
}

// endState returns a state for a comparison, without objects of kinds that operators neither read nor write. If a user edits at any time,
// the numbers of specs depend on when.
func (e *exploration) endState(end *snapshot) ([]string, error) {
	e.server.restore(end)
	s := *e.scenario
	s.Normalize = func(obj *unstructured.Unstructured) bool {
		if e.scenario.Cluster != nil && !e.sees(obj.GroupVersionKind()) {
			return false
		}
		if e.scenario.Then != nil {
			unstructured.RemoveNestedField(obj.Object, "metadata", "generation")
			removeKey(obj.Object, "observedGeneration")
		}
		return e.scenario.Normalize(obj)
	}
	return s.endState(e.server)
}

// removeKey removes a key at any depth.
func removeKey(value any, key string) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, key)
		for _, inner := range v {
			removeKey(inner, key)
		}
	case []any:
		for _, inner := range v {
			removeKey(inner, key)
		}
	}
}

// checkQuiet checks that a new process changes nothing, and then writes nothing.
func (e *exploration) checkQuiet(s *exploredState, process int, r reconcile.Request) error {
	fresh := s.clone()
	fresh.queues[process] = e.newQueue(process, s.server.version)
	first, err := e.run(fresh, process, r, reads{})
	if err != nil {
		return err
	}
	if len(first.after) > 0 {
		return fmt.Errorf("%w: nothing has changed, and a pass of a new process over %s makes a change: %s", ErrNoRest, r, first.after[0].call)
	}
	fresh.queues[process].passes = []pastPass{{server: s.server, request: r}}
	second, err := e.run(fresh, process, r, reads{})
	if err != nil {
		return err
	}
	if len(second.writes) > 0 {
		return fmt.Errorf("%w: nothing has changed, and a second pass over %s writes: %s", ErrNoRest, r, second.writes[0])
	}
	if second.err != nil || requeueAfter(second.result, 0) > 0 {
		return nil
	}
	return e.checkLater(s, process, r)
}

// checkLater checks that a pass a day later changes nothing but times, and doesn't fail, where nothing requests it: an operator that waits
// for a time must request a pass.
func (e *exploration) checkLater(s *exploredState, process int, r reconcile.Request) error {
	cluster, err := e.aroundOf(s)
	q := s.queues[process]
	_, timed := q.timers[r]
	_, queued := q.pending[r]
	if err != nil || e.scenario.ClockStands || timed || queued && !q.quiet[r] || !cluster.next.IsZero() {
		return err
	}
	server := *s.server
	server.now = server.now.Add(24 * time.Hour)
	later := s.clone()
	later.server = &server
	later.queues[process] = e.newQueue(process, server.version)
	done, err := e.run(later, process, r, reads{})
	if err != nil {
		return err
	}
	const unasked = "nothing has changed, no pass over %s is requested, and one a day later"
	if p, ok := errors.AsType[panicked](done.err); ok {
		return fmt.Errorf("%w: "+unasked+" panics: %v", ErrPanic, r, p.value)
	}
	if len(done.after) == 0 {
		if done.err != nil && !e.scenario.Tolerate(done.err) {
			return fmt.Errorf("%w: "+unasked+" fails: %w", ErrStuck, r, done.err)
		}
		return nil
	}
	was, err := e.endState(s.server)
	if err != nil {
		return err
	}
	is, err := e.endState(done.server)
	if err != nil || slices.Equal(was, is) {
		return err
	}
	const hint = "a pass that waits for a time returns RequeueAfter"
	return fmt.Errorf("%w: "+unasked+" makes a change: %s; "+hint, ErrNoRest, r, done.after[0].call)
}

func keyOfCall(c Call) client.ObjectKey {
	return client.ObjectKey{Namespace: c.Namespace, Name: c.Name}
}
