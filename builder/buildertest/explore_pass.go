package buildertest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest/internal/search"
)

// process is an operator in an exploration.
type process struct {
	Process

	wakes *wakes // nil: each event enqueues all requests
}

// follow adds the request of a new owner, unless it is known.
func (p *process) follow(obj client.Object) {
	if r := (reconcile.Request{NamespacedName: keyOf(obj)}); !slices.Contains(p.Requests, r) {
		p.Requests = append(p.Requests, r)
		slices.SortFunc(p.Requests, func(a, b reconcile.Request) int { return cmp.Compare(a.String(), b.String()) })
	}
}

// written is the state after a write of a pass.
type written struct {
	call    Call
	nth     int // calls of the pass before that a Fault of this call matches too
	ordinal int // of this write among the successful ones of the pass
	writes  int // of the pass up to this one, as in passed
	server  *snapshot
}

// passed is what a pass did.
type passed struct {
	result reconcile.Result
	err    error
	faults []Fault
	lost   string // which reply the faults lose
	writes []Call // successful and failed ones, without dry runs
	after  []written
	server *snapshot
	wrote  map[schema.GroupVersionKind]uint64
}

// run makes a pass, of a new process, or of one that makes its former passes again first. The faults are of this pass alone.
func (e *exploration) run(s *exploredState, process int, request reconcile.Request, r reads, faults ...Fault) (*passed, error) {
	p, q := e.processes[process], s.queues[process]
	e.server.restore(s.server)
	c := e.server.Client(p.Name)
	c.atOnce = 1
	c.view.ownWrites = !e.scenario.LagOwnWrites
	reconciler, err := p.Reconciler(c)
	if err != nil {
		return nil, fmt.Errorf("make the reconciler: %w", err)
	}
	for _, past := range q.passes {
		e.server.restore(past.server)
		c.view.at, c.view.wrote = past.reads.at, maps.Clone(past.wrote)
		c.Fail(past.faults...)
		_, _ = e.reconcile(reconciler, past.request)
		c.Heal()
		e.replayed++
	}
	e.server.restore(s.server)
	e.server.ledger.Reset()
	c.ledger.Reset()
	c.Fail(faults...)
	c.view.least, c.view.at, c.view.wrote = q.started, r.at, maps.Clone(q.wrote)
	done := &passed{faults: faults}
	c.written = func(call Call) {
		if !call.Changed {
			return
		}
		calls := c.ledger.Calls()
		w := written{call, matching(calls, call) - 1, successful(calls), len(lasting(calls)), e.server.snapshot()}
		done.after = append(done.after, w)
	}
	e.passes++
	done.result, done.err = e.reconcile(reconciler, request)
	e.see(c.ledger.Calls())
	done.writes = lasting(c.ledger.Calls())
	done.server, done.wrote = e.server.snapshot(), c.view.wrote
	return done, nil
}

// panicked is the error of a pass that panics.
type panicked struct{ value any }

func (p panicked) Error() string { return fmt.Sprintf("the pass panics: %v", p.value) }

func (e *exploration) reconcile(r reconcile.Reconciler, request reconcile.Request) (_ reconcile.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked{p}
		}
	}()
	return r.Reconcile(e.ctx, request)
}

// pass makes a pass. It returns what it leads to without a crash, and with one after each of its writes.
func (e *exploration) pass(s *exploredState, step string, process int, request reconcile.Request, r reads) ([]outcome, error) {
	pass, err := e.run(s, process, request, r)
	if err != nil {
		return nil, err
	}
	next, err := e.afterPass(s, process, request, r, pass)
	if err != nil {
		return nil, err
	}
	outcomes := []outcome{{Name: step, State: next, Wrote: len(pass.after) > 0, Err: e.checkPass(s, next, pass)}}
	if s.lost < e.bounds.LostReplies {
		lost, err := e.losingReplies(s, step, process, request, r, pass)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, lost...)
	}
	if s.crashes >= e.bounds.Crashes {
		return outcomes, nil
	}
	for k, w := range pass.after {
		e.server.restore(w.server)
		crashed, err := e.arrive(s, pass.after[:k+1])
		if err != nil {
			return nil, err
		}
		e.crash(crashed, process)
		if r.name != "" {
			crashed.stale++
		}
		crashed.busy, crashed.did = s.busy+1, done{writes: pass.writes[:w.writes]}
		name := fmt.Sprintf("%s, crash after write %d: %s", step, k+1, w.call)
		outcomes = append(outcomes, outcome{Name: name, State: crashed, Wrote: true, Err: e.checkChanges(s, crashed)})
	}
	return outcomes, nil
}

