package builder_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/compat/builder"
)

func reconcileConfigMaps(t *testing.T, s *server, cr *corev1.ConfigMap, labels map[string]string, names ...string) {
	t.Helper()
	var items []builder.BuilderConfigMap
	for _, name := range names {
		item := configMap(s, cr, name, nil)
		item.ObjectMeta.Labels = labels
		items = append(items, item)
	}
	b := newBuilder(s, cr, builder.ToNewBuilderConfigMap(items),
		builder.ToNewBuilderStore(*builder.NewStore(s, labels, "default", cr)))
	_, err := b.ReconcileConfigMap()
	require.NoError(t, err)
	require.NoError(t, b.ReconcileStore())
}

// The original deleted what had the labels, and with nil labels all that was in the namespace.
func TestForeignObjectsAreKept(t *testing.T) {
	for name, labels := range map[string]map[string]string{"without labels": nil, "with labels": {"app": "x"}} {
		t.Run(name, func(t *testing.T) {
			free := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "free", Labels: labels}}
			other := newCR("other-cr")
			others := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "others", Labels: labels}}
			require.NoError(t, controllerutil.SetControllerReference(other, others, newServer(t).Scheme()))
			s, cr := newServer(t, free, others), newCR("cr")
			reconcileConfigMaps(t, s, cr, labels, "a", "b")
			reconcileConfigMaps(t, s, cr, labels, "b")
			require.False(t, s.has(&corev1.ConfigMap{}, "a"))
			for _, kept := range []string{"b", "free", "others"} {
				require.True(t, s.has(&corev1.ConfigMap{}, kept), kept)
			}
		})
	}
}

// Two Builders of one owner are told apart by their stores' labels.
func TestLabelsNarrowTheStore(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	reconcileConfigMaps(t, s, cr, map[string]string{"node": "a"}, "a1", "a2")
	reconcileConfigMaps(t, s, cr, map[string]string{"node": "b"}, "b1")
	reconcileConfigMaps(t, s, cr, map[string]string{"node": "a"}, "a1")
	require.True(t, s.has(&corev1.ConfigMap{}, "a1"))
	require.False(t, s.has(&corev1.ConfigMap{}, "a2"))
	require.True(t, s.has(&corev1.ConfigMap{}, "b1"))
}

// The original looked only for kinds of which something was left.
func TestLastObjectOfAKindIsPruned(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("config-%d", i))
	}
	reconcileConfigMaps(t, s, cr, nil, names...)
	var list corev1.ConfigMapList
	require.NoError(t, s.List(t.Context(), &list))
	require.Len(t, list.Items, 50)
	reconcileConfigMaps(t, s, cr, nil)
	require.NoError(t, s.List(t.Context(), &list))
	require.Empty(t, list.Items)
}

func everything(s *server, cr *corev1.ConfigMap) []builder.ToBuilder {
	return []builder.ToBuilder{
		builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "x", nil), configMap(s, cr, "y", nil)}),
		builder.ToNewBuilderDeploymentStatefulSet([]builder.BuilderDeploymentStatefulSet{
			workload(s, cr, "Deployment", "x"), workload(s, cr, "StatefulSet", "x"), workload(s, cr, "StatefulSet", "y"),
		}),
		builder.ToNewBuilderService([]builder.BuilderService{
			{CommonBuilder: common(s, cr, "x"), ServiceSpec: &corev1.ServiceSpec{Ports: aPort}},
		}),
		builder.ToNewBuilderNetworkPolicy([]builder.BuilderNetworkPolicy{{
			CommonBuilder: common(s, cr, "x"), NetworkPolicySpec: &networkingv1.NetworkPolicySpec{},
		}}),
		builder.ToNewBuilderStorageConfig([]builder.BuilderStorageConfig{{
			CommonBuilder: common(s, cr, "x"), PvcSpec: &corev1.PersistentVolumeClaimSpec{},
		}}),
	}
}

func reconcileAll(t *testing.T, b *builder.Builder) {
	t.Helper()
	for _, reconcile := range []func() (controllerutil.OperationResult, error){
		b.ReconcileConfigMap, b.ReconcileService, b.ReconcileNetworkPolicy, b.ReconcileStorage, b.ReconcileDeployOrSts,
	} {
		_, err := reconcile()
		require.NoError(t, err)
	}
	require.NoError(t, b.ReconcileStore())
}

