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
func (v View) check(s source, t reflect.Type) {
	switch {
	case v.misuse == nil:
	case t == nil:
		v.misuse.note(fmt.Errorf("%w: the plan asks for %s of a nil object", ErrMisuse, s.function()))
	case !v.misuse.declared.types[s][t]:
		v.misuse.note(v.misuse.declared.undeclared(s, t))
	}
}

// checkSensed notes that something is asked for that the operator doesn't sense.
func (v View) checkSensed(t reflect.Type) {
	if v.misuse != nil && !v.misuse.declared.senses {
		v.misuse.note(fmt.Errorf("%w: the plan asks for Sensed[%s] and the operator senses nothing; add Senses(look) to the operator",
			ErrMisuse, t))
	}
}
