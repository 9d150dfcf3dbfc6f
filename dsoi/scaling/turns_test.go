package scaling

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// Endpoints that never answer take up a part of the workers, and not those that another namespace needs.
func TestSlowEndpointsOfANamespaceLeaveWorkersToOthers(t *testing.T) {
	var waiting atomic.Int32
	release := make(chan struct{})
	slow := served(t, func(w http.ResponseWriter, r *http.Request) {
		waiting.Add(1)
		defer waiting.Add(-1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, "50")
	})
	entry := byURL("storage", slow)
	entry.Spec.Source.External.Timeout = "30s"
	var objs []client.Object
	for i := range 8 {
		scaling := aScaling(entry)
		scaling.Name, scaling.UID = fmt.Sprint("kv", i), ""
		objs = append(objs, scaling)
	}
	server := buildertest.NewServer(townScheme(), withTowns, buildertest.WithObjects(objs...))
	ours := server.Client("operator")
	reconciler, err := buildertest.NewReconciler(theController().Operator(nil, ours, ours.Live()), ours, ours.Now)
	require.NoError(t, err)
	done := make(chan reconcile.Result, len(objs))
	for i := range objs {
		go func() {
			result, err := reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(objs[i])})
			assert.NoError(t, err)
			done <- result
		}()
	}
	for range 6 { // of 8 workers
		select {
		case result := <-done:
			assert.Equal(t, busyDelay, result.RequeueAfter, "it comes back")
		case <-time.After(20 * time.Second):
			require.FailNow(t, "it waits for an endpoint")
		}
	}
	require.Eventually(t, func() bool { return waiting.Load() == 2 }, 20*time.Second, time.Millisecond)
	close(release)
	for range 2 {
		<-done
	}
}

// An object without endpoints waits for none.
func TestAnObjectWithoutEndpointsNeedsNoTurn(t *testing.T) {
	entry := v1beta1.NodeScaling{Name: "storage", Spec: &v1beta1.ReplicaScaling{
		Max: ptr.To[int32](7), Threshold: "80", Source: &v1beta1.Source{Resource: "cpu"},
	}}
	server := buildertest.NewServer(townScheme(), withTowns, buildertest.WithObjects(aScaling(entry), aSet("storage", 1)))
	ours := server.Client("operator")
	c := theController()
	reconciler, err := buildertest.NewReconciler(c.Operator(nil, ours, ours.Live()), ours, ours.Now)
	require.NoError(t, err)
	for c.senses.turns.take("default") { // slow endpoints of others
	}
	_, err = reconciler.Reconcile(t.Context(), request)
	require.NoError(t, err)
	require.NoError(t, ours.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "kv-storage"}, &autoscalingv2.HorizontalPodAutoscaler{}))
}

// An object with many slow endpoints doesn't hold its worker for longer than one with a few.
func TestWhatAllEndpointsOfAnObjectTakeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &senses{}
		all := map[about]asked{}
		for i := range 100 {
			all[about{entry: fmt.Sprint(i)}] = asked{source: &v1beta1.Source{}}
		}
		begun := time.Now()
		readings, err := s.askEach(t.Context(), all, func(asked) (float64, error) {
			time.Sleep(mostTimeout)
			return 1, nil
		})
		require.NoError(t, err)
		assert.LessOrEqual(t, time.Since(begun), askFor+mostTimeout)
		assert.Len(t, readings, 100)
		failed := 0
		for _, r := range readings {
			if r.err != nil {
				failed++
				assert.ErrorContains(t, r.err, "those before it took")
			}
		}
		assert.Greater(t, failed, 50)
	})
}

// Sources whose Secrets the API server doesn't return fail for one cause, and are reported once: the text of nested errors takes memory
// by the square of their number.
func TestManySourcesThatFailInTheClusterAreOneError(t *testing.T) {
	all := map[about]asked{}
	for i := range 1000 {
		all[about{entry: fmt.Sprint(i)}] = asked{source: &v1beta1.Source{}}
	}
	_, err := (&senses{}).askEach(t.Context(), all, func(asked) (float64, error) {
		return 0, fmt.Errorf("%w: Secret auth: %w", errInCluster, io.ErrUnexpectedEOF)
	})
	require.ErrorIs(t, err, errInCluster)
	assert.Equal(t, "read from the API server: Secret auth: unexpected EOF", err.Error())
}
