package search

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Follow takes the named outcomes from the start, and then the first outcome of the first step until the state of rest, at most limit
// steps in all. It returns the failure that it meets, if any, with the names of all that happened. A name that isn't possible where it
// stands is an error; with lenient it is left out.
func Follow[S any](system System[S], given []string, limit int, lenient bool) (*Failure, error) {
	state, err := system.Start()
	if err != nil {
		return nil, err
	}
	w := &way[S]{system: system, state: state, seen: map[Hash]int{}}
	w.arrive(false)
	for _, name := range given {
		o, err := Find(system, w.state, name)
		if err != nil {
			return nil, err
		}
		if o == nil {
			if lenient {
				continue
			}
			possible, err := names(system, w.state)
			return nil, errors.Join(fmt.Errorf("%q can't happen after\n%swhat can happen there:\n%s", name, numbered(w.trace), possible), err)
		}
		if failure := w.take(*o); failure != nil {
			return failure, nil
		}
	}
	for len(w.trace) < limit {
		steps, rest, err := system.Steps(w.state)
		if err != nil {
			return nil, err
		}
		if rest {
			if err := system.Rest(w.state); err != nil {
				return &Failure{w.trace, err}, nil
			}
			return nil, nil
		}
		outcomes, err := system.Do(w.state, steps[0])
		if err != nil {
			return nil, err
		}
		if failure := w.take(outcomes[0]); failure != nil {
			return failure, nil
		}
	}
	return nil, nil
}

// way is one trace, and the states on it.
type way[S any] struct {
	system System[S]
	state  S
	trace  []string
	seen   map[Hash]int // place of a state
	wrote  []bool       // the program, in each step
}

// take goes on to an outcome. It returns the failure that this is.
func (w *way[S]) take(o Outcome[S]) *Failure {
	w.trace, w.state = append(w.trace, o.Name), o.State
	if o.Err != nil {
		return &Failure{w.trace, o.Err}
	}
	if length := w.arrive(o.Wrote); length > 0 {
		return &Failure{w.trace, Circle(length)}
	}
	return nil
}

// arrive records the present state. It returns the length of a circle in which the program wrote, 0 for none.
func (w *way[S]) arrive(wrote bool) int {
	if len(w.trace) > 0 {
		w.wrote = append(w.wrote, wrote)
	}
	hash := w.system.Hash(w.state)
	at, again := w.seen[hash]
	if !again {
		w.seen[hash] = len(w.wrote)
		return 0
	}
	for _, wrote := range w.wrote[at:] {
		if wrote {
			return len(w.wrote) - at
		}
	}
	return 0
}

// names returns the names of the outcomes in a state, a line each.
func names[S any](system System[S], state S) (string, error) {
	steps, _, err := system.Steps(state)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, step := range steps {
		outcomes, err := system.Do(state, step)
		if err != nil {
			return "", err
		}
		for _, o := range outcomes {
			fmt.Fprintf(&b, "     %s\n", o.Name)
		}
	}
	return cmp.Or(b.String(), "     nothing\n"), nil
}

// Find returns the outcome of a name in a state, nil if there is none.
func Find[S any](system System[S], state S, name string) (*Outcome[S], error) {
	steps, _, err := system.Steps(state)
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		if !strings.HasPrefix(name, step) {
			continue
		}
		outcomes, err := system.Do(state, step)
		if err != nil {
			return nil, err
		}
		for _, o := range outcomes {
			if o.Name == name {
				return &o, nil
			}
		}
	}
	return nil, nil
}
