package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

const ownerAnnotation = "example.com/owner"

func namedByAnnotation(obj client.Object) []string {
	return []string{obj.GetAnnotations()[ownerAnnotation]}
}

func newConfigMap(namespace, name, owner string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{}
	cm.Namespace, cm.Name = namespace, name
	if owner != "" {
		cm.Annotations = map[string]string{ownerAnnotation: owner}
	}
	return cm
}

func TestReferencing(t *testing.T) {
	var seen []string
	plan := func(_ *appsv1.Deployment, v builder.View) ownerPlan {
		seen = nil
		for _, cm := range builder.Watched[*corev1.ConfigMap](v) {
			seen = append(seen, cm.Name)
		}
		return ownerPlan{}
	}
	s := perform(t, plan, func(o *operator) { o.Watches(&corev1.ConfigMap{}, builder.Referencing(namedByAnnotation)) },
		newConfigMap("default", "b", "owner"), newConfigMap("default", "a", "owner"), newConfigMap("default", "c", "another"),
		newConfigMap("default", "d", ""), newConfigMap("elsewhere", "e", "owner"))
	assert.Empty(t, s.passes())
	assert.Equal(t, []string{"a", "b"}, seen, "of the owner's namespace, by name")
}

// A plan reads the objects of all watches of a kind, each once.
func TestAKindWatchedTwice(t *testing.T) {
	var names []string
	plan := func(_ *appsv1.Deployment, v builder.View) ownerPlan {
		names = nil
		for _, cm := range builder.Watched[*corev1.ConfigMap](v) {
			names = append(names, cm.Name)
		}
		_, ok := builder.Lookup[*corev1.ConfigMap](v, "a")
		assert.True(t, ok)
		return ownerPlan{}
	}
	s := perform(t, plan, func(o *operator) {
		o.Watches(&corev1.ConfigMap{}, builder.Referencing(namedByAnnotation)).
			Watches(&corev1.ConfigMap{}, builder.ReferencedBy(func(*appsv1.Deployment) []string { return []string{"c", "a", "", "c", "none"} }))
	}, newConfigMap("default", "b", "owner"), newConfigMap("default", "a", "owner"), newConfigMap("default", "c", "another"))
	assert.Empty(t, s.passes())
	assert.Equal(t, []string{"a", "b", "c"}, names)
}

func TestWithWatched(t *testing.T) {
	empty := builder.View{}
	full := buildertest.WithWatched(empty, newConfigMap("default", "b", ""), newConfigMap("default", "a", ""))
	assert.Len(t, builder.Watched[*corev1.ConfigMap](full), 2)
	assert.Equal(t, "a", builder.Watched[*corev1.ConfigMap](full)[0].Name)
	assert.Len(t, builder.Watched[*corev1.ConfigMap](buildertest.WithWatched(full, newConfigMap("default", "c", ""))), 3)
	assert.Len(t, builder.Watched[*corev1.ConfigMap](full), 2, "a view stays as it is")
	assert.Empty(t, builder.Watched[*corev1.ConfigMap](empty))
	assert.Len(t, builder.Watched[client.Object](full), 2, "an interface is for all kinds that implement it")
	assert.Empty(t, builder.Watched[interface {
		client.Object
		Undone()
	}](full))
}

func TestReferencingIsChecked(t *testing.T) {
	for _, describe := range []func(*operator){
		func(o *operator) { o.Watches(&corev1.ConfigMap{}, builder.Referencing[*corev1.ConfigMap](nil)) },
		func(o *operator) { o.Watches(untyped(), builder.Referencing(namedByAnnotation)) },
	} {
		server := buildertest.NewServer(clientgoscheme.Scheme)
		_, err := buildertest.NewReconciler(describedBy(nothing, describe), server.Client("operator"), nil)
		require.ErrorIs(t, err, builder.ErrMisuse)
		assert.ErrorContains(t, err, "Watches")
	}
}

func untyped() client.Object {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	return u
}

func nothing(*appsv1.Deployment, builder.View) ownerPlan { return ownerPlan{} }

// A function that panics over an owner's spec is reported on the owner, and tried again when that changes.
func TestAPanicOfTheNamesIsReported(t *testing.T) {
	f := newFleet(t, "a")
	ours := f.server.Client("ours")
	op := builder.NewOperator[*v1alpha1.JobFlow](nil, "names").
		Watches(&corev1.ConfigMap{}, builder.ReferencedBy(func(*v1alpha1.JobFlow) []string { panic("no name") })).
		Plan(func(*v1alpha1.JobFlow, builder.View) builder.Plan[*v1alpha1.JobFlow] {
			return builder.Plan[*v1alpha1.JobFlow]{Report: true}
		})
	r, err := buildertest.NewReconciler(op, ours, ours.Now)
	require.NoError(t, err)
	for range 2 {
		_, err = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key("a")})
		require.ErrorIs(t, err, reconcile.TerminalError(nil))
		require.ErrorIs(t, err, builder.ErrMisuse)
	}
	require.Len(t, ours.Events(), 1)
	assert.Contains(t, ours.Events()[0].Note, "panicked: no name")
	assert.Equal(t, events.ReasonInvalidPlan, meta.FindStatusCondition(f.flow("a").Status.Conditions, events.ConditionReady).Reason)
}
