package builder_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
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

// namesSources are the ways to give the operator a function of names.
var namesSources = map[string]func(o *builder.Operator[*v1alpha1.JobFlow], names func(*v1alpha1.JobFlow) []string){
	"ReferencedBy": func(o *builder.Operator[*v1alpha1.JobFlow], names func(*v1alpha1.JobFlow) []string) {
		o.Watches(&corev1.ConfigMap{}, builder.ReferencedBy(names))
	},
	"ByName": func(o *builder.Operator[*v1alpha1.JobFlow], names func(*v1alpha1.JobFlow) []string) {
		o.Owns(&corev1.Secret{}, builder.ByName(names))
	},
}

// A function that panics over an owner's spec is reported on the owner, and tried again when that changes.
func TestAPanicOfTheNamesIsReported(t *testing.T) {
	for name, describe := range namesSources {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "a")
			ours := f.server.Client("ours")
			op := builder.NewOperator[*v1alpha1.JobFlow](nil, "names").
				Plan(func(*v1alpha1.JobFlow, builder.View) builder.Plan[*v1alpha1.JobFlow] {
					return builder.Plan[*v1alpha1.JobFlow]{Report: true}
				})
			describe(op, func(*v1alpha1.JobFlow) []string { panic("no name") })
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
		})
	}
}

// The deletion of an owner needs neither a plan nor what the plan reads.
func TestAPanicOfTheNamesDoesntHoldUpADeletion(t *testing.T) {
	for name, describe := range namesSources {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "a")
			ours := f.server.Client("ours")
			terminating := 0
			op := builder.NewOperator[*v1alpha1.JobFlow](nil, "names").
				Owns(&corev1.ConfigMap{}, builder.CrossNamespace()).
				Plan(func(flow *v1alpha1.JobFlow, _ builder.View) builder.Plan[*v1alpha1.JobFlow] {
					if flow.DeletionTimestamp != nil {
						terminating++
					}
					return builder.Plan[*v1alpha1.JobFlow]{
						Children: []builder.Child{builder.Want(newConfigMap("elsewhere", "c", ""), builder.CrossNamespace())}, Report: true,
					}
				})
			names := func() []string { return nil }
			describe(op, func(*v1alpha1.JobFlow) []string { return names() })
			r, err := buildertest.NewReconciler(op, ours, ours.Now)
			require.NoError(t, err)
			pass := func() error {
				_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key("a")})
				return err
			}
			require.NoError(t, pass())
			child := newConfigMap("elsewhere", "c", "")
			require.NoError(t, f.world.Get(t.Context(), client.ObjectKeyFromObject(child), child))

			names = func() []string { panic("no name") }
			require.NoError(t, f.world.Delete(t.Context(), f.flow("a")))
			diff, err := builder.DiffOf(t.Context(), r, key("a"))
			require.ErrorContains(t, err, "panicked: no name")
			require.NotEmpty(t, diff.Changes, "a preview shows the deletion, too")
			assert.Equal(t, store.KeyOf(corev1.SchemeGroupVersion.WithKind("ConfigMap"), "elsewhere", "c"), diff.Changes[0].Key)
			for range 3 {
				if err := pass(); err != nil {
					assert.ErrorContains(t, err, "panicked: no name")
				}
			}
			assert.True(t, apierrors.IsNotFound(f.world.Get(t.Context(), client.ObjectKeyFromObject(child), child)))
			assert.True(t, apierrors.IsNotFound(f.world.Get(t.Context(), key("a"), &v1alpha1.JobFlow{})), "the finalizer is removed")
			assert.Zero(t, terminating, "there is no plan without what it reads")
			var notes []string
			for _, ev := range ours.Events() {
				notes = append(notes, ev.Note)
			}
			assert.Contains(t, strings.Join(notes, "\n"), "panicked: no name")
		})
	}
}

// A kind that can't be read any more, such as after the deletion of its CustomResourceDefinition, holds up no deletion either.
func TestAFailingReadDoesntHoldUpADeletion(t *testing.T) {
	for name, source := range map[string]builder.WatchOption{
		"ReferencedBy":  builder.ReferencedBy(func(*v1alpha1.JobFlow) []string { return []string{"password"} }),
		"Referencing":   builder.Referencing(namedByAnnotation),
		"ObservedByAll": builder.ObservedByAll(),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "a")
			ours := f.server.Client("ours")
			terminating := 0
			op := builder.NewOperator[*v1alpha1.JobFlow](nil, "reads").
				Owns(&corev1.ConfigMap{}, builder.CrossNamespace()).Watches(&corev1.Secret{}, source).
				Plan(func(flow *v1alpha1.JobFlow, _ builder.View) builder.Plan[*v1alpha1.JobFlow] {
					if flow.DeletionTimestamp != nil {
						terminating++
					}
					return builder.Plan[*v1alpha1.JobFlow]{
						Children: []builder.Child{builder.Want(newConfigMap("elsewhere", "c", ""), builder.CrossNamespace())}, Report: true,
					}
				})
			r, err := buildertest.NewReconciler(op, ours, ours.Now)
			require.NoError(t, err)
			pass := func() error {
				_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key("a")})
				return err
			}
			require.NoError(t, pass())
			child := newConfigMap("elsewhere", "c", "")
			require.NoError(t, f.world.Get(t.Context(), client.ObjectKeyFromObject(child), child))

			secrets := schema.GroupKind{Kind: "Secret"}
			forbidden := func(buildertest.Call) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("no rule"))
			}
			ours.Fail(buildertest.Fault{Verb: buildertest.VerbGet, Kind: secrets, Error: forbidden},
				buildertest.Fault{Verb: buildertest.VerbList, Kind: secrets, Error: forbidden})
			require.True(t, apierrors.IsForbidden(pass()), "an owner that lives has no pass without them")
			require.NoError(t, f.world.Delete(t.Context(), f.flow("a")))
			require.ErrorContains(t, pass(), "no rule")
			for range 2 {
				if err := pass(); err != nil {
					assert.ErrorContains(t, err, "no rule")
				}
			}
			assert.True(t, apierrors.IsNotFound(f.world.Get(t.Context(), client.ObjectKeyFromObject(child), child)))
			assert.True(t, apierrors.IsNotFound(f.world.Get(t.Context(), key("a"), &v1alpha1.JobFlow{})), "the finalizer is removed")
			assert.Zero(t, terminating, "there is no plan without what it reads")
			assert.NoError(t, pass())
		})
	}
}
