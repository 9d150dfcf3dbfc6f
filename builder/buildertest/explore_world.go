package buildertest

import (
	"fmt"
	"slices"
)

// clusterSteps returns the steps of the rest of the cluster: the world, for one object at a time. Each step changes something.
func (e *exploration) clusterSteps(s *exploredState) ([]string, error) {
	if known, ok := e.worlds[s.server]; ok {
		return known, nil
	}
	changed, err := e.runWorld(s, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range changed {
		name := clusterStep + c.object()
		if e.bounds.WholeWorld {
			name = wholeStep
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(e.worlds) > maxDigests {
		clear(e.worlds)
	}
	e.worlds[s.server] = names
	return names, nil
}

// clusterStep begins the name of a step of the rest of the cluster, and wholeStep is one of all its objects.
const (
	clusterStep = "the cluster changes "
	wholeStep   = clusterStep + "what it can"
)

// stepWorld runs the world for the object of a step.
func (e *exploration) stepWorld(s *exploredState, step string) (*exploredState, error) {
	only := func(c Call) bool { return clusterStep+c.object() == step }
	if step == wholeStep {
		only = nil
	}
	if _, err := e.runWorld(s, only); err != nil {
		return nil, err
	}
	return e.arrive(s, nil)
}

// runWorld runs the world in a state. The writes that only returns false for have no effect; nil: all have. It returns the calls that
// changed something.
func (e *exploration) runWorld(s *exploredState, only func(Call) bool) ([]Call, error) {
	e.server.restore(s.server)
	c := e.server.Client("world")
	c.only = only
	var changed []Call
	c.written = func(call Call) { changed = append(changed, call) }
	if err := e.scenario.World(e.ctx, c); err != nil {
		return nil, fmt.Errorf("the world: %w", err)
	}
	return changed, nil
}

// edit takes the next step of Then.
func (e *exploration) edit(s *exploredState) (*exploredState, error) {
	e.server.restore(s.server)
	if err := e.scenario.Then[s.edits](e.ctx, e.server.Client("world")); err != nil {
		return nil, fmt.Errorf("step %d of Then: %w", s.edits+1, err)
	}
	next, err := e.arrive(s, nil)
	if err != nil {
		return nil, err
	}
	next.edits++
	return next, nil
}
