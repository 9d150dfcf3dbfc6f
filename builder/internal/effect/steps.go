package effect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// Step is the next step of one effect.
type Step struct {
	// Key is that of the journal.
	Key store.Key
	// Pending is what the effect waits for, empty if nothing.
	Pending string
	// Failed reports whether Pending is a failure.
	Failed bool

	performer, name string
	order           int64
	desired         *Desired // nil: the plan doesn't desire it
	undoes          bool
	journal         *Journal // nil: the pass has written it, and a later one takes the step
	done            bool
	again           time.Duration // until the next step; 0: when something changes
}

// Written is an object that a pass has written.
type Written struct {
	Key     store.Key
	Deleted client.Object // nil: it isn't deleted
}

// Steps returns the steps of the desired effects, by the keys of their journals, and of those that are to be undone. They are in the
// order in which they are taken: desired effects come first, from the lowest order to the highest, then undone ones, from the highest
// order to the lowest.
func Steps(desired map[store.Key]*Desired, observed map[store.Key]client.Object, written []Written) []Step {
	var steps []Step
	for key, d := range desired {
		s := Step{Key: key, desired: d, performer: d.Performer, name: d.Key, order: d.Order}
		if obj := observed[key]; obj != nil && Is(obj) {
			s.journal = Read(obj)
		}
		steps = append(steps, s)
	}
	undone := func(obj client.Object, key store.Key) Step {
		j := Read(obj)
		return Step{Key: key, performer: j.Performer, name: j.Key, order: j.Order, undoes: true, journal: j}
	}
	for key, obj := range observed {
		if desired[key] == nil && obj.GetDeletionTimestamp() != nil && Is(obj) {
			steps = append(steps, undone(obj, key))
		}
	}
	for _, w := range written {
		if w.Deleted != nil && Is(w.Deleted) {
			steps = append(steps, undone(w.Deleted, w.Key))
		}
		for i := range steps {
			if steps[i].Key == w.Key {
				steps[i].journal = nil
			}
		}
	}
	slices.SortFunc(steps, compareSteps)
	return steps
}

func compareSteps(a, b Step) int {
	switch {
	case a.undoes != b.undoes && b.undoes:
		return -1
	case a.undoes != b.undoes:
		return 1
	case a.undoes:
		return cmp.Or(cmp.Compare(b.order, a.order), store.Compare(b.Key, a.Key))
	default:
		return cmp.Or(cmp.Compare(a.order, b.order), store.Compare(a.Key, b.Key))
	}
}

// String names the effect.
func (s *Step) String() string { return fmt.Sprintf("%s %q", s.performer, s.name) }

// AllUndone reports whether no effect is desired, and all are undone.
func AllUndone(steps []Step) bool {
	return !slices.ContainsFunc(steps, func(s Step) bool { return s.desired != nil || !s.done })
}
