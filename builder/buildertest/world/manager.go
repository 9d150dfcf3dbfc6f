package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// A pass that fails, or returns Requeue, is repeated after firstRetry, and twice as long after each further time, at most after lastRetry.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// Operator is an operator that a [Manager] runs.
type Operator struct {
	// Owner is an empty object of the reconciled kind. Required.
	Owner client.Object
	// Reconciler returns the reconciler of a new process, on its client, whose Now is the clock. No state may be shared between two calls.
	// Required.
	Reconciler func(c *buildertest.Client) (reconcile.Reconciler, error)
}

// OperatorOf returns the operator that a function describes without a manager:
//
//	world.OperatorOf(jobflow.Operator)
func OperatorOf[T client.Object](describe func(manager.Manager) *builder.Operator[T]) Operator {
	return Operator{Owner: empty[T](), Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
		return buildertest.NewReconciler(describe(nil), c, c.Now)
	}}
}

// Manager is a process that runs operators. Its steps are the passes: one for each owner whenever anything has changed since the last
// pass, or the time has come that the pass requested. After a crash, its next step is the start of a new process. Two managers in a world
// both run, as two leaders do; with one of them stopped, they are a leader and its standby.
type Manager struct {
	name      string
	world     *World
	operators []Operator
	lag       int
	lagging   []client.Object // kinds; none: all

	client      *buildertest.Client // of the present process
	reconcilers []reconcile.Reconciler
	passes      map[passKey]passed
	stopped     bool
	caughtUp    uint64 // the server's version that a lagging client has seen
	calls       []buildertest.Call
	events      []buildertest.RecordedEvent
	errors      []error
}

type passKey struct {
	operator int
	owner    types.NamespacedName
}

// passed is what follows from the last pass over an owner.
type passed struct {
	version uint64        // of the server, unless something changed during the pass
	again   time.Time     // zero: only after a change
	retry   time.Duration // after the last failure, or Requeue; 0: it succeeded
}

// AddManager starts a manager with operators. Its name is the name of its clients. Names are unique.
func (w *World) AddManager(name string, operators ...Operator) (*Manager, error) {
	m := &Manager{name: name, world: w, operators: operators}
	if slices.ContainsFunc(w.managers, func(other *Manager) bool { return other.name == name }) {
		return nil, fmt.Errorf("a manager with the name %q exists; names are unique", name)
	}
	if err := m.Start(); err != nil {
		return nil, err
	}
	w.managers = append(w.managers, m)
	return m, nil
}

// Managers returns the managers, in the order in which they were added.
func (w *World) Managers() []*Manager { return slices.Clone(w.managers) }

// Name returns the manager's name.
func (m *Manager) Name() string { return m.name }

// Client returns the client of the manager's present process: let it fail, lag or crash.
func (m *Manager) Client() *buildertest.Client { return m.client }

// Lag makes the caches of the manager's processes lag n changes of the server behind, until nothing else can happen. With kinds (empty
// objects), only those of these kinds do. They see its own writes. 0 is no lag. A call ends the lag of the calls before.
func (m *Manager) Lag(n int, kinds ...client.Object) error {
	m.lag, m.lagging = n, kinds
	if err := m.client.Lag(0); err != nil {
		return err
	}
	clear(m.passes) // what passes have seen may be older than what the caches show now
	return m.client.Lag(n, kinds...)
}

// Stop ends the manager's process. Stopping a stopped manager does nothing.
func (m *Manager) Stop() { m.client.CrashAfter(0); m.stopped = true }

// Start starts a new process, with new caches and without memory.
func (m *Manager) Start() error {
	if m.client != nil {
		m.keep()
	}
	m.client = m.world.server.Client(m.name)
	m.client.ReadYourWrites(true)
	m.client.LimitRequests(1) // their order is the same in each run
	if err := m.client.Lag(m.lag, m.lagging...); err != nil {
		return err
	}
	m.reconcilers, m.passes, m.stopped = nil, map[passKey]passed{}, false
	for _, o := range m.operators {
		r, err := o.Reconciler(m.client)
		if err != nil {
			return fmt.Errorf("manager %s: %w", m.name, err)
		}
		m.reconcilers = append(m.reconcilers, r)
	}
	return nil
}

