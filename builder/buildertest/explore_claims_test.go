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
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// database returns an owner's StatefulSet with a claim for each pod.
func database(owner client.Object) *appsv1.StatefulSet {
	labels := map[string]string{"app": "db"}
	claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: amounts("storage", "1Gi")},
	}}
	return owned(&appsv1.StatefulSet{ObjectMeta: configMap("db").ObjectMeta, Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{claim},
	}}, owner).(*appsv1.StatefulSet)
}

// scaledDown is an operator that scales its StatefulSet down, and deletes the claims whose names have a prefix.
func scaledDown(prefix string) buildertest.Scenario {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		set := database(owner)
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

// scaling is an operator whose StatefulSet runs at the start. It scales it down, and then deletes a claim.
func scaling(claim string) buildertest.Scenario {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		set := database(owner)
		if err := c.Get(ctx, client.ObjectKeyFromObject(set), set); err != nil {
			return reconcile.Result{}, err
		}
		if *set.Spec.Replicas > 0 {
			set.Spec.Replicas = new(int32(0))
			return reconcile.Result{}, c.Update(ctx, set)
		}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: configMap(claim).ObjectMeta}
		if err := c.Get(ctx, client.ObjectKeyFromObject(claim), claim); err != nil || set.Status.Replicas > 0 {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, claim))
	})
	owner := configMap("owner")
	owner.UID = "owner"
	set := database(owner)
	set.UID = "set"
	pod := &corev1.Pod{ObjectMeta: configMap("db-0").ObjectMeta, Spec: set.Spec.Template.Spec}
	pod.Labels = set.Spec.Template.Labels
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	s.Objects = []client.Object{owner, set, pod, world.Node("n1")}
	for _, name := range []string{"data-db-0", "data-users", "data-db--1"} {
		s.Objects = append(s.Objects, &corev1.PersistentVolumeClaim{ObjectMeta: configMap(name).ObjectMeta})
	}
	s.Cluster = world.Cluster(world.Options{})
	return s
}

func TestTheClaimsThatARunningStatefulSetHasAtTheStartAreThoseOfItsOwner(t *testing.T) {
	buildertest.Explore(t, scaling("data-db-0"), buildertest.Bounds{WholeWorkloads: true})
	require.NoError(t, buildertest.CheckCrashes(t.Context(), scaling("data-db-0")))
	for _, foreign := range []string{"data-users", "data-db--1"} {
		_, err := buildertest.FindCounterexample(t.Context(), scaling(foreign), buildertest.Bounds{WholeWorkloads: true})
		require.ErrorIs(t, err, buildertest.ErrNotOwned)
		require.ErrorContains(t, buildertest.CheckCrashes(t.Context(), scaling(foreign)), "not the operator's was written")
	}
}

// A pod that a requested object doesn't control itself, but its Deployment's ReplicaSet.
func TestObjectsAtTheStartBelongToTheOwnerAtAnyDepth(t *testing.T) {
	owner, web := configMap("owner"), deployment("web", "i")
	owner.UID, web.UID = "owner", "web"
	template := web.Spec.Template
	set := &appsv1.ReplicaSet{ObjectMeta: configMap("web-1").ObjectMeta}
	set.Spec = appsv1.ReplicaSetSpec{Selector: web.Spec.Selector, Template: template}
	set.UID = "set"
	pod := &corev1.Pod{ObjectMeta: configMap("web-1-1").ObjectMeta, Spec: template.Spec}
	for _, of := range []struct{ obj, owner client.Object }{{set, web}, {pod, set}} {
		gvk, err := apiutil.GVKForObject(of.owner, scheme.Scheme)
		require.NoError(t, err)
		of.obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(of.owner, gvk)})
	}
	s := by(func(ctx context.Context, c *buildertest.Client, _ *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, pod.DeepCopy()))
	})
	s.Objects = []client.Object{owner, owned(web, owner), set, pod}
	require.NoError(t, buildertest.CheckCrashes(t.Context(), s))
	s.Objects[1].SetOwnerReferences(nil)
	require.ErrorContains(t, buildertest.CheckCrashes(t.Context(), s), "not the operator's was written: delete Pod default/web-1-1")
	owned(web, set)
	require.ErrorContains(t, buildertest.CheckCrashes(t.Context(), s), "not the operator's was written", "the references form a circle")
}

// When its owner is gone, the operator finds its claims by a label.
func TestTheClaimsOfADeletedOwnerAreThoseOfTheOperator(t *testing.T) {
	s := by(nil)
	s.Reconciler = func(c *buildertest.Client) (reconcile.Reconciler, error) {
		return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			owner := &corev1.ConfigMap{}
			switch err := c.Get(ctx, req.NamespacedName, owner); {
			case err == nil && c.Get(ctx, client.ObjectKeyFromObject(configMap("db")), &appsv1.StatefulSet{}) == nil:
				return reconcile.Result{}, nil
			case err == nil:
				return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, database(owner)))
			case !apierrors.IsNotFound(err):
				return reconcile.Result{}, err
			}
			claims := &corev1.PersistentVolumeClaimList{}
			if err := c.List(ctx, claims, client.MatchingLabels{"app": "db"}); err != nil || len(claims.Items) == 0 {
				return reconcile.Result{}, err
			}
			return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, &claims.Items[0]))
		}), nil
	}
	s.Objects = append(s.Objects, world.Node("n1"))
	s.Cluster = world.Cluster(world.Options{})
	s.Then = []buildertest.Edit{func(ctx context.Context, c client.Client) error { return c.Delete(ctx, configMap("owner")) }}
	buildertest.Explore(t, s, buildertest.Bounds{WholeWorkloads: true})
}
