package buildertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
)

// idleSteps is the number of idle clock steps, each to the next time, after which polls count no more: an operator that requeues every
// minute has settled all the same.
const idleSteps = 3

// ofClock is a hint for a scenario that doesn't come to rest while the clock moves.
const ofClock = "the clock moves each time nothing else happens; a scenario of an operator that then always writes, " +
	"such as a heartbeat or one Job an hour, needs ClockStands"

// operatorName is the name of the operator's clients in a scenario.
const operatorName = "operator"

// run is one run of a scenario: a server, and the successive processes on it.
type run struct {
	scenario Scenario
	server   *Server
	user     client.Client
	cluster  Cluster // nil: nothing else happens

	process    *Client
	reconciler reconcile.Reconciler
	calls      []Call // of the operator, in all processes
	rounds     int    // since the last step
	steps      int    // of Then that are done

	passed func(waypoint, *snapshot) (end bool) // called at each waypoint until the run rests; nil: the run goes on
}

func (s *Scenario) begin(ctx context.Context) (*run, error) {
	if s.Outside != nil {
		if err := s.Outside(ctx); err != nil {
			return nil, fmt.Errorf("bring the system outside to its start: %w", err)
		}
	}
	server, err := s.newServer()
	if err != nil {
		return nil, err
	}
	server.comparable = true
	r := &run{scenario: *s, server: server, user: server.Client("user")}
	if s.Cluster != nil {
		r.cluster = s.Cluster(server)
	}
	return r, r.startProcess()
}

// crash returns a run that continues from the present state, without a process. The caller holds the server's lock.
func (r *run) crash() *run {
	server := r.server.fork()
	next := &run{
		scenario: r.scenario, server: server, user: server.Client("user"), steps: r.steps,
		calls: slices.Concat(r.calls, r.process.ledger.Calls()),
	}
	switch cluster := r.cluster.(type) {
	case ClusterWithMemory:
		next.cluster = cluster.Copy(server)
	case Cluster:
		next.cluster = r.scenario.Cluster(server)
	}
	return next
}

// restart runs the rest of the cluster, and then starts the next process.
func (r *run) restart(ctx context.Context) error {
	if r.process != nil {
		r.keepCalls()
	}
	if _, err := r.others(ctx); err != nil {
		return err
	}
	return r.startProcess()
}

// startProcess starts a process of the operator.
func (r *run) startProcess() error {
	r.process = r.server.Client(operatorName)
	if err := r.process.Lag(r.scenario.Lag); err != nil {
		return err
	}
	r.process.ReadYourWrites(!r.scenario.LagOwnWrites)
	reconciler, err := r.scenario.Reconciler(r.process)
	if err != nil {
		return fmt.Errorf("make the reconciler: %w", err)
	}
	r.reconciler = reconciler
	return nil
}

// settle runs rounds until nothing changes any more, and no step remains.
func (r *run) settle(ctx context.Context) error {
	idle, moved := 0, 0   // clock steps: since the last change, and since the last step of Then
	var first []time.Time // for which the first round without a change asked
	for {
		if r.rounds++; r.rounds > r.scenario.MaxRounds {
			err := fmt.Errorf("no fixed point after %d rounds; the last calls were\n%s", r.scenario.MaxRounds, r.lastCalls())
			if moved > 0 {
				err = fmt.Errorf("%w\n%s", err, ofClock)
			}
			return err
		}
		before := r.server.Version()
		asked, failed := r.round(ctx, idle)
		if r.process.Crashed() {
			if err := r.restart(ctx); err != nil {
				return err
			}
			continue
		}
		next, err := r.others(ctx)
		if err != nil {
			return err
		}
		if r.passed != nil && r.endsAt(asked, next, failed, r.server.Version() == before) {
			return nil
		}
		if idle == 0 {
			first = r.timesAfter(asked)
		}
		wait := r.untilNext(asked, next, first, idle)
		switch {
		case r.server.Version() != before:
			idle = 0
		case wait > 0 || idle < idleSteps && (failed != nil || r.scenario.Lag > 0):
			r.process.Refresh()
			if !r.scenario.ClockStands {
				r.server.clock.Step(max(wait, time.Second))
				moved++
			}
			idle++
		case failed != nil && !r.scenario.Tolerate(failed):
			return fmt.Errorf("nothing changes any more, and there is still an error: %w", failed)
		case r.steps < len(r.scenario.Then):
			if err := r.scenario.Then[r.steps](ctx, r.user); err != nil {
				return fmt.Errorf("step %d of Then: %w", r.steps+1, err)
			}
			r.steps++
			r.rounds, idle, moved = 0, 0, 0
		default:
			return nil
		}
	}
}