// keep saves the record of a process.
func (m *Manager) keep() {
	m.calls = append(m.calls, m.client.Ledger().Calls()...)
	m.client.Ledger().Reset()
	m.events = append(m.events, m.client.Events()...)
	m.client.ResetEvents()
}

// TakeWrites returns the manager's writes since the last call, of all its processes, without dry runs.
func (m *Manager) TakeWrites() []buildertest.Call {
	m.keep()
	calls := m.calls
	m.calls = nil
	return slices.DeleteFunc(calls, func(c buildertest.Call) bool { return !c.Verb.IsWrite() || c.DryRun })
}

// TakeEvents returns the events that the manager's operators have emitted since the last call.
func (m *Manager) TakeEvents() []buildertest.RecordedEvent {
	m.keep()
	recorded := m.events
	m.events = nil
	return recorded
}

// TakeErrors returns the errors of passes since the last call, the same one once in a row. Conflicts, which are tried again at once, and
// crashes are no errors.
func (m *Manager) TakeErrors() []error {
	failed := m.errors
	m.errors = nil
	return failed
}

// steps returns what the manager does next.
func (m *Manager) steps(s *State) []Step {
	switch {
	case m.stopped:
		return nil
	case m.client.Crashed():
		return []Step{{Actor: m.name, Does: "start", run: func(context.Context) error { return m.Start() }}}
	}
	var steps []Step
	for i, o := range m.operators {
		gvk, err := apiutil.GVKForObject(o.Owner, s.scheme)
		if err != nil {
			s.fail("manager %s: %w", m.name, err)
			return nil
		}
		for _, key := range m.owners(i, s.objects[gvk]) {
			if m.isDue(s, passKey{i, key}) {
				steps = append(steps, m.pass(i, gvk.GroupKind(), key))
			}
		}
	}
	if len(steps) == 0 && m.lag > 0 && m.caughtUp != s.version {
		steps = append(steps, Step{Actor: m.name, Does: "catch up", run: func(context.Context) error {
			m.client.Refresh()
			m.caughtUp = s.version
			clear(m.passes)
			return nil
		}})
	}
	return steps
}

// owners returns the names of the present owners, and of those that are gone since their last pass.
func (m *Manager) owners(operator int, present []client.Object) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, obj := range present {
		keys = append(keys, client.ObjectKeyFromObject(obj))
	}
	for key := range m.passes {
		if key.operator == operator && !slices.Contains(keys, key.owner) {
			keys = append(keys, key.owner)
		}
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

func (m *Manager) isDue(s *State, key passKey) bool {
	last, ok := m.passes[key]
	return !ok || last.version != s.version || !last.again.IsZero() && s.Due(last.again)
}

// fail records the error of a pass.
func (m *Manager) fail(err error) {
	if n := len(m.errors); n == 0 || m.errors[n-1].Error() != err.Error() {
		m.errors = append(m.errors, err)
	}
}

// pass is the step of one pass over an owner.
func (m *Manager) pass(operator int, kind schema.GroupKind, owner types.NamespacedName) Step {
	run := func(ctx context.Context) error {
		server := m.world.server
		before := server.Version()
		result, err := m.reconcilers[operator].Reconcile(ctx, reconcile.Request{NamespacedName: owner})
		switch {
		case m.client.Crashed():
			return nil
		case errors.Is(err, builder.ErrMisuse):
			return fmt.Errorf("manager %s: %s %s: %w", m.name, kind.Kind, owner, err)
		}
		key := passKey{operator, owner}
		last := passed{version: before}
		if server.Version() != before {
			last.version = 0
		}
		if err != nil {
			m.fail(fmt.Errorf("reconcile %s %s: %w", kind.Kind, owner, err))
		}
		switch { // as controller-runtime, which forgets the time beside an error, and still does what the deprecated Requeue says
		case err == nil && result.RequeueAfter > 0:
			last.again = m.world.Now().Add(result.RequeueAfter)
		case err == nil && result.Requeue, err != nil && !errors.Is(err, reconcile.TerminalError(nil)): //nolint:staticcheck // see above
			last.retry = min(max(2*m.passes[key].retry, firstRetry), lastRetry)
			last.again = m.world.Now().Add(last.retry)
		}
		m.passes[key] = last
		return nil
	}
	return Step{Actor: m.name, Does: "reconcile", Kind: kind, Namespace: owner.Namespace, Name: owner.Name, run: run}
}
