package builder

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// maxMisuses bounds what is kept of one pass.
const maxMisuses = 8

// misuse collects what a plan asks of its view that can't be answered: what isn't declared is never found, which a plan
// must not take for an answer. It is safe for concurrent use. Nil, as of a view made for a test, collects nothing.
type misuse struct {
	declared *declarations

	mu    sync.Mutex
	found []string // each once
	errs  []error
}

// note keeps an error.
func (m *misuse) note(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.errs) < maxMisuses && !slices.Contains(m.found, err.Error()) {
		m.found, m.errs = append(m.found, err.Error()), append(m.errs, err)
	}
}

// err returns what was noted.
func (m *misuse) err() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(m.errs...)
}

// check notes that a kind is asked for that has not been declared. It is called for kinds of which nothing was found.
func (v View) check(function string, from origin, t reflect.Type) {
	if v.misuse != nil && !v.misuse.declared.types[from][t] {
		v.misuse.note(v.misuse.declared.undeclared(function, from, t))
	}
}

// declares reports whether the operator declares a kind; false if the view was made for a test.
func (v View) declares(from origin, t reflect.Type) bool {
	return v.misuse != nil && v.misuse.declared.types[from][t]
}

// checkInterface notes that a Go interface is asked for that no watched kind implements.
func (v View) checkInterface(t reflect.Type) {
	if v.misuse == nil {
		return
	}
	for of := range v.misuse.declared.types[fromWatched] {
		if of != nil && of.Implements(t) {
			return
		}
	}
	v.misuse.note(fmt.Errorf("%w: the plan asks for Watched[%s], an interface that no kind implements that the operator watches; "+
		"add Watches(kind, how) to the operator", ErrMisuse, t))
}

// checkExternal notes that external state is asked for and the operator observes none.
func (v View) checkExternal(t reflect.Type) {
	if v.misuse != nil && !v.misuse.declared.outside {
		v.misuse.note(fmt.Errorf("%w: the plan asks for External[%s] and the operator observes nothing external; "+
			"add External(observe) to the operator", ErrMisuse, t))
	}
}