// Claims keep their data; all else goes.
func TestEveryKindIsPruned(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	reconcileAll(t, newBuilder(s, cr, everything(s, cr)...))
	reconcileAll(t, newBuilder(s, cr,
		builder.ToNewBuilderConfigMap(nil), builder.ToNewBuilderDeploymentStatefulSet(nil), builder.ToNewBuilderService(nil),
		builder.ToNewBuilderNetworkPolicy(nil), builder.ToNewBuilderStorageConfig(nil)))
	for _, obj := range []client.Object{
		&corev1.ConfigMap{}, &appsv1.Deployment{}, &appsv1.StatefulSet{}, &corev1.Service{}, &networkingv1.NetworkPolicy{},
	} {
		require.False(t, s.has(obj, "x"), "%T", obj)
	}
	require.True(t, s.has(&corev1.PersistentVolumeClaim{}, "x"))
}

// A Builder says nothing of kinds that it was given no list of.
func TestOtherKindsAreKept(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	reconcileAll(t, newBuilder(s, cr, everything(s, cr)...))
	reconcileConfigMaps(t, s, cr, nil)
	require.False(t, s.has(&corev1.ConfigMap{}, "x"))
	require.True(t, s.has(&appsv1.Deployment{}, "x"))
	require.True(t, s.has(&corev1.Service{}, "x"))
}

// The original's store knew one kind a name.
func TestTwoKindsOfOneName(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	reconcileAll(t, newBuilder(s, cr, everything(s, cr)...))
	kept := newBuilder(s, cr,
		builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "x", nil)}),
		builder.ToNewBuilderDeploymentStatefulSet([]builder.BuilderDeploymentStatefulSet{workload(s, cr, "StatefulSet", "x")}))
	reconcileAll(t, kept)
	require.True(t, s.has(&corev1.ConfigMap{}, "x"))
	require.True(t, s.has(&appsv1.StatefulSet{}, "x"))
	require.False(t, s.has(&appsv1.Deployment{}, "x"), "it was replaced by the StatefulSet of its name")
	require.True(t, kept.Exists("x"))
}

// The original listed once for each object.
func TestOneListAKind(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	b := newBuilder(s, cr, everything(s, cr)...)
	reconcileAll(t, b)
	s.Ledger().Reset()
	require.NoError(t, b.ReconcileStore())
	var kinds []string
	for _, call := range s.Ledger().Calls() {
		require.Equal(t, buildertest.VerbList, call.Verb)
		kinds = append(kinds, call.Kind.Kind)
	}
	require.ElementsMatch(t, []string{"ConfigMap", "Deployment", "StatefulSet", "Service", "NetworkPolicy"}, kinds)
}

func TestPutKeeps(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	reconcileConfigMaps(t, s, cr, nil, "put", "written", "stale")
	b := newBuilder(s, cr)
	b.Put("put", "ConfigMap")
	b.Store.ObjectNameKind["written"] = "ConfigMap"
	b.Put("other", "Secret") // of a kind that isn't pruned
	require.True(t, b.Exists("put"))
	require.False(t, b.Exists("stale"))
	require.NoError(t, b.ReconcileStore())
	require.True(t, s.has(&corev1.ConfigMap{}, "put"))
	require.True(t, s.has(&corev1.ConfigMap{}, "written"))
	require.False(t, s.has(&corev1.ConfigMap{}, "stale"))
}

func TestNothingIsPrunedAfterAnError(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	reconcileConfigMaps(t, s, cr, nil, "stale")
	b := newBuilder(s, cr, builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "new", nil)}))
	s.refuse(errQuota, "")
	_, err := b.ReconcileConfigMap()
	require.Error(t, err)
	require.ErrorIs(t, b.ReconcileStore(), errQuota)
	require.True(t, s.has(&corev1.ConfigMap{}, "stale"))
	s.Heal()
	_, err = b.ReconcileConfigMap()
	require.NoError(t, err)
	require.NoError(t, b.ReconcileStore())
	require.False(t, s.has(&corev1.ConfigMap{}, "stale"))
}

// What isn't known in full is no reason to delete.
func TestNothingIsPrunedForAnUnknownKind(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	reconcileAll(t, newBuilder(s, cr, everything(s, cr)...))
	b := newBuilder(s, cr, builder.ToNewBuilderDeploymentStatefulSet([]builder.BuilderDeploymentStatefulSet{workload(s, cr, "ReplicaSet", "x")}))
	require.ErrorContains(t, b.ReconcileStore(), `has Kind "ReplicaSet"`)
	require.True(t, s.has(&appsv1.Deployment{}, "x"))
}

func TestErrorsOfPruningAreReturned(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	reconcileConfigMaps(t, s, cr, nil, "stale")
	s.refuse(errQuota, "")
	require.ErrorIs(t, newBuilder(s, cr, builder.ToNewBuilderConfigMap(nil)).ReconcileStore(), errQuota)
}
