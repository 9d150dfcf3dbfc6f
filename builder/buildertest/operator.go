package buildertest

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/internal/testhook"
)

// NewReconciler returns an operator's reconciler with a client and a clock. The operator needs no manager. The reconciler watches
// nothing. For reads past the cache it uses the client's method Live, for events its method Recorder, and for the limit of concurrent
// requests its method RequestLimit, if the client has them, as [Client] does. It finds children by an index if the client has informers,
// as a manager's cache does. An error in the description of the operator is [builder.ErrMisuse]. If a plan changes the owner or an
// observed object, the pass fails with ErrMisuse, which names the object and the field; with a client that has informers the reconciler
// reports the change as in a manager.
func NewReconciler[T client.Object](
	operator *builder.Operator[T], c client.Client, clock func() time.Time,
) (reconcile.Reconciler, error) {
	return testhook.Reconciler(operator, c, clock)
}

// PlanFor returns an operator's plan for an owner and a view, such as one of [NewView]. It needs no cluster and no manager, and checks
// the plan as the reconciler does: it calls it several times. An invalid plan is [builder.ErrMisuse], and empty: see
// [builder.PlanFunc]. PlanFor doesn't find errors that depend on the scope of a kind, in the options of a child, and in Edits, Delete
// and Prune; a pass does, as in [Settle].
func PlanFor[T client.Object](operator *builder.Operator[T], owner T, observed builder.View) (builder.Plan[T], error) {
	plan, err := testhook.Plan(operator, owner, observed)
	return plan.(builder.Plan[T]), err
}

// EngineOptions are options of an Engine that only tests set.
type EngineOptions struct {
	// Clock returns the current time. Default: time.Now.
	Clock func() time.Time
	// Parallelism is the maximum number of concurrent requests in a pass; 1 makes their order, and so the place of a crash, the same in
	// each run. Default, also for values below 1: that of builder.NewEngine.
	Parallelism int
}

// NewEngine is [builder.NewEngine] with further options.
func NewEngine(c client.Client, options builder.Options, test EngineOptions) *builder.Engine {
	return testhook.NewEngine(c, options, test.Clock, test.Parallelism).(*builder.Engine)
}
