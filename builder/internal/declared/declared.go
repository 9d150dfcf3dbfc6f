package declared

import "sigs.k8s.io/controller-runtime/pkg/client"

// Collector is a manager that collects the descriptions of operators, and runs none.
type Collector interface {
	Declare(Operator)
}

// Operator is the description of an operator. Kinds are empty objects.
type Operator struct {
	Name    string
	Owner   client.Object
	Owns    []Owned
	Watches []client.Object
	Undo    bool // the builder keeps former states in ControllerRevisions
	Effects bool // the builder keeps journals of external effects in ControllerRevisions, and a finalizer on owners
	// Plan returns what the plan asks for, if there are no children yet. The owner is of the type of Owner.
	Plan func(owner client.Object) (Plan, error)
}

// Owned is a kind of children.
type Owned struct {
	Kind           client.Object
	CrossNamespace bool
	ByName         bool // read by name, and not watched
	Dependents     []client.Object
}

// Plan is the part of a plan that decides about permissions.
type Plan struct {
	Children    []Child
	Prune       []client.Object
	PruneAll    bool
	DeleteOwner bool
	Phases      bool // the builder keeps ControllerRevisions
	Reports     bool // the builder writes a status
}

// Child is a desired child.
type Child struct {
	Object   client.Object
	Recreate bool // deleted when an immutable field changes
}
