package testhook

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/sources"
)

var (
	// NewEngine returns a *builder.Engine. options are builder.Options.
	NewEngine func(c client.Client, options any, clock func() time.Time, parallelism int) any
	// Reconciler returns the reconciler of a *builder.Operator.
	Reconciler func(operator any, c client.Client, clock func() time.Time) (reconcile.Reconciler, error)
	// WiringOf returns what wakes an operator's reconciler; false for other reconcilers.
	WiringOf func(r reconcile.Reconciler) (Wiring, bool)
	// Plan returns the checked builder.Plan of a *builder.Operator for a builder.View.
	Plan func(operator any, owner client.Object, observed any) (plan any, err error)
)

// Wiring is what an operator gives to its manager, from which requests come.
type Wiring struct {
	// Owner is the owner's kind, and AnOwner an empty owner.
	Owner   schema.GroupKind
	AnOwner client.Object
	// Owned returns the kinds of children, which may become more.
	Owned func() []kinds.Kind
	// CrossNamespace are the kinds of children in other namespaces.
	CrossNamespace []kinds.Kind
	// Sources are the other sources of events.
	Sources []Source
}

// Source is a watch source with its kind.
type Source struct {
	sources.Source
	Kind schema.GroupKind
	// IsIndexed reports whether the operator has registered its indexes already.
	IsIndexed bool
}
