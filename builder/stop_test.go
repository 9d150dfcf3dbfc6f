package builder_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
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

// A manager that stops logs the end of its passes not as an error. Other errors stay.
func TestAStopIsNoErrorOfTheManager(t *testing.T) {
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	failed := errors.New("no route")
	for _, stops := range []bool{true, false} {
		ctx, stop := context.WithCancel(log.IntoContext(t.Context(), logger))
		defer stop()
		res, err := builder.UntilStop(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			if stops {
				stop()
			}
			return reconcile.Result{RequeueAfter: time.Minute}, failed
		})).Reconcile(ctx, reconcile.Request{})
		if stops {
			require.NoError(t, err)
			assert.Zero(t, res)
		} else {
			require.Equal(t, failed, err)
			assert.Equal(t, time.Minute, res.RequeueAfter)
		}
	}
	assert.Empty(t, lines, "at the usual level")
}

// That holds for a Builder's pass in a reconciler of the user's own, too.
func TestAStopIsNoFailureOfABuilder(t *testing.T) {
	f := newFleet(t, "a")
	ours := f.server.Client("ours")
	engine := buildertest.NewEngine(ours, builder.Options{Name: "ours", Recorder: ours.Recorder()}, buildertest.EngineOptions{Clock: ours.Now})
	ours.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Name: "c", Error: func(buildertest.Call) error { return context.Canceled }})
	_, err := engine.For(f.flow("a")).Object(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}).Reconcile(t.Context())
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, ours.Events())
}
