package buildertest

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Verb is the operation of a call, with the API server's names.
type Verb string

// The verbs. An apply is a patch on the wire and a separate verb here, for both Apply and Patch.
const (
	VerbGet              Verb = "get"
	VerbList             Verb = "list"
	VerbWatch            Verb = "watch"
	VerbCreate           Verb = "create"
	VerbUpdate           Verb = "update"
	VerbPatch            Verb = "patch"
	VerbApply            Verb = "apply"
	VerbDelete           Verb = "delete"
	VerbDeleteCollection Verb = "deletecollection"
)

// IsWrite reports whether calls of the verb change objects.
func (v Verb) IsWrite() bool { return v != VerbGet && v != VerbList && v != VerbWatch }

// Call is one call of a client.
type Call struct {
	Client      string // the client's name
	Verb        Verb
	Kind        schema.GroupKind
	Namespace   string
	Name        string // empty for lists, watches and deletecollections
	Subresource string // such as "status"; empty for the object itself
	DryRun      bool

	// The result of the call.
	UID     types.UID // of the object
	Created bool      // it created an object
	Changed bool      // it changed an object, or would have without DryRun; false for a write without a change
	Err     error     // as the client received it

	deleted []Call // of VerbDeleteCollection: one call for each object that it changed, with the object's name
}

// String returns the call in one line, such as "create ConfigMap default/a".
func (c Call) String() string {
	if c.Verb == verbOutside {
		return "outside: " + c.Name
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", c.Verb, c.Kind)
	if c.Subresource != "" {
		b.WriteString("/" + c.Subresource)
	}
	fmt.Fprintf(&b, " %s", types.NamespacedName{Namespace: c.Namespace, Name: c.Name})
	if c.DryRun {
		b.WriteString(" (dry run)")
	}
	if c.Err != nil {
		fmt.Fprintf(&b, ": %v", c.Err)
	}
	return b.String()
}

// Ledger is a record of calls, oldest first. It is safe for concurrent use.
type Ledger struct {
	mu    sync.Mutex
	calls []Call
}

func (l *Ledger) add(c Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, c)
}

// Calls returns all calls.
func (l *Ledger) Calls() []Call {
	return l.Where(func(Call) bool { return true })
}

// Where returns the calls for which keep returns true.
func (l *Ledger) Where(keep func(Call) bool) []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	var calls []Call
	for _, c := range l.calls {
		if keep(c) {
			calls = append(calls, c)
		}
	}
	return calls
}

// Writes returns the calls of writing verbs, including failed ones, writes without a change, and dry runs.
func (l *Ledger) Writes() []Call {
	return l.Where(func(c Call) bool { return c.Verb.IsWrite() })
}

// Count returns the number of calls of a verb on objects of a kind. An empty group and kind matches any.
func (l *Ledger) Count(verb Verb, kind schema.GroupKind) int {
	return len(l.Where(func(c Call) bool { return c.Verb == verb && (kind.Empty() || c.Kind == kind) }))
}

// Reset removes all calls.
func (l *Ledger) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = nil
}

// String returns the calls, one a line.
func (l *Ledger) String() string {
	var lines []string
	for _, c := range l.Calls() {
		lines = append(lines, c.String())
	}
	return strings.Join(lines, "\n")
}

// record adds a call to the server's record and the client's.
func (s *Server) record(r *request, obj client.Object, err error) {
	if obj != nil && obj.GetUID() != "" {
		r.UID = obj.GetUID()
	}
	r.Err = err
	s.ledger.add(r.Call)
}

// creations returns the UIDs of the created objects by name.
func creations(calls []Call) map[string][]types.UID {
	made := map[string][]types.UID{}
	for _, c := range calls {
		if c.Created && !c.DryRun && !slices.Contains(made[c.object()], c.UID) {
			made[c.object()] = append(made[c.object()], c.UID)
		}
	}
	return made
}

// single returns a call as calls that each concern one object, because a deletecollection names none.
func (c Call) single() []Call {
	if c.Verb == VerbDeleteCollection {
		return c.deleted
	}
	return []Call{c}
}

// object names the object of a call.
func (c Call) object() string {
	return c.Kind.String() + " " + types.NamespacedName{Namespace: c.Namespace, Name: c.Name}.String()
}
