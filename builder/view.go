package builder

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/view"
)

// View is the observed state for a plan: the owner's children and the objects that these control (see [Owned]), the objects that the
// operator Watches (see [Watched] and [Lookup]), and the state of something outside the cluster (see the function [External]). The
// cache shares all of its objects, so a plan must not change them. The zero value is empty. Tests make views with package buildertest.
type View struct {
	// Now is the time of this pass.
	Now time.Time

	observed view.Observed

	ctx context.Context // of the pass; nil: it never ends
}

// Context returns the context of the pass. A plan that may take long returns any value when the context ends: the builder discards it,
// and so must other callers. A plan must not use the context otherwise; its result doesn't depend on it.
func (v View) Context() context.Context {
	if v.ctx == nil {
		return context.Background()
	}
	return v.ctx
}

// WithContext returns the view with a context. Use it to call a plan directly.
func (v View) WithContext(ctx context.Context) View {
	v.ctx = ctx
	return v
}

func init() {
	view.Edit = func(v any, edit func(*view.Observed)) any {
		edited := v.(View)
		edit(&edited.observed)
		return edited
	}
}

// Owned returns the children of one kind that the owner controls, including terminating ones, ordered by namespace and name. The
// operator must own the kind; otherwise the pass fails with [ErrMisuse], which has the line to add. If the kind is among the
// [Dependents] of another kind, Owned returns the objects that the owner's children control; if it is both, it returns all of them
// together. The caller may change the slice, but not its objects.
//
//	for _, job := range builder.Owned[*batchv1.Job](observed) { ... }
func Owned[C client.Object](v View) []C { return view.Owned[C](v.observed) }

// Watched returns the watched objects of one kind that concern the owner, including terminating ones, ordered by namespace and name:
// those that its spec names ([ReferencedBy]), those that name it ([Referencing]), or all ([ObservedByAll]). Without such a watch the pass
// fails with [ErrMisuse], which has the line to add. W may also be an interface; Watched then returns the objects of all watched kinds
// that implement it. The caller may change the slice, but not its objects.
//
//	for _, node := range builder.Watched[*corev1.Node](observed) { ... }
func Watched[W client.Object](v View) []W { return view.Watched[W](v.observed) }

// Lookup returns the object of one kind and name, including a terminating one, and whether it exists. For an owned kind it returns the
// child: use it instead of [Owned] in a plan whose children have fixed names. For a kind that is only watched it returns the watched
// object, such as the Secret that the spec names. If several namespaces have such an object, it returns the one in the namespace with
// the first name. If the kind is neither owned nor watched, the pass fails with [ErrMisuse]. The cache shares the object: read only.
//
//	if job, ok := builder.Lookup[*batchv1.Job](observed, owner.Name+"-migrate"); ok { ... }
func Lookup[C client.Object](v View, name string) (C, bool) { return view.Lookup[C](v.observed, name) }

// External returns the result of the function of [Operator.External], and whether it is an S. If the operator has no such function,
// the pass fails with [ErrMisuse].
func External[S any](v View) (S, bool) { return view.External[S](v.observed) }
