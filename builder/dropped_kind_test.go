package builder_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

// droppedKind is an owner whose operator had cross-namespace children of a kind.
type droppedKind struct {
	t          *testing.T
	ours, user *buildertest.Client
	owner      *v1alpha1.JobFlow
}

func newDroppedKind(t *testing.T) *droppedKind {
	t.Helper()
	server := buildertest.NewServer(flowScheme, buildertest.WithStatusSubresource(&v1alpha1.JobFlow{}))
	owner := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "flow"}}
	d := &droppedKind{t, server.Client("operator"), server.Client("user"), owner}
	require.NoError(t, d.user.Create(t.Context(), owner))
	role := builder.Want(newRole("role"), builder.CrossNamespace())
	require.NoError(t, d.pass(true, builder.Plan[*v1alpha1.JobFlow]{Children: []builder.Child{role}, Report: true}))
	return d
}

// pass runs a pass of a version that declares the kind, or of one that doesn't.
func (d *droppedKind) pass(declares bool, plan builder.Plan[*v1alpha1.JobFlow]) error {
	d.t.Helper()
	o := builder.NewOperator[*v1alpha1.JobFlow](nil, "test").
		Plan(func(*v1alpha1.JobFlow, builder.View) builder.Plan[*v1alpha1.JobFlow] { return plan })
	if declares {
		o.Owns(&rbacv1.ClusterRole{}, builder.CrossNamespace())
	}
	r, err := buildertest.NewReconciler(o, d.ours, d.ours.Now)
	require.NoError(d.t, err)
	_, err = r.Reconcile(d.t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(d.owner)})
	return err
}

// forbid takes the permissions of the kind.
func (d *droppedKind) forbid() {
	kind := schema.GroupKind{Group: rbacv1.GroupName, Kind: "ClusterRole"}
	d.ours.Fail(buildertest.Fault{Kind: kind, Error: func(buildertest.Call) error {
		return apierrors.NewForbidden(rbacv1.Resource("clusterroles"), "", errors.New("cannot list at the cluster scope"))
	}})
}

// A version that no longer declares a cross-namespace kind may lack the permission to list it. The owner says so while it waits.
func TestATerminatingOwnerNamesTheMissingPermission(t *testing.T) {
	d := newDroppedKind(t)
	d.forbid()
	require.NoError(t, d.user.Delete(t.Context(), d.owner))
	require.Error(t, d.pass(false, builder.Plan[*v1alpha1.JobFlow]{Report: true}))
	require.NoError(t, d.user.Get(t.Context(), client.ObjectKeyFromObject(d.owner), d.owner))
	ready := meta.FindStatusCondition(d.owner.Status.Conditions, events.ConditionReady)
	require.NotNil(t, ready)
	assert.Equal(t, metav1.ConditionFalse, ready.Status)
	assert.Contains(t, ready.Message, "clusterroles.rbac.authorization.k8s.io is forbidden: cannot list at the cluster scope")
}

// The documented order of releases: PruneAll deletes the children and removes the record of their kind.
func TestACrossNamespaceKindIsDroppedInTwoReleases(t *testing.T) {
	d := newDroppedKind(t)
	require.NoError(t, d.pass(true, builder.Plan[*v1alpha1.JobFlow]{PruneAll: true, Report: true}))
	err := d.user.Get(t.Context(), client.ObjectKeyFromObject(newRole("role")), newRole("role"))
	require.True(t, apierrors.IsNotFound(err))
	d.forbid()
	require.NoError(t, d.pass(false, builder.Plan[*v1alpha1.JobFlow]{Report: true}))
	require.NoError(t, d.user.Delete(t.Context(), d.owner))
	require.NoError(t, d.pass(false, builder.Plan[*v1alpha1.JobFlow]{Report: true}))
	err = d.user.Get(t.Context(), client.ObjectKeyFromObject(d.owner), d.owner)
	assert.True(t, apierrors.IsNotFound(err))
}
