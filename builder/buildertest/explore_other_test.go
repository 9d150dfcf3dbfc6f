package buildertest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// An operator that reads pods only after an error has a further kind in its end states, in that order alone.
func TestExploreComparesTheSameKindsOfAllEnds(t *testing.T) {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		job := jobOf(owner, "owner-1")
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); !apierrors.IsNotFound(err) {
			return reconcile.Result{}, err
		}
		if err := c.Create(ctx, job); err != nil {
			return reconcile.Result{}, errors.Join(err, c.List(ctx, &corev1.PodList{}))
		}
		return reconcile.Result{}, nil
	})
	s.Objects = append(s.Objects, world.Node("n1"))
	s.Cluster = world.Cluster(world.Options{Pods: world.JobsSucceed})
	report := buildertest.Explore(t, s, buildertest.Bounds{LostReplies: 1})
	assert.True(t, report.Exhausted)
}

// successor is a scenario in which a user deletes a foreign ConfigMap. The operator then creates and updates one of the same name.
func successor() buildertest.Scenario {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		shared := configMap("shared")
		err := c.Get(ctx, client.ObjectKeyFromObject(shared), shared)
		switch {
		case apierrors.IsNotFound(err):
			return reconcile.Result{}, c.Create(ctx, owned(shared, owner))
		case err != nil || len(shared.OwnerReferences) == 0 || shared.Data["ready"] == "yes":
			return reconcile.Result{}, err
		}
		shared.Data = map[string]string{"ready": "yes"}
		return reconcile.Result{}, c.Update(ctx, shared)
	})
	s.Objects = append(s.Objects, configMap("shared"))
	s.Then = []buildertest.Edit{func(ctx context.Context, c client.Client) error {
		return c.Delete(ctx, configMap("shared"))
	}}
	return s
}

func TestAnOperatorMayUpdateTheSuccessorOfAForeignObject(t *testing.T) {
	buildertest.Explore(t, successor(), buildertest.Bounds{Crashes: 1})
	buildertest.CrashEverywhere(t, successor())
}

// The order of finalizers, owner references and conditions depends on who was first, and means nothing.
func TestTheOrderOfASetIsNoDifference(t *testing.T) {
	add := func(ctx context.Context, c client.Client, who string) error {
		web := deployment("web", "i")
		if err := c.Get(ctx, client.ObjectKeyFromObject(web), web); err != nil || !controllerutil.AddFinalizer(web, who+"/finalizer") {
			return err
		}
		ref := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: who, UID: types.UID(who)}
		web.OwnerReferences = append(web.OwnerReferences, ref)
		if err := c.Update(ctx, web); err != nil {
			return err
		}
		condition := appsv1.DeploymentCondition{Type: appsv1.DeploymentConditionType(who), Status: corev1.ConditionTrue}
		web.Status.Conditions = append(web.Status.Conditions, condition)
		return c.Status().Update(ctx, web)
	}
	owners := []client.Object{configMap("operator"), configMap("user")}
	for _, o := range owners {
		o.SetUID(types.UID(o.GetName()))
	}
	s := by(func(ctx context.Context, c *buildertest.Client, _ *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, add(ctx, c, "operator")
	})
	s.Objects = append(append(s.Objects, deployment("web", "i")), owners...)
	s.Foreign = func(client.Object) bool { return false }
	s.Then = []buildertest.Edit{func(ctx context.Context, c client.Client) error { return add(ctx, c, "user") }}
	report := buildertest.Explore(t, s, buildertest.Bounds{Edits: 1})
	assert.True(t, report.Exhausted)
}

func TestAnObjectOfAnotherKindWithTheNameOfTheOwnerIsForeign(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: configMap("owner").ObjectMeta}
	s := by(func(ctx context.Context, c *buildertest.Client, _ *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, secret.DeepCopy()))
	})
	s.Owner = &corev1.ConfigMap{}
	s.Objects = append(s.Objects, secret)
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, buildertest.ErrNotOwned)

	s.Owner = nil
	_, err = buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	assert.EqualError(t, err, "the request default/owner may mean a ConfigMap or a Secret; set Owner to an object of the reconciled kind")

	s.Owner, s.Objects = &corev1.ConfigMap{}, s.Objects[:1]
	s.Then = []buildertest.Edit{func(ctx context.Context, c client.Client) error { return c.Create(ctx, secret.DeepCopy()) }}
	_, err = buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, buildertest.ErrNotOwned, "one that a user creates later")
}

// secondKind is a scenario whose owner comes into being when an object of another kind has its name already. The operator deletes the pod
// of its Job.
func secondKind() buildertest.Scenario {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		job, pods := jobOf(owner, "j"), &corev1.PodList{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); apierrors.IsNotFound(err) {
			return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, job))
		}
		if err := c.List(ctx, pods); err != nil {
			return reconcile.Result{}, err
		}
		for i := range pods.Items {
			if p := &pods.Items[i]; p.Status.Phase == corev1.PodSucceeded && len(p.Finalizers) == 0 {
				return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, p))
			}
		}
		return reconcile.Result{}, nil
	})
	s.Objects = []client.Object{world.Node("n1"), &corev1.Secret{ObjectMeta: configMap("owner").ObjectMeta}}
	s.Cluster = world.Cluster(world.Options{Pods: world.JobsSucceed})
	s.Then = []buildertest.Edit{func(ctx context.Context, c client.Client) error { return c.Create(ctx, configMap("owner")) }}
	return s
}

func TestAnOwnerOfAnotherKindThanTheFirstObjectOfItsName(t *testing.T) {
	s := secondKind()
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.EqualError(t, err, "the request default/owner may mean a Secret or a ConfigMap; set Owner to an object of the reconciled kind")
	s.Owner = &corev1.ConfigMap{}
	buildertest.Explore(t, s, buildertest.Bounds{})
}

// The builder prunes a child that someone else has created for the owner.
func TestTheOperatorOfABuilderKnowsItsKind(t *testing.T) {
	s := secondKind()
	s.Reconciler = copying
	s.Then = append(s.Then, func(ctx context.Context, c client.Client) error {
		owner := configMap("owner")
		if err := c.Get(ctx, client.ObjectKeyFromObject(owner), owner); err != nil {
			return err
		}
		return c.Create(ctx, owned(configMap("extra"), owner))
	})
	buildertest.Explore(t, s, buildertest.Bounds{})
}
