package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// A nil in place of what a program forgot to make is an error that names it, as for the objects of a plan.
func TestNilManagersIndexersAndOperators(t *testing.T) {
	refuses := func(err error, what string) {
		t.Helper()
		require.ErrorIs(t, err, builder.ErrMisuse)
		assert.ErrorContains(t, err, what)
	}
	owner := newOwner()
	for _, engine := range []*builder.Engine{builder.EngineFor(nil, "test"), builder.NewEngine(nil, builder.Options{})} {
		_, err := engine.For(owner).Object(newJob("a")).Reconcile(t.Context())
		refuses(err, "the engine has no client")
		refuses(engine.For(owner).Get(t.Context(), "a", &batchv1.Job{}), "the engine has no client")
		_, err = engine.For(owner).Create(t.Context(), newJob("a"))
		refuses(err, "the engine has no client")
		refuses(engine.Index(t.Context(), nil, &batchv1.Job{}), "the engine has no client")
		engine.Forget(owner, types.NamespacedName{Name: owner.Name})
	}

	c := buildertest.NewServer(clientgoscheme.Scheme).Client("test")
	engine := builder.NewEngine(c, builder.Options{})
	refuses(engine.Index(t.Context(), nil, &batchv1.Job{}), "the indexer is nil")
	refuses(engine.Index(t.Context(), nil, &batchv1.Job{}, builder.CrossNamespace()), "the indexer is nil")
	refuses(engine.Index(t.Context(), c, nil), "an object is nil")

	var none *builder.Operator[*appsv1.Deployment]
	_, err := buildertest.PlanFor(none, owner, buildertest.NewView(time.Now()))
	refuses(err, "the operator is nil")
	_, err = buildertest.NewReconciler(none, c, c.Now)
	refuses(err, "the operator is nil")
	_, err = buildertest.NewReconciler(describedBy(func(*appsv1.Deployment, builder.View) ownerPlan { return ownerPlan{} }, nil), nil, c.Now)
	refuses(err, "the engine has no client")
}
