package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

func newWorkload(name string) *appsv1.Deployment {
	d := newOwner()
	d.Name, d.UID, d.Spec.Replicas = name, "", ptr.To[int32](1)
	return d
}

// scaling plans a number of replicas for all Deployments that say that they are the owner's to scale.
func scaling(replicas int32) ownerFunc {
	return func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
		var p ownerPlan
		for _, d := range builder.Naming[*appsv1.Deployment](seen) {
			if *d.Spec.Replicas != replicas {
				p.Scales = append(p.Scales, builder.Scale{Target: d, Replicas: replicas})
			}
		}
		return p
	}
}

func scalesDeployments(o *operator) {
	o.NamedIn(&appsv1.Deployment{}, func(obj client.Object) []string { return []string{obj.GetLabels()["scaled-by"]} })
}

func scaled(name string) *appsv1.Deployment {
	d := newWorkload(name)
	d.Labels = map[string]string{"scaled-by": "owner"}
	return d
}

func TestScale(t *testing.T) {
	s := perform(t, scaling(3), scalesDeployments, scaled("a"), newWorkload("b"))
	assert.Equal(t, []string{"patch Deployment.apps/scale default/a"}, s.passes())
	assert.EqualValues(t, 3, *get(s, newWorkload("a")).Spec.Replicas)
	assert.EqualValues(t, 1, *get(s, newWorkload("b")).Spec.Replicas)
	assert.Empty(t, s.passes())
}

func TestScaleOfWhatHasChangedOrIsGone(t *testing.T) {
	s := perform(t, scaling(3), scalesDeployments, scaled("a"), scaled("b"))
	s.ours.Freeze()
	d := get(s, newWorkload("a"))
	d.Spec.Replicas = ptr.To[int32](2)
	require.NoError(t, s.others.Update(t.Context(), d))
	require.NoError(t, s.others.Delete(t.Context(), newWorkload("b")))
	_, after, err := s.pass()
	require.NoError(t, err, "what is gone needs no scale, and a conflict is tried again without noise")
	assert.Positive(t, after)
	assert.EqualValues(t, 2, *get(s, newWorkload("a")).Spec.Replicas)
	s.ours.Refresh()
	assert.Equal(t, []string{"patch Deployment.apps/scale default/a"}, s.passes())
}

func TestScaleMisused(t *testing.T) {
	plan := func(*appsv1.Deployment, builder.View) ownerPlan {
		return ownerPlan{Scales: []builder.Scale{{Target: newWorkload("a"), Replicas: 1}}}
	}
	_, _, err := perform(t, plan, nil).pass()
	assert.ErrorIs(t, err, builder.ErrMisuse)

	plan = func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
		return ownerPlan{Scales: []builder.Scale{{Target: builder.Naming[*corev1.ConfigMap](seen)[0], Replicas: 1}}}
	}
	describe := func(o *operator) { o.NamedIn(&corev1.ConfigMap{}, namedByAnnotation) }
	s := perform(t, plan, describe, newConfigMap("default", "a", "owner"))
	assert.Empty(t, s.passes(), "a kind that has no scale is answered as if the object were gone")
}

func TestANegativeScaleIsTold(t *testing.T) {
	_, _, err := perform(t, scaling(-1), scalesDeployments, scaled("a")).pass()
	var about *builder.Error
	require.ErrorAs(t, err, &about)
	assert.Equal(t, "a", about.Key.Name)
	assert.True(t, builder.IsTerminal(err))
}
