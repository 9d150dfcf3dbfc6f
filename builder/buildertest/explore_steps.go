package buildertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/armature-dev/armature/builder/buildertest/internal/search"
)

// The names of steps, apart from passes and those of the cluster.
const (
	timeStep  = "time passes"
	earlyStep = "time passes early"
	editStep  = "a user makes edit "
	crashStep = "crash between passes"
)

// Start implements search.System.
func (e *exploration) Start() (*exploredState, error) { return e.first, nil }

// Steps implements search.System: passes, the rest of the cluster, time if nothing else can happen, edits, faults. At rest, a pass that the
// present state makes quiet may still read an older one.
func (e *exploration) Steps(s *exploredState) (steps []string, rest bool, err error) {
	e.eachPass(s, func(name string, process, request int) {
		if !s.queues[process].quiet[e.processes[process].Requests[request]] {
			steps = append(steps, name)
		}
	})
	cluster, err := e.aroundOf(s)
	if err != nil {
		return nil, false, err
	}
	for _, step := range cluster.steps {
		steps = append(steps, e.nameOf(step))
	}
	if cluster.alone {
		return steps[len(steps)-1:], false, nil
	}
	if len(steps) == 0 && !nextTime(s, cluster, false).IsZero() {
		steps = append(steps, timeStep)
	}
	if s.edits < len(e.scenario.Then) && (len(steps) == 0 || s.edits < e.bounds.Edits) {
		steps = append(steps, fmt.Sprintf("%s%d", editStep, s.edits+1))
	}
	rest = len(steps) == 0
	if e.learning {
		return steps, rest, nil
	}
	steps = append(steps, e.staleSteps(s)...)
	if !rest {
		steps = append(steps, e.otherFaults(s)...)
	}
	return steps, rest, nil
}

// eachPass calls f for each pass that can begin, in order.
func (e *exploration) eachPass(s *exploredState, f func(name string, process, request int)) {
	for i, p := range e.processes {
		for j, r := range p.Requests {
			if s.queues[i].isPending(r) {
				f(e.passName(i, j), i, j)
			}
		}
	}
}

func (e *exploration) passName(process, request int) string {
	p := e.processes[process]
	name := "pass of " + p.Requests[request].String()
	if len(e.processes) > 1 {
		name += " by " + p.Name
	}
	return name
}

// staleSteps returns the passes that may read an older state.
func (e *exploration) staleSteps(s *exploredState) []string {
	var steps []string
	if s.stale < e.bounds.StaleReads {
		e.eachPass(s, func(name string, process, _ int) {
			for _, r := range e.staleReads(s, process) {
				steps = append(steps, name+", "+r.name)
			}
		})
	}
	return steps
}

// otherFaults returns the other steps that are faults. At rest they would change nothing: a check of that state begins a new process.
func (e *exploration) otherFaults(s *exploredState) []string {
	var steps []string
	if s.crashes < e.bounds.Crashes {
		for i := range e.processes {
			steps = append(steps, e.crashName(i))
		}
	}
	if s.early < e.bounds.EarlyTimers && e.hasTimer(s) {
		steps = append(steps, earlyStep)
	}
	return steps
}

func (e *exploration) crashName(process int) string {
	if len(e.processes) == 1 {
		return crashStep
	}
	return crashStep + " of " + e.processes[process].Name
}

func (e *exploration) hasTimer(s *exploredState) bool {
	for _, q := range s.queues {
		if len(q.timers) > 0 {
			return true
		}
	}
	return false
}

// Do implements search.System.
func (e *exploration) Do(s *exploredState, step string) ([]outcome, error) {
	outcomes, err := e.do(s, step)
	for _, o := range outcomes {
		if err == nil && o.Err == nil {
			err = e.settleQuiet(o.State)
		}
	}
	return outcomes, err
}

