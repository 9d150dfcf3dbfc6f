//go:build !race

// The race detector changes what the compiler keeps on the stack.

package record_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
)

// A recorder adds no allocation to a pass that changes nothing.
func TestUnchangedPassesCostNothing(t *testing.T) {
	h := run(t, configured(nil), 1<<20, theOwner(), thePassword("hunter2"))
	require.NoError(t, h.pass())
	without, err := buildertest.NewReconciler(configured(nil), h.client.Client, h.client.Now)
	require.NoError(t, err)
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(h.owner)}
	count := func(r reconcile.Reconciler) float64 {
		pass := func() {
			_, err := r.Reconcile(t.Context(), request)
			require.NoError(t, err)
		}
		pass()
		fewest := testing.AllocsPerRun(50, pass)
		for range 4 { // an average includes what other goroutines allocate meanwhile
			fewest = min(fewest, testing.AllocsPerRun(50, pass))
		}
		return fewest
	}
	assert.LessOrEqual(t, count(h.reconciler), count(without))
	assert.Len(t, h.passes(), 1)
}