// losingReplies returns what a pass leads to when the reply to one of its writes is lost, and the process lives on.
func (e *exploration) losingReplies(
	s *exploredState, step string, process int, request reconcile.Request, r reads, whole *passed,
) ([]outcome, error) {
	var outcomes []outcome
	for k, w := range whole.after {
		f := faultOf(w.call)
		f.After, f.Times, f.AfterWrite, f.Error = w.nth, 1, true, Timeout
		done, err := e.run(s, process, request, r, f)
		if err != nil {
			return nil, err
		}
		done.lost = fmt.Sprintf("%d %s", k, w.call)
		next, err := e.afterPass(s, process, request, r, done)
		if err != nil {
			return nil, err
		}
		next.lost++
		name := fmt.Sprintf("%s, the reply to write %d is lost: %s", step, k+1, w.call)
		outcomes = append(outcomes, outcome{Name: name, State: next, Wrote: true, Err: e.checkPass(s, next, done)})
	}
	return outcomes, nil
}

// faultOf returns a fault that matches calls such as this one. One that creates an object may have no name before the server generates it.
func faultOf(c Call) Fault {
	f := Fault{Verb: c.Verb, Kind: c.Kind, Namespace: c.Namespace, Name: c.Name, Subresource: c.Subresource}
	if c.Verb == VerbCreate {
		f.Name = ""
	}
	return f
}

// matching returns how many calls are such as this one.
func matching(calls []Call, like Call) int {
	f, n := faultOf(like), 0
	for _, c := range calls {
		if f.matches(c) {
			n++
		}
	}
	return n
}

// successful returns the number of writes that succeeded.
func successful(calls []Call) int {
	n := 0
	for _, c := range lasting(calls) {
		if c.Err == nil {
			n++
		}
	}
	return n
}

// lasting returns the writes, also failed ones, without dry runs.
func lasting(calls []Call) []Call {
	var writes []Call
	for _, c := range calls {
		if c.Verb.IsWrite() && !c.DryRun {
			writes = append(writes, c)
		}
	}
	return writes
}

type outcome = search.Outcome[*exploredState]

// afterPass returns the state after a pass.
func (e *exploration) afterPass(s *exploredState, process int, request reconcile.Request, r reads, done *passed) (*exploredState, error) {
	before := s.clone()
	delete(before.queues[process].pending, request)
	delete(before.queues[process].quiet, request)
	delete(before.queues[process].errs, request)
	e.server.restore(done.server)
	next, err := e.arrive(before, done.after)
	if err != nil {
		return nil, err
	}
	next.did.writes, next.did.err = done.writes, done.err
	q := &next.queues[process]
	q.wrote = done.wrote
	q.seen = r.versions(s.server)
	if e.bounds.KeepMemory {
		q.passes = append(q.passes, pastPass{s.server, request, r, s.queues[process].wrote, done.faults})
		q.memory = digest(fmt.Appendf(nil, "%x %s %s %x", q.memory, request, done.lost, e.digests.all(s.server, r.versionOf(s.server))))
	}
	changed := len(done.after) > 0
	if done.err != nil {
		q.errs[request] = done.err
		if !errors.Is(done.err, reconcile.TerminalError(nil)) {
			q.pending[request] = !changed && !q.isPending(request)
		}
	}
	if done.err == nil {
		q.remember(request, s.server.now, requeueAfter(done.result, next.idle))
	}
	if r.name != "" {
		next.stale++
		q.pending[request] = false // the missing changes arrive
	}
	if changed {
		next.busy = s.busy + 1
	} else {
		next.busy = s.busy
	}
	return next, nil
}

// isPending reports whether a request waits for a worker.
func (q *queueState) isPending(request reconcile.Request) bool {
	held, ok := q.pending[request]
	return ok && !held
}

// crash replaces a process by a new one, which begins with all its requests.
func (e *exploration) crash(s *exploredState, process int) {
	s.crashes++
	s.queues[process] = e.newQueue(process, s.server.version)
}

func (e *exploration) newQueue(process int, version uint64) queueState {
	q := queueState{
		pending: map[reconcile.Request]bool{}, quiet: map[reconcile.Request]bool{}, timers: map[reconcile.Request]time.Time{},
		fired: map[reconcile.Request]bool{}, errs: map[reconcile.Request]error{}, wrote: map[schema.GroupVersionKind]uint64{}, started: version,
	}
	for _, r := range e.processes[process].Requests {
		q.pending[r] = false
	}
	return q
}
