package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/internal/wellknown"
)

func newClaim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

func ownsClaims(o *operator) { o.Owns(&corev1.PersistentVolumeClaim{}) }

// claiming wants a claim with these options; nil wants none.
func claiming(opts *[]builder.ChildOption) ownerFunc {
	return func(*appsv1.Deployment, builder.View) ownerPlan {
		p := ownerPlan{Prune: []client.Object{&corev1.PersistentVolumeClaim{}}}
		if *opts != nil {
			p.Children = []builder.Child{builder.Want(newClaim("data"), *opts...)}
		}
		return p
	}
}

func TestAChildOutlivesItsOwner(t *testing.T) {
	opts := []builder.ChildOption{builder.Retain()}
	s := perform(t, claiming(&opts), ownsClaims)
	assert.Equal(t, []string{"create PersistentVolumeClaim default/data"}, s.passes())
	claim := get(s, newClaim("data"))
	assert.Empty(t, claim.OwnerReferences)
	assert.Equal(t, "default/owner", claim.Annotations[wellknown.AnnotationOwner])
	assert.Equal(t, "Deployment.apps", claim.Annotations[wellknown.AnnotationOwnerKind])
	assert.Empty(t, s.passes())

	opts = nil
	assert.Empty(t, s.passes(), "it isn't pruned")
	require.NoError(t, s.others.Delete(t.Context(), newOwner()))
	s.server.CollectGarbage()
	get(s, newClaim("data"))

	again := newOwner()
	again.UID = ""
	require.NoError(t, s.others.Create(t.Context(), again))
	opts = []builder.ChildOption{builder.Retain()}
	assert.Empty(t, s.passes(), "another owner of that name takes it up")
}

func TestToOutliveComesAndGoes(t *testing.T) {
	opts := []builder.ChildOption{}
	s := perform(t, claiming(&opts), ownsClaims)
	s.passes()
	uid := get(s, newClaim("data")).UID
	require.Len(t, get(s, newClaim("data")).OwnerReferences, 1)

	opts = []builder.ChildOption{builder.Retain()}
	assert.NotEmpty(t, s.passes())
	assert.Empty(t, get(s, newClaim("data")).OwnerReferences, "it is let go of")
	assert.Empty(t, s.passes())

	opts = []builder.ChildOption{}
	_, _, err := s.pass()
	require.ErrorIs(t, err, builder.ErrNotOwned)
	opts = []builder.ChildOption{builder.Adopt(builder.AdoptOptions{})}
	assert.NotEmpty(t, s.passes())
	claim := get(s, newClaim("data"))
	assert.Len(t, claim.OwnerReferences, 1, "it is taken back")
	assert.Equal(t, uid, claim.UID)
	assert.Empty(t, s.passes())
}

func TestWhatOutlivesIsNotTakenFromOthers(t *testing.T) {
	marked := newClaim("data")
	marked.Annotations = map[string]string{wellknown.AnnotationOwnerKind: "Deployment.apps", wellknown.AnnotationOwner: "default/another"}
	forged := newClaim("data")
	forged.Annotations = map[string]string{wellknown.AnnotationOwnerKind: "Deployment.apps", wellknown.AnnotationOwner: "default/owner"}
	for name, there := range map[string]client.Object{
		"no one's":         newClaim("data"),
		"marked by others": forged,
		"another's":        controlled(newClaim("data"), "another"),
		"another name":     marked,
	} {
		t.Run(name, func(t *testing.T) {
			opts := []builder.ChildOption{builder.Retain()}
			s := perform(t, claiming(&opts), ownsClaims, there)
			writes, _, err := s.pass()
			require.ErrorIs(t, err, builder.ErrNotOwned)
			assert.Empty(t, writes)
		})
	}
	opts := []builder.ChildOption{builder.Retain(), builder.Adopt(builder.AdoptOptions{})}
	s := perform(t, claiming(&opts), ownsClaims, newClaim("data"))
	assert.NotEmpty(t, s.passes())
	assert.Equal(t, "default/owner", get(s, newClaim("data")).Annotations[wellknown.AnnotationOwner])
}

func TestOutlivesMisused(t *testing.T) {
	for name, opts := range map[string][]builder.ChildOption{
		"elsewhere":  {builder.Retain(), builder.CrossNamespace()},
		"once":       {builder.Retain(), builder.CreateOnly()},
		"in a phase": {builder.Retain(), builder.InPhase("a")},
	} {
		t.Run(name, func(t *testing.T) {
			plan := func(*appsv1.Deployment, builder.View) ownerPlan {
				return ownerPlan{Children: []builder.Child{builder.Want(newClaim("data"), opts...)}, Rollout: rollout.Options{Phases: []string{"a"}}}
			}
			_, _, err := perform(t, plan, func(o *operator) {
				o.Owns(&corev1.PersistentVolumeClaim{}).Owns(&appsv1.ControllerRevision{}).Owns(&corev1.PersistentVolumeClaim{}, builder.CrossNamespace())
			}).pass()
			require.ErrorIs(t, err, builder.ErrMisuse)
			assert.ErrorContains(t, err, "Retain")
		})
	}
}

func TestCrashEverywhereWithRetainedChildren(t *testing.T) {
	plan := func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
		opts := []builder.ChildOption{builder.Retain()} // lets go of the one that there is
		return ownerPlan{Children: []builder.Child{builder.Want(newClaim("data"), opts...), builder.Want(newClaim("more"), opts...)}}
	}
	buildertest.CrashEverywhere(t, scenario(plan, ownsClaims, controlled(newClaim("data"), ownerUID)))
}
