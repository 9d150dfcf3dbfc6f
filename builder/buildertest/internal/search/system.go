package search

// Hash identifies a state.
type Hash [2]uint64

// Outcome is what a step leads to. A step has several if faults may interrupt it.
type Outcome[S any] struct {
	// Name says what happened, in one line. Names are unique among all outcomes in a state.
	Name string
	// State is the new state.
	State S
	// Wrote reports whether the tested program changed something.
	Wrote bool
	// Err is the property that the step violates, nil for none.
	Err error
}

// System is what is searched. S is its state.
type System[S any] interface {
	// Start returns the first state.
	Start() (S, error)
	// Hash identifies a state.
	Hash(s S) Hash
	// Steps returns the names of what can happen in a state, the most usual one first. An Outcome's name begins with the name of its step.
	// In a state of rest nothing must happen any more: there are no steps, or only faults that come late.
	Steps(s S) (steps []string, rest bool, err error)
	// Do takes a step. The first outcome is the one without a fault.
	Do(s S, step string) ([]Outcome[S], error)
	// Independent reports whether two steps of a state lead to the same state in either order, and neither disables the other.
	Independent(s S, a, b string) bool
	// Rest checks a state of rest.
	Rest(s S) error
}

// Failure is a violated property, and how it came to that.
type Failure struct {
	Trace []string // names of outcomes
	Err   error
}

// Error implements error.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the property's error.
func (f *Failure) Unwrap() error { return f.Err }

// Stats counts what a search did.
type Stats struct {
	States int // different ones
	Steps  int // taken
	Slept  int // steps that sleep sets saved
	Ends   int // different states of rest
	Depth  int // of the deepest state
	// Cut reports whether a limit kept the search from states.
	Cut bool
}

// Limits end a search.
type Limits struct {
	Depth  int // steps of a trace
	States int // different states
}
