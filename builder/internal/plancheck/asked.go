package plancheck

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/armature-dev/armature/builder/internal/failure"
)

// Asked collects what a plan asks of its view that can't be answered: what isn't declared is never found, which a plan must not
// take for an answer. It is safe for concurrent use, but for a change of Declared. Nil, as of a view made for a test, collects
// nothing: any kind may be asked for.
type Asked struct {
	Declared *Declared

	mu    sync.Mutex
	found []string // each once
	errs  []error
}

// Declares reports whether the operator declares a kind.
func (a *Asked) Declares(from Origin, t reflect.Type) bool {
	return a != nil && a.Declared.types[from][t]
}

// Kind notes that a function was asked for a kind of which nothing was found, if the operator doesn't declare it.
func (a *Asked) Kind(function string, from Origin, t reflect.Type) {
	if a != nil && !a.Declared.types[from][t] {
		a.note(a.Declared.undeclared(function, from, t))
	}
}

// Interface notes that Watched was asked for a Go interface, if no watched kind implements it.
func (a *Asked) Interface(t reflect.Type) {
	if a == nil {
		return
	}
	for of := range a.Declared.types[Watched] {
		if of != nil && of.Implements(t) {
			return
		}
	}
	a.note(fmt.Errorf("%w: the plan asks for Watched[%s], an interface that no kind implements that the operator watches; "+
		"add Watches(kind, how) to the operator", failure.ErrMisuse, t))
}

// External notes that external state was asked for and not found, if the operator observes none.
func (a *Asked) External(t reflect.Type) {
	if a != nil && !a.Declared.external {
		a.note(fmt.Errorf("%w: the plan asks for External[%s] and the operator observes nothing external; "+
			"add External(observe) to the operator", failure.ErrMisuse, t))
	}
}

func (a *Asked) note(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.errs) < maxErrs && !slices.Contains(a.found, err.Error()) {
		a.found, a.errs = append(a.found, err.Error()), append(a.errs, err)
	}
}

// Err returns what was noted.
func (a *Asked) Err() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Join(a.errs...)
}
