package builder_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	armature "github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/compat/builder"
)

var errQuota = apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", errors.New("exceeded quota"))

// each item of a Builder, and the method that makes it.
func everyKind(s *server, cr *corev1.ConfigMap) map[string]func() (controllerutil.OperationResult, error) {
	b := newBuilder(s, cr,
		builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "one", nil)}),
		builder.ToNewBuilderDeploymentStatefulSet([]builder.BuilderDeploymentStatefulSet{workload(s, cr, "Deployment", "one")}),
		builder.ToNewBuilderService([]builder.BuilderService{
			{CommonBuilder: common(s, cr, "one"), ServiceSpec: &corev1.ServiceSpec{Ports: aPort}},
		}),
		builder.ToNewBuilderStorageConfig([]builder.BuilderStorageConfig{{
			CommonBuilder: common(s, cr, "one"), PvcSpec: &corev1.PersistentVolumeClaimSpec{},
		}}),
		builder.ToNewBuilderNetworkPolicy([]builder.BuilderNetworkPolicy{{
			CommonBuilder: common(s, cr, "one"), NetworkPolicySpec: &networkingv1.NetworkPolicySpec{},
		}}),
	)
	return map[string]func() (controllerutil.OperationResult, error){
		"ConfigMap": b.ReconcileConfigMap, "DeployOrSts": b.ReconcileDeployOrSts, "Service": b.ReconcileService,
		"Storage": b.ReconcileStorage, "NetworkPolicy": b.ReconcileNetworkPolicy,
	}
}

func TestResultsOfEachKind(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	for name, reconcile := range everyKind(s, cr) {
		t.Run(name, func(t *testing.T) {
			result, err := reconcile()
			require.NoError(t, err)
			require.Equal(t, controllerutil.OperationResultCreated, result)
			result, err = reconcile()
			require.NoError(t, err)
			require.Equal(t, controllerutil.OperationResultNone, result)
		})
	}
}

// The original returned no error when it could not create one of most kinds.
func TestErrorsAreReturned(t *testing.T) {
	for name := range everyKind(newServer(t), newCR("cr")) {
		t.Run(name, func(t *testing.T) {
			s, cr := newServer(t), newCR("cr")
			s.refuse(errQuota, "")
			result, err := everyKind(s, cr)[name]()
			require.ErrorIs(t, err, errQuota)
			require.True(t, apierrors.IsForbidden(err))
			require.Equal(t, controllerutil.OperationResultNone, result)
		})
	}
}

// A failing object doesn't keep the others from being made, and all errors are told.
func TestOneFailureOfSeveral(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "b", nil)
	s.refuse(invalid, "b")
	result, err := newBuilder(s, cr, builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{
		configMap(s, cr, "a", nil), configMap(s, cr, "b", nil), configMap(s, cr, "c", nil),
	})).ReconcileConfigMap()
	require.ErrorIs(t, err, invalid)
	require.ErrorContains(t, err, "default/b")
	require.Equal(t, controllerutil.OperationResultCreated, result)
	require.True(t, s.has(&corev1.ConfigMap{}, "c"))
}

// The original looked at its hash alone: what someone changed stayed changed.
func TestDriftIsCorrected(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	b := newBuilder(s, cr, builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "config", map[string]string{"a": "1"})}))
	_, err := b.ReconcileConfigMap()
	require.NoError(t, err)
	change(s, &corev1.ConfigMap{}, "config", func(cm *corev1.ConfigMap) { cm.Data["a"] = "2" })
	s.writes()
	result, err := b.ReconcileConfigMap()
	require.NoError(t, err)
	require.Equal(t, controllerutil.OperationResultUpdated, result)
	require.Equal(t, 1, s.writes())
	cm := &corev1.ConfigMap{}
	require.True(t, s.has(cm, "config"))
	require.Equal(t, "1", cm.Data["a"])
}

