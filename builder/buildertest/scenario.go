package buildertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// DefaultMaxRounds is the default of Scenario.MaxRounds.
const DefaultMaxRounds = 100

// Scenario is an operator, the initial state of its cluster, and the requests to reconcile.
type Scenario struct {
	// Reconciler returns the tested reconciler, on a client that stands for a new process. No state may be shared between two calls. The
	// client is also a client.FieldIndexer, and its Now is the clock. Required.
	Reconciler func(c *Client) (reconcile.Reconciler, error)
	// Objects exist at the start. They need UIDs only if one refers to another. Default: nil, none.
	Objects []client.Object
	// Requests are the requests of each round, in this order. An object of each must exist at some time, unless it has no namespace and
	// there is no Owner. Required.
	Requests []reconcile.Request
	// Owner is an empty object of the reconciled kind. [Explore] adds the requests of all its objects that come into being. Default: nil,
	// Requests alone; the kind is that of the operator of [NewReconciler], or else of the one of the Objects that has the name of a request.
	// If some of several kinds have it, Owner is required; with another reconciler also if someone creates one of another kind later.
	Owner client.Object
	// Cluster returns the rest of the cluster around a server, in single steps, such as a world.World: after each round it acts until it
	// rests. Two runs are compared by the objects of kinds that the operator reads or writes. Default: nil, nothing else happens.
	Cluster func(*Server) Cluster
	// Outside brings a real system outside of the cluster, such as a database server, to its state at the start. The operator changes the
	// system through [Client.Outside], and steps of Then check it. Such a system can't be copied: [CrashEverywhere] runs the scenario from
	// its start for each crash, and [Explore] refuses it. Default: nil, there is no such system.
	Outside func(context.Context) error

	// Then are the edits after nothing changes any more: the spec changes, someone deletes a child, an hour passes. Each runs once, after
	// the scenario has settled again, whatever crashes; see [Change]. Default: nil, the run ends.
	Then []Edit

	// Scheme has the kinds. Default: client-go's.
	Scheme *runtime.Scheme
	// Options are the options of each server. Default: nil, none.
	Options []Option
	// Lag is the number of changes by which the operator's reads lag behind, until nothing else changes. It reads its own writes, as a
	// manager's client with EnableReadYourWritesConsistency does, unless LagOwnWrites is set. Default: 0.
	Lag int
	// LagOwnWrites makes the operator's own writes lag as well. Default: false.
	LagOwnWrites bool
	// ClockStands stops the server's clock. Default: the clock stands while something changes. When nothing does, it moves to the
	// earliest RequeueAfter (a second, after an error or with a lag), up to three times without a change in between, and then to a later
	// RequeueAfter from before, or the cluster's next step. So the end state has what an operator does after an hour, and an operator that
	// requeues every minute ends. The deprecated Requeue stands for a second, a minute and then 1000 seconds. Set ClockStands for an
	// operator that writes each time that it requested, such as a heartbeat or one Job an hour: otherwise the run never ends.
	ClockStands bool
	// MaxRounds limits a run, and each step of Then. A run that changes something in each round never settles, and fails. Default:
	// DefaultMaxRounds.
	MaxRounds int
	// Tolerate reports whether an error may remain when nothing changes any more. Default: errors of reconcile.TerminalError, except
	// builder.ErrMisuse (reason InvalidPlan), because it is an error of the program.
	Tolerate func(error) bool
	// Normalize makes objects of two runs comparable. It may change the object; false omits the object. UIDs, versions, times, managed
	// fields, messages that a quota refuses a pod, and the order of finalizers, owner references and conditions don't count. Default: all
	// objects except events are compared.
	Normalize func(obj *unstructured.Unstructured) bool
	// Setup and ThenLines are Objects, Cluster and Then in the language of package story, which sets them. With them the counterexamples
	// of [Explore] are stories. Default: empty.
	Setup     string
	ThenLines []string
	// RunStory runs a story and returns it with the output of its lines. Package story sets it. Default: nil, stories have no output.
	RunStory func(ctx context.Context, story string) (string, error)
	// Others are further operators, each with its own process and queue. Only [Explore] runs them. Default: none.
	Others []Process
	// Invariants are checked by [Explore] in each state, also in those in which the operator has crashed. Default: none.
	Invariants []Invariant
	// Final returns the final state of an object, such as "Complete"; empty if it isn't in one. [Explore] reports a pass that changes
	// it while the spec (the generation) stays the same. Default: FinalCondition, for the requested objects.
	Final func(obj *unstructured.Unstructured) string
	// Uses are permissions that the operator needs and the scenario can't make use of. [CheckRole] requires them, and counts them as used:
	// requests of another client than the scenario's, such as that of an External; what only PruneAll of a later version does, such as
	// the list of a kind with ByName, or the deletion of a kind, that this version always desires. Default: none.
	Uses []rbacv1.PolicyRule
	// Foreign reports whether the operator must not write to one of the Objects. Default: all Objects except the requested ones, those that
	// a requested one controls, at any depth, and the claims of such StatefulSets.
	Foreign func(obj client.Object) bool
}

