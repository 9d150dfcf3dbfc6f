package buildertest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// clusterStep begins the name of a step of the rest of the cluster.
const clusterStep = "step "

// maxGroup limits the steps that a controller takes together.
const maxGroup = 1000

// around is what the rest of the cluster does in a state.
type around struct {
	steps []ClusterStep
	next  time.Time // the earliest time at which more can happen; zero: none
	alone bool      // the only step comes before all others
}

// aroundOf returns what the rest of the cluster can do in a state.
func (e *exploration) aroundOf(s *exploredState) (around, error) {
	if known, ok := e.worlds[s.server]; ok {
		return known, nil
	}
	if e.cluster == nil {
		return around{}, nil
	}
	e.server.restore(s.server)
	steps, next, err := e.cluster.Next()
	if err != nil {
		return around{}, fmt.Errorf("the cluster: %w", err)
	}
	a := around{steps: steps, next: next}
	if !e.bounds.EachStep {
		a = e.reduced(s, a)
	}
	if len(e.worlds) > maxDigests {
		clear(e.worlds)
	}
	e.worlds[s.server] = a
	return a, nil
}

// reduced leaves out orders. A step that changes an object of a kind that nothing reads, as what controls it, comes first, alone, because
// its place shows nowhere, unless pods compete for a quota. Of a controller's steps about one object, only the first one stands for all. A
// Job's pod isn't such an object where the Job is read: what the Job counts depends on it.
func (e *exploration) reduced(s *exploredState, a around) around {
	for _, step := range a.steps {
		if !e.seen[step.Kind] && e.groupOf(step) == "" && !e.seesRoot(step) && !e.competes(s, step) {
			return around{steps: []ClusterStep{step}, next: a.next, alone: true}
		}
	}
	known := map[string]bool{}
	a.steps = slices.DeleteFunc(slices.Clone(a.steps), func(step ClusterStep) bool {
		group := e.groupOf(step)
		again := group != "" && known[group]
		known[group] = true
		return again
	})
	return a
}

// groupOf returns what the steps have in common that are taken as one; empty for a step that is taken alone.
func (e *exploration) groupOf(step ClusterStep) string {
	switch {
	case e.bounds.EachStep:
		return ""
	case e.bounds.WholeWorkloads && e.seesRoot(step):
		return step.Root
	case e.bounds.Coarse && step.Root != "" && (e.seen[step.Kind] || e.seesRoot(step)):
		return step.Root
	case !e.seen[step.Kind]:
		return ""
	case step.Group == "":
		return ""
	}
	return step.Actor + ": reconcile " + step.Group
}

// seesRoot reports whether an operator or an invariant reads objects of the kind of a step's root.
func (e *exploration) seesRoot(step ClusterStep) bool {
	kind, _, _ := strings.Cut(step.Root, " ")
	for seen := range e.seen {
		if kind != "" && seen.Kind == kind {
			return true
		}
	}
	return false
}

// nameOf returns the name of a step in a trace.
func (e *exploration) nameOf(step ClusterStep) string {
	return clusterStep + cmp.Or(e.groupOf(step), step.Name)
}

// stepCluster takes a step of the rest of the cluster. It returns the names of the single steps.
func (e *exploration) stepCluster(s *exploredState, name string) (*exploredState, []string, error) {
	a, err := e.aroundOf(s)
	if err != nil {
		return nil, nil, err
	}
	at := slices.IndexFunc(a.steps, func(step ClusterStep) bool { return e.nameOf(step) == name })
	if at < 0 {
		return nil, nil, fmt.Errorf("there is no step %q", name)
	}
	first := a.steps[at]
	e.server.restore(s.server)
	if err := first.Run(e.ctx); err != nil {
		return nil, nil, fmt.Errorf("the cluster: %w", err)
	}
	took := []string{first.Name}
	changed := first // a step after which only its actor continues, if it has changed the root
	if e.bounds.WholeWorkloads {
		changed.OfRoot = false
	}
	for group := e.groupOf(first); group != "" && !a.alone; {
		steps, _, err := e.cluster.Next()
		if err != nil {
			return nil, nil, fmt.Errorf("the cluster: %w", err)
		}
		at := slices.IndexFunc(steps, func(step ClusterStep) bool {
			return e.groupOf(step) == group && (!changed.OfRoot || step.Actor == changed.Actor)
		})
		if at < 0 {
			break
		}
		if err := steps[at].Run(e.ctx); err != nil {
			return nil, nil, fmt.Errorf("the cluster: %w", err)
		}
		if !changed.OfRoot && !e.bounds.WholeWorkloads {
			changed = steps[at]
		}
		if took = append(took, steps[at].Name); len(took) > maxGroup {
			return nil, nil, fmt.Errorf("the cluster: the steps of %s never end", group)
		}
	}
	next, err := e.arrive(s, nil)
	return next, took, err
}

// see records the kinds of a client's calls. The order of changes of other kinds doesn't matter.
func (e *exploration) see(calls []Call) {
	for _, c := range calls {
		e.seen[c.Kind] = true
	}
}

func (e *exploration) sees(gvk schema.GroupVersionKind) bool { return e.seen[gvk.GroupKind()] }

// edit takes the next step of Then.
func (e *exploration) edit(s *exploredState) (*exploredState, error) {
	e.server.restore(s.server)
	if err := e.scenario.Then[s.edits](e.ctx, e.server.Client("user")); err != nil {
		return nil, fmt.Errorf("step %d of Then: %w", s.edits+1, err)
	}
	next, err := e.arrive(s, nil)
	if err != nil {
		return nil, err
	}
	next.edits++
	return next, nil
}