// untilNext returns the time to the next requested pass, or the next step of the cluster; 0 if nothing waits. After idleSteps clock steps
// without a change, a pass counts only if the first round asked for it, and the cluster has as many again: a poll hides neither.
func (r *run) untilNext(asked []time.Duration, next time.Duration, first []time.Time, idle int) time.Duration {
	switch {
	case idle >= idleSteps && r.scenario.ClockStands:
		return 0
	case idle >= idleSteps:
		asked = nil
		for _, at := range first {
			asked = append(asked, max(0, at.Sub(r.server.clock.Now())))
		}
		if idle >= 2*idleSteps {
			next = 0
		}
	}
	for _, after := range asked {
		next = sooner(next, after)
	}
	return next
}

// timesAfter returns the times after durations.
func (r *run) timesAfter(durations []time.Duration) []time.Time {
	var times []time.Time
	for _, d := range durations {
		times = append(times, r.server.clock.Now().Add(d))
	}
	return times
}

// manyPasses is a reconciler whose one pass makes several, such as that of package story.
type manyPasses interface {
	Results() []reconcile.Result // of the last passes without an error
}

// round reconciles all requests once, after a number of idle clock steps. It returns the requested times and the errors.
func (r *run) round(ctx context.Context, idle int) ([]time.Duration, error) {
	var asked []time.Duration
	var errs []error
	for _, req := range r.scenario.Requests {
		result, err := r.reconciler.Reconcile(ctx, req)
		if err != nil {
			errs = append(errs, err)
		}
		var results []reconcile.Result
		if many, ok := r.reconciler.(manyPasses); ok {
			results = many.Results()
		} else if err == nil { // as controller-runtime, which forgets the time beside an error
			results = append(results, result)
		}
		for _, result := range results {
			asked = append(asked, requeueAfter(result, idle))
		}
	}
	return asked, errors.Join(errs...)
}

// maxClusterRounds limits how often the cluster acts while the clock stands.
const maxClusterRounds = 10_000

// others lets the rest of the cluster settle while the clock stands. It returns the time until the cluster can do more, 0 for none.
func (r *run) others(ctx context.Context) (time.Duration, error) {
	if r.cluster == nil {
		return 0, nil
	}
	for range maxClusterRounds {
		before := r.server.Version()
		steps, next, err := r.cluster.Next()
		for _, step := range steps {
			if err == nil {
				err = step.Run(ctx)
			}
		}
		switch {
		case err != nil:
			return 0, fmt.Errorf("the cluster: %w", err)
		case r.server.Version() != before:
			continue
		case next.IsZero():
			return 0, nil
		default:
			return next.Sub(r.server.clock.Now()), nil
		}
	}
	return 0, fmt.Errorf("the cluster doesn't come to rest; the last writes were\n%s", r.lastCalls())
}

// sooner returns the smaller duration that isn't 0.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func (r *run) keepCalls() {
	r.calls = append(r.calls, r.process.ledger.Calls()...)
	r.process.ledger.Reset()
}

// writes returns the operator's writes so far, without dry runs.
func (r *run) writes() []Call {
	r.keepCalls()
	var writes []Call
	for _, c := range r.calls {
		if c.Verb.IsWrite() && !c.DryRun {
			writes = append(writes, c)
		}
	}
	return writes
}

func (r *run) lastCalls() string {
	const shown = 20
	var l Ledger
	calls := r.server.ledger.Writes()
	for _, c := range calls[max(0, len(calls)-shown):] {
		l.add(c)
	}
	return l.String()
}

// isTerminal reports whether a scenario may end with an error: no retry can fix it, and it isn't an error of the program.
func isTerminal(err error) bool {
	return errors.Is(err, reconcile.TerminalError(nil)) && !errors.Is(err, builder.ErrMisuse)
}