func (e *exploration) do(s *exploredState, step string) ([]outcome, error) {
	one := func(next *exploredState, err error) ([]outcome, error) {
		if err != nil {
			return nil, err
		}
		return []outcome{{Name: step, State: next, Err: e.checkInvariants(next)}}, nil
	}
	switch {
	case strings.HasPrefix(step, clusterStep):
		next, _, err := e.stepCluster(s, step)
		return one(next, err)
	case strings.HasPrefix(step, editStep):
		return one(e.edit(s))
	case step == timeStep:
		return one(e.wait(s, false))
	case step == earlyStep:
		next, err := e.wait(s, true)
		if err != nil {
			return nil, err
		}
		next.early++
		return one(next, nil)
	case strings.HasPrefix(step, crashStep):
		next := s.clone()
		for i := range e.processes {
			if e.crashName(i) == step {
				e.crash(next, i)
			}
		}
		return one(next, nil)
	}
	return e.doPass(s, step)
}

func (e *exploration) doPass(s *exploredState, step string) ([]outcome, error) {
	var outcomes []outcome
	err := fmt.Errorf("there is no step %q", step)
	e.eachPass(s, func(name string, process, request int) {
		if !strings.HasPrefix(step, name) {
			return
		}
		r := e.processes[process].Requests[request]
		if step == name {
			outcomes, err = e.pass(s, step, process, r, reads{})
			return
		}
		for _, stale := range e.staleReads(s, process) {
			if step == name+", "+stale.name {
				outcomes, err = e.pass(s, step, process, r, stale)
			}
		}
	})
	return outcomes, err
}

// nextTime returns the time of the next requested pass, or the next step of the cluster; a second later, if passes only failed; zero if
// nothing waits. After idleSteps clock steps without a change, a timer that has fired meanwhile, or a pass that fails, will change nothing
// any more. It hides neither a later timer nor the cluster, which has as many clock steps to change something. With all, they all count.
func nextTime(s *exploredState, cluster around, all bool) time.Time {
	all = all || s.idle < idleSteps
	var next time.Time
	if all || s.idle < 2*idleSteps {
		next = cluster.next
	}
	for _, q := range s.queues {
		for r, at := range q.timers {
			if (all || !q.fired[r]) && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
		for _, held := range q.pending {
			if all && held && next.IsZero() {
				next = s.server.now.Add(time.Second)
			}
		}
	}
	return next
}

// wait returns the state at the next time. The failed passes may run again too.
func (e *exploration) wait(s *exploredState, all bool) (*exploredState, error) {
	cluster, err := e.aroundOf(s)
	if err != nil {
		return nil, err
	}
	next := s.clone()
	next.idle++
	next.busy = 0
	until := nextTime(s, cluster, all)
	if !e.scenario.ClockStands && until.After(s.server.now) {
		later := *s.server
		later.now = until
		next.server = &later
	}
	for i := range next.queues {
		q := &next.queues[i]
		if len(q.quiet) > 0 { // they are done before the time passes, and have read the present state
			q.seen = reads{}.versions(s.server)
		}
		for r, at := range q.timers {
			if !at.After(until) {
				delete(q.timers, r)
				delete(q.quiet, r)
				q.pending[r] = false
				q.fired[r] = true
			}
		}
		for r := range q.pending {
			q.pending[r] = false
			if q.quiet[r] {
				delete(q.pending, r)
				delete(q.quiet, r)
			}
		}
	}
	return next, nil
}

// Independent implements search.System: the rest of the cluster takes local steps of different objects in any order, unless a later pass
// may read a state in between.
func (e *exploration) Independent(s *exploredState, a, b string) bool {
	if s.stale < e.bounds.StaleReads || e.bounds.Coarse || e.bounds.WholeWorkloads {
		return false
	}
	one, other := e.localStep(s, a), e.localStep(s, b)
	return one != nil && other != nil && one.Actor == other.Actor
}

// localStep returns the local step of a name, nil if there is none.
func (e *exploration) localStep(s *exploredState, name string) *ClusterStep {
	cluster, err := e.aroundOf(s)
	if err != nil {
		return nil
	}
	for i := range cluster.steps {
		if step := &cluster.steps[i]; step.Local && e.nameOf(*step) == name {
			return step
		}
	}
	return nil
}

var _ search.System[*exploredState] = &exploration{}
