package builder

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/view"
)

// View is the observed state for which a plan is made: the owner's children and what these control in turn (see [Owned]),
// the objects that the operator Watches (see [Watched] and [Lookup]), and the state of something outside the cluster (see the
// function [External]). Everything in it is shared with the cache and must not be changed. The zero value is empty; a test makes
// others with package buildertest.
type View struct {
	// Now is the time of this pass.
	Now time.Time

	observed view.Observed

	ctx context.Context // of the pass; nil: it never ends
}

// Context returns the context of the pass. A plan that may take long returns early, with anything, once it has ended: the builder
// discards such a plan, and so must other callers. A plan has no other use for it; what it returns doesn't depend on it.
func (v View) Context() context.Context {
	if v.ctx == nil {
		return context.Background()
	}
	return v.ctx
}

// WithContext returns the view with a context, for those who call a plan themselves.
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

// Owned returns the children of one kind that the owner controls, also those that are being deleted, ordered by namespace
// and name. The kind must be one that the operator Owns; otherwise the pass fails with ErrMisuse, which has the line to add.
// Of a kind that is among the [Dependents] of another it returns the objects that the owner's children control, of a kind
// that is both, all of them together. The slice is the caller's, its objects are not.
//
//	for _, job := range builder.Owned[*batchv1.Job](observed) { ... }
func Owned[C client.Object](v View) []C { return view.Owned[C](v.observed) }

// Watched returns the objects of one kind that the operator Watches and that concern the owner, also those that are being
// deleted, ordered by namespace and name: those that its spec names ([ReferencedBy]), those that name it ([Referencing]), or
// all ([SeenByAll]). Without such a watch the pass fails with ErrMisuse, which has the line to add. W may also be an
// interface: then the objects of all watched kinds that implement it. The slice is the caller's, its objects are not.
//
//	for _, node := range builder.Watched[*corev1.Node](observed) { ... }
func Watched[W client.Object](v View) []W { return view.Watched[W](v.observed) }

// Lookup returns the object of one kind and name, also one that is being deleted, and whether there is one. Of a kind that
// the operator Owns it is the child: it is [Owned] for a plan whose children have fixed names. Of a kind that the operator
// only Watches it is the watched object, such as the Secret that the spec names. With objects in several namespaces it is the
// one in the first of them, by name. A kind that is neither owned nor watched fails the pass with ErrMisuse. The object is
// shared with the cache.
//
//	if job, ok := builder.Lookup[*batchv1.Job](observed, owner.Name+"-migrate"); ok { ... }
func Lookup[C client.Object](v View, name string) (C, bool) { return view.Lookup[C](v.observed, name) }

// External returns the result of the function given to [Operator.External], and whether it is an S. A plan that calls it
// without such a function fails its pass with ErrMisuse.
func External[S any](v View) (S, bool) { return view.External[S](v.observed) }