// The original replaced whole objects.
func TestFieldsOfOthersAreKept(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	data := map[string]string{"a": "1"}
	b := newBuilder(s, cr, builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "config", data)}))
	_, err := b.ReconcileConfigMap()
	require.NoError(t, err)
	change(s, &corev1.ConfigMap{}, "config", func(cm *corev1.ConfigMap) {
		cm.Data["theirs"] = "x"
		metav1.SetMetaDataLabel(&cm.ObjectMeta, "theirs", "x")
	})
	data["a"] = "2"
	result, err := b.ReconcileConfigMap()
	require.NoError(t, err)
	require.Equal(t, controllerutil.OperationResultUpdated, result)
	cm := &corev1.ConfigMap{}
	require.True(t, s.has(cm, "config"))
	require.Equal(t, map[string]string{"a": "2", "theirs": "x"}, cm.Data)
	require.Equal(t, "x", cm.Labels["theirs"])
}

// The original wrote its hash into maps that operators share between objects, which changed the hash of the next one.
func TestSharedMapsAreLeftAlone(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	labels, annotations := map[string]string{"app": "x"}, map[string]string{"note": "y"}
	var items []builder.BuilderConfigMap
	for _, name := range []string{"a", "b"} {
		item := configMap(s, cr, name, nil)
		item.ObjectMeta.Labels, item.ObjectMeta.Annotations = labels, annotations
		items = append(items, item)
	}
	wantLabels, wantAnnotations := maps.Clone(labels), maps.Clone(annotations)
	b := newBuilder(s, cr, builder.ToNewBuilderConfigMap(items))
	for pass := range 3 {
		result, err := b.ReconcileConfigMap()
		require.NoError(t, err)
		if pass > 0 {
			require.Equal(t, controllerutil.OperationResultNone, result)
			require.Zero(t, s.writes())
		}
		s.writes()
	}
	require.Equal(t, wantLabels, labels)
	require.Equal(t, wantAnnotations, annotations)
}

// The original took over whatever had the name.
func TestObjectsOfOthersAreRefused(t *testing.T) {
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "config"}, Data: map[string]string{"a": "theirs"}}
	s, cr := newServer(t, foreign), newCR("cr")
	_, err := newBuilder(s, cr, builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{
		configMap(s, cr, "config", map[string]string{"a": "ours"}),
	})).ReconcileConfigMap()
	require.ErrorIs(t, err, armature.ErrNotOwned)
	cm := &corev1.ConfigMap{}
	require.True(t, s.has(cm, "config"))
	require.Equal(t, "theirs", cm.Data["a"])
}

// Operators that loop over node types ask for one ConfigMap several times. The last one stays, and is written once.
func TestLastOfANameStays(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	b := newBuilder(s, cr, builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{
		configMap(s, cr, "config", map[string]string{"a": "1"}), configMap(s, cr, "config", map[string]string{"a": "2"}),
	}))
	for range 2 {
		_, err := b.ReconcileConfigMap()
		require.NoError(t, err)
	}
	require.Equal(t, 1, s.writes())
	cm := &corev1.ConfigMap{}
	require.True(t, s.has(cm, "config"))
	require.Equal(t, "2", cm.Data["a"])
}

func TestServiceSelector(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	own, other := map[string]string{"of": "spec"}, map[string]string{"of": "item"}
	_, err := newBuilder(s, cr, builder.ToNewBuilderService([]builder.BuilderService{
		{CommonBuilder: common(s, cr, "a"), ServiceSpec: &corev1.ServiceSpec{Ports: aPort, Selector: own}, SelectorLabels: other},
		{CommonBuilder: common(s, cr, "b"), ServiceSpec: &corev1.ServiceSpec{Ports: aPort, Selector: own}},
		{CommonBuilder: common(s, cr, "none")},
	})).ReconcileService()
	require.NoError(t, err)
	svc := &corev1.Service{}
	require.True(t, s.has(svc, "a"))
	require.Equal(t, other, svc.Spec.Selector)
	require.True(t, s.has(svc, "b"))
	require.Equal(t, own, svc.Spec.Selector)
	require.False(t, s.has(svc, "none"))
}