// Process is an operator beside the scenario's own.
type Process struct {
	// Name is the name of the operator's clients, and so of its field manager. Required, and not "operator".
	Name string
	// Reconciler, Requests and Owner are as in a Scenario. A Reconciler is required, and Requests or an Owner.
	Reconciler func(c *Client) (reconcile.Reconciler, error)
	Requests   []reconcile.Request
	Owner      client.Object
}

// Invariant checks what must hold in every state of a cluster. Its error says what doesn't hold.
type Invariant func(ctx context.Context, c client.Reader) error

// Edit is what a user does, with a client that never crashes.
type Edit func(ctx context.Context, c client.Client) error

// Change returns an Edit of an object. like names the object; change receives the present object. A missing object is an error.
//
//	Then: []buildertest.Edit{buildertest.Change(app, func(app *v1.WebApp) { app.Spec.Greeting = "bye" })}
func Change[T client.Object](like T, change func(T)) Edit {
	return func(ctx context.Context, c client.Client) error {
		obj := like.DeepCopyObject().(T)
		if err := c.Get(ctx, client.ObjectKeyFromObject(like), obj); err != nil {
			return err
		}
		change(obj)
		return c.Update(ctx, obj)
	}
}

func (s Scenario) withDefaults() (*Scenario, error) {
	d := &s
	if d.Reconciler == nil || len(d.Requests) == 0 {
		return nil, errors.New("a Scenario needs a Reconciler and Requests")
	}
	d.Scheme = cmp.Or(d.Scheme, scheme.Scheme)
	d.MaxRounds = cmp.Or(d.MaxRounds, DefaultMaxRounds)
	if d.Tolerate == nil {
		d.Tolerate = isTerminal
	}
	if d.Normalize == nil {
		d.Normalize = func(obj *unstructured.Unstructured) bool { return obj.GetKind() != "Event" }
	}
	if d.Final == nil {
		d.Final = FinalCondition
	}
	if d.Foreign == nil {
		d.Foreign = d.isForeign
	}
	for _, p := range d.processes() {
		for _, r := range p.Requests {
			if kinds := d.kindsOf(r); p.Owner == nil && len(kinds) > 1 {
				return nil, ambiguous(r, kinds[0], kinds[1])
			}
		}
	}
	return d, nil
}

// processes returns the scenario's own operator and the others.
func (s *Scenario) processes() []Process {
	own := Process{Name: operatorName, Reconciler: s.Reconciler, Requests: s.Requests, Owner: s.Owner}
	return append([]Process{own}, s.Others...)
}

// checkExisted returns an error if an object of a request has existed at no time. A request with a name alone may be of no object, if
// nothing says the kind.
func (s *Scenario) checkExisted(server *Server) error {
	existed := func(p Process, r reconcile.Request) bool {
		for gvk, table := range server.tables {
			if table[r.NamespacedName] != nil && (p.Owner == nil || gvk.GroupKind() == s.kindOf(p.Owner)) {
				return true
			}
		}
		return false
	}
	for _, p := range s.processes() {
		for _, r := range p.Requests {
			if (r.Namespace != "" || p.Owner != nil) && !existed(p, r) {
				return fmt.Errorf("the request %s is of no object; one of that name must be one of the Objects, or come into being", r)
			}
		}
	}
	return nil
}

// kindOf returns the kind of an object; an empty one if the scheme doesn't have it.
func (s *Scenario) kindOf(obj client.Object) schema.GroupKind {
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		gvk, _ = apiutil.GVKForObject(obj, s.Scheme)
	}
	return gvk.GroupKind()
}

// newServer returns a server in the initial state.
func (s *Scenario) newServer() (*Server, error) {
	server := NewServer(s.Scheme, s.Options...)
	for _, obj := range s.Objects {
		if err := server.Add(obj); err != nil {
			return nil, err
		}
	}
	return server, nil
}
