package buildertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/builder/buildertest/internal/search"
)

// Bounds limit what [Explore] explores.
type Bounds struct {
	// Crashes is the number of crashes of operators in a run, each after any write, or between passes. Default: 0.
	Crashes int
	// StaleReads is the number of passes in a run whose reads lag. Default: 0.
	StaleReads int
	// Lag is the number of changes that such a pass may miss: the last ones of all kinds, or of any one kind. Default: 1.
	Lag int
	// Edits is the number of steps of Then, from the first on, that happen at any time. The others wait until the scenario rests.
	// Default: 0.
	Edits int
	// EarlyTimers is the number of times in a run that the clock moves on to the time of a requested pass though something else can still
	// happen. Default: 0, the clock moves when nothing else can happen.
	EarlyTimers int
	// LostReplies is the number of writes in a run whose reply is lost while the process lives on: it has an error, and the write has
	// happened. Default: 0.
	LostReplies int
	// EachStep explores the order of all steps of the Cluster. Default: false, a step that changes only objects of kinds that no operator
	// and no invariant reads, and that belong to no object of a kind that they read, is taken at once, alone: its order shows nowhere.
	// Not so a step that changes a ResourceQuota, the spec of a workload with a template of pods, or what a pod uses, in a namespace with
	// a quota that all pods of the exploration and the largest one again would exceed together, or of a resource that a pod must specify
	// and doesn't.
	EachStep bool
	// Coarse takes the steps of the Cluster about an object and what that controls as one, until the object itself has changed: a Job's
	// pod is bound and starts, and then the Job counts it. For several children at the same time, whose orders are otherwise too many.
	// Default: false.
	Coarse bool
	// WholeWorkloads takes the steps of the Cluster about an object and what that controls as one, until there are none: a StatefulSet is
	// created, and then all its pods are ready. It is rougher than Coarse, for several workloads. Default: false.
	WholeWorkloads bool
	// KeepMemory lets a process live from pass to pass, as in a manager. It then makes its former passes again before each one that the
	// exploration makes, and two states are the same only if their processes have read the same in all their passes, so this takes many
	// times longer. Default: false, each pass is the first one of its process. It reads the process's own writes all the same.
	KeepMemory bool

	// Depth is the number of steps of a run. Default: 300.
	Depth int
	// States is the number of different states after which the exploration ends. Default: 1 000 000.
	States int
	// Walks is the number of random walks after the exploration, with four times as many faults, and
	// processes that keep their memory. They continue from states that are new. Default: 0.
	Walks int
	// Seed makes other walks. Default: 0.
	Seed uint64
}

// ofWalk returns the bounds of a random walk.
func (b Bounds) ofWalk() Bounds {
	const more = 4
	b.Crashes, b.StaleReads, b.EarlyTimers, b.LostReplies = more*b.Crashes, more*b.StaleReads, more*b.EarlyTimers, more*b.LostReplies
	b.KeepMemory = true
	return b
}

// Report says what [Explore] did.
type Report struct {
	States int // different ones
	Steps  int // taken
	Slept  int // steps that were left out, because another order of them leads to the same state
	Passes int // of operators
	Ends   int // different states in which nothing can happen any more, apart from a stale read
	Depth  int // of the deepest state, in steps
	// Exhausted reports whether every run within the number of faults was explored. False if Depth or States ended it.
	Exhausted bool
	// Walked is the number of different states of the random walks.
	Walked int
	Took   time.Duration
}

// String returns the report in one line.
func (r Report) String() string {
	all := "all"
	if !r.Exhausted {
		all = "the first"
	}
	return fmt.Sprintf("%s %d states, %d steps (%d left out), %d passes, %d ends, depth %d, %d states walked, %s",
		all, r.States, r.Steps, r.Slept, r.Passes, r.Ends, r.Depth, r.Walked, r.Took.Round(time.Millisecond))
}

