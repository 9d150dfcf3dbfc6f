package builder_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
)

// A manager that stops cancels the requests of its passes. That is no failure of their owners, and no event says so.
func TestAStopIsNoFailure(t *testing.T) {
	f := newFleet(t, "a")
	f.starts(one)
	ctx, stop := context.WithCancel(t.Context())
	f.operator.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Name: "a", Error: func(buildertest.Call) error {
		stop()
		return context.Canceled
	}})
	_, err := f.Reconcile(ctx, reconcile.Request{NamespacedName: key("a")})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, f.operator.Events())
	assert.Empty(t, f.flow("a").Status.Conditions)
}
