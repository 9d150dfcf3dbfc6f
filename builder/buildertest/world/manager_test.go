package world_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

func TestTheLastLagCounts(t *testing.T) {
	w := newWorld(t, world.Options{})
	m, err := w.AddManager("manager")
	require.NoError(t, err)
	j, n := job(func(*batchv1.JobSpec) {}), node("n1")
	lags := func(obj client.Object) bool {
		return m.Client().Get(t.Context(), client.ObjectKeyFromObject(obj), obj.DeepCopyObject().(client.Object)) != nil
	}
	require.NoError(t, m.Lag(9))
	others := w.Server().Client("others")
	require.NoError(t, others.Create(t.Context(), j))
	require.NoError(t, others.Create(t.Context(), n))
	assert.True(t, lags(j) && lags(n))
	require.NoError(t, m.Lag(9, &batchv1.Job{}))
	assert.True(t, lags(j) && !lags(n), "Jobs only")
	require.NoError(t, m.Lag(9, &corev1.Node{}))
	assert.True(t, !lags(j) && lags(n), "Nodes only")
	require.NoError(t, m.Lag(0))
	assert.False(t, lags(j) || lags(n))
}

// A manager at rest that lagged has passes to make when its caches don't lag any more.
func TestTheEndOfALagCausesPasses(t *testing.T) {
	w := newWorld(t, world.Options{}, job(func(*batchv1.JobSpec) {}))
	var seen []int
	counting := func(c *buildertest.Client) (reconcile.Reconciler, error) {
		return reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
			nodes := &corev1.NodeList{}
			err := c.List(ctx, nodes)
			seen = append(seen, len(nodes.Items))
			return reconcile.Result{}, err
		}), nil
	}
	m, err := w.AddManager("manager", world.Operator{Owner: &batchv1.Job{}, Reconciler: counting})
	require.NoError(t, err)
	require.NoError(t, m.Lag(9, &corev1.Node{}))
	require.NoError(t, w.Server().Client("others").Create(t.Context(), node("n1")))
	passes := func(step world.Step) bool { return step.Actor == "manager" && step.Does != "catch up" }
	require.NoError(t, w.SettleOnly(t.Context(), passes))
	require.NotEmpty(t, seen)
	assert.Equal(t, 0, seen[len(seen)-1])
	require.NoError(t, m.Lag(0))
	require.NoError(t, w.SettleOnly(t.Context(), passes))
	assert.Equal(t, 1, seen[len(seen)-1])
}

// controller-runtime forgets the time beside an error, and doesn't retry a terminal one.
func TestATimeBesideAnErrorIsForgotten(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		passes int
	}{
		"no error":         {nil, 3},
		"a terminal error": {reconcile.TerminalError(assert.AnError), 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, world.Options{}, job(func(*batchv1.JobSpec) {}))
			passes := 0
			failing := func(*buildertest.Client) (reconcile.Reconciler, error) {
				return reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					passes++
					return reconcile.Result{RequeueAfter: time.Hour}, c.err
				}), nil
			}
			m, err := w.AddManager("manager", world.Operator{Owner: &corev1.Namespace{}, Reconciler: failing})
			require.NoError(t, err)
			require.NoError(t, m.Client().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
			require.NoError(t, w.Wait(t.Context(), time.Minute))
			passes = 0
			require.NoError(t, w.Wait(t.Context(), 3*time.Hour))
			assert.Equal(t, c.passes, passes)
		})
	}
}