// Explore runs a scenario in all orders of what can happen, within bounds: which pass comes next, on what state of its cache, after
// which write it crashes, what the rest of the cluster does next, when a user edits. The test fails at the first run that
// violates a property; it logs the shortest such run that it finds.
//
// The properties:
//
//   - It comes to rest: no circle of states in which the operator writes, and a pass on its own result writes nothing. Without a
//     RequeueAfter of its request, a pass a day later changes nothing either, except times, and doesn't fail, unless Scenario.ClockStands.
//   - All runs end in the same state, by Scenario.Normalize, as the run without faults. No error stays, except those of Tolerate.
//   - No object is created more often than without faults, unless someone else deleted it.
//   - No write to a Foreign object, and no deletion of an object that no operator created and no requested one controls. The claims of a
//     StatefulSet belong to it.
//   - A final state stays: see Scenario.Final.
//   - Scenario.Invariants hold in each state.
//
// The rest of the cluster is Scenario.Cluster. An event enqueues the requests that a manager would
// enqueue, for reconcilers of [NewReconciler]; for others, each event enqueues all requests.
func Explore(t testing.TB, s Scenario, b Bounds) Report {
	t.Helper()
	report, err := FindCounterexample(t.Context(), s, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
	return report
}

// FindCounterexample is Explore for other uses than a test that fails. The error is a [*Counterexample], or one of the scenario.
func FindCounterexample(ctx context.Context, s Scenario, b Bounds) (Report, error) {
	start := time.Now()
	e, err := newExploration(ctx, s, b)
	if err != nil {
		return Report{}, err
	}
	stats, failure, err := e.exhaust(ctx)
	report := Report{
		States: stats.States, Steps: stats.Steps, Slept: stats.Slept, Ends: stats.Ends, Depth: stats.Depth,
		Exhausted: failure == nil && err == nil && !stats.Cut,
	}
	if failure == nil && err == nil && b.Walks > 0 {
		report.Walked, failure, err = e.walk(ctx)
	}
	report.Passes, report.Took = e.passes, time.Since(start)
	if failure != nil {
		return report, e.shrink(failure)
	}
	return report, err
}

// exploration is a running exploration.
type exploration struct {
	ctx       context.Context
	scenario  *Scenario
	bounds    Bounds
	server    *Server // brought into the state of each step
	first     *exploredState
	processes []process

	foreign, given map[types.UID]bool // of the scenario's objects
	made           map[string]int     // creations without faults
	end            *snapshot          // the end state without faults; nil: none yet
	learning       bool               // the run without faults is running

	digests digests
	worlds  map[*snapshot]around
	cluster Cluster                   // nil: none
	quiet   map[search.Hash]quietPass // passes, by content
	seen    map[schema.GroupKind]bool // kinds that operators and invariants read or write

	contention map[string]*contention // by namespace
	contended  map[string]bool        // namespaces in which a quota may refuse a pod
	learned    facts                  // in the run without faults

	walks            bool // random walks are running, within their own bounds
	passes, replayed int
}

func newExploration(ctx context.Context, given Scenario, b Bounds) (*exploration, error) {
	if given.Outside != nil {
		return nil, errors.New("a scenario with Scenario.Outside can't be explored, because a real system doesn't return to a former state")
	}
	s, err := given.withDefaults()
	if err != nil {
		return nil, err
	}
	b.Lag, b.Depth, b.States = cmp.Or(b.Lag, 1), cmp.Or(b.Depth, 300), cmp.Or(b.States, 1_000_000)
	server, err := s.newServer()
	if err != nil {
		return nil, err
	}
	server.comparable = true
	e := &exploration{
		ctx: log.IntoContext(context.WithoutCancel(ctx), logr.Discard()), scenario: s, bounds: b, server: server, given: map[types.UID]bool{},
		digests: digests{}, worlds: map[*snapshot]around{}, seen: map[schema.GroupKind]bool{{}: true},
		quiet: map[search.Hash]quietPass{}, contention: map[string]*contention{}, contended: map[string]bool{},
	}
	for _, obj := range server.stored() {
		e.learnContention(obj)
	}
	if s.Cluster != nil {
		e.cluster = s.Cluster(server)
	}
	if e.foreign, err = s.foreignObjects(server); err != nil {
		return nil, err
	}
	for _, obj := range s.Objects {
		uid, err := server.initialUID(obj)
		if err != nil {
			return nil, err
		}
		e.given[uid] = true
	}
	for _, p := range s.processes() {
		if err := e.addProcess(p); err != nil {
			return nil, err
		}
	}
	e.first = &exploredState{server: server.snapshot(), made: map[string]int{}}
	for i := range e.processes {
		e.first.queues = append(e.first.queues, e.newQueue(i, server.version))
	}
	return e, e.learn()
}

func (e *exploration) addProcess(p Process) error {
	if p.Reconciler == nil || len(p.Requests) == 0 && p.Owner == nil || p.Name == "" {
		return errors.New("a Process of a Scenario needs a Name, a Reconciler and Requests")
	}
	c := e.server.Client(p.Name)
	r, err := p.Reconciler(c)
	if err != nil {
		return fmt.Errorf("make the reconciler: %w", err)
	}
	wakes, err := wakesOf(e.ctx, r, c)
	if err != nil {
		return fmt.Errorf("index for the watches: %w", err)
	}
	p.Requests = slices.Clone(p.Requests)
	e.processes = append(e.processes, process{p, wakes})
	return nil
}

// learn runs the scenario without faults, in the first order, to know the end state.
func (e *exploration) learn() error {
	bounds := e.bounds
	e.bounds.Crashes, e.bounds.StaleReads, e.bounds.EarlyTimers, e.bounds.Edits, e.bounds.LostReplies = 0, 0, 0, 0, 0
	e.learning = true
	made := map[string]int{}
	var trace []string
	failure, err := search.Follow(learner{e, made, &trace}, nil, e.bounds.Depth, false)
	e.learning, e.bounds, e.made = false, bounds, made
	e.learned = e.facts()
	clear(e.worlds) // they depend on what it has learned
	switch {
	case err != nil:
		return err
	case failure != nil:
		found := e.counterexample(failure)
		found.Story, _ = e.story(found.Steps) // none if the steps can't happen again with all that it has learned
		return found
	case e.end == nil:
		const shown = 10
		last := trace[max(0, len(trace)-shown):]
		err := fmt.Errorf("%w within %d steps; the last ones were\n%s", ErrNoRest, e.bounds.Depth, strings.Join(last, "\n"))
		if slices.Contains(last, timeStep) {
			err = fmt.Errorf("%w\n%s", err, ofClock)
		}
		return &Counterexample{Bounds: bounds, Err: err}
	}
	e.server.restore(e.end)
	return e.scenario.checkExisted(e.server)
}

// learner is an exploration that records how often operators create each object, and its steps.
type learner struct {
	*exploration
	made  map[string]int
	trace *[]string
}

// Do implements search.System.
func (l learner) Do(s *exploredState, step string) ([]outcome, error) {
	*l.trace = append(*l.trace, step)
	return l.exploration.Do(s, step)
}

// Hash implements search.System.
func (l learner) Hash(s *exploredState) search.Hash {
	for name, n := range s.made {
		l.made[name] = max(l.made[name], n)
	}
	return l.exploration.Hash(s)
}

// exhaust visits all states. It begins again when it has learned facts; a failure that it has found meanwhile must be confirmed.
func (e *exploration) exhaust(ctx context.Context) (search.Stats, *search.Failure, error) {
	for {
		known := e.known()
		stats, failure, err := search.Exhaust(ctx, e, search.Limits{Depth: e.bounds.Depth, States: e.bounds.States})
		switch {
		case e.known() == known || err != nil:
			return stats, failure, err
		case failure != nil:
			return stats, e.confirmed(failure, func() (*search.Failure, error) {
				_, failure, err := e.exhaust(ctx)
				return failure, err
			}), nil
		}
		clear(e.worlds) // they depend on the facts
	}
}

// walk takes the random walks, with more faults.
func (e *exploration) walk(ctx context.Context) (int, *search.Failure, error) {
	e.walks, e.bounds = true, e.bounds.ofWalk()
	walk := func() (search.Stats, *search.Failure, error) {
		return search.Walk(ctx, e, search.Walks{Number: e.bounds.Walks, Seed: e.bounds.Seed, Depth: e.bounds.Depth})
	}
	known := e.known()
	stats, failure, err := walk()
	if failure != nil && e.known() != known {
		failure = e.confirmed(failure, func() (*search.Failure, error) {
			_, failure, err := walk()
			return failure, err
		})
	}
	return stats.States, failure, err
}

// confirmed returns a failure that a replay meets with the facts known now. It was found while they were learned, so if the replay goes
// another way, confirmed searches again. Whatever that finds, there is a failure.
func (e *exploration) confirmed(f *search.Failure, searchAgain func() (*search.Failure, error)) *search.Failure {
	if e.repeats(f) {
		return f
	}
	if again, _ := searchAgain(); again != nil {
		return again
	}
	return f
}

// repeats reports whether a replay meets a failure with the facts known now.
func (e *exploration) repeats(f *search.Failure) bool {
	for {
		known := e.known()
		clear(e.worlds)
		again, err := search.Follow(e, f.Trace, e.bounds.Depth, false)
		if e.known() == known {
			return err == nil && again != nil && propertyOf(again.Err) == propertyOf(f.Err)
		}
	}
}

// shrink returns the shortest counterexample found for a failure. It begins again when it has learned facts.
func (e *exploration) shrink(f *search.Failure) error {
	property := propertyOf(f.Err)
	for known := -1; known != e.known(); {
		known = e.known()
		clear(e.worlds)
		small, err := search.Shrink(e, f, e.bounds.Depth, func(other *search.Failure) bool { return propertyOf(other.Err) == property })
		if err != nil {
			return errors.Join(e.counterexample(f), err)
		}
		if e.known() == known || e.repeats(small) {
			f = small
		}
	}
	repeats := e.repeats(f)
	found := e.counterexample(f)
	found.unrepeated = !repeats
	var err error
	if found.Story, err = e.story(found.Steps); err != nil {
		return errors.Join(found, err)
	}
	return found
}

// propertyOf returns what identifies a violated property.
func propertyOf(err error) string {
	for _, known := range []error{ErrNoRest, ErrOtherEnd, ErrStuck, ErrCreatedTwice, ErrNotOwned, ErrBackwards, ErrPanic} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if isCircle(err) {
		return ErrNoRest.Error()
	}
	return err.Error()
}
