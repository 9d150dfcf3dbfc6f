package leader

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// TestLeasesSayWhatIsWorkedOn: what a manager writes onto its lease is what is read of it.
func TestLeasesSayWhatIsWorkedOn(t *testing.T) {
	scope := Scope{Operators: []string{"jobflow", "fluxjob"}, Namespaces: []string{"a", "b"}, Selector: v1alpha1.LabelShard + "=x"}
	c, err := Client(fake.NewClientset().CoordinationV1(), scope)
	require.NoError(t, err)
	at := metav1.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "armature-manager"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: new("pod-1"), LeaseDurationSeconds: new(int32(15)), RenewTime: &at,
	}}
	made, err := c.Leases("ops").Create(t.Context(), lease, metav1.CreateOptions{})
	require.NoError(t, err)
	delete(made.Annotations, AnnotationScope) // that of an older version
	made, err = c.Leases("ops").Update(t.Context(), made, metav1.UpdateOptions{})
	require.NoError(t, err)

	other := lease.DeepCopy()
	other.Name = "other"
	all, err := Read(t.Context(), ctrlfake.NewClientBuilder().WithObjects(made, other).Build(), "")
	require.NoError(t, err)
	assert.Equal(t, []Manager{{Namespace: "ops", Lease: "armature-manager", Holder: "pod-1", Renewed: at.Local(), Duration: 15 * time.Second, Scope: scope}}, all)
	assert.Equal(t, `--operators=jobflow,fluxjob --watch-namespaces=a,b --selector="api.practice.com/shard=x"`, all[0].Scope.String())
	assert.Equal(t, at.Local().Add(20*time.Second), all[0].Expires())
}

// A user who may list the leases of the manager's namespace only names that namespace.
func TestFindWithTheLeasesOfOneNamespace(t *testing.T) {
	c := interceptor.NewClient(ctrlfake.NewClientBuilder().Build(), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if (&client.ListOptions{}).ApplyOptions(opts).Namespace != "ops" {
				return apierrors.NewForbidden(schema.GroupResource{Group: coordinationv1.GroupName, Resource: "leases"}, "", nil)
			}
			return c.List(ctx, list, opts...)
		},
	})
	_, err := Find(t.Context(), c, "")
	assert.ErrorContains(t, err, "--leader-elect-namespace")
	_, err = Find(t.Context(), c, "other")
	require.ErrorContains(t, err, "find the manager: list leases: ")
	assert.NotContains(t, err.Error(), "--leader-elect-namespace", "the user has named one")
	_, err = Find(t.Context(), c, "ops")
	require.NoError(t, err)
}

func TestCovers(t *testing.T) {
	obj := func(namespace, shard string) *v1alpha1.JobFlow {
		return &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Labels: map[string]string{v1alpha1.LabelShard: shard}}}
	}
	s := Scope{Operators: []string{"jobflow", "fluxjob"}, Namespaces: []string{"a"}, Selector: v1alpha1.LabelShard + "=x"}
	assert.True(t, s.Covers("JobFlow", obj("a", "x")))
	assert.False(t, s.Covers("JobFlow", obj("b", "x")))
	assert.False(t, s.Covers("JobFlow", obj("a", "y")))
	assert.False(t, s.Covers("DaemonJob", obj("a", "x")))
	assert.True(t, s.Covers("FluxSetup", obj("", "x")), "a queue is in no namespace")
	assert.True(t, Scope{Operators: []string{"jobflow"}}.Covers("JobFlow", obj("b", "")))
}
