package install

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// testShards shares the flows of a namespace out among two managers by a label: each works on its own and on no others, until
// one is given to the other.
func testShards(t *testing.T) {
	t.Parallel()
	a := newRelease(t, "armature-a")
	b := *a // in the same namespace
	b.release = "armature-b"
	for value, c := range map[string]*cluster{"a": a, "b": &b} {
		c.installChart(thisChart(t), append(alone(a.home, "jobflow"), "--set", "selector="+v1alpha1.LabelShard+"="+value)...)
	}
	managerA := a.manager()
	flows := map[string]*v1alpha1.JobFlow{}
	for _, shard := range []string{"a", "b", "c"} {
		flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: a.home, Name: "flow-" + shard, Labels: map[string]string{v1alpha1.LabelShard: shard}}}
		flow.Spec.Flows = []v1alpha1.Flow{{Name: "n", JobTemplate: jobOf("true")}}
		require.NoError(t, a.client.Create(t.Context(), flow))
		flows[shard] = flow
	}
	a.waitSucceeded(flows["a"])
	a.wait(flows["b"], "the other's is left alone", func() bool { return flows["b"].Status.State == "" })

	managerB := b.manager()
	b.waitSucceeded(flows["b"])
	a.wait(flows["c"], "nobody's is left alone", func() bool { return flows["c"].Status.State == "" })
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+v1alpha1.LabelShard+`":"a"}}}`))
	require.NoError(t, a.client.Patch(t.Context(), flows["c"], patch))
	a.waitSucceeded(flows["c"])
	for _, c := range []*cluster{a, &b} { // both led: each has its own lease
		lease := &coordinationv1.Lease{}
		require.NoError(t, c.client.Get(t.Context(), client.ObjectKey{Namespace: c.home, Name: c.release + "-manager"}, lease))
		assert.NotEmpty(t, *lease.Spec.HolderIdentity)
	}
	noneForbidden(t, managerA)
	noneForbidden(t, managerB)
}
