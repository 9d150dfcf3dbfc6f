package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Circle is the error of a program that never comes to rest: the last steps, of this number, lead to a state in which they began.
type Circle int

// Error implements error.
func (c Circle) Error() string {
	if c == 1 {
		return "the last step changes something and leads to the same state, so it repeats"
	}
	return fmt.Sprintf("the last %d steps lead to the same state, so they repeat", int(c))
}

// frame is a state on the way from the start, and what is left to do in it.
type frame[S any] struct {
	state  S
	hash   Hash
	name   string // of the outcome that led here
	wrote  bool   // the program, in that outcome
	steps  []string
	sleep  set // steps that needn't be taken
	taken  []string
	within []Outcome[S] // of the last step taken, not visited yet
	from   string       // the last step taken
}

// set is a set of names.
type set map[string]struct{}

func (s set) has(name string) bool { _, ok := s[name]; return ok }

func (s set) isWithin(other set) bool {
	for name := range s {
		if !other.has(name) {
			return false
		}
	}
	return true
}

// depthFirst is a running search.
type depthFirst[S any] struct {
	system  System[S]
	limits  Limits
	stats   Stats
	visited map[Hash]set // what slept in each visit of a state
	onPath  map[Hash]int // place in the path
	path    []*frame[S]
}

// Exhaust visits every state within the limits, depth first. It returns the first failure, nil if there is none. The error is one of
// the system, or of the context.
func Exhaust[S any](ctx context.Context, system System[S], limits Limits) (Stats, *Failure, error) {
	d := &depthFirst[S]{system: system, limits: limits, visited: map[Hash]set{}, onPath: map[Hash]int{}}
	start, err := system.Start()
	if err != nil {
		return d.stats, nil, err
	}
	failure, err := d.enter(Outcome[S]{State: start}, nil)
	for failure == nil && err == nil && len(d.path) > 0 {
		if err = ctx.Err(); err == nil {
			failure, err = d.step()
		}
	}
	return d.stats, failure, err
}

// step visits the next outcome of the deepest state, or leaves the state.
func (d *depthFirst[S]) step() (*Failure, error) {
	top := d.path[len(d.path)-1]
	if len(top.within) > 0 {
		next := top.within[0]
		top.within = top.within[1:]
		return d.enter(next, d.asleepAfter(top))
	}
	for len(top.steps) > 0 {
		name := top.steps[0]
		top.steps = top.steps[1:]
		if top.sleep.has(name) {
			d.stats.Slept++
			continue
		}
		outcomes, err := d.system.Do(top.state, name)
		if err != nil {
			return nil, fmt.Errorf("%w\nafter\n%s", err, numbered(append(d.trace(), name)))
		}
		d.stats.Steps += len(outcomes)
		if top.from != "" {
			top.taken = append(top.taken, top.from)
		}
		top.from, top.within = name, outcomes
		return nil, nil
	}
	delete(d.onPath, top.hash)
	d.path = d.path[:len(d.path)-1]
	return nil, nil
}

// asleepAfter returns the steps that sleep after the step that a state has taken last: those that were asleep or taken before, and are
// independent of it.
func (d *depthFirst[S]) asleepAfter(f *frame[S]) set {
	asleep := set{}
	for name := range f.sleep {
		if d.system.Independent(f.state, f.from, name) {
			asleep[name] = struct{}{}
		}
	}
	for _, name := range f.taken {
		if d.system.Independent(f.state, f.from, name) {
			asleep[name] = struct{}{}
		}
	}
	return asleep
}

// enter visits a state. It fails if the outcome violates a property, or leads in a circle.
func (d *depthFirst[S]) enter(o Outcome[S], sleep set) (*Failure, error) {
	fail := func(err error) *Failure {
		trace := d.trace()
		if o.Name != "" {
			trace = append(trace, o.Name)
		}
		return &Failure{Trace: trace, Err: err}
	}
	if o.Err != nil {
		return fail(o.Err), nil
	}
	hash := d.system.Hash(o.State)
	if at, ok := d.onPath[hash]; ok {
		if d.writes(at) || o.Wrote {
			return fail(Circle(len(d.path) - at)), nil
		}
		return nil, nil
	}
	f := &frame[S]{state: o.State, hash: hash, name: o.Name, wrote: o.Wrote, sleep: sleep}
	slept, again := d.visited[hash]
	if again && slept.isWithin(sleep) {
		return nil, nil
	}
	steps, rest, err := d.system.Steps(o.State)
	if err != nil {
		return nil, fmt.Errorf("%w\nafter\n%s", err, numbered(append(d.trace(), o.Name)))
	}
	f.steps = steps
	if again {
		f.steps = slices.DeleteFunc(slices.Clone(steps), func(name string) bool { return !slept.has(name) })
		maps.DeleteFunc(slept, func(name string, _ struct{}) bool { return !sleep.has(name) })
	} else {
		d.visited[hash] = maps.Clone(sleep)
		d.stats.States++
		d.stats.Depth = max(d.stats.Depth, len(d.path))
		if rest {
			d.stats.Ends++
			if err := d.system.Rest(o.State); err != nil {
				return fail(err), nil
			}
		}
	}
	if len(d.path) >= d.limits.Depth || d.stats.States >= d.limits.States {
		d.stats.Cut = d.stats.Cut || len(f.steps) > 0
		return nil, nil
	}
	d.onPath[hash] = len(d.path)
	d.path = append(d.path, f)
	return nil, nil
}

// writes reports whether the program wrote on the path after a place.
func (d *depthFirst[S]) writes(after int) bool {
	return slices.ContainsFunc(d.path[after+1:], func(f *frame[S]) bool { return f.wrote })
}

func (d *depthFirst[S]) trace() []string {
	var names []string
	for _, f := range d.path {
		if f.name != "" {
			names = append(names, f.name)
		}
	}
	return names
}

// numbered returns the lines of a trace.
func numbered(names []string) string {
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, "%3d. %s\n", i+1, name)
	}
	return b.String()
}
