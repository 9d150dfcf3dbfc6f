package builder

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// ownsJobsLater returns the pass of an operator whose owner has a Job, and a function that makes the operator own Jobs, as OwnsLater does.
// The pass calls during while it reads the children of another kind.
func ownsJobsLater(
	t *testing.T, during *func(), describe func(*Operator[*corev1.ConfigMap]),
) (pass func() error, own func()) {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "uid"}}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "a", UID: "job",
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
	}}
	api := fake.NewClientBuilder().WithReturnManagedFields().WithObjects(owner, job).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, secrets := list.(*corev1.SecretList); secrets && *during != nil {
				(*during)()
			}
			return c.List(ctx, list, opts...)
		},
	}).Build()
	o := NewOperator[*corev1.ConfigMap](nil, "test").Owns(&corev1.Secret{})
	describe(o)
	o.engine = NewEngine(api, Options{})
	r, err := o.newReconciler()
	require.NoError(t, err)
	pass = func() error {
		_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
		return err
	}
	own = func() {
		k, err := o.engine.kinds.Of(&batchv1.Job{})
		require.NoError(t, err)
		before := r.owned.Load()
		o.Owns(&batchv1.Job{})
		r.owned.Store(&ownedKinds{append(before.kinds[:1:1], k), o.declared()})
	}
	return pass, own
}

// A plan that may ask for a kind must have its objects: an empty answer would mean that there are none.
func TestTheViewHasAKindThatExternalMadeTheOperatorOwn(t *testing.T) {
	var during, own func()
	var pass func() error
	observed := -1
	pass, own = ownsJobsLater(t, &during, func(o *Operator[*corev1.ConfigMap]) {
		o.External(func(context.Context, *corev1.ConfigMap, View) (any, error) {
			own()
			return "installed", nil
		}).Plan(func(_ *corev1.ConfigMap, v View) Plan[*corev1.ConfigMap] {
			state, _ := External[string](v)
			assert.Equal(t, "installed", state)
			observed = len(Owned[*batchv1.Job](v))
			return Plan[*corev1.ConfigMap]{}
		})
	})
	require.NoError(t, pass())
	assert.Equal(t, 1, observed)
}

// Another pass may make the operator own a kind at any moment.
func TestAPlanMayAskForTheKindsOfItsViewOnly(t *testing.T) {
	var during func()
	pass, own := ownsJobsLater(t, &during, func(o *Operator[*corev1.ConfigMap]) {
		o.Plan(func(_ *corev1.ConfigMap, v View) Plan[*corev1.ConfigMap] {
			assert.Empty(t, Owned[*batchv1.Job](v))
			return Plan[*corev1.ConfigMap]{}
		})
	})
	during = own
	require.ErrorIs(t, pass(), ErrMisuse, "the view doesn't have the Jobs")
}
