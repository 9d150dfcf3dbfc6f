package builder_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/compat/builder"
)

// upgraded returns an owner whose spec has changed.
func upgraded(cr *corev1.ConfigMap) *corev1.ConfigMap {
	cr = cr.DeepCopy()
	cr.Generation = 2
	return cr
}

func TestFirstInstallIsOfAllAtOnce(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	_, err := reconcileWorkloads(s, cr, workload(s, cr, "Deployment", "a"), workload(s, cr, "StatefulSet", "b"))
	require.NoError(t, err)
	require.Equal(t, 2, s.writes())
}

func TestUpgradeIsInOrder(t *testing.T) {
	s, cr := newServer(t, world.Node("n1")), newCR("cr")
	_, err := reconcileWorkloads(s, cr, workload(s, cr, "Deployment", "a"), workload(s, cr, "StatefulSet", "b"))
	require.NoError(t, err)
	ready(s)
	s.writes()

	cr = upgraded(cr)
	items := []builder.BuilderDeploymentStatefulSet{
		workload(s, cr, "Deployment", "a"), workload(s, cr, "StatefulSet", "b"), workload(s, cr, "Deployment", "new"),
	}
	for i := range items {
		items[i].PodSpec.Containers[0].Image = "app:2"
	}
	image := func() (a, b string) {
		d, sts := &appsv1.Deployment{}, &appsv1.StatefulSet{}
		require.True(t, s.has(d, "a"))
		require.True(t, s.has(sts, "b"))
		return d.Spec.Template.Spec.Containers[0].Image, sts.Spec.Template.Spec.Containers[0].Image
	}
	pass := func() controllerutil.OperationResult {
		b := newBuilder(s, cr, builder.ToNewBuilderDeploymentStatefulSet(items))
		result, err := b.ReconcileDeployOrSts()
		require.NoError(t, err)
		require.NoError(t, b.ReconcileStore(), "what the upgrade has not reached is not stale")
		return result
	}

	require.Equal(t, controllerutil.OperationResultUpdated, pass())
	a, b := image()
	require.Equal(t, []string{"app:2", "app:1"}, []string{a, b})

	// The status still says ready, but of the generation before.
	require.Equal(t, controllerutil.OperationResultNone, pass())
	_, b = image()
	require.Equal(t, "app:1", b)

	ready(s)
	require.Equal(t, controllerutil.OperationResultUpdated, pass())
	_, b = image()
	require.Equal(t, "app:2", b)
	require.False(t, s.has(&appsv1.Deployment{}, "new"))

	// Its controller has observed the change, and its pod still runs.
	require.NoError(t, world.New(s.Server(), world.Options{}).SettleOnly(t.Context(), func(step world.Step) bool {
		return step.Actor == "statefulset-controller"
	}))
	sts := &appsv1.StatefulSet{}
	require.True(t, s.has(sts, "b"))
	require.Equal(t, sts.Generation, sts.Status.ObservedGeneration)
	require.NotEqual(t, sts.Status.CurrentRevision, sts.Status.UpdateRevision)
	require.Equal(t, controllerutil.OperationResultNone, pass())
	require.False(t, s.has(&appsv1.Deployment{}, "new"))

	ready(s)
	require.Equal(t, controllerutil.OperationResultCreated, pass())
	require.True(t, s.has(&appsv1.Deployment{}, "new"))
	ready(s)
	require.Equal(t, controllerutil.OperationResultNone, pass())
}

// ready lets all workloads roll out.
func ready(s *server) {
	s.t.Helper()
	require.NoError(s.t, world.New(s.Server(), world.Options{}).Settle(s.t.Context()))
}
