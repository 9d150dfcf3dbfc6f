package buildertest

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// arrive returns the state after something happened, with the server's present state. Every change since then has enqueued the
// requests it concerns. byOperators are the changes that an operator has made.
func (e *exploration) arrive(s *exploredState, byOperators []written) (*exploredState, error) {
	next := s.clone()
	next.server = e.server.snapshot()
	next.busy = 0
	own := map[string]bool{}
	for _, w := range byOperators {
		for _, call := range w.call.single() {
			own[call.object()] = true
		}
		if w.call.Created {
			next.made[w.call.object()]++
		}
	}
	news := next.server.log[len(s.server.log):]
	for _, ch := range news {
		if ch.before == nil {
			e.follow(ch.gvk, ch.object)
			if err := e.checkKind(ch.object); err != nil && !own[nameOf(ch)] {
				return nil, err
			}
		}
		if n := ch.object.GetGeneration(); ch.before == nil || n == 0 || n != ch.before.GetGeneration() {
			e.learnContention(ch.object)
		}
		if err := e.wake(next, ch); err != nil {
			return nil, err
		}
		if ch.kind == watch.Deleted {
			next.forgive(ch, own)
		}
	}
	if len(news) > 0 {
		next.idle = 0
		for i := range next.queues {
			clear(next.queues[i].fired)
			for r, held := range next.queues[i].pending {
				if held {
					next.queues[i].pending[r] = false
				}
			}
		}
	}
	return next, nil
}

// forgive allows an operator to create an object again that it didn't delete itself.
func (s *exploredState) forgive(ch change, own map[string]bool) {
	name := nameOf(ch)
	if !own[name] && s.made[name] > 0 {
		s.made[name]--
	}
}

func nameOf(ch change) string {
	return Call{Kind: ch.gvk.GroupKind(), Namespace: ch.object.GetNamespace(), Name: ch.object.GetName()}.object()
}

// wake enqueues the requests of a change.
func (e *exploration) wake(s *exploredState, ch change) error {
	before, err := e.typed(ch.gvk, ch.before)
	if err != nil {
		return err
	}
	var after client.Object
	if ch.kind != watch.Deleted {
		if after, err = e.typed(ch.gvk, ch.object); err != nil {
			return err
		}
	}
	for i, p := range e.processes {
		requests := p.Requests
		if p.wakes != nil {
			requests = p.wakes.by(e.ctx, before, after)
		}
		for _, r := range requests {
			if e.isRequested(i, r) {
				s.queues[i].pending[r] = false
				delete(s.queues[i].quiet, r)
			}
		}
	}
	return nil
}

// isRequested reports whether a request is one of a process's. Others, of owners that the scenario doesn't run, are dropped.
func (e *exploration) isRequested(process int, request reconcile.Request) bool {
	return slices.Contains(e.processes[process].Requests, request)
}

// typed returns a stored object in the Go type that the handlers of a manager get.
func (e *exploration) typed(gvk schema.GroupVersionKind, stored client.Object) (client.Object, error) {
	if stored == nil {
		return nil, nil
	}
	obj, err := e.server.scheme.New(gvk)
	if runtime.IsNotRegisteredError(err) {
		return stored, nil
	}
	if err != nil {
		return nil, err
	}
	typed, ok := obj.(client.Object)
	if !ok {
		return stored, nil
	}
	return typed, e.server.encode(stored, gvk, typed)
}
