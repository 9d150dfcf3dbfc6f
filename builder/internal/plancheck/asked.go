package plancheck

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/armature-dev/armature/builder/internal/failure"
)

// Asked collects a plan's requests for undeclared kinds. The view never has objects of such a kind, and a plan must not take that for
// an answer. It is safe for concurrent use. Nil, as in a view of a test, collects nothing: any kind may be requested.
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

// Kind records a request of a function for an undeclared kind, of which it found nothing.
func (a *Asked) Kind(function string, from Origin, t reflect.Type) {
	if a != nil && !a.Declared.types[from][t] {
		a.note(a.Declared.undeclared(function, from, t))
	}
}

// Interface records a request of Watched for a Go interface that no watched kind implements.
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

// External records a request for external state of another type than the observed one, or of an operator that observes none.
func (a *Asked) External(t reflect.Type, state any) {
	switch {
	case a == nil:
	case !a.Declared.external:
		a.note(fmt.Errorf("%w: the plan asks for External[%s] and the operator observes nothing external; "+
			"add External(observe) to the operator", failure.ErrMisuse, t))
	case state != nil:
		a.note(fmt.Errorf("%w: the plan asks for External[%s] and the operator's observe function returned a %T; "+
			"ask for External[%T], and return one type always", failure.ErrMisuse, t, state, state))
	}
}

// Recorded records a request for recorded external state of an interface type.
func (a *Asked) Recorded(t reflect.Type) {
	if a != nil {
		a.note(fmt.Errorf("%w: the plan asks for External[%s], an interface, and a record has no Go type; ask for the type that the operator's "+
			"observe function returns", failure.ErrMisuse, t))
	}
}

func (a *Asked) note(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.errs) < maxErrs && !slices.Contains(a.found, err.Error()) {
		a.found, a.errs = append(a.found, err.Error()), append(a.errs, err)
	}
}

// Err returns the recorded requests as an error.
func (a *Asked) Err() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Join(a.errs...)
}
