package buildertest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// scaledDown is an operator that scales its StatefulSet down, and deletes the claims whose names have a prefix.
func scaledDown(prefix string) buildertest.Scenario {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		labels := map[string]string{"app": "db"}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: amounts("storage", "1Gi")},
		}}
		set := owned(&appsv1.StatefulSet{ObjectMeta: configMap("db").ObjectMeta, Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*claim},
		}}, owner).(*appsv1.StatefulSet)
		if err := c.Get(ctx, client.ObjectKeyFromObject(set), set); apierrors.IsNotFound(err) {
			return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, set))
		} else if err != nil {
			return reconcile.Result{}, err
		}
		if set.Status.ReadyReplicas == 1 && owner.Data["replicas"] == "0" && *set.Spec.Replicas == 1 {
			set.Spec.Replicas = new(int32(0))
			return reconcile.Result{}, c.Update(ctx, set)
		}
		claims := &corev1.PersistentVolumeClaimList{}
		if err := c.List(ctx, claims); err != nil || set.Status.Replicas > 0 || *set.Spec.Replicas > 0 {
			return reconcile.Result{}, err
		}
		for i := range claims.Items {
			if claim := &claims.Items[i]; strings.HasPrefix(claim.Name, prefix) {
				if err := client.IgnoreNotFound(c.Delete(ctx, claim)); err != nil {
					return reconcile.Result{}, err
				}
			}
		}
		return reconcile.Result{}, nil
	})
	s.Objects = append(s.Objects, world.Node("n1"))
	s.Cluster = world.Cluster(world.Options{})
	s.Then = []buildertest.Edit{
		func(ctx context.Context, c client.Client) error {
			users := &corev1.PersistentVolumeClaim{ObjectMeta: configMap("data-users").ObjectMeta}
			return c.Create(ctx, users)
		},
		buildertest.Change(configMap("owner"), func(o *corev1.ConfigMap) { o.Data["replicas"] = "0" }),
	}
	return s
}

func TestTheClaimsOfAStatefulSetAreThoseOfItsOwner(t *testing.T) {
	report := buildertest.Explore(t, scaledDown("data-db-"), buildertest.Bounds{WholeWorkloads: true})
	assert.True(t, report.Exhausted)
	_, err := buildertest.FindCounterexample(t.Context(), scaledDown("data-"), buildertest.Bounds{WholeWorkloads: true})
	require.ErrorIs(t, err, buildertest.ErrNotOwned)
	assert.ErrorContains(t, err, "delete PersistentVolumeClaim default/data-users")
}
